"""Emoji as the encoder sees them: a shipped table of vectors, so that no emoji is ever embedded at run time.

Three views of an emoji in English (its CLDR name, its keywords, the emoji itself) and, for Hindi and Bangla, the
mean of name and keywords. ``scripts/make_emoji_index.py`` makes the table; one signed byte a number, so a vector
is off by at most half of 1/127 of its largest number. Skin tones have no vectors of their own. Knows nothing of
posts, judges or systems.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import as_file, files
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mojimeter import emoji

FILE: Final = "emoji_vectors.npz"
#: What the student judge reads; the names of three arrays in the file.
VIEWS: Final = ("name", "keywords", "itself")
#: What ``baseline/nearest`` reads in each language.
LANGUAGE_VIEWS: Final = {"en": ("name", "keywords"), "hi": ("hi",), "bn": ("bn",)}

Vectors = NDArray[np.float32]

_FOLDED: Final[tuple[emoji.Level, ...]] = ("tone", "gender")


@lru_cache(maxsize=1)
def table() -> tuple[str, ...]:
    """The emoji that have vectors, in the order of the rows: all untoned ones, components apart."""
    return tuple(str(e) for e in _arrays()["emoji"])


@lru_cache(maxsize=len(VIEWS) + len(LANGUAGE_VIEWS))
def view(name: str) -> Vectors:
    """One row of 384 numbers an emoji of ``table()``: name, keywords, itself, hi or bn; length about 1."""
    arrays = _arrays()
    scale = arrays[f"{name}_scale"].astype(np.float32)
    return np.asarray(arrays[name].astype(np.float32) * scale[:, None], dtype=np.float32)


def post_middle() -> Vectors:
    """The mean vector of ordinary posts (the starter posts' training part, without emoji), 384 numbers."""
    return np.asarray(_arrays()["post_middle"], dtype=np.float32)


@lru_cache(maxsize=65_536)
def row_of(one: str) -> int | None:
    """The row of an emoji: without its skin tones, then also without its gender; None where it has none."""
    rows = _rows()
    for level in _FOLDED:
        found = rows.get(emoji.key(one, level))
        if found is not None:
            return found
    return None


def quantize(vectors: Vectors) -> tuple[NDArray[np.int8], Vectors]:
    """Bytes and one scale a row, so that bytes x scale is the vector."""
    largest = np.abs(vectors).max(axis=1)
    scale = np.where(largest > 0, largest, 1.0) / 127
    return np.rint(vectors / scale[:, None]).astype(np.int8), scale.astype(np.float32)


def emoji_with_vectors() -> Sequence[str]:
    """What the table is made for; used by the script that makes it."""
    untoned = [e for e in emoji.all_emoji() if emoji.key(e, "tone") == emoji.key(e) and not emoji.is_component(e)]
    return [emoji.key(e) for e in untoned]


@lru_cache(maxsize=1)
def _rows() -> dict[str, int]:
    return {e: row for row, e in enumerate(table())}


@lru_cache(maxsize=1)
def _arrays() -> dict[str, NDArray[Any]]:
    with as_file(files("mojimeter.models") / FILE) as path, np.load(path, allow_pickle=False) as arrays:
        return dict(arrays)
