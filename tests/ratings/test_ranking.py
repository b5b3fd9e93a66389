"""Ranking, rank ranges, equivalence, bootstrap and verdict."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mojimeter.errors import InputError
from mojimeter.ratings import Anova, Study
from mojimeter.ratings.anova import analyse_variance
from mojimeter.ratings.bootstrap import bootstrap_study
from mojimeter.ratings.components import estimate_from_mean_squares, expected_mean_squares
from mojimeter.ratings.design import DesignError
from mojimeter.ratings.generalizability import error_weights
from mojimeter.ratings.ranking import PairErrors, mean_error, pooled_pair_errors, rank_systems
from mojimeter.ratings.studentized_range import range_quantile, range_tail
from tests.ratings.conftest import (
    TWO_EMOJIS_MEAN_SQUARES,
    crossed,
    long_table,
    simulated_cube,
)


def equal_errors(n: int, se: float, df: float) -> PairErrors:
    return PairErrors(se * (1 - np.eye(n)), np.full((n, n), df), True, "given")


def test_the_studentised_range_is_that_of_printed_tables():
    # Pearson & Hartley, Biometrika Tables, 5% points: q(8, 14) 4.99, q(3, 10) 3.88, q(2, 20) 2.95, q(10, 60) 4.65
    for (k, df), q in {(8, 14): 4.99, (3, 10): 3.88, (2, 20): 2.95, (10, 60): 4.65}.items():
        assert round(range_quantile(0.95, k, df), 2) == q
        assert float(range_tail(range_quantile(0.95, k, df), k, df)[0]) == pytest.approx(0.05, abs=1e-9)


def test_the_studentised_range_agrees_with_scipy_at_fractional_degrees_of_freedom():
    from scipy.stats import studentized_range

    for k, df in ((8, 14.36), (3, 2.2), (20, 7.5)):
        q = np.array([1.0, 3.0, 5.0])
        assert range_tail(q, k, df) == pytest.approx(studentized_range.sf(q, k, df), abs=1e-6)


def test_the_papers_systems_share_all_places(two_emojis: pl.DataFrame):
    ranking = Study(two_emojis).ranking()
    assert [s.rank for s in ranking.systems] == [(1, 8)] * 8
    assert ranking.separated_pairs == 0
    # the quasi-t: SE^2 = 2 (20.25 + .8977 - .6364) / 870
    assert ranking.se[0, 1] == pytest.approx(np.sqrt(2 * (20.25 + 0.897686 - 0.636412) / 870), rel=1e-6)
    assert ranking.df[0, 1] == pytest.approx(14.36, abs=0.005)
    means = [s.mean.value for s in ranking.systems]
    assert means == sorted(means, reverse=True)
    # printed means .341 to .342 apart, scaled here to the printed mean square
    assert means[0] - means[-1] == pytest.approx(0.342, abs=5e-4)
    assert sum(s.best for s in ranking.systems) == pytest.approx(1)


def test_rank_ranges_count_who_is_surely_better_and_worse():
    # q(.95; 4, 20) = 3.958 (Pearson & Hartley): critical difference 3.958 / sqrt 2 x 1 = 2.80
    ranking = rank_systems(["a", "b", "c", "d"], np.array([0.0, 2.7, 5.6, 5.6]), equal_errors(4, 1.0, 20), None)
    assert {s.system: s.rank for s in ranking.systems} == {"c": (1, 2), "d": (1, 2), "b": (3, 4), "a": (3, 4)}
    assert ranking.separated_pairs == 4


def test_lower_can_be_better():
    means = np.array([1.0, 5.0, 9.0])
    ranking = rank_systems(["a", "b", "c"], means, equal_errors(3, 0.1, 30), None, higher_is_better=False)
    assert [(s.system, s.rank) for s in ranking.systems] == [("a", (1, 1)), ("b", (2, 2)), ("c", (3, 3))]
    assert ranking.systems[0].best > 0.99


def test_pairs_are_adjusted_by_holm_where_each_has_its_own_error():
    se = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0.0]])
    errors = PairErrors(se, np.full((3, 3), 1e6), False, "own")
    ranking = rank_systems(["a", "b", "c"], np.array([5.0, 2.5, 0.0]), errors, None)
    # by hand, z tests: p = .0124 twice and 5.7e-7; Holm: 3 x 5.7e-7, 2 x .0124, max with it
    assert ranking.p_adjusted[0, 2] == pytest.approx(3 * 5.733e-7, rel=1e-3)
    assert ranking.p_adjusted[0, 1] == pytest.approx(2 * 0.012419, rel=1e-3)
    assert ranking.p_adjusted[1, 2] == pytest.approx(2 * 0.012419, rel=1e-3)


def test_with_two_systems_the_separate_error_is_the_pooled_one():
    frame = long_table(np.random.default_rng(2).normal(size=(12, 2, 5)))
    pooled, separate = (Study(frame).ranking(pairs) for pairs in ("pooled", "separate"))
    assert separate.se == pytest.approx(pooled.se)
    assert separate.df[0, 1] == pytest.approx(pooled.df[0, 1])


def test_separate_errors_come_from_the_pairs_own_differences():
    cube = np.random.default_rng(3).normal(size=(10, 4, 6))
    ranking = Study(long_table(cube)).ranking("separate")
    i, j = 0, 2
    a, b = (int(ranking.systems[k].system) for k in (i, j))
    own = Study(long_table(cube[:, [a, b], :]))
    assert ranking.se[i, j] == pytest.approx(own.ranking("pooled").se[0, 1])


def test_the_mean_variance_of_separate_pairs_is_the_pooled_one(two_emojis: pl.DataFrame):
    pooled, separate = (Study(two_emojis).ranking(pairs) for pairs in ("pooled", "separate"))
    upper = np.triu_indices(8, 1)
    assert (separate.se[upper] ** 2).mean() == pytest.approx(pooled.se[0, 1] ** 2, rel=1e-9)


def test_pairs_with_unlike_errors_are_warned_of_and_like_ones_are_not():
    rng = np.random.default_rng(4)
    like = rng.normal(size=(60, 6, 12)) + rng.normal(size=(1, 6, 12))
    assert Study(long_table(like)).ranking().heterogeneity > 0.05
    unlike = like.copy()
    unlike[:, 0, :] += 6 * rng.normal(size=(1, 12))
    ranking = Study(long_table(unlike)).ranking()
    assert ranking.heterogeneity < 0.05
    assert any("differ more than sampling allows" in note for note in ranking.notes)


@pytest.mark.parametrize("raters", [3, 10, 27])
def test_the_quasi_t_interval_of_a_difference_covers_as_often_as_it_says(raters: int):
    from scipy.special import stdtrit

    design = crossed(290, 8, raters)
    truth = estimate_from_mean_squares(Anova.from_mean_squares(TWO_EMOJIS_MEAN_SQUARES, crossed()))
    names = [e.name for e in design.effects]
    means = dict(zip(names, expected_mean_squares(design) @ np.array([truth[n] for n in names]), strict=True))
    variance = 2 * (truth["system:rater"] / raters + truth["item:system"] / 290 + truth["residual"] / (290 * raters))
    df = {e.name: design.degrees_of_freedom(e) for e in design.effects}
    rng = np.random.default_rng(8)
    runs, hits = 1000, 0
    for _ in range(runs):
        drawn = {n: abs(v) * rng.chisquare(df[n]) / df[n] for n, v in means.items()}
        errors = pooled_pair_errors(Anova.from_mean_squares(drawn, design), "system")
        hits += abs(rng.normal(0, np.sqrt(variance))) <= errors.se[0, 1] * stdtrit(errors.df[0, 1], 0.975)
    # reference/two_emojis.json: .95 at 3, 10 and 27 raters; binomial error of 1000 runs .0069
    assert abs(hits / runs - 0.95) < 3 * 0.0069


@pytest.mark.parametrize("raters", [3, 10])
def test_the_interval_of_a_mean_covers_as_often_as_it_says(raters: int):
    design = crossed(290, 8, raters)
    truth = estimate_from_mean_squares(Anova.from_mean_squares(TWO_EMOJIS_MEAN_SQUARES, crossed())) | {"system": 0.0}
    means = dict(
        zip(
            (e.name for e in design.effects),
            expected_mean_squares(design) @ np.array(list(truth.values())),
            strict=True,
        )
    )
    error = sum(w * truth[n] for n, w in error_weights(design, "system").absolute.items())
    df = {e.name: design.degrees_of_freedom(e) for e in design.effects}
    rng = np.random.default_rng(13)
    runs, hits = 800, 0
    for run in range(runs):
        drawn = {n: v * rng.chisquare(df[n]) / df[n] for n, v in means.items()}
        margin = mean_error(Anova.from_mean_squares(drawn, design), "system", draws=2000, seed=run)
        hits += abs(rng.normal(0, np.sqrt(error))) <= margin
    # binomial error of 800 runs .0077; a generalised interval may be a little wide
    assert 0.95 - 3 * 0.0077 < hits / runs < 0.95 + 3 * 0.0077 + 0.01


def test_rank_ranges_hold_for_all_systems_at_once():
    rng = np.random.default_rng(10)
    truth = {"rater": 1.0, "item": 0.2, "system:rater": 0.3, "item:system": 0.1, "residual": 0.5}
    runs, hits = 150, 0
    for run in range(runs):
        ranking = Study(long_table(simulated_cube(truth, (15, 5, 6), rng))).ranking(seed=run)
        hits += all(s.rank == (1, 5) for s in ranking.systems)
    # binomial error of 150 runs .018
    assert abs(hits / runs - 0.95) < 3 * 0.018


def test_equivalence_needs_a_margin_and_small_errors(two_emojis: pl.DataFrame):
    study = Study(two_emojis)
    assert study.ranking().equivalent is None
    wide, narrow = study.ranking(margin=1.0), study.ranking(margin=0.2)
    # two one-sided tests by hand for the largest difference: t = (1 - d) / SE on 14.36 df
    from scipy.special import stdtr

    d, se = wide.differences[0, 7], wide.se[0, 7]
    assert wide.equivalent[0, 7] == pytest.approx(1 - stdtr(wide.df[0, 7], (1.0 - d) / se))
    assert (wide.equivalent < 0.05).all()
    assert narrow.equivalent[0, 7] > 0.5
    with pytest.raises(InputError, match="margin -1: expected a positive difference"):
        study.ranking(margin=-1)


def test_the_verdict_on_the_papers_study_is_a_tie(two_emojis: pl.DataFrame):
    verdict = Study(two_emojis).verdict()
    assert verdict.verdict == "not_separated"
    assert verdict.sentence.startswith("tie: these ratings cannot rank the eight systems: F(7, 14.4) = 0.58, p = .76; ")
    assert "raters disagree about which systems are better by more than the systems differ" in verdict.sentence
    assert "equal" not in verdict.sentence
    assert "8 to no limit" in verdict.next_steps[0]


def test_the_verdict_names_a_margin_only_if_the_user_gives_one(two_emojis: pl.DataFrame):
    verdict = Study(two_emojis).verdict(margin=1.0)
    assert verdict.verdict == "not_separated"
    assert "all pairs are equivalent within 1 (two one-sided tests)" in verdict.sentence


def test_well_separated_systems_are_called_separated():
    cube = np.random.default_rng(5).normal(size=(30, 3, 5)) + 10 * np.arange(3)[None, :, None]
    verdict = Study(long_table(cube)).verdict()
    assert verdict.verdict == "separated"
    assert "all three systems differ from each other" in verdict.sentence


def test_one_outlier_among_equals_is_partly():
    cube = np.random.default_rng(6).normal(size=(30, 5, 5))
    cube[:, 2, :] += 5
    verdict = Study(long_table(cube)).verdict()
    assert verdict.verdict == "partly"
    assert "4 of 10 pairs differ" in verdict.sentence
    assert "2 is ahead of all others" in verdict.sentence


def test_where_the_overall_test_fails_and_a_pair_passes_both_are_said():
    # ten systems of which one pair is far apart in opposite directions: the F dilutes it, the range does not
    rng = np.random.default_rng(0)
    noise = simulated_cube({"residual": 1.0}, (10, 30, 4), rng)
    noise -= noise.mean(axis=(0, 2), keepdims=True)
    shift = np.zeros(30)
    shift[3], shift[17] = 0.45, -0.45
    study = Study(long_table(noise + shift[None, :, None]))
    ranking, test = study.ranking(), study.test().chosen
    assert test.p >= 0.05
    assert ranking.separated_pairs == 1
    verdict = study.verdict()
    assert verdict.verdict == "not_separated"
    assert "cannot rank the 30 systems" in verdict.sentence
    assert "yet 3 and 17 differ if all pairs are compared at once" in verdict.sentence


def test_bootstrap_over_items_is_the_analysis_of_the_resampled_tables():
    cube = np.random.default_rng(7).integers(1, 6, (8, 3, 4)).astype(float)
    design = crossed(8, 3, 4)
    draws = bootstrap_study(cube, design, ("a", "b", "c"), "items", draws=20, seed=5)
    weights = np.random.default_rng(5).integers(0, 8, size=(20, 8), dtype=np.int32)
    for k in range(20):
        anova = analyse_variance(cube[weights[k]], design)
        own = estimate_from_mean_squares(anova)
        for name, values in draws.components.items():
            assert values[k] == pytest.approx(own[name], abs=1e-9)
        assert draws.means[k] == pytest.approx(cube[weights[k]].mean(axis=(0, 2)))


def test_two_way_bootstrap_is_the_analysis_of_tables_resampled_both_ways():
    cube = np.random.default_rng(8).integers(1, 6, (6, 3, 10)).astype(float)
    design = crossed(6, 3, 10)
    draws = bootstrap_study(cube, design, ("a", "b", "c"), "both", draws=10, seed=6)
    rng = np.random.default_rng(6)
    items, raters = (rng.integers(0, n, size=(10, n), dtype=np.int32) for n in (6, 10))
    for k in range(10):
        table = cube[items[k]][:, :, raters[k]]
        own = estimate_from_mean_squares(analyse_variance(table, design))
        for name, values in draws.components.items():
            assert values[k] == pytest.approx(own[name], abs=1e-9)


def test_a_bootstrap_says_what_it_leaves_out(two_emojis: pl.DataFrame):
    study = Study(two_emojis)
    items = study.bootstrap("items", draws=100)
    assert items.warning.startswith("these raters fixed")
    assert items.to_dict()["draws"] == 100
    low, high = items.difference_interval("0", "7")
    assert low < study.means("system")[0] - study.means("system")[7] < high
    with pytest.raises(DesignError, match="two-way bootstrap with 3 raters"):
        study.bootstrap("both")
    with pytest.raises(InputError, match="bootstrap over 'cells': expected one of items, raters, both"):
        study.bootstrap("cells")


@given(st.integers(0, 10_000), st.integers(-1000, 1000), st.sampled_from([0.01, 1.0, 7.0]))
@settings(max_examples=15, deadline=None)
def test_ranks_survive_shifting_scaling_and_reordering(seed: int, shift: int, scale: float):
    rng = np.random.default_rng(seed)
    frame = long_table(rng.normal(size=(6, 4, 3)) + rng.normal(size=(1, 4, 1)))
    moved = frame.with_columns(pl.col("score") * scale + shift).sample(fraction=1.0, shuffle=True, seed=seed)
    before, after = Study(frame).ranking(), Study(moved).ranking()
    assert [(s.system, s.rank) for s in after.systems] == [(s.system, s.rank) for s in before.systems]
    assert after.p_adjusted == pytest.approx(before.p_adjusted, abs=1e-6)
    assert after.se == pytest.approx(before.se * scale, rel=1e-6)
