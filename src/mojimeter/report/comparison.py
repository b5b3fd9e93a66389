"""Two runs compared, in words for people."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from mojimeter.runs.compare import Comparison

_NAMED = {
    "average": "labels kept, percent",
    "average_unleaked": "labels kept (sentiment, emotion, stance), percent",
    "f1": "overlap F1, percent",
}


def print_comparison(comparison: Comparison) -> None:
    """Print one line a pair of systems and what it means."""
    console = Console(highlight=False, markup=False)
    table = Table(
        title=f"A {comparison.runs[0]}  B {comparison.runs[1]}: {_NAMED[comparison.metric]}",
        title_justify="left",
        box=None,
    )
    for name, justify in (
        ("A", "left"),
        ("B", "left"),
        ("mean A", "right"),
        ("mean B", "right"),
        ("A - B", "right"),
        ("95% interval", "right"),
        ("p", "right"),
        ("detectable", "right"),
    ):
        table.add_column(name, justify=justify, overflow="fold")  # type: ignore[arg-type]
    for pair in comparison.pairs:
        result = pair.result
        low, high = result.difference.ci or (None, None)
        table.add_row(
            *(name + (" (kin)" if kin else "") for name, kin in zip((pair.first, pair.second), pair.kin, strict=True)),
            f"{pair.values[0]:.2f}",
            f"{pair.values[1]:.2f}",
            f"{result.difference.value:+.2f}",
            "-" if low is None or high is None else f"[{low:.2f}, {high:.2f}]",
            "-" if result.p is None else f"{result.p:.3f}",
            "-" if result.detectable is None else f"{result.detectable:.2f}",
        )
    console.print(table)
    for pair in comparison.pairs:
        console.print(_verdict(pair.first, pair.second, pair.result.p, pair.result.posts, pair.result.clusters))
    console.print(
        "p: sign-flip test over authors. detectable: the smallest true difference that this comparison would find "
        "with 80% power; a tie says no more than that the difference may well be smaller."
    )
    if any(kin for pair in comparison.pairs for kin in pair.kin):
        console.print("(kin): the judge is this system or of the same maker; see judge bias.")
    for side, signature in zip("AB", comparison.signatures, strict=True):
        console.print(f"{side} {signature}", soft_wrap=True)


def _verdict(first: str, second: str, p: float | None, posts: int, authors: int) -> str:
    on = f"on {posts:,} posts by {authors:,} authors"
    pair = f"A {first} and B {second}" if first == second else f"{first} and {second}"
    if p is None:
        return f"{pair}: one author, no test, {on}."
    return f"{pair}: {'apart' if p < 0.05 else 'a tie'}, {on}."
