"""Files that hold posts, outputs and labels, however they came: tables, logs, XML, a data hub.

One function a kind. What a column must hold is ``records``' business; where a file comes from is ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import polars as pl

from mojimeter.datasets.records import GOLD, TASKS, as_labels, as_outputs, as_posts
from mojimeter.datasets.starter import is_starter, read_starter
from mojimeter.datasets.tables import read_table, rename_columns
from mojimeter.errors import InputError

HUB_PREFIX = "hf:"


def read_posts(source: str | Path, mapping: Mapping[str, str] | None = None) -> pl.DataFrame:
    """Posts from a table file, a PAN-2018 folder, ``hf:NAME[@SPLIT]`` or ``starter[:PART]`` (see ``records.as_posts``).

    Raises:
        InputError: the source is not readable or a row is wrong.
        MissingExtraError: ``hf:`` without the library ``datasets``.
    """
    where = str(source)
    if where.startswith(HUB_PREFIX):
        from mojimeter.datasets.hub import read_hub

        frame = rename_columns(read_hub(where.removeprefix(HUB_PREFIX)), mapping or {}, where=where)
    elif is_starter(where):
        frame = rename_columns(read_starter(where), mapping or {}, where=where)
    elif Path(source).is_dir():
        from mojimeter.datasets.pan import read_pan

        frame = rename_columns(read_pan(Path(source)), mapping or {}, where=where)
    else:
        frame = read_table(source, mapping=mapping)
    return as_posts(frame, where)


def read_outputs(paths: Iterable[str | Path], mapping: Mapping[str, str] | None = None) -> pl.DataFrame:
    """Replies of one or more systems, from tables, Inspect ``.eval`` logs and lm-eval ``samples_*.jsonl``.

    Raises:
        InputError: a file is not readable, a row is wrong, or two files answer for the same system.
    """
    return _stacked([_read_output(Path(path), mapping) for path in paths], ("id", "system", "strategy", "epoch"))


def _read_output(path: Path, mapping: Mapping[str, str] | None) -> tuple[str, pl.DataFrame]:
    if path.suffix == ".eval":
        from mojimeter.datasets.inspect_logs import read_eval_log

        return str(path), read_eval_log(path)
    if path.suffix == ".jsonl" and path.name.startswith("samples_"):
        from mojimeter.datasets.lm_eval import read_samples

        return str(path), read_samples(path)
    return str(path), as_outputs(read_table(path, mapping=mapping), str(path), system=path.stem)


def read_labels(paths: Iterable[str | Path], mapping: Mapping[str, str] | None = None) -> pl.DataFrame:
    """Labels of one or more judges, from table files (see ``records.as_labels``).

    Raises:
        InputError: a file is not readable, a row is wrong, two files label the same thing, or a file lacks
            a task of which another has the labels of the originals.
    """
    tables = [(str(p), read_table(p, mapping=mapping)) for p in paths]
    frames = [(where, as_labels(table, where)) for where, table in tables]
    _refuse_missing_tasks(frames, {where: set(TASKS).intersection(table.columns) for where, table in tables})
    return _stacked(frames, ("id", "system", "judge", "strategy", "epoch"))


def _refuse_missing_tasks(frames: list[tuple[str, pl.DataFrame]], tasks: Mapping[str, set[str]]) -> None:
    """A task of the originals that another file lacks would read as one of which its systems preserve nothing."""
    for having, originals in frames:
        judges = originals.filter(pl.col("system") == GOLD)["judge"].unique()
        for lacking, frame in frames:
            for task in sorted(tasks[having] - tasks[lacking]):
                if frame["judge"].is_in(judges.implode()).any():
                    raise InputError(f"{lacking}: no column {task!r}, for which {having} has labels of the originals")


def _stacked(frames: list[tuple[str, pl.DataFrame]], key: tuple[str, ...]) -> pl.DataFrame:
    """One table out of several files; a row that two files both hold is an error that names both."""
    if not frames:
        raise InputError("no file was given")
    seen: list[tuple[str, pl.DataFrame]] = []
    for where, frame in frames:
        for other, earlier in seen:
            both = frame.join(earlier, on=list(key), how="semi", nulls_equal=True)
            if both.height:
                named = ", ".join(f"{k} {both[k][0]!r}" for k in key if both[k][0] is not None)
                raise InputError(f"{where}: {named} is also in {other}")
        seen.append((where, frame.select(key)))
    return pl.concat([frame for _, frame in frames], how="diagonal_relaxed")
