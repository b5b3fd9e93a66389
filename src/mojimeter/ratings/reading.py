"""From any data frame or file to coded ratings: level names, integer codes and finite scores.

Knows tables and what can be wrong with them; nothing of statistics. Memory is linear in the number of
rows and no row is handled one by one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from mojimeter.datasets.tables import read_table
from mojimeter.errors import InputError

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
_LARGEST = 1e100  # squares of larger scores overflow


@dataclass(frozen=True)
class CodedRatings:
    """Ratings as arrays, one entry per row of the table.

    Attributes:
        codes: facet -> level number of each row.
        names: facet -> name of each level, in natural order ("r2" before "r10").
        scores: score column -> finite scores.
        frame: the table itself, for covariates; rows in the same order.
        origin: what to call the table in messages: the file's name, or "data".
    """

    codes: Mapping[str, Codes]
    names: Mapping[str, tuple[str, ...]]
    scores: Mapping[str, Floats]
    frame: pl.DataFrame
    origin: str


def read_ratings(
    data: Any,
    facets: Mapping[str, str],
    scores: Sequence[str],
    mapping: Mapping[str, str] | None = None,
    origin: str | None = None,
) -> CodedRatings:
    """Read and check a long table of ratings.

    Args:
        data: path of a CSV, TSV, JSONL or Parquet file, any data frame that narwhals knows, or a mapping
            of columns.
        facets: facet -> column that names its levels.
        scores: columns of scores.
        mapping: our column name -> the table's column name.
        origin: what to call the table in messages.

    Raises:
        InputError: one sentence: the table, the row (first is 1, a header not counted), the column, what
            was expected.
    """
    if not scores:
        raise InputError("no score column was given; expected at least one, such as 'score'")
    frame, found = as_frame(data, mapping)
    origin = origin or found
    for column in [*facets.values(), *scores]:
        if column not in frame.columns:
            raise InputError(f"{origin}: no column {column!r}; it has {', '.join(frame.columns)}")
    columns = [*facets.values(), *scores]
    for column in columns:
        if columns.count(column) > 1:
            raise InputError(f"{origin}: column {column!r} was given two parts to play; expected one each")
    if frame.height == 0:
        raise InputError(f"{origin}: no rows; expected one rating per row")
    codes, names = {}, {}
    for facet, column in facets.items():
        codes[facet], names[facet] = code_levels(frame[column], origin)
    return CodedRatings(codes, names, {c: read_scores(frame[c], origin) for c in scores}, frame, origin)


def as_frame(data: Any, mapping: Mapping[str, str] | None = None) -> tuple[pl.DataFrame, str]:
    """Any table as a polars frame, and what to call it in messages.

    Raises:
        InputError: the file cannot be read, or this is no table.
    """
    if isinstance(data, str | Path):
        return read_table(data, mapping=mapping), str(data)
    frame = _from_memory(data)
    for ours, theirs in (mapping or {}).items():
        if theirs not in frame.columns:
            raise InputError(f"data: no column {theirs!r} (mapped to {ours!r}); it has {', '.join(frame.columns)}")
        if ours in frame.columns and ours != theirs:
            frame = frame.drop(ours)
        frame = frame.rename({theirs: ours})
    return frame, "data"


def _from_memory(data: Any) -> pl.DataFrame:
    if isinstance(data, pl.DataFrame):
        return data
    if isinstance(data, pl.LazyFrame):
        return data.collect()
    if isinstance(data, Mapping):
        try:
            return pl.DataFrame(dict(data), strict=False)
        except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
            raise InputError(f"data: not a table of columns of equal length: {str(error).splitlines()[0]}") from None
    import narwhals as nw

    try:
        table = nw.from_native(data, eager_only=True)
    except TypeError:
        raise InputError(
            f"data: {type(data).__name__} is not a table; expected a file's path, a data frame or a mapping of columns"
        ) from None
    # Column by column: a whole pandas frame would need pyarrow, which the core install does not have.
    return pl.DataFrame([_column(str(name), table[name]) for name in table.columns])


def _column(name: str, series: Any) -> pl.Series:
    values = series.to_numpy()
    if values.dtype.kind in "iufb":
        return pl.Series(name, values)
    return pl.Series(name, [None if v is None or v != v else v for v in series.to_list()], strict=False)


def code_levels(column: pl.Series, origin: str) -> tuple[Codes, tuple[str, ...]]:
    """Level numbers of a column and the level names in natural order.

    Raises:
        InputError: an empty name.
    """
    text = column if column.dtype == pl.String else column.cast(pl.String, strict=False)
    empty = text.is_null() | (text.str.strip_chars() == "")
    if empty.any():
        row = int(empty.arg_max() or 0) + 1
        raise InputError(f"{origin}: row {row}, column {column.name!r}: empty; expected a name")
    levels = sorted(text.unique().to_list(), key=_natural)
    codes = text.cast(pl.Enum(levels)).to_physical().to_numpy().astype(np.int32)
    return codes, tuple(levels)


def _natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key that puts r2 before r10."""
    parts = re.findall(r"[0-9]+|[^0-9]+", name)
    return (*((0, int(p), p) if p[0] in "0123456789" else (1, 0, p) for p in parts), (2, 0, name))


def read_scores(column: pl.Series, origin: str) -> Floats:
    """Finite floats of a score column.

    Raises:
        InputError: an empty, non-numeric or infinite score.
    """
    where = f"{origin}: row {{row}}, column {column.name!r}"
    if column.dtype == pl.String:
        column = column.str.strip_chars()
        empty = column.is_null() | (column == "")
    else:
        empty = column.is_null()
    if empty.any():
        row = int(empty.arg_max() or 0) + 1
        raise InputError(
            where.format(row=row) + ": no score; expected a number (a rating that was not given has no row)"
        )
    if not (column.dtype.is_numeric() or column.dtype in (pl.String, pl.Boolean)):
        raise InputError(f"{origin}: column {column.name!r} holds {column.dtype}; expected numbers")
    values = column.cast(pl.Float64, strict=False)
    bad = ~(values.abs() <= _LARGEST).fill_null(False)  # NaN counts as larger than all numbers
    if bad.any():
        row = int(bad.arg_max() or 0) + 1
        found = str(column[row - 1])[:40]
        if abs(values[row - 1] or 0.0) > _LARGEST and "inf" not in found:
            raise InputError(where.format(row=row) + f": {found} is too large; expected {_LARGEST:g} or less")
        hint = ", with a decimal point" if re.fullmatch(r"-?[0-9]+,[0-9]+", found) else ""
        raise InputError(where.format(row=row) + f": {found!r} is not a score; expected a finite number{hint}")
    return np.ascontiguousarray(values.to_numpy(), dtype=np.float64)
