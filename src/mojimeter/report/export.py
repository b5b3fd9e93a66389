"""A report's tables for papers: LaTeX (booktabs) and Markdown, one table a run.

A table has the headline score with its interval, the places that the data leave open, and marks of what a reader must
know; baselines stand below a rule, and the caption carries the signature. What a cell says is decided once
(``tables_of``) and written twice (``latex``, ``markdown``). Reads the page document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from mojimeter.datasets.records import TASKS
from mojimeter.report.latex import latex_of
from mojimeter.report.markdown import markdown_of
from mojimeter.report.sentences import PERCEIVED, names_of, sentence
from mojimeter.report.text_table import TIE, Row, TextTable

_RANKED = {
    "average": "labels preserved, percent, mean of the tasks",
    "average_unleaked": "labels preserved, percent, mean of sentiment, emotion and stance",
    "f1": "overlap F1 with the original emoji, percent",
}
_PLACES = (
    "Place: all that these data leave open at 95%, all pairs compared at once; "
    "{tie}: shares a place with another system."
)

_SIZES = ("posts", "authors", "pairs", "items", "raters")
_NOT_READ = ("unparsed", "unread", "missing", "left_out")


def to_latex(document: Mapping[str, Any]) -> str:
    """LaTeX for an ``input``, with ``booktabs`` and ``graphicx``: a float a run, several for a long one.

    Args:
        document: the page document.
    """
    return latex_of(tables_of(document), document["title"], document["version"])


def to_markdown(document: Mapping[str, Any]) -> str:
    """Markdown (GitHub's tables): a heading, a table and a caption a run."""
    return markdown_of(tables_of(document), document["title"])


def tables_of(document: Mapping[str, Any]) -> list[TextTable]:
    """The table of each run that ranks systems or raters; a run that has nothing to rank has a table without rows."""
    make: Mapping[str, Callable[[Mapping[str, Any]], TextTable]] = {
        "recommendation": _recommendation,
        "disambiguation": _disambiguation,
        "rating_study": _rating_study,
        "judge": _judge,
    }
    return [make[run["kind"]](run) for run in document["runs"]]


def _recommendation(run: Mapping[str, Any]) -> TextTable:
    document, about = run["document"], {s["name"]: s for s in run["systems"]}
    if not document["systems"]:
        return _without_rows(run)
    ranked_by = document["ranked_by"]
    shown = [*([] if ranked_by == "f1" else [ranked_by]), *_tasks(document)]
    shown += [name for name in ("kept", "recovered") if _has(run, name)]
    shown += ["f1"]
    heads = {"average": "preserved", "average_unleaked": "preserved", "f1": "overlap F1"}
    whole = run["slices"][0]["systems"]
    ties = _ties({name: scores["rank"] for name, scores in whole.items()})
    rows = []
    for name, scores in whole.items():
        marks = _marks(about[name])
        cells = [_place(scores["rank"], name in ties), name + marks]
        for column in shown:
            cells.append(_with_interval(scores[column]) if column in (ranked_by, "f1") else _number(scores[column]))
        rows.append(Row(tuple(cells), about[name]["baseline"]))
    data = document["data"]
    caption = [
        f"{run['name']}: {_RANKED[ranked_by]}, with 95% intervals over {_authors(data)}; {data['posts']:,} posts.",
        _PLACES.format(tie=TIE),
        *_legend([mark for system in run["systems"] for mark in _marks_of(system)]),
        *_counts(run),
        *_sentences(document["warnings"], run),
        *(judge["sentence"] for judge in run["judges"] if "sentence" in judge),
    ]
    if {"age", "gender"} & set(shown):
        caption.append(PERCEIVED)
    columns = ("place", "system", *(heads.get(name, name) for name in shown))
    return TextTable(run["name"], columns, _baselines_last(rows), tuple(caption), run["signature"])


def _disambiguation(run: Mapping[str, Any]) -> TextTable:
    document, about = run["document"], {s["name"]: s for s in run["systems"]}
    if not document["systems"]:
        return _without_rows(run)
    heads = {
        "acc_pair": "pair accuracy",
        "acc_query": "query accuracy",
        "acc_pair_if_independent": "if independent",
        "context_awareness": "context awareness",
        "output_variability": "output variability",
        "bias": "figurative",
    }
    whole = run["slices"][0]["systems"]
    ties = _ties({name: scores["rank"] for name, scores in whole.items()})
    rows = []
    for name, scores in whole.items():
        cells = [_place(scores["rank"], name in ties), name + _marks(about[name])]
        for measure in heads:
            show = _with_interval if measure in ("acc_pair", "acc_query") else _number
            cells.append(show(_times(scores[measure], 100.0)))
        rows.append(Row(tuple(cells), about[name]["baseline"]))
    data = document["data"]
    caption = (
        f"{run['name']}: percent, with 95% intervals over pairs; {data['pairs']:,} pairs.",
        "Pair accuracy: both contexts answered rightly; if independent: what it would be, were the two answers "
        "independent; figurative: share among literal and figurative readings.",
        _PLACES.format(tie=TIE),
        *_legend([mark for system in run["systems"] for mark in _marks_of(system)]),
        *_counts(run),
        *_sentences(document["warnings"], run),
    )
    return TextTable(
        run["name"], ("place", "system", *heads.values()), _baselines_last(rows), caption, run["signature"]
    )


def _rating_study(run: Mapping[str, Any]) -> TextTable:
    document = run["document"]
    ranking = document["ranking"]
    if not ranking:
        return _without_rows(run)
    ties = _ties({row["system"]: row["rank"] for row in ranking})
    rows = [
        Row((_place(row["rank"], row["system"] in ties), row["system"], _with_interval(row["mean"], 3)))
        for row in ranking
    ]
    caption = (
        f"{run['name']}: mean ratings with 95% intervals; {document['describe']}.",
        *_sentences([document["sentence"]], run),
        f"G = {_with_interval(document['g'], 2)} with these raters.",
        _PLACES.format(tie=TIE),
        *run["study"]["cautions"],
    )
    return TextTable(run["name"], ("place", "system", "mean"), tuple(rows), caption, run["signature"])


def _judge(run: Mapping[str, Any]) -> TextTable:
    """Every number of a judge's results that has a value, by where it stands in the document."""
    rows = [Row((" / ".join(path), _with_interval(found, 3))) for path, found in _estimates(run["document"], ())]
    sizes = [f"{found:,} {what}" for what in _SIZES if isinstance(found := run["document"].get(what), int)]
    rests = f"; {', '.join(sizes)}" if sizes else ""
    caption = [
        f"{run['name']}: {run['command']}, with 95% intervals{rests}.",
        *_told_beside(run["document"]),
        *_sentences(run["notes"], run),
    ]
    if any({"age", "gender"} & set(path) for path, _ in _estimates(run["document"], ())):
        caption.append(PERCEIVED)
    return TextTable(run["name"], ("measure", "value"), tuple(rows), tuple(caption), run["signature"], texts=1)


def _told_beside(document: Mapping[str, Any]) -> list[str]:
    """A judge's warnings, and what it says was not read, is missing, was left out or could not be used."""
    leaves = list(_leaves(document, ()))
    found = [(path, leaf) for path, leaf in leaves if set(_NOT_READ) & set(path)]
    beside = [f"{' / '.join(path)}: {leaf:,}" for path, leaf in found if type(leaf) is int and leaf]
    beside += [f"{path[-2:][0]}: {leaf}" for path, leaf in found if isinstance(leaf, str)]  # one of a list of names
    unusable = {path[-1]: leaf for path, leaf in leaves if path[0] == "unusable" and isinstance(leaf, str)}
    names = {path[1] for path, _ in leaves if path[0] == "judges" and len(path) > 1} | {*unusable}
    warnings = [leaf for path, leaf in leaves if path[0] == "warnings" and isinstance(leaf, str)]
    told = [*warnings, *(f"{name}: {why}" for name, why in unusable.items())]
    if beside:
        told.append(f"not in these numbers: {', '.join(beside)}")
    return [sentence(one, names) for one in told]


def _leaves(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, Mapping):
        for name, one in value.items():
            yield from _leaves(one, (*path, str(name)))
    elif isinstance(value, list):
        for number, one in enumerate(value, 1):
            yield from _leaves(one, (*path, _named(one, number)))
    else:
        yield path, value


def _estimates(value: Any, path: tuple[str, ...]) -> list[tuple[tuple[str, ...], Mapping[str, Any]]]:
    if isinstance(value, Mapping):
        if _is_estimate(value):
            return [(path, value)]
        return [found for name, one in value.items() for found in _estimates(one, (*path, str(name)))]
    if isinstance(value, list):
        return [found for n, one in enumerate(value, 1) for found in _estimates(one, (*path, _named(one, n)))]
    return []


def _is_estimate(value: Mapping[str, Any]) -> bool:
    """Whether this is the contract's form of a number; a plain ``value`` without an interval is a setting."""
    if "value" not in value or ("ci" not in value and value["value"] is not None):
        return False
    ci = value.get("ci")
    bounds = [value["value"], *(ci if isinstance(ci, list) else [])]
    return (ci is None or (isinstance(ci, list) and len(ci) == 2)) and all(
        bound is None or isinstance(bound, int | float) for bound in bounds
    )


def _named(value: Any, number: int) -> str:
    naming = ("system", "judge", "name", "task", "against")
    names = [value[key] for key in naming if key in value] if isinstance(value, Mapping) else []
    return " ".join(map(str, names)) if names else str(number)


def _without_rows(run: Mapping[str, Any]) -> TextTable:
    said = run["document"].get("sentence")
    caption = [
        f"{run['name']}: nothing is ranked.",
        *_sentences([said] if said else [], run),
        *_sentences(run["notes"], run),
    ]
    return TextTable(run["name"], ("place", "system"), (), tuple(caption), run["signature"])


def _tasks(document: Mapping[str, Any]) -> list[str]:
    systems = document["systems"].values()
    return [task for task in TASKS if any(s["preservation"][task]["value"] is not None for s in systems)]


def _has(run: Mapping[str, Any], name: str) -> bool:
    return any(scores[name]["value"] is not None for scores in run["slices"][0]["systems"].values())


def _authors(data: Mapping[str, Any]) -> str:
    if data["authors"] and data["authors"] == data["resampled"]:
        return f"{data['authors']:,} authors"
    return f"{data['resampled']:,} authors and posts without one" if data["authors"] else "posts"


def _ties(ranks: Mapping[str, Sequence[int]]) -> set[str]:
    """Systems whose range of places overlaps another's."""
    return {a for a, x in ranks.items() if any(a != b and x[0] <= y[1] and y[0] <= x[1] for b, y in ranks.items())}


def _place(rank: Sequence[int], tied: bool) -> str:
    best, worst = rank
    return (str(best) if best == worst else f"{best}-{worst}") + (TIE if tied else "")


def _marks_of(system: Mapping[str, Any]) -> list[str]:
    return [mark for mark, there in (("leaked", system["leaked"]), ("kin", bool(system["kin"]))) if there]


def _marks(system: Mapping[str, Any]) -> str:
    found = _marks_of(system)
    return f" ({', '.join(found)})" if found else ""


def _legend(marks: Sequence[str]) -> list[str]:
    texts = {
        "leaked": "leaked: the prompt held the judge's own label of age or gender.",
        "kin": "kin: the judge or verifier is this system or of the same maker.",
    }
    return [text for mark, text in texts.items() if mark in marks]


def _counts(run: Mapping[str, Any]) -> list[str]:
    """What failed or could not be read, by system."""
    out = []
    for field, what in (("failed", "gave no reply"), ("unparsed", "labels or verdicts that could not be read")):
        counted = [f"{s['name']} {s[field]:,}" for s in run["systems"] if s[field]]
        if counted:
            out.append(f"{what[:1].upper()}{what[1:]}: {', '.join(counted)}.")
    return out + _sentences(run["notes"], run)


def _sentences(notes: Sequence[str], run: Mapping[str, Any]) -> list[str]:
    names = names_of(run)
    return [sentence(note, names) for note in notes]


def _baselines_last(rows: Sequence[Row]) -> tuple[Row, ...]:
    return (*(r for r in rows if not r.aside), *(r for r in rows if r.aside))


def _times(estimate: Mapping[str, Any], factor: float) -> dict[str, Any]:
    out = dict(estimate)
    if out["value"] is not None:
        out["value"] = factor * out["value"]
    if out.get("ci"):
        out["ci"] = [None if bound is None else factor * bound for bound in out["ci"]]
    return out


def _number(estimate: Mapping[str, Any], digits: int = 1) -> str:
    value = estimate["value"]
    return estimate.get("state", "") or "-" if value is None else f"{value:.{digits}f}"


def _with_interval(estimate: Mapping[str, Any], digits: int = 1) -> str:
    ci = estimate.get("ci")
    if estimate["value"] is None or not ci or None in ci:
        return _number(estimate, digits)
    return f"{_number(estimate, digits)} [{ci[0]:.{digits}f}, {ci[1]:.{digits}f}]"
