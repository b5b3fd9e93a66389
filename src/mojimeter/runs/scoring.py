"""From files to scores: reads posts, outputs and labels, parses what needs parsing, and scores them.

The join of ``datasets``, ``systems.reply``, ``judges.labels`` and ``metrics`` that ``mojimeter score``
runs; needs no model. Knows no command line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from mojimeter.datasets.records import TASKS
from mojimeter.errors import InputError
from mojimeter.judges.labels import LABELS, parse_labels
from mojimeter.metrics.recommendation import score_recommendations
from mojimeter.metrics.results import RecommendationScores

if TYPE_CHECKING:
    from os import PathLike

FORMATS = ("tables", "semrec")
_Tables = tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame | None]


ANY_COUNT = "1-5"


@dataclass(frozen=True, slots=True)
class ScoringOptions:
    """How files are to be scored; see ``metrics.score_recommendations``.

    Attributes:
        format: ``tables`` (the contract's files) or ``semrec`` (the second paper's release).
        append: None takes what the format stands for: ``raw`` for semrec, whose judge saw the raw reply, else
            ``emoji``.
        known_as: judge -> model, where a judge's name in the files does not say which model it is; to flag its kin.
    """

    format: str = "tables"
    equality: str = "presentation"
    append: str | None = None
    judge: str | None = None
    asked: int | None = 3
    draws: int = 2000
    seed: int = 0
    known_as: Mapping[str, str] = field(default_factory=dict)


def parse_count(text: str) -> int | None:
    """How many emoji were asked for: ``"1"`` to ``"5"``, or ``"1-5"`` (None) for as many as the system likes.

    Raises:
        InputError: it is neither.
    """
    if text == ANY_COUNT:
        return None
    if text not in ("1", "2", "3", "4", "5"):
        raise InputError(f"--n {text}: expected a number from 1 to 5, or {ANY_COUNT}")
    return int(text)


def score_files(
    posts: str | PathLike[str],
    outputs: Sequence[str | PathLike[str]],
    labels: Sequence[str | PathLike[str]] = (),
    *,
    mapping: Mapping[str, str] | None = None,
    options: ScoringOptions | None = None,
) -> RecommendationScores:
    """Score files.

    Args:
        posts: the file of posts (semrec: the benchmark).
        outputs: files of replies (semrec: one a system, with its labels beside the replies).
        labels: files of labels; none in semrec.
        mapping: our column -> the files' column; each pair is used in the files that have that column.

    Raises:
        InputError: a file or an option is wrong.
    """
    return _Files(posts, outputs, labels, mapping or {}, options or ScoringOptions()).score()


def score_document(
    posts: str | PathLike[str],
    outputs: Sequence[str | PathLike[str]],
    labels: Sequence[str | PathLike[str]] = (),
    *,
    mapping: Mapping[str, str] | None = None,
    options: ScoringOptions | None = None,
    out: str | PathLike[str] | None = None,
) -> dict[str, Any]:
    """What ``mojimeter score --json`` prints: the scores of `score_files`, whose arguments it takes.

    Where the labels are of several judges the one that ``options`` names ranks, and what all of them say together is
    in ``by_judge`` and ``panel`` (``runs.judge_panel``). Systems that are kin of a judge are flagged (``runs.kin``).
    With ``out`` the tables and scores are kept in that folder as a run's (``runs.scored_folder``).

    Raises:
        InputError: a file or an option is wrong.
    """
    chosen = options or ScoringOptions()
    files = _Files(posts, outputs, labels, mapping or {}, chosen)
    if unknown := sorted(set(chosen.known_as) - set(files.judges)):
        raise InputError(
            f"--is {unknown[0]}: no labels are by this judge; there are {', '.join(files.judges) or 'none'}"
        )
    document = _document(files, chosen)
    if out is not None:
        document["run"] = str(out)
        files.keep(out, document, Path(posts).name)
    return document


def _document(files: _Files, chosen: ScoringOptions) -> dict[str, Any]:
    from mojimeter.runs.kin import with_kin

    if chosen.judge is None or chosen.judge not in files.judges:
        return with_kin(files.score().to_dict(), files.judges, chosen.known_as)
    from mojimeter.runs.judge_panel import with_judge_panel

    judges = [chosen.judge, *(judge for judge in files.judges if judge != chosen.judge)]
    document = with_judge_panel({judge: files.score(judge) for judge in judges}, chosen.judge)
    return with_kin(document, judges, chosen.known_as)


class _Files:
    """Files that were read, ready to be scored once or by each judge."""

    def __init__(
        self,
        posts: str | PathLike[str],
        outputs: Sequence[str | PathLike[str]],
        labels: Sequence[str | PathLike[str]],
        mapping: Mapping[str, str],
        options: ScoringOptions,
    ) -> None:
        if options.format not in FORMATS:
            raise InputError(f"no format {options.format!r}; expected {' or '.join(FORMATS)}")
        self._options = options
        self._released = options.format == "semrec"
        if self._released:
            if labels or mapping:
                raise InputError("semrec files hold their labels and fixed column names: no --labels and no --map")
            from mojimeter.datasets.semrec import read_semrec

            self._tables: _Tables = read_semrec(Path(posts), [Path(p) for p in outputs])
        else:
            if options.judge is not None and not labels:
                raise InputError(f"--judge {options.judge} chooses among labels, and none were given (--labels)")
            self._tables = _read_tables(posts, outputs, labels, mapping)

    @property
    def judges(self) -> list[str]:
        """Whose labels there are."""
        read = self._tables[2]
        return [] if read is None else read["judge"].drop_nulls().unique().sort().to_list()

    def score(self, judge: str | None = None) -> RecommendationScores:
        """The scores by the labels of this judge, or of the one that the options name."""
        options = self._options
        return score_recommendations(
            *self._tables,
            options.equality,
            options.draws,
            options.seed,
            judge=judge or options.judge,
            asked=options.asked,
            # Published scores compare label strings as released; what is off the list is counted all the same.
            known_labels=LABELS if self._released else None,
            append=options.append or ("raw" if self._released else "emoji"),
        )

    def keep(self, out: str | PathLike[str], document: Mapping[str, Any], posts_file: str) -> None:
        """Write the tables and their scores as a run folder."""
        from mojimeter.runs.scored_folder import write_scored

        options = self._options
        settings = {
            "format": options.format,
            "equality": options.equality,
            "judges": self.judges,
            "n": ANY_COUNT if options.asked is None else str(options.asked),
            "draws": options.draws,
            "bootstrap_seed": options.seed,
            "posts_file": posts_file,
            "known_as": dict(options.known_as),
        }
        write_scored(Path(out), *self._tables, document, settings)


def _read_tables(
    posts: str | PathLike[str],
    outputs: Sequence[str | PathLike[str]],
    labels: Sequence[str | PathLike[str]],
    mapping: Mapping[str, str],
) -> _Tables:
    from mojimeter.datasets import readers

    if not outputs and not labels:
        raise InputError("nothing to score: give files of replies (--outputs), of labels (--labels), or both")
    columns = ColumnMap(mapping)
    posts_frame = readers.read_posts(str(posts), columns.of(posts))
    outputs_frame = _read_all(readers.read_outputs, outputs, columns) if outputs else no_outputs()
    labels_frame = None
    if labels:
        read = _read_all(readers.read_labels, labels, columns)
        labels_frame = read.with_columns([parse_labels(task, read[task]).alias(task) for task in TASKS])
    columns.refuse_unused()
    return posts_frame, outputs_frame, labels_frame


def _read_all(
    read: Callable[..., pl.DataFrame], paths: Sequence[str | PathLike[str]], columns: ColumnMap
) -> pl.DataFrame:
    """All files of a kind as one table; without ``--map`` at once, so that what two files both hold names both."""
    if not columns.mapping:
        return read([str(path) for path in paths])
    return pl.concat([read([str(path)], columns.of(path)) for path in paths], how="diagonal_relaxed")


class ColumnMap:
    """``--map`` pairs, each used in the files that have its column; a pair that no file can use is an error."""

    def __init__(self, mapping: Mapping[str, str]) -> None:
        self.mapping, self.unused = mapping, set(mapping)

    def of(self, path: str | PathLike[str]) -> dict[str, str]:
        from mojimeter.datasets.tables import SUFFIXES, read_table

        if not self.mapping or Path(path).suffix.lower() not in SUFFIXES:
            return {}
        there = read_table(Path(path)).columns
        chosen = {ours: theirs for ours, theirs in self.mapping.items() if theirs in there}
        self.unused -= set(chosen)
        return chosen

    def refuse_unused(self) -> None:
        for ours in sorted(self.unused):
            raise InputError(f"--map {ours}={self.mapping[ours]}: no file has a column {self.mapping[ours]!r}")


def no_outputs() -> pl.DataFrame:
    """The canonical table of replies where there are none."""
    from mojimeter.datasets.records import OUTPUT_COLUMNS

    numbers = {"epoch": pl.Int64, "tokens": pl.Float64, "seconds": pl.Float64}
    return pl.DataFrame(schema={c: numbers.get(c, pl.String) for c in OUTPUT_COLUMNS})
