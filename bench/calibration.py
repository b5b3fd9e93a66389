"""Are the tests as strict and the intervals as wide as they say? Simulated on the paper's design.

`make bench-stats` (`python -m bench.calibration`) draws studies whose truth is known, runs the public functions of
`mojimeter.ratings` on them, prints rates beside their nominal values with Monte Carlo errors, and writes
docs/calibration.md. `--quick` takes about a minute and writes nothing unless asked; the full run takes about ten.
Knows how to count; what is drawn is in `simulated_studies`.
"""

from __future__ import annotations

import os

# before numpy: threads would fight over matrices of a few hundred numbers
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.simulated_studies import TWO_EMOJIS, Table, World, draw_sample, draw_table, long_table
from mojimeter.ratings import Study
from mojimeter.ratings import components as c
from mojimeter.ratings import generalizability as g
from mojimeter.ratings import ranking as r
from mojimeter.ratings.agreement import (
    icc_from_mean_squares,
    intraclass_correlations,
    intraclass_correlations_of_cells,
    krippendorff_alpha,
)
from mojimeter.ratings.agreement.icc_of_cells import two_way_of
from mojimeter.ratings.anova import Anova, analyse_variance
from mojimeter.ratings.studentized_range import range_tail
from mojimeter.ratings.system_tests import compare_levels

TYPE_I = "Type I error of the tests of systems at 5%"
DIFFERENCE = "Coverage of the 95% interval of a difference of two systems"
RANKS = "Coverage of all rank ranges at once, and of the 95% intervals of means"
GENERALIZABILITY = "Coverage of the 95% intervals of generalizability"
RATERS_NEEDED = "Coverage of the 95% interval of raters needed for G = 0.8"
COMPONENTS = "Coverage of the 95% intervals of the components"
AGREEMENT = "Coverage of the 95% intervals of agreement"
CHECK = "How often unequal errors of pairs are warned of"
POWER = "Power of the quasi-F at 5%, system variance 0.0119"

Floats = NDArray[np.float64]
Bounds = tuple[float | None, float | None]

# About ten minutes: `python -m bench` leaves it out, `make bench-stats` runs it.
ON_REQUEST = True
PAGE = Path(__file__).resolve().parents[1] / "docs" / "calibration.md"
PANELS = (3, 5, 10, 27)
TESTS = ("quasi_f", "quasi_f_sums", "raters_random", "items_random", "residual")
TOLERANCE = 0.015
# Variance of true systems: the paper's "observed spread" (G .336 at 3 raters), and one that makes G .69 there.
PAPER_SPREAD, WIDE_SPREAD = 0.0119, 0.05
# Systems in three groups, half a standard error to several apart over the panels.
STEPS = (0.3, 0.3, 0.3, 0.0, 0.0, 0.0, -0.3, -0.3)
# Fewer draws than `ratings study` makes: the coverage is the same, its studies are many.
_DRAWS = 2000
_ALPHA_DRAWS = 400


@dataclass
class Rate:
    """How often something happened that should happen with a known probability.

    Attributes:
        part: heading of the table it belongs to.
        what: the quantity; setting: the simulated world.
        nominal: what it claims; None: nothing is claimed (power, bootstraps known to fail).
        default: whether `ratings study` prints it without being asked.
        expected: a published or earlier simulated value.
    """

    part: str
    what: str
    setting: str
    nominal: float | None
    default: bool = False
    expected: float | None = None
    hits: int = 0
    n: int = 0

    @property
    def value(self) -> float:
        """The rate."""
        return self.hits / self.n if self.n else float("nan")

    @property
    def error(self) -> float:
        """Monte Carlo standard error, never less than that of one event more."""
        p = min(max(self.value, 1.0 / (self.n + 1)), self.n / (self.n + 1))
        return float(np.sqrt(p * (1 - p) / self.n))

    @property
    def off(self) -> bool:
        """More than 1.5 points from nominal, beyond two Monte Carlo errors."""
        return self.nominal is not None and abs(self.value - self.nominal) - 2 * self.error > TOLERANCE

    @property
    def harmful(self) -> bool:
        """Off to the side that claims too much: a test too eager, an interval too short."""
        if self.nominal is None or not self.off:
            return False
        return self.value > self.nominal if self.nominal < 0.5 else self.value < self.nominal

    @property
    def agrees(self) -> bool | None:
        """Within three Monte Carlo errors of the expected value (rounded as it is given)."""
        if self.expected is None:
            return None
        return bool(abs(self.value - self.expected) <= 3 * self.error + 0.5 * 10 ** -_decimals(self.expected))

    def to_dict(self) -> dict[str, Any]:
        """One row of the JSON."""
        return {
            "part": self.part,
            "what": self.what,
            "setting": self.setting,
            "nominal": self.nominal,
            "rate": self.value,
            "error": self.error,
            "studies": self.n,
            "default": self.default,
            "off": self.off,
            "expected": self.expected,
            "agrees": self.agrees,
        }


def _decimals(value: float) -> int:
    text = repr(value)
    return len(text.partition(".")[2])


@dataclass
class Ledger:
    """Rates in order of first appearance."""

    rates: dict[tuple[str, str, str], Rate] = field(default_factory=dict)

    def count(
        self,
        part: str,
        what: str,
        setting: str,
        hit: bool | np.bool_,
        nominal: float | None,
        *,
        default: bool = False,
        expected: float | None = None,
    ) -> None:
        """Add one study to a rate."""
        key = (part, what, setting)
        rate = self.rates.setdefault(key, Rate(part, what, setting, nominal, default, expected))
        rate.hits += bool(hit)
        rate.n += 1

    def cover(
        self,
        part: str,
        what: str,
        setting: str,
        truth: float,
        bounds: Bounds | None,
        *,
        nominal: float | None = 0.95,
        default: bool = False,
    ) -> None:
        """Count whether an interval contains the truth."""
        self.count(part, what, setting, holds(truth, bounds), nominal, default=default)


def holds(truth: float, bounds: Bounds | None) -> bool:
    """Whether an interval contains the truth; a bound of None is unbounded, and no interval contains nothing."""
    if bounds is None:
        return False
    low, high = bounds
    return (low is None or low <= truth) and (high is None or truth <= high)


# ---- what is measured


REFERENCE_TYPE_I = {
    ("residual", 3): 0.9997,
    ("items_random", 3): 0.9987,
    ("raters_random", 3): 0.052,
    ("raters_random", 27): 0.081,
    ("quasi_f", 3): 0.05,
    ("quasi_f", 27): 0.05,
}


def measure_type_one_errors(ledger: Ledger, rng: np.random.Generator, n: int) -> None:
    """Rejections at 5% where no system differs; normal scores, mean squares drawn directly."""
    for raters in PANELS:
        world = World(raters)
        for _ in range(n):
            anova = draw_sample(world, rng).anova
            _count_tests(
                ledger, anova, f"{raters} raters", {k: v for (k, m), v in REFERENCE_TYPE_I.items() if m == raters}
            )


def _count_tests(ledger: Ledger, anova: Anova, setting: str, reference: Mapping[str, float]) -> None:
    tests = compare_levels(anova, "system")
    for name in TESTS:
        ledger.count(TYPE_I, name, setting, _rejects(tests.tests[name].p), 0.05, expected=reference.get(name))
    ledger.count(TYPE_I, "default", setting, _rejects(tests.chosen.p), 0.05, default=True)


def _rejects(p: float | None) -> bool:
    return p is not None and p < 0.05


def worlds_of_tables() -> Iterator[tuple[str, World]]:
    """Scores that are not normal, or raters that are not exchangeable, on the paper's components."""
    for raters in PANELS:
        base = World(raters)
        yield f"{raters} raters, rounded to 1-5", replace(base, rounded=True)
        yield f"{raters} raters, unequal scale use", replace(base, scale_sd=0.4)
        yield f"{raters} raters, rounded, unequal scale use", replace(base, rounded=True, scale_sd=0.4)
        yield f"{raters} raters, half of system:rater along one line", replace(base, lean=0.5)
        yield f"{raters} raters, all of system:rater along one line", replace(base, lean=1.0)


def measure_tables(ledger: Ledger, rng: np.random.Generator, n: int, checks: int) -> None:
    """Tests, differences and ranks on whole tables: rounding, unequal raters; errors by pair need tables anyway."""
    for setting, world in [*((f"{raters} raters", World(raters)) for raters in PANELS), *worlds_of_tables()]:
        normal = setting.endswith("raters")
        for k in range(n):
            cube = draw_table(world, rng).cube
            anova = analyse_variance(cube, world.design)
            means = cube.mean(axis=(0, 2))
            pooled = r.pooled_pair_errors(anova, "system")
            separate = r.separate_pair_errors(cube, anova, "system")
            if not normal:
                _count_tests(ledger, anova, setting, {})
                _count_difference(ledger, "quasi-t, pooled", setting, means, pooled, 0.0, default=True)
                ledger.count(RANKS, "rank ranges, pooled", setting, _no_pair_apart(means, pooled), 0.95, default=True)
            _count_difference(ledger, "quasi-t, per pair", setting, means, separate, 0.0)
            ledger.count(RANKS, "rank ranges, per pair", setting, _no_pair_apart(means, separate), 0.95)
            if k < checks:
                found = r.check_equal_pair_errors(cube, anova, "system")
                ledger.count(
                    CHECK, "check", setting, found is not None and found[0] < 0.05, None if world.lean else 0.05
                )


def _count_difference(
    ledger: Ledger,
    what: str,
    setting: str,
    means: Floats,
    errors: r.PairErrors,
    truth: float,
    *,
    default: bool = False,
    expected: float | None = None,
) -> None:
    from scipy.special import stdtrit

    # the two ends of the list: the pair that differs most along a line
    half = errors.se[0, -1] * float(stdtrit(errors.df[0, -1], 0.975))
    hit = abs(means[0] - means[-1] - truth) <= half
    ledger.count(DIFFERENCE, what, setting, hit, 0.95, default=default, expected=expected)


def _no_pair_apart(means: Floats, errors: r.PairErrors) -> bool:
    """Whether all rank ranges are complete: no pair is called different (studentised range, or Holm)."""
    from scipy.special import stdtr

    upper = np.triu_indices(means.size, 1)
    t = np.abs(means[upper[0]] - means[upper[1]]) / errors.se[upper]
    df = errors.df[upper]
    if errors.pooled:
        return bool(range_tail(t.max() * np.sqrt(2), means.size, float(df.min()))[0] >= 0.05)
    return bool((2 * stdtr(df, -t)).min() * t.size >= 0.05)


def measure_differences(ledger: Ledger, rng: np.random.Generator, n: int) -> None:
    """Pooled quasi-t intervals, normal scores, systems in steps."""
    expected = {3: 0.95, 10: 0.95, 27: 0.95}
    truth = STEPS[0] - STEPS[-1]
    for raters in PANELS:
        world = World(raters, effects=STEPS)
        for _ in range(n):
            sample = draw_sample(world, rng)
            errors = r.pooled_pair_errors(sample.anova, "system")
            known = expected.get(raters)
            _count_difference(
                ledger, "quasi-t, pooled", f"{raters} raters", sample.means, errors, truth, default=True, expected=known
            )


def measure_bootstraps(ledger: Ledger, rng: np.random.Generator, n: int, draws: int = 400) -> None:
    """Percentile intervals of a difference by resampling items only, and items and raters.

    Nothing is claimed for them (nominal None): `Study.bootstrap` refuses the one with few raters, and warns.
    """
    expected = {"items only": {3: 0.33, 10: 0.40, 27: 0.53}, "items and raters": {3: 0.77, 10: 0.89, 27: 0.96}}
    for raters in (3, 10, 27):
        world = World(raters)
        for _ in range(n):
            cube = draw_table(world, rng).cube
            items = rng.multinomial(world.items, np.full(world.items, 1 / world.items), size=draws) / world.items
            people = rng.multinomial(raters, np.full(raters, 1 / raters), size=draws) / raters
            by_rater = items @ (cube[:, 0] - cube[:, -1])
            drawn = {"items only": by_rater.mean(axis=1), "items and raters": (by_rater * people).sum(axis=1)}
            for what, values in drawn.items():
                low, high = np.quantile(values, [0.025, 0.975])
                known = expected[what][raters]
                hit = low <= 0 <= high
                ledger.count(DIFFERENCE, f"bootstrap, {what}", f"{raters} raters", hit, None, expected=known)


def measure_generalizability(ledger: Ledger, rng: np.random.Generator, n: int) -> None:
    """Intervals of G, Phi, raters needed and the components; systems drawn anew for every study."""
    for raters in PANELS:
        for spread in (0.0, PAPER_SPREAD, WIDE_SPREAD):
            world = World(raters, components={**TWO_EMOJIS, "system": spread})
            setting = f"{raters} raters, system variance {spread:g}"
            for _ in range(n):
                anova = draw_sample(world, rng).anova
                found = _generalize(anova, world)
                ledger.cover(GENERALIZABILITY, "G", setting, world.g, found.g.ci, default=True)
                ledger.cover(GENERALIZABILITY, "Phi", setting, world.phi, found.phi.ci, default=True)
                needed, truth = found.raters_needed[0.8], world.raters_needed(0.8)
                ledger.cover(RATERS_NEEDED, "all mean squares drawn", setting, truth, needed.raters.ci, default=True)
                quick = None if needed.conditional is None else needed.conditional.ci
                ledger.cover(RATERS_NEEDED, "conditional", setting, truth, quick)
                if spread == PAPER_SPREAD:
                    intervals = c.component_intervals(c.draw_components(anova, draws=_DRAWS))
                    for source, bounds in intervals.items():
                        true = world.components[source]
                        ledger.cover(COMPONENTS, source, f"{raters} raters", true, bounds, default=True)


def _generalize(anova: Anova, world: World) -> g.GStudy:
    """`Study.g_study` of a study that has mean squares but no table."""
    design = world.design
    observed = anova.ms["system"] / design.multiplier(design.effect("system"))
    evidence = g.Evidence(
        design,
        c.assemble("ems", c.estimate_from_mean_squares(anova), design),
        g.error_weights(design, "system"),
        anova,
        compare_levels(anova, "system").chosen,
        observed,
        world.systems,
    )
    return g.study_generalizability(evidence, "system", targets=(0.8,))


def measure_ranks(ledger: Ledger, rng: np.random.Generator, n: int) -> None:
    """Whether all rank ranges hold the true ranks at once; intervals of single means."""
    for raters in (3, 10, 27):
        for label, effects in (("", (0.0,) * 8), (", three groups of systems", STEPS)):
            world = World(raters, effects=effects)
            setting = f"{raters} raters{label}"
            names = [str(k) for k in range(world.systems)]
            for _ in range(n):
                sample = draw_sample(world, rng)
                errors = r.pooled_pair_errors(sample.anova, "system")
                ranking = r.rank_systems(names, sample.means, errors, r.mean_error(sample.anova, "system"))
                hit = all(_rank_holds(sample.truth, int(one.system), one.rank) for one in ranking.systems)
                ledger.count(RANKS, "rank ranges, pooled", setting, hit, 0.95, default=True)
                one = ranking.systems[int(rng.integers(world.systems))]
                true = float(sample.truth[int(one.system)])
                ledger.cover(RANKS, "mean", setting, true, one.mean.ci, default=True)
                deviation = true - float(sample.truth.mean())
                ledger.cover(RANKS, "deviation from the average", setting, deviation, one.deviation.ci, default=True)


def _rank_holds(truth: Floats, system: int, rank: tuple[int, int]) -> bool:
    """A true rank is a range where systems are tied: every place that the tied ones share must stay open."""
    best = 1 + int((truth > truth[system]).sum())
    worst = truth.size - int((truth < truth[system]).sum())
    return rank[0] <= best and worst <= rank[1]


def measure_agreement(ledger: Ledger, rng: np.random.Generator, n: int) -> None:
    """Alpha and the intraclass correlations of the item x system cells; then of items alone."""
    for raters in (3, 10):
        world = World(raters, components={**TWO_EMOJIS, "system": PAPER_SPREAD})
        v, setting = world.components, f"{raters} raters"
        cluster = np.repeat(np.arange(world.items), world.systems)
        for _ in range(n):
            table = draw_table(world, rng)
            matrix = table.cube.reshape(-1, raters)
            alpha = krippendorff_alpha(matrix, cluster=cluster, draws=_ALPHA_DRAWS).ci
            ledger.cover(AGREEMENT, "alpha, same raters and systems", setting, _alpha_of(table, v), alpha, default=True)
            ledger.cover(AGREEMENT, "alpha, raters at large", setting, world.absolute_agreement, alpha, nominal=None)
            _cover_iccs(ledger, world, analyse_variance(table.cube, world.design), setting)
    for world, setting in worlds_of_cells():
        for _ in range(n):
            _cover_iccs(ledger, world, draw_sample(world, rng).anova, setting)
    for raters in (3, 10):
        # one system of the world: items are exchangeable, and what system and cell share is the item's
        world = World(raters, systems=1)
        v = world.components
        item, rater = v["item"] + v["item:system"], v["rater"] + v["system:rater"]
        error = v["item:rater"] + v["residual"]
        for _ in range(n):
            icc = intraclass_correlations(draw_table(world, rng).cube[:, 0])
            for name, truth in (("2,1", item / (item + rater + error)), ("3,1", item / (item + error))):
                ledger.cover(
                    AGREEMENT, f"ICC({name}), F", f"{raters} raters, items only", truth, icc[name].ci, default=True
                )


def worlds_of_cells() -> Iterator[tuple[World, str]]:
    """Small and unlike studies whose item x system cells have intraclass correlations."""
    spread = {**TWO_EMOJIS, "system": PAPER_SPREAD}
    yield World(6, items=40, systems=4, components=spread), "40 items x 4 systems x 6 raters"
    yield World(3, items=20, systems=2, components={**spread, "system": 1.0}), "20 x 2 x 3, system variance 1"
    alike = {"rater": 0.02, "item:rater": 0.02, "system:rater": 0.01, "residual": 0.1}
    yield World(5, items=100, systems=5, components={**spread, **alike}), "100 x 5 x 5, raters agree"


def _cover_iccs(ledger: Ledger, world: World, anova: Anova, setting: str) -> None:
    """Intervals from components, which `ratings study` prints, beside the F intervals of the same mean squares."""
    v, k = world.components, world.raters
    cells, offsets = v["item"] + v["system"] + v["item:system"], v["rater"]
    error = v["item:rater"] + v["system:rater"] + v["residual"]
    truth = {
        "1,1": (cells - offsets / k) / (cells + error + offsets * (k - 1) / k),
        "2,1": cells / (cells + offsets + error),
        "2,k": cells / (cells + (offsets + error) / k),
        "3,1": cells / (cells + error),
        "3,k": cells / (cells + error / k),
    }
    drawn = intraclass_correlations_of_cells(anova, _DRAWS)
    classical = icc_from_mean_squares(two_way_of(anova))
    for name, value in truth.items():
        ledger.cover(AGREEMENT, f"ICC({name})", setting, value, drawn[name].ci, default=True)
    for name in ("2,1", "3,1"):
        ledger.cover(AGREEMENT, f"ICC({name}), F", setting, truth[name], classical[name].ci)


def _alpha_of(table: Table, v: Mapping[str, float]) -> float:
    """Alpha of these raters and systems over items at large (1 - disagreement within cells over that of all scores)."""
    noise = v["item:rater"] + v["residual"]
    within = float(table.expected.var(axis=1, ddof=1).mean()) + noise
    total = float(table.expected.var()) + v["item"] + v["item:system"] + noise
    return 1 - within / total


def measure_power(ledger: Ledger, rng: np.random.Generator, n: int) -> None:
    """Chance that the quasi-F finds a system variance of .0119, systems random or the same in every study."""
    line = np.linspace(-1.0, 1.0, 8)
    effects = tuple((line / line.std(ddof=1) * np.sqrt(PAPER_SPREAD)).tolist())
    random = {3: 0.16, 5: 0.30, 10: 0.58, 27: 0.90}
    fixed = {3: 0.16, 10: 0.63, 27: 0.99}
    for raters in PANELS:
        drawn = World(raters, components={**TWO_EMOJIS, "system": PAPER_SPREAD})
        for label, world, expected in (
            ("systems random", drawn, random),
            ("systems fixed", World(raters, effects=effects), fixed),
        ):
            for _ in range(n):
                p = compare_levels(draw_sample(world, rng).anova, "system").chosen.p
                known = expected.get(raters)
                ledger.count(POWER, label, f"{raters} raters", _rejects(p), None, expected=known)


def measure_incomplete(ledger: Ledger, rng: np.random.Generator, n: int) -> None:
    """Ratings missing, a tenth at random or more: REML, Fai and Cornelius's F, differences, ranks, G, components."""
    for raters, studies in ((3, n), (10, n // 4)):
        null = World(raters)
        setting = f"{raters} raters, 10% of ratings missing (REML)"
        for _ in range(studies):
            study = _study_with_holes(null, rng)
            ledger.count(TYPE_I, "default", setting, _rejects(study.test().chosen.p), 0.05, default=True)
            ranking = study.ranking()
            pair = ranking.pairs[int(rng.integers(len(ranking.pairs)))].difference
            ledger.cover(DIFFERENCE, "REML, Satterthwaite", setting, 0.0, pair.ci, default=True)
            ledger.count(RANKS, "rank ranges, pooled", setting, ranking.separated_pairs == 0, 0.95, default=True)
        world = World(raters, components={**TWO_EMOJIS, "system": PAPER_SPREAD})
        for _ in range(studies // 2):
            study = _study_with_holes(world, rng)
            weights = g.observed_error_weights(study.codes, study.design, "system").relative
            error = sum(w * world.components[name] for name, w in weights.items())
            truth = PAPER_SPREAD / (PAPER_SPREAD + error)
            ledger.cover(GENERALIZABILITY, "G", setting, truth, study.g_study().g.ci, default=True)
            _cover_components(ledger, study, world, setting)
    spread = {**TWO_EMOJIS, "system": PAPER_SPREAD}
    for world, missing, setting in (
        (World(6, items=100, systems=5, components=spread), 0.5, "100 x 5 x 6, half of ratings missing (REML)"),
        (World(3, items=20, systems=3, components=spread), 0.3, "20 x 3 x 3, 30% of ratings missing (REML)"),
    ):
        for _ in range(n):
            _cover_components(ledger, _study_with_holes(world, rng, missing), world, setting)
    world, setting = World(9, items=100, systems=5, components=spread), "100 x 5, 3 of 9 raters an item (REML)"
    for _ in range(n):
        cube = draw_table(world, rng).cube
        kept = rng.permuted(np.tile(np.arange(9) < 3, (100, 1)), axis=1)
        study = Study(long_table(cube, np.broadcast_to(kept[:, None], cube.shape)))
        _cover_components(ledger, study, world, setting)


def _cover_components(ledger: Ledger, study: Study, world: World, setting: str) -> None:
    for one in study.components("reml").rows:
        ledger.cover(COMPONENTS, one.source, setting, world.components[one.source], one.ci, default=True)


def _study_with_holes(world: World, rng: np.random.Generator, missing: float = 0.1) -> Study:
    cube = draw_table(world, rng).cube
    return Study(long_table(cube, rng.random(cube.shape) > missing))


# ---- the run


@dataclass(frozen=True)
class Effort:
    """How many studies each part draws."""

    tests: int
    tables: int
    checks: int
    bootstraps: int
    generalizability: int
    ranks: int
    agreement: int
    power: int
    incomplete: int


FULL = Effort(10_000, 600, 50, 500, 800, 500, 600, 5_000, 200)
QUICK = Effort(1_000, 60, 5, 100, 60, 30, 30, 500, 8)


def run(effort: Effort, seed: int) -> list[Rate]:
    """All rates; every part has random numbers of its own, so parts can be added without changing others."""
    ledger = Ledger()
    parts: list[tuple[str, Callable[[np.random.Generator], None]]] = [
        ("tests", lambda rng: measure_type_one_errors(ledger, rng, effort.tests)),
        ("power", lambda rng: measure_power(ledger, rng, effort.power)),
        ("differences", lambda rng: measure_differences(ledger, rng, effort.tests)),
        ("tables", lambda rng: measure_tables(ledger, rng, effort.tables, effort.checks)),
        ("bootstraps", lambda rng: measure_bootstraps(ledger, rng, effort.bootstraps)),
        ("generalizability", lambda rng: measure_generalizability(ledger, rng, effort.generalizability)),
        ("ranks", lambda rng: measure_ranks(ledger, rng, effort.ranks)),
        ("agreement", lambda rng: measure_agreement(ledger, rng, effort.agreement)),
        ("incomplete tables", lambda rng: measure_incomplete(ledger, rng, effort.incomplete)),
    ]
    for number, (name, measure) in enumerate(parts):
        start = time.perf_counter()
        measure(np.random.default_rng([seed, number]))
        print(f"{name}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    return list(ledger.rates.values())


# ---- what comes out


def describe(rates: list[Rate]) -> str:
    """Markdown: one table per part, a row per setting, a column per quantity."""
    lines: list[str] = []
    for part in dict.fromkeys(rate.part for rate in rates):
        own = [rate for rate in rates if rate.part == part]
        columns = list(dict.fromkeys(rate.what for rate in own))
        rows = list(dict.fromkeys(rate.setting for rate in own))
        cells = {(rate.setting, rate.what): rate for rate in own}
        nominal = next((rate.nominal for rate in own if rate.nominal is not None), None)
        lines += [f"## {part}", ""]
        if nominal is not None:
            lines += [f"Nominal: {100 * nominal:g}%.", ""]
        lines += ["| | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
        for row in rows:
            lines.append(f"| {row} | " + " | ".join(_cell(cells.get((row, column))) for column in columns) + " |")
        lines.append("")
    return "\n".join(lines)


def _cell(rate: Rate | None) -> str:
    if rate is None:
        return ""
    decimals = 2 if rate.value > 0.99 else 1
    text = f"{100 * rate.value:.{decimals}f} ± {100 * rate.error:.{decimals}f}"
    return f"**{text}**" if rate.harmful and rate.default else text


def summarise(rates: list[Rate]) -> str:
    """What is printed by default and is off, and how the values given beforehand compare."""
    default = [rate for rate in rates if rate.default]
    harmful = [rate for rate in default if rate.harmful]
    cautious = [rate for rate in default if rate.off and not rate.harmful]
    lines = [
        f"Of {len(default)} rates of what `ratings study` prints by default, "
        f"{len(default) - len(harmful) - len(cautious)} are within 1.5 points of nominal (or two errors of that), "
        f"{len(cautious)} are on the cautious side, {len(harmful)} claim too much:",
        "",
    ]
    for title, some in (("Claims too much", harmful), ("Cautious", cautious)):
        for rate in some:
            lines.append(f"- {title}: {rate.what}, {rate.setting}: {_cell(rate).strip('*')} ({rate.part})")
    compared = [rate for rate in rates if rate.expected is not None]
    wrong = [rate for rate in compared if not rate.agrees]
    lines += [
        "",
        f"Against values known beforehand, {len(compared) - len(wrong)} of {len(compared)} agree within 3 errors.",
    ]
    lines += [f"- {rate.what}, {rate.setting}: {rate.value:.4f} against {rate.expected}" for rate in wrong]
    return "\n".join(lines)


INTRODUCTION = """# Calibration: are the tests as strict and the intervals as wide as they say?

Written by `make bench-stats` (`python -m bench.calibration`, seed {seed}; about ten minutes of one free core). Every
number is a rate over simulated studies with its Monte Carlo standard error, in percent. The design is the paper's: 290
items x 8 systems, 3 to 27 raters, variances as estimated from the Two Emojis study (item .143, rater .570,
item:system .087, item:rater .448, system:rater .068, residual .636), no system differing from another unless it says
so. Bold: printed by default, and claims too much by more than 1.5 points beyond two Monte Carlo errors.

- *rounded to 1-5*: scores are rounded and clipped to five points.
- *unequal scale use*: each rater stretches what they see of items and systems by a factor of their own (log-normal,
  standard deviation .4 on the log scale).
- *half, all of system:rater along one line*: that share of the system:rater variance is each rater's own slope on one
  property of the systems, such as length. Raters then disagree along one line instead of in all directions, the
  errors of pairs are unequal, and what pools them is off; single intervals by pair (`--pairs separate`) hold. Rank
  ranges by pair need ten raters or more, whatever the raters are like: each pair's own error is too poorly known.
- *ICC, F*: the classical F intervals, which take units for unrelated. `ratings study` prints them where a unit is an
  item (*items only*); where it is an item x system cell it draws variance components instead (columns without F), and
  only with ratings missing are the F intervals printed for cells, with a warning.
- *alpha, raters at large*: what the interval of alpha is not for, and how far it would be off. It draws items, so it
  is for these raters.

"""


def main(arguments: list[str] | None = None) -> None:
    """Run, print, and write the page (full runs, or `--out`)."""
    parser = argparse.ArgumentParser(prog="python -m bench.calibration", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="about a minute, larger Monte Carlo errors")
    parser.add_argument("--seed", type=int, default=20260924)
    parser.add_argument("--out", type=Path, help="where to write the page (a full run: docs/calibration.md)")
    parser.add_argument("--json", action="store_true", help="rates as one JSON object instead of tables")
    given = parser.parse_args(arguments)
    rates = run(QUICK if given.quick else FULL, given.seed)
    body = summarise(rates) + "\n\n" + describe(rates)
    print(json.dumps({"rates": [rate.to_dict() for rate in rates]}) if given.json else body)
    out = given.out or (None if given.quick else PAGE)
    if out is not None:
        out.write_text(INTRODUCTION.format(seed=given.seed) + body.rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
