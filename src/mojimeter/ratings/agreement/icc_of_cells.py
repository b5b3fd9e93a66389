"""Intraclass correlations where a unit is a cell of several facets, such as an item x system pair.

The F intervals of `icc` take units for unrelated. Cells are not: those of one item share its difficulty, those of one
system its quality, and a rater who likes a system likes it in all of its cells, so there is far less to go by than the
number of cells says. Here the interval comes from the variance components of the study instead. Knows mean squares and
a `Design`; nothing of names, files or what is rated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from mojimeter.ratings.agreement.icc import ALL_EQUAL, MCGRAW_WONG, TwoWay, icc_from_mean_squares, step_up
from mojimeter.ratings.anova import Anova
from mojimeter.ratings.components import draw_components
from mojimeter.ratings.design import Design
from mojimeter.stats.estimate import Estimate

Floats = NDArray[np.float64]
DRAWS = 20_000
_ALL_RANDOM: frozenset[str] = frozenset()


def has_cells(design: Design) -> bool:
    """Whether a unit is a cell of two facets or more with at least two levels each, all rated by several raters."""
    return (
        design.complete
        and design.levels.get("rater", 0) > 1
        and sum(n > 1 for facet, n in design.levels.items() if facet != "rater") > 1
    )


@dataclass(frozen=True)
class Variances:
    """What the variance of one rating of a cell by a rater consists of, in squared score units.

    Attributes:
        cell: of the true scores of cells.
        rater: of the raters' offsets, the same in every cell.
        error: of everything else a rater brings: tastes for items and systems, and the residual.
        nested: raters differ from unit to unit, so their offsets are in `error` and `rater` is zero.
    """

    cell: Floats
    rater: Floats
    error: Floats
    nested: bool = False

    def single(self, raters: int) -> dict[str, Floats]:
        """The three of one rating ("1,1", "2,1", "3,1") for a panel of so many; see `intervals_from_components`."""
        total = self.cell + self.rater + self.error
        with np.errstate(divide="ignore", invalid="ignore"):
            absolute = self.cell / total
            if self.nested:
                return {"1,1": absolute, "2,1": absolute, "3,1": absolute}
            left_in = self.rater / raters
            one_way = (self.cell - left_in) / (total - left_in)
            return {"1,1": one_way, "2,1": absolute, "3,1": self.cell / (self.cell + self.error)}


def variances_of_cells(components: Mapping[str, Floats], design: Design) -> Variances:
    """Sum the components of a study (all facets taken as random) into those of a cells x raters table.

    An effect without the rater is part of a cell's true score; the rater's main effect is offset; an effect of the
    rater with anything else is error. Over fixed facets the levels of the study are all there are, and n of them
    with variance component v vary by v (1 - 1/n) about their own mean; for an effect of the rater with fixed facets
    only, the other v / n is offset, as it moves all cells there are alike (finite universes: Brennan 2001, chapter 5).

    Args:
        components: effect name -> one value or many; effects of a facet with one level are absent.
        design: of the study.
    """
    size = max(np.size(v) for v in components.values())
    cell, rater, error = np.zeros(size), np.zeros(size), np.zeros(size)
    nested = "rater" in design.nested
    for effect in design.effects:
        if effect.name not in components:
            continue
        value, others = components[effect.name], effect.facets - {"rater"}
        measured_once = effect is design.effects[-1]  # holds the error of measurement, which no facet fixes
        everything = others and others <= design.fixed and not measured_once
        common = 1.0 / prod(design.levels[f] for f in others) if everything else 0.0
        if "rater" not in effect.facets:
            cell += (1.0 - common) * value
        elif not others:
            rater += value
        else:
            error += (1.0 - common) * value
            rater += common * value
    return Variances(cell, np.zeros(size), error + rater, True) if nested else Variances(cell, rater, error)


def two_way_of(anova: Anova) -> TwoWay:
    """The analysis of variance of the cells x raters table of a complete study: its effects, pooled.

    SS(cells) is the sum over effects without the rater, SS(raters) that of the rater's main effect, SS(error) the rest.
    Raters nested in items are taken by their number within the item, as in the matrix.
    """
    design = anova.design
    raters = design.levels["rater"]
    units = prod(n for facet, n in design.levels.items() if facet != "rater")
    ss = {"unit": 0.0, "rater": 0.0, "error": 0.0}
    for effect in design.effects:
        of_rater = "rater" if effect.facets == {"rater"} else "error"
        ss[of_rater if "rater" in effect.facets else "unit"] += anova.ms[effect.name] * anova.df[effect.name]
    return TwoWay(
        ss["unit"] / (units - 1), ss["rater"] / (raters - 1), ss["error"] / ((units - 1) * (raters - 1)), units, raters
    )


def intervals_from_components(
    anova: Anova, draws: int = DRAWS, seed: int = 1
) -> dict[str, tuple[float | None, float | None]]:
    """95% intervals of the six ICCs of the item x system (x ...) cells of a complete study.

    Which components enter. Write one rating as mean + cell + rater + error, with the cell's true score item + system +
    item:system and the error item:rater + system:rater + residual, C, R and E the variances of the three. The ICCs are
    functions of the mean squares of the cells x raters table (Shrout & Fleiss 1979; McGraw & Wong 1996, table 4); with
    the expected values of these in place, and many cells,

        E(MS cells) = k C + E,   E(MS raters) = n R + E,   E(MS error) = E,   E(MS within cells) = R + E,

    * ICC(2,1) = C / (C + R + E), and ICC(2,k) = C / (C + (R + E) / k): absolute agreement counts offsets;
    * ICC(3,1) = C / (C + E), and ICC(3,k) = C / (C + E / k): consistency does not;
    * ICC(1,1) = (C - R/k) / (C + E + (k - 1) R/k): the one-way analysis takes the spread within cells, R + E, for the
      error that is in the spread between cells, which is E alone where the same raters rate all cells. It so
      subtracts R/k too much. Where every item or cell has raters of its own the offsets differ from cell to cell,
      E(MS cells) = k C + R + E, and ICC(1,1) = C / (C + R + E), which is then what all three estimate.

    The k forms step up the single ones by Spearman and Brown, and so do their bounds. `rater` is offset, the rest of
    what a rater brings error, for any other facets as well (items in topics); `variances_of_cells` sums them up.

    How C, R and E get their uncertainty. In a complete study the mean squares of its effects are independent, each
    E(MS) x chi-square(df) / df, and E(MS) is linear in the components (Brennan 2001, section 3.4). Every draw divides
    each MS by such a chi-square, solves for the components and adds them up (generalised pivotal quantities:
    Weerahandi 1993; Burdick, Borror & Montgomery 2005). The bounds are the 2.5% and 97.5% quantiles over draws of each
    ratio. Components of single draws may be negative; setting them to zero would move the ratio.
    The levels of fixed facets are drawn as well, as if they were a sample: the interval is then wider than it need be.

    Args:
        anova: of a study for which `has_cells` holds.
        draws: how many; 20,000 leave about 2% of a bound's distance to the estimate to chance.
        seed: of the draws.
    """
    drawn = draw_components(anova, draws, seed, fixed=_ALL_RANDOM)
    raters = anova.design.levels["rater"]
    found: dict[str, tuple[float | None, float | None]] = {}
    for name, values in variances_of_cells(drawn, anova.design).single(raters).items():
        known = values[~np.isnan(values)]
        if not known.size:
            continue
        low, high = np.quantile(known, [0.025, 0.975])
        found[name] = (float(low), float(high))
        found[name[0] + ",k"] = (step_up(float(low), raters), step_up(float(high), raters))
    return found


def intraclass_correlations_of_cells(anova: Anova, draws: int = DRAWS, seed: int = 1) -> dict[str, Estimate]:
    """The six ICCs of the cells of a complete study, their intervals from its variance components.

    The values are those of `intraclass_correlations` on the cells x raters matrix; only the intervals differ.

    Args:
        anova: of a study for which `has_cells` holds.
        draws, seed: of the intervals.

    Returns:
        "1,1" ... "3,k" -> estimate; absences with their reason where it cannot be had.
    """
    classical = icc_from_mean_squares(two_way_of(anova))
    if all(value == 0 for value in anova.ms.values()):
        return dict.fromkeys(MCGRAW_WONG, Estimate.absent(ALL_EQUAL))
    intervals = intervals_from_components(anova, draws, seed)
    return {
        name: one if one.value is None else Estimate(one.value, intervals.get(name)) for name, one in classical.items()
    }
