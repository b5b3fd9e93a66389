"""What a judge was measured to be worth, for people: printed before the scores it gives.

Reads the JSON of quality that lies beside a student's weights and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from rich.console import Console
from rich.table import Table


def print_quality(quality: Mapping[str, Any], file: IO[str] | None = None, width: int | None = None) -> None:
    """Print a student's measured quality: accuracy beside the commonest label's, kappa, sensitivity to emoji.

    Args:
        quality: what ``judges.student.quality`` gives for a judge with a test part.
        file: where to; standard output by default.
        width: columns; the terminal's by default.
    """
    console = Console(file=file, width=width, highlight=False, emoji=False, markup=False)
    measured = quality["measured_on"]
    outside = quality.get("gpt_4o_mini")
    table = Table(
        title=f"How good the judge is: {quality['judge']} against readers of {measured['posts']} posts by "
        f"{measured['authors']} authors it never saw",
        title_justify="left",
        title_style="bold",
        box=None,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    table.add_column("task")
    for column in ("accuracy", "commonest", "kappa", "95% interval", "moves", *(["outside"] if outside else [])):
        table.add_column(column, justify="right", no_wrap=True)
    for task, found in quality["test"].items():
        low, high = found["kappa"]["ci"]
        cells = [
            task,
            f"{100 * found['accuracy']['value']:.0f}%",
            f"{100 * found['majority']:.0f}%",
            f"{found['kappa']['value']:.2f}",
            f"[{low:.2f}, {high:.2f}]",
            f"{100 * quality['emoji_sensitivity']['replaced'][task]:.0f}%",
        ]
        table.add_row(*cells, *([f"{outside['kappa'][task]:.2f}"] if outside else []))
    console.print(table)
    console.print("commonest: always saying the commonest label; moves: labels that change with random emoji.")
    if outside:
        console.print(f"outside: kappa with GPT-4o-mini on {outside['posts']:,} tweets; what to expect on other posts.")
