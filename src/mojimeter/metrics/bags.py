"""Lists of things a row, laid out flat as numbers, and the sets that overlap metrics compare.

A column of lists of strings becomes two arrays, the row and the code of every item, so that a million posts
are compared by sorting integers rather than by a loop. Knows nothing of what the strings mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Bags:
    """Items of ``rows`` lists.

    Attributes:
        row: which list each item is in, ascending, shape (items,).
        code: what the item is, an index into ``names``, shape (items,).
        rows: number of lists, empty ones included.
        names: the strings behind the codes.
    """

    row: Integers
    code: Integers
    rows: int
    names: tuple[str, ...]

    def sizes(self) -> Integers:
        """Number of items of every list, shape (rows,)."""
        return np.bincount(self.row, minlength=self.rows)

    def as_sets(self) -> Bags:
        """The same lists with every item once."""
        keys = self.keys()
        return Bags(keys // self.width, keys % self.width, self.rows, self.names)

    @property
    def width(self) -> int:
        """Number of names, at least 1: what row numbers are multiplied by in ``keys``."""
        return max(1, len(self.names))

    def keys(self) -> Integers:
        """One number for each different item of each list, ascending, shape (different items,)."""
        keys = np.sort(self.row * self.width + self.code, kind="stable")  # rows ascend: nearly sorted already
        return keys[np.diff(keys, prepend=-1) > 0]

    def take(self, rows: Integers) -> Bags:
        """The lists at ``rows``, in that order; a list may be taken more than once."""
        sizes = self.sizes()
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]) if self.rows else np.empty(0, np.int64)
        taken = sizes[rows]
        new_row = np.repeat(np.arange(len(rows)), taken)
        within = np.arange(len(new_row)) - np.repeat(np.cumsum(taken) - taken, taken)
        return Bags(new_row, self.code[np.repeat(starts[rows], taken) + within], len(rows), self.names)


def as_bags(*columns: pl.Series) -> tuple[Bags, ...]:
    """Bags of columns of lists of strings that share one set of names; a null list is empty."""
    flat = [column.drop_nulls().list.explode().drop_nulls().cast(pl.String) for column in columns]
    names = pl.concat(flat).unique().sort()
    kind = pl.Enum(names)
    bags = []
    for column, items in zip(columns, flat, strict=True):
        sizes = column.list.len().fill_null(0).to_numpy().astype(np.int64)
        code = items.cast(kind).to_physical().to_numpy().astype(np.int64)
        bags.append(Bags(np.repeat(np.arange(len(column)), sizes), code, len(column), tuple(names)))
    return tuple(bags)


def renamed(bags: Sequence[Bags], rename: Callable[[str], str | None]) -> tuple[Bags, ...]:
    """Bags that share names, each item replaced by ``rename(item)``, which is asked once a name.

    Items renamed to None are left out.
    """
    new = [rename(name) for name in bags[0].names]
    names = tuple(sorted({name for name in new if name is not None}))
    index = {name: i for i, name in enumerate(names)}
    table = np.array([-1 if name is None else index[name] for name in new], dtype=np.int64)
    out = []
    for bag in bags:
        code = table[bag.code] if len(table) else bag.code
        kept = code >= 0
        out.append(Bags(bag.row[kept], code[kept], bag.rows, names))
    return tuple(out)
