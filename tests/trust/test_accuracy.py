"""Judges against known labels: the numbers of scikit-learn, and what is counted rather than dropped."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mojimeter.errors import InputError
from mojimeter.judges.labels import LABELS
from mojimeter.ratings.agreement import chance_corrected
from mojimeter.trust.accuracy import judge_accuracy
from mojimeter.trust.confusion import codes_of, correlation, cross, kappa

EMOTIONS = LABELS["emotion"]


def tables(right: list[str], said: list[str | None], task: str = "emotion") -> tuple[pl.DataFrame, pl.DataFrame]:
    ids = [str(i) for i in range(len(right))]
    truth = pl.DataFrame({"id": ids, "author": [str(i // 3) for i in range(len(right))], task: right})
    labels = pl.DataFrame({"id": ids, "judge": "j", task: said}, schema_overrides={task: pl.String})
    return truth, labels


def drawn(seed: int, posts: int = 200, labels: tuple[str, ...] = EMOTIONS) -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(seed)
    right = rng.choice(labels, posts).tolist()
    said = [r if rng.random() < 0.6 else str(rng.choice(labels)) for r in right]
    return right, said


def test_macro_averages_kappa_and_correlation_are_those_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    right, said = drawn(1)
    found = judge_accuracy(*tables(right, said), draws=50).judges["j"]["emotion"]
    p, r, f, _ = metrics.precision_recall_fscore_support(right, said, average="macro", zero_division=0)
    assert [found.precision.value, found.recall.value, found.f1_macro.value] == pytest.approx([p, r, f])
    assert found.accuracy.value == pytest.approx(metrics.accuracy_score(right, said))
    assert found.kappa.value == pytest.approx(metrics.cohen_kappa_score(right, said))
    assert found.correlation.value == pytest.approx(metrics.matthews_corrcoef(right, said))
    per_class = metrics.precision_recall_fscore_support(right, said, labels=list(EMOTIONS), zero_division=0)
    for number, label in enumerate(EMOTIONS):
        one = found.per_class[label]
        assert [one.precision.value, one.recall.value, one.f1.value] == pytest.approx(
            [x[number] for x in per_class[:3]]
        )


def test_a_label_never_said_has_no_precision_but_counts_zero_in_the_macro_average() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    right, said = ["anger", "fear", "fear", "anger"], ["anger"] * 4
    found = judge_accuracy(*tables(right, list(said)), draws=20).judges["j"]["emotion"]
    assert found.per_class["fear"].precision.value is None
    assert found.per_class["fear"].recall.value == 0.0
    expected = metrics.precision_score(right, said, average="macro", zero_division=0)
    assert found.precision.value == pytest.approx(expected)
    assert found.per_class["fear"].taken_for == ("anger", 2)
    assert "joy" not in found.per_class


def test_a_label_that_could_not_be_read_is_wrong_and_counted() -> None:
    right = ["male", "male", "female", "female"]
    found = judge_accuracy(*tables(right, ["male", None, "female", "female"], "gender"), draws=20).judges["j"]["gender"]
    assert found.unparsed == 1
    assert found.accuracy.value == 0.75
    assert found.per_class["male"].taken_for == ("unparsed", 1)
    # by hand: p_o = 3/4; p_e = 1/2 x 1/4 + 1/2 x 1/2 = 3/8; kappa = (3/4 - 3/8) / (5/8)
    assert found.kappa.value == pytest.approx(0.6)


def test_posts_without_a_known_label_and_tasks_without_any_are_left_out() -> None:
    truth, labels = tables(["male", "female", "male"], ["male", "male", "male"], "gender")
    truth = truth.with_columns(pl.when(pl.col("id") == "1").then(None).otherwise("gender").alias("gender"))
    report = judge_accuracy(truth.with_columns(age=pl.lit(None, dtype=pl.String)), labels, draws=20)
    assert list(report.judges["j"]) == ["gender"]
    assert report.judges["j"]["gender"].posts == 2


def test_two_judges_are_compared_on_the_posts_both_were_given() -> None:
    right, said = drawn(3, labels=("male", "female"))
    truth, labels = tables(right, list(said), "gender")
    better = labels.with_columns(judge=pl.lit("perfect"), gender=pl.Series(right)).head(100)
    report = judge_accuracy(truth, pl.concat([labels, better]), draws=200)
    first, second, task, difference = report.differences[0]
    assert (first, second, task, difference.posts) == ("j", "perfect", "gender", 100)
    wrong = np.mean([r != s for r, s in zip(right[:100], said[:100], strict=True)])
    assert difference.difference.value == pytest.approx(-wrong)


def test_ids_that_never_meet_are_one_sentence() -> None:
    truth, labels = tables(["male"], ["male"], "gender")
    with pytest.raises(InputError, match="do the ids match"):
        judge_accuracy(truth, labels.with_columns(id=pl.lit("other")))


def test_the_interval_draws_authors_so_that_copies_of_a_post_by_one_author_add_nothing() -> None:
    right, said = drawn(5, 60, ("male", "female"))
    alone = pl.DataFrame({"id": [str(i) for i in range(60)], "author": [str(i) for i in range(60)], "gender": right})
    labels = pl.DataFrame({"id": alone["id"], "judge": "j", "gender": said})
    copies = pl.concat([alone.with_columns(id=pl.col("id") + f"-{k}") for k in range(10)])
    copied = pl.concat([labels.with_columns(id=pl.col("id") + f"-{k}") for k in range(10)])
    one = judge_accuracy(alone, labels, draws=500).judges["j"]["gender"].accuracy
    ten = judge_accuracy(copies, copied, draws=500).judges["j"]["gender"].accuracy
    assert ten.value == pytest.approx(one.value)
    assert ten.ci == pytest.approx(one.ci)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(EMOTIONS), st.sampled_from(EMOTIONS)), min_size=2, max_size=60))
def test_kappa_of_the_cross_table_is_the_one_of_ratings_agreement(pairs: list[tuple[str, str]]) -> None:
    first, second = (pl.Series([p[side] for p in pairs]) for side in (0, 1))
    table = cross(first, second, EMOTIONS, np.arange(len(pairs)), draws=2)
    ours = float(kappa(table.observed[None])[0])
    theirs = chance_corrected(np.column_stack([codes_of(s, EMOTIONS) for s in (first, second)]).astype(float))["conger"]
    if theirs.value is None:
        assert np.isnan(ours)
    else:
        assert ours == pytest.approx(theirs.value, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=4, max_size=60))
def test_with_two_labels_the_correlation_is_pearsons(pairs: list[tuple[bool, bool]]) -> None:
    x, y = np.array(pairs, dtype=float).T
    names = {True: "male", False: "female"}
    first, second = (pl.Series([names[p[side]] for p in pairs]) for side in (0, 1))
    ours = float(correlation(cross(first, second, LABELS["gender"], np.arange(len(pairs)), draws=2).observed[None])[0])
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        assert np.isnan(ours)
    else:
        assert ours == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-9)
