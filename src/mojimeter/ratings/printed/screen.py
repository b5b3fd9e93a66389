"""One screen on a checked table: what contradicts, what to note, and what was solved for. Knows a `TableCheck`."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable

from mojimeter.ratings.printed.numbers import Range, show
from mojimeter.ratings.printed.table import TableCheck

_WIDTH = 100


def describe(check: TableCheck) -> str:
    """The check as text, at most 100 columns wide."""
    contradictions = check.contradictions
    notes = [f for f in check.findings if f.kind == "note"]
    lines = []
    if not check.findings:
        lines.append("Nothing contradicts: all of these numbers can be true at once.")
    elif not contradictions:
        lines.append(f"No contradiction; {len(notes)} to note.")
    if contradictions:
        lines.append(
            f"{_counted(len(contradictions), 'contradiction')} (no rounding of the printed numbers makes it true):"
        )
        lines += _list(f.what for f in contradictions)
    if notes:
        lines += ["", f"{_counted(len(notes), 'note')} (can be true):", *_list(f.what for f in notes)]
    if check.solved:
        lines += ["", "Solved from what is printed, with what rounding leaves open:", *_table(check)]
    return "\n".join(lines)


def _counted(n: int, word: str) -> str:
    return f"{n} {word}{'' if n == 1 else 's'}"


def _list(sentences: Iterable[str]) -> list[str]:
    out = []
    for sentence in sentences:
        out += textwrap.wrap(sentence, _WIDTH, initial_indent="  - ", subsequent_indent="    ")
    return out


def _table(check: TableCheck) -> list[str]:
    sources = [name.removeprefix("ms_") for name in check.solved if name.startswith("ms_")]
    wide = max(len(s) for s in [*sources, "alpha_interval"]) + 2
    titles = ("mean square".rjust(24), "share of SS".rjust(16), "variance component".rjust(26))
    lines = ["  " + "source".ljust(wide) + "".join(titles)]
    for source in sources:
        share = check.solved["share_of_ss_" + source]
        cells = (
            _cell(check.solved["ms_" + source]).rjust(24),
            ("not determined" if math.isnan(share.mid) else f"{100 * share.mid:.1f}%").rjust(16),
            _cell(check.solved["component_" + source]).rjust(26),
        )
        lines.append("  " + source.ljust(wide) + "".join(cells))
    rest = [name for name in check.solved if not name.startswith(("ms_", "share_of_ss_", "component_"))]
    return lines + [f"  {name.ljust(wide)}{_cell(check.solved[name]).rjust(24)}" for name in rest]


def _cell(value: Range) -> str:
    """The number with the larger of its two distances to what rounding allows."""
    if math.isnan(value.mid):
        return "not determined"
    half = max(value.hi - value.mid, value.mid - value.lo)
    if math.isinf(half):
        return f"{show(value.mid)} (no bound)"
    return show(value.mid) if half <= 1e-9 * abs(value.mid) else f"{show(value.mid)} +- {half:.2g}"
