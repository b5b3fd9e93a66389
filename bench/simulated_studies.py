"""Made-up rating studies whose truth is known: mean squares, means, or whole tables.

Knows variance components and random numbers; nothing of what is then computed from a study.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mojimeter.ratings.anova import Anova
from mojimeter.ratings.components import expected_mean_squares
from mojimeter.ratings.design import Design

Floats = NDArray[np.float64]

# Expected-mean-squares estimates of the Two Emojis study (arXiv:2609.29445, Table 1 recomputed), no system effect.
TWO_EMOJIS: Mapping[str, float] = {
    "item": 0.14339,
    "system": 0.0,
    "rater": 0.56954,
    "item:system": 0.08709,
    "item:rater": 0.44750,
    "system:rater": 0.06763,
    "residual": 0.63641,
}
MIDDLE = 3.5


@dataclass(frozen=True)
class World:
    """What a study is a sample of.

    Attributes:
        raters, items, systems: how many are drawn.
        components: variance of every effect, score units squared.
        effects: true system effects; None: drawn anew for every study with the system component.
        rounded: scores are rounded to 1, 2, 3, 4, 5.
        scale_sd: raters stretch what they see of items and systems by a factor of their own, log-normal with mean 1
            and this standard deviation on the log scale.
        lean: share of the system:rater variance that is a slope of each rater on one property of the systems
            (such as length), so that raters disagree along one line instead of in all directions.
    """

    raters: int
    items: int = 290
    systems: int = 8
    components: Mapping[str, float] = field(default_factory=lambda: dict(TWO_EMOJIS))
    effects: tuple[float, ...] | None = None
    rounded: bool = False
    scale_sd: float = 0.0
    lean: float = 0.0

    @property
    def design(self) -> Design:
        """The complete crossed layout."""
        levels = {"item": self.items, "system": self.systems, "rater": self.raters}
        return Design(levels, cells=self.items * self.systems * self.raters)

    @property
    def relative_error(self) -> float:
        """Variance of the error of a system's mean that does not cancel from differences."""
        v, i, r = self.components, self.items, self.raters
        return v["system:rater"] / r + v["item:system"] / i + v["residual"] / (i * r)

    @property
    def common_error(self) -> float:
        """Variance of the error that all systems of a study share."""
        v, i, r = self.components, self.items, self.raters
        return v["rater"] / r + v["item"] / i + v["item:rater"] / (i * r)

    @property
    def g(self) -> float:
        """The true coefficient for relative decisions."""
        system = self.components["system"]
        return system / (system + self.relative_error)

    @property
    def phi(self) -> float:
        """The true coefficient for absolute decisions."""
        system = self.components["system"]
        return system / (system + self.relative_error + self.common_error)

    def raters_needed(self, target: float) -> float:
        """True number of raters for a target G at these items; infinite where none is enough."""
        v, i = self.components, self.items
        room = v["system"] * (1 - target) / target - v["item:system"] / i
        if room <= 0:
            return float("inf")
        return float(np.ceil((v["system:rater"] + v["residual"] / i) / room))

    @property
    def absolute_agreement(self) -> float:
        """True ICC(2,1) of cells, raters at large: variance of cells over total variance."""
        v = self.components
        cells = v["item"] + v["system"] + v["item:system"]
        return cells / sum(v.values())


@dataclass(frozen=True)
class Sample:
    """One simulated study without its table.

    Attributes:
        anova: its mean squares.
        means: observed system means; `truth` the true ones (grand mean zero).
    """

    anova: Anova
    means: Floats
    truth: Floats


def draw_sample(world: World, rng: np.random.Generator) -> Sample:
    """Mean squares and system means of a normal complete study, exact in distribution.

    Mean squares of a balanced random model are independent scaled chi-squares; system means are their true values
    with independent errors and a common one.
    """
    design = world.design
    expected = expected_mean_squares(design) @ np.array([world.components[e.name] for e in design.effects])
    ms = {}
    for effect, value in zip(design.effects, expected, strict=True):
        df = design.degrees_of_freedom(effect)
        ms[effect.name] = float(value * rng.chisquare(df) / df)
    truth = _system_effects(world, rng)
    means = truth + np.sqrt(world.relative_error) * rng.standard_normal(world.systems)
    ms["system"] = float(means.var(ddof=1)) * world.items * world.raters
    common = np.sqrt(world.common_error) * float(rng.standard_normal())
    return Sample(Anova.from_mean_squares(ms, design), means + common, truth)


@dataclass(frozen=True)
class Table:
    """One simulated study.

    Attributes:
        cube: scores, shape (items, systems, raters).
        expected: expected score of each system by each rater before rounding, shape (systems, raters).
    """

    cube: Floats
    expected: Floats


def draw_table(world: World, rng: np.random.Generator) -> Table:
    """Scores of a complete study."""
    i, s, r = world.items, world.systems, world.raters
    sd = {name: float(np.sqrt(v)) for name, v in world.components.items()}
    z = rng.standard_normal
    taste = np.sqrt(1 - world.lean) * z((s, r))
    if world.lean:
        line = np.linspace(-1.0, 1.0, s)
        taste = taste + np.sqrt(world.lean) * (line / line.std())[:, None] * z(r)
    factor = np.exp(world.scale_sd * z(r) - world.scale_sd**2 / 2)
    seen = _system_effects(world, rng)[:, None] + sd["system:rater"] * taste
    expected = MIDDLE + factor * seen + sd["rater"] * z(r)
    items = factor * (sd["item"] * z((i, 1, 1)) + sd["item:system"] * z((i, s, 1)))
    cube = expected + items + sd["item:rater"] * z((i, 1, r)) + sd["residual"] * z((i, s, r))
    return Table(np.clip(np.rint(cube), 1, 5) if world.rounded else cube, expected)


def _system_effects(world: World, rng: np.random.Generator) -> Floats:
    if world.effects is not None:
        return np.array(world.effects)
    return np.asarray(np.sqrt(world.components["system"]) * rng.standard_normal(world.systems))


def long_table(cube: Floats, kept: NDArray[np.bool_]) -> dict[str, NDArray[np.generic]]:
    """The ratings that are kept, one row each."""
    item, system, rater = np.nonzero(kept)
    return {"item": item, "system": system, "rater": rater, "score": cube[kept]}
