"""A report's tables for papers: LaTeX (booktabs) and Markdown, one table a run.

A table has the headline score with its interval, the places that the data leave open, and marks of what a reader must
know; baselines stand below a rule, and the caption carries the signature. What a cell says is decided once
(``tables_of``) and written twice. Reads the page document; names are other people's, so every text is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mojimeter.datasets.records import TASKS
from mojimeter.report.plain import plain
from mojimeter.report.sentences import PERCEIVED, names_of, sentence

_RANKED = {
    "average": "labels preserved, percent, mean of the tasks",
    "average_unleaked": "labels preserved, percent, mean of sentiment, emotion and stance",
    "f1": "overlap F1 with the original emoji, percent",
}
_PLACES = (
    "Place: all that these data leave open at 95%, all pairs compared at once; "
    "{tie}: shares a place with another system."
)
TIE = "="


@dataclass(frozen=True, slots=True)
class Row:
    """One system: its name, and a cell a column; ``aside`` puts it below the rule."""

    cells: tuple[str, ...]
    aside: bool = False


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table of text.

    Attributes:
        name: of the run.
        columns: headings; the first two columns are text (place and system), the rest numbers.
        rows: best first, those that stand aside last.
        caption: what the numbers are, sentence by sentence.
        signature: of the run, where it has one.
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    caption: tuple[str, ...]
    signature: str | None


def to_latex(document: Mapping[str, Any]) -> str:
    """LaTeX: a ``table`` environment a run, for ``booktabs``; plain ASCII but for letters of names.

    Args:
        document: the page document.
    """
    tables = "\n".join(_latex_table(table) for table in tables_of(document))
    title = _comment(document["title"])
    head = f"% {title}\n% mojimeter {_comment(document['version'])}; needs \\usepackage{{booktabs}}\n"
    return head + "\n" + tables


def to_markdown(document: Mapping[str, Any]) -> str:
    """Markdown (GitHub's tables): a heading, a table and a caption a run."""
    tables = tables_of(document)
    # a report of one run is called as the run is, unless it was given a title: once is enough
    named = [table.name for table in tables] == [document["title"]]
    parts = [] if named else [f"# {_markdown(document['title'])}", ""]
    for table in tables:
        parts += [*_markdown_table(table, "#" if named else "##"), ""]
    return "\n".join(parts)


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
    caption = (f"{run['name']}: {run['command']}, with 95% intervals.",)
    return TextTable(run["name"], ("measure", "value"), tuple(rows), caption, run["signature"])


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


# LaTeX ---------------------------------------------------------------------------------------------------------------

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"{\char34}",
    "`": r"\textasciigrave{}",
}


def escape_latex(text: str) -> str:
    r"""Any text as LaTeX that prints it, on one line; emoji, which papers' fonts lack, by their names in brackets.

    >>> print(escape_latex("50% of_it {a}"))
    50\% of\_it \{a\}
    """
    from mojimeter import emoji

    text = plain(text)
    pieces, at = [], 0
    for start, end in emoji.spans(text):
        pieces += [text[at:start], f"[{emoji.name(text[start:end])}]"]
        at = end
    escaped = "".join(_LATEX.get(c, c) for c in "".join([*pieces, text[at:]]))
    return escaped.replace("--", "-{}-").replace("''", "'{}'")  # else dashes and closing quotes


def _comment(text: str) -> str:
    """A text for a line of comment, which ends where the line does."""
    return re.sub(r"[^\x20-\x7e]", "?", plain(text))


def _latex_table(table: TextTable) -> str:
    columns = "ll" + "r" * (len(table.columns) - 2)
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        " & ".join(escape_latex(name) for name in table.columns) + r" \\",
        r"\midrule",
    ]
    for number, row in enumerate(table.rows):
        if row.aside and number and not table.rows[number - 1].aside:
            lines.append(r"\midrule")
        lines.append(" & ".join(_latex_cell(cell) for cell in row.cells) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}", rf"\caption{{{_latex_caption(table)}}}", r"\end{table}", ""]
    return "\n".join(lines)


def _latex_cell(cell: str) -> str:
    """A cell; a bracket at its start would be read as an option of the line break before it."""
    text = escape_latex(cell)
    if re.fullmatch(r"\d+-\d+=?", cell):
        text = text.replace("-", "--")
    text = re.sub(r"^-(?=\d)", "$-$", text)
    return f"{{}}{text}" if text.startswith("[") else text


def _latex_caption(table: TextTable) -> str:
    said = " ".join(escape_latex(sentence) for sentence in table.caption)
    if table.signature is None:
        return said
    # the signature is one long word: break it where its parts end
    parts = table.signature.split("|")
    return said + r" Signature: \texttt{" + r"\textbar{}\allowbreak ".join(escape_latex(part) for part in parts) + "}."


# Markdown ------------------------------------------------------------------------------------------------------------


def _markdown(text: str) -> str:
    """Any text as Markdown that shows it, on one line: no markup, no HTML, no new cell."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|~$&])", r"\\\1", plain(text))


def _code(text: str) -> str:
    """A text as code of one line; a fence longer than any row of backticks in it."""
    shown = plain(text)
    fence = "`" * (1 + max(map(len, re.findall("`+", shown)), default=0))
    space = " " if shown[:1] in ("`", " ") or shown[-1:] in ("`", " ") else ""
    return f"{fence}{space}{shown}{space}{fence}"


def _markdown_table(table: TextTable, heading: str) -> list[str]:
    lines = [f"{heading} {_markdown(table.name)}", ""]
    if table.rows:
        lines.append("| " + " | ".join(_markdown(name) for name in table.columns) + " |")
        lines.append("|" + "|".join([":---"] * 2 + ["---:"] * (len(table.columns) - 2)) + "|")
        for number, row in enumerate(table.rows):
            if row.aside and number and not table.rows[number - 1].aside:
                lines.append("|" + " |" * len(table.columns))  # Markdown has no rule: an empty row
            lines.append("| " + " | ".join(_markdown_cell(cell) for cell in row.cells) + " |")
        lines.append("")
    lines.append(" ".join(_markdown(sentence) for sentence in table.caption))
    if table.signature is not None:
        lines += ["", "Signature: " + _code(table.signature)]
    return lines


def _markdown_cell(cell: str) -> str:
    """A cell; numbers with their intervals are left readable."""
    return cell if re.fullmatch(r"[-\d., \[\]=]*", cell) and "](" not in cell else _markdown(cell)
