"""Krippendorff's alpha: nominal, ordinal, interval and ratio, with missing cells, in closed form.

Source of all formulas: Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011). With s_u the sum of
squared differences over the ordered pairs of a unit's m_u scores, divided by m_u - 1, and Q the same sum
over all pairs of the n pairable scores, alpha = 1 - (n - 1) sum_u s_u / Q. No matrix of values by values is built:

* nominal: Q and s_u from counts of values;
* interval: from sums and sums of squares;
* ordinal: its metric is the interval metric of mid-ranks (the count of scores below plus half of those equal),
  so one sort and the interval formula;
* ratio: ((x - y) / (x + y))^2 = tanh^2((log x - log y) / 2), a smooth kernel of the logarithms, which
  interpolation at a few dozen Chebyshev nodes reproduces to rounding (Trefethen, Approximation Theory and
  Approximation Practice, chapter 8): linear in the number of scores.

Knows a matrix of numbers and nothing of what was rated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from mojimeter.errors import InputError
from mojimeter.ratings.agreement.resampling import Resampling, resampling
from mojimeter.stats.estimate import Estimate

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Level = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS: tuple[Level, ...] = get_args(Level)

# Beyond this many different scores they are measurements, not categories.
MAX_CATEGORIES = 60
_BLOCK = 4_000_000  # numbers in the largest temporary array of a bootstrap block: 32 MB
_RANK_BLOCK = 500_000  # the same where mid-ranks are drawn: what a core's cache holds
_MAX_NODES = 2_000
_FAR = 40.0  # logarithms this far apart: the ratio metric is 1 to the last bit


@dataclass(frozen=True)
class Pairable:
    """The scores that can be paired: those of units with at least two.

    Attributes:
        values: scores ordered by unit, shape (n,).
        unit: unit number of each score, from 0 and without gaps, shape (n,).
        sizes: scores per unit, shape (units,).
        rows: row of the matrix of each unit, shape (units,).
    """

    values: Floats
    unit: Ints
    sizes: Ints
    rows: Ints

    @classmethod
    def of(cls, matrix: Floats) -> Pairable:
        """The pairable scores of a (units, raters) matrix with NaN where a rater gave none."""
        there = ~np.isnan(matrix)
        sizes = there.sum(axis=1)
        rows = np.flatnonzero(sizes >= 2)
        there = there[rows]
        sizes = sizes[rows]
        return cls(matrix[rows][there], np.repeat(np.arange(rows.size), sizes), sizes, rows)

    @property
    def units(self) -> int:
        return int(self.sizes.size)

    @cached_property
    def starts(self) -> Ints:
        """Position of each unit's first score."""
        return np.cumsum(self.sizes) - self.sizes

    def subset(self, units: Ints) -> Pairable:
        """Some of the units."""
        sizes = self.sizes[units]
        ends = np.cumsum(sizes)
        within = np.arange(int(ends[-1])) - np.repeat(ends - sizes, sizes)
        values = self.values[np.repeat(self.starts[units], sizes) + within]
        return Pairable(values, np.repeat(np.arange(units.size), sizes), sizes, self.rows[units])

    @cached_property
    def coded(self) -> tuple[Floats, Ints]:
        """Distinct values in order, and the number of each score's value."""
        distinct, codes = np.unique(self.values, return_inverse=True)
        return distinct, codes.astype(np.int64)

    def unit_sums(self, values: Floats) -> Floats:
        """Sums over each unit's scores, along the first axis."""
        width = int(self.sizes[0])
        if width * self.units == len(values) and (self.sizes == width).all():
            sums: Floats = values.reshape(self.units, width, *values.shape[1:]).sum(axis=1)
            return sums
        return np.add.reduceat(values, self.starts, axis=0)


def krippendorff_alpha(
    matrix: Floats,
    level: Level = "interval",
    *,
    cluster: Ints | None = None,
    draws: int = 1000,
    seed: int = 0,
) -> Estimate:
    """Krippendorff's alpha with a percentile interval over units.

    Args:
        matrix: scores, shape (units, raters), NaN where a rater gave none.
        level: of measurement. ``ordinal`` is Krippendorff's metric, not Gwet's ordinal weights.
        cluster: number of the cluster of each unit; clusters are drawn whole. None: each unit alone.
        draws: bootstrap draws; 0 for no interval.
        seed: of the draws.

    The interval held the true alpha in 93% of 600 simulated studies of 30 units and in 94 to 96% at 100
    (three raters, five-point scale; nominal 92 and 93%).

    Returns:
        1 for perfect agreement, 0 for what chance gives, negative below; an absence with its reason where
        nothing can be paired, all scores are equal, or the ratio metric does not apply (negative scores).

    Raises:
        InputError: an unknown level, or a matrix that is not two-dimensional.
    """
    matrix = check_matrix(matrix)
    if level not in LEVELS:
        raise InputError(f"no level of measurement {level!r}; expected {', '.join(LEVELS)}")
    data = Pairable.of(matrix)
    how = resampling(
        data.units,
        data.values.size,
        None if cluster is None else np.asarray(cluster)[data.rows],
        draws=draws,
        seed=seed,
    )
    return alpha_of(data, level, how)


def check_matrix(matrix: Floats) -> Floats:
    """A float matrix of units by raters.

    Raises:
        InputError: wrong shape, or an infinite score.
    """
    matrix = np.asarray(matrix, dtype=np.float64)
    if matrix.ndim != 2:
        raise InputError(f"agreement needs a matrix of units by raters; this array has {matrix.ndim} dimensions")
    if not np.isfinite(matrix.sum()) and np.isinf(matrix).any():
        unit, rater = np.argwhere(np.isinf(matrix))[0]
        raise InputError(f"the score of unit {unit + 1} by rater {rater + 1} is infinite; expected a finite number")
    return matrix


def alpha_of(data: Pairable, level: Level, how: Resampling) -> Estimate:
    """Alpha of pairable scores, with the interval that `how` asks for."""
    if data.units == 0:
        return Estimate.absent("no unit was rated by two raters")
    if data.values.min() == data.values.max():
        return Estimate.absent("all scores are equal: there is no spread to agree about")
    if level == "ratio":
        if data.values.min() < 0:
            return Estimate.absent("the ratio level needs scores of zero or more")
        if _node_count(data) > _MAX_NODES:
            return Estimate.absent("the scores span too many orders of magnitude for the ratio level")
    statistic = _STATISTICS[level](data, how)
    value = float(statistic(np.ones((1, how.clusters)))[0])
    if level == "nominal" and data.coded[0].size > MAX_CATEGORIES:
        # a score drawn twice would agree with itself: no interval worth printing
        return Estimate(value, reason=f"{data.coded[0].size:,} different scores: measurements, not categories")
    if how.groups:
        return how.estimate_from_parts(value, [_point(data.subset(units), level) for units in how.parts()])
    if not how.draws:
        return Estimate(value)
    return how.estimate(value, statistic)


def _point(data: Pairable, level: Level) -> float:
    """Alpha without an interval; NaN where all scores are equal."""
    if data.values.min() == data.values.max():
        return float("nan")
    plain = resampling(data.units, 0, draws=0)
    return float(_STATISTICS[level](data, plain)(np.ones((1, plain.clusters)))[0])


Statistic = Callable[[Floats], Floats]


def _from_sums(pairs: Floats, size: Floats, total: Floats) -> Floats:
    """Alpha from sum s_u, n and Q, each of shape (draws,)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        # rounding leaves a trace of Q in a draw whose scores are all equal
        return np.where(total > 1e-13 * size**2, 1.0 - (size - 1.0) * pairs / total, np.nan)


def _nominal(data: Pairable, how: Resampling) -> Statistic:
    from scipy.sparse import coo_matrix

    distinct, codes = data.coded
    shape = (data.units, distinct.size)
    counts = coo_matrix((np.ones(codes.size), (data.unit, codes)), shape=shape).tocsr()
    agreeing = np.asarray(counts.multiply(counts).sum(axis=1)).ravel()
    sizes = data.sizes.astype(np.float64)
    unit_pairs = (sizes**2 - agreeing) / (sizes - 1.0)
    columns = how.sums(np.column_stack([unit_pairs, sizes]))
    of_cluster = coo_matrix((np.ones(data.units), (how.cluster, np.arange(data.units)))).tocsr()
    by_value = (of_cluster @ counts).T.tocsr()

    def statistic(weights: Floats) -> Floats:
        pairs, size = (weights @ columns).T
        same = np.empty(len(weights))
        step = max(1, _BLOCK // distinct.size)
        for start in range(0, len(weights), step):
            drawn = by_value @ weights[start : start + step].T
            same[start : start + step] = np.square(drawn).sum(axis=0)
        return _from_sums(pairs, size, size**2 - same)

    return statistic


def _interval(data: Pairable, how: Resampling) -> Statistic:
    values = _standardised(data.values)
    sizes = data.sizes.astype(np.float64)
    sums = data.unit_sums(values)
    within = data.unit_sums(np.square(values - (sums / sizes)[data.unit]))
    unit_pairs = 2.0 * sizes * within / (sizes - 1.0)
    columns = how.sums(np.column_stack([unit_pairs, sizes, sums, data.unit_sums(values**2)]))

    def statistic(weights: Floats) -> Floats:
        pairs, size, total, squares = (weights @ columns).T
        return _from_sums(pairs, size, 2.0 * (size * squares - total**2))

    return statistic


def _standardised(values: Floats) -> Floats:
    """Mean 0 and largest deviation 1, in two passes: alpha is the same, and neither offset nor scale costs digits."""
    centred: Floats = values - values.mean()
    centred -= centred.mean()
    centred /= np.abs(centred).max()
    return centred


def _ordinal(data: Pairable, how: Resampling) -> Statistic:
    distinct, codes = data.coded
    sizes = data.sizes.astype(np.float64)
    cluster = how.cluster[data.unit]
    from scipy.sparse import coo_matrix

    shape = (distinct.size, how.clusters)
    by_value = coo_matrix((np.ones(codes.size), (codes, cluster)), shape=shape).tocsr()

    spread = (2.0 * sizes / (sizes - 1.0))[:, None]

    def block(weights: Floats) -> Floats:
        # one column a draw: whole rows are gathered and summed, which memory likes
        drawn = np.ascontiguousarray(weights.T)
        counts = by_value @ drawn
        size = counts.sum(axis=0)
        # mid-ranks as shares of n, centred on one half
        ranks = (np.cumsum(counts, axis=0) - 0.5 * counts) / size - 0.5
        total = (
            2.0 * size * np.einsum("vd,vd,vd->d", counts, ranks, ranks)
            - 2.0 * np.einsum("vd,vd->d", counts, ranks) ** 2
        )
        scored = ranks[codes]
        sums = data.unit_sums(scored)
        squares = data.unit_sums(np.square(scored, out=scored))
        within = squares - np.square(sums, out=sums) / sizes[:, None]
        pairs = np.einsum("ud,ud->d", drawn[how.cluster], within * spread)
        return _from_sums(pairs, size, total)

    def statistic(weights: Floats) -> Floats:
        step = max(1, _RANK_BLOCK // codes.size)
        return np.concatenate([block(weights[i : i + step]) for i in range(0, len(weights), step)])

    return statistic


def _ratio(data: Pairable, how: Resampling) -> Statistic:
    from scipy.sparse import coo_matrix

    distinct, codes = data.coded
    sizes = data.sizes.astype(np.float64)
    unit_pairs = _ratio_pairs(data) / (sizes - 1.0)
    zeros = int(distinct[0] == 0.0)
    basis, kernel = _ratio_basis(distinct[zeros:])
    shape = (how.clusters, distinct.size)
    counts = coo_matrix((np.ones(codes.size), (how.cluster[data.unit], codes)), shape=shape).tocsr()
    features = counts[:, zeros:] @ basis
    none = counts[:, :zeros].toarray().sum(axis=1)
    columns = np.column_stack([how.sums(np.column_stack([unit_pairs, sizes])), none])

    def statistic(weights: Floats) -> Floats:
        pairs, size, zero = (weights @ columns).T
        drawn = weights @ features
        spread = np.einsum("dn,dn->d", drawn @ kernel, drawn)
        return _from_sums(pairs, size, spread + 2.0 * zero * (size - zero))

    return statistic


def _ratio_pairs(data: Pairable) -> Floats:
    """Sum of the squared ratio differences over the ordered pairs of each unit, shape (units,)."""
    width = int(data.sizes.max())
    table = np.full((data.units, width), np.nan)
    table[data.unit, np.arange(data.unit.size) - data.starts[data.unit]] = data.values
    out = np.zeros(data.units)
    for lag in range(1, width):
        first, second = table[:, lag:], table[:, :-lag]
        both = first + second
        with np.errstate(divide="ignore", invalid="ignore"):
            squared = np.square((first - second) / both)
        out += 2.0 * np.where(both > 0, squared, 0.0).sum(axis=1)
    return out


def _folded_logs(positive: Floats) -> Floats:
    """Logarithms of increasing values, with gaps too wide to matter shortened."""
    logs = np.log(positive)
    steps = np.minimum(np.diff(logs), _FAR)
    return np.concatenate([[0.0], np.cumsum(steps)])


def _chebyshev_nodes(span: float) -> int:
    """Nodes that reproduce tanh^2(t/2) over [-span, span] to rounding: its poles lie at +-i pi."""
    half = max(span, 1e-6) / 2.0
    growth = np.arcsinh(np.pi / half)
    return int(np.ceil(40.0 / growth)) + 4


def _node_count(data: Pairable) -> int:
    positive = data.coded[0][data.coded[0] > 0]
    return min(positive.size, _chebyshev_nodes(float(_folded_logs(positive)[-1])))


def _ratio_basis(positive: Floats) -> tuple[Floats, Floats]:
    """Matrices B (values, nodes) and K (nodes, nodes) with B K B' the squared ratio differences of the values."""
    logs = _folded_logs(positive)
    span = float(logs[-1])
    nodes = _chebyshev_nodes(span)
    if nodes >= positive.size or span == 0.0:
        return np.eye(positive.size), _ratio_kernel(logs)
    grid = np.cos(np.pi * np.arange(nodes) / (nodes - 1))
    place = (grid + 1.0) * span / 2.0
    weight = (-1.0) ** np.arange(nodes)
    weight[[0, -1]] *= 0.5
    distance = logs[:, None] - place[None, :]
    hit_value, hit_node = np.nonzero(distance == 0.0)
    distance[hit_value, hit_node] = 1.0
    basis = weight / distance
    basis /= basis.sum(axis=1, keepdims=True)
    basis[hit_value] = 0.0
    basis[hit_value, hit_node] = 1.0
    return basis, _ratio_kernel(place)


def _ratio_kernel(logs: Floats) -> Floats:
    kernel: Floats = np.square(np.tanh(0.5 * (logs[:, None] - logs[None, :])))
    return kernel


_STATISTICS: dict[Level, Callable[[Pairable, Resampling], Statistic]] = {
    "nominal": _nominal,
    "ordinal": _ordinal,
    "interval": _interval,
    "ratio": _ratio,
}


def alpha_from_mean_squares(unit: float, rater: float, error: float, units: int, raters: int) -> float:
    """Interval alpha of a complete table from the mean squares of its two-way analysis of variance.

    Observed disagreement is twice the mean square within units, expected twice the total variance.

    Args:
        unit, rater, error: mean squares of units, raters and their interaction.
        units, raters: how many there are.
    """
    within = (rater * (raters - 1) + error * (units - 1) * (raters - 1)) / (units * (raters - 1))
    total = unit * (units - 1) + within * units * (raters - 1)
    return 1.0 - within * (units * raters - 1) / total


def alpha_from_weights(matrix: Floats, weights: Floats) -> float | None:
    """Alpha of coded categories where 1 - weight is the squared difference, as irrCAC computes it.

    Args:
        matrix: category numbers 0 to q - 1 as floats, shape (units, raters), NaN where missing.
        weights: shape (q, q), 1 on the diagonal.

    Returns:
        None where nothing can be paired or everything is in one category.
    """
    data = Pairable.of(matrix)
    q = len(weights)
    if data.units == 0:
        return None
    counts = np.zeros((data.units, q))
    np.add.at(counts, (data.unit, data.values.astype(np.int64)), 1.0)
    apart = 1.0 - weights
    pairs = float((np.einsum("uk,kl,ul->u", counts, apart, counts) / (data.sizes - 1.0)).sum())
    totals = counts.sum(axis=0)
    expected = float(totals @ apart @ totals)
    return 1.0 - (totals.sum() - 1.0) * pairs / expected if expected else None
