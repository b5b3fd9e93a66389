"""Chance-corrected agreement on categories: Cohen, Conger, Fleiss, Scott, Brennan-Prediger, Gwet's AC1 and AC2.

All are (p_a - p_e) / (1 - p_e) with one p_a and their own idea of chance. Formulas, treatment of missing
ratings, and linearised variances (raters fixed, units a sample) follow Gwet, Handbook of Inter-Rater Reliability
(4th ed. 2014), as irrCAC computes them (where units have a single rating these err on the wide side). Knows a matrix of
category values.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mojimeter.ratings.agreement.alpha import MAX_CATEGORIES, check_matrix
from mojimeter.ratings.agreement.weights import Weights, agreement_weights
from mojimeter.stats.estimate import Estimate

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Coefficient = Literal["percent_agreement", "brennan_prediger", "fleiss", "conger", "gwet"]
COEFFICIENTS: tuple[Coefficient, ...] = ("gwet", "brennan_prediger", "conger", "fleiss", "percent_agreement")


@dataclass(frozen=True)
class Kappa:
    """A coefficient with its standard error.

    Attributes:
        value: the coefficient.
        se: linearised standard error over units; None for fewer than two units.
        units: units with at least one rating.
    """

    value: float
    se: float | None
    units: int

    def estimate(self) -> Estimate:
        """With the t interval on units - 1 degrees of freedom, cut off at 1 (irrCAC's)."""
        if self.se is None:
            return Estimate(self.value, reason="one unit: no interval")
        from scipy.special import stdtrit

        half = float(stdtrit(self.units - 1, 0.975)) * self.se
        return Estimate(self.value, (max(self.value - half, -1.0), min(self.value + half, 1.0)))


@dataclass(frozen=True)
class Classified:
    """Ratings as categories.

    Attributes:
        codes: category number of each rating, -1 where there is none, shape (units, raters); every unit has a rating.
        categories: their values in order, shape (q,).
    """

    codes: Ints
    categories: Floats

    @classmethod
    def of(cls, matrix: Floats, categories: Floats | None = None) -> Classified:
        """Code a matrix; `categories` adds values of the scale that nobody used (chance depends on how many)."""
        there = ~np.isnan(matrix)
        kept = there.any(axis=1)
        matrix, there = matrix[kept], there[kept]
        values = np.unique(matrix[there])
        if categories is not None:
            values = np.union1d(values, np.asarray(categories, dtype=np.float64))
        codes = np.full(matrix.shape, -1, dtype=np.int64)
        codes[there] = np.searchsorted(values, matrix[there])
        return cls(codes, values)

    @property
    def units(self) -> int:
        return len(self.codes)

    @cached_property
    def counts(self) -> Floats:
        """Raters who put each unit in each category, shape (units, q)."""
        q = self.categories.size
        there = self.codes >= 0
        unit = np.nonzero(there)[0]
        flat = np.bincount(unit * q + self.codes[there], minlength=self.units * q)
        counts: Floats = flat.reshape(self.units, q).astype(np.float64)
        return counts

    @cached_property
    def ratings(self) -> Floats:
        """Ratings per unit, shape (units,)."""
        totals: Floats = self.counts.sum(axis=1)
        return totals

    @cached_property
    def shares(self) -> Floats:
        """Mean over units of the share of ratings in each category, shape (q,)."""
        shares: Floats = (self.counts / self.ratings[:, None]).mean(axis=0)
        return shares


def chance_corrected(
    matrix: Floats, weights: Weights = "identity", *, categories: Floats | None = None
) -> dict[Coefficient, Estimate]:
    """The coefficients of one panel under one set of weights, each with its analytic interval.

    Args:
        matrix: category values, shape (units, raters), NaN where missing.
        weights: how nearly different categories agree; see `weights`.
        categories: all values of the scale, where some were not used.

    Returns:
        ``gwet`` (AC1 under identity weights, else AC2), ``brennan_prediger``, ``conger`` (Cohen's kappa for
        two raters), ``fleiss`` (Scott's pi for two raters), ``percent_agreement``; absences with their reason.
    """
    matrix = check_matrix(matrix)
    reason = unusable_as_categories(matrix)
    if reason:
        return {name: Estimate.absent(reason) for name in COEFFICIENTS}
    kappas = kappas_of(Classified.of(matrix, categories), weights)
    out = {}
    for name in COEFFICIENTS:
        kappa = kappas[name]
        out[name] = kappa.estimate() if kappa else Estimate.absent("chance alone would agree every time: one category")
    return out


def unusable_as_categories(matrix: Floats) -> str | None:
    """Why the coefficients for categories cannot be had from a matrix; None where they can."""
    rated = (~np.isnan(matrix)).sum(axis=1)
    if matrix.shape[1] < 2:
        return "one rater: nobody to agree with"
    if not (rated >= 2).any():
        return "no unit was rated by two raters"
    # sorting a million scores to count kinds is wasted where the first few thousand already say
    if np.unique(matrix[:5000]).size > 2 * MAX_CATEGORIES:
        return f"more than {MAX_CATEGORIES} different scores: measurements, not categories"
    values = np.unique(matrix[~np.isnan(matrix)])
    if values.size > MAX_CATEGORIES:
        return f"{values.size:,} different scores: measurements, not categories (at most {MAX_CATEGORIES})"
    return None


def kappas_of(data: Classified, weights: Weights = "identity") -> dict[Coefficient, Kappa | None]:
    """Coefficients and standard errors; None where chance agreement is complete."""
    w = agreement_weights(data.categories, weights)
    n, q = data.units, data.categories.size
    ratings, counts, pi = data.ratings, data.counts, data.shares
    several = ratings >= 2
    agreeing = np.where(
        several, (counts * (counts @ w - 1.0)).sum(axis=1) / np.where(several, ratings * (ratings - 1.0), 1.0), 0.0
    )
    # units with one rating tell of chance only
    stretch = n / several.sum()
    observed = float(agreeing.sum() / several.sum())
    total = float(w.sum())
    w_pi = w @ pi
    pe_conger, chance_conger = _conger_chance(data, w)
    one = max(q * (q - 1), 1)
    chance: dict[Coefficient, tuple[float, Floats]] = {
        "percent_agreement": (0.0, np.zeros(n)),
        "brennan_prediger": (total / q**2, np.full(n, total / q**2)),
        "fleiss": (float(pi @ w_pi), counts @ w_pi / ratings),
        "conger": (pe_conger, chance_conger),
        "gwet": (total * float((pi * (1.0 - pi)).sum()) / one, total / one * (counts @ (1.0 - pi)) / ratings),
    }
    # the derivative of the chance term in the shares, over what its average of units already is
    factor = {"brennan_prediger": 0.0, "percent_agreement": 0.0}
    out: dict[Coefficient, Kappa | None] = {}
    for name, (pe, pe_unit) in chance.items():
        if 1.0 - pe < 1e-12:
            out[name] = None
            continue
        value = (observed - pe) / (1.0 - pe)
        if name == "percent_agreement":
            # a ratio of sums over the units that have pairs; units with one rating say nothing of it
            unit = stretch * (agreeing - observed * several) + observed
        else:
            unit = stretch * (agreeing - pe * several) / (1.0 - pe)
        unit = unit - factor.get(name, 2.0) * (1.0 - value) * (pe_unit - pe) / (1.0 - pe)
        se = float(np.sqrt(np.square(unit - value).sum() / (n * (n - 1.0)))) if n > 1 else None
        out[name] = Kappa(value, se, n)
    return out


def _conger_chance(data: Classified, w: Floats) -> tuple[float, Floats]:
    """Chance agreement of two different raters with their own habits, and half its linearisation per unit.

    p_e = sum over pairs of raters g != h of p_g' W p_h / (r (r - 1)); p_g is rater g's use of the categories.
    """
    codes = data.codes
    n, r = codes.shape
    q = data.categories.size
    there = codes >= 0
    given = there.sum(axis=0)
    active = given > 0
    codes, there, given = codes[:, active], there[:, active], given[active]
    r = int(active.sum())
    if r < 2:
        return 1.0, np.ones(n)
    use = np.zeros((r, q))
    rater = np.nonzero(there)[1]
    np.add.at(use, (rater, codes[there]), 1.0)
    use /= given[:, None]
    others = use.sum(axis=0) - use
    pressure = others @ w / (r * (r - 1.0))
    pe = float((use * pressure).sum())
    # derivative in p_g is 2 W (sum of the others) / (r (r - 1)); each unit moves p_g by n/n_g (its category - p_g)
    mean = (use * pressure).sum(axis=1)
    moved = np.where(there, pressure[np.arange(r)[None, :], np.where(there, codes, 0)] - mean, 0.0)
    return pe, pe + (moved * (n / given)).sum(axis=1)


def fleiss_z(matrix: Floats) -> float | None:
    """Fleiss's kappa over its standard error under no agreement (Fleiss, Nee & Landis 1979), complete tables.

    Returns:
        None where a rating is missing or one category took everything.
    """
    matrix = check_matrix(matrix)
    if np.isnan(matrix).any() or matrix.shape[1] < 2:
        return None
    data = Classified.of(matrix)
    kappa = kappas_of(data)["fleiss"]
    p = data.shares
    n, r = matrix.shape
    pq = float((p * (1.0 - p)).sum())
    if kappa is None or pq == 0.0:
        return None
    variance = 2.0 / (pq**2 * n * r * (r - 1)) * (pq**2 - float((p * (1.0 - p) * (1.0 - 2.0 * p)).sum()))
    return kappa.value / float(np.sqrt(variance))
