"""What is to be rated, whatever it was read from: items, cells and what was left out.

Plain data between the sources, which read it, and ``make``, which stores it. Knows no file and no database.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from mojimeter.collect.study import Form

Kind = Literal["main", "training", "attention"]


@dataclass(frozen=True)
class Item:
    """What systems are compared on.

    Attributes:
        id: the source's name; unique.
        group: items of one group are not shown one after the other; by default the item itself.
        condition: which context of a pair, or empty.
        strata: values by which a sample can be stratified.
    """

    id: str
    group: str
    lang: str | None = None
    condition: str = ""
    strata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Cell:
    """One thing to be rated.

    Attributes:
        item: id of its item; None for training and attention.
        system: who made it; empty for training and attention.
        fields: texts by the names of ``payloads.FIELDS``.
        expected, feedback: of training and attention items.
    """

    item: str | None
    system: str
    fields: Mapping[str, str]
    kind: Kind = "main"
    lang: str | None = None
    expected: str | None = None
    feedback: str | None = None


@dataclass(frozen=True)
class Material:
    """Everything that a study is made of.

    Attributes:
        origin: what was read, in a few words, for the data dictionary.
        left_out: reason -> number of outputs that cannot be rated.
    """

    form: Form
    items: tuple[Item, ...]
    cells: tuple[Cell, ...]
    origin: str
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems, in the order of the source."""
        return tuple(dict.fromkeys(c.system for c in self.cells if c.kind == "main"))
