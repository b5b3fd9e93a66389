"""Any table file into a data frame: CSV, TSV, JSONL, Parquet, by suffix.

Knows files and columns, not what the columns mean (that is ``records``). A file that cannot be read
is one sentence with file, row and column: the fast reader is Polars, and only when it stumbles is the
file read again slowly to find out where.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from mojimeter.errors import InputError

SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet")


def read_table(
    path: str | Path, *, required: Sequence[str] = (), mapping: Mapping[str, str] | None = None
) -> pl.DataFrame:
    """Read a table file; CSV and TSV cells come as strings (empty cell: null), others as stored.

    Args:
        path: file ending in .csv, .tsv, .jsonl or .parquet, UTF-8 (a byte order mark is ignored).
        required: columns that must be there after mapping.
        mapping: our column name -> the file's column name (``--map item=doc_id``).

    Raises:
        InputError: one sentence naming the file, the row and column where there is one, and what was
            expected. Row 1 is the first row of data.
    """
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder; expected a file ending in {', '.join(SUFFIXES)}")
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    try:
        frame = _READERS.get(path.suffix.lower(), _refuse)(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or _first_line(error)}") from None
    frame = rename_columns(frame, mapping or {}, where=str(path))
    for name in required:
        if name not in frame.columns:
            raise InputError(f"{path}: no column {name!r}; it has {_listed(frame.columns)}")
    return frame


def rename_columns(frame: pl.DataFrame, mapping: Mapping[str, str], *, where: str) -> pl.DataFrame:
    """Rename the file's columns to ours; a column of ours that is mapped elsewhere gives way.

    Raises:
        InputError: where a mapped column is not in the frame.
    """
    for ours, theirs in mapping.items():
        if theirs not in frame.columns:
            raise InputError(f"{where}: no column {theirs!r} (mapped to {ours!r}); it has {_listed(frame.columns)}")
        if ours in frame.columns and ours != theirs:
            frame = frame.drop(ours)
        frame = frame.rename({theirs: ours})
    return frame


def parse_mapping(pairs: Sequence[str]) -> dict[str, str]:
    """``["item=doc_id"]`` -> ``{"item": "doc_id"}``: what ``--map`` takes.

    Raises:
        InputError: where a pair has no ``=`` or an empty side, or a name is mapped twice.
    """
    mapping: dict[str, str] = {}
    for pair in pairs:
        ours, equals, theirs = pair.partition("=")
        if not (ours and equals and theirs):
            raise InputError(f"--map {pair!r}: expected OUR_COLUMN=COLUMN_OF_THE_FILE")
        if ours in mapping:
            raise InputError(f"--map: {ours!r} is mapped twice")
        mapping[ours] = theirs
    return mapping


def _read_delimited(path: Path) -> pl.DataFrame:
    separator = "\t" if path.suffix.lower() == ".tsv" else ","
    if path.stat().st_size == 0:
        raise InputError(f"{path}: the file is empty; expected a header row")
    try:
        _check_header(path, separator)
        return _without_blank_end(pl.read_csv(path, separator=separator, infer_schema=False, glob=False))
    except pl.exceptions.PolarsError as error:
        _explain_delimited(path, separator)
        raise InputError(f"{path}: not readable as {path.suffix[1:]}: {_first_line(error)}") from None


def _check_header(path: Path, separator: str) -> None:
    """Polars renames a column that appears twice; which of the two was meant is not ours to guess."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as handle:
            names = next(csv.reader(handle, delimiter=separator), [])
    except UnicodeDecodeError:
        _check_utf8(path)
        raise
    except csv.Error as error:
        raise InputError(f"{path}, line 1: {error}") from None
    for position, name in enumerate(names):
        if name in names[:position]:
            raise InputError(f"{path}: column {name!r} appears twice in the header")


def _without_blank_end(frame: pl.DataFrame) -> pl.DataFrame:
    """Drop the empty lines that editors leave at the end of a file; elsewhere they are errors for ``records``."""
    end = frame.height
    while end and all(cell is None for cell in frame.row(end - 1)):
        end -= 1
    return frame.head(end)


def _explain_delimited(path: Path, separator: str) -> None:
    """Find the row at which a CSV file breaks, and say so; returns where it finds nothing wrong."""
    _check_utf8(path)
    with path.open(encoding="utf-8-sig", newline="") as handle:
        rows = csv.reader(handle, delimiter=separator, strict=True)
        try:
            header = next(rows)
            for number, row in enumerate(rows, 1):
                if len(row) > len(header):
                    raise InputError(
                        f"{path}, row {number}: {len(row)} cells where the header has {len(header)} "
                        "(is a comma or quote in a text not quoted?)"
                    )
        except csv.Error as error:
            raise InputError(f"{path}, line {rows.line_num}: {error} (is a quote not closed?)") from None


# A surrogate that is not half of a pair: valid in JSON, not in UTF-8, and read by Polars as a NUL.
_LONE_SURROGATE = re.compile(
    rb"(?<!\\)\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)


def _read_jsonl(path: Path) -> pl.DataFrame:
    data = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    if not data.strip():
        raise InputError(f"{path}: the file is empty; expected one JSON object a line")
    # broken emoji stay visible as U+FFFD, which the reply reader counts as damage
    data = _LONE_SURROGATE.sub(rb"\\ufffd", data)
    try:
        return pl.read_ndjson(io.BytesIO(data), infer_schema_length=None)
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        _check_utf8(path)
        _explain_jsonl(path)
        raise InputError(f"{path}: not readable as jsonl: {_first_line(error)}") from None


def _explain_jsonl(path: Path) -> None:
    with path.open(encoding="utf-8-sig") as handle:
        for number, line in enumerate(handle, 1):
            if not line.strip():
                continue
            try:
                value = json.loads(line, parse_constant=_refuse_constant)
            except json.JSONDecodeError as error:
                raise InputError(f"{path}, line {number}: not JSON ({error.msg}, column {error.colno})") from None
            except ValueError as error:
                raise InputError(f"{path}, line {number}: not JSON ({_first_line(error)})") from None
            except RecursionError:
                raise InputError(f"{path}, line {number}: nested too deeply; expected one flat JSON object") from None
            if not isinstance(value, dict):
                raise InputError(f"{path}, line {number}: expected a JSON object, found {type(value).__name__}")


def _refuse_constant(name: str) -> None:
    """Python reads NaN and infinity, which JSON does not have."""
    raise ValueError(f"it has no {name}")


def _read_parquet(path: Path) -> pl.DataFrame:
    try:
        return pl.read_parquet(path, glob=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(f"{path}: not readable as parquet: {_first_line(error)}") from None


def _refuse(path: Path) -> pl.DataFrame:
    raise InputError(f"{path}: cannot tell the format; expected a name ending in {', '.join(SUFFIXES)}")


_READERS = {
    ".csv": _read_delimited,
    ".tsv": _read_delimited,
    ".jsonl": _read_jsonl,
    ".parquet": _read_parquet,
}


def _check_utf8(path: Path) -> None:
    with path.open("rb") as handle:
        for number, line in enumerate(handle, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                raise InputError(
                    f"{path}, line {number}, byte {error.start + 1}: not UTF-8; save the file as UTF-8"
                ) from None


def _first_line(error: BaseException) -> str:
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(n) for n in names[:20]) + (", ..." if len(names) > 20 else "")
