"""Reports that the browser tests look at, each written once a session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.report_page import sample

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture(scope="session")
def font() -> bytes:
    """The bundled font, cut to the sample's emoji."""
    pytest.importorskip("uharfbuzz")
    from mojimeter.fonts import cut_emoji_font

    return cut_emoji_font(sample.EMOJI["strings"])


@pytest.fixture(scope="session")
def write_report(tmp_path_factory: pytest.TempPathFactory, font: bytes) -> Callable[[str, dict[str, Any]], Path]:
    """A function that writes a page document as a report file."""
    from mojimeter.report.page.html import render

    folder = tmp_path_factory.mktemp("report")

    def write(name: str, document: dict[str, Any]) -> Path:
        path = folder / f"{name}.html"
        path.write_text(render(document, font=font), encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="session")
def report_file(write_report: Callable[[str, dict[str, Any]], Path]) -> Path:
    """The sample as a report: a run of each kind, and texts that mean harm."""
    return write_report("sample", sample.document())


def show(page: Page, file: Path, choices: str = "") -> None:
    """Open a report with these choices in its address, and wait until the tab that they name is there."""
    page.goto(file.as_uri() + choices)
    page.wait_for_selector("[role=tabpanel]:not([hidden]) > *")


def wait_for_charts(page: Page) -> None:
    """Wait until every chart that is in sight has been drawn."""
    page.wait_for_function(
        "() => [...document.querySelectorAll('.chart')].every(c => !c.offsetParent || c.querySelector('svg, p'))"
    )
