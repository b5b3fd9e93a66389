"""REML of tables with holes against lme4, lmerTest and the dense formulas.

Values in tests/ratings/data/reml_oracle.json were printed by R (see its note and reml_oracle.R beside it);
those in ../shared/reference/real_studies.json by R 4.2.2, lme4 1.1-31, lmerTest 3.1-3.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mojimeter.errors import InputError
from mojimeter.ratings import Study
from mojimeter.ratings.blocks import BlockedModel
from mojimeter.ratings.identifiability import UnidentifiableError, find_islands
from mojimeter.ratings.reml import CROSSED_TERMS, RemlFit, fit_components, fit_design, fit_reml
from mojimeter.ratings.satterthwaite import combine_degrees_of_freedom

DATA = Path(__file__).parent / "data"
ORACLE = json.loads((DATA / "reml_oracle.json").read_text())["sets"]
TWO_WAY = ("item", "system", "rater", "item:system", "item:rater", "system:rater")


def _read(path: Path, columns: tuple[str, ...], score: str = "score") -> tuple[list[np.ndarray], np.ndarray]:
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    codes = []
    for column in columns:
        names = [row[column] for row in rows]
        natural = sorted(set(names), key=lambda n: (len(n), n) if n.isdigit() else (0, n))
        number = {name: k for k, name in enumerate(natural)}
        codes.append(np.array([number[n] for n in names]))
    return codes, np.array([float(row[score]) for row in rows])


def _oracle_fit(name: str) -> RemlFit:
    file = name.removesuffix("_without_item_system")
    (item, system, rater), y = _read(DATA / f"reml_{file}.csv", ("item", "system", "rater"))
    if file.startswith("nested"):
        groups = {"item": item, "system": system, "rater": rater, "item:system": item * (system.max() + 1) + system}
        return fit_components(groups, y)
    terms = None if name == file else [t for t in CROSSED_TERMS if t != "item:system"]
    return fit_reml(item, system, rater, y, terms=terms)


def _assert_components(fit: RemlFit, expected: dict[str, float], tolerance: float = 5e-4) -> None:
    assert set(fit.components) == set(expected)
    for source, value in expected.items():
        if value < 1e-9:
            assert fit.components[source] == 0.0, source
        else:
            assert fit.components[source] == pytest.approx(value, rel=tolerance), source


def _table(
    shape: tuple[int, int, int], share: float = 1.0, seed: int = 0, sd: tuple[float, ...] = (1, 1, 1, 1, 1, 1, 1)
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A simulated table; sd of item, system, rater, item:system, item:rater, system:rater, residual."""
    rng = np.random.default_rng(seed)
    i, s, r = (a.ravel() for a in np.indices(shape))
    y = sd[6] * rng.standard_normal(i.size)
    for effect, (a, b) in zip(sd, [(i, 0), (s, 0), (r, 0), (i, s), (i, r), (s, r)], strict=False):
        key = a * 1000 + b
        y += effect * rng.standard_normal(key.max() + 1)[key]
    kept = np.flatnonzero(rng.random(i.size) < share) if share < 1 else np.arange(i.size)
    return i[kept], s[kept], r[kept], y[kept]


# ---- against lme4 and lmerTest


@pytest.mark.parametrize("name", ORACLE)
def test_components_and_criterion_are_those_of_lme4(name):
    fit, oracle = _oracle_fit(name), ORACLE[name]
    assert fit.converged
    assert fit.criterion == pytest.approx(oracle["criterion"], abs=1e-4)
    _assert_components(fit, oracle["components"])


@pytest.mark.parametrize("name", ORACLE)
def test_the_test_of_systems_is_that_of_lmertest(name):
    fit, oracle = _oracle_fit(name), ORACLE[name]["system_fixed"]
    fixed = fit.with_fixed("system")
    assert fixed.criterion == pytest.approx(oracle["criterion"], abs=1e-4)
    _assert_components(fixed, oracle["components"], tolerance=2e-3)
    test = fit.system_test()
    assert test.f == pytest.approx(oracle["f"], rel=5e-4)
    assert test.df1 == oracle["df1"]
    assert test.df2 == pytest.approx(oracle["df2"], rel=1e-3)
    assert test.p == pytest.approx(oracle["p"], rel=5e-3)


@pytest.mark.parametrize("name", ORACLE)
def test_means_and_differences_of_systems_are_those_of_lmertest(name):
    oracle = ORACLE[name]["system_fixed"]
    means = _oracle_fit(name).system_means()
    np.testing.assert_allclose(means.means, oracle["means"], atol=2e-4)
    difference = means.difference(1, 0)
    assert difference.estimate == pytest.approx(oracle["second_minus_first"]["estimate"], abs=2e-4)
    assert difference.se == pytest.approx(oracle["second_minus_first"]["se"], rel=5e-4)
    assert difference.df == pytest.approx(oracle["second_minus_first"]["df"], rel=2e-3)
    low, high = difference.ci
    assert low < difference.estimate < high


@pytest.mark.parametrize("name", ["holes_12x4x5", "nested_15x4"])
def test_a_study_with_holes_gives_the_same_by_its_own_doors(name):
    oracle = ORACLE[name]
    study = Study(str(DATA / f"reml_{name}.csv"))
    fit = fit_design(study.design, study.codes, study.values)
    assert fit.criterion == pytest.approx(oracle["criterion"], abs=1e-4)
    assert study.components().criterion == pytest.approx(oracle["criterion"], abs=1e-4)
    test = study.test().chosen
    assert test.f == pytest.approx(oracle["system_fixed"]["f"], rel=5e-4)
    assert test.df2 == pytest.approx(oracle["system_fixed"]["df2"], rel=1e-3)


def test_dyestuff2_has_no_variance_between_batches():
    # lme4's manual, Dyestuff2: batch 0, residual 13.806; REML criterion 161.8283 (Bates et al. 2015, section 1).
    batch = np.repeat(np.arange(6), 5)
    y = [7.298, 3.846, 2.434, 9.566, 7.99, 5.22, 6.556, 0.608, 11.788, -0.892, 0.11, 10.386, 13.434, 5.51, 8.166]
    y += [2.212, 4.852, 7.092, 9.288, 4.98, 0.282, 9.014, 4.458, 9.446, 7.198, 1.722, 4.782, 8.106, 0.758, 3.758]
    fit = fit_components({"batch": batch}, np.array(y))
    assert fit.components["batch"] == 0.0
    assert fit.components["residual"] == pytest.approx(13.806, abs=5e-4)
    assert fit.criterion == pytest.approx(161.8283, abs=1e-4)
    assert fit.singular
    assert fit.boundary == ("batch",)
    assert "estimated as zero" in (fit.note or "")


def test_penicillin_matches_lme4(shared):
    codes, y = _read(shared / "reference" / "lme4_penicillin.csv", ("plate", "sample"), "diameter")
    expected = json.loads((shared / "reference" / "expected.json").read_text())["lme4"]["Penicillin"]["vc"]
    fit = fit_components(dict(zip(("plate", "sample"), codes, strict=True)), y)
    for source, value in expected.items():
        assert fit.components[source] == pytest.approx(value, rel=5e-4)
    assert fit.formula == "score ~ 1 + (1 | plate) + (1 | sample)"


@pytest.mark.parametrize(
    ("file", "score", "key"),
    [
        ("two_emojis_twin.csv", "score", "rating_studies/two_emojis_twin.csv"),
        ("vqeg_frtv1_525_line_high_long.csv", "score", "rating_studies/vqeg_frtv1_525_line_high_long.csv"),
        ("vqeg_frtv1_625_line_low_long.csv", "score", "rating_studies/vqeg_frtv1_625_line_low_long.csv"),
        ("squality_long.csv", "overall", "rating_studies/squality_long.csv (score=overall)"),
        ("summeval_expert_coherence_long.csv", "score", "rating_studies/summeval_expert_coherence_long.csv"),
    ],
)
def test_real_studies_give_what_lme4_and_lmertest_gave(shared, file, score, key):
    expected = json.loads((shared / "reference" / "real_studies.json").read_text())[key]
    codes, y = _read(shared / "data" / "rating_studies" / file, ("item", "system", "rater"), score)
    fit = fit_reml(*codes, y)
    for source, value in expected.get("reml", {}).items():
        if source == "criterion":
            assert fit.criterion == pytest.approx(value, abs=1e-3)
        elif value == 0.0:
            assert fit.components[source] == 0.0
        else:
            assert fit.components[source] == pytest.approx(value, rel=1e-3)
    assert fit.singular == (file in ("two_emojis_twin.csv", "squality_long.csv"))
    test, wanted = fit.system_test(), expected["system_test"]
    assert test.f == pytest.approx(wanted.get("f", wanted.get("quasi_f")), rel=1e-3)
    assert test.df1 == wanted["df1"]
    assert test.df2 == pytest.approx(wanted["df2"], rel=1e-3)


# ---- against the textbook formulas on dense matrices


def _dense(model_groups: dict[str, np.ndarray], fixed: dict[str, np.ndarray], y: np.ndarray, v: dict[str, float]):
    """-2 log restricted likelihood, its gradient and both second derivatives (Searle et al. 1992, section 6.6)."""
    n = y.size
    each = {k: (c[:, None] == c[None, :]).astype(float) for k, c in model_groups.items()} | {"residual": np.eye(n)}
    x = np.hstack([np.ones((n, 1)), *((c[:, None] == np.arange(1, c.max() + 1)).astype(float) for c in fixed.values())])
    inverse = np.linalg.inv(sum(v[k] * m for k, m in each.items()))
    information = x.T @ inverse @ x
    p = inverse - inverse @ x @ np.linalg.inv(information) @ x.T @ inverse
    log_v = -np.linalg.slogdet(inverse)[1]
    criterion = log_v + np.linalg.slogdet(information)[1] + y @ p @ y + (n - x.shape[1]) * np.log(2 * np.pi)
    names = list(v)
    gradient = [np.trace(p @ each[k]) - y @ p @ each[k] @ p @ y for k in names]
    expected = [[np.trace(p @ each[k] @ p @ each[m]) for m in names] for k in names]
    average = [[y @ p @ each[k] @ p @ each[m] @ p @ y for m in names] for k in names]
    return criterion, np.array(gradient), np.array(expected), np.array(average)


@pytest.mark.parametrize("with_fixed", [False, True])
@pytest.mark.parametrize("shape", [(7, 3, 4), (3, 4, 8), (3, 9, 4)])
def test_likelihood_and_derivatives_are_the_dense_formulas(shape, with_fixed):
    i, s, r, y = _table(shape, share=0.8, seed=sum(shape))
    groups = {"item": i, "rater": r, "item:system": i * 100 + s, "item:rater": i * 100 + r, "system:rater": s * 100 + r}
    fixed = {"system": s} if with_fixed else {}
    groups |= {} if with_fixed else {"system": s}
    model = BlockedModel(groups, fixed, y)
    rng = np.random.default_rng(1)
    variances = dict(zip(model.terms, rng.uniform(0.05, 2.0, len(model.terms)), strict=True))
    variances["rater"] = 0.0
    at = model.evaluate(np.array(list(variances.values())))
    criterion, gradient, expected, average = _dense(groups, fixed, y, variances)
    assert at.criterion == pytest.approx(criterion, rel=1e-10)
    np.testing.assert_allclose(at.gradient, gradient, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(at.expected, expected, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(at.average, average, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("twice", [False, True])
def test_likelihood_is_the_dense_formula_where_each_item_meets_few_raters(twice):
    # 3 of 14 raters an item: 6 or 7 of 28 cells, handled by ratings instead of by cells; `twice` repeats some ratings
    rng = np.random.default_rng(4)
    i, s, r, y = _table((40, 2, 14), 1.0, 9)
    kept = np.flatnonzero(np.isin((r - 3 * i) % 14, [0, 1, 6]))
    if twice:
        kept = np.sort(np.append(kept, kept[::6]))
    i, s, r, y = i[kept], s[kept], r[kept], y[kept] + rng.standard_normal(kept.size)
    groups = {"item": i, "rater": r, "item:system": i * 100 + s, "item:rater": i * 100 + r, "system:rater": s * 100 + r}
    model = BlockedModel(groups, {"system": s}, y)
    assert model.rows_of(slice(0, 1)).cell is not None
    variances = dict(zip(model.terms, np.linspace(0.2, 1.3, len(model.terms)), strict=True))
    at = model.evaluate(np.array(list(variances.values())))
    criterion, gradient, expected, average = _dense(groups, {"system": s}, y, variances)
    assert at.criterion == pytest.approx(criterion, rel=1e-10)
    np.testing.assert_allclose(at.gradient, gradient, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(at.expected, expected, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(at.average, average, rtol=1e-8, atol=1e-8)


def test_replicate_ratings_in_one_cell_are_told_from_interaction():
    rng = np.random.default_rng(5)
    a, b = np.repeat(np.arange(12), 8), np.tile(np.repeat(np.arange(4), 2), 12)
    y = rng.standard_normal(12)[a] + rng.standard_normal(48)[a * 4 + b] + rng.standard_normal(96)
    groups = {"item": a, "rater": b, "item:rater": a * 4 + b}
    model = BlockedModel(groups, {}, y)
    variances = dict(zip(model.terms, (0.7, 0.2, 0.4, 1.1), strict=True))
    at = model.evaluate(np.array(list(variances.values())))
    criterion, gradient, expected, _ = _dense(groups, {}, y, variances)
    assert at.criterion == pytest.approx(criterion, rel=1e-10)
    np.testing.assert_allclose(at.gradient, gradient, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(at.expected, expected, rtol=1e-8, atol=1e-8)
    assert set(fit_components(groups, y).components) == {"item", "rater", "item:rater", "residual"}


def test_covariance_of_means_moves_with_the_variances_as_its_differences_say():
    i, s, r, y = _table((6, 3, 4), share=0.8, seed=3)
    groups = {"item": i, "rater": r, "item:system": i * 3 + s, "item:rater": i * 4 + r, "system:rater": s * 4 + r}
    model = BlockedModel(groups, {"system": s}, y)
    v = np.linspace(0.3, 1.2, len(model.terms))
    gradient = model.evaluate(v).covariance_gradient
    for k in range(v.size):
        step = np.zeros_like(v)
        step[k] = 1e-5
        numeric = (model.evaluate(v + step).covariance - model.evaluate(v - step).covariance) / 2e-5
        np.testing.assert_allclose(gradient[k], numeric, atol=1e-7)


def test_nested_design_p_by_raters_within_tasks_gives_brennans_components(shared):
    # Brennan (2001), Table 3.2: complete and all estimates positive, so REML is the ANOVA solution.
    expected = json.loads((shared / "reference" / "expected.json").read_text())["brennan"]["set4_px(r:t)"]["vc"]
    path = shared / "reference" / "brennan" / "brennan_3_2_long.csv"
    header = path.read_text().splitlines()[0].replace('"', "").split(",")
    names = {n.lower(): n for n in header}
    person, task, rater = (next(names[n] for n in names if n.startswith(k)) for k in ("p", "t", "r"))
    score = next(n for n in header if n not in (person, task, rater) and n)
    (p, t, r), y = _read(path, (person, task, rater), score)
    groups = {"p": p, "t": t, "r(t)": t * 100 + r, "p:t": p * 100 + t}
    fit = fit_components(groups, y)
    for source, key in (("p", "p"), ("t", "t"), ("r(t)", "rt"), ("p:t", "pt"), ("residual", "prt")):
        assert fit.components[source] == pytest.approx(expected[key], abs=2e-4)
    assert fit.formula == "score ~ 1 + (1 | p) + (1 | t) + (1 | r:t) + (1 | p:t)"


# ---- behaviour that must hold for any table


def _same_fit(a: RemlFit, b: RemlFit, scale: float = 1.0) -> None:
    total = sum(a.components.values())
    for source in a.components:
        assert b.components[source] / scale**2 == pytest.approx(a.components[source], rel=1e-4, abs=2e-5 * total)


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10_000), share=st.sampled_from([0.75, 0.9, 1.0]))
def test_names_of_levels_and_order_of_rows_do_not_matter(seed, share):
    i, s, r, y = _table((8, 3, 4), share, seed)
    rng = np.random.default_rng(seed)
    rows = rng.permutation(y.size)
    a = fit_reml(i, s, r, y)
    b = fit_reml(rng.permutation(8)[i][rows], rng.permutation(3)[s][rows], rng.permutation(4)[r][rows], y[rows])
    assert b.criterion == pytest.approx(a.criterion, abs=1e-5)
    _same_fit(a, b)
    assert a.system_test().f == pytest.approx(b.system_test().f, rel=1e-3)


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10_000), shift=st.sampled_from([0.0, -3.0, 1e6]), scale=st.sampled_from([1e-4, 1.0, 250.0]))
def test_shifting_leaves_components_and_scaling_squares_them(seed, shift, scale):
    i, s, r, y = _table((8, 3, 4), 0.85, seed)
    a, b = fit_reml(i, s, r, y), fit_reml(i, s, r, shift * scale + scale * y)
    _same_fit(a, b, scale)
    assert b.system_test().f == pytest.approx(a.system_test().f, rel=1e-3)
    assert b.system_means().means == pytest.approx(scale * (a.system_means().means + shift), rel=1e-5, abs=1e-4 * scale)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 100_000), sd=st.tuples(*[st.sampled_from([0.0, 0.3, 1.0])] * 6))
def test_every_fit_is_a_minimum_under_the_bounds(seed, sd):
    i, s, r, y = _table((7, 4, 4), 0.8, seed, (*sd, 1.0))
    fit = fit_reml(i, s, r, y)
    assert fit.converged
    model = BlockedModel(fit.groups, {}, y)
    variances = np.array([fit.components[t] for t in model.terms])
    at = model.evaluate(variances)
    assert at.criterion == pytest.approx(fit.criterion, abs=1e-7)
    slack = 1e-3 * np.sqrt(np.diagonal(at.expected))
    inside = variances > 0
    assert (np.abs(at.gradient[inside]) < slack[inside]).all()
    assert (at.gradient[~inside] > -slack[~inside]).all()


def test_components_of_a_large_table_recover_the_truth():
    sd = (0.4, 0.5, 0.7, 0.3, 0.6, 0.3, 0.8)
    fit = fit_reml(*_table((60, 15, 15), 0.7, 11, sd))
    for source, true in zip((*CROSSED_TERMS, "residual"), sd, strict=True):
        # the sampling error of a variance estimated from n levels is a share of about sqrt(2 / (n - 1)) of it
        levels = {"system": 15, "rater": 15, "item": 60}.get(source, 225)
        assert fit.components[source] == pytest.approx(true**2, rel=4 * np.sqrt(2 / (levels - 1)))


def test_complete_table_gives_the_anova_solution_where_that_is_positive():
    i, s, r, y = _table((20, 6, 5), 1.0, 4, (1, 2, 2, 1, 1, 1, 1))
    cube = y.reshape(20, 6, 5)
    mean_is = cube.mean(axis=2)
    grand = cube.mean()
    deviations = (
        cube - mean_is[:, :, None] - cube.mean(axis=1)[:, None, :] - cube.mean(axis=0)[None]
        + cube.mean(axis=(1, 2))[:, None, None] + cube.mean(axis=(0, 2))[None, :, None] + cube.mean(axis=(0, 1)) - grand
    )  # fmt: skip
    ms_residual = (deviations**2).sum() / (19 * 5 * 4)
    interaction = mean_is - mean_is.mean(axis=0) - mean_is.mean(axis=1, keepdims=True) + grand
    ms_item_system = 5 * (interaction**2).sum() / (19 * 5)
    fit = fit_reml(i, s, r, y)
    assert min(fit.components.values()) > 0
    assert fit.components["residual"] == pytest.approx(ms_residual, rel=1e-5)
    assert fit.components["item:system"] == pytest.approx((ms_item_system - ms_residual) / 5, rel=1e-4)


def test_item_by_rater_design_needs_no_systems():
    i, _, r, y = _table((30, 1, 6), 0.8, 2)
    fit = fit_reml(i, None, r, y)
    assert list(fit.components) == ["item", "rater", "residual"]
    assert fit.formula == "score ~ 1 + (1 | item) + (1 | rater)"


def test_offsets_far_larger_than_the_error_do_not_cost_digits():
    i, s, r, y = _table((15, 4, 5), 0.85, 8)
    a = fit_reml(i, s, r, y)
    b = fit_reml(i, s, r, y + 1e4 * (r == 2))
    for source in ("residual", "item:rater", "item:system"):
        assert b.components[source] == pytest.approx(a.components[source], rel=2e-2)


# ---- what cannot be answered


def test_one_rater_per_cell_is_refused_by_name_and_answerable_without_the_term():
    i, s, r, y = _table((40, 5, 4), 1.0, 3)
    kept = r == (i + s) % 4
    i, s, r, y = i[kept], s[kept], r[kept], y[kept]
    with pytest.raises(UnidentifiableError, match="every item:system has one rating") as refusal:
        fit_reml(i, s, r, y)
    assert refusal.value.terms == ("item:system", "residual")
    assert "second rating" in refusal.value.remedy
    assert isinstance(refusal.value, InputError)


def test_wmt21_has_one_rater_per_cell(shared):
    path = shared / "data" / "rating_studies" / "wmt21_ted_ende_mqm_long.csv"
    codes, y = _read(path, ("item", "system", "rater"))
    with pytest.raises(UnidentifiableError, match="item:system"):
        fit_reml(*codes, y)
    # R 4.2.2, lme4 1.1-31, lmerTest 3.1-3, the other terms, bobyqa with rhoend 1e-9
    fit = fit_reml(*codes, y, terms=[t for t in CROSSED_TERMS if t != "item:system"])
    assert fit.criterion == pytest.approx(33710.9155, abs=1e-3)
    _assert_components(
        fit,
        {
            "item": 1.36232439,
            "system": 0.06375765,
            "rater": 0.31447909,
            "item:rater": 1.01638354,
            "system:rater": 0.08500092,
            "residual": 4.29777084,
        },
    )
    test = fit.system_test()
    assert test.f == pytest.approx(2.9723214, rel=1e-4)
    assert test.df2 == pytest.approx(31.235561, rel=1e-4)


def test_raters_who_each_keep_to_one_system_cannot_be_told_from_their_interaction():
    i, s, r, y = _table((20, 3, 9), 1.0, 3)
    kept = r % 3 == s
    groups = {"item": i, "system": s, "rater": r, "item:system": i * 3 + s, "system:rater": s * 9 + r}
    with pytest.raises(UnidentifiableError, match="rater and system:rater group the ratings in the same way"):
        fit_components({name: c[kept] for name, c in groups.items()}, y[kept])


def test_terms_that_are_mixed_up_without_coinciding_are_found():
    # Latin square: 3 items x 3 systems, the rater fixed by the sum; no two groupings coincide.
    i, s = (a.ravel() for a in np.indices((3, 3)))
    i, s = np.repeat(i, 2), np.repeat(s, 2)
    r = (i + s) % 3
    groups = {"item": i, "system": s, "rater": r, "other": (i + 2 * s) % 3, "cell": i * 3 + s}
    with pytest.raises(UnidentifiableError, match="cannot tell the variance of") as refusal:
        fit_components(groups, np.random.default_rng(0).standard_normal(i.size))
    assert {"item", "system", "rater", "other", "cell"} >= set(refusal.value.terms) - {"residual"}
    assert "cell" in refusal.value.terms


def test_one_rater_is_refused():
    i, s, _, y = _table((10, 4, 1), 1.0, 3)
    with pytest.raises(UnidentifiableError, match="only one rater"):
        fit_reml(i, s, np.zeros_like(i), y)


def test_systems_that_share_no_item_and_no_rater_are_named():
    i, s, r, y = _table((20, 4, 6), 1.0, 3)
    kept = ((s < 2) & (i < 10) & (r < 3)) | ((s >= 2) & (i >= 10) & (r >= 3))
    fit = fit_reml(i[kept], s[kept], r[kept], y[kept])
    with pytest.raises(UnidentifiableError, match=r"systems \{0, 1\} and systems \{2, 3\} share no item and no rater"):
        fit.system_test()


def test_systems_compared_only_across_raters_are_compared_with_a_caution():
    i, s, r, y = _table((20, 4, 6), 1.0, 3)
    kept = (s < 2) == (r < 3)
    i, s, r, y = i[kept], s[kept], r[kept], y[kept]
    islands = find_islands(s, [i, r])
    assert islands.apart == ((0, 1, 2, 3),)
    assert islands.only_between == ((0, 1), (2, 3))
    assert "across different items or raters" in (fit_reml(i, s, r, y).with_fixed("system").note or "")


def test_holes_alone_make_no_islands():
    i, s, r, _ = _table((20, 4, 6), 0.5, 3)
    islands = find_islands(s, [i, r])
    assert islands.only_between == ((0, 1, 2, 3),)
    assert islands.caution is None


def test_systems_of_a_model_without_items_and_raters_can_still_be_tested():
    rng = np.random.default_rng(2)
    s, batch = np.repeat(np.arange(3), 20), np.repeat(np.arange(12), 5)
    y = rng.standard_normal(12)[batch] + rng.standard_normal(60)
    # balanced and nested: F is MS of systems over MS of batches within systems, on 2 and 9 df
    test = fit_components({"system": s, "batch:system": batch}, y).system_test()
    means = y.reshape(3, 4, 5).mean(axis=2)
    between = 20 * means.mean(axis=1).var(ddof=1)
    within = 5 * means.var(axis=1, ddof=1).mean()
    assert test.f == pytest.approx(between / within, rel=1e-5)
    assert test.df2 == pytest.approx(9.0, rel=1e-4)


def test_equal_scores_are_refused():
    i, s, r, _ = _table((5, 3, 3))
    with pytest.raises(InputError, match="all scores are equal"):
        fit_reml(i, s, r, np.full(i.size, 4.0))


def test_scores_that_the_terms_explain_without_rest_are_refused():
    i, s, r, _ = _table((6, 3, 4))
    with pytest.raises(InputError, match="residual variance is zero"):
        fit_reml(i, s, r, i * 1.0 + s * 2.0 + r * 0.5)


def test_a_panel_too_large_for_exact_algebra_is_refused():
    item, rater = np.arange(6000) % 3000, np.arange(6000) // 2
    with pytest.raises(InputError, match="too many for exact REML"):
        fit_components({"item": item, "rater": rater}, np.random.default_rng(0).standard_normal(6000))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.nan}, "finite"),
        ({"double": True}, "two scores"),
        ({"levels": (5, 2, 3)}, "not below the number of levels"),
        ({"terms": ["author"]}, "no term 'author'"),
        ({"short": True}, "one code a score"),
        ({"floats": True}, "whole numbers"),
    ],
)
def test_bad_input_is_one_sentence(change, message):
    i, s, r, y = _table((5, 3, 3))
    if "y" in change:
        y[3] = change["y"]
    if "double" in change:
        i, s, r, y = (np.append(a, a[0]) for a in (i, s, r, y))
    if "short" in change:
        i = i[1:]
    if "floats" in change:
        i = i.astype(float)
    with pytest.raises(InputError, match=message) as refusal:
        fit_reml(i, s, r, y, n_levels=change.get("levels"), terms=change.get("terms"))
    assert "\n" not in str(refusal.value)


def test_degrees_of_freedom_combine_as_fai_and_cornelius_say():
    # E = 6/4 + 12/10 = 2.7; 2 E / (E - 2) = 7.714286
    assert combine_degrees_of_freedom(np.array([6.0, 12.0])) == pytest.approx(7.714286, abs=1e-6)
    assert combine_degrees_of_freedom(np.array([9.0, 9.0])) == 9.0
    assert combine_degrees_of_freedom(np.array([1.5, 9.0])) == 2.0
    # an infinite df contributes t^2 of mean one: E = 1.5 + 1
    assert combine_degrees_of_freedom(np.array([6.0, np.inf])) == pytest.approx(10.0)


def test_results_leave_as_plain_numbers():
    fit = fit_reml(*_table((6, 3, 4), 0.9, 1))
    out = json.loads(json.dumps(fit.to_dict()))
    assert set(out["components"]) == {*TWO_WAY, "residual"}
    assert out["formula"].startswith("score ~ 1 + (1 | item)")
    assert json.loads(json.dumps(fit.system_test().to_dict()))["df1"] == 2
