"""Length effects against hand calculation, published correlations, and simulation with known slopes."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from mojimeter.errors import InputError
from mojimeter.ratings import Study
from mojimeter.ratings.length import LengthEffects, correlate_means, length_effects, ratios_by_system, two_ratios
from mojimeter.ratings.two_way import Clusters
from mojimeter.stats.estimate import Estimate


def value(estimate: Estimate) -> float:
    assert estimate.value is not None, estimate.reason
    return estimate.value


def study_of(scores: np.ndarray, lengths: np.ndarray, keep: np.ndarray | None = None) -> Study:
    """Scores (items, systems, raters), lengths (items, systems)."""
    i, s, r = np.indices(scores.shape)
    frame = pl.DataFrame(
        {
            "item": i.ravel(),
            "system": s.ravel(),
            "rater": r.ravel(),
            "score": scores.ravel(),
            "length": np.broadcast_to(lengths[:, :, None], scores.shape).ravel(),
        }
    )
    return Study(frame if keep is None else frame.filter(pl.Series(keep.ravel())))


def simulate(
    slopes: tuple[float, ...], *, items: int = 60, systems: int = 5, noise: float = 0.3, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 6, size=(items, systems)).astype(float)
    scores = 3 + rng.normal(size=(items, 1, 1)) + noise * rng.normal(size=(items, systems, len(slopes)))
    return scores + lengths[:, :, None] * np.array(slopes), lengths


# --- slopes -------------------------------------------------------------------------------------------------


def test_slopes_of_exact_lines_are_found_and_the_panel_s_is_their_mean() -> None:
    # the annotators' slopes of 000_f59049de9f6a9951.txt: .085, -.024, .329; in a crossed design they average to .130
    scores, lengths = simulate((0.085, -0.024, 0.329), noise=0.0)
    found = length_effects(study_of(scores, lengths), "length")
    assert [value(r.within_items) for r in found.raters] == pytest.approx([0.085, -0.024, 0.329])
    assert round(value(found.panel.within_items), 3) == 0.130
    # three raters this different: over items alone the slope is certain, over raters it is not
    low, high = found.panel.within_items.ci or (None, None)
    assert low is not None
    assert low < 0 < high  # type: ignore[operator]
    assert found.panel.within_items_these_raters.ci == pytest.approx((0.13, 0.13), abs=0.02)


def test_the_slope_within_items_is_least_squares_with_item_effects() -> None:
    scores, lengths = simulate((0.2,), items=12, systems=4, noise=1.0)
    found = length_effects(study_of(scores, lengths), "length")
    # the same by a regression on length and a dummy for every item
    design = np.column_stack([lengths.ravel(), np.kron(np.eye(12), np.ones((4, 1)))])
    beta = np.linalg.lstsq(design, scores[:, :, 0].ravel(), rcond=None)[0]
    assert value(found.raters[0].within_items) == pytest.approx(beta[0])


def test_the_controlling_slope_and_means_are_least_squares_with_item_and_system_effects() -> None:
    scores, lengths = simulate((0.2,), items=12, systems=4, noise=1.0)
    keep = np.random.default_rng(1).random(scores.shape) > 0.2
    found = length_effects(study_of(scores, lengths, keep), "length")
    rows = keep[:, :, 0].ravel()
    items, systems = (g.ravel()[rows] for g in np.indices((12, 4)))
    design = np.column_stack([lengths.ravel()[rows], np.eye(12)[items], np.eye(4)[systems][:, 1:]])
    beta = np.linalg.lstsq(design, scores[:, :, 0].ravel()[rows], rcond=None)[0]
    assert value(found.panel.within_items_and_systems) == pytest.approx(beta[0])
    controlled = {int(s.system): value(s.controlled) for s in found.systems}
    for system in (1, 2, 3):
        assert controlled[system] - controlled[0] == pytest.approx(beta[12 + system])


def test_the_slope_between_systems_is_that_of_their_means() -> None:
    # by hand: means 1, 2, 4 at lengths 1, 2, 3: slope (1 (4) - 1 (1)) / 2 = 1.5, residuals 1/6, -1/3, 1/6
    scores = np.array([1.0, 2, 4])[None, :, None].repeat(2, 0).repeat(2, 2)
    lengths = np.array([[1.0, 2, 3], [1, 2, 3]])
    found = length_effects(study_of(scores, lengths), "length")
    assert found.level == "system"
    between = found.panel.between_systems
    # t_.975(1) = 12.706, se = sqrt((1/36 + 1/9 + 1/36) / 1 / 2)
    half = 12.7062 * (6 / 36 / 2) ** 0.5
    assert value(between) == pytest.approx(1.5)
    assert between.ci == pytest.approx((1.5 - half, 1.5 + half), abs=1e-4)
    assert "does not vary within systems" in (found.systems[0].controlled.reason or "")


def test_the_interval_over_items_and_raters_covers() -> None:
    # raters' slopes are N(.1, .1); 150 studies of 6 raters: 95% +- 5.3 (3 errors)
    inside = 0
    for run in range(150):
        rng = np.random.default_rng(1000 + run)
        slopes = tuple(rng.normal(0.1, 0.1, size=6))
        scores, lengths = simulate(slopes, items=30, systems=4, noise=0.5, seed=run)
        low, high = length_effects(study_of(scores, lengths), "length").panel.within_items.ci or (1, 0)
        inside += low <= 0.1 <= high  # type: ignore[operator]
    assert inside / 150 >= 0.95 - 0.053


@given(st.floats(0.1, 20), st.floats(-50, 50), st.floats(0.1, 20))
@settings(max_examples=8, deadline=None)
def test_units_scale_slopes_and_leave_ranks_and_wins(scale: float, shift: float, unit: float) -> None:
    scores, lengths = simulate((0.1, 0.3), items=15)
    before = length_effects(study_of(scores, lengths), "length")
    after = length_effects(study_of(scale * scores + shift, unit * lengths), "length")
    assert value(after.panel.within_items) == pytest.approx(value(before.panel.within_items) * scale / unit)
    for one, two in zip(before.systems, after.systems, strict=True):
        assert (one.system, one.controlled_rank, one.win_rank) == (two.system, two.controlled_rank, two.win_rank)
        assert value(one.win_rate) == pytest.approx(value(two.win_rate))


# --- rank correlations ----------------------------------------------------------------------------------------


def test_spearman_and_its_exact_p_are_the_published_ones() -> None:
    # reference/two_emojis.json: Spearman .905 at n = 8, exact p .0046; ranks that give sum of d^2 = 8
    found = correlate_means(np.arange(8.0), np.array([1.0, 0, 3, 2, 5, 4, 7, 6]))
    assert found.spearman == pytest.approx(1 - 6 * 8 / 504)
    assert round(found.spearman or 0, 3) == 0.905
    assert round(found.p or 0, 4) == 0.0046
    assert found.p_kind == "exact"


@pytest.mark.parametrize(("squares", "printed"), [(4, 0.95), (106, -0.26), (8, 0.90)])
def test_the_raters_of_the_paper_have_rank_correlations_that_eight_systems_can_have(
    squares: int, printed: float
) -> None:
    # 000_f59049de9f6a9951.txt: one annotator's ranking follows length at .95, another's at -.26, the panel's at .90(5)
    order = next(o for o in permutations(range(8)) if sum((a - b) ** 2 for a, b in enumerate(o)) == squares)
    found = correlate_means(np.arange(8.0), np.array(order, dtype=float))
    assert round((found.spearman or 0) - 1e-9, 2) == printed


def test_beyond_nine_systems_p_is_an_approximation_and_says_so() -> None:
    found = correlate_means(np.arange(12.0), np.arange(12.0) ** 2 * np.array([1, -1] * 6))
    assert found.p_kind == "t approximation"


def test_raters_who_follow_length_and_raters_who_do_not_are_told_apart() -> None:
    lengths = np.arange(1.0, 7)[None, :].repeat(10, 0)
    scores = np.stack([lengths, -lengths], axis=2)
    found = length_effects(study_of(scores + 0.0, lengths), "length")
    assert [r.ranks.spearman for r in found.raters] == pytest.approx([1.0, -1.0])
    # the panel's means are all equal
    assert found.panel.ranks.spearman is None


# --- equal length -------------------------------------------------------------------------------------------


def test_win_rates_count_only_pairs_of_equal_length_for_the_same_item() -> None:
    # item 0: systems 0 and 1 are equal (2), item 1: 1 and 2 are (3); raters agree but for one tie
    lengths = np.array([[2.0, 2, 5], [1, 3, 3]])
    scores = np.array([[[4.0, 4], [3, 4], [1, 1]], [[5, 5], [2, 1], [3, 3]]])
    found = length_effects(study_of(scores, lengths), "length")
    rates = {s.system: (value(s.win_rate), s.matched) for s in found.systems}
    # system 0: a win and a tie; 1: a loss, a tie and two losses; 2: two wins
    assert rates == {"0": (0.75, 1), "1": (0.125, 2), "2": (1.0, 1)}
    assert found.matched_pairs == 2
    assert {s.system: s.win_rank for s in found.systems} == {"2": 1, "0": 2, "1": 3}


def test_a_tolerance_widens_what_is_equal() -> None:
    lengths = np.array([[2.0, 3, 9]])
    scores = np.array([[[1.0], [2], [3]]]).repeat(2, 0)
    study = study_of(scores, lengths.repeat(2, 0))
    assert length_effects(study, "length").matched_pairs == 0
    assert "no other system" in (length_effects(study, "length").systems[0].win_rate.reason or "")
    assert length_effects(study, "length", tolerance=1).matched_pairs == 2


def test_a_ranking_that_is_nothing_but_length_is_undone() -> None:
    # longer systems score higher only because they are longer; quality runs the other way
    rng = np.random.default_rng(0)
    lengths = np.clip(rng.poisson(np.array([2.0, 3, 4, 5]), size=(150, 4)), 1, 8).astype(float)
    quality = np.array([0.6, 0.4, 0.2, 0.0])
    scores = 0.5 * lengths[:, :, None] + quality[None, :, None] + 0.1 * rng.normal(size=(150, 4, 3))
    found = length_effects(study_of(scores, lengths), "length")
    assert [s.system for s in found.systems] == ["3", "2", "1", "0"]
    assert [s.controlled_rank for s in found.systems] == [4, 3, 2, 1]
    assert [s.win_rank for s in found.systems] == [4, 3, 2, 1]
    assert value(found.panel.within_items_and_systems) == pytest.approx(0.5, abs=0.02)


def test_low_scores_can_be_good() -> None:
    scores, lengths = simulate((0.1, 0.1), items=20, systems=3)
    up = length_effects(study_of(scores, lengths), "length")
    down = length_effects(study_of(scores, lengths), "length", higher_is_better=False)
    assert [s.system for s in up.systems] == [s.system for s in reversed(down.systems)]
    for one, two in zip(up.systems, reversed(down.systems), strict=True):
        assert value(one.win_rate) == pytest.approx(1 - value(two.win_rate))


# --- ratios ---------------------------------------------------------------------------------------------------


def test_a_ratio_of_means_is_not_a_mean_of_ratios() -> None:
    # by hand: (100 + 300) / (1 + 6) = 57.1, (100 / 1 + 300 / 6) / 2 = 75
    found = two_ratios(np.array([100.0, 300, 7]), np.array([1.0, 6, 0]), np.arange(3), "a")
    assert value(found.ratio_of_means) == pytest.approx(407 / 7)
    assert value(found.mean_of_ratios) == pytest.approx(75)
    assert (found.rows, found.left_out) == (3, 1)
    empty = two_ratios(np.array([1.0]), np.array([0.0]), np.arange(1), "a")
    assert empty.ratio_of_means.reason == empty.mean_of_ratios.reason == "the denominator is zero everywhere"


def test_ratios_count_each_output_once_however_many_raters_saw_it() -> None:
    scores, lengths = simulate((0.1, 0.2, 0.3), items=5, systems=2)
    found = ratios_by_system(study_of(scores, lengths), "score", "length")
    assert [r.rows for r in found] == [5, 5]


# --- standard errors ----------------------------------------------------------------------------------------


def test_one_rater_leaves_an_interval_over_items_only_and_says_so() -> None:
    scores, lengths = simulate((0.1,), items=10)
    within = length_effects(study_of(scores, lengths), "length").panel.within_items
    assert within.reason == "one rater: the interval is over items only"


def test_the_two_way_variance_of_a_mean_is_that_of_a_crossed_table() -> None:
    # mean of an I x R table with both random: (MS_i + MS_r - MS_e) / (I R)
    rng = np.random.default_rng(0)
    table = rng.normal(size=(400, 1)) + rng.normal(size=(1, 300)) + 0.5 * rng.normal(size=(400, 300))
    deviations = table - table.mean()
    i, r = (g.ravel() for g in np.indices(table.shape))
    found = Clusters(i, r, 400, 300).over_both(0.0, deviations.ravel() / table.size)
    ms_i = 300 * table.mean(axis=1).var(ddof=1)
    ms_r = 400 * table.mean(axis=0).var(ddof=1)
    rest = deviations - (table.mean(axis=1, keepdims=True) - table.mean()) - (table.mean(axis=0) - table.mean())
    ms_e = (rest**2).sum() / (399 * 299)
    half = 1.96 * ((ms_i + ms_r - ms_e) / table.size) ** 0.5
    assert found.ci is not None
    assert found.ci[1] == pytest.approx(half, rel=0.02)


# --- bad input and the command ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "message"),
    [("words", "no column 'words'"), ("rater", None), ("one", "is 1 everywhere"), ("text", "is not a score")],
)
def test_bad_covariates_are_one_sentence(column: str, message: str | None) -> None:
    scores, lengths = simulate((0.1, 0.2), items=5)
    frame = study_of(scores, lengths).frame.with_columns(one=pl.lit(1.0), text=pl.lit("long"))
    if message is None:
        assert isinstance(length_effects(Study(frame), column), LengthEffects)
        return
    with pytest.raises(InputError, match=message):
        length_effects(Study(frame), column)


def test_a_study_without_systems_is_refused() -> None:
    frame = {"item": list("aabb"), "rater": list("xyxy"), "score": [1, 2, 3, 5], "length": [1, 2, 3, 4]}
    with pytest.raises(InputError, match="length effects need systems, items and raters"):
        Study(frame, system=None).length("length")


def run(*arguments: str):  # type: ignore[no-untyped-def]
    from mojimeter.cli.ratings import app

    return CliRunner().invoke(app, ["length", *arguments])


def test_the_command_prints_one_screen_and_one_object(tmp_path: Path) -> None:
    scores, lengths = simulate((0.085, -0.024, 0.329))
    path = tmp_path / "ratings.csv"
    study_of(scores, lengths).frame.write_csv(path)
    result = run(str(path))
    assert result.exit_code == 0, result.output
    assert len(result.stdout.splitlines()) <= 45
    assert max(len(line) for line in result.stdout.splitlines()) <= 120
    document = json.loads(run(str(path), "--ratio", "score/length", "--json").stdout)
    assert {"panel", "raters", "systems", "matched", "ratio"} <= set(document)
    assert set(document["ratio"]["systems"][0]) >= {"ratio_of_means", "mean_of_ratios"}


def test_a_real_study_with_holes_is_read(shared: Path) -> None:
    path = shared / "data" / "rating_studies" / "squality_long.csv"
    found = length_effects(Study(path, score="overall"), "words", tolerance=10)
    assert [s.system for s in found.systems] == ["human", "bart-dpr", "bart"]
    # three systems: of six orders the p of any correlation is a sixth part
    assert found.panel.ranks.p in (pytest.approx(2 / 6), pytest.approx(1.0))
