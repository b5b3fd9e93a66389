"""Which posts belong together when posts are drawn again: those of one author; a post without an author alone."""

from __future__ import annotations

import numpy as np
import polars as pl

from mojimeter.stats.resample import Integers


def clusters_of(frame: pl.DataFrame) -> Integers:
    """Cluster number of each row, from 0 and without gaps.

    Args:
        frame: columns ``id`` and, where it is known, ``author``; rows of one post stay together in any case.
    """
    alone = pl.concat_str(pl.lit("post "), pl.col("id"))
    if "author" in frame.columns:
        alone = pl.coalesce(pl.concat_str(pl.lit("author "), pl.col("author").cast(pl.String)), alone)
    names = frame.select(alone).to_series()
    return np.unique(names.to_numpy(), return_inverse=True)[1].astype(np.int64)
