"""What a reader of the report asked for, and small things that every kind of run needs: its document, its data card."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from mojimeter.errors import InputError
from mojimeter.report.page.shapes import check_shape
from mojimeter.report.page.sources import Source, read_json

T = TypeVar("T")
Say = Callable[[str, int, int], None]  # told (what is being done, done, total)


def silent(what: str, done: int, total: int) -> None:
    """Where nobody wants to be told."""


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """How a report is to be made.

    Attributes:
        title: of the page; None: made of the runs' names.
        texts: whether posts, replies, contexts and answers may be shown.
        max_items: so many items of a run at most; None: all.
        mapping: our column -> the column of a table of ratings.
    """

    title: str | None = None
    texts: bool = True
    max_items: int | None = None
    mapping: Mapping[str, str] = field(default_factory=dict)


def read_document(folder: Path, kind: str) -> dict[str, Any] | None:
    """The scores in a run folder; None where there are none yet.

    Raises:
        InputError: the file holds no JSON object, or not what a run of this kind writes.
    """
    file = folder / "scores.json"
    if not file.is_file():
        return None
    document = read_json(file)
    check_shape(document, kind, file)
    return document


def card_of(source: Source, data: object, shipped: str) -> str | None:
    """The data card: the one in the run folder, or the one that ships where the data do.

    Args:
        data: where the run had its data from.
        shipped: the name of the set that ships (``starter``, ``pairs``), which is its folder's too.
    """
    own = source.path / "card.md"
    if source.document is None and own.is_file():
        return own.read_text(encoding="utf-8", errors="replace")
    if isinstance(data, str) and data.partition(":")[0] == shipped:
        return (files("mojimeter.datasets") / shipped / "card.md").read_text(encoding="utf-8")
    return None


def setting(settings: Mapping[str, Any], name: str, default: T) -> T:
    """A setting of a run; the default where it is not there.

    Raises:
        InputError: it is of another kind than the default.
    """
    value = settings.get(name, default)
    if type(value) is not type(default):
        raise InputError(f"settings.toml: {name} is {value!r}; expected a value such as {default!r}")
    return value


def is_file(path: Path) -> bool:
    """Whether a table is there and holds a row."""
    return path.is_file() and path.stat().st_size > 0
