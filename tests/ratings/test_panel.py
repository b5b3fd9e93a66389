"""The worth of a panel of models against hand calculation and simulation with a known worth."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from mojimeter.errors import GateError, InputError
from mojimeter.ratings import Study
from mojimeter.ratings.panel import PeopleComponents, panel_worth, split_panel

# Four units, two people. By hand: unit means 2, 3, 4, 7 (grand 4), person means 3.5, 4.5.
PEOPLE = np.array([[1.5, 2.5], [2.5, 3.5], [3.0, 5.0], [7.0, 7.0]])
# MS_unit = 2 (4 + 1 + 0 + 9) / 3, MS_person = 4 (.25 + .25); interactions 0, 0, -+.5, +-.5: 1 on 3 degrees of freedom
MS_UNIT, MS_PERSON, MS_ERROR = 28 / 3, 2.0, 1 / 3


def simulate(
    units: int, people: int, worth: float, offset: float = 0.0, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """A panel whose error variance is that of the mean of `worth` people but for their offsets."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(units, 1))
    persons = truth + rng.normal(0, 0.3**0.5, size=people) + rng.normal(size=(units, people))
    return truth + rng.normal(0, worth**-0.5, size=(units, 1)) + offset, persons


def test_people_s_components_are_those_of_the_two_way_table() -> None:
    found = PeopleComponents.of(PEOPLE)
    assert found.unit == pytest.approx((MS_UNIT - MS_ERROR) / 2)
    assert found.person == pytest.approx((MS_PERSON - MS_ERROR) / 4)
    assert found.error == pytest.approx(MS_ERROR)
    assert found.g == pytest.approx(1 - MS_ERROR / MS_UNIT)


def test_both_worths_are_the_formulas_worked_out_by_hand() -> None:
    judge = np.array([[1.0], [5.0], [4.0], [8.0]])
    found = panel_worth(judge, PEOPLE).panel
    # differences from the people's means -1, 2, 0, 1: MSE 6/4, offset 1/2
    assert (found.mse, found.offset) == (1.5, 0.5)
    s_p, s_h, s_e = (MS_UNIT - MS_ERROR) / 2, (MS_PERSON - MS_ERROR) / 4, MS_ERROR
    assert found.absolute.value == pytest.approx((s_h + s_e) / (1.5 - (s_h + s_e) / 2))
    # r: deviations of the judge -3.5, .5, -.5, 3.5 (25.0), of the people -2, -1, 0, 3 (14), products 7 - .5 + 0 + 10.5
    r2 = 17.0**2 / (25.0 * 14)
    rho2 = r2 / (s_p / (s_p + s_e / 2))
    assert found.rho2 == pytest.approx(rho2)
    assert found.consistency.value == pytest.approx(rho2 / (1 - rho2) * s_e / s_p)


@pytest.mark.parametrize("offset", [0.0, 0.5])
def test_a_known_worth_is_recovered(offset: float) -> None:
    judges, people = simulate(5000, 20, 3.0)
    # these people's offsets average to nothing, so that the panel's is known
    people -= people.mean() - judges.mean() + offset
    found = panel_worth(judges, people).panel
    assert found.consistency.value == pytest.approx(3.0, rel=0.1)
    # absolute: a person's error variance is 1 and that of their offsets, here what those happen to be
    person = PeopleComponents.of(people).person
    assert found.absolute.value == pytest.approx((1 + person) / (1 / 3 + offset**2), rel=0.15)


def test_intervals_hold_the_true_worth() -> None:
    # 100 studies; the interval errs on the wide side, so only the lower limit of 95% - 3 errors (6.5) is held
    consistent = absolute = 0
    for seed in range(100):
        found = panel_worth(*simulate(120, 5, 3.0, 0.3, seed)).panel
        for estimate, truth in ((found.consistency, 3.0), (found.absolute, 1.3 / (1 / 3 + 0.09))):
            low, high = estimate.ci or (None, None)
            inside = low is not None and low <= truth and (high is None or truth <= high)
            consistent += inside and truth == 3.0
            absolute += inside and truth != 3.0
    assert consistent >= 88
    assert absolute >= 88


def test_an_offset_costs_absolute_worth_and_no_consistency() -> None:
    judges, people = simulate(300, 6, 4.0)
    straight, crooked = panel_worth(judges, people).panel, panel_worth(judges + 1.0, people).panel
    assert crooked.consistency.value == pytest.approx(straight.consistency.value)
    assert crooked.absolute.value is not None
    assert straight.absolute.value is not None
    assert crooked.absolute.value < straight.absolute.value / 2


def test_a_panel_that_knows_the_truth_is_of_unbounded_worth() -> None:
    rng = np.random.default_rng(1)
    truth = rng.normal(size=(400, 1))
    noise = rng.normal(size=(400, 5))
    # noise that averages to nothing: the people's mean is the truth, and rho2 above 1
    found = panel_worth(truth, truth + noise - noise.mean(axis=1, keepdims=True)).panel
    assert found.consistency.state == found.absolute.state == "unbounded"
    assert found.consistency.value is None
    assert found.consistency.to_dict()["state"] == "unbounded"


def test_a_mean_of_judges_is_worth_more_than_each() -> None:
    rng = np.random.default_rng(2)
    truth = rng.normal(size=(500, 1))
    found = panel_worth(truth + rng.normal(size=(500, 4)), truth + rng.normal(size=(500, 5)), list("abcd"))
    assert [j.name for j in found.judges] == list("abcd")
    assert all(j.consistency.value < found.panel.consistency.value for j in found.judges)  # type: ignore[operator]
    # each judge is one such person, the mean of four is four
    assert np.mean([j.consistency.value for j in found.judges]) == pytest.approx(1.0, abs=0.25)  # type: ignore[arg-type]


@given(st.floats(0.1, 50), st.floats(-100, 100), st.integers(0, 1000))
@settings(max_examples=10, deadline=None)
def test_a_change_of_units_for_all_changes_no_worth(scale: float, shift: float, seed: int) -> None:
    judges, people = simulate(40, 4, 2.0, seed=seed)
    one, two = panel_worth(judges, people).panel, panel_worth(scale * judges + shift, scale * people + shift).panel
    for before, after in ((one.consistency, two.consistency), (one.absolute, two.absolute)):
        assert before.state == after.state
        assert before.value is None or after.value == pytest.approx(before.value, rel=1e-4)


def test_worth_that_cannot_be_had_is_a_named_state() -> None:
    judges, people = simulate(50, 3, 2.0)
    assert "r is not positive" in (panel_worth(-judges, people).panel.consistency.reason or "")
    assert "same score" in (panel_worth(np.ones((50, 1)), people).panel.consistency.reason or "")
    same = np.repeat(people[:, :1], 3, axis=1)
    found = panel_worth(judges, same).panel
    assert found.absolute.reason == "the people do not differ from each other"
    assert found.consistency.reason == "the people do not differ but for their offsets"


def test_two_people_leave_an_interval_over_units_only_and_say_so() -> None:
    judges, people = simulate(60, 2, 2.0)
    assert panel_worth(judges, people).panel.consistency.reason == "the interval is over units only"


def test_units_without_every_person_are_left_out_and_counted() -> None:
    judges, people = simulate(50, 3, 2.0)
    people[:7, 1] = np.nan
    judges[7:9] = np.nan
    found = panel_worth(judges, people)
    assert (found.units, found.left_out) == (41, 9)


@pytest.mark.parametrize(
    ("judges", "people", "message"),
    [
        (np.ones((5, 1)), np.ones((5, 1)), "only one person"),
        (np.ones((5, 1)), np.ones((4, 2)), "expected the same units"),
        (np.full((5, 1), np.nan), np.ones((5, 2)), "0 units were rated by every person"),
        (np.ones((5, 0)), np.ones((5, 2)), "no judges"),
    ],
)
def test_bad_panels_are_one_sentence(judges: np.ndarray, people: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        panel_worth(judges, people)


def write(path: Path) -> None:
    judges, people = simulate(30, 3, 2.0)
    frames = [
        pl.DataFrame({"item": range(30), "rater": name, "score": column})
        for name, column in zip(("m", "a", "b", "c"), np.hstack([judges, people]).T, strict=True)
    ]
    pl.concat(frames).write_csv(path)


def test_a_study_s_raters_are_split_by_name(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    write(path)
    found = split_panel(Study(path, system=None), ["m"])
    assert (found.components.people, len(found.judges)) == (3, 1)
    with pytest.raises(InputError, match="no rater 'gpt'; there are a, b, c, m"):
        split_panel(Study(path, system=None), ["gpt"])
    with pytest.raises(InputError, match="'m' cannot be both"):
        split_panel(Study(path, system=None), ["m"], ["m", "a", "b"])


def test_the_command_prints_both_worths_and_holds_gates(tmp_path: Path) -> None:
    from mojimeter.cli.ratings import app

    path = tmp_path / "ratings.csv"
    write(path)
    runner = CliRunner()
    result = runner.invoke(app, ["panel", str(path), "--judges", "m"])
    assert result.exit_code == 0, result.output
    assert "for the order of units" in result.stdout
    assert max(len(line) for line in result.stdout.splitlines()) <= 120
    document = json.loads(runner.invoke(app, ["panel", str(path), "--judges", "m", "--json"]).stdout)
    assert set(document["panel"]["worth"]) == {"consistency", "absolute"}
    gated = runner.invoke(app, ["panel", str(path), "--judges", "m", "--fail-under", "absolute=1000"])
    assert isinstance(gated.exception, GateError)
