"""The column scanner gives what the single-string scanner gives."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mojimeter import emoji
from tests.emoji.support import NASTY

readable = NASTY.map(lambda text: text.replace("\ud83d", "\ufffd"))  # Polars holds no lone surrogates


@given(st.lists(st.none() | readable, max_size=12))
@settings(max_examples=200, deadline=None)
def test_a_column_reads_like_its_strings(texts: list[str | None]) -> None:
    column = pl.Series("text", texts, dtype=pl.String)
    assert emoji.find_column(column).to_list() == [None if t is None else emoji.find(t) for t in texts]
    assert emoji.strip_column(column).to_list() == [None if t is None else emoji.strip(t) for t in texts]


@given(st.lists(st.text(max_size=20), max_size=8))
@settings(max_examples=150, deadline=None)
def test_a_column_of_any_text_reads_like_its_strings(texts: list[str]) -> None:
    column = pl.Series("text", texts, dtype=pl.String)
    assert emoji.find_column(column).to_list() == [emoji.find(t) for t in texts]
    assert emoji.strip_column(column).to_list() == [emoji.strip(t) for t in texts]


@pytest.mark.parametrize("texts", [[], [None], ["", "no"], ["a\x00😀\x00b", "\x00"]])
def test_columns_with_little_in_them_are_read_too(texts: list[str | None]) -> None:
    column = pl.Series("text", texts, dtype=pl.String)
    found = emoji.find_column(column)
    assert found.dtype == pl.List(pl.String)
    assert found.name == "text"
    assert found.to_list() == [None if t is None else emoji.find(t) for t in texts]
    assert emoji.strip_column(column).to_list() == [None if t is None else emoji.strip(t) for t in texts]


def test_a_column_long_enough_to_be_read_in_parts_reads_like_its_strings() -> None:
    texts = ["plain", None, "so 😀\u200d", "🇮🇳🇧🇩🇬 1️⃣", "क्\u200dष 👍🏽", "→❤\ufe0e", "👩‍🚀👩‍🚀 b 😂"] * 9001
    column = pl.Series(texts)
    expected = {text: None if text is None else emoji.find(text) for text in texts[:7]}
    assert emoji.find_column(column).to_list() == [expected[text] for text in texts]
    left = {text: None if text is None else emoji.strip(text) for text in texts[:7]}
    assert emoji.strip_column(column).to_list() == [left[text] for text in texts]


def test_every_known_emoji_is_found_in_a_column() -> None:
    known = emoji.all_emoji()
    assert emoji.find_column(pl.Series([f"a{e}b" for e in known])).to_list() == [[e] for e in known]
    assert set(emoji.strip_column(pl.Series([f"a{e}b" for e in known])).to_list()) == {"ab"}


@pytest.mark.parametrize("file", ["benchmark.csv", "zeroshot_gpt-4o.csv", "zeroshot_mistral-7b-instruct.csv"])
def test_real_posts_and_replies_read_alike(shared, file: str) -> None:
    frame = pl.read_csv(shared / "data/semrec" / file, infer_schema=False)
    column = frame["text_with_emoji" if "text_with_emoji" in frame.columns else "raw_output"].fill_null("")
    assert emoji.find_column(column).to_list() == [emoji.find(text) for text in column]
    assert emoji.strip_column(column).to_list() == [emoji.strip(text) for text in column]


@pytest.mark.parametrize(
    "file",
    [
        "hindi/constraint2021_posts_with_emoji.csv",
        "bangla/posts_with_emoji.csv",
        "posts_multi/umsab_posts_with_emoji.csv",
    ],
)
def test_posts_in_other_scripts_read_alike_and_lose_only_emoji(shared, file: str) -> None:
    frame = pl.read_csv(shared / "data" / file, infer_schema=False)
    column = next(frame[c] for c in ("text", "post", "tweet", "sentence", "comment") if c in frame.columns).fill_null(
        ""
    )
    stripped = emoji.strip_column(column)
    assert emoji.find_column(column).to_list() == [emoji.find(text) for text in column]
    assert stripped.to_list() == [emoji.strip(text) for text in column]
    assert emoji.find_column(stripped).list.len().sum() == 0
