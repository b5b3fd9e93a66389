"""Plain tables: CSV, TSV, JSONL and Parquet, written so that reading them gives back what was there.

Knows files, not what is in them. Reading is ``datasets.tables``' business.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import polars as pl

from mojimeter.datasets.tables import SUFFIXES
from mojimeter.errors import InputError


def write_table(frame: pl.DataFrame, path: str | Path) -> str:
    """Write a table in the format of its suffix; an existing file is replaced in one step.

    CSV and TSV quote every text, so that an empty text and a missing one stay apart.

    Returns:
        SHA-256 of the file, in hexadecimal.

    Raises:
        InputError: an unknown suffix, or a place that cannot be written.
    """
    path = Path(path)
    write = _WRITERS.get(path.suffix.lower())
    if write is None:
        raise InputError(f"{path}: cannot tell the format; expected a name ending in {', '.join(SUFFIXES)}")
    unfinished = path.with_name(path.name + ".part")
    try:
        write(frame, unfinished)
        digest = hashlib.sha256(unfinished.read_bytes()).hexdigest()
        unfinished.replace(path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
    return digest


def _write_csv(frame: pl.DataFrame, path: Path) -> None:
    frame.write_csv(path, quote_style="non_numeric")


def _write_tsv(frame: pl.DataFrame, path: Path) -> None:
    frame.write_csv(path, separator="\t", quote_style="non_numeric")


def _write_jsonl(frame: pl.DataFrame, path: Path) -> None:
    frame.write_ndjson(path)


def _write_parquet(frame: pl.DataFrame, path: Path) -> None:
    frame.write_parquet(path)


_WRITERS: dict[str, Callable[[pl.DataFrame, Path], None]] = {
    ".csv": _write_csv,
    ".tsv": _write_tsv,
    ".jsonl": _write_jsonl,
    ".parquet": _write_parquet,
}
