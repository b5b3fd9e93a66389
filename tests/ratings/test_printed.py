"""Printed numbers and what they allow: published tables, hand calculation, and tables made to be consistent."""

from __future__ import annotations

import json
import math
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from mojimeter.errors import GateError, InputError
from mojimeter.ratings.printed import PrintedTable, Range, TableCheck, read_printed
from mojimeter.ratings.printed.expressions import evaluate
from mojimeter.ratings.printed.numbers import sum_of_squares
from mojimeter.ratings.rank_correlation import exact_p, spearman_distribution, t_approximation_p

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def printed_range(text: str) -> tuple[float, float]:
    found = read_printed(text, "here")
    return found.lo, found.hi


def findings(document: dict[str, object]) -> list[tuple[str, str]]:
    return [(f.kind, f.what) for f in PrintedTable(document).check().findings]


# --- numbers as printed -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("11.85", 11.845, 11.855),
        ("22.1%", 0.2205, 0.2215),
        (".76", 0.755, 0.765),
        ("-0.109", -0.1095, -0.1085),
        ("−0.109", -0.1095, -0.1085),
        ("<.001", 0.0, 0.001),
        ("> 5", 5.0, math.inf),
        ("1,345.16", 1345.155, 1345.165),
        ("124", 123.5, 124.5),
        ("3.0", 2.95, 3.05),
        ("1.5e3", 1450.0, 1550.0),
        ("= .05", 0.045, 0.055),
    ],
)
def test_a_string_stands_for_every_number_that_rounds_to_it(text: str, low: float, high: float) -> None:
    assert printed_range(text) == pytest.approx((low, high))


@pytest.mark.parametrize("text", ["", "abc", "1.2.3", "12,34", "1e9999", "--1", "0x10", "nan", "inf", "1" * 100])
def test_what_is_no_printed_number_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is not a number"):
        read_printed(text, "here")


def test_a_decimal_without_quotes_is_refused_because_its_digits_are_lost() -> None:
    with pytest.raises(InputError, match="expected a string as printed"):
        read_printed(0.50, "here")


# --- formulas -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "value"),
    # by hand
    [
        ("1 - (1/5)**7", 0.9999872),
        ("2 + 3 * 4 ^ 2", 50.0),
        ("-2 ** 2", -4.0),
        ("2 ** -1", 0.5),
        ("2 ** 3 ** 2", 512.0),
        ("10 - 4 - 3", 3.0),
        ("mean(1, 2, 6) + max(1, 2) - min(1, 2)", 4.0),
        ("var(1, 2, 6)", 7.0),
        ("popvar(1, 2, 6)", 14 / 3),
        ("log(exp(2)) + sqrt(9) + abs(-1) + ceil(6/5)", 8.0),
        ("ceil(3)", 3.0),
        ("sum(x) / 2", 3.0),
    ],
)
def test_formulas_are_worked_out(formula: str, value: float) -> None:
    names = {"x": [Range.exactly(2.0), Range.exactly(4.0)]}
    found = evaluate(formula, names, "here")
    assert (found.lo, found.mid, found.hi) == pytest.approx((value, value, value))


def test_decimals_in_formulas_are_printed_numbers() -> None:
    found = evaluate("294.7 / 2.60", {}, "here")
    assert (found.lo, found.hi) == pytest.approx((294.65 / 2.605, 294.75 / 2.595))


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("1 +", "ends too early"),
        ("(1", "parenthesis"),
        ("1 2", "cannot be read from '2' on"),
        ("__import__('os')", "did not expect"),
        ("open(1)", r"open\(\), which is not known"),
        ("y", "'y', which is not known here; known are x"),
        ("x + 1", "uses a list where one number is needed"),
        ("1 / 0.0", "may be zero"),
        ("log(0)", "may not be positive"),
        ("sqrt(-1)", "may be negative"),
        ("(" * 200 + "1" + ")" * 200, "nested deeper"),
        ("exp(exp(exp(10)))", "no finite value"),
        ("1" + "+1" * 2000, "at most 2000"),
        ("x.y", "did not expect"),
    ],
)
def test_what_is_no_formula_is_refused_in_one_sentence(formula: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluate(formula, {"x": [Range.exactly(1.0), Range.exactly(2.0)]}, "claim")


@given(st.lists(st.floats(0.5, 5.0), min_size=2, max_size=7), st.floats(0.001, 0.2), st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_a_sum_of_squares_of_rounded_values_is_within_its_range(values: list[float], half: float, seed: int) -> None:
    ranges = [Range(v - half, v, v + half) for v in values]
    found = sum_of_squares(ranges)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        inside = np.array(values) + half * rng.choice([-1.0, 0.0, 1.0, rng.uniform(-1, 1)], size=len(values))
        spread = float(((inside - inside.mean()) ** 2).sum())
        assert found.lo - 1e-9 <= spread <= found.hi + 1e-9


@given(st.floats(-50, 50), st.floats(0.1, 50), st.floats(-9, 9), st.floats(-9, 9))
@settings(max_examples=40, deadline=None)
def test_ranges_hold_what_they_stand_for(a: float, b: float, shift_a: float, shift_b: float) -> None:
    one, two = Range(a - abs(shift_a), a, a + abs(shift_a)), Range(b, b + abs(shift_b) / 2, b + abs(shift_b))
    x, y = a + shift_a, b + abs(shift_b)
    for found, exact in ((one + two, x + y), (one - two, x - y), (one * two, x * y), (one / two, x / y)):
        assert found.lo - 1e-6 <= exact <= found.hi + 1e-6
    square = one.power(Range.exactly(2.0))
    assert square.lo - 1e-6 <= x * x <= square.hi + 1e-6


# --- the two emojis paper -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def two_emojis() -> TableCheck:
    return PrintedTable.read(EXAMPLES / "two_emojis.toml").check()


def test_the_two_emojis_paper_has_exactly_its_four_contradictions(two_emojis: TableCheck) -> None:
    # reference/two_emojis.json, "findings"
    found = two_emojis.contradictions
    assert [f.printed for f in found] == ["0.159", "3.1", "124", "99.998%"]
    # slopes .085, -.024, .329 average to .130; 294.7 / 2.60 is 113.3; 1 - .2^7 is 99.99872%, 99.998 is that cut off
    for finding, value in zip(found, (0.130, None, 113.35, 0.9999872), strict=True):
        low, high = finding.possible or (None, None)
        assert value is None or low - 0.01 <= value <= high + 0.01  # type: ignore[operator]
    assert "cut off there, not rounded" in found[3].what


@pytest.mark.parametrize(
    "words",
    # the five notes of reference/two_emojis.json
    [
        "not F over system:rater: printed 58%",
        "printed .341; max(means_system) - min(means_system) gives 0.342 as the digits stand, 0.341 to 0.343",
        "27 is not a minimum: at the upper 95% limit of the system component (0.0389) 8 raters",
        "printed 0.002 is the t approximation; the exact value at n = 8 is 0.00456",
        "printed 70; the variance of the system means gives 69",
    ],
)
def test_the_two_emojis_paper_s_notes_are_found(two_emojis: TableCheck, words: str) -> None:
    assert any(words in f.what for f in two_emojis.findings if f.kind == "note")


@pytest.mark.parametrize(
    ("name", "value", "digits"),
    # reference/two_emojis.json, "recomputed"
    [
        ("ms_residual", 0.63641, 5),
        ("ms_item_rater", 4.21641, 5),
        ("ms_item", 7.91902, 5),
        ("ms_item_system", 0.89769, 5),
        ("ss_total", 12173.39, 2),
        ("component_system", -0.00996, 5),
        ("alpha_interval", 0.0161, 4),
    ],
)
def test_what_the_two_emojis_paper_does_not_print_is_solved_for(
    two_emojis: TableCheck, name: str, value: float, digits: int
) -> None:
    found = two_emojis.solved[name]
    assert round(found.mid, digits) == value
    assert found.lo < value < found.hi


def test_alpha_s_range_is_within_the_published_one(two_emojis: TableCheck) -> None:
    alpha = two_emojis.solved["alpha_interval"]
    assert 0.0137 <= alpha.lo <= alpha.hi <= 0.0186


def test_the_consistent_example_has_no_findings() -> None:
    assert PrintedTable.read(EXAMPLES / "consistent.toml").check().findings == ()


# --- one thing wrong at a time ----------------------------------------------------------------------------

DESIGN = {"item": 4, "system": 3, "rater": 2}


def test_wrong_degrees_of_freedom_are_contradictions() -> None:
    found = findings({"design": DESIGN, "df": {"system": 2, "system:rater": 3, "residual": 6, "total": 24}})
    assert [kind for kind, _ in found] == ["contradiction"] * 2
    assert "df of system:rater: printed 3, but this design has 2" in found[0][1]
    assert "df of total: printed 24, but this design has 23" in found[1][1]
    f = [{"effect": "system", "error": "residual", "value": "3.0", "df": [2, 12]}]
    assert "denominator df of F(system) over residual: printed 12" in findings({"design": DESIGN, "f": f})[0][1]


def test_an_f_ratio_that_no_rounding_gives_is_a_contradiction_with_its_range() -> None:
    table = PrintedTable(
        {
            "design": DESIGN,
            "mean_squares": {"system": "9.00", "residual": "0.50"},
            "f": [{"effect": "system", "error": "residual", "value": "18.4"}],
        }
    )
    (finding,) = table.check().findings
    assert finding.kind == "contradiction"
    assert finding.possible == pytest.approx((8.995 / 0.505, 9.005 / 0.495), rel=1e-6)


def test_shares_that_add_to_more_than_everything_are_a_contradiction() -> None:
    shares = {"item": "40.0%", "system": "35.0%", "rater": "30.0%"}
    found = findings({"design": DESIGN, "share_of_ss": shares})
    assert [kind for kind, _ in found] == ["contradiction"]
    assert "share of rater" in found[0][1]


def test_shares_of_everything_must_add_to_everything() -> None:
    sources = ("item", "system", "rater", "item:system", "item:rater", "system:rater", "residual")
    shares = dict.fromkeys(sources, "14.0%")
    assert [kind for kind, _ in findings({"design": DESIGN, "share_of_ss": shares})] == ["contradiction"]
    shares["residual"] = "16.0%"
    assert findings({"design": DESIGN, "share_of_ss": shares}) == []


def test_a_mean_that_no_whole_scores_have_is_a_contradiction() -> None:
    # 8 whole scores: means are multiples of .125 (Brown & Heathers 2017)
    means = {"of": "group", "n": 8, "values": ["3.25", "3.30"], "integer": True}
    (found,) = PrintedTable({"means": means}).check().findings
    assert found.printed == "3.30"
    assert found.possible == (3.25, 3.375)
    assert PrintedTable({"means": means | {"integer": False}}).check().findings == ()


def test_means_must_give_their_mean_square() -> None:
    # 8 ratings behind each of three means: 8 (1 + 0 + 1) / 2 = 8
    means = {"of": "system", "n": 8, "values": ["1.00", "2.00", "3.00"]}
    assert findings({"design": DESIGN, "mean_squares": {"system": "8.00"}, "means": means}) == []
    found = findings({"design": DESIGN, "mean_squares": {"system": "8.50"}, "means": means})
    assert [kind for kind, _ in found] == ["contradiction"]


def test_means_of_two_facets_must_have_one_grand_mean() -> None:
    means = [
        {"of": "system", "n": 8, "values": ["1.00", "2.00", "3.00"]},
        {"of": "rater", "n": 12, "values": ["2.00", "2.20"]},
    ]
    found = findings({"design": DESIGN, "means": means})
    assert any("both are the grand mean" in what for _, what in found)


@pytest.mark.parametrize(
    ("test", "kind"),
    [
        # t = 2.50 on 10 df: p = .0314 (tables: t_.975 = 2.228, t_.99 = 2.764)
        ({"test": "t", "value": "2.50", "df": [10], "p": "0.031"}, None),
        ({"test": "t", "value": "2.50", "df": [10], "p": "0.016"}, "note"),
        ({"test": "t", "value": "2.50", "df": [10], "p": "0.20"}, "contradiction"),
        # F(7, 14) = .59: p = .755; critical values of F tables: F_.95(2, 6) = 5.14
        ({"test": "f", "value": "5.14", "df": [2, 6], "p": "0.05"}, None),
        ({"test": "f", "value": "5.14", "df": [2, 6], "p": "<0.01"}, "contradiction"),
        ({"test": "chi2", "value": "3.84", "df": [1], "p": "0.050"}, None),
        ({"test": "z", "value": "1.96", "p": "0.05"}, None),
        ({"test": "pearson", "value": "0.50", "n": 30, "p": "0.005"}, None),
        ({"test": "spearman", "value": "0.905", "n": 8, "p": "0.0046"}, None),
        ({"test": "spearman", "value": "0.905", "n": 8, "p": "0.002"}, "note"),
        ({"test": "spearman", "value": "0.905", "n": 8, "p": "0.04"}, "contradiction"),
        ({"test": "spearman", "value": "0.911", "n": 8, "p": "0.004"}, "note"),
        ({"test": "pearson", "value": "1.50", "n": 8, "p": "0.01"}, "contradiction"),
        ({"test": "f", "value": "> 3", "df": [1, 2], "p": "<.05"}, None),
    ],
)
def test_p_values_are_held_against_their_statistics(test: dict[str, object], kind: str | None) -> None:
    assert [k for k, _ in findings({"p": test})] == ([] if kind is None else [kind])


def test_what_the_printed_numbers_do_not_determine_is_left_open() -> None:
    table = PrintedTable(
        {"design": DESIGN, "mean_squares": {"system": "4.0"}, "raters_needed": [{"target": "0.8", "value": 3}]}
    )
    check = table.check()
    assert check.contradictions == ()
    document = check.to_dict()["solved"]["ms_residual"]
    assert document == {"value": None, "possible": [0.0, None]}


def test_claims_can_be_bounds() -> None:
    claims = [
        {"name": "a", "value": "0.79", "at_least": "0.80"},
        {"name": "b", "value": "0.80", "at_least": "0.80"},
        {"name": "c", "value": "0.82", "at_most": "0.80"},
        {"name": "d", "value": "0.81", "between": ["0.7", "0.9"]},
    ]
    found = findings({"claim": claims})
    assert [what[0] for kind, what in found if kind == "contradiction"] == ["c"]
    # .79 is .785 to .795 and .80 from .795 on: they meet in one point
    assert [what[0] for kind, what in found if kind == "note"] == ["a"]


@given(st.integers(0, 10_000), st.integers(0, 3))
@settings(max_examples=4, deadline=None)
def test_a_table_that_was_rounded_honestly_never_contradicts_itself(seed: int, decimals: int) -> None:
    rng = np.random.default_rng(seed)
    names = ("item", "system", "rater", "item:system", "item:rater", "system:rater", "residual")
    df = dict(zip(names, (3, 2, 1, 6, 3, 2, 6), strict=True))
    ms = dict(zip(names, rng.uniform(1, 60, size=7).tolist(), strict=True))
    total = sum(ms[n] * df[n] for n in names)
    document = {
        "design": DESIGN,
        "mean_squares": {n: f"{ms[n]:.{decimals}f}" for n in names[:3]},
        "share_of_ss": {n: f"{100 * ms[n] * df[n] / total:.{decimals}f}%" for n in names},
        "f": [{"effect": "system", "error": e, "value": f"{ms['system'] / ms[e]:.{decimals}f}"} for e in names[3:]],
    }
    check = PrintedTable(document).check()
    assert check.contradictions == ()
    for name in names:
        found = check.solved["ms_" + name.replace(":", "_")]
        assert found.lo - 1e-6 * ms[name] <= ms[name] <= found.hi + 1e-6 * ms[name]


# --- rank correlations ----------------------------------------------------------------------------------------


def test_spearman_s_exact_p_is_the_published_one() -> None:
    # reference/two_emojis.json: .0046 at rho .905, n = 8; the paper prints .002, which is the t approximation
    rho, share = spearman_distribution(8)
    nearest = rho[np.argmin(abs(rho - 0.905))]
    assert round(float(share[abs(rho) >= nearest - 1e-9].sum()), 4) == 0.0046
    assert round(t_approximation_p(0.905, 8) or 0.0, 3) == 0.002


def test_exact_p_counts_orders() -> None:
    four = np.arange(4.0)
    # of 24 orders of four, one agrees perfectly and one is its reverse
    assert exact_p(four, four) == pytest.approx(2 / 24)
    assert exact_p(four, np.array([1.0, 1.0, 1.0, 1.0])) is None
    assert exact_p(np.arange(10.0), np.arange(10.0)) is None


def test_exact_p_counts_orders_one_by_one_with_ties() -> None:
    x, y = np.array([1.0, 2.5, 2.5, 4, 5, 6]), np.array([2.0, 1, 3.5, 3.5, 6, 5])
    observed = abs(np.corrcoef(x, y)[0, 1])
    reached = [abs(np.corrcoef(x, order)[0, 1]) >= observed - 1e-12 for order in permutations(y)]
    assert exact_p(x, y) == pytest.approx(sum(reached) / 720)


# --- the file and the command -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"desing": {}}, "no section 'desing'"),
        ({"mean_squares": {"system": "1.0"}}, r"\[mean_squares\] needs a \[design\]"),
        ({"design": {"item": 4}}, "names 1 facets; expected two to four"),
        ({"design": {"item": 1, "system": 3}}, "item: 1; expected a whole number of levels"),
        ({"design": DESIGN, "mean_squares": {"judge": "1.0"}}, "no effect 'judge' in this design"),
        ({"design": DESIGN, "f": [{"effect": "system", "value": "1"}]}, r"\[\[f\]\] 1: no 'error'"),
        ({"claim": [{"name": "a", "value": "1"}]}, "expected one of equals"),
        ({"claim": [{"name": "a", "value": "1", "eqals": "1"}]}, "no key 'eqals'"),
        ({"quantities": {"a": 0.5}}, "expected a string as printed"),
        ({"p": {"test": "wilcoxon", "value": "1", "p": "0.1"}}, "no test 'wilcoxon'"),
        ({"means": {"of": "x", "n": 0, "values": ["1", "2"]}}, "n = 0; expected a whole number of 1 or more"),
        ({"design": DESIGN, "mean_squares": {"system": "1e300"}}, "mean square of system: 1e300; expected at most"),
        ({"design": dict.fromkeys("abc", 10**9)}, "has 1e\\+27 cells"),
        ({"claim": [{"name": "a", "value": "1", "equals": "10**1000"}]}, "has no finite value"),
        ({"claim": [{"name": "a", "value": "1", "between": ["2", "1"]}]}, "expected the lower end first"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(document: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        PrintedTable(document).check()


def test_a_file_that_is_not_toml_names_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    path.write_text("[design]\nitem = = 3\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"table\.toml: not readable as TOML: .*line 2"):
        PrintedTable.read(path)
    with pytest.raises(InputError, match="no such file"):
        PrintedTable.read(tmp_path / "none.toml")


def run(*arguments: str):  # type: ignore[no-untyped-def]
    from mojimeter.cli.ratings import app

    return CliRunner().invoke(app, ["check", *arguments])


def test_the_command_prints_findings_and_solved_values() -> None:
    result = run(str(EXAMPLES / "two_emojis.toml"))
    assert result.exit_code == 0
    assert "4 contradictions" in result.stdout
    assert "4.21641" in result.stdout
    assert max(len(line) for line in result.stdout.splitlines()) <= 100


def test_the_command_s_json_is_the_contract_s() -> None:
    result = run(str(EXAMPLES / "two_emojis.toml"), "--json")
    document = json.loads(result.stdout)
    assert {"findings", "solved"} <= set(document)
    assert set(document["findings"][0]) == {"kind", "what", "printed", "possible"}
    assert document["solved"]["ms_residual"]["value"] == pytest.approx(0.63641, abs=5e-6)


def test_strict_is_a_gate() -> None:
    assert isinstance(run(str(EXAMPLES / "two_emojis.toml"), "--strict").exception, GateError)
    assert run(str(EXAMPLES / "consistent.toml"), "--strict").exit_code == 0
