"""The starter posts that ship with the project: where a name like ``starter:test`` leads, and their labels.

How they were made is in ``starter/card.md``. Must not know models or judges.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, Final

import polars as pl

from mojimeter.datasets.records import GOLD, TASKS, as_labels
from mojimeter.errors import InputError

NAME: Final = "starter"
PARTS: Final = ("train", "dev", "test")
#: Who labelled: the majority of a post's writer and two readers.
READERS: Final = "readers"


def is_starter(source: str) -> bool:
    """Whether a source of posts is the starter set or a part of it."""
    return source == NAME or source.startswith(f"{NAME}:")


def read_starter(source: str = NAME) -> pl.DataFrame:
    """The starter posts as they ship: all of them, or a part as in ``starter:test``; the card tells the columns.

    The judge that ships was fitted on ``train`` and chosen on ``dev``: its scores mean something on ``test`` only.

    Raises:
        InputError: no such part.
    """
    name, _, part = source.partition(":")
    if name != NAME or (part and part not in PARTS) or source.endswith(":"):
        raise InputError(f"no starter posts {source!r}; expected {NAME}, {', '.join(f'{NAME}:{p}' for p in PARTS)}")
    frame = pl.read_ndjson((files("mojimeter.datasets") / "starter" / "posts.jsonl").read_bytes())
    return frame.filter(pl.col("part") == part) if part else frame


def starter_labels(source: str = NAME) -> pl.DataFrame:
    """The labels of the starter posts as the canonical table of labels (system ``gold``, judge ``readers``).

    Raises:
        InputError: no such part.
    """
    frame = read_starter(source).select("id", *TASKS)
    return as_labels(frame, source, system=GOLD, judge=READERS)


def starter_facts() -> dict[str, Any]:
    """What the data card counts: licence, languages, parts, labels, agreement of writers and readers."""
    facts: dict[str, Any] = json.loads((files("mojimeter.datasets") / "starter" / "metadata.json").read_bytes())
    return facts
