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
    given, gold = given.as_sets(), gold.as_sets()
    width = max(1, len(gold.names))
    shared = np.isin(given.row * width + given.code, gold.row * width + gold.code, assume_unique=True)
    common = np.bincount(given.row[shared], minlength=given.rows)
    n_given, n_gold = given.sizes(), gold.sizes()
    return Overlap(
        common / np.maximum(n_given, 1),
        common / np.maximum(n_gold, 1),
        2 * common / np.maximum(n_given + n_gold, 1),
    )
