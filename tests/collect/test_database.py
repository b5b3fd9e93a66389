"""The database: append-only, brought up to date in one step, and left alone where it is newer."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event, inspect, select, text
from sqlalchemy.exc import DBAPIError

from mojimeter.collect import schema
from mojimeter.collect.database import Unavailable, create, migrate, open_database, reading, write, writing
from mojimeter.collect.store import open_store
from mojimeter.collect.study import DATABASE, database_of, read_study
from mojimeter.errors import InputError
from tests.collect.small import SmallStudy, small_study

# What version 1 made, word for word: the same tables and triggers without `checks`.
VERSION_1 = """
CREATE TABLE study (key VARCHAR(64) NOT NULL, value TEXT NOT NULL, PRIMARY KEY (key));
CREATE TABLE items (id TEXT NOT NULL, number INTEGER NOT NULL, lang VARCHAR(16), payload JSON NOT NULL,
    PRIMARY KEY (id));
CREATE TABLE cells (id VARCHAR(32) NOT NULL, number INTEGER NOT NULL, item_id TEXT, system TEXT NOT NULL,
    payload JSON NOT NULL, kind VARCHAR(16) NOT NULL, expected TEXT, feedback TEXT,
    PRIMARY KEY (id), FOREIGN KEY(item_id) REFERENCES items (id));
CREATE TABLE raters (id VARCHAR(16) NOT NULL, slot INTEGER NOT NULL, token_hash VARCHAR(64) NOT NULL,
    created {double} NOT NULL, expires {double} NOT NULL, revoked {double}, external_id VARCHAR(64),
    consented {double}, withdrawn {double}, completed {double}, PRIMARY KEY (id), UNIQUE (token_hash));
CREATE TABLE sessions (hash VARCHAR(64) NOT NULL, rater_id VARCHAR(16), created {double} NOT NULL,
    expires {double} NOT NULL, PRIMARY KEY (hash), FOREIGN KEY(rater_id) REFERENCES raters (id));
CREATE TABLE assignments (rater_id VARCHAR(16) NOT NULL, position INTEGER NOT NULL, cell_id VARCHAR(32) NOT NULL,
    part VARCHAR(16) NOT NULL, repeat_of INTEGER, PRIMARY KEY (rater_id, position),
    FOREIGN KEY(rater_id) REFERENCES raters (id), FOREIGN KEY(cell_id) REFERENCES cells (id));
CREATE TABLE events (number {serial}, key VARCHAR(64) NOT NULL, rater_id VARCHAR(16) NOT NULL,
    position INTEGER NOT NULL, cell_id VARCHAR(32) NOT NULL, value TEXT NOT NULL, shown_at {double} NOT NULL,
    duration_ms BIGINT NOT NULL, received_at {double} NOT NULL, session VARCHAR(16),
    FOREIGN KEY(rater_id, position) REFERENCES assignments (rater_id, position), UNIQUE (key),
    FOREIGN KEY(cell_id) REFERENCES cells (id));
CREATE INDEX events_by_position ON events (rater_id, position, number);
INSERT INTO study VALUES ('schema_version', '1');
INSERT INTO study VALUES ('study_id', 'abc');
INSERT INTO items VALUES ('i', 0, 'en', '{{"group": "i", "condition": ""}}');
INSERT INTO cells VALUES ('c', 0, 'i', 's', '{{"lang": "en", "fields": {{}}}}', 'main', NULL, NULL);
INSERT INTO raters VALUES ('r01', 0, 'hash', 1, 2, NULL, NULL, NULL, NULL, NULL);
INSERT INTO assignments VALUES ('r01', 1, 'c', 'main', NULL);
INSERT INTO events (key, rater_id, position, cell_id, value, shown_at, duration_ms, received_at)
    VALUES ('a-first-key', 'r01', 1, 'c', '4', 1, 2, 3);
"""


def make_version_1(engine: Engine) -> None:
    on_sqlite = engine.dialect.name == "sqlite"
    script = VERSION_1.format(
        double="DOUBLE" if on_sqlite else "DOUBLE PRECISION",
        serial="INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT" if on_sqlite else "BIGSERIAL PRIMARY KEY",
    )
    with writing(engine) as connection:
        for statement in script.split(";\n"):
            if statement.strip():
                connection.exec_driver_sql(statement)


@pytest.fixture
def engine(tmp_path: Path, database: str) -> Any:
    opened = open_database(database or tmp_path / "ratings.sqlite")
    yield opened
    opened.dispose()


def test_a_database_of_version_1_becomes_one_of_today_and_keeps_its_ratings(engine: Engine, tmp_path: Path) -> None:
    make_version_1(engine)
    assert migrate(engine) == 1
    assert migrate(engine) == schema.SCHEMA_VERSION  # and then there is nothing more to do
    with reading(engine) as connection:
        assert connection.execute(select(schema.events.c.value)).scalars().all() == ["4"]
        assert set(inspect(connection).get_table_names()) == set(schema.metadata.tables)
    with writing(engine) as connection:
        connection.execute(schema.checks.insert().values(rater_id="r01", at=1.0, result={"colour": True}))
    if engine.dialect.name == "sqlite":  # the file as it was lies beside it
        assert stat.S_IMODE((tmp_path / "ratings.sqlite.v1").stat().st_mode) == 0o600  # it names systems
        with closing(sqlite3.connect(tmp_path / "ratings.sqlite.v1")) as copy:
            assert copy.execute("SELECT value FROM study WHERE key = 'schema_version'").fetchone() == ("1",)
            assert copy.execute("SELECT count(*) FROM events").fetchone() == (1,)


def test_a_migration_that_fails_leaves_the_database_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = open_database(tmp_path / "ratings.sqlite")
    make_version_1(engine)

    def fail_late(connection: Any) -> None:
        schema.checks.create(connection)
        connection.exec_driver_sql("SELECT no_such_column FROM study")

    monkeypatch.setitem(schema.STEPS, 2, fail_late)
    with pytest.raises(Unavailable, match="no_such_column"):
        migrate(engine)
    with reading(engine) as connection:
        assert not inspect(connection).has_table("checks")
        assert schema.stored_version(connection) == 1
    monkeypatch.undo()
    assert migrate(engine) == 1


def test_a_database_of_a_newer_mojimeter_is_left_alone(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    file = study.folder / DATABASE
    with closing(sqlite3.connect(file)) as direct, direct:
        direct.execute("UPDATE study SET value = '99' WHERE key = 'schema_version'")
    with pytest.raises(InputError, match="of version 99, this mojimeter knows up to 2; update mojimeter"):
        open_store(study.folder)


def test_what_is_no_study_is_said_in_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(file)) as direct, direct:
        direct.execute("CREATE TABLE study (key TEXT, value TEXT)")
    with pytest.raises(InputError, match="without a schema_version"):
        migrate(open_database(file))
    (tmp_path / "text.sqlite").write_text("this is no database at all, but long enough to look at" * 20)
    with pytest.raises(Unavailable, match="not a database"):
        migrate(open_database(tmp_path / "text.sqlite"))


def test_no_program_can_change_or_delete_a_rating(tmp_path: Path, database: str) -> None:
    study = small_study(tmp_path / "study", database_url=database, items=1)
    store = study.store()
    rater = store.enter(study.links[0].token).rater
    store.consent(rater)
    page = store.page(rater, 1)
    store.rate(rater, key="key-00001", position=1, cell_id=page.cell_id, value="3", shown_at=0.0, duration_ms=1)
    tries = ["UPDATE events SET value = '5'", "DELETE FROM events"]
    if database:
        tries.append("TRUNCATE events")
    for statement in tries:
        with (
            pytest.raises((DBAPIError, Unavailable), match="append-only"),
            store.engine.connect() as connection,
            connection.begin(),
        ):
            connection.execute(text(statement))
    with reading(store.engine) as connection:
        assert connection.execute(select(schema.events.c.value)).scalars().all() == ["3"]
    store.engine.dispose()


def test_not_even_a_program_that_replaces_rows_in_sqlite(tmp_path: Path) -> None:
    """INSERT OR REPLACE deletes without running the triggers that watch deletions, unless told to (SQLite's manual)."""
    study = small_study(tmp_path / "study", items=1)
    store = study.store()
    rater = store.enter(study.links[0].token).rater
    store.consent(rater)
    cell = store.page(rater, 1).cell_id
    store.rate(rater, key="key-00001", position=1, cell_id=cell, value="3", shown_at=0.0, duration_ms=1)
    with closing(sqlite3.connect(study.folder / DATABASE)) as direct:
        for column, value in (("number", 1), ("key", "'key-00001'")):
            columns = {"number": "2", "key": "'other-key'"} | {column: str(value)}
            with pytest.raises(sqlite3.IntegrityError, match="append-only"), direct:
                direct.execute(
                    "INSERT OR REPLACE INTO events "
                    "(number, key, rater_id, position, cell_id, value, shown_at, duration_ms, received_at) "
                    f"VALUES ({columns['number']}, {columns['key']}, 'r01', 1, '{cell}', '5', 0, 0, 0)"
                )
        assert direct.execute("SELECT value FROM events").fetchall() == [("3",)]


def test_sqlite_writes_to_disk_before_it_says_so(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    with reading(study.store().engine) as connection:
        found = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    # synchronous 2 is FULL
    assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 30_000}


def test_a_database_that_cannot_even_begin_to_write_says_so(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    engine = study.store().engine
    event.listen(engine, "checkout", lambda raw, *_: raw.execute("PRAGMA busy_timeout = 50"))
    with closing(sqlite3.connect(study.folder / DATABASE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for _ in range(2):
            with pytest.raises(Unavailable, match="locked"):
                write(engine, lambda c: c.execute(select(schema.study)).all())
    assert write(engine, lambda c: c.execute(select(schema.study.c.key)).all())


def test_each_study_has_a_database_of_its_own(tmp_path: Path, postgres_url: str) -> None:
    study = small_study(tmp_path / "one", database_url=postgres_url)
    assert (study.folder / "study.toml").is_file()
    with pytest.raises(InputError, match="holds a study already"):
        small_study(tmp_path / "two", database_url=postgres_url)
    assert not (tmp_path / "two").exists()


def test_tables_that_could_not_be_filled_are_not_made(tmp_path: Path) -> None:
    engine = open_database(tmp_path / "ratings.sqlite")

    def create_and_fail() -> None:
        with writing(engine) as connection:
            create(connection)
            raise KeyError

    with pytest.raises(KeyError):
        create_and_fail()
    with reading(engine) as connection:
        assert inspect(connection).get_table_names() == []


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("mysql://a@b/c", "kind 'mysql'"),
        ("postgresql://a@b:port/c", "cannot be read"),
        ("://", "cannot be read"),
        ("nonsense://x", "kind 'nonsense'|cannot be read"),
    ],
)
def test_other_databases_are_refused(where: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        open_database(where)


def test_a_password_comes_from_the_environment_and_stands_in_no_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", "hunter2")
    engine = open_database("postgresql://user@127.0.0.1:1/none")
    assert engine.url.password == "hunter2"
    assert engine.url.drivername == "postgresql+pg8000"
    with pytest.raises(Unavailable) as error:
        migrate(engine)
    assert "hunter2" not in str(error.value)


def test_the_whole_url_can_come_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = f"sqlite:///{tmp_path / 'elsewhere.sqlite'}"
    monkeypatch.setenv("STUDY_DATABASE", elsewhere)
    study: SmallStudy = small_study(tmp_path / "study", database_url="env:STUDY_DATABASE")
    assert study.store().state("r01").total == 7
    assert (tmp_path / "elsewhere.sqlite").is_file()
    assert elsewhere not in (study.folder / "study.toml").read_text()
    monkeypatch.delenv("STUDY_DATABASE")
    with pytest.raises(InputError, match="STUDY_DATABASE is not set"):
        database_of(study.folder, read_study(study.folder))
