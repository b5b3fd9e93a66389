"""What every rater was asked and what counts as the answer, row by row, for what is exported.

A later rating of a position counts instead of the earlier ones, which are there and are counted. Knows the tables;
nothing of what is done with the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, func, select

from mojimeter.collect.schema import assignments, cells, events, items

#: Rows that are fetched at a time: a large study must not be in memory at once.
_BATCH = 500


def current_ratings(connection: Connection, *, texts: bool = False) -> Iterator[Row[Any]]:
    """One row for every position of every rater, in order, rated or not.

    Columns: ``rater``, ``position``, ``part``, ``repeat_of``, ``cell``, ``kind``, ``expected``, ``item``, ``system``,
    ``lang``, and of the rating that counts ``value``, ``shown_at``, ``duration_ms``, ``received_at`` (null where there
    is none) and ``times``, how often the position was rated. With `texts` also ``payload`` and ``about`` (group and
    condition of the item).
    """
    yield from connection.execution_options(yield_per=_BATCH).execute(_query(texts))


def _query(texts: bool) -> Select[Any]:
    latest = (
        select(
            events.c.rater_id,
            events.c.position,
            func.max(events.c.number).label("number"),
            func.count().label("times"),
        )
        .group_by(events.c.rater_id, events.c.position)
        .subquery()
    )
    here = and_(latest.c.rater_id == assignments.c.rater_id, latest.c.position == assignments.c.position)
    columns: list[Any] = [
        assignments.c.rater_id.label("rater"),
        assignments.c.position,
        assignments.c.part,
        assignments.c.repeat_of,
        cells.c.id.label("cell"),
        cells.c.kind,
        cells.c.expected,
        cells.c.item_id.label("item"),
        cells.c.system,
        items.c.lang,
        events.c.value,
        events.c.shown_at,
        events.c.duration_ms,
        events.c.received_at,
        func.coalesce(latest.c.times, 0).label("times"),
    ]
    if texts:
        columns += [cells.c.payload, items.c.payload.label("about")]
    return (
        select(*columns)
        .select_from(
            assignments.join(cells, cells.c.id == assignments.c.cell_id)
            .outerjoin(items, items.c.id == cells.c.item_id)
            .outerjoin(latest, here)
            .outerjoin(events, events.c.number == latest.c.number)
        )
        .order_by(func.length(assignments.c.rater_id), assignments.c.rater_id, assignments.c.position)
    )
