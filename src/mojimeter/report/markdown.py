"""Tables in GitHub's Markdown. Every text is somebody else's and is escaped. Knows ``TextTable`` only."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mojimeter.report.plain import plain
from mojimeter.report.text_table import TextTable


def markdown_of(tables: Sequence[TextTable], title: str) -> str:
    """The tables as Markdown: a heading, a table and a caption each, under the report's title."""
    # a report of one run is called as the run is, unless it was given a title: once is enough
    named = [table.name for table in tables] == [title]
    parts = [] if named else [f"# {_escape(title)}", ""]
    for table in tables:
        parts += [*_table(table, "#" if named else "##"), ""]
    return "\n".join(parts)


def _escape(text: str) -> str:
    """Any text as Markdown that shows it, on one line: no markup, no HTML, no new cell."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|~$&])", r"\\\1", plain(text))


def _paragraph(escaped: str) -> str:
    """Text at the start of a line, where a dash, a number or room would be a list or code."""
    return re.sub(r"^(\d*)([-=.])", r"\1\\\2", escaped.strip())


def _code(text: str) -> str:
    """A text as code of one line; a fence longer than any row of backticks in it."""
    shown = plain(text)
    fence = "`" * (1 + max(map(len, re.findall("`+", shown)), default=0))
    space = " " if shown[:1] in ("`", " ") or shown[-1:] in ("`", " ") else ""
    return f"{fence}{space}{shown}{space}{fence}"


def _table(table: TextTable, heading: str) -> list[str]:
    lines = [f"{heading} {_escape(table.name)}", ""]
    if table.rows:
        lines.append("| " + " | ".join(_escape(name) for name in table.columns) + " |")
        lines.append("|" + "|".join([":---"] * table.texts + ["---:"] * (len(table.columns) - table.texts)) + "|")
        for number, row in enumerate(table.rows):
            if table.rule_above(number):
                lines.append("|" + " |" * len(table.columns))  # Markdown has no rule: an empty row
            lines.append("| " + " | ".join(_cell(cell) for cell in row.cells) + " |")
        lines.append("")
    lines.append(_paragraph(" ".join(_escape(sentence) for sentence in table.caption)))
    if table.signature is not None:
        lines += ["", "Signature: " + _code(table.signature)]
    return lines


def _cell(cell: str) -> str:
    """A cell; numbers with their intervals are left readable."""
    return cell if re.fullmatch(r"[-\d., \[\]=]*", cell) and "](" not in cell else _escape(cell)
