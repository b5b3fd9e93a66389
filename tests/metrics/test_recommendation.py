"""Benchmark A on posts small enough to score by hand, and what must hold on any posts."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mojimeter.errors import InputError
from mojimeter.metrics import score_recommendations

POSTS = pl.DataFrame(
    {
        "id": ["p1", "p2", "p3", "p4"],
        "text": ["great 🎉", "sad 😢😢 day 💔", "ok 👍🏽", "love ❤️"],
        "author": ["a", "a", "b", None],
    }
)
OUTPUTS = pl.DataFrame(
    {
        "id": ["p1", "p2", "p3", "p4"],
        "system": ["A"] * 4,
        "reply": ["🎉🎂🥳", "😢", "👍 fine", None],
        "tokens": [10.0, 4.0, 6.0, None],
    }
)
LABELS = pl.DataFrame(
    [
        ("p1", "gold", "positive", "happiness", "favor"),
        ("p2", "gold", "negative", "sadness", "none"),
        ("p3", "gold", "positive", "happiness", "none"),
        ("p4", "gold", "positive", None, "favor"),
        ("p1", "A", "positive", "happiness", "none"),
        ("p2", "A", "negative", "anger", "none"),
        ("p3", "A", None, "happiness", "none"),
        ("p4", "A", "positive", None, "favor"),
        ("p1", "baseline/none", "neutral", "happiness", "favor"),
        ("p2", "baseline/none", "negative", "sadness", "none"),
        ("p3", "baseline/none", "positive", "happiness", "favor"),
        ("p4", "baseline/none", "negative", "happiness", "favor"),
    ],
    schema=["id", "system", "sentiment", "emotion", "stance"],
    orient="row",
).with_columns(judge=pl.lit("j"))


def _score(**options: Any) -> dict[str, Any]:
    options = {"posts": POSTS, "outputs": OUTPUTS, "labels": LABELS, "draws": 100} | options
    return score_recommendations(**options).to_dict()


def _value(document: dict[str, Any], system: str, *path: str) -> Any:
    found = document["systems"][system]
    for name in path:
        found = found[name]
    return found["value"] if isinstance(found, dict) else found


def test_overlap_by_hand() -> None:
    # p1: P 1/3, R 1, F 1/2; p2: P 1, R 1/2, F 2/3; p3: 👍 is not 👍🏽; p4: no reply, 0
    document = _score()
    assert _value(document, "A", "overlap", "precision") == pytest.approx(100 * (1 / 3 + 1) / 4)
    assert _value(document, "A", "overlap", "recall") == pytest.approx(37.5)
    assert _value(document, "A", "overlap", "f1") == pytest.approx(100 * (1 / 2 + 2 / 3) / 4)


def test_folding_skin_tones_makes_the_thumb_the_same() -> None:
    document = _score(equality="tone")
    assert _value(document, "A", "overlap", "f1") == pytest.approx(100 * (1 / 2 + 2 / 3 + 1) / 4)
    assert "equality:tone" in document["signature"]


def test_code_points_count_the_tone_and_the_words() -> None:
    # p1 as above; p2 as above; p3: {👍, blank, f, i, n, e} against {👍, tone}: F = 2 / 8; p4: 0
    document = _score(equality="code-points")
    assert _value(document, "A", "overlap", "f1") == pytest.approx(100 * (1 / 2 + 2 / 3 + 1 / 4) / 4)


def test_categories_match_where_emoji_do_not() -> None:
    # Unicode 17 emoji-test.txt: 🎉🎂 Activities / Food & Drink, 🥳😢💔❤️ Smileys & Emotion, 👍 People & Body.
    # groups: p1 {Activities, Food, Smileys} against {Activities}: 1/2; p2 {Smileys} against {Smileys}: 1; p3: 1; p4: 0
    document = _score()
    assert _value(document, "A", "category", "group", "f1") == pytest.approx(100 * (1 / 2 + 1 + 1) / 4)
    # subgroups: p2 {face-concerned} against {face-concerned, heart}: 2/3
    assert _value(document, "A", "category", "subgroup", "f1") == pytest.approx(100 * (1 / 2 + 2 / 3 + 1) / 4)


def test_preservation_by_hand() -> None:
    document = _score()
    # sentiment 1 1 0 1, emotion 1 0 1 0 (two unparsed labels are not kept), stance 0 1 1 1
    assert _value(document, "A", "preservation", "sentiment") == pytest.approx(75)
    assert _value(document, "A", "preservation", "emotion") == pytest.approx(50)
    assert _value(document, "A", "preservation", "stance") == pytest.approx(75)
    assert _value(document, "A", "preservation", "average") == pytest.approx(200 / 3)
    assert document["systems"]["A"]["preservation"]["age"]["value"] is None
    assert document["systems"]["A"]["preservation"]["age"]["reason"]


def test_kept_and_recovered_by_hand() -> None:
    # the text alone differs at p1 sentiment, p3 stance, p4 sentiment, p4 emotion; A has the gold label at three
    document = _score()
    assert _value(document, "A", "recovered") == pytest.approx(75)
    # of the other eight A has p1 emotion, p2 sentiment, p2 stance, p3 emotion, p4 stance
    assert _value(document, "A", "kept") == pytest.approx(62.5)
    assert (_value(document, "baseline/none", "recovered"), _value(document, "baseline/none", "kept")) == (0, 100)


def test_per_class_by_hand() -> None:
    document = _score()
    assert _value(document, "A", "per_class", "sentiment", "positive") == pytest.approx(200 / 3)
    assert _value(document, "A", "per_class", "sentiment", "negative") == pytest.approx(100)
    assert set(document["systems"]["A"]["per_class"]["emotion"]) == {"happiness", "sadness"}


def test_what_was_odd_is_counted() -> None:
    replies = _score()["systems"]["A"]["replies"]
    assert replies["missing"] == 1
    assert replies["no_emoji"] == 1
    assert replies["extra_text"] == 1
    assert replies["wrong_count"] == 2
    assert replies["total"] == 4
    assert replies["unparsed_labels"] == {"sentiment": 1, "emotion": 1, "stance": 0}


def test_the_text_alone_is_a_system_known_by_its_labels() -> None:
    document = _score()
    assert _value(document, "baseline/none", "overlap", "f1") == 0
    assert _value(document, "baseline/none", "diversity", "distinct") == 0
    # sentiment 0 1 1 0, emotion 1 1 1 0, stance 1 1 0 1
    assert _value(document, "baseline/none", "preservation", "average") == pytest.approx(100 * 8 / 12)


def test_tokens_per_emoji_are_given_both_ways() -> None:
    cost = _score()["systems"]["A"]["cost"]["tokens_per_emoji"]
    assert cost["ratio_of_means"]["value"] == pytest.approx(20 / 5)
    assert cost["mean_of_ratios"]["value"] == pytest.approx((10 / 3 + 4 + 6) / 3)
    assert cost["replies"] == 3


def test_diversity_by_hand() -> None:
    diversity = _score()["systems"]["A"]["diversity"]
    assert diversity["distinct"] == 5
    assert diversity["entropy_bits"] == pytest.approx(np.log2(5))
    assert diversity["across_attempts"] == {"value": None, "reason": "there is one attempt a post"}
    assert sum(entry["percent"] for entry in diversity["top"]) == pytest.approx(100)


def test_the_result_is_json_and_the_signature_is_in_it() -> None:
    document = json.loads(json.dumps(_score(), allow_nan=False))
    assert document["schema"] == 1
    assert document["calls"] == {"made": 0, "saved": 0}
    for part in ("n:4", "judge:j", "equality:presentation", "append:emoji", "seed:0", "draws:100"):
        assert part in document["signature"].split("|")


def test_without_labels_overlap_is_scored_and_the_rest_says_why_not() -> None:
    document = _score(labels=None)
    assert document["ranked_by"] == "f1"
    assert set(document["systems"]) == {"A"}
    assert document["systems"]["A"]["preservation"]["average"] == {"value": None, "reason": "no labels were given"}
    assert document["systems"]["A"]["kept"]["reason"] == "no labels were given"


def test_without_labels_of_the_text_alone_there_is_no_split() -> None:
    document = _score(labels=LABELS.filter(pl.col("system") != "baseline/none"))
    assert document["systems"]["A"]["kept"]["value"] is None
    assert "baseline/none" in document["systems"]["A"]["recovered"]["reason"]


def test_without_gold_labels_the_result_says_so() -> None:
    document = _score(labels=LABELS.filter(pl.col("system") != "gold"))
    assert "gold" in document["systems"]["A"]["preservation"]["average"]["reason"]
    assert any("gold" in warning for warning in document["warnings"])


def test_any_data_frame_will_do() -> None:
    by_pandas = score_recommendations(
        pd.DataFrame(POSTS.to_dict(as_series=False)),
        pd.DataFrame(OUTPUTS.to_dict(as_series=False)),
        pd.DataFrame(LABELS.to_dict(as_series=False)),
        draws=100,
    )
    assert by_pandas.to_dict()["systems"] == _score()["systems"]


def test_a_reply_without_a_label_is_not_preserved_and_counted() -> None:
    fewer = LABELS.filter(~((pl.col("system") == "A") & (pl.col("id") == "p1")))
    document = _score(labels=fewer)
    assert document["systems"]["A"]["replies"]["unlabelled"] == 1
    assert _value(document, "A", "preservation", "sentiment") == pytest.approx(50)
    assert any("1 replies have no label" in warning for warning in document["warnings"])


def test_a_system_with_some_of_the_posts_is_scored_on_those_and_compared_on_common_ones() -> None:
    both = pl.concat([OUTPUTS, OUTPUTS.head(2).with_columns(system=pl.lit("B"))])
    labels = pl.concat(
        [
            LABELS,
            LABELS.filter((pl.col("system") == "A") & pl.col("id").is_in(["p1", "p2"])).with_columns(
                system=pl.lit("B")
            ),
        ]
    )
    document = _score(outputs=both, labels=labels)
    assert document["systems"]["B"]["posts"] == 2
    assert _value(document, "B", "preservation", "sentiment") == pytest.approx(100)
    against = [d for d in document["differences"] if {d["system"], d["against"]} == {"B", "baseline/none"}]
    assert against[0]["posts"] == 2
    assert any(warning.startswith("B: 2 of 4 posts") for warning in document["warnings"])


def test_rows_of_unknown_posts_are_counted_and_left_out() -> None:
    stranger = pl.DataFrame({"id": ["p9"], "system": ["A"], "reply": ["🎉"], "tokens": [1.0]})
    document = _score(outputs=pl.concat([OUTPUTS, stranger]))
    assert _value(document, "A", "overlap", "f1") == _value(_score(), "A", "overlap", "f1")
    assert any("1 rows of outputs" in w and "'p9'" in w for w in document["warnings"])


def test_outputs_of_other_posts_altogether_are_refused() -> None:
    with pytest.raises(InputError, match="none of the 4 rows of outputs belongs to a post"):
        _score(outputs=OUTPUTS.with_columns(id=pl.col("id") + "x"))


def test_the_same_reply_twice_is_refused_with_its_row() -> None:
    with pytest.raises(InputError, match=r"row 5.*'p1'.*row 1"):
        _score(outputs=pl.concat([OUTPUTS, OUTPUTS.head(1)]))


def test_several_judges_need_a_choice() -> None:
    two = pl.concat([LABELS, LABELS.with_columns(judge=pl.lit("k"), sentiment=pl.lit("neutral"))])
    with pytest.raises(InputError, match=r"2 judges \(j, k\)"):
        _score(labels=two)
    assert _value(_score(labels=two, judge="j"), "A", "preservation", "sentiment") == pytest.approx(75)
    with pytest.raises(InputError, match="no labels of judge 'z'"):
        _score(labels=two, judge="z")


@pytest.mark.parametrize("option", [{"equality": "close"}, {"append": "both"}, {"draws": 0}])
def test_options_out_of_range_are_refused(option: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        _score(**option)


def test_attempts_are_averaged_and_their_difference_measured() -> None:
    posts = POSTS.head(2)
    outputs = pl.DataFrame(
        {
            "id": ["p1", "p1", "p2", "p2"],
            "system": ["A"] * 4,
            "epoch": [1, 2, 1, 2],
            "reply": ["🎉", "😀", "😢", "😢"],
        }
    )
    labels = pl.DataFrame(
        [
            ("p1", "gold", 1, "positive"),
            ("p2", "gold", 1, "negative"),
            ("p1", "A", 1, "positive"),
            ("p1", "A", 2, "negative"),
            ("p2", "A", 1, "negative"),
            ("p2", "A", 2, "negative"),
        ],
        schema=["id", "system", "epoch", "sentiment"],
        orient="row",
    ).with_columns(judge=pl.lit("j"))
    document = _score(posts=posts, outputs=outputs, labels=labels)
    assert _value(document, "A", "preservation", "sentiment") == pytest.approx(75)
    assert document["systems"]["A"]["posts"] == 2
    # attempts at p1 share nothing, those at p2 everything
    assert _value(document, "A", "diversity", "across_attempts") == pytest.approx(50)
    # first attempt 100%, second 50%: standard deviation 50 / sqrt 2
    attempts = document["systems"]["A"]["attempts"]
    assert attempts["count"] == 2
    assert attempts["average_by_attempt"] == [100.0, 50.0]
    assert attempts["average_sd"] == pytest.approx(50 / np.sqrt(2))


def test_one_system_with_two_strategies_is_two_systems() -> None:
    two = pl.concat([OUTPUTS.with_columns(strategy=pl.lit(s)) for s in ("zeroshot", "fewshot")])
    assert set(_score(outputs=two)["systems"]) == {"A (zeroshot)", "A (fewshot)", "baseline/none"}


def test_labels_and_replies_belong_together_where_only_one_side_names_the_strategy() -> None:
    named = LABELS.with_columns(strategy=pl.when(pl.col("system") == "A").then(pl.lit("fewshot")))
    assert _value(_score(labels=named), "A", "preservation", "sentiment") == pytest.approx(75)
    assert _value(
        _score(outputs=OUTPUTS.with_columns(strategy=pl.lit("zeroshot"))), "A", "preservation", "sentiment"
    ) == pytest.approx(75)
    other = _score(labels=named, outputs=OUTPUTS.with_columns(strategy=pl.lit("zeroshot")))
    assert other["systems"]["A"]["preservation"]["average"]["reason"] == "there are no labels for this system"


CONDITIONAL = OUTPUTS.with_columns(strategy=pl.lit("conditional"))
WITH_GENDER = LABELS.with_columns(
    gender=pl.when(pl.col("id").is_in(["p1", "p2"])).then(pl.lit("male")).otherwise(pl.lit("female"))
)


def test_a_prompt_that_held_the_judges_own_labels_is_a_leak() -> None:
    posts = POSTS.with_columns(gender=pl.Series(["male", "male", "female", "female"]))
    document = _score(posts=posts, outputs=CONDITIONAL, labels=WITH_GENDER)
    assert document["systems"]["A"]["leaked"] is True
    assert document["systems"]["baseline/none"]["leaked"] is False
    assert document["ranked_by"] == "average_unleaked"
    # sentiment 75, emotion 50, stance 75, gender 100
    assert _value(document, "A", "preservation", "average_unleaked") == pytest.approx(200 / 3)
    assert _value(document, "A", "preservation", "average") == pytest.approx(75)


def test_outputs_can_say_themselves_that_the_profile_was_the_judges() -> None:
    told = CONDITIONAL.with_columns(profile=pl.lit("labels"))
    assert _score(outputs=told)["systems"]["A"]["leaked"] is True
    assert _score(outputs=told.with_columns(profile=pl.lit("posts")))["systems"]["A"]["leaked"] is False
    assert _score(outputs=told.with_columns(strategy=pl.lit("zeroshot")))["systems"]["A"]["leaked"] is False


def test_a_prompt_that_held_other_labels_is_none() -> None:
    posts = POSTS.with_columns(gender=pl.Series(["female", "male", "female", "male"]))
    assert _score(posts=posts, outputs=CONDITIONAL, labels=WITH_GENDER)["systems"]["A"]["leaked"] is False
    told_nothing = _score(posts=posts, labels=WITH_GENDER)
    assert told_nothing["systems"]["A"]["leaked"] is False


# -- what must hold on any posts ---------------------------------------------------------------

EMOJI = ["😀", "😢", "🎉", "👍🏽", "👍", "❤️", "🤷‍♂️", "🇮🇳"]
WORLDS = st.integers(0, 2**32 - 1)


def _world(seed: int, systems: int = 2, posts: int = 12) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Posts, outputs and labels at random."""
    rng = np.random.default_rng(seed)
    ids = [f"p{k}" for k in range(posts)]

    def some() -> str:
        return "".join(rng.choice(EMOJI, size=rng.integers(0, 4)))

    frame = pl.DataFrame(
        {"id": ids, "text": [f"w {some()}" for _ in ids], "author": [f"a{rng.integers(5)}" for _ in ids]}
    )
    names = [f"s{k}" for k in range(systems)]
    outputs = pl.DataFrame([(i, n, some()) for n in names for i in ids], schema=["id", "system", "reply"], orient="row")
    choices = {"sentiment": ["positive", "negative", None], "gender": ["male", "female"]}
    labels = pl.DataFrame(
        [
            (i, n, "j", *[rng.choice(np.array(c, dtype=object)) for c in choices.values()])
            for n in ["gold", "baseline/none", *names]
            for i in ids
        ],
        schema=["id", "system", "judge", *choices],
        orient="row",
    )
    return frame, outputs, labels


@settings(max_examples=8, deadline=None)
@given(WORLDS)
def test_the_order_of_rows_changes_nothing(seed: int) -> None:
    posts, outputs, labels = _world(seed)
    one = score_recommendations(posts, outputs, labels, draws=50)
    shuffled = [f.sample(fraction=1.0, shuffle=True, seed=seed % 1000) for f in (posts, outputs, labels)]
    other = score_recommendations(*shuffled, draws=50)
    assert one.to_dict() == other.to_dict()


@settings(max_examples=8, deadline=None)
@given(WORLDS)
def test_another_system_changes_nothing_for_those_there(seed: int) -> None:
    posts, outputs, labels = _world(seed, systems=3)
    without = score_recommendations(
        posts, outputs.filter(pl.col("system") != "s2"), labels.filter(pl.col("system") != "s2"), draws=50
    ).to_dict()
    beside = score_recommendations(posts, outputs, labels, draws=50).to_dict()
    for name, scores in without["systems"].items():
        assert _numbers(scores) == pytest.approx(_numbers(beside["systems"][name]), nan_ok=True)


@settings(max_examples=8, deadline=None)
@given(WORLDS)
def test_a_perfect_system_scores_one_hundred(seed: int) -> None:
    posts, _, labels = _world(seed, systems=0)
    labels = labels.with_columns(sentiment=pl.col("sentiment").fill_null("neutral"))
    gold = labels.filter(pl.col("system") == "gold")
    outputs = posts.select("id", system=pl.lit("perfect"), reply=pl.col("text").str.slice(2))
    scores = score_recommendations(
        posts, outputs, pl.concat([labels, gold.with_columns(system=pl.lit("perfect"))]), draws=50
    ).to_dict()["systems"]["perfect"]
    if any(reply for reply in outputs["reply"]):
        assert scores["overlap"]["f1"]["value"] == pytest.approx(100)
        assert scores["category"]["group"]["f1"]["value"] == pytest.approx(100)
        assert scores["distribution"]["jensen_shannon"]["value"] == pytest.approx(0, abs=1e-12)
    assert scores["preservation"]["average"]["value"] == pytest.approx(100)
    assert scores["kept"]["value"] in (None, pytest.approx(100))
    assert scores["recovered"]["value"] in (None, pytest.approx(100))


@settings(max_examples=8, deadline=None)
@given(WORLDS)
def test_preservation_is_kept_and_recovered_weighted_by_what_there_is(seed: int) -> None:
    """What there is to keep is the score of baseline/none."""
    scores = score_recommendations(*_world(seed), draws=1).systems
    to_keep = (scores["baseline/none"].preservation["average"].value or 0) / 100
    for system in ("s0", "s1"):
        kept, recovered = scores[system].kept.value or 0, scores[system].recovered.value or 0
        whole = to_keep * kept + (1 - to_keep) * recovered
        assert scores[system].preservation["average"].value == pytest.approx(whole)


def _numbers(tree: Any) -> list[float]:
    """All numbers of a tree but ranks, in order."""
    if isinstance(tree, dict):
        return [n for name, branch in sorted(tree.items()) if name != "rank" for n in _numbers(branch)]
    if isinstance(tree, list):
        return [n for branch in tree for n in _numbers(branch)]
    return [float(tree)] if isinstance(tree, (int, float)) else [] if isinstance(tree, str) else [float("nan")]
