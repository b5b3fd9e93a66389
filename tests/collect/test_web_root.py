"""A study that shares its host with others: served under a path, by proxies that take the path off or leave it on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("httpx")

from httpx import Response
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Receive, Scope, Send

from mojimeter.collect.web.app import Settings, make_app
from mojimeter.collect.web.security import as_root
from mojimeter.errors import InputError
from tests.browser import seen
from tests.collect.browser_support import enter, until, values
from tests.collect.small import SmallStudy, small_study
from tests.collect.web_support import client_of, field, serving_here

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = "/studies/one"
HERE = Settings(root=ROOT)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> SmallStudy:
    folder = tmp_path_factory.mktemp("root") / "study"
    return small_study(folder, raters=5, items=1, base_url=f"https://example.org{ROOT}/", contact="a@example.org")


def leads_to(answer: Response) -> list[str]:
    """All that a page or a redirect makes a browser ask for."""
    found = re.findall(r'(?:href|src|action)="(?!data:)([^"]*)"', answer.text)
    return found + ([answer.headers["location"]] if "location" in answer.headers else [])


class Proxy:
    """In front of the app, as many are set up: it takes the path off."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.app({**scope, "path": scope["path"].removeprefix(ROOT)}, receive, send)


@pytest.mark.parametrize("taken_off", [False, True], ids=["path left on", "path taken off"])
def test_a_whole_session_stays_under_the_path(study: SmallStudy, *, taken_off: bool) -> None:
    link = study.links[taken_off]
    log: list[str] = []
    pages: list[Response] = []
    app = make_app(study.store(), study.folder, Settings(root=ROOT, log=log.append))
    client = TestClient(Proxy(app) if taken_off else app, follow_redirects=False)

    def ask(path: str, **form: str) -> Response:
        pages.append(client.post(path, data=form) if form else client.get(path))
        assert len(pages) < 30, "goes round in circles"
        location = pages[-1].headers.get("location")
        return ask(location) if location else pages[-1]

    page = ask(link.url.removeprefix("https://example.org"))
    while not page.url.path.endswith("/done"):
        action, *_ = re.findall(r'<form method="post" action="([^"]*)"', page.text[page.text.index("<main") :])
        hidden = re.findall(r'type="hidden" name="(\w+)"', page.text)
        page = ask(action, value="3", **{name: field(name, page.text) for name in hidden})
        for onward in re.findall(r'<a class="go"[^>]* href="([^"]*)"', page.text):
            page = ask(onward)
    found = [to for answer in pages for to in leads_to(answer)]
    assert len(set(found)) > 10
    assert [to for to in found if not to.startswith(f"{ROOT}/")] == []
    cookies = [answer.headers["set-cookie"] for answer in pages if "set-cookie" in answer.headers]
    assert cookies
    assert [cookie for cookie in cookies if f"Path={ROOT};" not in cookie] == []
    assert [line for line in log if link.token in line] == []


def test_other_answers_lead_under_the_path_too(study: SmallStudy) -> None:
    with client_of(study, HERE) as client:
        assert client.get(ROOT).status_code == client.get(f"{ROOT}/").status_code == 401
        assert client.get(f"{ROOT}x/health").status_code == 404
        assert client.get(f"{ROOT}/admin/").headers["location"] == f"{ROOT}/admin"
        assert {to.rpartition("/")[0] for to in leads_to(client.get(f"{ROOT}/nowhere"))} == {f"{ROOT}/static"}
        assert client.get(f"{ROOT}/cells?from=1&count=1").json()["error"]
        answer = client.post(f"{ROOT}/admin", data={"token": study.admin_token})
        assert answer.headers["location"] == f"{ROOT}/admin"
        found = {to.rpartition("/")[0] for to in leads_to(client.get(f"{ROOT}/admin"))}
        assert found == {f"{ROOT}/static", f"{ROOT}/admin"}


def test_over_https_the_cookie_of_a_path_is_secure(study: SmallStudy) -> None:
    with client_of(study, HERE, base_url="https://example.org") as client:
        cookie = client.post(f"{ROOT}/s/{study.links[2].token}").headers["set-cookie"]
        assert cookie.startswith("__Secure-rater-")  # __Host- is for a whole host
        assert "Secure" in cookie.split("; ")
        assert client.get(f"{ROOT}/consent").status_code == 200


def test_a_path_that_could_be_a_page_of_the_study_is_refused(study: SmallStudy) -> None:
    for root in ("/rate", "/s/one", "/static"):
        with (
            pytest.raises(InputError, match="is a page of every study; choose another name"),
            client_of(study, Settings(root=root)),
        ):
            pass


def test_a_path_can_be_given_with_slashes_or_without() -> None:
    assert [as_root(path) for path in ("", "/", "one", "/one/", "/a.b/~c_d-1")] == [
        "",
        "",
        "/one",
        "/one",
        "/a.b/~c_d-1",
    ]
    for path in ("/a b", "/..", "/one//two", "/é", "https://example.org/one", "/a?b"):
        with pytest.raises(InputError, match="--root-path"):
            as_root(path)


def test_in_a_browser_every_request_is_under_the_path(page: Page, study: SmallStudy) -> None:
    link = study.links[3]
    with serving_here(study, HERE) as host:
        here = f"{host}{ROOT}"
        enter(page, here, link.token)
        for position, key in ((1, "5"), (2, "2"), (3, "4")):
            until(page, f"document.querySelector('article[data-position=\"{position}\"] form')?.noValidate")
            page.wait_for_timeout(200)
            page.keyboard.press(key)
            page.keyboard.press("Enter")
            if position == 1:
                page.click(".feedback ~ .act a")
            if position == 2:
                until(page, f"location.pathname === '{ROOT}/rate/3'")
                page.go_back()
                until(page, "document.querySelector('article').dataset.position === '2'")
                assert page.is_checked('input[value="2"]')
                page.go_forward()
                until(page, "document.querySelector('article').dataset.position === '3'")
        page.wait_for_url(f"{here}/done")
        page.click("text=Sign out")
        page.wait_for_url(f"{here}/paused")
    assert values(study, link.rater) == ["1=5", "2=2", "3=4"]
    asked = [url.removeprefix(here) for url in seen(page).requests if not url.startswith("data:")]
    assert {"/static/rate.js", "/static/outbox.js", "/font.woff2", "/ratings"} <= set(asked)
    assert [url for url in asked if "://" in url] == []
    assert seen(page).complaints == []
