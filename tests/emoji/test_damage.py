"""Broken places are counted, and sound text is left alone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from mojimeter import emoji
from mojimeter.emoji.scan import table
from tests.emoji.support import NASTY


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("plain words", 0),
        ("café → ©", 0),
        ("\ufffd🚫", 1),
        ("\ufffd\ufffd\u200d🔥", 3),
        ("🛫🇦👋", 1),
        ("🇮🇳🇧🇩🇬", 1),
        ("🚫👩\u200d👧🏻💪", 1),
        ("🏻", 1),
        ("🏻\ufe0f", 1),
        ("👍🏻", 0),
        ("👻\u200d👻\u200d👻", 2),
        ("😀\u200d", 1),
        ("\u200d", 1),
        ("क्\u200dष র\u200d্য می\u200cخواهم", 0),
        ("🏴\U000e0067\U000e0062", 1),
        ("🏴󠁧󠁢󠁥󠁮󠁧󠁿", 0),
        ("\ud83d and \udc00", 2),
        ("😀\ufe0f", 0),
    ],
)
def test_broken_places_are_counted(text: str, places: int) -> None:
    assert emoji.damage(text) == places


def test_no_whole_emoji_but_a_bare_tone_counts_as_broken() -> None:
    assert {string for string in table() if emoji.damage(string)} == set("🏻🏼🏽🏾🏿")


@given(NASTY)
@settings(max_examples=400, deadline=None)
def test_a_text_without_its_broken_places_is_sound(text: str) -> None:
    if emoji.damage(text) == 0:
        left = emoji.without_damage(text)
        assert left == text.replace("\ufe0f", "").replace("\ufe0e", "")
    else:
        assert len(emoji.without_damage(text)) < len(text)
