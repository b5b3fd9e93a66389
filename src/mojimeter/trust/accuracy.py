"""Judges against known labels, side by side: the second paper's Table II for all tasks, with intervals over authors.

A label that could not be read is wrong, not left out. Per class, what it is taken for instead is the confusion that
causes its errors. Knows tables of labels; not where they come from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import polars as pl

from mojimeter.errors import InputError
from mojimeter.judges.labels import LABELS
from mojimeter.stats.estimate import Estimate
from mojimeter.stats.paired import PairedDifference, paired_difference
from mojimeter.stats.resample import Floats
from mojimeter.trust.clusters import clusters_of
from mojimeter.trust.confusion import (
    Confusion,
    agreement,
    cohen,
    correlation,
    cross,
    f1,
    macro,
    of_class,
    precision,
    recall,
)


@dataclass(frozen=True, slots=True)
class ClassAccuracy:
    """One label of one task.

    Attributes:
        posts: how many have it; said: how often the judge gives it.
        precision, recall, f1: 0 to 1.
        taken_for: the wrong label (or ``unparsed``) that its posts get most often, and how often; None: no errors.
    """

    posts: int
    said: int
    precision: Estimate
    recall: Estimate
    f1: Estimate
    taken_for: tuple[str, int] | None

    def to_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {"posts": self.posts, "said": self.said}
        out |= {name: getattr(self, name).to_dict() for name in ("precision", "recall", "f1")}
        taken = None if self.taken_for is None else {"label": self.taken_for[0], "posts": self.taken_for[1]}
        return out | {"taken_for": taken}


@dataclass(frozen=True, slots=True)
class TaskAccuracy:
    """One judge on one task; all numbers 0 to 1, precision, recall and F1 macro averages over labels.

    Attributes:
        posts: with a known label that the judge was given; unparsed: of these, without a readable label (wrong).
        commonest: the share of the commonest known label: what always saying it would score.
        correlation: of the two sets of labels (R_K; with two labels Pearson's).
        confusion: known label -> judge's label -> posts.
    """

    posts: int
    unparsed: int
    commonest: float
    accuracy: Estimate
    kappa: Estimate
    correlation: Estimate
    precision: Estimate
    recall: Estimate
    f1_macro: Estimate
    per_class: Mapping[str, ClassAccuracy]
    confusion: Mapping[str, Mapping[str, int]]

    def to_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {"posts": self.posts, "unparsed": self.unparsed, "commonest": self.commonest}
        for name in ("accuracy", "kappa", "correlation", "precision", "recall", "f1_macro"):
            out[name] = getattr(self, name).to_dict()
        out["per_class"] = {label: found.to_dict() for label, found in self.per_class.items()}
        return out | {"confusion": {label: dict(row) for label, row in self.confusion.items()}}


@dataclass(frozen=True, slots=True)
class AccuracyReport:
    """Several judges against the same known labels.

    Attributes:
        judges: name -> task -> what was found.
        differences: (first, second, task, difference of their accuracies on the posts both were given).
        posts, authors: in the known labels.
    """

    judges: Mapping[str, Mapping[str, TaskAccuracy]]
    differences: tuple[tuple[str, str, str, PairedDifference], ...]
    posts: int
    authors: int

    def to_dict(self) -> dict[str, Any]:
        return {
            "posts": self.posts,
            "authors": self.authors,
            "judges": {
                judge: {task: found.to_dict() for task, found in tasks.items()} for judge, tasks in self.judges.items()
            },
            "differences": [
                {"judge": first, "against": second, "task": task, **found.to_dict()}
                for first, second, task, found in self.differences
            ],
        }


def judge_accuracy(truth: pl.DataFrame, labels: pl.DataFrame, *, draws: int = 2000, seed: int = 0) -> AccuracyReport:
    """Hold judges against known labels.

    Args:
        truth: ``id``, optional ``author``, and one column a task with the known label, null where not known.
        labels: ``id``, ``judge`` and one column a task, null where the judge's label could not be read; one row a
            post and judge.
        draws, seed: of the bootstrap over authors (posts, where no author is known).

    Raises:
        InputError: no judge was given a post with a known label.
    """
    tasks = [task for task in LABELS if task in truth.columns and truth[task].null_count() < truth.height]
    judges: dict[str, dict[str, TaskAccuracy]] = {}
    for name in labels["judge"].unique(maintain_order=True):
        joined = truth.join(labels.filter(pl.col("judge") == name), on="id", suffix="_judge", maintain_order="left")
        found = {}
        for task in tasks:
            known = joined.filter(pl.col(task).is_not_null())
            if known.height and known[f"{task}_judge"].null_count() < known.height:
                found[task] = _task(known, task, draws, seed)
        if found:
            judges[name] = found
    if not judges:
        raise InputError("no judge has labels for a post whose label is known; do the ids match?")
    authors = truth["author"].drop_nulls().n_unique() if "author" in truth.columns else 0
    return AccuracyReport(judges, tuple(_differences(truth, labels, judges, draws, seed)), truth.height, authors)


def _task(known: pl.DataFrame, task: str, draws: int, seed: int) -> TaskAccuracy:
    right, said = known[task], known[f"{task}_judge"]
    table = cross(right, said, LABELS[task], clusters_of(known), draws=draws, seed=seed)
    return TaskAccuracy(
        posts=known.height,
        unparsed=said.null_count(),
        commonest=float(table.observed.sum(axis=1).max() / table.total),
        accuracy=table.estimate(agreement),
        kappa=cohen(right, said, table),
        correlation=table.estimate(correlation, "one side always gives the same label"),
        precision=table.estimate(macro(precision)),
        recall=table.estimate(macro(recall)),
        f1_macro=table.estimate(macro(f1)),
        per_class={label: _class(table, n) for n, label in enumerate(table.labels) if _is_used(table, n)},
        confusion=table.to_dict(),
    )


def _is_used(table: Confusion, number: int) -> bool:
    return bool(table.observed[number].any() or table.observed[:, number].any())


def _class(table: Confusion, number: int) -> ClassAccuracy:
    row = table.observed[number].copy()
    row[number] = 0
    worst = int(row.argmax())
    return ClassAccuracy(
        posts=int(table.observed[number].sum()),
        said=int(table.observed[:, number].sum()),
        precision=table.estimate(of_class(precision, number), "the judge never said it"),
        recall=table.estimate(of_class(recall, number), "no post has it"),
        f1=table.estimate(of_class(f1, number)),
        taken_for=((*table.labels, "unparsed")[worst], int(row[worst])) if row[worst] else None,
    )


def _differences(
    truth: pl.DataFrame, labels: pl.DataFrame, judges: Mapping[str, Mapping[str, TaskAccuracy]], draws: int, seed: int
) -> list[tuple[str, str, str, PairedDifference]]:
    out = []
    for first, second in combinations(judges, 2):
        mine, theirs = (labels.filter(pl.col("judge") == name) for name in (first, second))
        both = truth.join(mine, on="id", suffix="_1").join(theirs, on="id", suffix="_2")
        for task in judges[first]:
            known = both.filter(pl.col(task).is_not_null())
            if task not in judges[second] or not known.height:
                continue
            mine_hit, their_hit = (_hits(known, task, side) for side in ("1", "2"))
            compared = paired_difference(mine_hit, their_hit, clusters_of(known), draws=draws, seed=seed)
            out.append((first, second, task, compared))
    return out


def _hits(known: pl.DataFrame, task: str, side: str) -> Floats:
    """1 where a judge's label is the known one, else 0."""
    hits: Floats = (known[task] == known[f"{task}_{side}"]).fill_null(False).cast(pl.Float64).to_numpy()
    return hits
