"""The six intraclass correlations with their F intervals, from one two-way analysis of variance.

Names of Shrout & Fleiss (1979) with those of McGraw & Wong (1996) beside them. The F intervals hold where units are
unrelated, such as items; for cells of items and systems see `icc_of_cells`. Knows a matrix of numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mojimeter.errors import InputError
from mojimeter.ratings.agreement.alpha import check_matrix
from mojimeter.stats.estimate import Estimate

Floats = NDArray[np.float64]
AverageInterval = Literal["spearman-brown", "irr"]

ALL_EQUAL = "all scores are equal: there is no spread to agree about"
# Shrout & Fleiss -> McGraw & Wong.
MCGRAW_WONG = {
    "1,1": "ICC(1)",
    "2,1": "ICC(A,1)",
    "3,1": "ICC(C,1)",
    "1,k": "ICC(k)",
    "2,k": "ICC(A,k)",
    "3,k": "ICC(C,k)",
}
ICC_MEANING = {
    "1,1": "one rating, raters differ from unit to unit",
    "2,1": "one rater, absolute agreement",
    "3,1": "one rater, consistency (offsets forgiven)",
    "1,k": "mean of all, raters differ from unit to unit",
    "2,k": "mean of all raters, absolute agreement",
    "3,k": "mean of all raters, consistency",
}


@dataclass(frozen=True)
class TwoWay:
    """Mean squares of a complete units x raters table.

    Attributes:
        unit, rater, error: mean squares, in squared score units.
        units, raters: how many there are.
    """

    unit: float
    rater: float
    error: float
    units: int
    raters: int

    @classmethod
    def of(cls, matrix: Floats) -> TwoWay:
        """Analysis of variance of a complete matrix, at least 2 x 2."""
        n, k = matrix.shape
        # raters in rows: with three raters, rows of three numbers would be all overhead
        centred = np.array(matrix.T, order="C")
        centred -= centred.mean()
        centred -= centred.mean()
        units, raters = np.full(k, 1.0 / k) @ centred, centred @ np.full(n, 1.0 / n)
        centred -= units
        centred -= raters[:, None]
        flat = centred.ravel()
        return cls(
            k * float(units @ units) / (n - 1),
            n * float(raters @ raters) / (k - 1),
            float(flat @ flat) / ((n - 1) * (k - 1)),
            n,
            k,
        )

    @property
    def within(self) -> float:
        """Mean square within units."""
        n, k = self.units, self.raters
        return (self.rater * (k - 1) + self.error * (n - 1) * (k - 1)) / (n * (k - 1))


def intraclass_correlations(
    matrix: Floats, *, average_interval: AverageInterval = "spearman-brown"
) -> dict[str, Estimate]:
    """ICC(1,1), ICC(2,1), ICC(3,1) and their averages ICC(1,k), ICC(2,k), ICC(3,k), with 95% intervals.

    Args:
        matrix: scores, shape (units, raters), NaN where missing. Units with a missing score are left out
            (listwise, as R's psych and pingouin do).
        average_interval: how ICC(2,k) gets its interval. ``spearman-brown`` carries the bounds of ICC(2,1) over, as
            R's psych and pingouin do; it is the default because the two are one quantity on two scales and so
            never at odds, and because McGraw & Wong's own limits (table 7) come to the same. ``irr`` is what R's
            irr prints: degrees of freedom of the single rating with the average's coefficient put into them.

    Returns:
        "1,1" ... "3,k" -> estimate; absences with their reason where it cannot be had.

    Raises:
        InputError: the matrix is not two-dimensional or holds infinities.
    """
    matrix = check_matrix(matrix)
    # a finite sum means no gaps, and costs a tenth of looking row by row
    used = matrix if np.isfinite(matrix.sum()) else matrix[~np.isnan(matrix).any(axis=1)]
    reason = _unusable(used, matrix)
    if reason:
        return {name: Estimate.absent(reason) for name in MCGRAW_WONG}
    return icc_from_mean_squares(TwoWay.of(used), average_interval=average_interval)


def _unusable(used: Floats, matrix: Floats) -> str | None:
    if matrix.shape[1] < 2:
        return "one rater: nobody to agree with"
    if len(used) < 2:
        return f"{len(used)} of {len(matrix)} units were rated by every rater; at least two are needed"
    if used.min() == used.max():
        return ALL_EQUAL
    return None


def icc_from_mean_squares(
    table: TwoWay, *, average_interval: AverageInterval = "spearman-brown"
) -> dict[str, Estimate]:
    """The six from mean squares; formulas of Shrout & Fleiss (1979) and McGraw & Wong (1996, tables 4 and 7)."""
    if average_interval not in ("spearman-brown", "irr"):
        raise InputError(f"no interval {average_interval!r} for ICC(2,k); expected spearman-brown or irr")
    n, k = table.units, table.raters
    single = {
        "1,1": _consistency(table.unit, table.within, n, k, n * (k - 1)),
        "2,1": _absolute(table),
        "3,1": _consistency(table.unit, table.error, n, k, (n - 1) * (k - 1)),
    }
    average = {name[0] + ",k": _stepped_up(estimate, k) for name, estimate in single.items()}
    if average_interval == "irr" and average["2,k"].value is not None:
        average["2,k"] = Estimate(average["2,k"].value, _irr_interval(table, average["2,k"].value))
    return single | average


def _consistency(unit: float, error: float, n: int, k: int, df: int) -> Estimate:
    """(MSB - MSE) / (MSB + (k - 1) MSE), with F limits on n - 1 and `df` degrees of freedom."""
    if error <= 0.0:
        return Estimate(1.0, (1.0, 1.0)) if unit > 0.0 else Estimate.absent("neither units nor raters vary")
    ratio = unit / error

    def icc(f: float) -> float:
        return (f - 1.0) / (f + k - 1.0)

    return Estimate(icc(ratio), (icc(ratio / _f_quantile(n - 1, df)), icc(ratio * _f_quantile(df, n - 1))))


def _absolute(table: TwoWay) -> Estimate:
    """ICC(2,1) with the interval of Fleiss & Shrout (1978), as in Shrout & Fleiss (1979)."""
    n, k = table.units, table.raters
    unit, rater, error = table.unit, table.rater, table.error
    denominator = unit + (k - 1) * error + k * (rater - error) / n
    if denominator <= 0.0:
        return Estimate.absent("the mean squares leave no variance to divide by")
    icc = (unit - error) / denominator
    if error <= 0.0:
        if rater <= 0.0:
            return Estimate(icc, (1.0, 1.0))
        # the limit of the formula below as error goes to 0: only the raters' k - 1 degrees of freedom are left
        df = float(k - 1)
    else:
        f = rater / error
        level = n * (1.0 + (k - 1) * icc) - k * icc
        df = (k - 1) * (n - 1) * (k * icc * f + level) ** 2 / ((n - 1) * k**2 * icc**2 * f**2 + level**2)
    spread = k * rater + (k * n - k - n) * error
    high, low = _f_quantile(n - 1, df), _f_quantile(df, n - 1)
    return Estimate(
        icc,
        (n * (unit - high * error) / (high * spread + n * unit), n * (low * unit - error) / (spread + n * low * unit)),
    )


def _irr_interval(table: TwoWay, icc: float) -> tuple[float, float]:
    """Interval of ICC(A,k) as R's irr computes it: McGraw & Wong's a and b of ICC(A,1), with ICC(A,k) in them."""
    n, k = table.units, table.raters
    unit, rater, error = table.unit, table.rater, table.error
    if icc >= 1.0:
        return (1.0, 1.0)
    a = k * icc / (n * (1.0 - icc))
    b = 1.0 + k * icc * (n - 1) / (n * (1.0 - icc))
    df = (a * rater + b * error) ** 2 / ((a * rater) ** 2 / (k - 1) + (b * error) ** 2 / ((n - 1) * (k - 1)))
    high, low = _f_quantile(n - 1, df), _f_quantile(df, n - 1)
    return (
        n * (unit - high * error) / (high * (rater - error) + n * unit),
        n * (low * unit - error) / (rater - error + n * low * unit),
    )


def step_up(single: float, k: int) -> float | None:
    """Reliability of the mean of k raters from that of one, by Spearman and Brown; None: without bound below."""
    below = 1.0 + (k - 1) * single
    return k * single / below if below > 0.0 else None


def _stepped_up(single: Estimate, k: int) -> Estimate:
    """The same of an estimate and its bounds."""
    if single.value is None:
        return single
    value = step_up(single.value, k)
    if value is None:
        return Estimate.absent("the mean of all raters does not vary between units")
    if single.ci is None:
        return Estimate(value)
    low, high = (None if bound is None else step_up(bound, k) for bound in single.ci)
    return Estimate(value, (low, high))


def _f_quantile(df1: float, df2: float) -> float:
    """The value that F on these degrees of freedom exceeds with probability 2.5%."""
    from scipy.special import fdtri

    return float(fdtri(df1, df2, 0.975))
