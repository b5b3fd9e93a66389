"""The single-string scanner: hand-made cases, every row of Unicode's files, and what must always hold."""

from __future__ import annotations

import json
import random
import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mojimeter import emoji
from mojimeter.emoji.scan import TEXT_SIGNS, run_pattern, sequence_pattern, table
from tests.emoji.support import NASTY, rows_of_emoji_test, strings_of_index


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("no emoji here: 12 #4 *", []),
        ("\u200d", []),
        ("😀\ufe0f", ["😀\ufe0f"]),
        ("😀\u200d", ["😀"]),
        ("press 1\ufe0f\u20e3 then #\u20e3", ["1\ufe0f\u20e3", "#\u20e3"]),
        ("11\u20e3", ["1\u20e3"]),
        ("a👁b ❤", ["👁", "❤"]),
        ("Acme™ © 2024 ®", []),
        ("™\ufe0f", ["™\ufe0f"]),
        ("love ❤\ufe0e", []),
        ("👻\u200d👻\u200d👻", ["👻", "👻", "👻"]),
        ("👨\u200d👩\u200d👧\u200d👦", ["👨\u200d👩\u200d👧\u200d👦"]),
        ("🇮🇳🇧🇩🇬", ["🇮🇳", "🇧🇩"]),
        ("🏳️\u200d🌈🏳️", ["🏳️\u200d🌈", "🏳️"]),
        ("☝️🏻", ["☝️", "🏻"]),
        ("\U0001faea \U0001faf9🏿", ["\U0001faea", "\U0001faf9🏿"]),
        ("\ud83d😀\udc00", ["😀"]),
    ],
)
def test_the_emoji_of_a_text_are_found_in_order(text: str, found: list[str]) -> None:
    assert emoji.find(text) == found


@pytest.mark.parametrize("sign", sorted(TEXT_SIGNS))
def test_a_sign_is_text_until_vs16_follows(sign: str) -> None:
    assert emoji.find(f"a {sign} b") == []
    assert emoji.strip(f"a {sign} b") == f"a {sign} b"
    assert emoji.find(f"a {sign}\ufe0f b") == [f"{sign}\ufe0f"]


@pytest.mark.parametrize("bare", "❤☺☀☁☎☑☠☹♥♠♨♻⚠⚡✂✈✉✌✍✏✒✔✖✝✡✳❄❣⏏⏯⏺🅰🈂🌶🕷🖐🗨🛋")
def test_a_bare_character_that_people_type_as_an_emoji_is_one(bare: str) -> None:
    assert emoji.find(f"so {bare}!") == [bare]


@pytest.mark.parametrize(
    ("text", "stripped"),
    [
        ("abc   🙏🙏🙏", "abc   "),
        ("क्\u200dष 😀", "क्\u200dष "),
        ("र\u200d्याम 😂", "र\u200d्याम "),
        ("র\u200d্যাম 😂", "র\u200d্যাম "),
        ("می\u200cخواهم 😀", "می\u200cخواهم "),
        ("क्\u200d😀", "क्\u200d"),
        ("a\u200d😀", "a"),
        ("\ufe0f😀 b", " b"),
        ("👻\u200d👻\u200d👻", ""),
        ("🏴\U000e0067\U000e0062", ""),
        ("❤\ufe0e😀", "❤\ufe0e"),
        ("→😀↔", "→↔"),
        ("Acme™ 🎉 ©", "Acme™  ©"),
        ("🇮😀🇳", ""),
        ("1😀\u20e3", ""),
        ("\ud83d😀", "\ud83d"),
    ],
)
def test_stripping_takes_emoji_and_what_clings_to_them_and_nothing_else(text: str, stripped: str) -> None:
    assert emoji.strip(text) == stripped


@given(NASTY)
@example("🇮🏴🇳")
@example("1\ufe0f😀\u20e3")
@settings(max_examples=300, deadline=None)
def test_a_stripped_text_holds_no_emoji_and_stays_as_it_is(text: str) -> None:
    stripped = emoji.strip(text)
    assert emoji.find(stripped) == []
    assert emoji.strip(stripped) == stripped


@pytest.mark.parametrize("text", ["🇮" * 3000 + "😀" + "🇳" * 3000, "1" + "😀⃣" * 500, "😀" * 20_000, "👩\u200d" * 9000])
def test_hostile_text_is_stripped_all_the_same(text: str) -> None:
    assert emoji.find(emoji.strip(text)) == []
    assert emoji.damage(text) >= 0


@given(NASTY)
@settings(max_examples=300, deadline=None)
def test_a_text_without_emoji_is_left_byte_for_byte(text: str) -> None:
    if not emoji.find(text):
        assert emoji.strip(text) == text


@given(NASTY)
@settings(max_examples=300, deadline=None)
def test_spans_point_at_what_is_found_and_do_not_overlap(text: str) -> None:
    spans = emoji.spans(text)
    assert [text[start:end] for start, end in spans] == emoji.find(text)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


@given(NASTY, NASTY)
@settings(max_examples=300, deadline=None)
def test_words_between_texts_keep_their_emoji_apart(left: str, right: str) -> None:
    assert emoji.find(f"{left} word {right}") == emoji.find(left) + emoji.find(right)


@given(st.lists(st.sampled_from(["😀", "👍🏽", "👩‍🚀", "1️⃣", "❤️", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🇮🇳", "⚽"]), max_size=8))
@settings(max_examples=200, deadline=None)
def test_emoji_in_a_row_are_found_one_by_one(row: list[str]) -> None:
    assert emoji.find("".join(row)) == row
    assert emoji.strip("x" + "".join(row)) == "x"


def test_every_string_we_know_is_one_emoji_alone_and_between_words() -> None:
    for string in table():
        assert emoji.find(string) == [string]
        assert emoji.find(f"word{string}word") == [string]
        assert emoji.strip(f"a {string} b") == "a  b"
        assert emoji.is_emoji(string)


def test_pairs_of_known_strings_are_two_emoji_unless_the_pair_is_one() -> None:
    known = sorted(table())
    source = random.Random(17)
    pairs = [(source.choice(known), source.choice(known)) for _ in range(10_000)]
    pairs += [(a, tone) for a in known for tone in "🏻🏿"]
    for a, b in pairs:
        assert emoji.find(a + b) == ([a + b] if a + b in table() else [a, b])


def test_no_emoji_reaches_beyond_its_run() -> None:
    run = re.compile(run_pattern())
    assert [string for string in table() if not run.fullmatch(string)] == []


def test_every_string_we_know_has_the_form_of_one_emoji() -> None:
    form = re.compile(sequence_pattern())
    assert [string for string in table() if not form.fullmatch(string)] == []


def test_every_row_of_unicodes_test_file_is_found_alone_and_in_pairs(shared: Path) -> None:
    rows = rows_of_emoji_test(shared)
    assert len(rows) == 5225
    whole = [s for s, status in rows.items() if status != "unqualified"]
    for string in whole:
        assert emoji.find(string) == [string]
    source = random.Random(5225)
    for _ in range(10_000):
        a, b = source.choice(whole), source.choice(whole)
        assert emoji.find(a + b) == ([a + b] if a + b in rows else [a, b])


def test_every_unqualified_row_is_an_emoji_or_a_listed_sign(shared: Path) -> None:
    rows = rows_of_emoji_test(shared)
    missed = {s for s, status in rows.items() if status == "unqualified" and emoji.find(s) != [s]}
    assert missed == TEXT_SIGNS


def test_every_string_of_the_18_0_index_is_found_unless_it_is_a_bare_sign(shared: Path) -> None:
    strings = strings_of_index(shared)
    assert len(set(strings)) == 5275  # ten are listed twice
    assert {s for s in strings if emoji.find(s) != [s]} == TEXT_SIGNS
    whole = [s for s in strings if s not in TEXT_SIGNS]
    known = set(strings)
    source = random.Random(18)
    for _ in range(10_000):
        a, b = source.choice(whole), source.choice(whole)
        assert emoji.find(a + b) == ([a + b] if a + b in known else [a, b])


def test_the_shared_cases_are_answered(shared: Path) -> None:
    cases = json.loads((shared / "cases/emoji_text.json").read_text(encoding="utf-8"))
    assert len(cases["find"]) == 21
    for case in cases["find"]:
        assert emoji.find(case["text"]) == case["emoji"], case["id"]
        if "stripped" in case:
            assert emoji.strip(case["text"]) == case["stripped"], case["id"]
    for case in cases["same"]:
        for level, same in case["same"].items():
            assert emoji.same(case["a"], case["b"], level) is same, (case["id"], level)
