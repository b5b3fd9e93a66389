"""Runs the web app of one study folder until it is told to stop: one process, one socket, a graceful end.

Knows uvicorn and sockets; must not know pages or raters.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from starlette.types import ASGIApp
from uvicorn.config import Config
from uvicorn.server import Server

from mojimeter.collect.store import open_store
from mojimeter.collect.web.app import Settings, make_app
from mojimeter.collect.web.connections import Connection, drop_overdue
from mojimeter.errors import InputError

#: Seconds that requests under way have to end once we were told to stop.
_GRACE = 5
_CLOSED_IDLE_AFTER = 65  # longer than proxies keep a connection, so that it is they who close it
_BACKLOG = 128  # connections that are taken at once, before any of them is looked at


class _Server(Server):
    """Stops on SIGTERM and SIGINT, remembers which, and does not raise it again: stopping is no failure."""

    def __init__(self, config: Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready
        self.stopped_by: int | None = None

    async def on_tick(self, counter: int) -> bool:
        if counter % 10 == 0:  # a tick is a tenth of a second
            drop_overdue(self.server_state.connections)
        return await super().on_tick(counter)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {s: signal.signal(s, self.handle_exit) for s in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.stopped_by = sig
        super().handle_exit(sig, frame)


def serve(folder: str | Path, host: str, port: int, settings: Settings, ready: Callable[[str], None]) -> int:
    """Serve a study folder until SIGTERM or SIGINT; ratings under way are stored and answered first.

    Args:
        folder, host, port: what, and where; port 0 takes a free one.
        settings: how the app is reached.
        ready: called once with the URL when the first page can be fetched.

    Returns:
        The exit code: 0, or 130 when interrupted from the keyboard.

    Raises:
        InputError: no study there, the address cannot be had, or ``settings.root`` is a path of the app itself.
        Unavailable: the database cannot be reached.
    """
    store = open_store(folder)
    app = make_app(store, Path(folder), settings)
    listener = listen(host, port)
    server = server_of(app, lambda: ready(url_of(host, listener.getsockname()[1], settings.root)))
    try:
        with suppress(asyncio.CancelledError):
            server.run([listener])
    finally:
        store.engine.dispose()
    return 130 if server.stopped_by == signal.SIGINT else 0


def server_of(app: ASGIApp, ready: Callable[[], None]) -> _Server:
    """A server that serves the app once it is given a socket that listens."""
    config = Config(
        app,
        loop="asyncio",
        http=Connection,
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=_BACKLOG,
        timeout_keep_alive=_CLOSED_IDLE_AFTER,
        timeout_graceful_shutdown=_GRACE,
    )
    return _Server(config, ready)


def url_of(host: str, port: int, root: str = "") -> str:
    """The app's address as a browser on this machine takes it."""
    shown = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}{root}/"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the host's address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes a free one.

    Raises:
        InputError: no such address, or it is in use.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise InputError(f"--host {host}: {error.strerror or error}") from None
    try:
        if sys.platform != "win32":  # there it would let two programs have the same port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise InputError(
                f"port {port} of {host} is in use; choose another with --port, or 0 for a free one"
            ) from None
        raise InputError(f"cannot listen on {host} port {port}: {error.strerror}") from None
    listener.setblocking(False)
    return listener
