"""G, Phi, decision studies and raters needed against Brennan's tables and the paper's figures."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from mojimeter.errors import InputError
from mojimeter.ratings import Anova, Study
from mojimeter.ratings.components import assemble, estimate_from_mean_squares, expected_mean_squares
from mojimeter.ratings.design import DesignError
from mojimeter.ratings.generalizability import (
    Evidence,
    error_weights,
    observed_error_weights,
    study_generalizability,
)
from mojimeter.ratings.system_tests import compare_levels
from tests.ratings.conftest import (
    TWO_EMOJIS_MEAN_SQUARES,
    TWO_EMOJIS_MEANS,
    crossed,
    cube_with_mean_squares,
    long_table,
)
from tests.ratings.test_anova import set_1, set_3
from tests.ratings.test_components import missing_study, set_4


def printed_evidence() -> Evidence:
    """The paper's printed mean squares and printed system means."""
    anova = Anova.from_mean_squares(TWO_EMOJIS_MEAN_SQUARES, crossed())
    components = assemble("ems", estimate_from_mean_squares(anova), crossed())
    spread = float(np.var(TWO_EMOJIS_MEANS, ddof=1))
    weights = error_weights(crossed(), "system")
    return Evidence(crossed(), components, weights, anova, compare_levels(anova, "system").chosen, spread, 8)


def test_the_unbiased_component_of_the_papers_study_is_zero_and_no_panel_is_enough(two_emojis: pl.DataFrame):
    study = Study(two_emojis).g_study()
    # reference/two_emojis.json: G 0, interval [0, .62]; raters needed: never, conditional interval [8, no bound]
    assert study.g.value == 0.0
    assert study.g.ci[0] == 0.0
    assert round(study.g.ci[1], 2) == 0.62
    needed = study.raters_needed[0.8]
    assert needed.raters.value is None
    assert needed.raters.state == "never"
    assert needed.conditional.ci == (8.0, None)
    assert needed.raters.ci[1] is None
    assert needed.never_share > 0.5
    assert needed.to_dict()["conditional"]["ci"] == [8.0, None]


@pytest.mark.parametrize(
    ("name", "g", "for_80", "for_90"),
    [("observed_n", 0.336, 27, 69), ("observed_n_minus_1", 0.3664, 23, 58)],  # reference/two_emojis.json
)
def test_the_variance_of_the_observed_means_reproduces_the_papers_figures(name, g, for_80, for_90):
    study = study_generalizability(printed_evidence(), "system", name)
    assert study.g.value == pytest.approx(g, abs=5.1e-5)
    assert study.raters_needed[0.8].raters.value == for_80
    assert study.raters_needed[0.9].raters.value == for_90
    assert study.g.ci is None
    assert "also holds noise" in study.notes[0]
    if name == "observed_n":
        assert round(study.ceiling_items, 3) == 0.346


def test_the_largest_component_that_the_interval_allows_needs_eight_raters():
    # the note of reference/two_emojis.json: at the upper limit of the system component, .0389, 8 raters reach .8
    evidence = printed_evidence()
    study = study_generalizability(evidence, "system")
    upper = study.g.ci[1]
    component = study.relative_error * upper / (1 - upper)
    assert component == pytest.approx(0.0389, abs=5e-5)


def test_brennans_persons_by_items_have_his_coefficients():
    study = set_1().g_study()
    assert round(study.g.value, 3) == 0.844
    assert round(study.phi.value, 3) == 0.773
    printed = {5: (0.693, 0.586), 10: (0.819, 0.740), 15: (0.871, 0.810), 20: (0.901, 0.850)}
    for row in set_1().d_study(raters=list(printed)).rows:
        g, phi = printed[row.levels["rater"]]
        # Brennan prints three digits, computed from components rounded to four
        assert row.g.value == pytest.approx(g, abs=1e-3)
        assert row.phi.value == pytest.approx(phi, abs=1e-3)


def test_brennans_persons_by_items_by_occasions_have_his_coefficients():
    study = set_3().g_study()
    assert round(study.g.value, 2) == 0.64
    assert round(study.phi.value, 2) == 0.55


def test_brennans_raters_within_tasks_have_his_coefficients_and_errors():
    study = set_4().g_study()
    # R gtheory on the same table (reference/expected.json); it fits with lme4, which stops 1e-4 off the exact solution
    assert study.g.value == pytest.approx(0.551375, abs=1e-4)
    assert study.phi.value == pytest.approx(0.4636138, abs=1e-4)
    assert study.relative_error == pytest.approx(0.3848739, abs=1e-4)
    assert study.absolute_error == pytest.approx(0.5472721, abs=1e-4)
    assert (round(study.g.value, 2), round(study.phi.value, 2)) == (0.55, 0.46)


def test_with_cells_missing_hendersons_components_give_brennans_coefficients():
    study = missing_study()
    # printed .5507 and .5354 come from components rounded to four decimals: .0473, .0117, .1840
    weights = observed_error_weights(study.codes, study.design, "item")
    relative = weights.relative["residual"] * 0.184
    assert 0.0473 / (0.0473 + relative) == pytest.approx(0.5507, abs=5.1e-5)
    assert 0.0473 / (0.0473 + relative + weights.absolute["rater"] * 0.0117) == pytest.approx(0.5354, abs=5.1e-5)
    found = study.g_study(estimator="henderson")
    assert found.g.value == pytest.approx(0.5507, abs=5e-4)
    assert found.phi.value == pytest.approx(0.5354, abs=5e-4)


def test_the_video_quality_study_has_rs_g(shared: Path):
    expected = json.loads((shared / "reference/real_studies.json").read_text())
    file = "rating_studies/vqeg_frtv1_525_line_high_long.csv"
    study = Study(shared / "data" / file).g_study()
    assert round(study.g.value, 3) == expected[file]["g_system"]


def test_g_is_one_minus_one_over_f_where_no_component_is_negative():
    study = set_3()
    assert study.g_study().g.value == pytest.approx(1 - 1 / study.test("system").chosen.f)


def test_fixed_items_leave_only_raters_in_the_error():
    # items fixed: G = 1 - MS_sr / MS_s, and another number of items would be another universe
    study = Study(
        long_table(cube_with_mean_squares(TWO_EMOJIS_MEAN_SQUARES | {"system": 90.0}, (290, 8, 3))), fixed=["item"]
    )
    assert study.g_study().g.value == pytest.approx(1 - 20.25 / 90.0)
    assert study.g_study().ceiling_items is None
    with pytest.raises(DesignError, match="items are fixed"):
        study.d_study(items=[10])


def test_fixed_raters_leave_no_number_of_raters_to_choose():
    study = Study(long_table(cube_with_mean_squares(TWO_EMOJIS_MEAN_SQUARES, (290, 8, 3))), fixed=["rater"])
    assert study.g_study().raters_needed == {}
    # G = 1 - MS_is / MS_s
    assert study.g_study().g.value == pytest.approx(1 - 0.897686 / 11.85)


def test_items_can_be_the_object(two_emojis: pl.DataFrame):
    study = Study(two_emojis).g_study("item")
    c = Study(two_emojis).components().used
    relative = c["item:rater"] / 3 + c["item:system"] / 8 + c["residual"] / 24
    assert study.relative_error == pytest.approx(relative)
    assert study.g.value == pytest.approx(c["item"] / (c["item"] + relative))
    assert study.absolute_error == pytest.approx(relative + c["rater"] / 3 + c["system"] / 8 + c["system:rater"] / 24)


def test_more_raters_never_lower_g(two_emojis: pl.DataFrame):
    ms = TWO_EMOJIS_MEAN_SQUARES | {"system": 60.0}
    study = Study(long_table(cube_with_mean_squares(ms, (290, 8, 3))))
    values = [row.g.value for row in study.d_study(raters=[1, 2, 5, 20, 100, 1000]).rows]
    assert values == sorted(values)
    assert values[-1] < study.g_study().ceiling_raters
    needed = study.g_study(targets=[0.9]).raters_needed[0.9].raters.value
    below, at = study.d_study(raters=[int(needed) - 1, int(needed)]).rows
    assert below.g.value < 0.9 <= at.g.value


def test_less_spread_than_chance_is_said_rather_than_called_certain():
    ms = TWO_EMOJIS_MEAN_SQUARES | {"system": 1.0}
    study = Study(long_table(cube_with_mean_squares(ms, (290, 8, 3)))).g_study()
    assert study.less_spread_than_chance
    assert study.g.ci == (0.0, 0.0)


@pytest.mark.parametrize("raters", [3, 27])
def test_the_interval_of_g_covers_as_often_as_it_says(raters: int):
    design = crossed(290, 8, raters)
    truth = estimate_from_mean_squares(Anova.from_mean_squares(TWO_EMOJIS_MEAN_SQUARES, crossed())) | {"system": 0.0119}
    means = dict(
        zip(
            (e.name for e in design.effects),
            expected_mean_squares(design) @ np.array(list(truth.values())),
            strict=True,
        )
    )
    df = {e.name: design.degrees_of_freedom(e) for e in design.effects}
    weights = error_weights(design, "system")
    error = sum(w * truth[n] for n, w in weights.relative.items())
    g = truth["system"] / (truth["system"] + error)
    rng = np.random.default_rng(7)
    runs, hits = 300, 0
    for run in range(runs):
        drawn = {name: value * rng.chisquare(df[name]) / df[name] for name, value in means.items()}
        anova = Anova.from_mean_squares(drawn, design)
        components = assemble("ems", estimate_from_mean_squares(anova), design)
        test = compare_levels(anova, "system").chosen
        evidence = Evidence(design, components, weights, None, test, 1.0, 8)
        low, high = study_generalizability(evidence, "system", seed=run).g.ci
        hits += low <= g <= high
    # design/ratings.md: coverage .95 at 3 and 27 raters; binomial error of 300 runs .0126
    assert abs(hits / runs - 0.95) < 3 * 0.0126


def test_one_rater_per_cell_says_that_item_system_counts_with_the_residual():
    rng = np.random.default_rng(6)
    frame = long_table(rng.normal(size=(40, 3, 4)) + 2 * rng.normal(size=(1, 3, 1)))
    frame = frame.filter(pl.col("rater") == (pl.col("item") + pl.col("system")) % 4)
    study = Study(frame).g_study(estimator="henderson")
    assert any("item:system cannot be told from another component" in note for note in study.notes)


def test_questions_without_an_answer_are_refused(two_emojis: pl.DataFrame):
    study = Study(two_emojis)
    with pytest.raises(InputError, match=r"target 1: a target for G lies strictly between 0 and 1"):
        study.g_study(targets=[1.0])
    with pytest.raises(InputError, match="object variance 'biased'"):
        study.g_study(object_variance="biased")
    with pytest.raises(DesignError, match="no facet 'person' in this study"):
        study.g_study("person")
    with pytest.raises(DesignError, match="rater cannot be the object"):
        study.g_study("rater")
    with pytest.raises(InputError, match="0 raters: a decision study needs at least one"):
        study.d_study(raters=[0])
