"""A pilot sample from a larger file of items: stratified, proportional, reproducible.

Knows a data frame and a column to stratify by; nothing of what the items are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from mojimeter.errors import InputError

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class PilotSample:
    """The items drawn.

    Attributes:
        frame: the rows drawn, in the order of the file, all columns.
        strata: stratum -> (items in the file, items drawn).
        seed: what drew them.
    """

    frame: pl.DataFrame
    strata: Mapping[str, tuple[int, int]]
    seed: int

    def to_dict(self) -> dict[str, Any]:
        strata = {name: {"items": n, "drawn": k} for name, (n, k) in self.strata.items()}
        return {"drawn": self.frame.height, "seed": self.seed, "strata": strata}


def draw_pilot(frame: pl.DataFrame, by: Sequence[str], n: int, *, seed: int = 1) -> PilotSample:
    """Draw n rows so that every stratum has its share, by largest remainders, and at least one where n allows.

    Args:
        frame: one row an item.
        by: columns whose combinations are the strata; none: one stratum. An empty cell is a stratum of its own.
        n: rows to draw, at most as many as there are.
        seed: of the draw.

    Raises:
        InputError: an unknown column, or n out of range.
    """
    for column in by:
        if column not in frame.columns:
            raise InputError(f"no column {column!r} to stratify by; the items have {', '.join(frame.columns)}")
    if not 1 <= n <= frame.height:
        raise InputError(f"cannot draw {n} of {frame.height} items; expected 1 to {frame.height}")
    keys = [" / ".join("(empty)" if v is None else str(v) for v in row) for row in frame.select(by).iter_rows()]
    names, codes = np.unique(np.array(keys if by else ["all"] * frame.height), return_inverse=True)
    sizes = np.bincount(codes)
    wanted = allocate(sizes, n)
    rng = np.random.default_rng(seed)
    rows: list[int] = []
    for stratum, k in enumerate(wanted):
        rows.extend(rng.choice(np.flatnonzero(codes == stratum), size=int(k), replace=False).tolist())
    strata = {str(name): (int(size), int(k)) for name, size, k in zip(names, sizes, wanted, strict=True)}
    return PilotSample(frame[sorted(rows)], strata, seed)


def allocate(sizes: Ints, n: int) -> Ints:
    """Proportional shares of n in whole numbers, by largest remainders; at least one each where n is large enough.

    Args:
        sizes: stratum sizes, all positive, with a sum of at least n.
    """
    least = 1 if n >= sizes.size else 0
    ideal = n * sizes / sizes.sum()
    given: Ints = np.minimum(np.maximum(np.floor(ideal).astype(np.int64), least), sizes)
    while given.sum() != n:
        # who is furthest below (above) the ideal share gains (loses) one; ties go to the earlier stratum
        gap = ideal - given
        if given.sum() < n:
            given[int(np.argmax(np.where(given < sizes, gap, -np.inf)))] += 1
        else:
            given[int(np.argmin(np.where(given > least, gap, np.inf)))] -= 1
    return given


def draw_pilot_file(path: str, by: Sequence[str], n: int, out: str | None, *, seed: int = 1) -> PilotSample:
    """`draw_pilot` from a file to a CSV file.

    Raises:
        InputError: the file cannot be read or written, an unknown column, or n out of range.
    """
    from mojimeter.datasets.tables import read_table

    try:
        sample = draw_pilot(read_table(path), by, n, seed=seed)
    except InputError as error:
        raise InputError(str(error) if str(error).startswith(path) else f"{path}: {error}") from None
    if out is not None:
        nested = [name for name, kind in sample.frame.schema.items() if kind.is_nested()]
        if nested:
            raise InputError(f"{path}: column {nested[0]!r} holds lists, which CSV cannot; leave it out")
        try:
            sample.frame.write_csv(out)
        except OSError as error:
            raise InputError(f"{out}: cannot be written: {error.strerror or error}") from None
    return sample
