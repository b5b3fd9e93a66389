"""A whole study in one file, and back: made while raters work, restored into SQLite or PostgreSQL alike.

The file is JSON lines, gzipped: a head with the settings and the font, a line a row, and a foot with the number of
rows and a SHA-256 of each table and of the whole. Sessions are not in it, nor are links, of which only hashes are
stored: links that were sent out work with the restored study. Knows tables and files; nothing of what rows mean.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import time
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, Final

from sqlalchemy import Connection, Engine, Table, insert, select
from sqlalchemy.exc import IntegrityError

from mojimeter import __version__
from mojimeter.collect import schema
from mojimeter.collect.database import advance_numbers, create, open_database, reading, writing
from mojimeter.collect.folder import claim, take_back
from mojimeter.collect.store import open_store
from mojimeter.collect.study import FONT, SETTINGS, StudyConfig, as_study, database_of, to_toml
from mojimeter.errors import InputError, MojimeterError

FORMAT: Final = "mojimeter study backup"
VERSION: Final = 1
#: ``--database file``: into the file beside study.toml, wherever the study was before.
IN_FILE: Final = "file"

# Those that others refer to first; sessions are left out.
_TABLES: Final[tuple[Table, ...]] = (
    schema.study,
    schema.items,
    schema.cells,
    schema.raters,
    schema.assignments,
    schema.events,
    schema.checks,
)
_BATCH: Final = 500
_VERSION_KEY: Final = "schema_version"


class DamagedBackupError(MojimeterError):
    """The backup does not hold what it says it holds."""


@dataclass(frozen=True)
class Contents:
    """What a backup or a study holds: for each table the number of rows and a SHA-256 of them in order."""

    rows: Mapping[str, int]
    hashes: Mapping[str, str]

    def to_dict(self) -> dict[str, Any]:
        return {"rows": dict(self.rows), "sha256": dict(self.hashes)}


class _Tally:
    """Counts and hashes rows as they go by."""

    def __init__(self) -> None:
        self._rows = {t.name: 0 for t in _TABLES}
        self._hashes = {t.name: hashlib.sha256() for t in _TABLES}

    def add(self, table: str, line: str) -> None:
        self._rows[table] += 1
        self._hashes[table].update(line.encode() + b"\n")

    def contents(self) -> Contents:
        return Contents(dict(self._rows), {name: h.hexdigest() for name, h in self._hashes.items()})


# --- making -------------------------------------------------------------------------------------------------------


def back_up(folder: str | Path, out: str | Path) -> Contents:
    """Write the study to one file, as it is at one moment; raters may go on working.

    Raises:
        InputError: no study there, or the file is there already or cannot be written.
        Unavailable: the database cannot be used.
    """
    folder, out = Path(folder), Path(out)
    store = open_store(folder, edited=True)
    if out.exists():
        raise InputError(f"{out} is there already; a backup is never overwritten, choose another name")
    part = out.with_name(out.name + ".part")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=6) as packed:
                contents = _write(packed, folder, store.engine)
            file.flush()
            os.fsync(file.fileno())
        part.replace(out)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise InputError(f"{out}: cannot be written: {error.strerror or error}") from None
    finally:
        store.engine.dispose()
    return contents


def _write(out: IO[bytes] | gzip.GzipFile, folder: Path, engine: Engine) -> Contents:
    whole, tally = hashlib.sha256(), _Tally()

    def write(line: str) -> None:
        data = line.encode() + b"\n"
        whole.update(data)
        out.write(data)

    font = folder / FONT
    head = {
        "format": FORMAT,
        "version": VERSION,
        "schema_version": schema.SCHEMA_VERSION,
        "written": time.time(),
        "written_with": __version__,
        "files": {
            SETTINGS: base64.b64encode((folder / SETTINGS).read_bytes()).decode(),
            **({FONT: base64.b64encode(font.read_bytes()).decode()} if font.is_file() else {}),
        },
    }
    write(_line(head))
    with reading(engine, snapshot=True) as connection:
        for table, line in _rows_of(connection):
            tally.add(table, line)
            write(f'{{"table": "{table}", "row": {line}}}')
    contents = tally.contents()
    foot = _line({"end": contents.to_dict() | {"of_all": whole.hexdigest()}})
    out.write(foot.encode() + b"\n")
    return contents


def _rows_of(connection: Connection) -> Iterator[tuple[str, str]]:
    """Table and row as JSON, of every row but the schema's version, which is the reader's business."""
    for table in _TABLES:
        query = select(table).order_by(*table.primary_key.columns)
        if table is schema.study:
            query = query.where(schema.study.c.key != _VERSION_KEY)
        # JSON sorted by key in every database: the order of strings is not the same in all of them
        found = connection.execution_options(yield_per=_BATCH).execute(query).mappings()
        lines = (_line(dict(row)) for row in found)
        for line in sorted(lines) if _has_text_key(table) else lines:
            yield table.name, line


def _has_text_key(table: Table) -> bool:
    return table.name not in (schema.events.name, schema.checks.name)


def _line(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False)


# --- reading ------------------------------------------------------------------------------------------------------


def verify_backup(file: str | Path) -> Contents:
    """Read a backup to its end and compare it with what its foot says.

    Raises:
        InputError: no backup of ours, or of a newer mojimeter.
        DamagedBackupError: it is cut off or was changed.
    """
    tally = _Tally()
    for table, row in _read_rows(Path(file)):
        tally.add(table, _line(row))
    return tally.contents()


def restore(file: str | Path, folder: str | Path, database: str | None = None) -> Contents:
    """Make a study folder from a backup, read it back and compare every table.

    Args:
        file: the backup.
        folder: is made; may be there if it is empty.
        database: a URL, or ``file``, instead of where the study was.

    Raises:
        InputError: no backup of ours, the folder is not empty, or the database holds a study.
        DamagedBackupError: the backup is damaged, or what was read back differs. Nothing is left behind.
        Unavailable: the database cannot be used.
    """
    file, folder = Path(file), Path(folder)
    expected = verify_backup(file)
    head = _head(file)
    settings = _unpacked(head, SETTINGS, file)
    config = _settings(settings, file)
    if database is not None:
        config = replace(config, database_url="" if database == IN_FILE else database)
        settings = to_toml(config).encode()
        config = _settings(settings, file)
    fresh = claim(folder)
    engine = None
    try:
        where = database_of(folder, config)
        engine = open_database(where)
        (folder / SETTINGS).write_bytes(settings)
        if FONT in head["files"]:
            (folder / FONT).write_bytes(_unpacked(head, FONT, file))
        with writing(engine) as connection:
            create(connection)
            _fill(connection, file)
            found = contents_of(connection)
            if found != expected:
                raise DamagedBackupError(f"{file}: what was restored differs from the backup; nothing was kept")
        if isinstance(where, Path):
            where.chmod(0o600)
    except IntegrityError:  # rows that do not go together, under checksums that do
        take_back(folder, fresh)
        raise DamagedBackupError(f"{file}: its rows are not those of one study; nothing was kept") from None
    except BaseException:
        take_back(folder, fresh)
        raise
    finally:
        if engine is not None:
            engine.dispose()
    return found


def contents_of(connection: Connection) -> Contents:
    """What a study's database holds."""
    tally = _Tally()
    for table, line in _rows_of(connection):
        tally.add(table, line)
    return tally.contents()


def _fill(connection: Connection, file: Path) -> None:
    tables = {t.name: t for t in _TABLES}
    batch: list[dict[str, Any]] = []
    current = ""
    for table, row in _read_rows(file):
        if batch and (table != current or len(batch) >= _BATCH):
            connection.execute(insert(tables[current]), batch)
            batch = []
        current = table
        batch.append(row)
    if batch:
        connection.execute(insert(tables[current]), batch)
    for counted in (schema.events, schema.checks):
        advance_numbers(connection, counted)


def _settings(data: bytes, file: Path) -> StudyConfig:
    import tomllib

    try:
        return as_study(tomllib.loads(data.decode()), f"{SETTINGS} in {file}")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise DamagedBackupError(f"{file}: the settings in it cannot be read") from None


def _unpacked(head: Mapping[str, Any], name: str, file: Path) -> bytes:
    """A file that the head holds."""
    try:
        return base64.b64decode(head["files"][name], validate=True)
    except (ValueError, TypeError):
        raise DamagedBackupError(f"{file}: {name} in it cannot be read") from None


def _head(file: Path) -> dict[str, Any]:
    return next(_documents(file))[1]


def _read_rows(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every row, its table and its columns checked; at the end the foot's counts and hashes are compared.

    Raises:
        InputError, DamagedBackupError: as `verify_backup`.
    """
    whole, tally, foot = hashlib.sha256(), _Tally(), None
    columns = {t.name: set(t.columns.keys()) for t in _TABLES}
    for number, (raw, document) in enumerate(_documents(file)):
        if foot is not None:
            raise DamagedBackupError(f"{file}, line {number + 1}: something stands after the end")
        if "end" in document:
            foot = document["end"]
            continue
        whole.update(raw)
        if number == 0:
            continue
        table, row = document.get("table"), document.get("row")
        if table not in columns or not isinstance(row, dict) or set(row) != columns[table]:
            raise DamagedBackupError(f"{file}, line {number + 1}: not a row of a study")
        tally.add(table, _line(row))
        yield table, row
    if foot is None:
        raise DamagedBackupError(f"{file}: the end is missing; the file was cut off")
    if foot != tally.contents().to_dict() | {"of_all": whole.hexdigest()}:
        raise DamagedBackupError(f"{file}: counts or checksums differ; the file was damaged or changed")


def _documents(file: Path) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Lines and what they say; the first is checked to be a backup's head."""
    if not file.is_file():
        raise InputError(f"{file}: no such file; expected a backup made by mojimeter collect backup")
    begun = False
    try:
        with gzip.open(file, "rb") as lines:
            for number, raw in enumerate(lines):
                begun = True
                document = _document(raw, file, number)
                if number == 0:
                    _check_head(document, file)
                yield raw, document
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        # what is no gzip at all shows at once; a sum that is wrong, only at the end
        if isinstance(error, gzip.BadGzipFile) and not begun:
            raise InputError(f"{file}: not a backup made by mojimeter collect backup") from None
        raise DamagedBackupError(f"{file}: the file is damaged or was cut off") from None


def _document(raw: bytes, file: Path, number: int) -> dict[str, Any]:
    try:
        document = json.loads(raw)
    except (ValueError, RecursionError):
        document = None
    if isinstance(document, dict):
        return document
    if number == 0:
        raise InputError(f"{file}: not a backup made by mojimeter collect backup")
    raise DamagedBackupError(f"{file}, line {number + 1}: cannot be read")


def _check_head(head: Mapping[str, Any], file: Path) -> None:
    files, version = head.get("files"), head.get("schema_version")
    known = head.get("format") == FORMAT and isinstance(files, dict) and SETTINGS in files
    if not known or not isinstance(version, int):
        raise InputError(f"{file}: not a backup made by mojimeter collect backup")
    if head.get("version") != VERSION or version > schema.SCHEMA_VERSION:
        raise InputError(f"{file}: made by mojimeter {head.get('written_with')}, which is newer; update mojimeter")
