"""The tables of a run, made from its settings and the ledger of calls alone.

"What would be asked next?" is asked of every post, system and judge; where the ledger has all the answers there is a
row, where it has not the item is missing. Makes no call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mojimeter.datasets.records import GOLD, TASKS
from mojimeter.judges.llm import Labels, replay
from mojimeter.models.calls import CallLedger, Request, well_formed
from mojimeter.runs.settings import Run, once
from mojimeter.systems.append import with_recommendation
from mojimeter.systems.language import LanguageSystem

if TYPE_CHECKING:
    from mojimeter.tasks.recommender import Recommender


@dataclass
class Tables:
    """What the ledger knows of a run.

    Attributes:
        outputs, labels: rows of the canonical tables, of what is known.
        missing: (system, id, epoch) without a reply or without a label of a judge that is asked.
        pending: recommenders with something missing.
        items: how many (system, id, epoch) there are.
        ties: how often a judge's votes gave no majority, by task.
    """

    outputs: list[dict[str, Any]] = field(default_factory=list)
    labels: list[dict[str, Any]] = field(default_factory=list)
    missing: list[tuple[str, str, int]] = field(default_factory=list)
    pending: list[Recommender] = field(default_factory=list)
    items: int = 0
    ties: dict[str, int] = field(default_factory=dict)


def tabulate(run: Run, ledger: CallLedger, reasons: Mapping[tuple[str, str, int], str] | None = None) -> Tables:
    """The tables that settings and ledger determine; asks nobody.

    Args:
        run: the settings made concrete.
        ledger: finished calls.
        reasons: why an item has no reply, for the column ``error``.
    """
    tables = Tables()

    def find(request: Request) -> Any:
        return ledger.get(request.key)

    unlabelled: set[str] = set()  # posts whose original lacks a label
    for judge in run.asked_judges:
        for post in run.posts:
            labels = replay(judge, post["original"], find)
            if isinstance(labels, Request):
                unlabelled.add(post["id"])
            else:
                _add_labels(tables, labels, post["id"], GOLD, judge.name, None, 1)
    for who in run.recommenders:
        asked = isinstance(who.system, LanguageSystem)
        strategy = run.settings.strategy if asked else None
        known_before = len(tables.missing)
        for epoch in run.epochs_of(who):
            for post in run.posts_of(who):
                tables.items += 1
                item = (who.name, post["id"], epoch)
                row, reply = _output_row(run, who, post, epoch, ledger)
                row |= {"id": post["id"], "system": who.name, "strategy": strategy, "epoch": epoch}
                row["profile"] = run.profile if strategy == "conditional" else None
                whole = reply is not None and post["id"] not in unlabelled
                if reply is None:
                    row["error"] = (reasons or {}).get(item, "not asked yet")
                else:
                    text = with_recommendation(post["text"], reply, run.settings.append)
                    for judge in run.asked_judges:
                        labels = replay(judge, text, find)
                        if isinstance(labels, Request):
                            whole = False
                        else:
                            _add_labels(tables, labels, post["id"], who.name, judge.name, strategy, epoch)
                tables.outputs.append(row)
                if not whole:
                    tables.missing.append(item)
        if len(tables.missing) > known_before:
            tables.pending.append(who)
    return tables


def label_with_own_judges(run: Run, tables: Tables) -> None:
    """Add the labels of the judges that need no calls; each distinct text is labelled once."""
    if not run.own_judges:
        return
    text_of = {post["id"]: post["text"] for post in run.posts}
    wanted: list[tuple[str, str, str | None, int, str]] = [
        (post["id"], GOLD, None, 1, post["original"]) for post in run.posts
    ]
    wanted += [
        (
            row["id"],
            row["system"],
            row["strategy"],
            row["epoch"],
            with_recommendation(text_of[row["id"]], row["reply"], run.settings.append),
        )
        for row in tables.outputs
        if row["reply"] is not None
    ]
    texts = once(text for *_, text in wanted)
    for judge in run.own_judges:
        columns = judge.label(texts)
        index = {text: i for i, text in enumerate(texts)}
        for post_id, system, strategy, epoch, text in wanted:
            labels = Labels({task: columns[task][index[text]] for task in TASKS})
            _add_labels(tables, labels, post_id, system, judge.name, strategy, epoch)


def _output_row(
    run: Run, who: Recommender, post: Mapping[str, Any], epoch: int, ledger: CallLedger
) -> tuple[dict[str, Any], str | None]:
    empty: dict[str, Any] = {"reply": None, "tokens": None, "seconds": None, "error": None}
    if not isinstance(who.system, LanguageSystem):
        reply = who.fixed_reply(post) or ""
        return {**empty, "reply": reply}, reply
    profile = run.profile_labels(who, post, ledger)
    if isinstance(profile, Request):
        return empty, None
    call = ledger.get(who.system.request({**post, **profile}, epoch).key)
    if call is None:
        return empty, None
    reply = well_formed(call.reply)
    return {"reply": reply, "tokens": call.output_tokens, "seconds": call.seconds, "error": None}, reply


def _add_labels(
    tables: Tables, labels: Labels, post_id: str, system: str, judge: str, strategy: str | None, epoch: int
) -> None:
    for task in labels.ties:
        tables.ties[task] = tables.ties.get(task, 0) + 1
    tables.labels.append(
        {
            "id": post_id,
            "system": system,
            "judge": judge,
            "strategy": strategy,
            "epoch": epoch,
            **labels.values,
            "votes": labels.votes,
            "ties": ",".join(labels.ties) or None,
        }
    )
