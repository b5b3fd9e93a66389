"""The second paper's released files, read as they are: a benchmark and one file a system.

``benchmark.csv`` holds ``item``, ``author``, ``text_with_emoji``, ``text``, ``gold_emoji`` and the judge's
``gold_<task>``; a system's file (``zeroshot_gpt-4o.csv``) holds ``item``, ``raw_output`` and one label a
task. A file that also holds ``<task>_noemoji`` (the random baseline's) gives the labels of the text alone,
which become those of ``baseline/none``. Label strings stay as released. What the conditional prompts of the
paper could see, age and gender, were the judge's own labels: they become the posts' ``age`` and ``gender``.
No file is known by its name.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from mojimeter.datasets.records import GOLD, TASKS, as_labels, as_outputs, as_posts, split_strategy
from mojimeter.datasets.tables import read_table
from mojimeter.errors import InputError

JUDGE = "released"
WITHOUT_EMOJI = "baseline/none"
_ALONE = "_noemoji"


def read_semrec(
    benchmark: str | Path, systems: Iterable[str | Path]
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Posts, outputs and labels (``records``) from the released files or others of the same form.

    Posts keep ``gold_emoji`` as released (the printed overlap needs it); their emoji are found anew in
    ``text_with_emoji``, and ``leaked`` says where the released plain text still holds some.

    Raises:
        InputError: a file lacks a column (a task that the benchmark has labels of is one) or repeats an item, two
            files are of the same system, or two files give different labels to the same text alone.
    """
    posts, labels = _read_benchmark(Path(benchmark))
    wanted = [task for task in TASKS if any(frame[task].null_count() < frame.height for frame in labels)]
    outputs: list[pl.DataFrame] = []
    alone: tuple[Path, pl.DataFrame] | None = None
    files: dict[tuple[str | None, str], Path] = {}
    for path in map(Path, systems):
        name = split_strategy(path.stem)
        if name in files:
            raise InputError(f"{path}: the same system as in {files[name]} (the file's stem names it)")
        files[name] = path
        frame = read_table(path, required=("item", "raw_output"))
        outputs.append(as_outputs(frame.select(id="item", reply="raw_output"), str(path), system=path.stem))
        _refuse_missing(frame, wanted, str(path))
        labels.append(_labels(frame, str(path), name[1], strategy=name[0]))
        if any(task + _ALONE in frame.columns for task in TASKS):
            found = _labels(frame, str(path), WITHOUT_EMOJI, suffix=_ALONE)
            if alone is not None:
                _refuse_disagreement(alone, (path, found))
            alone = alone or (path, found)
    if not outputs:
        raise InputError("no file of a system was given (--outputs)")
    if alone is not None:
        labels.append(alone[1])
    return posts, pl.concat(outputs, how="diagonal_relaxed"), pl.concat(labels)


def _read_benchmark(path: Path) -> tuple[pl.DataFrame, list[pl.DataFrame]]:
    frame = read_table(path, required=("item", "text_with_emoji"))
    columns = {"id": "item", "text": "text_with_emoji"}
    columns |= {c: c for c in ("author", "lang", "gold_emoji") if c in frame.columns}
    columns |= {task: f"gold_{task}" for task in ("age", "gender") if f"gold_{task}" in frame.columns}
    posts = as_posts(frame.select(**columns), str(path))
    if "text" in frame.columns:
        posts = posts.with_columns(_holds_emoji(frame["text"].fill_null("")).alias("leaked"))
    has_gold = any(f"gold_{task}" in frame.columns for task in TASKS)
    return posts, [_labels(frame, str(path), GOLD, prefix="gold_")] if has_gold else []


def _holds_emoji(plain: pl.Series) -> pl.Series:
    """Whether a text that should be plain still holds emoji, bare signs included.

    Where only the selector of ``‼️`` was taken out the sign that is left is text, yet as good a hint as the
    emoji.
    """
    from mojimeter import emoji

    signs = sorted(sign for sign in emoji.TEXT_SIGNS if not sign.isascii())
    return (emoji.find_column(plain).list.len() > 0) | plain.str.contains_any(signs)


def _labels(
    frame: pl.DataFrame,
    where: str,
    system: str,
    *,
    strategy: str | None = None,
    prefix: str = "",
    suffix: str = "",
) -> pl.DataFrame:
    """One system's labels out of a file's columns ``<prefix><task><suffix>``."""
    named = {task: prefix + task + suffix for task in TASKS if prefix + task + suffix in frame.columns}
    chosen = frame.select(id="item", **named).with_columns(strategy=pl.lit(strategy, dtype=pl.String))
    return as_labels(chosen, where, system=system, judge=JUDGE)


def _refuse_missing(frame: pl.DataFrame, wanted: Iterable[str], where: str) -> None:
    """A task that nobody labelled for this system would read as one of which nothing was preserved."""
    for task in wanted:
        if task not in frame.columns:
            raise InputError(f"{where}: no column {task!r}, for which the benchmark has labels (gold_{task})")


def _refuse_disagreement(first: tuple[Path, pl.DataFrame], second: tuple[Path, pl.DataFrame]) -> None:
    (path, ours), (other, theirs) = first, second
    both = ours.join(theirs, on="id", suffix="_other")
    for task in TASKS:
        unlike = both.filter(pl.col(task).ne_missing(pl.col(f"{task}_other")))
        if unlike.height:
            raise InputError(
                f"{other}, column '{task}{_ALONE}': item {unlike['id'][0]!r} has another label than in {path}; "
                "the text alone can have only one"
            )
