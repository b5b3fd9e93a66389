"""Tests of fixed effects whose covariance is estimated: Satterthwaite's t, Fai and Cornelius's F.

Needs an estimate, its covariance, how that moves with the variances, and how well those are known. Knows nothing of
where any of them came from.

Sources: Satterthwaite (1946) for one contrast; Fai & Cornelius (1996), "Approximate F-tests of multiple degree of
freedom hypotheses in generalized least squares analyses of unbalanced split-plot experiments", for several, with the
combination of degrees of freedom that lmerTest uses (Kuznetsova, Brockhoff & Christensen 2017, *J. Stat. Software* 82,
section 3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc, stdtr, stdtrit

Floats = NDArray[np.float64]

# lmerTest takes eigenvalues of the contrast's covariance below this share of the largest for zero.
_RANK_TOLERANCE = float(np.sqrt(np.finfo(float).eps))
_EQUAL_DF = 1e-8


@dataclass(frozen=True)
class Uncertain:
    """Estimates with an estimated covariance.

    Attributes:
        beta: shape (p,).
        covariance: of beta, shape (p, p).
        covariance_gradient: derivatives of `covariance` by the variances, shape (variances, p, p).
        variances_covariance: of the estimated variances, shape (variances, variances).
    """

    beta: Floats
    covariance: Floats
    covariance_gradient: Floats
    variances_covariance: Floats


@dataclass(frozen=True)
class Contrast:
    """One linear combination of the estimates.

    Attributes:
        estimate: in score units.
        se: its standard error.
        df: Satterthwaite's degrees of freedom; infinite where the standard error is known exactly.
        p: two-sided probability of a larger deviation from zero.
        ci: 95% interval.
    """

    estimate: float
    se: float
    df: float
    p: float
    ci: tuple[float, float]


def contrast_test(known: Uncertain, weights: Floats) -> Contrast:
    """Satterthwaite's t test of ``weights @ beta = 0``."""
    variance = float(weights @ known.covariance @ weights)
    gradient = np.einsum("i,kij,j->k", weights, known.covariance_gradient, weights)
    df = _satterthwaite(variance, gradient, known.variances_covariance)
    estimate, se = float(weights @ known.beta), float(np.sqrt(variance))
    p = 2.0 * float(stdtr(df, -abs(estimate) / se)) if se > 0 else float(estimate == 0)
    margin = se * float(stdtrit(df, 0.975))
    return Contrast(estimate, se, df, p, (estimate - margin, estimate + margin))


def hypothesis_test(known: Uncertain, rows: Floats) -> tuple[float, int, float, float]:
    """Fai and Cornelius's F test that every row of a contrast matrix is zero.

    Args:
        known: estimates, shape (p,).
        rows: contrast matrix, shape (k, p).

    Returns:
        F, its numerator df (the rank), its denominator df, and the tail probability.
    """
    values, vectors = np.linalg.eigh(rows @ known.covariance @ rows.T)
    kept = values > _RANK_TOLERANCE * values.max()
    independent = vectors[:, kept].T @ rows
    values = values[kept]
    rank = int(kept.sum())
    f = float(np.mean((independent @ known.beta) ** 2 / values))
    gradients = np.einsum("qi,kij,qj->qk", independent, known.covariance_gradient, independent)
    dfs = [_satterthwaite(v, g, known.variances_covariance) for v, g in zip(values, gradients, strict=True)]
    df = combine_degrees_of_freedom(np.array(dfs))
    return f, rank, df, float(fdtrc(rank, df, f))


def combine_degrees_of_freedom(dfs: Floats) -> float:
    """Denominator df of an F made of independent squared t's (Fai & Cornelius 1996, method I)."""
    if np.ptp(dfs) < _EQUAL_DF or not np.isfinite(dfs).any():
        return float(dfs.mean())
    if (dfs <= 2).any():
        return 2.0
    # t^2 of infinite df has mean 1, which the limit of df / (df - 2) gives
    mean = float((1.0 + 2.0 / (dfs - 2.0)).sum())
    return 2.0 * mean / (mean - dfs.size)


def _satterthwaite(variance: float, gradient: Floats, variances_covariance: Floats) -> float:
    spread = float(gradient @ variances_covariance @ gradient)
    return 2.0 * variance**2 / spread if spread > 0 else float("inf")
