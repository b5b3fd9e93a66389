"""Judges by name, and what several of them say side by side.

A judge is either a model that is asked (``llm.LlmJudge``) or an object of ours that labels texts by itself
(``student/...``). A judge is a rater: the labels of several become one item x system x rater table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from mojimeter.errors import InputError
from mojimeter.judges.labels import LABELS
from mojimeter.judges.llm import LlmJudge

if TYPE_CHECKING:
    import polars as pl

STUDENT = "student/"
CLASSIFIER = "hf-classifier/"
DEFAULT_JUDGE = "student/starter"  # needs no key, no network and no model server
GOLD = "gold"


@runtime_checkable
class TextJudge(Protocol):
    """A judge that needs no calls.

    Attributes:
        name: as given on the command line.
        digest: a few characters that change when its labels could.
    """

    @property
    def name(self) -> str: ...

    @property
    def digest(self) -> str: ...

    def label(self, texts: Sequence[str]) -> Mapping[str, Sequence[str | None]]:
        """One column a task: the label of each text, None where there is none."""
        ...


def get_judge(name: str, *, votes: int = 3, together: bool = True) -> LlmJudge | TextJudge:
    """The judge of that name: ``student/...`` and ``hf-classifier/...`` are ours, anything else is an Inspect model.

    Raises:
        InputError: no such student or classifier, a name without a provider, or a baseline, which labels nothing.
        MissingExtraError: a classifier without its library.
    """
    if name.startswith(CLASSIFIER):
        classifier: TextJudge = import_module("mojimeter.judges.classifier").load_classifier(name)
        return classifier
    if name.startswith(STUDENT):
        judge: TextJudge = import_module("mojimeter.judges.student").load_student(name)
        return judge
    if "/" not in name or name.startswith("baseline/"):
        raise InputError(f"no judge {name!r}; expected {STUDENT}... or a model such as openai/gpt-4o-mini")
    return LlmJudge(name, votes, together)


def preservation_ratings(
    labels: pl.DataFrame, outputs: pl.DataFrame | None = None, tasks: Sequence[str] = tuple(LABELS)
) -> pl.DataFrame:
    """The item x system x judge table: how many of the labels each system's emoji kept, mean over attempts.

    Counts as the leaderboard does, so that means of systems are its averages (times the tasks, over 100) where a judge
    labels them all: a label that could not be parsed is not kept, nor is any of a reply that the judge left unlabelled;
    epochs that a judge never saw do not count; a system run with several strategies is one system for each.

    Args:
        labels: the canonical table of labels; the rows of ``gold`` are each judge's own labels of the originals.
        outputs: the canonical table of replies; None: every attempt has a label.
        tasks: whose labels count.

    Returns:
        Columns ``item``, ``system``, ``rater`` (the judge), ``attempts`` (how many the score is the mean of),
        ``score`` (0 to the number of tasks), one row each, ready for ``ratings.Study``; an item appears for a judge
        only where that judge labelled the original.
    """
    import polars as pl

    from mojimeter.datasets.records import labels_of_strategy

    gold = labels.filter(pl.col("system") == GOLD).sort("epoch", maintain_order=True)
    gold = gold.unique(["id", "judge"], keep="first", maintain_order=True)
    gold = gold.select("id", "judge", pl.lit(True).alias("has_gold"), *(pl.col(t).alias(f"{t}_gold") for t in tasks))
    kept = pl.sum_horizontal([(pl.col(t) == pl.col(f"{t}_gold")).fill_null(False).cast(pl.Int64) for t in tasks])
    rated = labels.filter(pl.col("system") != GOLD).join(gold, on=["id", "judge"], how="left", maintain_order="left")
    rated = rated.select("id", "system", "strategy", "judge", "epoch", "has_gold", kept.alias("score"))
    empty = rated.clear().select("id", "system", "strategy", "epoch")
    replies = empty if outputs is None else outputs.select(empty.columns).cast(empty.schema)
    parts = [
        _of_one_run(name, labels_of_strategy(own, strategy), given, gold)
        for name, system, strategy, given in _runs(rated, replies)
        for own in rated.filter(pl.col("system") == system).partition_by("judge", maintain_order=True)
    ]
    columns = {"item": pl.String, "system": pl.String, "rater": pl.String, "attempts": pl.Int64, "score": pl.Float64}
    return pl.concat(parts) if parts else pl.DataFrame(schema=columns)


def _runs(rated: pl.DataFrame, replies: pl.DataFrame) -> Iterator[tuple[str, str, str | None, pl.DataFrame]]:
    """Name in the leaderboard, system, strategy and replies of every run; without replies, as the labels name them."""
    import polars as pl

    alone = ~pl.col("system").is_in(replies["system"].unique().to_list())
    named = pl.concat([frame.select("system", "strategy") for frame in (replies, rated.filter(alone))])
    runs = named.unique(maintain_order=True).rows()
    systems = [system for system, _ in runs]
    for system, strategy in runs:
        name = f"{system} ({strategy or 'no strategy'})" if systems.count(system) > 1 else system
        own = (pl.col("system") == system) & pl.col("strategy").eq_missing(pl.lit(strategy, pl.String))
        yield name, system, strategy, replies.filter(own)


def _of_one_run(name: str, rated: pl.DataFrame, replies: pl.DataFrame, gold: pl.DataFrame) -> pl.DataFrame:
    """One judge's ratings of one system, one row an item."""
    import polars as pl

    judge = rated["judge"].first()
    attempts = rated.filter("has_gold")
    if replies.height:
        shown = replies.filter(pl.col("epoch").is_in(rated["epoch"].unique().to_list()))
        counted = shown.join(gold.filter(pl.col("judge") == judge), on="id", how="semi", maintain_order="left")
        scores = rated.select("id", "epoch", "score")
        attempts = counted.join(scores, on=["id", "epoch"], how="left", maintain_order="left")
    found = attempts.group_by("id", maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("attempts"), pl.col("score").fill_null(0).cast(pl.Float64).mean()
    )
    return found.select(
        pl.col("id").alias("item"),
        pl.lit(name).alias("system"),
        pl.lit(judge, pl.String).alias("rater"),
        "attempts",
        "score",
    )
