"""What is masked in a post, and what is not."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mojimeter import emoji
from mojimeter.build.masks import count_masks, mask_column


def mask(text: str) -> str:
    masked: str = mask_column(pl.Series([text]))[0]
    return masked


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("see https://t.co/Ab1 now", "see <url> now"),
        ("see https://t.co/Ab1😀 now", "see <url>😀 now"),
        ("HTTP://X.ORG/z?a=1,b. End", "<url>. End"),
        ("www.example.com/😀", "<url>😀"),
        ("on youtube.com, bit.ly/x1.", "on <url>, <url>."),
        ("write to a.b+c@mail.example.co.uk!", "write to <mail>!"),
        ("@bob.smith hi ＠ann", "@user hi @user"),
        ("thanks @bob.I love it", "thanks @user.I love it"),
        ("@ann@mastodon.social hi", "@<mail> hi"),
        ("🅰@bob🅰️", "🅰@user🅰️"),
        ("@রহিম ok @राम_1", "@user ok @user"),
        ("call +91 98765 43210", "call <phone>"),
        ("(555) 123-4567 or 555-1234", "<phone> or <phone>"),
        ("মোবাইল ০১৭১২৩৪৫৬৭৮", "মোবাইল <phone>"),
        ("फ़ोन ९८७६५ ४३२१०", "फ़ोन <phone>"),
    ],
)
def test_what_identifies_a_person_becomes_a_token(text: str, masked: str) -> None:
    assert mask(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "@ Tampa, Florida",
        "on 2020-11-29 10:30",
        "1,000,000 views",
        "e.g.this",
        "3-2 in 2018",
        "call 911",
        "10:15 ♥ 24/7",
    ],
)
def test_places_dates_and_amounts_stay(text: str) -> None:
    assert mask(text) == text


def test_only_what_is_asked_for_is_masked_and_null_stays_null() -> None:
    texts = pl.Series(["@bob https://x.org/a", None])
    assert mask_column(texts, ["links"]).to_list() == ["@bob <url>", None]
    assert mask_column(texts, []).to_list() == texts.to_list()


def test_tokens_are_counted() -> None:
    masked = mask_column(pl.Series(["@a @b https://x.org/a", "+91 98765 43210 a@b.org"]))
    assert count_masks(masked) == {"links": 1, "mails": 1, "handles": 2, "phones": 1}


@settings(deadline=None)  # a busy machine is no failure
@given(st.lists(st.sampled_from(["@bob", "https://x.org/a", "😀", "🅰️", "👍🏽", " ", "a", ".", "❤️", "🇮🇳"]), max_size=12))
def test_masking_takes_no_emoji_and_a_second_time_changes_nothing(pieces: list[str]) -> None:
    text = "".join(pieces)
    once = mask(text)
    assert emoji.find(once) == emoji.find(text)
    assert mask(once) == once
