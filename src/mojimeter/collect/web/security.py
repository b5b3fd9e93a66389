"""What keeps people where they belong: headers, origin, limits, and what a log may say.

Pure functions and one small counter; knows HTTP, must not know raters, studies or pages.
"""

from __future__ import annotations

import hmac
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Final
from urllib.parse import urlsplit

from mojimeter.errors import InputError

CONTENT_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
#: On every answer. The start link is a secret, so no page tells another where a visitor came from.
SECURITY_HEADERS: Final[Mapping[str, str]] = {
    "content-security-policy": CONTENT_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "x-robots-tag": "noindex, nofollow",
}
_ROOT: Final = re.compile(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+")
_SECRET_PATH: Final = re.compile(r"^/s/.+")


def same_secret(given: str, expected: str) -> bool:
    """Whether two secrets are equal, in a time that does not tell where they differ."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), expected.encode("utf-8", "surrogatepass"))


def from_here(headers: Mapping[str, str], host: str) -> bool:
    """Whether a request that changes something came from our own pages, as far as the browser says.

    ``Sec-Fetch-Site`` decides where it is sent; else ``Origin`` must name our host. Under ``no-referrer`` browsers
    send ``Origin: null`` with a form, and other programs send none: those are left to the CSRF token.
    """
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = headers.get("origin")
    return origin in (None, "null") or urlsplit(origin).netloc.lower() == host.lower()


def without_secrets(path: str) -> str:
    """A path as a log may hold it: the token of a start link is left out."""
    return "/s/..." if _SECRET_PATH.match(path) else re.sub(r"[^\x21-\x7e]", "?", path)[:200]


def as_root(path: str) -> str:
    """The path under which an app is reached, as links begin: ``/study1``; empty for the top of its host.

    Raises:
        InputError: not such a path.
    """
    root = f"/{path.strip('/')}".rstrip("/")
    if root and not _ROOT.fullmatch(root):
        raise InputError(f"--root-path {path!r}: expected a path of letters, digits, -, _, . and ~, such as /study1")
    return root


def forwarded(headers: Mapping[str, str], address: str, scheme: str) -> tuple[str, str]:
    """The visitor's address and scheme as the proxy in front of us tells them.

    The last address of ``X-Forwarded-For`` is the one that our own proxy saw; those before it can be invented.
    """
    last = headers.get("x-forwarded-for", "").rpartition(",")[2].strip()
    told = headers.get("x-forwarded-proto", "").rpartition(",")[2].strip().lower()
    return last or address, told if told in ("http", "https") else scheme


@dataclass
class Limiter:
    """So many a minute for each key, as many at once; a token bucket that refills evenly.

    Attributes:
        per_minute: how many a key may do in a minute, in the long run and at once.
        most_keys: keys remembered; the one that was quiet longest is forgotten first.
    """

    per_minute: int
    most_keys: int = 10_000
    clock: Callable[[], float] = time.monotonic
    _left: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def wait(self, key: str) -> int:
        """Seconds until the key may do one more, 0 if now; counts nothing."""
        with self._lock:
            left = self._refilled(key)
        return 0 if left >= 1 else max(1, round((1 - left) * 60 / self.per_minute))

    def count(self, key: str) -> None:
        """The key did one."""
        with self._lock:
            self._left[key] = (max(0.0, self._refilled(key) - 1), self.clock())
            self._left.move_to_end(key)
            while len(self._left) > self.most_keys:
                self._left.popitem(last=False)

    def _refilled(self, key: str) -> float:
        left, since = self._left.get(key, (float(self.per_minute), self.clock()))
        return min(float(self.per_minute), left + (self.clock() - since) * self.per_minute / 60)
