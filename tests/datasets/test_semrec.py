"""Files in the form of the second paper's release, written by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from mojimeter.datasets.semrec import read_semrec
from mojimeter.errors import InputError

BENCHMARK = """item,author,text_with_emoji,text,gold_emoji,gold_sentiment,gold_gender
0,7,Off we go 🎉🎉,Off we go ,🎉,positive,male
1,7,"so, 👍🏽 ok","so,  ok",👍🏽,neutral,female
2,8,What‼️,What‼,,negative,female
3,9,❤️ it,❤️ it,❤️,positive,female
"""
SYSTEM = """item,raw_output,sentiment,gender
0,🎉 party,positive,male
1,,Mixed,female
2,😮,negative,female
3,❤️,positive,female
"""
RANDOM = """item,raw_output,sentiment,sentiment_noemoji,gender,gender_noemoji
0,🐇,positive,neutral,male,male
1,🌹,neutral,neutral,female,female
2,🔥,neutral,neutral,female,female
3,🧢,positive,positive,male,male
"""


@pytest.fixture
def release(tmp_path: Path) -> Path:
    (tmp_path / "benchmark.csv").write_text(BENCHMARK, encoding="utf-8")
    (tmp_path / "fewshot_model-x.csv").write_text(SYSTEM, encoding="utf-8")
    (tmp_path / "zeroshot_chance.csv").write_text(RANDOM, encoding="utf-8")
    return tmp_path


def _read(folder: Path, *names: str):  # type: ignore[no-untyped-def]
    return read_semrec(folder / "benchmark.csv", [folder / name for name in names])


def test_emoji_are_found_anew_in_the_text_not_taken_from_the_released_column(release: Path) -> None:
    posts, _, _ = _read(release, "fewshot_model-x.csv")
    assert posts["emoji"].to_list() == [["🎉", "🎉"], ["👍🏽"], ["‼️"], ["❤️"]]
    assert posts["gold_emoji"].to_list() == ["🎉", "👍🏽", None, "❤️"]
    assert posts["author"].to_list() == ["7", "7", "8", "9"]


def test_plain_texts_that_still_hold_emoji_or_what_is_left_of_them_are_leaks(release: Path) -> None:
    posts, _, _ = _read(release, "fewshot_model-x.csv")
    assert posts["leaked"].to_list() == [False, False, True, True]


def test_a_conditional_prompt_could_see_the_judges_labels(release: Path) -> None:
    posts, _, _ = _read(release, "fewshot_model-x.csv")
    assert posts["gender"].to_list() == ["male", "female", "female", "female"]
    assert posts["age"].to_list() == [None] * 4


def test_the_stem_names_system_and_strategy_and_an_empty_reply_stays(release: Path) -> None:
    _, outputs, _ = _read(release, "fewshot_model-x.csv", "zeroshot_chance.csv")
    assert outputs.select("system", "strategy").unique(maintain_order=True).rows() == [
        ("model-x", "fewshot"),
        ("chance", "zeroshot"),
    ]
    assert outputs["reply"].to_list()[:2] == ["🎉 party", None]


def test_labels_stay_as_released_and_the_text_alone_becomes_baseline_none(release: Path) -> None:
    _, _, labels = _read(release, "fewshot_model-x.csv", "zeroshot_chance.csv")
    by_system = {
        system[0]: frame["sentiment"].to_list() for system, frame in labels.group_by("system", maintain_order=True)
    }
    assert by_system == {
        "gold": ["positive", "neutral", "negative", "positive"],
        "model-x": ["positive", "Mixed", "negative", "positive"],
        "chance": ["positive", "neutral", "neutral", "positive"],
        "baseline/none": ["neutral", "neutral", "neutral", "positive"],
    }
    assert labels["emotion"].null_count() == labels.height


def test_without_a_file_of_the_text_alone_there_is_no_baseline_none(release: Path) -> None:
    _, _, labels = _read(release, "fewshot_model-x.csv")
    assert set(labels["system"]) == {"gold", "model-x"}


def test_two_files_of_one_system_are_refused(release: Path) -> None:
    (release / "other").mkdir()
    (release / "other" / "fewshot_model-x.csv").write_text(SYSTEM, encoding="utf-8")
    with pytest.raises(InputError, match="the same system as in"):
        _read(release, "fewshot_model-x.csv", "other/fewshot_model-x.csv")


def test_two_files_that_label_the_text_alone_differently_are_refused(release: Path) -> None:
    (release / "zeroshot_again.csv").write_text(RANDOM.replace("3,🧢,positive,positive", "3,🧢,positive,neutral"))
    with pytest.raises(InputError, match="item '3' has another label"):
        _read(release, "zeroshot_chance.csv", "zeroshot_again.csv")


def test_a_repeated_item_is_refused_with_its_row(release: Path) -> None:
    (release / "zeroshot_twice.csv").write_text("item,raw_output,sentiment\n0,🎉,positive\n0,🎂,positive\n")
    with pytest.raises(InputError, match=r"zeroshot_twice.csv, row 2: .*'0'"):
        _read(release, "zeroshot_twice.csv")


def test_a_missing_column_is_named(release: Path) -> None:
    (release / "zeroshot_bad.csv").write_text("item,reply,sentiment\n0,🎉,positive\n")
    with pytest.raises(InputError, match="no column 'raw_output'"):
        _read(release, "zeroshot_bad.csv")
    with pytest.raises(InputError, match="no file of a system"):
        _read(release)


def test_a_system_without_the_labels_of_a_task_is_refused_rather_than_scored_as_losing_it(release: Path) -> None:
    (release / "zeroshot_half.csv").write_text("item,raw_output,gender\n0,🎉,male\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"half.csv: no column 'sentiment', for which the benchmark has labels"):
        _read(release, "zeroshot_half.csv")
