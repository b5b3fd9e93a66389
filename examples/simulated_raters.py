"""Simulated raters: programs that work through a study over HTTP as a browser would. NOT people.

    python examples/simulated_raters.py STUDY --server http://127.0.0.1:8000 [--seed 1]

Reads STUDY/links.csv, opens every link, consents and rates what it is shown. The study's title must say "simulated",
so that nothing made up gets into a real study by mistake. A simulated rater sees what a person would see, never a
system's name, and judges by what is there: a way of its own of using the scale (bias), a taste for or against faces,
whether an emoji's Unicode name shares a word with the post, luck of the output, and noise that differs when the same
output is shown again. All of it follows from the seed, so a study can be simulated again with the same scores; another
seed is other raters.

A rating is sent until it is acknowledged, each time with the same key, as the page's own outbox does.
Standard library only.
"""

from __future__ import annotations

import argparse
import csv
import http.client
import json
import random
import re
import sys
import threading
import time
import unicodedata
import uuid
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

AT_ONCE = 8  # cells fetched in one go
PATIENCE = 120.0  # seconds until a rating that nobody acknowledges is given up


@dataclass
class Shown:
    """One position as a rater sees it."""

    position: int
    cell: str
    texts: list[tuple[str, str]] = field(default_factory=list)  # label, text
    emoji: list[str] = field(default_factory=list)  # of the last text, in order
    choices: list[str] = field(default_factory=list)  # empty where a text is asked for


class _Page(HTMLParser):
    """Cells, hidden fields and headings of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.cells: list[Shown] = []
        self.hidden: dict[str, str] = {}
        self.title = ""
        self._inside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "article":
            self.cells.append(Shown(int(given["data-position"]), given["data-cell"]))
        elif tag == "input" and given.get("type") == "hidden":
            self.hidden[given.get("name", "")] = given.get("value", "")
        elif tag == "input" and given.get("type") == "radio" and self.cells:
            self.cells[-1].choices.append(given["value"])
        elif tag == "section" and self.cells and "text" in given.get("class", "").split():
            self.cells[-1].texts.append(("", ""))
            self.cells[-1].emoji = []
        if tag not in ("input", "meta", "link", "br"):
            self._inside.append("emoji" if "e" in given.get("class", "").split() else tag)

    def handle_endtag(self, tag: str) -> None:
        while self._inside and self._inside.pop() not in (tag, "emoji" if tag == "span" else tag):
            pass

    def handle_data(self, data: str) -> None:
        if "title" in self._inside:
            self.title += data
        if "section" not in self._inside or not self.cells or not self.cells[-1].texts:
            return
        label, text = self.cells[-1].texts[-1]
        if "h2" in self._inside:
            self.cells[-1].texts[-1] = (label + data, text)
        elif "div" in self._inside:
            self.cells[-1].texts[-1] = (label, text + data)
            if "emoji" in self._inside:
                self.cells[-1].emoji.append(data)


class UnansweredError(Exception):
    """Nobody acknowledged a request in time."""


class Visit:
    """One rater's session over one connection, opened anew when it breaks."""

    def __init__(self, link: str, server: str | None = None, external_id: str = "") -> None:
        parts = urlsplit(link)
        root, _, token = parts.path.rpartition("/s/")
        self._host = urlsplit(server).netloc if server else parts.netloc
        # a study may be served under a path of its host
        self._root = urlsplit(server).path.rstrip("/") if server else root
        self._link, self._external_id = f"/s/{token}", external_id
        self._connection: http.client.HTTPConnection | None = None
        self._cookies: dict[str, str] = {}
        self.csrf = ""

    @property
    def _cookie(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self._cookies.items())

    def ask(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        """One request; status, headers and body of its answer.

        Raises:
            OSError, http.client.HTTPException: no answer.
        """
        if self._connection is None:
            self._connection = http.client.HTTPConnection(self._host, timeout=60)
        try:
            self._connection.request(method, self._root + path, body, {"Cookie": self._cookie, **(headers or {})})
            answer = self._connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException):
            self.close()
            raise
        got = {name.lower(): value for name, value in answer.getheaders()}
        for cookie in answer.headers.get_all("set-cookie", []):
            name, _, value = cookie.partition(";")[0].partition("=")
            self._cookies[name] = value
        return answer.status, got, content

    def insist(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        """Ask until there is an answer other than "not now".

        Raises:
            UnansweredError: there was none in time.
        """
        until, wait = time.monotonic() + PATIENCE, 0.05
        while time.monotonic() < until:
            try:
                status, got, content = self.ask(method, path, body, headers)
            except (OSError, http.client.HTTPException):
                status, got = 0, {}
            if status not in (0, 429, 502, 503, 504):
                return status, got, content
            time.sleep(float(got.get("retry-after", wait)))
            wait = min(1.0, wait * 1.5)
        raise UnansweredError(f"{method} {path.split('/')[1]}: no answer in {PATIENCE:.0f} s")

    def post_form(self, path: str, **fields: str) -> tuple[int, dict[str, str], bytes]:
        kind = {"Content-Type": "application/x-www-form-urlencoded", "Origin": f"http://{self._host}"}
        return self.insist("POST", path, urlencode(fields).encode(), kind)

    def title(self) -> str:
        """The study's title, from its start page."""
        return self._page(self._link)[0].title

    def enter(self) -> None:
        """Exchange the link for a session, and consent."""
        status, _, content = self.post_form(self._link, external_id=self._external_id)
        if status != 303:
            raise SystemExit(f"the link is refused ({status}): {_sentence(content)}")
        page, _ = self._page("/consent")
        if "csrf" in page.hidden:  # else it was given before
            self.post_form("/consent", csrf=page.hidden["csrf"])
        self.csrf = self._cells(1, 0)["csrf"]

    def next_position(self) -> int | None:
        """The first position that is not rated yet; None when all are."""
        _, got, _ = self.insist("GET", "/rate")
        found = re.fullmatch(rf"{re.escape(self._root)}/rate/([0-9]+)", got.get("location", ""))
        return int(found[1]) if found else None

    def cells(self, start: int) -> list[Shown]:
        """The next cells from a position on."""
        page = _Page()
        for one in self._cells(start, AT_ONCE)["cells"]:
            page.feed(one["html"])
        return page.cells

    def _cells(self, start: int, count: int) -> dict[str, Any]:
        status, _, content = self.insist("GET", f"/cells?from={start}&count={count}")
        if status != 200:
            raise SystemExit(f"no cells ({status}): {_sentence(content)}")
        found: dict[str, Any] = json.loads(content)
        return found

    def rate(self, shown: Shown, value: str, key: str, duration_ms: int) -> tuple[int, dict[str, Any]]:
        """Send a rating until it is answered; status and answer."""
        sent = {
            "key": key,
            "position": shown.position,
            "cell": shown.cell,
            "value": value,
            "shown_at": time.time(),
            "duration_ms": duration_ms,
        }
        kind = {
            "Content-Type": "application/json",
            "X-CSRF-Token": self.csrf,
            "Origin": f"http://{self._host}",
        }
        status, _, content = self.insist("POST", "/ratings", json.dumps(sent).encode(), kind)
        return status, json.loads(content)

    def close(self) -> None:
        """Drop the connection; the session stays."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _page(self, path: str) -> tuple[_Page, int]:
        status, _, content = self.insist("GET", path)
        page = _Page()
        page.feed(content.decode())
        return page, status


def _sentence(content: bytes) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", content.decode(errors="replace")).split())[:200]


class Person:
    """A made-up rater: how it judges what it is shown."""

    def __init__(self, name: str, seed: int) -> None:
        self._name, self._seed = name, seed
        traits = random.Random(f"{seed}/{name}")
        self._bias, self._taste = traits.gauss(0, 0.5), traits.gauss(0, 0.3)
        self._seen: dict[str, int] = {}

    def judge(self, shown: Shown) -> tuple[str, int]:
        """A value for what is shown, and how many milliseconds it took to find."""
        text = "\n".join(text for _, text in shown.texts)
        again = self._seen[text] = self._seen.get(text, -1) + 1
        own = random.Random(f"{self._seed}/{self._name}/{text}/{again}")
        took = round(own.lognormvariate(8.3, 0.5))  # 4 seconds at the median
        told = re.search(r"\bplease (?:choose|write the word) (\w+)", text)
        if told and (not shown.choices or told[1].lower() in shown.choices):
            return told[1].lower(), took
        if not shown.choices:
            return own.choice(("because they are happy", "because they are not", "I cannot tell")), took
        post, rated = shown.texts[0][1], shown.texts[-1][1]
        faces = sum("FACE" in unicodedata.name(one[0], "") for one in shown.emoji)
        liking = 2.8 + self._bias + self._taste * (faces - 1) + 1.2 * _fits(post, shown.emoji)
        # what a text has for everybody: the same whoever rates it
        liking += random.Random(post).gauss(0, 0.3) + random.Random(f"{post}/{rated}").gauss(0, 0.3)
        liking += own.gauss(0, 0.6)
        if shown.choices[0].isdigit():
            return str(min(len(shown.choices), max(1, round(1 + (liking - 1) * (len(shown.choices) - 1) / 4)))), took
        return shown.choices[0 if liking > 3 else 1], took


def _fits(post: str, emoji: list[str]) -> bool:
    """Whether an emoji's Unicode name shares a word of four letters or more with the post."""
    words = set(re.findall(r"[a-z]{4,}", post.lower())) - {"face", "with", "sign", "eyes"}
    names = {part for one in emoji for sign in one for part in unicodedata.name(sign, "").lower().split()}
    return bool(words & names)


def work(name: str, link: str, server: str | None, seed: int, stop_after: int | None, done: dict[str, int]) -> None:
    """One simulated rater from the link to the last item."""
    visit, person = Visit(link, server, f"simulated-{name}"), Person(name, seed)
    visit.enter()
    position, count = visit.next_position(), 0
    while position is not None and (stop_after is None or count < stop_after):
        for shown in visit.cells(position):
            value, took = person.judge(shown)
            status, answer = visit.rate(shown, value, uuid.uuid4().hex, took)
            if status != 200:
                raise SystemExit(f"{name}: a rating was refused ({status}): {answer}")
            position, count = answer["next"], count + 1
            done[name] = count
            if count == stop_after or position != shown.position + 1:
                break
    visit.close()


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Simulated raters (programs, not people) work through a study.")
    parser.add_argument("study", help="the study's folder, with links.csv")
    parser.add_argument("--server", help="where it is served, if not where links.csv says")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--stop-after", type=int, metavar="N", help="every rater leaves after N ratings")
    given = parser.parse_args(arguments)
    with (Path(given.study) / "links.csv").open(encoding="utf-8-sig", newline="") as file:
        links = {row["rater"]: row["link"] for row in csv.DictReader(file)}
    if not links:
        sys.exit("no links: mojimeter collect invite")
    title = Visit(next(iter(links.values())), given.server).title()
    if "simulated" not in title.lower():
        sys.exit(f"the study is called {title.strip()!r}; simulated raters only work where the title says 'simulated'")
    done: dict[str, int] = {}
    failed: list[str] = []

    def run(name: str) -> None:
        try:
            work(name, links[name], given.server, given.seed, given.stop_after, done)
        except (SystemExit, UnansweredError) as error:
            failed.append(str(error))

    threads = [threading.Thread(target=run, args=(name,)) for name in links]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{len(done)} simulated raters gave {sum(done.values()):,} ratings.")
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main()
