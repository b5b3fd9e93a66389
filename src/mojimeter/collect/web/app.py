"""The web app: which request does what. Every handler is a plain function that runs in a small pool of threads.

Knows the store and the pages; must not know SQL, designs or systems.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import sys
import time
import traceback
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mojimeter.collect.records import BadValue, Closed, KeyReused, NotYours, RaterState, Refused, Session
from mojimeter.collect.store import Store, is_check, new_token
from mojimeter.collect.study import FONT
from mojimeter.collect.web.pages import Pages, Visit
from mojimeter.collect.web.security import SECURITY_HEADERS, Limiter, forwarded, from_here, same_secret, without_secrets
from mojimeter.errors import InputError, MojimeterError

STATIC: Final = Path(__file__).parent / "static"
_TYPES: Final = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
#: Wrong links and tokens from one address: more than a room of people mistypes, fewer than a program tries.
_WRONG_A_MINUTE: Final = 30
_MOST_CELLS: Final = 8
#: Seconds in which a request's body must have come: a rating is small, and a program that dribbles must not stay.
_SLOWEST_BODY: Final = 30.0
#: Answers that a program reads, not a person.
_FOR_SCRIPTS: Final = frozenset({"/ratings", "/cells", "/check", "/health"})


@dataclass(frozen=True)
class Settings:
    """How the app is reached.

    Attributes:
        behind_proxy: believe X-Forwarded-For and X-Forwarded-Proto; only where a proxy of ours sets them.
        hosts: names by which the app may be called; empty for any.
        root: the path under which visitors find the app, as `as_root` makes it; empty for the top of its host.
        log: where one line a request goes, without tokens or addresses; None for none.
        threads: requests answered at once.
    """

    behind_proxy: bool = False
    hosts: tuple[str, ...] = ()
    root: str = ""
    log: Callable[[str], None] | None = None
    threads: int = 4


class Refusal(Exception):  # noqa: N818 - an answer, not an error of ours
    """An answer other than what was asked for: a status and the name of the sentence that says why."""

    def __init__(self, status: int, word: str, seconds: int = 0) -> None:
        super().__init__(word)
        self.status, self.word, self.seconds = status, word, seconds


@dataclass(frozen=True)
class Asked:
    """A request, read whole."""

    method: str
    path: str
    host: str
    headers: Mapping[str, str]
    cookies: Mapping[str, str]
    path_values: Mapping[str, Any]
    query: Mapping[str, str]
    body: bytes
    address: str
    secure: bool

    def form(self) -> dict[str, str]:
        """The fields of a form; the last of several with one name.

        Raises:
            Refusal: not a form.
        """
        try:
            return dict(parse_qsl(self.body.decode(), keep_blank_values=True, max_num_fields=50, errors="strict"))
        except ValueError:
            raise Refusal(422, "error_value") from None

    def json(self) -> dict[str, Any]:
        """The body as a JSON object.

        Raises:
            Refusal: not one.
        """
        try:
            found = json.loads(self.body)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise Refusal(422, "error_value")
        return found


class _File:
    """A file of ours, kept in memory; a browser that has it is told so."""

    def __init__(self, path: Path, kind: str) -> None:
        self._body, self._kind = path.read_bytes(), kind
        self._packed = gzip.compress(self._body, mtime=0) if kind.startswith("text/") else None
        self._etag = f'"{sha256(self._body).hexdigest()[:20]}"'

    def answer(self, asked: Asked) -> Response:
        headers = {"etag": self._etag, "cache-control": "no-cache", "vary": "accept-encoding"}
        if asked.headers.get("if-none-match") == self._etag:
            return Response(status_code=304, headers=headers)
        if self._packed is not None and "gzip" in asked.headers.get("accept-encoding", ""):
            return Response(self._packed, headers=headers | {"content-encoding": "gzip"}, media_type=self._kind)
        return Response(self._body, headers=headers, media_type=self._kind)


Handler = Callable[[Asked], Response]


class Site:
    """One study, served: handlers, limits and the pool of threads in which handlers run."""

    def __init__(self, store: Store, folder: Path, settings: Settings) -> None:
        self.store, self.settings = store, settings
        self.pages = Pages(store.config, json.loads(store.fact("emoji") or "[]"), settings.root)
        self.pool = ThreadPoolExecutor(settings.threads, thread_name_prefix="answer")
        self._name = (store.fact("study_id") or "")[:12]
        self._wrong = Limiter(_WRONG_A_MINUTE)
        self._writes = Limiter(store.config.limits.requests_a_minute)
        self._files = {p.name: _File(p, _TYPES[p.suffix]) for p in STATIC.iterdir() if p.suffix in _TYPES}
        self._font = _File(folder / FONT, "font/woff2")

    # --- the way in -------------------------------------------------------------------------------------------------

    def start(self, asked: Asked) -> Response:
        parameter = self.store.config.external_id_parameter
        external_id = asked.query.get(parameter, "")[:64] if parameter else ""
        return _page(self.pages.start(asked.path, external_id))

    def enter(self, asked: Asked) -> Response:
        self._refuse_hasty(self._wrong, asked.address)
        form, token = asked.form(), asked.path_values["token"]
        self._count_write(f"/s/{token[:64]}")  # every entry is a write too
        try:
            session = self.store.enter(token)
        except Refused as refused:
            self._wrong.count(asked.address)
            if refused.reason == "unknown":
                raise Refusal(404, "error_link") from None
            raise Refusal(410, f"error_{refused.reason}") from None
        entry = _Entry(form.get("external_id") or None, _check_of(form.get("check", "")))
        answer = _go("/")
        self._set_cookie(answer, asked, "rater", session.cookie)
        state = self.store.state(session.rater)
        if not state.consented:  # the rater's browser keeps it until then: who declines leaves nothing here
            if entry == _Entry():
                self._drop_cookie(answer, asked, "entry")
            else:
                self._set_cookie(answer, asked, "entry", entry.pack())
        elif not state.withdrawn:
            self.store.arrive(session.rater, entry.external_id, entry.check)
        return answer

    def home(self, asked: Asked) -> Response:
        session = self._session(asked)
        return _go(_place(self.store.state(session.rater)))

    def consent_page(self, asked: Asked) -> Response:
        session, state = self._visitor(asked, consent=False)
        return _page(self.pages.consent(session.csrf, consented=state.consented))

    def consent(self, asked: Asked) -> Response:
        session = self._sender(asked)
        entry = _Entry.unpack(self._cookie(asked, "entry"))
        self.store.consent(session.rater, entry.external_id, entry.check)
        answer = _go("/instructions")
        self._drop_cookie(answer, asked, "entry")
        return answer

    def instructions(self, asked: Asked) -> Response:
        _, state = self._visitor(asked)
        return _page(self.pages.instructions(state))

    def check(self, asked: Asked) -> Response:
        session = self._sender(asked)
        self.store.check(session.rater, asked.json())
        return JSONResponse({"saved": True})

    # --- rating -----------------------------------------------------------------------------------------------------

    def rate_next(self, asked: Asked) -> Response:
        _, state = self._visitor(asked)
        return _go("/done" if state.next_position is None else f"/rate/{state.next_position}")

    def rate_page(self, asked: Asked) -> Response:
        session, state = self._visitor(asked)
        position = _number(asked.path_values["position"])
        if position > state.training and not state.training_done:
            return _go("/rate")
        return self._item(session, state, position)

    def _item(self, session: Session, state: RaterState, position: int, word: str = "", status: int = 200) -> Response:
        cell = self.store.page(session.rater, position)
        message = self.pages.words[word] if word else ""
        return _page(self.pages.rate(self._visit(session), state, cell, new_token(), message), status)

    def cells(self, asked: Asked) -> Response:
        """Items to come, for the script: so that a rater can go on for a while without a connection."""
        session, state = self._visitor(asked)
        start, count = _number(asked.query.get("from", "")), _number(asked.query.get("count", ""))
        last = state.total if state.training_done else state.training
        count = min(count, _MOST_CELLS, last - start + 1)
        found = self.store.pages(session.rater, start, count) if count > 0 else []
        visit = self._visit(session)
        return JSONResponse(
            {
                "box": visit.box,
                "csrf": visit.csrf,
                "cells": [
                    {"position": c.position, "html": self.pages.cell(visit, state, c, new_token())} for c in found
                ],
            }
        )

    def rating(self, asked: Asked) -> Response:
        """A rating sent by script: answered with its key only once it is on disk."""
        session = self._sender(asked)
        given = asked.json()
        try:
            saved = self.store.rate(
                session.rater,
                key=_name(given["key"]),
                position=_whole(given["position"]),
                cell_id=_name(given["cell"]),
                value=_text(given["value"]),
                shown_at=_real(given["shown_at"]),
                duration_ms=_whole(given["duration_ms"]),
                session=session,
            )
        except (KeyError, TypeError, OverflowError):
            raise Refusal(422, "error_value") from None
        return JSONResponse({"saved": saved.key, "next": saved.next_position})

    def rate_form(self, asked: Asked) -> Response:
        """A rating sent by the plain form."""
        session, form = self._sender(asked), asked.form()
        position = _number(asked.path_values["position"])
        try:
            shown_at = float(form["shown_at"])
            saved = self.store.rate(
                session.rater,
                key=_name(form["key"]),
                position=position,
                cell_id=_name(form["cell"]),
                value=form["value"],
                shown_at=shown_at,
                duration_ms=max(0, round((time.time() - shown_at) * 1000)),
                session=session,
            )
        except KeyReused:
            return self._item(session, self.store.state(session.rater), position, "changed_elsewhere", 409)
        except (KeyError, TypeError, ValueError, OverflowError):
            raise Refusal(422, "error_value") from None
        if position <= self.store.state(session.rater).training and self.store.config.training_feedback:
            return _go(f"/rate/{position}")
        return _go("/done" if saved.next_position is None else f"/rate/{saved.next_position}")

    # --- the way out ------------------------------------------------------------------------------------------------

    def pause(self, asked: Asked) -> Response:
        self._sender(asked)
        self.store.leave(self._cookie(asked, "rater"))
        answer = _go("/declined" if asked.form().get("declined") else "/paused")
        for role in ("rater", "entry"):
            self._drop_cookie(answer, asked, role)
        return answer

    def paused(self, asked: Asked) -> Response:
        return _page(self.pages.notice(asked.path.strip("/")))

    def done(self, asked: Asked) -> Response:
        session, state = self._visitor(asked)
        if not state.completed:
            return _go("/")
        return _page(self.pages.done(self._visit(session), state))

    def withdraw_page(self, asked: Asked) -> Response:
        session = self._session(asked)
        if self.store.state(session.rater).withdrawn:
            return _go("/withdrawn")
        return _page(self.pages.withdraw(session.csrf))

    def withdraw(self, asked: Asked) -> Response:
        session = self._sender(asked)
        self.store.withdraw(session.rater)
        return _go("/withdrawn")

    def withdrawn(self, asked: Asked) -> Response:
        session = self._session(asked)
        if not self.store.state(session.rater).withdrawn:
            return _go("/")
        return _page(self.pages.notice("withdrawn"))

    # --- the administrator, and programs -----------------------------------------------------------------------------

    def admin_page(self, asked: Asked) -> Response:
        session = self.store.admin_session(self._cookie(asked, "admin"))
        if session is None:
            return _page(self.pages.admin("", None))
        from mojimeter.collect.web.overview import overview  # only where it is looked at

        return _page(self.pages.admin(session.csrf, overview(self.store)))

    def admin_enter(self, asked: Asked) -> Response:
        self._refuse_hasty(self._wrong, asked.address)
        try:
            session = self.store.enter_admin(asked.form().get("token", "").strip())
        except Refused:
            self._wrong.count(asked.address)
            return _page(self.pages.admin("", None, "That is not the administrator's token."), 403)
        answer = _go("/admin")
        self._set_cookie(answer, asked, "admin", session.cookie)
        return answer

    def admin_leave(self, asked: Asked) -> Response:
        cookie = self._cookie(asked, "admin")
        session = self.store.admin_session(cookie)
        if session is not None:
            self._refuse_forged(asked, session.csrf)
            self.store.leave(cookie)
        answer = _go("/admin")
        self._drop_cookie(answer, asked, "admin")
        return answer

    def static(self, asked: Asked) -> Response:
        found = self._files.get(asked.path_values["name"])
        if found is None:
            raise Refusal(404, "error_not_found")
        return found.answer(asked)

    def font(self, asked: Asked) -> Response:
        return self._font.answer(asked)

    def health(self, asked: Asked) -> Response:
        self.store.session("")
        return JSONResponse({"ok": True})

    # --- who is asking ------------------------------------------------------------------------------------------------

    def _session(self, asked: Asked) -> Session:
        cookie = self._cookie(asked, "rater")
        session = self.store.session(cookie) if cookie else None
        if session is None:
            raise Refusal(401, "error_session")
        return session

    def _visitor(self, asked: Asked, *, consent: bool = True) -> tuple[Session, RaterState]:
        """A rater who may see pages."""
        session = self._session(asked)
        state = self.store.state(session.rater)
        if state.withdrawn:
            raise Refusal(410, "error_withdrawn") if asked.path in _FOR_SCRIPTS else _Elsewhere("/withdrawn")
        if consent and not state.consented:
            raise Refusal(403, "error_consent") if asked.path in _FOR_SCRIPTS else _Elsewhere("/consent")
        return session, state

    def _sender(self, asked: Asked) -> Session:
        """A rater whose own page sent this."""
        session = self._session(asked)
        self._refuse_forged(asked, session.csrf)
        self._count_write(session.rater)  # not of the session: a link begins as many as its rater likes
        return session

    def _refuse_forged(self, asked: Asked, csrf: str) -> None:
        given = asked.headers.get("x-csrf-token") or (
            "" if asked.path in _FOR_SCRIPTS else asked.form().get("csrf", "")
        )
        if not same_secret(given, csrf):
            raise Refusal(403, "error_form")

    def _count_write(self, who: str) -> None:
        self._refuse_hasty(self._writes, who)
        self._writes.count(who)

    def _refuse_hasty(self, limiter: Limiter, key: str) -> None:
        if seconds := limiter.wait(key):
            raise Refusal(429, "error_too_many", seconds)

    def _visit(self, session: Session) -> Visit:
        return Visit(session.csrf, f"{self._name}-{session.rater}")

    def _cookie_name(self, asked: Asked, role: str) -> str:
        # cookies know no ports: the study's id keeps two studies on one machine apart. Browsers take __Host- for a
        # cookie of the whole host only, __Secure- for one of a part of it.
        prefix = ("__Secure-" if self.settings.root else "__Host-") if asked.secure else ""
        return f"{prefix}{role}-{self._name}"

    def _cookie(self, asked: Asked, role: str) -> str:
        return asked.cookies.get(self._cookie_name(asked, role), "")

    def _set_cookie(self, answer: Response, asked: Asked, role: str, value: str) -> None:
        answer.set_cookie(
            self._cookie_name(asked, role),
            value,
            max_age=3600 * self.store.config.session_hours,
            path=self.settings.root or "/",
            secure=asked.secure,
            httponly=True,
            samesite="strict",
        )

    def _drop_cookie(self, answer: Response, asked: Asked, role: str) -> None:
        name = self._cookie_name(asked, role)
        if name in asked.cookies:
            answer.delete_cookie(
                name, path=self.settings.root or "/", secure=asked.secure, httponly=True, samesite="strict"
            )

    # --- answering ----------------------------------------------------------------------------------------------------

    def answer(self, handler: Handler, asked: Asked) -> Response:
        """Run a handler; what it refuses, and what goes wrong, becomes one sentence."""
        try:
            if asked.method == "POST" and not from_here(asked.headers, asked.host):
                raise Refusal(403, "error_form")
            return handler(asked)
        except _Elsewhere as elsewhere:
            return _go(elsewhere.path)
        except Refusal as refusal:
            return self.refuse(asked, refusal)
        except NotYours:
            return self.refuse(asked, Refusal(404, "error_not_found"))
        except BadValue:
            return self.refuse(asked, Refusal(422, "error_value"))
        except KeyReused:
            return self.refuse(asked, Refusal(409, "changed_elsewhere"))
        except Closed as closed:
            status = {"consent": 403, "withdrawn": 410}.get(closed.reason, 401)
            return self.refuse(asked, Refusal(status, _CLOSED.get(closed.reason, "error_session")))
        except MojimeterError as error:  # the database: full, locked, read-only, gone
            sys.stderr.write(f"mojimeter: {error}\n")
            return self.refuse(asked, Refusal(503, "error_unavailable", 2))

    def refuse(self, asked: Asked, refusal: Refusal) -> Response:
        """One sentence, as JSON for the script and as a page for people."""
        text = self.pages.say(refusal.word, seconds=refusal.seconds)
        headers = {"retry-after": str(refusal.seconds)} if refusal.seconds else {}
        if asked.path in _FOR_SCRIPTS:
            return JSONResponse({"error": str(text)}, refusal.status, headers)
        signed_in = bool(self._cookie(asked, "rater")) and refusal.status not in (401, 410)
        return _page(self.pages.error(text, signed_in=signed_in), refusal.status, headers)


_CLOSED: Final = {"consent": "error_consent", "withdrawn": "error_withdrawn"}


class _Elsewhere(Exception):  # noqa: N818 - an answer, not an error
    """The rater's place is another page."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


@dataclass(frozen=True)
class _Entry:
    """What came with a link: an outside id, and what the check of emoji saw. Waits in a cookie for consent."""

    external_id: str | None = None
    check: dict[str, Any] | None = None

    def pack(self) -> str:
        plain = json.dumps([(self.external_id or "")[:64], self.check], separators=(",", ":"))
        return urlsafe_b64encode(plain.encode()).decode()

    @classmethod
    def unpack(cls, packed: str) -> _Entry:
        """The entry in a cookie; an empty one if it is none of ours."""
        try:
            external_id, check = json.loads(urlsafe_b64decode(packed))
        except (ValueError, TypeError, RecursionError):
            return cls()
        return cls(external_id if isinstance(external_id, str) else None, _check_of(json.dumps(check)))


def _check_of(text: str) -> dict[str, Any] | None:
    """What the script of the start page saw; None for what cannot be read."""
    try:
        result = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return result if isinstance(result, dict) and is_check(result) else None


def _place(state: RaterState) -> str:
    """Where a rater is on the way through the study."""
    if state.withdrawn:
        return "/withdrawn"
    if not state.consented:
        return "/consent"
    if state.completed:
        return "/done"
    return "/instructions" if state.done == 0 else "/rate"


def _go(path: str) -> Response:
    return RedirectResponse(path, 303)


def _page(html: str, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(html, status, headers, "text/html; charset=utf-8")


def _number(text: str) -> int:
    """A query's number; 0 for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _name(value: object) -> str:
    """A text that is no rater's own: nothing but ASCII."""
    if not isinstance(value, str) or not value.isascii():
        raise TypeError
    return value


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) >= 2**53:
        raise TypeError
    return value


def _real(value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError
    return float(value)


def make_app(store: Store, folder: Path, settings: Settings | None = None) -> ASGIApp:
    """The ASGI app of a study folder; ``folder`` holds the emoji font.

    Raises:
        InputError: the root is a path of the app itself.
    """
    site = Site(store, folder, settings or Settings())
    rows: tuple[tuple[str, str, Handler], ...] = (
        ("GET", "/", site.home),
        ("GET", "/s/{token}", site.start),
        ("POST", "/s/{token}", site.enter),
        ("GET", "/consent", site.consent_page),
        ("POST", "/consent", site.consent),
        ("GET", "/instructions", site.instructions),
        ("POST", "/check", site.check),
        ("GET", "/rate", site.rate_next),
        ("GET", "/rate/{position}", site.rate_page),
        ("POST", "/rate/{position}", site.rate_form),
        ("GET", "/cells", site.cells),
        ("POST", "/ratings", site.rating),
        ("POST", "/pause", site.pause),
        ("GET", "/paused", site.paused),
        ("GET", "/declined", site.paused),
        ("GET", "/done", site.done),
        ("GET", "/withdraw", site.withdraw_page),
        ("POST", "/withdraw", site.withdraw),
        ("GET", "/withdrawn", site.withdrawn),
        ("GET", "/admin", site.admin_page),
        ("POST", "/admin", site.admin_enter),
        ("POST", "/admin/leave", site.admin_leave),
        ("GET", "/static/{name}", site.static),
        ("GET", "/font.woff2", site.font),
        ("GET", "/health", site.health),
    )
    first = site.settings.root.split("/")[1:2]
    if first and first[0] in {path.split("/")[1] for _, path, _ in rows}:
        raise InputError(f"--root-path {site.settings.root}: /{first[0]} is a page of every study; choose another name")
    app = Starlette(
        routes=[Route(path, _endpoint(site, handler), methods=[method]) for method, path, handler in rows],
        exception_handlers={HTTPException: _not_found(site), Exception: _failed(site)},
    )
    return Guard(app, site)


def _endpoint(site: Site, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    async def run(request: Request) -> Response:
        asked = _asked(request, b"", site.settings)
        try:
            if request.method == "POST":
                asked = _asked(request, await _body(request, site.store.config.limits.body_bytes), site.settings)
            return await asyncio.get_running_loop().run_in_executor(site.pool, site.answer, handler, asked)
        except Refusal as refusal:
            return site.refuse(asked, refusal)
        except asyncio.CancelledError:  # we were told to stop, and this one did not end in time
            return site.refuse(asked, Refusal(503, "error_unavailable", 2))

    return run


def _not_found(site: Site) -> Callable[[Request, Exception], Response]:
    def run(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        word = {404: "error_not_found", 405: "error_method"}.get(error.status_code, "error_value")
        return site.refuse(_asked(request, b"", site.settings), Refusal(error.status_code, word))

    return run


def _failed(site: Site) -> Callable[[Request, Exception], Response]:
    def run(request: Request, error: Exception) -> Response:
        return site.refuse(_asked(request, b"", site.settings), Refusal(500, "error_server"))

    return run


async def _body(request: Request, most: int) -> bytes:
    """The body of a request.

    Raises:
        Refusal: it is longer than allowed, or takes too long to come; the rest is not read.
    """
    if _number(request.headers.get("content-length", "0")) > most:
        raise Refusal(413, "error_too_large")
    found = bytearray()
    try:
        async with asyncio.timeout(_SLOWEST_BODY):
            async for chunk in request.stream():
                found += chunk
                if len(found) > most:
                    raise Refusal(413, "error_too_large")
    except TimeoutError:
        raise Refusal(408, "error_value") from None
    except ClientDisconnect:  # half a request is none; nobody is there to read the answer
        raise Refusal(400, "error_value") from None
    return bytes(found)


def _asked(request: Request, body: bytes, settings: Settings) -> Asked:
    address = request.client.host if request.client else ""
    scheme = request.url.scheme
    if settings.behind_proxy:
        address, scheme = forwarded(request.headers, address, scheme)
    return Asked(
        method=request.method,
        path=request.url.path,
        host=request.headers.get("host", ""),
        headers=request.headers,
        cookies=request.cookies,
        path_values=request.path_params,
        query=request.query_params,
        body=body,
        address=address,
        secure=scheme == "https",
    )


class Guard:
    """Around everything: headers on every answer, allowed names of the host, a log without secrets, no traceback."""

    def __init__(self, app: ASGIApp, site: Site) -> None:
        self.app, self.site = app, site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.perf_counter(), 0
        scope = {**scope, "path": self._inside(scope["path"])}

        async def with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                given = {name for name, _ in message["headers"]}
                added = dict(SECURITY_HEADERS)
                if b"cache-control" not in given:
                    added["cache-control"] = "no-store"
                if _asked(Request(scope), b"", self.site.settings).secure:
                    added["strict-transport-security"] = "max-age=31536000"
                headers = [(name, self._outside(to) if name == b"location" else to) for name, to in message["headers"]]
                message["headers"] = [*headers, *((k.encode(), v.encode()) for k, v in added.items())]
            await send(message)

        try:
            request = Request(scope, receive)
            if not self._host_allowed(request.headers.get("host", "")):
                refused = self.site.refuse(_asked(request, b"", self.site.settings), Refusal(400, "error_not_found"))
                await refused(scope, receive, with_headers)
                return
            await self.app(scope, receive, with_headers)
        except Exception:  # noqa: BLE001 - the visitor has had a page that says it is our fault; where goes to stderr
            sys.stderr.write(traceback.format_exc())
        finally:
            if self.site.settings.log is not None:
                took = (time.perf_counter() - began) * 1000
                self.site.settings.log(f"{scope['method']} {without_secrets(scope['path'])} {status} {took:.0f} ms")

    def _inside(self, path: str) -> str:
        """A path as the app knows it, whether or not the proxy in front has taken the root off."""
        root = self.site.settings.root
        return path[len(root) :] or "/" if f"{path}/".startswith(f"{root}/") else path

    def _outside(self, location: bytes) -> bytes:
        """Where a redirect leads, as the visitor's browser knows it: every one leads to a page of ours."""
        parts = urlsplit(location.decode())
        return f"{self.site.settings.root}{parts.path}{f'?{parts.query}' if parts.query else ''}".encode()

    def _host_allowed(self, host: str) -> bool:
        allowed = self.site.settings.hosts
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
        return not allowed or name.strip("[]").lower() in allowed
