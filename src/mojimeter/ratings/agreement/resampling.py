"""How much a coefficient of agreement would move with other units: weights over units, and the interval they give.

The raters stay as they are; only the units (or the clusters they come in, such as all cells of one item) are
drawn again. Knows arrays of weights, not what is computed with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from mojimeter.stats.estimate import Estimate
from mojimeter.stats.resample import percentile_interval, weight_blocks

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Above this many scores a bootstrap gives way to random groups (Wolter 2007, Introduction to Variance
# Estimation, chapter 2): one pass over the data instead of a thousand; 100 groups know a standard error to 7%.
MAX_BOOTSTRAPPED = 300_000
_GROUPS = 100
_T_99 = 1.9842169515
# Weights are drawn once for all coefficients where they fit into 64 MB.
_KEPT = 8_000_000


@dataclass(frozen=True)
class Resampling:
    """Which units are drawn together, how often and from which seed.

    Attributes:
        cluster: cluster number of each unit, shape (units,), from 0 and without gaps.
        clusters: how many there are.
        draws: bootstrap draws.
        seed: of the generator; one seed gives every coefficient the same draws.
        groups: use random groups instead of the bootstrap.
    """

    cluster: Ints
    clusters: int
    draws: int
    seed: int
    groups: bool = False

    def weights(self) -> Iterator[Floats]:
        """Blocks of weights of the clusters, shape (some draws, clusters)."""
        if self.clusters < 2:
            return
        if 0 < self.clusters * self.draws <= _KEPT:
            yield _kept_weights(self.clusters, self.draws, self.seed)
        else:
            yield from weight_blocks(self.clusters, self.draws, self.seed)

    def parts(self) -> list[Ints]:
        """Units of each random group of clusters."""
        of_cluster = np.random.default_rng(self.seed).permutation(self.clusters) % _GROUPS
        group = of_cluster[self.cluster]
        order = np.argsort(group, kind="stable")
        return [part for part in np.split(order, np.cumsum(np.bincount(group, minlength=_GROUPS))[:-1]) if part.size]

    def estimate_from_parts(self, value: float, parts: Sequence[float]) -> Estimate:
        """A value with the interval that its values in the random groups give."""
        defined = np.array([p for p in parts if np.isfinite(p)])
        if defined.size < 2:
            return Estimate(value, reason="too few groups of units have a value: no interval")
        half = _T_99 * float(defined.std(ddof=1)) / float(np.sqrt(defined.size))
        return Estimate(value, (value - half, value + half))

    def sums(self, columns: Floats) -> Floats:
        """Sums over the units of each cluster; (units, columns) -> (clusters, columns)."""
        if self.clusters == len(columns):
            out = np.empty_like(columns)
            out[self.cluster] = columns
            return out
        out = np.zeros((self.clusters, columns.shape[1]))
        np.add.at(out, self.cluster, columns)
        return out

    def estimate(self, value: float, statistic: Callable[[Floats], Floats]) -> Estimate:
        """A value with the interval that its redrawn values give.

        Args:
            value: the statistic of the data themselves.
            statistic: weights of clusters, shape (draws, clusters) -> values, shape (draws,);
                NaN where a draw has none.
        """
        blocks = [statistic(w) for w in self.weights()]
        if not blocks:
            return Estimate(value, reason="one unit: no interval")
        drawn = np.concatenate(blocks)
        defined = drawn[np.isfinite(drawn)]
        lost = drawn.size - defined.size
        note = f"{lost} of {drawn.size} draws had no spread and are left out of the interval" if lost else None
        interval = percentile_interval(defined)
        return Estimate(value, interval, reason=note)


@lru_cache(maxsize=2)
def _kept_weights(clusters: int, draws: int, seed: int) -> Floats:
    weights = np.concatenate(list(weight_blocks(clusters, draws, seed)))
    weights.flags.writeable = False
    return weights


def resampling(units: int, scores: int, cluster: Ints | None = None, *, draws: int = 1000, seed: int = 0) -> Resampling:
    """How to draw again from a matrix with that many units and scores.

    Args:
        cluster: any integers, one per unit; units with the same number are drawn together. None: each alone.
    """
    if cluster is None:
        return Resampling(np.arange(units), units, draws, seed, scores > MAX_BOOTSTRAPPED)
    _, compact = np.unique(np.asarray(cluster), return_inverse=True)
    found = int(compact.max()) + 1 if compact.size else 0
    return Resampling(compact.astype(np.int64), found, draws, seed, scores > MAX_BOOTSTRAPPED)
