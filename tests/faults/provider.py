"""A provider that misbehaves on purpose: OpenAI's chat form over HTTP, faults by script, every request counted."""

from __future__ import annotations

import hashlib
import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = Callable[[str, list[dict[str, str]]], str]
Faults = Callable[[str, list[dict[str, str]], int], str | None]

NO_FAULTS: Faults = lambda model, messages, attempt: None  # noqa: E731


class Provider:
    """Use as a context manager; ``url`` is what goes into ``<NAME>_BASE_URL``.

    Args:
        reply: (model, messages) -> text.
        faults: (model, messages, how often this very request came before) -> the fault to show, or None.
        delay: seconds before each answer.
        service: the name in ``openai-api/<service>/<model>``.
    """

    def __init__(self, reply: Reply, faults: Faults = NO_FAULTS, delay: float = 0.0, service: str = "fake") -> None:
        self.reply, self.faults, self.delay = reply, faults, delay
        self.requests: Counter[str] = Counter()  # by fault shown, "answered" for an answer
        self.answered: Counter[str] = Counter()  # answers by model
        self.seen: Counter[str] = Counter()  # requests by content
        self.waits: list[float] = []  # seconds from a 429 to the same request again
        self._busy_since: dict[str, float] = {}
        self.lock = threading.Lock()
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                provider.handle(self)

            def log_message(self, *_: Any) -> None: ...

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_: Any) -> None:
                """A client that goes away in the middle is part of the game."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.service = service
        self.system = f"openai-api/{service}/writer"
        self.judge = f"openai-api/{service}/labeller"
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def __enter__(self) -> Provider:
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()

    def environment(self, key: str) -> dict[str, str]:
        """The variables by which Inspect finds this provider."""
        name = self.service.upper()
        return {f"{name}_BASE_URL": self.url, f"{name}_API_KEY": key}

    def handle(self, http: BaseHTTPRequestHandler) -> None:
        body = json.loads(http.rfile.read(int(http.headers["Content-Length"])))
        model, messages = body["model"], body["messages"]
        content = hashlib.sha256(json.dumps([model, messages]).encode()).hexdigest()
        with self.lock:
            attempt = self.seen[content]
            self.seen[content] += 1
            if content in self._busy_since:
                self.waits.append(time.monotonic() - self._busy_since.pop(content))
        fault = self.faults(model, messages, attempt)
        with self.lock:
            self.requests[fault or "answered"] += 1
        if self.delay:
            time.sleep(self.delay)
        if fault is None:
            with self.lock:
                self.answered[model] += 1
            return self._send(http, _completion(self.reply(model, messages)))
        if fault == "429":
            with self.lock:
                self._busy_since[content] = time.monotonic()
            return self._send(http, {"error": {"message": "slow down"}}, 429, {"Retry-After": "1"})
        if fault == "500":
            return self._send(http, {"error": {"message": "oops"}}, 500, {"retry-after-ms": "20"})
        if fault == "400":
            return self._send(http, {"error": {"message": "bad request", "code": "invalid"}}, 400)
        if fault == "echo-key":
            key = http.headers["Authorization"].removeprefix("Bearer ")
            return self._send(http, {"error": {"message": f"the key {key} may not do that"}}, 400)
        if fault == "401":
            return self._send(http, {"error": {"message": "bad key"}}, 401)
        if fault == "cut":
            http.send_response(200)
            http.send_header("Content-Type", "application/json")
            http.send_header("Content-Length", "5000")
            http.end_headers()
            http.wfile.write(b'{"choices": [')
            http.wfile.flush()
            http.connection.shutdown(socket.SHUT_RDWR)
            http.close_connection = True
            return None
        if fault == "bytes":
            return self._raw(http, b'{"choices": [{"message": {"content": "\xff\xfe\xc3"}}]}')
        if fault == "not-json":
            return self._raw(http, b"<html>gateway</html>")
        if fault == "surrogate":
            text = json.dumps(_completion("@@")).replace("@@", "\\ud83d \\ud83c\\udf89")
            return self._raw(http, text.encode())
        if fault == "empty":
            return self._send(http, _completion(""))
        if fault == "null":
            return self._send(http, _completion(None))
        if fault == "refusal":
            return self._send(http, _completion("", finish="content_filter"))
        if fault.startswith("slow:"):
            time.sleep(float(fault.removeprefix("slow:")))
            return self._send(http, _completion(self.reply(model, messages)))
        raise AssertionError(fault)

    def _send(
        self,
        http: BaseHTTPRequestHandler,
        body: dict[str, Any],
        status: int = 200,
        headers: dict[str, str] | None = None,
    ) -> None:
        self._raw(http, json.dumps(body).encode(), status, headers)

    def _raw(
        self, http: BaseHTTPRequestHandler, body: bytes, status: int = 200, headers: dict[str, str] | None = None
    ) -> None:
        http.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            http.send_header(name, value)
        http.send_header("Content-Length", str(len(body)))
        http.end_headers()
        http.wfile.write(body)


def _completion(text: str | None, finish: str = "stop") -> dict[str, Any]:
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "fake",
        "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 40, "completion_tokens": 4, "total_tokens": 44},
    }
