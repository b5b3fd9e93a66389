"""Power against published simulation, exact special cases, and what must raise or lower it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from mojimeter.errors import GateError, InputError
from mojimeter.ratings.power import power, power_fixed, power_random_quickly, read_components, read_sizes

# 000_f59049de9f6a9951.txt recomputed (reference/two_emojis.json); the system component is the variance of the means.
TWO_EMOJIS = {"system": 0.0119, "item:system": 0.08709, "system:rater": 0.06763, "residual": 0.63641}


def three_errors(p: float, *draws: int) -> float:
    """Three Monte Carlo errors, and half of the last digit that was printed."""
    return 3 * sum(p * (1 - p) / n for n in draws) ** 0.5 + 0.005


@pytest.mark.parametrize(
    ("raters", "expected"),
    # reference/two_emojis.json, power_quasi_f_if_system_component_0.0119, systems_random (simulated)
    [(3, 0.16), (5, 0.30), (10, 0.58), (15, 0.74), (20, 0.83), (27, 0.90), (40, 0.95)],
)
def test_power_with_systems_random_is_the_simulated_one(raters: int, expected: float) -> None:
    found = power(TWO_EMOJIS, systems=8, items=290, raters=raters, draws=50_000)
    assert found.random == pytest.approx(expected, abs=three_errors(expected, 50_000, 20_000))


@pytest.mark.parametrize(("raters", "expected"), [(3, 0.16), (10, 0.63), (27, 0.99)])
def test_power_with_systems_fixed_is_the_noncentral_f_s(raters: int, expected: float) -> None:
    # the same table, systems_fixed
    found = power(TWO_EMOJIS, systems=8, items=290, raters=raters, draws=1000)
    assert round(found.fixed, 2) == expected


@pytest.mark.parametrize("raters", [3, 27])
def test_without_a_difference_the_test_keeps_its_level(raters: int) -> None:
    # reference/two_emojis.json, type_one_error: quasi-F .050 at 3 and at 27 raters
    found = power(TWO_EMOJIS | {"system": 0.0}, systems=8, items=290, raters=raters, draws=50_000)
    assert found.random == pytest.approx(0.05, abs=three_errors(0.05, 50_000, 20_000))
    assert found.fixed == pytest.approx(0.05)


def test_where_only_raters_disagree_power_is_that_of_a_plain_f() -> None:
    # no item:system and no residual: the quasi-F's denominator is MS_sr;
    # E(MS_s) / E(MS_sr) = 1 + n_r s2_s / s2_sr = 4, F.95(4, 8) = 3.838: P(F(4, 8) > 3.838 / 4) = .479 (R: pf)
    components = {"system": 1.0, "item:system": 0.0, "system:rater": 1.0, "residual": 0.0}
    found = power(components, systems=5, items=100, raters=3, draws=100_000)
    assert found.random == pytest.approx(0.479, abs=0.006)
    assert power_random_quickly(components, systems=5, items=100, raters=3) == pytest.approx(0.479, abs=0.001)


@given(st.integers(3, 30), st.integers(20, 400), st.integers(3, 12))
@settings(max_examples=10, deadline=None)
def test_the_quick_formula_is_near_the_draws(raters: int, items: int, systems: int) -> None:
    found = power(TWO_EMOJIS, systems=systems, items=items, raters=raters, draws=20_000)
    assert power_random_quickly(TWO_EMOJIS, systems=systems, items=items, raters=raters) == pytest.approx(
        found.random, abs=0.03
    )


@given(st.integers(2, 30), st.integers(2, 300), st.floats(0.0, 0.5))
@settings(max_examples=25, deadline=None)
def test_more_raters_items_and_spread_give_more_power(raters: int, items: int, spread: float) -> None:
    def chance(r: int, i: int, s: float) -> float:
        return power_fixed(TWO_EMOJIS | {"system": s}, systems=6, items=i, raters=r)

    here = chance(raters, items, spread)
    assert 0.05 - 1e-9 <= here <= 1.0
    assert chance(raters + 1, items, spread) >= here - 1e-9
    assert chance(raters, items + 10, spread) >= here - 1e-9
    assert chance(raters, items, spread + 0.1) >= here - 1e-9


def test_a_change_of_units_changes_nothing() -> None:
    scaled = {name: 100 * value for name, value in TWO_EMOJIS.items()}
    one = power(TWO_EMOJIS, systems=8, items=50, raters=5, draws=5000)
    two = power(scaled, systems=8, items=50, raters=5, draws=5000)
    assert (one.random, one.fixed) == pytest.approx((two.random, two.fixed))


@pytest.mark.parametrize(
    ("components", "message"),
    [
        ({"system": 1.0}, "no component 'item:system'"),
        (TWO_EMOJIS | {"judge": 1.0}, "no component 'judge'"),
        (TWO_EMOJIS | {"system": float("nan")}, "expected a finite number"),
        (dict.fromkeys(TWO_EMOJIS, 0.0) | {"system": 1.0}, "all zero"),
    ],
)
def test_bad_components_are_one_sentence(components: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        power(components, systems=8, items=10, raters=3)


def test_bad_sizes_are_one_sentence() -> None:
    with pytest.raises(InputError, match="1 raters: at least two"):
        power(TWO_EMOJIS, systems=8, items=10, raters=1)
    with pytest.raises(InputError, match="alpha is 2"):
        power(TWO_EMOJIS, systems=8, items=10, raters=3, alpha=2)
    with pytest.raises(InputError, match="--raters '3;4'"):
        read_sizes("3;4", "--raters")
    with pytest.raises(InputError, match="--component 'system'"):
        read_components(["system"])


def test_components_are_named_in_any_order() -> None:
    assert read_components(["rater:system=1", "system=2"], {"system": 5.0}) == {"system:rater": 1.0, "system": 2.0}


def run(*arguments: str):  # type: ignore[no-untyped-def]
    from mojimeter.cli.ratings import app

    return CliRunner().invoke(app, ["power", *arguments])


BY_HAND = [f"{name}={value}" for name, value in TWO_EMOJIS.items()]


def test_the_command_prints_both_kinds_labelled() -> None:
    result = run("--systems", "8", "--items", "290", "--raters", "3,27", "--draws", "2000", "--component", *BY_HAND)
    assert result.exit_code == 0, result.output
    assert "systems a sample" in result.stdout
    assert "these very systems" in result.stdout
    assert "0.987" in result.stdout


def test_the_command_s_json_and_gate() -> None:
    sizes = ["--systems", "8", "--items", "290", "--raters", "3", "--draws", "2000"]
    result = run(*sizes, "--json", "--component", *BY_HAND)
    (design,) = json.loads(result.stdout)["designs"]
    assert set(design["power"]) == {"systems_random", "systems_fixed"}
    gated = run(*sizes, "--fail-under", "systems_fixed=0.8", "--component", *BY_HAND)
    assert isinstance(gated.exception, GateError)
