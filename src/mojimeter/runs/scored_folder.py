"""A run folder for scores from files: what ``mojimeter score --out`` writes, for reports and comparisons.

Holds what a run of ours holds but for calls and logs: there were none. Knows tables and the folder; scores nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from mojimeter.datasets.records import OUTPUT_COLUMNS, as_posts
from mojimeter.errors import InputError
from mojimeter.judges.panel import preservation_ratings
from mojimeter.runs.folder import RunFolder
from mojimeter.runs.signature import data_hash

COMMAND = "score"


def write_scored(
    out: str | Path,
    posts: pl.DataFrame,
    outputs: pl.DataFrame,
    labels: pl.DataFrame | None,
    document: Mapping[str, Any],
    settings: Mapping[str, Any],
) -> None:
    """Write the folder; one that holds earlier scores from files gives way.

    Args:
        out: the folder.
        posts, outputs, labels: canonical tables.
        document: the scores.
        settings: how they were made.

    Raises:
        InputError: the folder holds a run that called models, cannot be written, or could not hold these posts.
    """
    rows = _as_written(posts)
    with RunFolder(out) as folder:
        before = folder.settings()
        if before is not None and before.get("command") != COMMAND:
            raise InputError(f"{out}: holds a run, which scores from files must not replace; give another --out")
        folder.write_settings({"command": COMMAND, **settings})
        folder.write_table("posts", rows)
        folder.write_table("outputs", outputs.select(c for c in outputs.columns if c in (*OUTPUT_COLUMNS, "profile")))
        if labels is not None:
            folder.write_table("labels", labels)
            if labels["judge"].n_unique() > 1:
                folder.write_table("ratings", preservation_ratings(labels, outputs))
        folder.write_scores(document)


def _as_written(posts: pl.DataFrame) -> pl.DataFrame:
    """Posts as a file holds them: with their emoji in the text, or beside it where that is how they came.

    Raises:
        InputError: neither way reads back as the same posts.
    """
    others = posts.drop("original", "text", "emoji", "leaked")
    whole = others.with_columns(posts["original"].alias("text"))
    if _reads_back(whole, posts):
        return whole.select("id", "text", *[c for c in whole.columns if c not in ("id", "text")])
    plain = pl.when(posts["leaked"]).then(posts["original"]).otherwise(posts["text"])
    beside = others.with_columns(
        pl.select(plain).to_series().alias("text"), posts["emoji"].list.join("").alias("emoji")
    )
    if _reads_back(beside, posts):
        return beside.select("id", "text", "emoji", *[c for c in beside.columns if c not in ("id", "text", "emoji")])
    raise InputError(
        "--out: a post's column 'emoji' holds more than emoji, so that a run folder could not hold it as it is"
    )


def _reads_back(rows: pl.DataFrame, posts: pl.DataFrame) -> bool:
    read = as_posts(rows, "posts")
    same_emoji = (read["emoji"].list.join(" ") == posts["emoji"].list.join(" ")).all()
    return bool(same_emoji) and data_hash(read) == data_hash(posts)
