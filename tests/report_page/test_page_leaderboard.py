"""The leaderboard shows scores, ties, baselines and failures; it sorts, filters, remembers and saves what is shown."""

from __future__ import annotations

import csv
import io
import json

import pytest

from tests.browser import screenshot
from tests.report_page import sample
from tests.report_page.conftest import show, wait_for_charts

pytestmark = pytest.mark.usefixtures("browser")


def first_cells(page) -> list[str]:
    """Names in the first column of the leaderboard's table, from the top."""
    names = page.locator("#panel-leaderboard .scroll[data-scroll=leaderboard] tbody tr:not(.group):not(.detail) th bdi")
    return names.all_inner_texts()


def row_of(page, system: str):
    return page.locator("#panel-leaderboard .scroll[data-scroll=leaderboard] tbody tr:not(.detail)", has_text=system)


def saved(page, button: str) -> str:
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    return open(download.value.path(), encoding="utf-8", newline="").read()


def test_scores_have_intervals_ties_are_named_and_baselines_stand_apart(page, report_file):
    show(page, report_file)
    wait_for_charts(page)
    screenshot(page, "report-leaderboard", full_page=True)
    assert page.locator(".verdict").first.inner_text() == (
        "Tie: these data leave open which of maker/alpha and maker/beta (fewshot) is best."
    )
    explained = page.inner_text(".explain >> nth=0")
    all_pairs = "text without any emoji, with all 6 comparisons in mind"  # of four systems; the interval is theirs
    assert f"Better than the {all_pairs}: maker/alpha (+16.0 [4.0, 28.0] points)." in explained
    # the difference is stored the other way round, on 7 of 8 posts: none minus beta is -14 [-30, 2]
    assert (
        f"Not told apart from the {all_pairs}: maker/beta (fewshot) (+14.0 [−2.0, 30.0] points on 7 posts)."
        in explained
    )
    cells = row_of(page, "maker/alpha").locator("td")
    assert cells.nth(0).inner_text().strip() == "1–2, tie"
    assert cells.nth(1).inner_text().split("\n") == ["60.0", "[55.0, 65.0]"]
    assert first_cells(page) == ["maker/alpha", "maker/beta", sample.GAMMA, "baseline/none"]
    assert page.locator("tbody.baselines tr.group").inner_text() == "Baselines, for comparison"
    assert "kin of judge judge/one" in row_of(page, "maker/alpha").inner_text()
    assert page.get_by_text(sample_perceived()).first.is_visible()


def test_a_tie_stands_beside_the_interval_that_decides_it(page, report_file):
    show(page, report_file)
    page.get_by_text("Differences between systems").click()
    cells = page.locator("[data-scroll='differences'] tbody tr", has_text="baseline/none").nth(1).locator("td")
    assert cells.nth(1).inner_text().split("\n") == ["−14.0", "[−24.0, −4.0]"]
    assert cells.nth(3).inner_text().split("\n") == ["tie", "[−30.0, 2.0]"]
    assert page.get_by_role("columnheader", name="all 6 at once").is_visible()


def test_one_line_under_the_leaderboard_says_what_its_judge_is_worth(page, report_file):
    show(page, report_file)
    said = page.locator("#panel-leaderboard .explain", has_text="student/mine")
    assert said.inner_text() == "student/mine agrees at kappa 0.31 (gender) to 0.72 (sentiment)."


def sample_perceived() -> str:
    return "Perceived age and gender are labels, not facts about people."


def test_rank_ranges_are_drawn_over_all_places(page, report_file):
    show(page, report_file)
    bar = row_of(page, "maker/alpha").locator("svg.places")
    whole = float(bar.locator(".track").get_attribute("width"))
    drawn = bar.locator(".range")
    # places 1 and 2 of 4: the left half
    assert float(drawn.get_attribute("x")) == 0.0
    assert float(drawn.get_attribute("width")) == pytest.approx(whole / 2)
    third = row_of(page, "baseline/none").locator("svg.places .range")
    assert float(third.get_attribute("x")) == pytest.approx(whole / 2)


def test_failures_leaks_and_warnings_are_on_the_first_screen(page, report_file):
    show(page, report_file)
    alerts = page.locator("#panel-leaderboard .alerts")
    assert "Calls without a reply: " in alerts.inner_text()
    assert f"{sample.GAMMA} 3" in alerts.inner_text()  # labels that could not be read
    assert "1 plain text still held emoji" in alerts.inner_text()
    assert f"a warning {sample.ATTRIBUTE}" in alerts.inner_text()
    assert alerts.bounding_box()["y"] < 800
    assert row_of(page, sample.GAMMA).locator("td").last.inner_text().split("\n") == ["2 no reply", "3 not read"]


def test_the_chart_draws_systems_with_intervals_places_and_baselines_as_lines(page, report_file):
    show(page, report_file)
    wait_for_charts(page)
    picture = page.locator("#panel-leaderboard .chart").first
    label = picture.get_attribute("aria-label")
    assert "maker/alpha: 60.0, place 1–2, tie" in label
    assert picture.locator("svg .mark-symbol.role-mark path").count() == 4  # a point a system
    rules = picture.locator("svg .mark-rule.role-mark")
    assert rules.nth(0).locator("line").count() == 1  # the baseline, across
    assert rules.nth(1).locator("line").count() == 4  # intervals
    assert picture.locator("svg .mark-rect.role-mark path").count() == 4  # places


def test_heads_sort_both_ways_say_so_and_keep_baselines_below(page, report_file):
    show(page, report_file)
    head = page.locator(".scroll[data-scroll=leaderboard]").get_by_role("columnheader", name="system")
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert first_cells(page) == [sample.GAMMA, "maker/alpha", "maker/beta", "baseline/none"]
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert first_cells(page) == ["maker/beta", "maker/alpha", sample.GAMMA, "baseline/none"]
    page.go_back()
    assert first_cells(page) == [sample.GAMMA, "maker/alpha", "maker/beta", "baseline/none"]
    assert page.evaluate("document.activeElement.dataset.key") == "sort-system"  # the focus stays on the head


def test_a_language_shows_the_scores_of_its_slice_and_a_small_part_says_why_not(page, report_file):
    show(page, report_file)
    page.get_by_label("Language").select_option("hi")
    assert first_cells(page) == ["maker/alpha", "baseline/none"]
    assert row_of(page, "maker/alpha").locator("td").nth(1).inner_text().split("\n") == ["72.0", "[67.0, 77.0]"]
    assert "Only Hindi (hi): 11 posts by 6 authors." in page.inner_text("#panel-leaderboard")
    assert "3 of 11" in row_of(page, "maker/alpha").locator(".mark.warn").all_inner_texts()
    assert "of 11" not in row_of(page, "baseline/none").inner_text()
    page.get_by_label("Language").select_option("bn")
    assert page.get_by_text("3 posts are too few to score a part on").is_visible()
    assert page.locator("#panel-leaderboard table").count() == 0
    page.reload()
    page.wait_for_selector("#panel-leaderboard .alert >> nth=0")
    assert page.get_by_text("3 posts are too few to score a part on").is_visible()
    page.get_by_label("Language").select_option("")
    assert len(first_cells(page)) == 4


def test_a_task_can_be_the_score_and_baselines_can_be_hidden(page, report_file):
    show(page, report_file)
    page.get_by_label("Score").select_option("gender")
    # gender is one below the mean: 59 for alpha
    assert row_of(page, "maker/alpha").locator(".headline").inner_text().split("\n") == ["59.0", "[54.0, 64.0]"]
    page.get_by_role("button", name="Baselines").click()
    assert "baseline/none" not in first_cells(page)
    assert page.url.endswith("#task=gender&baselines=0")


def test_groups_of_columns_can_be_shown_and_a_number_that_is_not_known_gives_its_reason(page, report_file):
    show(page, report_file)
    assert page.get_by_role("columnheader", name="tokens in").count() == 0
    page.get_by_role("button", name="Length and cost").click()
    assert row_of(page, "maker/alpha").get_by_text("800").is_visible()
    cell = row_of(page, "maker/beta").locator(".unknown").first
    assert cell.inner_text().startswith("not known")
    assert cell.get_attribute("title") == "no model was called"
    assert "no model was called" in page.inner_text("ul.reasons")


def test_a_system_opens_to_its_classes(page, report_file):
    show(page, report_file)
    button = row_of(page, "maker/alpha").get_by_role("button")
    assert button.get_attribute("aria-expanded") == "false"
    button.click()
    assert row_of(page, "maker/alpha").get_by_role("button").get_attribute("aria-expanded") == "true"
    detail = page.locator("tr.detail")
    assert detail.locator("tr", has_text="negative").locator("td").inner_text().split("\n") == ["40.0", "[30.0, 50.0]"]
    assert "no post has it" in detail.inner_text()


def test_every_choice_survives_a_reload_and_a_second_window(page, report_file, open_page):
    show(page, report_file, "#sort=kept:up&task=sentiment&baselines=0&columns=cost&open=maker%2Falpha")
    before = page.locator("#panel-leaderboard").inner_text()
    assert page.locator("tr.detail").count() == 1
    page.reload()
    page.wait_for_selector("tr.detail")
    assert page.locator("#panel-leaderboard").inner_text() == before
    other = open_page()
    show(other, report_file, page.url.partition("#")[1] + page.url.partition("#")[2])
    assert other.locator("#panel-leaderboard").inner_text() == before


def test_csv_holds_what_is_shown_with_numbers_as_numbers_and_no_formulas(page, write_report):
    document = sample.document()
    document["runs"] = document["runs"][:1]
    run = document["runs"][0]
    formula = '=HYPERLINK("x")'
    for table in (run["document"]["systems"], run["slices"][0]["systems"]):
        table[formula] = table.pop(sample.BETA)
    run["systems"][1] |= {"name": formula, "base": formula}
    run["slices"][0]["systems"][formula]["kept"] = sample.estimate(-1.5, -2.5, -0.5)
    show(page, write_report("formula", document))
    rows = list(csv.DictReader(io.StringIO(saved(page, "Save as CSV"))))
    assert [row["system"] for row in rows] == ["maker/alpha", "'" + formula, sample.GAMMA, "baseline/none"]
    assert (rows[0]["average"], rows[0]["average_low"], rows[0]["average_high"]) == ("60", "55", "65")
    assert (rows[0]["rank_low"], rows[0]["rank_high"]) == ("1", "2")
    assert rows[1]["kept"] == "-1.5"  # a negative number stays a number
    assert [row["baseline"] for row in rows] == ["false", "false", "false", "true"]
    page.get_by_role("button", name="Baselines").click()
    assert len(list(csv.DictReader(io.StringIO(saved(page, "Save as CSV"))))) == 3


def test_json_holds_what_is_shown_with_the_run_and_its_signature(page, report_file):
    show(page, report_file, "#lang=hi")
    found = json.loads(saved(page, "Save as JSON"))
    assert found["run"] == "sample run"
    assert found["signature"] == "data:00000000|n:8|judge:judge/one|version:0.1.0"
    assert found["lang"] == "hi"
    assert found["rows"][0]["system"] == "maker/alpha"
    assert found["rows"][0]["average"] == {"value": 72.0, "ci": [67.0, 77.0]}
    assert found["rows"][0]["rank"] == [1, 1]
    assert len(found["rows"]) == 2


def test_pairs_have_their_own_leaderboard_in_percent(page, report_file):
    show(page, report_file)
    page.get_by_label("Run", exact=True).select_option("r2")
    cells = row_of(page, "maker/alpha").locator("td")
    assert cells.nth(1).inner_text().split("\n") == ["50.0", "[40.0, 60.0]"]
    assert "maker/alpha gives the right answer in both contexts of 50.0 [40.0, 60.0] percent of pairs" in (
        page.inner_text(".verdict")
    )
    assert "+25.0 [−10.0, 60.0] points against baseline/random (p = .200)" in page.inner_text(".explain >> nth=0")
    assert cells.last.inner_text() == "1 not read"


def test_several_judges_say_whether_others_would_rank_the_systems_the_same(page, report_file):
    show(page, report_file)
    section = page.locator("section", has_text="Would other judges rank them the same?")
    assert section.locator(".verdict").inner_text() == "Tie: these judges cannot rank the two systems."
    line = section.locator("tbody tr", has_text="maker/alpha").locator("td")
    assert [" ".join(cell.split()) for cell in line.all_inner_texts()] == [
        "1–2, tie",
        "55.0 [48.0, 62.0]",
        "60.0 [55.0, 65.0]",
        "50.0 [45.0, 55.0]",
    ]
    assert "Two judges hardly show how judges differ." in section.inner_text()
    assert f"Not in this comparison: {sample.GAMMA}." in section.inner_text()
    page.get_by_role("tab", name="Trust").click()
    assert "0.310\n[0.200, 0.420]" in page.inner_text("#panel-trust")


def test_a_strategy_leaves_its_systems_only(page, report_file):
    show(page, report_file)
    page.get_by_label("Strategy").select_option("fewshot")
    assert first_cells(page) == ["maker/beta"]
    page.get_by_label("Strategy").select_option("")
    assert len(first_cells(page)) == 4
