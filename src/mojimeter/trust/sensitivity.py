"""How much a judge's labels depend on the emoji: the second paper's Table III for all tasks, and more variants.

The same posts are labelled as written and with other emoji: three random ones of the 500 most used (the paper's), none
at all, and the original ones moved to the end, where recommended ones stand. Lower agreement between the two sets of
labels means a more sensitive judge; what the moved ones alone change is position and noise, not the emoji. Knows
tables of labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from mojimeter.datasets.records import GOLD
from mojimeter.errors import InputError
from mojimeter.judges.labels import LABELS
from mojimeter.stats.estimate import Estimate
from mojimeter.stats.resample import Floats
from mojimeter.trust.clusters import clusters_of
from mojimeter.trust.confusion import agreement, cohen, correlation, cross

VARIANTS = ("baseline/random", "baseline/none", "baseline/original")


@dataclass(frozen=True, slots=True)
class TaskSensitivity:
    """Two sets of labels of the same posts on one task.

    Attributes:
        posts: with two readable labels; the coefficients rest on these.
        unparsed: posts left out of them because one of the two labels could not be read.
        kappa, correlation: Cohen's kappa and R_K (with two labels Pearson's) of the two sets.
        changed: percent of posts whose label is another.
    """

    posts: int
    unparsed: int
    kappa: Estimate
    correlation: Estimate
    changed: Estimate

    def to_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {"posts": self.posts, "unparsed": self.unparsed}
        return out | {name: getattr(self, name).to_dict() for name in ("kappa", "correlation", "changed")}


@dataclass(frozen=True, slots=True)
class SensitivityReport:
    """judge -> variant -> task -> what was found."""

    judges: Mapping[str, Mapping[str, Mapping[str, TaskSensitivity]]]

    def to_dict(self) -> dict[str, Any]:
        return {
            "judges": {
                judge: {
                    variant: {task: found.to_dict() for task, found in tasks.items()}
                    for variant, tasks in variants.items()
                }
                for judge, variants in self.judges.items()
            }
        }


def is_variant(system: str) -> bool:
    """Whether a system is the post with other emoji that no recommender chose (the release's ``random...`` too)."""
    return system in VARIANTS or system.startswith("random")


def judge_sensitivity(
    labels: pl.DataFrame,
    authors: pl.DataFrame | None = None,
    *,
    variants: Sequence[str] = (),
    draws: int = 2000,
    seed: int = 0,
) -> SensitivityReport:
    """Compare each judge's labels of posts as written with those of the same posts with other emoji.

    Args:
        labels: canonical labels; the rows of system ``gold`` are the posts as written.
        authors: ``id``, ``author``, for the intervals; None: each post alone.
        variants: the systems that stand for other emoji; none: those of this project and the release's
            random baseline.
        draws, seed: of the bootstrap over authors.

    Raises:
        InputError: no labels of posts as written, or none of a variant.
    """
    there = labels["system"].unique(maintain_order=True).to_list()
    for name in variants:
        if name not in there:
            raise InputError(f"no labels of {name!r}; there are {', '.join(there)}")
    chosen = list(variants) or [name for name in there if is_variant(name)]
    if GOLD not in there or not chosen:
        raise InputError(
            f"sensitivity needs labels of the posts as written (system 'gold') and with other emoji "
            f"({', '.join(VARIANTS)}); there are {', '.join(there)}"
        )
    judges: dict[str, dict[str, dict[str, TaskSensitivity]]] = {}
    for judge in labels["judge"].unique(maintain_order=True):
        own = labels.filter(pl.col("judge") == judge)
        written = own.filter((pl.col("system") == GOLD) & (pl.col("epoch") == 1))
        found = {}
        for variant in chosen:
            other = own.filter((pl.col("system") == variant) & (pl.col("epoch") == 1))
            both = written.join(other, on="id", suffix="_other")
            if authors is not None:
                both = both.join(authors.select("id", "author"), on="id", how="left")
            tasks = {task: _task(both, task, draws, seed) for task in LABELS if _has(both, task)}
            if tasks:
                found[variant] = tasks
        if found:
            judges[judge] = found
    if not judges:
        raise InputError("no judge labelled a post both as written and with other emoji; do the ids match?")
    return SensitivityReport(judges)


def _has(both: pl.DataFrame, task: str) -> bool:
    return both.filter(pl.col(task).is_not_null() & pl.col(f"{task}_other").is_not_null()).height > 0


def _task(both: pl.DataFrame, task: str, draws: int, seed: int) -> TaskSensitivity:
    other = f"{task}_other"
    read = both.filter(pl.col(task).is_in(LABELS[task]) & pl.col(other).is_in(LABELS[task]))
    table = cross(read[task], read[other], LABELS[task], clusters_of(read), draws=draws, seed=seed)
    return TaskSensitivity(
        posts=read.height,
        unparsed=both.height - read.height,
        kappa=cohen(read[task], read[other], table),
        correlation=table.estimate(correlation, "one set always has the same label"),
        changed=table.estimate(_changed),
    )


def _changed(tables: Floats) -> Floats:
    percent: Floats = 100.0 * (1.0 - agreement(tables))
    return percent
