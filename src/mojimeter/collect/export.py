"""The ratings of a study as a table, with what each column means, a checksum, and a count of all that is not in it.

The table is the one that ``ratings study`` reads: first showings of main cells, the last rating of each, nobody who
withdrew. Free answers make the table of answers that ``disambiguate`` reads. Knows the store and the tables of the
house; must not know the web.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
from sqlalchemy import Connection, Row, select

from mojimeter import __version__
from mojimeter.collect.current import current_ratings
from mojimeter.collect.database import reading
from mojimeter.collect.exchange import TOOLS
from mojimeter.collect.payloads import FIELDS, plain_text
from mojimeter.collect.schema import checks
from mojimeter.collect.schema import raters as raters_table
from mojimeter.collect.schema import study as facts
from mojimeter.collect.status import RaterStatus, is_main, is_ok, study_status
from mojimeter.collect.store import Store
from mojimeter.collect.study import Form, StudyConfig
from mojimeter.errors import InputError
from mojimeter.ratings.agreement.alpha import krippendorff_alpha
from mojimeter.stats.estimate import Estimate

PLAIN: Final = ("csv", "tsv", "jsonl", "parquet")

_SCORES: Final[Mapping[str, int]] = {"yes": 1, "no": 0, "right": 1, "wrong": 0}
_MEANINGS: Final[Mapping[str, str]] = {
    "item": "the source's name of the item; null for training and attention items",
    "system": "which system made what was rated; null for training and attention items",
    "rater": "the rater's name in the study; nothing else of the rater is in this table",
    "score": "1 to N as chosen; of yes/no and right/wrong: 1 for yes and right, 0 for no and wrong",
    "verdict": "right or wrong, as chosen",
    "answer": "the rater's own words",
    "id": "the pair (or the group of items) that the item is of",
    "condition": "which context of the pair was shown",
    "part": "main, repeat (second showing), attention or training",
    "position": "place in the rater's session, from 1, training included",
    "repeat_of": "position of the first showing",
    "shown_at": "when the item was shown: UTC, by the rater's clock",
    "received_at": "when the rating was stored: UTC, by the server's clock",
    "duration_ms": "milliseconds from showing to rating, by the rater's clock",
    "times": "how often the position was rated; the last time counts",
    "lang": "language of the item",
    "emoji_ok": "whether the rater's latest check before the rating saw emoji in colour and not as boxes",
    "emoji_font": "font of the emoji by that check: bundled, or system where the browser cannot draw the bundled one",
    "cell": "opaque name of what was shown",
    "expected": "the right value of training and attention items",
}


@dataclass(frozen=True)
class IntraRater:
    """How far raters agree with themselves: first showings against repeats, pooled over raters.

    Attributes:
        repeats: pairs of a first showing and a repeat.
        same: share with the same value.
        alpha: Krippendorff's, interval for scales and nominal for the rest; raters are drawn whole.
    """

    repeats: int
    same: float | None
    alpha: Estimate | None

    def to_dict(self) -> dict[str, Any]:
        return {
            "repeats": self.repeats,
            "same": self.same,
            "alpha": None if self.alpha is None else self.alpha.to_dict(),
        }

    def describe(self) -> str:
        """One line for people; empty without repeats."""
        if not self.repeats:
            return ""
        line = f"Raters with themselves: {self.repeats:,} repeats, {self.same:.0%} the same"
        if self.alpha is None:
            return line + "."
        if self.alpha.value is None:
            return f"{line}; alpha cannot be had: {self.alpha.reason}."
        low, high = self.alpha.ci or (None, None)
        interval = "" if low is None or high is None else f" ({low:.2f} to {high:.2f})"
        return f"{line}, alpha {self.alpha.value:.2f}{interval}."


@dataclass(frozen=True)
class Exported:
    """A table and what is not in it.

    Attributes:
        frame: the table.
        left_out: reason -> number of ratings that are stored and not in the table.
        not_given: ratings that were asked for and not given, of raters who are in the table's reach.
        changed: ratings in the table that the rater had changed; the last one is there.
        raters_out: reason -> names of raters who are left out whole.
        attention: rater -> (passed, given), of those with attention items.
    """

    frame: pl.DataFrame
    left_out: Mapping[str, int]
    not_given: int
    changed: int
    raters_out: Mapping[str, tuple[str, ...]]
    attention: Mapping[str, tuple[int, int]]
    intra_rater: IntraRater
    about: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        return {
            "ratings": self.frame.height,
            "raters": self.frame["rater"].n_unique() if self.frame.height else 0,
            "columns": self.frame.columns,
            "left_out": dict(self.left_out),
            "not_given": self.not_given,
            "changed": self.changed,
            "raters_left_out": {reason: list(names) for reason, names in self.raters_out.items()},
            "attention": {name: {"passed": a, "given": b} for name, (a, b) in self.attention.items()},
            "intra_rater": self.intra_rater.to_dict(),
        }


def export_ratings(
    store: Store, *, everything: bool = False, texts: bool = False, leave_out_failed: bool = False
) -> Exported:
    """The ratings of a study as a table.

    Args:
        store: the study.
        everything: training, attention and repeats too (column ``part``); who withdrew is never in it.
        texts: the texts that were shown, a column a field.
        leave_out_failed: leave out raters who answered any attention item otherwise than it says.

    Raises:
        InputError: there is nothing to export yet.
        Unavailable: the database cannot be used.
    """
    status = study_status(store)
    out = {"withdrawn": tuple(r.rater for r in status.raters if r.state == "withdrawn")}
    if leave_out_failed:
        out["failed_attention"] = tuple(r.rater for r in status.raters if _failed(r) and r.state != "withdrawn")
    reason_of = {name: reason for reason, names in out.items() for name in names}
    left_out: Counter[str] = Counter()
    rows: list[dict[str, Any]] = []
    pairs: list[tuple[str, float, float]] = []
    columns = _schema(store.config, texts=texts, everything=everything)
    not_given = 0
    with reading(store.engine, snapshot=True) as connection:
        colours = _checks(connection)
        about = _about(connection, store.config)
        values: dict[tuple[str, int], str] = {}
        for row in current_ratings(connection, texts=True):
            if row.value is None:
                not_given += row.rater not in reason_of and (everything or is_main(row))
                continue
            reason = reason_of.get(row.rater)
            if reason is None:
                _remember_pair(row, values, pairs, store.config)
                reason = None if everything or is_main(row) else _part(row)
            if reason is not None:
                left_out[reason] += 1
            else:
                found = _row(row, store.config, colours, texts=texts)
                rows.append({name: found[name] for name in columns})
    if not rows and not left_out:
        raise InputError("there are no ratings yet; mojimeter collect status shows how far raters are")
    frame = pl.DataFrame(rows, schema=columns, orient="row")
    return Exported(
        frame=frame,
        left_out=dict(left_out),
        not_given=not_given,
        changed=int((frame["times"] > 1).sum()),
        raters_out={reason: names for reason, names in out.items() if names},
        attention={r.rater: (r.attention_passed, r.attention_given) for r in status.raters if r.attention_given},
        intra_rater=_intra_rater(pairs, store.config.form),
        about=about,
    )


def _failed(rater: RaterStatus) -> bool:
    return rater.attention_passed < rater.attention_given


def _part(row: Row[Any]) -> str:
    return "repeat" if row.repeat_of is not None else str(row.kind)


def _remember_pair(
    row: Row[Any], values: dict[tuple[str, int], str], pairs: list[tuple[str, float, float]], config: StudyConfig
) -> None:
    """Note a value; of a repeat whose first showing was rated, note the pair as numbers."""
    values[row.rater, row.position] = row.value
    first = values.get((row.rater, row.repeat_of)) if row.repeat_of is not None else None
    if first is not None:
        if config.form == "answer":  # of free answers only sameness can be told
            pairs.append((row.rater, 0.0, float(first.casefold() != row.value.casefold())))
        else:
            pairs.append((row.rater, float(_score(first)), float(_score(row.value))))


def _intra_rater(pairs: Sequence[tuple[str, float, float]], form: Form) -> IntraRater:
    if not pairs:
        return IntraRater(0, None, None)
    same = sum(a == b for _, a, b in pairs) / len(pairs)
    if form == "answer":
        return IntraRater(len(pairs), same, None)
    names = sorted({name for name, _, _ in pairs})
    cluster = np.array([names.index(name) for name, _, _ in pairs])
    matrix = np.array([[a, b] for _, a, b in pairs])
    level = "interval" if form == "scale" else "nominal"
    return IntraRater(len(pairs), same, krippendorff_alpha(matrix, level, cluster=cluster))  # type: ignore[arg-type]


def _score(value: str) -> int:
    return _SCORES[value] if value in _SCORES else int(value)


def _schema(config: StudyConfig, *, texts: bool, everything: bool) -> dict[str, Any]:
    """Columns and their types, in the order of the table."""
    form = config.form
    rating: dict[str, Any] = {"score": pl.Int64} if form != "answer" else {"answer": pl.String}
    columns: dict[str, Any] = {"item": pl.String, "system": pl.String, "rater": pl.String} | rating
    if form == "verdict":
        columns["verdict"] = pl.String
    if form in ("verdict", "answer"):
        columns |= {"id": pl.String, "condition": pl.String}
    columns |= {
        "part": pl.String,
        "position": pl.Int64,
        "repeat_of": pl.Int64,
        "shown_at": pl.String,
        "received_at": pl.String,
        "duration_ms": pl.Int64,
        "times": pl.Int64,
        "lang": pl.String,
        "emoji_ok": pl.Boolean,
        "emoji_font": pl.String,
        "cell": pl.String,
    }
    if everything:
        columns["expected"] = pl.String
    if texts:
        columns |= {_text_column(name): pl.String for name in FIELDS[form]}
    return columns


def _text_column(field: str) -> str:
    """``text`` for ``text``; the field ``answer`` of a verdict is what was judged, not what the rater answered."""
    return "judged_answer" if field == "answer" else field


def _row(row: Row[Any], config: StudyConfig, colours: Mapping[str, Any], *, texts: bool) -> dict[str, Any]:
    about = row.about or {}
    check = _check_before(colours.get(row.rater), row.received_at)
    out = {
        "item": row.item,
        # of free answers the one who answers is what is compared with systems
        "system": row.rater if config.form == "answer" else (row.system or None),
        "rater": row.rater,
        "id": about.get("group"),
        "condition": about.get("condition") or None,
        "part": _part(row),
        "position": row.position,
        "repeat_of": row.repeat_of,
        "shown_at": _moment(row.shown_at),
        "received_at": _moment(row.received_at),
        "duration_ms": row.duration_ms,
        "times": row.times,
        "lang": row.lang,
        "emoji_ok": None if check is None else is_ok(check),
        "emoji_font": None if check is None else check.get("font"),
        "cell": row.cell,
        "expected": row.expected,
    }
    if config.form == "answer":
        out["answer"] = row.value
    else:
        out["score"] = _score(row.value)
        out["verdict"] = row.value if config.form == "verdict" else None
    if texts:
        out |= {_text_column(name): plain_text(row.payload, name) or None for name in FIELDS[config.form]}
    return out


def _moment(seconds: float) -> str | None:
    """Date and time in UTC; None for a rater's clock that says something impossible."""
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        return None


Checks = tuple[list[float], list[dict[str, Any]]]


def _checks(connection: Connection) -> dict[str, Checks]:
    """For each rater the times of the checks of the font and what they saw."""
    found: dict[str, Checks] = defaultdict(lambda: ([], []))
    for row in connection.execute(select(checks).order_by(checks.c.number)):
        found[row.rater_id][0].append(row.at)
        found[row.rater_id][1].append(row.result)
    return dict(found)


def _check_before(known: Checks | None, at: float) -> dict[str, Any] | None:
    """The latest check before the rating; the first one where all came later; None without any."""
    if known is None:
        return None
    times, results = known
    return results[max(bisect_right(times, at) - 1, 0)]


def _about(connection: Connection, config: StudyConfig) -> dict[str, Any]:
    stored = {row.key: row.value for row in connection.execute(select(facts))}
    invited = connection.execute(select(raters_table.c.id)).all()
    return {
        "title": config.title,
        "study_id": stored["study_id"],
        "form": config.form,
        "question": config.question,
        "scale": {"points": config.scale.points, "low": config.scale.low, "high": config.scale.high}
        if config.form == "scale"
        else None,
        "design": config.design,
        "repeats": config.repeats,
        "attention_items": config.attention,
        "seed": config.seed,
        "raters_invited": len(invited),
        "source": Path(stored["origin"]).name,  # where it lay on this machine is nobody else's business
        "left_out_of_the_study": json.loads(stored["left_out"]),
        "made_with": stored["version"],
        "emoji_names_shown": config.show_emoji_names,
    }


def write_export(found: Exported, out: str | Path) -> dict[str, str]:
    """Write the table, its data dictionary (``OUT.dictionary.json``) and its checksum (``OUT.sha256``).

    Returns:
        Paths of the three files, by ``file``, ``dictionary`` and ``checksum``, and ``sha256`` itself.

    Raises:
        InputError: an unknown suffix, or a place that cannot be written.
    """
    from mojimeter.collect.exchange.plain import write_table

    out = Path(out)
    digest = write_table(found.frame, out)
    dictionary = out.with_name(out.name + ".dictionary.json")
    checksum = out.with_name(out.name + ".sha256")
    document = {
        "schema": 1,
        "file": out.name,
        "sha256": digest,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "written_with": f"mojimeter {__version__}",
        "study": dict(found.about),
        "columns": _columns(found),
        "counts": found.to_dict(),
    }
    try:
        dictionary.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        # as sha256sum writes it and `sha256sum --check` reads it
        checksum.write_text(f"{digest}  {out.name}\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{error.filename}: cannot be written: {error.strerror}") from None
    return {"file": str(out), "sha256": digest, "dictionary": str(dictionary), "checksum": str(checksum)}


def _columns(found: Exported) -> list[dict[str, Any]]:
    out = []
    for name, kind in found.frame.schema.items():
        column: dict[str, Any] = {
            "name": name,
            "type": {pl.Int64: "whole number", pl.Boolean: "true or false"}.get(type(kind), "text"),
            "meaning": _MEANINGS.get(name, "what was shown, as plain text"),
            "empty": found.frame[name].null_count(),
        }
        if name == "score" and found.frame.height:
            column["values"] = sorted(found.frame[name].drop_nulls().unique().to_list())
        out.append(column)
    return out


def export_to_tool(store: Store, tool: str, out: str | Path) -> list[Path]:
    """The study for Label Studio or Potato: blinded tasks, their settings, and the ratings; the key lies beside.

    Raises:
        InputError: no such tool, or the folder is there already.
        Unavailable: the database cannot be used.
    """
    from mojimeter.collect.exchange.label_studio import write_label_studio
    from mojimeter.collect.exchange.potato import write_potato
    from mojimeter.collect.exchange.survey import GivenRating, ShownCell, Survey
    from mojimeter.collect.schema import cells

    if tool not in TOOLS:
        raise InputError(f"no tool {tool!r}; expected {' or '.join(TOOLS)}")
    config = store.config
    withdrawn = {r.rater for r in study_status(store).raters if r.state == "withdrawn"}
    with reading(store.engine, snapshot=True) as connection:
        main = connection.execute(select(cells).where(cells.c.kind == "main").order_by(cells.c.number)).all()
        given = [
            GivenRating(row.cell, row.rater, row.value, row.duration_ms, row.received_at)
            for row in current_ratings(connection)
            if row.value is not None and is_main(row) and row.rater not in withdrawn
        ]
    shown = [
        ShownCell(
            row.id,
            row.item_id,
            row.system,
            {name: plain_text(row.payload, name) for name in FIELDS[config.form] if name in row.payload["fields"]},
        )
        for row in main
    ]
    survey = Survey(
        title=config.title,
        form=config.form,
        question=config.question,
        cells=shown,
        ratings=given,
        points=config.scale.points,
        low=config.scale.low,
        high=config.scale.high,
        instructions=config.instructions,
    )
    write = write_label_studio if tool == "label-studio" else write_potato
    return write(out, survey)
