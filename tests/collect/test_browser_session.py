"""Raters at work in a real Chromium: by keyboard, by thumb, without script, in any script, in the dark."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

pytest.importorskip("starlette")
pytest.importorskip("playwright")

from sqlalchemy import select

from mojimeter.collect.database import reading
from mojimeter.collect.material import Cell, Item, Material
from mojimeter.collect.schema import checks
from mojimeter.collect.study import FONT, Scale
from tests.browser import axe_violations, screenshot, seen
from tests.collect.browser_support import enter, until, values
from tests.collect.small import SmallStudy, small_study
from tests.collect.web_support import Server, serving

if TYPE_CHECKING:
    from playwright.sync_api import Page

OpenPage = Callable[..., "Page"]

POSTS = (
    ("hi", "आज क्रिकेट मैच में हमारी टीम ने आखिरी गेंद पर जीत हासिल की! श्री कृष्ण", "🏏🎉🔥"),
    ("bn", "আজ সারাদিন বৃষ্টি, জানালার পাশে বসে চা খেতে খেতে গান শুনছি। ক্ষুদ্র", "☔🍵🎶"),
    ("ar", "أخيراً انتهت الامتحانات، والآن وقت الراحة مع الأصدقاء!", "😌🎓"),
    ("en", "<b>bold</b> \u202eturned\u202c https://example.org/" + "very" * 30, "👩‍👩‍👧‍👦👍🏽"),
    ("en", "Day 3 without coffee.\nSend help.", "☕😩"),
)
RATERS = 11


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> SmallStudy:
    items = tuple(Item(f"source-item-{k}", f"source-item-{k}", lang) for k, (lang, _, _) in enumerate(POSTS))
    practice = Cell(
        None,
        "",
        {"post": "My cat sleeps.", "text": "My cat sleeps. 😴"},
        "training",
        "en",
        "5",
        "A sleeping face fits.",
    )
    cells = tuple(
        Cell(item.id, "secret-alpha", {"post": text, "text": f"{text} {emoji}"}, lang=lang)
        for item, (lang, text, emoji) in zip(items, POSTS, strict=True)
    )
    return small_study(
        tmp_path_factory.mktemp("session") / "study",
        raters=RATERS,
        material=Material("scale", items, (practice, *cells), "invented for a test"),
        contact="study@example.org",
        completion_code="MOJI-7Q2K",
        external_id_parameter="PROLIFIC_PID",
        scale=Scale(5, "not at all", "perfectly"),
    )


@pytest.fixture(scope="module")
def server(study: SmallStudy) -> Iterator[Server]:
    with serving(study.folder) as running:
        yield running


def settle(page: Page, position: int) -> None:
    """Wait until an item stands in the page and everything that was given is saved."""
    # the script sets noValidate
    until(page, f"document.querySelector('article[data-position=\"{position}\"] form')?.noValidate")
    until(page, "!Object.keys(localStorage).some((k) => k.startsWith('mojimeter:') && k.includes('-r'))")
    page.wait_for_timeout(200)  # what stands there for less is taken for the second half of a double click


@pytest.mark.whole_browser
def test_a_whole_session_by_keyboard_alone(page: Page, server: Server, study: SmallStudy) -> None:
    link = study.links[0]
    page.goto(f"{server.url}/s/{link.token}?PROLIFIC_PID=abc")
    until(page, "document.getElementById('check').textContent")
    assert "in colour. All is well" in page.inner_text("#check")
    for name in ("Begin", "I agree and take part", "Start"):
        while page.evaluate("document.activeElement.textContent.trim()") != name:
            page.keyboard.press("Tab")
            assert page.evaluate("document.activeElement !== document.body"), f"Tab does not reach {name}"
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        with page.expect_navigation():
            page.keyboard.press("Enter")
    settle(page, 1)
    page.keyboard.press("Enter")  # nothing chosen yet
    assert page.inner_text("#missing") == "Please choose an answer first."
    page.keyboard.press("4")
    page.keyboard.press("Enter")
    page.wait_for_selector(".feedback")
    assert "A sleeping face fits." in page.inner_text(".feedback")
    page.wait_for_timeout(200)
    page.keyboard.press("Enter")
    settle(page, 2)
    assert page.inner_text("#heading") == "Item 1 of 5"
    assert page.evaluate("document.activeElement.id") == "heading"
    page.keyboard.press("?")
    assert page.is_visible("dialog")
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    page.keyboard.press("ArrowRight")  # radio buttons do what radio buttons do
    page.keyboard.press("Enter")
    settle(page, 3)
    page.keyboard.press("Backspace")
    settle(page, 2)
    assert page.is_checked('input[value="2"]')
    page.keyboard.press("5")
    page.keyboard.press("Enter")
    settle(page, 3)
    for position in range(3, 7):
        settle(page, position)
        page.keyboard.press(str(position - 2))
        page.keyboard.press("Enter")
    page.wait_for_url("**/done")
    assert "MOJI-7Q2K" in page.inner_text("main")
    assert values(study, link.rater) == ["1=4", "2=2", "2=5", "3=1", "4=2", "5=3", "6=4"]
    with reading(study.store().engine) as connection:
        check = connection.execute(select(checks.c.result).where(checks.c.rater_id == link.rater)).scalar_one()
    assert check == {
        "viewport": "desktop", "dark": False, "touch": False, "font": "bundled", "colour": True, "boxes": False
    }  # fmt: skip
    assert seen(page).complaints == []
    assert {urlsplit(url).netloc for url in seen(page).sent} == {f"127.0.0.1:{server.port}"}


@pytest.mark.whole_browser
def test_a_whole_session_by_thumb_on_a_phone(open_page: OpenPage, server: Server, study: SmallStudy) -> None:
    link = study.links[1]
    page = open_page(width=360, height=640, touch=True)
    page.goto(f"{server.url}/s/{link.token}")
    screenshot(page, "collect-phone-start")
    page.get_by_role("button", name="Begin").tap()
    page.get_by_role("button", name="I agree").tap()
    page.get_by_role("link", name="Start").tap()
    for position in range(1, 7):
        settle(page, position)
        screenshot(page, f"collect-phone-{position}", full_page=True)
        page.locator(".choices label").nth(position % 5).tap()
        page.get_by_role("button", name="Save and go on").tap()
        if position == 1:
            page.get_by_role("link", name="Next").tap()
    page.wait_for_url("**/done")
    assert values(study, link.rater) == ["1=2", "2=3", "3=4", "4=5", "5=1", "6=2"]
    assert seen(page).complaints == []


def test_a_rating_can_be_given_without_script(open_page: OpenPage, server: Server, study: SmallStudy) -> None:
    link = study.links[2]
    page = open_page(javascript=False)
    enter(page, server.url, link.token)
    for position in range(1, 4):
        page.locator(f'article[data-position="{position}"]').wait_for()
        page.locator(".choices label").nth(2).click()
        page.get_by_role("button", name="Save and go on").click()
        if position == 1:
            assert "A sleeping face fits." in page.inner_text(".feedback")
            page.get_by_role("link", name="Next").click()
    page.locator('article[data-position="4"]').wait_for()  # there is no going back while a page is coming
    page.go_back()
    assert page.is_checked('input[value="3"]')
    assert not page.is_visible("#help-button")
    assert values(study, link.rater) == ["1=3", "2=3", "3=3"]


def test_axe_finds_nothing_wrong_on_any_page_light_or_dark(
    open_page: OpenPage, server: Server, study: SmallStudy
) -> None:
    found = {}
    for dark, link in ((False, study.links[3]), (True, study.links[4])):
        page = open_page(dark=dark)

        def look(name: str, page: Page = page, dark: bool = dark) -> None:
            screenshot(page, f"collect-{'dark' if dark else 'light'}-{name}", full_page=True)
            # in the dark only colours differ: the pages that use them all will do
            if (not dark or name in ("start", "chosen", "feedback", "help", "admin")) and (
                wrong := axe_violations(page)
            ):
                found[name, dark] = wrong

        page.goto(f"{server.url}/s/{link.token}")
        until(page, "document.getElementById('check').textContent")
        look("start")
        page.get_by_role("button", name="Begin").click()
        look("consent")
        page.get_by_role("button", name="I agree").click()
        look("instructions")
        page.get_by_role("link", name="Start").click()
        settle(page, 1)
        page.keyboard.press("Enter")
        look("missing")
        page.keyboard.press("3")
        look("chosen")
        page.keyboard.press("Enter")
        page.wait_for_selector(".feedback")
        look("feedback")
        page.goto(f"{server.url}/rate/2")
        page.keyboard.press("?")
        look("help")
        page.goto(f"{server.url}/withdraw")
        look("withdraw")
        page.goto(f"{server.url}/nowhere")
        look("error")
        page.goto(f"{server.url}/rate/2")
        page.get_by_role("button", name="Pause").click()
        look("paused")
        page.goto(f"{server.url}/admin")
        look("admin-token")
        page.fill("#token", study.admin_token)
        page.get_by_role("button", name="Sign in").click()
        look("admin")
    assert found == {}


def test_nothing_scrolls_sideways_at_320_pixels_and_every_target_is_44_wide_and_high(
    open_page: OpenPage, server: Server, study: SmallStudy
) -> None:
    page = open_page(width=320, height=640, touch=True)
    small = []

    def measure(name: str) -> None:
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, name
        for target in page.locator("button:visible, a:visible, .choices label:visible, label.check:visible").all():
            box = target.bounding_box()
            assert box is not None
            if box["width"] < 44 or box["height"] < 44:
                small.append(f"{name}: {target.inner_text()} {box['width']:.0f} x {box['height']:.0f}")

    page.goto(f"{server.url}/s/{study.links[5].token}")
    measure("start")
    page.get_by_role("button", name="Begin").tap()
    page.wait_for_url("**/consent")
    measure("consent")
    page.get_by_role("button", name="I agree").tap()
    page.wait_for_url("**/instructions")
    measure("instructions")
    page.get_by_role("link", name="Start").tap()
    settle(page, 1)
    page.locator(".choices label").nth(2).tap()
    page.get_by_role("button", name="Save and go on").tap()
    page.wait_for_selector(".feedback")
    measure("feedback")
    for position in range(2, 7):
        page.goto(f"{server.url}/rate/{position}")
        measure(f"item {position}")
        screenshot(page, f"collect-320-{position}", full_page=True)
    page.tap("#help-button")
    measure("help")
    screenshot(page, "collect-320-help")
    page.goto(f"{server.url}/withdraw")
    measure("withdraw")
    assert small == []


def test_a_scale_of_eleven_wraps_on_a_phone(open_page: OpenPage, tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", raters=1, items=1, training=0, scale=Scale(11))
    with serving(study.folder) as server:
        page = open_page(width=320, height=640, touch=True)
        enter(page, server.url, study.links[0].token)
        settle(page, 1)
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        boxes = [label.bounding_box() for label in page.locator(".choices label").all()]
        assert len(boxes) == 11
        assert min(min(box["width"], box["height"]) for box in boxes if box) >= 44
        page.keyboard.press("0")
        assert page.is_checked('input[value="10"]')


def test_scripts_are_shaped_and_run_in_their_own_direction(page: Page, server: Server, study: SmallStudy) -> None:
    enter(page, server.url, study.links[6].token)
    settle(page, 1)
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    page.wait_for_selector(".feedback")
    directions = {}
    for position in range(2, 7):
        page.goto(f"{server.url}/rate/{position}")
        body = page.locator(".body").nth(1)
        lang = body.get_attribute("lang")
        directions[lang] = body.evaluate("(e) => getComputedStyle(e).direction")
        if lang in ("hi", "bn"):
            cluster = {"hi": "क्ष", "bn": "ক্ষ"}[lang]
            assert _width(page, cluster) < 0.8 * _width(page, "\u200c".join(cluster)), f"{lang} conjunct not formed"
        if "turned" in body.inner_text():
            assert "[RLO]" in body.inner_text()
            assert page.locator(".body b").count() == 0
        assert body.locator(".e").count() >= 2
        family = body.locator(".e").first.evaluate("(e) => getComputedStyle(e).fontFamily")
        assert family.startswith('"mojimeter emoji"')
    assert directions == {"hi": "ltr", "bn": "ltr", "ar": "rtl", "en": "ltr"}


def _width(page: Page, text: str) -> float:
    return float(
        page.evaluate(
            """(text) => {
              const pen = document.createElement("canvas").getContext("2d");
              pen.font = "40px " + getComputedStyle(document.body).fontFamily;
              return pen.measureText(text).width;
            }""",
            text,
        )
    )


def test_keys_can_be_switched_off_for_good(page: Page, server: Server, study: SmallStudy) -> None:
    enter(page, server.url, study.links[7].token)
    settle(page, 1)
    page.click("#help-button")
    page.get_by_label("Use these keys").uncheck()
    page.get_by_role("button", name="Close").click()
    page.keyboard.press("3")
    assert page.locator("input:checked").count() == 0
    page.reload()
    settle(page, 1)
    page.keyboard.press("3")
    page.keyboard.press("?")
    assert page.locator("input:checked").count() == 0
    assert not page.is_visible("dialog")
    page.locator(".choices label").nth(2).click()
    page.keyboard.press("Enter")  # as in any form
    page.wait_for_selector(".feedback")
    assert values(study, study.links[7].rater) == ["1=3"]


def test_the_font_that_everybody_sees_is_the_bundled_one_and_digits_are_not_drawn_with_it(
    page: Page, server: Server, study: SmallStudy
) -> None:
    page.goto(f"{server.url}/s/{study.links[8].token}")
    until(page, "document.getElementById('check').textContent")
    assert page.evaluate("[...document.fonts].map((f) => [f.family.replaceAll('\"', ''), f.status])") == [
        ["mojimeter emoji", "loaded"]
    ]
    assert "mojimeter" not in page.locator("h1").evaluate("(e) => getComputedStyle(e).fontFamily")


def test_a_browser_that_draws_nothing_with_the_font_shows_its_own_and_that_is_stored(
    page: Page, server: Server, study: SmallStudy
) -> None:
    from fontTools.ttLib import TTFont

    empty = TTFont(study.folder / FONT)
    del empty["COLR"], empty["CPAL"]  # what WebKit 2.50 on Debian 12 makes of it: room for emoji, and no ink
    empty.save(file := BytesIO())
    page.route("**/font.woff2", lambda route: route.fulfill(body=file.getvalue(), content_type="font/woff2"))
    enter(page, server.url, study.links[10].token)
    until(page, "document.documentElement.dataset.font === 'system'")  # not on the start page alone
    assert "mojimeter emoji" not in page.locator(".e").first.evaluate("(node) => getComputedStyle(node).fontFamily")
    with reading(study.store().engine) as connection:
        query = select(checks.c.result).where(checks.c.rater_id == study.links[10].rater)
        check = connection.execute(query).scalar_one()
    assert check["font"] == "system"
    assert seen(page).complaints == []


def test_printing_shows_nothing_that_is_rated(page: Page, server: Server, study: SmallStudy) -> None:
    enter(page, server.url, study.links[9].token)
    page.emulate_media(media="print")
    assert page.locator("body *:visible").count() == 0


def test_the_script_is_a_few_kilobytes_and_names_no_other_host() -> None:
    from mojimeter.collect.web.app import STATIC

    scripts = [path.read_bytes() for path in STATIC.glob("*.js")]
    assert sum(len(gzip.compress(script)) for script in scripts) < 8_000
    assert not re.search(rb"https?://", b"".join(path.read_bytes() for path in STATIC.iterdir()))
