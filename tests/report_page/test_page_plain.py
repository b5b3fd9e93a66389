"""The tables that need no scripts: what they say of each kind of run, whatever the run lacks."""

from __future__ import annotations

from mojimeter.report.page.plain_tables import PERCEIVED, plain_sections
from tests.report_page import sample


def section(number: int, document=None):
    return plain_sections(document or sample.document())[number]


def test_a_leaderboard_lists_baselines_last_with_places_intervals_and_failures():
    (table,) = section(0).tables
    assert [row[0] for row in table.rows] == [
        sample.ALPHA,
        sample.BETA,
        sample.GAMMA,
        f"{sample.NONE} (baseline)",
    ]
    assert table.columns[:5] == ("system", "place", "labels preserved", "sentiment", "gender")
    assert table.rows[0][1:4] == ("1-2, tie", "60.0 [55.0, 65.0]", "61.0 [56.0, 66.0]")
    assert table.rows[2][-1] == "2 errors, 2 missing, 3 unparsed"
    assert PERCEIVED in section(0).sentences
    assert f"A warning {sample.ATTRIBUTE}." in section(0).sentences


def test_shares_of_pairs_are_in_percent():
    (table,) = section(1).tables
    assert table.rows[0][:3] == ("maker/alpha", "1-2, tie", "50.0 [40.0, 60.0]")
    assert table.rows[0][-1] == "1 unparsed"


def test_a_rating_study_gives_its_verdict_and_four_tables():
    study = section(2)
    assert study.sentences[0].startswith("Tie: these ratings cannot rank the two systems")
    assert [table.caption.split(":")[0] for table in study.tables] == ["Ranking", "Variance", "G over raters", "Raters"]
    assert study.tables[1].rows[0] == ("system", "5.0", "[0.000, 0.400]")
    assert study.tables[2].rows[0] == ("1", "0.30 [0.00, 0.60]")


def test_a_judges_document_gives_every_number_by_the_names_that_lead_to_it():
    (table,) = section(3).tables
    rows = dict(row for row in table.rows)
    assert rows["judges.judge/one.sentiment.kappa"] == "0.500 [0.300, 0.700]"
    assert rows["brand_new_key.deep.number"] == "0.123"


def test_a_run_without_scores_says_what_it_has_to_say_and_has_no_table():
    document = sample.document()
    run = document["runs"][0]
    run |= {"document": {"schema": 1, "status": "partial", "systems": {}}, "systems": [], "notes": ["not finished"]}
    found = section(0, document)
    assert found.tables == ()
    assert "Not finished." in found.sentences


def test_a_number_that_is_not_known_gives_its_reason():
    document = sample.document()
    document["runs"][0]["document"]["systems"][sample.ALPHA]["kept"] = sample.absent("no labels")
    (table,) = section(0, document).tables
    assert table.rows[0][table.columns.index("kept")] == "not known: no labels"
