"""Sums of squares against printed tables and other programs, and what must not change them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mojimeter.errors import InputError
from mojimeter.ratings import Anova, Design, Study
from mojimeter.ratings.anova import analyse_variance

# Brennan (2001), Generalizability Theory, synthetic data set 1 (persons x items) and its mean squares.
SET_1 = [
    [1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0],
    [1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0],
    [1, 1, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0],
    [1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0],
    [1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 0, 0],
    [1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0],
    [1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 0],
    [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0],
    [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
]
# Synthetic data set 3 (persons x 4 items x 2 occasions): columns occasion 1 items 1..4, occasion 2 items 1..4.
SET_3 = [
    [2, 4, 5, 5, 4, 4, 2, 3, 0, 6],
    [6, 5, 5, 9, 3, 4, 6, 4, 5, 8],
    [7, 6, 4, 8, 5, 4, 6, 4, 4, 7],
    [5, 7, 6, 6, 6, 7, 5, 5, 5, 6],
    [2, 6, 5, 5, 4, 6, 2, 6, 5, 6],
    [5, 7, 4, 7, 5, 4, 7, 6, 5, 8],
    [5, 5, 5, 7, 6, 7, 7, 6, 5, 8],
    [5, 7, 5, 6, 4, 8, 5, 4, 3, 6],
]
SMALL_CUBES = arrays(np.float64, (4, 3, 2), elements=st.integers(-9, 9).map(float))


def set_1() -> Study:
    rows = [(p, i, x) for p, row in enumerate(SET_1) for i, x in enumerate(row)]
    return Study(pl.DataFrame(rows, schema=["item", "rater", "score"], orient="row"), system=None)


def set_3() -> Study:
    """Persons as systems, items as items, occasions as raters."""
    rows = [(p, k % 4, k // 4, x) for k, column in enumerate(SET_3) for p, x in enumerate(column)]
    return Study(pl.DataFrame(rows, schema=["system", "item", "rater", "score"], orient="row"))


def analyse(cube: np.ndarray) -> Anova:
    names = ("item", "system", "rater")
    return analyse_variance(cube, Design(dict(zip(names, cube.shape, strict=True)), cells=cube.size))


def test_mean_squares_of_brennans_persons_by_items_are_those_he_prints():
    ms = set_1().anova().ms
    assert ms["item"] == pytest.approx(0.8157, abs=5e-5)
    assert ms["rater"] == pytest.approx(0.8811, abs=5e-5)
    assert ms["residual"] == pytest.approx(0.1269, abs=5e-5)


def test_mean_squares_of_brennans_persons_by_items_by_occasions_are_those_he_prints():
    anova = set_3().anova()
    printed = {
        "system": 6.9111,
        "item": 12.4833,
        "rater": 3.2,
        "item:system": 2.0852,
        # expected.json has 1.3383, which contradicts the component printed beside it: 4 x .1009 + .9352 = 1.3388
        "system:rater": 1.3389,
        "item:rater": 2.5,
        "residual": 0.9352,
    }
    assert anova.ms == pytest.approx(printed, abs=5e-5)
    assert anova.df == {
        "system": 9, "item": 3, "rater": 1, "item:system": 27, "system:rater": 9, "item:rater": 3, "residual": 27,
    }  # fmt: skip


def test_the_papers_table_gives_back_its_mean_squares(two_emojis: pl.DataFrame):
    anova = Study(two_emojis).anova()
    # Table 1 of arXiv:2609.29445v1; the unprinted four from reference/two_emojis.json.
    assert anova.ms["system"] == pytest.approx(11.85, rel=1e-9)
    assert anova.ms["rater"] == pytest.approx(1345.16, rel=1e-9)
    assert anova.ms["system:rater"] == pytest.approx(20.25, rel=1e-9)
    assert round(anova.ms["residual"], 5) == 0.63641
    assert round(anova.ms["item:rater"], 5) == 4.21641
    assert round(anova.ms["item"], 5) == 7.91902
    assert round(anova.ms["item:system"], 5) == 0.89769
    assert anova.total == pytest.approx(12173.39, abs=0.01)
    assert (anova.df["system"], anova.df["system:rater"], anova.df["residual"]) == (7, 14, 4046)


def test_mean_squares_of_the_twin_study_are_those_of_r(shared: Path):
    study = Study(shared / "data/rating_studies/two_emojis_twin.csv")
    expected = json.loads((shared / "reference/real_studies.json").read_text())
    printed = expected["rating_studies/two_emojis_twin.csv"]["mean_squares"]
    # the file was made from mean squares rounded to four figures (7.919, 0.8977), the reference from unrounded ones
    assert study.anova().ms == pytest.approx(printed, rel=3e-5)


def test_sums_of_squares_agree_with_generalizit_on_a_random_table():
    generalizit = pytest.importorskip("generalizit")
    cube = np.random.default_rng(5).integers(1, 6, (6, 4, 3)).astype(float)
    i, s, r = np.indices(cube.shape).reshape(3, -1)
    import pandas as pd

    frame = pd.DataFrame({"item": i, "system": s, "rater": r, "score": cube.ravel()}).astype({"score": float})
    other = generalizit.GeneralizIT(data=frame, design_str="item x system x rater", response="score")
    other.calculate_anova()
    theirs = other.design.anova_table["Variance"]
    own = Study(frame).components().raw
    for name, value in own.items():
        other_name = "item x system x rater" if name == "residual" else name.replace(":", " x ")
        assert value == pytest.approx(theirs[other_name], abs=5.1e-5)  # it keeps four decimals


@given(SMALL_CUBES, st.integers(-5, 5), st.sampled_from([0.5, 2.0, -3.0]))
@settings(max_examples=40, deadline=None)
def test_shifting_changes_no_mean_square_and_scaling_squares_it(cube: np.ndarray, shift: int, scale: float):
    before, after = analyse(cube), analyse(cube * scale + shift)
    for name, ms in before.ms.items():
        assert after.ms[name] == pytest.approx(ms * scale**2, rel=1e-9, abs=1e-9)


@given(SMALL_CUBES, st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_relabelling_levels_changes_nothing(cube: np.ndarray, random):
    orders = [random.sample(range(n), n) for n in cube.shape]
    assert analyse(cube[np.ix_(*orders)]).ms == pytest.approx(analyse(cube).ms, abs=1e-9)


@given(SMALL_CUBES)
@settings(max_examples=40, deadline=None)
def test_sums_of_squares_add_up_to_the_total(cube: np.ndarray):
    assert analyse(cube).total == pytest.approx(((cube - cube.mean()) ** 2).sum(), rel=1e-9, abs=1e-9)


def test_adding_to_one_rater_moves_only_the_rater():
    cube = np.random.default_rng(1).normal(size=(7, 5, 3))
    moved = cube.copy()
    moved[:, :, 1] += 10
    before, after = analyse(cube).ms, analyse(moved).ms
    assert after["rater"] > before["rater"] + 1
    for name in before:
        if name != "rater":
            assert after[name] == pytest.approx(before[name], rel=1e-9)


def test_a_large_offset_loses_no_digits():
    cube = np.random.default_rng(2).integers(0, 100, (20, 6, 4)) / 64  # exact in binary
    assert analyse(cube + 2.0**22).ms == pytest.approx(analyse(cube).ms, rel=1e-9)


def test_a_rater_a_million_points_off_leaves_the_residual_alone():
    cube = np.random.default_rng(3).integers(0, 100, (20, 6, 4)) / 64
    moved = cube.copy()
    moved[:, :, 0] += 2.0**20
    assert analyse(moved).ms["residual"] == pytest.approx(analyse(cube).ms["residual"], rel=1e-6)


def test_printed_mean_squares_must_name_every_effect_and_no_other():
    design = Design({"item": 3, "rater": 2}, cells=6)
    with pytest.raises(InputError, match="no mean square for 'residual'"):
        Anova.from_mean_squares({"item": 1, "rater": 1}, design)
    with pytest.raises(InputError, match="'system' is not an effect of this design"):
        Anova.from_mean_squares({"item": 1, "rater": 1, "residual": 1, "system": 2}, design)
