"""Entropy and Jensen-Shannon divergence against SciPy and by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy as scipy_entropy

from mojimeter.metrics.bags import as_bags
from mojimeter.metrics.distribution import distribution_scores, entropy, jensen_shannon

COUNTS = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=2, max_size=20).filter(
    lambda pairs: sum(a for a, _ in pairs) > 0 and sum(b for _, b in pairs) > 0
)


@given(COUNTS)
def test_both_agree_with_scipy(pairs: list[tuple[int, int]]) -> None:
    first, second = np.array(pairs, dtype=float).T
    assert entropy(first) == pytest.approx(scipy_entropy(first, base=2), abs=1e-9)
    # SciPy gives the distance, the square root of the divergence
    theirs = float(np.nan_to_num(jensenshannon(first, second, base=2))) ** 2
    assert jensen_shannon(first, second) == pytest.approx(theirs, abs=1e-9)


def test_by_hand() -> None:
    # p = (1/2, 1/2, 0), q = (0, 1/2, 1/2): m = (1/4, 1/2, 1/4), H(m) = 1.5, H(p) = H(q) = 1
    assert float(jensen_shannon(np.array([1.0, 1, 0]), np.array([0.0, 1, 1]))) == pytest.approx(0.5)


def test_the_same_emoji_diverge_by_nothing_and_others_by_one_bit() -> None:
    assert float(jensen_shannon(np.array([2.0, 1]), np.array([4.0, 2]))) == 0.0
    assert float(jensen_shannon(np.array([1.0, 0]), np.array([0.0, 1]))) == 1.0


def test_a_system_without_emoji_has_no_distribution() -> None:
    empty = pl.Series([[], []], dtype=pl.List(pl.String))
    given_, gold = as_bags(empty, pl.Series([["a"], ["b"]]))
    scores = distribution_scores(given_, gold, np.array([0, 1]), 2, draws=10, seed=0)
    assert scores.entropy_bits.to_dict() == {"value": None, "reason": "no emoji was given"}
    assert scores.jensen_shannon.value is None


def test_the_interval_holds_its_value_and_stays_in_bounds() -> None:
    rng = np.random.default_rng(0)
    lists = pl.Series([[str(k) for k in rng.zipf(1.5, 3)] for _ in range(60)])
    other = pl.Series([[str(k) for k in rng.zipf(1.6, 3)] for _ in range(60)])
    scores = distribution_scores(*as_bags(lists, other), np.arange(60), 60, draws=200, seed=0)
    for estimate in (scores.entropy_bits, scores.jensen_shannon):
        assert estimate.value is not None
        assert estimate.ci is not None
        low, high = estimate.ci
        assert low is not None
        assert high is not None
        assert 0 <= low < estimate.value < high
    assert scores.jensen_shannon.ci is not None
    assert (scores.jensen_shannon.ci[1] or 2) <= 1
