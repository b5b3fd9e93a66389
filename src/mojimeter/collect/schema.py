"""The tables of a study's database, their version, and how an older database becomes a newer one.

Rating events are append-only: triggers refuse to change or delete one, in SQLite and in PostgreSQL alike, so a mistake
in any program that opens the database cannot lose a rating. Knows SQLAlchemy Core; must not know designs, forms or
the web.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqlalchemy import (
    DDL,
    JSON,
    BigInteger,
    Column,
    Connection,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    event,
    inspect,
    select,
    update,
)

from mojimeter.errors import InputError

#: Version 1 had no table ``checks``.
SCHEMA_VERSION: Final = 2

metadata = MetaData()

# A number that the database gives; SQLite does so for INTEGER only.
_Number = BigInteger().with_variant(Integer(), "sqlite")

study = Table(
    "study",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)

items = Table(
    "items",
    metadata,
    Column("id", Text, primary_key=True, doc="the source's name of the item; never shown to raters"),
    Column("number", Integer, nullable=False),
    Column("lang", String(16)),
    Column("payload", JSON, nullable=False, doc="where it is from: group, condition; never shown"),
)

cells = Table(
    "cells",
    metadata,
    Column("id", String(32), primary_key=True, doc="random, says nothing"),
    Column("number", Integer, nullable=False),
    Column("item_id", Text, ForeignKey("items.id"), doc="null: training and attention items"),
    Column("system", Text, nullable=False),
    Column("payload", JSON, nullable=False, doc="all that may be shown"),
    Column("kind", String(16), nullable=False, doc="main, training or attention"),
    Column("expected", Text, doc="the right value, of training and attention items"),
    Column("feedback", Text, doc="shown once a training item is rated"),
)

raters = Table(
    "raters",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("slot", Integer, nullable=False, doc="which row of the design"),
    Column("token_hash", String(64), nullable=False, unique=True),
    Column("created", Double, nullable=False),
    Column("expires", Double, nullable=False),
    Column("revoked", Double),
    Column("external_id", String(64)),
    Column("consented", Double),
    Column("withdrawn", Double),
    Column("completed", Double),
)

sessions = Table(
    "sessions",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("rater_id", String(16), ForeignKey("raters.id"), doc="null: the administrator"),
    Column("created", Double, nullable=False),
    Column("expires", Double, nullable=False),
)

assignments = Table(
    "assignments",
    metadata,
    Column("rater_id", String(16), ForeignKey("raters.id"), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False, doc="from 1"),
    Column("cell_id", String(32), ForeignKey("cells.id"), nullable=False),
    Column("part", String(16), nullable=False, doc="training or main"),
    Column("repeat_of", Integer, doc="position of the first showing"),
)

events = Table(
    "events",
    metadata,
    Column("number", _Number, primary_key=True, autoincrement=True),
    Column("key", String(64), nullable=False, unique=True, doc="made by the client"),
    Column("rater_id", String(16), nullable=False),
    Column("position", Integer, nullable=False),
    Column("cell_id", String(32), ForeignKey("cells.id"), nullable=False),
    Column("value", Text, nullable=False),
    Column("shown_at", Double, nullable=False, doc="seconds since 1970, by the rater's clock"),
    Column("duration_ms", BigInteger, nullable=False),
    Column("received_at", Double, nullable=False, doc="seconds since 1970, by the server's clock"),
    Column("session", String(16), doc="start of the session's hash"),
    ForeignKeyConstraint(["rater_id", "position"], ["assignments.rater_id", "assignments.position"]),
    Index("events_by_position", "rater_id", "position", "number"),
    sqlite_autoincrement=True,
)

checks = Table(
    "checks",
    metadata,
    Column("number", _Number, primary_key=True, autoincrement=True),
    Column("rater_id", String(16), ForeignKey("raters.id"), nullable=False),
    Column("at", Double, nullable=False),
    Column("result", JSON, nullable=False, doc="do emoji draw in colour; no user agent, no address"),
    Index("checks_by_rater", "rater_id", "number"),
    sqlite_autoincrement=True,
)

_REFUSAL: Final = "rating events are append-only"

# The third of SQLite's triggers is there because INSERT OR REPLACE deletes without telling the second.
_TRIGGERS: Final = {
    "sqlite": (
        f"CREATE TRIGGER events_no_update BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END",
        f"CREATE TRIGGER events_no_delete BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END",
        "CREATE TRIGGER events_no_replace BEFORE INSERT ON events "
        "WHEN EXISTS (SELECT 1 FROM events WHERE number = NEW.number OR key = NEW.key) "
        f"BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END",
    ),
    "postgresql": (
        "CREATE FUNCTION events_refuse() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{_REFUSAL}'; END $$",
        "CREATE TRIGGER events_no_change BEFORE UPDATE OR DELETE ON events "
        "FOR EACH ROW EXECUTE FUNCTION events_refuse()",
        "CREATE TRIGGER events_no_truncate BEFORE TRUNCATE ON events EXECUTE FUNCTION events_refuse()",
    ),
}
for _dialect, _statements in _TRIGGERS.items():
    for _statement in _statements:
        event.listen(events, "after_create", DDL(_statement).execute_if(dialect=_dialect))  # type: ignore[no-untyped-call]


def _add_checks(connection: Connection) -> None:
    checks.create(connection)


#: How a database of the version before becomes one of this version.
STEPS: Final[dict[int, Callable[[Connection], None]]] = {2: _add_checks}


def stored_version(connection: Connection) -> int | None:
    """The version of the database's schema; None where it holds no study.

    Raises:
        InputError: there is a table ``study`` that is not ours.
    """
    if not inspect(connection).has_table("study"):
        return None
    try:
        found = connection.execute(select(study.c.value).where(study.c.key == "schema_version")).scalar()
        return int(found or "")
    except ValueError:
        raise InputError(
            "the database has a table 'study' without a schema_version; expected a study of ours"
        ) from None


def bring_up_to_date(connection: Connection) -> int | None:
    """Create the tables, or take the steps that are missing; all in the caller's transaction.

    Returns:
        The version that was found; None where the database was empty.

    Raises:
        InputError: the database is of a newer version than this program knows.
    """
    found = stored_version(connection)
    if found is None:
        metadata.create_all(connection, checkfirst=False)
        connection.execute(study.insert().values(key="schema_version", value=str(SCHEMA_VERSION)))
        return None
    refuse_newer(found)
    for version in range(found + 1, SCHEMA_VERSION + 1):
        STEPS[version](connection)
    if found < SCHEMA_VERSION:
        connection.execute(update(study).where(study.c.key == "schema_version").values(value=str(SCHEMA_VERSION)))
    return found


def refuse_newer(version: int) -> None:
    """Leave alone what a newer program wrote.

    Raises:
        InputError: the version is newer than this program's.
    """
    if version > SCHEMA_VERSION:
        raise InputError(
            f"the study's database is of version {version}, this mojimeter knows up to {SCHEMA_VERSION}; "
            "update mojimeter"
        )
