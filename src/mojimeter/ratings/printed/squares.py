"""The mean squares that a printed analysis of variance allows, all of its numbers taken together.

Printed mean squares, sums of squares, F ratios and shares each bound a linear combination of the mean squares, so
that every set of mean squares that rounds to what is printed is a point of a polytope: linear programming finds
whether there is one, and the exact range of any linear combination, or of a ratio of two (Charnes & Cooper 1962).
Knows a design and ranges; nothing of files.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mojimeter.errors import InputError
from mojimeter.ratings.anova import Anova
from mojimeter.ratings.components import expected_mean_squares
from mojimeter.ratings.design import Design
from mojimeter.ratings.printed.numbers import Range

Floats = NDArray[np.float64]

# HiGHS takes numbers from 1e20 on for infinite; its tolerances are absolute, the tightest it allows.
_LARGEST = 1e12
_EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
_MOST_CELLS = 10**12


@dataclass(frozen=True)
class Ratio:
    """``top / bottom`` of two combinations of mean squares lies in a range; `bottom` None: `top` itself does.

    Attributes:
        label: the printed number, in words.
        printed: as printed.
        top, bottom: coefficients of the mean squares, in the order of the design's effects.
        allowed: range of the ratio.
    """

    label: str
    printed: str
    top: Floats
    bottom: Floats | None
    allowed: Range

    def rows(self) -> tuple[Floats, Floats]:
        """The same as rows of ``A x <= b``."""
        zero = np.zeros_like(self.top)
        bottom = zero if self.bottom is None else self.bottom
        constant = 1.0 if self.bottom is None else 0.0
        rows, bounds = [], []
        for sign, bound in ((1.0, self.allowed.hi), (-1.0, self.allowed.lo)):
            if math.isfinite(bound):
                row = sign * (self.top - bound * bottom)
                scale = float(np.abs(row).max()) or 1.0
                rows.append(row / scale)
                bounds.append(sign * bound * constant / scale)
        return np.array(rows).reshape(-1, self.top.size), np.array(bounds)


@dataclass
class Squares:
    """What is known of the mean squares; grows by `add`.

    Attributes:
        design: a complete crossed layout.
        known: the printed numbers that can hold together.
    """

    design: Design
    known: list[Ratio] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        return [e.name for e in self.design.effects]

    @property
    def df(self) -> Floats:
        return np.array([self.design.degrees_of_freedom(e) for e in self.design.effects], dtype=np.float64)

    def unit(self, name: str) -> Floats:
        """Coefficients that pick one mean square."""
        out = np.zeros(len(self.names))
        out[self.names.index(name)] = 1.0
        return out

    def component(self, name: str) -> Floats:
        """Coefficients of the mean squares that give a variance component (all facets random)."""
        inverse = np.linalg.inv(expected_mean_squares(self.design))
        row: Floats = inverse[self.names.index(name)].astype(np.float64)
        return row

    def add(self, ratio: Ratio) -> Range | None:
        """Take in a printed number; where it cannot hold with the others, leave it out and say what they allow.

        Raises:
            InputError: a number too large to be told from no bound.
        """
        bounds = [abs(x) for x in (ratio.allowed.lo, ratio.allowed.hi) if math.isfinite(x)]
        if ratio.bottom is None and max(bounds, default=0.0) > _LARGEST:
            raise InputError(f"{ratio.label}: {ratio.printed}; expected at most {_LARGEST:g}, in whatever units")
        self.known.append(ratio)
        # that all mean squares are zero satisfies every ratio, so something must also vary
        if (
            self._optimum(np.zeros(len(self.names)), 1.0) is not None
            and self._fraction(self.df, self.df, 1.0) is not None
        ):
            return None
        self.known.pop()
        return self.ratio_range(ratio.top, ratio.bottom)

    def ratio_range(self, top: Floats, bottom: Floats | None = None) -> Range:
        """Exact range of a combination of mean squares, or of a ratio of two; `mid` from the digits as they stand."""
        if bottom is None:
            ends = [self._optimum(top, sign) for sign in (1.0, -1.0)]
        else:
            ends = [self._fraction(top, bottom, sign) for sign in (1.0, -1.0)]
        low, high = (-math.inf if ends[0] is None else ends[0]), (math.inf if ends[1] is None else ends[1])
        point = self.point()
        mid = math.nan
        if point is not None:
            below = 1.0 if bottom is None else float(bottom @ point)
            mid = float(top @ point) / below if below else math.nan
        if math.isnan(mid):
            mid = (low + high) / 2.0 if math.isfinite(low + high) else math.nan
        return Range(low, mid, high)

    def _system(self) -> tuple[Floats, Floats]:
        parts = [ratio.rows() for ratio in self.known]
        if not parts:
            return np.zeros((0, len(self.names))), np.zeros(0)
        return np.vstack([a for a, _ in parts]), np.concatenate([b for _, b in parts])

    def _optimum(self, combination: Floats, sign: float) -> float | None:
        """Least (sign 1) or greatest (sign -1) value; None where unbounded or nothing is feasible."""
        from scipy.optimize import linprog

        a, b = self._system()
        found = linprog(sign * combination, A_ub=a, b_ub=b, bounds=(0, None), method="highs", options=_EXACT)
        return float(combination @ found.x) if found.status == 0 else None

    def _fraction(self, top: Floats, bottom: Floats, sign: float) -> float | None:
        from scipy.optimize import linprog

        a, b = self._system()
        widened = np.hstack([a, -b[:, None]])
        found = linprog(
            sign * np.append(top, 0.0),
            A_ub=widened,
            b_ub=np.zeros(len(b)),
            A_eq=np.append(bottom, 0.0)[None, :],
            b_eq=np.ones(1),
            bounds=(0, None),
            method="highs",
            options=_EXACT,
        )
        return float(top @ found.x[:-1]) if found.status == 0 else None

    def point(self) -> Floats | None:
        """Mean squares from the digits as they stand, each equation used as soon as it has one unknown left.

        The order is that in which the numbers were added, so a number that says again what others said is not used.
        None where the printed numbers do not determine all of them.
        """
        n = len(self.names)
        equations = []
        for ratio in self.known:
            mid = ratio.allowed.mid
            if ratio.allowed.exact or math.isfinite(ratio.allowed.lo + ratio.allowed.hi):
                bottom = np.zeros(n) if ratio.bottom is None else ratio.bottom
                equations.append((ratio.top - mid * bottom, mid if ratio.bottom is None else 0.0))
        chosen: list[tuple[Floats, float]] = []
        for row, value in equations:
            trial = [*chosen, (row, value)]
            if np.linalg.matrix_rank(_scaled(trial)) == len(trial):
                chosen = trial
            if len(chosen) == n:
                a = _scaled(chosen)
                scale = np.array([np.abs(row).max() for row, _ in chosen])
                return np.linalg.solve(a, np.array([value for _, value in chosen]) / scale)
        return None

    def anova(self) -> Anova | None:
        """The analysis of variance at `point`."""
        point = self.point()
        if point is None:
            return None
        return Anova.from_mean_squares(dict(zip(self.names, point.tolist(), strict=True)), self.design)


def _scaled(equations: list[tuple[Floats, float]]) -> Floats:
    return np.array([row / np.abs(row).max() for row, _ in equations])


def read_design(section: Mapping[str, Any]) -> Design:
    """A complete crossed design from facet -> number of levels.

    Raises:
        InputError: not two to four facets of at least two levels each.
    """
    if not 2 <= len(section) <= 4:
        raise InputError(f"[design] names {len(section)} facets; expected two to four, such as item, system, rater")
    for facet, n in section.items():
        if isinstance(n, bool) or not isinstance(n, int) or not 2 <= n <= 10**9:
            raise InputError(f"[design] {facet}: {n!r}; expected a whole number of levels, two or more")
        if not facet.isidentifier() or facet == "residual":
            raise InputError(f"[design] {facet!r}: expected a facet's name of letters, digits and _")
    cells = math.prod(section.values())
    if cells > _MOST_CELLS:
        raise InputError(f"[design] has {cells:.3g} cells; expected at most {_MOST_CELLS:.0e}")
    return Design(dict(section), cells=cells)


def effect_name(design: Design, text: str, where: str) -> str:
    """The design's name of an effect, whatever the order of its facets.

    Raises:
        InputError: the design has no such effect.
    """
    facets = frozenset(part.strip() for part in text.replace(" x ", ":").replace("*", ":").split(":"))
    for effect in design.effects:
        if text.strip() == effect.name or facets == effect.facets:
            return effect.name
    raise InputError(f"{where}: no effect {text!r} in this design; it has {', '.join(e.name for e in design.effects)}")
