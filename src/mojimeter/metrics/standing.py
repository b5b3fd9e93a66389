"""Where systems stand: who is surely ahead of whom, in rank ranges and paired differences.

Systems are compared on the posts both were scored on. Knows one value a post and system, not what it measures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mojimeter.metrics.bags import Floats, Integers
from mojimeter.metrics.preservation import NO_EMOJI
from mojimeter.stats.estimate import Estimate
from mojimeter.stats.paired import detectable_difference, sign_flip_p, standard_error
from mojimeter.stats.ranks import Comparisons, all_pairs, compare_all, rank_ranges
from mojimeter.stats.resample import percentile_interval, resample, sum_by_cluster


@dataclass(frozen=True, slots=True)
class Standing:
    """Ranks and differences.

    Attributes:
        values: each system's mean over its posts; systems without a value are not in it.
        ranks: (best, worst) place, in the order of the systems given.
        differences: paired differences against the text alone and against the best system.
        compared: all pairs at once, by their places in the order of the systems given.
    """

    values: Mapping[str, float]
    ranks: list[tuple[int, int]]
    differences: tuple[Mapping[str, Any], ...]
    compared: Comparisons


def rank_systems(
    names: list[str], by_post: list[Floats], cluster: Integers, clusters: int, *, draws: int, seed: int
) -> Standing:
    """Compare all systems pairwise.

    Args:
        names: of the systems.
        by_post: for each system one value a post, NaN where it was not scored, shape (posts,).
        cluster: the author of each post, 0 to ``clusters`` - 1.
    """
    pairs = all_pairs(len(names))
    columns = []
    for i, j in pairs:
        gap = by_post[i] - by_post[j]
        common = np.isfinite(gap)
        columns.append(sum_by_cluster(np.where(common, gap, 0.0), cluster, clusters))
        columns.append(sum_by_cluster(common.astype(float), cluster, clusters))
    table = np.column_stack(columns) if columns else np.empty((clusters, 0))
    sums = resample(table, draws, seed)
    drawn = np.column_stack([sums.ratio_draws(2 * p, 2 * p + 1) for p in range(len(pairs))]) if pairs else sums.draws
    observed = np.array([_ratio(*sums.observed[2 * p : 2 * p + 2]) for p in range(len(pairs))])
    compared = compare_all(pairs, observed, drawn)
    values = {n: float(np.nanmean(v)) for n, v in zip(names, by_post, strict=True) if np.isfinite(v).any()}
    differences = []
    for i, j in _wanted(names, values):
        place, sign = (pairs.index((i, j)), 1.0) if i < j else (pairs.index((j, i)), -1.0)
        if not np.isfinite(observed[place]):
            continue
        by_author, counts = sign * table[:, 2 * place], table[:, 2 * place + 1]
        differences.append(
            {
                "system": names[i],
                "against": names[j],
                "difference": Estimate(sign * float(observed[place]), percentile_interval(sign * drawn[:, place])),
                **compared.verdict(i, j),
                "p": sign_flip_p(by_author[counts > 0], draws=draws, seed=seed),
                "detectable": detectable_difference(standard_error(by_author, counts)),
                "posts": int(counts.sum()),
            }
        )
    return Standing(values, rank_ranges(len(names), compared), tuple(differences), compared)


def _wanted(names: list[str], values: Mapping[str, float]) -> list[tuple[int, int]]:
    """Every system against the text alone, and against the best, where they have a value; each pair once."""
    if not values:
        return []
    best = max(values, key=lambda name: (values[name], name))
    wanted: dict[frozenset[str], tuple[int, int]] = {}
    for against in (NO_EMOJI, best):
        for name in values:
            if against in values and name != against:
                wanted.setdefault(frozenset((name, against)), (names.index(name), names.index(against)))
    return list(wanted.values())


def _ratio(numerator: float, denominator: float) -> float:
    return float(numerator / denominator) if denominator else float("nan")
