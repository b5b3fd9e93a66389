"""The one place that names columns: what a post, an output, a label and a rating are.

Every arrow of the house is one of these tables. The functions here take a data frame as it was read
and return the canonical one, or one sentence that says which row is wrong. They know nothing of
models, judges or scores.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from mojimeter.errors import InputError

TASKS = ("sentiment", "emotion", "stance", "age", "gender")
GOLD = "gold"  # the system name under which a judge's labels of the original posts are kept
STRATEGIES = ("zeroshot", "fewshot", "conditional")

POST_COLUMNS = ("id", "original", "text", "emoji", "author", "lang", "gender", "age")
OUTPUT_COLUMNS = ("id", "system", "strategy", "epoch", "reply", "tokens", "seconds", "error")
_AMOUNTS = ("tokens", "seconds")
LABEL_COLUMNS = ("id", "system", "judge", "strategy", "epoch", *TASKS)


def as_posts(frame: pl.DataFrame, where: str) -> pl.DataFrame:
    """The canonical table of posts.

    Args:
        frame: columns ``id`` and ``text``; optional ``emoji`` (the gold ones, where ``text`` is plain), ``author``,
            ``lang``, ``gender``, ``age``; any others are kept.
        where: the file's name, for messages.

    Returns:
        One row a post: ``original`` (the text as its author wrote it), ``text`` (without emoji), ``emoji``
        (list, in order, found anew in the original and never taken on trust), ``leaked`` (true where a text
        that was given as plain still held an emoji), then the optional columns, null where not known.

    Raises:
        InputError: no rows, an id missing or twice, a text missing.
    """
    from mojimeter import emoji  # heavy with its tables; not needed to read outputs or labels

    _require(frame, ("id", "text"), where)
    frame = _with_unique_ids(_as_strings(frame, ("id", "text", "author", "lang", "gender", "age"), where), where)
    _refuse_nulls(frame, "text", where)
    written = frame["text"]
    found = emoji.find_column(written)
    plain = emoji.strip_column(written)
    original, gold, leaked = written, found, pl.Series([False] * len(written), dtype=pl.Boolean)
    if "emoji" in frame.columns:
        given = _joined(frame["emoji"], where)
        gold = emoji.find_column(given)
        leaked = found.list.len() > 0
        original = pl.select(
            pl.when(leaked).then(written).otherwise(written.str.strip_chars_end() + " " + given)
        ).to_series()
    optional = [
        (frame[c] if c in frame.columns else pl.Series([None] * frame.height, dtype=pl.String)).alias(c)
        for c in ("author", "lang", "gender", "age")
    ]
    others = [frame[c] for c in frame.columns if c not in POST_COLUMNS and c != "leaked"]
    return pl.DataFrame(
        [
            frame["id"],
            original.alias("original"),
            plain.alias("text"),
            gold.alias("emoji"),
            *optional,
            leaked.alias("leaked"),
            *others,
        ]
    )


def as_outputs(frame: pl.DataFrame, where: str, *, system: str | None = None) -> pl.DataFrame:
    """The canonical table of systems' raw replies.

    Args:
        frame: columns ``id``, ``reply``, and ``system`` unless given; optional ``strategy``, ``epoch``, ``tokens``,
            ``seconds``, ``error``. A null reply is a call that gave nothing: kept, and counted later.
        where: the file's name, for messages.
        system: the system of a file without that column (a file's stem; a leading ``zeroshot_``,
            ``fewshot_`` or ``conditional_`` becomes the strategy).

    Raises:
        InputError: a missing id or system, an epoch that is not a whole number, or the same post twice
            for one system, strategy and epoch.
    """
    _require(frame, ("id", "reply"), where)
    strategy = None
    if "system" not in frame.columns:
        if system is None:
            raise InputError(f"{where}: no column 'system'; it has {', '.join(frame.columns)}")
        strategy, system = split_strategy(system)
        frame = frame.with_columns(pl.lit(system).alias("system"))
    if "strategy" not in frame.columns:
        frame = frame.with_columns(pl.lit(strategy, dtype=pl.String).alias("strategy"))
    frame = _with_columns(frame, {"epoch": pl.Int64, "tokens": pl.Float64, "seconds": pl.Float64, "error": pl.String})
    frame = _as_strings(frame, ("id", "system", "strategy", "reply", "error"), where)
    frame = _as_numbers(frame, {"epoch": pl.Int64, "tokens": pl.Float64, "seconds": pl.Float64}, where)
    frame = frame.with_columns(pl.col("epoch").fill_null(1))
    for column in ("id", "system"):
        _refuse_nulls(frame, column, where)
    if (frame["system"] == GOLD).any():
        raise InputError(f"{where}: a system is called {GOLD!r}, which is what labels call the original posts")
    _refuse_repeats(frame, ("id", "system", "strategy", "epoch"), where)
    return frame.select(*OUTPUT_COLUMNS, *[c for c in frame.columns if c not in OUTPUT_COLUMNS])


def as_labels(frame: pl.DataFrame, where: str, *, system: str | None = None, judge: str | None = None) -> pl.DataFrame:
    """The canonical table of labels, one row for a post, a system and a judge; label strings as given.

    Args:
        frame: columns ``id``, ``system`` (``gold`` for the original post), ``judge``, and one per task; a task
            without a column is all null. Optional ``strategy``, ``epoch``.
        where: the file's name, for messages.
        system, judge: for a file without that column.

    Raises:
        InputError: no task column at all, a missing id, system or judge, or the same label twice.
    """
    _require(frame, ("id",), where)
    for column, value in (("system", system), ("judge", judge)):
        if column not in frame.columns:
            if value is None:
                raise InputError(f"{where}: no column {column!r}; it has {', '.join(frame.columns)}")
            frame = frame.with_columns(pl.lit(value).alias(column))
    if not any(task in frame.columns for task in TASKS):
        raise InputError(f"{where}: no column of labels; expected one or more of {', '.join(TASKS)}")
    frame = _with_columns(frame, {"strategy": pl.String, "epoch": pl.Int64, **dict.fromkeys(TASKS, pl.String)})
    frame = _as_strings(frame, ("id", "system", "judge", "strategy", *TASKS), where)
    frame = _as_numbers(frame, {"epoch": pl.Int64}, where).with_columns(pl.col("epoch").fill_null(1))
    for column in ("id", "system", "judge"):
        _refuse_nulls(frame, column, where)
    _refuse_repeats(frame, ("id", "system", "judge", "strategy", "epoch"), where)
    return frame.select(*LABEL_COLUMNS, *[c for c in frame.columns if c not in LABEL_COLUMNS])


def split_strategy(stem: str) -> tuple[str | None, str]:
    """``"fewshot_gpt-4o"`` -> ``("fewshot", "gpt-4o")``; without a known prefix the strategy is None."""
    head, underscore, rest = stem.partition("_")
    return (head, rest) if underscore and rest and head in STRATEGIES else (None, stem)


def labels_of_strategy(labels: pl.DataFrame, strategy: str | None) -> pl.DataFrame:
    """Which of a system's labels belong to its replies of one strategy; none may.

    Where one side names no strategy, they belong together all the same: replies without a strategy take the labels of
    the only strategy there is, replies with one take the labels without.

    Args:
        labels: of one system and one judge; any table with the column ``strategy``.
        strategy: of the replies; None where they name none.
    """
    exact = labels.filter(pl.col("strategy").eq_missing(pl.lit(strategy, pl.String)))
    if exact.height:
        return exact
    if strategy is None:
        return labels if labels["strategy"].n_unique() == 1 else exact
    return labels.filter(pl.col("strategy").is_null())


def _require(frame: pl.DataFrame, columns: Sequence[str], where: str) -> None:
    for name in columns:
        if name not in frame.columns:
            raise InputError(f"{where}: no column {name!r}; it has {', '.join(frame.columns)}")
    if frame.height == 0:
        raise InputError(f"{where}: no rows")


def _with_columns(frame: pl.DataFrame, types: dict[str, type[pl.DataType]]) -> pl.DataFrame:
    return frame.with_columns(
        [pl.lit(None, dtype=kind).alias(name) for name, kind in types.items() if name not in frame.columns]
    )


def _as_strings(frame: pl.DataFrame, columns: Sequence[str], where: str) -> pl.DataFrame:
    """The columns as strings; a number that is whole is written without its ``.0`` (what pandas makes of ids)."""
    chosen = []
    for name in columns:
        if name not in frame.columns:
            continue
        kind = frame[name].dtype
        if kind.is_nested() or kind in (pl.Binary, pl.Object):
            raise InputError(f"{where}, column {name!r}: expected text in every row, found {_kind(kind)}")
        text = pl.col(name).cast(pl.String, strict=False)
        chosen.append(text.str.strip_suffix(".0").alias(name) if kind.is_float() else text)
    return frame.with_columns(chosen)


def _kind(dtype: pl.DataType) -> str:
    return {pl.List: "lists", pl.Array: "lists", pl.Struct: "objects", pl.Binary: "bytes"}.get(type(dtype), "objects")


def _as_numbers(frame: pl.DataFrame, types: dict[str, type[pl.DataType]], where: str) -> pl.DataFrame:
    for name, kind in types.items():
        cast = frame[name].cast(kind, strict=False)
        bad = (cast.is_null() & frame[name].is_not_null()).arg_max() if frame.height else None
        if bad is not None and cast[bad] is None and frame[name][bad] is not None:
            wanted = "a whole number" if kind is pl.Int64 else "a number"
            raise InputError(f"{where}, row {bad + 1}, column {name!r}: expected {wanted}, found {frame[name][bad]!r}")
        if name in _AMOUNTS and ((cast < 0) | cast.is_infinite()).any():
            bad = int(((cast < 0) | cast.is_infinite()).fill_null(False).arg_max() or 0)
            raise InputError(f"{where}, row {bad + 1}, column {name!r}: expected 0 or more, found {cast[bad]!r}")
        frame = frame.with_columns(cast)
    return frame


def _with_unique_ids(frame: pl.DataFrame, where: str) -> pl.DataFrame:
    _refuse_nulls(frame, "id", where)
    _refuse_repeats(frame, ("id",), where)
    return frame


def _refuse_nulls(frame: pl.DataFrame, column: str, where: str) -> None:
    empty = frame[column].is_null()
    if column != "text":
        empty |= frame[column].str.strip_chars() == ""
    if empty.any():
        row = int(empty.arg_max() or 0) + 1
        raise InputError(f"{where}, row {row}, column {column!r}: empty")


def _refuse_repeats(frame: pl.DataFrame, columns: Sequence[str], where: str) -> None:
    repeated = frame.select(pl.struct(columns).is_first_distinct().not_()).to_series()
    if repeated.any():
        row = int(repeated.arg_max() or 0)
        values = ", ".join(f"{c} {frame[c][row]!r}" for c in columns if frame[c][row] is not None)
        first = frame.with_row_index().filter(
            pl.all_horizontal([pl.col(c).eq_missing(frame[c][row]) for c in columns])
        )["index"][0]
        raise InputError(f"{where}, row {row + 1}: {values} again; it was in row {first + 1}")


def _joined(column: pl.Series, where: str) -> pl.Series:
    """Gold emoji as one string a post, whether the file held strings or lists."""
    if isinstance(column.dtype, pl.List) and not column.dtype.inner.is_nested():
        column = column.cast(pl.List(pl.String)).list.join("")
    return _as_strings(column.to_frame(), (column.name,), where)[column.name].fill_null("")
