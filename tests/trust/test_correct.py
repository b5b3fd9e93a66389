"""Prediction-powered means: the published formulas, simulated coverage, and limits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mojimeter.errors import InputError
from mojimeter.trust.correct import cluster_mean, prediction_powered_mean, saving_curve

Floats = NDArray[np.float64]


def sample(seed: int, labelled: int = 40, rest: int = 400, goes_along: float = 0.8) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    y = rng.normal(size=labelled + rest)
    f = goes_along * y + np.sqrt(1 - goes_along**2) * rng.normal(size=len(y)) + 0.3
    good = np.where(np.arange(len(y)) < labelled, y, np.nan)
    return good, f


def test_estimate_and_lambda_are_the_published_formulas() -> None:
    # Angelopoulos, Duchi & Zrnic 2023 (arXiv 2311.01453): the mean with power tuning
    good, f = sample(0)
    y, f_n, f_N = good[:40], f[:40], f[40:]
    tuning = np.cov(y, f_n, ddof=0)[0, 1] / ((1 + 40 / 400) * f.var())
    found = prediction_powered_mean(good, f)
    assert found.tuning == pytest.approx(tuning)
    assert found.corrected.mean == pytest.approx(tuning * f_N.mean() + (y - tuning * f_n).mean())


@pytest.mark.parametrize("tuning", [0.5, 1.0])
def test_at_a_given_lambda_the_variance_is_the_published_sum(tuning: float) -> None:
    good, f = sample(1)
    y, f_n, f_N = good[:40], f[:40], f[40:]
    # the paper's plug-in variances, here with n - 1 in place of n, as a t interval has it
    variance = tuning**2 * f_N.var(ddof=1) / 400 + (y - tuning * f_n).var(ddof=1) / 40
    found = prediction_powered_mean(good, f, tuning=tuning).corrected
    assert found.error == pytest.approx(np.sqrt(variance))
    assert found.df == 39


def test_with_many_labels_the_estimated_variance_tends_to_the_published_one() -> None:
    good, f = sample(2, 4000, 8000)
    y, f_n, f_N = good[:4000], f[:4000], f[4000:]
    found = prediction_powered_mean(good, f)
    variance = found.tuning**2 * f_N.var() / 8000 + (y - found.tuning * f_n).var() / 4000
    assert found.corrected.error == pytest.approx(np.sqrt(variance), rel=2e-3)


def test_lambda_zero_is_the_t_interval_of_the_labels_alone() -> None:
    from scipy.stats import t

    good, f = sample(3)
    y = good[:40]
    found = prediction_powered_mean(good, f, tuning=0.0).corrected.estimate()
    expected = t.interval(0.95, 39, loc=y.mean(), scale=y.std(ddof=1) / np.sqrt(40))
    assert found.ci == pytest.approx(expected)


def test_every_post_its_own_author_is_the_same_as_no_authors() -> None:
    good, f = sample(4)
    assert prediction_powered_mean(good, f, np.arange(len(f))) == prediction_powered_mean(good, f)


def test_ten_copies_of_each_labelled_post_by_its_author_add_no_precision() -> None:
    good, _ = sample(5)
    y = good[:40]
    once = cluster_mean(y, np.arange(40))
    copied = cluster_mean(np.repeat(y, 10), np.repeat(np.arange(40), 10))
    assert copied.error == pytest.approx(once.error)
    assert copied.df == once.df


def test_useless_cheap_labels_cost_next_to_nothing_and_good_ones_save() -> None:
    useless = [prediction_powered_mean(*sample(s, 1000, 20_000, 0.0)).effective_labels for s in range(20)]
    close = [prediction_powered_mean(*sample(s, 1000, 20_000, 0.95)).effective_labels for s in range(20)]
    assert np.mean(useless) == pytest.approx(1000, rel=0.01)
    # at the best lambda the variance falls to 1 - rho^2 N / (n + N) of the labels' own
    assert np.mean(close) == pytest.approx(1000 / (1 - 0.9025 * 20 / 21), rel=0.05)


def test_cheap_labels_that_never_vary_leave_the_labels_alone() -> None:
    good, f = sample(6)
    found = prediction_powered_mean(good, np.ones(len(f)))
    assert found.tuning == 0.0
    assert found.corrected == found.labels_only
    assert found.correlation is None


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.floats(-5, 5), st.floats(0.1, 10))
def test_shifting_or_stretching_the_cheap_values_changes_nothing(seed: int, shift: float, stretch: float) -> None:
    good, f = sample(seed)
    plain, moved = prediction_powered_mean(good, f), prediction_powered_mean(good, shift + stretch * f)
    assert moved.corrected.mean == pytest.approx(plain.corrected.mean, abs=1e-9)
    assert moved.corrected.error == pytest.approx(plain.corrected.error)


def test_fewer_than_fifteen_labels_are_refused_and_fewer_than_thirty_warned_about() -> None:
    with pytest.raises(InputError, match="14 good labels"):
        prediction_powered_mean(*sample(0, 14))
    assert "only 15 good labels" in prediction_powered_mean(*sample(0, 15)).warnings[0]
    assert not prediction_powered_mean(*sample(0, 30)).warnings


def test_labels_of_few_authors_are_warned_about() -> None:
    good, f = sample(0, 60, 300)
    assert "only 6 authors" in prediction_powered_mean(good, f, np.arange(360) // 10).warnings[0]


def test_a_post_without_a_cheap_label_is_refused() -> None:
    good, f = sample(0)
    f[7] = np.nan
    with pytest.raises(InputError, match="1 posts have no cheap label"):
        prediction_powered_mean(good, f)


def held(labelled: int, rest: int, seed: int, *, authors: int | None, studies: int) -> float:
    """Share of corrected 95% intervals that hold the true mean."""
    rng = np.random.default_rng(seed)
    hits = 0
    total = labelled + rest
    for _ in range(studies):
        if authors is None:
            group, shared, lean = None, 0.0, 0.0
        else:
            group = np.arange(total) % authors
            shared, lean = rng.normal(size=authors)[group], rng.normal(size=authors)[group]
        z = rng.normal(size=total) + shared
        y = (z > 0).astype(float)  # right or wrong, true mean one half
        f = (0.8 * z + 0.6 * (rng.normal(size=total) + lean) > 0.3).astype(float)  # biased, and alike within authors
        good = np.full(total, np.nan)
        chosen = rng.permutation(total)[:labelled]
        good[chosen] = y[chosen]
        found = prediction_powered_mean(good, f, group)
        low, high = found.corrected.estimate().ci or (None, None)
        hits += low is not None and high is not None and low <= 0.5 <= high
    return hits / studies


@pytest.mark.parametrize(
    ("labelled", "rest", "authors"), [(30, 500, None), (100, 400, None), (60, 500, 100), (200, 800, 150)]
)
def test_intervals_hold_the_truth_within_a_point_and_a_half_of_95_percent(
    labelled: int, rest: int, authors: int | None
) -> None:
    # 2,000 studies know a share of .95 to a standard error of .005
    share = held(labelled, rest, 11, authors=authors, studies=2000)
    assert share == pytest.approx(0.95, abs=0.015)


def test_the_saving_is_what_hiding_labels_shows() -> None:
    rng = np.random.default_rng(8)
    y = rng.normal(size=2000)
    f = 0.9 * y + np.sqrt(1 - 0.81) * rng.normal(size=2000)
    found = saving_curve(y, f, at=(100, 500, 5000), choices=20)
    assert [saving.labels for saving in found.at] == [100, 500]
    # the labels alone: width falls with the root of their number, so 1 / 1.25^2 of them
    assert found.needed_labels_only == pytest.approx(2000 / 1.25**2, rel=0.03)
    # with cheap ones: (1 - rho^2 (1 - n / N)) / n = 1.5625 / N, n = N (1 - rho^2) / (1.5625 - rho^2)
    assert found.needed_corrected == pytest.approx(2000 * 0.19 / (1.5625 - 0.81), rel=0.06)
    assert found.to_dict()["saved_percent"] == pytest.approx(
        100 * (1 - found.needed_corrected / found.needed_labels_only)
    )


def test_the_saving_needs_a_good_label_for_every_post() -> None:
    with pytest.raises(InputError, match="every post"):
        saving_curve(*sample(0))
