"""What annotation tools give back, in one shape, and that shape as the long table that ``ratings study`` reads.

Knows tasks, annotators, questions and answers; not the formats they came in (a module each) nor what is done with
the ratings. Nothing is dropped unseen: what gave no rating is counted by the reason why.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from mojimeter.errors import InputError

_RESERVED = ("item", "system", "rater", "duration_ms")
WORDS = {"yes": "1", "no": "0", "right": "1", "wrong": "0", "true": "1", "false": "0"}
_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")


@dataclass(frozen=True)
class Task:
    """One thing that was shown: the tool's name for it and the fields of its data."""

    name: str
    fields: Mapping[str, str | None]


@dataclass(frozen=True)
class Answer:
    """One annotator's answer to one question about one task, as text."""

    task: str
    rater: str
    question: str
    value: str
    duration_ms: int | None = None
    received_at: float | None = None


@dataclass(frozen=True)
class Annotated:
    """A file of tasks, with or without answers.

    Attributes:
        where: the file, for messages.
        tasks, answers: in the order of the file.
        skipped: annotations that their annotator skipped or cancelled.
        empty: annotations without any answer that can be read.
        repeated: earlier answers of an annotator to a question about a task, which a later one replaces.
        unread: kinds of annotation that are no rating (spans, boxes, drafts, predictions): kind -> how many.
    """

    where: str
    tasks: Sequence[Task]
    answers: Sequence[Answer]
    skipped: int = 0
    empty: int = 0
    repeated: int = 0
    unread: Mapping[str, int] = field(default_factory=dict)

    def table(self) -> pl.DataFrame:
        """The tasks as a table of text: ``id`` (the data's own where it has one) and a column a field."""
        names = list(dict.fromkeys(name for task in self.tasks for name in task.fields))
        columns = {name: [task.fields.get(name) for task in self.tasks] for name in names}
        own = columns.pop("id", [None] * len(self.tasks))
        ids = [task.name if own_id is None else own_id for task, own_id in zip(self.tasks, own, strict=True)]
        return pl.DataFrame({"id": ids, **columns}, schema=dict.fromkeys(["id", *columns], pl.String))

    @property
    def questions(self) -> list[str]:
        """What was asked, in the order of the file."""
        return list(dict.fromkeys(answer.question for answer in self.answers))


@dataclass(frozen=True)
class Imported:
    """Ratings read from another tool, and what was left out.

    Attributes:
        ratings: item, system (where known), rater, ``score`` or one column a question, ``duration_ms``, and the other
            fields of the task's data.
        words: answers of the scored question that are no number: answer -> how often.
        without_score: pairs of annotator and task with answers to other questions only; not in the table.
        renamed: annotators whose names were e-mail addresses.
    """

    ratings: pl.DataFrame
    source: Annotated
    words: Mapping[str, int]
    without_score: int = 0
    renamed: int = 0

    def to_dict(self) -> dict[str, Any]:
        ratings = self.ratings
        return {
            "ratings": ratings.height,
            "items": ratings["item"].n_unique(),
            "systems": ratings["system"].n_unique() if "system" in ratings.columns else None,
            "raters": ratings["rater"].n_unique(),
            "questions": self.source.questions,
            "tasks": len(self.source.tasks),
            "tasks_without_rating": len(self.source.tasks) - len({answer.task for answer in self.source.answers}),
            "skipped": self.source.skipped,
            "empty": self.source.empty,
            "repeated": self.source.repeated,
            "unread": dict(self.source.unread),
            "without_score": self.without_score,
            "renamed_raters": self.renamed,
            "not_numbers": dict(self.words),
        }


def keep_last(answers: Sequence[Answer]) -> tuple[list[Answer], int]:
    """One answer an annotator, question and task: the latest (the later in the file where times are not known).

    Returns:
        the answers, in the order in which each was first given, and how many were replaced.
    """
    kept: dict[tuple[str, str, str], Answer] = {}
    for answer in answers:
        name = (answer.task, answer.rater, answer.question)
        before = kept.get(name)
        if before is None or (before.received_at or 0.0) <= (answer.received_at or 0.0):
            kept[name] = answer
    return list(kept.values()), len(answers) - len(kept)


def as_ratings(
    source: Annotated,
    *,
    key: Mapping[str, tuple[str, str]] | None = None,
    mapping: Mapping[str, str] | None = None,
    score: str | None = None,
    values: Mapping[str, str] | None = None,
) -> Imported:
    """The long table of ratings: one row for every rater and task that has an answer.

    The item is the data's field ``item``, else its ``id``, else the tool's name of the task; the system is the field
    ``system``, and without one there is no such column. With a key both are those of the cell, which is the field
    ``cell`` or else the task's name. An annotator whose name is an e-mail address becomes ``rater_1``, ``rater_2``, ...

    Args:
        key: cell -> (item, system), of an export that was blinded.
        mapping: our column -> the data's field (``--map item=doc_id``).
        score: the question whose answers are the score; with a single question it needs no name.
        values: words of the scored question -> numbers. ``yes``, ``right`` and ``true`` are 1, ``no``, ``wrong`` and
            ``false`` 0 unless said otherwise, where that makes all answers numbers: a free text that says "no" stays.

    Raises:
        InputError: no answers, an unknown question or field, a cell that is not in the key.
    """
    if not source.answers:
        raise InputError(f"{source.where}: no answers in it{_left_out(source)}")
    scored = _scored(source, score)
    fields = {task.name: _placed(task, key, mapping or {}, source.where) for task in source.tasks}
    numbers = _words(source, scored, values or {})
    columns = {question: _column(question, scored) for question in source.questions}
    names, renamed = _names(source.answers)
    rows: dict[tuple[str, str], dict[str, str | None]] = {}
    words: Counter[str] = Counter()
    for answer in source.answers:
        row = rows.setdefault((answer.task, answer.rater), {"rater": names[answer.rater]})
        if answer.duration_ms is not None:
            row["duration_ms"] = str(answer.duration_ms)
        if answer.question == scored:
            row["score"] = value = _number(answer.value, numbers)
            if not _NUMBER.fullmatch(value):
                words[answer.value] += 1
        else:
            row[columns[answer.question]] = answer.value
    kept = {place: row for place, row in rows.items() if scored is None or "score" in row}
    frame = _frame(kept, fields, list(columns.values()), source.where)
    return Imported(frame, source, dict(words.most_common()), len(rows) - len(kept), renamed)


def _column(question: str, scored: str | None) -> str:
    """Where the answers to a question go; one that is called like a column of ours stands beside it."""
    if question == scored:
        return "score"
    return f"{question}_answer" if question in _RESERVED or (question == "score" and scored) else question


def _names(answers: Sequence[Answer]) -> tuple[dict[str, str], int]:
    """Annotator -> name in the table; nobody's address is needed to count ratings."""
    raters = list(dict.fromkeys(answer.rater for answer in answers))
    names, taken = {}, set(raters)
    addresses = [rater for rater in raters if "@" in rater]
    free = (f"rater_{k}" for k in range(1, 2 * len(raters) + 1) if f"rater_{k}" not in taken)
    new = dict(zip(addresses, free, strict=False))
    for rater in raters:
        names[rater] = new.get(rater, rater)
    return names, len(addresses)


def _left_out(source: Annotated) -> str:
    counts = {"skipped": source.skipped, "empty": source.empty, **source.unread}
    said = ", ".join(f"{n} {name}" for name, n in counts.items() if n)
    return f" that can be read ({said})" if said else ""


def _scored(source: Annotated, score: str | None) -> str | None:
    """Which question gives the score; None where several are kept side by side."""
    questions = source.questions
    if score is not None and score not in questions:
        raise InputError(f"{source.where}: no question {score!r}; it has {', '.join(map(repr, questions))}")
    return score or (questions[0] if len(questions) == 1 else None)


def _words(source: Annotated, scored: str | None, values: Mapping[str, str]) -> Mapping[str, str]:
    """What words of the scored question stand for."""
    numbers = WORDS | dict(values)
    given = {answer.value for answer in source.answers if answer.question == scored}
    return numbers if all(_NUMBER.fullmatch(_number(value, numbers)) for value in given) else values


def _placed(
    task: Task, key: Mapping[str, tuple[str, str]] | None, mapping: Mapping[str, str], where: str
) -> dict[str, str | None]:
    """The task's fields with item and system in front."""
    fields = dict(task.fields)
    for ours, theirs in mapping.items():
        if theirs not in fields:
            raise InputError(f"{where}: task {task.name!r} has no field {theirs!r} (mapped to {ours!r})")
        fields[ours] = fields.pop(theirs)
    cell = fields.get("cell")
    if key is not None:
        cell = cell or task.name
        if cell not in key:
            raise InputError(f"{where}: the key has no cell {cell!r} (task {task.name!r}); is it another export's?")
        item, system = key[cell]
        return {"item": item, "system": system, **{n: v for n, v in fields.items() if n not in ("item", "system")}}
    if cell is not None and "item" not in fields:
        raise InputError(
            f"{where}: its tasks name cells, not items and systems; give the key that was written beside it (--key)"
        )
    own = fields.pop("item", None) or fields.pop("id", None) or task.name
    return {"item": own, **({"system": fields.pop("system")} if "system" in fields else {}), **fields}


def _frame(
    rows: Mapping[tuple[str, str], Mapping[str, str | None]],
    fields: Mapping[str, Mapping[str, str | None]],
    questions: Sequence[str],
    where: str,
) -> pl.DataFrame:
    carried = list(dict.fromkeys(name for own in fields.values() for name in own))
    if "system" in carried:
        empty = next((task for task, _ in rows if not fields[task].get("system")), None)
        if empty is not None:
            raise InputError(f"{where}: task {empty!r} has no system, and others have")
    answered = ["rater", *questions, "duration_ms"]
    for name in answered:
        if name in carried:
            raise InputError(f"{where}: {name!r} is a field of the tasks and a column of the answers; map the field")
    front = [name for name in ("item", "system") if name in carried]
    rest = [name for name in carried if name not in front]
    merged = [{**fields[task], **answers} for (task, _), answers in rows.items()]
    frame = pl.DataFrame(
        {name: [row.get(name) for row in merged] for name in (*front, *answered, *rest)},
        schema=dict.fromkeys((*front, *answered, *rest), pl.String),
    ).with_columns(pl.col("duration_ms").cast(pl.Int64))
    return _as_number(frame, "score") if "score" in questions else frame


def _as_number(frame: pl.DataFrame, column: str) -> pl.DataFrame:
    """The column as numbers where all of it is; text stays text, and is said to be."""
    numbers = frame[column].cast(pl.Float64, strict=False)
    if numbers.null_count() > frame[column].null_count() or numbers.is_infinite().any():
        return frame
    if ((numbers.drop_nulls() == numbers.drop_nulls().round()) & (numbers.drop_nulls().abs() < 2**53)).all():
        return frame.with_columns(numbers.cast(pl.Int64).alias(column))
    return frame.with_columns(numbers.alias(column))


def _number(value: str, numbers: Mapping[str, str]) -> str:
    """The number that a word stands for; a word that stands for none stays."""
    text = value.strip()
    return numbers.get(value, numbers.get(text.lower(), text if _NUMBER.fullmatch(text) else value))
