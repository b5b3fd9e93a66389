"""The characters that the published overlap compares."""

from __future__ import annotations

import polars as pl

from mojimeter.metrics.code_points import characters, mostly_words


def test_a_skin_tone_a_joiner_and_a_blank_are_characters_like_any_other() -> None:
    assert characters(pl.Series(["👍🏽 a", None])).to_list() == [["👍", "🏽", " ", "a"], []]


def test_in_ranges_words_and_joiners_are_left_out() -> None:
    # 🤷 (U+1F937) U+200D ♂ (U+2642) U+FE0F: joiner and selector are outside the printed ranges
    assert characters(pl.Series(["🤷‍♂️ (shrug)"]), in_ranges=True).to_list() == [["🤷", "♂"]]


def test_a_system_that_mostly_explains_is_told_by_its_replies() -> None:
    assert mostly_words(pl.Series(["🎉 (party)", "😢 sad", "👍"]))
    assert not mostly_words(pl.Series(["🎉 (party)", "😢", "👍", None]))


def test_half_is_not_most() -> None:
    assert not mostly_words(pl.Series(["🎉 party", "😢"]))
