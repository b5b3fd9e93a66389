"""What the store takes and gives: sessions, states, pages, ratings, and the ways in which it refuses.

Knows no database and no web; everything here is plain data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from mojimeter.errors import MojimeterError

Part = Literal["training", "main"]
Reason = Literal["unknown", "expired", "revoked"]


# The refusals below are named for what happened, as the web app and its tests call them.
class StoreError(MojimeterError):
    """What a rater asked for cannot be done."""


class Refused(StoreError):  # noqa: N818
    """A link that lets nobody in; ``reason`` is unknown, expired or revoked."""

    def __init__(self, reason: Reason) -> None:
        self.reason = reason
        super().__init__(
            {"unknown": "no such link", "expired": "the link has expired"}.get(reason, "the link is closed")
        )


class NotYours(StoreError):  # noqa: N818
    """A position or cell that this rater does not have."""


class BadValue(StoreError):  # noqa: N818
    """A rating that cannot be one: value, key, time or duration."""


class KeyReused(StoreError):  # noqa: N818
    """A key that already stands for another rating."""


class Closed(StoreError):  # noqa: N818
    """The rater cannot rate now; ``reason`` is consent (not given yet), withdrawn or revoked."""

    def __init__(self, reason: Literal["consent", "withdrawn", "revoked"]) -> None:
        self.reason = reason
        super().__init__(
            {"consent": "consent was not given yet", "withdrawn": "you have withdrawn"}.get(reason, "closed")
        )


@dataclass(frozen=True)
class Session:
    """A rater who is signed in. ``cookie`` is secret; ``hash`` is what is stored of it; ``csrf`` goes into forms."""

    cookie: str
    csrf: str
    rater: str
    hash: str


@dataclass(frozen=True)
class AdminSession:
    """Somebody who gave the administrator's token; cannot rate."""

    cookie: str
    csrf: str


@dataclass(frozen=True)
class RaterState:
    """Where a rater is. ``done`` and ``total`` count all positions; the first ``training`` of them are training."""

    consented: bool
    withdrawn: bool
    training: int
    training_done: bool
    done: int
    total: int
    next_position: int | None
    completed: bool


@dataclass(frozen=True)
class CellPage:
    """One position of a rater as it may be shown.

    Attributes:
        payload: what is shown; see ``collect/sources.py``. Never a system or an item's name.
        value: the current rating, None where there is none.
        feedback: of a training item that has been rated, otherwise None.
        expected: the right value, together with the feedback only.
    """

    position: int
    total: int
    part: Part
    payload: Mapping[str, Any]
    cell_id: str
    value: str | None
    feedback: str | None
    expected: str | None


@dataclass(frozen=True)
class Rating:
    """A rating as a client sends it. ``shown_at``: seconds since 1970 by the client's clock."""

    key: str
    position: int
    cell_id: str
    value: str
    shown_at: float
    duration_ms: int


@dataclass(frozen=True)
class Saved:
    """A rating that is on disk; ``fresh`` is False where it had been there before."""

    key: str
    position: int
    next_position: int | None
    fresh: bool
