"""Everything about the agreement of one panel: coefficients, pairs of raters, and each rater's use of the scale.

The coefficient that sees offsets comes first (alpha, then ICC(2,1)), correlations last: on the same ratings
Pearson can be .17 and alpha .014. Knows a matrix of units by raters, not what the units are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mojimeter.errors import InputError
from mojimeter.ratings.agreement.alpha import LEVELS, Level, Pairable, alpha_of, check_matrix
from mojimeter.ratings.agreement.correlation import common_units, mean_of_pairs, pearson_pair, spearman_pair
from mojimeter.ratings.agreement.icc import MCGRAW_WONG, intraclass_correlations
from mojimeter.ratings.agreement.kappa import chance_corrected, unusable_as_categories
from mojimeter.ratings.agreement.resampling import MAX_BOOTSTRAPPED, Resampling, resampling
from mojimeter.ratings.agreement.weights import Weights
from mojimeter.stats.estimate import Estimate

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
# Units x raters without gaps, and a number of draws -> the six ICCs.
IccOfCells = Callable[[Floats, int], Mapping[str, Estimate]]
IccInterval = Literal["f", "components"]

# Beyond this many pairs of raters (or very many scores) pairs get the short list: alpha at the level of the scores,
# ICCs, unweighted kappas and correlations. A page of numbers each would not be read.
MAX_FULL_PAIRS = 66
_WEIGHTS_SHOWN: tuple[Weights, ...] = ("identity", "linear", "quadratic", "ordinal")
_LISTED = 20  # different scores of a rater whose shares are listed
_ICC_DRAWS, _ICC_PAIR_DRAWS = 20_000, 4_000
_TWO_RATERS = {"conger": "cohen", "fleiss": "scott"}


@dataclass(frozen=True)
class RaterUse:
    """How one rater used the scale.

    Attributes:
        rater: name.
        ratings: how many scores.
        mean, spread: mean and standard deviation (n - 1) of the scores; spread None for a single one.
        offset: mean difference from the mean of the other raters of the same units; None without such.
        lowest, highest: extreme scores.
        distinct: different scores used.
        use: score -> share of this rater's scores, where the panel used few enough different scores to list.
        with_others: Pearson correlation with the mean of the other raters.
    """

    rater: str
    ratings: int
    mean: float
    spread: float | None
    offset: float | None
    lowest: float
    highest: float
    distinct: int
    use: Mapping[str, float] | None
    with_others: Estimate

    def to_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {"rater": self.rater, "ratings": self.ratings, "mean": self.mean, "spread": self.spread}
        out |= {"offset": self.offset, "lowest": self.lowest, "highest": self.highest, "distinct": self.distinct}
        if self.use is not None:
            out["use"] = dict(self.use)
        return out | {"with_others": self.with_others.to_dict()}


@dataclass(frozen=True)
class Coefficients:
    """Coefficients of a panel or a pair.

    Attributes:
        alpha: level -> Krippendorff's alpha.
        icc: "2,1" ... -> intraclass correlation.
        icc_interval: where their intervals come from: "f" (units taken for unrelated) or "components" (units are
            cells of several facets: `icc_of_cells`).
        kappas: weights -> name -> coefficient on categories.
        pearson, spearman: correlation (of a panel: mean over its pairs).
    """

    alpha: Mapping[str, Estimate]
    icc: Mapping[str, Estimate]
    kappas: Mapping[str, Mapping[str, Estimate]]
    pearson: Estimate
    spearman: Estimate
    icc_interval: IccInterval = "f"

    def to_dict(self) -> dict[str, Any]:
        icc = {k: v.to_dict() for k, v in self.icc.items()}
        return {
            "alpha": {k: v.to_dict() for k, v in self.alpha.items()},
            "icc": {k: v | {"interval": self.icc_interval} if "ci" in v else v for k, v in icc.items()},
            "kappas": {w: {k: v.to_dict() for k, v in named.items()} for w, named in self.kappas.items()},
            "pearson": self.pearson.to_dict(),
            "spearman": self.spearman.to_dict(),
        }


@dataclass(frozen=True)
class PairAgreement:
    """Agreement of two raters on the units that both rated."""

    raters: tuple[str, str]
    units: int
    coefficients: Coefficients

    def to_dict(self) -> dict[str, Any]:
        return {"raters": list(self.raters), "units": self.units} | self.coefficients.to_dict()


@dataclass(frozen=True)
class Agreement:
    """What `agree` found.

    Attributes:
        level: level of measurement of the headline alpha.
        units: units (item x system cells) with a score; `pairable` those with two or more; `complete` those that every
            rater rated, which is what the intraclass correlations use.
        coefficients: of the panel.
        pairs: of each pair of raters.
        raters: each one's use of the scale.
        interval_over: what was redrawn for intervals: "units" or "clusters of units". Raters stay as they are.
    """

    level: Level
    units: int
    pairable: int
    complete: int
    coefficients: Coefficients
    pairs: tuple[PairAgreement, ...]
    raters: tuple[RaterUse, ...]
    interval_over: str

    @property
    def headline(self) -> Estimate:
        """Alpha at the level of the scores."""
        return self.coefficients.alpha[self.level]

    def to_dict(self) -> dict[str, Any]:
        """The contract's ``agreement`` object."""
        counts = {"units": self.units, "pairable": self.pairable, "complete": self.complete}
        return (
            {"level": self.level}
            | self.coefficients.to_dict()
            | {"pairs": [p.to_dict() for p in self.pairs], "raters": [r.to_dict() for r in self.raters]}
            | counts
            | {"interval_over": self.interval_over, "icc_names": dict(MCGRAW_WONG)}
        )


def agree(
    matrix: Floats,
    rater_names: Sequence[str] | None = None,
    *,
    level: Level = "interval",
    categories: Sequence[float] | None = None,
    cluster: Ints | None = None,
    draws: int = 1000,
    seed: int = 0,
    icc_of_cells: IccOfCells | None = None,
) -> Agreement:
    """Agreement of a panel, of every pair of its raters, and each rater's use of the scale.

    Args:
        matrix: scores, shape (units, raters), NaN where a rater gave none; a unit is an item x system cell.
        rater_names: one per column; None: 1, 2, ...
        level: of measurement of the scores, for the headline alpha.
        categories: all values of the scale, where some may not have been used (Brennan-Prediger and Gwet count them).
        cluster: cluster number of each unit (its item), so that intervals draw whole items; None: units alone.
        draws: bootstrap draws of the panel's intervals; pairs get fewer, 500 where there are three, at least 200.
        seed: of the draws.
        icc_of_cells: gives the ICCs where units are cells of several facets; None: F intervals.

    Returns:
        Every number as an `Estimate`; where one cannot be had, its reason.

    Raises:
        InputError: not a matrix, infinite scores, an unknown level, names that do not match, no scores.
    """
    matrix = check_matrix(matrix)
    units, k = matrix.shape
    names = tuple(str(i + 1) for i in range(k)) if rater_names is None else tuple(rater_names)
    if len(names) != k:
        raise InputError(f"{len(names)} names for {k} raters; expected one each")
    if level not in LEVELS:
        raise InputError(f"no level of measurement {level!r}; expected {', '.join(LEVELS)}")
    if cluster is not None and len(cluster) != units:
        raise InputError(f"{len(cluster)} cluster numbers for {units} units; expected one each")
    rated = ~np.isnan(matrix)
    if not rated.any():
        raise InputError("no scores: nothing to compare")
    scale = None if categories is None else np.asarray(categories, dtype=np.float64)
    pairs = list(combinations(range(k), 2))
    short = len(pairs) > MAX_FULL_PAIRS or matrix.size > MAX_BOOTSTRAPPED
    pair_draws = min(draws, max(200, 1500 // max(len(pairs), 1)))
    found = []
    for first, second in pairs:
        rows = common_units(matrix, first, second)
        two = matrix[rows][:, [first, second]]
        group = None if cluster is None else np.asarray(cluster)[rows]
        levels = (level,) if short else LEVELS
        weights = ("identity",) if short else _WEIGHTS_SHOWN
        coefficients = _coefficients(two, levels, weights, scale, _Draws(group, pair_draws, seed), icc_of_cells)
        found.append(PairAgreement((names[first], names[second]), int(rows.size), coefficients))
    return Agreement(
        level,
        int(rated.any(axis=1).sum()),
        int((rated.sum(axis=1) >= 2).sum()),
        int(rated.all(axis=1).sum()),
        _coefficients(matrix, LEVELS, _WEIGHTS_SHOWN, scale, _Draws(cluster, draws, seed, _ICC_DRAWS), icc_of_cells),
        tuple(found),
        tuple(_use(matrix, rater, names[rater]) for rater in range(k) if rated[:, rater].any()),
        "units" if cluster is None else "clusters of units",
    )


@dataclass(frozen=True)
class _Draws:
    """How intervals are drawn: cluster number of each unit, draws, their seed, and draws of components."""

    cluster: Ints | None
    alpha: int
    seed: int
    icc: int = _ICC_PAIR_DRAWS

    def resampling(self, data: Pairable) -> Resampling:
        group = None if self.cluster is None else np.asarray(self.cluster)[data.rows]
        return resampling(data.units, data.values.size, group, draws=self.alpha, seed=self.seed)


def _coefficients(
    matrix: Floats,
    levels: Sequence[Level],
    weights: Sequence[Weights],
    scale: Floats | None,
    draws: _Draws,
    icc_of_cells: IccOfCells | None,
) -> Coefficients:
    data = Pairable.of(matrix)
    how = draws.resampling(data)
    two = matrix.shape[1] == 2
    kappas: dict[str, dict[str, Estimate]] = {}
    # one reason is enough where all would be the same
    for name in weights if unusable_as_categories(matrix) is None else weights[:1]:
        found = chance_corrected(matrix, name, categories=scale)
        kappas[name] = {_TWO_RATERS.get(c, c) if two else str(c): e for c, e in found.items()}
    if two:
        rows = common_units(matrix, 0, 1)
        pearson, spearman = (f(matrix[rows, 0], matrix[rows, 1]) for f in (pearson_pair, spearman_pair))
    else:
        pearson, spearman = (mean_of_pairs(matrix[data.rows], how, ranks=r) for r in (False, True))
    alpha: dict[str, Estimate] = {level: alpha_of(data, level, how) for level in _offsets_first(levels)}
    interval: IccInterval = "f" if icc_of_cells is None else "components"
    icc = intraclass_correlations(matrix) if icc_of_cells is None else icc_of_cells(matrix, draws.icc)
    return Coefficients(alpha, _absolute_first(icc), kappas, pearson, spearman, interval)


def _offsets_first(levels: Sequence[Level]) -> list[Level]:
    order: tuple[Level, ...] = ("interval", "ratio", "ordinal", "nominal")
    return [level for level in order if level in levels]


def _absolute_first(icc: Mapping[str, Estimate]) -> dict[str, Estimate]:
    return {name: icc[name] for name in ("2,1", "1,1", "3,1", "2,k", "1,k", "3,k")}


def _use(matrix: Floats, rater: int, name: str) -> RaterUse:
    own = matrix[:, rater]
    there = ~np.isnan(own)
    others = np.delete(matrix, rater, axis=1)
    counts = (~np.isnan(others)).sum(axis=1)
    shared = there & (counts > 0)
    scores = own[there]
    distinct, used = np.unique(scores, return_counts=True)
    offset: float | None = None
    with_others = Estimate.absent("no unit was rated by anyone else")
    if shared.any():
        rest = np.nansum(others[shared], axis=1) / counts[shared]
        offset = float((own[shared] - rest).mean())
        with_others = pearson_pair(own[shared], rest)
    few = distinct.size <= _LISTED
    return RaterUse(
        name,
        int(scores.size),
        float(scores.mean()),
        float(scores.std(ddof=1)) if scores.size > 1 else None,
        offset,
        float(distinct[0]),
        float(distinct[-1]),
        int(distinct.size),
        {f"{v:g}": float(c / scores.size) for v, c in zip(distinct, used, strict=True)} if few else None,
        with_others,
    )
