"""Any table file into a data frame: CSV, TSV, JSONL, Parquet, by suffix.

Knows files and columns, not what the columns mean (that is ``records``).
"""

from __future__ import annotations

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
        path: file ending in .csv, .tsv, .jsonl or .parquet, UTF-8.
        required: columns that must be there after mapping.
        mapping: our column name -> the file's column name (``--map item=doc_id``).

    Raises:
        InputError: one sentence naming the file and what was expected.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    suffix = path.suffix.lower()
    try:
        if suffix in (".csv", ".tsv"):
            frame = pl.read_csv(path, separator="\t" if suffix == ".tsv" else ",", infer_schema=False)
        elif suffix == ".jsonl":
            frame = pl.read_ndjson(path)
        elif suffix == ".parquet":
            frame = pl.read_parquet(path)
        else:
            raise InputError(
                f"{path}: cannot tell the format; expected a name ending in {', '.join(SUFFIXES)}"
            )
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not readable as {suffix[1:]}: {str(error).splitlines()[0]}") from None
    for ours, theirs in (mapping or {}).items():
        if theirs not in frame.columns:
            raise InputError(
                f"{path}: no column {theirs!r} (mapped to {ours!r}); it has {', '.join(frame.columns)}"
            )
        if ours in frame.columns and ours != theirs:
            frame = frame.drop(ours)
        frame = frame.rename({theirs: ours})
    missing = [name for name in required if name not in frame.columns]
    if missing:
        raise InputError(f"{path}: no column {missing[0]!r}; it has {', '.join(frame.columns)}")
    return frame
