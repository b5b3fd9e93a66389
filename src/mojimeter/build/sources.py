"""Raw posts in blocks: any file in bounded memory, the same blocks every time.

A block is a range of bytes (CSV, TSV, JSONL) or of rows (Parquet) that one process can read alone, so a build goes on
after a kill, and on other machines, without reading what came before. A line break within quotes ends no row: a CSV
block ends where the quotes so far are balanced. Knows files and columns, not what is done with posts.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

import polars as pl

from mojimeter.datasets.starter import is_starter
from mojimeter.datasets.tables import _LONE_SURROGATE, SUFFIXES, rename_columns
from mojimeter.emoji import find_column
from mojimeter.errors import InputError

BLOCK_BYTES: Final = 16 << 20
BLOCK_ROWS: Final = 100_000  # of Parquet
COLUMNS: Final = ("id", "text", "author", "lang", "gender", "age", "split")


@dataclass(frozen=True, slots=True)
class Block:
    """Part of a raw file.

    Attributes:
        path: the file.
        stem: what made ids start with.
        start, end: bytes, or rows of a Parquet file; the end is excluded.
        header: the header line of a CSV or TSV file.
        mapping: our column name -> the file's.
        extra: further columns that are kept.
        numbered: make ids of the file's name and the row, whatever column ``id`` holds.
    """

    path: str
    stem: str
    start: int
    end: int
    header: bytes = b""
    mapping: tuple[tuple[str, str], ...] = ()
    extra: tuple[str, ...] = ()
    numbered: bool = False

    def read(self) -> pl.DataFrame:
        """The block's posts: ``id`` (null: still to be made), ``text`` with its emoji, the optional columns; strings.

        Raises:
            InputError: it is not readable, or lacks a column.
        """
        frame = self._table()
        frame = rename_columns(frame, dict(self.mapping), where=self.path)
        if "text" not in frame.columns:
            raise InputError(f"{self.path}: no column 'text'; it has {', '.join(map(repr, frame.columns[:20]))}")
        if "emoji" in frame.columns:
            frame = _with_emoji(frame)
        if self.numbered and "id" in frame.columns:
            frame = frame.drop("id")
        for name in self.extra:
            if name not in frame.columns:
                raise InputError(f"{self.path}: no column {name!r} to keep; it has {', '.join(frame.columns[:20])}")
        wanted = [name for name in (*COLUMNS, *self.extra) if name in frame.columns]
        for name in wanted:
            if frame[name].dtype.is_nested():
                raise InputError(f"{self.path}: column {name!r} holds {frame[name].dtype}; expected text")
        frame = frame.select(pl.col(wanted).cast(pl.String))
        if "id" in frame.columns and frame["id"].null_count():
            row = int(frame["id"].is_null().arg_max() or 0) + 1
            raise InputError(f"{self.path}, row {row} after {self._place()}, column 'id': empty")
        missing = [name for name in COLUMNS if name not in frame.columns]
        return frame.with_columns(pl.lit(None, dtype=pl.String).alias(name) for name in missing)

    def _place(self) -> str:
        return f"{'row' if self.path.endswith('.parquet') else 'byte'} {self.start}"

    def _table(self) -> pl.DataFrame:
        path, kind = Path(self.path), Path(self.path).suffix.lower()
        try:
            if kind == ".parquet":
                return pl.scan_parquet(path).slice(self.start, self.end - self.start).collect()
            with path.open("rb") as file:
                file.seek(self.start)
                data = file.read(self.end - self.start)
            if kind == ".jsonl":
                if b"\\u" in data:
                    data = _LONE_SURROGATE.sub(rb"\\ufffd", data)  # as read_table does
                return pl.read_ndjson(io.BytesIO(data), infer_schema_length=None)
            separator = "\t" if kind == ".tsv" else ","
            frame = pl.read_csv(io.BytesIO(self.header + data), separator=separator, infer_schema=False)
            return frame.filter(~pl.all_horizontal(pl.all().is_null()))  # blank lines
        except pl.exceptions.PolarsError as error:
            data = b"" if kind == ".parquet" else data
            raise InputError(f"{self.path}, after {self._place()}: {_reason(data, kind, error)}") from None


def _with_emoji(frame: pl.DataFrame) -> pl.DataFrame:
    """Plain texts followed by the emoji of a column of their own, as ``records.as_posts`` reads them."""
    given = pl.col("emoji")
    if frame["emoji"].dtype.is_nested():
        given = given.cast(pl.List(pl.String)).list.join("")
    given = given.cast(pl.String).fill_null("")
    plain = find_column(frame["text"].cast(pl.String)).list.len() == 0
    text = pl.col("text").cast(pl.String)
    return frame.with_columns(
        pl.when(plain).then(text.str.strip_chars_end() + " " + given).otherwise(text).alias("text")
    )


@dataclass(frozen=True, slots=True)
class Source:
    """A raw file: what it is called in the card, its size and hash, and its blocks.

    Attributes:
        name: as given.
        sha256: of the file.
        blocks: in order.
    """

    name: str
    sha256: str
    blocks: tuple[Block, ...]


def open_sources(
    names: Sequence[str],
    staging: Path,
    mapping: Mapping[str, str] | None = None,
    extra: Sequence[str] = (),
    *,
    numbered: bool = False,
    block_bytes: int = BLOCK_BYTES,
    block_rows: int = BLOCK_ROWS,
) -> list[Source]:
    """Find the blocks and hashes of raw files, in one pass over each.

    Args:
        names: table files, ``starter[:PART]``, ``hf:NAME[@SPLIT]`` or PAN-2018 folders; the last three are small and
            are written to ``staging`` as Parquet first.
        staging: a folder for these.
        mapping: our column name -> the files'.
        extra: further columns to keep.
        numbered: make ids anew.
        block_bytes, block_rows: size of a block.

    Raises:
        InputError: a file is missing, empty, of another kind, or its quotes do not close.
    """
    stems: dict[str, int] = {}
    sources = []
    for name in names:
        path = _staged(name, staging)
        stem = name.replace(":", "-") if path.parent == staging else path.stem
        stems[stem] = stems.get(stem, 0) + 1
        if stems[stem] > 1:
            stem = f"{stem}-{stems[stem]}"
        kind = path.suffix.lower()
        if kind not in SUFFIXES:
            raise InputError(f"{path}: cannot tell the format; expected a name ending in {', '.join(SUFFIXES)}")
        if not path.is_file():
            raise InputError(f"{path}: no such file")
        if kind == ".parquet":
            digest, header, cuts = _sha256(path), b"", _row_cuts(path, block_rows)
        else:
            digest, header, cuts = _byte_cuts(path, kind, block_bytes)
        blocks = tuple(
            Block(str(path), stem, a, b, header, tuple(sorted((mapping or {}).items())), tuple(extra), numbered)
            for a, b in pairwise(cuts)
        )
        sources.append(Source(name, digest, blocks))
    return sources


def _staged(name: str, staging: Path) -> Path:
    if not (is_starter(name) or name.startswith("hf:") or Path(name).is_dir()):
        return Path(name)
    if name.startswith("hf:"):
        from mojimeter.datasets.hub import read_hub

        frame = read_hub(name.removeprefix("hf:"))
    elif is_starter(name):
        from mojimeter.datasets.starter import read_starter

        frame = read_starter(name)
    else:
        from mojimeter.datasets.pan import read_pan

        frame = read_pan(Path(name))
    path = staging / f"{hashlib.sha256(name.encode()).hexdigest()[:12]}.parquet"
    staging.mkdir(parents=True, exist_ok=True)
    frame.write_parquet(path)
    return path


def _row_cuts(path: Path, rows: int) -> list[int]:
    try:
        total = int(pl.scan_parquet(path).select(pl.len()).collect().item())
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(f"{path}: not readable as parquet: {str(error).splitlines()[0]}") from None
    if not total:
        raise InputError(f"{path}: no rows")
    return [*range(0, total, rows), total]


def _byte_cuts(path: Path, kind: str, size: int) -> tuple[str, bytes, list[int]]:
    """SHA-256 of a text file, its header, and where its blocks start, the end of the file last.

    A block ends with the first row that ends past its size. ``quotes_open`` says whether the position reached stands
    within quotes; JSON lines have none that matter, because their line breaks are escaped.
    """
    quoted = kind != ".jsonl"
    digest = hashlib.sha256()
    header, cuts, at, quotes_open = b"", [0], 0, False
    for data in _pieces(path, size):
        digest.update(data)
        first = 0
        if at == 0:
            header, first = _header(data, path, quoted)
            cuts = [first]
        else:
            stop = _row_end(data, quotes_open, quoted)
            if stop:
                cuts.append(at + stop)
                first, quotes_open = stop, False
        if quoted:
            quotes_open ^= data.count(b'"', first) % 2 == 1
        at += len(data)
    if quotes_open:
        raise InputError(f"{path}: not readable as {kind[1:]}: the quotes do not balance (is a quote not closed?)")
    if at <= cuts[0]:
        raise InputError(f"{path}: the file is empty; expected {'a header row and posts' if quoted else 'JSON lines'}")
    return digest.hexdigest(), header, cuts if cuts[-1] == at else [*cuts, at]


def _header(data: bytes, path: Path, quoted: bool) -> tuple[bytes, int]:
    """The header line (none of JSON lines) and where the rows start, past a byte order mark."""
    mark = len(b"\xef\xbb\xbf") if data.startswith(b"\xef\xbb\xbf") else 0
    if not quoted:
        return b"", mark
    stop = _row_end(data[mark:], False, True)
    if stop:
        return data[mark : mark + stop], mark + stop
    if b"\n" in data:
        raise InputError(f"{path}: a quote in the header is not closed")
    return data[mark:] + b"\n", len(data)


def _pieces(path: Path, size: int) -> Iterator[bytes]:
    with path.open("rb") as file:
        while data := file.read(size):
            yield data


def _row_end(data: bytes, quotes_open: bool, quoted: bool) -> int:
    """Just after the first line break outside quotes; 0 where there is none."""
    start = 0
    while (stop := data.find(b"\n", start)) != -1:
        if not quoted:
            return stop + 1
        quotes_open ^= data.count(b'"', start, stop) % 2 == 1
        if not quotes_open:
            return stop + 1
        start = stop + 1
    return 0


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _reason(data: bytes, kind: str, error: Exception) -> str:
    for number, line in enumerate(data.splitlines(), 1):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            return f"line {number}: not UTF-8; save the file as UTF-8"
    return f"not readable as {kind[1:]}: {(str(error).splitlines() or [type(error).__name__])[0]}"
