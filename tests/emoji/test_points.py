"""Code points as the published overlap figures take them."""

from __future__ import annotations

import pytest

from mojimeter import emoji
from mojimeter.errors import InputError


def test_a_tone_and_a_joiner_count_as_emoji_at_the_level_of_code_points() -> None:
    assert emoji.code_points("ok 👍🏽 🤷‍♂️!") == ["👍", "🏽", "🤷", "\u200d", "♂", "\ufe0f"]
    assert emoji.code_points("room 12 #4") == []


def test_all_code_points_hold_the_words_too() -> None:
    assert emoji.code_points("a👍🏽", "all") == ["a", "👍", "🏽"]


def test_the_blocks_leave_joiners_and_selectors_out() -> None:
    assert emoji.code_points("a🤷‍♂️ ❤️ ‼", "blocks") == ["🤷", "♂", "❤"]


def test_another_choice_is_refused() -> None:
    with pytest.raises(InputError, match="all, emoji, blocks"):
        emoji.code_points("a", "none")  # type: ignore[arg-type]
