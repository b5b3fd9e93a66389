"""Replies of recommenders: what is found, what is flagged, one by one and as a column."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mojimeter import emoji
from mojimeter.errors import InputError
from mojimeter.systems import FLAGS, read_replies, read_reply
from tests.emoji.support import NASTY


@pytest.mark.parametrize(
    ("reply", "found", "flags"),
    [
        ("🎉🎂🥳", 3, set()),
        (" 🎉 🎂\n🥳\n", 3, set()),
        ("🎉🎂❤\ufe0f", 3, set()),
        ("🎉🎂🥳 (party, cake, face)", 3, {"extra_text"}),
        ("🎉, 🎂, 🥳", 3, {"extra_text"}),
        ("1. 🎉 2. 🎂 3. 🥳", 3, {"extra_text"}),
        ("I can't help with that.", 0, {"no_emoji"}),
        ("", 0, {"no_emoji"}),
        (None, 0, {"no_emoji"}),
        ("\ufffd\ufffd", 0, {"no_emoji"}),
        ("🎉🎉🎉", 3, {"repeated"}),
        ("☕☕\ufe0f🎉", 3, {"repeated"}),
        ("👍🏽👍🎉", 3, set()),
        ("🎉🎉🎂🥳😀", 5, {"wrong_count", "repeated"}),
        ("🎉", 1, {"wrong_count"}),
        ("\ufffd🚫", 1, {"damaged", "wrong_count"}),
        ("🛫🇦👋", 2, {"damaged", "wrong_count"}),
        ("🎉🎂🥳\ud83d", 3, {"damaged"}),
        ("🎉🎂👻\u200d", 3, {"damaged"}),
        ("🎉🎂🥳 ™", 3, {"extra_text"}),
    ],
)
def test_a_reply_is_read_and_flagged(reply: str | None, found: int, flags: set[str]) -> None:
    read = read_reply(reply, 3)
    assert len(read.emoji) == found
    assert read.flags == flags


@pytest.mark.parametrize(("count", "wrong"), [(1, False), (2, False), (5, False), (6, True)])
def test_a_free_count_allows_one_to_five(count: int, wrong: bool) -> None:
    reply = "".join(emoji.top(count))
    assert ("wrong_count" in read_reply(reply, n=None).flags) is wrong


def test_too_many_emoji_are_all_read_and_the_first_n_are_kept() -> None:
    read = read_reply("🎉🎂🥳😀", 3)
    assert read.emoji == ["🎉", "🎂", "🥳", "😀"]
    assert read.kept == ["🎉", "🎂", "🥳"]
    assert read.to_dict() == {"emoji": read.emoji, "flags": ["wrong_count"], "kept": read.kept}


def test_bytes_decoded_with_replacement_are_damage() -> None:
    cut = "🎉🎂🥳".encode()[:-1].decode("utf-8", "replace")
    assert read_reply(cut, 2).flags == {"damaged"}


def test_asking_for_no_emoji_is_refused() -> None:
    for read in (lambda: read_reply("🎉", 0), lambda: read_replies(["🎉"], 0)):
        with pytest.raises(InputError, match="expected 1 or more"):
            read()


@given(NASTY, st.sampled_from([1, 3, None]))
@settings(max_examples=300, deadline=None)
def test_no_emoji_excludes_every_other_flag(reply: str, n: int | None) -> None:
    read = read_reply(reply, n)
    assert ("no_emoji" in read.flags) is (read.emoji == [])
    assert "no_emoji" not in read.flags or read.flags == {"no_emoji"}
    assert read.flags <= set(FLAGS)


@given(st.lists(st.none() | NASTY, max_size=10), st.sampled_from([1, 3, None]))
@settings(max_examples=200, deadline=None)
def test_a_column_of_replies_reads_like_each_of_them(replies: list[str | None], n: int | None) -> None:
    frame = read_replies(replies, n)
    assert frame.columns == ["emoji", *FLAGS, "kept"]
    for reply, row in zip(replies, frame.iter_rows(named=True), strict=True):
        read = read_reply(None if reply is None else reply.replace("\ud83d", "\ufffd"), n)
        assert row == {"emoji": read.emoji, **{flag: flag in read.flags for flag in FLAGS}, "kept": read.kept}


def test_lone_surrogates_in_a_column_read_as_damage_one_by_one() -> None:
    # a lone surrogate is three bytes in UTF-8 and must not turn into three broken places
    frame = read_replies(["🎉🎂🥳\ud83d", "\ud83d"])
    assert frame["damaged"].to_list() == [True, False]
    assert frame["no_emoji"].to_list() == [False, True]


def test_an_empty_column_gives_an_empty_frame() -> None:
    assert read_replies([]).shape == (0, len(FLAGS) + 2)
    assert read_replies(pl.Series([None, None])).height == 2


def test_the_shared_replies_are_read(shared: Path) -> None:
    cases = json.loads((shared / "cases/model_replies.json").read_text(encoding="utf-8"))["recommender_replies"]
    assert len(cases) == 7
    for case in cases:
        read = read_reply(case["reply"], case["asked"])
        assert read.flags == set(case["flags"]), case["id"]
        assert len(read.emoji) == case.get("emoji", len(read.emoji)), case["id"]
        if "distinct" in case:
            assert len({emoji.key(e) for e in read.emoji}) == case["distinct"]


def test_hard_replies_hold_what_a_longest_match_finds_but_for_selectors(shared: Path) -> None:
    """The file's extraction leaves a VS16 behind that the table's string does not have; ours takes it along."""
    differing = 0
    with (shared / "data/semrec/parse_hard_cases.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 133
    for row in rows:
        expected = json.loads(row["emoji_longest_match"])
        read = read_reply(row["raw_output"])
        assert [emoji.key(e) for e in read.emoji] == [emoji.key(e) for e in expected]
        if read.emoji != expected:
            differing += 1
            assert [e.removesuffix("\ufe0f") for e in read.emoji] == [e.removesuffix("\ufe0f") for e in expected]
    assert differing == 6


# Wrong counts: the rows of parse_hard_cases.csv, which lists every such reply of these two systems; it counts the
# bare signs ‼ and ↕ as emoji where here they are text, so GPT-4o has two more.
@pytest.mark.parametrize(("system", "signs"), [("gpt-4o", 2), ("llama3.1-70b-instruct", 0)])
def test_replies_without_three_emoji_are_those_of_the_hard_cases(shared: Path, system: str, signs: int) -> None:
    hard = pl.read_csv(shared / "data/semrec/parse_hard_cases.csv", infer_schema=False)
    listed = set(hard.filter(pl.col("model") == system)["item"])
    frame = pl.read_csv(shared / f"data/semrec/zeroshot_{system}.csv", infer_schema=False)
    read = read_replies(frame["raw_output"])
    ours = set(frame.filter(read["wrong_count"] | read["no_emoji"])["item"])
    assert listed <= ours
    assert len(ours - listed) == signs
    assert read["no_emoji"].sum() == 1


# Different emoji in the release, from design/recommendation.md ("about")
@pytest.mark.parametrize(
    ("system", "distinct"),
    [
        ("gpt-4o", 1037),
        ("mistral-7b-instruct", 842),
        ("gemma2-9b-instruct", 825),
        ("llama3.1-70b-instruct", 679),
    ],
)
def test_the_release_holds_as_many_different_emoji_as_described(shared: Path, system: str, distinct: int) -> None:
    replies = pl.read_csv(shared / f"data/semrec/zeroshot_{system}.csv", infer_schema=False)["raw_output"]
    assert abs(len({emoji.key(e) for row in read_replies(replies)["emoji"] for e in row}) - distinct) <= 1


def test_mistral_explains_itself_in_3572_replies_give_or_take_what_counts_as_text(shared: Path) -> None:
    replies = pl.read_csv(shared / "data/semrec/zeroshot_mistral-7b-instruct.csv", infer_schema=False)["raw_output"]
    assert abs(int(read_replies(replies)["extra_text"].sum()) - 3572) <= 5
