"""Emoji, Rating study and Trust show everything that the document holds on them."""

from __future__ import annotations

import pytest

from tests.browser import seen
from tests.report_page import sample
from tests.report_page.conftest import show, wait_for_charts

pytestmark = pytest.mark.whole_browser


def row(page, table: str, name: str) -> list[str]:
    """The cells of a row of a table, spaces evened."""
    line = page.locator(f".scroll[data-scroll='{table}'] tbody tr", has=page.locator("th", has_text=name)).first
    return [" ".join(text.split()) for text in line.locator("td").all_inner_texts()]


def test_emoji_shows_what_each_likes_most_beside_the_writers(page, report_file):
    show(page, report_file, "#tab=emoji")
    wait_for_charts(page)
    assert row(page, "strips", "the posts' writers")[0] == "3"
    assert row(page, "strips", "maker/alpha") == ["7", "1.49 [1.20, 1.70]", "😂 ❤️ 👩‍💻"]
    assert page.locator("figure").count() == 2
    page.get_by_text("The same as a table").click()
    # the red heart: 30 percent for alpha, 40 among the writers, second in use at large
    assert row(page, "top-emoji", "red heart") == ["2", "30.00", "40.00", "2"]
    assert row(page, "top-emoji", "woman technologist")[2].startswith("not known")
    picture = page.locator("#panel-emoji .chart").nth(1)
    assert picture.locator("svg .mark-rect.role-mark path").count() >= 3
    font = picture.locator("svg text", has_text="❤️").first.get_attribute("font-family")
    assert font.startswith('"mojimeter emoji"')
    page.get_by_label("System").select_option(label="the posts' writers")
    assert "system=" in page.url
    page.reload()
    assert page.get_by_label("System").input_value() == ""


def test_a_rating_study_leads_with_its_verdict_and_shows_variance_raters_and_ranking(page, report_file):
    show(page, report_file, "#tab=study")
    wait_for_charts(page)
    assert page.locator("#panel-study .verdict").inner_text() == (
        f"Tie: these ratings cannot rank the two systems {sample.SCRIPT}."
    )
    assert "So few raters hide whether they agree." in page.inner_text("#panel-study .alerts")
    assert "Ask more raters." in page.inner_text("#panel-study")
    assert "a is a name, and some ratings are missing." in page.inner_text("#panel-study")  # a system's name stays
    assert "Some cells were rated twice." in page.inner_text("#panel-study")
    assert row(page, "ranking", "a") == ["1–2, tie", "4.10 [3.90, 4.30]", "+0.30 [0.10, 0.50]"]
    assert row(page, "variance", "system × rater") == ["60.0", "1.200 [0.900, 1.600]"]
    assert "Systems account for 5.0 percent of the variance of single ratings." in page.inner_text("#panel-study")
    assert "Raters needed: no number of raters [8, no limit] for G = 0.8." in page.inner_text("#panel-study")
    assert row(page, "raters", "anna") == ["6", "4.40 [4.10, 4.70]", "0.50", "0.90"]
    assert row(page, "raters", "ben")[3].startswith("not known")
    assert row(page, "agreement", "Krippendorff's alpha, interval") == ["0.400 [0.100, 0.600]"]
    labels = [picture.get_attribute("aria-label") for picture in page.locator("#panel-study .chart").all()]
    assert any(label.startswith("G over the number of raters: 1: 0.30 [0.00, 0.60]; 2: 0.45") for label in labels)
    assert any("rater 35.0 percent" in label for label in labels)


def test_a_ranking_at_equal_length_stands_beside_the_raw_one(page, report_file):
    show(page, report_file, "#tab=study")
    assert "+0.012 [0.002, 0.022]" in page.inner_text("#panel-study")
    assert row(page, "length-words", "b") == ["1–2, tie", "3.90 [3.70, 4.10]", "1", "61.0 [50.0, 70.0]"]
    assert row(page, "slope-words", "anna") == ["0.010 [0.000, 0.020]"]


def test_a_length_that_is_not_known_is_said_to_be_so(page, write_report):
    document = sample.document()
    study = document["runs"][2]["study"]
    study |= {"length": None, "length_reason": "the table has no column of lengths"}
    show(page, write_report("no-length", document), "#tab=study")
    assert page.get_by_text("Not known: the table has no column of lengths.").is_visible()


def test_trust_hides_nothing_of_failures_leaks_notes_and_signatures(page, report_file):
    show(page, report_file, "#tab=trust")
    panel = page.locator("#panel-trust")
    assert row(page, "failures-r1", "evil/") == ["8", "2", "2", "3"]
    assert "errors: calls that failed; missing: posts without a reply." in panel.inner_text()
    assert "None of: texts without a label, counted as not preserved; replies without emoji;" in panel.inner_text()
    assert "1 plain text that systems saw still held emoji" in panel.inner_text()
    page.get_by_text("Leaks:").click()
    assert panel.get_by_text("p2", exact=True).is_visible()
    assert f"A note {sample.IMAGE}" in panel.inner_text()
    assert panel.get_by_text("data:00000000|n:8|judge:judge/one|version:0.1.0").is_visible()
    assert row(page, "failures-r2", "maker/alpha") == ["0", "1 verdict 1"]
    assert "maker/alpha is judged by its kin: judge/one" in panel.inner_text()


def test_trust_says_how_good_a_judge_is_that_was_fitted_here(page, report_file):
    show(page, report_file, "#tab=trust")
    assert page.get_by_role("heading", name="How good the judge is: student/mine").is_visible()
    table = "quality-r1-student/mine"
    assert row(page, table, "sentiment") == ["83.0 [79.0, 87.0]", "47.5", "0.72 [0.66, 0.78]", "48.4", "0.48"]
    assert row(page, table, "gender")[2] == "0.31"
    assert "with another judge on 5,039 other posts" in page.inner_text("#panel-trust")


def test_findings_of_different_kinds_do_not_share_a_table(page, report_file):
    show(page, report_file, "#tab=trust")
    assert row(page, "facts-sample pairs: verifier: accuracy by lang", "en") == ["9 of 10"]


def test_a_judges_document_is_shown_whole_keys_that_nobody_knows_too(page, report_file):
    show(page, report_file, "#tab=trust")
    section = page.locator("#panel-trust section.run", has_text="judge accuracy").last
    text = section.inner_text()
    assert "Cohen's kappa" in text
    assert "0.500\n[0.300, 0.700]" in text
    assert "brand new key" in text
    assert "0.123" in text
    assert f"unknown {sample.SCRIPT}" in text
    assert "list of" in text
    assert "Perceived age and gender are labels, not facts about people." in text


def test_a_data_card_is_text_with_headings_and_lists_only(page, report_file):
    show(page, report_file, "#tab=trust")
    page.get_by_text("Data card").click()
    card = page.locator(".card")
    assert card.locator("h4").inner_text() == f"Card {sample.SCRIPT}"
    assert card.locator("p").inner_text() == f"A *sample* of posts, {sample.IMAGE}."
    assert card.locator("li").all_inner_texts() == ["one", f"two {sample.LINK}"]
    assert card.locator("a, script, img").count() == 0


@pytest.mark.parametrize("permissions", [["clipboard-read", "clipboard-write"], []], ids=["allowed", "refused"])
def test_a_signature_is_copied_or_at_least_selected(open_page, report_file, permissions):
    page = open_page(permissions=permissions)
    show(page, report_file, "#tab=trust")
    page.get_by_role("button", name="Copy the signature of sample run").click()
    status = page.locator("#panel-trust .signature-line [role=status]").first
    page.wait_for_function("() => document.querySelector('.signature-line [role=status]').textContent !== ''")
    assert status.inner_text().strip() in ("copied", "selected: press Ctrl+C")
    assert seen(page).page_errors == []
