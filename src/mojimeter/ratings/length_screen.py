"""One screen on what length does to a ranking. Knows the results of `length_effects`, and words."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from mojimeter.ratings.length import LengthEffects, RankCorrelation, TwoRatios
from mojimeter.stats.estimate import Estimate

_NAME = 22
_WIDTH = 110


def describe_length(found: LengthEffects, ratios: Sequence[TwoRatios] = ()) -> str:
    """Slopes, correlations and the three rankings side by side."""
    name = found.covariate
    lines = [
        f"Score per unit of {name}   slope within items [95%]      slope between systems         Spearman of means",
        _row("panel", found.panel.within_items, found.panel.between_systems, found.panel.ranks),
    ]
    lines += [_row(r.rater, r.within_items, r.between_systems, r.ranks) for r in found.raters[:12]]
    if len(found.raters) > 12:
        lines.append(f"  ... and {len(found.raters) - 12} more raters (all are in --json)")
    lines += ["", *textwrap.wrap(_split(found), _WIDTH)]
    lines += [
        "",
        f"  {'system':{_NAME}} {name[:12]:>12}   rank  mean   controlled [95%]            matched win rate [95%]",
    ]
    for s in found.systems:
        lines.append(
            f"  {s.system[:_NAME]:{_NAME}} {s.length:12.4g} {s.rank:6.3g} {s.mean:6.4g}   "
            f"{_place(s.controlled_rank)} {_show(s.controlled):23} {_place(s.win_rank)} {_show(s.win_rate)}"
        )
    notes = (
        f"{found.matched_pairs:,} pairs of outputs for one item are of equal length (to within {found.tolerance:g}); "
        "each rater judges who wins. Controlled: the mean at the average length, by the slope within items and systems "
        f"({_show(found.panel.within_items_and_systems)}). Intervals of the panel's slope within items, the controlled "
        "means and the win rates are over items and raters."
    )
    lines += ["", *textwrap.wrap(notes, _WIDTH)]
    if ratios:
        lines += ["", f"  {'system':{_NAME}} ratio of means             mean of ratios (another number)"]
        for r in ratios:
            left = f"  ({r.left_out} rows with zero below left out)" if r.left_out else ""
            lines.append(f"  {r.system[:_NAME]:{_NAME}} {_show(r.ratio_of_means):26} {_show(r.mean_of_ratios)}{left}")
    return "\n".join(lines)


def _row(name: str, within: Estimate, between: Estimate, ranks: RankCorrelation) -> str:
    return f"  {name[:_NAME]:{_NAME}} {_show(within):28} {_show(between):28} {_ranks(ranks)}"


def _ranks(ranks: RankCorrelation) -> str:
    if ranks.spearman is None or ranks.p is None:
        return ranks.reason or "-"
    kind = "exact" if ranks.p_kind == "exact" else "t approx."
    return f"{ranks.spearman:+.2f} (p = {ranks.p:.2g}, {kind})"


def _split(found: LengthEffects) -> str:
    """Whether the raters are one instrument or several."""
    rhos = [r.ranks.spearman for r in found.raters if r.ranks.spearman is not None]
    if len(rhos) < 2:
        return "One rater: whether others would follow length alike cannot be seen."
    low, high = min(rhos), max(rhos)
    text = (
        f"Across raters the correlation of a rater's ranking with {found.covariate} runs from {low:+.2f} to {high:+.2f}"
    )
    limits = [r.within_items.ci for r in found.raters if r.within_items.ci is not None]
    bounds = [(ci[0], ci[1]) for ci in limits if ci[0] is not None and ci[1] is not None]
    if bounds and max(b[0] for b in bounds) > min(b[1] for b in bounds):
        return (
            text + "; some raters' slopes differ beyond their intervals: the panel mean averages different instruments."
        )
    return text + "."


def _place(rank: float | None) -> str:
    return "  -" if rank is None else f"{rank:3.3g}"


def _show(estimate: Estimate) -> str:
    if estimate.value is None:
        return "-"
    if estimate.ci is None or estimate.ci[0] is None or estimate.ci[1] is None:
        return f"{estimate.value:.3g}"
    return f"{estimate.value:.3g} [{estimate.ci[0]:.3g}, {estimate.ci[1]:.3g}]"
