"""Analysis of variance of a complete table: sums of squares of every effect from a dense cube.

Knows arrays and a `Design`; nothing of files, models or what is done with the mean squares.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mojimeter.errors import InputError
from mojimeter.ratings.design import Design

Floats = NDArray[np.float64]

_ROUNDING = 16 * float(np.finfo(np.float64).eps)  # error of a deviation, as a share of the largest score
# Scores handled at a time in the residual pass: three such blocks stay in a core's cache.
_BLOCK = 32_768


@dataclass(frozen=True)
class Anova:
    """Degrees of freedom and mean squares of every effect of a complete design.

    Attributes:
        design: the layout; gives the effects and their multipliers.
        df: effect name -> degrees of freedom.
        ms: effect name -> mean square, in squared score units.
    """

    design: Design
    df: Mapping[str, int]
    ms: Mapping[str, float]

    @classmethod
    def from_mean_squares(cls, ms: Mapping[str, float], design: Design) -> Anova:
        """The same table from printed mean squares.

        Raises:
            InputError: an effect of the design has no mean square, or a name is not an effect.
        """
        names = [e.name for e in design.effects]
        for name in names:
            if name not in ms:
                raise InputError(f"no mean square for {name!r}; this design needs {', '.join(names)}")
        for name in ms:
            if name not in names:
                raise InputError(f"{name!r} is not an effect of this design; it has {', '.join(names)}")
        df = {e.name: design.degrees_of_freedom(e) for e in design.effects}
        return cls(design, df, {name: float(ms[name]) for name in names})

    @property
    def ss(self) -> dict[str, float]:
        """Effect name -> sum of squares."""
        return {name: self.ms[name] * self.df[name] for name in self.ms}

    @property
    def total(self) -> float:
        """Total sum of squares about the grand mean."""
        return sum(self.ss.values())

    def to_dict(self) -> list[dict[str, Any]]:
        """Rows of the contract: source, df, ss, ms."""
        ss = self.ss
        return [{"source": k, "df": self.df[k], "ss": ss[k], "ms": self.ms[k]} for k in self.ms]


def analyse_variance(cube: Floats, design: Design) -> Anova:
    """Sums of squares of every effect of a complete table.

    Args:
        cube: scores, one axis per facet in the order of `design.facets`; a nested facet's axis runs over
            the levels within its parent.
        design: the complete layout.

    Every effect is swept out as a table of deviations before it is squared, so nothing is lost to
    cancellation however large the offset of a rater. A nested effect pools the crossed effects that
    it stands for: SS[r(t)] = SS[r] + SS[rt] (Brennan 2001, section 3.2).
    """
    ss = _without_rounding(_crossed_sums_of_squares(cube), cube)
    pooled: dict[frozenset[str], float] = {}
    for axes, value in ss.items():
        facets = design.closure(design.facets[a] for a in axes)
        pooled[facets] = pooled.get(facets, 0.0) + value
    df = {e.name: design.degrees_of_freedom(e) for e in design.effects}
    ms = {e.name: pooled[e.facets] / df[e.name] if df[e.name] else 0.0 for e in design.effects}
    return Anova(design, df, ms)


def _without_rounding(ss: dict[tuple[int, ...], float], cube: Floats) -> dict[tuple[int, ...], float]:
    """Zero in place of what the rounding of the scores leaves of an effect that is not there.

    Without this a table that its systems explain entirely has an F of 1e31 in place of none.
    """
    largest = max(float(cube.max()), -float(cube.min()))
    floor = cube.size * (_ROUNDING * largest) ** 2
    return {axes: value if value > floor else 0.0 for axes, value in ss.items()}


@lru_cache(maxsize=8)
def _subsets(k: int) -> tuple[tuple[tuple[int, ...], tuple[tuple[int, ...], ...]], ...]:
    """Every non-empty subset of k axes, small ones first, with its own non-empty proper subsets."""
    every = [axes for size in range(1, k + 1) for axes in combinations(range(k), size)]
    return tuple((axes, tuple(s for s in every if set(s) < set(axes))) for axes in every)


def _crossed_sums_of_squares(cube: Floats) -> dict[tuple[int, ...], float]:
    """Sum of squares of every non-empty subset of axes, all axes crossed."""
    centred = centre(cube)
    tables = _marginal_means(centred)
    ss: dict[tuple[int, ...], float] = {}
    deviations: dict[tuple[int, ...], Floats] = {}
    for axes, smaller in _subsets(cube.ndim)[:-1]:
        table = tables[axes]
        for subset in smaller:
            table = table - deviations[subset]
        deviations[axes] = table
        flat = table.ravel()
        ss[axes] = float(flat @ flat) * (cube.size // flat.size)
    ss[tuple(range(cube.ndim))] = _residual_sum_of_squares(centred, deviations)
    return ss


def object_cross_products(cube: Floats, design: Design, facet: str) -> dict[str, Floats]:
    """Cross products between the levels of a facet in every effect that holds it and something else.

    For effect a the matrix G[j, k] = sum over a's other facets of e_j e_k times the ratings behind each, with e the
    effect's deviations; the trace is the sum of squares of a, and G_jj + G_kk - 2 G_jk that of the difference of
    levels j and k. Effect name -> (levels, levels).
    """
    axis = design.facets.index(facet)
    centred = centre(cube)
    tables = _marginal_means(centred)
    tables[tuple(range(cube.ndim))] = centred
    deviations: dict[tuple[int, ...], Floats] = {}
    products: dict[frozenset[str], Floats] = {}
    for axes, smaller in _subsets(cube.ndim):
        table = tables[axes]
        for subset in smaller:
            table = table - deviations[subset]
        deviations[axes] = table
        if axis in axes and len(axes) > 1:
            rows = np.moveaxis(table, axis, 0).reshape(cube.shape[axis], -1)
            own = design.closure(design.facets[a] for a in axes)
            products[own] = products.get(own, 0.0) + rows @ rows.T * (cube.size // table.size)
    return {e.name: products[e.facets] for e in design.effects if e.facets in products}


def centre(cube: Floats) -> Floats:
    """A copy with mean zero; the second pass removes what rounding left of a large mean."""
    centred: Floats = cube - cube.mean()
    centred -= centred.mean()
    return centred


def _marginal_means(cube: Floats) -> dict[tuple[int, ...], Floats]:
    """Means over all other axes (kept with length one), for every proper non-empty subset of axes."""
    k = cube.ndim
    tables: dict[tuple[int, ...], Floats] = {tuple(range(k)): cube}
    for axes, _ in _subsets(k)[-2::-1]:
        larger = [(tables[tuple(sorted((*axes, a)))], a) for a in range(k) if a not in axes]
        source, extra = min(larger, key=lambda pair: pair[0].size)
        tables[axes] = _mean_over(source, extra)
    del tables[tuple(range(k))]
    return tables


def _mean_over(table: Floats, axis: int) -> Floats:
    """Mean over one axis, kept with length one; as a matrix product, which BLAS does fastest."""
    shape = table.shape
    n, before = shape[axis], prod(shape[:axis])
    weights = np.full(n, 1.0 / n)
    means: Floats
    if before == 1:
        means = weights @ table.reshape(n, -1)
    elif table.size == before * n:
        means = table.reshape(before, n) @ weights
    else:
        means = np.matmul(weights, table.reshape(before, n, -1))
    return means.reshape((*shape[:axis], 1, *shape[axis + 1 :]))


def _residual_sum_of_squares(centred: Floats, deviations: Mapping[tuple[int, ...], Floats]) -> float:
    """Sum of squares of what no smaller effect explains; overwrites `centred`."""
    k = centred.ndim
    if k == 1:
        flat = centred.ravel()
        return float(flat @ flat)
    # Fold every smaller effect into one table that contains its axes: k subtractions instead of 2^k - 2.
    largest = list(combinations(range(k), k - 1))
    folded = {axes: deviations[axes].copy() for axes in largest}
    for axes, table in deviations.items():
        if len(axes) < k - 1:
            folded[next(big for big in largest if set(axes) <= set(big))] += table
    rows = max(1, _BLOCK * centred.shape[0] // centred.size)
    total = 0.0
    for start in range(0, centred.shape[0], rows):
        block = centred[start : start + rows]
        for table in folded.values():
            block -= table if table.shape[0] == 1 else table[start : start + rows]
        flat = block.reshape(-1)
        total += float(flat @ flat)
    return total
