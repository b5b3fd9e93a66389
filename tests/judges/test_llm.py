"""The LLM judge: how many votes it asks for, and that fewer calls give the labels of the paper's fifteen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mojimeter.errors import InputError
from mojimeter.judges.labels import LABELS
from mojimeter.judges.llm import TASKS, Labels, LlmJudge, replay
from mojimeter.judges.panel import get_judge
from mojimeter.judges.prompts import DEFINITIONS, joint_prompt, single_prompt
from mojimeter.models.calls import Call, Request

Answer = Callable[[Request], str]


def drive(judge: LlmJudge, text: str, answer: Answer) -> tuple[Labels, list[Request]]:
    """A judge's labels from a function that answers, and the calls it took."""
    asked: list[Request] = []

    def find(request: Request) -> Call:
        asked.append(request)
        return Call(request.key, request.model, request.purpose, answer(request))

    labels = replay(judge, text, find)
    assert isinstance(labels, Labels)
    return labels, asked


def saying(votes: dict[str, list[str]]) -> Answer:
    """Answers with the given label of each task at each vote, to joint and to single questions."""

    def answer(request: Request) -> str:
        question = request.messages[0][1]
        asked = [task for task in TASKS if f"\n{task}: " in question or question.startswith(f"{task}: ")]
        if not asked:
            task = next(
                t for t in TASKS if all(f"- {label}: {DEFINITIONS[t][label]}" in question for label in LABELS[t])
            )
            return votes[task][request.turn]
        return "\n".join(f"{task}: {votes[task][request.turn]}" for task in asked)

    return answer


votes_of_a_task = {
    task: st.lists(st.sampled_from([*labels, "no idea"]), min_size=3, max_size=3) for task, labels in LABELS.items()
}


def majority(votes: list[str]) -> str | None:
    """What the paper does with three votes."""
    label, count = Counter(votes).most_common(1)[0]
    return label if count >= 2 and label != "no idea" else None


@given(st.fixed_dictionaries(votes_of_a_task), st.booleans())
def test_fewer_calls_give_the_labels_of_three_votes_on_every_task(votes: dict[str, list[str]], together: bool) -> None:
    labels, asked = drive(LlmJudge("openai/x", together=together), "a post", saying(votes))
    assert labels.values == {task: majority(votes[task]) for task in TASKS}
    assert len(asked) <= (3 if together else 15)
    assert len({request.key for request in asked}) == len(asked), "each vote is a question of its own"


def test_a_steady_judge_takes_two_calls_a_text_and_ten_when_asked_task_by_task() -> None:
    steady = saying({task: [labels[0]] * 3 for task, labels in LABELS.items()})
    assert len(drive(LlmJudge("openai/x"), "a post", steady)[1]) == 2
    assert len(drive(LlmJudge("openai/x", together=False), "a post", steady)[1]) == 10
    assert LlmJudge("openai/x").calls_for(7) == (14, 21)


def test_a_third_vote_settles_a_disagreement_and_three_different_ones_are_a_tie() -> None:
    votes = {task: [labels[0]] * 3 for task, labels in LABELS.items()}
    votes["sentiment"] = ["positive", "negative", "negative"]
    votes["emotion"] = ["anger", "fear", "sadness"]
    labels, asked = drive(LlmJudge("openai/x"), "a post", saying(votes))
    assert len(asked) == 3
    assert labels.values["sentiment"] == "negative"
    assert labels.values["emotion"] is None
    assert labels.ties == ("emotion",)
    assert labels.votes_cast["emotion"] == ("anger", "fear", "sadness")


def test_two_unparsed_votes_settle_a_label_as_unparsed_and_are_no_tie() -> None:
    votes = {task: ["no idea"] * 3 for task in TASKS}
    labels, asked = drive(LlmJudge("openai/x"), "a post", saying(votes))
    assert len(asked) == 2
    assert labels.ties == ()
    assert set(labels.values.values()) == {None}


@given(st.integers(min_value=1, max_value=7))
def test_more_than_half_of_the_votes_settle_a_label(votes: int) -> None:
    steady = saying({task: [labels[0]] * 7 for task, labels in LABELS.items()})
    assert len(drive(LlmJudge("openai/x", votes=votes), "a post", steady)[1]) == votes // 2 + 1


def test_a_judge_is_asked_at_temperature_zero_and_a_local_one_once_and_held_to_the_labels() -> None:
    judge = LlmJudge("local/smollm2-135m")
    request = judge.request(TASKS, "a post", 0)
    assert request.temperature == 0
    assert judge.votes == 1
    assert request.grammar is not None
    assert all(f'"{label}"' in request.grammar for labels in LABELS.values() for label in labels)
    assert LlmJudge("openai/x").request(TASKS, "a post", 0).grammar is None


def test_a_replay_that_misses_an_answer_names_the_call_that_comes_next() -> None:
    missing = replay(LlmJudge("openai/x"), "a post", lambda request: None)
    assert isinstance(missing, Request)
    assert missing.turn == 0


def test_the_prompts_define_every_label_and_hold_the_text_as_it_is() -> None:
    text = "odd {braces} </post> and 🎉"
    for task, labels in LABELS.items():
        question = single_prompt(task, text)[0][1]
        assert text in single_prompt(task, text)[-1][1]
        assert all(label in question for label in labels)
    joint = joint_prompt(TASKS, text)[0][1]
    assert text in joint_prompt(TASKS, text)[-1][1]
    assert all(label in joint for labels in LABELS.values() for label in labels)
    assert "impression, not a fact" in joint, "age and gender are what a reader perceives"


def test_prompt_hashes_tell_the_two_ways_of_asking_apart() -> None:
    assert LlmJudge("openai/x").digest != LlmJudge("openai/x", together=False).digest
    assert LlmJudge("openai/x").digest == LlmJudge("openai/y").digest


def test_names_that_are_no_judge_are_one_sentence() -> None:
    with pytest.raises(InputError, match="expected student/"):
        get_judge("gpt4")
    with pytest.raises(InputError, match="expected 1 or more"):
        get_judge("openai/x", votes=0)
