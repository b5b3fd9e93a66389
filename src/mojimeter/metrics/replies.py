"""Reply quality: how many replies were empty, explained themselves, gave the wrong number, and so on.

Counts of the flags that the reader of replies sets (``systems.read_replies``), of calls that gave nothing,
and of labels the judge gave off its list. Plain counts: nothing here is an estimate.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import polars as pl

from mojimeter.metrics.preservation import Codes

FLAGS = ("no_emoji", "extra_text", "wrong_count", "repeated", "damaged")


def count_flags(outputs: pl.DataFrame) -> dict[str, int]:
    """How many replies carry each flag, and how many calls gave no reply at all (``missing``) or an error."""
    counts = {flag: int(outputs[flag].sum()) for flag in FLAGS}
    counts["missing"] = outputs["reply"].null_count()
    counts["errors"] = int(outputs["error"].is_not_null().sum()) if "error" in outputs.columns else 0
    return counts


def count_unparsed(codes: Codes, names: Sequence[str], known: Collection[str] | None) -> int:
    """How many labels could not be read (-1), or, where ``known`` says what labels there are, are off the list.

    Args:
        codes: label codes of one task, shape (labels,).
        names: the label behind each code.
    """
    off_list = [] if known is None else [code for code, name in enumerate(names) if name not in known]
    return int(np.isin(codes, [-1, *off_list]).sum())
