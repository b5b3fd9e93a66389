"""Recommends what writers of similar posts used: a log-bilinear model fitted on the starter posts' training part.

The logit of an emoji e for a post with text t is

    (A (E5(t) - mean post) + b) . v(e)   +   g_1 (- ln rank by use)   +   g_2 keywords(t, e)   +   g_3 nearness(t, e)

where v(e) are principal components of the vectors of the emoji's name, keywords and sign, so that what is learned
about one emoji holds for those with similar names, also where no training post had them; keywords and nearness are the
scores of the two baselines that are not taught. ``scripts/train_taught.py`` fits A, b and g. Almost all of its time
is the encoder's. Knows nothing of judges or metrics.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import as_file, files
from typing import Any, Final

import numpy as np

from mojimeter.models import emoji_vectors
from mojimeter.systems.keyword import KeywordEmoji
from mojimeter.systems.nearest import Numbers, best, embed_post, log_ranks, similarity

FILE: Final = "taught.npz"
#: How far down the keyword baseline's list is read.
KEYWORD_DEPTH: Final = 150


@dataclass(frozen=True, slots=True)
class Weights:
    """What was fitted.

    Attributes:
        map: (384, d), A transposed.
        bias: (d,), b.
        vectors: (emoji, d), v.
        gains: (3,), g.
    """

    map: Numbers
    bias: Numbers
    vectors: Numbers
    gains: Numbers

    def logits(self, vector: Numbers, keywords: Numbers) -> Numbers:
        """One number an emoji of ``emoji_vectors.table()``."""
        near = similarity(vector)
        taught = self.vectors @ ((vector - emoji_vectors.post_middle()) @ self.map + self.bias)
        by_use, by_keyword, by_nearness = self.gains
        return np.asarray(taught - by_use * log_ranks() + by_keyword * keywords + by_nearness * near, dtype=np.float32)


class TaughtEmoji:
    """Recommends by the fitted model."""

    name = "baseline/taught"

    def __init__(self, seed: int = 0) -> None:
        self._keyword = KeywordEmoji()

    def recommend(self, post: Mapping[str, Any], n: int = 3) -> list[str]:
        """The n likeliest emoji for the post's ``text``, no two that differ in gender alone.

        Raises:
            MissingExtraError: the encoder is not installed.
        """
        return best(_weights().logits(embed_post(post), keyword_scores(self._keyword, post)), n)


def keyword_scores(keyword: KeywordEmoji, post: Mapping[str, Any]) -> Numbers:
    """The keyword baseline's scores without its prior by use, a number an emoji of the table; 0 for no match."""
    scores = np.zeros(len(emoji_vectors.table()), np.float32)
    for match in keyword.explain(post, KEYWORD_DEPTH):
        row = emoji_vectors.row_of(match.emoji)
        if not match.terms:
            break
        if row is not None:
            scores[row] = match.score + log_ranks()[row]
    return scores


@lru_cache(maxsize=1)
def _weights() -> Weights:
    with as_file(files("mojimeter.systems") / "weights" / FILE) as path, np.load(path, allow_pickle=False) as arrays:
        vectors = arrays["vectors"].astype(np.float32) * arrays["vectors_scale"][:, None]
        return Weights(
            arrays["map"].astype(np.float32),
            arrays["bias"].astype(np.float32),
            vectors.astype(np.float32),
            arrays["gains"].astype(np.float32),
        )
