"""The statements that raters' requests run, built once: SQLAlchemy takes longer to build one than SQLite to run it.

Knows the tables; says nothing about when a statement may be run.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import bindparam, case, exists, func, insert, select, update

from mojimeter.collect.schema import assignments, cells, events, raters, sessions

_here = assignments.c.rater_id == bindparam("rater")
_rated = exists().where(events.c.rater_id == assignments.c.rater_id, events.c.position == assignments.c.position)
_training = assignments.c.part == "training"

#: ``hash``, ``now`` -> the session's hash and rater (null: the administrator), unless it has ended.
SESSION: Final = (
    select(sessions.c.hash, sessions.c.rater_id)
    .select_from(sessions.outerjoin(raters, raters.c.id == sessions.c.rater_id))
    .where(sessions.c.hash == bindparam("hash"), sessions.c.expires > bindparam("now"), raters.c.revoked.is_(None))
)

#: ``rater`` -> the whole row.
RATER: Final = select(raters).where(raters.c.id == bindparam("rater"))

#: ``rater`` -> numbers of positions: all, without a rating, training, training without a rating; first without one.
STATE: Final = select(
    func.count().label("total"),
    func.count(case((~_rated, 1))).label("left"),
    func.count(case((_training, 1))).label("training"),
    func.count(case((_training & ~_rated, 1))).label("practising"),
    func.min(case((~_rated, assignments.c.position))).label("following"),
).where(_here)

#: ``rater``, ``place``, ``key`` -> whether the rater may rate, the cell at that position (null: there is none), and
#: what the key stands for already (nulls: nothing).
PLACE: Final = (
    select(
        raters.c.revoked,
        raters.c.withdrawn,
        raters.c.consented,
        assignments.c.cell_id,
        events.c.rater_id.label("earlier_rater"),
        events.c.position.label("earlier_position"),
        events.c.cell_id.label("earlier_cell"),
        events.c.value.label("earlier_value"),
    )
    .select_from(
        raters.outerjoin(
            assignments, (assignments.c.rater_id == raters.c.id) & (assignments.c.position == bindparam("place"))
        ).outerjoin(events, events.c.key == bindparam("key"))
    )
    .where(raters.c.id == bindparam("rater"))
)

RATE: Final = insert(events)

#: ``rater``, ``now``: note that all is rated; the first time counts.
COMPLETE: Final = (
    update(raters)
    .where(raters.c.id == bindparam("rater"), raters.c.completed.is_(None))
    .values(completed=bindparam("now"))
)

#: ``rater``, ``place`` -> the first position after it that has no rating.
NEXT: Final = (
    select(assignments.c.position)
    .where(_here, assignments.c.position > bindparam("place"), ~_rated)
    .order_by(assignments.c.position)
    .limit(1)
)

#: ``rater`` -> the last position.
LAST: Final = select(func.max(assignments.c.position)).where(_here)

#: ``rater``, ``place``, ``most`` -> so many positions from there on, with cells and the values that count.
PAGES: Final = (
    select(
        assignments.c.position,
        assignments.c.part,
        cells,
        select(events.c.value)
        .where(events.c.rater_id == assignments.c.rater_id, events.c.position == assignments.c.position)
        .order_by(events.c.number.desc())
        .limit(1)
        .correlate(assignments)
        .scalar_subquery()
        .label("value"),
    )
    .select_from(assignments.join(cells, cells.c.id == assignments.c.cell_id))
    .where(_here, assignments.c.position >= bindparam("place"))
    .order_by(assignments.c.position)
    .limit(bindparam("most"))
)
