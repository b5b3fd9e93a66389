"""Do the scores follow length (or any covariate), and how would the systems rank without it?

The covariate belongs to a cell (words of one output) or to a system (its size). Slopes within items and between
systems, rank correlations for the panel and every rater, win rates on pairs of equal length, and a
length-controlled ranking beside the raw one. Knows a study and a column; nothing of texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mojimeter.errors import InputError
from mojimeter.ratings.agreement.correlation import correlation, mid_ranks
from mojimeter.ratings.rank_correlation import MAX_EXACT, exact_p, t_approximation_p
from mojimeter.ratings.reading import read_scores
from mojimeter.ratings.two_way import Clusters
from mojimeter.stats.estimate import Estimate

if TYPE_CHECKING:
    from mojimeter.ratings.study import Study

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Cells x raters held at once for win rates: 400 MB of scores.
_MOST_CELLS = 50_000_000


@dataclass(frozen=True)
class RankCorrelation:
    """Correlation of the systems' mean scores with their mean covariate.

    Attributes:
        spearman: rank correlation; None where one of the two does not vary (`reason`).
        p: two-sided; `p_kind` "exact" (all orders, up to nine systems) or "t approximation".
        r2: squared Pearson correlation of the same means: another statistic, not the square of `spearman`.
    """

    spearman: float | None
    p: float | None
    p_kind: str
    r2: float | None
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        spearman: dict[str, Any] = {"value": self.spearman, "p": self.p, "p_kind": self.p_kind}
        if self.reason is not None:
            spearman["reason"] = self.reason
        return {"spearman": spearman, "r2": self.r2}


@dataclass(frozen=True)
class RaterLength:
    """How one rater's scores follow the covariate.

    Attributes:
        within_items: slope over the outputs for one item, score units per unit of covariate; interval over items.
        between_systems: slope of system means on mean covariates; interval from the systems' scatter.
        ranks: correlations of the system means.
    """

    rater: str
    within_items: Estimate
    between_systems: Estimate
    ranks: RankCorrelation

    def to_dict(self) -> dict[str, Any]:
        slopes = {"within_items": self.within_items.to_dict(), "between_systems": self.between_systems.to_dict()}
        return {"rater": self.rater} | slopes | self.ranks.to_dict()


@dataclass(frozen=True)
class PanelLength:
    """How the panel's scores follow the covariate.

    Attributes:
        within_items: slope over the outputs for one item, interval over items and raters; in a complete table with a
            common covariate it is the mean of the raters' slopes.
        within_items_these_raters: the same with an interval over items only.
        within_items_and_systems: slope after each system's own level is taken out too; the ranking is controlled by it.
        between_systems, ranks: as for a rater.
    """

    within_items: Estimate
    within_items_these_raters: Estimate
    within_items_and_systems: Estimate
    between_systems: Estimate
    ranks: RankCorrelation

    def to_dict(self) -> dict[str, Any]:
        slopes = {
            "within_items": self.within_items.to_dict(),
            "within_items_these_raters": self.within_items_these_raters.to_dict(),
            "within_items_and_systems": self.within_items_and_systems.to_dict(),
            "between_systems": self.between_systems.to_dict(),
        }
        return slopes | self.ranks.to_dict()


@dataclass(frozen=True)
class SystemLength:
    """One system with and without its length.

    Attributes:
        mean, length: mean score and mean covariate.
        rank: by mean score, 1 is best; ties share the mean of their places.
        controlled: mean score at the average covariate, interval of its distance from the systems' average over items
            and raters; an absence where the covariate is the system's own.
        controlled_rank: by `controlled`.
        win_rate: share of comparisons won (ties count one half) against systems whose output for the same item is as
            long, each rater judging; interval over items and raters.
        matched: comparisons behind it, per rater at most.
        win_rank: by `win_rate`.
    """

    system: str
    mean: float
    length: float
    rank: float
    controlled: Estimate
    controlled_rank: float | None
    win_rate: Estimate
    matched: int
    win_rank: float | None

    def to_dict(self) -> dict[str, Any]:
        return {
            "system": self.system,
            "mean": self.mean,
            "length": self.length,
            "rank": self.rank,
            "controlled": self.controlled.to_dict(),
            "controlled_rank": self.controlled_rank,
            "win_rate": self.win_rate.to_dict(),
            "matched": self.matched,
            "win_rank": self.win_rank,
        }


@dataclass(frozen=True)
class LengthEffects:
    """What `length_effects` found.

    Attributes:
        covariate: column.
        level: "cell" if it varies within a system, "system" if each system has one value.
        tolerance: largest difference of lengths that counts as equal.
        matched_pairs: pairs of systems and items of equal length.
        panel, raters, systems: see there; systems in the order of their means, best first.
    """

    covariate: str
    level: str
    tolerance: float
    matched_pairs: int
    panel: PanelLength
    raters: tuple[RaterLength, ...]
    systems: tuple[SystemLength, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "covariate": self.covariate,
            "level": self.level,
            "panel": self.panel.to_dict(),
            "raters": [r.to_dict() for r in self.raters],
            "matched": {"pairs": self.matched_pairs, "tolerance": self.tolerance},
            "systems": [s.to_dict() for s in self.systems],
        }


@dataclass(frozen=True)
class _Rows:
    """The study as arrays, one entry per rating."""

    score: Floats
    length: Floats
    item: Ints
    system: Ints
    rater: Ints
    items: int
    systems: int
    raters: int

    def of_rater(self, rater: int) -> _Rows:
        keep = self.rater == rater
        codes = (self.item[keep], self.system[keep], self.rater[keep])
        return _Rows(self.score[keep], self.length[keep], *codes, self.items, self.systems, self.raters)

    @property
    def clusters(self) -> Clusters:
        return Clusters(self.item, self.rater, self.items, self.raters)

    @property
    def block(self) -> Ints:
        """Item x rater number of each row: what a rater thought of one item's outputs."""
        return self.item * self.raters + self.rater

    def system_means(self, values: Floats) -> Floats:
        counts = np.bincount(self.system, minlength=self.systems)
        with np.errstate(invalid="ignore", divide="ignore"):
            means: Floats = np.bincount(self.system, weights=values, minlength=self.systems) / counts
        return means


def length_effects(
    study: Study, column: str, *, tolerance: float = 0.0, higher_is_better: bool = True
) -> LengthEffects:
    """Effects of a covariate on the scores of a study of items, systems and raters.

    Args:
        study: with systems; incomplete tables are fine, raters nested in items are not.
        column: numeric column of the study's table: length, tokens, emoji count, model size.
        tolerance: outputs whose covariates differ by at most this are of equal length.
        higher_is_better: high scores are good.

    Raises:
        InputError: no such column, not numbers, no variation, or a design without systems or with nesting.
    """
    rows = _rows(study, column)
    if not tolerance >= 0 or np.isinf(tolerance):
        raise InputError(f"the tolerance is {tolerance}; expected a number of zero or more")
    level = "system" if _constant_within(rows.length, rows.system, rows.systems) else "cell"
    names = study.names["rater"]
    raters = tuple(
        RaterLength(
            names[r],
            _within_items(own, these_raters=True),
            _between_systems(own),
            _rank_correlation(own),
        )
        for r in range(rows.raters)
        if (own := rows.of_rater(r)).score.size
    )
    slope, controlled = _controlled(rows)
    panel = PanelLength(
        _within_items(rows),
        _within_items(rows, these_raters=True),
        slope,
        _between_systems(rows),
        _rank_correlation(rows),
    )
    wins, matched, pairs = _win_rates(rows, tolerance, higher_is_better)
    systems = _systems(rows, study.names["system"], controlled, wins, matched, 1.0 if higher_is_better else -1.0)
    return LengthEffects(column, level, tolerance, pairs, panel, raters, systems)


def _rows(study: Study, column: str) -> _Rows:
    design = study.design
    if not {"item", "system", "rater"} <= set(design.levels) or design.nested:
        raise InputError(
            f"{study.origin}: {design.describe()}; length effects need systems, items and raters, none nested"
        )
    if column not in study.frame.columns:
        raise InputError(f"{study.origin}: no column {column!r}; it has {', '.join(study.frame.columns)}")
    length = read_scores(study.frame[column], study.origin)
    if length.min() == length.max():
        raise InputError(f"{study.origin}: column {column!r} is {length[0]:g} everywhere; nothing can follow it")
    codes = [study.codes[f].astype(np.int64) for f in ("item", "system", "rater")]
    counts = [len(study.names[f]) for f in ("item", "system", "rater")]
    return _Rows(study.values, length, codes[0], codes[1], codes[2], counts[0], counts[1], counts[2])


def _constant_within(values: Floats, group: Ints, groups: int) -> bool:
    low, high = np.full(groups, np.inf), np.full(groups, -np.inf)
    np.minimum.at(low, group, values)
    np.maximum.at(high, group, values)
    return bool((high - low <= 0.0).all())


def _demeaned(values: Floats, group: Ints) -> Floats:
    _, compact, counts = np.unique(group, return_inverse=True, return_counts=True)
    means = np.bincount(compact, weights=values) / counts
    out: Floats = values - means[compact]
    return out


def _within_items(rows: _Rows, *, these_raters: bool = False) -> Estimate:
    """Slope with an intercept for every item of every rater (fixed effects)."""
    x, y = _demeaned(rows.length, rows.block), _demeaned(rows.score, rows.block)
    spread = float(x @ x)
    if spread <= 1e-12 * float(np.square(rows.length - rows.length.mean()).sum()):
        return Estimate.absent("outputs for the same item are all of one length")
    slope = float(x @ y) / spread
    contributions = x * (y - slope * x) / spread
    if these_raters:
        return rows.clusters.over_items(slope, contributions)
    return rows.clusters.over_both(slope, contributions)


def _between_systems(rows: _Rows) -> Estimate:
    """Least squares through the systems' means; t interval on systems - 2 degrees of freedom."""
    from scipy.special import stdtrit

    x, y = rows.system_means(rows.length), rows.system_means(rows.score)
    there = np.isfinite(x) & np.isfinite(y)
    x, y = x[there] - x[there].mean(), y[there] - y[there].mean()
    spread = float(x @ x)
    if x.size < 2 or spread == 0.0:
        return Estimate.absent("the systems' mean lengths are equal")
    slope = float(x @ y) / spread
    if x.size < 3:
        return Estimate(slope, reason="two systems: no interval")
    residual = y - slope * x
    half = float(stdtrit(x.size - 2, 0.975)) * sqrt(float(residual @ residual) / (x.size - 2) / spread)
    return Estimate(slope, (slope - half, slope + half))


def _rank_correlation(rows: _Rows) -> RankCorrelation:
    x, y = rows.system_means(rows.length), rows.system_means(rows.score)
    there = np.isfinite(x) & np.isfinite(y)
    return correlate_means(x[there], y[there])


def correlate_means(lengths: Floats, means: Floats) -> RankCorrelation:
    """Spearman with its p, and R2, of the systems' mean scores and mean lengths, shape (systems,)."""
    if lengths.size < 3:
        return RankCorrelation(None, None, "none", None, "fewer than three systems")
    # means that differ by rounding alone are ties
    x, y = mid_ranks(np.round(lengths, 12)), mid_ranks(np.round(means, 12))
    rho, r = correlation(x, y), correlation(lengths, means)
    if rho is None or r is None:
        return RankCorrelation(None, None, "none", None, "the systems' means or lengths are all equal")
    if lengths.size <= MAX_EXACT:
        return RankCorrelation(rho, exact_p(x, y), "exact", r * r)
    return RankCorrelation(rho, t_approximation_p(rho, lengths.size), "t approximation", r * r)


def _controlled(rows: _Rows) -> tuple[Estimate, list[Estimate]]:
    """Slope within items and systems, and each system's mean at the average length."""
    lengths, x = _system_effects(rows, rows.length)
    scores, y = _system_effects(rows, rows.score)
    spread = float(x @ x)
    grand = float(np.mean(rows.system_means(rows.score)))
    if spread <= 1e-9 * float(np.square(rows.length - rows.length.mean()).sum()):
        reason = Estimate.absent("length does not vary within systems beyond what their items share")
        return reason, [reason] * rows.systems
    slope = float(x @ y) / spread
    u = y - slope * x
    leverage = x * u / spread
    clusters = rows.clusters
    out = []
    for s in range(rows.systems):
        own = rows.system == s
        contributions = np.where(own, u / max(int(own.sum()), 1), 0.0) - lengths[s] * leverage
        out.append(clusters.over_both(grand + scores[s] - slope * lengths[s], contributions))
    return clusters.over_both(slope, leverage), out


def _system_effects(rows: _Rows, values: Floats) -> tuple[Floats, Floats]:
    """System effects (mean zero) beside an effect for every item of every rater, and what both leave over.

    Alternating projections; a complete table needs one round.
    """
    _, block, sizes = np.unique(rows.block, return_inverse=True, return_counts=True)
    counts = np.maximum(np.bincount(rows.system, minlength=rows.systems), 1)
    effects = np.zeros(rows.systems)
    left = values - values.mean()
    scale = float(np.abs(left).max()) or 1.0
    for _ in range(1000):
        left = left - (np.bincount(block, weights=left) / sizes)[block]
        step = np.bincount(rows.system, weights=left, minlength=rows.systems) / counts
        left = left - step[rows.system]
        effects += step
        if np.abs(step).max() <= 1e-12 * scale:
            break
    return effects - effects.mean(), left


def _win_rates(rows: _Rows, tolerance: float, higher_is_better: bool) -> tuple[list[Estimate], list[int], int]:
    """Win rates of every system on pairs of equal length for the same item."""
    if rows.items * rows.systems * rows.raters > _MOST_CELLS:
        reason = Estimate.absent(f"more than {_MOST_CELLS:,} possible cells: too many to compare pair by pair")
        return [reason] * rows.systems, [0] * rows.systems, 0
    shape = (rows.systems, rows.items, rows.raters)
    score, length = np.full(shape, np.nan), np.full(shape, np.nan)
    score[rows.system, rows.item, rows.rater] = rows.score if higher_is_better else -rows.score
    length[rows.system, rows.item, rows.rater] = rows.length
    won, met = np.zeros(shape), np.zeros(shape)
    matched = np.zeros(rows.systems, dtype=np.int64)
    pairs = 0
    slack = tolerance * (1 + 1e-12)
    for a in range(rows.systems):
        for b in range(a):
            with np.errstate(invalid="ignore"):
                equal = np.abs(length[a] - length[b]) <= slack
            both = equal & ~np.isnan(score[a]) & ~np.isnan(score[b])
            share = np.where(both, 0.5 + 0.5 * np.sign(np.where(both, score[a] - score[b], 0.0)), 0.0)
            won[a] += share
            won[b] += np.where(both, 1.0 - share, 0.0)
            met[a] += both
            met[b] += both
            of_items = int(both.any(axis=1).sum())
            matched[[a, b]] += of_items
            pairs += of_items
    item, rater = (g.ravel() for g in np.indices(shape[1:]))
    rates = []
    for s in range(rows.systems):
        total = float(met[s].sum())
        if total == 0:
            rates.append(Estimate.absent("no other system has an output of equal length for the same item"))
            continue
        rate = float(won[s].sum()) / total
        there = met[s].ravel() > 0
        contributions = ((won[s] - rate * met[s]) / total).ravel()[there]
        clusters = Clusters(item[there], rater[there], rows.items, rows.raters)
        found = clusters.over_both(rate, contributions)
        inside = None if found.ci is None else (max(found.ci[0] or 0.0, 0.0), min(_bound(found.ci[1]), 1.0))
        rates.append(Estimate(rate, inside, reason=found.reason))
    return rates, matched.tolist(), pairs


def _bound(x: float | None) -> float:
    return 1.0 if x is None else x


def _systems(
    rows: _Rows,
    names: Sequence[str],
    controlled: Sequence[Estimate],
    wins: Sequence[Estimate],
    matched: Sequence[int],
    sign: float,
) -> tuple[SystemLength, ...]:
    means, lengths = rows.system_means(rows.score), rows.system_means(rows.length)
    raw = _places(dict(enumerate((sign * means).tolist())))
    level = _places({s: sign * e.value for s, e in enumerate(controlled) if e.value is not None})
    won = _places({s: e.value for s, e in enumerate(wins) if e.value is not None})
    out = [
        SystemLength(
            names[s],
            float(means[s]),
            float(lengths[s]),
            raw[s],
            controlled[s],
            level.get(s),
            wins[s],
            matched[s],
            won.get(s),
        )
        for s in range(rows.systems)
    ]
    return tuple(sorted(out, key=lambda s: s.rank))


def _places(values: Mapping[int, float]) -> dict[int, float]:
    """Places from 1 (largest); ties share the mean of theirs."""
    keys = list(values)
    ranks = mid_ranks(-np.round(np.array([values[k] for k in keys]), 12)) if keys else np.empty(0)
    return dict(zip(keys, ranks.tolist(), strict=True))


@dataclass(frozen=True)
class TwoRatios:
    """A ratio of two columns, in its two readings, which differ.

    Attributes:
        ratio_of_means: sum of one over sum of the other.
        mean_of_ratios: mean of the ratio row by row; rows with a zero below are left out and counted.
        rows, left_out: rows behind each system, and those left out of `mean_of_ratios`.
    """

    system: str
    ratio_of_means: Estimate
    mean_of_ratios: Estimate
    rows: int
    left_out: int

    def to_dict(self) -> dict[str, Any]:
        return {
            "system": self.system,
            "ratio_of_means": self.ratio_of_means.to_dict(),
            "mean_of_ratios": self.mean_of_ratios.to_dict(),
            "rows": self.rows,
            "left_out": self.left_out,
        }


def two_ratios(top: Floats, bottom: Floats, item: Ints, name: str) -> TwoRatios:
    """Ratio of means and mean of ratios of two columns, intervals over items.

    Args:
        top, bottom: shape (rows,).
        item: item number of each row.
        name: the system's.
    """
    _, codes = np.unique(item, return_inverse=True)
    clusters = Clusters(codes, np.zeros(codes.size, dtype=np.int64), int(codes.max()) + 1, 1)
    total = float(bottom.sum())
    if total == 0.0:
        of_means = Estimate.absent("the denominator is zero everywhere")
    else:
        ratio = float(top.sum()) / total
        of_means = clusters.over_items(ratio, (top - ratio * bottom) / total)
    usable = bottom != 0.0
    if not usable.any():
        return TwoRatios(name, of_means, Estimate.absent("the denominator is zero everywhere"), top.size, top.size)
    ratios = top[usable] / bottom[usable]
    inside = Clusters(codes[usable], clusters.rater[usable], clusters.items, 1)
    mean = float(ratios.mean())
    of_ratios = inside.over_items(mean, (ratios - mean) / ratios.size)
    return TwoRatios(name, of_means, of_ratios, int(top.size), int((~usable).sum()))


def ratios_by_system(study: Study, top: str, bottom: str) -> tuple[TwoRatios, ...]:
    """`two_ratios` of two columns for every system, each cell counted once.

    Raises:
        InputError: a column is missing or not numeric, or the study has no systems.
    """
    if "system" not in study.codes or "item" not in study.codes:
        raise InputError(f"{study.origin}: ratios by system need item and system columns")
    for column in (top, bottom):
        if column not in study.frame.columns:
            raise InputError(f"{study.origin}: no column {column!r}; it has {', '.join(study.frame.columns)}")
    above, below = (read_scores(study.frame[c], study.origin) for c in (top, bottom))
    item, system = (study.codes[f].astype(np.int64) for f in ("item", "system"))
    # raters see the same output, so each item x system is one row
    first = np.unique(item * len(study.names["system"]) + system, return_index=True)[1]
    above, below, item, system = above[first], below[first], item[first], system[first]
    names = study.names["system"]
    return tuple(
        two_ratios(above[k], below[k], item[k], names[s]) for s in range(len(names)) if (k := system == s).any()
    )
