"""A study as it is handed to another tool: what is shown, what was asked, what came back, and the key kept apart.

Knows nothing of a tool's format and nothing of the database. The only place where a cell's name and its system stand
side by side is the key file, which is written beside the folder that is handed over, never into it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mojimeter.collect.exchange.json_files import read_json
from mojimeter.collect.study import Form
from mojimeter.errors import InputError


@dataclass(frozen=True)
class ShownCell:
    """One thing to be rated.

    Attributes:
        cell: its opaque name.
        item, system: what it is; kept out of everything but the key.
        fields: name -> plain text, as shown, in the order shown.
    """

    cell: str
    item: str
    system: str
    fields: Mapping[str, str]


@dataclass(frozen=True)
class GivenRating:
    """One rater's answer about one cell.

    Attributes:
        value: as the form has it: ``1`` to N, ``yes`` or ``no``, ``right`` or ``wrong``, or a text.
        duration_ms: milliseconds from showing to answering, where known.
        received_at: seconds since 1970, where known.
    """

    cell: str
    rater: str
    value: str
    duration_ms: int | None = None
    received_at: float | None = None


@dataclass(frozen=True)
class Survey:
    """Everything that another tool needs to put the question, and the ratings so far."""

    title: str
    form: Form
    question: str
    cells: Sequence[ShownCell]
    ratings: Sequence[GivenRating] = field(default=())
    points: int = 5
    low: str = ""
    high: str = ""
    instructions: str = ""

    def blinded(self) -> list[ShownCell]:
        """The cells in the order of their opaque names, which says nothing about item or system."""
        return sorted(self.cells, key=lambda shown: shown.cell)

    def scale_text(self) -> str:
        """``1 = very bad, 5 = very good``; empty where the ends have no labels."""
        ends = ((1, self.low), (self.points, self.high))
        return ", ".join(f"{point} = {label}" for point, label in ends if label)


def key_path(folder: Path) -> Path:
    """Where the key of a folder lies: beside it."""
    return folder.with_name(folder.name + ".key.json")


def write_key(folder: Path, cells: Sequence[ShownCell]) -> Path:
    """Write which cell is which item and system, readable by its owner only.

    Raises:
        InputError: the key is there already, or a cell's name comes twice.
    """
    path = key_path(folder)
    names = {shown.cell: [shown.item, shown.system] for shown in cells}
    if len(names) < len(cells):
        raise InputError("two cells of the study have one name; a key could not tell them apart")
    document = {
        "schema": 1,
        "keep_secret": "whoever has this file can tell which system wrote what; do not hand it to raters",
        "cells": names,
    }
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            json.dump(document, file, ensure_ascii=False)
    except FileExistsError:
        raise InputError(f"{path} is there already; it is the key of an earlier export, choose another --out") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None
    return path


def read_key(path: str | Path) -> dict[str, tuple[str, str]]:
    """Cell -> (item, system), from a key file.

    Raises:
        InputError: not a key that was written here.
    """
    document = read_json(Path(path))
    cells = document.get("cells") if isinstance(document, dict) else None
    if not isinstance(cells, dict):
        raise InputError(f"{path}: not a key that mojimeter wrote; expected an object with cells")
    key = {}
    for cell, pair in cells.items():
        if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, str) for part in pair)):
            raise InputError(f"{path}, cells[{cell!r}]: expected [item, system]")
        key[cell] = (pair[0], pair[1])
    return key


def new_folder(folder: Path) -> Path:
    """Make the folder that is handed over.

    Raises:
        InputError: it holds something already, or cannot be made.
    """
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError(f"{folder} is there already; nothing is overwritten, choose another --out")
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror}") from None
    return folder


def write_text(path: Path, text: str) -> Path:
    """Write a file of text, and say where it is.

    Raises:
        InputError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None
    return path
