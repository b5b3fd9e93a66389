"""The main tables of every run as plain rows of text: what a browser without scripts shows and what is printed.

Reads the page document and nothing else. Knows no HTML: the template escapes and marks what stands here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mojimeter.datasets.records import TASKS
from mojimeter.report.sentences import PERCEIVED, names_of, sentence

_PAIR_MEASURES = {
    "acc_pair": "both right",
    "acc_query": "right",
    "context_awareness": "aware of context",
    "output_variability": "varies",
    "bias": "figurative",
}


@dataclass(frozen=True)
class PlainTable:
    """A caption, heads of columns, and rows whose first cell names the row."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class PlainSection:
    """What is said of one run: its id, title, sentences and tables."""

    run: str
    title: str
    sentences: tuple[str, ...]
    tables: tuple[PlainTable, ...]


def plain_sections(document: Mapping[str, Any]) -> list[PlainSection]:
    """One section a run of the page document, in its order."""
    return [_section(run) for run in document["runs"]]


def _section(run: Mapping[str, Any]) -> PlainSection:
    said, tables = _READERS.get(run["kind"], _judge)(run)
    names = names_of(run)
    lines = [sentence(str(line), names) for line in (*said, *run.get("notes", ())) if line]
    if run.get("signature"):
        lines.append(f"Signature: {run['signature']}")
    return PlainSection(
        run=str(run["id"]),
        title=str(run["name"]),
        sentences=tuple(lines),
        tables=tuple(table for table in tables if table.rows),
    )


Parts = tuple[list[str], list[PlainTable]]


def _recommendation(run: Mapping[str, Any]) -> Parts:
    document = run["document"]
    systems = document.get("systems") or {}
    ranked_by = document.get("ranked_by") or "average"
    head = "overlap (F1)" if ranked_by == "f1" else "labels preserved"
    tasks = [t for t in TASKS if any(t in s["preservation"] for s in systems.values())] if ranked_by != "f1" else []
    rows = []
    for name, scores in _baselines_last(run, systems):
        first = scores["overlap"]["f1"] if ranked_by == "f1" else scores["preservation"][ranked_by]
        cells = [_with_interval(first), *(_with_interval(scores["preservation"].get(task)) for task in tasks)]
        cells += [_with_interval(scores["kept"]), _with_interval(scores["recovered"])]
        cells += [_with_interval(scores["overlap"]["f1"]), f"{scores['diversity']['distinct']:,}"]
        rows.append((name, _place(scores.get("rank")), *cells, _failures(scores)))
    columns = ("system", "place", head, *tasks, "kept", "recovered", "overlap", "distinct emoji", "failures")
    said = [*_counted(document.get("data", {}), "post"), *document.get("warnings", ())]
    said += [PERCEIVED] if {"age", "gender"} & set(tasks) else []
    said += [judge["sentence"] for judge in run.get("judges", ()) if "sentence" in judge]
    return said, [PlainTable("Leaderboard, percent with 95% intervals", columns, tuple(rows))]


def _disambiguation(run: Mapping[str, Any]) -> Parts:
    document = run["document"]
    rows = [
        (
            name,
            _place(scores.get("rank")),
            *(_with_interval(scores.get(measure), 100.0) for measure in _PAIR_MEASURES),
            _failures(scores),
        )
        for name, scores in _baselines_last(run, document.get("systems") or {})
    ]
    columns = ("system", "place", *_PAIR_MEASURES.values(), "failures")
    said = [*_counted(document.get("data", {}), "pair"), *document.get("warnings", ())]
    return said, [PlainTable("Leaderboard, percent with 95% intervals", columns, tuple(rows))]


def _rating_study(run: Mapping[str, Any]) -> Parts:
    study = run["study"]
    ranking = [
        (str(row["system"]), _place(row.get("rank")), _with_interval(row.get("mean"), digits=2))
        for row in study.get("ranking") or ()
    ]
    variance = [
        (str(row["source"]), _number(row.get("share"), 100.0), _interval(row.get("ci"), digits=3))
        for row in study.get("variance") or ()
    ]
    curve = [(str(row["raters"]), _with_interval(row.get("g"), digits=2)) for row in study.get("g_curve") or ()]
    raters = [
        (str(row["rater"]), _with_interval(row.get("mean"), digits=2), _number(row.get("sd"), digits=2))
        for row in study.get("raters") or ()
    ]
    tables = [
        PlainTable("Ranking: means with 95% intervals", ("system", "place", "mean"), tuple(ranking)),
        PlainTable("Variance", ("source", "share, percent", "95% interval of the component"), tuple(variance)),
        PlainTable("G over raters", ("raters", "G"), tuple(curve)),
        PlainTable("Raters", ("rater", "mean", "standard deviation"), tuple(raters)),
    ]
    return [str(study.get("sentence") or ""), *study.get("cautions", ())], tables


def _judge(run: Mapping[str, Any]) -> Parts:
    rows = tuple((".".join(path), _value(value)) for path, value in _leaves(run["document"]))
    return [], [PlainTable("Findings", ("what", "value"), rows[:200])]


_READERS: dict[str, Callable[[Mapping[str, Any]], Parts]] = {
    "recommendation": _recommendation,
    "disambiguation": _disambiguation,
    "rating_study": _rating_study,
}


def _baselines_last(run: Mapping[str, Any], systems: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Systems in the order of the document, those for comparison after the others and marked."""
    baselines = {s["name"] for s in run.get("systems", ()) if s.get("baseline")}
    own = [(name, scores) for name, scores in systems.items() if name not in baselines]
    return own + [(f"{name} (baseline)", scores) for name, scores in systems.items() if name in baselines]


def _counted(data: Mapping[str, Any], what: str) -> list[str]:
    n = data.get(f"{what}s")
    if not n:
        return []
    authors = data.get("authors")
    return [f"{n:,} {what}{'s' if n != 1 else ''}" + (f" by {authors:,} authors" if authors else "") + "."]


def _failures(scores: Mapping[str, Any]) -> str:
    """Replies that failed or are missing, and labels that could not be read."""
    replies = scores.get("replies", {})
    unparsed = scores.get("unparsed") or replies.get("unparsed_labels") or 0
    counts = {
        "errors": replies.get("errors", 0),
        "missing": replies.get("missing", 0),
        "unparsed": _total(unparsed),
    }
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count) or "0"


def _total(value: Any) -> int:
    """The sum of the counts in a nest of counts."""
    if isinstance(value, Mapping):
        return sum(map(_total, value.values()))
    return int(value) if isinstance(value, int | float) else 0


def _place(rank: Sequence[int] | None) -> str:
    if not rank:
        return "-"
    low, high = rank
    return f"{low}" if low == high else f"{low}-{high}, tie"


def _number(value: Any, scale: float = 1.0, digits: int = 1) -> str:
    return "-" if value is None else f"{scale * value + 0.0:.{digits}f}"


def _interval(ci: Sequence[float | None] | None, scale: float = 1.0, digits: int = 1) -> str:
    if not ci:
        return "-"
    low, high = ("no limit" if bound is None else _number(bound, scale, digits) for bound in ci)
    return f"[{low}, {high}]"


def _with_interval(estimate: Mapping[str, Any] | None, scale: float = 1.0, digits: int = 1) -> str:
    if estimate is None:
        return "-"
    if estimate.get("value") is None:
        return f"not known: {estimate.get('reason') or estimate.get('state') or 'no reason given'}"
    ci = estimate.get("ci")
    return _number(estimate["value"], scale, digits) + (f" {_interval(ci, scale, digits)}" if ci else "")


def _leaves(value: Any, path: tuple[str, ...] = ()) -> Iterable[tuple[tuple[str, ...], Any]]:
    """Every number, text and estimate of a nested document, with the names that lead to it."""
    if isinstance(value, Mapping) and "value" not in value:
        for name, part in value.items():
            yield from _leaves(part, (*path, str(name)))
    elif isinstance(value, list) and any(isinstance(part, Mapping | list) for part in value):
        for number, part in enumerate(value, 1):
            yield from _leaves(part, (*path, str(number)))
    else:
        yield path, value


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return _with_interval(value, digits=3)
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:.3f}" if isinstance(value, float) else str(value)
