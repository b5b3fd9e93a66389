"""Signatures: same settings, same string; other settings, another."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from mojimeter.runs.signature import Signature, data_hash

SIGNATURE = Signature("0a1b2c3d", 4, "j|k", "3", "-", "tone", "emoji", 0, 2000, "0.1.0")


def test_a_signature_is_one_short_readable_string() -> None:
    assert str(SIGNATURE) == (
        "data:0a1b2c3d|n:4|judge:j/k|votes:3|prompt:-|equality:tone|append:emoji|seed:0|draws:2000|version:0.1.0"
    )


def test_a_printed_signature_can_be_read_back() -> None:
    plain = replace(SIGNATURE, judge="openai/gpt-4o:mini")
    assert Signature.parse(str(plain)) == plain
    with pytest.raises(ValueError, match="not a signature"):
        Signature.parse("data:1|n:2")


def test_what_differs_is_named() -> None:
    other = replace(SIGNATURE, equality="exact", n=5)
    assert SIGNATURE.differences(other) == {"n": ("4", "5"), "equality": ("tone", "exact")}
    assert SIGNATURE.differences(SIGNATURE) == {}


def test_the_hash_of_posts_is_that_of_their_ids_and_texts_in_any_order() -> None:
    posts = pl.DataFrame({"id": ["a", "b"], "original": ["x 🎉", "y"], "author": ["1", "2"]})
    assert data_hash(posts) == data_hash(posts.reverse())
    assert data_hash(posts) == data_hash(posts.with_columns(author=pl.lit("3")))
    assert data_hash(posts) != data_hash(posts.with_columns(original=pl.lit("x")))
    # printf 'a,x 🎉\nb,y\n' | sha256sum
    assert data_hash(posts) == "d94b2e38"
