"""Reply quality: how many replies were empty, explained themselves, gave the wrong number, and so on.

Counts of the flags that the reader of replies sets (``systems.read_replies``), of calls that gave nothing,
and of labels the judge gave off its list. Plain counts: nothing here is an estimate.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import polars as pl

FLAGS = ("no_emoji", "extra_text", "wrong_count", "repeated", "damaged")


def count_flags(outputs: pl.DataFrame) -> dict[str, int]:
    """How many replies carry each flag, and how many calls gave no reply at all (``missing``) or an error."""
    counts = {flag: int(outputs[flag].sum()) for flag in FLAGS}
    counts["missing"] = outputs["reply"].null_count()
    counts["errors"] = int(outputs["error"].is_not_null().sum()) if "error" in outputs.columns else 0
    return counts


def count_unparsed(
    labels: pl.DataFrame, tasks: Collection[str], known: Mapping[str, Collection[str]] | None
) -> dict[str, int]:
    """How many labels of each task are null, or (where ``known`` says what labels there are) off the list."""
    counts = {}
    for task in tasks:
        unread = labels[task].is_null()
        if known is not None and task in known:
            unread = unread | ~labels[task].is_in(list(known[task])).fill_null(False)
        counts[task] = int(unread.sum())
    return counts
