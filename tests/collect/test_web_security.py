"""No one where they don't belong: tokens, cookies, forged requests, limits, and what is nobody's business."""

from __future__ import annotations

import asyncio
import hmac
import json
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")

from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Message

from mojimeter.collect.store import hash_of
from mojimeter.collect.study import Limits
from mojimeter.collect.web import app
from mojimeter.collect.web.app import Settings
from mojimeter.collect.web.security import Limiter, forwarded, from_here, same_secret, without_secrets
from tests.collect.small import SmallStudy, small_study
from tests.collect.web_support import Visitor, client_of, field


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> SmallStudy:
    return small_study(tmp_path_factory.mktemp("security") / "study", raters=13, training=0)


@pytest.fixture
def links(made: SmallStudy) -> Iterator[str]:
    """Links that no other test has used."""
    return (link.token for link in made.links)


def token_of(study: SmallStudy, number: int) -> str:
    return study.links[number].token


def test_opening_the_link_changes_nothing_and_sets_no_cookie(made: SmallStudy) -> None:
    with client_of(made) as client:
        answer = client.get(f"/s/{token_of(made, 0)}")
        assert answer.status_code == 200
        assert "set-cookie" not in answer.headers
        assert client.get("/").status_code == 401


def test_the_token_is_exchanged_for_a_cookie_that_script_and_other_sites_cannot_use(made: SmallStudy) -> None:
    with client_of(made) as client:
        answer = Visitor(client, token_of(made, 0)).enter()
        cookie = answer.headers["set-cookie"]
        assert answer.status_code == 303
        assert answer.headers["location"] == "/"
        for part in ("HttpOnly", "SameSite=strict", "Path=/", "Max-Age=86400"):
            assert part in cookie
        assert token_of(made, 0) not in cookie
        assert "Secure" not in cookie


def test_over_https_the_cookie_is_secure_and_bound_to_the_host(made: SmallStudy) -> None:
    with client_of(made, base_url="https://rate.example.org") as client:
        answer = Visitor(client, token_of(made, 0)).enter()
        assert answer.headers["set-cookie"].startswith("__Host-")
        assert "Secure" in answer.headers["set-cookie"]
        assert answer.headers["strict-transport-security"].startswith("max-age=")


def test_what_a_proxy_says_counts_only_when_there_is_one(made: SmallStudy) -> None:
    told = {"x-forwarded-proto": "https", "x-forwarded-for": "203.0.113.9"}
    with client_of(made) as client:
        assert "Secure" not in client.post(f"/s/{token_of(made, 0)}", headers=told).headers["set-cookie"]
    with client_of(made, Settings(behind_proxy=True)) as client:
        assert "Secure" in client.post(f"/s/{token_of(made, 0)}", headers=told).headers["set-cookie"]


def test_only_the_address_that_our_own_proxy_saw_is_believed() -> None:
    assert forwarded({"x-forwarded-for": "1.1.1.1, 2.2.2.2"}, "127.0.0.1", "http") == ("2.2.2.2", "http")
    assert forwarded({"x-forwarded-proto": "https"}, "127.0.0.1", "http") == ("127.0.0.1", "https")
    assert forwarded({"x-forwarded-proto": "gopher"}, "127.0.0.1", "http") == ("127.0.0.1", "http")


def test_an_unknown_link_and_one_of_another_study_let_nobody_in(made: SmallStudy, tmp_path: Path) -> None:
    other = small_study(tmp_path / "other", raters=1)
    with client_of(made) as client:
        for token in ("nonsense", other.links[0].token, "x" * 3000):
            answer = client.post(f"/s/{token}")
            assert answer.status_code == 404
            assert "set-cookie" not in answer.headers
            assert "This link is not known" in answer.text


def test_revoking_a_rater_ends_live_sessions_at_once(made: SmallStudy) -> None:
    store = made.store()
    with client_of(made, store=store) as client:
        visitor = Visitor(client, token_of(made, 1)).agree()
        csrf, cell = visitor.csrf(), visitor.cell(1)
        assert client.get("/rate/1").status_code == 200
        store.revoke(made.links[1].rater)
        assert client.get("/rate/1").status_code == 401
        assert visitor.rate(1, "3", csrf=csrf, cell=cell).status_code == 401
        assert visitor.enter().status_code == 410


def test_sessions_and_links_expire(made: SmallStudy) -> None:
    store = made.store()
    with client_of(made, store=store) as client:
        visitor = Visitor(client, token_of(made, 2)).agree()
        now = store._now()
        store._now = lambda: now + 3600 * 24 + 1
        assert client.get("/rate/1").status_code == 401
        assert visitor.enter().status_code == 303
        store._now = lambda: now + 3600 * 24 * 31
        answer = visitor.enter()
        assert answer.status_code == 410
        assert "expired" in answer.text


@pytest.mark.parametrize("path", ["/consent", "/pause", "/withdraw", "/rate/1"])
def test_a_form_without_its_csrf_token_does_nothing(made: SmallStudy, path: str) -> None:
    with client_of(made) as client:
        Visitor(client, token_of(made, 3)).agree()
        for fields in ({}, {"csrf": ""}, {"csrf": "0" * 64}):
            assert client.post(path, data=fields).status_code == 403
        assert client.get("/rate/1").status_code == 200


def test_ratings_and_checks_need_the_token_in_a_header_that_forms_cannot_send(made: SmallStudy) -> None:
    with client_of(made) as client:
        visitor = Visitor(client, token_of(made, 3)).agree()
        body = {"csrf": visitor.csrf(), "key": "k" * 16, "position": 1, "cell": visitor.cell(1), "value": "3"}
        assert client.post("/ratings", json=body).status_code == 403
        assert client.post("/check", json={"colour": True}).status_code == 403
        assert visitor.rate(1, "3", csrf="wrong").status_code == 403


def test_one_raters_csrf_token_is_no_use_to_another(made: SmallStudy) -> None:
    with client_of(made) as one, client_of(made) as other:
        first, second = Visitor(one, token_of(made, 3)).agree(), Visitor(other, token_of(made, 4)).agree()
        assert second.rate(1, "3", csrf=first.csrf()).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site", "origin": "http://testserver"},
        {"origin": "http://testserver.evil.example"},
    ],
)
def test_a_request_from_another_site_is_refused_even_with_everything_else_right(
    made: SmallStudy, headers: dict[str, str]
) -> None:
    with client_of(made) as client:
        visitor = Visitor(client, token_of(made, 3)).agree()
        form = {"csrf": visitor.csrf()}
        assert client.post("/withdraw", data=form, headers=headers).status_code == 403
        assert client.post(f"/s/{visitor.token}", headers=headers).status_code == 403
        assert client.post("/admin", data={"token": made.admin_token}, headers=headers).status_code == 403
        assert client.get("/rate/1").status_code == 200


def test_what_browsers_send_from_our_own_pages_is_accepted() -> None:
    assert from_here({"sec-fetch-site": "same-origin", "origin": "null"}, "localhost:8000")
    assert from_here({"origin": "http://localhost:8000"}, "localhost:8000")
    assert from_here({}, "localhost:8000")  # a program, or an old browser: the CSRF token decides
    assert not from_here({"origin": "http://localhost:8001"}, "localhost:8000")


def test_every_answer_has_the_strict_headers(made: SmallStudy) -> None:
    with client_of(made) as client:
        Visitor(client, token_of(made, 5)).agree()
        paths = ["/", "/rate/1", "/cells?from=1&count=1", "/static/style.css", "/font.woff2", "/health", "/nowhere"]
        for path in [*paths, "/admin", f"/s/{token_of(made, 5)}", "/rate/999999"]:
            headers = client.get(path).headers
            policy = headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "frame-ancestors 'none'" in policy
            assert "unsafe" not in policy
            assert headers["referrer-policy"] == "no-referrer"
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["cross-origin-opener-policy"] == "same-origin"
            assert headers["cross-origin-resource-policy"] == "same-origin"
            assert "server" not in headers
            if not path.startswith(("/static", "/font")):
                assert headers["cache-control"] == "no-store"


def test_a_body_longer_than_allowed_is_not_read(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", raters=1, limits=Limits(body_bytes=5000))
    with client_of(study) as client:
        visitor = Visitor(client, study.links[0].token).agree()
        csrf = visitor.csrf()
        assert visitor.rate(1, "3" * 6000, csrf=csrf).status_code == 413

        def parts() -> Iterator[bytes]:
            for _ in range(100):
                yield b"x" * 1000

        assert client.post("/ratings", content=parts(), headers={"x-csrf-token": csrf}).status_code == 413
        assert client.post("/withdraw", content=b"csrf=" + b"x" * 9000).status_code == 413


def answered_without_a_body(study: SmallStudy, *headers: tuple[bytes, bytes]) -> Message:
    """How the app answers a sender whose body does not come."""
    sent: list[Message] = []

    async def receive() -> Message:
        if sent:
            raise AssertionError("asked again after the answer")
        await asyncio.sleep(30)
        raise AssertionError("waited for all of it")

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/ratings", "query_string": b"", "scheme": "http"}
    asyncio.run(app.make_app(study.store(), study.folder)(scope | {"headers": headers}, receive, send))
    return sent[0]


def test_a_body_that_is_announced_longer_than_allowed_is_not_waited_for(made: SmallStudy) -> None:
    assert answered_without_a_body(made, (b"content-length", b"65537"))["status"] == 413


def test_a_body_that_dribbles_is_given_up(made: SmallStudy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "_SLOWEST_BODY", 0.01)
    assert answered_without_a_body(made, (b"content-length", b"100"))["status"] == 408


@pytest.mark.parametrize("position", ["0", "x", "-1", "٣", "9" * 5000])
def test_a_position_that_is_none_is_no_page(made: SmallStudy, position: str) -> None:
    with client_of(made) as client:
        visitor = Visitor(client, token_of(made, 12)).agree()
        csrf = visitor.csrf()
        assert client.get(f"/rate/{position}").status_code == 404
        form = {"csrf": csrf, "key": "k" * 16, "cell": "c", "value": "3", "shown_at": "1"}
        assert client.post(f"/rate/{position}", data=form).status_code == 404


def test_a_rater_who_writes_too_fast_is_told_to_wait_and_for_how_long(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", raters=2, limits=Limits(requests_a_minute=10))
    with client_of(study) as client, client_of(study) as other:
        visitor = Visitor(client, study.links[0].token).agree()
        csrf, cell = visitor.csrf(), visitor.cell(1)
        statuses = [visitor.rate(1, "3", csrf=csrf, cell=cell).status_code for _ in range(12)]
        assert statuses[:9] == [200] * 9
        assert statuses[-1] == 429
        answer = visitor.rate(1, "3", csrf=csrf, cell=cell)
        assert 1 <= int(answer.headers["retry-after"]) <= 60
        assert "wait" in answer.json()["error"]
        Visitor(other, study.links[1].token).agree()  # the other rater is not held up


def test_another_session_of_the_same_rater_is_no_way_round_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "Limiter", partial(Limiter, clock=Clock()))  # on which no time passes
    study = small_study(tmp_path / "study", raters=1, limits=Limits(requests_a_minute=10))
    with client_of(study) as client:
        visitor = Visitor(client, study.links[0].token).agree()
        csrf, cell = visitor.csrf(), visitor.cell(1)
        assert [visitor.rate(1, "3", csrf=csrf, cell=cell).status_code for _ in range(9)] == [200] * 9
        client.cookies.clear()
        assert visitor.enter().status_code == 303
        assert visitor.rate(1, "3").status_code == 429
        assert [visitor.enter().status_code for _ in range(9)] == [303] * 8 + [429]  # nor are entries without end


def test_guessing_links_and_the_administrators_token_is_slowed_down(made: SmallStudy) -> None:
    for path, fields in (("/s/guess", {}), ("/admin", {"token": "guess"})):
        with client_of(made) as client:
            statuses = {client.post(path, data=fields).status_code for _ in range(30)}
            assert 429 not in statuses
            answer = client.post(path, data=fields)
            assert answer.status_code == 429
            assert int(answer.headers["retry-after"]) >= 1


def test_right_links_from_one_address_are_not_counted(made: SmallStudy) -> None:
    with client_of(made) as client:
        assert {client.post(f"/s/{token_of(made, k % 4 + 6)}").status_code for k in range(60)} == {303}


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@given(per_minute=st.integers(1, 600), gaps=st.lists(st.floats(0, 30), max_size=60))
def test_no_key_ever_does_more_than_its_share(per_minute: int, gaps: list[float]) -> None:
    clock = Clock()
    limiter = Limiter(per_minute, clock=clock)
    done = 0
    for gap in gaps:
        clock.now += gap
        if limiter.wait("a") == 0:
            limiter.count("a")
            done += 1
        assert done <= per_minute * (1 + clock.now / 60) + 1e-6
    assert limiter.wait("b") == 0


def test_a_limiter_forgets_keys_rather_than_growing_for_ever() -> None:
    limiter = Limiter(5, most_keys=10, clock=Clock())
    for k in range(100):
        limiter.count(str(k))
    assert len(limiter._left) == 10


def test_a_name_of_the_host_that_was_not_allowed_is_refused(made: SmallStudy) -> None:
    with client_of(made, Settings(hosts=("rate.example.org",))) as client:
        assert client.get("/health", headers={"host": "rate.example.org"}).status_code == 200
        assert client.get("/health", headers={"host": "rate.example.org:8443"}).status_code == 200
        assert client.get("/health", headers={"host": "evil.example"}).status_code == 400
        assert client.get("/health").status_code == 400


def test_no_rater_sees_or_writes_what_is_anothers(made: SmallStudy, tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", raters=3, items=3, design="nested", raters_per_item=1, training=0)
    store = study.store()
    with client_of(study, store=store) as one, client_of(study, store=store) as other:
        mine = Visitor(one, study.links[0].token).agree()
        theirs = Visitor(other, study.links[1].token).agree()
        foreign = theirs.cell(1)
        for answer in (
            mine.rate(1, "3", cell=foreign),
            mine.rate(999, "3", cell=mine.cell(1)),
            mine.rate(-1, "3", cell=mine.cell(1)),
            one.get("/rate/999"),
        ):
            assert answer.status_code == 404
            assert "There is no such page" in answer.text
        assert foreign not in json.dumps(one.get("/cells?from=1&count=50").json())
        form = {"csrf": mine.csrf(), "key": "k" * 16, "cell": foreign, "value": "3", "shown_at": str(time.time())}
        assert one.post("/rate/1", data=form).status_code == 404


def test_the_administrator_cannot_rate_and_a_rater_cannot_look_in(made: SmallStudy) -> None:
    with client_of(made) as client:
        answer = client.post("/admin", data={"token": made.admin_token})
        assert answer.status_code == 303
        assert "HttpOnly" in answer.headers["set-cookie"]
        assert made.links[0].rater in client.get("/admin").text
        name, value = answer.headers["set-cookie"].partition(";")[0].split("=")
        assert client.get("/rate/1").status_code == 401
        client.cookies.set(name.replace("admin", "rater"), value)
        assert client.get("/rate/1").status_code == 401
    with client_of(made) as client:
        visitor = Visitor(client, token_of(made, 5))
        cookie = visitor.enter().headers["set-cookie"].partition(";")[0]
        name, value = cookie.split("=")
        client.cookies.set(name.replace("rater", "admin"), value)
        assert 'type="password"' in client.get("/admin").text
        assert client.post("/admin", data={"token": token_of(made, 5)}).status_code == 403


def test_the_administrator_signs_out_only_by_the_page(made: SmallStudy) -> None:
    with client_of(made) as client:
        client.post("/admin", data={"token": made.admin_token})
        assert client.post("/admin/leave", data={"csrf": "no"}).status_code == 403
        csrf = field("csrf", client.get("/admin").text)
        assert client.post("/admin/leave", data={"csrf": csrf}).status_code == 303
        assert 'type="password"' in client.get("/admin").text


def test_the_log_holds_no_token_and_no_address(made: SmallStudy) -> None:
    lines: list[str] = []
    with client_of(made, Settings(log=lines.append)) as client:
        Visitor(client, token_of(made, 0)).agree()
        client.get(f"/s/{token_of(made, 0)}?PROLIFIC_PID=somebody")
        client.get("/s/a/b")
    assert len(lines) >= 5
    assert not [line for line in lines if token_of(made, 0) in line or "somebody" in line or "testclient" in line]
    assert any(line.startswith("POST /s/... 303") for line in lines)


@given(st.text())
def test_a_path_in_the_log_is_one_line_without_what_follows_s(rest: str) -> None:
    assert without_secrets(f"/s/x{rest}") in ("/s/...",)
    assert "\n" not in without_secrets(f"/{rest}")


@given(st.text(), st.text())
def test_secrets_are_the_same_only_if_they_are_equal(one: str, other: str) -> None:
    assert same_secret(one, other) == (one == other)
    assert same_secret(one, one)


def test_every_secret_is_compared_in_constant_time(made: SmallStudy, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []
    compare = hmac.compare_digest

    def watched(given: Any, expected: Any) -> bool:
        compared.extend(one.decode() if isinstance(one, bytes) else one for one in (given, expected))
        return compare(given, expected)

    monkeypatch.setattr(hmac, "compare_digest", watched)
    with client_of(made) as client:
        visitor = Visitor(client, token_of(made, 4)).agree()
        cookie = next(iter(client.cookies.values()))
        client.post("/admin", data={"token": "guess"})
        assert visitor.rate(1, "3").status_code == 200
        for secret in (hash_of(visitor.token), hash_of(cookie), visitor.csrf()):
            assert compared.count(secret) >= 2  # as given and as expected
        assert {hash_of("guess"), hash_of(made.admin_token)} <= set(compared)


def test_what_goes_wrong_inside_is_one_sentence_outside(
    made: SmallStudy, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = made.store()

    def broken(*_: object) -> None:
        raise RuntimeError("secret-alpha in /a/path")

    with client_of(made, store=store) as client:
        Visitor(client, token_of(made, 0)).agree()
        monkeypatch.setattr(store, "state", broken)
        answer = client.get("/rate/1")
        assert answer.status_code == 500
        assert "Something went wrong on our side" in answer.text
        assert "secret" not in answer.text
        assert "Traceback" not in answer.text
        assert "content-security-policy" in answer.headers
    assert "secret-alpha" in capsys.readouterr().err  # for the person who runs the study


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{",
        b"null",
        b'{"key":"k"}',
        b"[" * 100_000,
        b'{"key":1,"position":1,"cell":"x","value":"3","shown_at":1,"duration_ms":1}',
        b'{"key":"kkkkkkkk","position":"1","cell":"x","value":"3","shown_at":1,"duration_ms":1}',
        b'{"key":"kkkkkkkk","position":true,"cell":"x","value":"3","shown_at":1,"duration_ms":1}',
        b'{"key":"kkkkkkkk","position":1,"cell":"x","value":"3","shown_at":1e999,"duration_ms":1}',
        b'{"key":"kkkkkkkk","position":1,"cell":"x","value":"3","shown_at":NaN,"duration_ms":1}',
        b'{"key":"kkkkkkkk","position":1,"cell":"x","value":"3","shown_at":1,"duration_ms":1e9}',
        b'{"key":"kkkkkkkk","position":99999999999999999999,"cell":"x","value":"3","shown_at":1,"duration_ms":1}',
        b'{"key":"kkkkkkkk","position":1,"cell":"\\ud800","value":"3","shown_at":1,"duration_ms":1}',
        b"\xff\xfe",
    ],
)
def test_a_rating_that_cannot_be_read_is_refused_and_stores_nothing(made: SmallStudy, body: bytes) -> None:
    with client_of(made) as client:
        visitor = Visitor(client, token_of(made, 11)).agree()
        answer = client.post("/ratings", content=body, headers={"x-csrf-token": visitor.csrf()})
        assert answer.status_code in (404, 413, 422)
        assert answer.json()["error"]
        assert made.store().state(made.links[11].rater).done == 0
