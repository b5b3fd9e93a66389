"""One screen on a plan or a table of powers. Knows the results of `plan` and `power`, and words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mojimeter.ratings.plan import Plan, PlannedDesign
from mojimeter.ratings.power import NEEDED, Power

_GOALS = {
    "g": "G",
    "phi": "Phi",
    "power_random": "power (systems a sample)",
    "power_fixed": "power (these very systems)",
}
_SHOWN = 12


def describe_plan(plan: Plan) -> str:
    """The cheapest design, the frontier around it, and what it would find."""
    goal = f"{_GOALS[plan.goal]} of {plan.target:g} with {plan.systems} systems"
    lines = [_components(plan.components)]
    if plan.cheapest is None:
        lines += [
            "",
            f"No design reaches {goal}: {plan.reason}.",
            f"The most that these limits give is {plan.ceiling:.3f}.",
        ]
        return "\n".join(lines)
    best = plan.cheapest
    lines += [
        "",
        f"Cheapest design for {goal}: {best.raters} raters x {best.items:,} items "
        f"({best.ratings:,} ratings, cost {best.cost:,.6g}).",
        "",
        "  raters    items    ratings        cost    reaches",
    ]
    for design in _around(plan.designs, best):
        mark = "  <- cheapest" if design == best else ""
        lines.append(
            f"  {design.raters:6,} {design.items:8,} {design.ratings:10,} {design.cost:11,.6g} "
            f"{design.value:10.3f}{mark}"
        )
    if plan.power is not None:
        lines += ["", "That design finds a difference (quasi-F at 5%) with probability", *_power_lines(plan.power)]
    return "\n".join(lines)


def describe_powers(components: Mapping[str, float], powers: Sequence[Power]) -> str:
    """A row for every size of study."""
    lines = [_components(components), "", "                      chance of finding that the systems differ"]
    lines.append("  raters    items   systems a sample   these very systems")
    for p in powers:
        lines.append(f"  {p.raters:6,} {p.items:8,} {p.random:18.3f} {p.fixed:20.3f}")
    first = powers[0]
    lines += [
        "",
        f"{first.systems} systems, quasi-F at {first.alpha:g}. Systems a sample: {first.draws:,} draws of the mean "
        f"squares (error {max(p.random_error for p in powers):.4f}).",
        "These very systems: the noncentral F, with the system component as the variance of their true means.",
    ]
    return "\n".join(lines)


def _components(components: Mapping[str, float]) -> str:
    return "Components: " + ", ".join(f"{name} {components[name]:.5g}" for name in NEEDED) + "."


def _around(designs: Sequence[PlannedDesign], best: PlannedDesign) -> Sequence[PlannedDesign]:
    at = designs.index(best)
    start = max(0, min(at - _SHOWN // 2, len(designs) - _SHOWN))
    return designs[start : start + _SHOWN]


def _power_lines(p: Power) -> list[str]:
    return [
        f"  {p.random:.2f} if the systems are a sample of such systems,",
        f"  {p.fixed:.2f} for these very systems, if their true means vary as much as the component says.",
    ]
