"""A rater's visit without a browser, and the real server as a process of its own; for the tests of the web app."""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("httpx")

from httpx import Response
from starlette.testclient import TestClient

from mojimeter.collect.store import Store
from mojimeter.collect.web import serving as web_serving
from mojimeter.collect.web.app import Settings, make_app
from tests.collect.small import SmallStudy

MAIN = "from mojimeter.cli import main; main()"


@contextmanager
def client_of(
    study: SmallStudy, settings: Settings | None = None, store: Store | None = None, **options: Any
) -> Iterator[TestClient]:
    """A browser without script: keeps cookies, follows no redirect."""
    app = make_app(store or study.store(), study.folder, settings)
    with TestClient(app, follow_redirects=False, **options) as client:
        yield client


class Visitor:
    """A rater with a link, who does what the pages offer."""

    def __init__(self, client: TestClient, token: str) -> None:
        self.client, self.token = client, token

    def enter(self, **fields: str) -> Response:
        return self.client.post(f"/s/{self.token}", data=fields)

    def agree(self) -> Visitor:
        """Enter and give consent."""
        assert self.enter().status_code == 303
        answer = self.post("/consent")
        assert answer.status_code == 303, answer.text
        return self

    def csrf(self) -> str:
        return field("csrf", self.client.get("/withdraw").text)

    def post(self, path: str, **fields: str) -> Response:
        return self.client.post(path, data={"csrf": self.csrf()} | fields)

    def cell(self, position: int) -> str:
        """The opaque id of the cell that stands at a position."""
        found = re.search(r'data-cell="(\w+)"', self.client.get(f"/rate/{position}").text)
        assert found is not None
        return found[1]

    def rate(self, position: int, value: str, **changed: Any) -> Response:
        """Send a rating as the script does."""
        csrf = changed.pop("csrf", None) or self.csrf()
        cell = changed.pop("cell", None) or self.cell(position)
        rating = {
            "key": secrets.token_hex(16),
            "position": position,
            "cell": cell,
            "value": value,
            "shown_at": 1.5,
            "duration_ms": 900,
        }
        return self.client.post("/ratings", json=rating | changed, headers={"x-csrf-token": csrf})


def field(name: str, page: str) -> str:
    """The value of a hidden field of a page."""
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert found is not None, f"no field {name} in {page[:2000]}"
    return found[1]


class Server:
    """``mojimeter collect serve`` as a process; killed and started again on the same port."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder, self.options = folder, options
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.ready: dict[str, Any] = {}
        self._process: subprocess.Popen[str] | None = None

    def command(self) -> list[str]:
        serve = ["collect", "serve", str(self.folder), "--json", "--port", str(self.port)]
        return [sys.executable, "-c", MAIN, *serve, *self.options]

    def start(self) -> Server:
        """Start, and wait until the first page can be fetched."""
        self._process = subprocess.Popen(
            self.command(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise AssertionError(self._process.communicate()[1])
        self.ready = json.loads(line)
        return self

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def kill(self) -> None:
        """As a crash does it."""
        self._end(signal.SIGKILL)

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str, str]:
        """As a person does it: the exit code, and what was written since."""
        return self._end(number)

    def _end(self, number: int) -> tuple[int, str, str]:
        if self._process is None:
            return 0, "", ""
        process, self._process = self._process, None
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[Server]:
    """A server that is gone afterwards, however the test ends."""
    server = Server(folder, *options).start()
    try:
        yield server
    finally:
        server.kill()


@contextmanager
def serving_here(study: SmallStudy, settings: Settings | None = None) -> Iterator[str]:
    """The same server in a thread of this process, where its limits can be set; not told to stop by signals."""
    store, started = study.store(), threading.Event()
    listener = web_serving.listen("127.0.0.1", 0)
    server = web_serving.server_of(make_app(store, study.folder, settings), started.set)
    thread = threading.Thread(target=server.run, args=([listener],))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(web_serving._Server, "capture_signals", lambda server: nullcontext())
        thread.start()
        assert started.wait(60)
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
            store.engine.dispose()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
