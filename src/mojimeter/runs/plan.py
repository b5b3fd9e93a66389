"""What a run will ask and cost, before anything is asked (``--dry-run``), and what the paper's design would take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mojimeter.datasets.records import TASKS
from mojimeter.judges.llm import Labels, LlmJudge, replay
from mojimeter.models.calls import CallLedger, Request
from mojimeter.models.prices import Price, expected_tokens, price_of
from mojimeter.runs.folder import CALLS
from mojimeter.runs.settings import RecommendSettings, Run
from mojimeter.runs.tables import Tables, tabulate
from mojimeter.systems.append import with_recommendation
from mojimeter.systems.language import LanguageSystem

if TYPE_CHECKING:
    from mojimeter.tasks.recommender import Recommender

PAPER_CALLS_PER_TEXT = 15  # five tasks, three votes
# Tokens a reply takes, for the estimate before anything is spent; what is billed is what the provider counts.
EXPECTED_REPLY_TOKENS = {"recommend": 12, "judge together": 30, "judge apart": 3}


def plan_recommend(settings: RecommendSettings, out: str | Path, prices: Mapping[str, Price]) -> dict[str, Any]:
    """The document of ``--dry-run`` for settings and a run folder, which need not exist; writes nothing."""
    calls = Path(out) / CALLS
    return plan(Run(settings), CallLedger(calls, read_only=True) if calls.exists() else CallLedger(), prices)


def plan(run: Run, ledger: CallLedger, prices: Mapping[str, Price]) -> dict[str, Any]:
    """The document of ``--dry-run``: calls still to be made and, where prices are known, money. Asks nobody.

    The votes that a judge will need, and which recommendations will be equal, cannot be known before: judges'
    calls and money are given as the fewest and the most.
    """
    tables = tabulate(run, ledger)
    systems = dict.fromkeys((r.name for r in run.recommenders if isinstance(r.system, LanguageSystem)), 0)
    judges = {judge.name: [0, 0] for judge in run.asked_judges}
    money = _Money(prices)
    for who in run.recommenders:
        for post, epoch in _items(run, who):
            if isinstance(who.system, LanguageSystem):
                profile = run.profile_labels(who, post, ledger)
                request = who.system.request({**post, **(profile if isinstance(profile, dict) else {})}, epoch)
                if ledger.get(request.key) is None:
                    systems[who.name] += 1
                    money.add(request, 1, 1, "recommend")
    for judge in run.asked_judges:
        for text, certain in _texts_to_judge(run, tables):
            least, most = _votes_left(judge, text, ledger)
            judges[judge.name][0] += least if certain else 0
            judges[judge.name][1] += most
            kind = "judge together" if judge.together else "judge apart"
            money.add(
                judge.request(TASKS if judge.together else TASKS[:1], text, 0), least if certain else 0, most, kind
            )
    paper = paper_calls(run)
    return {
        "schema": 1,
        "dry_run": True,
        "posts": len(run.posts),
        "systems": [r.name for r in run.recommenders],
        "judges": [j.name for j in run.judges],
        "calls": {
            "made": 0,
            "recommend": systems,
            "judge": {name: {"least": low, "most": high} for name, (low, high) in judges.items()},
            "least": sum(systems.values()) + sum(low for low, _ in judges.values()),
            "most": sum(systems.values()) + sum(high for _, high in judges.values()),
            "known": len(ledger),
            "paper": paper,
        },
        "usd": money.to_dict(),
    }


def paper_calls(run: Run) -> int:
    """Calls of the paper's design: the reply, and 30 a post and system (five tasks, three votes, two texts)."""
    outputs = sum(len(run.epochs_of(who)) * len(run.posts_of(who)) for who in run.recommenders)
    replies = sum(
        len(run.epochs_of(who)) * len(run.posts_of(who))
        for who in run.recommenders
        if isinstance(who.system, LanguageSystem)
    )
    return replies + 2 * PAPER_CALLS_PER_TEXT * outputs * len(run.asked_judges)


def _items(run: Run, who: Recommender) -> Iterator[tuple[dict[str, Any], int]]:
    return ((post, epoch) for epoch in run.epochs_of(who) for post in run.posts_of(who))


def _texts_to_judge(run: Run, tables: Tables) -> list[tuple[str, bool]]:
    """Distinct texts a judge will read, and whether that is certain.

    A recommendation still to be made may turn out to be none, or equal to another system's: then its text needs no
    label of its own.
    """
    certain = dict.fromkeys((post["original"] for post in run.posts), True)
    text_of = {post["id"]: post["text"] for post in run.posts}
    pending: list[tuple[str, bool]] = []
    for row in tables.outputs:
        if row["reply"] is None:
            # a stand-in of the right length, different for each, so that it is counted on its own
            pending.append((f"{text_of[row['id']]} 🎉🎂🥳 {row['system']} {row['epoch']}", False))
        else:
            certain[with_recommendation(text_of[row["id"]], row["reply"], run.settings.append)] = True
    return [*certain.items(), *pending]


def _votes_left(judge: LlmJudge, text: str, ledger: CallLedger) -> tuple[int, int]:
    left = replay(judge, text, lambda r: ledger.get(r.key))
    if isinstance(left, Labels):
        return 0, 0
    least, most = judge.calls_for(1)
    return (least, most) if left.turn == 0 else (1, most)


class _Money:
    """The least and the most a plan can cost; once one price is missing, only that is said."""

    def __init__(self, prices: Mapping[str, Price]) -> None:
        self._prices = prices
        self._least = self._most = 0.0
        self._unknown: dict[str, None] = {}

    def add(self, request: Request, least: int, most: int, kind: str) -> None:
        price = price_of(request.model, self._prices)
        if price is None:
            self._unknown[request.model] = None
            return
        one = price.of(expected_tokens(request), EXPECTED_REPLY_TOKENS[kind])
        self._least += least * one
        self._most += most * one

    def to_dict(self) -> dict[str, Any]:
        if self._unknown:
            return {"value": None, "reason": f"no price for {', '.join(self._unknown)}; give --prices FILE"}
        return {"least": round(self._least, 6), "most": round(self._most, 6)}
