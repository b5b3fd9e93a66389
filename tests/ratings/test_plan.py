"""Plans against published decision studies and exhaustive search; pilot samples against their shares."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from mojimeter.errors import InputError
from mojimeter.ratings.pilot import allocate, draw_pilot
from mojimeter.ratings.plan import Prices, generalizability, plan

# reference/two_emojis.json; the system component is the variance of the observed means, divisor n or n - 1
TWO_EMOJIS = {"item:system": 0.08709, "system:rater": 0.06763, "residual": 0.63641}
MEANS = np.array([3.667, 3.638, 3.579, 3.516, 3.454, 3.443, 3.421, 3.325])


@pytest.mark.parametrize(
    ("divisor", "target", "raters"),
    # reference/two_emojis.json, G_by_object_variance: 27 and 69 with divisor n, 23 and 58 with n - 1
    [(0, 0.8, 27), (0, 0.9, 69), (1, 0.8, 23), (1, 0.9, 58)],
)
def test_raters_needed_are_the_published_ones(divisor: int, target: float, raters: int) -> None:
    components = TWO_EMOJIS | {"system": float(MEANS.var(ddof=divisor))}
    found = plan(components, systems=8, target=target, min_items=290, max_items=290)
    assert found.cheapest is not None
    assert (found.cheapest.raters, found.cheapest.items) == (raters, 290)


def test_g_and_its_ceiling_are_the_published_ones() -> None:
    components = TWO_EMOJIS | {"system": float(MEANS.var())}
    assert round(generalizability(components, items=290, raters=3), 3) == 0.336
    assert round(generalizability(components, items=10**9, raters=3), 3) == 0.346


def test_g_and_phi_are_brennan_s() -> None:
    # Brennan 2001, synthetic data set 3 (persons x items x occasions), G = .64, Phi = .55 for 4 items and 2 occasions
    components = {
        "system": 0.5528,
        "item": 0.4417,
        "rater": 0.0074,
        "item:system": 0.5750,
        "system:rater": 0.1009,
        "item:rater": 0.1565,
        "residual": 0.9352,
    }
    assert round(generalizability(components, items=4, raters=2), 2) == 0.64
    assert round(generalizability(components, items=4, raters=2, absolute=True), 2) == 0.55


def test_without_a_system_component_nothing_is_enough() -> None:
    found = plan(TWO_EMOJIS | {"system": -0.00996}, systems=8)
    assert found.cheapest is None
    assert found.reason is not None
    assert "no number of raters or items" in found.reason


@given(
    st.floats(0.01, 0.5),
    st.floats(0.0, 0.5),
    st.floats(0.0, 0.5),
    st.floats(0.01, 1.0),
    st.floats(0.0, 100.0),
    st.floats(0.0, 10.0),
)
@settings(max_examples=15, deadline=None)
def test_no_design_is_cheaper(s: float, by_item: float, by_rater: float, e: float, rater: float, item: float) -> None:
    components = {"system": s, "item:system": by_item, "system:rater": by_rater, "residual": e}
    prices = Prices(rater, 1.0, item)
    found = plan(components, systems=4, target=0.7, prices=prices, max_raters=20, max_items=40)
    every = [
        prices.of(r, i, 4)
        for r in range(2, 21)
        for i in range(2, 41)
        if generalizability(components, items=i, raters=r) >= 0.7
    ]
    if found.cheapest is None:
        assert every == []
    else:
        assert found.cheapest.cost == pytest.approx(min(every))


@pytest.mark.parametrize("goal", ["power_random", "power_fixed"])
def test_a_plan_for_power_reaches_it_and_one_item_fewer_does_not(goal: str) -> None:
    from mojimeter.ratings.power import power_fixed, power_random_quickly

    components = TWO_EMOJIS | {"system": 0.0119}
    found = plan(components, systems=8, target=0.8, goal=goal, prices=Prices(50, 0.1, 1))  # type: ignore[arg-type]
    chance = power_fixed if goal == "power_fixed" else power_random_quickly
    best = found.cheapest
    assert best is not None
    assert chance(components, systems=8, items=best.items, raters=best.raters) >= 0.8
    assert chance(components, systems=8, items=best.items - 1, raters=best.raters) < 0.8
    assert found.power is not None
    # what is planned for with the formula is confirmed by draws
    shown = found.power.random if goal == "power_random" else found.power.fixed
    assert shown == pytest.approx(0.8, abs=0.02)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": 1.5}, "target is 1.5"),
        ({"goal": "omega"}, "no goal 'omega'"),
        ({"max_raters": 1}, "limits leave no design"),
        ({"goal": "phi"}, "Phi needs the component"),
    ],
)
def test_bad_plans_are_one_sentence(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        plan(TWO_EMOJIS | {"system": 0.01}, systems=8, **options)  # type: ignore[arg-type]


def test_bad_prices_are_one_sentence() -> None:
    with pytest.raises(InputError, match="cost per rater is -1"):
        Prices(-1.0)
    with pytest.raises(InputError, match="all costs are zero"):
        Prices(0.0, 0.0, 0.0)


# --- pilot samples ------------------------------------------------------------------------------------------


@given(st.lists(st.integers(1, 200), min_size=1, max_size=12), st.data())
@settings(max_examples=40, deadline=None)
def test_strata_get_their_shares(sizes: list[int], data: st.DataObject) -> None:
    counts = np.array(sizes)
    n = data.draw(st.integers(1, int(counts.sum())))
    given_ = allocate(counts, n)
    assert given_.sum() == n
    assert (given_ <= counts).all()
    if n >= counts.size:
        assert (given_ >= 1).all()
    # but for the one that each stratum is owed, shares are proportional to within one
    ideal = n * counts / counts.sum()
    assert (given_ - ideal < 1 + 1e-9).all() or n < 2 * counts.size or (given_ == 1).any()


def items(n: int) -> pl.DataFrame:
    return pl.DataFrame({"id": range(n), "lang": ["en"] * (n // 2) + ["bn"] * (n - n // 2)})


def test_a_pilot_sample_is_stratified_and_reproducible() -> None:
    frame = items(100)
    one, two, other = (draw_pilot(frame, ["lang"], 20, seed=s) for s in (1, 1, 2))
    assert one.strata == {"bn": (50, 10), "en": (50, 10)}
    assert one.frame.equals(two.frame)
    assert not one.frame.equals(other.frame)
    assert one.frame["id"].is_sorted()
    assert one.frame["id"].n_unique() == 20


def test_bad_pilots_are_one_sentence() -> None:
    with pytest.raises(InputError, match="no column 'topic'"):
        draw_pilot(items(10), ["topic"], 5)
    with pytest.raises(InputError, match="cannot draw 11 of 10"):
        draw_pilot(items(10), ["lang"], 11)


def run(*arguments: str):  # type: ignore[no-untyped-def]
    from mojimeter.cli.ratings import app

    return CliRunner().invoke(app, ["plan", *arguments])


def test_the_command_draws_a_pilot(tmp_path: Path) -> None:
    items(40).write_csv(tmp_path / "items.csv")
    out = tmp_path / "pilot.csv"
    result = run("--pilot", str(tmp_path / "items.csv"), "--by", "lang", "-n", "10", "--out", str(out), "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["strata"] == {"bn": {"items": 20, "drawn": 5}, "en": {"items": 20, "drawn": 5}}
    assert pl.read_csv(out).height == 10


def test_the_command_plans_from_a_pilot_s_ratings(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [(i, s, r, s + rng.normal()) for i in range(10) for s in range(3) for r in range(4)]
    pl.DataFrame(rows, schema=["item", "system", "rater", "score"], orient="row").write_csv(tmp_path / "r.csv")
    result = run(str(tmp_path / "r.csv"), "--target", "0.9", "--json")
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert document["cheapest"]["value"] >= 0.9
    text = run(str(tmp_path / "r.csv"), "--target", "0.9").stdout
    assert "Cheapest design for G of 0.9 with 3 systems" in text


def test_the_command_plans_from_components_by_hand() -> None:
    by_hand = [f"{name}={value}" for name, value in TWO_EMOJIS.items()]
    result = run("--systems", "8", "--items", "290", "--json", "--component", "system=0.01193", *by_hand)
    assert json.loads(result.stdout)["cheapest"]["raters"] == 27
    assert isinstance(run("--json").exception, InputError)
