"""How many raters and items the next study needs, and which of the designs that do is the cheapest.

Knows variance components, a target and prices; nothing of data. Formulas: Brennan 2001, sections 4.1 and 4.4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal, get_args

from mojimeter.errors import InputError
from mojimeter.ratings.power import CANCELLING, Power, check_components, power, power_fixed, power_random_quickly

Goal = Literal["g", "phi", "power_random", "power_fixed"]
GOALS: tuple[Goal, ...] = get_args(Goal)


@dataclass(frozen=True)
class Prices:
    """What a study costs, in any currency.

    Attributes:
        rater: of recruiting one rater.
        rating: of one rating (one cell by one rater).
        item: of preparing one item.
    """

    rater: float = 0.0
    rating: float = 1.0
    item: float = 0.0

    def __post_init__(self) -> None:
        for name in ("rater", "rating", "item"):
            value = getattr(self, name)
            if not isfinite(value) or value < 0:
                raise InputError(f"the cost per {name} is {value}; expected a number of zero or more")
        if self.rater == self.rating == self.item == 0:
            raise InputError("all costs are zero; every design would be the cheapest")

    def of(self, raters: int, items: int, systems: int) -> float:
        """Cost of a complete crossed study."""
        return self.rater * raters + self.item * items + self.rating * raters * items * systems


@dataclass(frozen=True)
class PlannedDesign:
    """A design that reaches the target: with one item fewer it would not."""

    raters: int
    items: int
    ratings: int
    value: float
    cost: float

    def to_dict(self) -> dict[str, Any]:
        return {
            "raters": self.raters,
            "items": self.items,
            "ratings": self.ratings,
            "value": self.value,
            "cost": self.cost,
        }


@dataclass(frozen=True)
class Plan:
    """What `plan` found.

    Attributes:
        goal, target, systems: what was asked for.
        components: variances used, negative ones at zero.
        cheapest: the design of least cost; None where none within the limits reaches the target (`reason`).
        designs: for each number of raters the fewest items that reach the target, where fewer raters would not do
            with as few.
        ceiling: the goal's value at the largest panel and the most items allowed.
        reason: why there is no design.
        power: chance of finding a difference with the cheapest design, both kinds; None without a design.
    """

    goal: Goal
    target: float
    systems: int
    components: Mapping[str, float]
    cheapest: PlannedDesign | None
    designs: tuple[PlannedDesign, ...]
    ceiling: float
    reason: str | None
    power: Power | None

    def to_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {
            "goal": self.goal,
            "target": self.target,
            "systems": self.systems,
            "components": dict(self.components),
            "cheapest": None if self.cheapest is None else self.cheapest.to_dict(),
            "designs": [d.to_dict() for d in self.designs],
            "ceiling": self.ceiling,
        }
        if self.reason is not None:
            out["reason"] = self.reason
        if self.power is not None:
            out["power"] = self.power.to_dict()["power"]
        return out


def generalizability(components: Mapping[str, float], *, items: int, raters: int, absolute: bool = False) -> float:
    """G, or Phi if `absolute`, of system means in a crossed study of that size; 0 where nothing varies.

    G's error is s_sr / n_r + s_is / n_i + s_e / (n_i n_r); Phi's adds s_r / n_r + s_i / n_i + s_ir / (n_i n_r).

    Raises:
        InputError: a component that is needed is missing.
    """
    used = check_components(components)
    error = used["system:rater"] / raters + used["item:system"] / items + used["residual"] / (items * raters)
    if absolute:
        for name in CANCELLING:
            if name not in used:
                raise InputError(f"Phi needs the component {name!r} too; it was not given")
        error += used["rater"] / raters + used["item"] / items + used["item:rater"] / (items * raters)
    total = used["system"] + error
    return used["system"] / total if total > 0 else 0.0


def plan(
    components: Mapping[str, float],
    *,
    systems: int,
    target: float = 0.8,
    goal: Goal = "g",
    prices: Prices | None = None,
    max_raters: int = 200,
    max_items: int = 5000,
    min_items: int = 2,
    alpha: float = 0.05,
    seed: int = 1,
) -> Plan:
    """The cheapest complete crossed design that reaches a target G, Phi or power.

    Args:
        components: variances by source, from a pilot (``Study.components().used``) or by hand: ``system``,
            ``item:system``, ``system:rater``, ``residual``; Phi needs ``item``, ``rater``, ``item:rater`` too.
        systems: how many will be compared.
        target: of the goal, between 0 and 1.
        goal: ``g``, ``phi``, ``power_random`` (systems a sample) or ``power_fixed`` (these systems).
        prices: None: each rating costs 1 and nothing else does.
        max_raters, max_items, min_items: limits of the search; equal numbers of items fix them.
        alpha: level of the test, for power.
        seed: of the draws behind the power that is reported.

    Raises:
        InputError: unknown goal, target out of range, limits that leave nothing, missing components.
    """
    if goal not in GOALS:
        raise InputError(f"no goal {goal!r}; expected {', '.join(GOALS)}")
    if not 0.0 < target < 1.0:
        raise InputError(f"the target is {target}; expected a number between 0 and 1")
    if max_raters < 2 or min_items < 2 or max_items < min_items:
        raise InputError("the limits leave no design: at least 2 raters and 2 items are needed")
    used = check_components(components)
    prices = prices or Prices()
    reach = _value(goal, used, systems, alpha)
    designs = []
    fewest = max_items + 1
    for raters in range(2, max_raters + 1):
        items = _fewest_items(lambda n, r=raters: reach(n, r), target, min_items, min(fewest, max_items))  # type: ignore[misc]
        if items is not None and items < fewest:
            fewest = items
            cost = prices.of(raters, items, systems)
            designs.append(PlannedDesign(raters, items, raters * items * systems, reach(items, raters), cost))
        if fewest <= min_items:
            break
    ceiling = reach(max_items, max_raters)
    if not designs:
        return Plan(goal, target, systems, used, None, (), ceiling, _why(used, target, max_raters, max_items), None)
    cheapest = min(designs, key=lambda d: (d.cost, d.ratings, d.raters))
    chance = power(
        used, systems=systems, items=cheapest.items, raters=cheapest.raters, alpha=alpha, draws=50_000, seed=seed
    )
    return Plan(goal, target, systems, used, cheapest, tuple(designs), ceiling, None, chance)


def _value(goal: Goal, used: Mapping[str, float], systems: int, alpha: float) -> Callable[[int, int], float]:
    if goal in ("g", "phi"):
        return lambda items, raters: generalizability(used, items=items, raters=raters, absolute=goal == "phi")
    chance = power_fixed if goal == "power_fixed" else power_random_quickly
    return lambda items, raters: chance(used, systems=systems, items=items, raters=raters, alpha=alpha)


def _fewest_items(reach: Callable[[int], float], target: float, low: int, high: int) -> int | None:
    """Smallest number of items that reaches the target; all three goals rise with it."""
    if reach(high) < target:
        return None
    while low < high:
        middle = (low + high) // 2
        if reach(middle) >= target:
            high = middle
        else:
            low = middle + 1
    return low


def _why(used: Mapping[str, float], target: float, raters: int, items: int) -> str:
    if used["system"] == 0.0:
        return "the system component is zero: no number of raters or items will separate these systems"
    return f"not even {raters:,} raters and {items:,} items reach {target:g}"
