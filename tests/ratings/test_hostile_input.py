"""What a stranger can put into a table of ratings or a printed table: one sentence, or an answer that is right."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from mojimeter.cli.app import main
from mojimeter.errors import InputError
from mojimeter.ratings import PrintedTable, Study
from mojimeter.ratings.panel import panel_worth
from mojimeter.ratings.printed.screen import describe
from mojimeter.ratings.summary import summarise

ITEMS, SYSTEMS, RATERS = 10, 3, 3


def table(score: object) -> dict[str, list[object]]:
    """A complete table; the score is a function of item, system and rater."""
    cells = [(i, s, r) for i in range(ITEMS) for s in range(SYSTEMS) for r in range(RATERS)]
    return {
        "item": [f"i{i}" for i, _, _ in cells],
        "system": [f"s{s}" for _, s, _ in cells],
        "rater": [f"r{r}" for _, _, r in cells],
        "score": [score(*cell) for cell in cells],  # type: ignore[operator]
    }


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["mojimeter", "ratings", *arguments])
    try:
        main()
    except SystemExit as left:
        return int(left.code or 0)
    return 0


@pytest.mark.parametrize("offset", [0.0, 1 / 3, 1e6 + 0.1])
def test_an_error_of_nothing_but_rounding_is_no_error(offset: float) -> None:
    study = Study(table(lambda i, s, r: 0.1 * s + 0.7 * r + offset))
    test = study.test().chosen
    assert (test.f, test.state, test.p) == (None, "unbounded", 0.0)
    document = summarise(study)
    assert document["verdict"] == "separated"
    json.dumps(document, allow_nan=False)
    # by hand: nothing varies but systems and raters
    assert {row["source"] for row in document["anova"] if row["ss"] > 0} == {"system", "rater"}


def test_a_small_true_error_beside_a_large_offset_is_kept() -> None:
    rng = np.random.default_rng(1)
    noise = rng.integers(-3, 4, (ITEMS, SYSTEMS, RATERS)).astype(float)
    plain = Study(table(lambda i, s, r: noise[i, s, r])).anova().ms["residual"]
    shifted = Study(table(lambda i, s, r: noise[i, s, r] + 1e12)).anova().ms["residual"]
    assert shifted == pytest.approx(plain, rel=1e-9)


def test_scores_whose_squares_overflow_or_vanish_are_refused() -> None:
    with pytest.raises(InputError, match=r"row 1, column 'score': 1e\+200 is too large; expected 1e\+100 or less"):
        Study(table(lambda i, s, r: 1e200 * (1 + i + s * r)))
    with pytest.raises(InputError, match=r"differ by 1\.3e-199 at most, too little to compute with"):
        Study(table(lambda i, s, r: 1e-200 * (i + s * r))).components()


def test_one_level_of_a_facet_is_refused_with_the_name_of_the_table() -> None:
    data = {"item": ["a", "a"], "system": ["x", "y"], "rater": ["r", "r"], "score": [1, 2]}
    with pytest.raises(InputError, match=r"^pilot: only one item: "):
        Study(data, origin="pilot").components()


def test_a_panel_on_one_item_has_no_interval() -> None:
    people = np.array([[1.0, 2.0], [3.0, 2.0], [4.0, 5.0]])
    found = panel_worth(np.array([[1.0], [2.0], [5.0]]), people, ["j"], cluster=np.zeros(3, dtype=np.int64))
    assert found.panel.absolute.ci is None


def test_names_cannot_steer_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "r.csv"
    path.write_text("item,system,rater,score\n1,a,x\x1b[31m,1\n1,b,x\x1b[31m,2\n2,a,y,3\n", encoding="utf-8")
    assert run(monkeypatch, "panel", str(path), "--judges", "nobody") == 2
    assert "\x1b" not in capsys.readouterr().err


def test_options_are_mirrored_by_variables_of_their_own_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.toml"
    path.write_text('[[claim]]\nname = "x"\nvalue = "3"\nequals = "1 + 2"\n', encoding="utf-8")
    monkeypatch.setenv("MOJIMETER_RATINGS_CHECK_JSON", "1")
    assert run(monkeypatch, "check", str(path)) == 0
    assert json.loads(capsys.readouterr().out)["findings"] == []


@pytest.mark.parametrize("command", ["study", "plan", "length", "splits", "panel", "check", "power", "sheet"])
def test_no_variable_s_name_ends_in_an_underscore(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    run(monkeypatch, command, "--help")
    out = capsys.readouterr().out
    assert f"MOJIMETER_RATINGS_{command.upper()}_JSON" in out
    assert "_]" not in out
    assert "_;" not in out


def test_a_printed_table_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "paper.toml"
    path.write_text("", encoding="utf-8")
    with pytest.raises(InputError, match=r"paper\.toml: nothing to check; expected numbers as printed"):
        PrintedTable.read(path).check()
    path.write_text('[design]\nitem = 4\nrater = 3\n[mean_squares]\nitem = "1e400"\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"paper\.toml: \[mean_squares\] item: '1e400'; expected an exponent"):
        PrintedTable.read(path).check()
    path.write_text('[design]\nitem = 4\nrater = 3\n[mean_squares]\nitem = "many"\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"paper\.toml: \[mean_squares\] item: 'many' is not a number"):
        PrintedTable.read(path).check()


def test_what_a_printed_table_leaves_open_has_no_value() -> None:
    found = PrintedTable({"design": {"item": 4, "system": 2, "rater": 3}, "claim": []}).check()
    solved = found.to_dict()["solved"]
    assert solved["share_of_ss_item"] == {"value": None, "possible": [0.0, 1.0]}
    assert solved["alpha_interval"]["value"] is None
    assert "50.0%" not in describe(found)
