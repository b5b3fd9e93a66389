"""The PostgreSQL fixtures themselves: every test gets a fresh database of a durable server."""

from __future__ import annotations

import pytest

sqlalchemy = pytest.importorskip("sqlalchemy")


def _ask(url: str, *statements: str) -> list[object]:
    engine = sqlalchemy.create_engine(url)
    with engine.begin() as connection:
        answers = [connection.exec_driver_sql(statement) for statement in statements]
        found = [answer.scalar() for answer in answers if answer.returns_rows]
    engine.dispose()
    return found


@pytest.mark.parametrize("time", ["first", "second"])
def test_each_test_gets_an_empty_database(postgres_url: str, time: str):
    _ask(postgres_url, "CREATE TABLE t (x text)", f"INSERT INTO t VALUES ('{time}')")
    assert _ask(postgres_url, "SELECT count(*) FROM t") == [1]


def test_the_server_is_durable_and_speaks_unicode(postgres_url: str):
    assert _ask(postgres_url, "SHOW fsync", "SHOW synchronous_commit", "SELECT '👩‍👩‍👧'") == ["on", "on", "👩‍👩‍👧"]


def test_what_was_committed_survives_a_crash_of_the_server(postgres, postgres_url: str):
    _ask(postgres_url, "CREATE TABLE t (x int)", "INSERT INTO t VALUES (42)")
    postgres.stop("immediate")
    postgres.start()
    assert _ask(postgres_url, "SELECT x FROM t") == [42]
