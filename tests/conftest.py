"""Shared by all tests: where the optional shared data lie, and one BLAS thread."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from pathlib import Path

import pytest

from tests.browser import browser, driver, open_page, page, whole_browser
from tests.postgres import postgres, postgres_url

__all__ = ["browser", "driver", "open_page", "page", "postgres", "postgres_url", "shared", "whole_browser"]

SHARED = Path(__file__).resolve().parents[1].parent / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data beside the project; a test that needs it is skipped where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("the shared data folder is not beside the project")
    return SHARED
