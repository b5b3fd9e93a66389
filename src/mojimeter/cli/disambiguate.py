"""``mojimeter disambiguate``: benchmark B, by running systems or from files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from mojimeter.cli import call_options
from mojimeter.cli.output import JSON_OPTION, write_json, write_warnings

if TYPE_CHECKING:
    from collections.abc import Mapping


def command(
    pairs: str = typer.Argument(
        "pairs",
        metavar="PAIRS",
        help="Pairs: id, category, text, emoji, question, context_1, answer_1, context_2, answer_2. CSV, TSV, JSONL or "
        "Parquet; or the set that ships: pairs, pairs:en, pairs:hi, pairs:bn.",
    ),
    system: list[str] = typer.Option(
        [],
        "--system",
        metavar="S...",
        help="What is ranked: openai/gpt-4o-mini, openai-api/NAME/MODEL, local/smollm2-135m, baseline/random, ...",
    ),
    verifier: str | None = typer.Option(
        None,
        "--verifier",
        metavar="V",
        help="Who says whether an answer is right: embedded (ours, needs no key; the default where systems are run) "
        "or any model.",
    ),
    answers: list[str] = typer.Option(
        [],
        "--answers",
        metavar="FILE...",
        help="Answers made elsewhere, by people or systems: id, system, condition (1, 2, none), answer, optional "
        "verdict and reading.",
    ),
    differences: list[str] = typer.Option(
        [], "--differences", metavar="FILE...", help="Which answers differ: id, system, pair, order (ab, ba), differs."
    ),
    people: list[str] = typer.Option(
        [],
        "--people",
        metavar="FILE...",
        help="People's verdicts on some of the answers, to measure the verifier: id, system, condition, verdict.",
    ),
    demo: bool = typer.Option(False, "--demo", help="Run the local model offline on a balanced part of the set."),
    temperature: float = typer.Option(0.2, "--temperature", min=0.0, help="Of the systems; verifiers have 0."),
    seed: int | None = typer.Option(None, "--seed", min=0, help="Makes sampling repeatable where the provider can."),
    limit: int | None = typer.Option(
        None, "--limit", min=1, help="Only so many pairs, balanced over kinds, languages and readings."
    ),
    baselines: bool = typer.Option(
        True,
        "--baselines/--no-baselines",
        help="Show the commoner reading, a random one, and each model without context beside the others.",
    ),
    only_accuracy: bool = typer.Option(
        False, "--only-accuracy", help="Ask the verifier what the two accuracies need: 2 calls a pair, not 9 to 12."
    ),
    bootstrap: int = typer.Option(2000, "--bootstrap", min=1, help="Draws of the bootstrap over pairs."),
    bootstrap_seed: int = call_options.BOOTSTRAP_SEED,
    map: list[str] = typer.Option([], "--map", metavar="OURS=THEIRS", help="A column's name in the files."),
    dry_run: bool = typer.Option(False, "--dry-run", help="Count the calls; ask nobody."),
    prices: str | None = call_options.PRICES,
    max_cost: float | None = call_options.MAX_COST,
    max_connections: int = call_options.MAX_CONNECTIONS,
    max_retries: int = call_options.MAX_RETRIES,
    timeout: int = call_options.TIMEOUT,
    allow_failures: bool = typer.Option(
        False, "--allow-failures", help="Score though calls failed; an answer that failed counts as wrong."
    ),
    out: str | None = call_options.OUT,
    fail_under: list[str] = typer.Option(
        [], "--fail-under", metavar="METRIC=VALUE", help="Exit 3 if a system's share is lower: acc_pair=0.5."
    ),
    json: bool = JSON_OPTION,
) -> None:
    """Ask systems what an emoji means under two contexts and under none, have a verifier judge, and rank them.

    mojimeter disambiguate pairs --system openai/gpt-4o-mini --verifier openai/gpt-4o

    mojimeter disambiguate pairs.jsonl --answers people.csv --differences differs.csv

    mojimeter disambiguate --demo

    The same command with the same --out goes on where it stopped: calls that were answered are not made again.
    """
    from mojimeter.datasets.tables import parse_mapping
    from mojimeter.models.patience import Patience
    from mojimeter.models.prices import read_prices
    from mojimeter.report.disambiguation import check_disambiguation_gates, print_disambiguation
    from mojimeter.report.gates import parse_gates
    from mojimeter.runs.disambiguate import DisambiguateSettings, count_calls, demo_settings, run_disambiguate

    gates = parse_gates(fail_under)
    settings = DisambiguateSettings(
        pairs=pairs,
        systems=tuple(system),
        verifier=verifier or ("embedded" if system or demo else None),
        answers=tuple(answers),
        differences=tuple(differences),
        people=tuple(people),
        temperature=temperature,
        seed=seed,
        limit=limit,
        baselines=baselines,
        only_accuracy=only_accuracy,
        draws=bootstrap,
        bootstrap_seed=bootstrap_seed,
        mapping=parse_mapping(map),
    )
    if demo:
        settings = demo_settings(settings)
    folder = out or _default_folder(settings.pairs, demo, bool(settings.systems or (verifier or "").count("/")))
    if dry_run:
        from mojimeter.runs.disambiguate import PairsRun

        plan = count_calls(PairsRun(settings), folder)
        write_json(plan) if json else _print_plan(plan)
        return
    try:
        with _Progress() as progress:
            outcome = run_disambiguate(
                settings,
                folder,
                patience=Patience(retries=max_retries, attempt_timeout=timeout, max_connections=max_connections),
                prices=read_prices(prices) if prices else {},
                max_cost=max_cost,
                allow_failures=allow_failures,
                started=progress.started,
                done=progress.done,
                verifying=progress.verifying,
            )
    except KeyboardInterrupt:
        typer.echo(f"mojimeter: interrupted; the same command goes on from {folder}", err=True)
        raise typer.Exit(130) from None
    _warn(outcome.document)
    if json:
        write_json(outcome.document)
    if outcome.unfinished is not None:
        raise outcome.unfinished
    if not json:
        print_disambiguation(outcome.document)
    check_disambiguation_gates(outcome.document, gates)


def _default_folder(pairs: str, demo: bool, asks: bool) -> str | None:
    """Where a run goes without --out; None where only files are scored."""
    from pathlib import Path

    if not asks:
        return None
    name = "demo" if demo else (Path(pairs).stem or "pairs").replace(":", "-")
    return str(Path("runs") / f"disambiguate-{name}")


def _warn(document: Mapping[str, Any]) -> None:
    write_warnings(document.get("warnings", ()))
    calls = document["calls"]
    if document["run"] is not None:
        money = "" if not calls["usd"] else f", {calls['usd']:.4f} US dollars in all"
        typer.echo(
            f"{document['run']}: {calls['made']} calls made, {calls['known']} known from before{money}", err=True
        )
    for reason, count in sorted(document["failed"]["reasons"].items(), key=lambda pair: -pair[1])[:5]:
        typer.echo(f"failed ({count}): {reason}", err=True)


def _print_plan(plan: Mapping[str, Any]) -> None:
    typer.echo(f"{plan['pairs']} pairs, {len(plan['systems'])} systems; nothing was asked.")
    for name, count in plan["calls"]["answer"].items():
        typer.echo(f"  {name}: {count} calls to answer")
    if plan["verifier"]:
        least, most = plan["calls"]["verify"]["least"], plan["calls"]["verify"]["most"]
        typer.echo(f"  {plan['verifier']}: {least} to {most} calls to verify")
    if plan["calls"]["known"]:
        typer.echo(f"{plan['calls']['known']} answers are in the run folder already.")


class _Progress:
    """A bar on stderr where that is a terminal, else a line now and then."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        console = Console(stderr=True)
        self._live = console.is_terminal
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not self._live,
        )
        self._tasks: dict[str, Any] = {}
        self._total = self._count = 0

    def __enter__(self) -> _Progress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def started(self, items: int) -> None:
        self._total = items
        self._tasks["asked"] = self._bar.add_task("pairs asked", total=items)

    def done(self, system: str) -> None:
        self._count += 1
        self._bar.advance(self._tasks["asked"])
        if not self._live and (self._count * 10) // self._total > ((self._count - 1) * 10) // self._total:
            typer.echo(f"{self._count} of {self._total} pairs asked", err=True)

    def verifying(self, done: int, total: int) -> None:
        if "verified" not in self._tasks:
            self._tasks["verified"] = self._bar.add_task("systems verified", total=total)
        self._bar.update(self._tasks["verified"], completed=done)
