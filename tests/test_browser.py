"""The browser fixtures themselves: what they record, and that they leave the other tests alone."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.browser import SCREENSHOTS, axe_violations, screenshot, seen


def test_a_page_tells_what_it_asked_for_and_complained_of(page, tmp_path: Path):
    file = tmp_path / "page.html"
    file.write_text(
        "<!doctype html><title>t</title><script>console.error('oh');alert('hello');"
        "setTimeout(() => { throw new Error('lost') })</script><img src='http://127.0.0.1:9/x.png'>"
    )
    page.goto(file.as_uri())
    page.wait_for_timeout(50)
    notes = seen(page)
    assert notes.requests[0] == file.as_uri()
    assert notes.sent == ["http://127.0.0.1:9/x.png"]
    assert "oh" in notes.console_errors
    assert notes.page_errors == ["lost"]
    assert notes.dialogs == ["hello"]


@pytest.mark.whole_browser
def test_a_quiet_page_has_no_complaints_and_a_picture(page, tmp_path: Path):
    file = tmp_path / "page.html"
    file.write_text("<!doctype html><html lang=en><title>t</title><main><h1>Quiet</h1></main></html>")
    page.goto(file.as_uri())
    assert seen(page).complaints == []
    assert seen(page).sent == []
    assert axe_violations(page) == []
    path = screenshot(page, "quiet")
    assert path.parent == SCREENSHOTS
    assert path.read_bytes().startswith(b"\x89PNG")


def test_axe_names_the_rule_and_the_element(page):
    page.set_content("<!doctype html><html lang=en><title>t</title><main><h1>x</h1><img id=bare src='data:,'></main>")
    (violation,) = axe_violations(page)
    assert violation.startswith("image-alt (critical)")
    assert "#bare" in violation


def test_pages_differ_in_size_colour_scheme_and_touch(open_page):
    narrow = open_page(width=320, height=600, dark=True, touch=True)
    wide = open_page()
    narrow.set_content("<meta name=viewport content='width=device-width'>")
    dark = "matchMedia('(prefers-color-scheme: dark)').matches"
    assert narrow.evaluate(f"[innerWidth, {dark}, navigator.maxTouchPoints > 0]") == [320, True, True]
    assert wide.evaluate(f"[innerWidth, {dark}, navigator.maxTouchPoints > 0]") == [1280, False, False]


def test_event_loops_of_other_tests_run_after_the_browser_was_started(browser):
    async def answer() -> int:
        await asyncio.sleep(0)
        return 42

    assert asyncio.run(answer()) == 42
