"""Studies in both databases: a test that takes ``database`` runs on SQLite and on PostgreSQL."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str:
    """What study.toml says under [database] url: empty for the file beside it, or a fresh PostgreSQL database."""
    url: str = "" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    return url
