"""Pairs, answers and differences of benchmark B: the tables, the files that hold them, the set that ships.

A pair is one sentence with an ambiguous emoji, a question, and two contexts that settle it in opposite
directions. The columns are named here and nowhere else. How the set that ships was made is in ``pairs/card.md``.
Must not know models, verifiers or scores.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import polars as pl

from mojimeter.datasets.tables import read_table, rename_columns
from mojimeter.errors import InputError

NAME: Final = "pairs"
CATEGORIES: Final = ("situation", "relation", "tone", "community")
READINGS: Final = ("literal", "figurative")
LANGUAGES: Final = ("en", "hi", "bn")
CONDITIONS: Final = ("1", "2", "none")
COMPARED: Final = ("1-2", "1-none", "2-none")
ORDERS: Final = ("ab", "ba")
#: The verdicts file's parts: what the embedded verifier was fitted on, what it is measured on, and, apart from both,
#: every answer that a small model gave to some pairs (of which the verifier may have seen other answers).
VERDICT_PARTS: Final = ("train", "test", "small_model")

_TEXTS = ("text", "emoji", "question", "context_1", "answer_1", "context_2", "answer_2")
PAIR_COLUMNS: Final = ("id", "category", *_TEXTS, "reading_1", "reading_2", "lang")
ANSWER_COLUMNS: Final = ("id", "system", "condition", "answer", "verdict", "reading")
DIFFERENCE_COLUMNS: Final = ("id", "system", "pair", "order", "differs")
_ANSWER_READINGS = ("1", "2", "neither")
_TRUTH = {"true": True, "false": False}


def is_shipped(source: str) -> bool:
    """Whether a source of pairs is the set that ships (``pairs``) or one language of it (``pairs:en``)."""
    return source == NAME or source.startswith(f"{NAME}:")


def read_pairs(source: str | Path, mapping: Mapping[str, str] | None = None) -> pl.DataFrame:
    """Pairs from a table file, or those that ship (``pairs``, ``pairs:en``); see ``as_pairs``.

    Raises:
        InputError: the source is not readable or a row is wrong.
    """
    where = str(source)
    if is_shipped(where):
        return as_pairs(rename_columns(_shipped(where), mapping or {}, where=where), where)
    return as_pairs(read_table(source, mapping=mapping), where)


def read_answers(paths: Iterable[str | Path], mapping: Mapping[str, str] | None = None) -> pl.DataFrame:
    """Answers of systems or people from table files; one without a column ``system`` is named by its stem.

    Raises:
        InputError: a file is not readable, a row is wrong, or two files hold the same answer.
    """
    return _stacked(
        paths, mapping, lambda frame, path: as_answers(frame, str(path), system=path.stem), ANSWER_COLUMNS[:3]
    )


def read_differences(paths: Iterable[str | Path], mapping: Mapping[str, str] | None = None) -> pl.DataFrame:
    """Which answers differ in meaning, from table files; see ``as_differences``.

    Raises:
        InputError: a file is not readable, a row is wrong, or two files hold the same comparison.
    """
    return _stacked(
        paths, mapping, lambda frame, path: as_differences(frame, str(path), system=path.stem), DIFFERENCE_COLUMNS[:4]
    )


def as_pairs(frame: pl.DataFrame, where: str) -> pl.DataFrame:
    """The canonical table of pairs, one row a pair, all columns strings.

    Args:
        frame: columns ``id``, ``category``, ``text``, ``emoji``, ``question``, ``context_1``, ``answer_1``,
            ``context_2``, ``answer_2``; optional ``reading_1``, ``reading_2`` (literal or figurative), ``lang``.
        where: the file's name, for messages.

    Raises:
        InputError: a column or a cell is missing, an id comes twice, the two contexts or the two answers are the
            same, or a reading is neither literal nor figurative.
    """
    required = ("id", "category", *_TEXTS)
    _require(frame, required, where)
    frame = _as_text(frame, PAIR_COLUMNS, where)
    for column in required:
        _refuse_nulls(frame, column, where)
    _refuse_repeats(frame, ("id",), where)
    for column in ("reading_1", "reading_2"):
        _refuse_unknown(frame, column, READINGS, where)
    for stem in ("context", "answer"):
        same = frame[f"{stem}_1"].str.to_lowercase() == frame[f"{stem}_2"].str.to_lowercase()
        if same.any():
            row = int(same.arg_max() or 0)
            raise InputError(
                f"{where}, row {row + 1}: {stem}_1 and {stem}_2 are the same; expected two {stem}s that differ"
            )
    return frame.select(*PAIR_COLUMNS, *[c for c in frame.columns if c not in PAIR_COLUMNS])


def as_answers(frame: pl.DataFrame, where: str, *, system: str | None = None) -> pl.DataFrame:
    """The canonical table of answers, one row a pair, system and condition; verdicts as they were written.

    Args:
        frame: columns ``id``, ``condition`` (``1``, ``2``, ``none``), ``answer``, and ``system`` unless given;
            optional ``verdict`` (``right`` or ``wrong``, in whatever words: the scoring parses it) and ``reading``
            (``1``, ``2`` or ``neither``: which expected answer it gives).
        where: the file's name, for messages.
        system: the system of a file without that column.

    Raises:
        InputError: a column, an id or a system is missing, a condition or reading is unknown, or an answer comes
            twice.
    """
    _require(frame, ("id", "condition", "answer"), where)
    frame = _as_text(_with_system(frame, where, system), ANSWER_COLUMNS, where)
    frame = frame.with_columns(pl.col("condition", "reading").str.to_lowercase())
    for column in ("id", "system", "condition"):
        _refuse_nulls(frame, column, where)
    _refuse_unknown(frame, "condition", CONDITIONS, where)
    _refuse_unknown(frame, "reading", _ANSWER_READINGS, where)
    _refuse_repeats(frame, ANSWER_COLUMNS[:3], where)
    return frame.select(*ANSWER_COLUMNS, *[c for c in frame.columns if c not in ANSWER_COLUMNS])


def as_differences(frame: pl.DataFrame, where: str, *, system: str | None = None) -> pl.DataFrame:
    """The canonical table of differences: does the verifier, asked in this order, find two answers to differ?

    Args:
        frame: columns ``id``, ``pair`` (``1-2``, ``1-none``, ``2-none``), ``order`` (``ab``, ``ba``), ``differs``
            (true or false; empty: the verifier's reply could not be read), and ``system`` unless given.
        where: the file's name, for messages.
        system: the system of a file without that column.

    Raises:
        InputError: a column or a cell is missing, a value is unknown, or a comparison comes twice.
    """
    _require(frame, ("id", "pair", "order", "differs"), where)
    frame = _as_text(_with_system(frame, where, system), DIFFERENCE_COLUMNS, where)
    frame = frame.with_columns(pl.col("pair", "order", "differs").str.to_lowercase())
    for column in DIFFERENCE_COLUMNS[:4]:
        _refuse_nulls(frame, column, where)
    _refuse_unknown(frame, "pair", COMPARED, where)
    _refuse_unknown(frame, "order", ORDERS, where)
    _refuse_unknown(frame, "differs", tuple(_TRUTH), where)
    _refuse_repeats(frame, DIFFERENCE_COLUMNS[:4], where)
    truth = pl.col("differs").replace_strict(_TRUTH, return_dtype=pl.Boolean)
    return frame.with_columns(truth).select(DIFFERENCE_COLUMNS)


def balanced_subset(pairs: pl.DataFrame, size: int) -> pl.DataFrame:
    """The first so many pairs, taken in turn from each kind, language and side of the literal reading.

    Args:
        pairs: the canonical table.
        size: how many; a table that has fewer comes back whole.

    Returns:
        Rows in the order of the table; the same ones every time.
    """
    if pairs.height <= size:
        return pairs
    turns = pairs.with_row_index("_row").with_columns(
        pl.int_range(pl.len()).over("category", "lang", "reading_1").alias("_turn"),
        pl.int_range(pl.len()).over("category").alias("_turn_of_category"),
    )
    chosen: list[int] = []
    by_category = turns.partition_by("category", maintain_order=True)
    queues = [part.sort("_turn", "_row")["_row"].to_list() for part in by_category]
    while len(chosen) < size:
        for queue in queues:
            if queue and len(chosen) < size:
                chosen.append(queue.pop(0))
    return pairs[sorted(chosen)]


def pair_facts() -> dict[str, Any]:
    """What the data card of the set that ships counts: licence, languages, balance, readers' agreement."""
    facts: dict[str, Any] = json.loads((_folder() / "metadata.json").read_bytes())
    return facts


def read_verdicts(part: str | None = None) -> pl.DataFrame:
    """The labelled answers that ship: answer, expected answer and verdict, split by pair into train and test;
    the part ``small_model`` holds all answers of one model.

    Returns:
        Columns ``pair``, ``lang``, ``condition``, ``context``, ``text``, ``question``, ``expected``, ``other`` (the
        pair's other answer), ``answer``, ``kind``, ``verdict`` (right or wrong), ``reading`` (1, 2, neither), ``part``.

    Raises:
        InputError: no such part.
    """
    if part is not None and part not in VERDICT_PARTS:
        raise InputError(f"no part {part!r} of the verdicts; expected {' or '.join(VERDICT_PARTS)}")
    frame = pl.read_ndjson((_folder() / "verdicts.jsonl").read_bytes(), infer_schema_length=None)
    return frame.filter(pl.col("part") == part) if part else frame


def _shipped(source: str) -> pl.DataFrame:
    name, _, lang = source.partition(":")
    if name != NAME or (lang and lang not in LANGUAGES) or source.endswith(":"):
        raise InputError(f"no pairs {source!r}; expected {NAME}, {', '.join(f'{NAME}:{x}' for x in LANGUAGES)}")
    frame = pl.read_ndjson((_folder() / "pairs.jsonl").read_bytes(), infer_schema_length=None)
    return frame.filter(pl.col("lang") == lang) if lang else frame


def _folder() -> Any:
    return files("mojimeter.datasets") / "pairs"


def _with_system(frame: pl.DataFrame, where: str, system: str | None) -> pl.DataFrame:
    if "system" in frame.columns:
        return frame
    if system is None:
        raise InputError(f"{where}: no column 'system'; it has {', '.join(frame.columns)}")
    return frame.with_columns(pl.lit(system).alias("system"))


def _require(frame: pl.DataFrame, columns: Iterable[str], where: str) -> None:
    for name in columns:
        if name not in frame.columns:
            raise InputError(f"{where}: no column {name!r}; it has {', '.join(frame.columns)}")
    if frame.height == 0:
        raise InputError(f"{where}: no rows")


def _as_text(frame: pl.DataFrame, columns: Iterable[str], where: str) -> pl.DataFrame:
    """The columns as strings without the space around them; null where empty or where there is no such column.

    A number that is whole is written without its ``.0``, which is what pandas makes of ids and conditions with gaps.
    """
    cells = []
    for name in columns:
        if name not in frame.columns:
            cells.append(pl.lit(None, dtype=pl.String).alias(name))
            continue
        kind = frame[name].dtype
        if kind.is_nested() or kind in (pl.Binary, pl.Object):
            raise InputError(f"{where}, column {name!r}: expected text in every row, found {kind}")
        text = pl.col(name).cast(pl.String, strict=False)
        text = (text.str.strip_suffix(".0") if kind.is_float() else text).str.strip_chars()
        cells.append(pl.when(text.str.len_bytes() > 0).then(text).otherwise(None).alias(name))
    return frame.with_columns(cells)


def _refuse_nulls(frame: pl.DataFrame, column: str, where: str) -> None:
    if frame[column].null_count():
        row = int(frame[column].is_null().arg_max() or 0) + 1
        raise InputError(f"{where}, row {row}, column {column!r}: empty")


def _refuse_repeats(frame: pl.DataFrame, columns: tuple[str, ...], where: str) -> None:
    first: dict[tuple[str, ...], int] = {}
    for number, values in enumerate(frame.select(columns).iter_rows(), 1):
        if values in first:
            named = ", ".join(f"{c} {v!r}" for c, v in zip(columns, values, strict=True))
            raise InputError(f"{where}, row {number}: {named} again; it was in row {first[values]}")
        first[values] = number


def _refuse_unknown(frame: pl.DataFrame, column: str, known: tuple[str, ...], where: str) -> None:
    bad = frame[column].is_in(known).fill_null(True).not_()
    if bad.any():
        row = int(bad.arg_max() or 0)
        raise InputError(
            f"{where}, row {row + 1}, column {column!r}: {frame[column][row]!r}; expected {', '.join(known)}"
        )


def _stacked(
    paths: Iterable[str | Path],
    mapping: Mapping[str, str] | None,
    canonical: Callable[[pl.DataFrame, Path], pl.DataFrame],
    key: tuple[str, ...],
) -> pl.DataFrame:
    frames: list[tuple[Path, pl.DataFrame]] = []
    for path in map(Path, paths):
        frame = canonical(read_table(path, mapping=mapping), path)
        for other, earlier in frames:
            both = frame.join(earlier, on=list(key), how="semi")
            if both.height:
                named = ", ".join(f"{k} {both[k][0]!r}" for k in key)
                raise InputError(f"{path}: {named} is also in {other}")
        frames.append((path, frame))
    if not frames:
        raise InputError("no file was given")
    return pl.concat([frame for _, frame in frames], how="diagonal_relaxed")
