"""F tests of systems: the paper's and R's values, what they assume, and how often they cry wolf."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from mojimeter.errors import InputError
from mojimeter.ratings import Anova, Design, Study
from mojimeter.ratings.components import expected_mean_squares
from mojimeter.ratings.design import DesignError
from mojimeter.ratings.system_tests import compare_levels, error_term, f_quantile, f_tail
from tests.ratings.conftest import TWO_EMOJIS_MEAN_SQUARES, crossed, cube_with_mean_squares, long_table
from tests.ratings.test_components import set_4


def test_the_papers_study_gives_its_tests(two_emojis: pl.DataFrame):
    tests = Study(two_emojis).test("system")
    assert tests.default == "quasi_f"
    # reference/two_emojis.json: .5777 on 7 and 14.36, p .763; sums .590 on 7.77 and 15.27
    # the paper: F(7, 14) = .59, F(7, 4046) = 18.62
    quasi = tests.chosen
    assert (round(quasi.f, 4), quasi.df1, round(quasi.df2, 2), round(quasi.p, 3)) == (0.5777, 7, 14.36, 0.763)
    sums = tests.tests["quasi_f_sums"]
    assert (round(sums.f, 2), round(sums.df1, 2), round(sums.df2, 2)) == (0.59, 7.77, 15.27)
    raters = tests.tests["raters_random"]
    assert (round(raters.f, 4), raters.df1, round(raters.df2, 6)) == (0.5852, 7, 14)
    residual = tests.tests["residual"]
    assert (round(residual.f, 2), residual.df1, round(residual.df2, 6)) == (18.62, 7, 4046)
    assert "ignores both interactions" in residual.assumes
    items = tests.tests["items_random"]
    assert items.f == pytest.approx(11.85 / 0.897686)
    assert round(items.df2, 6) == 2023


def test_the_raters_of_the_papers_study_are_tested_by_their_own_quasi_f(two_emojis: pl.DataFrame):
    test = Study(two_emojis).test("rater").chosen
    assert (round(test.f, 2), test.df1, round(test.df2, 1)) == (56.45, 2, 19.4)  # reference/two_emojis.json


def test_real_complete_studies_give_rs_tests(shared: Path):
    expected = json.loads((shared / "reference/real_studies.json").read_text())
    file = "rating_studies/summeval_expert_coherence_long.csv"
    tests = Study(shared / "data" / file).test()
    assert tests.chosen.f == pytest.approx(expected[file]["system_test"]["quasi_f"], abs=5e-3)
    assert tests.chosen.df2 == pytest.approx(41.0, abs=0.05)
    assert tests.tests["raters_random"].f == pytest.approx(11.5, abs=0.05)
    assert tests.tests["residual"].f == pytest.approx(249, abs=0.5)
    file = "rating_studies/vqeg_frtv1_525_line_high_long.csv"
    tests = Study(shared / "data" / file).test()
    # lmerTest's REML solution stops 1e-4 off the expected mean squares, which are exact here
    assert tests.chosen.f == pytest.approx(expected[file]["system_test"]["quasi_f"], rel=1e-4)
    assert tests.chosen.df2 == pytest.approx(expected[file]["system_test"]["df2"], rel=1e-4)
    assert tests.chosen.p == pytest.approx(expected[file]["system_test"]["p"], rel=1e-3)
    assert tests.tests["raters_random"].f == pytest.approx(107.5, abs=0.05)


def test_incomplete_real_studies_give_lmertests_tests(shared: Path):
    expected = json.loads((shared / "reference/real_studies.json").read_text())
    for file, score in (("vqeg_frtv1_625_line_low_long.csv", "score"), ("squality_long.csv", "overall")):
        key = f"rating_studies/{file}" + (" (score=overall)" if score != "score" else "")
        tests = Study(shared / "data/rating_studies" / file, score=score).test()
        assert tests.default == "reml"
        wanted = expected[key]["system_test"]
        assert tests.chosen.f == pytest.approx(wanted["f"], rel=1e-4)
        assert tests.chosen.df2 == pytest.approx(wanted["df2"], rel=1e-3)


def test_where_the_denominator_is_not_positive_the_form_with_sums_is_the_default():
    ms = {"item": 4, "system": 6, "rater": 9, "item:system": 1, "item:rater": 2, "system:rater": 1, "residual": 3}
    anova = Anova.from_mean_squares(ms, crossed(10, 4, 3))
    tests = compare_levels(anova, "system")
    assert tests.default == "quasi_f_sums"
    assert "not positive" in tests.note
    assert tests.tests["quasi_f"].f is None
    assert tests.tests["quasi_f"].reason == "its denominator is not positive"
    # by hand: (6 + 3) / (1 + 1), df1 = 81 / (36/3 + 9/54), df2 = 4 / (1/6 + 1/27)
    assert tests.chosen.f == pytest.approx(4.5)
    assert tests.chosen.df1 == pytest.approx(81 / (36 / 3 + 9 / 54))
    assert tests.chosen.df2 == pytest.approx(4 / (1 / 6 + 1 / 27))


def test_where_the_denominators_degrees_of_freedom_collapse_the_form_with_sums_is_the_default():
    ms = {"item": 4, "system": 6, "rater": 9, "item:system": 1.5, "item:rater": 2, "system:rater": 1.7, "residual": 3}
    tests = compare_levels(Anova.from_mean_squares(ms, crossed(10, 4, 3)), "system")
    assert tests.tests["quasi_f"].df2 < 1
    assert tests.default == "quasi_f_sums"
    assert "too uncertain" in tests.note


def test_fixed_facets_change_the_denominator(two_emojis: pl.DataFrame):
    fixed_items = Study(two_emojis, fixed=["item"]).test()
    assert fixed_items.chosen.error == "system:rater"
    assert fixed_items.chosen.f == pytest.approx(11.85 / 20.25)
    fixed_raters = Study(two_emojis, fixed=["rater"]).test()
    assert fixed_raters.chosen.error == "item:system"
    fixed_system = Study(two_emojis, fixed=["system"]).test("rater")
    # systems fixed: E(MS_r) no longer holds system:rater, so raters are tested by MS_r / MS_ir: the paper's 319.03
    assert fixed_system.chosen.error == "item:rater"
    assert fixed_system.chosen.f == pytest.approx(319.03, abs=0.005)


@pytest.mark.parametrize("nested", [{}, {"rater": "item"}, {"rater": "item:system"}, {"item": "topic"}])
@pytest.mark.parametrize("fixed", [set(), {"item"}, {"system"}, {"rater"}])
def test_every_error_term_has_the_expectation_of_the_effect_without_the_effect(nested, fixed):
    levels = {"item": 4, "system": 3, "rater": 5}
    if "topic" in nested.values():
        levels = {"topic": 2, **levels}
    design = Design(levels, nested, frozenset(fixed), cells=int(np.prod(list(levels.values()))))
    matrix = expected_mean_squares(design)
    names = [e.name for e in design.effects]
    variances = np.random.default_rng(1).uniform(0.5, 2, len(names))
    ms = dict(zip(names, matrix @ variances, strict=True))
    for row, effect in enumerate(design.effects[:-1]):
        error = error_term(Anova.from_mean_squares(ms, design), effect)
        own = matrix[row, row] * variances[row]
        assert error.value == pytest.approx(ms[effect.name] - own)


def test_items_in_groups_test_systems_over_groups_and_raters():
    design = Design({"topic": 6, "item": 5, "system": 4, "rater": 3}, {"item": "topic"}, cells=360)
    error = error_term(Anova.from_mean_squares({e.name: 1.0 for e in design.effects}, design), design.effect("system"))
    # E(MS_s) - own part = E(MS_ts) + E(MS_sr) - E(MS_tsr) (Cornfield-Tukey)
    assert error.terms == pytest.approx({"topic:system": 1, "system:rater": 1, "topic:system:rater": -1})


def test_raters_nested_in_items_are_tested_exactly_by_item_system():
    tests = set_4().test("system")
    # MS_p / MS_pt of Brennan's Table 3.2: 10.2963 / 4.6185 on 9 and 18
    assert tests.chosen.f == pytest.approx(10.2963 / 4.6185, abs=1e-4)
    assert (tests.chosen.df1, round(tests.chosen.df2, 9)) == (9, 18)


def test_raters_nested_in_items_give_the_repeated_measures_test_of_item_means():
    pingouin = pytest.importorskip("pingouin")
    rng = np.random.default_rng(3)
    cube = rng.normal(size=(9, 4, 1)) + rng.normal(size=(9, 4, 3))
    frame = long_table(cube).with_columns((pl.col("item") * 10 + pl.col("rater")).alias("rater"))
    test = Study(frame).test().chosen
    means = frame.group_by("item", "system").agg(pl.col("score").mean()).to_pandas()
    other = pingouin.rm_anova(data=means, dv="score", within="system", subject="item")
    assert test.f == pytest.approx(other["F"][0], rel=1e-6)
    assert test.p == pytest.approx(other["p_unc" if "p_unc" in other else "p-unc"][0], rel=1e-6)


def test_ratings_without_any_error_leave_f_unbounded_and_say_so():
    cube = np.zeros((4, 3, 2)) + np.array([1.0, 2.0, 3.0])[None, :, None]
    test = Study(long_table(cube)).test().chosen
    assert (test.f, test.state, test.p) == (None, "unbounded", 0.0)


def test_an_effect_that_is_not_there_is_refused_with_those_that_are(two_emojis: pl.DataFrame):
    with pytest.raises(InputError, match="no effect 'judge' in this design; it has item, system, rater"):
        Study(two_emojis).test("judge")
    with pytest.raises(DesignError, match="the residual has no error term"):
        Study(two_emojis).test("residual")


def test_the_f_distribution_is_that_of_printed_tables():
    # F(.95; 7, 14) = 2.76, F(.95; 2, 10) = 4.10 (any table of F)
    assert round(f_quantile(0.95, 7, 14), 2) == 2.76
    assert round(f_quantile(0.95, 2, 10), 2) == 4.10
    assert f_tail(f_quantile(0.975, 7, 14.4), 7, 14.4) == pytest.approx(0.025)


@pytest.mark.parametrize(
    ("raters", "expected"),
    # reference/two_emojis.json, type_one_error_at_5_percent_no_system_effect (simulated)
    [
        (3, {"quasi_f": 0.05, "raters_random": 0.052, "residual": 0.9997, "items_random": 0.9987}),
        (27, {"quasi_f": 0.05, "raters_random": 0.081}),
    ],
)
def test_without_a_system_effect_tests_reject_as_often_as_simulated(raters: int, expected: dict[str, float]):
    design = crossed(290, 8, raters)
    matrix = expected_mean_squares(design)
    components = Anova.from_mean_squares(TWO_EMOJIS_MEAN_SQUARES, crossed())
    from mojimeter.ratings.components import estimate_from_mean_squares

    truth = estimate_from_mean_squares(components) | {"system": 0.0}
    means = dict(zip((e.name for e in design.effects), matrix @ np.array(list(truth.values())), strict=True))
    df = {e.name: design.degrees_of_freedom(e) for e in design.effects}
    rng = np.random.default_rng(9)
    runs = 1500
    rejected = dict.fromkeys(expected, 0)
    for _ in range(runs):
        drawn = {name: value * rng.chisquare(df[name]) / df[name] for name, value in means.items()}
        tests = compare_levels(Anova.from_mean_squares(drawn, design), "system")
        for name in expected:
            test = tests.chosen if name == "quasi_f" else tests.tests[name]
            rejected[name] += test.p < 0.05
    for name, rate in expected.items():
        error = np.sqrt(max(rate * (1 - rate), 1e-3) / runs)
        assert abs(rejected[name] / runs - rate) < 3 * error + 5e-4, name


def test_mean_squares_of_a_built_table_and_of_its_numbers_test_alike():
    table = Study(long_table(cube_with_mean_squares(TWO_EMOJIS_MEAN_SQUARES, (290, 8, 3)))).test().chosen
    printed = compare_levels(Anova.from_mean_squares(TWO_EMOJIS_MEAN_SQUARES, crossed()), "system").chosen
    assert table.f == pytest.approx(printed.f, rel=1e-9)
    assert table.df2 == pytest.approx(printed.df2, rel=1e-9)
