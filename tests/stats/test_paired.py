"""Paired differences against exact enumeration, SciPy and textbook formulas."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from mojimeter.stats.paired import (
    detectable_difference,
    paired_difference,
    sign_flip_p,
    standard_error,
)


def test_the_sign_flip_p_is_that_of_all_flips() -> None:
    sums = np.array([1.5, -0.5, 2.0, 0.7, 1.1, -0.2, 0.9, 1.3])
    flips = np.array(list(product([-1, 1], repeat=8))) @ sums
    exact = np.mean(np.abs(flips) >= abs(sums.sum()) - 1e-12)
    assert sign_flip_p(sums, draws=40_000, seed=0) == pytest.approx(exact, abs=0.005)


def test_the_sign_flip_p_agrees_with_scipy_permutation_test() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.normal(0.3, 1, 40), rng.normal(0, 1, 40)
    theirs = stats.permutation_test(
        (first, second),
        lambda a, b, axis: np.mean(a - b, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=20_000,
        rng=np.random.default_rng(2),
    ).pvalue
    assert sign_flip_p(first - second, draws=20_000, seed=3) == pytest.approx(theirs, abs=0.015)


def test_equal_systems_have_p_one_and_differ_by_nothing() -> None:
    values = np.random.default_rng(0).random(30)
    result = paired_difference(values, values, draws=200)
    assert result.p == 1.0
    assert result.difference.value == 0
    assert result.difference.ci == (0.0, 0.0)


def test_p_is_never_zero() -> None:
    assert sign_flip_p(np.full(200, 1.0), draws=99, seed=0) == pytest.approx(1 / 100)


def test_the_standard_error_without_clusters_is_that_of_a_mean() -> None:
    values = np.random.default_rng(4).normal(size=50)
    assert standard_error(values, np.ones(50)) == pytest.approx(stats.sem(values))


def test_the_clustered_standard_error_by_hand() -> None:
    # sums 2, 0, 4 over 1, 2, 3 posts: mean 1; residuals 1, -2, 1; sqrt(3/2 * 6) / 6 = 0.5
    assert standard_error(np.array([2.0, 0.0, 4.0]), np.array([1.0, 2.0, 3.0])) == pytest.approx(0.5)


def test_the_detectable_difference_is_two_point_eight_standard_errors() -> None:
    # z(.975) + z(.8) = 2.8016, the rule of thumb of Gelman & Hill 2007, 20.2
    assert detectable_difference(2.0) == pytest.approx(5.603, abs=0.001)
    assert detectable_difference(None) is None


def test_a_difference_as_large_as_detectable_is_found_four_times_in_five() -> None:
    rng = np.random.default_rng(5)
    clusters, found = 80, 0
    true = detectable_difference(1 / np.sqrt(clusters))
    assert true is not None
    for trial in range(300):
        p = sign_flip_p(rng.normal(true, 1, clusters), draws=400, seed=trial)
        found += p is not None and p <= 0.05
    assert found / 300 == pytest.approx(0.8, abs=0.08)  # binomial sd 2.3%


def test_posts_of_an_author_move_together() -> None:
    rng = np.random.default_rng(6)
    author = np.repeat(np.arange(40), 10)
    gap = rng.normal(size=40)[author] + rng.normal(0, 0.1, 400)
    clustered = paired_difference(gap, np.zeros(400), author, draws=500)
    naive = paired_difference(gap, np.zeros(400), draws=500)
    assert clustered.clusters == 40
    assert clustered.posts == 400
    assert clustered.detectable is not None
    assert naive.detectable is not None
    assert clustered.detectable > 2.5 * naive.detectable


def test_one_author_allows_no_test() -> None:
    result = paired_difference(np.array([1.0, 0.0]), np.array([0.0, 0.0]), np.array([0, 0]))
    assert (result.p, result.detectable, result.difference.ci) == (None, None, None)
    assert result.to_dict()["difference"] == {"value": 0.5}


def test_arrays_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="same length"):
        paired_difference(np.zeros(3), np.zeros(4))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=20))
def test_turning_the_comparison_round_turns_its_sign(pairs: list[tuple[float, float]]) -> None:
    first, second = np.array(pairs).T
    one = paired_difference(first, second, draws=60)
    other = paired_difference(second, first, draws=60)
    assert one.difference.value == pytest.approx(-(other.difference.value or 0.0))
    assert one.p == other.p
    assert one.difference.ci is not None
    assert other.difference.ci is not None
    assert one.difference.ci[0] == pytest.approx(-(other.difference.ci[1] or 0.0), abs=1e-12)
