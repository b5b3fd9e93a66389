"""A PostgreSQL server of the tests' own, for tests that need a real one.

Fixtures: ``postgres`` (one temporary cluster a session and worker, stopped and removed at its end) and
``postgres_url`` (the address of a fresh, empty database, for SQLAlchemy with pg8000). The server is durable as a real
one is (fsync stays on), listens on 127.0.0.1 only and trusts who connects. Where PostgreSQL's programs are absent the
tests skip with the reason, unless MOJIMETER_REQUIRE_POSTGRES=1 (what CI sets) makes that a failure. Knows nothing of
the project.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Literal

import pytest

#: Where Debian puts the programs that it keeps out of PATH.
DEBIAN = Path("/usr/lib/postgresql")

#: Who runs the server where the tests run as root, which PostgreSQL refuses; the first that exists.
OTHER_USERS = ("postgres", "nobody")


@dataclass
class Postgres:
    """A running cluster."""

    programs: Path
    folder: Path
    port: int
    user: dict[str, Any]

    def url(self, database: str = "postgres") -> str:
        """The address of one of its databases."""
        return f"postgresql+pg8000://postgres@127.0.0.1:{self.port}/{database}"

    def execute(self, statement: str) -> None:
        """One statement outside of any transaction, by psql."""
        self._run(
            "psql", "-qX", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", "-d", "postgres", "-c", statement
        )

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories="
        log = str(self.folder / "log")
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-l", log, "-w", "-o", options, "start")

    def stop(self, mode: Literal["fast", "immediate"] = "fast") -> None:
        """``fast`` ends connections and writes everything; ``immediate`` is a crash."""
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-w", "-m", mode, "stop")

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [self.programs / program, *arguments],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=120,
            **self.user,
        )
        if done.returncode:
            raise RuntimeError(f"{program} failed: {done.stdout}")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A cluster for the whole session of a worker."""
    programs = _programs()
    if programs is None:
        _without(f"PostgreSQL's initdb is neither in PATH nor under {DEBIAN}")
    user = _user()
    if user is None:
        _without(f"the tests run as root and none of the users {', '.join(OTHER_USERS)} exists to run PostgreSQL")
    # not in pytest's own folder, which other users cannot enter
    folder = Path(tempfile.mkdtemp(prefix="mojimeter-postgres-"))
    server = Postgres(programs, folder, _free_port(), user)
    try:
        if user:
            shutil.chown(folder, user["user"], user["group"])
        server._run(
            "initdb", "-D", str(folder / "data"), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"
        )
        server.start()
        try:
            yield server
        finally:
            server.stop("immediate")
    finally:
        shutil.rmtree(folder)


_numbers = count(1)


@pytest.fixture
def postgres_url(postgres: Postgres) -> Iterator[str]:
    """The address of an empty database that no other test has seen.

    After the test its connections are ended. It stays until the cluster goes, for dropping it would write all of the
    cluster to disk.
    """
    pytest.importorskip("pg8000")
    name = f"test_{next(_numbers)}"
    postgres.execute(f"CREATE DATABASE {name}")
    yield postgres.url(name)
    postgres.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")


def _programs() -> Path | None:
    """The folder of initdb and its kin; the newest of those that Debian has side by side."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    newest_first = sorted(DEBIAN.glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]), reverse=True)
    return newest_first[0].parent if newest_first else None


def _user() -> dict[str, Any] | None:
    """What ``subprocess`` needs to run as somebody who is not root; empty where the tests do not run as root."""
    if os.geteuid() != 0:
        return {}
    for name in OTHER_USERS:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    return None


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _without(reason: str) -> None:
    """Skip, or fail where PostgreSQL is required."""
    if os.environ.get("MOJIMETER_REQUIRE_POSTGRES") == "1":
        pytest.fail(f"MOJIMETER_REQUIRE_POSTGRES=1, but {reason}", pytrace=False)
    pytest.skip(reason)
