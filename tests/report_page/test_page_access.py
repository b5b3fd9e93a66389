"""The report is usable by keyboard, screen reader, on a phone, on paper, and in either colour scheme."""

from __future__ import annotations

from itertools import pairwise

from tests.browser import axe_violations, screenshot, seen
from tests.report_page import sample
from tests.report_page.conftest import show, wait_for_charts

VIEWS = (
    "#open=maker%2Falpha%0Amaker%2Fbeta+%28fewshot%29&columns=cost%0Ause%0Aoverlap%0Areplies",
    "#run=r2",
    "#tab=items&item=p0",
    "#tab=items&run=r2&item=q0",
    "#tab=emoji",
    "#tab=study",
    "#tab=trust",
)


def visit(page, choices: str) -> None:
    """Go to a view without loading the page again, with everything that is folded away unfolded."""
    page.evaluate("choices => { location.hash = choices }", choices)
    tab = choices.partition("tab=")[2].partition("&")[0] or "leaderboard"
    page.wait_for_selector(f"#panel-{tab}:visible > *")
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
    wait_for_charts(page)


# What is hidden makes no difference to axe, but the time that it takes to find out does.
IN_SIGHT = {"exclude": [["#plain"]]}


def background(page) -> str:
    return page.evaluate("getComputedStyle(document.documentElement).backgroundColor")


def test_axe_finds_nothing_on_any_tab(page, report_file):
    show(page, report_file)
    for number, choices in enumerate(VIEWS):
        visit(page, choices)
        assert axe_violations(page, context=IN_SIGHT) == [], choices
        screenshot(page, f"report-{number}-light", full_page=True)
    assert background(page) == "rgb(255, 255, 255)"


def test_axe_finds_enough_contrast_in_the_dark_too(open_page, report_file):
    from axe_playwright_python.sync_playwright import Axe

    page = open_page(dark=True)
    show(page, report_file)
    for number, choices in enumerate(view for view in VIEWS if "run=r2" not in view):
        visit(page, choices)
        found = Axe().run(page, context=IN_SIGHT, options={"runOnly": ["color-contrast"]})
        assert [rule["id"] for rule in found.response["passes"]] == ["color-contrast"]
        assert found.response["violations"] == [], choices
        screenshot(page, f"report-{number}-dark", full_page=True)
    assert background(page) == "rgb(20, 23, 28)"


def test_without_scripts_the_main_tables_are_clean_too(open_page, report_file):
    page = open_page()
    page.add_init_script("delete window.DecompressionStream")
    page.goto(report_file.as_uri())
    page.wait_for_selector(".plain-run:visible")
    assert axe_violations(page) == []


def test_at_320_pixels_no_view_scrolls_sideways_and_names_of_rows_stay_in_sight(open_page, report_file):
    page = open_page(width=320, height=640, touch=True)
    show(page, report_file)
    for choices in VIEWS:
        visit(page, choices)
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, choices
        screenshot(page, f"report-{VIEWS.index(choices)}-narrow", full_page=True)
    visit(page, "#")
    region = page.locator(".scroll[data-scroll=leaderboard]")
    region.evaluate("node => { node.scrollLeft = 300 }")
    assert page.locator("#panel-leaderboard tbody th").first.bounding_box()["x"] < 40
    visit(page, "#tab=items&item=p0")
    assert not page.get_by_role("listbox").is_visible()
    page.get_by_role("button", name="Back to the list").click()
    assert page.get_by_role("listbox").is_visible()
    assert page.evaluate("document.activeElement.getAttribute('role')") == "listbox"


def test_the_colour_switch_goes_round_and_charts_follow(open_page, report_file):
    page = open_page(dark=False)
    show(page, report_file)
    wait_for_charts(page)
    ink = "[...document.querySelectorAll('.chart text')].map(t => t.getAttribute('fill'))[0]"
    before = page.evaluate(ink)
    switch = page.get_by_role("button", name="Colours:")
    switch.click()
    assert switch.inner_text() == "Colours: light"
    switch.click()
    assert switch.inner_text() == "Colours: dark"
    page.wait_for_function(f"before => {ink} !== before", arg=before)
    assert background(page) == "rgb(20, 23, 28)"
    page.reload()
    page.wait_for_selector("table")
    assert page.get_by_role("button", name="Colours: dark").is_visible()


def test_charts_have_a_sentence_and_headings_go_down_one_level_at_a_time(page, report_file):
    show(page, report_file)
    for choices in VIEWS:
        visit(page, choices)
        for picture in page.locator(".chart:visible").all():
            assert len(picture.get_attribute("aria-label")) > 40
        levels = page.evaluate(
            """() => [...document.querySelectorAll('h1, [role=tabpanel]:not([hidden]) :is(h2, h3, h4, h5, h6)')]
                     .map(h => Number(h.tagName[1]))"""
        )
        assert levels[:2] == [1, 2]
        assert all(after - before <= 1 for before, after in pairwise(levels)), (choices, levels)


def test_paper_gets_all_tabs_and_the_list_as_a_sentence(page, report_file):
    show(page, report_file)
    page.emulate_media(media="print")
    page.wait_for_selector("#panel-trust:visible table >> nth=0")
    for text in ("Leaderboard", "Emoji", "Rating study", "Trust"):
        assert page.locator("h2:visible", has_text=text).count() == 1
    assert not page.get_by_role("listbox").is_visible()
    assert not page.get_by_role("tab").first.is_visible()
    assert page.get_by_text("The list of 8 items is not printed; the file holds it.").is_visible()
    # Trust is printed, with the judge's document in it: its plain table would be the same again
    assert page.locator(".plain-run[data-run=r4]").is_hidden()
    # the run of pairs is not the chosen one: its plain tables are printed
    assert page.locator(".plain-run[data-run=r2]").is_visible()
    assert not page.locator(".plain-run[data-run=r1]").is_visible()
    pdf = page.pdf()
    assert pdf.startswith(b"%PDF")
    assert seen(page).complaints == []


def test_paper_gets_every_chart_at_once_and_light_colours_from_a_dark_page(open_page, report_file):
    page = open_page(dark=True)
    show(page, report_file, "#tab=items")
    page.wait_for_function("() => window.vegaInterpreter")
    # in one step: what Firefox prints is a copy of the page as it is when beforeprint has been told
    drawn = page.evaluate(
        """() => {
          dispatchEvent(new Event('beforeprint'));
          return [...document.querySelectorAll('.chart')].map((chart) => chart.innerHTML);
        }"""
    )
    assert len(drawn) >= 5
    dark = ("#e6e9ee", "#a4adbb", "#7fb0f5")  # ink, soft and accent of the dark page
    for chart in drawn:
        assert "<text" in chart
        assert "<path" in chart
        assert not [colour for colour in dark if colour in chart]
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.documentElement).color") == "rgb(0, 0, 0)"
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.click("#tab-leaderboard")
    page.wait_for_selector(".chart:visible text[fill='#e6e9ee'] >> nth=0")
    assert seen(page).complaints == []


def test_motion_is_left_out_for_those_who_ask(open_page, report_file):
    page = open_page(reduced_motion="reduce")
    show(page, report_file)
    assert page.locator(".chevron").first.evaluate("node => getComputedStyle(node).transitionDuration") == "0s"


def test_the_tabs_are_a_tab_list_that_arrow_keys_walk(page, report_file):
    show(page, report_file)
    page.get_by_role("tab", name="Leaderboard").focus()
    names = []
    for _ in range(5):
        page.keyboard.press("ArrowRight")
        names.append(page.evaluate("document.activeElement.textContent"))
    assert names == ["Items", "Emoji", "Rating study", "Trust", "Leaderboard"]
    page.keyboard.press("End")
    assert page.get_by_role("tab", name="Trust").get_attribute("aria-selected") == "true"
    assert page.get_by_role("tabpanel").get_attribute("aria-labelledby") == "tab-trust"
    page.go_back()
    assert page.get_by_role("tab", name="Leaderboard").get_attribute("aria-selected") == "true"


def test_a_report_of_one_kind_says_what_would_fill_the_other_tabs(page, write_report):
    document = sample.document()
    document["runs"] = document["runs"][3:]
    show(page, write_report("judge-only", document))
    for tab, words in {
        "Leaderboard": "a run of 'mojimeter recommend'",
        "Items": "No run here holds its items",
        "Emoji": "a run that recommends emoji",
        "Rating study": "a table of ratings",
    }.items():
        page.get_by_role("tab", name=tab).click()
        assert words in page.get_by_role("tabpanel").inner_text()
