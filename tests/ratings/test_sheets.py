"""Rating sheets: blinded, balanced, and read back without loss, whatever people do to them."""

from __future__ import annotations

import csv
import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from mojimeter.errors import GateError, InputError
from mojimeter.ratings.sheets import Cell, Sheets, collect_sheets, make_sheets, read_scale, read_source, write_sheets


def cells(items: int, systems: int) -> list[Cell]:
    return [
        Cell(f"i{i}", f"secret-model-{s}", f"post {i}", f"reply {i}.{s}") for i in range(items) for s in range(systems)
    ]


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def rewrite(path: Path, table: list[dict[str, str]], delimiter: str = ",") -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, ["cell", "post", "reply", "score"], delimiter=delimiter)
        out.writeheader()
        out.writerows(table)


def fill(folder: Path, raters: int) -> None:
    """Everybody gives the reply's last digit as the score."""
    for k in range(1, raters + 1):
        path = folder / f"rater_{k}.csv"
        rewrite(path, [row | {"score": row["reply"][-1]} for row in rows(path)])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_sheets(make_sheets(cells(4, 3), 2, scale=(0, 5)), tmp_path)
    return tmp_path


# --- blinding -------------------------------------------------------------------------------------------------


def test_no_sheet_names_a_system_or_an_item_and_only_the_key_does(folder: Path) -> None:
    for path in folder.glob("rater_*.csv"):
        text = path.read_text(encoding="utf-8-sig")
        assert "secret-model" not in text
        assert not any(f"i{k}," in text for k in range(4))
    assert "secret-model-1" in (folder / "key.json").read_text(encoding="utf-8")
    assert (folder / "key.json").stat().st_mode & 0o077 == 0


def test_names_of_cells_are_opaque_and_differ_between_raters_and_runs(folder: Path, tmp_path: Path) -> None:
    first, second = ({r["cell"] for r in rows(folder / f"rater_{k}.csv")} for k in (1, 2))
    assert len(first) == 12
    assert not first & second
    write_sheets(make_sheets(cells(4, 3), 2), tmp_path / "again")
    assert not first & {r["cell"] for r in rows(tmp_path / "again" / "rater_1.csv")}
    # a spreadsheet must not take a name for a number such as 1e10
    assert all(name[0] == "c" for name in first | second)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@cmd", "\t=1", "  =HYPERLINK(1)", "|x"])
def test_texts_are_no_formulas(tmp_path: Path, text: str) -> None:
    write_sheets(make_sheets([Cell("a", "x", text, text), Cell("b", "x", "ok", "ok 👍🏽")], 1), tmp_path)
    found = {r["reply"] for r in rows(tmp_path / "rater_1.csv")}
    assert found == {"'" + text, "ok 👍🏽"}


def test_sheets_are_never_overwritten(folder: Path) -> None:
    with pytest.raises(InputError, match=r"key\.json is there already"):
        write_sheets(make_sheets(cells(4, 3), 2), folder)


# --- order and design -----------------------------------------------------------------------------------------


def systems_by_round(sheets: Sheets, rater: int, items: int) -> list[Counter[str]]:
    order = sheets.orders[rater]
    return [Counter(sheets.cells[c].system for c in order[k : k + items]) for k in range(0, len(order), items)]


@given(st.integers(1, 12), st.integers(1, 5), st.integers(1, 4), st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_a_crossed_design_gives_everybody_everything_balanced_for_position(
    items: int, systems: int, raters: int, seed: int
) -> None:
    sheets = make_sheets(cells(items, systems), raters, seed=seed)
    for rater in range(raters):
        assert sorted(sheets.orders[rater]) == list(range(items * systems))
        for counts in systems_by_round(sheets, rater, items):
            padded = [counts.get(f"secret-model-{s}", 0) for s in range(systems)]
            assert max(padded) - min(padded) <= 1
        shown = [sheets.cells[c].item for c in sheets.orders[rater]]
        if items > 2:
            assert all(a != b for a, b in pairwise(shown))


def test_the_same_seed_gives_the_same_order_and_raters_differ() -> None:
    one, two, other = (make_sheets(cells(10, 3), 3, seed=s) for s in (1, 1, 2))
    assert one.orders == two.orders != other.orders
    assert len(set(one.orders)) == 3


@given(st.integers(2, 30), st.integers(1, 4), st.integers(2, 8), st.data())
@settings(max_examples=40, deadline=None)
def test_a_balanced_incomplete_design_shares_the_work_evenly(
    items: int, systems: int, raters: int, data: st.DataObject
) -> None:
    each = data.draw(st.integers(1, items))
    sheets = make_sheets(cells(items, systems), raters, design="bib", per_rater=each * systems)
    assert {len(set(order)) for order in sheets.orders} == {each * systems}
    per_item = Counter(sheets.cells[c].item for order in sheets.orders for c in order)
    counts = [per_item.get(f"i{k}", 0) / systems for k in range(items)]
    assert max(counts) - min(counts) <= 1
    assert sum(counts) == raters * each


def test_pairs_of_raters_share_about_as_many_cells() -> None:
    # 7 items, 7 raters, 3 items each: a projective plane exists, where every pair shares one item of 2 systems
    balance = make_sheets(cells(70, 2), 7, design="bib", per_rater=60).balance()
    assert balance["ratings_per_cell"] == [3, 3]
    low, high = balance["cells_shared_by_pairs"]
    # 70 items with 3 raters each are 210 shared items over 21 pairs: 10 items, 20 cells
    assert 14 <= low <= 20 <= high <= 26


def test_systems_without_an_output_are_simply_not_asked_for() -> None:
    some = [c for k, c in enumerate(cells(6, 3)) if k % 5]
    sheets = make_sheets(some, 2)
    assert all(sorted(order) == list(range(len(some))) for order in sheets.orders)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"raters": 0}, "0 raters"),
        ({"raters": ["a", "A"]}, "two raters have one name"),
        ({"raters": ["../x"]}, "cannot be a file's name"),
        ({"raters": ["key"]}, "cannot be a file's name"),
        ({"raters": 2, "design": "bib"}, "needs the number of ratings per rater"),
        ({"raters": 2, "design": "bib", "per_rater": 4}, "a multiple of 3 up to 12, such as 6"),
        ({"raters": 2, "per_rater": 5}, "use the design bib"),
        ({"raters": 2, "design": "latin"}, "no design 'latin'"),
        ({"raters": 2, "scale": (5, 1)}, "scale runs from 5 to 1"),
    ],
)
def test_numbers_that_do_not_go_together_are_one_sentence(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_sheets(cells(4, 3), **options)  # type: ignore[arg-type]


# --- reading back -----------------------------------------------------------------------------------------------


def test_filled_sheets_come_back_as_the_long_table_without_loss(folder: Path) -> None:
    fill(folder, 2)
    found = collect_sheets(folder)
    assert (found.complete, found.problems) == (1.0, [])
    assert found.ratings.columns == ["item", "system", "rater", "score", "position"]
    for item, system, _, score, _ in found.ratings.iter_rows():
        assert score == float(system[-1])
        assert item in {"i0", "i1", "i2", "i3"}
    assert found.ratings.group_by("item", "system").len()["len"].to_list() == [2] * 12


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_what_spreadsheets_do_changes_nothing(folder: Path, delimiter: str) -> None:
    fill(folder, 2)
    before = collect_sheets(folder).ratings.sort("item", "system", "rater")
    path = folder / "rater_1.csv"
    table = sorted(rows(path), key=lambda r: r["cell"])
    rewrite(path, table, delimiter)
    path.write_text("\ufeff" + path.read_text(encoding="utf-8") + "\n" + delimiter * 3 + "\n", encoding="utf-8")
    assert collect_sheets(folder).ratings.sort("item", "system", "rater").equals(before)


def test_a_decimal_comma_is_a_decimal_point(folder: Path) -> None:
    fill(folder, 2)
    path = folder / "rater_1.csv"
    table = rows(path)
    table[0]["score"] = "2,5"
    rewrite(path, table)
    found = collect_sheets(folder)
    assert found.problems == []
    assert 2.5 in found.ratings["score"].to_list()


def test_every_score_is_in_the_table_or_among_the_problems(folder: Path) -> None:
    fill(folder, 2)
    path = folder / "rater_1.csv"
    table = rows(path)
    table[0]["score"] = ""  # missing
    table[1]["score"] = "good"  # not a number
    table[2]["score"] = "9"  # out of scale
    table.append(table[3] | {"score": "4.5"})  # double, another score
    table.append(table[4])  # double, the same
    table.append(table[5] | {"cell": "cffff", "score": "4.25"})  # unknown
    table.append(rows(folder / "rater_2.csv")[0] | {"score": "3.75"})  # from the other sheet
    del table[6]  # gone
    rewrite(path, table)
    found = collect_sheets(folder)
    counts = found.to_dict()["problems"]
    assert counts == {
        "missing": 2,
        "not_a_number": 1,
        "out_of_scale": 1,
        "double": 2,
        "unknown_cell": 1,
        "wrong_sheet": 1,
        "no_sheet": 0,
    }
    # 24 asked for; lost: two missing, one word, one out of scale, one that says two things
    assert found.ratings.height == 19
    told = " ".join(p.what for p in found.problems)
    for text in ("'good'", "9 is not on the scale", "4.5 in row", "'4.25'", "'3.75'", "rater_2's sheet", "gone"):
        assert text in told


def test_a_sheet_that_did_not_come_back_is_counted(folder: Path) -> None:
    fill(folder, 2)
    (folder / "rater_2.csv").unlink()
    found = collect_sheets(folder)
    assert (found.ratings.height, found.expected) == (12, 24)
    assert found.problems[0].kind == "no_sheet"


def test_bad_folders_are_one_sentence(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"key\.json: no such file"):
        collect_sheets(tmp_path / "nowhere")
    (folder / "rater_1.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(InputError, match="no columns cell and score; it has a, b"):
        collect_sheets(folder)
    (folder / "rater_1.csv").write_bytes(b"cell,score\n\xff,1\n")
    with pytest.raises(InputError, match="not UTF-8"):
        collect_sheets(folder)
    (folder / "key.json").write_text('{"secret": 1}', encoding="utf-8")
    with pytest.raises(InputError, match="not a key that mojimeter wrote"):
        collect_sheets(folder)


@pytest.mark.parametrize(("text", "ends"), [("1-5", (1, 5)), ("0 to 100", (0, 100)), ("-2..2", (-2, 2)), (None, None)])
def test_scales_are_read(text: str | None, ends: tuple[float, float] | None) -> None:
    assert read_scale(text) == ends


@pytest.mark.parametrize("text", ["5-1", "five", "1", "1-5-9"])
def test_bad_scales_are_one_sentence(text: str) -> None:
    with pytest.raises(InputError, match="expected the lowest and highest score"):
        read_scale(text)


# --- sources and the command --------------------------------------------------------------------------------


def write_run(folder: Path) -> None:
    folder.mkdir()
    posts = [{"id": "p1", "text": "see you 👋"}, {"id": "p2", "text": "good luck 🍀"}]
    outputs = [
        {"id": "p1", "system": "a", "reply": "👋🙂"},
        {"id": "p1", "system": "b", "reply": "🙂"},
        {"id": "p2", "system": "a", "reply": "🍀"},
        {"id": "p2", "system": "b", "reply": None},
    ]
    for name, table in (("posts", posts), ("outputs", outputs)):
        text = "\n".join(json.dumps(row, ensure_ascii=False) for row in table)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")


def test_a_run_folder_is_read_with_posts_without_their_emoji(tmp_path: Path) -> None:
    write_run(tmp_path / "run")
    found = read_source(tmp_path / "run")
    assert {(c.item, c.system, c.post.strip(), c.reply) for c in found.cells} == {
        ("p1", "a", "see you", "👋🙂"),
        ("p1", "b", "see you", "🙂"),
        ("p2", "a", "good luck", "🍀"),
    }
    assert found.without_reply == 1


def test_a_table_is_read_and_repeats_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "outputs.csv"
    pl.DataFrame({"item": [1, 1, 2], "system": list("aab"), "text": list("xyz")}).write_csv(path)
    found = read_source(path)
    assert [(c.item, c.system, c.reply) for c in found.cells] == [("1", "a", "x"), ("2", "b", "z")]
    assert found.repeats == 1
    with pytest.raises(InputError, match="no posts table"):
        read_source(tmp_path)


def test_the_command_goes_there_and_back(tmp_path: Path) -> None:
    from mojimeter.cli.ratings import app

    write_run(tmp_path / "run")
    sheets, table = str(tmp_path / "sheets"), str(tmp_path / "ratings.csv")
    runner = CliRunner()
    made = runner.invoke(app, ["sheet", str(tmp_path / "run"), "--raters", "2", "--scale", "1-5", "--out", sheets])
    assert made.exit_code == 0, made.output
    assert "Left off the sheets: 1 without a reply, 0 repeated." in made.stdout
    for k in (1, 2):
        path = tmp_path / "sheets" / f"rater_{k}.csv"
        rewrite(path, [row | {"score": "3"} for row in rows(path)[: k + 1]])
    back = runner.invoke(app, ["sheet", "--collect", sheets, "--out", table, "--json"])
    assert back.exit_code == 0, back.output
    assert json.loads(back.stdout)["problems"]["missing"] == 1
    assert pl.read_csv(table).height == 5
    gated = runner.invoke(app, ["sheet", "--collect", sheets, "--out", table, "--fail-under", "complete=1"])
    assert isinstance(gated.exception, GateError)
