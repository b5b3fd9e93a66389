"""Tests of an effect: would the means differ with other raters and other items?

Every F ratio is read off the expected mean squares of the design, under a named assumption about which facets
are random. Knows mean squares only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mojimeter.ratings.anova import Anova
from mojimeter.ratings.components import expected_mean_squares
from mojimeter.ratings.design import RESIDUAL, DesignError, Effect

# A denominator whose degrees of freedom fall below this share of the smallest of its positive mean squares is a small
# difference of large numbers. Simulated for 3 to 20 items, 3 to 6 systems and 3 to 12 raters, the 5% test then rejects
# 2.5% to 5.0% of the time, against 2.0% to 5.0% with no fall-back, and nowhere more than 5.0%.
COLLAPSED = 0.5


@dataclass(frozen=True)
class FTest:
    """An F ratio with its degrees of freedom and tail probability.

    Attributes:
        f: the ratio; None where there is none (`reason`) or where its denominator is zero (`state` "unbounded").
        df1, df2: degrees of freedom, possibly fractional (Satterthwaite).
        p: probability of a larger ratio if the effect were nil.
        assumes: what the test takes for granted, in words.
        error: the denominator as a combination of mean squares, ``"system:rater + item:system - residual"``.
        reason: why there is no ratio.
        state: "unbounded" where the denominator is zero.
    """

    f: float | None
    df1: float | None
    df2: float | None
    p: float | None
    assumes: str
    error: str = ""
    reason: str | None = None
    state: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The contract's f, df1, df2, p, with what the test assumes."""
        out: dict[str, Any] = {"f": self.f, "df1": self.df1, "df2": self.df2, "p": self.p}
        out |= {"assumes": self.assumes, "error": self.error}
        for name in ("reason", "state"):
            if getattr(self, name) is not None:
                out[name] = getattr(self, name)
        return out


@dataclass(frozen=True)
class EffectTests:
    """The tests of one effect, the default one named.

    Attributes:
        source: the effect.
        default: name of the test to go by.
        tests: name -> test; quasi_f, quasi_f_sums, raters_random, items_random, residual for complete tables,
            reml for incomplete ones.
        note: why the default is not the first choice, if so.
    """

    source: str
    default: str
    tests: Mapping[str, FTest]
    note: str | None = None

    @property
    def chosen(self) -> FTest:
        """The test to go by."""
        return self.tests[self.default]

    def to_dict(self) -> dict[str, Any]:
        """Tests by name; `default` says which one counts."""
        out: dict[str, Any] = {name: test.to_dict() for name, test in self.tests.items()}
        out["default"] = self.default
        return out if self.note is None else out | {"note": self.note}


@dataclass(frozen=True)
class ErrorTerm:
    """A combination of mean squares whose expectation is an effect's without the effect itself.

    Attributes:
        value: the combination; plus and minus its positive and negative parts (both >= 0).
        df: Satterthwaite's degrees of freedom of `value`; df_plus those of the positive part.
        smallest_df: the fewest that any positive mean square has.
        terms: effect name -> coefficient.
    """

    value: float
    plus: float
    minus: float
    df: float
    df_plus: float
    smallest_df: int
    terms: Mapping[str, float]

    @property
    def usable(self) -> bool:
        """Whether the combination is positive and known well enough to divide by."""
        return self.value > 1e-9 * self.plus and self.df >= COLLAPSED * self.smallest_df

    def describe(self, minus: bool = True) -> str:
        """The combination in words of effects; `minus` False leaves out the negative part."""
        text = ""
        for name, a in self.terms.items():
            if a > 0 or minus:
                sign = (" + " if a > 0 else " - ") if text else ("" if a > 0 else "-")
                text += sign + ("" if abs(abs(a) - 1) < 1e-9 else f"{abs(a):g} ") + name
        return text


def error_term(anova: Anova, effect: Effect, fixed: frozenset[str] | None = None) -> ErrorTerm:
    """The error term of an effect (Satterthwaite 1946; Brennan 2001, section 5.5 for its use).

    Args:
        anova: a complete table.
        effect: what is tested.
        fixed: facets taken as fixed; None: those of the design.

    Raises:
        DesignError: the design has no such combination (no residual degrees of freedom).
    """
    effects = anova.design.effects
    matrix = expected_mean_squares(anova.design, fixed)
    own = effects.index(effect)
    target = matrix[own].copy()
    target[own] = 0.0
    coefficients = np.linalg.solve(matrix.T, target)
    terms = {e.name: float(c) for e, c in zip(effects, coefficients, strict=True) if abs(c) > 1e-9}
    for name in terms:
        if anova.df[name] == 0:
            raise DesignError(f"no degrees of freedom for {name}: every facet needs at least two levels")
    plus = sum(c * anova.ms[n] for n, c in terms.items() if c > 0)
    minus = -sum(c * anova.ms[n] for n, c in terms.items() if c < 0)
    spread = sum((c * anova.ms[n]) ** 2 / anova.df[n] for n, c in terms.items())
    spread_plus = sum((c * anova.ms[n]) ** 2 / anova.df[n] for n, c in terms.items() if c > 0)
    return ErrorTerm(
        value=plus - minus,
        plus=plus,
        minus=minus,
        df=(plus - minus) ** 2 / spread if spread > 0 else 0.0,
        df_plus=plus**2 / spread_plus if spread_plus > 0 else 0.0,
        smallest_df=min((anova.df[n] for n, c in terms.items() if c > 0), default=0),
        terms=dict(sorted(terms.items(), key=lambda t: -t[1])),
    )


def compare_levels(anova: Anova, source: str) -> EffectTests:
    """Test an effect of a complete table.

    The default is the quasi-F, F' = MS / (error combination), df2 by Satterthwaite (1946); for systems crossed with
    random items and raters F' = MS_s / (MS_sr + MS_is - MS_e). Where that denominator is not positive or its
    degrees of freedom collapse, the form with sums only, F'' = (MS_s + MS_e) / (MS_sr + MS_is), both sides by
    Satterthwaite (Winer 1971, section 5.15).

    Raises:
        DesignError: the effect or its error has no degrees of freedom.
    """
    effect = anova.design.effect(source)
    design = anova.design
    if effect.name == RESIDUAL:
        raise DesignError("the residual has no error term to be tested against; replicate ratings would give one")
    if anova.df[effect.name] == 0:
        raise DesignError(f"only one {source}: there is nothing to compare; at least two are needed")
    others = frozenset(design.facets) - effect.facets
    random_now = sorted(others - design.fixed)
    default_words = f"{_listed(random_now)} random" if random_now else "nothing random but the residual"
    error = error_term(anova, effect)
    tests = {
        "quasi_f": _quasi_f(anova, effect, error, default_words),
        "quasi_f_sums": _quasi_f_sums(anova, effect, error, default_words + " (no subtraction)"),
    }
    for facet, name in (("rater", "raters_random"), ("item", "items_random")):
        if facet in others:
            kept = design.closure([facet])
            fixed = others - kept
            words = f"{_listed(sorted(kept - effect.facets))} random" + (
                f", {_listed(sorted(fixed))} fixed" if fixed else ""
            )
            tests[name] = _quasi_f(anova, effect, error_term(anova, effect, fixed), words)
    tests["residual"] = _residual_test(anova, effect, others)
    if error.usable or not error.minus or error.plus <= 0:
        return EffectTests(effect.name, "quasi_f", tests)
    note = (
        "the quasi-F's denominator is not positive"
        if error.value <= 0
        else "the quasi-F's denominator is too uncertain"
    ) + ", so the form with sums only is used"
    return EffectTests(effect.name, "quasi_f_sums", tests, note)


def _listed(facets: list[str]) -> str:
    return " and ".join(f + "s" for f in facets)


def _residual_test(anova: Anova, effect: Effect, others: frozenset[str]) -> FTest:
    error = error_term(anova, effect, others)
    return _quasi_f(anova, effect, error, f"ignores both interactions, these {_listed(sorted(others))} only")


def _quasi_f(anova: Anova, effect: Effect, error: ErrorTerm, assumes: str) -> FTest:
    ms, df1 = anova.ms[effect.name], float(anova.df[effect.name])
    if error.value <= 0 or error.df <= 0:
        if error.plus <= 0 and ms > 0:
            return FTest(None, df1, None, 0.0, assumes, error.describe(), state="unbounded")
        reason = "nothing varies" if error.plus <= 0 else "its denominator is not positive"
        return FTest(None, df1, None, None, assumes, error.describe(), reason=reason)
    return _ratio(ms, error.value, df1, error.df, assumes, error.describe())


def _quasi_f_sums(anova: Anova, effect: Effect, error: ErrorTerm, assumes: str) -> FTest:
    if error.plus <= 0:
        return _quasi_f(anova, effect, error, assumes)
    ms, df = anova.ms[effect.name], anova.df[effect.name]
    top = ms + error.minus
    spread = ms**2 / df + sum((c * anova.ms[n]) ** 2 / anova.df[n] for n, c in error.terms.items() if c < 0)
    df1 = top**2 / spread if spread > 0 else float(df)
    return _ratio(top, error.plus, df1, error.df_plus, assumes, error.describe(minus=False))


def _ratio(top: float, bottom: float, df1: float, df2: float, assumes: str, error: str) -> FTest:
    f = top / bottom
    return FTest(f, df1, df2, f_tail(f, df1, df2), assumes, error)


def f_tail(f: float, df1: float, df2: float) -> float:
    """Probability that an F variable exceeds f."""
    from scipy.special import fdtrc

    return float(fdtrc(df1, df2, f))


def f_quantile(p: float, df1: float, df2: float) -> float:
    """The value that an F variable stays below with probability p."""
    from scipy.special import fdtri

    return float(fdtri(df1, df2, p))
