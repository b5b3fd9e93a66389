"""Clients that keep the server waiting: they are closed, and raters are served meanwhile."""

from __future__ import annotations

import http.client
import socket
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

pytest.importorskip("starlette")

from mojimeter.collect.web import connections
from tests.collect.small import SmallStudy, small_study
from tests.collect.web_support import serving_here

HEAD = b"GET /health HTTP/1.1\r\nHost: here\r\n"


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> SmallStudy:
    return small_study(tmp_path_factory.mktemp("connections") / "study", raters=1, items=1)


@pytest.fixture
def port(study: SmallStudy) -> Iterator[int]:
    with serving_here(study) as url:
        yield int(url.rpartition(":")[2])


@contextmanager
def opened(port: int, *sent: bytes) -> Iterator[list[socket.socket]]:
    """A connection for each of these beginnings of what could be a request."""
    lines = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in sent]
    for line, data in zip(lines, sent, strict=True):
        line.sendall(data)
    try:
        yield lines
    finally:
        for line in lines:
            line.close()


def served(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/health")
    answer = connection.getresponse()
    connection.close()
    return answer.status == 200


def read_to_the_end(line: socket.socket) -> bytes:
    """All that comes until the server closes; a server that does not is an error after a minute."""
    found = bytearray()
    with suppress(ConnectionResetError):
        while data := line.recv(65_536):
            found += data
    return bytes(found)


def test_heads_and_bodies_that_never_end_are_given_up_and_others_are_served(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "SLOWEST_REQUEST", 0.5)
    body = b"POST /ratings HTTP/1.1\r\nHost: here\r\nContent-Length: 100\r\n\r\n{"
    with opened(port, b"", b"GET /hea", HEAD, body, HEAD + b"\r\n" + b"GET /hea") as lines:
        assert served(port)
        found = [read_to_the_end(line) for line in lines]
        assert found[:4] == [b""] * 4
        assert found[4].startswith(b"HTTP/1.1 200")  # the first of two was answered
        assert found[4].count(b"HTTP/1.1") == 1
    assert served(port)


def test_a_head_that_comes_byte_by_byte_is_given_up_too(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "SLOWEST_REQUEST", 0.5)

    def dribble(line: socket.socket) -> None:
        for _ in range(6000):
            line.sendall(b"x")
            time.sleep(0.01)

    with opened(port, HEAD) as [line], pytest.raises(ConnectionError):
        dribble(line)
    assert served(port)


def test_answers_that_nobody_takes_are_given_up(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "SLOWEST_ANSWER", 0.5)
    asked = 1500  # more than the buffers of both sides hold
    with opened(port, b"GET /static/style.css HTTP/1.1\r\nHost: here\r\n\r\n" * asked) as [line]:
        assert served(port)
        time.sleep(2.5)
        assert read_to_the_end(line).count(b"HTTP/1.1 200") < asked
    assert served(port)


def test_however_many_keep_waiting_the_next_gets_in(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 5)
    with opened(port, *[HEAD] * 12) as lines:
        assert served(port)
        for line in lines[:8]:  # the slowest go first
            assert read_to_the_end(line) == b""
        lines[-1].sendall(b"\r\n")
        assert lines[-1].recv(100).startswith(b"HTTP/1.1 200")


def test_a_rating_that_is_being_stored_is_not_closed_for_others(
    study: SmallStudy, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 3)
    monkeypatch.setattr(connections, "SLOWEST_REQUEST", 0.5)
    head = f"POST /s/{study.links[0].token} HTTP/1.1\r\nHost: here\r\nContent-Length: 0\r\n\r\n"
    holder = sqlite3.connect(study.folder / "ratings.sqlite", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")  # entering waits for this
    with opened(port, head.encode()) as [line]:
        time.sleep(0.2)
        with opened(port, *[HEAD] * 6) as others:
            for other in others:
                assert read_to_the_end(other) == b""
            holder.execute("ROLLBACK")
            assert line.recv(100).startswith(b"HTTP/1.1 303")
    holder.close()
