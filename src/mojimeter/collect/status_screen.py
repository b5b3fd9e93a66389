"""The status of a study for the terminal. Knows ``StudyStatus`` and nothing else."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import IO

from rich.console import Console
from rich.table import Table

from mojimeter.collect.status import RaterStatus, StudyStatus
from mojimeter.report.plain import plain


def status_table(status: StudyStatus, file: IO[str] | None = None) -> None:
    """Print one row a rater and what is missing."""
    console = Console(file=file, highlight=False, soft_wrap=True)
    console.print(f"{plain(status.title)}: {status.form}, {status.design}", markup=False)
    if status.raters:
        console.print(_table(status.raters))
    else:
        console.print("Nobody was invited yet: mojimeter collect invite STUDY --raters N")
    low, high = status.ratings_per_cell
    per_cell = str(low) if low == high else f"{low} to {high}"
    console.print(f"{status.ratings:,} ratings of {status.cells:,} cells; {per_cell} a cell.", end=" ")
    console.print(
        f"Missing: {status.missing:,} still to come"
        + (f", {status.lost:,} that will not come" if status.lost else "")
        + f"; {status.cells_without_rating:,} cells without any rating."
    )


def _table(raters: tuple[RaterStatus, ...]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("rater", "state"):
        table.add_column(name)
    for name in ("done", "sec.", "checks", "repeats", "changed"):
        table.add_column(name, justify="right")
    for name in ("emoji", "last seen (UTC)"):
        table.add_column(name)
    for r in raters:
        table.add_row(
            r.rater,
            r.state,
            f"{r.done}/{r.total}",
            "-" if r.median_seconds is None else f"{r.median_seconds:.1f}",
            _share(r.attention_passed, r.attention_given),
            _share(r.repeats_agreed, r.repeats_given),
            str(r.changed or "-"),
            {True: "colour", False: "not in colour", None: "-"}[r.emoji_ok],
            "-" if r.last_seen is None else f"{datetime.fromtimestamp(r.last_seen, UTC):%Y-%m-%d %H:%M}",
        )
    return table


def _share(good: int, given: int) -> str:
    return f"{good}/{given}" if given else "-"
