"""The rating app as its users meet it: a process that can be killed and started again at the same address."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def _load_clients() -> ModuleType:
    """``examples/simulated_raters.py``, whose ``Visit`` is the client of these tests."""
    spec = importlib.util.spec_from_file_location("simulated_raters", ROOT / "examples" / "simulated_raters.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


clients = _load_clients()


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


class Server:
    """``mojimeter collect serve`` on a study folder; ``url`` stays the same over kills and starts."""

    def __init__(self, folder: Path, environment: dict[str, str] | None = None) -> None:
        self.folder, self.port = folder, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None
        self._environment = os.environ | (environment or {})

    def start(self) -> None:
        """Start and wait until a page can be had."""
        main = "from mojimeter.cli import main; main()"
        serve = ["collect", "serve", str(self.folder), "--port", str(self.port), "--json"]
        self.process = subprocess.Popen(
            [sys.executable, "-c", main, *serve], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self._environment
        )
        assert self.process.stdout is not None
        if not self.process.stdout.readline():
            raise AssertionError(self.process.communicate()[1].decode())

    def kill(self) -> None:
        """``kill -9``."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self._close()

    def stop(self) -> str:
        """Stop as asked; what it said on stderr."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        _, said = self.process.communicate(timeout=30)
        return said.decode()

    def _close(self) -> None:
        assert self.process is not None
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process is not None and self.process.poll() is None:
            self.kill()


def stored(folder: Path) -> list[tuple[Any, ...]]:
    """Key, rater, position and value of every event in a study's file, in the order of their numbers."""
    query = "SELECT key, rater_id, position, value FROM events ORDER BY number"
    with contextlib.closing(sqlite3.connect(folder / "ratings.sqlite", timeout=60)) as connection:
        return list(connection.execute(query))


@contextlib.contextmanager
def visiting(link: str, server: str) -> Iterator[Any]:
    """A rater who has entered and consented."""
    visit = clients.Visit(link, server)
    visit.enter()
    yield visit
    visit.close()
