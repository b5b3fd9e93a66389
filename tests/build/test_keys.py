"""When posts are duplicates, and what a seeded hash draws."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from itertools import groupby

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mojimeter import emoji
from mojimeter.build.keys import draw_key, draw_keys, lowest, near_keys, near_text
from mojimeter.build.masks import mask_column


def by_the_words_of_the_definition(text: str) -> str:
    """Casefold; remove emoji, handles, links, digits, punctuation, repeated letters. One step a line, no tables."""
    text = emoji.strip(text)
    text = re.sub(r"https?://\S+|@\w+", "", text)
    text = text.casefold()
    text = "".join(c if not c.isspace() else " " for c in text if c.isspace() or unicodedata.category(c)[0] in "LM")
    text = text.replace("\ufe0f", "")  # shapes emoji, and is a "mark" to Unicode only
    text = "".join(letter for letter, _ in groupby(text))
    return text.strip()


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Sooo HAPPYYY!!! 😀", "so hapy"),
        ("@bob look https://t.co/x 12 times", "look times"),
        ("Straße", "STRASSE"),
        ("don't go", "dont   go 🙏🙏"),
        ("क्या बात है!!", "क्या बात है 😍"),
        ("ok 1️⃣2️⃣", "OK"),
    ],
)
def test_near_duplicates_share_text_and_key(a: str, b: str) -> None:
    texts = pl.Series([a, b])
    first, second = near_text(texts)
    assert first == second != ""
    keys = near_keys(mask_column(texts))
    assert keys[0] == keys[1]


@pytest.mark.parametrize(("a", "b"), [("we won", "we lost"), ("now here", "nowhere"), ("কি", "কী"), ("😀 12", "🎂 30")])
def test_other_posts_have_other_keys(a: str, b: str) -> None:
    keys = near_keys(pl.Series([a, b]))
    assert keys[0] != keys[1]


LETTERS = st.text(alphabet="aAbßİ !,.9é…\n\tक्षাশ্ৰЖ한😀❤️👍🏽“”—", max_size=20)


@settings(deadline=None)  # a busy machine is no failure
@given(st.lists(LETTERS, min_size=1, max_size=8))
def test_near_text_is_what_the_definition_says(texts: list[str]) -> None:
    assert near_text(pl.Series(texts)).to_list() == [by_the_words_of_the_definition(text) for text in texts]


@settings(deadline=None)  # a busy machine is no failure
@given(st.lists(LETTERS, min_size=1, max_size=8))
def test_keys_are_equal_exactly_where_the_texts_are(texts: list[str]) -> None:
    column = pl.Series(texts)
    names = [near or f"\0{text}" for near, text in zip(near_text(column), texts, strict=True)]
    keys = near_keys(column).tolist()
    assert len(set(keys)) == len(set(names)) == len(set(zip(keys, names, strict=True)))


def test_keys_do_not_depend_on_the_other_texts_of_the_column() -> None:
    texts = [f"word{'x' * (n % 7)} number {chr(97 + n % 26)}{chr(97 + n // 26 % 26)} é" for n in range(9000)]
    together = near_keys(pl.Series(texts))
    alone = np.concatenate([near_keys(pl.Series(texts[at : at + 100])) for at in range(0, 9000, 100)])
    assert (together == alone).all()


def test_a_draw_is_the_blake2b_of_the_id_under_the_seed() -> None:
    # computed by hand with Python's hashlib: key = the seed as 16 little-endian bytes, 8 bytes of digest
    expected = hashlib.blake2b(b"p1", digest_size=8, key=b"\x05" + b"\0" * 15).digest()
    assert draw_key(5, "p1") == int.from_bytes(expected, "little")
    assert draw_key(5, "p1") != draw_key(6, "p1")


@settings(deadline=None)  # a busy machine is no failure
@given(st.lists(st.text(max_size=5), unique=True, min_size=1, max_size=30), st.integers(0, 30), st.randoms())
def test_a_draw_depends_on_ids_and_seed_not_on_order(names: list[str], count: int, source: object) -> None:
    chosen = {name for name, taken in zip(names, lowest(draw_keys(3, names), count), strict=True) if taken}
    shuffled = list(names)
    source.shuffle(shuffled)  # type: ignore[attr-defined]
    again = {name for name, taken in zip(shuffled, lowest(draw_keys(3, shuffled), count), strict=True) if taken}
    assert chosen == again
    assert len(chosen) == min(count, len(names))


def test_a_draw_is_fair() -> None:
    # of 4,000 names half are drawn 40 times: each is drawn 20 times on average, with the binomial's deviation 3.2
    times = sum(lowest(draw_keys(seed, [str(n) for n in range(4000)]), 2000).astype(int) for seed in range(40))
    assert np.mean(times) == 20
    assert 2.9 < np.std(times) < 3.5
