"""The votes behind a judge's labels, where they were not unanimous: asked of the ledger of calls, never of a model.

A label of three votes is settled by two equal ones, so most posts took the fewest votes there can be and each of their
labels is unanimous; only the others are looked up. Knows judges and ledgers; nothing of the page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import polars as pl

from mojimeter.errors import InputError
from mojimeter.judges.llm import Labels, LlmJudge, replay
from mojimeter.judges.panel import CLASSIFIER, STUDENT, get_judge
from mojimeter.models.calls import CallLedger
from mojimeter.report.page.options import setting

#: (system, post) -> the text that was judged; None where it is not known.
TextOf = Callable[[str, str], "str | None"]


def voting_judge(name: str, settings: Mapping[str, Any]) -> LlmJudge | None:
    """The judge of that name in a run with these settings (``votes``, ``together``); None where it does not vote."""
    if name.startswith((STUDENT, CLASSIFIER)) or "votes" not in settings:
        return None
    try:
        found = get_judge(name, votes=setting(settings, "votes", 3), together=setting(settings, "together", True))
    except InputError:  # a name in a file that no provider has
        return None
    return found if isinstance(found, LlmJudge) and found.votes > 1 else None


def split_votes(
    judge: LlmJudge,
    rows: Iterable[tuple[str, pl.DataFrame]],
    text_of: TextOf,
    row_of: Mapping[str, int],
    ledger: CallLedger | None,
) -> dict[str, Any]:
    """What a judge's votes were where they differed.

    Args:
        judge: who voted.
        rows: system and its labels, one row a post with ``votes`` and ``ties``.
        text_of: what was judged.
        row_of: post -> item.
        ledger: of the run's calls; None where there is none.

    Returns:
        ``most`` votes and ``unanimous``, the fewest, at which all labels of an item are unanimous; ``split``: system
        -> item -> ``votes``, ``ties`` (tasks without a majority) and, where the ledger has them, ``cast`` (task ->
        votes in order, null for one that could not be read).
    """
    fewest = judge.votes // 2 + 1
    split: dict[str, Any] = {}
    for system, own in rows:
        columns = own.select("id", pl.col("votes").cast(pl.Int64, strict=False), pl.col("ties").cast(pl.String))
        for post, votes, tied in columns.iter_rows():
            if post not in row_of or votes is None or votes <= fewest:
                continue
            found: dict[str, Any] = {"votes": votes, "ties": tied.split(",") if tied else []}
            cast = _cast(judge, text_of(system, post), ledger)
            split.setdefault(system, {})[str(row_of[post])] = found | ({"cast": cast} if cast else {})
    return {"most": judge.votes, "unanimous": fewest, "split": split}


def _cast(judge: LlmJudge, text: str | None, ledger: CallLedger | None) -> dict[str, list[str | None]] | None:
    if text is None or ledger is None:
        return None
    found = replay(judge, text, lambda request: ledger.get(request.key))
    return {task: list(votes) for task, votes in found.votes_cast.items()} if isinstance(found, Labels) else None
