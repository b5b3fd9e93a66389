"""Rank ranges by hand, and the simultaneous level by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mojimeter.stats.ranks import Comparisons, all_pairs, compare_all, rank_ranges


def _comparisons(means: list[float], margin: float) -> Comparisons:
    pairs = all_pairs(len(means))
    gaps = np.array([means[i] - means[j] for i, j in pairs])
    return Comparisons(pairs, gaps, np.full(len(pairs), margin))


def test_rank_ranges_count_who_is_surely_better_and_surely_worse() -> None:
    # 9.0 and 8.5 tie, 7.0 is surely behind 9.0 only, 3.0 is surely behind all
    ranges = rank_ranges(4, _comparisons([9.0, 8.5, 7.0, 3.0], margin=1.8))
    assert ranges == [(1, 2), (1, 3), (2, 3), (4, 4)]


def test_systems_that_all_tie_can_stand_anywhere() -> None:
    assert rank_ranges(3, _comparisons([1.0, 1.0, 1.0], margin=0.1)) == [(1, 3)] * 3


def test_one_system_is_first_and_last() -> None:
    assert rank_ranges(1, compare_all((), np.empty(0), np.empty((10, 0)))) == [(1, 1)]


def test_the_margin_of_a_single_pair_is_the_two_sided_quantile_of_its_draws() -> None:
    draws = np.random.default_rng(0).normal(1.0, 2.0, size=(50_000, 1))
    compared = compare_all(((0, 1),), np.array([1.0]), draws)
    assert compared.margins[0] == pytest.approx(1.96 * 2.0, rel=0.02)


def test_the_margin_of_independent_pairs_is_the_sidak_value() -> None:
    # ten independent comparisons: two-sided quantile at 0.95 ** (1 / 10) is 2.800 (Šidák 1967)
    draws = np.random.default_rng(1).normal(size=(50_000, 10))
    compared = compare_all(tuple((0, k) for k in range(1, 11)), np.zeros(10), draws)
    assert compared.margins == pytest.approx(np.full(10, 2.800), rel=0.03)


def test_a_difference_that_never_varies_is_sure_and_no_difference_is_a_tie() -> None:
    draws = np.column_stack([np.full(50, 5.0), np.zeros(50)])
    compared = compare_all(((0, 1), (0, 2)), np.array([5.0, 0.0]), draws)
    assert abs(compared.differences[0]) > compared.margins[0]
    assert not abs(compared.differences[1]) > compared.margins[1]


def test_systems_without_common_posts_and_one_author_say_nothing() -> None:
    nothing = compare_all(((0, 1),), np.array([np.nan]), np.full((20, 1), np.nan))
    assert np.isinf(nothing.margins).all()
    one_author = compare_all(((0, 1),), np.array([9.0]), np.empty((0, 1)))
    assert rank_ranges(2, one_author) == [(1, 2), (1, 2)]


def test_equal_systems_are_called_different_in_five_percent_of_studies_at_most() -> None:
    rng = np.random.default_rng(2)
    pairs, wrong = all_pairs(5), 0
    for _ in range(300):
        posts = rng.normal(size=(80, 5))
        weights = rng.multinomial(80, np.full(80, 1 / 80), size=300)
        means, drawn = posts.mean(axis=0), weights @ posts / 80
        gaps = np.array([means[i] - means[j] for i, j in pairs])
        draws = np.column_stack([drawn[:, i] - drawn[:, j] for i, j in pairs])
        compared = compare_all(pairs, gaps, draws)
        wrong += bool((np.abs(gaps) > compared.margins).any())
    assert wrong / 300 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-10, 10), min_size=1, max_size=8), st.floats(0, 5))
def test_every_range_holds_the_observed_place(means: list[float], margin: float) -> None:
    ranges = rank_ranges(len(means), _comparisons(means, margin))
    for mean, (best, worst) in zip(means, ranges, strict=True):
        above = sum(other > mean for other in means)
        not_below = sum(other >= mean for other in means)
        assert 1 <= best <= above + 1
        assert not_below <= worst <= len(means)
