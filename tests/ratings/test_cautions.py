"""Which sentence goes with which study."""

from __future__ import annotations

import pytest

from mojimeter.ratings import cautions

PAPER = {"item": 290, "system": 8, "rater": 3}


def test_three_raters_cannot_show_that_they_differ_along_one_line():
    assert cautions.ONE_LINE_UNSEEN in cautions.cautions_for(PAPER)


def test_unequal_errors_that_were_seen_are_named_whatever_the_panel():
    for raters in (3, 27):
        found = cautions.cautions_for(PAPER | {"rater": raters}, heterogeneity=0.01)
        assert cautions.ONE_LINE_SEEN in found
        assert cautions.ONE_LINE_UNSEEN not in found


def test_a_large_panel_that_was_checked_needs_no_word_on_pairs():
    found = cautions.cautions_for(PAPER | {"rater": 27}, heterogeneity=0.4, agreement=False)
    assert found == ()


def test_two_systems_have_one_pair_whose_error_nothing_is_pooled_with():
    assert cautions.cautions_for({"item": 50, "system": 2, "rater": 3}, agreement=False) == ()


def test_errors_of_single_pairs_are_few_with_few_raters():
    assert cautions.cautions_for(PAPER, "separate", agreement=False) == (cautions.SEPARATE_FEW_RATERS,)


@pytest.mark.parametrize(
    ("levels", "interval", "shown"),
    [(PAPER, "f", True), (PAPER, "components", False), ({"item": 290, "rater": 3}, "f", False)],
)
def test_intervals_of_iccs_are_in_doubt_where_items_have_several_cells_and_f_takes_them_for_unrelated(
    levels, interval, shown
):
    assert (cautions.ICC_CELLS_OF_ONE_ITEM in cautions.cautions_for(levels, icc_interval=interval)) == shown


def test_the_screen_of_a_study_says_which_of_its_numbers_do_not_hold():
    import numpy as np

    from mojimeter.ratings import Study
    from mojimeter.ratings.screen import render
    from mojimeter.ratings.summary import summarise

    rng = np.random.default_rng(3)
    item, system, rater = (a.ravel() for a in np.indices((20, 4, 3)))
    table = {"item": item, "system": system, "rater": rater, "score": rng.normal(size=item.size)}
    document = summarise(Study(table))
    assert cautions.ALPHA_THESE_RATERS in document["cautions"]
    assert cautions.ALPHA_THESE_RATERS in " ".join(render(document).split())
    assert summarise(Study(table, fixed=["rater"]))["cautions"] == [], "measured with raters as a sample only"
