"""Kinship of names, self-preference as a difference of differences, order and length of verdicts."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from mojimeter.datasets.records import as_labels
from mojimeter.errors import InputError
from mojimeter.trust.bias import kinship, length_bias, order_bias, self_preference


@pytest.mark.parametrize(
    ("judge", "system", "kin"),
    [
        ("openai/gpt-4o-mini", "openai/gpt-4o-mini", "itself"),
        ("openai/gpt-4o-mini-2024-07-18", "gpt-4o-mini", "itself"),
        ("openrouter/openai/gpt-4o", "gpt-4o-mini", "same maker"),
        ("openai/o3-mini", "gpt-4o", "same maker"),
        ("google/gemini-2.0-flash", "gemma2-9b-instruct", "same maker"),
        ("together/meta-llama/Llama-3.1-70B", "llama3.1-8b-instruct", "same maker"),
        ("openai/gpt-4o", "mistral-7b-instruct", None),
        ("local/smollm2-135m", "local/smollm2-135m", "itself"),
        ("student/starter", "baseline/random", None),
        ("openai/gpt-4o", "gold", None),
    ],
)
def test_kin_is_told_by_the_model_and_not_by_its_provider(judge: str, system: str, kin: str | None) -> None:
    assert kinship(judge, system) == kin


def scored(keeps: dict[tuple[str, str], float], posts: int = 40) -> pl.DataFrame:
    """Labels such that a judge keeps a share of a system's gender labels, the first posts'."""
    rows = []
    for judge in dict.fromkeys(j for j, _ in keeps):
        rows += [{"id": str(i), "system": "gold", "judge": judge, "gender": "male"} for i in range(posts)]
    for (judge, system), share in keeps.items():
        rows += [
            {"id": str(i), "system": system, "judge": judge, "gender": "male" if i < share * posts else "female"}
            for i in range(posts)
        ]
    return as_labels(pl.DataFrame(rows), "test")


def test_self_preference_is_what_is_left_after_leniency_and_merit() -> None:
    # gpt-judge: own system .9, others .5; stranger: .7 and .4: (90 - 50) - (70 - 40) = 10 points
    labels = scored(
        {
            ("openai/gpt-4o", "gpt-4o-mini"): 0.9,
            ("openai/gpt-4o", "mistral-7b"): 0.5,
            ("anthropic/claude-x", "gpt-4o-mini"): 0.7,
            ("anthropic/claude-x", "mistral-7b"): 0.4,
        }
    )
    (found,) = self_preference(labels, draws=100)
    assert (found.judge, found.system, found.kinship) == ("openai/gpt-4o", "gpt-4o-mini", "same maker")
    assert found.effect.value == pytest.approx(10.0)


def test_a_judge_alone_is_flagged_though_nothing_can_be_said_of_how_much() -> None:
    labels = scored({("released", "gpt-4o"): 0.9, ("released", "mistral-7b"): 0.5})
    assert self_preference(labels, draws=10) == ()
    (found,) = self_preference(labels, known_as={"released": "openai/gpt-4o-mini"}, draws=10)
    assert found.effect.value is None
    assert found.effect.reason == "no other judge to compare with"


def pairs(verdicts: list[tuple[str, str]]) -> pl.DataFrame:
    rows = []
    for i, (ab, ba) in enumerate(verdicts):
        rows += [
            {"id": str(i), "system": "s", "pair": "1-2", "order": order, "differs": verdict}
            for order, verdict in (("ab", ab), ("ba", ba))
        ]
    return pl.DataFrame(rows)


def test_order_bias_is_the_difference_of_the_two_orders_with_an_exact_p() -> None:
    # 6 pairs change one way, 1 the other: exact two-sided binomial p = 2 (1 + 7) / 2^7 = .125
    found = order_bias(pairs([("true", "false")] * 6 + [("false", "true")] + [("true", "true")] * 13), draws=50)
    assert found.pairs == 20
    assert found.difference.value == pytest.approx(25.0)
    assert found.inconsistent.value == pytest.approx(35.0)
    assert found.p == pytest.approx(0.125)


def test_pairs_judged_in_one_order_only_or_unread_do_not_count() -> None:
    frame = pairs([("true", "true"), ("", "false")])
    assert order_bias(frame, draws=10).pairs == 1
    with pytest.raises(InputError, match="both orders"):
        order_bias(frame.filter(pl.col("order") == "ab"))


def test_length_bias_finds_the_slope_that_was_put_in_and_people_take_it_out() -> None:
    rng = np.random.default_rng(0)
    doublings = rng.integers(0, 6, 6000)
    people = rng.random(6000) < 0.5
    judge = rng.random(6000) < 0.2 + 0.1 * doublings  # ten points a doubling, whatever people say
    frame = pl.DataFrame(
        {
            "id": [str(i) for i in range(6000)],
            "length": (2**doublings).tolist(),
            "verdict": np.where(judge, "right", "wrong").tolist(),
            "people": np.where(people, "right", "wrong").tolist(),
        }
    )
    found = length_bias(frame, draws=300)
    for estimate in (found.per_doubling, found.beyond_people):
        assert estimate.ci is not None
        assert estimate.ci[0] <= 10.0 <= estimate.ci[1]  # type: ignore[operator]
    # people who like long answers just as much leave no bias
    fair = length_bias(frame.with_columns(people=pl.col("verdict")), draws=50)
    assert fair.beyond_people.value == pytest.approx(0.0, abs=1e-9)


def test_verdicts_that_cannot_be_read_are_counted() -> None:
    frame = pl.DataFrame(
        {
            "id": [str(i) for i in range(12)],
            "answer": ["a" * (i + 1) for i in range(12)],
            "verdict": ["right"] * 6 + ["wrong"] * 5 + ["perhaps"],
        }
    )
    found = length_bias(frame, draws=20)
    assert (found.answers, found.unread) == (11, 1)
    assert found.beyond_people.value is None


def test_answers_of_one_length_tell_nothing() -> None:
    frame = pl.DataFrame({"id": range(20), "answer": ["same"] * 20, "verdict": ["right"] * 20})
    with pytest.raises(InputError, match="unlike lengths"):
        length_bias(frame)
