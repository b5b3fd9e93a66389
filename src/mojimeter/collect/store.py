"""Everything that the web app and the commands do to a study's database while raters work.

One class, ``Store``; every method is one transaction. A rating is on disk when ``rate`` returns, and the same rating
sent again is acknowledged again and stored once. What a rater gets is his or her own and blind: no system, no item's
name. Must not import NumPy or Polars (the serving process stays small), nor know HTTP.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import re
import secrets
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Engine, Row, delete, exists, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from mojimeter.collect import statements
from mojimeter.collect.database import Unavailable, migrate, open_database, reading, write, writing
from mojimeter.collect.records import (
    AdminSession,
    BadValue,
    CellPage,
    Closed,
    KeyReused,
    NotYours,
    RaterState,
    Rating,
    Refused,
    Saved,
    Session,
    StoreError,
)
from mojimeter.collect.schema import checks, events, raters, sessions
from mojimeter.collect.schema import study as facts
from mojimeter.collect.study import SETTINGS, StudyConfig, database_of, read_study
from mojimeter.errors import InputError

__all__ = [
    "AdminSession",
    "BadValue",
    "CellPage",
    "Closed",
    "KeyReused",
    "NotYours",
    "RaterState",
    "Rating",
    "Refused",
    "Saved",
    "Session",
    "Store",
    "StoreError",
    "Unavailable",
    "open_store",
]

LONGEST_DURATION_MS: Final = 30 * 24 * 3600 * 1000
_MOST_POSITIONS: Final = 2**31 - 1  # what the databases' INTEGER holds
ADMIN_HASH: Final = "admin_token_hash"
_KEY = re.compile(r"[A-Za-z0-9_-]{8,64}")
_EXTERNAL = re.compile(r"[A-Za-z0-9_-]{1,64}")  # no @ and no blanks: neither an address nor a name comes in by mistake


def hash_of(secret: str) -> str:
    """What is stored of a token or a cookie: SHA-256, enough for secrets of 128 random bits or more."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def new_token() -> str:
    """192 random bits, safe in a URL."""
    return secrets.token_urlsafe(24)


def open_store(folder: str | Path, *, edited: bool = False) -> Store:
    """The store of a study folder, its database brought up to date.

    Args:
        folder: made by ``collect init``.
        edited: open it although the design was edited, for who is going to deal anew.

    Raises:
        InputError: no study there, settings that are wrong, or that were edited where they no longer may be.
        Unavailable: the database cannot be reached.
    """
    config = read_study(folder)
    where = database_of(folder, config)
    if isinstance(where, Path) and not where.is_file():
        raise InputError(f"{where}: no such file; expected the ratings of the study (made by mojimeter collect init)")
    engine = open_database(where)
    if migrate(engine) is None:
        raise InputError(f"{folder}: its database holds no study; expected one made by mojimeter collect init")
    store = Store(engine, config)
    if not edited:
        store.check_settings(Path(folder) / SETTINGS)
    return store


class Store:
    """A study's database, for raters and for the administrator.

    Args:
        engine: from ``open_database``, with the tables made.
        config: the settings.
        clock: seconds since 1970; for tests.

    Every method raises ``Unavailable`` where the database cannot do its work.
    """

    def __init__(self, engine: Engine, config: StudyConfig, clock: Callable[[], float] = time.time) -> None:
        self.engine = engine
        self.config = config
        self._now = clock

    def now(self) -> float:
        """Seconds since 1970, by the store's clock."""
        return self._now()

    # --- the study ----------------------------------------------------------------------------------------------

    def fact(self, key: str) -> str | None:
        """A line of the table ``study``: study_id, created, version, fixed_hash, design_hash, ..."""
        with reading(self.engine) as connection:
            return _fact(connection, key)

    def check_settings(self, where: str | Path = SETTINGS) -> None:
        """Refuse settings that do not belong to what is stored.

        Raises:
            InputError: the form was edited, or the design: with ratings there it must be put back, without any
                ``collect invite`` deals anew.
        """
        with reading(self.engine) as connection:
            fixed, design = _fact(connection, "fixed_hash"), _fact(connection, "design_hash")
            rated = connection.execute(select(exists(select(events.c.number)))).scalar()
        if fixed != self.config.fixed_hash():
            raise InputError(
                f"{where}: form, number of points or show_emoji_names differ from what the study was made with; "
                "put them back, or make another study with mojimeter collect init"
            )
        if design != self.config.design_hash():
            if rated:
                raise InputError(
                    f"{where}: the design or seed was edited, but there are ratings; put the old values back, "
                    "or make another study with mojimeter collect init"
                )
            raise InputError(f"{where}: the design was edited; run mojimeter collect invite once to deal anew")

    # --- coming and going ---------------------------------------------------------------------------------------

    def enter(self, token: str) -> Session:
        """Exchange a link's token for a session; nothing of the rater is kept by that (see `consent`, `arrive`).

        Raises:
            Refused: the token is unknown, expired or revoked.
        """
        now = self._now()
        with writing(self.engine) as connection:
            rater = connection.execute(select(raters).where(raters.c.token_hash == hash_of(token))).first()
            if rater is None or not hmac.compare_digest(rater.token_hash, hash_of(token)):
                raise Refused("unknown")
            if rater.revoked is not None:
                raise Refused("revoked")
            if rater.expires <= now:
                raise Refused("expired")
            return self._new_session(connection, rater.id, now)

    def _new_session(self, connection: Connection, rater: str, now: float) -> Session:
        cookie = new_token()
        connection.execute(delete(sessions).where(sessions.c.expires <= now))
        connection.execute(
            insert(sessions).values(
                hash=hash_of(cookie),
                rater_id=rater or None,
                created=now,
                expires=now + 3600 * self.config.session_hours,
            )
        )
        return _session(cookie, rater)

    def session(self, cookie: str) -> Session | None:
        """Who this cookie is; None once it has expired, was left, or the rater was revoked."""
        found = self._session_row(cookie)
        return _session(cookie, found.rater_id) if found is not None and found.rater_id is not None else None

    def _session_row(self, cookie: str) -> Row[str, str | None] | None:
        hashed = hash_of(cookie)
        with reading(self.engine) as connection:
            found = connection.execute(statements.SESSION, {"hash": hashed, "now": self._now()}).first()
        return found if found is not None and hmac.compare_digest(found.hash, hashed) else None

    def leave(self, cookie: str) -> None:
        """End a session; the link begins another one, on any device."""
        with writing(self.engine) as connection:
            connection.execute(delete(sessions).where(sessions.c.hash == hash_of(cookie)))

    def enter_admin(self, token: str) -> AdminSession:
        """Exchange the administrator's token for a session of its own.

        Raises:
            Refused: it is not the token, or there is none.
        """
        with writing(self.engine) as connection:
            stored = _fact(connection, ADMIN_HASH) or ""
            if not hmac.compare_digest(stored.encode(), hash_of(token).encode()):
                raise Refused("unknown")
            session = self._new_session(connection, "", self._now())
            return AdminSession(session.cookie, session.csrf)

    def admin_session(self, cookie: str) -> AdminSession | None:
        """Whether this cookie is an administrator's."""
        found = self._session_row(cookie)
        return AdminSession(cookie, _csrf(cookie)) if found is not None and found.rater_id is None else None

    def revoke(self, rater: str) -> None:
        """Close a rater's link and end his or her sessions at once. What was rated stays.

        Raises:
            InputError: no such rater.
        """
        with writing(self.engine) as connection:
            now = self._now()
            changed = connection.execute(
                update(raters).where(raters.c.id == rater).values(revoked=func.coalesce(raters.c.revoked, now))
            )
            if changed.rowcount == 0:
                known = connection.execute(select(raters.c.id).order_by(raters.c.id).limit(20)).scalars()
                raise InputError(f"no rater {rater!r}; expected {', '.join(known) or 'one that was invited'}")
            connection.execute(delete(sessions).where(sessions.c.rater_id == rater))

    # --- what a rater sees --------------------------------------------------------------------------------------

    def state(self, rater: str) -> RaterState:
        """Where a rater is.

        Raises:
            NotYours: no such rater.
        """
        with reading(self.engine) as connection:
            who = _rater(connection, rater)
            found = connection.execute(statements.STATE, {"rater": rater}).one()
        return RaterState(
            consented=who.consented is not None,
            withdrawn=who.withdrawn is not None,
            training=found.training,
            training_done=found.practising == 0,
            done=found.total - found.left,
            total=found.total,
            next_position=found.following,
            completed=found.total > 0 and found.left == 0,
        )

    def page(self, rater: str, position: int) -> CellPage:
        """One position of a rater.

        Raises:
            NotYours: the rater has no such position.
            Closed: consent was not given, or the rater has withdrawn or was revoked.
        """
        found = self.pages(rater, position, 1)
        if not found or found[0].position != position:
            raise NotYours("there is no such item")
        return found[0]

    def pages(self, rater: str, start: int, count: int) -> list[CellPage]:
        """Up to `count` positions from `start` on, in order; fewer, or none, at the end.

        Raises:
            Closed: as `page`.
        """
        if not 1 <= start <= _MOST_POSITIONS or count < 1:
            return []
        with reading(self.engine) as connection:
            _refuse_closed(_rater(connection, rater))
            total = connection.execute(statements.LAST, {"rater": rater}).scalar()
            rows = connection.execute(statements.PAGES, {"rater": rater, "place": start, "most": count}).all()
        return [self._page(row, total or 0) for row in rows]

    def _page(self, row: Row[Any], total: int) -> CellPage:
        told = row.kind == "training" and row.value is not None and self.config.training_feedback
        return CellPage(
            position=row.position,
            total=total,
            part=row.part,
            payload=row.payload,
            cell_id=row.id,
            value=row.value,
            feedback=row.feedback if told else None,
            expected=row.expected if told else None,
        )

    # --- what a rater does --------------------------------------------------------------------------------------

    def consent(self, rater: str, external_id: str | None = None, check: Mapping[str, Any] | None = None) -> None:
        """Note that consent was given, the first time counts; only with it is kept what came with the link.

        Args:
            rater: who.
            external_id: an outside id; the first is kept if the study asks for it and it can be one.
            check: the result of a check of the emoji font, as `check` takes it.

        Raises:
            Closed: the rater has withdrawn or was revoked.
            BadValue: the check is not one; then nothing is stored.
        """
        self._keep(rater, external_id, check, consent=True)

    def arrive(self, rater: str, external_id: str | None = None, check: Mapping[str, Any] | None = None) -> None:
        """Keep what came with the link of a rater who had consented before; arguments and errors as `consent`.

        Raises:
            Closed: also where consent was not given.
        """
        self._keep(rater, external_id, check, consent=False)

    def check(self, rater: str, result: Mapping[str, Any]) -> None:
        """Keep the result of a check of the emoji font: a small object of flags, numbers and short words.

        Raises:
            NotYours: no such rater.
            Closed: consent was not given, or the rater has withdrawn or was revoked.
            BadValue: anything else; what would tell one machine from another does not get in.
        """
        self._keep(rater, None, result, consent=False)

    def _keep(self, rater: str, external_id: str | None, check: Mapping[str, Any] | None, *, consent: bool) -> None:
        if check is not None and not is_check(check):
            raise BadValue("the result of the check is not one")
        now, me = self._now(), raters.c.id == rater
        with writing(self.engine) as connection:
            _refuse_closed(_rater(connection, rater), consent=not consent)
            if consent:
                connection.execute(update(raters).where(me, raters.c.consented.is_(None)).values(consented=now))
            if external_id and self.config.external_id_parameter and _EXTERNAL.fullmatch(external_id):
                given = update(raters).where(me, raters.c.external_id.is_(None))
                connection.execute(given.values(external_id=external_id))
            if check is not None:
                connection.execute(insert(checks).values(rater_id=rater, at=now, result=dict(check)))

    def withdraw(self, rater: str) -> None:
        """Withdraw: no more ratings, and those given are never exported. Cannot be undone."""
        with writing(self.engine) as connection:
            _rater(connection, rater)
            open_yet = update(raters).where(raters.c.id == rater, raters.c.withdrawn.is_(None))
            connection.execute(open_yet.values(withdrawn=self._now()))

    def rate(
        self,
        rater: str,
        *,
        key: str,
        position: int,
        cell_id: str,
        value: str,
        shown_at: float,
        duration_ms: int,
        session: Session | None = None,
    ) -> Saved:
        """Store a rating; it is on disk when this returns.

        The same rating with the same key is acknowledged again and stored once. A later rating of the same position
        counts instead of the earlier one, which stays stored.

        Raises:
            NotYours: the rater has no such position, or it shows another cell.
            BadValue: the value is none of this form, or key, time or duration are impossible.
            KeyReused: the key stands for another rating.
            Closed: consent was not given, or the rater has withdrawn or was revoked.
            Unavailable: nothing was stored, or it is not known whether: send it again with the same key.
        """
        rating = Rating(key, position, cell_id, value, shown_at, duration_ms)
        stored = self._checked(rating)
        try:
            return self._rate(rater, rating, stored, session)
        except IntegrityError:
            # PostgreSQL: somebody stored the same key between our look and our insert
            return self._rate(rater, rating, stored, session)

    def _checked(self, rating: Rating) -> str:
        if not _KEY.fullmatch(rating.key):
            raise BadValue("the key is not one; expected 8 to 64 letters, digits, - and _")
        if not 1 <= rating.position <= _MOST_POSITIONS:
            raise NotYours("there is no such item")
        if not math.isfinite(rating.shown_at):
            raise BadValue("the time at which the item was shown is not one")
        if not 0 <= rating.duration_ms <= LONGEST_DURATION_MS:
            raise BadValue("the duration is not one; expected milliseconds, at most 30 days")
        value = self.config.check_value(rating.value)
        if value is None:
            raise BadValue(f"not a rating; expected {', '.join(self.config.values()) or 'a text'}")
        return value

    def _rate(self, rater: str, rating: Rating, value: str, session: Session | None) -> Saved:
        now = self._now()

        def work(connection: Connection) -> Saved:
            asked = {"rater": rater, "place": rating.position, "key": rating.key}
            found = connection.execute(statements.PLACE, asked).first()
            if found is None:
                raise NotYours("there is no such rater")
            _refuse_closed(found)
            if found.earlier_rater is not None:
                if tuple(found[-4:]) != (rater, rating.position, rating.cell_id, value):
                    raise KeyReused("this key stands for another rating")
                return Saved(rating.key, rating.position, _next(connection, rater, rating.position), fresh=False)
            if found.cell_id is None or found.cell_id != rating.cell_id:
                raise NotYours("there is no such item")
            event = {
                "key": rating.key,
                "rater_id": rater,
                "position": rating.position,
                "cell_id": found.cell_id,
                "value": value,
                "shown_at": rating.shown_at,
                "duration_ms": rating.duration_ms,
                "received_at": now,
                "session": None if session is None else session.hash[:16],
            }
            connection.execute(statements.RATE, event)
            following = _next(connection, rater, rating.position)
            if following is None:
                connection.execute(statements.COMPLETE, {"rater": rater, "now": now})
            return Saved(rating.key, rating.position, following, fresh=True)

        return write(self.engine, work)


def is_check(result: Mapping[str, Any]) -> bool:
    """Whether it can be the result of a check of the emoji font: few flags, finite numbers and short words."""
    return len(result) <= 12 and all(
        re.fullmatch(r"[a-z_]{1,32}", str(name))
        and (value is None or isinstance(value, bool | int | float) or re.fullmatch(r"[a-z_0-9-]{0,24}", str(value)))
        and not (isinstance(value, float) and not math.isfinite(value))
        for name, value in result.items()
    )


def _fact(connection: Connection, key: str) -> str | None:
    value: str | None = connection.execute(select(facts.c.value).where(facts.c.key == key)).scalar()
    return value


def _session(cookie: str, rater: str) -> Session:
    return Session(cookie, _csrf(cookie), rater, hash_of(cookie))


def _csrf(cookie: str) -> str:
    """A second secret that only who knows the cookie can make; it stands in pages, the cookie never does."""
    return hmac.new(cookie.encode("utf-8", "surrogatepass"), b"mojimeter csrf", hashlib.sha256).hexdigest()


def _rater(connection: Connection, rater: str) -> Row[Any]:
    found = connection.execute(statements.RATER, {"rater": rater}).first()
    if found is None:
        raise NotYours("there is no such rater")
    return found


def _refuse_closed(rater: Any, *, consent: bool = True) -> None:
    if rater.revoked is not None:
        raise Closed("revoked")
    if rater.withdrawn is not None:
        raise Closed("withdrawn")
    if consent and rater.consented is None:
        raise Closed("consent")


def _next(connection: Connection, rater: str, position: int) -> int | None:
    """The next position without a rating: after this one, else the first; None where all are rated."""
    after: int | None = connection.execute(statements.NEXT, {"rater": rater, "place": position}).scalar()
    if after is not None:
        return after
    first: int | None = connection.execute(statements.NEXT, {"rater": rater, "place": 0}).scalar()
    return first
