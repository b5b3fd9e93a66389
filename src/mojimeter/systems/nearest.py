"""Recommends the emoji whose names and keywords are nearest to the post in the encoder's space.

A post and an emoji's names and keywords in English, Hindi and Bangla are vectors of one multilingual space. The
score of an emoji is

    sum over its views v of  (v - mean v) . (E5(post) - mean post)   -   0.01 ln(rank by use)

where the means over all emoji and over ordinary posts are taken off because sentence embeddings share most of
their direction, and without it an emoji near that direction would be near everything. Nothing is fitted to labels or
emoji. All of its time is the encoder's. Knows nothing of judges or metrics.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mojimeter import emoji
from mojimeter.models import emoji_vectors
from mojimeter.models.encoder import shared_encoder

#: Weight of ln(rank by use); chosen on the starter posts' development part (docs/student.md).
RARITY: Final = 0.01
_VIEWS: Final = ("name", "keywords", "hi", "bn")

Numbers = NDArray[np.float32]


class NearestEmoji:
    """Recommends by distance alone."""

    name = "baseline/nearest"

    def __init__(self, seed: int = 0) -> None: ...

    def recommend(self, post: Mapping[str, Any], n: int = 3) -> list[str]:
        """The n nearest emoji for the post's ``text``, no two that differ in gender alone.

        Raises:
            MissingExtraError: the encoder is not installed.
        """
        vector = embed_post(post)
        return best(similarity(vector) - RARITY * log_ranks(), n)


def embed_post(post: Mapping[str, Any]) -> Numbers:
    """The encoder's vector of a post's text without emoji."""
    return np.asarray(shared_encoder().embed([emoji.strip(post.get("text") or "").strip()])[0])


def similarity(vector: Numbers) -> Numbers:
    """How near each emoji of ``emoji_vectors.table()`` is to a post's vector."""
    return np.asarray(_centred_views() @ vector - _middle(), dtype=np.float32)


def best(scores: Numbers, n: int) -> list[str]:
    """The n emoji with the highest scores, fully qualified, no two that differ in gender alone."""
    chosen: dict[str, str] = {}
    for row in np.argsort(-scores, kind="stable"):
        one = _qualified()[row]
        chosen.setdefault(emoji.key(one, "gender"), one)
        if len(chosen) >= n:
            break
    return list(chosen.values())[:n]


@lru_cache(maxsize=1)
def log_ranks() -> Numbers:
    """Ln of each emoji's rank by use; what is not on the list counts as one rank below the last."""
    ranks = [emoji.rank(one) or emoji.RANKED + 1 for one in emoji_vectors.table()]
    return np.array([math.log(rank) for rank in ranks], np.float32)


@lru_cache(maxsize=1)
def _centred_views() -> Numbers:
    views = [emoji_vectors.view(name) for name in _VIEWS]
    return np.asarray(sum(view - view.mean(axis=0) for view in views), dtype=np.float32)


@lru_cache(maxsize=1)
def _middle() -> Numbers:
    """Each emoji's similarity to the middle of posts: what is near every post says nothing about one."""
    return np.asarray(_centred_views() @ emoji_vectors.post_middle(), dtype=np.float32)


@lru_cache(maxsize=1)
def _qualified() -> tuple[str, ...]:
    """The rows' emoji as they are written, with their selectors."""
    written = {emoji.key(one): one for one in emoji.all_emoji()}
    return tuple(written[one] for one in emoji_vectors.table())
