"""Twins and optimism against the published shares, enumeration, and classifiers whose optimism is known."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from mojimeter.errors import InputError
from mojimeter.ratings.splits import (
    count_twins,
    counted_twin_share,
    expected_twin_share,
    macro_f1,
    measure_optimism,
    split_groups,
    split_rows,
    twin_share,
)


@pytest.mark.parametrize(("views", "percent"), [(8, 99.99872), (5, 99.84)])
def test_the_share_of_twins_is_the_published_one(views: int, percent: float) -> None:
    # reference/two_emojis.json: 80/20, 8 and 5 views per sentence
    assert 100 * twin_share(views, 0.2) == pytest.approx(percent, abs=5e-6)


def test_the_share_of_twins_is_that_of_all_possible_splits() -> None:
    # three rows of one item, each in the test set with p = .3: all eight splits, weighted
    with_twin = tested = 0.0
    for split in product([True, False], repeat=3):
        chance = np.prod([0.3 if t else 0.7 for t in split])
        tested += chance * sum(split)
        with_twin += chance * sum(split) * (not all(split))
    assert twin_share(3, 0.3) == pytest.approx(with_twin / tested)


def test_twins_counted_in_drawn_splits_are_those_of_the_formula() -> None:
    groups = np.repeat(np.arange(2000), 3)
    found = count_twins(groups, 0.5, repeats=20)
    # 1 - .5^2 = .75; three errors of 20 splits of 3,000 test rows
    assert found.analytic == 0.75
    assert found.counted.value == pytest.approx(0.75, abs=3 * (0.75 * 0.25 / 3000 / 20) ** 0.5 * 1.5)


def test_items_with_different_numbers_of_rows_are_averaged() -> None:
    # rows: one alone (0), two pairs (1 - .2 = .8 each)
    assert expected_twin_share(np.array([0, 1, 1, 2, 2]), 0.2) == pytest.approx(4 * 0.8 / 5)


@given(st.lists(st.integers(0, 15), min_size=3, max_size=80), st.floats(0.05, 0.95), st.integers(0, 1000))
@settings(max_examples=50, deadline=None)
def test_a_grouped_split_has_no_twins_and_both_sides_have_rows(items: list[int], share: float, seed: int) -> None:
    groups = np.array(items)
    if np.unique(groups).size < 2:
        return
    test = split_groups(groups, share, np.random.default_rng(seed))
    assert 0 < test.sum() < groups.size
    assert counted_twin_share(groups, test) == 0.0
    assert not set(groups[test]) & set(groups[~test])


def test_splits_have_the_share_asked_for() -> None:
    rng = np.random.default_rng(0)
    assert split_rows(100, 0.2, rng).sum() == 20
    assert split_groups(np.repeat(np.arange(50), 4), 0.2, rng).sum() == 40


def test_macro_f1_is_scikit_learn_s() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(0)
    true, predicted = rng.integers(0, 4, 200), rng.integers(0, 5, 200)
    assert macro_f1(true, predicted) == pytest.approx(metrics.f1_score(true, predicted, average="macro"))


def memorise(train: Any, labels: Any, test: Any) -> Any:
    """Nearest training row by the first feature: perfect where a twin was seen, a guess elsewhere."""
    seen = dict(zip(train[:, 0].tolist(), labels.tolist(), strict=True))
    return np.array([seen.get(x, 0) for x in test[:, 0].tolist()])


def test_a_classifier_that_memorises_is_all_optimism() -> None:
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(150), 8)
    labels = rng.integers(0, 2, 150)[groups]
    found = measure_optimism(memorise, groups[:, None], labels, groups, repeats=10)
    assert found.row_wise.macro_f1.value == pytest.approx(1.0)
    # grouped: it always says 0, so F1 is about 2/3 for one label and 0 for the other
    assert found.grouped.macro_f1.value == pytest.approx(1 / 3, abs=0.03)
    low, high = found.optimism.ci or (0.0, 0.0)
    assert low is not None
    assert 0 < low < 2 / 3 < high + 0.05  # type: ignore[operator]


def test_a_classifier_that_generalises_has_no_optimism() -> None:
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(100), 5)
    labels = rng.integers(0, 3, 500)
    found = measure_optimism(lambda _x, _y, test: test[:, 0], labels[:, None], labels, groups, repeats=5)
    assert (found.row_wise.macro_f1.value, found.grouped.macro_f1.value, found.optimism.value) == (1.0, 1.0, 0.0)


def test_the_interval_is_nadeau_and_bengio_s() -> None:
    from mojimeter.ratings.splits import _repeated

    # by hand: values 1, 2, 3: mean 2, s^2 = 1, t_.975(2) = 4.302653, variance (1/3 + 1/4)
    found = _repeated(np.array([1.0, 2.0, 3.0]), 0.25)
    half = 4.302653 * (1 / 3 + 1 / 4) ** 0.5
    assert found.ci == pytest.approx((2 - half, 2 + half), abs=1e-5)


def test_the_leader_under_each_split_is_named() -> None:
    # system a shines where items were seen; b gets three of four right everywhere
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(200), 2)
    systems = ["a", "b"] * 200
    labels = rng.integers(0, 2, 200)[groups]
    hint = np.where(rng.random(400) < 0.75, labels, 1 - labels)
    features = np.column_stack([groups, hint, np.array([s == "b" for s in systems])])

    def fit_predict(train: Any, y: Any, test: Any) -> Any:
        recalled = memorise(train, y, test)
        return np.where(test[:, 2] == 1, test[:, 1], recalled)

    found = measure_optimism(fit_predict, features, labels, groups, systems, repeats=6)
    assert (found.row_wise.leader, found.grouped.leader) == ("a", "b")
    assert found.leader_changes
    assert sum(found.grouped.first.values()) == 6


def test_the_same_seed_gives_the_same_splits() -> None:
    groups = np.repeat(np.arange(40), 4)
    labels = np.random.default_rng(0).integers(0, 2, 160)
    one, two = (measure_optimism(memorise, groups[:, None], labels, groups, repeats=3, seed=5) for _ in range(2))
    assert one == two


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: twin_share(0, 0.2), "0 rows per item"),
        (lambda: twin_share(3, 1.0), "test share is 1.0"),
        (lambda: split_groups(np.zeros(5, dtype=int), 0.2, np.random.default_rng(0)), "all rows are of one item"),
        (lambda: split_rows(1, 0.2, np.random.default_rng(0)), "1 rows cannot be split"),
        (lambda: measure_optimism(memorise, np.ones((4, 1)), [1] * 4, np.arange(4)), "all labels are equal"),
        (lambda: measure_optimism(memorise, np.ones((4, 1)), [1, 2] * 2, np.arange(3)), "4 labels, 3 items"),
        (lambda: counted_twin_share(np.arange(3), np.zeros(3, dtype=bool)), "no test rows"),
    ],
)
def test_what_cannot_be_split_is_one_sentence(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


def write(path: Path) -> None:
    rng = np.random.default_rng(0)
    kinds = ["joy", "fear", "anger"]
    emoji = {"joy": ["😂", "🎉", "🙂"], "fear": ["😱", "😨", "🙂"], "anger": ["😡", "🤬", "🙂"]}
    rows = []
    for item in range(60):
        kind = kinds[item % 3]
        for system in ("a", "b", "c"):
            chosen = rng.choice(emoji[kind], size=2)
            rows.append((item, system, "".join(chosen), kind))
    pl.DataFrame(rows, schema=["item", "system", "text", "emotion"], orient="row").write_csv(path)


def test_the_command_uses_logistic_regression_on_emoji_counts(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    from mojimeter.cli.ratings import app

    path = tmp_path / "outputs.csv"
    write(path)
    runner = CliRunner()
    result = runner.invoke(app, ["splits", str(path), "--label", "emotion", "--repeats", "3"])
    assert result.exit_code == 0, result.output
    # three views per item: 1 - .2^2
    assert "96% of test rows have a twin in training" in result.stdout
    assert "optimism" in result.stdout
    document = json.loads(
        runner.invoke(app, ["splits", str(path), "--label", "emotion", "--repeats", "3", "--json"]).stdout
    )
    # two emoji of three tell the emotion unless both are the shared one: 8 of 9 rows
    assert document["classifier"]["grouped"]["macro_f1"]["value"] > 0.8
    assert set(document["classifier"]["grouped"]["systems"]) == {"a", "b", "c"}


def test_the_command_counts_twins_without_labels(tmp_path: Path) -> None:
    from mojimeter.cli.ratings import app

    path = tmp_path / "outputs.csv"
    write(path)
    document = json.loads(CliRunner().invoke(app, ["splits", str(path), "--json"]).stdout)
    assert document["twins"]["analytic"] == pytest.approx(0.96)
    assert "classifier" not in document
    result = CliRunner().invoke(app, ["splits", str(path), "--item", "sentence"])
    assert isinstance(result.exception, InputError)
    assert "no column 'sentence'" in str(result.exception)
