"""Fuzzy duplicates: posts whose near-duplicate texts share most of their runs of four letters (MinHash).

An option, because it is estimated and slower, and its index is in memory. The library is ``rensa``; knows texts only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import polars as pl

from mojimeter.build.keys import near_text
from mojimeter.errors import MissingExtraError

PERMUTATIONS: Final = 128
SHINGLE: Final = 4
_SEED: Final = 1


def fuzzy_duplicates(parts: Iterable[pl.Series], similarity: float) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which texts resemble an earlier one.

    Args:
        parts: columns of texts, in order.
        similarity: Jaccard similarity of the sets of shingles, from 0 to 1, from which two texts are duplicates.

    Returns:
        One flag a text. A text without letters resembles none.

    Raises:
        MissingExtraError: ``rensa`` is not installed.
    """
    try:
        from rensa import RMinHash, RMinHashLSH
    except ImportError:
        raise MissingExtraError("rensa", "fuzzy", "fuzzy duplicates") from None
    index = RMinHashLSH(threshold=similarity, num_perm=PERMUTATIONS, num_bands=_bands(similarity))
    kept: list[Any] = []
    flags: list[bool] = []
    for texts in parts:
        sets = [shingles(text) for text in near_text(texts).to_list()]
        for hashes, found in zip(RMinHash.from_token_sets(sets, PERMUTATIONS, _SEED), sets, strict=True):
            resembles = bool(found) and any(kept[i].jaccard(hashes) >= similarity for i in index.query(hashes))
            if found and not resembles:
                index.insert(len(kept), hashes)
                kept.append(hashes)
            flags.append(resembles)
    return np.array(flags, bool)


def shingles(text: str) -> list[str]:
    """The different runs of four characters of a text; the text itself where it is shorter."""
    if len(text) <= SHINGLE:
        return [text] if text else []
    return sorted({text[at : at + SHINGLE] for at in range(len(text) - SHINGLE + 1)})


def _bands(similarity: float) -> int:
    """The fewest bands that find 95 of 100 pairs at the threshold: 1 - (1 - s^r)^b (Leskovec et al., ch. 3)."""
    for bands in (1, 2, 4, 8, 16, 32, 64, 128):
        rows = PERMUTATIONS // bands
        if 1 - (1 - similarity**rows) ** bands >= 0.95:
            return bands
    return PERMUTATIONS
