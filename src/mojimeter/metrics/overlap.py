"""Precision, recall and F1 of recommended against original emoji, reply by reply.

The *exact match* criterion of the second paper's Table I; with emoji replaced by their Unicode group or subgroup, the
*category match* criterion. Knows sets of codes, not where they come from.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mojimeter.metrics.bags import Bags, Floats


@dataclass(frozen=True, slots=True)
class Overlap:
    """One value a reply, between 0 and 1; arrays of shape (replies,)."""

    precision: Floats
    recall: Floats
    f1: Floats


def overlap(given: Bags, gold: Bags) -> Overlap:
    """Compare the set of each reply with the set of its post.

    precision = common / given, recall = common / gold, F1 = 2 common / (given + gold), each 0 where nothing is in
    common, so an empty reply scores 0. Repeats count once.

    Args:
        given, gold: as many lists, row by row, sharing their names.
    """
    ours, theirs = given.keys(), gold.keys()
    place = np.searchsorted(theirs, ours)
    found = place < len(theirs)
    found[found] = theirs[place[found]] == ours[found]
    common = np.bincount(ours[found] // given.width, minlength=given.rows)
    n_given = np.bincount(ours // given.width, minlength=given.rows)
    n_gold = np.bincount(theirs // gold.width, minlength=gold.rows)
    return Overlap(
        common / np.maximum(n_given, 1),
        common / np.maximum(n_gold, 1),
        2 * common / np.maximum(n_given + n_gold, 1),
    )
