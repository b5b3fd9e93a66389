"""Pearson and Spearman correlations between raters: what agreement looks like when offsets are forgiven.

A pair gets Fisher's interval, a panel the mean over its pairs with an interval over units. Knows a matrix of numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from math import atanh, sqrt, tanh

import numpy as np
from numpy.typing import NDArray

from mojimeter.ratings.agreement.resampling import Resampling
from mojimeter.stats.estimate import Estimate

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_Z = 1.959963984540054


def pearson_pair(x: Floats, y: Floats) -> Estimate:
    """Pearson's r of two raters' common units, with Fisher's interval: atanh r +- 1.96 / sqrt(n - 3)."""
    return _pair(x, y, lambda _: 1.0)


def spearman_pair(x: Floats, y: Floats) -> Estimate:
    """Spearman's rho (mid-ranks), interval of Bonett & Wright (2000): variance (1 + rho^2 / 2) / (n - 3)."""
    return _pair(mid_ranks(x), mid_ranks(y), lambda r: 1.0 + r * r / 2.0)


def _pair(x: Floats, y: Floats, widening: Callable[[float], float]) -> Estimate:
    if x.size < 2:
        return Estimate.absent("fewer than two common units")
    r = correlation(x, y)
    if r is None:
        return Estimate.absent("a rater gave every common unit the same score")
    if x.size < 4:
        return Estimate(r, reason="fewer than four common units: no interval")
    if 1.0 - abs(r) < 1e-15:
        return Estimate(r, (r, r))
    half = _Z * sqrt(widening(r) / (x.size - 3))
    return Estimate(r, (tanh(atanh(r) - half), tanh(atanh(r) + half)))


def correlation(x: Floats, y: Floats) -> float | None:
    """Pearson's r of two arrays; None where one of them does not vary."""
    x, y = x - x.mean(), y - y.mean()
    x, y = x - x.mean(), y - y.mean()
    scale = sqrt(float(x @ x)) * sqrt(float(y @ y))
    tiny = 1e-14 * max(1.0, float(np.abs(x).max() * np.abs(y).max()))
    if scale <= tiny * x.size and (np.ptp(x) == 0 or np.ptp(y) == 0):
        return None
    return max(-1.0, min(1.0, float(x @ y) / scale)) if scale > 0 else None


def mid_ranks(values: Floats) -> Floats:
    """Ranks from 1, ties sharing their mean."""
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(counts) - (counts - 1) / 2.0)[codes]
    return ranks


def common_units(matrix: Floats, first: int, second: int) -> Ints:
    """Rows that both raters rated."""
    return np.flatnonzero(~np.isnan(matrix[:, first]) & ~np.isnan(matrix[:, second]))


def mean_of_pairs(matrix: Floats, how: Resampling, *, ranks: bool) -> Estimate:
    """Mean correlation over all pairs of raters, with an interval over units.

    Args:
        matrix: shape (units, raters), NaN where missing.
        how: how units are drawn again; one cluster number per row of the matrix.
        ranks: Spearman's (ranks taken anew in every draw) instead of Pearson's.

    Returns:
        An absence where no pair has a correlation; its reason counts pairs left out where only some have.
    """
    k = matrix.shape[1]
    found = _pair_values(matrix, list(combinations(range(k), 2)), ranks=ranks)
    usable = list(found)
    if not usable:
        return Estimate.absent("no two raters have scores that vary on common units")
    pairs = k * (k - 1) // 2
    left_out = pairs - len(usable)
    note = f"{left_out} of {pairs} pairs of raters have no correlation" if left_out else None
    value = float(np.mean(list(found.values())))
    if how.groups:
        parts = [list(_pair_values(matrix[units], usable, ranks=ranks).values()) for units in how.parts()]
        means = [float(np.mean(p)) if len(p) == len(usable) else float("nan") for p in parts]
        return replace(how.estimate_from_parts(value, means), reason=note)
    if how.clusters < 4 or not how.draws:
        return Estimate(value, reason=note)
    scaled = _scaled(matrix)

    def statistic(weights: Floats) -> Floats:
        drawn = weights[:, how.cluster]
        step = max(1, 2_000_000 // drawn.shape[1])
        blocks = [drawn[i : i + step] for i in range(0, len(drawn), step)]
        mean = _mean_ranked if ranks else _mean_linear
        return np.concatenate([mean(scaled, block, usable) for block in blocks])

    estimate = how.estimate(value, statistic)
    return Estimate(value, estimate.ci, reason=note or estimate.reason)


def _pair_values(matrix: Floats, pairs: Sequence[tuple[int, int]], *, ranks: bool) -> dict[tuple[int, int], float]:
    """Correlation of every pair of raters that has one."""
    out = {}
    for first, second in pairs:
        rows = common_units(matrix, first, second)
        if rows.size < 2:
            continue
        x, y = matrix[rows, first], matrix[rows, second]
        r = correlation(mid_ranks(x), mid_ranks(y)) if ranks else correlation(x, y)
        if r is not None:
            out[first, second] = r
    return out


def _scaled(matrix: Floats) -> Floats:
    """Every rater's scores with mean 0 and largest deviation 1: correlations are the same, sums of squares safe."""
    centred = matrix - np.nanmean(matrix, axis=0)
    scale = np.nanmax(np.abs(centred), axis=0)
    scaled: Floats = centred / np.where(scale > 0, scale, 1.0)
    return scaled


def _mean_linear(matrix: Floats, weights: Floats, pairs: list[tuple[int, int]]) -> Floats:
    """Mean of the pairs' weighted Pearson correlations, shape (draws,)."""
    there = ~np.isnan(matrix)
    filled = np.where(there, matrix, 0.0)
    total = np.zeros(len(weights))
    for first, second in pairs:
        both = there[:, first] & there[:, second]
        x, y = filled[both, first], filled[both, second]
        sums = weights[:, both] @ np.column_stack([np.ones(x.size), x, y, x * x, y * y, x * y])
        total += _ratio(*sums.T)
    return total / len(pairs)


def _mean_ranked(matrix: Floats, weights: Floats, pairs: list[tuple[int, int]]) -> Floats:
    """Mean of the pairs' weighted Spearman correlations, ranks taken in each draw, shape (draws,)."""
    there = ~np.isnan(matrix)
    total = np.zeros(len(weights))
    cache: dict[tuple[int, bytes], Floats] = {}
    for first, second in pairs:
        both = there[:, first] & there[:, second]
        w = weights[:, both]
        ranked = []
        for rater in (first, second):
            key = (rater, np.packbits(both).tobytes())
            if key not in cache:
                # only a table without gaps ranks a rater the same way in all pairs
                if len(cache) > 2 * matrix.shape[1]:
                    cache.clear()
                cache[key] = _weighted_ranks(matrix[both, rater], w)
            ranked.append(cache[key])
        x, y = ranked
        size = w.sum(axis=1)
        sums = [np.einsum("du,du->d", w, a) for a in (x, y)]
        squares = [np.einsum("du,du,du->d", w, a, b) for a, b in ((x, x), (y, y), (x, y))]
        total += _ratio(size, *sums, *squares)
    return total / len(pairs)


def _weighted_ranks(values: Floats, weights: Floats) -> Floats:
    """Mid-ranks as shares of the draw, centred on one half, shape (draws, units)."""
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    order = np.argsort(codes, kind="stable")
    starts = np.cumsum(counts) - counts
    drawn = np.add.reduceat(weights[:, order], starts, axis=1)
    ranks = (np.cumsum(drawn, axis=1) - drawn / 2.0) / np.maximum(weights.sum(axis=1, keepdims=True), 1.0) - 0.5
    placed: Floats = ranks[:, codes]
    return placed


def _ratio(size: Floats, x: Floats, y: Floats, xx: Floats, yy: Floats, xy: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        vx, vy = xx - x * x / size, yy - y * y / size
        r = (xy - x * y / size) / np.sqrt(vx * vy)
    varies = (vx > 1e-12 * np.maximum(size, 1.0)) & (vy > 1e-12 * np.maximum(size, 1.0))
    out: Floats = np.where(varies, np.clip(r, -1.0, 1.0), np.nan)
    return out
