"""Chance of finding a difference between systems, for a panel and a set of items that do not exist yet.

Knows variance components and numbers of levels; nothing of data. The test is the default of `Study.test`: the
quasi-F, F' = MS_s / (MS_sr + MS_is - MS_e), with the form of sums where its denominator fails.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mojimeter.errors import InputError

Floats = NDArray[np.float64]

# The components that a comparison of systems depends on; those of item, rater and item:rater cancel.
NEEDED = ("system", "item:system", "system:rater", "residual")
CANCELLING = ("item", "rater", "item:rater")
DRAWS = 200_000


@dataclass(frozen=True)
class Power:
    """Chance that a study of this size finds that the systems differ.

    Attributes:
        systems, items, raters: size of the study.
        alpha: level of the test.
        random: power if the systems are a sample, whose true means are drawn anew in each study.
        random_error: Monte Carlo standard error of `random`.
        fixed: power for these very systems, if the variance of their true means (divisor systems - 1) is the component.
        df2: degrees of freedom of the denominator of the quasi-F, at the expected mean squares.
        draws: behind `random`.
    """

    systems: int
    items: int
    raters: int
    alpha: float
    random: float
    random_error: float
    fixed: float
    df2: float
    draws: int

    def to_dict(self) -> dict[str, Any]:
        return {
            "systems": self.systems,
            "items": self.items,
            "raters": self.raters,
            "alpha": self.alpha,
            "power": {
                "systems_random": {"value": self.random, "monte_carlo_error": self.random_error},
                "systems_fixed": {"value": self.fixed},
            },
            "df2": self.df2,
            "draws": self.draws,
        }


@dataclass(frozen=True)
class _Expected:
    """Expected mean squares of a complete crossed study and their degrees of freedom."""

    system: float
    system_rater: float
    item_system: float
    residual: float
    df: tuple[int, int, int, int]

    @property
    def error(self) -> float:
        """Expectation of the quasi-F's denominator."""
        return self.system_rater + self.item_system - self.residual

    @property
    def df2(self) -> float:
        """Satterthwaite's degrees of freedom of that denominator."""
        parts = zip((self.system_rater, self.item_system, self.residual), self.df[1:], strict=True)
        return self.error**2 / sum(m**2 / df for m, df in parts)


def power(
    components: Mapping[str, float],
    *,
    systems: int,
    items: int,
    raters: int,
    alpha: float = 0.05,
    draws: int = DRAWS,
    seed: int = 1,
) -> Power:
    """Power of the quasi-F, with systems random and with systems fixed.

    Systems random: every mean square is drawn as its expectation (Cornfield & Tukey 1956) times chi-square over its
    degrees of freedom, and the test is done on each draw. Systems fixed: the noncentral F with Satterthwaite's
    denominator and noncentrality df1 n_i n_r s2 / E(denominator).

    Args:
        components: variances by source: ``system``, ``item:system``, ``system:rater``, ``residual`` (others are not
            needed: they cancel). Negative estimates count as zero.
        systems, items, raters: size of the study, each at least 2.
        alpha: level of the test.
        draws, seed: of the random case.

    Raises:
        InputError: a component is missing, unknown or not finite; a size is below 2; nothing varies.
    """
    used = check_components(components)
    _check_sizes(systems, items, raters, alpha, draws)
    expected = _expected(used, systems, items, raters)
    if expected.error <= 0.0:
        raise InputError("item:system, system:rater and residual are all zero: any difference would be found")
    rejected = _share_rejected(expected, alpha, draws, seed)
    return Power(
        systems,
        items,
        raters,
        alpha,
        rejected,
        float(np.sqrt(rejected * (1.0 - rejected) / draws)),
        _fixed(used["system"], expected, items * raters, alpha),
        expected.df2,
        draws,
    )


def power_fixed(
    components: Mapping[str, float], *, systems: int, items: int, raters: int, alpha: float = 0.05
) -> float:
    """Only the power with systems fixed: no draws, so fit for searching; arguments as for `power`."""
    used = check_components(components)
    _check_sizes(systems, items, raters, alpha, 1)
    expected = _expected(used, systems, items, raters)
    return 1.0 if expected.error <= 0.0 else _fixed(used["system"], expected, items * raters, alpha)


def power_random_quickly(
    components: Mapping[str, float], *, systems: int, items: int, raters: int, alpha: float = 0.05
) -> float:
    """Power with systems random without draws, for searching: F is its expected ratio times a central F.

    Satterthwaite's degrees of freedom at the expected mean squares; arguments as for `power`.
    """
    from scipy.special import fdtrc, fdtri

    used = check_components(components)
    _check_sizes(systems, items, raters, alpha, 1)
    expected = _expected(used, systems, items, raters)
    if expected.error <= 0.0:
        return 1.0
    df1, df2 = float(expected.df[0]), expected.df2
    return float(fdtrc(df1, df2, float(fdtri(df1, df2, 1.0 - alpha)) * expected.error / expected.system))


def check_components(components: Mapping[str, float]) -> dict[str, float]:
    """Components with negative ones set to zero.

    Raises:
        InputError: one is missing, unknown or not finite.
    """
    for name in components:
        if name not in NEEDED and name not in CANCELLING:
            raise InputError(f"no component {name!r}; expected {', '.join(NEEDED + CANCELLING)}")
    for name in NEEDED:
        if name not in components:
            raise InputError(f"no component {name!r}; expected {', '.join(NEEDED)}")
    for name, value in components.items():
        if not np.isfinite(value):
            raise InputError(f"component {name!r} is {value}; expected a finite number")
    return {name: max(float(value), 0.0) for name, value in components.items()}


def _check_sizes(systems: int, items: int, raters: int, alpha: float, draws: int) -> None:
    for name, n in (("systems", systems), ("items", items), ("raters", raters)):
        if n < 2:
            raise InputError(f"{n} {name}: at least two are needed")
    if not 0.0 < alpha < 1.0:
        raise InputError(f"alpha is {alpha}; expected a number between 0 and 1")
    if draws < 1:
        raise InputError(f"{draws} draws: at least one is needed")


def _expected(used: Mapping[str, float], systems: int, items: int, raters: int) -> _Expected:
    error = used["residual"]
    by_rater = error + items * used["system:rater"]
    by_item = error + raters * used["item:system"]
    between = by_rater + by_item - error + items * raters * used["system"]
    s, i, r = systems - 1, items - 1, raters - 1
    return _Expected(between, by_rater, by_item, error, (s, s * r, i * s, i * s * r))


def _fixed(variance: float, expected: _Expected, per_system: int, alpha: float) -> float:
    from scipy.special import fdtrc, fdtri, ncfdtr

    df1, df2 = float(expected.df[0]), expected.df2
    noncentrality = df1 * per_system * variance / expected.error
    critical = float(fdtri(df1, df2, 1.0 - alpha))
    if noncentrality == 0.0:
        return float(fdtrc(df1, df2, critical))
    return float(1.0 - ncfdtr(df1, df2, noncentrality, critical))


def _share_rejected(expected: _Expected, alpha: float, draws: int, seed: int) -> float:
    from scipy.special import fdtrc

    rng = np.random.default_rng(seed)
    means = (expected.system, expected.system_rater, expected.item_system, expected.residual)
    df_s, df_sr, df_is, df_e = expected.df
    s, sr, by_item, e = (m * rng.chisquare(df, draws) / df for m, df in zip(means, expected.df, strict=True))
    bottom = sr + by_item - e
    spread = sr**2 / df_sr + by_item**2 / df_is
    # a denominator known to less than one degree of freedom is a small difference of large numbers
    usable = (bottom > 0.0) & (bottom**2 >= spread + e**2 / df_e)
    with np.errstate(divide="ignore", invalid="ignore"):
        f = np.where(usable, s / bottom, (s + e) / (sr + by_item))
        df1 = np.where(usable, float(df_s), (s + e) ** 2 / (s**2 / df_s + e**2 / df_e))
        df2 = np.where(usable, bottom**2 / (spread + e**2 / df_e), (sr + by_item) ** 2 / spread)
    return float((fdtrc(df1, df2, f) < alpha).mean())


def read_components(texts: Sequence[str], base: Mapping[str, float] | None = None) -> dict[str, float]:
    """``["system=0.0119", "residual=.64"]`` as components, on top of those of a pilot.

    Raises:
        InputError: a text is not SOURCE=VARIANCE.
    """
    out = dict(base or {})
    for text in texts:
        source, equals, number = text.partition("=")
        try:
            value = float(number)
        except ValueError:
            value = float("nan")
        if not equals or not np.isfinite(value):
            raise InputError(f"--component {text!r}: expected SOURCE=VARIANCE, such as system=0.0119")
        out[_known_name(source.strip())] = value
    return out


def _known_name(source: str) -> str:
    """``rater:system`` as ``system:rater``; unknown names stay as they are and are refused later."""
    parts = sorted(source.split(":"))
    return next((name for name in NEEDED + CANCELLING if sorted(name.split(":")) == parts), source)


def components_of_pilot(
    path: str, item: str, system: str | None, rater: str, score: str, mapping: Mapping[str, str]
) -> tuple[dict[str, float], int]:
    """Components that a pilot's ratings give (negative ones at zero), and how many systems it had.

    Raises:
        InputError: the file cannot be read, or is no crossed study of items, systems and raters.
    """
    from mojimeter.ratings.summary import open_study

    study = open_study(path, item, system, rater, [score], (), None, dict(mapping))
    if set(study.design.levels) != {"item", "system", "rater"} or study.design.nested:
        raise InputError(
            f"{path}: {study.design.describe()}; planning needs systems, items and raters crossed with each other"
        )
    used = study.components(intervals=False).used
    for name in NEEDED:
        if name not in used:
            raise InputError(f"{path}: these ratings give no {name} component; a pilot with two raters a cell would")
    return dict(used), study.design.levels["system"]


def read_sizes(text: str, option: str) -> list[int]:
    """``"3,10,27"`` as numbers.

    Raises:
        InputError: something else, or more than 50 of them.
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and len(part) < 10 for part in parts) or len(parts) > 50:
        raise InputError(f"{option} {text!r}: expected whole numbers such as 3,10,27")
    return [int(part) for part in parts]
