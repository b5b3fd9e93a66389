"""Exact REML for item x system x rater tables with holes, and for nested and one-facet designs.

Maximises the restricted likelihood over variances >= 0 (zeros are exact) and tests systems as fixed effects the way
lmerTest does. Knows grouping codes and scores; nothing of files, of commands, or of how the likelihood is computed.

Each step minimises a quadratic model of the criterion under the bounds (sequential quadratic programming: expected
second derivatives for the first step, observed ones after), so a variance at its bound stays there exactly and comes
back if its gradient says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mojimeter.errors import InputError
from mojimeter.ratings.blocks import BlockedModel, Likelihood
from mojimeter.ratings.design import RESIDUAL, Design
from mojimeter.ratings.identifiability import check_groupings, check_information, check_systems
from mojimeter.ratings.reml_draws import DRAWS, draw_variances
from mojimeter.ratings.satterthwaite import Contrast, Uncertain, contrast_test, hypothesis_test
from mojimeter.ratings.system_tests import FTest

Floats = NDArray[np.float64]
Integers = NDArray[Any]

CROSSED_TERMS = ("item", "system", "rater", "item:system", "item:rater", "system:rater")
_MOST_ITERATIONS = 100
# Expected decrease of the criterion below which a further step is rounding.
_TOLERANCE = 1e-9
# A variance below this share of the total is zero if the criterion does not mind.
_SMALL = 1e-7
# lme4 calls a fit singular where a standard deviation is below this share of the residual's.
_SINGULAR = 1e-4


@dataclass(frozen=True)
class SystemMeans:
    """Estimated marginal means of the levels of a fixed factor.

    Attributes:
        means: one per level, shape (levels,), in score units.
        covariance: shape (levels, levels).
        known: what `difference` needs.
    """

    means: Floats
    covariance: Floats
    known: Uncertain = field(repr=False)

    def difference(self, i: int, j: int) -> Contrast:
        """Mean of level i minus that of level j, Satterthwaite's df."""
        weights = np.zeros(self.means.size)
        weights[i], weights[j] = 1.0, -1.0
        return contrast_test(self.known, weights)

    def mean(self, i: int) -> Contrast:
        """The mean of level i with its interval, Satterthwaite's df."""
        weights = np.zeros(self.means.size)
        weights[i] = 1.0
        return contrast_test(self.known, weights)


@dataclass(frozen=True)
class RemlFit:
    """Variance components that maximise the restricted likelihood.

    Attributes:
        components: source -> variance in squared score units, the residual last; zeros are exact.
        criterion: -2 x restricted log-likelihood with all constants: lme4's REML criterion.
        singular: at least one variance is at its bound (lme4's `isSingular`).
        converged: the next step would lower the criterion by less than 1e-9.
        iterations: steps taken.
        fixed: factors that are fixed; all others are random.
        components_covariance: asymptotic covariance of the variances in the order of `components` (inverse observed
            information; zero rows for variances at their bound).
        information, gradient: expected second derivatives of the criterion at the variances, tr(P V_k P V_l), and first
            ones, in the order of `components`.
        beta, covariance, covariance_gradient: fixed effects (intercept first), their covariance, its derivatives.
        cross_products: X'X of the fixed effects.
        caution: what a comparison of the systems rests on, where they have no items or raters in common.
        groups, scores: the data.
    """

    components: Mapping[str, float]
    criterion: float
    singular: bool
    converged: bool
    iterations: int
    fixed: tuple[str, ...] = ()
    components_covariance: Floats = field(default_factory=lambda: np.empty((0, 0)), repr=False)
    information: Floats = field(default_factory=lambda: np.empty((0, 0)), repr=False)
    gradient: Floats = field(default_factory=lambda: np.empty(0), repr=False)
    beta: Floats = field(default_factory=lambda: np.empty(0), repr=False)
    covariance: Floats = field(default_factory=lambda: np.empty((0, 0)), repr=False)
    covariance_gradient: Floats = field(default_factory=lambda: np.empty((0, 0, 0)), repr=False)
    cross_products: Floats = field(default_factory=lambda: np.empty((0, 0)), repr=False)
    caution: str | None = None
    groups: Mapping[str, Integers] = field(default_factory=dict, repr=False)
    scores: Floats = field(default_factory=lambda: np.empty(0), repr=False)

    @property
    def formula(self) -> str:
        """The model in lme4's notation."""
        fixed = [_grouping(f) for f in self.fixed] or ["1"]
        random = [f"(1 | {_grouping(s)})" for s in self.components if s != RESIDUAL]
        return "score ~ " + " + ".join([*fixed, *random])

    @property
    def boundary(self) -> tuple[str, ...]:
        """Sources whose variance is exactly zero."""
        return tuple(s for s, v in self.components.items() if v == 0.0)

    @property
    def note(self) -> str | None:
        """What a reader should know about the fit, if anything."""
        parts = [] if self.caution is None else [self.caution]
        if self.boundary:
            parts.append(
                f"the variance of {', '.join(self.boundary)} is estimated as zero; REML then moves the others, and "
                "degrees of freedom take the zero for known"
            )
        if not self.converged:
            parts.append(f"the search did not settle in {self.iterations} steps")
        return "; ".join(parts) or None

    def draw_components(self, draws: int = DRAWS, seed: int = 1) -> dict[str, Floats] | None:
        """Source -> draws of its variance, negative ones included (see `reml_draws`); None where there can be none.

        The terms of the model must be given from main effects to interactions.
        """
        variances = np.array(list(self.components.values()))
        drawn = draw_variances(variances, self.information, self.gradient, draws, seed)
        return None if drawn is None else dict(zip(self.components, drawn, strict=True))

    def with_fixed(self, factor: str) -> RemlFit:
        """The same model with one factor fixed instead of random.

        Raises:
            InputError: the model has no such factor.
        """
        if factor in self.fixed:
            return self
        if factor not in self.groups:
            raise InputError(f"no {factor!r} in this model; it has {', '.join(self.groups)}")
        if factor == "system":
            return self._systems_fixed
        return fit_components(self.groups, self.scores, fixed=(*self.fixed, factor), start=self.components)

    @cached_property
    def _systems_fixed(self) -> RemlFit:
        islands = check_systems(self.groups)
        fit = fit_components(self.groups, self.scores, fixed=(*self.fixed, "system"), start=self.components)
        return replace(fit, caution=islands.caution)

    def system_test(self, factor: str = "system") -> FTest:
        """Test that all systems are equal: systems fixed, all else random.

        F of Fai and Cornelius with Satterthwaite's df, as lmerTest's ``anova``. Where a variance is zero it is taken
        for known, as lmerTest does in effect, since it is held at a bound where the covariance does not move with
        its standard deviation.

        Raises:
            InputError: the model has no such factor, or its levels cannot be compared.
        """
        fit = self.with_fixed(factor)
        f, df1, df2, p = hypothesis_test(fit._known, fit._contrasts(factor))
        random = [s for s in fit.components if s != RESIDUAL]
        return FTest(
            f, df1, df2, p, assumes=f"{', '.join(random)} random (REML)", error="Fai-Cornelius, Satterthwaite df"
        )

    def system_means(self, factor: str = "system") -> SystemMeans:
        """Estimated marginal means of the systems, fixed, all else random; holes are allowed for.

        Raises:
            InputError: the model has no such factor, or its levels cannot be compared.
        """
        fit = self.with_fixed(factor)
        own = fit._columns(factor)
        levels = own.stop - own.start + 1
        weights = np.zeros((levels, fit.beta.size))
        weights[:, 0] = 1.0
        for other in fit.fixed:
            columns = fit._columns(other)
            weights[:, columns] = 1.0 / (columns.stop - columns.start + 1)
        weights[:, own] = np.eye(levels)[:, 1:]
        known = fit._known
        gradient = np.einsum("ai,kij,bj->kab", weights, known.covariance_gradient, weights)
        covariance = weights @ known.covariance @ weights.T
        moved = Uncertain(weights @ known.beta, covariance, gradient, known.variances_covariance)
        return SystemMeans(moved.beta, covariance, moved)

    @property
    def _known(self) -> Uncertain:
        return Uncertain(self.beta, self.covariance, self.covariance_gradient, self.components_covariance)

    def _contrasts(self, factor: str) -> Floats:
        """Rows that are zero when the levels of a factor are equal, shape (levels - 1, p).

        The degrees of freedom depend (little) on which rows span the hypothesis. These are lmerTest's: the rows of
        the unit upper triangle of X'X (Doolittle) with the factor's columns last.
        """
        own = np.arange(self.beta.size)[self._columns(factor)]
        order = np.concatenate([np.setdiff1d(np.arange(self.beta.size), own), own])
        factored = np.linalg.cholesky(self.cross_products[np.ix_(order, order)])
        rows = np.zeros((own.size, order.size))
        rows[:, order] = (factored / np.diagonal(factored)).T[-own.size :]
        return rows

    def _columns(self, factor: str) -> slice:
        start = 1
        for name in self.fixed:
            levels = int(np.unique(self.groups[name]).size)
            if name == factor:
                return slice(start, start + levels - 1)
            start += levels - 1
        raise InputError(f"{factor!r} is not fixed in this model")

    def to_dict(self) -> dict[str, Any]:
        """Components, criterion and how the search ended."""
        return {
            "components": dict(self.components),
            "criterion": self.criterion,
            "singular": self.singular,
            "boundary": list(self.boundary),
            "converged": self.converged,
            "iterations": self.iterations,
            "formula": self.formula,
        } | ({"note": self.note} if self.note else {})


def fit_reml(
    item_codes: Integers,
    system_codes: Integers | None,
    rater_codes: Integers | None,
    scores: Floats,
    n_levels: Sequence[int] | None = None,
    terms: Sequence[str] | None = None,
    fixed: Sequence[str] = (),
) -> RemlFit:
    """REML of a crossed item x system x rater table with at most one score per cell; holes are allowed.

    Args:
        item_codes, system_codes, rater_codes: level number of each rating, shape (n,); None: no such facet.
        scores: shape (n,), finite.
        n_levels: number of levels of each facet, checked against the codes if given.
        terms: which of `CROSSED_TERMS` are in the model; None: all that the facets make.
        fixed: which of them are fixed.

    Raises:
        InputError: codes and scores do not match, a cell has two scores, or a term is unknown.
        UnidentifiableError: the table cannot tell some terms apart; names them and the remedy.
    """
    facets = {"item": item_codes, "system": system_codes, "rater": rater_codes}
    given = {name: np.asarray(codes) for name, codes in facets.items() if codes is not None}
    _check_codes(given, np.asarray(scores), n_levels)
    possible = [t for t in CROSSED_TERMS if set(t.split(":")) <= set(given) and len(t.split(":")) < len(given)]
    for term in [*(terms or ()), *fixed]:
        if term not in possible:
            raise InputError(f"no term {term!r} in this design; expected some of {', '.join(possible)}")
    wanted = [t for t in possible if terms is None or t in terms or t in fixed]
    groups = {t: _cross([given[f] for f in t.split(":")]) for t in wanted}
    _refuse_double(given)
    return fit_components(groups, scores, fixed)


def fit_design(design: Design, codes: Mapping[str, Integers], scores: Floats, fixed: Sequence[str] = ()) -> RemlFit:
    """REML of any design, crossed or nested: all its effects but the residual, random unless named in `fixed`.

    Args:
        design: gives the effects.
        codes: facet -> level number of each rating; levels of a nested facet numbered over all parents.
        scores: shape (n,).
        fixed: effects that are fixed.

    Raises:
        UnidentifiableError: the table cannot tell some terms apart.
    """
    groups = {
        e.name: _cross([np.asarray(codes[f]) for f in design.facets if f in e.facets]) for e in design.effects[:-1]
    }
    return fit_components(groups, scores, fixed)


def fit_components(
    groups: Mapping[str, Integers],
    scores: Floats,
    fixed: Sequence[str] = (),
    start: Mapping[str, float] | None = None,
) -> RemlFit:
    """REML of any variance components model given by its groupings.

    Args:
        groups: term -> level number of each rating, shape (n,); the residual is implied.
        scores: shape (n,), finite.
        fixed: terms that are fixed effects instead of random ones.
        start: variances to start from.

    Raises:
        InputError: scores that are all equal, or that the terms explain without rest.
        UnidentifiableError: the data cannot tell some terms apart; names them and the remedy.
    """
    y = np.asarray(scores, dtype=np.float64)
    scale = float(y.std()) if y.size else 0.0
    if not scale > 0:
        raise InputError("all scores are equal; where nothing varies nothing can be compared")
    codes = {name: np.asarray(c, dtype=np.int64) for name, c in groups.items()}
    random = {name: c for name, c in codes.items() if name not in fixed}
    factors = {name: codes[name] for name in fixed}
    check_groupings(random, factors, y.size)
    model = BlockedModel(random, factors, (y - y.mean()) / scale)
    check_information(model)
    search = _minimise(model, _start(model, start, scale))
    variances = search.variances * scale**2
    order = [*(model.terms.index(name) for name in random), len(model.terms) - 1]
    at = search.at
    beta = at.beta * scale
    beta[0] += y.mean()
    components = {model.terms[k]: float(variances[k]) for k in order}
    return RemlFit(
        components=components,
        criterion=at.criterion + (y.size - model.p) * 2.0 * float(np.log(scale)),
        singular=bool((variances[:-1] < _SINGULAR**2 * variances[-1]).any()),
        converged=search.converged,
        iterations=search.iterations,
        fixed=tuple(fixed),
        components_covariance=_variances_covariance(search)[np.ix_(order, order)] * scale**4,
        information=at.expected[np.ix_(order, order)] / scale**4,
        gradient=at.gradient[order] / scale**2,
        beta=beta,
        covariance=at.covariance * scale**2,
        covariance_gradient=at.covariance_gradient[order],
        cross_products=model.cross_products,
        groups=codes,
        scores=y,
    )


@dataclass(frozen=True)
class _Search:
    variances: Floats
    at: Likelihood
    converged: bool
    iterations: int


def _start(model: BlockedModel, start: Mapping[str, float] | None, scale: float) -> Floats:
    k = len(model.terms)
    if start is None:
        return np.full(k, 1.0 / k)
    values = np.array([start[t] for t in model.terms]) / scale**2
    # a bound is left by the gradient alone, but the search is quicker from inside
    raised: Floats = np.maximum(values, 1e-3 * values.sum())
    return raised


def _minimise(model: BlockedModel, variances: Floats) -> _Search:
    """Minimise the criterion over variances >= 0 (scores of unit variance)."""
    at = model.evaluate(variances)
    for iteration in range(_MOST_ITERATIONS):
        step, decrease = _step(variances, at, first=iteration == 0)
        if decrease < _TOLERANCE:
            return _snap(model, _Search(variances, at, True, iteration))
        moved = _descend(model, variances, at, step)
        if moved is None:
            # no decrease to be had along a descent direction: rounding, if the promise was small
            return _snap(model, _Search(variances, at, decrease < 1e-5, iteration))
        variances, at = moved
        if variances[-1] < 1e-10:
            raise InputError(
                "the residual variance is zero: the terms of the model explain every score exactly; expected ratings "
                "with some error, or fewer terms"
            )
    return _snap(model, _Search(variances, at, False, _MOST_ITERATIONS))


def _step(variances: Floats, at: Likelihood, first: bool) -> tuple[Floats, float]:
    """Minimiser of a quadratic model under the bounds, as a step, and the decrease that it promises."""
    from scipy.optimize import nnls

    for second in (at.expected,) if first else (at.observed, at.average, at.expected):
        size = np.sqrt(np.maximum(np.diagonal(second), 0.0))
        if (size <= 0).any():
            continue
        scaled = second / np.outer(size, size)
        try:
            factor = np.linalg.cholesky(scaled)
        except np.linalg.LinAlgError:
            continue
        if np.diagonal(factor).min() < 1e-6:
            continue
        origin = variances * size
        target = factor.T @ origin - np.linalg.solve(factor, at.gradient / size)
        step = nnls(factor.T, target)[0] / size - variances
        decrease = -float(at.gradient @ step + 0.5 * step @ second @ step)
        return step, decrease
    step = np.where((variances > 0) | (at.gradient < 0), -at.gradient, 0.0)
    step = np.maximum(step / max(1.0, float(np.abs(step).max())) * 0.1, -variances)
    return step, -float(at.gradient @ step)


def _descend(model: BlockedModel, variances: Floats, at: Likelihood, step: Floats) -> tuple[Floats, Likelihood] | None:
    """Shorten a step until the criterion falls as its slope promises (Armijo); None if it never does."""
    slope = float(at.gradient @ step)
    size = 1.0
    if variances[-1] + step[-1] < 0.1 * variances[-1]:
        size = 0.9 * variances[-1] / -step[-1]
    full = size == 1.0
    for _ in range(40):
        # adding a step of minus itself must give an exact zero
        trial = np.where(full & (step == -variances), 0.0, np.maximum(variances + size * step, 0.0))
        try:
            found = model.evaluate(trial, derivatives=full)
        except np.linalg.LinAlgError:
            found = None
        if found is not None and found.criterion <= at.criterion + 1e-4 * size * slope:
            return trial, found if full else model.evaluate(trial)
        size, full = size / 3.0, False
    return None


def _snap(model: BlockedModel, search: _Search) -> _Search:
    """Set negligible variances to zero where the criterion agrees."""
    small = search.variances < _SMALL * search.variances.sum()
    small[-1] = False
    if not (small & (search.variances > 0)).any():
        return search
    variances = np.where(small, 0.0, search.variances)
    at = model.evaluate(variances)
    if at.criterion > search.at.criterion + 1e-6:
        return search
    return _Search(variances, at, search.converged, search.iterations)


def _variances_covariance(search: _Search) -> Floats:
    """Asymptotic covariance of the variances: twice the inverse of the observed second derivatives.

    Variances at their bound have no sampling distribution there and count as known.
    """
    free = np.flatnonzero(search.variances > 0)
    values, vectors = np.linalg.eigh(search.at.observed[np.ix_(free, free)])
    kept = values > 1e-10 * values.max()
    out = np.zeros((search.variances.size, search.variances.size))
    out[np.ix_(free, free)] = 2.0 * (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
    return out


def _grouping(source: str) -> str:
    """``"rater(item)"`` as lme4 writes it."""
    return source.replace("(", ":").rstrip(")")


def _cross(codes: Sequence[Integers]) -> NDArray[np.int64]:
    """One number per combination of levels."""
    out = codes[0].astype(np.int64)
    for c in codes[1:]:
        out = out * (int(c.max()) + 1) + c
    return np.asarray(out, dtype=np.int64)


def _check_codes(codes: Mapping[str, Integers], scores: Floats, n_levels: Sequence[int] | None) -> None:
    if len(codes) < 2:
        raise InputError("REML needs the codes of at least two of item, system and rater")
    for name, c in codes.items():
        if c.shape != scores.shape or c.ndim != 1:
            raise InputError(
                f"{name} codes of shape {c.shape}, scores of shape {scores.shape}; expected one code a score"
            )
        if c.dtype.kind not in "iu" or c.size == 0 or c.min() < 0:
            raise InputError(f"{name} codes must be whole numbers from 0, at least one")
    if not np.isfinite(scores).all():
        raise InputError("scores must be finite; a rating that was not given has no row")
    if n_levels is not None:
        sizes = [n for name, n in zip(("item", "system", "rater"), n_levels, strict=False) if name in codes]
        for (name, c), n in zip(codes.items(), sizes, strict=False):
            if int(c.max()) >= n:
                raise InputError(f"{name} code {int(c.max())} is not below the number of levels, {n}")


def _refuse_double(codes: Mapping[str, Integers]) -> None:
    key = np.sort(_cross(list(codes.values())))
    if (np.diff(key) == 0).any():
        raise InputError(f"some cells have two scores; expected at most one for each {' x '.join(codes)}")
