"""Two files of labels or of verdicts side by side: on how much they agree, and how much more than chance.

Both sides are read by the parser of judges' replies; what it cannot read on either side is counted and left out.
The join of ``datasets``, ``judges.labels`` and ``ratings.agreement``; knows no command line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mojimeter.datasets.records import TASKS
from mojimeter.datasets.tables import read_table
from mojimeter.errors import InputError
from mojimeter.judges.labels import label_set, parse_labels
from mojimeter.stats.estimate import Estimate

VERDICT = "verdict"
# What says which text, answer or comparison a row is about, where a file has it.
_KEYS = ("id", "system", "condition", "strategy", "epoch")


@dataclass(frozen=True, slots=True)
class TaskAgreement:
    """Agreement on one task.

    Attributes:
        compared: rows with a label on both sides.
        unparsed: rows of each side, among those in both files, whose label could not be read.
        agreement: share of the compared rows with the same label, with its interval.
        kappa: Cohen's; alpha: Krippendorff's, nominal, whose interval resamples ids.
        confusion: label of the first -> label of the second -> rows.
    """

    compared: int
    unparsed: tuple[int, int]
    agreement: Estimate
    kappa: Estimate
    alpha: Estimate
    confusion: Mapping[str, Mapping[str, int]]

    def to_dict(self) -> dict[str, Any]:
        return {
            "compared": self.compared,
            "unparsed": list(self.unparsed),
            "agreement": self.agreement.to_dict(),
            "kappa": self.kappa.to_dict(),
            "alpha": self.alpha.to_dict(),
            "confusion": {label: dict(row) for label, row in self.confusion.items()},
        }


@dataclass(frozen=True, slots=True)
class FileAgreement:
    """Agreement of two files.

    Attributes:
        names: the files, or their judges where the files name them.
        matched_on: the columns by which rows were matched.
        both, only_first, only_second: rows.
        tasks: by task (a label set, or ``verdict``).
    """

    names: tuple[str, str]
    matched_on: tuple[str, ...]
    both: int
    only_first: int
    only_second: int
    tasks: Mapping[str, TaskAgreement]

    def to_dict(self) -> dict[str, Any]:
        """The document of ``judge agreement --json``."""
        return {
            "schema": 1,
            "first": self.names[0],
            "second": self.names[1],
            "matched_on": list(self.matched_on),
            "rows": {"both": self.both, "only_first": self.only_first, "only_second": self.only_second},
            "tasks": {task: found.to_dict() for task, found in self.tasks.items()},
        }


def compare_files(
    first: str | Path,
    second: str | Path,
    *,
    mapping: Mapping[str, str] | None = None,
    draws: int = 2000,
    seed: int = 0,
) -> FileAgreement:
    """How two files of labels (a column a task) or verdicts (a column ``verdict``) agree.

    Rows are matched on those of ``id``, ``system``, ``condition``, ``strategy`` and ``epoch`` that both files have.

    Args:
        first, second: tables, each of one judge.
        mapping: our column -> the files' column.
        draws, seed: of alpha's bootstrap.

    Raises:
        InputError: a file is not readable, holds several judges or a row twice, or the two have nothing in common.
    """
    paths = [Path(first), Path(second)]
    frames = [read_table(path, required=("id",), mapping=mapping) for path in paths]
    tasks = [task for task in (*TASKS, VERDICT) if all(task in frame.columns for frame in frames)]
    if not tasks:
        raise InputError(
            f"{first} and {second}: no column of labels in both; expected {VERDICT} or one of {', '.join(TASKS)}"
        )
    keys = [key for key in _KEYS if all(key in frame.columns for frame in frames)]
    names = [_only_judge(frame, path) for frame, path in zip(frames, paths, strict=True)]
    left, right = (_prepared(frame, keys, tasks, path) for frame, path in zip(frames, paths, strict=True))
    both = left.join(right, on=keys, how="inner", suffix="_second", maintain_order="left")
    if not both.height:
        raise InputError(f"{first} and {second}: no row in common (matched on {', '.join(keys)})")
    found = {task: _agreement(task, both[task], both[f"{task}_second"], both["id"], draws, seed) for task in tasks}
    return FileAgreement(
        (names[0], names[1]),
        tuple(keys),
        both.height,
        left.height - both.height,
        right.height - both.height,
        found,
    )


def _only_judge(frame: pl.DataFrame, path: Path) -> str:
    if "judge" not in frame.columns:
        return str(path)
    judges = frame["judge"].drop_nulls().unique(maintain_order=True).cast(pl.String).to_list()
    if len(judges) > 1:
        raise InputError(f"{path}: labels of {len(judges)} judges ({', '.join(judges[:5])}); expected a file a judge")
    return str(judges[0]) if judges else str(path)


def _prepared(frame: pl.DataFrame, keys: Sequence[str], tasks: Sequence[str], path: Path) -> pl.DataFrame:
    frame = frame.select(pl.col([*keys, *tasks]).cast(pl.String, strict=False))
    for key in keys:
        if frame[key].null_count() and key in ("id", "condition"):
            row = int(frame[key].is_null().arg_max() or 0) + 1
            raise InputError(f"{path}, row {row}, column {key!r}: empty")
    frame = frame.with_columns(pl.col(keys).fill_null(""))
    repeated = frame.select(pl.struct(keys).is_first_distinct().not_()).to_series()
    if repeated.any():
        row = int(repeated.arg_max() or 0)
        named = ", ".join(f"{key} {frame[key][row]!r}" for key in keys)
        raise InputError(f"{path}, row {row + 1}: {named} again; expected each once")
    return frame


def _agreement(task: str, first: pl.Series, second: pl.Series, ids: pl.Series, draws: int, seed: int) -> TaskAgreement:
    from mojimeter.ratings.agreement import chance_corrected, krippendorff_alpha

    sides = [parse_labels(task, column) for column in (first, second)]
    known = label_set(task)
    code = {label: float(place) for place, label in enumerate(known)}
    matrix = np.array([[code.get(label, np.nan) for label in side] for side in sides]).T
    there = ~np.isnan(matrix).any(axis=1)
    unparsed = tuple(int(np.isnan(matrix[:, side]).sum()) for side in (0, 1))
    matrix, clusters = matrix[there], ids.filter(pl.Series(there)).rank("dense").to_numpy().astype(np.int64) - 1
    if not len(matrix):
        absent = Estimate.absent("no row has a label on both sides")
        return TaskAgreement(0, (unparsed[0], unparsed[1]), absent, absent, absent, {})
    found = chance_corrected(matrix)
    confusion = {
        label: {other: int(((matrix[:, 0] == code[label]) & (matrix[:, 1] == code[other])).sum()) for other in known}
        for label in known
    }
    return TaskAgreement(
        len(matrix),
        (unparsed[0], unparsed[1]),
        found["percent_agreement"],
        found["conger"],
        krippendorff_alpha(matrix, "nominal", cluster=clusters, draws=draws, seed=seed),
        confusion,
    )
