"""Reading judges' replies: the shared cases, then what each rule says."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mojimeter.errors import InputError
from mojimeter.judges import ALIASES, LABELS, label_set, parse_answers, parse_label, parse_labels

TASKS = (*LABELS, "verdict", "rating_1_5")


def test_every_shared_case_is_read_as_its_author_says(shared: Path) -> None:
    cases = json.loads((shared / "cases" / "model_replies.json").read_text(encoding="utf-8"))["judge_replies"]
    assert len(cases) >= 12
    wrong = [c["id"] for c in cases if parse_label(c["task"], c["reply"]) != c["label"]]
    assert wrong == []


@pytest.mark.parametrize(
    ("task", "reply", "label"),
    [
        ("sentiment", "Positive.", "positive"),
        ("sentiment", "**negative**", "negative"),
        ("sentiment", "The sentiment of this tweet is neutral.", "neutral"),
        ("sentiment", "It's not positive, it's negative.", "negative"),
        ("sentiment", "not only positive", "positive"),
        ("sentiment", "neither positive nor negative", "neutral"),
        ("sentiment", "negative or positive", None),
        ("sentiment", "mixed", None),
        ("sentiment", "positively", None),
        ("emotion", "joy", "happiness"),
        ("emotion", "fear, anger", None),
        ("emotion", "confusion", None),
        ("emotion", "happiness/joy", "happiness"),
        ("stance", "None", "none"),
        ("stance", "in favour of the ban", "favor"),
        ("stance", "not against", None),
        ("age", "an older adult", "senior"),
        ("age", "young adult", "adult"),
        ("gender", "female", "female"),
        ("gender", "non-female", None),
        ("gender", "unknown", None),
        ("verdict", "incorrect", "wrong"),
        ("verdict", "The answer is not right.", "wrong"),
        ("verdict", "It isn't wrong", "right"),
        ("verdict", "It isn’t quite correct", "wrong"),
        ("verdict", "It looks right at first. Verdict: wrong", "wrong"),
        ("verdict", "Wrong? No: right.", "right"),
        ("verdict", "neither right nor wrong", None),
        ("verdict", "I cannot say right now", None),
        ("verdict", "Yes.", "right"),
        ("verdict", "The writer has rights", None),
        ("rating_1_5", "Rating: **4** out of 5", "4"),
        ("rating_1_5", "4/5", "4"),
        ("rating_1_5", "3 or 4", None),
        ("rating_1_5", "3.5", None),
        ("rating_1_5", "7", None),
    ],
)
def test_a_reply_states_one_label_or_none(task: str, reply: str, label: str | None) -> None:
    assert parse_label(task, reply) == label


@pytest.mark.parametrize("task", TASKS)
def test_nothing_and_emptiness_are_unparsed(task: str) -> None:
    assert parse_label(task, None) is None
    assert parse_label(task, " \n ") is None


def test_every_alias_stands_for_a_label_of_its_task_and_is_read_so() -> None:
    for task, aliases in ALIASES.items():
        for alias, label in aliases.items():
            assert label in LABELS[task]
            assert parse_label(task, alias.upper()) == label


def test_an_unknown_task_is_one_sentence_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="sentiment, emotion"):
        parse_label("mood", "good")


@given(st.sampled_from(TASKS), st.data())
def test_a_bare_label_is_read_in_any_case_and_markdown(task: str, data: st.DataObject) -> None:
    label = data.draw(st.sampled_from(label_set(task)))
    wrapped = data.draw(st.sampled_from(["{}", "**{}**", "_{}_", " {}.", "Answer: {}", "`{}`\n"])).format(label.title())
    assert parse_label(task, wrapped) == label


@given(st.sampled_from(TASKS), st.text(max_size=80))
def test_any_text_gives_a_label_of_the_task_or_none(task: str, reply: str) -> None:
    assert parse_label(task, reply) in (None, *label_set(task))


@given(st.sampled_from(TASKS), st.lists(st.one_of(st.none(), st.sampled_from(["Right", "4", "joy", "male", "x"]))))
def test_a_column_reads_as_its_cells_do(task: str, replies: list[str | None]) -> None:
    column = parse_labels(task, pl.Series("r", replies, dtype=pl.String))
    assert column.to_list() == [parse_label(task, reply) for reply in replies]


@pytest.mark.parametrize(
    "reply",
    [
        "sentiment: positive\nemotion: joy\nstance: none\nage: teen\ngender: female",
        "- **Sentiment**: Positive\n- **Emotion**: happy (glee)\n- **Stance**: None\n- Age: teen\n- Gender: Female.",
        '{"sentiment": "positive", "emotion": "joy", "stance": "none", "age": "teen", "gender": "female"}',
        '```json\n{\n "sentiment": "positive",\n "emotion": "happiness",\n "stance": "none",\n "age": "teen",\n'
        ' "gender": "female"\n}\n```',
        "Sentiment = positive; Emotion = happy; Stance = none; Age = teen; Gender = female",
    ],
)
def test_five_answers_in_one_reply_are_told_apart(reply: str) -> None:
    expected = {"sentiment": "positive", "emotion": "happiness", "stance": "none", "age": "teen", "gender": "female"}
    assert parse_answers(reply, tuple(LABELS)) == expected


def test_what_one_answer_lacks_does_not_come_from_another() -> None:
    tasks = tuple(LABELS)
    assert parse_answers("positive", tasks) == dict.fromkeys(tasks)
    partly = parse_answers("sentiment: positive\nemotion: fear, anger\nage: teen\nage: adult", tasks)
    assert partly == {"sentiment": "positive", "emotion": None, "stance": None, "age": None, "gender": None}
    assert parse_answers(None, tasks) == dict.fromkeys(tasks)
