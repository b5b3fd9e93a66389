"""Opening a study's database: SQLite by default, PostgreSQL by URL; the rest of the room does not know which.

A write is one transaction, and it is on disk when it is over: SQLite runs with a write-ahead log and synchronous
FULL. What the database itself cannot do (disk full, locked, server gone) is ``Unavailable``. Must not know what is
stored.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, Final, TypeVar
from weakref import WeakKeyDictionary

from sqlalchemy import URL, Connection, Engine, Table, create_engine, event, func, make_url, select
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, NoSuchModuleError, TimeoutError

from mojimeter.collect.schema import SCHEMA_VERSION, bring_up_to_date, refuse_newer, stored_version
from mojimeter.errors import InputError, MissingExtraError, MojimeterError

T = TypeVar("T")

#: Seconds that a write waits for other processes that write.
PATIENCE: Final = 30
PASSWORD_VARIABLE: Final = "PGPASSWORD"
_DUMPS = partial(json.dumps, ensure_ascii=False)
_WRITES: Final = "mojimeter_writes"
_queues: WeakKeyDictionary[Any, _Queue] = WeakKeyDictionary()


class _Piece:
    """A piece of work that waits to be done in some transaction, and what came of it."""

    def __init__(self, work: Callable[[Connection], Any]) -> None:
        self.work = work
        self.done = False
        self.result: Any = None
        self.error: BaseException | None = None


class _Queue:
    """Those in this process who wait to write to one SQLite file."""

    def __init__(self) -> None:
        self.turn = Lock()
        self.waiting: deque[_Piece] = deque()


class Unavailable(MojimeterError):  # noqa: N818 - a state of the database, which passes
    """The database cannot be reached or cannot write now; nothing was stored (the web app answers 503)."""


def open_database(where: str | Path) -> Engine:
    """An engine for a file path (SQLite) or a URL ``postgresql://...`` or ``sqlite:///...``.

    The password of PostgreSQL comes from the environment variable PGPASSWORD unless the URL has one. Nothing is
    connected or created yet.

    Raises:
        InputError: a URL of another kind.
        MissingExtraError: PostgreSQL without its driver.
    """
    url = _as_url(where)
    # hide_parameters: no answer and no hash of a token gets into a traceback
    options: dict[str, Any] = {"json_serializer": _DUMPS, "hide_parameters": True, "pool_size": 4, "max_overflow": 28}
    if url.get_backend_name() == "sqlite":
        engine = create_engine(url, connect_args={"timeout": PATIENCE}, **options)
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    try:
        # a server that was restarted must not cost a rater an error
        engine = create_engine(url, pool_pre_ping=True, **options)
    except ModuleNotFoundError:
        raise MissingExtraError("pg8000", "postgres", "A study in PostgreSQL") from None
    # many rows in a statement: the driver would send the orders of an invitation, or a backup, row by row
    engine.dialect.use_insertmanyvalues_wo_returning = True
    return engine


def _as_url(where: str | Path) -> URL:
    if isinstance(where, Path) or "://" not in where:
        return URL.create("sqlite", database=str(where))
    try:
        url = make_url(where)
        backend = url.get_backend_name()
    except (ArgumentError, NoSuchModuleError, ValueError):
        raise InputError("the database URL cannot be read; expected postgresql://USER@HOST/NAME") from None
    if backend == "sqlite":
        return url
    if backend not in ("postgresql", "postgres"):
        raise InputError(f"a database of kind {backend!r}; expected a file's path or postgresql://USER@HOST/NAME")
    url = url.set(drivername="postgresql+pg8000")
    if url.password is None and os.environ.get(PASSWORD_VARIABLE):
        url = url.set(password=os.environ[PASSWORD_VARIABLE])
    return url


def _prepare_sqlite(connection: Any, record: object) -> None:
    connection.isolation_level = None  # transactions begin and end where we say, not where the driver guesses
    for pragma in (
        "journal_mode = WAL",
        "synchronous = FULL",
        f"busy_timeout = {PATIENCE * 1000}",
        "foreign_keys = ON",
        "recursive_triggers = ON",
        "cache_size = -256",  # KiB a connection: the serving process stays small, and a rating touches few pages
    ):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    # a write takes its lock at the start: one that begins by reading could not wait for another to end
    writes = connection.get_execution_options().get(_WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """One write transaction: committed, and on disk, when the block is left; rolled back if it raises.

    Threads of one process queue at a lock, because SQLite's own waiting is neither fair nor quick.

    Raises:
        Unavailable: the database could not do it.
        sqlalchemy.exc.IntegrityError: a rule of the schema was broken.
    """
    turn = _queue_of(engine).turn if engine.dialect.name == "sqlite" else nullcontext()
    with turn, _transaction(engine) as connection:
        yield connection


def write(engine: Engine, work: Callable[[Connection], T]) -> T:
    """Do a short piece of work in a transaction, which is on disk when this returns.

    In SQLite the pieces of threads that wait at the same time share one transaction, because what takes the time is
    that it must reach the disk. So a piece must raise before it has written anything, or not at all.

    Raises:
        Unavailable: the database could not do it.
        whatever `work` raises.
    """
    if engine.dialect.name != "sqlite":
        with _transaction(engine) as connection:
            return work(connection)
    queue, piece = _queue_of(engine), _Piece(work)
    queue.waiting.append(piece)
    with queue.turn:
        if not piece.done:  # nobody who had the turn before us took it along
            _do_waiting(engine, queue)
    if piece.error is not None:
        raise piece.error
    done: T = piece.result
    return done


def _do_waiting(engine: Engine, queue: _Queue) -> None:
    """Do all that waits in one transaction; what fails in it fails alone, but the commit is everybody's."""
    # taken before the transaction begins: where it cannot begin, all of them must be told
    taken = [queue.waiting.popleft() for _ in range(len(queue.waiting))]
    try:
        with _transaction(engine) as connection:
            for piece in taken:
                try:
                    piece.result = piece.work(connection)
                except (MojimeterError, IntegrityError) as error:
                    piece.error = error
    except BaseException as error:
        for piece in taken:
            # whoever was refused was so before anything was written; for the others nothing was
            piece.error = piece.error or _of_its_own(error)
        if not isinstance(error, Exception):
            raise
    finally:
        for piece in taken:
            piece.done = True


def _of_its_own(error: BaseException) -> BaseException:
    """An error for one thread of those that shared it: an exception raised twice would mix up tracebacks."""
    if isinstance(error, Exception):
        return Unavailable(str(error)) if isinstance(error, Unavailable) else error
    return Unavailable("the study's database cannot be used now: interrupted")


@contextmanager
def _transaction(engine: Engine) -> Iterator[Connection]:
    with _translated(), engine.connect().execution_options(**{_WRITES: True}) as connection, connection.begin():
        yield connection


@contextmanager
def reading(engine: Engine, *, snapshot: bool = False) -> Iterator[Connection]:
    """One read transaction.

    Args:
        engine: from `open_database`.
        snapshot: all of it must see the same state, whatever is written meanwhile (SQLite: always).

    Raises:
        Unavailable: the database could not do it.
    """
    with _translated(), engine.connect() as connection:
        if snapshot and engine.dialect.name == "postgresql":
            connection = connection.execution_options(isolation_level="REPEATABLE READ")
        with connection.begin():
            yield connection


def _queue_of(engine: Engine) -> _Queue:
    return _queues.setdefault(engine, _Queue())


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except IntegrityError:
        raise
    except DBAPIError as error:
        raise Unavailable(f"the study's database cannot be used now: {_first_line(error.orig)}") from error
    except (TimeoutError, OSError) as error:
        raise Unavailable(f"the study's database cannot be reached: {_first_line(error)}") from error


def _first_line(error: BaseException | None) -> str:
    if error is None:
        return "no reason given"
    first = error.args[0] if error.args else error
    text = first.get("M", "") if isinstance(first, dict) else str(first)  # pg8000 gives the fields of the message
    return (text.splitlines() or [type(error).__name__])[0]


def migrate(engine: Engine) -> int | None:
    """Create the tables of an empty database, or bring an older one up to date, in one transaction.

    A file is copied beside itself first (``ratings.sqlite`` to ``ratings.sqlite.v1``).

    Returns:
        The version that was found; None where the database was empty.

    Raises:
        InputError: the database is newer than this program, or is not a study's.
        Unavailable: it cannot be used.
    """
    with reading(engine) as connection:
        found = stored_version(connection)
    if found == SCHEMA_VERSION:
        return found
    if found is not None:
        refuse_newer(found)
        _copy_aside(engine, found)
    with writing(engine) as connection:
        return bring_up_to_date(connection)


def _copy_aside(engine: Engine, version: int) -> None:
    file = engine.url.database
    if engine.dialect.name != "sqlite" or not file or file == ":memory:":
        return
    copy = Path(f"{file}.v{version}")
    if copy.exists():  # an earlier try that was interrupted made it from the same state
        return
    part = copy.with_name(copy.name + ".part")
    part.unlink(missing_ok=True)
    os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))  # it names systems, as the file itself does
    with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(part)) as target:
        source.backup(target)
    part.replace(copy)


def create(connection: Connection) -> None:
    """Make the tables in an empty database, in the caller's transaction: if that fails, nothing was made.

    Raises:
        InputError: the database holds a study already.
    """
    if bring_up_to_date(connection) is not None:
        raise InputError("the database holds a study already; give each study a database of its own")


def advance_numbers(connection: Connection, table: Table) -> None:
    """After rows were inserted with their numbers: let PostgreSQL go on counting behind them, as SQLite does."""
    if connection.dialect.name == "postgresql":
        last = connection.execute(select(func.max(table.c.number))).scalar()
        if last is not None:
            connection.execute(select(func.setval(func.pg_get_serial_sequence(table.name, "number"), last)))
