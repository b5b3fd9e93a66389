"""Distributions of emoji over a corpus: entropy, and the Jensen-Shannon divergence from the original emoji.

The *distribution similarity* criterion of the second paper's Table I (Lin 1991, "Divergence measures based
on the Shannon entropy"; base 2, so 0 = the same distribution, 1 = no emoji in common). Both are plug-in
estimates: over few emoji the entropy reads low and the divergence high. Knows counts only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.special import xlogy

from mojimeter.metrics.bags import Bags, Floats, Integers
from mojimeter.stats.estimate import Estimate
from mojimeter.stats.resample import normal_interval, weight_blocks


@dataclass(frozen=True, slots=True)
class DistributionScores:
    """Entropy of the system's emoji in bits, and their Jensen-Shannon divergence from the original ones."""

    entropy_bits: Estimate
    jensen_shannon: Estimate


def entropy(counts: Floats) -> Floats:
    """Shannon entropy in bits of each row of counts, shape (..., kinds) -> (...); NaN where a row is empty.

    H = log2 N - (sum of c log2 c) / N, which needs no division of every count.
    """
    total = counts.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        bits: Floats = (np.log(total) - xlogy(counts, counts).sum(axis=-1) / total) / np.log(2)
    return np.where(total > 0, np.maximum(bits, 0.0), np.nan)


def jensen_shannon(first: Floats, second: Floats) -> Floats:
    """Divergence in bits between rows of counts, shape (..., kinds) -> (...); NaN where either is empty."""
    with np.errstate(divide="ignore", invalid="ignore"):
        p = first / first.sum(axis=-1, keepdims=True)
        q = second / second.sum(axis=-1, keepdims=True)
    return np.maximum(entropy((p + q) / 2) - (entropy(first) + entropy(second)) / 2, 0.0)


def distribution_scores(
    given: Bags, gold: Bags, cluster: Integers, clusters: int, *, draws: int, seed: int
) -> DistributionScores:
    """Both, over all replies pooled, with intervals from the same bootstrap draws as every other number.

    Args:
        given, gold: as many lists, row by row, sharing their names; repeats count as often as they stand there.
        cluster: the cluster of each row.
    """
    if not len(given.code):
        absent = Estimate.absent("no emoji was given")
        return DistributionScores(absent, absent)
    ours, theirs = _counts(given, cluster, clusters), _counts(gold, cluster, clusters)
    total, gold_total = _totals(ours), _totals(theirs)
    bits, divergence = float(entropy(total)), float(jensen_shannon(total, gold_total))
    drawn_bits, drawn_divergence = [], []
    for weights in weight_blocks(clusters, draws, seed):
        drawn = np.asarray(weights @ ours)
        drawn_bits.append(entropy(drawn))
        drawn_divergence.append(jensen_shannon(drawn, np.asarray(weights @ theirs)))
    return DistributionScores(
        _estimate(bits, drawn_bits, upper=None),
        _estimate(divergence, drawn_divergence, upper=1.0)
        if len(gold.code)
        else Estimate.absent("the posts have no emoji"),
    )


def _counts(bags: Bags, cluster: Integers, clusters: int) -> csr_array:
    ones = np.ones(len(bags.code))
    return csr_array((ones, (cluster[bags.row], bags.code)), shape=(clusters, len(bags.names)))


def _totals(counts: csr_array) -> Floats:
    return np.asarray(counts.sum(axis=0)).ravel()


def _estimate(value: float, drawn: list[Floats], upper: float | None) -> Estimate:
    interval = normal_interval(value, np.concatenate(drawn)) if drawn else None
    if interval is None:
        return Estimate(value)
    low, high = interval
    return Estimate(value, (max(0.0, low), high if upper is None else min(upper, high)))
