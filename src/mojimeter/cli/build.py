"""``mojimeter build``: a balanced benchmark from raw posts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from mojimeter.cli import call_options
from mojimeter.cli.output import JSON_OPTION, write_json, write_warnings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mojimeter.build.recipe import Recipe


def command(
    raw: list[str] = typer.Argument(
        ...,
        metavar="RAW...",
        help="Raw posts with their emoji: CSV, TSV, JSONL, Parquet, a PAN-2018 folder, hf:NAME, starter.",
    ),
    out: str = typer.Option(..., "--out", metavar="POSTS", help="The benchmark: .csv, .tsv, .jsonl or .parquet."),
    recipe: str | None = typer.Option(None, "--recipe", metavar="FILE", help="TOML; the paper's recipe by default."),
    judge: str | None = typer.Option(
        None, "--judge", help="Who labels: any model, student/... (ours), or none. student/starter by default."
    ),
    labels: list[str] = typer.Option(
        [], "--labels", metavar="FILE...", help="Labels made elsewhere, instead of a judge."
    ),
    limit: int | None = typer.Option(None, "--limit", min=1, help="Label at most so many posts, drawn by seeded hash."),
    seed: int | None = typer.Option(None, "--seed", min=0, help="Of what is drawn; the recipe's by default."),
    source: str | None = typer.Option(None, "--source", help="Where the posts come from; for the data card."),
    licence: str | None = typer.Option(None, "--licence", help="Under which licence; for the data card."),
    map: list[str] = typer.Option([], "--map", metavar="OURS=THEIRS", help="A column's name in the files."),
    keep: list[str] = typer.Option([], "--keep", metavar="COLUMN...", help="Further columns to keep."),
    number: bool = typer.Option(False, "--number", help="Make ids of file name and row, whatever column id holds."),
    votes: int | None = typer.Option(None, "--votes", min=1, help="A judge's votes at most; the recipe's by default."),
    apart: bool = typer.Option(False, "--apart", help="Ask the judge task by task (the paper's way)."),
    engine: str = typer.Option("local", "--engine", help="local, or ray: the same on a cluster."),
    ray_address: str | None = typer.Option(None, "--ray-address", help="Of a running Ray cluster."),
    dry_run: bool = typer.Option(False, "--dry-run", help="Clean, then count the calls instead of labelling."),
    prices: str | None = call_options.PRICES,
    max_cost: float | None = call_options.MAX_COST,
    max_connections: int = call_options.MAX_CONNECTIONS,
    max_retries: int = call_options.MAX_RETRIES,
    timeout: int = call_options.TIMEOUT,
    allow_failures: bool = typer.Option(False, "--allow-failures", help="Drop and count posts whose calls failed."),
    keep_work: bool = typer.Option(False, "--keep-work", help="Keep the work folder when the benchmark is done."),
    json: bool = JSON_OPTION,
) -> None:
    """Make a balanced benchmark of raw posts: filter, mask, drop duplicates, label, balance, audit, write with a card.

    mojimeter build raw.csv --out benchmark.jsonl --judge openai/gpt-4o-mini

    mojimeter build raw.parquet --out all.parquet --judge none      cleaning only, at any size

    The same command goes on where it stopped. Beside POSTS come its labels, recipe (with hashes; build again from it
    to check that the same bytes come out), data card and report.
    """
    from mojimeter.build.recipe import Recipe, read_recipe
    from mojimeter.build.run import Job, build_benchmark, iter_warnings
    from mojimeter.datasets.tables import parse_mapping
    from mojimeter.errors import InputError
    from mojimeter.models.patience import Patience
    from mojimeter.models.prices import read_prices

    settings, made = read_recipe(recipe) if recipe else (Recipe(), {})
    settings = _with_flags(settings, limit=limit, seed=seed, votes=votes, source=source, licence=licence)
    if engine not in ("local", "ray"):
        raise InputError(f"--engine {engine!r}: expected local or ray")
    job = Job(
        raw=tuple(raw),
        out=out,
        recipe=settings,
        judge=judge or settings.label.judge or "student/starter",
        labels=tuple(labels),
        mapping=parse_mapping(map),
        extra=tuple(keep),
        numbered=number,
        together=not apart,
    )
    with Progress() as progress:
        try:
            document = build_benchmark(
                job,
                engine=_ray_engine(ray_address) if engine == "ray" else None,
                made=made,
                patience=Patience(retries=max_retries, attempt_timeout=timeout, max_connections=max_connections),
                prices=read_prices(prices) if prices else {},
                max_cost=max_cost,
                allow_failures=allow_failures,
                keep_work=keep_work,
                dry_run=dry_run,
                progress=progress.report,
            )
        except KeyboardInterrupt:
            typer.echo(f"mojimeter: interrupted; the same command goes on from {job.beside('work')}", err=True)
            raise typer.Exit(130) from None
    if document.get("status") == "dry_run":
        write_json(document) if json else _print_plan(document)
        return
    write_warnings(iter_warnings(document))
    if json:
        write_json(document)
    else:
        from mojimeter.build.screen import print_report

        print_report(document)


def _with_flags(
    recipe: Recipe, *, limit: int | None, seed: int | None, votes: int | None, source: str | None, licence: str | None
) -> Recipe:
    """The recipe with what the command line says otherwise."""
    label = {name: value for name, value in (("at_most", limit), ("votes", votes)) if value is not None}
    top = {
        name: value for name, value in (("seed", seed), ("source", source), ("licence", licence)) if value is not None
    }
    return recipe.model_copy(update={**top, "label": recipe.label.model_copy(update=label)})


def _ray_engine(address: str | None) -> Any:
    from mojimeter.build.ray_engine import RayEngine

    return RayEngine(address)


def _print_plan(plan: Mapping[str, Any]) -> None:
    posts, calls = plan["posts"], plan["calls"]
    gone = ", ".join(f"{reason} {count:,}" for reason, count in posts["dropped"].items() if count)
    typer.echo(
        f"{posts['read']:,} posts read, {posts['to_label']:,} to label ({gone or 'none'} left out); nothing was asked."
    )
    typer.echo(f"{calls['least']:,} to {calls['most']:,} calls.")


class Progress:
    """A bar on stderr where that is a terminal, else a line at every tenth."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        console = Console(stderr=True)
        self._live = console.is_terminal
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=console, transient=True, disable=not self._live)
        self._tasks: dict[str, Any] = {}
        self._shown: dict[str, int] = {}

    def __enter__(self) -> Progress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def report(self, what: str, done: int, of: int) -> None:
        """So much of a step is done."""
        if self._live:
            if what not in self._tasks:
                self._tasks[what] = self._bar.add_task(_STEPS[what], total=of)
            self._bar.update(self._tasks[what], completed=done)
            return
        tenth = done * 10 // of if of else 10
        if of > 1 and tenth > self._shown.get(what, 0):
            self._shown[what] = tenth
            typer.echo(f"{_STEPS[what]}: {done:,} of {of:,}", err=True)


_STEPS = {"clean": "blocks cleaned", "label": "posts labelled", "write": "posts written"}
