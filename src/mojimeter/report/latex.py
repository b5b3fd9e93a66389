r"""Tables in LaTeX, for ``booktabs`` and ``graphicx``: it compiles and fits whatever stands in a name.

A table that is wider than its line is made smaller, a long one goes on in further floats, and long names break. Every
text is somebody else's and is escaped. Knows ``TextTable`` only.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import ceil

from mojimeter.report.plain import plain
from mojimeter.report.text_table import TIE, TextTable

_LINES = 30  # of rows in a float: with its caption it fits a page of an article
_NAME = 36  # letters; longer names wrap
_NAME_OF_FEW = 72  # in a table of few columns
_WORD = 30  # letters; longer words may break
_SEPARATORS = "-/_.:|,=+"
# what LaTeX itself sets with any engine: Latin letters, and the dashes, quotes and dots of text
_BEYOND_LATIN = re.compile(r"[^\x00-\u017f\u2010-\u2026]")

# \GenericWarning, because "silently smaller" is how a table becomes unreadable
_FIT = r"""% \mojimeterfit{table}: a table that is wider than the line is made smaller
\providecommand{\mojimeterfit}[1]{\sbox0{#1}\ifdim\wd0>\linewidth
  \ifdim.6\wd0>\linewidth\GenericWarning{}{mojimeter: a table has less than 60 percent of its size: turn it}\fi
  \resizebox{\linewidth}{!}{\usebox0}\else\usebox0\fi}
"""
_SETTINGS = (r"\centering", r"\setlength{\tabcolsep}{4pt}\setlength{\emergencystretch}{3em}")
_ESCAPED = {
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


def latex_of(tables: Iterable[TextTable], title: str, version: str) -> str:
    """The tables as LaTeX for an ``input``: a float each, long ones several.

    Args:
        tables: one a run.
        title: of the report, for the comment at the top.
        version: of mojimeter.
    """
    body = "\n".join(_floats(table) for table in tables)
    head = [f"% {_comment(title)}", f"% mojimeter {_comment(version)}; needs \\usepackage{{booktabs,graphicx}}"]
    if scripts := _scripts(body):
        head.append(f"% beyond Latin: {scripts}; needs lualatex or xelatex and fonts that have these letters")
    return "\n".join([*head, _FIT, body])


def escape_latex(text: str) -> str:
    r"""Any text as LaTeX that prints it, on one line; emoji, which papers' fonts lack, by their names in brackets.

    A long word may break where its parts end.

    >>> print(escape_latex("50% of_it {a}"))
    50\% of\_it \{a\}
    """
    named = unicodedata.normalize("NFC", _with_emoji_named(plain(text)))
    pieces = re.split(rf"(\S{{{_WORD},}})", named)
    return "".join(r"\allowbreak{}".join(map(_escape, _parts(p) if n % 2 else [p])) for n, p in enumerate(pieces))


def _with_emoji_named(text: str) -> str:
    from mojimeter import emoji

    pieces, at = [], 0
    for start, end in emoji.spans(text):
        pieces += [text[at:start], f"[{emoji.name(text[start:end])}]"]
        at = end
    return "".join([*pieces, text[at:]])


def _parts(word: str) -> list[str]:
    """A long word in parts between which it may break: behind separators, and in what is long without one."""
    kept = re.escape(_SEPARATORS)
    return re.findall(rf"[^{kept}]{{1,{_WORD - 6}}}[{kept}]?|[{kept}]", word)


def _escape(text: str) -> str:
    escaped = "".join(_ESCAPED.get(c, c) for c in text)
    return re.sub(r"([-',])(?=\1)", r"\1{}", escaped)  # else dashes and quotes of a typesetter


def _comment(text: str) -> str:
    """A text for a line of comment, which ends where the line does."""
    return re.sub(r"[^\x20-\x7e]", "?", plain(text))


def _scripts(text: str) -> str:
    """What scripts there are beside Latin, and what other characters; both as ASCII."""
    found: dict[str, None] = {}
    for character in _BEYOND_LATIN.findall(text):
        script = unicodedata.name(character, "").split(" ")[0] if unicodedata.category(character)[0] in "LM" else ""
        found[f"U+{ord(character):04X}" if script in ("", "LATIN", "COMBINING") else script] = None
    return ", ".join(found)


def _floats(table: TextTable) -> str:
    where = "table*" if len(table.columns) > 4 else "table"  # the starred one spans both columns of a page
    says = rf"\caption[{{{escape_latex(table.name)}}}]{{{_caption(table)}}}"
    out = []
    for number, rows in enumerate(_pages(table) or [range(0)]):
        lines = _tabular(table, rows) if rows else []
        lines.append(says if number == 0 else r"\par\medskip\tablename~\thetable{} (continued)")
        out.append("\n".join([rf"\begin{{{where}}}", *_SETTINGS, *lines, rf"\end{{{where}}}", ""]))
    return "\n".join(out)


def _pages(table: TextTable) -> list[range]:
    """The rows of each float, about as many lines in each."""
    limit = _longest_name(table)
    lines = [1 + max(len(plain(cell)) for cell in row.cells[: table.texts]) // limit for row in table.rows]
    most = ceil(sum(lines) / max(1, ceil(sum(lines) / _LINES)))
    ends, used = [0], 0
    for number, taken in enumerate(lines):
        if number > ends[-1] and used + taken > most:
            ends.append(number)
            used = 0
        used += taken
    return [range(a, b) for a, b in pairwise([*ends, len(lines)]) if a < b]


def _longest_name(table: TextTable) -> int:
    return _NAME_OF_FEW if len(table.columns) <= 3 else _NAME


def _tabular(table: TextTable, rows: Sequence[int]) -> list[str]:
    heads = [escape_latex(name) if n < table.texts else _head(name) for n, name in enumerate(table.columns)]
    wraps = _wrapping(table)
    width = f"p{{{_longest_name(table) // 2}em}}"  # a letter is half an em wide
    kinds = "".join(width if n in wraps else "l" if n < table.texts else "r" for n in range(len(table.columns)))
    lines = [rf"\mojimeterfit{{\begin{{tabular}}{{{kinds}}}", r"\toprule", " & ".join(heads) + r" \\", r"\midrule"]
    for number in rows:
        if table.rule_above(number) and number != rows[0]:
            lines.append(r"\midrule")
        cells = [
            _text_cell(cell, n in wraps) if n < table.texts else _number_cell(cell)
            for n, cell in enumerate(table.rows[number].cells)
        ]
        lines.append(" & ".join(cells) + r" \\")
    return [*lines, r"\bottomrule", r"\end{tabular}}"]


def _wrapping(table: TextTable) -> set[int]:
    """The columns of text in which something is too long for a line."""
    limit = _longest_name(table)
    return {n for n in range(table.texts) if any(len(plain(row.cells[n])) > limit for row in table.rows)}


def _head(name: str) -> str:
    """The head of a column of numbers, a word a line: heads are longer than numbers."""
    words = escape_latex(name).split(" ")
    return words[0] if len(words) == 1 else r"\shortstack[r]{" + r"\\".join(words) + "}"


def _text_cell(cell: str, wraps: bool) -> str:
    """A cell; a bracket or a star at its start would belong to the line break before it."""
    text = escape_latex(cell)
    if re.fullmatch(rf"\d+-\d+{TIE}?", cell):
        text = text.replace("-", "--")  # a range of places
    return rf"\raggedright {text}" if wraps else f"{{}}{text}" if text.startswith(("[", "*")) else text


def _number_cell(cell: str) -> str:
    """A number with a minus that is one, its interval in smaller type."""
    text = re.sub(r"(?<![\w.-])-(?=\d)", "$-$", escape_latex(cell))
    return re.sub(r" (\[.*\])$", r" {\\footnotesize \1}", text)


def _caption(table: TextTable) -> str:
    said = " ".join(escape_latex(sentence) for sentence in table.caption)
    if table.signature is None:
        return said
    # the signature is one long word: break it where its parts end
    parts = table.signature.split("|")
    return said + r" Signature: \texttt{" + r"\textbar{}\allowbreak ".join(escape_latex(part) for part in parts) + "}."
