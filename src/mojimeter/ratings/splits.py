"""Splits of tables where one source item gives many rows: twins across the split, and the optimism they bring.

When eight systems rewrite each sentence, a row-wise split puts a copy of nearly every test sentence into training.
Knows groups, labels and a fit-and-predict function that the caller gives; nothing of texts or models.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mojimeter.errors import InputError
from mojimeter.stats.estimate import Estimate

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
# (training features, training labels, test features) -> predicted labels
FitPredict = Callable[[Any, Ints, Any], Any]


def twin_share(views: int, test_share: float) -> float:
    """Share of test rows with a twin in training: 1 - p^(k - 1).

    Args:
        views: k, rows per item.
        test_share: p, the chance of each row to be a test row.

    Raises:
        InputError: no views, or a share that is not between 0 and 1.
    """
    if views < 1:
        raise InputError(f"{views} rows per item; expected one or more")
    _check_share(test_share)
    return 1.0 - test_share ** (views - 1)


def expected_twin_share(groups: Ints, test_share: float) -> float:
    """The same for items with different numbers of rows: the mean of 1 - p^(k - 1) over rows."""
    _check_share(test_share)
    _, inverse, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    return float((1.0 - test_share ** (sizes[inverse] - 1.0)).mean())


def counted_twin_share(groups: Ints, test: Mask) -> float:
    """Share of the test rows of one split whose item has a training row.

    Raises:
        InputError: no test rows.
    """
    if not test.any():
        raise InputError("the split has no test rows")
    return float(np.isin(groups[test], groups[~test]).mean())


def split_rows(rows: int, test_share: float, rng: np.random.Generator) -> Mask:
    """A row-wise split: test rows as a mask, of the share to the nearest row, at least one on each side."""
    _check_share(test_share)
    if rows < 2:
        raise InputError(f"{rows} rows cannot be split; at least two are needed")
    n = min(max(round(rows * test_share), 1), rows - 1)
    test = np.zeros(rows, dtype=bool)
    test[rng.permutation(rows)[:n]] = True
    return test


def split_groups(groups: Ints, test_share: float, rng: np.random.Generator) -> Mask:
    """A split that keeps each item's rows together: whole items, drawn until the share of rows is as near as it gets.

    Raises:
        InputError: fewer than two items.
    """
    _check_share(test_share)
    found, inverse, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    if found.size < 2:
        raise InputError("all rows are of one item; a grouped split needs at least two")
    order = rng.permutation(found.size)
    reached = np.cumsum(sizes[order])
    n = int(np.argmin(np.abs(reached - test_share * groups.size))) + 1
    chosen = order[: min(n, found.size - 1)]
    return np.isin(inverse, chosen)


def _check_share(test_share: float) -> None:
    if not 0.0 < test_share < 1.0:
        raise InputError(f"the test share is {test_share}; expected a number between 0 and 1")


def macro_f1(true: Ints, predicted: Ints) -> float:
    """Mean over the labels that occur in either of 2 TP / (2 TP + FP + FN)."""
    labels = np.union1d(true, predicted)
    hits = np.array([((true == k) & (predicted == k)).sum() for k in labels], dtype=np.float64)
    either = np.array([(true == k).sum() + (predicted == k).sum() for k in labels], dtype=np.float64)
    return float((2.0 * hits / either).mean())


@dataclass(frozen=True)
class TwinReport:
    """Twins across a row-wise split.

    Attributes:
        test_share: p.
        rows, items: of the table; `views` the rows per item, fewest and most.
        analytic: mean over rows of 1 - p^(k - 1).
        counted: share in drawn splits, interval of their spread.
    """

    test_share: float
    rows: int
    items: int
    views: tuple[int, int]
    analytic: float
    counted: Estimate

    def to_dict(self) -> dict[str, Any]:
        return {
            "test_share": self.test_share,
            "rows": self.rows,
            "items": self.items,
            "views": list(self.views),
            "twins": {"analytic": self.analytic, "counted": self.counted.to_dict()},
        }


def count_twins(groups: Ints, test_share: float, *, repeats: int = 20, seed: int = 1) -> TwinReport:
    """Twins in row-wise splits, by formula and counted in drawn splits.

    Raises:
        InputError: fewer than two rows, or a share that is not between 0 and 1.
    """
    rng = np.random.default_rng(seed)
    shares = [counted_twin_share(groups, split_rows(groups.size, test_share, rng)) for _ in range(max(repeats, 1))]
    sizes = np.unique(groups, return_counts=True)[1]
    ends = (float(np.quantile(shares, 0.025)), float(np.quantile(shares, 0.975)))
    return TwinReport(
        test_share,
        int(groups.size),
        int(sizes.size),
        (int(sizes.min()), int(sizes.max())),
        expected_twin_share(groups, test_share),
        Estimate(float(np.mean(shares)), ends if repeats > 1 else None),
    )


@dataclass(frozen=True)
class SplitScores:
    """Scores under one way to split.

    Attributes:
        macro_f1: mean over repeats, interval by Nadeau and Bengio.
        systems: system -> mean macro-F1 on its test rows; absent from splits where it has none.
        first: system -> in how many repeats it came first.
        leader: the system with the highest mean.
    """

    macro_f1: Estimate
    systems: Mapping[str, float]
    first: Mapping[str, int]
    leader: str | None

    def to_dict(self) -> dict[str, Any]:
        return {
            "macro_f1": self.macro_f1.to_dict(),
            "systems": dict(self.systems),
            "first": dict(self.first),
            "leader": self.leader,
        }


@dataclass(frozen=True)
class SplitOptimism:
    """What a row-wise split promises beyond a grouped one.

    Attributes:
        row_wise, grouped: scores under each.
        optimism: macro-F1 row-wise minus grouped, interval by Nadeau and Bengio.
        repeats, test_share, seed: how it was found out.
    """

    row_wise: SplitScores
    grouped: SplitScores
    optimism: Estimate
    repeats: int
    test_share: float
    seed: int

    @property
    def leader_changes(self) -> bool:
        """Whether another system comes first once items are kept together."""
        return self.row_wise.leader != self.grouped.leader

    def to_dict(self) -> dict[str, Any]:
        return {
            "row_wise": self.row_wise.to_dict(),
            "grouped": self.grouped.to_dict(),
            "optimism": self.optimism.to_dict(),
            "leader_changes": self.leader_changes,
            "repeats": self.repeats,
            "test_share": self.test_share,
            "seed": self.seed,
        }


def measure_optimism(
    fit_predict: FitPredict,
    features: Any,
    labels: Sequence[object] | NDArray[Any],
    groups: Ints,
    systems: Sequence[str] | None = None,
    *,
    test_share: float = 0.2,
    repeats: int = 20,
    seed: int = 1,
) -> SplitOptimism:
    """Macro-F1 under row-wise and under grouped splits, and which system comes first under each.

    Args:
        fit_predict: called as f(training features, training labels, test features); labels are numbers.
        features: indexed by row numbers (array, sparse matrix).
        labels: one per row.
        groups: item number of each row.
        systems: system of each row; None: no ranking.
        test_share: of the rows.
        repeats: pairs of splits; the interval is that of Nadeau & Bengio (2003), whose variance
            (1/J + test/training) s^2 allows for splits of one table having rows in common.
        seed: of the splits.

    Raises:
        InputError: lengths that do not match, fewer than two labels, items or repeats.
    """
    found, codes = np.unique(np.asarray(labels, dtype=object).astype(str), return_inverse=True)
    codes = codes.astype(np.int64)
    rows = codes.size
    if groups.size != rows or (systems is not None and len(systems) != rows):
        raise InputError(f"{rows} labels, {groups.size} items; expected one of each per row")
    if found.size < 2:
        raise InputError("all labels are equal; there is nothing to predict")
    if repeats < 2:
        raise InputError("at least two repeats are needed for an interval")
    rng = np.random.default_rng(seed)
    owner = None if systems is None else np.asarray(systems, dtype=object)
    scores: dict[str, list[float]] = {"row": [], "group": []}
    by_system: dict[str, list[dict[str, float]]] = {"row": [], "group": []}
    for _ in range(repeats):
        for kind, test in (
            ("row", split_rows(rows, test_share, rng)),
            ("group", split_groups(groups, test_share, rng)),
        ):
            train = ~test
            predicted = np.asarray(
                fit_predict(features[np.flatnonzero(train)], codes[train], features[np.flatnonzero(test)])
            )
            scores[kind].append(macro_f1(codes[test], predicted))
            by_system[kind].append(_by_system(codes[test], predicted, None if owner is None else owner[test]))
    ratio = test_share / (1.0 - test_share)
    row, group = np.array(scores["row"]), np.array(scores["group"])
    return SplitOptimism(
        _summarise(row, by_system["row"], ratio),
        _summarise(group, by_system["group"], ratio),
        _repeated(row - group, ratio),
        repeats,
        test_share,
        seed,
    )


def _by_system(true: Ints, predicted: Ints, owner: NDArray[Any] | None) -> dict[str, float]:
    if owner is None:
        return {}
    return {str(s): macro_f1(true[owner == s], predicted[owner == s]) for s in dict.fromkeys(owner.tolist())}


def _summarise(scores: Floats, by_system: Sequence[Mapping[str, float]], ratio: float) -> SplitScores:
    names = sorted({s for one in by_system for s in one})
    means = {s: float(np.mean([one[s] for one in by_system if s in one])) for s in names}
    first = Counter(max(one, key=lambda s: (one[s], s)) for one in by_system if one)
    leader = max(means, key=lambda s: means[s]) if means else None
    return SplitScores(_repeated(scores, ratio), means, dict(first.most_common()), leader)


def _repeated(values: Floats, ratio: float) -> Estimate:
    """Mean of repeated splits with Nadeau & Bengio's t interval; `ratio` is test rows over training rows."""
    from scipy.special import stdtrit

    j = values.size
    half = float(stdtrit(j - 1, 0.975)) * sqrt((1.0 / j + ratio) * float(values.var(ddof=1)))
    mean = float(values.mean())
    return Estimate(mean, (mean - half, mean + half))
