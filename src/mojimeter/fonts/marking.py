"""Untrusted text as safe HTML with its emoji marked, so that the emoji font is used around emoji and nowhere else.

The report's page and the rater's app both show posts and replies with it. Emoji are found by the project's own
scanner, so what is shown in colour is what is scored. Characters that would turn the page around or vanish are shown
by their number. Knows strings only: no template engine, no font.
"""

from __future__ import annotations

import re
import unicodedata
from html import escape
from typing import Final, Literal

from mojimeter.characters import BIDIRECTIONAL, CONTROLS, HALVES
from mojimeter.emoji.scan import spans

Element = Literal["bdi", "span", "p", "div", "blockquote", "td"]

#: Shown by their number. Controls that override or embed a direction (they would reorder what stands around a text),
#: the controls of ASCII and Latin-1 except tab and line ends, halves of surrogate pairs, and the two characters
#: of each plane that are none.
_SHOWN_BY_NUMBER: Final = re.compile(
    f"[{BIDIRECTIONAL}{CONTROLS}{HALVES}\ufdd0-\ufdef"
    + "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(17))
    + "]"
)
#: Names of controls for which Unicode's table has none.
_NAMES_OF_CONTROLS: Final = {0x00: "NULL", 0x07: "BELL", 0x08: "BACKSPACE", 0x1B: "ESCAPE", 0x7F: "DELETE"}


class Html(str):
    """HTML that is safe as it is: template engines that ask for ``__html__`` (Jinja2 does) do not escape it again."""

    __slots__ = ()

    def __html__(self) -> str:
        return str(self)


def mark_emoji(text: str, element: Element = "bdi", lang: str | None = None) -> Html:
    """Any text as one HTML element, every emoji in ``<span class="e">``; nothing of the text is dropped.

    The element has ``dir="auto"``, which isolates it: text that runs from right to left stays inside it. Characters
    shown by their number stand in ``<span class="control" title="RIGHT-TO-LEFT OVERRIDE">U+202E</span>``. Line ends
    are kept as they are: give the element ``white-space: pre-wrap``.

    Args:
        text: anything, lone surrogates too.
        element: the element made.
        lang: its language, such as ``hi``; left out where it is not known.

    >>> mark_emoji("1 < 2 👍", lang="en")
    '<bdi dir="auto" lang="en">1 &lt; 2 <span class="e">👍</span></bdi>'
    """
    language = f' lang="{escape(lang)}"' if lang else ""
    return Html(f'<{element} dir="auto"{language}>{_marked(text)}</{element}>')


def _marked(text: str) -> str:
    parts: list[str] = []
    at = 0
    for start, end in spans(text):
        parts += (_plain(text[at:start]), f'<span class="e">{text[start:end]}</span>')
        at = end
    return "".join((*parts, _plain(text[at:])))


def _plain(text: str) -> str:
    return _SHOWN_BY_NUMBER.sub(lambda match: _by_number(match[0]), escape(text))


def _by_number(character: str) -> str:
    return f'<span class="control" title="{_name(character)}">U+{ord(character):04X}</span>'


def _name(character: str) -> str:
    if "\ud800" <= character <= "\udfff":
        return "half of a surrogate pair"
    return unicodedata.name(character, "") or _NAMES_OF_CONTROLS.get(ord(character), "control character")
