"""Intervals of components with ratings missing: the complete table's where nothing is, and what they cover."""

from __future__ import annotations

import numpy as np
import pytest

from mojimeter.ratings import Study
from mojimeter.ratings.components import component_intervals, draw_components
from mojimeter.ratings.reml import fit_design
from mojimeter.ratings.reml_draws import draw_variances

COMPONENTS = {
    "item": 0.5,
    "system": 0.3,
    "rater": 0.4,
    "item:system": 0.2,
    "item:rater": 0.3,
    "system:rater": 0.1,
    "residual": 0.6,
}


def scores(shape: tuple[int, int, int], rng: np.random.Generator, components: dict[str, float]) -> np.ndarray:
    i, s, r = shape
    sizes = {
        "item": (i, 1, 1),
        "system": (1, s, 1),
        "rater": (1, 1, r),
        "item:system": (i, s, 1),
        "item:rater": (i, 1, r),
        "system:rater": (1, s, r),
        "residual": shape,
    }
    return np.sum(
        [np.broadcast_to(np.sqrt(components[name]) * rng.standard_normal(size), shape) for name, size in sizes.items()],
        axis=0,
    )


def study_of(cube: np.ndarray, missing: float, rng: np.random.Generator) -> Study:
    kept = rng.random(cube.shape) >= missing
    item, system, rater = np.nonzero(kept)
    return Study({"item": item, "system": system, "rater": rater, "score": cube[kept]})


@pytest.mark.parametrize("at_bound", [False, True], ids=["inside", "at the bound"])
def test_where_nothing_is_missing_the_draws_are_those_of_the_mean_squares(at_bound: bool) -> None:
    # the same chi-squares by the same seed: forms and degrees of freedom must be those of the analysis of variance
    truth = COMPONENTS | {"system": 0.0, "system:rater": 0.0} if at_bound else COMPONENTS
    for seed in range(20):
        rng = np.random.default_rng(seed)
        study = study_of(scores((12, 4, 5), rng, truth), 0.0, rng)
        fit = fit_design(study.design, study.codes, study.values)
        if bool(fit.boundary) == at_bound:
            break
    assert bool(fit.boundary) == at_bound
    ours = fit.draw_components(2000, seed=4)
    theirs = draw_components(study.anova(), 2000, seed=4, fixed=frozenset())
    assert ours is not None
    for name, drawn in theirs.items():
        np.testing.assert_allclose(ours[name], drawn, rtol=1e-5, atol=1e-5)


def test_with_a_third_of_the_ratings_missing_intervals_cover_the_truth() -> None:
    # 120 studies: 95% less three Monte Carlo errors of 2 points each
    rng = np.random.default_rng(12)
    hits = dict.fromkeys(COMPONENTS, 0)
    for _ in range(120):
        study = study_of(scores((15, 4, 4), rng, COMPONENTS), 0.33, rng)
        for row in study.components("reml").rows:
            assert row.ci is not None
            hits[row.source] += row.ci[0] <= COMPONENTS[row.source] <= row.ci[1]
    assert min(hits.values()) / 120 >= 0.95 - 0.06, hits


def test_fewer_ratings_give_wider_intervals() -> None:
    rng = np.random.default_rng(5)
    cube = scores((30, 4, 6), rng, COMPONENTS)
    widths = []
    for missing in (0.0, 0.3, 0.7):
        low, high = study_of(cube, missing, rng).components("reml")["residual"].ci or (0.0, 0.0)
        widths.append(high - low)
    assert widths == sorted(widths)


def test_a_shift_changes_no_interval_and_a_scale_squares_it() -> None:
    rng = np.random.default_rng(6)
    cube = scores((15, 3, 4), rng, COMPONENTS)
    kept = rng.random(cube.shape) >= 0.2
    item, system, rater = np.nonzero(kept)

    def intervals(values: np.ndarray) -> dict[str, tuple[float, float]]:
        study = Study({"item": item, "system": system, "rater": rater, "score": values})
        return {row.source: row.ci or (np.nan, np.nan) for row in study.components("reml").rows}

    before, after = intervals(cube[kept]), intervals(3.0 * cube[kept] + 100.0)
    for name, bounds in before.items():
        assert after[name] == pytest.approx([9.0 * b for b in bounds], rel=1e-3, abs=1e-6)


def test_a_study_with_holes_shows_the_intervals_of_its_components() -> None:
    from mojimeter.ratings.screen import render
    from mojimeter.ratings.summary import summarise

    rng = np.random.default_rng(7)
    document = summarise(study_of(scores((20, 4, 5), rng, COMPONENTS), 0.2, rng))
    assert document["estimator"] == "reml"
    assert all(row["ci"][0] <= row["used"] <= row["ci"][1] for row in document["components"])
    assert "estimate [95%], reml" in render(document)


def test_hendersons_estimates_have_intervals_of_complete_tables_only() -> None:
    rng = np.random.default_rng(8)
    cube = scores((15, 3, 4), rng, COMPONENTS)
    whole = study_of(cube, 0.0, rng)
    expected = component_intervals(draw_components(whole.anova()))
    assert {row.source: row.ci for row in whole.components("henderson").rows} == expected
    assert {row.source: row.ci for row in whole.components("reml").rows} == expected
    assert {row.ci for row in study_of(cube, 0.2, rng).components("henderson").rows} == {None}


def test_terms_that_the_likelihood_cannot_tell_apart_have_no_draws() -> None:
    assert draw_variances(np.ones(2), np.ones((2, 2)), np.zeros(2)) is None


def test_a_form_that_is_not_positive_has_no_draws() -> None:
    # two unrelated terms, of which the first is at its bound with a gradient beyond its information
    assert draw_variances(np.array([0.0, 1.0]), np.eye(2), np.array([0.5, 0.0])) is None
