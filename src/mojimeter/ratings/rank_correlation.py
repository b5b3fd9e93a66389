"""Exact permutation tests of Spearman's correlation for a handful of systems.

Knows two short lists of numbers. With up to nine values all orders are gone through: 362,880 at most.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MAX_EXACT = 9
_TOLERANCE = 1e-9


@lru_cache(maxsize=2)
def _orders(n: int) -> NDArray[np.int8]:
    """All permutations of 0 .. n - 1, shape (n!, n), built by inserting each new number in every place."""
    table = np.zeros((1, 1), dtype=np.int8)
    for k in range(1, n):
        grown = np.empty((table.shape[0] * (k + 1), k + 1), dtype=np.int8)
        for place in range(k + 1):
            block = grown[place * len(table) : (place + 1) * len(table)]
            block[:, :place], block[:, place], block[:, place + 1 :] = table[:, :place], k, table[:, place:]
        table = grown
    return table


def exact_p(x_ranks: Floats, y_ranks: Floats) -> float | None:
    """Two-sided p of a rank correlation: the share of all orders of y whose correlation with x is as far from 0.

    Args:
        x_ranks, y_ranks: mid-ranks (or any scores), shape (n,).

    Returns:
        None for fewer than two or more than nine values, or where one list does not vary.
    """
    n = x_ranks.size
    if not 2 <= n <= MAX_EXACT or np.ptp(x_ranks) == 0 or np.ptp(y_ranks) == 0:
        return None
    x = x_ranks - x_ranks.mean()
    y = y_ranks - y_ranks.mean()
    products = y[_orders(n)] @ x
    limit = abs(float(x @ y)) - _TOLERANCE * float(np.abs(x).sum() * np.abs(y).max())
    return float((np.abs(products) >= limit).mean())


@lru_cache(maxsize=8)
def spearman_distribution(n: int) -> tuple[Floats, Floats]:
    """Values of Spearman's rho for n ranks without ties, rising, and their probabilities where nothing is related."""
    ranks = np.arange(n, dtype=np.float64)
    squares = np.square(_orders(n) - ranks).sum(axis=1).astype(np.int64)
    counts = np.bincount(squares)
    found = np.flatnonzero(counts)[::-1]
    values: Floats = 1.0 - 6.0 * found.astype(np.float64) / (n * (n**2 - 1.0))
    shares: Floats = counts[found] / float(counts.sum())
    return values, shares


def t_approximation_p(r: float, n: int) -> float | None:
    """Two-sided p of a correlation by t = r sqrt((n - 2) / (1 - r^2)) on n - 2 degrees of freedom."""
    if n < 3:
        return None
    if abs(r) >= 1.0:
        return 0.0
    from scipy.special import stdtr

    return float(2.0 * stdtr(n - 2, -abs(r) * np.sqrt((n - 2) / (1.0 - r * r))))
