"""A misbehaving provider under a name of its own, and a fake key in the environment."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults import benchmark
from tests.faults.provider import NO_FAULTS, Faults, Provider, Reply

KEY = "sk-this-key-is-fake-0123456789"
_numbers = itertools.count()

Serve = Callable[..., Provider]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Starts a provider; its models are ``provider.system`` and ``provider.judge``.

    Each has a name of its own, because Inspect remembers models, and with them an address, by name.
    """
    running: list[Provider] = []

    def start(faults: Faults = NO_FAULTS, reply: Reply = benchmark.reply, delay: float = 0.0) -> Provider:
        provider = Provider(reply, faults, delay, service=f"fake{next(_numbers)}")
        provider.__enter__()
        running.append(provider)
        for name, value in provider.environment(KEY).items():
            monkeypatch.setenv(name, value)
        return provider

    yield start
    for provider in running:
        provider.__exit__()


@pytest.fixture
def posts(tmp_path: Path) -> Path:
    """A few posts."""
    return benchmark.write_posts(tmp_path / "posts.csv", benchmark.POSTS)
