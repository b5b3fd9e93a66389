"""Numerators and denominators, summed by author, from which every score and its interval come.

A score is a ratio of two sums over posts. Metrics put the two columns in a tally and keep a ``Ratio``; when
all are in, the tally is resampled once and every ``Ratio`` in a tree of results becomes an ``Estimate``.
Knows neither posts nor systems.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mojimeter.metrics.bags import Floats, Integers
from mojimeter.stats.resample import Resampled, resample, sum_by_cluster


@dataclass(frozen=True, slots=True)
class Ratio:
    """A score to come: two columns of a tally and a scale (100 for percent)."""

    numerator: int
    denominator: int
    scale: float = 100.0


@dataclass(slots=True)
class Tally:
    """Columns of sums by cluster; a column that was put in already is not stored twice."""

    clusters: int
    columns: list[Floats] = field(default_factory=list)
    _index: dict[bytes, int] = field(default_factory=dict)

    def column(self, values: Floats, cluster: Integers) -> int:
        """Put in the sums of ``values`` by cluster; its place."""
        sums = sum_by_cluster(values, cluster, self.clusters)
        place = self._index.setdefault(sums.tobytes(), len(self.columns))
        if place == len(self.columns):
            self.columns.append(sums)
        return place

    def ratio(self, numerator: Floats, denominator: Floats, cluster: Integers, scale: float = 100.0) -> Ratio:
        """A ratio of sums of two columns of values, one value a row."""
        return Ratio(self.column(numerator, cluster), self.column(denominator, cluster), scale)

    def resample(self, draws: int, seed: int) -> Resampled:
        """All columns, resampled together."""
        columns = np.column_stack(self.columns) if self.columns else np.empty((self.clusters, 0))
        return resample(columns, draws, seed)


def resolve(tree: Any, sums: Resampled) -> Any:
    """The same tree with an ``Estimate`` for every ``Ratio``."""
    if isinstance(tree, Ratio):
        return sums.ratio(tree.numerator, tree.denominator, tree.scale)
    if isinstance(tree, Mapping):
        return {name: resolve(branch, sums) for name, branch in tree.items()}
    return tree
