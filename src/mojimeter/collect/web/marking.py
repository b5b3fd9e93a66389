"""Other people's texts as HTML that cannot do anything: escaped, emoji marked, control characters made visible.

What is rated comes as segments, pairs of a string and whether it is an emoji, cut when the study was made; the study's
own texts are cut here, with the list of its emoji. Knows nothing of studies; must not know the emoji table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from markupsafe import Markup, escape

from mojimeter.characters import BIDIRECTIONAL, CONTROLS, HALVES

_BIDIRECTIONAL: Final = {
    "\u202a": "LRE",
    "\u202b": "RLE",
    "\u202c": "PDF",
    "\u202d": "LRO",
    "\u202e": "RLO",
    "\u2066": "LRI",
    "\u2067": "RLI",
    "\u2068": "FSI",
    "\u2069": "PDI",
}
# Controls (but tab and newline), bidirectional controls, surrogates. A carriage return is part of a line's end.
_UNSAFE: Final = re.compile(f"[{CONTROLS}{BIDIRECTIONAL}{HALVES}]")
_LINE_END: Final = re.compile("\r\n?|\u2028|\u2029")


def pattern_of(emoji: Iterable[str]) -> re.Pattern[str] | None:
    """What finds these emoji in a text, the longest first; None for none."""
    longest_first = sorted(emoji, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first))) if longest_first else None


def segments(text: str, emoji: re.Pattern[str] | None) -> list[tuple[str, bool]]:
    """A text cut where emoji begin and end: parts, and whether each is an emoji.

    >>> segments("good 👍!", pattern_of(["👍"]))
    [('good ', False), ('👍', True), ('!', False)]
    """
    found: list[tuple[str, bool]] = []
    at = 0
    for one in emoji.finditer(text) if emoji else ():
        found += [(text[at : one.start()], False), (one[0], True)]
        at = one.end()
    return [(part, is_emoji) for part, is_emoji in [*found, (text[at:], False)] if part]


def show(parts: Iterable[Sequence[Any]]) -> Markup:
    """The segments of a text as safe HTML.

    Emoji become ``<span class="e">``, so that only they are drawn with the emoji font. A control that would turn the
    page's text round is shown by its name and has no effect; other controls and lone surrogates are shown as U+FFFD.
    Joiners and selectors stay: scripts and emoji are spelled with them.

    >>> show([["<b> ", False], ["😀", True]])
    Markup('&lt;b&gt; <span class="e">😀</span>')
    """
    return Markup("").join(_segment(str(part), bool(is_emoji)) for part, is_emoji in parts)


def _segment(text: str, is_emoji: bool) -> Markup:
    if is_emoji:
        return Markup('<span class="e">{}</span>').format(_visible(text))
    return _visible(text)


def _visible(text: str) -> Markup:
    text = _LINE_END.sub("\n", text)
    out, at = Markup(""), 0
    for found in _UNSAFE.finditer(text):
        out += escape(text[at : found.start()]) + _mark(found[0])
        at = found.end()
    return out + escape(text[at:])


def _mark(control: str) -> Markup:
    name = _BIDIRECTIONAL.get(control)
    return Markup("\ufffd") if name is None else Markup('<span class="control" dir="ltr">[{}]</span>').format(name)


def blocks(text: str) -> list[tuple[str, list[str]]]:
    r"""Paragraphs and lists of a plain text: ``("p", [text])`` or ``("ul", [item, ...])``.

    A blank line ends a block; lines that start with ``- `` or ``* `` are a list; other line ends are spaces.

    >>> blocks("One\nline.\n\n- a\n- b")
    [('p', ['One line.']), ('ul', ['a', 'b'])]
    """
    found: list[tuple[str, list[str]]] = []
    for chunk in re.split(r"\n\s*\n", _LINE_END.sub("\n", text).strip()):
        paragraph: list[str] = []
        points: list[str] = []
        for line in chunk.split("\n"):
            if re.match(r"\s*[-*]\s+", line):
                points.append(re.sub(r"^\s*[-*]\s+", "", line).strip())
            elif points:
                points[-1] += " " + line.strip()
            else:
                paragraph.append(line.strip())
        if any(paragraph):
            found.append(("p", [" ".join(paragraph)]))
        if points:
            found.append(("ul", points))
    return found
