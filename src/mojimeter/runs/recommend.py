"""A run of benchmark A from its settings to its folder.

The ledger of calls is the truth: what is missing from it is asked, and the tables are made from it. Where
nothing is missing nothing is run, so a third run of the same command makes no call. The join of ``systems``, ``tasks``,
``judges`` and ``metrics``; knows no command line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from mojimeter.datasets.records import LABEL_COLUMNS, OUTPUT_COLUMNS
from mojimeter.errors import InputError, PartialError
from mojimeter.judges.llm import LlmJudge
from mojimeter.judges.panel import TextJudge, preservation_ratings
from mojimeter.models.calls import CallLedger
from mojimeter.models.prices import Budget, Price, price_of
from mojimeter.runs.folder import RunFolder
from mojimeter.runs.judge_panel import with_judge_panel
from mojimeter.runs.kin import with_kin
from mojimeter.runs.plan import paper_calls
from mojimeter.runs.settings import RecommendSettings, Run
from mojimeter.runs.tables import Tables, label_with_own_judges, tabulate
from mojimeter.systems.language import LanguageSystem

if TYPE_CHECKING:
    from mojimeter.metrics.results import RecommendationScores
    from mojimeter.models.patience import Patience
    from mojimeter.tasks.evaluate import Failure
    from mojimeter.tasks.recommender import Recommender

# What may differ when the same folder is used again: more of the same, or another pace.
_MAY_GROW = ("systems", "judges", "limit", "limits", "epochs", "posts_file", "judge_prompts", "version")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run gave.

    Attributes:
        document: the JSON document of the command.
        folder: the run folder.
        unfinished: what to raise once the document is written, where some of the work is not done; a caller that
            ignores it must not call the run a success.
    """

    document: dict[str, Any]
    folder: Path
    unfinished: PartialError | None = None


def run_recommend(
    settings: RecommendSettings,
    out: str | Path,
    *,
    patience: Patience | None = None,
    prices: Mapping[str, Price] | None = None,
    max_cost: float | None = None,
    allow_failures: bool = False,
    started: Callable[[int], None] = lambda items: None,
    done: Callable[[str], None] = lambda system: None,
) -> Outcome:
    """Run what is missing of a run, and write its folder.

    Args:
        settings: what is asked for.
        out: the run folder; one that holds the same run goes on from there. What only the scoring needs (equality,
            draws and seed of the bootstrap) may be another: settings and scores are then written anew.
        patience: how long calls are tried, how many at a time.
        prices: of models, by name.
        max_cost: US dollars over all attempts at this run; the call that could go over is not made.
        allow_failures: score what is there and count the rest as failures, instead of leaving the run unfinished.
        started, done: for a progress bar: how many samples, and each system's name when one is finished.

    Raises:
        InputError: settings are wrong, or the folder holds another run.
    """
    run = Run(settings)
    prices = prices or {}
    if max_cost is not None:
        _require_prices(run, prices)
    with RunFolder(out) as folder:
        folder.require_same_run(run.identity(), _MAY_GROW)
        folder.write_settings(run.identity())
        # posts as their authors wrote them, so that the folder alone can be scored again
        posts = run.frame.drop("text", "emoji", "leaked").rename({"original": "text"})
        folder.write_table("posts", posts)
        ledger = CallLedger(folder.calls)
        budget = Budget(max_cost, prices, sum(call.usd or 0.0 for call in ledger))
        tables = tabulate(run, ledger)
        failures: list[Failure] = []
        if tables.pending:
            failures = _evaluate(run, tables.pending, ledger, budget, patience, folder, started, done)
            tables = tabulate(run, ledger, {(f.system, f.id, f.epoch): f.reason for f in failures})
        label_with_own_judges(run, tables)
        ledger.close()
        outcome = _outcome(run, folder, tables, failures, _calls(run, ledger, budget), allow_failures)
    return outcome


def _evaluate(
    run: Run,
    pending: Sequence[Recommender],
    ledger: CallLedger,
    budget: Budget,
    patience: Patience | None,
    folder: RunFolder,
    started: Callable[[int], None],
    done: Callable[[str], None],
) -> list[Failure]:
    from mojimeter.models.client import Client
    from mojimeter.tasks.evaluate import evaluate

    started(sum(len(run.epochs_of(who)) * len(run.posts_of(who)) for who in pending))
    client = Client(ledger, budget, patience)
    failures: list[Failure] = []
    for count in sorted({len(run.posts_of(who)) for who in pending}):
        failures += evaluate(
            [who for who in pending if len(run.posts_of(who)) == count],
            run.asked_judges,
            run.posts[:count],
            client,
            epochs=run.settings.epochs,
            append=run.settings.append,
            logs=folder.logs,
            done=done,
        )
    return failures


def _outcome(
    run: Run,
    folder: RunFolder,
    tables: Tables,
    failures: Sequence[Failure],
    calls: dict[str, Any],
    allow_failures: bool,
) -> Outcome:
    outputs = _frame(tables.outputs, (*OUTPUT_COLUMNS, "profile"))
    folder.write_table("outputs", outputs)
    labels = _frame(tables.labels, (*LABEL_COLUMNS, "votes", "ties"))
    folder.write_table("labels", labels)
    if len(run.asked_judges) + len(run.own_judges) > 1:
        folder.write_table("ratings", preservation_ratings(labels, outputs))
    reasons: dict[str, int] = {}
    for failure in failures:
        reasons[failure.reason] = reasons.get(failure.reason, 0) + 1
    state = {
        "calls": calls,
        "failed": {"items": len(tables.missing), "of": tables.items, "reasons": reasons},
        "ties": tables.ties,
        # where a conditional prompt's age and gender came from; null for prompts that do not show them
        "profile": run.profile if run.settings.strategy == "conditional" else None,
        "run": str(folder.path),
    }
    if tables.missing and not allow_failures:
        unfinished = PartialError(
            f"{len(tables.missing)} of {tables.items} recommendations failed or have no label yet; what is done is in "
            f"{folder.path}, and the same command goes on from there"
        )
        return Outcome({"schema": 1, "status": "partial", **state}, folder.path, unfinished)
    document = {**score_run(run, folder), **state}
    folder.write_scores(document)
    return Outcome(document, folder.path)


def score_run(run: Run, folder: RunFolder) -> dict[str, Any]:
    """The scores of the tables in the folder, read back from it: what ``mojimeter score`` gives for them."""
    from mojimeter.datasets.readers import read_labels, read_outputs, read_posts
    from mojimeter.metrics import score_recommendations

    posts = read_posts(folder.table("posts"))
    outputs = read_outputs([folder.table("outputs")])
    labels = read_labels([folder.table("labels")])

    def scores(judge: LlmJudge | TextJudge) -> RecommendationScores:
        return score_recommendations(
            posts,
            outputs,
            labels,
            run.settings.equality,
            run.settings.draws,
            run.settings.bootstrap_seed,
            judge=judge.name,
            asked=run.n,
            append=run.settings.append,
            votes=str(judge.votes) if isinstance(judge, LlmJudge) else "1",
            prompt=f"{run.prompt.digest}+{judge.digest}",
        )

    document = with_judge_panel({judge.name: scores(judge) for judge in run.judges}, run.first_judge.name)
    return with_kin(document, [run.first_judge.name, *(j.name for j in run.judges if j.name != run.first_judge.name)])


def _calls(run: Run, ledger: CallLedger, budget: Budget) -> dict[str, Any]:
    made = sum(ledger.tally.made.values())
    unpriced = any(call.usd is None for call in ledger)
    return {
        "made": made,
        "saved": max(0, paper_calls(run) - len(ledger)),
        "known": len(ledger) - made,
        "made_by_purpose": dict(sorted(ledger.tally.made.items())),
        "usd": None if unpriced else round(budget.spent, 6),
    }


def _require_prices(run: Run, prices: Mapping[str, Price]) -> None:
    models = [r.name for r in run.recommenders if isinstance(r.system, LanguageSystem)]
    for model in (*models, *(judge.name for judge in run.asked_judges)):
        if price_of(model, prices) is None:
            raise InputError(f"--max-cost needs the price of {model}: give --prices FILE with [{model!r}] in it")


def _frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> pl.DataFrame:
    numbers: dict[str, Any] = {"epoch": pl.Int64, "tokens": pl.Int64, "seconds": pl.Float64, "votes": pl.Int64}
    return pl.DataFrame(rows, schema={column: numbers.get(column, pl.String) for column in columns})
