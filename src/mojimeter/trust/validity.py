"""People against the preservation score: the second paper's Table IV, and what people's own disagreement caps.

A person says whether a post with recommended emoji still means the same (1) or not (0); the score is the share of the
five labels that stayed. No score can correlate with the mean of people better than the root of that mean's
reliability (Spearman 1904), which follows from the people's agreement by the Spearman-Brown formula. Knows one table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import polars as pl

from mojimeter.errors import InputError
from mojimeter.judges.labels import LABELS
from mojimeter.ratings.agreement import krippendorff_alpha
from mojimeter.ratings.agreement.correlation import spearman_pair
from mojimeter.stats.estimate import Estimate
from mojimeter.stats.resample import Floats, bootstrap

RATER = "rater_"
TASKS = len(LABELS)


@dataclass(frozen=True, slots=True)
class ScoreGroup:
    """The items with the same number of labels that stayed.

    Attributes:
        n: items.
        task_score: labels that stayed, of five, 0 to 1.
        human_score: mean of the people's judgements, 0 to 1, with an interval over items.
    """

    n: int
    task_score: float
    human_score: Estimate

    def to_dict(self) -> dict[str, Any]:
        return {"n": self.n, "task_score": self.task_score, "human_score": self.human_score.to_dict()}


@dataclass(frozen=True, slots=True)
class Validity:
    """What people's judgements say of the score.

    Attributes:
        by_matching_pairs: labels that stayed -> the items.
        items, raters, missing: size of the table, and judgements that are not there.
        alpha_nominal: Krippendorff's alpha of the people among themselves.
        reliability: of the mean of that many people, by Spearman-Brown from alpha.
        ceiling: the root of it: the correlation with the mean of these people that a perfect score would have.
        spearman: rank correlation, over items, of labels that stayed and the mean of the people.
        corrected: the same over the ceiling: what it would be with people without noise (Spearman 1904).
        of_groups: the same correlation over the means of the groups, the trend the paper looks at.
        raters_yes: each person's share of "means the same".
        raters_spearman: each person's rank correlation with the score.
        majority: percent of items on which the score (three or more of five labels stayed) says what most people
            say; ties among the people left out.
    """

    by_matching_pairs: Mapping[int, ScoreGroup]
    items: int
    raters: int
    missing: int
    alpha_nominal: Estimate
    reliability: Estimate
    ceiling: Estimate
    spearman: Estimate
    corrected: Estimate
    of_groups: Estimate
    raters_yes: Mapping[str, float | None]
    raters_spearman: Mapping[str, Estimate]
    majority: Estimate

    def to_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {"items": self.items, "raters": self.raters, "missing": self.missing}
        out["by_matching_pairs"] = {str(k): group.to_dict() for k, group in self.by_matching_pairs.items()}
        for name in ("alpha_nominal", "reliability", "ceiling", "spearman", "corrected", "of_groups", "majority"):
            out[name] = getattr(self, name).to_dict()
        out["raters_yes"] = dict(self.raters_yes)
        return out | {"raters_spearman": {name: e.to_dict() for name, e in self.raters_spearman.items()}}


def human_validity(frame: pl.DataFrame, where: str = "table", *, draws: int = 2000, seed: int = 0) -> Validity:
    """Hold the preservation score against people's judgements.

    Args:
        frame: ``item``, ``matching_pairs`` (0 to 5), ``rater_1``, ``rater_2``, ... (0 or 1, empty where missing).
        where: the file's name, for messages.
        draws, seed: of the bootstrap over items.

    Raises:
        InputError: a column is missing, an item repeated, or a cell is not what it should be.
    """
    matching, names, matrix = _read(frame, where)
    judged = ~np.isnan(matrix).all(axis=1)
    matching, matrix = matching[judged], matrix[judged]
    if not len(matching):
        raise InputError(f"{where}: no judgement in any column {RATER}...")
    mean = np.nanmean(matrix, axis=1)
    alpha = krippendorff_alpha(matrix, "nominal", draws=draws, seed=seed)
    per_item = float((~np.isnan(matrix)).sum(axis=1).mean())
    reliability = _through(alpha, lambda a: spearman_brown(a, per_item))
    spearman = spearman_pair(matching, mean)
    groups = {
        int(k): ScoreGroup(int(chosen.sum()), k / TASKS, _mean(mean[chosen], draws, seed))
        for k in np.unique(matching)
        if (chosen := matching == k).any()
    }
    return Validity(
        by_matching_pairs=groups,
        items=len(matching),
        raters=matrix.shape[1],
        missing=int(np.isnan(matrix).sum()),
        alpha_nominal=alpha,
        reliability=reliability,
        ceiling=_through(reliability, lambda r: sqrt(max(r, 0.0))),
        spearman=spearman,
        corrected=_disattenuated(spearman, reliability),
        of_groups=spearman_pair(
            np.array(list(groups), dtype=np.float64), np.array([g.human_score.value for g in groups.values()], float)
        ),
        raters_yes={name: _share(matrix[:, i]) for i, name in enumerate(names)},
        raters_spearman={name: _correlate(matching, matrix[:, i]) for i, name in enumerate(names)},
        majority=_majority(matching, mean, draws, seed),
    )


def spearman_brown(single: float, times: float) -> float:
    """Reliability of the mean of so many raters from that of one (Spearman 1910; Brown 1910)."""
    return times * single / (1.0 + (times - 1.0) * single)


def _through(estimate: Estimate, function: Any) -> Estimate:
    """A rising function of an estimate: the ends of its interval go through it too."""
    if estimate.value is None:
        return estimate
    ci = estimate.ci
    ends = None if ci is None or ci[0] is None or ci[1] is None else (function(ci[0]), function(ci[1]))
    return Estimate(function(estimate.value), ends, estimate.reason)


def _disattenuated(correlation: Estimate, reliability: Estimate) -> Estimate:
    if correlation.value is None:
        return correlation
    if reliability.value is None or reliability.value <= 0:
        return Estimate.absent("the people agree no better than chance: nothing to correct by")
    root = sqrt(reliability.value)
    ci = correlation.ci
    ends = None if ci is None or ci[0] is None or ci[1] is None else (ci[0] / root, ci[1] / root)
    return Estimate(correlation.value / root, ends, "the interval takes the ceiling as known")


def _mean(values: Floats, draws: int, seed: int) -> Estimate:
    columns = np.column_stack([values, np.ones(len(values))])
    return bootstrap(lambda sums: sums[:, 0] / sums[:, 1], columns, draws=draws, seed=seed)


def _share(column: Floats) -> float | None:
    given = column[~np.isnan(column)]
    return float(given.mean()) if len(given) else None


def _correlate(matching: Floats, column: Floats) -> Estimate:
    there = ~np.isnan(column)
    return spearman_pair(matching[there], column[there])


def _majority(matching: Floats, mean: Floats, draws: int, seed: int) -> Estimate:
    settled = mean != 0.5
    if not settled.any():
        return Estimate.absent("the people are split evenly on every item")
    same = (matching[settled] > TASKS / 2) == (mean[settled] > 0.5)
    return _mean(100.0 * same, draws, seed)


def _read(frame: pl.DataFrame, where: str) -> tuple[Floats, list[str], Floats]:
    names = [column for column in frame.columns if column.startswith(RATER)]
    for column in ("item", "matching_pairs"):
        if column not in frame.columns:
            raise InputError(f"{where}: no column {column!r}; it has {', '.join(frame.columns)}")
    if not names:
        raise InputError(f"{where}: no column {RATER}1, {RATER}2, ...; it has {', '.join(frame.columns)}")
    repeated = frame["item"].is_first_distinct().not_()
    if repeated.any():
        row = int(repeated.arg_max() or 0)
        raise InputError(f"{where}, row {row + 1}, column 'item': {frame['item'][row]!r} is there twice")
    matching = _numbers(frame, "matching_pairs", where, range(TASKS + 1), required=True)
    return matching, names, np.column_stack([_numbers(frame, name, where, (0, 1)) for name in names])


def _numbers(frame: pl.DataFrame, column: str, where: str, allowed: Any, *, required: bool = False) -> Floats:
    numbers = frame[column].cast(pl.String).str.strip_chars().replace("", None).cast(pl.Float64, strict=False)
    blank = frame[column].cast(pl.String).str.strip_chars().fill_null("") == ""
    wrong = ~numbers.is_in([float(a) for a in allowed]).fill_null(False) & (pl.Series([required]) | ~blank)
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        raise InputError(
            f"{where}, row {row + 1}, column {column!r}: expected {min(allowed)} to {max(allowed)}, "
            f"found {frame[column][row]!r}"
        )
    return numbers.fill_null(float("nan")).to_numpy().astype(np.float64)
