"""When two emoji are the same, at four levels."""

from __future__ import annotations

from itertools import pairwise

import pytest

from mojimeter import emoji
from mojimeter.errors import InputError

# a, b -> the strictest level at which they are the same (None: at no level)
PAIRS = [
    ("☕", "☕", "exact"),
    ("☕", "☕️", "presentation"),
    ("1⃣", "1️⃣", "presentation"),
    ("👁️‍🗨️", "👁‍🗨", "presentation"),
    ("👍🏽", "👍", "tone"),
    ("✌🏼", "✌️", "tone"),
    ("🏋🏿‍♀️", "🏋️‍♀️", "tone"),
    ("🫱🏽‍🫲🏿", "🤝", "tone"),
    ("👩🏻‍🤝‍👨🏿", "👫", "tone"),
    ("🧑🏻‍❤️‍🧑🏿", "💑", "tone"),
    ("🧑🏻‍❤️‍💋‍🧑🏿", "💏", "tone"),
    ("🤷", "🤷‍♂️", "gender"),
    ("🤷🏽‍♀️", "🤷‍♂️", "gender"),
    ("👨‍🚀", "👩🏾‍🚀", "gender"),
    ("👨‍⚕️", "🧑‍⚕️", "gender"),
    ("👦", "👧", "gender"),
    ("🤴", "👸", "gender"),
    ("🎅", "🤶🏿", "gender"),
    ("🤰", "🫃", "gender"),
    ("💃", "🕺", "gender"),
    ("👭", "👬", "gender"),
    ("👨‍❤️‍👨", "💑", "gender"),
    ("👩‍❤️‍💋‍👨", "💏", "gender"),
    ("👨‍👩‍👦", "👩‍👩‍👧", "gender"),
    ("🏴", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", None),
    ("🇮🇳", "🇧🇩", None),
    ("🏳️‍🌈", "🏳️", None),
    ("♂️", "♀️", None),
    ("🚹", "🚺", None),
    ("🏽", "🏿", None),
    ("👍", "👎", None),
]


@pytest.mark.parametrize(("a", "b", "strictest"), PAIRS)
def test_two_emoji_are_the_same_from_their_strictest_level_on(a: str, b: str, strictest: str | None) -> None:
    levels = emoji.LEVELS
    first = len(levels) if strictest is None else levels.index(strictest)
    assert [emoji.same(a, b, level) for level in levels] == [i >= first for i in range(len(levels))]


def test_every_level_is_looser_than_the_last() -> None:
    for strict, loose in pairwise(emoji.LEVELS):
        merged: dict[str, str] = {}
        for string in emoji.all_emoji():
            assert merged.setdefault(emoji.key(string, strict), emoji.key(string, loose)) == emoji.key(string, loose)


def test_the_key_of_an_emoji_is_its_own_key() -> None:
    for level in emoji.LEVELS:
        for string in emoji.all_emoji():
            key = emoji.key(string, level)
            assert emoji.key(key, level) == key
            assert emoji.find(key + "\ufe0f") != []


def test_without_tones_every_key_is_the_key_of_an_emoji_without_tones() -> None:
    tones = {chr(c) for c in range(0x1F3FB, 0x1F400)}
    plain = {emoji.key(e) for e in emoji.all_emoji() if not tones & set(e)} | tones
    assert {emoji.key(e, "tone") for e in emoji.all_emoji()} <= plain


def test_an_unknown_level_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="exact, presentation, tone, gender"):
        emoji.key("👍", "colour")  # type: ignore[arg-type]
