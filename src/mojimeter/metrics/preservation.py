"""Preservation: does the judge's label of a post stay when the original emoji give way to the recommended ones?

Source: the second paper, III and V-D, and design/recommendation.md for the split into kept and recovered. A
label that could not be read (null) is never kept, not even against another that could not be read. Knows
labels as strings.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from mojimeter.errors import InputError
from mojimeter.metrics.bags import Floats

NO_EMOJI = "baseline/none"
# What conditional prompting does not hand to the recommender.
UNLEAKED = ("sentiment", "emotion", "stance")

Codes = NDArray[np.int16]


def label_codes(labels: pl.Series) -> tuple[list[str], pl.Series]:
    """A column of labels as numbers, and the label behind each number; -1 where there is no label.

    Raises:
        InputError: more than 32,767 different labels, which no judge of a fixed list gives.
    """
    names = labels.drop_nulls().unique().sort()
    if len(names) > np.iinfo(np.int16).max:
        raise InputError(f"column {labels.name!r} holds {len(names)} different labels; expected a short list")
    return names.to_list(), labels.cast(pl.Enum(names)).to_physical().cast(pl.Int16).fill_null(-1)


def stays(label: Codes, gold: Codes) -> Floats:
    """1 where the label is the gold one, else 0; shape of the arguments."""
    same: Floats = ((label == gold) & (gold >= 0)).astype(np.float64)
    return same


def turned(without: Codes, gold: Codes) -> NDArray[np.bool_]:
    """Where the text alone gets another label than the original: what there is to *recover*; the rest to *keep*."""
    differs: NDArray[np.bool_] = (without != gold) | (gold < 0)
    return differs


def share_equal(profile: pl.Series, label: pl.Series) -> float | None:
    """Share of posts whose profile given to the prompt is the judge's gold label; None where no post has both."""
    known = profile.is_not_null() & label.is_not_null()
    if not known.any():
        return None
    same = profile.str.to_lowercase() == label.str.to_lowercase()
    return int((same & known).sum()) / int(known.sum())
