"""Tukey's studentised range distribution, by Gauss-Legendre quadrature.

scipy.stats has it too, but costs over a second to import and seconds for a table of pairs. Knows numbers only.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def range_tail(q: ArrayLike, groups: int, df: float) -> Floats:
    """Probability that the range of `groups` standard normal means over an independent s exceeds q.

    P(Q <= q) = integral over s of f(s) R(q s), R(w) = k integral of phi(z) (Phi(z) - Phi(z - w))^(k - 1), with s =
    sqrt(chi2(df) / df) (Tukey 1953; Copenhaver & Holland 1988).

    Args:
        q: ratios (difference / standard error of one mean), any shape.
        groups: number of means, at least 2.
        df: degrees of freedom of s, positive, possibly fractional.
    """
    from scipy.special import gammaln, ndtr

    q = np.atleast_1d(np.asarray(q, dtype=np.float64))
    x, x_weight = _log_scale_nodes(df)
    s = np.exp(x)
    log_density = (df / 2) * math.log(df) - float(gammaln(df / 2)) - (df / 2 - 1) * math.log(2) + df * x - df * s**2 / 2
    s_weight = np.exp(log_density) * x_weight
    z, z_weight = _nodes(-8.5, 8.5, 112)
    z_weight = z_weight * np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi) * groups
    upper = ndtr(z)
    tail = np.empty(q.size)
    for index, value in enumerate(q.ravel()):
        inside = np.maximum(upper - ndtr(z - (value * s)[:, None]), 0.0) ** (groups - 1)
        tail[index] = 1.0 - float(s_weight @ (inside @ z_weight)) / float(s_weight.sum())
    return np.clip(tail, 0.0, 1.0).reshape(q.shape)


def range_quantile(p: float, groups: int, df: float) -> float:
    """The ratio that the studentised range stays below with probability p; infinite where df is too small to say."""

    def excess(x: float) -> float:
        return float(range_tail(x, groups, df)[0]) - (1 - p)

    low, high = 0.0, 8.0
    f_low, f_high = p, excess(high)
    while f_high > 0:
        low, f_low, high = high, f_high, high * 2
        if high > 1e6:
            return math.inf
        f_high = excess(high)
    # False position, Illinois variant: halve the weight of the end that stays.
    for _ in range(100):
        middle = (low * f_high - high * f_low) / (f_high - f_low)
        value = excess(middle)
        if abs(value) < 1e-12 or high - low < 1e-10 * high:
            break
        if value > 0:
            low, f_low, f_high = middle, value, f_high / 2
        else:
            high, f_high, f_low = middle, value, f_low / 2
    return middle


def _log_scale_nodes(df: float) -> tuple[Floats, Floats]:
    """Nodes over log s between the quantiles beyond which nothing is left."""
    from scipy.special import chdtri, gammaincinv

    low = 0.5 * math.log(max(2 * float(gammaincinv(df / 2, 1e-13)), 1e-280) / df)
    high = 0.5 * math.log(float(chdtri(df, 1e-15)) / df)
    return _nodes(low, high, 88)


def _nodes(low: float, high: float, n: int) -> tuple[Floats, Floats]:
    x, w = _unit_nodes(n)
    return low + (high - low) * (x + 1) / 2, w * (high - low) / 2


@lru_cache(maxsize=4)
def _unit_nodes(n: int) -> tuple[Floats, Floats]:
    x, w = np.polynomial.legendre.leggauss(n)
    return x, w
