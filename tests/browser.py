"""Pages in a real headless Chromium, for tests that look at what people see.

Fixtures: ``open_page`` (makes pages of any size, colour scheme or touch) and ``page`` (one of them, 1280 x 800, light).
Whatever a page asks for or complains of is kept and read with ``seen(page)``. Chromium is the system's own and is never
downloaded. Tests marked ``whole_browser`` run in ``chromium``, with its windows and profiles; the others in
``chromium-headless-shell``, the same engine in half of the time, where that is installed. MOJIMETER_BROWSER names one
executable for all. Where there is none, or no Playwright, the tests skip with the reason, unless
MOJIMETER_REQUIRE_BROWSER=1 (what CI sets) makes that a failure. Knows nothing of the project.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Playwright

#: Where ``screenshot`` puts its pictures; git ignores it.
SCREENSHOTS = Path(__file__).resolve().parents[1] / "screenshots"

NAMES_OF_CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
HEADLESS_SHELL = "chromium-headless-shell"
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
#: Schemes of requests that go to no host.
LOCAL_SCHEMES = frozenset({"file", "data", "blob", "about"})


@dataclass
class Seen:
    """What a page asked for and complained of since it was opened."""

    #: Every URL, the page's own first.
    requests: list[str] = field(default_factory=list)
    #: Texts of console messages of type error, violations of the content security policy among them.
    console_errors: list[str] = field(default_factory=list)
    #: Messages of exceptions that nothing caught.
    page_errors: list[str] = field(default_factory=list)
    #: Messages of alert, confirm and prompt (all are dismissed).
    dialogs: list[str] = field(default_factory=list)

    @property
    def sent(self) -> list[str]:
        """The requests that would leave the machine or reach a server: all but file, data, blob and about."""
        return [url for url in self.requests if urlsplit(url).scheme not in LOCAL_SCHEMES]

    @property
    def complaints(self) -> list[str]:
        """Everything that a good page has none of."""
        return self.console_errors + self.page_errors + self.dialogs


@dataclass(frozen=True)
class Driver:
    """Playwright, and the event loop that it runs in."""

    playwright: Playwright
    loop: asyncio.AbstractEventLoop

    def launch(self, *names: str) -> Iterator[Browser]:
        """The first of these browsers that is on this machine; it is closed when the iterator goes on."""
        wanted = os.environ.get("MOJIMETER_BROWSER")
        names = (wanted,) if wanted else names
        path = next((found for name in names if (found := shutil.which(name))), None)
        if path is None:
            _without(f"no Chromium on this machine (looked for {', '.join(names)})")
        with _within(self.loop):
            launched = self.playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield launched
        with _within(self.loop):
            launched.close()


_SEEN: WeakKeyDictionary[Any, Seen] = WeakKeyDictionary()


def seen(page: Page) -> Seen:
    """What a page of ``open_page`` asked for and complained of."""
    return _SEEN[page]


@pytest.fixture(scope="session")
def driver() -> Iterator[Driver]:
    """Playwright, started once a session and worker."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _without("playwright is not installed (pip install 'mojimeter[dev]')")
    playwright = sync_playwright().start()
    loop = _leave_loop()
    yield Driver(playwright, loop)
    with _within(loop):
        playwright.stop()


@pytest.fixture(scope="session")
def browser(driver: Driver) -> Iterator[Browser]:
    """The quickest Chromium that is there."""
    yield from driver.launch(HEADLESS_SHELL, *NAMES_OF_CHROMIUM)


@pytest.fixture(scope="session")
def whole_browser(driver: Driver) -> Iterator[Browser]:
    """Chromium as people have it, but for the screen."""
    yield from driver.launch(*NAMES_OF_CHROMIUM)


@pytest.fixture
def open_page(request: pytest.FixtureRequest, driver: Driver) -> Iterator[Callable[..., Page]]:
    """A function that opens pages, each in a fresh context; all are closed after the test.

    A touch page is a phone's: without ``<meta name="viewport">`` it lays out 980 pixels wide, as phones do.
    ``open_page(width=320, height=640, dark=True, touch=True, javascript=False, **options)``: further options are
    those of Playwright's ``new_context`` (``locale``, ``reduced_motion``, ``offline``, ``forced_colors`` ...).
    """
    contexts = []
    whole = request.node.get_closest_marker("whole_browser")
    browser: Browser = request.getfixturevalue("whole_browser" if whole else "browser")

    def open_one(
        *,
        width: int = 1280,
        height: int = 800,
        dark: bool = False,
        touch: bool = False,
        javascript: bool = True,
        **options: Any,
    ) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            has_touch=touch,
            is_mobile=touch,
            java_script_enabled=javascript,
            **options,
        )
        context.set_default_timeout(60_000)  # a busy machine is slow, not wrong
        contexts.append(context)
        page = context.new_page()
        _record(page)
        return page

    with _within(driver.loop):
        yield open_one
        for context in contexts:
            context.close()


@pytest.fixture
def page(open_page: Callable[..., Page]) -> Page:
    """A page of 1280 x 800, light, with a mouse."""
    return open_page()


def screenshot(page: Page, name: str, **options: Any) -> Path:
    """Save a picture as screenshots/NAME.png; options are those of Playwright's ``screenshot`` (``full_page=True``)."""
    SCREENSHOTS.mkdir(exist_ok=True)
    path = SCREENSHOTS / f"{name}.png"
    page.screenshot(path=path, **options)
    return path


def axe_violations(page: Page, context: Any = None) -> list[str]:
    """What axe-core finds wrong with a page: one line a rule, with the elements it means; empty where all is well."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, context=context).response["violations"]
    return [f"{rule['id']} ({rule['impact']}): {rule['help']}: {_targets(rule['nodes'])}" for rule in found]


def _targets(nodes: list[dict[str, Any]]) -> str:
    return " | ".join(" ".join(map(str, node["target"])) for node in nodes)


def _record(page: Page) -> None:
    notes = _SEEN[page] = Seen()
    page.on("request", lambda request: notes.requests.append(request.url))
    page.on("console", lambda message: message.type == "error" and notes.console_errors.append(message.text))
    page.on("pageerror", lambda error: notes.page_errors.append(str(error)))

    def dismiss(dialog: Any) -> None:
        notes.dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", dismiss)


def _without(reason: str) -> None:
    """Skip, or fail where a browser is required."""
    if os.environ.get("MOJIMETER_REQUIRE_BROWSER") == "1":
        pytest.fail(f"MOJIMETER_REQUIRE_BROWSER=1, but {reason}", pytrace=False)
    pytest.skip(reason)


# Playwright's synchronous interface leaves its event loop marked as running in this thread between its calls, which
# makes asyncio.run refuse in every later test of the process (Inspect's among them). The mark is therefore taken away
# outside of the tests that use a page and put back inside them.


def _leave_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    assert loop is not None
    return loop


@contextmanager
def _within(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    asyncio._set_running_loop(loop)
    try:
        yield
    finally:
        asyncio._set_running_loop(None)
