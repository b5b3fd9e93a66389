"""Nothing lost, seen from a real Chromium: no network, a killed server, double clicks, two tabs, the back button."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("starlette")
pytest.importorskip("playwright")

from mojimeter.collect.invites import renew_link
from tests.browser import screenshot
from tests.collect.browser_support import enter, until, values
from tests.collect.small import SmallStudy, small_study
from tests.collect.web_support import Server, serving

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

OpenPage = Callable[..., "Page"]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> SmallStudy:
    return small_study(tmp_path_factory.mktemp("outage") / "study", raters=14, items=6, training=0)


@pytest.fixture(scope="module")
def process(study: SmallStudy) -> Iterator[Server]:
    with serving(study.folder) as running:
        yield running


@pytest.fixture
def server(process: Server) -> Server:
    """The server, running, whatever the test before left."""
    return process if process.running else process.start()


def at(page: Page, position: int) -> None:
    """Wait for an item; what stands there for less than this is taken for the second half of a double click."""
    until(
        page, f"document.querySelector('article[data-position=\"{position}\"] form')?.noValidate"
    )  # the script is there
    page.wait_for_timeout(200)


def ahead(page: Page) -> None:
    """Wait until the next items have come."""
    until(page, "performance.getEntriesByType('resource').some((e) => e.name.includes('/cells') && e.responseEnd)")
    page.wait_for_timeout(100)


def rate(page: Page, position: int, value: int) -> None:
    at(page, position)
    page.keyboard.press(str(value))
    page.keyboard.press("Enter")


def waiting(page: Page) -> int:
    """Ratings that the device still keeps."""
    return int(page.evaluate("Object.keys(localStorage).filter((k) => k.includes('-r')).length"))


def until_said(page: Page, words: str) -> None:
    """Wait until the line about what is saved begins with these words."""
    until(page, f"document.getElementById('state').textContent.startsWith('{words}')")


def saved(page: Page) -> None:
    until(page, "document.getElementById('state').textContent === 'Saved.'")


def rate_and_save(page: Page, position: int, value: int) -> None:
    """Rate an item, and see the next one and that it is saved."""
    rate(page, position, value)
    at(page, position + 1)
    saved(page)


def lose_network(page: Page, position: int) -> None:
    """At an item, once the next ones have come."""
    at(page, position)
    ahead(page)
    page.context.set_offline(True)


def rate_offline_until_stuck(page: Page, value: int) -> None:
    """Lose the network at the first item and go on as far as items have come: seven ratings wait."""
    lose_network(page, 1)
    for position in range(1, 8):
        rate(page, position, value)
    until_said(page, "No connection, and the next item is not here yet")


@pytest.mark.whole_browser
def test_a_server_killed_in_the_middle_costs_no_rating_and_the_rater_goes_on(
    page: Page, server: Server, study: SmallStudy
) -> None:
    link = study.links[0]
    enter(page, server.url, link.token)
    rate_and_save(page, 1, 1)
    server.kill()
    for position in (2, 3, 4):
        rate(page, position, position)
    at(page, 5)
    until_said(page, "No connection")
    assert "Not saved yet (3)" in page.inner_text("#state")
    assert waiting(page) == 3
    screenshot(page, "collect-outage", full_page=True)
    page.keyboard.press("Backspace")  # the answer that the server does not have yet is shown
    at(page, 4)
    assert page.is_checked('input[value="4"]')
    server.start()
    saved(page)
    assert waiting(page) == 0
    assert values(study, link.rater) == ["1=1", "2=2", "3=3", "4=4"]
    page.goto(f"{server.url}/rate")
    rate_and_save(page, 5, 5)
    assert values(study, link.rater)[-1] == "5=5"


@pytest.mark.whole_browser
def test_without_a_network_ratings_wait_on_the_device_even_if_the_page_is_closed(
    open_page: OpenPage, server: Server, study: SmallStudy
) -> None:
    link = study.links[1]
    page = open_page()
    context: BrowserContext = page.context
    enter(page, server.url, link.token)
    rate_offline_until_stuck(page, 3)
    assert waiting(page) == 7
    server.kill()  # a tab that closes has its network back for a moment, long enough to send one
    page.close()
    context.set_offline(False)
    assert values(study, link.rater) == []
    server.start()
    page = context.new_page()
    page.goto(f"{server.url}/rate")
    saved(page)
    assert values(study, link.rater) == [f"{k}=3" for k in range(1, 8)]


def test_when_the_network_is_back_an_unfinished_wait_ends_by_itself(
    open_page: OpenPage, server: Server, study: SmallStudy
) -> None:
    link = study.links[2]
    page = open_page()
    enter(page, server.url, link.token)
    rate_offline_until_stuck(page, 2)
    page.context.set_offline(False)
    at(page, 8)
    saved(page)
    assert values(study, link.rater) == [f"{k}=2" for k in range(1, 8)]


def test_a_double_click_and_a_key_held_down_give_one_rating(page: Page, server: Server, study: SmallStudy) -> None:
    link = study.links[3]
    enter(page, server.url, link.token)
    at(page, 1)
    page.locator(".choices label").nth(1).click()
    page.get_by_role("button", name="Save and go on").dblclick()
    at(page, 2)
    assert page.inner_text("#missing") == ""
    page.keyboard.press("4")
    for _ in range(5):
        page.keyboard.down("Enter")  # repeats, as the keyboard does
    page.keyboard.up("Enter")
    at(page, 3)
    saved(page)
    assert values(study, link.rater) == ["1=2", "2=4"]


def test_the_same_item_in_two_tabs_keeps_both_ratings_and_the_last_counts(
    open_page: OpenPage, server: Server, study: SmallStudy
) -> None:
    link = study.links[4]
    first = open_page()
    enter(first, server.url, link.token)
    second = first.context.new_page()
    second.goto(f"{server.url}/rate/1")
    rate_and_save(first, 1, 2)
    rate_and_save(second, 1, 5)
    assert values(study, link.rater) == ["1=2", "1=5"]
    first.keyboard.press("Backspace")
    at(first, 1)
    assert first.is_checked('input[value="5"]')


def test_two_tabs_that_come_back_together_send_everything_once(
    open_page: OpenPage, server: Server, study: SmallStudy
) -> None:
    link = study.links[5]
    first = open_page()
    enter(first, server.url, link.token)
    second = first.context.new_page()
    second.goto(f"{server.url}/rate/1")
    at(second, 1)
    at(first, 1)
    ahead(first)
    ahead(second)
    first.context.set_offline(True)
    for page, value in ((first, 2), (second, 4)):
        for position in (1, 2, 3):
            rate(page, position, value)
        at(page, 4)
    first.context.set_offline(False)
    for page in (first, second):
        saved(page)
    # in the order in which they were made, so that the last of each position is the last that was given
    assert values(study, link.rater) == ["1=2", "2=2", "3=2", "1=4", "2=4", "3=4"]
    assert waiting(first) == 0


def test_the_browsers_back_button_shows_the_current_answer(page: Page, server: Server, study: SmallStudy) -> None:
    link = study.links[6]
    enter(page, server.url, link.token)
    rate(page, 1, 2)
    rate_and_save(page, 2, 4)
    page.go_back()
    at(page, 2)
    assert page.is_checked('input[value="4"]')
    page.go_back()
    at(page, 1)
    assert page.is_checked('input[value="2"]')
    page.goto(f"{server.url}/withdraw")
    page.go_back()
    at(page, 1)
    assert page.is_checked('input[value="2"]')
    page.keyboard.press("Enter")  # unchanged: goes on and gives no second rating
    at(page, 2)
    assert values(study, link.rater) == ["1=2", "2=4"]


def test_a_rater_goes_on_with_the_same_link_on_another_device(
    open_page: OpenPage, server: Server, study: SmallStudy
) -> None:
    link = study.links[7]
    computer = open_page()
    enter(computer, server.url, link.token)
    rate_and_save(computer, 1, 1)
    computer.get_by_role("button", name="Pause").click()
    assert "signed out" in computer.inner_text("main")
    phone = open_page(width=360, height=640, touch=True)
    enter(phone, server.url, link.token)
    at(phone, 2)
    phone.get_by_role("link", name="Previous").tap()
    at(phone, 1)
    assert phone.is_checked('input[value="1"]')


def test_a_rating_made_after_the_session_ended_is_kept_told_and_sent_after_signing_in_again(
    open_page: OpenPage, server: Server, study: SmallStudy
) -> None:
    link = study.links[8]
    page = open_page()
    enter(page, server.url, link.token)
    rate_and_save(page, 1, 1)
    page.context.clear_cookies()
    rate(page, 2, 5)
    until_said(page, "Not saved yet (1): kept on this device. You were signed out")
    assert waiting(page) == 1
    enter(page, server.url, link.token)
    saved(page)
    until(page, "!Object.keys(localStorage).some((k) => k.includes('-r'))")
    assert values(study, link.rater) == ["1=1", "2=5"]


def test_all_that_waited_on_the_device_is_sent_after_the_link_was_renewed(
    open_page: OpenPage, server: Server, study: SmallStudy
) -> None:
    link = study.links[11]
    page = open_page()
    enter(page, server.url, link.token)
    rate_offline_until_stuck(page, 4)
    # ends the session too: what the tab sends while it closes, when it has its network back for a moment, is refused
    (renewed,) = renew_link(study.folder, link.rater).links
    page.close()
    page.context.set_offline(False)
    page = page.context.new_page()
    page.goto(f"{server.url}/rate")
    assert "article" not in page.content()
    assert values(study, link.rater) == []
    page.goto(f"{server.url}/s/{renewed.token}")
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("link", name="Start").click()
    saved(page)
    assert values(study, link.rater) == [f"{k}=4" for k in range(1, 8)]


def test_a_correction_that_waited_when_all_was_done_is_sent_from_the_last_page(
    open_page: OpenPage, tmp_path: Path
) -> None:
    study = small_study(tmp_path / "study", raters=1, items=1, training=0)
    (link,) = study.links
    with serving(study.folder) as server:
        page = open_page()
        enter(page, server.url, link.token)
        total = int(page.evaluate("document.body.dataset.total"))
        for position in range(1, total + 1):
            rate(page, position, 3)
        page.wait_for_url("**/done")
        page.get_by_role("link", name="Look at your answers").click()
        at(page, 1)
        server.kill()
        rate(page, 1, 5)
        until_said(page, "No connection")
        page.close()
        server.start()
        page = page.context.new_page()
        page.goto(server.url)
        page.wait_for_url("**/done")
        saved(page)
        assert waiting(page) == 0
    assert values(study, link.rater)[-1] == "1=5"


def test_of_two_answers_made_while_the_clock_went_back_the_later_one_counts(
    open_page: OpenPage, server: Server, study: SmallStudy
) -> None:
    link = study.links[10]
    page = open_page()
    enter(page, server.url, link.token)
    rate_and_save(page, 1, 3)
    page.keyboard.press("Backspace")
    at(page, 1)
    page.context.clear_cookies()
    rate(page, 1, 2)
    until_said(page, "Not saved yet (1): kept on this device. You were signed out")
    page.evaluate("Date.now = () => 1e9")  # a device whose battery was empty: 1970
    page.keyboard.press("Backspace")
    at(page, 1)
    rate(page, 1, 5)
    at(page, 2)
    assert waiting(page) == 2
    enter(page, server.url, link.token)
    saved(page)
    assert values(study, link.rater) == ["1=3", "1=2", "1=5"]


def test_a_rating_that_the_study_refuses_is_shown_as_not_saved_and_never_dropped(
    page: Page, server: Server, study: SmallStudy
) -> None:
    link = study.links[9]
    enter(page, server.url, link.token)
    at(page, 1)
    page.evaluate("document.querySelector('article').dataset.cell = '0'.repeat(32)")  # as if the study had changed
    rate(page, 1, 3)
    until_said(page, "Not saved (1)")
    rate(page, 2, 4)  # the others are not held up
    at(page, 3)
    until_said(page, "Not saved (1)")
    assert waiting(page) == 1
    assert values(study, link.rater) == ["2=4"]
    screenshot(page, "collect-refused", full_page=True)


def test_pausing_waits_until_everything_is_saved(open_page: OpenPage, server: Server, study: SmallStudy) -> None:
    page = open_page()
    enter(page, server.url, study.links[12].token)
    page.goto(f"{server.url}/rate/3")
    lose_network(page, 3)
    rate(page, 3, 3)
    at(page, 4)
    page.get_by_role("button", name="Pause").click()
    until_said(page, "Some answers are not saved yet")
    assert page.url.endswith("/rate/4")
    page.context.set_offline(False)
    saved(page)
    page.get_by_role("button", name="Pause").click()
    page.wait_for_url("**/paused")


def test_a_browser_that_keeps_nothing_says_so_and_still_sends(
    open_page: OpenPage, server: Server, study: SmallStudy
) -> None:
    page = open_page()
    page.add_init_script("Storage.prototype.setItem = () => { throw new Error('full'); }")
    enter(page, server.url, study.links[13].token)
    page.goto(f"{server.url}/rate/5")
    lose_network(page, 5)
    rate(page, 5, 1)
    until_said(page, "This browser keeps nothing for later, so please keep the page open")
    page.context.set_offline(False)
    saved(page)
    assert "5=1" in values(study, study.links[13].rater)
