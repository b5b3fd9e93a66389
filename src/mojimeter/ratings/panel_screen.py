"""One screen on the worth of a panel of models. Knows the results of `panel_worth`, and words."""

from __future__ import annotations

import textwrap

from mojimeter.ratings.panel import PanelWorth, Worth
from mojimeter.stats.estimate import Estimate

_NAME = 24
_SHOWN = 25


def describe_panel(found: PanelWorth) -> str:
    """Worth of the panel and of each judge, both readings."""
    people = found.components
    left = f"; {found.left_out:,} left out, not rated by every person and a judge" if found.left_out else ""
    lines = [
        f"{found.units:,} units, {people.people} people, {len(found.judges)} judges{left}.",
        f"People's scores: variance between units {people.unit:.4g}, between people {people.person:.4g}, rest "
        f"{people.error:.4g}; G of their mean {people.g:.3f}.",
        "",
        f"  {'':{_NAME}} {'r with people [95%]':24} {'offset':>7}   worth in people [95%]",
        f"  {'':{_NAME}} {'':24} {'':7}   {'for the order of units':28} for the scores as such",
        _row(found.panel),
    ]
    lines += [_row(judge) for judge in found.judges[:_SHOWN]]
    if len(found.judges) > _SHOWN:
        lines.append(f"  ... and {len(found.judges) - _SHOWN} more judges (all are in --json)")
    note = (
        "Order: offsets and scale are forgiven. Scores: offsets count. Intervals are over units and people. "
        "'unbounded': on these ratings no number of people is shown to do better."
    )
    reasons = {e.reason for w in (found.panel, *found.judges) for e in (w.consistency, w.absolute) if e.reason}
    return "\n".join([*lines, "", *textwrap.wrap(note, 100), *(f"Note: {r}." for r in sorted(reasons))])


def _row(worth: Worth) -> str:
    r = "-" if worth.r.value is None else f"{worth.r.value:.3f}{_interval(worth.r, '.3f')}"
    return (
        f"  {worth.name[:_NAME]:{_NAME}} {r:24} {worth.offset:+7.3f}   {_people(worth.consistency):28} "
        f"{_people(worth.absolute)}"
    )


def _people(estimate: Estimate) -> str:
    if estimate.state == "unbounded":
        return "unbounded" + _interval(estimate, ".2f")
    return "-" if estimate.value is None else f"{estimate.value:.2f}{_interval(estimate, '.2f')}"


def _interval(estimate: Estimate, form: str) -> str:
    if estimate.ci is None:
        return ""
    low, high = estimate.ci
    if low is None and high is None:
        return " [unbounded]"
    return (
        f" [{'unbounded' if low is None else format(low, form)}, {'unbounded' if high is None else format(high, form)}]"
    )
