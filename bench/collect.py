"""The rating app: ratings a second over HTTP, seconds to the first page, memory of the serving process.

Twenty clients rate as fast as they are answered, on SQLite with synchronous FULL; an answer comes after the commit, and
ratings that wait at the same time may share one. The peers are measured in the same run on the same disk: a bare loop
of INSERT and COMMIT with the same settings, and a process that only imports the libraries that serving needs. Figures
are ratios to them, and the bars of the design (100 ratings a second, 2 seconds, 50 MB) as met or missed. On a busy
machine only the wall time grows, so the share of CPU time stands beside it.
Run: ``python -m bench.collect`` (``--raters N --cells N`` for another size).
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import uuid
from pathlib import Path
from typing import Any

BAR_RATE, BAR_SECONDS, BAR_MB = 100, 2.0, 50
STARTS = 5
LIBRARIES = "import uvicorn, starlette.applications, starlette.routing, sqlalchemy, jinja2"


def make_study(folder: Path, raters: int, cells: int) -> list[tuple[str, str]]:
    """A study with invented texts; rater and link of each."""
    from mojimeter.collect.invites import invite
    from mojimeter.collect.make import make_study as make
    from mojimeter.collect.material import Cell, Item, Material
    from mojimeter.collect.study import Limits, StudyConfig

    items = tuple(Item(f"i{k}", f"i{k}", "en") for k in range(cells // 4))
    shown = [
        Cell(item.id, f"s{k}", {"post": f"Post {item.id}", "text": f"Post {item.id} {'🎉😂👍🔥'[k]}"}, lang="en")
        for item in items
        for k in range(4)
    ]
    limits = Limits(requests_a_minute=10_000_000)
    config = StudyConfig(title="bench", form="scale", question="How good?", consent="?", limits=limits)
    make(folder, config, Material("scale", items, tuple(shown), "invented for a benchmark"))
    return [(link.rater, link.url) for link in invite(folder, raters).links]


class Served:
    """``mojimeter collect serve`` in a process of its own."""

    def __init__(self, folder: Path) -> None:
        main = "from mojimeter.cli import main; main()"
        command = [sys.executable, "-c", main, "collect", "serve", str(folder), "--port", "0", "--json"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        self.url = re.findall(rb'"url": "([^"]*)"', self.process.stdout.readline())[0].decode()

    def megabytes(self, what: str) -> float:
        """VmRSS (now) or VmHWM (the most so far), in units of 2^20 bytes."""
        return _megabytes(self.process.pid, what)

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.terminate()
        self.process.wait()


def _megabytes(pid: int, what: str) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.findall(rf"{what}:\s+(\d+) kB", status)[0]) / 1024


def bare_commits(folder: Path, count: int = 500) -> float:
    """Commits a second of a bare loop: one row a transaction, WAL, synchronous FULL."""
    connection = sqlite3.connect(folder / "bare.sqlite", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE e (number INTEGER PRIMARY KEY, key TEXT UNIQUE, value TEXT)")
    start = time.perf_counter()
    for _ in range(count):
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO e (key, value) VALUES (?, '3')", (uuid.uuid4().hex,))
        connection.execute("COMMIT")
    seconds = time.perf_counter() - start
    connection.close()
    return count / seconds


def rate_all(url: str, folder: Path, links: list[tuple[str, str]]) -> tuple[int, float, list[float]]:
    """All clients rate all of their cells: ratings, seconds, seconds of each answer."""
    from mojimeter.collect.store import open_store

    clients = _clients()
    visits = {rater: clients.Visit(link, url) for rater, link in links}
    for visit in visits.values():
        visit.enter()
    store = open_store(folder)
    pages = {rater: store.pages(rater, 1, 100_000) for rater in visits}
    store.engine.dispose()
    answers: list[float] = []

    def work(rater: str) -> None:
        for page in pages[rater]:
            start = time.perf_counter()
            status, _ = visits[rater].rate(clients.Shown(page.position, page.cell_id), "3", uuid.uuid4().hex, 4000)
            assert status == 200, status
            answers.append(time.perf_counter() - start)

    threads = [threading.Thread(target=work, args=(rater,)) for rater in visits]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(answers), time.perf_counter() - start, answers


def _clients() -> Any:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
    import simulated_raters

    return simulated_raters


def seconds_to_first_page(folder: Path, link: str) -> tuple[float, float]:
    """From calling the command to having read a rater's start page: wall time, and CPU time with that of stopping."""
    start, spent = time.perf_counter(), _cpu_of_children()
    with Served(folder) as served:
        urllib.request.urlopen(served.url + "s/" + link.rsplit("/", 1)[1]).read()
        seconds = time.perf_counter() - start
    return seconds, _cpu_of_children() - spent


def _cpu_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def seconds_of_libraries() -> float:
    """A process that imports what serving needs, and nothing else."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", LIBRARIES], check=True)
    return time.perf_counter() - start


def megabytes_of_libraries() -> float:
    """Memory of such a process."""
    code = f"{LIBRARIES}\nimport sys; print('ready', flush=True); sys.stdin.read()"
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    used = _megabytes(process.pid, "VmRSS")
    process.communicate()
    return used


def main(arguments: list[str] | None = None) -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--raters", type=int, default=20)
    parser.add_argument("--cells", type=int, default=200)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "study"
        links = make_study(folder, given.raters, given.cells)
        starts = [(*seconds_to_first_page(folder, links[0][1]), seconds_of_libraries()) for _ in range(STARTS)]
        first, busy = (statistics.median(times[k] for times in starts) / BAR_SECONDS for k in (0, 1))
        ratio = statistics.median(wall / peer for wall, _, peer in starts)
        print(
            f"first page: {ratio:.1f} times a process that imports the libraries; {first:.0%} of the bar of "
            f"{BAR_SECONDS:g} s (from {min(starts)[0] / BAR_SECONDS:.0%} to {max(starts)[0] / BAR_SECONDS:.0%}; "
            f"of CPU time {busy:.0%}): {_met(first < 1)}"
        )
        before = bare_commits(Path(place))
        with Served(folder) as served:
            count, seconds, answers = rate_all(served.url, folder, links)
            now, most = served.megabytes("VmRSS"), served.megabytes("VmHWM")
        (Path(place) / "bare.sqlite").unlink()
        bare = statistics.mean((before, bare_commits(Path(place))))
        rate = count / seconds
        middle, slow = (sorted(answers)[int(share * count)] for share in (0.5, 0.99))
        print(
            f"ratings: {count:,} by {given.raters} clients, {rate:.0f} a second, {rate / bare:.2f} of bare commits; "
            f"{rate / BAR_RATE:.1f} times the bar of {BAR_RATE}: {_met(rate >= BAR_RATE)} (answered after "
            f"{1000 * middle:.0f} ms at the median, {1000 * slow:.0f} ms at the 99th percentile)"
        )
        print(
            f"memory after them: {now:.1f} MB (of 2^20), {now / megabytes_of_libraries():.2f} of the libraries alone; "
            f"bar {BAR_MB} MB: {_met(now < BAR_MB)} (most at any time {most:.1f} MB); {os.cpu_count()} cores"
        )


def _met(good: bool) -> str:
    return "met" if good else "MISSED"


if __name__ == "__main__":
    main()
