"""Intraclass correlations of item x system cells: which components enter, and how wide their intervals are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mojimeter.ratings import Anova, Design, Study
from mojimeter.ratings.agreement import (
    TwoWay,
    has_cells,
    icc_from_mean_squares,
    intraclass_correlations,
    intraclass_correlations_of_cells,
)
from mojimeter.ratings.agreement.icc_of_cells import intervals_from_components, two_way_of, variances_of_cells
from mojimeter.ratings.anova import analyse_variance
from mojimeter.ratings.components import expected_mean_squares

# Estimates of the Two Emojis study with a spread of systems (arXiv:2609.29445, Table 1 recomputed), raters agreeing
# somewhat better, so that no form is near zero.
COMPONENTS = {
    "item": 0.5,
    "system": 0.2,
    "rater": 0.3,
    "item:system": 0.1,
    "item:rater": 0.4,
    "system:rater": 0.1,
    "residual": 0.6,
}


def one(components: dict[str, float]) -> dict[str, np.ndarray]:
    return {name: np.array([value]) for name, value in components.items()}


def crossed(items: int, systems: int, raters: int, fixed: tuple[str, ...] = ()) -> Design:
    levels = {"item": items, "system": systems, "rater": raters}
    return Design(levels, fixed=frozenset(fixed), cells=items * systems * raters)


def study_at(design: Design, components: dict[str, float]) -> Anova:
    """A study whose mean squares are what these components lead one to expect."""
    expected = expected_mean_squares(design, frozenset()) @ np.array([components[e.name] for e in design.effects])
    return Anova.from_mean_squares(dict(zip((e.name for e in design.effects), expected, strict=True)), design)


def table(items: int, systems: int, raters: int, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    i, s, r = np.indices((items, systems, raters))
    z = rng.standard_normal
    score = z((items, 1, 1)) + z((1, systems, 1)) + z((1, 1, raters)) + z((items, 1, raters)) + z(i.shape)
    return {"item": i.ravel(), "system": s.ravel(), "rater": r.ravel(), "score": score.ravel()}


def test_absolute_agreement_divides_by_all_components_and_consistency_forgives_offsets() -> None:
    # By hand: cells .5 + .2 + .1 = .8, offsets .3, error .4 + .1 + .6 = 1.1; with 3 raters R / k = .1.
    found = variances_of_cells(one(COMPONENTS), crossed(50, 4, 3)).single(3)
    assert found["2,1"][0] == pytest.approx(0.8 / 2.2)
    assert found["3,1"][0] == pytest.approx(0.8 / 1.9)
    assert found["1,1"][0] == pytest.approx(0.7 / 2.1)


def test_offsets_of_raters_of_their_own_are_error_in_every_form() -> None:
    # Raters in items: cells .8; what a rater brings, .3 within the item and .6 in the cell.
    design = Design({"item": 50, "system": 4, "rater": 3}, {"rater": "item"}, cells=600)
    components = {"item": 0.5, "system": 0.2, "item:system": 0.1, "rater(item)": 0.3, "residual": 0.6}
    assert {e.name for e in design.effects} == set(components)
    found = variances_of_cells(one(components), design).single(3)
    assert {name: value[0] for name, value in found.items()} == pytest.approx(dict.fromkeys(found, 0.8 / 1.7))


def test_fixed_systems_vary_about_their_own_mean() -> None:
    # Four systems and no others: 3/4 of their component is left among cells, and so of the raters' tastes for them, of
    # which the other quarter moves all cells alike. Cells .5 + .15 + .1, offsets .3 + .025, error .4 + .075 + .6.
    found = variances_of_cells(one(COMPONENTS), crossed(50, 4, 3, ("system",))).single(3)
    assert found["2,1"][0] == pytest.approx(0.75 / 2.15)
    assert found["3,1"][0] == pytest.approx(0.75 / (0.75 + 1.075))


@pytest.mark.parametrize("fixed", [(), ("system",)])
def test_each_form_is_its_formula_at_the_expected_mean_squares_of_many_cells(fixed: tuple[str, ...]) -> None:
    # Shrout & Fleiss's formulas (`icc_from_mean_squares`) on mean squares computed from the components without the
    # module: with 10,000 items the finite corrections (n - 1) / n that the derivation leaves out are gone. With systems
    # random there must be many of them too.
    design = crossed(10_000, 4 if fixed else 1_000, 3, fixed)
    classical = icc_from_mean_squares(two_way_of(study_at(design, COMPONENTS)))
    derived = variances_of_cells(one(COMPONENTS), design).single(3)
    for name, value in derived.items():
        assert classical[name].value == pytest.approx(value[0], abs=2e-3), name


def test_pooled_mean_squares_are_those_of_the_matrix_and_so_are_the_values() -> None:
    study = Study(table(12, 5, 4))
    matrix = study.matrix()
    pooled, direct = two_way_of(study.anova()), TwoWay.of(matrix)
    for part in ("unit", "rater", "error", "units", "raters"):
        assert getattr(pooled, part) == pytest.approx(getattr(direct, part), rel=1e-9)
    ours, classical = intraclass_correlations_of_cells(study.anova()), intraclass_correlations(matrix)
    for name in classical:
        assert ours[name].value == pytest.approx(classical[name].value, abs=1e-12)


@given(st.integers(2, 8), st.integers(2, 5), st.integers(2, 5), st.integers(0, 1000))
@settings(max_examples=15, deadline=None)
def test_every_interval_is_in_order_below_one_and_the_mean_s_is_the_single_one_s_stepped_up(
    items: int, systems: int, raters: int, seed: int
) -> None:
    anova = Study(table(items, systems, raters, seed)).anova()
    found = intervals_from_components(anova, 500)
    for name, (low, high) in found.items():
        assert high is not None
        assert high <= 1.0 + 1e-9
        assert low is None or low <= high
        single = found[name[0] + ",1"][1]
        assert single is not None
        if name.endswith("k") and single > 0:
            assert high == pytest.approx(raters * single / (1 + (raters - 1) * single))


def test_cells_that_share_items_get_a_wider_interval_than_f_s_which_stays_at_hand() -> None:
    study = Study(table(30, 5, 6))
    document = study.agreement(draws=50).to_dict()
    classical = intraclass_correlations(study.matrix())
    for name in ("2,1", "3,1"):
        (low, high), f = document["icc"][name]["ci"], classical[name].ci
        assert document["icc"][name]["interval"] == "components"
        assert f is not None
        assert high - low > 1.3 * (f[1] - f[0])  # type: ignore[operator]
    assert {pair["icc"]["2,1"]["interval"] for pair in document["pairs"]} == {"components"}


def test_items_alone_are_exchangeable_and_keep_the_f_interval() -> None:
    rows = table(30, 1, 4)
    del rows["system"]
    study = Study(rows, system=None)
    assert not has_cells(study.design)
    icc = study.agreement(draws=50).to_dict()["icc"]["2,1"]
    classical = intraclass_correlations(study.matrix())["2,1"]
    assert icc == {"value": classical.value, "ci": list(classical.ci or ()), "interval": "f"}


def test_one_system_leaves_items_exchangeable() -> None:
    assert not has_cells(crossed(30, 1, 4))
    assert not has_cells(crossed(30, 4, 1))
    assert has_cells(crossed(30, 4, 2))


def test_with_ratings_missing_the_f_interval_is_printed_with_its_caution() -> None:
    from mojimeter.ratings.cautions import ICC_CELLS_OF_ONE_ITEM
    from mojimeter.ratings.summary import summarise

    rows = table(20, 4, 3)
    whole = summarise(Study(rows))
    holes = summarise(Study({name: column[1:] for name, column in rows.items()}))
    assert whole["agreement"]["icc"]["2,1"]["interval"] == "components"
    assert ICC_CELLS_OF_ONE_ITEM not in whole["cautions"]
    assert holes["agreement"]["icc"]["2,1"]["interval"] == "f"
    assert ICC_CELLS_OF_ONE_ITEM in holes["cautions"]


def test_a_sample_of_whole_items_keeps_the_layout() -> None:
    # 120 of 480 ratings are ten of the forty items, thirty cells
    found = Study(table(40, 3, 4)).agreement(draws=50, most=120)
    assert found.complete == 30
    assert found.coefficients.icc_interval == "components"


def test_identical_raters_agree_perfectly_and_equal_scores_say_why_there_is_nothing() -> None:
    cube = np.repeat(np.random.default_rng(1).normal(size=(10, 4, 1)), 3, axis=2)
    found = intraclass_correlations_of_cells(analyse_variance(cube, crossed(10, 4, 3)))
    assert found["2,1"].value == pytest.approx(1.0)
    assert found["2,1"].ci == pytest.approx((1.0, 1.0))
    flat = intraclass_correlations_of_cells(analyse_variance(np.ones((10, 4, 3)), crossed(10, 4, 3)))
    assert flat["2,1"].to_dict() == {
        "value": None,
        "reason": "all scores are equal: there is no spread to agree about",
    }


def test_the_intervals_cover_the_truth_where_those_of_f_do_not() -> None:
    # 300 studies of 100 x 6 x 4; 95% +- 3 Monte Carlo errors (1.26 points each).
    rng, design = np.random.default_rng(8), crossed(100, 6, 4)
    truth = variances_of_cells(one(COMPONENTS), design).single(4)
    expected = study_at(design, COMPONENTS)
    hits = {name: [0, 0] for name in truth}
    for _ in range(300):
        ms = {name: value * rng.chisquare(expected.df[name]) / expected.df[name] for name, value in expected.ms.items()}
        anova = Anova.from_mean_squares(ms, design)
        drawn, classical = intervals_from_components(anova, 500), icc_from_mean_squares(two_way_of(anova))
        for name, (value,) in truth.items():
            for k, (low, high) in enumerate((drawn[name], classical[name].ci)):  # type: ignore[arg-type]
                hits[name][k] += low <= value <= high
    for name in ("2,1", "3,1"):
        assert hits[name][0] / 300 >= 0.95 - 0.038, name
        assert hits[name][1] / 300 < 0.85, name
