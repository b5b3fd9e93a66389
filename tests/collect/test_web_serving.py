"""The serving process: quick to its first page, small, and gone when told to, without losing a rating."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("starlette")

from mojimeter.collect.web.serving import is_loopback, listen, url_of
from mojimeter.errors import InputError
from tests.collect.small import SmallStudy, small_study
from tests.collect.web_support import MAIN, Server, free_port, serving


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> SmallStudy:
    return small_study(tmp_path_factory.mktemp("serving") / "study", raters=1)


def get(server: Server, path: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", path)
    answer = connection.getresponse()
    return answer.status, answer.read()


def test_it_says_where_it_is_as_one_json_object_and_answers_there(study: SmallStudy) -> None:
    with serving(study.folder, "--root-path", "studies/one") as server:
        assert server.ready == {
            "schema": 1,
            "url": f"{server.url}/studies/one/",
            "admin": f"{server.url}/studies/one/admin",
            "study": str(study.folder),
        }
        assert get(server, "/studies/one/health") == (200, b'{"ok":true}')
        code, out, err = server.stop(signal.SIGTERM)
    assert (code, out, err) == (0, "", "")


def test_stopping_from_the_keyboard_is_exit_code_130_and_the_log_holds_no_token(study: SmallStudy) -> None:
    with serving(study.folder, "--log", "--host", "0.0.0.0", "--behind-proxy") as server:
        get(server, f"/s/{study.links[0].token}")
        code, _, err = server.stop(signal.SIGINT)
    assert code == 130
    assert re.fullmatch(r"GET /s/\.\.\. 200 \d+ ms\n", err)  # nor a warning of http: the proxy speaks https


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_the_process_that_serves_holds_nothing_that_it_does_not_need(study: SmallStudy) -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", "import sys, mojimeter.collect.web.serving; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    heavy = {
        "numpy",
        "scipy",
        "polars",
        "pydantic",
        "typer",
        "rich",
        "emoji",
        "mojimeter.emoji",
        "uharfbuzz",
        "fontTools",
    }
    assert not heavy & set(loaded)


def test_a_study_that_is_not_there_is_one_sentence() -> None:
    command = [sys.executable, "-c", MAIN, "collect", "serve", "nowhere", "--port", str(free_port())]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "expected a folder made by mojimeter collect init" in done.stderr


def test_an_address_that_cannot_be_had_is_one_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"port {port} of 127.0.0.1 is in use; choose another"):
            listen("127.0.0.1", port)
    with pytest.raises(InputError, match=r"--host no\.such\.host\.invalid: "):
        listen("no.such.host.invalid", 0)
    with pytest.raises(InputError, match=r"cannot listen on 203\.0\.113\.77 port "):
        listen("203.0.113.77", 0)


def test_serving_others_without_https_is_warned_of(study: SmallStudy) -> None:
    with serving(study.folder, "--host", "0.0.0.0") as server:
        assert server.ready["url"] == f"{server.url}/"
        assert "without https" in server.stop()[2]


def test_no_module_is_taken_from_the_folder_it_is_called_in(study: SmallStudy, tmp_path: Path) -> None:
    (tmp_path / "jinja2.py").write_text("raise SystemExit('taken from here')", encoding="utf-8")
    server = Server(study.folder.resolve())
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        server.start()
        assert get(server, "/health")[0] == 200
    finally:
        os.chdir(before)
        server.kill()


def test_addresses_are_told_as_a_browser_takes_them() -> None:
    assert url_of("0.0.0.0", 80) == "http://127.0.0.1:80/"
    assert url_of("::1", 80) == "http://[::1]:80/"
    assert url_of("localhost", 8000) == "http://localhost:8000/"
    assert [is_loopback(h) for h in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "192.0.2.1", "example.org")] == [
        True, True, True, False, False, False
    ]  # fmt: skip


def test_a_rating_under_way_when_told_to_stop_is_stored_and_answered(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", raters=1, training=0)
    with serving(study.folder) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        connection.request("POST", f"/s/{study.links[0].token}", "")
        answer = connection.getresponse()
        answer.read()
        headers = {"cookie": answer.headers["set-cookie"].partition(";")[0]}
        store = study.store()
        session = store.session(headers["cookie"].partition("=")[2])
        assert session is not None
        store.consent(session.rater)
        rating = {"key": "k" * 16, "position": 1, "cell": store.page(session.rater, 1).cell_id, "value": "3"}
        body = json.dumps(rating | {"shown_at": 1.0, "duration_ms": 5})
        # the server has the head and half of the body when it is told to stop
        connection.putrequest("POST", "/ratings")
        for name, value in (headers | {"x-csrf-token": session.csrf, "content-length": str(len(body))}).items():
            connection.putheader(name, value)
        connection.endheaders(body[:20].encode())
        get(server, "/health")
        assert server._process is not None
        server._process.send_signal(signal.SIGTERM)
        connection.send(body[20:].encode())
        answer = connection.getresponse()
        assert answer.status == 200
        assert json.loads(answer.read())["saved"] == "k" * 16
    assert study.store().state(session.rater).done == 1


class Impatient(Server):
    """Gives requests under way a moment instead of seconds."""

    def command(self) -> list[str]:
        told = {"study": str(self.folder), "host": "127.0.0.1", "port": self.port, "behind_proxy": False}
        told |= {"hosts": [], "root": "", "log": False, "json": True}
        main = "import sys; from mojimeter.collect.web import __main__ as own, serving; serving._GRACE = 0.3; "
        return [sys.executable, "-c", main + "sys.exit(own.main(sys.argv[1]))", json.dumps(told)]


def test_a_body_that_never_ends_is_refused_without_a_traceback_when_told_to_stop(study: SmallStudy) -> None:
    server = Impatient(study.folder).start()
    try:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        connection.putrequest("POST", "/ratings")
        connection.putheader("content-length", "100")
        connection.endheaders(b'{"key"')
        get(server, "/health")
        code, _, err = server.stop(signal.SIGTERM)
        answer = connection.getresponse()
        assert (answer.status, answer.headers["retry-after"]) == (503, "2")
    finally:
        server.kill()
    assert code == 0
    assert "Traceback" not in err
