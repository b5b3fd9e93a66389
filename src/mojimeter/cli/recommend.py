"""``mojimeter recommend``: runs benchmark A."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from mojimeter.cli import call_options
from mojimeter.cli.output import JSON_OPTION, write_json, write_warnings

if TYPE_CHECKING:
    from collections.abc import Mapping


def command(
    posts: str = typer.Argument(
        ..., metavar="POSTS", help="Posts: id, text with the original emoji. CSV, TSV, JSONL or Parquet."
    ),
    system: list[str] = typer.Option(
        [],
        "--system",
        metavar="S...",
        help="What is ranked: openai/gpt-4o-mini, openai-api/NAME/MODEL, local/smollm2-135m, baseline/keyword, ...",
    ),
    judge: list[str] = typer.Option(
        [], "--judge", metavar="J...", help="Who labels: any model, or student/... (ours). The first one ranks."
    ),
    strategy: str = typer.Option("zeroshot", "--strategy", help="zeroshot, fewshot or conditional."),
    n: str = typer.Option("3", "--n", "-n", help="How many emoji: 1 to 5, or 1-5 (the model chooses)."),
    template: str | None = typer.Option(None, "--template", metavar="FILE", help="Your own prompt, with {post} in it."),
    profile: str | None = typer.Option(
        None,
        "--profile",
        help="Where a conditional prompt's age and gender come from: posts, or labels (the judge's own: it leaks).",
    ),
    append: str = typer.Option("emoji", "--append", help="What the judge sees after the text: emoji, or raw replies."),
    epochs: int = typer.Option(1, "--epochs", min=1, help="Repeats of each model."),
    limit: int | None = typer.Option(None, "--limit", min=1, help="Only the first so many posts."),
    limit_for: list[str] = typer.Option(
        [], "--limit-for", metavar="SYSTEM=N", help="Only the first so many posts for a slow system."
    ),
    votes: int = typer.Option(3, "--votes", min=1, help="A judge's votes at most; a majority ends them early."),
    apart: bool = typer.Option(
        False, "--apart", help="Ask the judge task by task (the paper's way; five times the calls)."
    ),
    temperature: float = typer.Option(1.0, "--temperature", min=0.0, help="Of the recommenders; judges have 0."),
    seed: int | None = typer.Option(None, "--seed", min=0, help="Makes sampling repeatable where the provider can."),
    baselines: bool = typer.Option(
        True, "--baselines/--no-baselines", help="Show baseline/none and baseline/random beside the others."
    ),
    equality: str = typer.Option("presentation", "--equality", help="When two emoji are the same; see score."),
    bootstrap: int = typer.Option(2000, "--bootstrap", min=1, help="Draws of the bootstrap over authors."),
    bootstrap_seed: int = call_options.BOOTSTRAP_SEED,
    map: list[str] = typer.Option([], "--map", metavar="OURS=THEIRS", help="A column's name in the file."),
    dry_run: bool = typer.Option(False, "--dry-run", help="Count the calls, and the money where prices are known."),
    prices: str | None = call_options.PRICES,
    max_cost: float | None = call_options.MAX_COST,
    max_connections: int = call_options.MAX_CONNECTIONS,
    max_retries: int = call_options.MAX_RETRIES,
    timeout: int = call_options.TIMEOUT,
    allow_failures: bool = typer.Option(
        False, "--allow-failures", help="Score though calls failed; what failed counts as a failure of the system."
    ),
    out: str | None = call_options.OUT,
    fail_under: list[str] = typer.Option(
        [], "--fail-under", metavar="METRIC=VALUE", help="Exit 3 if a system's score is lower: average=75."
    ),
    json: bool = JSON_OPTION,
) -> None:
    """Have systems recommend emoji for posts, have judges label the result, and rank the systems.

    mojimeter recommend posts.csv --system openai/gpt-4o-mini local/smollm2-135m --judge openai/gpt-4o-mini

    Keys come from the environment (OPENAI_API_KEY, ...) and are written nowhere. The same command with the same
    --out goes on where it stopped: calls that were answered are not made again.
    """
    from mojimeter.datasets.tables import parse_mapping
    from mojimeter.models.prices import read_prices
    from mojimeter.report.gates import check_gates, parse_gates
    from mojimeter.runs.settings import RecommendSettings, parse_limits

    gates = parse_gates(fail_under)
    known_prices = read_prices(prices) if prices else {}
    settings = RecommendSettings(
        posts=posts,
        systems=tuple(system),
        judges=tuple(judge),
        strategy=strategy,
        n=n,
        template=template,
        profile=profile,
        append=append,
        epochs=epochs,
        limit=limit,
        votes=votes,
        together=not apart,
        temperature=temperature,
        seed=seed,
        baselines=baselines,
        equality=equality,
        draws=bootstrap,
        bootstrap_seed=bootstrap_seed,
        mapping=parse_mapping(map),
        limits=parse_limits(limit_for),
    )
    folder = out or default_folder(posts)
    if dry_run:
        from mojimeter.runs.plan import plan_recommend

        plan = plan_recommend(settings, folder, known_prices)
        write_json(plan) if json else _print_plan(plan)
        return
    from mojimeter.models.patience import Patience
    from mojimeter.runs.recommend import run_recommend

    patience = Patience(retries=max_retries, attempt_timeout=timeout, max_connections=max_connections)
    try:
        with Progress() as progress:
            outcome = run_recommend(
                settings,
                folder,
                patience=patience,
                prices=known_prices,
                max_cost=max_cost,
                allow_failures=allow_failures,
                started=progress.started,
                done=progress.done,
            )
    except KeyboardInterrupt:
        typer.echo(f"mojimeter: interrupted; the same command goes on from {folder}", err=True)
        raise typer.Exit(130) from None
    _warn(outcome.document, folder)
    if json:
        write_json(outcome.document)
    if outcome.unfinished is not None:
        raise outcome.unfinished
    if not json:
        from mojimeter.report.terminal import print_scores

        print_scores(outcome.document)
    check_gates(outcome.document, gates)


def default_folder(posts: str) -> str:
    """Where a run goes without --out: ``runs/`` and the name of its posts."""
    from pathlib import Path

    return str(Path("runs") / (Path(posts).stem or "posts"))


def _warn(document: Mapping[str, Any], folder: str) -> None:
    write_warnings(document.get("warnings", ()))
    calls = document["calls"]
    money = "" if not calls["usd"] else f", {calls['usd']:.4f} US dollars in all"
    typer.echo(
        f"{folder}: {calls['made']} calls made, {calls['known']} known from before, "
        f"{calls['saved']} fewer than the paper's design{money}",
        err=True,
    )
    for reason, count in sorted(document["failed"]["reasons"].items(), key=lambda pair: -pair[1])[:5]:
        typer.echo(f"failed ({count}): {reason}", err=True)


def _print_plan(plan: Mapping[str, Any]) -> None:
    calls = plan["calls"]
    typer.echo(
        f"{plan['posts']} posts, {len(plan['systems'])} systems, {len(plan['judges'])} judges; nothing was asked."
    )
    for name, count in calls["recommend"].items():
        typer.echo(f"  {name}: {count} calls to recommend")
    for name, count in calls["judge"].items():
        typer.echo(f"  {name}: {count['least']} to {count['most']} calls to judge")
    typer.echo(f"{calls['least']} to {calls['most']} calls; the paper's design would make {calls['paper']}.")
    if calls["known"]:
        typer.echo(f"{calls['known']} answers are in the run folder already.")
    usd = plan["usd"]
    if "reason" in usd:
        typer.echo(f"Cost not known: {usd['reason']}.")
    else:
        typer.echo(f"About {usd['least']:.4f} to {usd['most']:.4f} US dollars.")


class Progress:
    """A bar on stderr where that is a terminal, else a line now and then."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        console = Console(stderr=True)
        self._live = console.is_terminal
        self._bar = Progress(
            TextColumn("posts asked"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not self._live,
        )
        self._total = self._count = 0

    def __enter__(self) -> Progress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def started(self, items: int) -> None:
        self._total = items
        self._task = self._bar.add_task("posts", total=items)

    def done(self, system: str) -> None:
        self._count += 1
        self._bar.advance(self._task)
        if not self._live and (self._count * 10) // self._total > ((self._count - 1) * 10) // self._total:
            typer.echo(f"{self._count} of {self._total} posts asked", err=True)
