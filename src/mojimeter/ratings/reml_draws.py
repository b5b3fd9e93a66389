"""Intervals of variance components where ratings are missing: generalised pivotal quantities from the likelihood.

In a complete table mean squares are independent multiples of chi-squares, and `components.draw_components` draws from
that. Here the quadratic forms in REML's own equations take their place. Knows variances and derivatives of a restricted
likelihood; nothing of designs, scores or how the likelihood is maximised.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
DRAWS = 20_000


def draw_variances(
    variances: Floats, information: Floats, gradient: Floats, draws: int = DRAWS, seed: int = 1
) -> Floats | None:
    """Draws of the variances of a model with ratings missing.

    With P the matrix that takes out the fixed effects under the fitted variances v and V_k the pattern of term k, REML
    sets q_k = y'P V_k P y to its expectation. These forms have E(q) = F v and, if scores are normal, covariance 2 F,
    with F_kl = tr(P V_k P V_l) (Searle, Casella & McCulloch 1992, sections 6.6 and 11.3). With F = L D L' (L unit lower
    triangular, D diagonal) the forms s = L^-1 q are uncorrelated, with variance 2 D_k and expectation (D L' v)_k. Where
    terms are ordered from main effects to the residual each s_k takes from q_k what effects inside it explain: in a
    complete table s_k is a multiple of the mean square of effect k, exactly. As there, s_k is taken for its
    expectation times chi-square(df) / df, with df = E(s_k)^2 / D_k the one that gives its variance (Satterthwaite
    1946), and independent of the others: each draw divides every s_k by such a chi-square and solves D L' v = s.

    Args:
        variances: fitted ones, shape (terms,), zeros at their bound; main effects first, the residual last.
        information: F at these, shape (terms, terms).
        gradient: derivatives of the criterion, tr(P V_k) - q_k, shape (terms,); zero but for variances at their bound.
        draws: how many.
        seed: of the draws.

    Returns:
        Shape (terms, draws), negative values included; None where a form is not positive or F is singular, so that the
        approximation has nothing to stand on.
    """
    try:
        factor = np.linalg.cholesky(information)
    except np.linalg.LinAlgError:
        return None
    pivots = np.diagonal(factor)
    lower, scale = factor / pivots, pivots**2
    upper = (lower * scale).T
    forms = np.linalg.solve(lower, information @ variances - gradient)
    expected = upper @ variances
    if not (np.isfinite(forms).all() and (forms > 0).all() and (expected > 0).all()):
        return None
    df = expected**2 / scale
    drawn = forms * df / np.random.default_rng(seed).chisquare(df, size=(draws, df.size))
    solved: Floats = np.linalg.solve(upper, drawn.T)
    return solved
