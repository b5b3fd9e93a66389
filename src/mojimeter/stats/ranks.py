"""Rank ranges: the places in a ranking that the data leave open to each system.

All pairs are compared at once: the differences' largest standardised deviation over the bootstrap draws
(max-T, Westfall & Young 1993, *Resampling-Based Multiple Testing*; single step) gives one critical value,
so that with 95% confidence no pair is called different wrongly. A system's best place is then 1 + how many
are surely better, its worst the number of systems less how many are surely worse (Mogstad, Romano, Shaikh &
Wilhelm 2024, "Inference for ranks"). Knows arrays only.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from mojimeter.stats.resample import LEVEL, Floats


@dataclass(frozen=True, slots=True)
class Comparisons:
    """All pairs of systems, compared simultaneously.

    Attributes:
        pairs: (i, j) with i < j, in the order of the arrays below.
        differences: i minus j, shape (pairs,).
        margins: half width of the simultaneous 95% interval, shape (pairs,); infinite where nothing can be
            said.
    """

    pairs: tuple[tuple[int, int], ...]
    differences: Floats
    margins: Floats

    def between(self, i: int, j: int) -> tuple[float, float]:
        """Difference i minus j and its margin; the pair may be given in either order."""
        place, turn = (self.pairs.index((i, j)), 1.0) if i < j else (self.pairs.index((j, i)), -1.0)
        return turn * float(self.differences[place]), float(self.margins[place])

    def verdict(self, i: int, j: int) -> dict[str, Any]:
        """``simultaneous_ci`` of i minus j (None where nothing can be said), and whether they are ``separated``."""
        value, margin = self.between(i, j)
        return {
            "simultaneous_ci": [value - margin, value + margin] if np.isfinite(margin) else None,
            "separated": bool(abs(value) > margin),
        }

    def surely(self, sign: int, system: int) -> int:
        """How many systems are surely better (``sign`` +1) or surely worse (-1) than ``system``."""
        count = 0
        for (i, j), difference, margin in zip(self.pairs, self.differences, self.margins, strict=True):
            if system in (i, j) and abs(difference) > margin:
                other_minus_own = -difference if system == i else difference
                count += int(other_minus_own * sign > 0)
        return count


def all_pairs(systems: int) -> tuple[tuple[int, int], ...]:
    """Every (i, j) with i < j < ``systems``."""
    return tuple(combinations(range(systems), 2))


def compare_all(
    pairs: tuple[tuple[int, int], ...], differences: Floats, draws: Floats, level: float = LEVEL
) -> Comparisons:
    """Simultaneous intervals of differences from their bootstrap draws.

    Args:
        pairs: which systems each column compares.
        differences: observed, shape (pairs,); NaN where two systems share no post.
        draws: the same in every bootstrap draw, shape (draws, pairs); all columns from the same draws.
    """
    margins = np.full(len(pairs), np.inf)
    if not len(draws) or not len(pairs):
        return Comparisons(pairs, np.asarray(differences, float), margins)
    usable = np.isfinite(differences) & np.isfinite(draws).all(axis=0)
    deviations = draws[:, usable] - differences[usable]
    errors = deviations.std(axis=0, ddof=1) if len(draws) > 1 else np.zeros(usable.sum())
    # rounding leaves a trace of spread in columns that do not vary at all
    varying = errors > 1e-12
    critical = 0.0
    if varying.any():
        largest = np.abs(deviations[:, varying] / errors[varying]).max(axis=1)
        critical = float(np.quantile(largest, level))
    margins[usable] = np.where(varying, critical * errors, 1e-12)
    return Comparisons(pairs, np.asarray(differences, float), margins)


def rank_ranges(systems: int, comparisons: Comparisons) -> list[tuple[int, int]]:
    """(best, worst) place of each system, 1 = best, at the simultaneous level of the comparisons."""
    return [(1 + comparisons.surely(+1, s), systems - comparisons.surely(-1, s)) for s in range(systems)]
