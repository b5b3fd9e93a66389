"""When two posts are the same, and which of many are drawn: keys of texts and ids.

Two posts are *near duplicates* where their texts are equal after casefolding and removing emoji, handles, links, mail
addresses, phone numbers, digits, punctuation and repeated letters. Keys are 64-bit hashes: among ten million
texts the chance that any two different ones share a key is 3 in a million. Knows nothing of files or labels.
"""

from __future__ import annotations

import hashlib
import sys
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from mojimeter.build.masks import TOKENS, mask_column

_BETWEEN: Final = "\0"  # separates the texts of a column; no text keeps one
_DROP: Final = 0xFFFFFFFF
_EMPTY: Final = 0  # the hash of no letter at all
# Emoji, their selectors and joiners, dashes and quotes: none is a letter, and without them most English is ASCII.
_SIGNS: Final = r"[\x{1F000}-\x{1FAFF}\x{FE0F}\x{200D}\x{2600}-\x{27BF}\x{2010}-\x{2030}]+"
_BLOCK: Final = 8192  # texts whose code points stay in the processor's cache
_SEED: Final = 17  # of the hash of texts: any fixed number


def near_text(texts: pl.Series) -> pl.Series:
    """What is compared of each text: letters and marks, casefolded, each run of one letter once, words apart.

    Args:
        texts: posts, with or without their emoji.

    Returns:
        Strings; empty where a text has no letter. Equal strings are near duplicates.
    """
    return near_text_of_masked(mask_column(texts))


def near_text_of_masked(masked: pl.Series) -> pl.Series:
    """``near_text`` of texts that are masked already."""
    if not len(masked):
        return pl.Series(masked.name, [], dtype=pl.String)
    points = _folded(_bare(masked).to_list(), "utf-32-le")
    return pl.Series(masked.name, points.tobytes().decode("utf-32-le").split(_BETWEEN)[1:-1], dtype=pl.String)


def near_keys(masked: pl.Series) -> NDArray[np.uint64]:
    """A key for the ``near_text`` of each masked text, without making those strings.

    A text without any letter has a key of its whole self, so that "😀 12" and "🎂 30" stay two posts. The hash is
    multilinear (Carter & Wegman 1979): a sum of code points times random odd numbers, one a position, modulo 2**64.
    """
    parts = [_near_keys(masked.slice(start, _BLOCK)) for start in range(0, len(masked), _BLOCK)]
    return np.concatenate(parts) if parts else np.zeros(0, np.uint64)


def _near_keys(masked: pl.Series) -> NDArray[np.uint64]:
    keys = np.zeros(len(masked), np.uint64)
    bare = _bare(masked)
    plain = bare.str.len_bytes() == bare.str.len_chars()
    for rows, encoding in ((plain, "ascii"), (~plain, "utf-32-le")):  # ASCII takes a quarter of the memory
        chosen = rows.arg_true()
        if len(chosen):
            keys[chosen.to_numpy()] = _hash_segments(_folded(bare.gather(chosen).to_list(), encoding))
    empty = np.flatnonzero(keys == _EMPTY)
    if len(empty):
        keys[empty] = hash_column(masked.gather(pl.Series(empty))).to_numpy()
    return keys


def _bare(masked: pl.Series) -> pl.Series:
    """Masked texts without tokens and most signs; what casefolds to several characters is folded here."""
    bare = masked.str.replace_all(_SIGNS, "").str.replace_many(
        [*TOKENS.values(), _BETWEEN], [*([""] * len(TOKENS)), " "]
    )
    odd = bare.str.contains(_several_pattern())
    if odd.any():  # a few texts, through Python
        bare = bare.scatter(odd.arg_true(), pl.Series([t.casefold() for t in bare.filter(odd)], dtype=pl.String))
    return bare


def _folded(texts: list[str], encoding: str) -> NDArray[Any]:
    """Code points of the texts as they are compared, a zero before, between and after them."""
    joined = _BETWEEN.join(["", *texts, ""])
    if encoding == "ascii":
        points = _ascii_folding()[np.frombuffer(joined.encode("ascii"), np.uint8)]
        points = points[points != np.uint8(_DROP & 0xFF)]
    else:
        points = _folding()[np.frombuffer(joined.encode("utf-32-le", "replace"), np.uint32)]
        points = points[points != _DROP]
    fresh = np.ones(len(points), bool)
    np.not_equal(points[1:], points[:-1], out=fresh[1:])
    fresh |= points == 0
    points = points[fresh]
    # spaces at the ends of a text
    between = points == 0
    at_end = points == 0x20
    at_end[1:-1] &= between[:-2] | between[2:]
    kept: NDArray[Any] = points[~at_end]
    return kept


def _hash_segments(points: NDArray[Any]) -> NDArray[np.uint64]:
    """A hash of what is between each two zeros."""
    ends = np.flatnonzero(points == 0)
    sizes = np.diff(ends)
    place = np.arange(len(points) - 1, dtype=np.int64) - np.repeat(ends[:-1], sizes)
    factors = _factors(1 << max(8, int(sizes.max(initial=1)).bit_length()))
    terms = points[:-1].astype(np.uint64) * factors[place]
    return np.asarray(np.add.reduceat(terms, ends[:-1]), np.uint64)


@lru_cache(maxsize=8)
def _factors(count: int) -> NDArray[np.uint64]:
    random = np.random.Generator(np.random.PCG64(_SEED)).integers(0, 1 << 64, count, np.uint64, endpoint=False)
    return random | np.uint64(1)


def hash_column(texts: pl.Series) -> pl.Series:
    """64-bit hashes of strings, the same in every process of this version of Polars."""
    return texts.hash(_SEED)


def draw_key(seed: int, name: str) -> int:
    """A number from 0 to 2**64 - 1 that depends on the seed and the name alone (BLAKE2b): the lowest are drawn."""
    key = seed.to_bytes(16, "little")
    return int.from_bytes(hashlib.blake2b(name.encode("utf-8", "replace"), digest_size=8, key=key).digest(), "little")


def draw_keys(seed: int, names: Iterable[str]) -> NDArray[np.uint64]:
    """``draw_key`` of many names."""
    return np.fromiter((draw_key(seed, name) for name in names), np.uint64)


def lowest(keys: NDArray[np.uint64], count: int) -> NDArray[np.bool_]:
    """Which keys are the ``count`` lowest (all where there are no more); of equal ones the first."""
    chosen = np.zeros(len(keys), bool)
    chosen[np.argsort(keys, kind="stable")[:count]] = True
    return chosen


@lru_cache(maxsize=1)
def _ascii_folding() -> NDArray[np.uint8]:
    return _folding()[:128].astype(np.uint8)


@lru_cache(maxsize=1)
def _folding() -> NDArray[Any]:
    """Code point -> its casefolded one, a space for what separates words, ``_DROP`` for what does not count."""
    table = np.full(sys.maxunicode + 1, _DROP, np.uint32)
    for point in range(sys.maxunicode + 1):
        character = chr(point)
        if character.isspace():
            table[point] = 0x20
        elif unicodedata.category(character)[0] in "LM" and not _shapes_emoji(point):
            folded = character.casefold()
            table[point] = ord(folded[0]) if len(folded) == 1 else point
    table[0] = 0
    return table


def _shapes_emoji(point: int) -> bool:
    """Variation selectors, the keycap and the sign ℹ are marks and letters to Unicode, but no part of a word."""
    return 0xFE00 <= point <= 0xFE0F or point in (0x20E3, 0x2139) or 0xE0100 <= point <= 0xE01EF


@lru_cache(maxsize=1)
def _several_pattern() -> str:
    several = [chr(p) for p in range(sys.maxunicode + 1) if len(chr(p).casefold()) > 1]
    return f"[{''.join(several)}]"
