"""Variance components: how much of the scores' variance each source carries.

Three estimators by name: "ems" solves the expected mean squares of a complete table; "reml" maximises the
restricted likelihood under components >= 0; "henderson" is Henderson's Method I, the fast unconstrained
estimator for incomplete tables. Knows mean squares, codes and scores; nothing of files or rankings.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mojimeter.ratings.anova import Anova
from mojimeter.ratings.design import RESIDUAL, Design, DesignError, Effect
from mojimeter.ratings.layout import combine, count_groups

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
DRAWS = 20_000


@dataclass(frozen=True)
class Component:
    """One variance component, in squared score units.

    Attributes:
        source: effect name.
        estimate: as estimated, possibly negative; None where the design cannot tell it from another.
        used: the estimate with negative values set to zero, for shares and coefficients.
        share: part of the sum of used components.
        ci: 95% interval, from 0 up; None where there is none.
        reason: why there is no estimate.
    """

    source: str
    estimate: float | None
    used: float | None
    share: float | None
    ci: tuple[float, float] | None = None
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The row of the contract."""
        out: dict[str, Any] = {
            "source": self.source,
            "estimate": self.estimate,
            "used": self.used,
            "share": self.share,
            "ci": None if self.ci is None else list(self.ci),
        }
        return out if self.reason is None else out | {"reason": self.reason}


@dataclass(frozen=True)
class Components:
    """All variance components of a study.

    Attributes:
        estimator: "ems", "reml" or "henderson".
        rows: one per effect of the design, the residual last.
        formula: the fitted model in lme4's notation.
        criterion: -2 log restricted likelihood (REML only), on lme4's scale.
        notes: what a reader must know about these estimates.
    """

    estimator: str
    rows: tuple[Component, ...]
    formula: str
    criterion: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def raw(self) -> dict[str, float]:
        """Effect name -> estimate, negative ones included; refused effects left out."""
        return {c.source: c.estimate for c in self.rows if c.estimate is not None}

    @property
    def used(self) -> dict[str, float]:
        """Effect name -> estimate with negative values set to zero; refused effects left out."""
        return {c.source: c.used for c in self.rows if c.used is not None}

    def __getitem__(self, source: str) -> Component:
        for component in self.rows:
            if component.source == source:
                return component
        raise KeyError(source)

    def to_dict(self) -> list[dict[str, Any]]:
        """Rows of the contract."""
        return [c.to_dict() for c in self.rows]


def assemble(
    estimator: str,
    estimates: Mapping[str, float],
    design: Design,
    score: str = "score",
    intervals: Mapping[str, tuple[float, float]] | None = None,
    criterion: float | None = None,
    notes: tuple[str, ...] = (),
) -> Components:
    """Components with used values and shares; effects without an estimate carry the design's reason."""
    used = {name: max(0.0, value) for name, value in estimates.items()}
    total = sum(used.values())
    rows = []
    for effect in design.effects:
        name = effect.name
        if name not in estimates:
            reason = design.inseparable.get(name, "not estimated")
            rows.append(Component(name, None, None, None, reason=reason))
            continue
        share = used[name] / total if total > 0 else 0.0
        ci = (intervals or {}).get(name)
        rows.append(Component(name, float(estimates[name]), used[name], share, ci))
    formula = design.formula(score, estimates)
    return Components(estimator, tuple(rows), formula, criterion, notes)


def expected_mean_squares(design: Design, fixed: frozenset[str] | None = None) -> Floats:
    """Coefficients of the components (columns) in the expected mean squares (rows), effects in order.

    E(MS_a) = sum over effects b that contain a of (ratings per level of b) x component of b, less those that
    sum to zero over a fixed facet (Cornfield & Tukey 1956; Brennan 2001, sections 3.4 and 3.5).
    """
    effects = design.effects
    multipliers = [float(design.multiplier(b)) for b in effects]
    return np.array(
        [[m if design.enters(b, a, fixed) else 0.0 for b, m in zip(effects, multipliers, strict=True)] for a in effects]
    )


def estimate_from_mean_squares(anova: Anova, fixed: frozenset[str] | None = None) -> dict[str, float]:
    """Unbiased components of a complete table: the solution of the expected mean squares.

    Effects without degrees of freedom (a facet with one level) have no component and are left out.
    """
    kept = _with_degrees_of_freedom(anova)
    matrix = expected_mean_squares(anova.design, fixed)[np.ix_(kept, kept)]
    ms = np.array(list(anova.ms.values()))[kept]
    names = [anova.design.effects[i].name for i in kept]
    return dict(zip(names, np.linalg.solve(matrix, ms).tolist(), strict=True))


def _with_degrees_of_freedom(anova: Anova) -> list[int]:
    return [i for i, e in enumerate(anova.design.effects) if anova.df[e.name] > 0]


def draw_components(
    anova: Anova, draws: int = DRAWS, seed: int = 1, fixed: frozenset[str] | None = None
) -> dict[str, Floats]:
    """Generalised pivotal quantities of the components (Weerahandi 1993; Burdick, Borror & Montgomery 2005).

    Every expected mean square is drawn as MS x df / chi-square(df), all independent; the components are solved
    from each draw, with these facets fixed (None: those of the design). Effect name -> `draws` values, negative ones
    included.
    """
    kept = _with_degrees_of_freedom(anova)
    names = [anova.design.effects[i].name for i in kept]
    df = np.array([anova.df[n] for n in names], dtype=float)
    ms = np.array([anova.ms[n] for n in names])
    drawn = ms * df / np.random.default_rng(seed).chisquare(df, size=(draws, len(kept)))
    matrix = expected_mean_squares(anova.design, fixed)[np.ix_(kept, kept)]
    solved = np.linalg.solve(matrix, drawn.T)
    return dict(zip(names, solved, strict=True))


def component_intervals(draws: Mapping[str, Floats]) -> dict[str, tuple[float, float]]:
    """95% intervals of the components from generalised pivotal quantities, not below zero."""
    out = {}
    for name, values in draws.items():
        low, high = np.quantile(values, [0.025, 0.975])
        out[name] = (max(0.0, float(low)), max(0.0, float(high)))
    return out


def reml_from_mean_squares(anova: Anova) -> tuple[dict[str, float], float]:
    """REML of a complete table, all facets random: exact, from the mean squares alone.

    In a balanced design the restricted likelihood is that of independent mean squares,
    -2 log L = (N - 1) log 2 pi + log N + sum over effects of df (log E(MS) + MS / E(MS)) (Searle, Casella &
    McCulloch 1992, section 4.5), so only as many numbers as effects enter. The minimum under components >= 0 is
    the EMS solution where that is not negative, and is searched for otherwise.

    Returns:
        components, and the criterion on lme4's scale.
    """
    kept = _with_degrees_of_freedom(anova)
    effects = [anova.design.effects[i] for i in kept]
    matrix = expected_mean_squares(anova.design, frozenset())[np.ix_(kept, kept)]
    df = np.array([anova.df[e.name] for e in effects], dtype=float)
    ms = np.array([anova.ms[e.name] for e in effects])
    solution = np.linalg.solve(matrix, ms)
    if (solution < 0).any() or solution[-1] <= 0:
        solution = _constrained_reml(matrix, df, ms)
    expected = matrix @ solution
    n = anova.design.cells
    criterion = (n - 1) * math.log(2 * math.pi) + math.log(n)
    criterion += float(df @ (np.log(expected) + ms / expected)) if (expected > 0).all() else -math.inf
    return {e.name: float(v) for e, v in zip(effects, solution, strict=True)}, criterion


def _constrained_reml(matrix: Floats, df: Floats, ms: Floats) -> Floats:
    """Minimise the criterion under components >= 0: Fisher scoring on the free ones, zeros freed by gradient."""
    scale = float(df @ ms / df.sum())
    if scale <= 0:
        return np.zeros(len(ms))
    ms = ms / scale
    floor = 1e-12  # an expected mean square of zero has no likelihood

    def criterion(v: Floats) -> float:
        expected = np.maximum(matrix @ v, floor)
        return float(df @ (np.log(expected) + ms / expected))

    v: Floats = np.maximum(np.linalg.solve(matrix, ms), 0.0)
    v[-1] = max(v[-1], 1e-3)
    best = criterion(v)
    for _ in range(500):
        expected = np.maximum(matrix @ v, floor)
        gradient = matrix.T @ (df * (expected - ms) / expected**2)
        free = (v > 0) | (gradient < 0)
        part = matrix[:, free]
        information = part.T @ (part * (df / expected**2)[:, None])
        step = np.zeros_like(v)
        step[free] = -np.linalg.lstsq(information, gradient[free], rcond=None)[0]
        size, moved = 1.0, False
        while size > 1e-12 and not moved:
            trial = np.maximum(v + size * step, 0.0)
            trial[-1] = max(trial[-1], floor)
            value = criterion(trial)
            moved = value < best
            size /= 2
        if not moved:
            break
        done = best - value < 1e-13 * max(1.0, abs(best))
        v, best = trial, value
        if done:
            break
    return v * scale


def henderson_1(codes: Mapping[str, Codes], scores: Floats, design: Design) -> dict[str, float]:
    """Henderson's Method I components of an incomplete table: analogous sums of squares, unconstrained.

    T_a = sum over levels of effect a of (sum of scores)^2 / n, T_mu = (sum of all)^2 / N; each T_a - T_mu is
    set equal to its expectation (Henderson 1953; Brennan 2001, section 7.1). All facets random.

    Raises:
        DesignError: the data cannot tell the components apart.
    """
    effects = [e for e in design.effects if e.name not in design.inseparable]
    groups = {e.name: _group(codes, e, design) for e in effects}
    n = scores.size
    y = scores - scores.mean()
    rows, right = [], []
    for a in effects:
        group_a, size_a = groups[a.name]
        sums = np.bincount(group_a, weights=y, minlength=size_a.size)
        right.append(float(sums @ (sums / size_a)))
        rows.append(
            [_coefficient(a, b, groups, codes, design) - float((groups[b.name][1] ** 2.0).sum()) / n for b in effects]
        )
    matrix = np.array(rows)
    right_side = np.array(right) - float(y.sum()) ** 2 / n
    scaled = matrix / np.abs(matrix).max(axis=1, keepdims=True)
    if np.linalg.matrix_rank(scaled, tol=1e-9) < len(effects):
        names = ", ".join(e.name for e in effects)
        raise DesignError(
            f"these ratings cannot tell apart the components of {names}; more raters per cell, or more raters "
            "and items in common between systems, would make it possible"
        )
    return dict(zip((e.name for e in effects), np.linalg.solve(matrix, right_side).tolist(), strict=True))


def _group(codes: Mapping[str, Codes], effect: Effect, design: Design) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return count_groups(*combine(codes, tuple(f for f in design.facets if f in effect.facets)))


def _coefficient(
    a: Effect,
    b: Effect,
    groups: Mapping[str, tuple[NDArray[np.int64], NDArray[np.int64]]],
    codes: Mapping[str, Codes],
    design: Design,
) -> float:
    """Coefficient of component b in E(T_a): sum over levels of a of (sum over b within a of n^2) / n."""
    group_a, size_a = groups[a.name]
    if b.facets <= a.facets:
        return float(group_a.size)
    if b.name == RESIDUAL or a.facets | b.facets == design.effects[-1].facets:
        return float(size_a.size)
    both = Effect("", a.facets | b.facets, frozenset())
    joint, joint_size = _group(codes, both, design)
    parent = np.zeros(joint_size.size, dtype=np.int64)
    parent[joint] = group_a
    return float((joint_size**2.0 / size_a[parent]).sum())
