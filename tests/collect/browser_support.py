"""A rater in a real browser, and what came of it; for the tests that need Chromium."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

from sqlalchemy import select

from mojimeter.collect.database import reading
from mojimeter.collect.schema import events
from tests.collect.small import SmallStudy

if TYPE_CHECKING:
    from playwright.sync_api import Page


def enter(page: Page, address: str, token: str) -> None:
    """From the link to an item, with the mouse; by consent and instructions where they come."""
    page.goto(f"{address}/s/{token}")
    page.get_by_role("button", name="Begin").click()
    page.wait_for_url(lambda url: "/s/" not in url)
    if page.url.endswith("/consent"):
        page.get_by_role("button", name="I agree").click()
        page.get_by_role("link", name="Start").click()
    page.wait_for_selector("article")


def values(study: SmallStudy, rater: str) -> list[str]:
    """What a rater gave, in the order in which it came."""
    query = select(events.c.position, events.c.value).where(events.c.rater_id == rater).order_by(events.c.number)
    with reading(study.store().engine) as connection:
        return [f"{position}={value}" for position, value in connection.execute(query)]


def until(page: Page, condition: str, seconds: float = 60) -> None:
    """Wait until a JavaScript condition holds; Playwright's own way needs eval, which our pages forbid."""
    from playwright.sync_api import Error

    end = time.monotonic() + seconds
    held = False
    while not held:
        assert time.monotonic() < end, f"never true: {condition}; state: {page.inner_text('body')[-300:]}"
        page.wait_for_timeout(50)
        with suppress(Error):  # the page is just being left for another
            held = bool(page.evaluate(condition))
