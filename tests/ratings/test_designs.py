"""Which designs are found, what each can answer, and what is refused by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from mojimeter.errors import InputError
from mojimeter.ratings import Design, Study
from mojimeter.ratings.design import DesignError
from tests.ratings.conftest import crossed, long_table, simulated_cube


def rows(cells: list[tuple[object, ...]], columns: tuple[str, ...] = ("item", "system", "rater")) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame([tuple(map(str, c)) for c in cells], schema=list(columns), orient="row")
    return frame.with_columns(pl.Series("score", rng.normal(size=len(cells))))


def crowd(items: int = 6, systems: int = 3, per_item: int = 4) -> pl.DataFrame:
    """Every item has raters of its own, each rating all systems."""
    return rows([(i, s, f"i{i}w{k}") for i in range(items) for s in range(systems) for k in range(per_item)])


def test_a_crossed_design_has_the_textbooks_effects_and_degrees_of_freedom():
    design = crossed(290, 8, 3)
    names = ["item", "system", "rater", "item:system", "item:rater", "system:rater", "residual"]
    assert [e.name for e in design.effects] == names
    assert [design.degrees_of_freedom(e) for e in design.effects] == [289, 7, 2, 2023, 578, 14, 4046]


def test_degrees_of_freedom_add_up_to_the_ratings_less_one():
    for levels, nested in (
        ({"item": 4, "system": 3, "rater": 5}, {}),
        ({"item": 4, "system": 3, "rater": 5}, {"rater": "item"}),
        ({"item": 4, "system": 3, "rater": 5}, {"rater": "item:system"}),
        ({"topic": 2, "item": 4, "system": 3, "rater": 5}, {"item": "topic"}),
        ({"item": 7, "rater": 5}, {"rater": "item"}),
    ):
        design = Design(levels, nested)
        assert sum(design.degrees_of_freedom(e) for e in design.effects) == design.possible_cells - 1


def test_raters_of_their_own_for_every_item_are_found_and_tested():
    study = Study(crowd())
    assert study.design.nested == {"rater": "item"}
    assert study.design.complete
    assert study.design.describe() == "6 items x 3 systems x 4 raters per item: 72 ratings, complete"
    assert [e.name for e in study.design.effects] == ["item", "system", "rater(item)", "item:system", "residual"]
    assert study.test().chosen.error == "item:system"


def test_rater_names_used_again_in_every_item_can_be_declared_nested():
    cube = np.random.default_rng(2).normal(size=(6, 3, 4))
    declared = Study(long_table(cube), nested={"rater": "item"})
    renamed = long_table(cube).with_columns((pl.col("item") * 10 + pl.col("rater")).alias("rater"))
    assert declared.anova().ms == pytest.approx(Study(renamed).anova().ms)
    assert declared.names["rater"][0] == "0/0"
    assert len(declared.names["rater"]) == 24


def test_raters_of_their_own_for_every_cell_are_found_and_tested():
    cells = [(i, s, f"{i}-{s}-{k}") for i in range(5) for s in range(3) for k in range(4)]
    study = Study(rows(cells))
    assert study.design.nested == {"rater": "item:system"}
    assert [e.name for e in study.design.effects] == ["item", "system", "item:system", "residual"]
    # two-way analysis with replicates, items random: MS_s / MS_is (any textbook)
    assert study.test().chosen.error == "item:system"


def test_unequal_numbers_of_raters_per_item_are_answered_by_reml():
    frame = crowd(8, 3, 4).filter(~((pl.col("item") == "0") & (pl.col("rater") == "i0w3")))
    study = Study(frame)
    assert study.design.nested == {"rater": "item"}
    assert not study.design.complete
    assert "unequal numbers" in study.design.describe()
    tests = study.test()
    assert tests.default == "reml"
    assert tests.chosen.df1 == 2


def test_items_in_groups_are_analysed_with_the_group_as_a_facet():
    cells = [(f"t{t}i{i}", s, r, f"t{t}") for t in range(4) for i in range(3) for s in range(3) for r in range(3)]
    study = Study(rows(cells, ("item", "system", "rater", "topic")), nested={"item": "topic"})
    assert study.design.to_dict() == {
        "topic": 4, "item": 3, "system": 3, "rater": 3, "cells": 108, "missing": 0, "nested": {"item": "topic"},
    }  # fmt: skip
    assert study.anova().df["topic:system:rater"] == 12
    assert "topics" in study.test().chosen.assumes
    assert 0 <= study.g_study().g.value <= 1


def test_an_item_that_lies_in_two_groups_counts_as_two_items():
    cells = [("same", s, r, t) for t in ("x", "y") for s in range(3) for r in range(3)]
    cells += [("other", s, r, t) for t in ("x", "y") for s in range(3) for r in range(3)]
    study = Study(rows(cells, ("item", "system", "rater", "topic")), nested={"item": "topic"})
    assert len(study.names["item"]) == 4


def test_a_table_without_systems_is_one_of_items_and_raters():
    frame = rows([(i, r) for i in range(6) for r in range(3)], ("item", "rater"))
    study = Study(frame, system=None)
    assert study.design.facets == ("item", "rater")
    assert study.default_object == "item"
    assert study.test().source == "item"
    with pytest.raises(DesignError, match="no system column, so there is nothing to rank"):
        study.ranking()
    verdict = study.verdict()
    assert verdict.verdict == "refused"


def test_missing_cells_are_counted_and_found():
    study = Study(long_table(np.random.default_rng(3).normal(size=(5, 3, 4))).slice(2))
    assert study.design.missing == 2
    assert study.design.to_dict()["missing"] == 2
    with pytest.raises(DesignError, match="2 of 60 missing; a complete table is needed"):
        study.anova()


def test_reml_is_the_default_where_cells_are_missing_and_close_to_the_full_table():
    rng = np.random.default_rng(4)
    cube = simulated_cube({"system": 1.0, "rater": 1.0, "item": 0.5, "residual": 0.5}, (20, 4, 5), rng)
    full, holes = Study(long_table(cube)), Study(long_table(cube).sample(fraction=0.95, seed=1))
    assert (full.default_estimator, holes.default_estimator) == ("ems", "reml")
    assert holes.components().estimator == "reml"
    assert holes.components().raw["residual"] == pytest.approx(full.components().raw["residual"], rel=0.15)
    assert [s.system for s in holes.ranking().systems] == [s.system for s in full.ranking().systems]
    assert holes.verdict().verdict == full.verdict().verdict


def test_a_real_study_with_one_rater_per_cell_names_the_term_it_cannot_estimate(shared: Path):
    study = Study(shared / "data/rating_studies/wmt21_ted_ende_mqm_long.csv")
    assert study.design.describe() == "529 items x 14 systems x 4 raters: 7,406 ratings, 22,218 of 29,624 missing"
    components = study.components()
    assert [c.source for c in components.rows if c.estimate is None] == ["item:system"]
    assert "every item:system has one rater, so it cannot be told from residual" in components["item:system"].reason
    assert study.test().chosen.p < 0.05
    assert any("item:system cannot be told from another component" in note for note in study.g_study().notes)


@pytest.mark.parametrize(
    ("frame", "sentence"),
    [
        (rows([(i, s, "only") for i in range(4) for s in range(3)]), "only one rater: "),
        (rows([(i, "only", r) for i in range(4) for r in range(3)]), "only one system: "),
        (rows([("only", s, r) for s in range(4) for r in range(3)]), "only one item: "),
    ],
)
def test_a_facet_with_one_level_is_refused_with_what_would_help(frame: pl.DataFrame, sentence: str):
    for question in (Study(frame).components, Study(frame).test, Study(frame).g_study):
        with pytest.raises(DesignError, match=sentence + ".*at least two"):
            question()


def test_systems_that_share_nothing_are_refused_with_what_would_tie_them():
    cells = [(f"i{i}", "a", f"r{r}") for i in range(3) for r in range(2)]
    cells += [(f"j{i}", "b", f"q{r}") for i in range(3) for r in range(2)]
    with pytest.raises(
        DesignError, match=r"system 'a' and system 'b' share no item and no rater.*would tie them together"
    ):
        Study(rows(cells))


def test_raters_that_share_no_item_are_refused():
    frame = rows([("1", "x"), ("2", "x"), ("3", "y"), ("4", "y")], ("item", "rater"))
    with pytest.raises(DesignError, match="rater 'x' and rater 'y' share no item"):
        Study(frame, system=None)


@pytest.mark.parametrize("nested", [{"system": "item"}, {"rater": "rater"}, {"item": "rater"}, {"rater": "item:rater"}])
def test_nestings_that_make_no_sense_are_refused(nested: dict[str, str]):
    with pytest.raises(InputError, match="is not a design mojimeter knows"):
        Study(crowd(), nested=nested)


def test_fixing_or_nesting_a_facet_that_is_not_there_is_refused():
    with pytest.raises(InputError, match="no facet 'judge' in this study; it has item, system, rater"):
        Study(crowd(), fixed=["judge"])


def test_the_bootstrap_refuses_nested_raters():
    with pytest.raises(DesignError, match="all crossed"):
        Study(crowd()).bootstrap("items")
