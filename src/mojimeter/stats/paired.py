"""Two systems on the same posts: how far apart they are, whether that is more than chance, and what could be seen.

Knows arrays only. Clusters (authors) are the units throughout: posts of one author are not independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mojimeter.stats.estimate import Estimate
from mojimeter.stats.resample import Floats, Integers, percentile_interval, resample, sum_by_cluster

# z(0.975) + z(0.80): a difference this many standard errors wide is found with 80% power by a two-sided 5% test.
_DETECTABLE = 1.959963984540054 + 0.8416212335729143
_BLOCK_BYTES = 32_000_000


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """The mean difference of two systems on their common posts.

    Attributes:
        difference: first minus second, with the percentile interval over clusters.
        p: two-sided p of the sign-flip test; None where there are fewer than two clusters.
        detectable: the smallest true difference that a two-sided 5% test would find with 80% power on these clusters.
        posts, clusters: how many the comparison rests on.
    """

    difference: Estimate
    p: float | None
    detectable: float | None
    posts: int
    clusters: int

    def to_dict(self) -> dict[str, Any]:
        return {
            "difference": self.difference.to_dict(),
            "p": self.p,
            "detectable": self.detectable,
            "posts": self.posts,
            "clusters": self.clusters,
        }


def paired_difference(
    first: Floats, second: Floats, cluster: Integers | None = None, *, draws: int = 2000, seed: int = 0
) -> PairedDifference:
    """Compare two systems post by post.

    Args:
        first, second: one value a post, same posts in the same order, shape (posts,).
        cluster: which cluster each post belongs to, 0 to clusters - 1; None makes every post its own.
    """
    first, second = np.asarray(first, float), np.asarray(second, float)
    if first.shape != second.shape or first.ndim != 1 or not len(first):
        raise ValueError("paired_difference needs two arrays of the same length, one value a post")
    group = np.arange(len(first)) if cluster is None else np.asarray(cluster)
    clusters = int(group.max()) + 1
    sums = sum_by_cluster(first - second, group, clusters)
    counts = sum_by_cluster(np.ones(len(first)), group, clusters)
    sampled = resample(np.column_stack([sums, counts]), draws, seed)
    drawn = sampled.ratio_draws(0, 1)
    value = float((first - second).mean())
    return PairedDifference(
        Estimate(value, percentile_interval(drawn)),
        sign_flip_p(sums, draws=draws, seed=seed),
        detectable_difference(standard_error(sums, counts)),
        len(first),
        clusters,
    )


def sign_flip_p(sums: Floats, *, draws: int = 2000, seed: int = 0) -> float | None:
    """Two-sided p of no difference: were the systems alike, each cluster's sum could as well carry the other sign.

    The sign-flip (Fisher randomisation) test with the add-one rule of Phipson & Smyth 2010, so p is never 0.

    Args:
        sums: differences summed by cluster, shape (clusters,).
    """
    if len(sums) < 2:
        return None
    observed = abs(float(sums.sum()))
    rng = np.random.default_rng(seed)
    block = max(1, _BLOCK_BYTES // (8 * len(sums)))
    # a flipped sum that equals the observed one but for rounding counts as reaching it
    reach = observed - 1e-9 * float(np.abs(sums).sum())
    as_far = 0
    for start in range(0, draws, block):
        rows = min(block, draws - start)
        signs = rng.integers(0, 2, size=(rows, len(sums)), dtype=np.int8) * 2.0 - 1.0
        as_far += int(np.count_nonzero(np.abs(signs @ sums) >= reach))
    return (as_far + 1) / (draws + 1)


def standard_error(sums: Floats, counts: Floats) -> float | None:
    """Cluster-robust standard error of a ratio of sums (linearised; Cochran 1977, *Sampling Techniques*, 6.5).

    Args:
        sums, counts: numerator and denominator by cluster, shape (clusters,).
    """
    clusters = len(sums)
    total = float(counts.sum())
    if clusters < 2 or total == 0:
        return None
    residual = sums - counts * float(sums.sum()) / total
    return float(np.sqrt(clusters / (clusters - 1) * np.square(residual).sum()) / total)


def detectable_difference(error: float | None) -> float | None:
    """The smallest true difference found with 80% power by a two-sided 5% test, from its standard error."""
    return None if error is None else _DETECTABLE * error
