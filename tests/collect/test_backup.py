"""Backup and restore: everything comes back, into either database, and damage is seen."""

from __future__ import annotations

import gzip
import json
import stat
from base64 import b64encode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, select, update

from mojimeter.collect import backup as backup_module
from mojimeter.collect.backup import Contents, DamagedBackupError, back_up, contents_of, restore, verify_backup
from mojimeter.collect.database import reading
from mojimeter.collect.schema import events, raters
from mojimeter.collect.store import open_store
from mojimeter.errors import InputError
from tests.collect.simulated import rate_all
from tests.collect.small import SmallStudy, small_study


def contents(folder: Path) -> Contents:
    store = open_store(folder)
    with reading(store.engine) as connection:
        found = contents_of(connection)
    store.engine.dispose()
    return found


@pytest.fixture
def study(tmp_path: Path) -> SmallStudy:
    """A study with ratings, a changed one, a check and a comment in its settings."""
    made = small_study(tmp_path / "study", repeats=0.3)
    store = made.store()
    rate_all(made, store, lambda rater, page: "3", check={"colour": True, "boxes": False})
    page = store.page("r01", 2)
    store.rate("r01", key="again-01", position=2, cell_id=page.cell_id, value="1", shown_at=0.1, duration_ms=7)
    file = made.folder / "study.toml"
    file.write_text(file.read_text() + "\n# a remark of ours: नमस्ते\n", encoding="utf-8")
    return made


@pytest.fixture
def backup(study: SmallStudy, tmp_path: Path) -> Path:
    back_up(study.folder, tmp_path / "backup.gz")
    return tmp_path / "backup.gz"


def test_a_restored_study_is_the_same_in_every_table_and_goes_on(
    study: SmallStudy, backup: Path, tmp_path: Path
) -> None:
    found = restore(backup, tmp_path / "again")
    assert found == contents(study.folder) == contents(tmp_path / "again")
    assert found.rows["events"] == 19  # 2 raters x (1 training + 6 main + 2 repeats), one of them changed
    for name in ("study.toml", "emoji.woff2"):
        assert (tmp_path / "again" / name).read_bytes() == (study.folder / name).read_bytes()
    store = open_store(tmp_path / "again")
    session = store.enter(study.links[0].token)  # links that were sent out still work
    page = store.page("r01", 2)
    assert page.value == "1"
    store.rate(
        "r01", key="after-01", position=2, cell_id=page.cell_id, value="2", shown_at=0.0, duration_ms=1, session=session
    )
    with reading(store.engine) as connection:
        assert connection.execute(select(events.c.number).order_by(events.c.number.desc())).scalar() == 20


def test_a_study_moves_to_postgresql_and_back(
    study: SmallStudy, backup: Path, tmp_path: Path, postgres_url: str
) -> None:
    restore(backup, tmp_path / "there", database=postgres_url)
    assert contents(tmp_path / "there") == contents(study.folder)
    store = open_store(tmp_path / "there")
    page = store.page("r02", 1)
    saved = store.rate("r02", key="after-01", position=1, cell_id=page.cell_id, value="5", shown_at=0.25, duration_ms=1)
    assert saved.fresh  # numbers go on behind those that were restored
    store.engine.dispose()
    with pytest.raises(InputError, match="holds a study already"):
        restore(backup, tmp_path / "twice", database=postgres_url)
    assert not (tmp_path / "twice").exists()
    back_up(tmp_path / "there", tmp_path / "second.gz")
    restore(tmp_path / "second.gz", tmp_path / "back", database="file")
    assert contents(tmp_path / "back") == contents(tmp_path / "there")
    assert (tmp_path / "back" / "ratings.sqlite").is_file()


def test_a_backup_holds_no_token_no_session_and_is_its_owners_only(study: SmallStudy, backup: Path) -> None:
    cookie = study.store().enter(study.links[0].token).cookie
    text = gzip.decompress(backup.read_bytes()).decode()
    for secret in (study.links[0].token, study.admin_token, cookie):
        assert secret not in text
    assert '"table": "sessions"' not in text
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600


def test_a_backup_made_while_raters_work_is_one_moment(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", raters=4, items=15)
    store = study.store()
    with ThreadPoolExecutor(5) as pool:
        work = [pool.submit(rate_all, study, store, lambda rater, page: "3", [link.rater]) for link in study.links]
        made = [back_up(study.folder, tmp_path / f"b{k}.gz") for k in range(4)]
        for job in work:
            job.result()
    for k, found in enumerate(made):
        assert verify_backup(tmp_path / f"b{k}.gz") == found
        assert restore(tmp_path / f"b{k}.gz", tmp_path / f"again{k}") == found
    assert contents(study.folder).rows["events"] == 4 * 31


def test_what_is_rated_after_a_backup_began_is_not_in_it(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = small_study(tmp_path / "study", database_url=database)
    store = study.store()
    rate_all(study, store, lambda rater, page: "3", ["r01"])
    rows_of = backup_module._rows_of

    def late(connection: Connection) -> Iterator[tuple[str, str]]:
        for number, row in enumerate(rows_of(connection)):
            if number == 0:
                rate_all(study, store, lambda rater, page: "4", ["r02"], until=5)
            yield row

    monkeypatch.setattr(backup_module, "_rows_of", late)
    assert back_up(study.folder, tmp_path / "backup.gz").rows["events"] == 7
    monkeypatch.undo()
    assert contents(study.folder).rows["events"] == 12
    store.engine.dispose()


def test_a_restored_study_that_is_not_what_the_backup_says_is_given_up(
    backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill = backup_module._fill

    def badly(connection: Connection, file: Path) -> None:
        fill(connection, file)
        connection.execute(update(raters).where(raters.c.id == "r01").values(slot=99))

    monkeypatch.setattr(backup_module, "_fill", badly)
    with pytest.raises(DamagedBackupError, match="what was restored differs from the backup; nothing was kept"):
        restore(backup, tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_a_check_alone_writes_nothing(backup: Path, tmp_path: Path) -> None:
    before = sorted(p.name for p in tmp_path.iterdir())
    verify_backup(backup)
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def lines_of(backup: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in gzip.decompress(backup.read_bytes()).splitlines()]


def write_lines(path: Path, lines: list[dict[str, object]]) -> Path:
    text = "".join(json.dumps(line, ensure_ascii=False, sort_keys="table" not in line) + "\n" for line in lines)
    path.write_bytes(gzip.compress(text.encode()))
    return path


def damaged(backup: Path, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    whole = backup.read_bytes()
    cut = tmp_path / "cut.gz"
    cut.write_bytes(whole[: len(whole) // 2])
    yield "cut off in the middle", cut
    flipped = tmp_path / "flipped.gz"
    flipped.write_bytes(whole[:-200] + bytes([whole[-200] ^ 1]) + whole[-199:])
    yield "a bit flipped", flipped
    lines = lines_of(backup)
    yield "the last line missing", write_lines(tmp_path / "headless.gz", lines[:-1])
    place = next(k for k, line in enumerate(lines) if line.get("table") == "events")
    yield "an event missing", write_lines(tmp_path / "missing.gz", lines[:place] + lines[place + 1 :])
    changed = json.loads(json.dumps(lines))
    changed[place]["row"]["value"] = "5"
    yield "an event changed", write_lines(tmp_path / "changed.gz", changed)
    edited = json.loads(json.dumps(lines))
    edited[0]["files"]["study.toml"] = b64encode(b"title = 'another'").decode()
    yield "the settings changed", write_lines(tmp_path / "settings.gz", edited)
    yield "a line after the end", write_lines(tmp_path / "after.gz", [*lines, lines[place]])
    odd = json.loads(json.dumps(lines))
    odd[place]["row"]["more"] = "5"
    yield "a column too many", write_lines(tmp_path / "odd.gz", odd)
    odd[place] = {"table": "sqlite_master", "row": {"name": "x"}}
    yield "a table that is none of ours", write_lines(tmp_path / "table.gz", odd)


def test_damage_is_seen_before_anything_is_made(backup: Path, tmp_path: Path) -> None:
    assert verify_backup(write_lines(tmp_path / "rewritten.gz", lines_of(backup)))  # rewriting alone does no harm
    for what, file in damaged(backup, tmp_path):
        with pytest.raises(DamagedBackupError) as error:
            verify_backup(file)
        assert str(file) in str(error.value), what
        with pytest.raises(DamagedBackupError):
            restore(file, tmp_path / "again")
        assert not (tmp_path / "again").exists(), what


def test_what_is_no_backup_is_said(tmp_path: Path, backup: Path) -> None:
    (tmp_path / "text.gz").write_text("hello")
    (tmp_path / "other.gz").write_bytes(gzip.compress(b'{"a": 1}\n'))
    (tmp_path / "binary.gz").write_bytes(gzip.compress(b"\xff\xfe\n"))
    for name in ("text.gz", "other.gz", "binary.gz"):
        with pytest.raises(InputError, match="not a backup made by mojimeter collect backup"):
            verify_backup(tmp_path / name)
    with pytest.raises(InputError, match="no such file"):
        verify_backup(tmp_path / "none.gz")
    lines = lines_of(backup)
    lines[0]["schema_version"] = 99
    with pytest.raises(InputError, match="which is newer; update mojimeter"):
        verify_backup(write_lines(tmp_path / "newer.gz", lines))


def signed(path: Path, lines: list[dict[str, Any]]) -> Path:
    """A backup of these lines whose counts and checksums are right: what somebody could make who knows how."""
    rows = [line for line in lines if "table" in line]
    tables: dict[str, list[str]] = {name: [] for name in lines[-1]["end"]["rows"]}
    for line in rows:
        tables[line["table"]].append(json.dumps(line["row"], ensure_ascii=False, sort_keys=True) + "\n")
    text = [json.dumps(line, ensure_ascii=False) + "\n" for line in (lines[0], *rows)]
    end = {
        "rows": {name: len(found) for name, found in tables.items()},
        "sha256": {name: sha256("".join(found).encode()).hexdigest() for name, found in tables.items()},
        "of_all": sha256("".join(text).encode()).hexdigest(),
    }
    path.write_bytes(gzip.compress("".join([*text, json.dumps({"end": end}) + "\n"]).encode()))
    return path


def test_a_forged_backup_with_right_checksums_is_one_sentence_and_leaves_nothing(backup: Path, tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = [dict(line) for line in lines_of(backup)]
    assert restore(signed(tmp_path / "same.gz", lines), tmp_path / "same").rows["events"] > 0
    head = lines[0]
    event = next(line for line in lines if line.get("table") == "events")
    orphan = {"table": "events", "row": event["row"] | {"number": 999, "key": "forged-1", "rater_id": "r99"}}
    forged = {
        "schema": [head | {"schema_version": "x"}, *lines[1:]],
        "settings": [head | {"files": head["files"] | {"study.toml": 5}}, *lines[1:]],
        "font": [head | {"files": head["files"] | {"emoji.woff2": "not base64"}}, *lines[1:]],
        "orphan": [*lines[:-1], orphan, lines[-1]],
        "twice": [*lines[:-1], event, lines[-1]],
    }
    for name, changed in forged.items():
        with pytest.raises((InputError, DamagedBackupError)):
            restore(signed(tmp_path / f"{name}.gz", changed), tmp_path / name)
        assert not (tmp_path / name).exists(), name


def test_nothing_is_overwritten(study: SmallStudy, backup: Path, tmp_path: Path) -> None:
    before = backup.read_bytes()
    with pytest.raises(InputError, match="is there already"):
        back_up(study.folder, backup)
    assert backup.read_bytes() == before
    with pytest.raises(InputError, match="the folder is not empty"):
        restore(backup, study.folder)
    assert contents(study.folder).rows["events"] == 19
