"""One screen on splits. Knows the results of `count_twins` and `measure_optimism`, and words."""

from __future__ import annotations

from mojimeter.ratings.splits import SplitOptimism, SplitScores, TwinReport
from mojimeter.stats.estimate import Estimate

_SHOWN = 20


def describe_splits(twins: TwinReport, optimism: SplitOptimism | None) -> str:
    """Twins first; then, where there was a classifier, what they promised."""
    low, high = twins.views
    views = f"{low}" if low == high else f"{low} to {high}"
    counted = twins.counted.value or 0.0
    lines = [
        f"{twins.rows:,} rows of {twins.items:,} items, {views} rows per item; test share {twins.test_share:g}.",
        f"Row-wise split: {_percent(twins.analytic)} of test rows have a twin in training (1 - p^(k-1)); "
        f"counted {_percent(counted)}.",
        "Grouped split: none.",
    ]
    if optimism is None:
        return "\n".join(lines)
    lines += [
        "",
        f"Macro-F1 over {optimism.repeats} splits [95%]",
        f"  row-wise  {_show(optimism.row_wise.macro_f1)}",
        f"  grouped   {_show(optimism.grouped.macro_f1)}",
        f"  optimism  {_show(optimism.optimism)}",
    ]
    if optimism.grouped.leader is not None:
        lines += ["", f"  {'system':28} row-wise (came first)   grouped (came first)"]
        ordered = sorted(optimism.grouped.systems, key=lambda s: -optimism.grouped.systems[s])
        for name in ordered[:_SHOWN]:
            lines.append(f"  {name[:28]:28} {_system(optimism.row_wise, name):24}{_system(optimism.grouped, name)}")
        if len(ordered) > _SHOWN:
            lines.append(f"  ... and {len(ordered) - _SHOWN} more (all are in --json)")
        if optimism.leader_changes:
            lines.append(
                f"{optimism.row_wise.leader} leads row-wise, {optimism.grouped.leader} once items are kept together."
            )
        else:
            lines.append(f"{optimism.grouped.leader} leads under both.")
    return "\n".join(lines)


def _system(scores: SplitScores, name: str) -> str:
    mean = scores.systems.get(name)
    return "-" if mean is None else f"{mean:.3f} ({scores.first.get(name, 0)})"


def _percent(share: float) -> str:
    """A share with as many digits as its distance from 100% needs."""
    return f"{100 * share:.5f}".rstrip("0").rstrip(".") + "%"


def _show(estimate: Estimate) -> str:
    if estimate.value is None or estimate.ci is None:
        return "-"
    return f"{estimate.value:.3f} [{estimate.ci[0]:.3f}, {estimate.ci[1]:.3f}]"
