"""Diversity: how many different emoji a system uses over a corpus, and over attempts at the same post.

The first is the second paper's Table VIII and Figure 4; the second is *Diversity* of its Table I ("different
emojis for the same input across multiple attempts"), which the paper does not measure: here the mean Jaccard
distance between the emoji sets of two attempts. Knows sets and counts only.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from mojimeter.metrics.bags import Bags, Floats, Integers
from mojimeter.metrics.overlap import overlap

TOP = 50


def most_used(bags: Bags, top: int = TOP) -> list[tuple[str, float]]:
    """The ``top`` emoji with their share of all emoji given, in percent, most used first, ties by code point."""
    counts = np.bincount(bags.code, minlength=len(bags.names))
    order = np.argsort(-counts, kind="stable")[:top]
    total = max(1, len(bags.code))
    return [(bags.names[i], 100 * float(counts[i]) / total) for i in order if counts[i]]


def distinct(bags: Bags) -> int:
    """Number of different emoji."""
    return len(np.unique(bags.code))


def distance_between_attempts(bags: Bags, post: Integers, epoch: Integers, posts: int) -> tuple[Floats, Floats]:
    """How unlike two attempts at the same post are: 1 - common / all of their two sets, 0 where both are empty.

    Args:
        bags: the emoji of every attempt.
        post, epoch: which post and which attempt at it each row is.

    Returns:
        For every post the sum of distances over pairs of attempts, and the number of pairs, shape (posts,).
    """
    sums, pairs = np.zeros(posts), np.zeros(posts)
    rows_of = {e: np.flatnonzero(epoch == e) for e in np.unique(epoch)}
    for first, second in combinations(rows_of.values(), 2):
        _, a, b = np.intersect1d(post[first], post[second], assume_unique=True, return_indices=True)
        one, other = bags.take(first[a]), bags.take(second[b])
        # Dice d = 2c / (m + n) and Jaccard j = c / (m + n - c): j = d / (2 - d)
        dice = overlap(one, other).f1
        both_empty = (one.sizes() == 0) & (other.sizes() == 0)
        distance = np.where(both_empty, 0.0, 1 - dice / (2 - dice))
        np.add.at(sums, post[first[a]], distance)
        np.add.at(pairs, post[first[a]], 1.0)
    return sums, pairs
