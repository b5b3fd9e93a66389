"""The measures of benchmark B against values worked out by hand from their definitions (EMODIS, equations 1 to 6)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mojimeter.errors import InputError
from mojimeter.metrics import score_disambiguation
from mojimeter.metrics.disambiguation import cohen_kappa

DRAWS = 50


def pairs_of(count: int, **columns: list[Any]) -> pl.DataFrame:
    """Pairs p0, p1, ... with the literal reading first."""
    ids = [f"p{i}" for i in range(count)]
    frame = {
        "id": ids,
        "category": ["situation", "tone"] * (count // 2) + ["situation"] * (count % 2),
        "text": [f"text {i} 🔥" for i in ids],
        "emoji": ["🔥"] * count,
        "question": ["What is meant?"] * count,
        "context_1": [f"a fire engine came to {i}" for i in ids],
        "answer_1": ["a real blaze"] * count,
        "context_2": [f"the band played at {i}" for i in ids],
        "answer_2": ["a great show"] * count,
        "reading_1": ["literal"] * count,
        "reading_2": ["figurative"] * count,
        "lang": ["en"] * count,
    }
    return pl.DataFrame({**frame, **columns})


def answers_of(rows: list[tuple[str, str, str | None, str | None]], system: str = "s") -> pl.DataFrame:
    """Answers from (id, condition, verdict, reading)."""
    return pl.DataFrame(
        [
            {"id": i, "system": system, "condition": k, "answer": f"answer {k}", "verdict": v, "reading": r}
            for i, k, v, r in rows
        ],
        schema=dict.fromkeys(("id", "system", "condition", "answer", "verdict", "reading"), pl.String),
    )


def differences_of(rows: list[tuple[str, str, str, bool | None]], system: str = "s") -> pl.DataFrame:
    """Differences from (id, pair, order, differs)."""
    return pl.DataFrame(
        [{"id": i, "system": system, "pair": c, "order": o, "differs": d} for i, c, o, d in rows],
        schema={"id": pl.String, "system": pl.String, "pair": pl.String, "order": pl.String, "differs": pl.Boolean},
    )


def scored(pairs: pl.DataFrame, answers: Any, differences: Any = None, **options: Any) -> dict[str, Any]:
    """The document."""
    return score_disambiguation(pairs, answers, differences, draws=DRAWS, **options).to_dict()


RIGHT, WRONG = "right", "wrong"
FOUR = answers_of(
    [
        ("p0", "1", RIGHT, None),
        ("p0", "2", RIGHT, None),
        ("p1", "1", RIGHT, None),
        ("p1", "2", WRONG, None),
        ("p2", "1", WRONG, None),
        ("p2", "2", WRONG, None),
        ("p3", "1", RIGHT, None),
        ("p3", "2", WRONG, None),
    ]
)


def test_accuracies_are_those_of_the_papers_equations() -> None:
    # pairs: one of four has both right. queries: 2 + 1 + 0 + 1 = 4 of 8. p1 = 3/4, p2 = 1/4, p1 p2 = 3/16
    system = scored(pairs_of(4), FOUR)["systems"]["s"]
    assert system["acc_pair"]["value"] == pytest.approx(1 / 4)
    assert system["acc_query"]["value"] == pytest.approx(4 / 8)
    assert system["acc_pair_if_independent"]["value"] == pytest.approx(3 / 16)
    assert system["acc_by_context"]["1"]["value"] == pytest.approx(3 / 4)
    assert system["acc_by_context"]["2"]["value"] == pytest.approx(1 / 4)
    assert system["acc_pair_gain"]["value"] == pytest.approx(1 / 4 - 3 / 16)
    low, high = system["acc_pair"]["ci"]
    assert 0 <= low <= 1 / 4 <= high <= 1


def test_accuracies_by_kind_and_emoji_are_over_the_pairs_of_that_kind() -> None:
    # situation: p0 (both), p2 (none): 1/2 of pairs, 2/4 of answers; tone: p1, p3: 0 of pairs, 2/4 of answers
    pairs = pairs_of(
        4, emoji=["🔥", "🔥", "💀", "💀"], text=["x 🔥", "y 🔥", "z 💀", "u 💀"], lang=["en", "hi", "hi", "hi"]
    )
    system = scored(pairs, FOUR)["systems"]["s"]
    assert system["by_category"]["situation"]["acc_pair"]["value"] == pytest.approx(1 / 2)
    assert system["by_category"]["tone"]["acc_pair"]["value"] == 0
    assert system["by_category"]["tone"]["acc_query"]["value"] == pytest.approx(1 / 2)
    assert system["by_emoji"]["💀"]["acc_query"]["value"] == pytest.approx(1 / 4)
    assert system["by_lang"]["en"]["pairs"] == 1
    assert system["by_lang"]["hi"]["pairs"] == 3


def test_an_unparsed_verdict_is_counted_and_taken_neither_as_wrong_nor_as_right() -> None:
    # p0's second verdict says nothing. Of p1 and p2 one has both right: 1/2; of five answers four are right
    answers = answers_of(
        [
            ("p0", "1", RIGHT, None),
            ("p0", "2", "I cannot say.", None),
            ("p1", "1", RIGHT, None),
            ("p1", "2", "That is incorrect.", None),
            ("p2", "1", "**Right**", None),
            ("p2", "2", "At first wrong, but in the end it is correct", None),
        ]
    )
    system = scored(pairs_of(3), answers)["systems"]["s"]
    assert system["unparsed"] == 1
    assert system["acc_pair"]["value"] == pytest.approx(1 / 2)
    assert system["acc_query"]["value"] == pytest.approx(4 / 5)
    # p1 = 3/3, p2 = 1/2
    assert system["acc_pair_if_independent"]["value"] == pytest.approx(1 / 2)


def test_a_missing_condition_leaves_the_pair_out_of_pair_accuracy_and_is_counted() -> None:
    answers = answers_of([("p0", "1", RIGHT, None), ("p0", "2", RIGHT, None), ("p1", "1", WRONG, None)])
    system = scored(pairs_of(3), answers)["systems"]["s"]
    assert (system["pairs"], system["missing"]) == (2, 1)
    assert system["acc_pair"]["value"] == 1
    assert system["acc_query"]["value"] == pytest.approx(2 / 3)
    assert system["acc_pair_if_independent"]["value"] == pytest.approx(1 / 2)


def test_one_sided_pairs_alone_have_no_pair_accuracy_and_say_why() -> None:
    answers = answers_of([("p0", "1", RIGHT, None), ("p1", "1", WRONG, None)])
    system = scored(pairs_of(2), answers)["systems"]["s"]
    assert system["acc_pair"] == {"value": None, "reason": "no pair has both verdicts"}
    assert system["acc_pair_if_independent"]["value"] is None
    assert system["acc_query"]["value"] == pytest.approx(1 / 2)


def test_without_verdicts_the_accuracies_are_null_with_the_reason() -> None:
    answers = answers_of([("p0", "1", None, None), ("p0", "2", None, None)])
    system = scored(pairs_of(2), answers)["systems"]["s"]
    for name in ("acc_pair", "acc_query", "acc_pair_if_independent"):
        assert system[name] == {"value": None, "reason": "no verdicts were given"}
    assert system["unverified"] == 2
    assert system["context_awareness"] == {"value": None, "reason": "no differences were given"}
    assert system["bias"]["value"] is None


def test_an_empty_answer_is_wrong_and_counted_but_a_row_that_is_not_there_is_not() -> None:
    rows = [("p0", "1", RIGHT, None), ("p0", "2", None, None), ("p1", "1", RIGHT, None)]
    answers = answers_of(rows).with_columns(
        pl.when(pl.col("verdict").is_null()).then(None).otherwise(pl.col("answer")).alias("answer")
    )
    system = scored(pairs_of(2), answers)["systems"]["s"]
    assert (system["no_answer"], system["missing"], system["unverified"]) == (1, 1, 0)
    assert system["acc_pair"]["value"] == 0
    assert system["acc_query"]["value"] == pytest.approx(2 / 3)


def test_a_difference_is_one_only_where_both_orders_say_so() -> None:
    rows = [
        *[("p0", "1-2", order, True) for order in ("ab", "ba")],
        ("p1", "1-2", "ab", True),
        ("p1", "1-2", "ba", False),
        ("p2", "1-2", "ab", True),  # asked in one order only: left out
        ("p3", "1-2", "ab", True),
        ("p3", "1-2", "ba", None),  # could not be read: left out
        *[("p0", "1-none", order, True) for order in ("ab", "ba")],
        *[("p0", "2-none", order, False) for order in ("ab", "ba")],
        *[("p1", "2-none", order, True) for order in ("ab", "ba")],
    ]
    system = scored(pairs_of(4), FOUR, differences_of(rows))["systems"]["s"]
    # of p0 and p1, p0 differs; of three answers compared with the one without context, two differ
    assert system["context_awareness"]["value"] == pytest.approx(1 / 2)
    assert system["output_variability"]["value"] == pytest.approx(2 / 3)
    assert (system["one_order"], system["unparsed_differences"]) == (1, 1)


def test_differences_of_another_system_do_not_count() -> None:
    rows = [("p0", "1-2", order, True) for order in ("ab", "ba")]
    system = scored(pairs_of(4), FOUR, differences_of(rows, system="other"))["systems"]["s"]
    assert system["context_awareness"]["reason"] == "no differences were given"


def test_string_inequality_is_reported_beside_as_an_upper_bound() -> None:
    said = {"1": "A blaze", "2": " a  BLAZE", "none": "music"}
    rows = [{"id": "p0", "system": "s", "condition": k, "answer": a} for k, a in said.items()]
    system = scored(pairs_of(2), pl.DataFrame(rows))["systems"]["s"]
    assert system["strings_differ"]["between_contexts"]["value"] == 0
    assert system["strings_differ"]["from_no_context"]["value"] == 1


def test_bias_is_the_share_of_figurative_readings_on_pairs_with_one_of_each_kind() -> None:
    # p3 has two figurative readings: out. p2 was read under one context only: out. Of p0 and p1's four answers
    # one is neither; of the other three two are figurative (reading 2).
    pairs = pairs_of(4, reading_1=["literal", "literal", "literal", "figurative"])
    answers = answers_of(
        [
            ("p0", "1", WRONG, "2"),
            ("p0", "2", RIGHT, "2"),
            ("p0", "none", None, "1"),
            ("p1", "1", RIGHT, None),  # right: its own reading
            ("p1", "2", WRONG, "neither"),
            ("p1", "none", None, "2"),
            ("p2", "1", WRONG, "2"),
            ("p3", "1", RIGHT, "1"),
            ("p3", "2", RIGHT, "2"),
        ]
    )
    system = scored(pairs, answers)["systems"]["s"]
    assert system["bias"]["value"] == pytest.approx(2 / 3)
    assert system["bias_without_context"]["value"] == pytest.approx(1 / 2)
    assert system["neither"] == 1


def test_readings_alone_give_verdicts_and_verdicts_alone_give_no_bias() -> None:
    by_reading = answers_of([("p0", "1", None, "1"), ("p0", "2", None, "1"), ("p1", "1", None, "neither")])
    system = scored(pairs_of(2), by_reading)["systems"]["s"]
    assert system["acc_query"]["value"] == pytest.approx(1 / 3)
    assert scored(pairs_of(4), FOUR)["systems"]["s"]["bias"]["reason"].startswith("no readings were given")


def test_equal_systems_tie_and_a_better_one_is_ahead_with_its_difference() -> None:
    everything = [(f"p{i}", k, RIGHT, None) for i in range(40) for k in "12"]
    nothing = [(i, k, WRONG, None) for i, k, _, _ in everything]
    answers = pl.concat([answers_of(nothing, "a"), answers_of(nothing, "b"), answers_of(everything, "c")])
    document = scored(pairs_of(40), answers)
    assert list(document["systems"]) == ["c", "a", "b"]
    assert document["systems"]["c"]["rank"] == [1, 1]
    assert document["systems"]["a"]["rank"] == document["systems"]["b"]["rank"] == [2, 3]
    found = {(d["system"], d["against"]): d for d in document["differences"] if d["measure"] == "acc_pair"}
    assert found["c", "a"]["difference"]["value"] == 1
    assert found["c", "a"]["p"] < 0.05
    assert found["a", "b"]["difference"] == {"value": 0.0, "ci": [0.0, 0.0]}
    assert found["a", "b"]["p"] == 1
    assert (found["c", "a"]["separated"], found["a", "b"]["separated"]) == (True, False)


def test_places_and_separated_differences_say_the_same_and_all_at_once_is_wider_than_each_by_itself() -> None:
    rng = np.random.default_rng(5)
    chances = {"a": 0.8, "b": 0.7, "c": 0.6, "d": 0.35}
    rows = {
        name: [(f"p{i}", k, RIGHT if rng.random() < chance else WRONG, None) for i in range(60) for k in "12"]
        for name, chance in chances.items()
    }
    document = scored(pairs_of(60), pl.concat([answers_of(given, name) for name, given in rows.items()]))
    found = [d for d in document["differences"] if d["measure"] == "acc_pair"]
    for name, system in document["systems"].items():
        better = sum(d["separated"] for d in found if d["against"] == name)
        worse = sum(d["separated"] for d in found if d["system"] == name)
        assert system["rank"] == [1 + better, len(chances) - worse]
    assert {d["separated"] for d in document["differences"]} == {True, False}
    for difference in document["differences"]:
        (low, high), (own_low, own_high) = difference["simultaneous_ci"], difference["difference"]["ci"]
        assert high - low > own_high - own_low
        assert difference["separated"] == (low > 0 or high < 0)


def test_agreement_with_people_and_kappa_are_cohens() -> None:
    # verifier: r r w w r w; people: r w w w r r -> 4 of 6 agree. Both say right 3 and 3 times of 6: chance
    # 1/2, kappa = (4/6 - 1/2) / (1/2) = 1/3
    verifier, people = (RIGHT, RIGHT, WRONG, WRONG, RIGHT, WRONG), (RIGHT, WRONG, WRONG, WRONG, RIGHT, RIGHT)
    cells = [(f"p{i}", k) for i in range(3) for k in "12"]
    answers = answers_of([(i, k, v, None) for (i, k), v in zip(cells, verifier, strict=True)])
    sample = answers_of([(i, k, v, None) for (i, k), v in zip(cells, people, strict=True)]).drop("answer", "reading")
    found = scored(pairs_of(3), answers, people=sample)["verifier"]
    assert found["agreement"]["value"] == pytest.approx(4 / 6)
    assert found["kappa"]["value"] == pytest.approx(1 / 3)
    assert found["people"] == {"answers": 6, "unparsed": 0, "not_found": 0}


def test_without_people_the_agreement_is_null_with_the_reason() -> None:
    assert scored(pairs_of(4), FOUR)["verifier"]["agreement"] == {
        "value": None,
        "reason": "no verdicts by people were given",
    }


def test_kappa_is_agreement_beyond_that_of_the_margins() -> None:
    """Both yes 20, first only 5, second only 10, neither 15: p_o = 35/50, p_e = (25 x 30 + 25 x 20) / 50^2 = 1/2."""
    assert cohen_kappa(np.array([[15.0, 10.0, 5.0, 20.0]]))[0] == pytest.approx(0.4)


def test_pandas_frames_and_integer_conditions_are_taken_as_they_come() -> None:
    frame = FOUR.to_pandas()
    frame["condition"] = pd.to_numeric(frame["condition"])
    assert scored(pairs_of(4), frame)["systems"]["s"]["acc_pair"]["value"] == pytest.approx(1 / 4)


def test_answers_to_other_pairs_are_left_out_with_a_warning_and_only_such_are_an_error() -> None:
    extra = pl.concat([FOUR, answers_of([("elsewhere", "1", RIGHT, None)])])
    document = scored(pairs_of(4), extra)
    assert document["systems"]["s"]["acc_query"]["value"] == pytest.approx(1 / 2)
    assert any("1 answers to pairs that are not among these" in warning for warning in document["warnings"])
    with pytest.raises(InputError, match="none of them is to one of these pairs"):
        scored(pairs_of(4), answers_of([("elsewhere", "1", RIGHT, None)]))


def test_too_few_pairs_for_good_intervals_are_warned_about() -> None:
    assert any("only 4 pairs to resample" in warning for warning in scored(pairs_of(4), FOUR)["warnings"])


verdict_lists = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=12)


@settings(max_examples=12, deadline=None)
@given(verdict_lists)
def test_pair_accuracy_never_exceeds_query_accuracy_and_the_swap_of_contexts_changes_nothing(
    verdicts: list[tuple[bool, bool]],
) -> None:
    def rows(first: int) -> pl.DataFrame:
        return answers_of(
            [
                (f"p{i}", k, RIGHT if pair[(place + first) % 2] else WRONG, None)
                for i, pair in enumerate(verdicts)
                for place, k in enumerate("12")
            ]
        )

    one, other = (scored(pairs_of(len(verdicts)), rows(first))["systems"]["s"] for first in (0, 1))
    assert one["acc_pair"]["value"] <= one["acc_query"]["value"] + 1e-12
    for name in ("acc_pair", "acc_query", "acc_pair_if_independent"):
        assert one[name]["value"] == pytest.approx(other[name]["value"])
