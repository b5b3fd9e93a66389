"""What a panel of models is worth, in people: how many people's mean would do as well.

Two answers, because there are two questions. Consistency: does the panel order the units as people do (offsets and
scale forgiven)? Absolute: does it give people's scores (offsets count)? They can differ twofold. Knows a matrix of
scores by units and raters, and which raters are models.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mojimeter.errors import InputError
from mojimeter.ratings.agreement.correlation import correlation, pearson_pair
from mojimeter.stats.estimate import Estimate

if TYPE_CHECKING:
    from mojimeter.ratings.study import Study

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Units are left out one cluster at a time up to this many clusters, in as many groups beyond.
_GROUPS = 200


@dataclass(frozen=True)
class PeopleComponents:
    """Variances of people's scores of the same units (two-way, both random).

    Attributes:
        unit: s_p, between units.
        person: s_h, between people (their offsets); a negative estimate counts as zero.
        error: s_e, person x unit and the rest.
        people: how many.
    """

    unit: float
    person: float
    error: float
    people: int

    @classmethod
    def of(cls, scores: Floats) -> PeopleComponents:
        """From a complete matrix of units by people, at least 2 x 2."""
        return _Sums.of(np.zeros(len(scores)), scores).components

    @property
    def g(self) -> float:
        """G of the people's mean for the order of units: s_p / (s_p + s_e / n)."""
        total = self.unit + self.error / self.people
        return self.unit / total if total > 0 else 0.0

    def to_dict(self) -> dict[str, Any]:
        return {"unit": self.unit, "person": self.person, "error": self.error, "people": self.people}


@dataclass(frozen=True)
class _Sums:
    """Sums over units that everything here is a function of; sums of parts add up, so a part can be taken out.

    Attributes:
        columns: 1, panel, panel^2, people's mean, its square, their product, sum of squares of all people's scores, and
            each person's scores; shape (7 + people,), of scores about one common origin.
    """

    columns: Floats

    @classmethod
    def per_unit(cls, panel: Floats, people: Floats) -> Floats:
        """The columns of each unit, shape (units, 7 + people)."""
        origin = people.mean()
        x, y = panel - origin, people - origin
        mean = y.mean(axis=1)
        return np.column_stack([np.ones(x.size), x, x * x, mean, mean * mean, x * mean, np.square(y).sum(axis=1), y])

    @classmethod
    def of(cls, panel: Floats, people: Floats) -> _Sums:
        return cls(cls.per_unit(panel, people).sum(axis=0))

    @property
    def components(self) -> PeopleComponents:
        units, _, _, total, squares, _, everything, *persons = self.columns.tolist()
        n = len(persons)
        by_unit = n * (squares - total**2 / units)
        by_person = sum(p * p for p in persons) / units - n * total**2 / units
        rest = everything - n * total**2 / units - by_unit - by_person
        # what rounding leaves where people do not differ at all
        if rest <= 1e-12 * everything:
            rest = 0.0
        ms_unit, ms_error = by_unit / (units - 1), rest / ((units - 1) * (n - 1))
        ms_person = by_person / (n - 1) if by_person > 1e-12 * everything else 0.0
        return PeopleComponents((ms_unit - ms_error) / n, max((ms_person - ms_error) / units, 0.0), ms_error, n)

    @property
    def inverse_consistency(self) -> float:
        """1 / k = (1 - rho2) / rho2 x s_p / s_e; NaN where it cannot be had."""
        units, x, xx, m, mm, xm = self.columns[:6].tolist()
        parts = self.components
        spread = (xx - x * x / units) * (mm - m * m / units)
        together = xm - x * m / units
        if spread <= 0.0 or together <= 0.0 or parts.unit <= 0.0 or parts.error <= 0.0:
            return float("nan")
        return float((parts.g * spread / together**2 - 1.0) * parts.unit / parts.error)

    @property
    def inverse_absolute(self) -> float:
        """1 / k = MSE / (s_h + s_e) - 1 / n; NaN where people do not differ."""
        units, _, xx, _, mm, xm = self.columns[:6].tolist()
        parts = self.components
        between = parts.person + parts.error
        return float((xx + mm - 2.0 * xm) / units / between - 1.0 / parts.people) if between > 0.0 else float("nan")


@dataclass(frozen=True)
class Worth:
    """What one judge or the mean of several is worth.

    Attributes:
        name: of the judge, or "panel".
        r: correlation with the people's mean, interval over units.
        rho2: squared correlation with what infinitely many people would say, r^2 / G; above 1 by chance alone.
        mse: mean squared difference from the people's mean.
        offset: mean difference from it.
        consistency: people whose mean orders the units as well; "unbounded" where no number of people does better.
        absolute: people whose mean is as near to what infinitely many would say.
    """

    name: str
    r: Estimate
    rho2: float | None
    mse: float
    offset: float
    consistency: Estimate
    absolute: Estimate

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "r": self.r.to_dict(),
            "rho2": self.rho2,
            "mse": self.mse,
            "offset": self.offset,
            "worth": {"consistency": self.consistency.to_dict(), "absolute": self.absolute.to_dict()},
        }


@dataclass(frozen=True)
class PanelWorth:
    """What `panel_worth` found.

    Attributes:
        units: rated by every person and at least one judge; `left_out`: those that were not.
        components: of the people's scores; `g` their reliability.
        panel: of the judges' mean; `judges`: of each alone.
    """

    units: int
    left_out: int
    components: PeopleComponents
    panel: Worth
    judges: tuple[Worth, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "units": self.units,
            "left_out": self.left_out,
            "people": self.components.to_dict() | {"g": self.components.g},
            "panel": self.panel.to_dict(),
            "judges": [j.to_dict() for j in self.judges],
        }


def panel_worth(
    judges: Floats, people: Floats, judge_names: Sequence[str] | None = None, *, cluster: Ints | None = None
) -> PanelWorth:
    """Worth of a panel of models, and of each of them, in people.

    With r the correlation of the panel with the mean of n people, G = s_p / (s_p + s_e / n) and rho2 = r^2 / G, the
    mean of k people has rho2 = s_p / (s_p + s_e / k), so consistency k = rho2 / (1 - rho2) x s_e / s_p. With MSE the
    panel's mean squared difference from the mean of n people, absolute k = (s_h + s_e) / (MSE - (s_h + s_e) / n).
    Intervals over units and people: a delete-one jackknife of 1 / k over each, variances added (which counts their
    interaction twice and errs on the wide side: coverage .94 to .99 in simulations with 3 to 10 people). For 1 / k,
    because it is smooth where k has no bound.

    Args:
        judges: shape (units, judges), NaN where missing.
        people: shape (units, people), NaN where missing; at least two people.
        judge_names: one per judge.
        cluster: cluster number (item) of each unit; clusters are left out whole.

    Raises:
        InputError: fewer than two people or three common units, or shapes that do not match.
    """
    judges, people = np.atleast_2d(np.asarray(judges, float)), np.atleast_2d(np.asarray(people, float))
    if judges.shape[0] != people.shape[0]:
        raise InputError(
            f"{judges.shape[0]} units rated by judges, {people.shape[0]} by people; expected the same units"
        )
    names = [str(j + 1) for j in range(judges.shape[1])] if judge_names is None else list(judge_names)
    if people.shape[1] < 2:
        raise InputError("only one person: how people differ from each other cannot be seen; at least two are needed")
    if judges.shape[1] < 1:
        raise InputError("no judges; name the models with --judges")
    there = ~np.isnan(people).any(axis=1) & (~np.isnan(judges)).any(axis=1)
    if there.sum() < 3:
        raise InputError(f"{there.sum()} units were rated by every person and a judge; at least three are needed")
    scores = people[there]
    group = np.arange(len(people)) if cluster is None else np.asarray(cluster)
    counts = (~np.isnan(judges[there])).sum(axis=1)
    mean = np.nansum(judges[there], axis=1) / counts
    panel = _worth("panel", mean, scores, group[there])
    each = []
    for j, name in enumerate(names):
        own = there & ~np.isnan(judges[:, j])
        if own.sum() >= 3:
            each.append(_worth(name, judges[own, j], people[own], group[own]))
    left_out = int(len(people) - there.sum())
    return PanelWorth(int(there.sum()), left_out, PeopleComponents.of(scores), panel, tuple(each))


def _worth(name: str, panel: Floats, people: Floats, group: Ints) -> Worth:
    mean = people.mean(axis=1)
    r = correlation(panel, mean)
    parts = PeopleComponents.of(people)
    rho2 = r * r / parts.g if r is not None and parts.g > 0 else None
    difference = panel - mean
    reason = _no_consistency(r, parts)
    consistency = (
        Estimate.absent(reason) if reason else _estimate(lambda sums: sums.inverse_consistency, panel, people, group)
    )
    if parts.person + parts.error <= 0.0:
        absolute = Estimate.absent("the people do not differ from each other")
    else:
        absolute = _estimate(lambda sums: sums.inverse_absolute, panel, people, group)
    return Worth(
        name,
        pearson_pair(panel, mean),
        rho2,
        float(difference @ difference) / difference.size,
        float(difference.mean()),
        consistency,
        absolute,
    )


def _no_consistency(r: float | None, parts: PeopleComponents) -> str | None:
    if parts.unit <= 0.0:
        return "the people do not agree on any difference between units"
    if parts.error <= 0.0:
        return "the people do not differ but for their offsets"
    if r is None:
        return "the panel gives every unit the same score"
    return "the panel does not order units as people do (r is not positive)" if r <= 0.0 else None


def _estimate(inverse: Callable[[_Sums], float], panel: Floats, people: Floats, group: Ints) -> Estimate:
    """Worth k with its interval, from 1 / k and its jackknife."""
    from scipy.special import stdtrit

    rows = _Sums.per_unit(panel, people)
    value = inverse(_Sums(rows.sum(axis=0)))
    over_units = _jackknife_parts(inverse, rows, group)
    n = people.shape[1]
    over_people = None
    if n >= 3:
        over_people = _jackknife([inverse(_Sums.of(panel, np.delete(people, j, axis=1))) for j in range(n)])
    note = None if over_people is not None else "the interval is over units only"
    if over_units is None:
        return _invert(value, None, "no interval: too few units")
    variance, blocks = over_units
    spread = variance**2 / (blocks - 1)
    if over_people is not None:
        variance += over_people[0]
        spread += over_people[0] ** 2 / (n - 1)
    df = variance**2 / spread if spread > 0 else float(blocks - 1)
    half = float(stdtrit(df, 0.975)) * sqrt(variance)
    return _invert(value, (value - half, value + half), note)


def _parts(rows: Floats, group: Ints) -> Floats:
    """Sums over the rows of each cluster, or of each group of clusters where there are many."""
    _, codes = np.unique(group, return_inverse=True)
    blocks = min(int(codes.max()) + 1, _GROUPS)
    out = np.zeros((blocks, rows.shape[1]))
    np.add.at(out, codes % blocks, rows)
    return out


def _jackknife_parts(inverse: Callable[[_Sums], float], rows: Floats, group: Ints) -> tuple[float, int] | None:
    """Jackknife over clusters of units; None where leaving one out leaves too few."""
    total = rows.sum(axis=0)
    rest = [_Sums(total - part) for part in _parts(rows, group)]
    if any(sums.columns[0] < 3 for sums in rest):
        return None
    return _jackknife([inverse(sums) for sums in rest])


def _jackknife(values: Sequence[float]) -> tuple[float, int] | None:
    """Variance (n - 1) / n x sum of squared deviations (Efron & Tibshirani 1993, chapter 11), and n."""
    found = np.array(values)
    found = found[np.isfinite(found)]
    n = found.size
    if n < 3 or n < 0.9 * len(values):
        return None
    return float((n - 1) / n * np.square(found - found.mean()).sum()), n


def _invert(inverse: float, interval: tuple[float, float] | None, note: str | None) -> Estimate:
    """Worth k from 1 / k: unbounded where 1 / k is not positive."""
    ci = None
    if interval is not None:
        low = 1.0 / interval[1] if interval[1] > 0.0 else None
        ci = (low, 1.0 / interval[0] if interval[0] > 0.0 else None)
    if inverse <= 0.0:
        return Estimate(None, ci, reason=note, state="unbounded")
    return Estimate(1.0 / inverse, ci, reason=note)


def split_panel(study: Study, judges: Sequence[str], people: Sequence[str] = ()) -> PanelWorth:
    """`panel_worth` of the raters of a study.

    Args:
        study: raters crossed with its units.
        judges: raters that are models.
        people: raters that are people; none named: all others.

    Raises:
        InputError: a name that is no rater, one that is both, or too few people or units.
    """
    if "rater" in study.design.nested:
        raise InputError(f"{study.origin}: every item has raters of its own; panels need raters who share items")
    names = list(study.names["rater"]) if "rater" in study.names else []
    for name in (*judges, *people):
        if name not in names:
            raise InputError(f"{study.origin}: no rater {name!r}; there are {', '.join(names[:20])}")
    both = set(judges) & set(people)
    if both:
        raise InputError(f"{sorted(both)[0]!r} cannot be both a judge and a person")
    others = list(people) or [n for n in names if n not in judges]
    matrix = study.matrix()
    columns = {n: matrix[:, k] for k, n in enumerate(names)}
    left = np.column_stack([columns[n] for n in dict.fromkeys(judges)]) if judges else np.empty((len(matrix), 0))
    right = np.column_stack([columns[n] for n in dict.fromkeys(others)]) if others else np.empty((len(matrix), 0))
    return panel_worth(left, right, list(dict.fromkeys(judges)), cluster=_items_of_units(study))


def _items_of_units(study: Study) -> Ints | None:
    """Item number of each row of the study's matrix."""
    from mojimeter.ratings.layout import combine, count_groups

    if "item" not in study.codes or "system" not in study.codes:
        return None
    facets = tuple(f for f in study.design.facets if f != "rater")
    cell, counts = count_groups(*combine(study.codes, facets))
    items = np.empty(counts.size, dtype=np.int64)
    items[cell] = study.codes["item"]
    return items
