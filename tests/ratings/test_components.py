"""Variance components against lme4, Brennan's tables and simulated truth."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from mojimeter.errors import InputError
from mojimeter.ratings import Design, Study
from mojimeter.ratings.anova import analyse_variance
from mojimeter.ratings.components import draw_components, estimate_from_mean_squares
from mojimeter.ratings.design import DesignError
from tests.ratings.conftest import TWO_EMOJIS_MEAN_SQUARES, cube_with_mean_squares, long_table, simulated_cube
from tests.ratings.test_anova import set_1, set_3

# Brennan (2001), Table 3.2 (synthetic data set 4): persons x (raters within tasks), rows persons, columns raters 1-12.
SET_4 = [
    [5, 6, 5, 5, 5, 3, 4, 5, 6, 7, 3, 3],
    [9, 3, 7, 7, 7, 5, 5, 5, 7, 7, 5, 2],
    [3, 4, 3, 3, 5, 3, 3, 5, 6, 5, 1, 6],
    [7, 5, 5, 3, 3, 1, 4, 3, 5, 3, 3, 5],
    [9, 2, 9, 7, 7, 7, 3, 7, 2, 7, 5, 3],
    [3, 4, 3, 5, 3, 3, 6, 3, 4, 5, 1, 2],
    [7, 3, 7, 7, 7, 5, 5, 7, 5, 5, 5, 4],
    [5, 8, 5, 7, 7, 5, 5, 4, 3, 2, 1, 1],
    [9, 9, 8, 8, 6, 6, 6, 5, 5, 8, 1, 1],
    [4, 4, 4, 3, 3, 5, 6, 5, 5, 7, 1, 1],
]
# Brennan (2001), section 7.1: persons x items with 13 of 72 missing (values as in GeneralizIT's test fixture, MIT).
MISSING = [
    [1, 1, 1, 1, 0, 1],
    [1, 0, 1, 1, 1, 1],
    [None, 1, 1, 1, 0, 0],
    [0, None, None, 1, 0, 1],
    [1, None, 0, 1, 0, None],
    [1, 1, 1, 1, 0, 1],
    [0, None, 1, None, 0, 0],
    [0, None, 1, 1, 1, 1],
    [1, 1, 0, 1, None, 0],
    [None, 0, 0, 0, None, 0],
    [1, 1, 1, 1, 1, 1],
    [None, 0, None, 0, 0, 1],
]
# lme4's Dyestuff2 (Box & Tiao 1973): six batches of five.
DYESTUFF2 = {
    "A": [7.298, 3.846, 2.434, 9.566, 7.990],
    "B": [5.220, 6.556, 0.608, 11.788, -0.892],
    "C": [0.110, 10.386, 13.434, 5.510, 8.166],
    "D": [2.212, 4.852, 7.092, 9.288, 4.980],
    "E": [0.282, 9.014, 4.458, 9.446, 7.198],
    "F": [1.722, 4.782, 8.106, 0.758, 3.758],
}


def set_4() -> Study:
    """Persons as systems, tasks as items, four raters of its own for each task."""
    rows = [(p, k // 4, k % 4, x) for p, row in enumerate(SET_4) for k, x in enumerate(row)]
    frame = pl.DataFrame(rows, schema=["system", "item", "rater", "score"], orient="row")
    return Study(frame, nested={"rater": "item"})


def missing_study() -> Study:
    rows = [(p, i, x) for p, row in enumerate(MISSING) for i, x in enumerate(row) if x is not None]
    return Study(pl.DataFrame(rows, schema=["item", "rater", "score"], orient="row"), system=None)


def test_the_papers_components_are_those_recomputed_from_its_table(two_emojis: pl.DataFrame):
    components = Study(two_emojis).components()
    # reference/two_emojis.json and real_studies.json ("ems")
    expected = {
        "system": -0.00996,
        "rater": 0.56954,
        "item": 0.14339,
        "item:system": 0.08709,
        "item:rater": 0.4475,
        "system:rater": 0.06763,
        "residual": 0.63641,
    }
    assert components.raw == pytest.approx(expected, abs=5.5e-6)
    shares = {"residual": 32.6, "system:rater": 3.5, "item:rater": 22.9, "rater": 29.2, "item": 7.3, "item:system": 4.5}
    for name, share in shares.items():
        assert round(100 * components[name].share, 1) == share
    assert components["system"].used == 0.0
    assert components["system"].share == 0.0


def test_brennans_printed_components_come_out():
    # Brennan (2001): Tables 2.2 (set 1), 3.1 (set 3: object persons), 3.2 (set 4)
    assert set_1().components().raw == pytest.approx({"item": 0.0574, "rater": 0.0754, "residual": 0.1269}, abs=5.1e-5)
    printed = {
        "system": 0.5528,
        "item": 0.4417,
        "rater": 0.0074,
        "item:system": 0.575,
        "system:rater": 0.1009,
        "item:rater": 0.1565,
        "residual": 0.9352,
    }
    assert set_3().components().raw == pytest.approx(printed, abs=5.1e-5)
    nested = set_4().components()
    assert nested.raw == pytest.approx(
        {"system": 0.4731, "item": 0.3252, "rater(item)": 0.6475, "item:system": 0.5596, "residual": 2.3802}, abs=5.1e-5
    )


def test_henderson_gives_brennans_components_with_cells_missing():
    components = missing_study().components("henderson")
    assert components.estimator == "henderson"
    assert components.raw == pytest.approx({"item": 0.0473, "rater": 0.0117, "residual": 0.184}, abs=5.1e-5)


def test_henderson_equals_expected_mean_squares_where_nothing_is_missing(two_emojis: pl.DataFrame):
    study = Study(two_emojis)
    assert study.components("henderson").raw == pytest.approx(study.components("ems").raw, abs=1e-9)
    nested = set_4()
    assert nested.components("henderson").raw == pytest.approx(nested.components("ems").raw, abs=1e-9)


def test_reml_of_dyestuff2_puts_the_batches_at_zero_as_lme4_does():
    rows = [(b, k, y) for b, ys in DYESTUFF2.items() for k, y in enumerate(ys)]
    frame = pl.DataFrame(rows, schema=["item", "rater", "score"], orient="row")
    study = Study(frame, system=None, nested={"rater": "item"})
    reml = study.components("reml")
    assert reml["item"].estimate == 0.0
    # lme4: residual 13.806, REML criterion 161.8283 (documentation of lme4::Dyestuff2)
    assert reml["residual"].estimate == pytest.approx(13.806, abs=5e-4)
    assert reml.criterion == pytest.approx(161.8283, abs=5e-5)
    assert study.components("ems")["item"].estimate < 0


def test_reml_at_the_boundary_moves_the_other_components_too():
    # the mean squares of the file that lme4 read: four figures of the two that the paper does not print
    ms = TWO_EMOJIS_MEAN_SQUARES | {"item": 7.919, "item:system": 0.8977, "item:rater": 4.21641}
    reml = Study(long_table(cube_with_mean_squares(ms, (290, 8, 3)))).components("reml")
    # lme4 1.1-31 (reference/real_studies.json); its rater, .57095, is 2e-4 off the exact minimum of a flat criterion
    assert reml["system"].estimate == 0.0
    assert reml["system:rater"].estimate == pytest.approx(0.05788, abs=6e-6)
    assert reml["rater"].estimate == pytest.approx(0.57095, abs=2.5e-4)
    assert reml.criterion == pytest.approx(19215.1282, abs=1e-4)


def test_reml_satisfies_the_condition_of_a_minimum():
    rng = np.random.default_rng(4)
    study = Study(long_table(simulated_cube({"rater": 1.0, "residual": 1.0}, (9, 4, 3), rng)))
    reml = study.components("reml")
    assert any(v == 0 for v in reml.raw.values())
    from mojimeter.ratings.components import expected_mean_squares

    anova = study.anova()
    matrix = expected_mean_squares(study.design)
    names = [e.name for e in study.design.effects]
    value = np.array([reml.raw[n] for n in names])
    expected = matrix @ value
    df, ms = (np.array([d[n] for n in names], dtype=float) for d in (anova.df, anova.ms))
    gradient = matrix.T @ (df * (expected - ms) / expected**2)
    assert np.abs(gradient[value > 0]).max() < 1e-4 * np.abs(df / expected).max()
    assert (gradient[value == 0] > -1e-6).all()


def test_reml_equals_expected_mean_squares_where_none_is_negative(shared: Path):
    frame = pl.read_csv(shared / "reference/lme4_penicillin.csv")
    study = Study(frame, item="plate", rater="sample", system=None, score="diameter")
    for estimator in ("ems", "reml"):
        raw = study.components(estimator).raw
        # lme4 documentation: plate .71691, sample 3.73113 (converged to 3.7309 exactly), residual .30241
        assert raw["item"] == pytest.approx(0.71691, abs=1e-5)
        assert raw["rater"] == pytest.approx(3.73113, abs=3e-4)
        assert raw["residual"] == pytest.approx(0.30241, abs=1e-5)


def test_components_of_real_complete_studies_are_those_of_r(shared: Path):
    expected = json.loads((shared / "reference/real_studies.json").read_text())
    coherence = Study(shared / "data/rating_studies/summeval_expert_coherence_long.csv").components().raw
    for name, value in expected["rating_studies/summeval_expert_coherence_long.csv"]["ems"].items():
        assert coherence[name] == pytest.approx(value, abs=5.1e-4)
    file = "rating_studies/vqeg_frtv1_525_line_high_long.csv"
    quality = Study(shared / "data" / file).components("reml")
    for name, value in expected[file]["reml"].items():
        if name == "criterion":
            assert quality.criterion == pytest.approx(value, abs=1e-4)
        else:
            assert quality.raw[name] == pytest.approx(value, rel=2e-4)  # lme4 stops that far from the exact solution


def test_fixed_items_move_their_interaction_into_the_system_component(two_emojis: pl.DataFrame):
    random, fixed = Study(two_emojis), Study(two_emojis, fixed=["item"])
    # Brennan (2001), section 3.5: with items fixed E(MS_s) = e + n_i s_sr + n_i n_r s_s|I,
    # so s_s|I = (MS_s - MS_sr) / 870
    assert fixed.components().raw["system"] == pytest.approx((11.85 - 20.25) / 870, rel=1e-6)
    assert fixed.components().raw["system"] == pytest.approx(
        random.components().raw["system"] + random.components().raw["item:system"] / 290, rel=1e-6
    )
    assert fixed.components().raw["system:rater"] == random.components().raw["system:rater"]


def test_estimates_recover_the_truth_on_average():
    truth = {
        "item": 0.5,
        "system": 0.2,
        "rater": 0.8,
        "item:system": 0.1,
        "item:rater": 0.4,
        "system:rater": 0.3,
        "residual": 1.0,
    }
    rng = np.random.default_rng(11)
    design = Design({"item": 20, "system": 6, "rater": 5}, cells=600)
    found = [
        estimate_from_mean_squares(analyse_variance(simulated_cube(truth, (20, 6, 5), rng), design)) for _ in range(300)
    ]
    for name, value in truth.items():
        draws = np.array([f[name] for f in found])
        assert abs(draws.mean() - value) < 3.5 * draws.std(ddof=1) / np.sqrt(len(draws))


def test_intervals_cover_the_truth_as_often_as_they_say():
    truth = {"item": 0.14, "system": 0.02, "rater": 0.5, "system:rater": 0.07, "item:rater": 0.4, "residual": 0.6}
    rng = np.random.default_rng(12)
    design = Design({"item": 30, "system": 8, "rater": 4}, cells=960)
    runs, hits = 300, dict.fromkeys(("system:rater", "item:rater", "residual", "rater"), 0)
    for run in range(runs):
        anova = analyse_variance(simulated_cube(truth, (30, 8, 4), rng), design)
        draws = draw_components(anova, 1000, seed=run)
        for name in hits:
            low, high = np.quantile(draws[name], [0.025, 0.975])
            hits[name] += low <= truth[name] <= high
    for name, hit in hits.items():
        # binomial error of 300 runs is .0126; generalised intervals are allowed to be a little wide
        assert 0.95 - 3.5 * 0.0126 <= hit / runs <= 1.0, name


def test_one_rater_per_cell_is_refused_by_name():
    rng = np.random.default_rng(6)
    frame = long_table(rng.normal(size=(12, 3, 4)))
    frame = frame.filter(pl.col("rater") == (pl.col("item") + pl.col("system")) % 4)
    components = Study(frame).components("henderson")
    refused = components["item:system"]
    assert refused.estimate is None
    assert "every item:system has one rater" in refused.reason
    assert "need two raters" in refused.reason
    assert "item:system" not in components.formula


def test_estimators_that_do_not_fit_are_refused(two_emojis: pl.DataFrame):
    with pytest.raises(InputError, match="estimator 'anova': expected one of ems, reml, henderson"):
        Study(two_emojis).components("anova")
    with pytest.raises(DesignError, match="1 of 6,960 missing; expected mean squares need a complete table"):
        Study(two_emojis.slice(1)).components("ems")


def test_the_fitted_model_is_named_in_lme4s_notation(two_emojis: pl.DataFrame):
    assert Study(two_emojis, fixed=["system"]).components().formula == (
        "score ~ 1 + system + (1 | item) + (1 | rater) + (1 | item:system) + (1 | item:rater) + (1 | system:rater)"
    )
    assert (
        set_4().components().formula == "score ~ 1 + (1 | item) + (1 | system) + (1 | item:rater) + (1 | item:system)"
    )


def test_the_same_seed_gives_the_same_intervals(two_emojis: pl.DataFrame):
    study = Study(two_emojis)
    assert study.components(seed=3).to_dict() == study.components(seed=3).to_dict()
    assert study.components(seed=3).to_dict() != study.components(seed=4).to_dict()
