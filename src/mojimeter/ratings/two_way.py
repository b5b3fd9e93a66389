"""Standard errors of means over items and raters that are both samples.

Knows contributions of rows to an estimate, and which item and rater each row has. A row's contribution is the amount
by which it moves the (linearised) estimate; contributions add up to zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from mojimeter.stats.estimate import Estimate

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Clusters:
    """Item and rater number of each row, from 0, and how many of each there are."""

    item: Ints
    rater: Ints
    items: int
    raters: int

    def item_variance(self, contributions: Floats) -> float:
        """Variance with raters as they are: sum of squared item sums, times I / (I - 1)."""
        sums = np.bincount(self.item, weights=contributions, minlength=self.items)
        used = np.unique(self.item).size
        return float(sums @ sums) * used / (used - 1) if used > 1 else float("nan")

    def rater_variance(self, contributions: Floats) -> float:
        """The same over raters."""
        sums = np.bincount(self.rater, weights=contributions, minlength=self.raters)
        used = np.unique(self.rater).size
        return float(sums @ sums) * used / (used - 1) if used > 1 else float("nan")

    def over_items(self, value: float, contributions: Floats) -> Estimate:
        """With a t interval over items; the raters stay as they are."""
        used = int(np.unique(self.item).size)
        if used < 2:
            return Estimate(value, reason="one item: no interval")
        return _interval(value, self.item_variance(contributions), used - 1.0)

    def over_both(self, value: float, contributions: Floats) -> Estimate:
        """With a t interval over items and raters.

        V = V_items + V_raters - V_cells (Cameron, Gelbach & Miller 2011), not below either of the first two; degrees of
        freedom by Satterthwaite, V^2 / (V_items^2 / (I - 1) + V_raters^2 / (R - 1)).
        """
        items, raters = int(np.unique(self.item).size), int(np.unique(self.rater).size)
        if raters < 2:
            found = self.over_items(value, contributions)
            return Estimate(found.value, found.ci, reason="one rater: the interval is over items only")
        if items < 2:
            return Estimate(value, reason="one item: no interval")
        by_item, by_rater = self.item_variance(contributions), self.rater_variance(contributions)
        cell = self.item * self.raters + self.rater
        order = np.unique(cell, return_inverse=True)[1]
        sums = np.bincount(order, weights=contributions)
        cells = sums.size
        within = float(sums @ sums) * cells / max(cells - 1, 1)
        variance = max(by_item + by_rater - within, by_item, by_rater)
        spread = by_item**2 / (items - 1) + by_rater**2 / (raters - 1)
        return _interval(value, variance, variance**2 / spread if spread > 0 else float(raters - 1))


def _interval(value: float, variance: float, df: float) -> Estimate:
    from scipy.special import stdtrit

    half = float(stdtrit(df, 0.975)) * sqrt(max(variance, 0.0))
    return Estimate(value, (value - half, value + half))
