"""The cross table of two sets of labels of the same posts, and what can be read off it, with intervals over authors.

All statistics here (accuracy, kappa, correlation, precision, recall, F1) are functions of the cells of that table, and
cells are sums over posts: authors are drawn again once and every statistic is taken in every draw. Knows labels as
strings and clusters as numbers; not which of the two sets is right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from mojimeter.ratings.agreement import chance_corrected
from mojimeter.stats.estimate import Estimate
from mojimeter.stats.resample import Floats, Integers, percentile_interval, pool_clusters, resample

NO_VALUE = "there is nothing to divide by"


@dataclass(frozen=True)
class Confusion:
    """How often each first label met each second label.

    Attributes:
        labels: k names; rows are first labels, columns second ones.
        observed: counts, shape (k, k + 1); the last column holds second labels that could not be read.
        draws: the same in every bootstrap draw of clusters, shape (draws, k, k + 1).
    """

    labels: tuple[str, ...]
    observed: Floats
    draws: Floats

    @property
    def total(self) -> int:
        """Posts in the table."""
        return int(self.observed.sum())

    def estimate(self, statistic: Callable[[Floats], Floats], absent: str = NO_VALUE) -> Estimate:
        """A statistic of the table with its percentile interval.

        Args:
            statistic: from tables of shape (n, k, k + 1) to values of shape (n,), NaN where there is none.
            absent: the reason where there is no value.
        """
        value = float(statistic(self.observed[None])[0])
        if not np.isfinite(value):
            return Estimate.absent(absent)
        return Estimate(value, percentile_interval(statistic(self.draws)) if len(self.draws) else None)

    def to_dict(self) -> dict[str, dict[str, int]]:
        """First label -> second label (or ``unparsed``) -> count; empty cells left out."""
        columns = (*self.labels, "unparsed")
        return {
            label: {name: int(n) for name, n in zip(columns, row, strict=True) if n}
            for label, row in zip(self.labels, self.observed, strict=True)
            if row.any()
        }


def cross(
    first: pl.Series,
    second: pl.Series,
    labels: Sequence[str],
    cluster: Integers,
    *,
    draws: int = 2000,
    seed: int = 0,
) -> Confusion:
    """Cross two columns of labels.

    Args:
        first: one label a post, none of them null.
        second: one label a post; null could not be read.
        labels: all labels there are.
        cluster: number of each post's cluster, from 0.
        draws, seed: of the bootstrap over clusters.
    """
    k = len(labels)
    width = k * (k + 1)
    rows = codes_of(first, labels)
    columns = np.where((found := codes_of(second, labels)) < 0, k, found)
    groups, clusters = pool_clusters(cluster, int(cluster.max()) + 1 if len(cluster) else 0, seed)
    flat = groups * width + rows * (k + 1) + columns
    table = np.bincount(flat, minlength=clusters * width).reshape(clusters, width).astype(np.float64)
    sums = resample(table, draws, seed)
    return Confusion(tuple(labels), sums.observed.reshape(k, k + 1), sums.draws.reshape(-1, k, k + 1))


def codes_of(column: pl.Series, labels: Sequence[str]) -> Integers:
    """Number of each label in the list, -1 where it is null or not there."""
    table = {label: number for number, label in enumerate(labels)}
    return np.array([table.get(label, -1) for label in column.to_list()], dtype=np.int64)


def cohen(first: pl.Series, second: pl.Series, table: Confusion) -> Estimate:
    """Cohen's kappa, an unreadable second label being a category of its own that no first label can meet."""
    matrix = np.column_stack([codes_of(column, table.labels) for column in (first, second)]).astype(np.float64)
    matrix[matrix < 0] = len(table.labels)
    value = chance_corrected(matrix)["conger"]
    if value.value is None:
        return Estimate.absent(value.reason or NO_VALUE)
    drawn = kappa(table.draws)
    return Estimate(value.value, percentile_interval(drawn))


def agreement(tables: Floats) -> Floats:
    """Share of posts with two equal labels, shape (n,)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share: Floats = _agreeing(tables).sum(axis=1) / tables.sum(axis=(1, 2))
    return share


def kappa(tables: Floats) -> Floats:
    """Cohen's kappa (1960) of each table; `cohen` gives the one of the data from ``ratings.agreement``."""
    total = tables.sum(axis=(1, 2))
    k = tables.shape[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = (tables.sum(axis=2) * tables.sum(axis=1)[:, :k]).sum(axis=1) / total**2
        observed = _agreeing(tables).sum(axis=1) / total
        value: Floats = np.where(1.0 - expected > 1e-12, (observed - expected) / (1.0 - expected), np.nan)
    return value


def correlation(tables: Floats) -> Floats:
    """Correlation of two sets of labels: Gorodkin's R_K (2004, Comput. Biol. Chem. 28, 367-374).

    The correlation of the two sets' indicator variables; with two labels it is Pearson's (phi), the paper's.
    """
    total = tables.sum(axis=(1, 2))
    first, second = tables.sum(axis=2), tables.sum(axis=1)
    k = tables.shape[1]
    covariance = _agreeing(tables).sum(axis=1) * total - (first * second[:, :k]).sum(axis=1)
    spread = (total**2 - (first**2).sum(axis=1)) * (total**2 - (second**2).sum(axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        value: Floats = np.where(spread > 0, covariance / np.sqrt(spread), np.nan)
    return value


def precision(tables: Floats) -> Floats:
    """Of the second set's posts with a label, those whose first label is the same, shape (n, k); NaN: never said."""
    return _divide(_agreeing(tables), tables.sum(axis=1)[:, : tables.shape[1]])


def recall(tables: Floats) -> Floats:
    """Of the first set's posts with a label, those whose second label is the same, shape (n, k); NaN: never there."""
    return _divide(_agreeing(tables), tables.sum(axis=2))


def f1(tables: Floats) -> Floats:
    """Harmonic mean of precision and recall, 2 hits / (said + there), shape (n, k); NaN: neither said nor there."""
    there, said = tables.sum(axis=2), tables.sum(axis=1)[:, : tables.shape[1]]
    return _divide(2.0 * _agreeing(tables), there + said)


def macro(by_class: Callable[[Floats], Floats]) -> Callable[[Floats], Floats]:
    """The mean of a per-class statistic over the labels that are there or were said; undefined ones count 0.

    That is scikit-learn's ``average="macro", zero_division=0``.
    """

    def statistic(tables: Floats) -> Floats:
        used = (tables.sum(axis=2) + tables.sum(axis=1)[:, : tables.shape[1]]) > 0
        values = np.where(used, np.nan_to_num(by_class(tables)), 0.0)
        return _divide(values.sum(axis=1), used.sum(axis=1).astype(np.float64))

    return statistic


def of_class(by_class: Callable[[Floats], Floats], number: int) -> Callable[[Floats], Floats]:
    """A per-class statistic of one label."""

    def statistic(tables: Floats) -> Floats:
        values: Floats = by_class(tables)[:, number]
        return values

    return statistic


def _agreeing(tables: Floats) -> Floats:
    diagonal: Floats = np.einsum("nkk->nk", tables[:, :, : tables.shape[1]])
    return diagonal


def _divide(top: Floats, bottom: Floats) -> Floats:
    share: Floats = np.divide(top, bottom, out=np.full(top.shape, np.nan), where=bottom > 0)
    return share
