"""Inviting raters: a slot of the design, its assignments, and a link whose token is stored as a hash only.

The links themselves go to ``links.csv`` in the study's folder, the only place where tokens can be read. Knows the
design and the database; must not know the web.
"""

from __future__ import annotations

import csv
import io
import os
import time
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from sqlalchemy import Connection, delete, exists, insert, select, update

from mojimeter.collect.database import writing
from mojimeter.collect.designs import PlacedCell, assign, check_design, slots
from mojimeter.collect.make import treatment
from mojimeter.collect.schema import assignments, cells, events, items, raters, sessions
from mojimeter.collect.schema import study as facts
from mojimeter.collect.store import ADMIN_HASH, Store, hash_of, new_token, open_store
from mojimeter.collect.study import LINKS, StudyConfig
from mojimeter.errors import InputError

COLUMNS: Final = ("rater", "link", "expires")
_DAY: Final = 86_400.0
#: Raters of one call; more is a slip of the finger.
MOST_AT_ONCE: Final = 1000


@dataclass(frozen=True)
class Link:
    """One rater's way in; ``expires`` in seconds since 1970, ``positions`` how many ratings are asked for."""

    rater: str
    token: str
    url: str
    expires: float
    positions: int

    def to_dict(self) -> dict[str, Any]:
        return {"rater": self.rater, "link": self.url, "expires": self.expires_at, "positions": self.positions}

    @property
    def expires_at(self) -> str:
        """Date and time in UTC."""
        return datetime.fromtimestamp(self.expires, UTC).isoformat(timespec="seconds")


@dataclass(frozen=True)
class Invited:
    """New links; ``redealt`` raters were given new orders because the design was edited before the first rating."""

    links: tuple[Link, ...]
    redealt: int
    file: Path | None

    def to_dict(self) -> dict[str, Any]:
        return {
            "links": [link.to_dict() for link in self.links],
            "redealt": self.redealt,
            "file": None if self.file is None else str(self.file),
        }


def invite(
    folder: str | Path,
    raters_wanted: int,
    *,
    base_url: str = "http://127.0.0.1:8000",
    valid_days: float | None = None,
    clock: Callable[[], float] = time.time,
) -> Invited:
    """Add raters: nobody who was invited before is touched, unless the design was edited before the first rating.

    A new rater takes the first slot of the design that nobody has, or whose rater withdrew or was revoked.

    Args:
        folder: the study.
        raters_wanted: how many to add; 0 only deals anew after the design was edited.
        base_url: where the study is served.
        valid_days: how long the links can be used; by default ``link_days`` of the study.
        clock: seconds since 1970.

    Raises:
        InputError: no study, settings that were edited where they no longer may be, no free slot, a base URL that is
            none.
        Unavailable: the database cannot be used.
    """
    if not 0 <= raters_wanted <= MOST_AT_ONCE:
        raise InputError(f"{raters_wanted} raters; expected 0 to {MOST_AT_ONCE}")
    base = _base(base_url)
    store = open_store(folder, edited=True)
    config, now = store.config, clock()
    expires = now + _DAY * (config.link_days if valid_days is None else valid_days)
    with writing(store.engine) as connection:
        all_cells = _cells(connection)
        redealt = _apply_design(connection, store, all_cells)
        known = connection.execute(select(raters.c.id, raters.c.slot, raters.c.revoked, raters.c.withdrawn)).all()
        held = {r.slot for r in known if r.revoked is None and r.withdrawn is None}
        number = max((int(r.id[1:]) for r in known), default=0)
        links = []
        for k in range(raters_wanted):
            slot = _free_slot(held, config)
            held.add(slot)
            name, token = f"r{number + k + 1:02d}", new_token()
            connection.execute(
                insert(raters).values(id=name, slot=slot, token_hash=hash_of(token), created=now, expires=expires)
            )
            positions = _assign(connection, name, slot, all_cells, config)
            links.append(Link(name, token, f"{base}/s/{token}", expires, positions))
        # before the commit: a link that cannot be written down must not exist
        file = _write_links(Path(folder) / LINKS, links) if links else None
    store.engine.dispose()
    return Invited(tuple(links), redealt, file)


def renew_link(
    folder: str | Path,
    rater: str,
    *,
    base_url: str = "http://127.0.0.1:8000",
    valid_days: float | None = None,
    clock: Callable[[], float] = time.time,
) -> Invited:
    """A new link for a rater who lost it, or whose link has expired; the old link and all sessions end.

    Raises:
        InputError: no such rater, or one who withdrew or was revoked.
        Unavailable: the database cannot be used.
    """
    base = _base(base_url)
    store = open_store(folder)
    now, token = clock(), new_token()
    expires = now + _DAY * (store.config.link_days if valid_days is None else valid_days)
    with writing(store.engine) as connection:
        found = connection.execute(select(raters).where(raters.c.id == rater)).first()
        if found is None:
            raise InputError(f"no rater {rater!r} in {folder}")
        if found.revoked is not None or found.withdrawn is not None:
            what = "was revoked" if found.revoked is not None else "has withdrawn"
            raise InputError(f"{rater} {what} and cannot come back; invite another rater")
        connection.execute(
            update(raters).where(raters.c.id == rater).values(token_hash=hash_of(token), expires=expires)
        )
        connection.execute(delete(sessions).where(sessions.c.rater_id == rater))
        positions = len(connection.execute(select(assignments.c.position).where(assignments.c.rater_id == rater)).all())
        link = Link(rater, token, f"{base}/s/{token}", expires, positions)
        file = _write_links(Path(folder) / LINKS, [link])
    store.engine.dispose()
    return Invited((link,), 0, file)


def revoke(folder: str | Path, rater: str) -> int:
    """Close a rater's link, end all sessions at once, and take the link out of ``links.csv``.

    Returns:
        How many lines were taken out.

    Raises:
        InputError: no such rater or study.
        Unavailable: the database cannot be used.
    """
    store = open_store(folder, edited=True)
    store.revoke(rater)
    store.engine.dispose()
    return forget_links(Path(folder) / LINKS, rater)


def renew_admin(folder: str | Path) -> str:
    """A new token for the administrator; the old one and its sessions end.

    Raises:
        InputError, Unavailable: the study cannot be opened.
    """
    store = open_store(folder, edited=True)
    token = new_token()
    with writing(store.engine) as connection:
        connection.execute(update(facts).where(facts.c.key == ADMIN_HASH).values(value=hash_of(token)))
        connection.execute(delete(sessions).where(sessions.c.rater_id.is_(None)))
    store.engine.dispose()
    return token


def _base(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
        raise InputError(f"--base-url {url!r}: expected the study's address, such as https://ratings.example.org")
    return url.rstrip("/")


def _cells(connection: Connection) -> list[PlacedCell]:
    rows = connection.execute(
        select(cells.c.id, cells.c.kind, cells.c.system, items.c.payload)
        .select_from(cells.outerjoin(items, items.c.id == cells.c.item_id))
        .order_by(cells.c.number)
    ).all()
    return [
        PlacedCell(r.id, r.id, "", r.kind)
        if r.payload is None
        else PlacedCell(r.id, r.payload["group"], treatment(r.payload["condition"], r.system), r.kind)
        for r in rows
    ]


def _apply_design(connection: Connection, store: Store, all_cells: list[PlacedCell]) -> int:
    """Deal anew to everybody if the design was edited and nobody has rated; else leave everything alone."""
    config = store.config
    stored = {row.key: row.value for row in connection.execute(select(facts.c.key, facts.c.value))}
    same = stored["design_hash"] == config.design_hash()
    if stored["fixed_hash"] != config.fixed_hash() or not (same or _nobody_rated(connection)):
        store.check_settings()  # says what was edited that may not be
    if same:
        return 0
    check_design(config, all_cells)
    connection.execute(update(facts).where(facts.c.key == "design_hash").values(value=config.design_hash()))
    connection.execute(delete(assignments))
    known = connection.execute(select(raters.c.id, raters.c.slot).order_by(raters.c.slot)).all()
    for rater in known:
        _assign(connection, rater.id, rater.slot, all_cells, config)
    return len(known)


def _nobody_rated(connection: Connection) -> bool:
    return not connection.execute(select(exists(select(events.c.number)))).scalar()


def _free_slot(held: AbstractSet[int], config: StudyConfig) -> int:
    places = slots(config)
    slot = next(k for k in range(len(held) + 1) if k not in held)
    if places is not None and slot >= places:
        raise InputError(
            f"the nested design has places for {places} raters, all taken; a place is free again when its rater "
            "withdraws or is revoked"
        )
    return slot


def _assign(connection: Connection, rater: str, slot: int, all_cells: list[PlacedCell], config: StudyConfig) -> int:
    order = assign(slot, all_cells, config)
    connection.execute(
        insert(assignments),
        [
            {
                "rater_id": rater,
                "position": a.position,
                "cell_id": a.cell_id,
                "part": a.part,
                "repeat_of": a.repeat_of,
            }
            for a in order
        ],
    )
    return len(order)


def _write_links(path: Path, links: Sequence[Link]) -> Path:
    """Add links to the file, which only its owner can read, in place of lines that stand there for the same raters.

    Such lines are those of an invitation that was killed before its commit: nobody can enter with them.
    """
    text = io.StringIO(newline="")
    out = csv.writer(text, lineterminator="\n")
    out.writerows([link.rater, link.url, link.expires_at] for link in links)
    try:
        kept, _ = _without(path, {link.rater for link in links})
        _replace(path, kept + text.getvalue())
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8; save the file as UTF-8, or move it away") from None
    return path


def forget_links(path: Path, rater: str) -> int:
    """Take a rater's links, which no longer work, out of the file.

    Returns:
        How many lines were taken out.
    """
    if not path.is_file():
        return 0
    kept, taken_out = _without(path, {rater})
    _replace(path, kept)
    return taken_out


def _without(path: Path, names: AbstractSet[str]) -> tuple[str, int]:
    """The file's text without these raters' lines, ending in a whole line, and how many lines that leaves out."""
    if not path.exists() or path.stat().st_size == 0:
        return ",".join(COLUMNS) + "\n", 0
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = "".join(line for line in lines if line.partition(",")[0] not in names)
    return kept if kept.endswith("\n") else kept + "\n", sum(line.partition(",")[0] in names for line in lines)


def _replace(path: Path, text: str) -> None:
    """Write the file whole or not at all."""
    part = path.with_name(path.name + ".part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
