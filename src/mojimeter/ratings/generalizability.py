"""Generalizability: how far the object's scores would carry over to other raters and items.

G (relative decisions: rankings) and Phi (absolute decisions: scores as such) with intervals, the decision study
over raters and items, raters needed for a target, and the ceilings. Terms are Brennan's (2001). Knows components,
mean squares and designs; nothing of files or printing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mojimeter.errors import InputError
from mojimeter.ratings.anova import Anova
from mojimeter.ratings.components import Components, draw_components
from mojimeter.ratings.design import RESIDUAL, Design, DesignError, Effect
from mojimeter.ratings.layout import combine, count_groups
from mojimeter.ratings.system_tests import FTest, f_quantile
from mojimeter.stats import Estimate

Floats = NDArray[np.float64]
OBJECT_VARIANCES = ("unbiased", "observed_n", "observed_n_minus_1")
TARGETS = (0.8, 0.9)
_MOST_RATERS = 1e6  # more than this many raters is no answer


@dataclass(frozen=True)
class ErrorWeights:
    """By how much each component counts in the error of an object's mean, at given numbers of levels.

    Attributes:
        relative: effect name -> weight in the error of differences between objects.
        absolute: the same in the error of a mean as such; holds the relative ones too.
    """

    relative: Mapping[str, float]
    absolute: Mapping[str, float]


def object_effects(design: Design, name: str) -> frozenset[str]:
    """Names of the effects whose components make up the universe score variance of an object."""
    inside = design.object_facets(name)
    return frozenset(e.name for e in design.effects if e.facets <= inside)


def error_weights(design: Design, object_name: str, levels: Mapping[str, int] | None = None) -> ErrorWeights:
    """Weights of the components in relative and absolute error (Brennan 2001, section 3.3).

    sigma2(delta) sums, over effects that contain the object and something else, component / (levels of the other
    facets); sigma2(Delta) adds those that do not contain it. An effect averages out over a fixed facet.

    Args:
        design: the layout.
        object_name: facet that is the object of measurement.
        levels: facet -> levels in the decision study; facets not named keep the study's.
    """
    inside = design.object_facets(object_name)
    counts = dict(design.levels) | dict(levels or {})
    relative, absolute = {}, {}
    for effect in design.effects:
        if effect.facets <= inside or _averages_out(effect, inside, design):
            continue
        weight = 1.0 / math.prod(counts[f] for f in effect.facets - inside)
        absolute[effect.name] = weight
        if effect.facets & inside:
            relative[effect.name] = weight
    return ErrorWeights(relative, absolute)


def _averages_out(effect: Effect, inside: frozenset[str], design: Design) -> bool:
    return effect.name != RESIDUAL and bool((effect.primary - inside) & design.fixed)


def observed_error_weights(codes: Mapping[str, NDArray[np.int32]], design: Design, object_name: str) -> ErrorWeights:
    """The same weights for an incomplete table as it is: mean over objects of the sum of squared shares.

    An object whose ratings fall on the levels of an effect in shares w has error component x sum w^2. For
    persons x items with missing cells this is 1 / (harmonic mean of items per person) (Brennan 2001, section 7.1.2).
    """
    inside = design.object_facets(object_name)
    own, size = count_groups(*combine(codes, tuple(f for f in design.facets if f in inside)))
    relative, absolute = {}, {}
    for effect in design.effects:
        if effect.facets <= inside or _averages_out(effect, inside, design):
            continue
        facets = tuple(f for f in design.facets if f in effect.facets | inside)
        group, counts = count_groups(*combine(codes, facets))
        parent = np.zeros(counts.size, dtype=np.int64)
        parent[group] = own
        weight = float((counts**2.0 / size[parent] ** 2.0).sum() / size.size)
        absolute[effect.name] = weight
        if effect.facets & inside:
            relative[effect.name] = weight
    return ErrorWeights(relative, absolute)


@dataclass(frozen=True)
class RatersNeeded:
    """Raters needed for a target G at the study's items.

    Attributes:
        target: the G to reach.
        raters: smallest number of raters; state "never" where no number is enough.
        conditional: the quick interval that moves only the object's component, all else held at its estimate.
        never_share: share of the draws of all mean squares in which no number of raters is enough.
    """

    target: float
    raters: Estimate
    conditional: Estimate | None = None
    never_share: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The estimate, with `conditional` and `never_share` where they exist."""
        out = self.raters.to_dict()
        if self.conditional is not None:
            ci = self.conditional.to_dict()["ci"]
            out["conditional"] = {"ci": ci, "moves": "the object's component only"}
        if self.never_share is not None:
            out["never_share"] = self.never_share
        return out


@dataclass(frozen=True)
class GStudy:
    """Generalizability of a study's object.

    Attributes:
        object: facet that is measured.
        object_variance: "unbiased", "observed_n" or "observed_n_minus_1": what stands for the object's component.
        universe_variance: the variance used.
        relative_error, absolute_error: error variances of the object's means.
        g, phi: coefficients with intervals.
        raters_needed: target -> `RatersNeeded`; empty where raters are fixed or there are none.
        ceiling_items: G with this panel and unlimited items; ceiling_raters: with these items and unlimited raters.
        less_spread_than_chance: the objects differ less than noise alone would make them (F' below its 2.5% point).
        cancels_from_ranking: effects that Phi counts and G does not, since in this design they shift all alike.
        notes: what a reader must know.
    """

    object: str
    object_variance: str
    universe_variance: float
    relative_error: float
    absolute_error: float
    g: Estimate
    phi: Estimate
    raters_needed: Mapping[float, RatersNeeded]
    ceiling_items: float | None
    ceiling_raters: float | None
    less_spread_than_chance: bool = False
    cancels_from_ranking: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """All of it; raters needed by target."""
        return {
            "object": self.object,
            "object_variance": self.object_variance,
            "universe_variance": self.universe_variance,
            "relative_error": self.relative_error,
            "absolute_error": self.absolute_error,
            "g": self.g.to_dict(),
            "phi": self.phi.to_dict(),
            "raters_needed": {f"{t:g}": r.to_dict() for t, r in self.raters_needed.items()},
            "ceiling_at_this_panel": self.ceiling_items,
            "ceiling_at_these_items": self.ceiling_raters,
            "less_spread_than_chance": self.less_spread_than_chance,
            "cancels_from_ranking": list(self.cancels_from_ranking),
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class DStudyRow:
    """G and Phi at given numbers of raters and items; `levels` facet -> number."""

    levels: Mapping[str, int]
    g: Estimate
    phi: Estimate

    def to_dict(self) -> dict[str, Any]:
        """Levels and the two coefficients."""
        return {**self.levels, "g": self.g.to_dict(), "phi": self.phi.to_dict()}


@dataclass(frozen=True)
class DStudy:
    """A decision study: G and Phi over numbers of raters and items."""

    object: str
    rows: tuple[DStudyRow, ...]

    def to_dict(self) -> dict[str, Any]:
        """The object and the rows."""
        return {"object": self.object, "rows": [r.to_dict() for r in self.rows]}


@dataclass(frozen=True)
class Evidence:
    """What a generalizability study is computed from.

    Attributes:
        design: the layout.
        components: the estimates.
        weights: error weights of the study as it is.
        anova: mean squares, where the table is complete.
        test: the object's F test, for the interval of G.
        observed_variance: variance of the object's observed means, divisor n - 1; and their number.
        n_objects: how many objects there are.
    """

    design: Design
    components: Components
    weights: ErrorWeights
    anova: Anova | None
    test: FTest | None
    observed_variance: float
    n_objects: int
    draws: Mapping[str, Floats] = field(default_factory=dict)


def coefficient(universe: float, error: float) -> float:
    """Universe / (universe + error); 0 where there is no universe score variance."""
    return universe / (universe + error) if universe > 0 else 0.0


def study_generalizability(
    evidence: Evidence,
    object_name: str,
    object_variance: str = "unbiased",
    targets: Sequence[float] = TARGETS,
    seed: int = 1,
) -> GStudy:
    """G, Phi, raters needed and ceilings of the study as it is.

    Args:
        evidence: components, mean squares and means.
        object_name: the object of measurement.
        object_variance: "unbiased" (the estimated component, 0 if negative); "observed_n" and
            "observed_n_minus_1" put the variance of the observed means in its place, which also holds the
            noise: they are there to reproduce published figures and have no interval.
        targets: values of G, each strictly between 0 and 1.
        seed: of the draws behind the intervals.

    Raises:
        InputError: unknown object variance, or a target outside (0, 1).
    """
    if object_variance not in OBJECT_VARIANCES:
        raise InputError(f"object variance {object_variance!r}: expected one of {', '.join(OBJECT_VARIANCES)}")
    for target in targets:
        if not 0 < target < 1:
            raise InputError(f"target {target:g}: a target for G lies strictly between 0 and 1")
    design, used = evidence.design, evidence.components.used
    names = object_effects(design, object_name)
    missing = [n for n in names if n not in used]
    if missing:
        raise DesignError(evidence.components[missing[0]].reason or f"no component of {missing[0]}")
    universe = _universe(evidence, names, object_variance)
    relative = _error(used, evidence.weights.relative)
    absolute = _error(used, evidence.weights.absolute)
    draws: dict[str, Floats] = {}
    if evidence.anova is not None and object_variance == "unbiased":
        draws = draw_components(evidence.anova, seed=seed)
    chance, g_interval = _interval_of_g(evidence.test, draws, evidence.weights, names, object_variance)
    by_facet = _RaterSplit.of(design, object_name, used)
    needed = {}
    if by_facet is not None:
        for target in targets:
            needed[target] = _raters_needed(
                target, universe, by_facet, draws, names, evidence.test, relative, object_variance
            )
    return GStudy(
        object_name,
        object_variance,
        universe,
        relative,
        absolute,
        Estimate(coefficient(universe, relative), g_interval),
        Estimate(coefficient(universe, absolute), _interval_by_draws(draws, evidence.weights.absolute, names)),
        needed,
        _ceiling(universe, used, design, object_name, "item"),
        _ceiling(universe, used, design, object_name, "rater"),
        chance,
        _cancelling(evidence),
        _notes(evidence, object_name, object_variance),
    )


def study_decisions(
    evidence: Evidence,
    object_name: str,
    raters: Sequence[int],
    items: Sequence[int],
    object_variance: str = "unbiased",
    seed: int = 1,
) -> DStudy:
    """G and Phi over a grid of numbers of raters and items.

    Raises:
        InputError: a number below one.
        DesignError: a facet to be varied is fixed, is the object, or is not there.
    """
    design, used = evidence.design, evidence.components.used
    names = object_effects(design, object_name)
    universe = _universe(evidence, names, object_variance)
    draws: dict[str, Floats] = {}
    if evidence.anova is not None and object_variance == "unbiased":
        draws = draw_components(evidence.anova, draws=5000, seed=seed)
    rows = []
    for n_items in items or (None,):
        for n_raters in raters or (None,):
            levels = {}
            for facet, n in (("item", n_items), ("rater", n_raters)):
                if n is not None:
                    _check_varied(facet, n, design, object_name)
                    levels[facet] = n
            weights = error_weights(design, object_name, levels)
            shown = {f: design.levels[f] for f in ("item", "rater") if f in design.levels and f != object_name}
            rows.append(
                DStudyRow(
                    shown | levels,
                    Estimate(
                        coefficient(universe, _error(used, weights.relative)),
                        _interval_by_draws(draws, weights.relative, names),
                    ),
                    Estimate(
                        coefficient(universe, _error(used, weights.absolute)),
                        _interval_by_draws(draws, weights.absolute, names),
                    ),
                )
            )
    return DStudy(object_name, tuple(rows))


def _check_varied(facet: str, n: int, design: Design, object_name: str) -> None:
    if n < 1:
        raise InputError(f"{n} {facet}s: a decision study needs at least one")
    if facet not in design.levels or facet == object_name:
        raise DesignError(f"this study has no {facet} facet to vary the number of")
    if facet in design.fixed and n != design.levels[facet]:
        raise DesignError(f"{facet}s are fixed: another number of them would be another universe; leave them random")


def _universe(evidence: Evidence, names: frozenset[str], object_variance: str) -> float:
    if object_variance == "observed_n":
        return evidence.observed_variance * (evidence.n_objects - 1) / evidence.n_objects
    if object_variance == "observed_n_minus_1":
        return evidence.observed_variance
    return sum(evidence.components.used[n] for n in names)


def _error(used: Mapping[str, float], weights: Mapping[str, float]) -> float:
    return sum(w * used[name] for name, w in weights.items() if name in used)


def _cancelling(evidence: Evidence) -> tuple[str, ...]:
    """Effects in absolute error only: where everyone rated everything they shift all objects alike."""
    if not evidence.design.complete or evidence.design.nested:
        return ()
    return tuple(n for n in evidence.weights.absolute if n not in evidence.weights.relative)


def _notes(evidence: Evidence, object_name: str, object_variance: str) -> tuple[str, ...]:
    notes = []
    if object_variance != "unbiased":
        notes.append(
            f"the variance of the observed {object_name} means stands for the {object_name} component; it also "
            "holds noise, so G is the most generous one and has no interval"
        )
    elif evidence.components.raw.get(object_name, 0.0) < 0:
        notes.append(f"the {object_name} component is estimated below zero and is set to zero")
    if evidence.design.nested and not evidence.design.complete:
        notes.append("nested levels are unequal in number; raters needed and ceilings take their mean")
    refused = [n for n in evidence.weights.relative if n not in evidence.components.used]
    if refused:
        notes.append(
            f"{', '.join(refused)} cannot be told from another component and counts with it, so raters "
            "needed and ceilings may be too hopeful"
        )
    return tuple(notes)


def _interval_of_g(
    test: FTest | None,
    draws: Mapping[str, Floats],
    weights: ErrorWeights,
    names: frozenset[str],
    object_variance: str,
) -> tuple[bool, tuple[float, float] | None]:
    """[1 - F.975 / F', 1 - F.025 / F'], clipped at 0; whether F' is below its 2.5% point.

    The pivot of the intraclass correlation (Shrout & Fleiss 1979) with Satterthwaite's degrees of freedom.
    """
    if object_variance != "unbiased":
        return False, None
    if test is None or test.f is None or test.df1 is None or test.df2 is None or len(names) > 1:
        return False, _interval_by_draws(draws, weights.relative, names)
    if test.f <= 0:
        return True, (0.0, 0.0)
    low = 1 - f_quantile(0.975, test.df1, test.df2) / test.f
    high = 1 - f_quantile(0.025, test.df1, test.df2) / test.f
    return high < 0, (max(0.0, low), max(0.0, high))


def _interval_by_draws(
    draws: Mapping[str, Floats], weights: Mapping[str, float], names: frozenset[str]
) -> tuple[float, float] | None:
    """Percentiles of universe / (universe + error) over generalised pivotal draws, each component >= 0."""
    if not draws:
        return None
    zero = np.zeros(1)
    universe = sum((np.maximum(draws[n], 0.0) for n in names if n in draws), start=zero)
    error = sum((w * np.maximum(draws[n], 0.0) for n, w in weights.items() if n in draws), start=zero)
    total = universe + error
    values = np.divide(universe, total, out=np.zeros_like(total), where=total > 0)
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


@dataclass(frozen=True)
class _RaterSplit:
    """Relative error as per_rater / raters + rest: which effects go where, with weights at one rater."""

    per_rater: Mapping[str, float]
    rest: Mapping[str, float]
    used: Mapping[str, float]

    @classmethod
    def of(cls, design: Design, object_name: str, used: Mapping[str, float]) -> _RaterSplit | None:
        """None where the number of raters is no free choice."""
        if "rater" not in design.levels or "rater" in design.fixed or object_name == "rater":
            return None
        weights = error_weights(design, object_name, {"rater": 1}).relative
        facets = {e.name: e.facets for e in design.effects}
        per_rater = {n: w for n, w in weights.items() if "rater" in facets[n]}
        return cls(per_rater, {n: w for n, w in weights.items() if n not in per_rater}, used)

    def needed(self, universe: float, target: float) -> float:
        """Raters for the target, infinite where no number is enough."""
        room = universe * (1 - target) / target - _error(self.used, self.rest)
        if universe <= 0 or room <= 0:
            return math.inf
        return _whole(_error(self.used, self.per_rater) / room)

    def needed_by_draws(self, draws: Mapping[str, Floats], names: frozenset[str], target: float) -> Floats:
        """The same for every draw of the components."""
        zero = np.zeros(1)
        universe = sum((np.maximum(draws[n], 0.0) for n in names), start=zero)
        part = {
            kind: sum((w * np.maximum(draws[n], 0.0) for n, w in weights.items() if n in draws), start=zero)
            for kind, weights in (("per_rater", self.per_rater), ("rest", self.rest))
        }
        room = universe * (1 - target) / target - part["rest"]
        out = np.full(universe.shape, np.inf)
        np.divide(part["per_rater"], room, out=out, where=(room > 0) & (universe > 0))
        return np.maximum(1.0, np.ceil(out - 1e-9))


def _whole(raters: float) -> float:
    return max(1.0, math.ceil(raters - 1e-9)) if math.isfinite(raters) else math.inf


def _raters_needed(
    target: float,
    universe: float,
    split: _RaterSplit,
    draws: Mapping[str, Floats],
    names: frozenset[str],
    test: FTest | None,
    relative_error: float,
    object_variance: str,
) -> RatersNeeded:
    ci: tuple[float | None, float | None] | None = None
    never_share = None
    if draws:
        drawn = np.sort(split.needed_by_draws(draws, names, target))
        ci = (_bounded(drawn[int(0.025 * drawn.size)]), _bounded(drawn[int(0.975 * drawn.size)]))
        never_share = float(np.mean(~np.isfinite(drawn)))
    conditional = None
    if object_variance == "unbiased" and test is not None and test.f and test.df1 and test.df2:
        # (F' / F_q - 1) x error is the object's component at the q-quantile of the pivot.
        bounds = [
            _bounded(split.needed(relative_error * (test.f / f_quantile(q, test.df1, test.df2) - 1), target))
            for q in (0.025, 0.975)
        ]
        conditional = Estimate(None, (bounds[0], bounds[1]))
    value = split.needed(universe, target)
    if math.isfinite(value) and value <= _MOST_RATERS:
        return RatersNeeded(target, Estimate(value, ci), conditional, never_share)
    return RatersNeeded(target, Estimate(None, ci, state="never"), conditional, never_share)


def _bounded(raters: float) -> float | None:
    return float(raters) if math.isfinite(raters) and raters <= _MOST_RATERS else None


def _ceiling(
    universe: float, used: Mapping[str, float], design: Design, object_name: str, unlimited: str
) -> float | None:
    """G as the number of levels of one facet grows without bound; None where it is no free choice."""
    if unlimited not in design.levels or unlimited in design.fixed or unlimited == object_name:
        return None
    facets = {e.name: e.facets for e in design.effects}
    weights = error_weights(design, object_name).relative
    return coefficient(universe, _error(used, {n: w for n, w in weights.items() if unlimited not in facets[n]}))
