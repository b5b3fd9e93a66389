"""The cluster bootstrap against an independent implementation, closed forms and its invariants."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from mojimeter.stats import resample as module
from mojimeter.stats.resample import (
    bootstrap,
    normal_interval,
    percentile_interval,
    pool_clusters,
    resample,
    sum_by_cluster,
    weight_blocks,
)


def test_every_draw_gives_out_as_many_authors_as_there_are() -> None:
    weights = np.concatenate(list(weight_blocks(37, 500, seed=1)))
    assert weights.shape == (500, 37)
    assert (weights.sum(axis=1) == 37).all()


def test_weights_are_multinomial_with_mean_one_and_variance_one_less_a_share() -> None:
    # multinomial(n, 1/n): variance 1 - 1/n, covariance -1/n
    weights = np.concatenate(list(weight_blocks(5, 40_000, seed=2)))
    covariance = np.cov(weights.T)
    assert weights.mean(axis=0) == pytest.approx(np.ones(5), abs=0.02)
    assert np.diag(covariance) == pytest.approx(np.full(5, 0.8), abs=0.03)
    assert covariance[0, 1] == pytest.approx(-0.2, abs=0.02)


def test_blocks_do_not_change_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = np.concatenate(list(weight_blocks(11, 100, seed=3)))
    monkeypatch.setattr(module, "_BLOCK_BYTES", 16 * 11 * 7)
    blocks = list(weight_blocks(11, 100, seed=3))
    assert len(blocks) == 15
    assert (np.concatenate(blocks) == whole).all()


def test_single_posts_give_the_percentile_interval_of_scipy() -> None:
    values = np.random.default_rng(4).gamma(2.0, 3.0, size=200)
    ours = resample(np.column_stack([values, np.ones(200)]), 20_000, seed=0).ratio(0, 1)
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(5)
    ).confidence_interval
    assert ours.value == pytest.approx(values.mean())
    assert ours.ci is not None
    # the Monte Carlo error of a 2.5% quantile of 20,000 draws is about 0.02 standard errors
    error = values.std() / np.sqrt(200)
    assert ours.ci[0] == pytest.approx(theirs.low, abs=0.08 * error)
    assert ours.ci[1] == pytest.approx(theirs.high, abs=0.08 * error)


def test_posts_of_one_author_that_are_all_alike_count_as_one() -> None:
    # 50 authors, each with ten equal posts: the standard error is that of 50 values, not of 500
    by_author = np.random.default_rng(6).normal(size=50)
    clustered = resample(np.column_stack([10 * by_author, np.full(50, 10.0)]), 5000, seed=0)
    expected = by_author.std() / np.sqrt(50)
    assert clustered.ratio_draws(0, 1).std() == pytest.approx(expected, rel=0.05)


def test_a_column_more_changes_no_other_interval() -> None:
    table = np.random.default_rng(7).random((30, 2)) + 1
    alone = resample(table, 300, seed=9).ratio(0, 1)
    beside = resample(np.column_stack([table, np.arange(30.0)]), 300, seed=9).ratio(0, 1)
    assert alone.value == beside.value
    assert alone.ci == pytest.approx(beside.ci, rel=1e-12)


def test_one_author_gives_a_value_and_no_interval() -> None:
    estimate = resample(np.array([[3.0, 4.0]]), 100, seed=0).ratio(0, 1, scale=100)
    assert (estimate.value, estimate.ci) == (75.0, None)


def test_nothing_to_count_is_said_rather_than_divided() -> None:
    assert resample(np.zeros((3, 2)), 10, seed=0).ratio(0, 1).to_dict() == {
        "value": None,
        "reason": "nothing to count",
    }


def test_draws_without_a_value_are_left_out_of_the_interval() -> None:
    assert percentile_interval(np.array([np.nan, 1.0, 1.0, np.inf])) == (1.0, 1.0)
    assert percentile_interval(np.array([np.nan])) is None
    assert normal_interval(2.0, np.array([np.nan])) is None


def test_normal_interval_is_the_value_give_or_take_two_standard_errors() -> None:
    low, high = normal_interval(10.0, np.array([1.0, 2.0, 3.0])) or (0.0, 0.0)  # sd 1
    assert (low, high) == pytest.approx((10 - 1.959964, 10 + 1.959964))


def test_sums_by_cluster_by_hand() -> None:
    assert sum_by_cluster(np.array([1.0, 2.0, 4.0]), np.array([1, 0, 1]), 3).tolist() == [2.0, 5.0, 0.0]


def test_very_many_authors_are_pooled_into_groups_of_equal_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_CLUSTERS", 10)
    cluster = np.repeat(np.arange(100), 2)
    pooled, groups = pool_clusters(cluster, 100, seed=0)
    assert groups == 10
    assert np.bincount(pooled).tolist() == [20] * 10
    assert (pooled[::2] == pooled[1::2]).all()  # posts of one author stay together


def test_pooled_authors_give_the_same_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(8).random(20_000)
    exact = values.std() / np.sqrt(20_000)
    monkeypatch.setattr(module, "MAX_CLUSTERS", 2000)
    group, groups = pool_clusters(np.arange(20_000), 20_000, seed=1)
    table = np.column_stack([sum_by_cluster(values, group, groups), sum_by_cluster(np.ones(20_000), group, groups)])
    assert resample(table, 2000, seed=0).ratio_draws(0, 1).std() == pytest.approx(exact, rel=0.1)


def test_any_statistic_of_sums_can_be_bootstrapped() -> None:
    table = np.column_stack([np.arange(1.0, 41.0), np.ones(40)])
    estimate = bootstrap(lambda sums: np.log(sums[:, 0] / sums[:, 1]), table, draws=500, seed=0)
    assert estimate.value == pytest.approx(np.log(20.5))
    assert estimate.ci is not None
    assert estimate.ci[0] < np.log(20.5) < estimate.ci[1]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=40), st.integers(0, 2**32))
def test_an_interval_of_a_mean_stays_within_the_values(values: list[float], seed: int) -> None:
    table = np.column_stack([values, np.ones(len(values))])
    ci = resample(table, 50, seed).ratio(0, 1).ci
    assert ci is not None
    assert min(values) - 1e-9 <= ci[0] <= ci[1] <= max(values) + 1e-9


def test_a_95_percent_interval_over_authors_holds_the_truth_about_95_times_in_100() -> None:
    """Coverage on a known population: authors' means are normal around 0, five posts each."""
    rng = np.random.default_rng(10)
    held = 0
    for trial in range(400):
        author = rng.normal(size=60)
        sums = 5 * author + rng.normal(size=(60, 5)).sum(axis=1)
        ci = resample(np.column_stack([sums, np.full(60, 5.0)]), 400, seed=trial).ratio(0, 1).ci
        assert ci is not None
        held += ci[0] <= 0 <= ci[1]
    # binomial(400, .95): standard deviation 1.1%; the percentile interval of 60 clusters runs about 1% short
    assert 0.905 <= held / 400 <= 0.98
