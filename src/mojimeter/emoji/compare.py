"""When two emoji are the same: four levels, each looser than the last.

Pure functions of strings; knows nothing of names or texts.

* ``exact``: code point for code point.
* ``presentation``: the selectors VS15 and VS16 are ignored (☕ is ☕️).
* ``tone``: skin tones are ignored too, and a pair that only exists with tones is its untoned emoji
  (🫱🏽‍🫲🏿 is 🤝).
* ``gender``: the gender of people is ignored too (🤷‍♂️, 🤷‍♀️ and 🤷 are the same). Signs for rooms and
  clothes (🚹, 👗) are things, not people, and stay.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Literal, get_args

from mojimeter.emoji.scan import EMOJI_SELECTOR, SKIN_TONES, TEXT_SELECTOR
from mojimeter.errors import InputError

Level = Literal["exact", "presentation", "tone", "gender"]
LEVELS: Final[tuple[str, ...]] = get_args(Level)

# Two people with one tone each are written as a sequence; without tones there is a single character.
_UNTONED: Final = {
    "🫱‍🫲": "🤝",
    "👩‍🤝‍👨": "👫",
    "👩‍🤝‍👩": "👭",
    "👨‍🤝‍👨": "👬",
    "🧑‍❤‍🧑": "💑",
    "🧑‍❤‍💋‍🧑": "💏",
    "🧑‍🐰‍🧑": "👯",
    "👨‍🐰‍👨": "👯‍♂",
    "👩‍🐰‍👩": "👯‍♀",
    "🧑‍🫯‍🧑": "🤼",
    "👨‍🫯‍👨": "🤼‍♂",
    "👩‍🫯‍👩": "🤼‍♀",
}

# Characters that stand for people of one gender -> the same without gender (Unicode's emoji charts).
_UNGENDERED_CHARACTER: Final = str.maketrans(
    {
        "👨": "🧑",
        "👩": "🧑",
        "👦": "🧒",
        "👧": "🧒",
        "👴": "🧓",
        "👵": "🧓",
        "🤴": "🫅",
        "👸": "🫅",
        "🎅": "🧑‍🎄",
        "🤶": "🧑‍🎄",
        "🤰": "🫄",
        "🫃": "🫄",
        "🕺": "💃",  # dancers have no form without gender: one stands for both
        "👫": "🧑‍🤝‍🧑",
        "👬": "🧑‍🤝‍🧑",
        "👭": "🧑‍🤝‍🧑",
    }
)
_GENDER_SIGNS: Final = ("‍♂", "‍♀")


@lru_cache(maxsize=65_536)
def key(emoji: str, level: Level = "presentation") -> str:
    """The string that all emoji which are the same at a level share.

    Args:
        emoji: one emoji, as ``find`` gives it.
        level: ``exact``, ``presentation``, ``tone`` or ``gender``.

    Raises:
        InputError: for another level.

    >>> key("👍🏽", "tone")
    '👍'
    """
    if level not in LEVELS:
        raise InputError(f"emoji-equality level {level!r}: expected {', '.join(LEVELS)}")
    if level == "exact":
        return emoji
    shown = emoji.replace(EMOJI_SELECTOR, "").replace(TEXT_SELECTOR, "")
    if level == "presentation":
        return shown
    untoned = "".join(c for c in shown if c not in SKIN_TONES) or shown
    untoned = _UNTONED.get(untoned, untoned)
    if level == "tone":
        return untoned
    for sign in _GENDER_SIGNS:
        untoned = untoned.replace(sign, "")
    ungendered = untoned.translate(_UNGENDERED_CHARACTER)
    return _UNTONED.get(ungendered, ungendered)


def same(a: str, b: str, level: Level = "presentation") -> bool:
    """Whether two emoji are the same at a level.

    >>> same("☕", "☕️"), same("☕", "☕️", "exact")
    (True, False)
    """
    return key(a, level) == key(b, level)
