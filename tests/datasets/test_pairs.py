"""The tables of benchmark B, the checks of pairs, and the set that ships held against the issue that asked for it."""

from __future__ import annotations

from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from mojimeter import emoji
from mojimeter.datasets.pair_checks import content_words, plain, problems_of, problems_of_pair
from mojimeter.datasets.pairs import (
    CATEGORIES,
    READINGS,
    as_answers,
    as_differences,
    as_pairs,
    balanced_subset,
    pair_facts,
    read_answers,
    read_pairs,
    read_verdicts,
)
from mojimeter.errors import InputError

GOOD = {
    "id": "x1",
    "category": "situation",
    "text": "the kitchen at rosa's is 🔥 right now",
    "emoji": "🔥",
    "question": "What's happening at Rosa's?",
    "context_1": "Two engines are blocking the lane, and the waiters are out on the pavement.",
    "answer_1": "It is burning down.",
    "context_2": "They hired a cook from Oaxaca, and you now wait three weeks for a table.",
    "answer_2": "The food there is excellent.",
    "reading_1": "literal",
    "reading_2": "figurative",
    "lang": "en",
}


@pytest.fixture(scope="module")
def shipped() -> pl.DataFrame:
    return read_pairs("pairs")


def test_the_set_has_the_languages_sizes_and_emoji_that_were_asked_for(shipped: pl.DataFrame) -> None:
    languages = Counter(shipped["lang"])
    assert languages["en"] >= 240
    assert languages["hi"] >= 60
    assert languages["bn"] >= 60
    assert len({emoji.key(e, "presentation") for e in shipped["emoji"]}) >= 80


def test_the_set_is_balanced_over_kinds_and_readings(shipped: pl.DataFrame) -> None:
    for part in (shipped, *shipped.partition_by("lang")):
        kinds = Counter(part["category"])
        for category in CATEGORIES:
            # an even share is a quarter
            assert 0.17 <= kinds[category] / part.height <= 0.33, (category, part["lang"][0])
    readings = Counter([*shipped["reading_1"], *shipped["reading_2"]])
    for reading in READINGS:
        assert 0.45 <= readings[reading] / (2 * shipped.height) <= 0.55
    first = Counter(zip(shipped["reading_1"], shipped["reading_2"], strict=True))
    assert (
        0.4 <= first["literal", "figurative"] / (first["literal", "figurative"] + first["figurative", "literal"]) <= 0.6
    )


def test_every_pair_of_the_set_passes_the_automatic_checks(shipped: pl.DataFrame) -> None:
    assert problems_of(shipped.to_dicts()) == []


def test_the_readers_of_the_set_could_not_tell_without_and_could_tell_with_each_context() -> None:
    facts = pair_facts()
    assert facts["licence"] == "MIT"
    assert facts["pairs"] + facts["rejected"] == facts["written"]
    assert facts["without_context"]["read"] >= facts["pairs"]
    assert facts["with_context"]["read"] >= 2 * facts["pairs"]


def test_rejects_are_kept_with_their_reason_and_are_not_in_the_set(shipped: pl.DataFrame) -> None:
    rejects = pl.read_ndjson(
        (files("mojimeter.datasets") / "pairs" / "rejects.jsonl").read_bytes(), infer_schema_length=None
    )
    assert rejects.height == pair_facts()["rejected"]
    assert rejects["reason"].null_count() == 0
    assert not set(rejects["id"]) & set(shipped["id"])


def test_the_labelled_answers_are_many_mixed_and_split_by_pair() -> None:
    verdicts = read_verdicts()
    assert verdicts.height >= 300
    assert 0.4 <= (verdicts["verdict"] == "right").mean() <= 0.6  # type: ignore[operator]
    assert set(verdicts["lang"]) == {"en", "hi", "bn"}
    assert {"paraphrase", "near_miss", "opposite", "hedge", "empty", "other_language"} <= set(verdicts["kind"])
    train, test = (set(read_verdicts(part)["pair"]) for part in ("train", "test"))
    assert not train & test
    assert verdicts.select("pair", "condition", "answer").is_duplicated().sum() == 0


def test_one_language_is_read_by_name_and_an_unknown_one_is_refused(shipped: pl.DataFrame) -> None:
    assert set(read_pairs("pairs:bn")["lang"]) == {"bn"}
    with pytest.raises(InputError, match="no pairs 'pairs:fr'"):
        read_pairs("pairs:fr")
    with pytest.raises(InputError, match="no part 'dev'"):
        read_verdicts("dev")


def test_a_subset_is_balanced_over_the_kinds_and_the_same_every_time(shipped: pl.DataFrame) -> None:
    part = balanced_subset(shipped, 20)
    assert set(Counter(part["category"]).values()) == {5}
    assert set(part["lang"]) == {"en", "hi", "bn"}
    assert set(part["reading_1"]) == set(READINGS)
    assert part.equals(balanced_subset(shipped, 20))
    assert balanced_subset(shipped, 10**6).height == shipped.height


def test_a_good_pair_has_no_problems() -> None:
    assert problems_of([GOOD]) == []


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"question": "Is it burning at Rosa's?"}, "the question uses 'burn' of an answer"),
        ({"context_2": "The tables burned for an hour."}, "context_2 uses 'burn' of an answer"),
        ({"answer_2": "It burns well."}, "both answers use 'burn'"),
        ({"text": "the kitchen at rosa's is hot"}, "the emoji is not in the text"),
        ({"context_2": GOOD["context_1"].upper()}, "the two contexts are the same"),
        ({"context_1": "One. Two. Three."}, "context_1 has more than 2 sentences"),
        ({"answer_1": "it " * 12}, "answer_1 has 12 words; expected 1 to 10"),
        ({"category": "weather"}, "category: 'weather' is not known"),
        ({"reading_1": "ironic"}, "reading_1: 'ironic' is not known"),
    ],
)
def test_each_check_finds_what_it_is_for(change: dict[str, str], found: str) -> None:
    assert found in problems_of_pair({**GOOD, **change})


def test_a_word_of_the_sentence_may_come_again_in_the_question() -> None:
    assert problems_of_pair({**GOOD, "text": "is the food 🔥", "question": "How is the food?"}) == []


def test_hindi_and_bangla_words_keep_their_vowel_signs() -> None:
    assert content_words("सचमुच का साँप", "hi") == {"सचमुच", "साँप"}
    assert plain("গরম চা।") == "গরম চা"
    # the same letter in its two spellings, U+09DF and U+09AF U+09BC
    assert plain("হ\u09df") == plain("হ\u09af\u09bc")


def test_the_same_text_twice_and_one_emoji_too_often_are_found() -> None:
    again = {**GOOD, "id": "x2", "context_1": "a", "context_2": "b"}
    assert ("x2", "the text of x1 again") in problems_of([GOOD, again])
    many = [{**GOOD, "id": f"x{i}", "text": f"{GOOD['text']} {i}"} for i in range(9)]
    assert any(where == "" and "🔥 in 9 pairs" in what for where, what in problems_of(many))


def frame(**changes: Any) -> pl.DataFrame:
    """One pair as a table, changed; "drop" drops the column."""
    values = {**GOOD, **changes}
    return pl.DataFrame({k: [v] for k, v in values.items() if v != "drop"}, schema_overrides={"id": pl.String})


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (frame(answer_2="drop"), "f.csv: no column 'answer_2'"),
        (frame(answer_2=" "), "f.csv, row 1, column 'answer_2': empty"),
        (frame(answer_2="it is burning down."), "f.csv, row 1: answer_1 and answer_2 are the same"),
        (frame(reading_2="ironic"), "f.csv, row 1, column 'reading_2': 'ironic'; expected literal, figurative"),
        (pl.concat([frame(), frame()]), "f.csv, row 2: id 'x1' again; it was in row 1"),
    ],
)
def test_a_bad_table_of_pairs_is_one_clear_sentence(table: pl.DataFrame, message: str) -> None:
    with pytest.raises(InputError) as error:
        as_pairs(table, "f.csv")
    assert message in str(error.value)


def test_readings_and_language_are_optional() -> None:
    assert as_pairs(frame(reading_1="drop", reading_2="drop", lang="drop"), "f")["reading_1"].null_count() == 1


def answers(**changes: Any) -> pl.DataFrame:
    return pl.DataFrame({"id": ["x1"], "system": ["s"], "condition": ["1"], "answer": ["a"]} | changes)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (answers(condition=["3"]), "a.csv, row 1, column 'condition': '3'; expected 1, 2, none"),
        (answers(condition=[None]), "a.csv, row 1, column 'condition': empty"),
        (answers(reading=["both"]), "a.csv, row 1, column 'reading': 'both'; expected 1, 2, neither"),
        (answers().drop("answer"), "a.csv: no column 'answer'"),
        (answers().drop("system"), "a.csv: no column 'system'"),
        (pl.concat([answers(), answers()]), "a.csv, row 2: id 'x1', system 's', condition '1' again"),
    ],
)
def test_a_bad_table_of_answers_is_one_clear_sentence(table: pl.DataFrame, message: str) -> None:
    with pytest.raises(InputError) as error:
        as_answers(table, "a.csv")
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("pair", "1-3", "expected 1-2"),
        ("order", "abba", "expected ab, ba"),
        ("differs", "maybe", "expected true, false"),
    ],
)
def test_a_bad_table_of_differences_is_one_clear_sentence(column: str, value: str, message: str) -> None:
    row = {"id": "x1", "system": "s", "pair": "1-2", "order": "ab", "differs": "True", column: value}
    with pytest.raises(InputError, match=f"d.csv, row 1, column '{column}'.*{message}"):
        as_differences(pl.DataFrame([row]), "d.csv")


def test_truth_is_read_as_csv_and_json_write_it() -> None:
    for differs in ("True", "true", True):
        row = {"id": "x1", "system": "s", "pair": "1-2", "order": "ab", "differs": differs}
        assert as_differences(pl.DataFrame([row]), "d")["differs"].to_list() == [True]


def test_a_file_without_a_system_is_named_by_its_stem_and_the_same_answer_in_two_files_is_refused(
    tmp_path: Path,
) -> None:
    for name in ("ana.csv", "ben.csv"):
        (tmp_path / name).write_text("id,condition,answer\nx1,1,fire\n", encoding="utf-8")
    both = read_answers([tmp_path / "ana.csv", tmp_path / "ben.csv"])
    assert both["system"].to_list() == ["ana", "ben"]
    with pytest.raises(InputError, match="is also in"):
        read_answers([tmp_path / "ana.csv", tmp_path / "ana.csv"])
