"""The ranking of systems and how much of it would survive other raters and other items.

Means with intervals, all differences at once, rank ranges with simultaneous coverage, the probability of being
best, and equivalence where the user gives a margin. Knows means and standard errors; nothing of files or printing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mojimeter.errors import InputError
from mojimeter.ratings.anova import Anova, object_cross_products
from mojimeter.ratings.components import expected_mean_squares
from mojimeter.ratings.design import DesignError
from mojimeter.ratings.generalizability import error_weights
from mojimeter.ratings.studentized_range import range_quantile, range_tail
from mojimeter.ratings.system_tests import COLLAPSED, ErrorTerm, error_term
from mojimeter.stats import Estimate

Floats = NDArray[np.float64]
PAIR_ERRORS = ("pooled", "separate")
_DRAWS = 20_000
_CHECKED_SYSTEMS = 60  # the check of equal pair variances looks at no more than these
_EXACT_PAIRS = 400  # beyond this adjusted p values are interpolated


@dataclass(frozen=True)
class PairErrors:
    """Standard errors of all differences of two means.

    Attributes:
        se: (systems, systems), symmetric, zero diagonal, in score units.
        df: degrees of freedom of each, same shape.
        pooled: one error for all pairs (then differences are simultaneous by the studentised range, else Holm).
        source: the error term in words.
    """

    se: Floats
    df: Floats
    pooled: bool
    source: str


@dataclass(frozen=True)
class RankedSystem:
    """A system's place.

    Attributes:
        system: its name.
        mean: mean score; its interval is over other raters and items, whose own levels count.
        deviation: mean minus the average of all systems; rater and item levels cancel.
        rank: (best, worst) place that the data leave open, simultaneous over all systems.
        best: probability of having the highest true mean, pooled errors, flat prior.
    """

    system: str
    mean: Estimate
    deviation: Estimate
    rank: tuple[int, int]
    best: float | None

    def to_dict(self) -> dict[str, Any]:
        """The row of the contract, with deviation and probability of being best."""
        return {
            "system": self.system,
            "mean": self.mean.to_dict(),
            "rank": list(self.rank),
            "deviation": self.deviation.to_dict(),
            "best": self.best,
        }


@dataclass(frozen=True)
class PairDifference:
    """Two systems compared.

    Attributes:
        first, second: names; `first` ranks higher.
        difference: first minus second, with the 95% interval of this pair alone.
        p: of this pair alone; p_adjusted: simultaneous over all pairs.
        separated: p_adjusted < .05.
        p_equivalent: of the two one-sided tests that the difference lies within the margin; None without one.
    """

    first: str
    second: str
    difference: Estimate
    p: float
    p_adjusted: float
    separated: bool
    p_equivalent: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """All of it."""
        out: dict[str, Any] = {
            "first": self.first,
            "second": self.second,
            "difference": self.difference.to_dict(),
            "p": self.p,
            "p_adjusted": self.p_adjusted,
            "separated": self.separated,
        }
        return out if self.p_equivalent is None else out | {"p_equivalent": self.p_equivalent}


@dataclass(frozen=True)
class Ranking:
    """Systems from best to worst, and every pair.

    Attributes:
        systems: best mean first.
        differences, p, p_adjusted: (systems, systems) in that order; row minus column.
        se, df: of the differences.
        errors: "pooled" or "separate".
        error_term: in words.
        equivalent: (systems, systems), p of the two one-sided tests; None without a margin.
        margin: the user's, in score units.
        heterogeneity: p of the hypothesis that all pairs have the same error, where it was checked.
        notes: what a reader must know.
    """

    systems: tuple[RankedSystem, ...]
    differences: Floats
    se: Floats
    df: Floats
    p: Floats
    p_adjusted: Floats
    errors: str
    error_term: str
    equivalent: Floats | None = None
    margin: float | None = None
    heterogeneity: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def separated(self) -> NDArray[np.bool_]:
        """(systems, systems): whether two systems differ at 5%, all pairs at once."""
        return self.p_adjusted < 0.05

    @property
    def separated_pairs(self) -> int:
        """How many pairs differ at 5%, all pairs at once."""
        return int(np.triu(self.separated, 1).sum())

    @cached_property
    def pairs(self) -> tuple[PairDifference, ...]:
        """Every pair, the better system first, largest difference first."""
        from scipy.special import stdtrit

        first, second = np.triu_indices(len(self.systems), 1)
        order = np.argsort(-np.abs(self.differences[first, second]), kind="stable")
        out = []
        for i, j in zip(first[order].tolist(), second[order].tolist(), strict=True):
            value, se = float(self.differences[i, j]), float(self.se[i, j])
            half = se * float(stdtrit(float(self.df[i, j]), 0.975)) if se > 0 else 0.0
            out.append(
                PairDifference(
                    self.systems[i].system,
                    self.systems[j].system,
                    Estimate(value, (value - half, value + half)),
                    float(self.p[i, j]),
                    float(self.p_adjusted[i, j]),
                    bool(self.p_adjusted[i, j] < 0.05),
                    None if self.equivalent is None else float(self.equivalent[i, j]),
                )
            )
        return tuple(out)

    def to_dict(self) -> list[dict[str, Any]]:
        """Rows of the contract."""
        return [s.to_dict() for s in self.systems]


def pooled_pair_errors(anova: Anova, facet: str) -> PairErrors:
    """One error for all pairs: the quasi-t, SE^2 = 2 (MS_sr + MS_is - MS_e) / (n_i n_r).

    Where that is not positive or its degrees of freedom collapse, the sum without the negative part is used.
    """
    n = anova.design.levels[facet]
    error = error_term(anova, anova.design.effect(facet))
    value, df, words = _positive(error)
    se = math.sqrt(2 * value / anova.design.multiplier(anova.design.effect(facet)))
    return PairErrors(se * (1 - np.eye(n)), np.full((n, n), df), True, words)


def _positive(error: ErrorTerm) -> tuple[float, float, str]:
    if error.usable:
        return error.value, error.df, error.describe()
    return error.plus, max(error.df_plus, 1.0), error.describe(minus=False)


def separate_pair_errors(cube: Floats, anova: Anova, facet: str) -> PairErrors:
    """An error per pair from the mean squares of its own differences, df by Satterthwaite.

    The difference table d of two systems has MS_r(d), MS_i(d), MS_e(d) of its own;
    SE^2 = (MS_r + MS_i - MS_e) / (n_i n_r).
    """
    design = anova.design
    error = error_term(anova, design.effect(facet))
    products = object_cross_products(cube, design, facet)
    squares = {name: _pair_mean_squares(products[name], anova.df[name]) for name in error.terms}
    return _errors_of_pairs(squares, error.terms, anova, facet)


def _pair_mean_squares(product: Floats, df: int) -> Floats:
    """Mean squares of an effect within each pair, halved so that they estimate the pooled mean square."""
    own = np.diag(product)
    squares = own[:, None] + own[None, :] - 2 * product
    return np.maximum(squares, 0.0) / (2 * df / (len(own) - 1))


def _errors_of_pairs(squares: Mapping[str, Floats], terms: Mapping[str, float], anova: Anova, facet: str) -> PairErrors:
    n = anova.design.levels[facet]
    df = {name: anova.df[name] / (n - 1) for name in terms}
    total = sum(c * squares[t] for t, c in terms.items())
    spread = sum((c * squares[t]) ** 2 / df[t] for t, c in terms.items())
    plus = sum(c * squares[t] for t, c in terms.items() if c > 0)
    spread_plus = sum((c * squares[t]) ** 2 / df[t] for t, c in terms.items() if c > 0)
    total, spread = np.asarray(total), np.asarray(spread)
    with np.errstate(divide="ignore", invalid="ignore"):
        own_df = np.where(spread > 0, total**2 / spread, 0.0)
        fewest = min(df[t] for t, c in terms.items() if c > 0)
        bad = (total <= 1e-9 * plus) | (own_df < COLLAPSED * fewest)
        value = np.where(bad, plus, total)
        own_df = np.where(bad, np.where(np.asarray(spread_plus) > 0, plus**2 / spread_plus, 1.0), own_df)
    se = np.sqrt(2 * value / anova.design.multiplier(anova.design.effect(facet)))
    np.fill_diagonal(se, 0.0)
    return PairErrors(se, np.maximum(own_df, 1.0), False, "own mean squares of each pair")


def check_equal_pair_errors(
    cube: Floats, anova: Anova, facet: str, draws: int = 199, seed: int = 1
) -> tuple[float, float] | None:
    """Whether the pairs' errors differ by more than sampling allows.

    The spread of log pair variances is compared with that of tables with the same mean squares in which all pairs
    have the same error (parametric bootstrap, Wishart matrices per effect).

    Returns:
        (p, ratio of the largest to the smallest standard error); None with two systems or no error.
    """
    levels = anova.design.levels[facet]
    n = min(levels, _CHECKED_SYSTEMS)
    if levels < 3:
        return None
    error = error_term(anova, anova.design.effect(facet))
    if not any(anova.ms[t] > 0 for t in error.terms):
        return None
    df = {t: max(1, round(anova.df[t] / (levels - 1))) for t in error.terms}
    products = object_cross_products(cube, anova.design, facet)
    observed = _pair_variances({t: products[t][None, :n, :n] for t in error.terms}, df, error)[0]
    if not (observed > 0).all():
        return None
    rng = np.random.default_rng(seed)
    drawn = _pair_variances({t: anova.ms[t] * _wishart(n, df[t], draws, rng) for t in error.terms}, df, error)
    with np.errstate(divide="ignore"):
        spreads = np.log(drawn).var(axis=1)
    larger = int((~(spreads < np.log(observed).var())).sum())
    return (larger + 1) / (draws + 1), math.sqrt(observed.max() / observed.min())


def _pair_variances(products: Mapping[str, Floats], df: Mapping[str, int], error: ErrorTerm) -> Floats:
    """Error term of every pair from cross products (draws, systems, systems) per effect: (draws, pairs)."""
    squares = {}
    for term, product in products.items():
        i, j = np.triu_indices(product.shape[-1], 1)
        own = np.diagonal(product, axis1=1, axis2=2)
        squares[term] = np.maximum(own[:, i] + own[:, j] - 2 * product[:, i, j], 0.0) / (2 * df[term])
    plus = sum((c * squares[t] for t, c in error.terms.items() if c > 0), start=np.zeros(1))
    total = sum((c * squares[t] for t, c in error.terms.items()), start=np.zeros(1))
    return np.where(total <= 1e-9 * plus, plus, total)


def _wishart(n: int, df: int, draws: int, rng: np.random.Generator) -> Floats:
    """Wishart matrices of identity scale, (draws, n, n); by Bartlett's decomposition where df allows."""
    if df < n:
        root = rng.standard_normal((draws, n, df))
    else:
        root = np.tril(rng.standard_normal((draws, n, n)), -1)
        root[:, np.arange(n), np.arange(n)] = np.sqrt(rng.chisquare(df - np.arange(n), size=(draws, n)))
    product: Floats = np.matmul(root, root.transpose(0, 2, 1))
    return product


def mean_error(anova: Anova, facet: str, draws: int = 10_000, seed: int = 1) -> float:
    """Margin of error of one mean: half of its 95% interval over other raters and items.

    The absolute error variance is a combination of mean squares; a generalised pivotal quantity, Z sqrt(V) with
    every mean square drawn as MS df / chi-square(df), gives the margin. With Satterthwaite's degrees of freedom in
    its place the interval covers 92% at 3 raters of the paper's design, this one 96%.
    """
    design = anova.design
    kept = [i for i, e in enumerate(design.effects) if anova.df[e.name] > 0]
    weights = error_weights(design, facet).absolute
    target = np.array([weights.get(design.effects[i].name, 0.0) for i in kept])
    coefficients = np.linalg.solve(expected_mean_squares(design)[np.ix_(kept, kept)].T, target)
    ms = np.array(list(anova.ms.values()))[kept]
    df = np.array(list(anova.df.values()), dtype=float)[kept]
    rng = np.random.default_rng(seed)
    variance = (coefficients * ms * df / rng.chisquare(df, size=(draws, df.size))).sum(axis=1)
    deviations = np.abs(rng.standard_normal(draws)) * np.sqrt(np.maximum(variance, 0.0))
    return float(np.quantile(deviations, 0.95))


def rank_systems(
    names: Sequence[str],
    means: Floats,
    errors: PairErrors,
    one_mean: float | Sequence[float] | None,
    margin: float | None = None,
    higher_is_better: bool = True,
    seed: int = 1,
    notes: tuple[str, ...] = (),
    heterogeneity: float | None = None,
) -> Ranking:
    """Order systems and compare all pairs at once.

    Args:
        names: systems; means: their mean scores, same order.
        errors: standard errors of differences.
        one_mean: half of the 95% interval of a mean, for all or one each; None: no interval.
        margin: differences smaller than this count as none; asks for the two one-sided tests.
        higher_is_better: which end of the scale is rank 1.
        seed: of the draws behind the probability of being best.

    Raises:
        InputError: fewer than two systems, or a margin that is not positive.
    """
    if len(names) < 2:
        raise DesignError("only one system: nothing to rank; at least two systems are needed")
    if margin is not None and not (margin > 0 and math.isfinite(margin)):
        raise InputError(f"margin {margin:g}: expected a positive difference in score units")
    order = np.lexsort((np.arange(len(names)), -means if higher_is_better else means))
    means, se, df = means[order], errors.se[np.ix_(order, order)], errors.df[np.ix_(order, order)]
    differences = means[:, None] - means[None, :]
    t = _ratios(differences, se)
    p = _two_sided(t, df)
    adjusted = _tukey(t, df, len(names)) if errors.pooled else _holm(p)
    sign = 1 if higher_is_better else -1
    better = sign * differences < 0  # column is better than row
    surely = adjusted < 0.05
    best_rank = 1 + (surely & better).sum(axis=1)
    worst_rank = len(names) - (surely & ~better & (differences != 0)).sum(axis=1)
    chance = _chance_of_best(sign * means, se, df, seed)
    halves: list[float | None] = [None] * len(names)
    if one_mean is not None:
        halves = list(np.broadcast_to(np.asarray(one_mean, dtype=float), len(names))[order].tolist())
    ranked = tuple(
        RankedSystem(
            names[int(order[k])],
            Estimate(float(means[k]), _around(float(means[k]), halves[k])),
            Estimate(
                float(means[k] - means.mean()),
                _around(float(means[k] - means.mean()), _deviation_margin(se, df, k)),
            ),
            (int(best_rank[k]), int(worst_rank[k])),
            None if chance is None else float(chance[k]),
        )
        for k in range(len(names))
    )
    return Ranking(
        ranked,
        differences,
        se,
        df,
        p,
        adjusted,
        "pooled" if errors.pooled else "separate",
        errors.source,
        None if margin is None else _equivalence(differences, se, df, margin),
        margin,
        heterogeneity,
        notes,
    )


def _around(value: float, half: float | None) -> tuple[float, float] | None:
    return None if half is None else (value - half, value + half)


def _deviation_margin(se: Floats, df: Floats, k: int) -> float:
    """Half of the 95% interval of a mean minus the average of all, from the errors of differences.

    Var(m_k - m.) = mean_j V_kj - (sum of all V) / (2 n^2), V the variances of differences.
    """
    from scipy.special import stdtrit

    n = len(se)
    variance = se**2
    value = float(variance[k].mean() - variance.sum() / (2 * n * n))
    others = np.arange(n) != k
    return math.sqrt(max(value, 0.0)) * float(stdtrit(float(df[k][others].min()), 0.975))


def _ratios(differences: Floats, se: Floats) -> Floats:
    """|difference| / se; 0 where both are zero, infinite where only the error is."""
    size = np.abs(differences)
    out = np.where(size > 0, np.inf, 0.0)
    np.divide(size, se, out=out, where=se > 0)
    return out


def _two_sided(t: Floats, df: Floats) -> Floats:
    from scipy.special import stdtr

    return np.asarray(2 * stdtr(df, -t))


def _tukey(t: Floats, df: Floats, systems: int) -> Floats:
    """Adjusted p of all pairs by the studentised range (Tukey 1953).

    Exact for equal errors, conservative for unequal ones (Kramer 1956; Hayter 1984); where pairs differ in their
    degrees of freedom (incomplete tables) the smallest serve all.
    """
    upper = np.triu_indices(systems, 1)
    q = t[upper] * math.sqrt(2)
    common = float(df[upper].min())
    p = np.zeros(q.shape)
    finite = np.isfinite(q)
    if finite.sum() <= _EXACT_PAIRS:
        p[finite] = range_tail(q[finite], systems, common)
    else:
        critical = range_quantile(0.95, systems, common)
        grid = np.linspace(0.0, max(8.0, 2 * critical), _EXACT_PAIRS)
        p[finite] = np.interp(q[finite], grid, range_tail(grid, systems, common), right=0.0)
        # The 5% decision itself is not left to interpolation.
        p[finite] = np.where(q[finite] > critical, np.minimum(p[finite], 0.05 - 1e-9), np.maximum(p[finite], 0.05))
    return _symmetric(p, systems)


def _holm(p: Floats) -> Floats:
    """Adjusted p of all pairs by Holm (1979)."""
    upper = np.triu_indices(len(p), 1)
    own = p[upper]
    order = np.argsort(own, kind="stable")
    factor = own.size - np.arange(own.size)
    adjusted = np.empty(own.size)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(own[order] * factor))
    return _symmetric(adjusted, len(p))


def _symmetric(values: Floats, n: int) -> Floats:
    out = np.ones((n, n))
    upper = np.triu_indices(n, 1)
    out[upper] = values
    out.T[upper] = values
    return out


def _equivalence(differences: Floats, se: Floats, df: Floats, margin: float) -> Floats:
    """P values of the two one-sided tests that each difference lies within the margin (Schuirmann 1987)."""
    from scipy.special import stdtr

    room = margin - np.abs(differences)
    ratio = np.where(room > 0, np.inf, -np.inf)
    np.divide(room, se, out=ratio, where=se > 0)
    out = np.asarray(stdtr(df, -ratio))
    np.fill_diagonal(out, 0.0)
    return out


def _chance_of_best(means: Floats, se: Floats, df: Floats, seed: int) -> Floats | None:
    """Probability that each true mean is the highest: draws from the multivariate t around the means.

    Covariances follow from the variances of differences, V_jk = C_jj + C_kk - 2 C_jk, up to a constant that cancels.
    """
    n = len(means)
    off = ~np.eye(n, dtype=bool)
    if not (se[off] > 0).any():
        winners = means == means.max()
        chance: Floats = winners / winners.sum()
        return chance
    variance = se**2
    centring = np.eye(n) - 1 / n
    covariance = -0.5 * centring @ variance @ centring
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    rng = np.random.default_rng(seed)
    common = float(np.median(df[off]))
    wins = np.zeros(n)
    step = max(1, 2_000_000 // n)
    for start in range(0, _DRAWS, step):
        size = min(step, _DRAWS - start)
        scale = np.sqrt(rng.chisquare(common, size) / common)
        drawn = means + rng.standard_normal((size, n)) @ root.T / scale[:, None]
        wins += np.bincount(drawn.argmax(axis=1), minlength=n)
    chance = wins / _DRAWS
    return chance
