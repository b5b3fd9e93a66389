"""Judges by name, and what several of them say side by side.

A judge is either a model that is asked (``llm.LlmJudge``) or an object of ours that labels texts by itself
(``student/...``). A judge is a rater: the labels of several become one item x system x rater table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


def preservation_ratings(labels: pl.DataFrame) -> pl.DataFrame:
    """The item x system x judge table: how many of the five labels each system's emoji kept.

    Args:
        labels: the canonical table of labels; the rows of ``gold`` are each judge's own labels of the originals.

    Returns:
        Columns ``item``, ``system``, ``rater`` (the judge), ``epoch``, ``score`` (0 to 5), ready for
        ``ratings.Study``; an item appears for a judge only where that judge labelled the original. A label that
        could not be parsed is not kept.
    """
    import polars as pl

    tasks = list(LABELS)
    gold = labels.filter(pl.col("system") == GOLD).select("id", "judge", *(pl.col(t).alias(f"{t}_gold") for t in tasks))
    rated = labels.filter(pl.col("system") != GOLD).join(gold, on=["id", "judge"], how="inner")
    score = pl.sum_horizontal([(pl.col(t) == pl.col(f"{t}_gold")).fill_null(False).cast(pl.Int64) for t in tasks])
    return rated.select(
        pl.col("id").alias("item"), "system", pl.col("judge").alias("rater"), "epoch", score.alias("score")
    )
