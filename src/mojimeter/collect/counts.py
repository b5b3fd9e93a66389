"""How much every rater was asked and has given, counted by the database, which does not hand out all ratings for it.

As everywhere, the last rating of a position counts. All ratings are counted in one pass, and those that a later one
replaced, which are few, are taken off again: to look for a later one of each would cost more than all the rest. Knows
the tables and the study's checks; not what the numbers are for.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from sqlalchemy import Connection, ScalarSelect, Text, case, cast, func, literal_column, select

from mojimeter.collect.schema import assignments, cells, events
from mojimeter.collect.study import StudyConfig


@dataclass
class Counts:
    """One rater.

    Attributes:
        total, main_total: positions asked for, and those among them that go into the table of ratings: first showings
            of main cells.
        done, main_done: as many of both as have a rating.
        changed: positions that were rated more than once.
        last_seen: seconds since 1970 of the last rating.
        median_ms: milliseconds from showing to rating, of main cells and their repeats; None without any.
        attention_passed, attention_given, repeats_agreed, repeats_given: as in ``RaterStatus``.
    """

    total: int
    main_total: int
    done: int = 0
    main_done: int = 0
    changed: int = 0
    last_seen: float | None = None
    median_ms: float | None = None
    attention_passed: int = 0
    attention_given: int = 0
    repeats_agreed: int = 0
    repeats_given: int = 0


def count_ratings(
    connection: Connection, config: StudyConfig, leave_out: Container[str]
) -> tuple[dict[str, Counts], Counter[str]]:
    """What each rater who was asked anything has given, and how many ratings each main cell has.

    Args:
        connection: of a read transaction.
        config: says which attention items are passed.
        leave_out: raters whose ratings do not count for cells.
    """
    found = {row.rater: Counts(row.total, row.main_total) for row in connection.execute(_ASKED)}
    known = {row.id: row.expected for row in connection.execute(_KNOWN)}
    per_cell = Counter(dict.fromkeys(connection.execute(_MAIN).scalars(), 0))
    replaced: defaultdict[str, list[Any]] = defaultdict(list)
    for row in connection.execute(_REPLACED):
        replaced[row.rater].append(row)
    # a rater at a time: the lists of all of them are megabytes
    for row in connection.execution_options(yield_per=1).execute(_GIVEN):
        earlier = replaced[row.rater]
        of_main = [one for one in earlier if one.cell not in known]
        _add_given(found[row.rater], row, earlier, of_main)
        if row.rater not in leave_out:
            per_cell.update(_listed(row.cells))
            per_cell.subtract(one.cell for one in of_main)
    for row in connection.execution_options(yield_per=_BATCH).execute(_CHECKS):
        if row.value is None:
            continue
        counts = found[row.rater]
        if row.cell in known:
            counts.attention_given += 1
            counts.attention_passed += config.passes(known[row.cell], row.value)
            continue
        counts.main_done -= 1  # a repeat is no rating of its own
        per_cell[row.cell] -= row.rater not in leave_out
        counts.repeats_given += row.first is not None
        counts.repeats_agreed += row.first == row.value
    return found, per_cell


def _add_given(counts: Counts, given: Any, replaced: Sequence[Any], of_main: Sequence[Any]) -> None:
    """Fill in what a rater has given, without the ratings that were replaced (those of main cells once more)."""
    durations = Counter(map(int, _listed(given.durations)))
    durations.subtract(one.duration_ms for one in of_main)
    counts.done = given.ratings - len(replaced)
    counts.main_done = durations.total()
    counts.changed = len({row.position for row in replaced})
    counts.last_seen = given.last_seen
    counts.median_ms = median(durations.elements()) if counts.main_done else None


def _listed(text: str | None) -> list[str]:
    return text.split(",") if text else []


_BATCH: Final = 500
_MAIN: Final = select(cells.c.id).where(cells.c.kind == "main")
_KNOWN: Final = select(cells.c.id, cells.c.expected).where(cells.c.kind != "main")
_known = select(cells.c.id).where(cells.c.kind != "main")
_attention = select(cells.c.id).where(cells.c.kind == "attention")

_first_of_main = assignments.c.repeat_of.is_(None) & assignments.c.cell_id.not_in(_known)
_ASKED: Final = select(
    assignments.c.rater_id.label("rater"),
    func.count().label("total"),
    func.count(case((_first_of_main, 1))).label("main_total"),
).group_by(assignments.c.rater_id)

# The name is made an expression so that SQLite reads the events as they lie and sorts them, which is three times as
# fast here as to look up each by the index of raters. Lists come as texts, which both databases can make.
_rater = (events.c.rater_id + literal_column("''")).label("rater")
_of_main = events.c.cell_id.not_in(_known)
_GIVEN: Final = select(
    _rater,
    func.count().label("ratings"),
    func.max(events.c.received_at).label("last_seen"),
    func.aggregate_strings(case((_of_main, cast(events.c.duration_ms, Text))), ",").label("durations"),
    func.aggregate_strings(case((_of_main, events.c.cell_id)), ",").label("cells"),
).group_by(_rater)

_again = (
    select(events.c.rater_id, events.c.position, func.max(events.c.number).label("last"))
    .group_by(events.c.rater_id, events.c.position)
    .having(func.count() > 1)
    .subquery()
)
_REPLACED: Final = select(
    events.c.rater_id.label("rater"), events.c.position, events.c.cell_id.label("cell"), events.c.duration_ms
).join(
    _again,
    (events.c.rater_id == _again.c.rater_id)
    & (events.c.position == _again.c.position)
    & (events.c.number < _again.c.last),
)


def _value_at(position: Any) -> ScalarSelect[Any]:
    return (
        select(events.c.value)
        .where(events.c.rater_id == assignments.c.rater_id, events.c.position == position)
        .order_by(events.c.number.desc())
        .limit(1)
        .correlate(assignments)
        .scalar_subquery()
    )


# attention items, and repeats with the value of their first showing
_CHECKS: Final = select(
    assignments.c.rater_id.label("rater"),
    assignments.c.cell_id.label("cell"),
    _value_at(assignments.c.position).label("value"),
    _value_at(assignments.c.repeat_of).label("first"),
).where(assignments.c.repeat_of.is_not(None) | assignments.c.cell_id.in_(_attention))
