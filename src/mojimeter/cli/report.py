"""``mojimeter report``: runs, benchmarks and rating studies as one page, or as tables for a paper."""

from __future__ import annotations

from time import monotonic
from typing import Any

import typer

from mojimeter.cli.output import JSON_OPTION, write_json, write_warnings

SECONDS_OF_SILENCE = 3.0


def command(
    runs: list[str] = typer.Argument(
        None, metavar="RUN...", help="Run folders, documents saved with --json, tables of ratings; any mix."
    ),
    out: str | None = typer.Option(
        None,
        "--out",
        metavar="FILE",
        help="What to write, report.html by default: .html, .tex, .md; - for stdout.",
    ),
    format: str | None = typer.Option(
        None, "--format", metavar="NAME", help="html, latex or markdown, where the name of FILE does not say."
    ),
    title: str | None = typer.Option(None, "--title", metavar="TEXT", help="Of the page; else the runs' names."),
    judge_files: list[str] = typer.Option(
        [],
        "--judge-files",
        metavar="FILE...",
        help="What 'judge ... --json' or 'ratings check|panel --json' printed, for the page's Trust part.",
    ),
    no_texts: bool = typer.Option(
        False, "--no-texts", help="Leave out texts of posts, replies and answers: for data that must not be shared."
    ),
    max_items: int | None = typer.Option(
        None, "--max-items", min=0, metavar="N", help="List the first so many items of a run; scores rest on all."
    ),
    missing_emoji: str = typer.Option(
        "fail",
        "--missing-emoji",
        help="fail: an emoji that the bundled font lacks is an error; note: the page lists it.",
    ),
    map: list[str] = typer.Option(
        [], "--map", metavar="OURS=THEIRS", help="A column's name in tables of ratings, such as item=doc_id."
    ),
    json: bool = JSON_OPTION,
) -> None:
    """Write runs of any kind as one HTML page that opens offline, or as tables in LaTeX or Markdown.

    mojimeter report runs/demo

    mojimeter report runs/demo pairs-run ratings.csv --judge-files accuracy.json --out report.html

    mojimeter report runs/demo --out table.tex
    """
    from mojimeter.datasets.tables import parse_mapping
    from mojimeter.errors import InputError
    from mojimeter.report.page.options import ReportOptions
    from mojimeter.report.page.write import STDOUT, write_report

    if json and out == STDOUT:
        raise InputError("--json and --out - both write to standard output; give one of the two")
    options = ReportOptions(title, not no_texts, max_items, parse_mapping(map))
    with Progress() as progress:
        done = write_report(
            runs or [],
            out,
            format=format,
            judge_files=judge_files,
            missing_emoji=missing_emoji,
            options=options,
            say=progress.say,
        )
    write_warnings(done["notes"])
    write_warnings(
        f"no picture in the bundled font: {one['name']} ({one['points']}); the reader's machine draws it or not"
        for one in done["missing_emoji"]
    )
    if json:
        write_json(done)
    elif out != STDOUT:
        kinds = ", ".join(f"{run['name']} ({run['kind'].replace('_', ' ')})" for run in done["runs"])
        typer.echo(f"wrote {done['out']}: {_size(done['bytes'])}, {kinds}, {done['emoji']} different emoji")


def _size(count: int) -> str:
    return f"{count / 1e6:.2f} MB" if count >= 100_000 else f"{count / 1e3:.1f} kB"


class Progress:
    """A bar on stderr where that is a terminal, else a line where nothing was said for some seconds."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        console = Console(stderr=True)
        self._live = console.is_terminal
        columns = (TextColumn("{task.description}", markup=False), BarColumn())
        self._bar = Progress(*columns, console=console, transient=True, disable=not self._live)
        self._tasks: dict[str, Any] = {}
        self._said = monotonic()

    def __enter__(self) -> Progress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def say(self, what: str, done: int, total: int) -> None:
        """So much of a step is done."""
        from mojimeter.report.plain import plain

        what = plain(what)
        if self._live:
            if what not in self._tasks:
                self._tasks[what] = self._bar.add_task(what, total=total)
            self._bar.update(self._tasks[what], completed=done)
            return
        if monotonic() - self._said > SECONDS_OF_SILENCE:
            self._said = monotonic()
            typer.echo(what + (f": {done:,} of {total:,}" if total > 1 else ""), err=True)
