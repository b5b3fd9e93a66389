"""Blocks of raw posts -> parts on disk, by whatever engine; parts that are there already are not made again.

An engine only maps a function over items: what is done to a post is in ``clean`` and ``label``, so one process and a
cluster give the same bytes. A part is written under another name and renamed, so a kill never leaves half of one.
Knows no labels and no recipe beyond cleaning.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from mojimeter.build.clean import clean
from mojimeter.build.keys import hash_column
from mojimeter.build.recipe import Clean
from mojimeter.build.sources import COLUMNS, Block, Source

Item = TypeVar("Item")
Flags = NDArray[np.bool_]


class Engine(Protocol):
    """Maps a function over items, in any order; a function writes its result to a file and returns a number."""

    def map(self, function: Callable[[Item], int], items: Sequence[Item]) -> Iterator[int]: ...


class LocalEngine:
    """One item after the other in this process; Polars uses the cores within one."""

    def map(self, function: Callable[[Item], int], items: Sequence[Item]) -> Iterator[int]:
        """Yields what the function returns."""
        return (function(item) for item in items)


@dataclass(frozen=True, slots=True)
class CleanTask:
    """Clean one block into one file.

    Attributes:
        block: where the raw posts are.
        settings: of the recipe.
        out: the Parquet file to write.
    """

    block: Block
    settings: Clean
    out: str


def clean_block(task: CleanTask) -> int:
    """Write the part of a block and its counts; returns the posts read."""
    frame, counts = clean(task.block.read(), task.settings)
    out = Path(task.out)
    part = out.with_suffix(".part")
    columns = [name for name in frame.columns if frame[name].null_count() < frame.height]
    # keys are there even where no post is; compression would cost more than all the masks
    keys = [name for name in ("row", "text", "exact", "near") if name in frame.columns]
    frame = frame.select(list(dict.fromkeys([*keys, *columns])))
    frame.write_parquet(part, compression="uncompressed", statistics=False)
    os.replace(part, out)
    _write(
        out.with_suffix(".json"), json.dumps({"counts": counts, "columns": columns})
    )  # last: a part is done when its counts are there
    return counts["read"]


class Parts:
    """The cleaned posts of all sources, in order, never all in memory.

    Rows are numbered over all parts; flags and keys are arrays over these rows.

    Attributes:
        counts: posts read, and dropped by reason.
        columns: those that hold anything at all.
    """

    def __init__(self, tasks: Sequence[CleanTask]) -> None:
        self._tasks = list(tasks)
        self.counts: dict[str, int] = {}
        self.columns: set[str] = set()
        self._first_rows: list[int] = []  # of each block, in its file
        heights, before, stem = [], 0, None
        for task in self._tasks:
            about = json.loads(Path(task.out).with_suffix(".json").read_text(encoding="utf-8"))
            counts: dict[str, int] = about["counts"]
            self.columns.update(about["columns"])
            for reason, count in counts.items():
                self.counts[reason] = self.counts.get(reason, 0) + count
            before = before if task.block.stem == stem else 0
            self._first_rows.append(before)
            before, stem = before + counts["read"], task.block.stem
            heights.append(int(pl.scan_parquet(task.out).select(pl.len()).collect().item()))
        self._ends = np.cumsum(heights, dtype=np.int64) if heights else np.zeros(0, np.int64)

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    def key(self, name: str) -> NDArray[np.uint64]:
        """One column of keys over all rows."""
        columns = [pl.read_parquet(task.out, columns=[name])[name].to_numpy() for task in self._tasks]
        return np.concatenate(columns) if columns else np.zeros(0, np.uint64)

    def frames(self, chosen: Flags, columns: Sequence[str] | None = None) -> Iterator[pl.DataFrame]:
        """The chosen posts, part by part; ``id`` is made of file and row where the file had none.

        Args:
            chosen: one flag a row.
            columns: those wanted; None for all.
        """
        for number, (task, flags) in enumerate(self._pieces(chosen)):
            if not flags.any():
                continue
            there = pl.read_parquet_schema(task.out)
            wanted = list(there) if columns is None else [name for name in (*columns, "id", "row") if name in there]
            frame = pl.read_parquet(task.out, columns=list(dict.fromkeys(wanted))).filter(pl.Series(flags))
            absent = [name for name in (*COLUMNS, *task.block.extra) if name not in frame.columns]
            frame = frame.with_columns(pl.lit(None, dtype=pl.String).alias(name) for name in absent)
            if not frame["id"].null_count():
                yield frame if columns is None else frame.select(columns)
                continue
            made = pl.format(
                "{}-{}", pl.lit(task.block.stem), pl.col("row").cast(pl.Int64) + self._first_rows[number] + 1
            )
            frame = frame.with_columns(pl.coalesce(pl.col("id"), made).alias("id"))
            yield frame if columns is None else frame.select(columns)

    def ids(self, chosen: Flags) -> Iterator[str]:
        """The ids of the chosen posts."""
        for frame in self.frames(chosen, ["id"]):
            yield from frame["id"].to_list()

    def slices(self, chosen: Flags, size: int) -> Iterator[tuple[str, list[int]]]:
        """The chosen posts as (file, rows of it), at most ``size`` rows each, none across two files."""
        for task, flags in self._pieces(chosen):
            rows = np.flatnonzero(flags)
            for at in range(0, len(rows), size):
                yield task.out, rows[at : at + size].tolist()

    def repeated_id(self, chosen: Flags) -> str | None:
        """An id that two chosen posts have, or None. Made ids are never the same."""
        hashes = [hash_column(frame["id"]) for frame in self.frames(chosen, ["id"])]
        if not hashes:
            return None
        keys = pl.concat(hashes)
        again = set(keys.filter(keys.is_duplicated()).to_list())
        seen: set[str] = set()
        for frame in self.frames(chosen, ["id"]) if again else ():
            for name in frame["id"].filter(hash_column(frame["id"]).is_in(list(again))).to_list():
                if name in seen:
                    return str(name)
                seen.add(name)
        return None

    def _pieces(self, chosen: Flags) -> Iterator[tuple[CleanTask, Flags]]:
        start = 0
        for task, end in zip(self._tasks, self._ends.tolist(), strict=True):
            yield task, chosen[start:end]
            start = end


def clean_sources(
    sources: Iterable[Source],
    settings: Clean,
    folder: Path,
    engine: Engine,
    progress: Callable[[int, int, int], None] = lambda done, of, posts: None,
) -> Parts:
    """Clean all blocks that are not clean yet.

    Args:
        sources: raw files.
        settings: of the recipe.
        folder: for the parts; what is there from an earlier run of the same build is used.
        engine: who does it.
        progress: called with blocks done, blocks in all, and posts read in this run.

    Raises:
        InputError: a block cannot be read.
    """
    folder.mkdir(parents=True, exist_ok=True)
    blocks = [block for source in sources for block in source.blocks]
    tasks = [CleanTask(block, settings, str(folder / f"{number:06}.parquet")) for number, block in enumerate(blocks)]
    missing = [task for task in tasks if not Path(task.out).with_suffix(".json").exists()]
    done, posts = len(tasks) - len(missing), 0
    progress(done, len(tasks), posts)
    for count in engine.map(clean_block, missing):
        done, posts = done + 1, posts + count
        progress(done, len(tasks), posts)
    return Parts(tasks)


def first_of_each(keys: NDArray[np.uint64]) -> Flags:
    """Which rows hold a key for the first time."""
    flags: Flags = pl.Series(keys).is_first_distinct().to_numpy().astype(bool)
    return flags


def _write(path: Path, text: str) -> None:
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


def as_json(value: Any) -> str:
    """JSON with the keys in their order."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1)
