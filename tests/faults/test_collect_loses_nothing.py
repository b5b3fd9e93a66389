"""Whatever is killed, doubled, full or locked: every acknowledged rating is stored exactly once, and no other is."""

from __future__ import annotations

import os
import random
import re
import resource
import signal
import socket
import sqlite3
import threading
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.collect.small import SmallStudy, small_study
from tests.faults.collect_server import Server, clients, stored, visiting
from tests.postgres import Postgres


def study_of(folder: Path, raters: int, cells: int, **settings: Any) -> SmallStudy:
    """Raters who have so many cells each, and no limit on how fast they rate."""
    from mojimeter.collect.study import Limits

    systems = ("secret-a", "secret-b", "secret-c", "secret-d")
    limits = Limits(requests_a_minute=10_000_000)
    return small_study(folder, raters=raters, items=cells // 4, systems=systems, training=0, limits=limits, **settings)


@dataclass
class Crowd:
    """Raters at work in threads; what was acknowledged, and how often an acknowledged rating was sent again."""

    study: SmallStudy
    servers: tuple[str, ...]
    twice: float = 0.1
    shown: dict[str, list[Any]] = field(default_factory=dict)
    acknowledged: dict[str, tuple[str, int, str]] = field(default_factory=dict)
    sent_again: int = 0
    failures: list[str] = field(default_factory=list)
    _threads: list[threading.Thread] = field(default_factory=list)

    def start(self) -> None:
        store = self.study.store()  # what pages would show; drawing them is other tests' business
        for link in self.study.links:
            with visiting(link.url, self.servers[0]):
                pages = store.pages(link.rater, 1, 1000)
            self.shown[link.rater] = [clients.Shown(page.position, page.cell_id) for page in pages]
        store.engine.dispose()
        for number, link in enumerate(self.study.links):
            thread = threading.Thread(target=self._run, args=(number, link.rater, link.url))
            self._threads.append(thread)
            thread.start()

    def join(self) -> None:
        for thread in self._threads:
            thread.join()

    def wait_for(self, count: int) -> None:
        until = time.monotonic() + 300
        while len(self.acknowledged) < count and not self.failures and time.monotonic() < until:
            time.sleep(0.005)

    def _run(self, number: int, rater: str, link: str) -> None:
        try:
            self._rate_all(rater, link, random.Random(number))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a thread's failure must be seen by the test
            self.failures.append(f"{rater}: {error!r}")

    def _rate_all(self, rater: str, link: str, chance: random.Random) -> None:
        visits = [clients.Visit(link, server) for server in self.servers]
        for visit in visits:
            visit.enter()
        for shown in self.shown[rater]:
            self._rate(rater, visits, shown, chance)
        for visit in visits:
            visit.close()

    def _rate(self, rater: str, visits: list[Any], shown: Any, chance: random.Random) -> None:
        key, value = uuid.uuid4().hex, str(chance.randint(1, 5))
        for _ in range(2 if chance.random() < self.twice else 1):
            visit = chance.choice(visits)
            status, answer = visit.rate(shown, value, key, chance.randint(1, 9000))
            if status != 200 or answer["saved"] != key:
                raise AssertionError(f"{status} {answer}")
            self.sent_again += key in self.acknowledged
            self.acknowledged[key] = (rater, shown.position, value)


def assert_exactly_once(events: list[tuple[Any, ...]], acknowledged: dict[str, tuple[str, int, str]]) -> None:
    assert len(events) == len({event[0] for event in events})
    assert {key: (rater, position, value) for key, rater, position, value in events} == acknowledged


def test_4000_of_4000_ratings_survive_three_kills(tmp_path: Path) -> None:
    study = study_of(tmp_path / "study", raters=20, cells=200)
    with Server(study.folder) as server:
        crowd = Crowd(study, (server.url,))
        crowd.start()
        for part in (800, 2000, 3200):
            crowd.wait_for(part)
            server.kill()
            before = dict(crowd.acknowledged)
            found = {key: rest for key, *rest in stored(study.folder)}
            assert all(found.get(key) == list(rating) for key, rating in before.items()), "an acknowledged one is gone"
            server.start()
        crowd.join()
        assert not crowd.failures
        assert server.stop() == "", "the server has nothing to complain of"
    assert len(crowd.acknowledged) == 4000
    assert crowd.sent_again > 200, "about a tenth was sent twice"
    assert_exactly_once(stored(study.folder), crowd.acknowledged)


def test_a_killed_app_loses_nothing_in_postgresql_either(tmp_path: Path, postgres_url: str) -> None:
    study = study_of(tmp_path / "study", raters=6, cells=20, database_url=postgres_url)
    with Server(study.folder) as server:
        crowd = Crowd(study, (server.url,))
        crowd.start()
        crowd.wait_for(50)
        server.kill()
        server.start()
        crowd.join()
    assert not crowd.failures
    assert len(crowd.acknowledged) == 120
    assert_exactly_once(in_postgres(study), crowd.acknowledged)


def test_a_killed_postgresql_is_503_until_it_is_back_and_then_nothing_is_missing(
    tmp_path: Path, postgres: Postgres, postgres_url: str
) -> None:
    study = study_of(tmp_path / "study", raters=4, cells=20, database_url=postgres_url)
    with Server(study.folder) as server, visiting(study.links[0].url, server.url) as witness:
        crowd = Crowd(study, (server.url,))
        crowd.start()
        crowd.wait_for(30)
        kill_postgres(postgres)
        status, _, content = witness.ask("GET", "/rate")
        assert status == 503
        assert "Traceback" not in content.decode()
        assert "postgres" not in content.decode().lower()
        start_again(postgres)
        crowd.join()
    assert not crowd.failures
    assert len(crowd.acknowledged) == 80
    assert_exactly_once(in_postgres(study), crowd.acknowledged)


def in_postgres(study: SmallStudy) -> list[tuple[Any, ...]]:
    """As ``stored``, of a study in PostgreSQL."""
    from sqlalchemy import select

    from mojimeter.collect.schema import events

    store = study.store()
    with store.engine.connect() as connection:
        columns = (events.c.key, events.c.rater_id, events.c.position, events.c.value)
        rows = [tuple(row) for row in connection.execute(select(*columns).order_by(events.c.number))]
    store.engine.dispose()
    return rows


def kill_postgres(postgres: Postgres) -> None:
    """``kill -9`` of the server's first process; the others see it and go."""
    first = int((postgres.folder / "data" / "postmaster.pid").read_text().splitlines()[0])
    os.kill(first, signal.SIGKILL)


def start_again(postgres: Postgres) -> None:
    """Start once the killed server's memory is free."""
    until = time.monotonic() + 60
    while True:
        try:
            return postgres.start()
        except RuntimeError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)


def test_two_servers_on_one_study_store_each_rating_once(tmp_path: Path) -> None:
    study = study_of(tmp_path / "study", raters=6, cells=20)
    with Server(study.folder) as one, Server(study.folder) as other:
        crowd = Crowd(study, (one.url, other.url), twice=0.5)
        crowd.start()
        crowd.join()
    assert not crowd.failures
    assert len(crowd.acknowledged) == 120
    assert crowd.sent_again > 30
    assert_exactly_once(stored(study.folder), crowd.acknowledged)


def test_a_full_disk_is_not_acknowledged_and_the_same_rating_is_taken_later(tmp_path: Path) -> None:
    study = study_of(tmp_path / "study", raters=1, cells=40)
    with Server(study.folder) as server, visiting(study.links[0].url, server.url) as visit:
        cells = visit.cells(1)
        assert visit.rate(cells[0], "3", "key-before", 10)[0] == 200
        pid = server.process.pid if server.process else 0
        soft, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        wal = study.folder / "ratings.sqlite-wal"
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (wal.stat().st_size, hard))
        status, answer = ask_once(visit, cells[1], "4", "key-full-disk")
        assert (status, saying_not_saved(answer)) == (503, True)
        assert [event[0] for event in stored(study.folder)] == ["key-before"]
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (soft, hard))
        assert visit.rate(cells[1], "4", "key-full-disk", 10)[0] == 200
    assert [event[0] for event in stored(study.folder)] == ["key-before", "key-full-disk"]


def test_while_another_program_holds_the_database_nothing_is_acknowledged(tmp_path: Path) -> None:
    study = study_of(tmp_path / "study", raters=1, cells=40)
    with Server(study.folder) as server, visiting(study.links[0].url, server.url) as visit:
        shown = visit.cells(1)[0]
        holder = sqlite3.connect(study.folder / "ratings.sqlite", isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        answers: list[int] = []
        sender = threading.Thread(target=lambda: answers.append(visit.rate(shown, "2", "key-locked", 10)[0]))
        sender.start()
        time.sleep(1)
        assert answers == []
        holder.execute("ROLLBACK")
        holder.close()
        sender.join()
    assert answers == [200]
    assert [event[0] for event in stored(study.folder)] == ["key-locked"]


@pytest.mark.parametrize("trouble", ["locked too long", "read-only"])
def test_a_database_that_cannot_write_is_said_to_rater_and_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    from sqlalchemy import event

    from mojimeter.collect import database
    from mojimeter.collect.web.app import make_app

    monkeypatch.setattr(database, "PATIENCE", 0.2)
    study = study_of(tmp_path / "study", raters=1, cells=40)
    store = study.store()
    client = in_process(make_app(store, study.folder), study.links[0].url)
    holder = sqlite3.connect(study.folder / "ratings.sqlite", isolation_level=None)
    if trouble == "read-only":
        event.listen(store.engine, "connect", lambda raw, _: raw.execute("PRAGMA query_only = ON"))
        store.engine.dispose()
    else:
        holder.execute("BEGIN IMMEDIATE")
    page = client.get("/rate/1")
    sent = dict(re.findall(r'name="(csrf|key|cell|shown_at)" value="([^"]*)"', page.text))
    by_form = client.post("/rate/1", data=sent | {"value": "4"}, headers={"Origin": "http://testserver"})
    assert by_form.status_code == 503
    assert saying_not_saved(by_form.text)
    body = {
        "key": "key-in-script",
        "position": 1,
        "cell": sent["cell"],
        "value": "4",
        "shown_at": 1.0,
        "duration_ms": 1,
    }
    headers = {"Origin": "http://testserver", "X-CSRF-Token": sent["csrf"]}
    by_script = client.post("/ratings", json=body, headers=headers)
    assert by_script.status_code == 503
    assert saying_not_saved(by_script.text)
    assert "saved" not in by_script.json()
    holder.close()
    assert stored(study.folder) == []


def test_half_a_request_stores_nothing(tmp_path: Path) -> None:
    study = study_of(tmp_path / "study", raters=1, cells=40, form="answer")
    with Server(study.folder) as server, visiting(study.links[0].url, server.url) as visit:
        shown = visit.cells(1)[0]
        body = (
            f"csrf={visit.csrf}&key=half-a-key&cell={shown.cell}&shown_at={time.time()}&value=a+whole+sentence".encode()
        )
        with socket.create_connection(("127.0.0.1", server.port)) as line:
            line.sendall(
                f"POST /rate/1 HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nCookie: {visit._cookie}\r\n"
                f"Origin: {server.url}\r\nContent-Type: application/x-www-form-urlencoded\r\n"
                f"Content-Length: {len(body)}\r\n\r\n".encode()
                + body[:-9]
            )
        assert visit.rate(visit.cells(2)[0], "a later one", "key-later", 10)[0] == 200
        time.sleep(0.3)
    assert [event[0] for event in stored(study.folder)] == ["key-later"]


def ask_once(visit: Any, shown: Any, value: str, key: str) -> tuple[int, str]:
    """Send a rating once, without trying again."""
    body = (
        f'{{"key": "{key}", "position": {shown.position}, "cell": "{shown.cell}", "value": "{value}", '
        '"shown_at": 1.5, "duration_ms": 10}'
    )
    headers = {"Content-Type": "application/json", "X-CSRF-Token": visit.csrf}
    status, _, content = visit.ask("POST", "/ratings", body.encode(), headers)
    return status, content.decode()


def saying_not_saved(text: str) -> bool:
    return "not saved" in text.lower()


def in_process(app: Any, link: str) -> Any:
    """A browser without script, talking to the app in this process, entered and consented."""
    from starlette.testclient import TestClient

    client = TestClient(app)
    origin = {"Origin": "http://testserver"}
    client.post("/s/" + link.rsplit("/", 1)[1], data={}, headers=origin, follow_redirects=False)
    csrf = re.findall(r'name="csrf" value="([^"]*)"', client.get("/consent").text)[0]
    client.post("/consent", data={"csrf": csrf}, headers=origin, follow_redirects=False)
    return client
