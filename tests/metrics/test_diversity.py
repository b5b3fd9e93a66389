"""Diversity over a corpus and over attempts, by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from mojimeter.metrics.bags import as_bags
from mojimeter.metrics.diversity import distance_between_attempts, distinct, most_used


def test_most_used_emoji_come_first_with_their_share() -> None:
    (bags,) = as_bags(pl.Series([["😂", "🔥"], ["😂", "😂"]]))
    assert distinct(bags) == 2
    assert most_used(bags) == [("😂", 75.0), ("🔥", 25.0)]
    assert most_used(bags, top=1) == [("😂", 75.0)]


def test_attempts_differ_by_the_jaccard_distance_of_their_sets() -> None:
    # post 0: {a, b}, {b, c}, {a, b}: distances 2/3, 0, 2/3; post 1: one attempt; post 2: two empty ones
    lists = pl.Series([["a", "b"], ["b", "c"], ["b", "a", "a"], ["z"], [], []], dtype=pl.List(pl.String))
    post, epoch = np.array([0, 0, 0, 1, 2, 2]), np.array([1, 2, 3, 1, 1, 2])
    (bags,) = as_bags(lists)
    sums, pairs = distance_between_attempts(bags, post, epoch, 3)
    assert sums == pytest.approx([4 / 3, 0, 0])
    assert pairs.tolist() == [3, 0, 1]


def test_an_attempt_that_gives_nothing_shares_nothing() -> None:
    (bags,) = as_bags(pl.Series([["a"], []], dtype=pl.List(pl.String)))
    sums, pairs = distance_between_attempts(bags, np.array([0, 0]), np.array([1, 2]), 1)
    assert (sums[0], pairs[0]) == (1.0, 1.0)
