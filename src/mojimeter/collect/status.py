"""How far a study is: who did how much, how long it took, and what is missing. Names no system.

Knows the store; imports nothing heavy, because the administrator's page shows it too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy import Connection, Row, func, select

from mojimeter.collect.counts import Counts, count_ratings
from mojimeter.collect.database import reading
from mojimeter.collect.schema import checks, raters
from mojimeter.collect.store import Store
from mojimeter.collect.study import Form

State = Literal["invited", "started", "done", "withdrawn", "revoked", "expired"]


@dataclass(frozen=True)
class RaterStatus:
    """One rater.

    Attributes:
        state: ``expired``: the link has, before all was done; ``invited``: nothing was done with it yet.
        done, total: positions rated and asked for, training, attention items and repeats among them.
        main_done, main_total: those that go into the table of ratings.
        median_seconds: from showing to rating, of the main part; None without any.
        attention_passed, attention_given: items with a known answer, as answered so far.
        repeats_agreed, repeats_given: repeats with the same value as the first showing.
        changed: positions that were rated more than once; the last rating counts.
        emoji_ok: whether the latest check saw emoji in colour and none as boxes; None without a check.
        last_seen: seconds since 1970 of the last rating.
    """

    rater: str
    state: State
    done: int
    total: int
    main_done: int
    main_total: int
    median_seconds: float | None
    attention_passed: int
    attention_given: int
    repeats_agreed: int
    repeats_given: int
    changed: int
    emoji_ok: bool | None
    last_seen: float | None
    external_id: str | None

    def to_dict(self) -> dict[str, Any]:
        return dict(self.__dict__)


@dataclass(frozen=True)
class StudyStatus:
    """A whole study.

    Attributes:
        cells: main cells of the study.
        ratings_per_cell: fewest and most ratings of any cell, without those of raters who withdrew.
        cells_without_rating: main cells that nobody has rated.
        missing: ratings that were asked for and are not there yet, of raters who still can give them.
        lost: ratings that were asked for of raters who withdrew, were revoked, or whose link has expired.
    """

    title: str
    form: Form
    design: str
    raters: tuple[RaterStatus, ...]
    cells: int
    ratings: int
    ratings_per_cell: tuple[int, int]
    cells_without_rating: int
    missing: int
    lost: int
    states: Mapping[State, int] = field(default_factory=dict)

    @property
    def complete(self) -> float | None:
        """Share of the ratings asked for that are there, of raters who did not withdraw; None without raters."""
        asked = sum(r.main_total for r in self.raters if r.state != "withdrawn")
        return self.ratings / asked if asked else None

    def to_dict(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "form": self.form,
            "design": self.design,
            "cells": self.cells,
            "ratings": self.ratings,
            "ratings_per_cell": list(self.ratings_per_cell),
            "cells_without_rating": self.cells_without_rating,
            "complete": self.complete,
            "missing": self.missing,
            "lost": self.lost,
            "states": dict(self.states),
            "raters": [r.to_dict() for r in self.raters],
        }


def study_status(store: Store) -> StudyStatus:
    """Who did how much, and what is missing.

    Raises:
        Unavailable: the database cannot be used.
    """
    now = store.now()
    with reading(store.engine, snapshot=True) as connection:
        people = connection.execute(select(raters).order_by(func.length(raters.c.id), raters.c.id)).all()
        colours = latest_checks(connection)
        withdrew = {person.id for person in people if person.withdrawn is not None}
        counts, per_cell = count_ratings(connection, store.config, leave_out=withdrew)
    every = tuple(_rater_status(p, counts[p.id], colours.get(p.id), now) for p in people if p.id in counts)
    left = {
        state: sum(r.main_total - r.main_done for r in every if r.state == state)
        for state in ("invited", "started", "withdrawn", "revoked", "expired")
    }
    numbers = per_cell.values()
    return StudyStatus(
        title=store.config.title,
        form=store.config.form,
        design=store.config.design,
        raters=every,
        cells=len(per_cell),
        ratings=sum(r.main_done for r in every if r.state != "withdrawn"),
        ratings_per_cell=(min(numbers, default=0), max(numbers, default=0)),
        cells_without_rating=sum(n == 0 for n in numbers),
        missing=left["invited"] + left["started"],
        lost=left["withdrawn"] + left["revoked"] + left["expired"],
        states={r.state: sum(other.state == r.state for other in every) for r in every},
    )


def latest_checks(connection: Connection) -> dict[str, bool]:
    """For each rater with a check of the font, whether the latest saw emoji in colour and none as boxes."""
    rows = connection.execute(select(checks.c.rater_id, checks.c.result).order_by(checks.c.number))
    return {row.rater_id: is_ok(row.result) for row in rows}


def is_ok(check: Mapping[str, Any]) -> bool:
    """Whether a check of the font saw emoji in colour and none as boxes."""
    return check.get("colour") is True and check.get("boxes") is not True


def is_main(row: Row[Any]) -> bool:
    """Whether a row of `current_ratings` is a first showing of a main cell: what the table of ratings is made of."""
    return bool(row.kind == "main" and row.repeat_of is None)


def _rater_status(person: Row[Any], counts: Counts, emoji_ok: bool | None, now: float) -> RaterStatus:
    return RaterStatus(
        rater=person.id,
        state=_state(person, counts.done, counts.total, now),
        done=counts.done,
        total=counts.total,
        main_done=counts.main_done,
        main_total=counts.main_total,
        median_seconds=None if counts.median_ms is None else counts.median_ms / 1000,
        attention_passed=counts.attention_passed,
        attention_given=counts.attention_given,
        repeats_agreed=counts.repeats_agreed,
        repeats_given=counts.repeats_given,
        changed=counts.changed,
        emoji_ok=emoji_ok,
        last_seen=counts.last_seen,
        external_id=person.external_id,
    )


def _state(person: Row[Any], done: int, total: int, now: float) -> State:
    if person.withdrawn is not None:
        return "withdrawn"
    if person.revoked is not None:
        return "revoked"
    if done == total:
        return "done"
    if person.expires <= now:
        return "expired"
    return "started" if person.consented is not None else "invited"
