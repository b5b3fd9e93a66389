"""Counts what is broken in a text that was meant to hold emoji.

Models cut emoji apart and streams cut characters apart; a reply with such rests is not a clean answer.
Knows nothing of replies: it counts places in a string.
"""

from __future__ import annotations

import re
from typing import Final

from mojimeter.emoji import scan

REPLACEMENT: Final = "\ufffd"

_BREAKABLE: Final = (
    f"{REPLACEMENT}{scan.JOINER}"
    f"{min(scan.REGIONAL_INDICATORS)}-{max(scan.REGIONAL_INDICATORS)}"
    f"{min(scan.SKIN_TONES)}-{max(scan.SKIN_TONES)}"
    f"{min(scan.TAGS)}-{max(scan.TAGS)}"
)
_place = re.compile(f"[{min(scan.TAGS)}-{max(scan.TAGS)}]+|[{_BREAKABLE}\ud800-\udfff]")

#: Body of a regex class: the characters that can be broken places, and the selectors. Lone surrogates
#: apart, which are in no Polars string, whatever ``damage`` counts or ``without_damage`` takes is here.
DAMAGE_CLASS: Final = f"{_BREAKABLE}{scan.EMOJI_SELECTOR}{scan.TEXT_SELECTOR}"


def damage(text: str) -> int:
    """The number of broken places in a text; 0 for a sound one.

    Counted are U+FFFD and lone surrogates; regional indicators that are no flag; skin tones that follow
    no emoji which takes one; joiners outside emoji that are not spelling (next to a letter of an Indic,
    Arabic or like script); and tag characters outside a flag, a row of them as one.
    """
    if text.isascii() or not _place.search(text):
        return 0
    return sum(_is_broken(text, place) for place in _places(text))


def without_damage(text: str) -> str:
    """The text without its broken places and without selectors: what a reader would call its words."""
    if text.isascii():
        return text
    broken = [place for place in _places(text) if _is_broken(text, place)]
    kept, at = [], 0
    for start, end in broken:
        kept.append(text[at:start])
        at = end
    kept.append(text[at:])
    return "".join(kept).replace(scan.EMOJI_SELECTOR, "").replace(scan.TEXT_SELECTOR, "")


def _places(text: str) -> list[tuple[int, int]]:
    """(start, end) of everything that is broken unless it is part of an emoji or of spelling."""
    whole = [(start, end) for start, end in scan.spans(text) if text[start] not in scan.SKIN_TONES]
    inside = {at for start, end in whole for at in range(start, end)}
    return [match.span() for match in _place.finditer(text) if match.start() not in inside]


def _is_broken(text: str, place: tuple[int, int]) -> bool:
    start, end = place
    if text[start] != scan.JOINER:
        return True
    return not any(scan.joins_letters(c) for c in text[max(start - 1, 0) : start] + text[end : end + 1])
