"""A report is one file: it asks for nothing else, runs nothing but its own scripts, and is never blank."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest

from tests.browser import seen
from tests.report_page import sample
from tests.report_page.conftest import show, wait_for_charts

pytestmark = pytest.mark.whole_browser

TABS = ("leaderboard", "items", "emoji", "study", "trust")
RUNS = ("r1", "r2", "r3")


def test_no_tab_of_any_run_asks_for_another_file_or_complains(page, report_file):
    show(page, report_file)
    for tab in TABS:
        for run in RUNS if tab in ("leaderboard", "items") else RUNS[:1]:
            page.evaluate("choices => { location.hash = choices }", f"#tab={tab}&run={run}")
            page.wait_for_selector(f"#panel-{tab}:visible > *")
            wait_for_charts(page)
    for item in ("p0", "p2", "p6", "p7"):
        page.evaluate("choices => { location.hash = choices }", f"#tab=items&item={item}")
        page.wait_for_selector(f".item h3 >> text={item}")
    found = seen(page)
    assert [url for url in found.requests if not url.startswith("data:")] == [report_file.as_uri()]
    assert found.sent == []
    assert found.complaints == []


def test_the_policy_names_every_script_and_style_by_its_hash_and_allows_nothing_else(report_file):
    html = report_file.read_text(encoding="utf-8")
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', html)
    policy = policy.replace("&#39;", "'")
    assert "unsafe" not in policy
    assert "http:" not in policy
    assert "https:" not in policy
    parts = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert parts["default-src"] == "'none'"
    assert parts["base-uri"] == "'none'"
    assert parts["form-action"] == "'none'"
    for tag, source in (("script", "script-src"), ("style", "style-src")):
        texts = re.findall(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        assert len(texts) == 2
        for text in texts:
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            assert f"'sha256-{digest}'" in parts[source]


def test_a_script_or_style_that_is_not_the_reports_own_does_not_run(page, report_file):
    show(page, report_file)
    page.evaluate(
        """() => {
          const script = document.createElement("script");
          script.textContent = "window.intruder = true";
          document.head.append(script);
          document.body.insertAdjacentHTML("beforeend", "<p id=styled style='position: fixed'>text</p>");
        }"""
    )
    assert page.evaluate("window.intruder === undefined")
    assert page.evaluate("getComputedStyle(document.getElementById('styled')).position") == "static"
    assert all("Content Security Policy" in line for line in seen(page).console_errors)


def test_without_scripts_the_main_tables_of_every_run_are_there(open_page, report_file):
    page = open_page(javascript=False)
    page.goto(report_file.as_uri())
    assert page.locator(".plain-run:visible").count() == 4
    row = page.locator(".plain-run[data-run=r1] tbody tr", has_text="maker/alpha")
    assert row.locator("td").nth(0).inner_text() == "1-2, tie"
    assert row.locator("td").nth(1).inner_text() == "60.0 [55.0, 65.0]"
    assert page.get_by_text("Perceived age and gender are labels, not facts about people.").is_visible()
    assert page.locator("noscript").inner_text().startswith("This browser runs no scripts here")


def test_a_browser_that_cannot_unpack_the_report_says_so_and_shows_the_main_tables(open_page, report_file):
    page = open_page()
    page.add_init_script("delete window.DecompressionStream")
    page.goto(report_file.as_uri())
    page.wait_for_selector("#trouble:visible")
    assert "could not show the whole report" in page.inner_text("#trouble")
    assert page.locator(".plain-run:visible").count() == 4


def test_a_number_that_is_not_finite_is_refused_rather_than_written(font):
    from mojimeter.report.page.html import render

    document = sample.document()
    document["runs"][0]["items"]["disagreement"][0] = float("nan")
    with pytest.raises(ValueError, match="JSON"):
        render(document, font=font)


def test_libraries_of_charts_are_in_the_file_once_whatever_the_number_of_runs(report_file, write_report):
    document = sample.document()
    twice = [{**run, "id": f"{run['id']}b", "name": f"{run['name']} again"} for run in sample.document()["runs"]]
    document["runs"] += twice
    more = len(write_report("twice", document).read_bytes()) - len(report_file.read_bytes())
    assert 0 < more < 40_000  # the libraries alone are more than 300,000 bytes


def test_all_but_the_font_and_the_document_leaves_room_for_a_demo_within_1500000_bytes():
    from mojimeter.report.page.html import render

    empty = sample.document() | {"runs": []}
    # the demo's font takes 0.90 MB (928 emoji, in base64) and its document 0.09 MB of the 1.5 MB
    assert len(render(empty, font=b"").encode()) < 500_000
