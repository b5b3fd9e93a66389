"""Export: the table that ratings study reads, and a count of everything that is not in it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from mojimeter.collect.export import Exported, export_ratings, export_to_tool, write_export
from mojimeter.collect.material import Cell, Item, Material
from mojimeter.collect.store import CellPage, Store
from mojimeter.datasets.pairs import read_answers
from mojimeter.datasets.tables import read_table
from mojimeter.errors import InputError
from mojimeter.ratings.summary import open_study
from tests.collect.simulated import rate_all
from tests.collect.small import EMOJI, SYSTEMS, SmallStudy, small_study

# small_study has, of each rater: 1 training item, 6 main cells, 1 attention item, 2 repeats
SETTINGS: dict[str, Any] = {"attention": 1, "repeats": 0.4}
GOOD = {"colour": True, "boxes": False, "font": "bundled"}


def by_emoji(rater: str, page: CellPage) -> str:
    """A value that depends on what is shown only, so that repeats agree; attention items get the 5 they ask for."""
    text = "".join(part for part, _ in page.payload["fields"]["text"])
    return str(EMOJI.index(text[-1:]) + 1) if text[-1:] in EMOJI else "5"


@pytest.fixture
def study(tmp_path: Path) -> SmallStudy:
    return small_study(tmp_path / "study", raters=3, **SETTINGS)


@pytest.fixture
def store(study: SmallStudy) -> Store:
    return study.store()


def test_the_table_has_every_main_rating_once_with_its_item_system_and_score(study: SmallStudy, store: Store) -> None:
    rate_all(study, store, by_emoji)
    found = export_ratings(store)
    assert found.frame.columns[:4] == ["item", "system", "rater", "score"]
    assert found.frame.height == 18
    # the material gives item k and system s the emoji (k + s) % 4; the heart has two code points, so it scores 5
    for item, system, score in found.frame.select("item", "system", "score").iter_rows():
        place = (int(item[-1]) + SYSTEMS.index(system)) % 4
        assert score == (5 if place == 3 else place + 1)
    assert found.frame.select("item", "system", "rater").n_unique() == 18
    assert set(found.frame["part"]) == {"main"}
    assert found.left_out == {"training": 3, "attention": 3, "repeat": 6}
    assert (found.not_given, found.changed, found.raters_out) == (0, 0, {})
    assert found.attention == {"r01": (1, 1), "r02": (1, 1), "r03": (1, 1)}


def test_position_duration_and_times_are_those_of_the_rating_that_counts(study: SmallStudy, store: Store) -> None:
    rate_all(study, store, by_emoji, ["r01"], duration_ms=1234)
    first, second = export_ratings(store).frame["position"].to_list()[:2]
    cell = store.page("r01", first).cell_id
    store.rate("r01", key="again-01", position=first, cell_id=cell, value="1", shown_at=0.0, duration_ms=77)
    found = export_ratings(store)
    row = found.frame.filter(pl.col("position") == first).row(0, named=True)
    assert (row["duration_ms"], row["times"], row["score"]) == (77, 2, 1)
    assert row["shown_at"] == "1970-01-01T00:00:00.000+00:00"
    assert found.changed == 1
    other = found.frame.filter(pl.col("position") == second).row(0, named=True)
    # 1,800,000,000 seconds are 2027-01-15 08:00 UTC
    assert (other["duration_ms"], other["times"]) == (1234, 1)
    assert other["shown_at"] == f"2027-01-15T08:00:{second:02d}.000+00:00"


def test_who_withdrew_is_never_exported_and_is_counted(study: SmallStudy, store: Store) -> None:
    rate_all(study, store, by_emoji)
    store.withdraw("r02")
    for everything in (False, True):
        found = export_ratings(store, everything=everything)
        assert set(found.frame["rater"]) == {"r01", "r03"}
        assert found.left_out["withdrawn"] == 10
        assert found.raters_out == {"withdrawn": ("r02",)}
        assert found.intra_rater.repeats == 4


def test_a_revoked_rater_s_ratings_stay(study: SmallStudy, store: Store) -> None:
    rate_all(study, store, by_emoji, ["r01"])
    store.revoke("r01")
    assert export_ratings(store).frame.height == 6


def test_ratings_that_were_not_given_are_counted(study: SmallStudy, store: Store) -> None:
    rate_all(study, store, by_emoji, ["r01"])
    rate_all(study, store, by_emoji, ["r02"], until=1)  # the training item only
    found = export_ratings(store)
    assert found.frame.height == 6
    assert found.not_given == 12


def test_everything_can_be_had_told_apart_by_part(study: SmallStudy, store: Store) -> None:
    rate_all(study, store, by_emoji)
    found = export_ratings(store, everything=True)
    assert dict(found.frame["part"].value_counts().iter_rows()) == {
        "training": 3, "main": 18, "repeat": 6, "attention": 3,
    }  # fmt: skip
    assert found.left_out == {}
    repeats = found.frame.filter(pl.col("part") == "repeat")
    firsts = found.frame.select("rater", pl.col("position").alias("repeat_of"), pl.col("cell").alias("first_cell"))
    joined = repeats.join(firsts, on=["rater", "repeat_of"])
    assert joined.height == 6
    assert (joined["cell"] == joined["first_cell"]).all()
    known = found.frame.filter(pl.col("part").is_in(["training", "attention"]))
    assert known["item"].null_count() == known["system"].null_count() == 6
    assert set(known["expected"]) == {"5"}


def test_raters_who_failed_a_check_are_left_out_only_if_asked_and_then_counted(study: SmallStudy, store: Store) -> None:
    rate_all(study, store, by_emoji, ["r01", "r02"])
    rate_all(study, store, lambda rater, page: "1", ["r03"])
    assert export_ratings(store).frame.height == 18
    assert export_ratings(store).attention["r03"] == (0, 1)
    found = export_ratings(store, leave_out_failed=True)
    assert set(found.frame["rater"]) == {"r01", "r02"}
    assert found.left_out["failed_attention"] == 10
    assert found.raters_out == {"failed_attention": ("r03",)}


def test_agreement_of_raters_with_themselves_is_that_of_first_showings_and_repeats(
    study: SmallStudy, store: Store
) -> None:
    rate_all(study, store, by_emoji)
    own = export_ratings(store).intra_rater
    assert (own.repeats, own.same) == (6, 1.0)
    assert own.alpha is not None
    assert own.alpha.value == 1.0  # perfect agreement


def test_agreement_is_krippendorffs_alpha_over_the_pairs(tmp_path: Path) -> None:
    """First showings and repeats (1, 1) and (2, 3), by hand after Krippendorff 2011.

    Observed disagreement: mean of 0 and 1 = 1/2. Expected: the six pairs of 1, 1, 2, 3 have the squared differences
    0, 1, 4, 1, 4, 1, mean 11/6. alpha = 1 - (1/2) / (11/6) = 8/11.
    """
    study = small_study(tmp_path / "study", raters=1, items=2, repeats=0.5)
    store = study.store()
    store.consent(store.enter(study.links[0].token).rater)
    shown = [page.cell_id for page in store.pages("r01", 1, 99)]
    twice = [cell for cell in dict.fromkeys(shown) if shown.count(cell) == 2]
    assert len(twice) == 2
    values = {(twice[0], 0): "1", (twice[0], 1): "1", (twice[1], 0): "2", (twice[1], 1): "3"}
    for place, cell in enumerate(shown):
        value = values.get((cell, shown[:place].count(cell)), "4")
        store.rate(
            "r01", key=f"key-{place:06d}", position=place + 1, cell_id=cell, value=value, shown_at=0.0, duration_ms=1
        )
    own = export_ratings(store).intra_rater
    assert (own.repeats, own.same) == (2, 0.5)
    assert own.alpha is not None
    assert own.alpha.value == pytest.approx(8 / 11)


def test_the_check_of_the_font_before_each_rating_is_beside_it(study: SmallStudy, store: Store) -> None:
    rate_all(study, store, by_emoji, ["r01"], check=GOOD)
    rate_all(study, store, by_emoji, ["r02"], check={"colour": False, "boxes": False})
    rate_all(study, store, by_emoji, ["r03"])
    store.check("r01", {"colour": False})  # came after all ratings: says nothing about them
    frame = export_ratings(store).frame
    found = frame.group_by("rater").agg(pl.col("emoji_ok").unique())
    assert dict(found.iter_rows()) == {"r01": [True], "r02": [False], "r03": [None]}
    fonts = frame.group_by("rater").agg(pl.col("emoji_font").unique())
    assert dict(fonts.iter_rows()) == {"r01": ["bundled"], "r02": [None], "r03": [None]}


@pytest.mark.parametrize(("form", "values"), [("keeps", ("yes", "no")), ("verdict", ("right", "wrong"))])
def test_yes_and_right_are_one_and_no_and_wrong_zero(tmp_path: Path, form: Any, values: tuple[str, str]) -> None:
    study = small_study(tmp_path / "study", form)
    store = study.store()
    rate_all(study, store, lambda rater, page: values[page.position % 2])
    frame = export_ratings(store).frame
    assert (frame["score"] == 1 - frame["position"] % 2).all()
    if form == "verdict":
        assert set(frame["verdict"]) == {"right", "wrong"}


def test_free_answers_make_the_table_of_answers_with_raters_for_systems(tmp_path: Path) -> None:
    items = tuple(Item(f"x/{c}", "x", "en", c) for c in ("1", "2"))
    cells = tuple(Cell(i.id, "people", {"context": f"c{i.condition}", "text": "👍", "question": "Why?"}) for i in items)
    study = small_study(tmp_path / "study", "answer", material=Material("answer", items, cells, "test"))
    store = study.store()
    rate_all(study, store, lambda rater, page: f'{rater} says, "{page.position}"\nand more')
    write_export(export_ratings(store), tmp_path / "answers.csv")
    answers = read_answers([tmp_path / "answers.csv"])
    assert answers.height == 4
    assert set(answers["id"]) == {"x"}
    assert set(answers["system"]) == {"r01", "r02"}
    assert set(answers["condition"]) == {"1", "2"}
    assert answers["answer"].str.contains("\nand more").all()


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_ratings_study_reads_every_format(study: SmallStudy, store: Store, tmp_path: Path, suffix: str) -> None:
    rate_all(study, store, by_emoji)
    out = tmp_path / f"ratings.{suffix}"
    write_export(export_ratings(store), out)
    found = open_study(out)
    assert found.design.levels == {"item": 3, "system": 2, "rater": 3}
    assert found.design.complete


def test_a_dictionary_and_a_checksum_lie_beside_the_table(study: SmallStudy, store: Store, tmp_path: Path) -> None:
    rate_all(study, store, by_emoji)
    found = export_ratings(store, texts=True)
    files = write_export(found, tmp_path / "ratings.csv")
    digest = hashlib.sha256((tmp_path / "ratings.csv").read_bytes()).hexdigest()
    assert files["sha256"] == digest
    assert (tmp_path / "ratings.csv.sha256").read_text() == f"{digest}  ratings.csv\n"
    document = json.loads((tmp_path / "ratings.csv.dictionary.json").read_text())
    assert document["sha256"] == digest
    assert [c["name"] for c in document["columns"]] == read_table(tmp_path / "ratings.csv").columns
    assert all(c["meaning"] for c in document["columns"])
    assert document["counts"]["left_out"] == {"training": 3, "attention": 3, "repeat": 6}
    assert document["study"]["title"] == "A small study"
    assert "text" in found.frame.columns


def test_neither_table_nor_dictionary_holds_what_would_tell_who_a_rater_is(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", external_id_parameter="PROLIFIC_PID")
    store = study.store()
    store.consent(store.enter(study.links[0].token).rater, external_id="outside-id-77")
    rate_all(study, store, lambda rater, page: "3")
    write_export(export_ratings(store, everything=True, texts=True), tmp_path / "ratings.csv")
    for file in tmp_path.glob("ratings.csv*"):
        text = file.read_text()
        assert "outside-id-77" not in text
        assert study.links[0].token not in text


def test_nothing_to_export_is_said(store: Store) -> None:
    with pytest.raises(InputError, match="there are no ratings yet"):
        export_ratings(store)


def test_texts_that_try_to_break_a_table_come_back_as_they_are(tmp_path: Path) -> None:
    hostile = ['=HYPERLINK("http://x")', 'a,"b"\n c', "שלום ‮abc", "\t;|'", "👩‍👩‍👧‍👦 1️⃣", "NA", "null", "1e5"]
    items = tuple(Item(f'i"{k},\n', f"g{k}", "en") for k in range(len(hostile)))
    cells = tuple(Cell(item.id, "a,b", {"text": text}) for item, text in zip(items, hostile, strict=True))
    study = small_study(tmp_path / "study", raters=1, material=Material("scale", items, cells, "hostile"))
    store = study.store()
    rate_all(study, store, lambda rater, page: "3")
    found: Exported = export_ratings(store, texts=True)
    assert sorted(found.frame["text"]) == sorted(hostile)
    for suffix in ("csv", "jsonl", "parquet"):
        write_export(found, tmp_path / f"out.{suffix}")
        again = read_table(tmp_path / f"out.{suffix}")
        assert again["text"].to_list() == found.frame["text"].to_list()
        assert again["item"].to_list() == found.frame["item"].to_list()


@pytest.mark.parametrize("tool", ["label-studio", "potato"])
def test_other_tools_get_blinded_tasks_and_the_ratings(
    study: SmallStudy, store: Store, tmp_path: Path, tool: str
) -> None:
    rate_all(study, store, by_emoji)
    store.withdraw("r02")
    files = export_to_tool(store, tool, tmp_path / "out")
    blind = [f for f in (tmp_path / "out").rglob("*") if f.is_file()]
    assert blind
    for file in blind:
        text = file.read_text(encoding="utf-8")
        assert not any(system in text for system in SYSTEMS)
        assert "source-item" not in text
    key = tmp_path / "out.key.json"
    assert SYSTEMS[0] in key.read_text()
    assert len(files) >= 2
