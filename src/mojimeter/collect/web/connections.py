"""Connections whose clients keep us waiting: closed after a while, and when there are too many the slowest first.

uvicorn closes a connection on which nothing comes after an answer, but waits for ever for a head that was begun and for
an answer to be taken, so that a program could hold all that we can open. Knows uvicorn's protocol; must not know
requests, pages or raters.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from uvicorn.protocols.http.h11_impl import H11Protocol

#: Seconds in which a request must have come whole: since the connection was made, or since the answer before.
SLOWEST_REQUEST = 90.0
#: Seconds in which an answer must have been taken: the font of a study, by a slow phone.
SLOWEST_ANSWER = 300.0
#: Connections at once: each is an open file, of which a process has 256 where it has fewest (macOS).
MOST_CONNECTIONS = 200


class Connection(H11Protocol):
    """A connection that knows since when its client has kept us waiting."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._since = self.loop.time()
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            waiting = [c for c in self.connections if isinstance(c, Connection) and c.waits]
            min(waiting, key=lambda c: c._since).drop()

    def on_response_complete(self) -> None:
        self._since = self.loop.time()
        super().on_response_complete()

    @property
    def waits(self) -> bool:
        """Whether it is the client's turn: to send a request or the rest of one, or to take an answer."""
        cycle = self.cycle
        return cycle is None or cycle.response_complete or cycle.more_body or self.flow.write_paused

    def is_overdue(self) -> bool:
        """Whether the client has kept us waiting too long; single bytes make no difference."""
        most = SLOWEST_ANSWER if self.transport.get_write_buffer_size() else SLOWEST_REQUEST
        return self.waits and self.loop.time() - self._since > most

    def drop(self) -> None:
        """Close at once, whatever is still to be sent."""
        self.connections.discard(self)
        self.transport.abort()


def drop_overdue(connections: Iterable[object]) -> None:
    """Close the connections whose clients have kept us waiting too long."""
    for connection in list(connections):
        if isinstance(connection, Connection) and connection.is_overdue():
            connection.drop()
