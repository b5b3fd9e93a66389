"""A rating study: who rated what, with which score, and every question that can be asked of it.

`Study` reads and checks the table, finds out which design it is and hands the arrays to the module that
answers the question. It needs numpy, scipy, polars and narwhals only, and knows nothing of emoji or models.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from mojimeter.errors import InputError
from mojimeter.ratings.anova import Anova, analyse_variance
from mojimeter.ratings.design import Design, DesignError
from mojimeter.ratings.layout import CodedLayout, combine, count_groups, lay_out
from mojimeter.ratings.reading import CodedRatings, read_ratings

if TYPE_CHECKING:
    from mojimeter.ratings.agreement import Agreement
    from mojimeter.ratings.agreement.alpha import Level
    from mojimeter.ratings.agreement.panel_agreement import IccOfCells
    from mojimeter.ratings.bootstrap import Bootstrap
    from mojimeter.ratings.components import Components
    from mojimeter.ratings.generalizability import DStudy, Evidence, GStudy
    from mojimeter.ratings.length import LengthEffects
    from mojimeter.ratings.ranking import Ranking
    from mojimeter.ratings.reml import RemlFit
    from mojimeter.ratings.system_tests import EffectTests, FTest
    from mojimeter.ratings.verdict import Verdict
    from mojimeter.stats.estimate import Estimate

Floats = NDArray[np.float64]
_SMALLEST_SPREAD = 1e-100  # squares of smaller differences vanish
ESTIMATORS = ("ems", "reml", "henderson")
_MOST_FIXED = 200  # levels of a facet that REML takes as fixed effects
ROLES = ("item", "system", "rater")


class Study:
    """A crossed, nested or incomplete item x system x rater study.

    Args:
        data: path of a CSV, TSV, JSONL or Parquet file, any data frame, or a mapping of columns.
        item, system, rater: columns that name the levels of each facet; None: the design has no such
            facet (no system: agreement and reliability of items; at least two facets are needed).
        score: column of scores, or several; with several, take one at a time with `select` or `each`.
        fixed: facets whose levels are all that matter ("system", "item", "rater"); others are random.
        nested: facet -> what it is nested in: ``{"rater": "item"}`` where every item has raters of its
            own, ``{"rater": "item:system"}`` where every cell has (both are found where rater names do not
            repeat), ``{"item": "topic"}`` where items come in groups named by the column `topic`.
        mapping: our column name -> the table's column name.
        origin: what to call the table in messages; None: the file's name, or "data".

    Attributes:
        design: the `Design`.
        codes: facet -> level number of each rating (int32, one per row).
        names: facet -> level names.
        values: scores of each rating; `score` their column.
        frame: the table, rows in the same order, for covariates.

    Raises:
        InputError: one sentence for whatever is wrong with the table.

    Example:
        >>> study = Study({"item": list("aabb"), "rater": list("xyxy"), "score": [1, 2, 3, 5]}, system=None)
        >>> print(study.design.describe())
        2 items x 2 raters: 4 ratings, complete
    """

    def __init__(
        self,
        data: Any,
        item: str | None = "item",
        system: str | None = "system",
        rater: str | None = "rater",
        score: str | Sequence[str] = "score",
        fixed: Sequence[str] = (),
        nested: Mapping[str, str] | None = None,
        mapping: Mapping[str, str] | None = None,
        origin: str | None = None,
    ) -> None:
        columns = {role: c for role, c in zip(ROLES, (item, system, rater), strict=True) if c is not None}
        if len(columns) < 2:
            raise InputError("a rating study needs at least two of item, system and rater columns")
        parents = dict(nested or {})
        groups = [p for p in parents.values() if not set(p.split(":")) <= set(columns)]
        facets = {group: group for group in groups} | columns
        scores = (score,) if isinstance(score, str) else tuple(score)
        ratings = read_ratings(data, facets, scores, mapping, origin)
        self._start(ratings, lay_out(ratings, parents, frozenset(fixed)), scores)

    def _start(self, ratings: CodedRatings, layout: CodedLayout, scores: tuple[str, ...]) -> None:
        self._ratings, self._layout = ratings, layout
        self.design: Design = layout.design
        self.score_names = scores
        self.names = layout.names
        self.codes = layout.codes
        self.frame: pl.DataFrame = ratings.frame
        self.origin = ratings.origin

    def select(self, score: str) -> Study:
        """The same study of one of its score columns.

        Raises:
            InputError: the study has no such score column.
        """
        if score not in self.score_names:
            raise InputError(f"no score column {score!r} in this study; it has {', '.join(self.score_names)}")
        one = object.__new__(Study)
        one._start(self._ratings, self._layout, (score,))
        return one

    def each(self) -> Iterator[Study]:
        """One study per score column; they share the coded table."""
        for score in self.score_names:
            yield self.select(score)

    @property
    def score(self) -> str:
        """Name of the score column.

        Raises:
            InputError: there are several.
        """
        if len(self.score_names) > 1:
            raise InputError(
                f"this study has several scores ({', '.join(self.score_names)}); choose one with .select(name)"
            )
        return self.score_names[0]

    @property
    def values(self) -> Floats:
        """Scores, one per rating, in the order of the table's rows."""
        return self._ratings.scores[self.score]

    @cached_property
    def cube(self) -> Floats:
        """Scores of a complete table, one axis per facet in the order of `design.facets`.

        A nested facet's axis runs over the levels within its parent.

        Raises:
            DesignError: the table is incomplete.
        """
        if not self.design.complete:
            raise DesignError(
                f"{self.origin}: {self.design.describe()}; a complete table is needed for this, "
                "use the REML or Henderson estimates instead"
            )
        flat = np.empty(self.design.cells)
        flat[self._layout.cells] = self.values
        return flat.reshape(tuple(self.design.levels.values()))

    def matrix(self) -> Floats:
        """Scores as cells x raters, NaN where a rater did not rate a cell; a cell is an item x system pair.

        Raters nested in items take the columns of their number within the item.

        Raises:
            DesignError: the study has no raters, or only one.
        """
        if "rater" not in self.design.levels:
            raise DesignError("this study has no rater column; agreement needs at least two raters")
        self.design.require_levels("rater", "nobody to agree with", self.origin)
        rest = tuple(f for f in self.design.facets if f != "rater")
        cell, counts = count_groups(*combine(self.codes, rest))
        rater = self.codes["rater"].astype(np.int64)
        if "rater" in self.design.nested:
            order = np.lexsort((rater, cell))
            starts = np.cumsum(counts) - counts
            rater = np.empty_like(rater)
            rater[order] = np.arange(order.size) - np.repeat(starts, counts)
        out = np.full((counts.size, int(rater.max()) + 1), np.nan)
        out[cell, rater] = self.values
        return out

    def fingerprint(self) -> str:
        """Ten characters that change with any name or score and not with the order of rows."""
        digest = hashlib.sha256()
        for facet in self.design.facets:
            digest.update("\0".join((facet, *self.names[facet], "")).encode())
        key, _ = combine(self.codes, self.design.facets)
        order = np.argsort(key, kind="stable")
        digest.update(key[order].tobytes())
        digest.update(self.values[order].tobytes())
        return digest.hexdigest()[:10]

    def require_variation(self) -> None:
        """Refuse scores that are all equal.

        Raises:
            InputError: they are.
        """
        values = self.values
        low, high = float(values.min()), float(values.max())
        if low < high and high - low < _SMALLEST_SPREAD:
            raise InputError(
                f"{self.origin}: column {self.score!r}: scores differ by {high - low:g} at most, too little to "
                "compute with; give them in a larger unit"
            )
        if low == high:
            raise InputError(
                f"{self.origin}: column {self.score!r}: all {values.size:,} scores are {values[0]:g}; "
                "where nothing varies nothing can be compared"
            )

    @property
    def default_object(self) -> str:
        """What is measured unless said otherwise: systems, or items where there are none."""
        return "system" if "system" in self.design.levels else "item"

    @property
    def default_estimator(self) -> str:
        """Expected mean squares for complete tables, REML for incomplete ones."""
        return "ems" if self.design.complete else "reml"

    def anova(self) -> Anova:
        """Sums of squares, degrees of freedom and mean squares of every effect of a complete table.

        Raises:
            DesignError: the table is incomplete.
        """
        return self._anova

    @cached_property
    def _anova(self) -> Anova:
        return analyse_variance(self.cube, self.design)

    def components(self, estimator: str | None = None, intervals: bool = True, seed: int = 1) -> Components:
        """Variance components.

        Args:
            estimator: "ems" (complete tables), "reml" (any), "henderson" (any; unconstrained, fast); None: ems
                for complete tables, reml for incomplete ones.
            intervals: whether to draw the 95% intervals; henderson has none where ratings are missing.
            seed: of those draws.

        Raises:
            DesignError: the design cannot tell components apart, or the estimator does not fit it.
        """
        from mojimeter.ratings import components as c

        estimator = self._check_estimator(estimator)
        if estimator == "ems":
            estimates = c.estimate_from_mean_squares(self.anova())
            ci = c.component_intervals(c.draw_components(self.anova(), seed=seed)) if intervals else None
            return c.assemble("ems", estimates, self.design, self.score, ci)
        notes: tuple[str, ...] = ()
        if self.design.fixed:
            notes = (f"every facet is taken as random by {estimator}; use ems with a complete table for fixed ones",)
        ci = self._intervals_all_random(estimator, seed) if intervals else None
        if estimator == "henderson":
            estimates = c.henderson_1(self.codes, self.values, self.design)
            return c.assemble("henderson", estimates, self.design, self.score, ci, notes=notes)
        if self.design.complete:
            estimates, criterion = c.reml_from_mean_squares(self.anova())
            zero = [name for name, value in estimates.items() if value == 0]
            notes += (f"REML puts {', '.join(zero)} at zero and moves the other components with it",) if zero else ()
        else:
            estimates, criterion = dict(self._reml.components), self._reml.criterion
            notes += () if self._reml.note is None else (self._reml.note,)
        return c.assemble("reml", estimates, self.design, self.score, ci, criterion, notes)

    def _intervals_all_random(self, estimator: str, seed: int) -> dict[str, tuple[float, float]] | None:
        """Intervals of components, every facet random.

        None for Henderson's estimates with ratings missing: where these are asked for REML may be out of reach.
        """
        from mojimeter.ratings import components as c

        if self.design.complete:
            drawn: Mapping[str, Floats] | None = c.draw_components(self.anova(), seed=seed, fixed=frozenset())
        else:
            drawn = self._reml.draw_components(seed=seed) if estimator == "reml" else None
        return None if drawn is None else c.component_intervals(drawn)

    def _check_estimator(self, estimator: str | None) -> str:
        estimator = estimator or self.default_estimator
        if estimator not in ESTIMATORS:
            raise InputError(f"estimator {estimator!r}: expected one of {', '.join(ESTIMATORS)}")
        if estimator == "ems" and not self.design.complete:
            raise DesignError(
                f"{self.origin}: {self.design.describe()}; expected mean squares need a complete table, use the reml "
                "or henderson estimator"
            )
        self.require_variation()
        for facet in self.design.facets:
            need = "its share of the variance cannot be told from the rest"
            self.design.require_levels(facet, need, self.origin)
        return estimator

    @cached_property
    def _reml(self) -> RemlFit:
        from mojimeter.ratings.reml import fit_components

        groups = {}
        for effect in self.design.effects[:-1]:
            if effect.name not in self.design.inseparable:
                facets = tuple(f for f in self.design.facets if f in effect.facets)
                groups[effect.name] = count_groups(*combine(self.codes, facets))[0]
        return fit_components(groups, self.values)

    def test(self, source: str | None = None) -> EffectTests:
        """Would the means differ with other raters and other items?

        Complete tables: quasi-F with its alternatives by name, for any effect. Incomplete ones: systems fixed, all
        else random, REML, Fai and Cornelius's F with Satterthwaite's degrees of freedom.

        Args:
            source: the effect; None: system (item where there are no systems).

        Raises:
            DesignError: the design cannot answer it.
        """
        from mojimeter.ratings.system_tests import compare_levels

        source = source or self.default_object
        self.design.effect(source)
        self._check_estimator(None)
        if self.design.complete:
            return compare_levels(self.anova(), source)
        return self._test_incomplete(source)

    def _test_incomplete(self, source: str) -> EffectTests:
        from mojimeter.ratings.system_tests import EffectTests

        if source in self.design.nested or source not in self.design.levels or len(self.names[source]) > _MOST_FIXED:
            raise DesignError(
                f"{self.origin}: with ratings missing only crossed facets of up to {_MOST_FIXED} levels can be tested, "
                f"not {source}; a complete table is needed for that"
            )
        others = " and ".join(f"{f}s" for f in self.design.facets if f != source)
        test = replace(self._reml.system_test(source), assumes=f"{source}s fixed, {others} random")
        return EffectTests(source, "reml", {"reml": test}, self._reml.with_fixed(source).note)

    def g_study(
        self,
        object: str | None = None,
        object_variance: str = "unbiased",
        estimator: str | None = None,
        targets: Sequence[float] = (0.8, 0.9),
        seed: int = 1,
    ) -> GStudy:
        """G, Phi, raters needed and ceilings for the chosen object of measurement.

        Args:
            object: facet that is measured; None: system (item where there are no systems).
            object_variance: "unbiased", or "observed_n" / "observed_n_minus_1" to put the variance of the observed
                means in its place (they reproduce published figures; they also hold the noise).
            estimator: of the components.
            targets: values of G to reach with more raters.
            seed: of the draws behind the intervals.
        """
        from mojimeter.ratings.generalizability import study_generalizability

        object = object or self.default_object
        evidence = self._evidence(object, estimator, object_variance)
        return study_generalizability(evidence, object, object_variance, targets, seed)

    def d_study(
        self,
        raters: Sequence[int] = (),
        items: Sequence[int] = (),
        object: str | None = None,
        object_variance: str = "unbiased",
        estimator: str | None = None,
        seed: int = 1,
    ) -> DStudy:
        """G and Phi over a grid of numbers of raters and items (crossed as in the study)."""
        from mojimeter.ratings.generalizability import study_decisions

        object = object or self.default_object
        evidence = self._evidence(object, estimator, object_variance)
        return study_decisions(evidence, object, raters, items, object_variance, seed)

    def _evidence(self, object: str, estimator: str | None, object_variance: str) -> Evidence:
        from mojimeter.ratings import generalizability as g

        self.design.object_facets(object)
        if object == "rater" or object in self.design.fixed & {"item", "rater"}:
            raise DesignError(f"{object} cannot be the object of measurement here; choose system or item")
        components = self.components(estimator, intervals=False)
        means = self.means(object)
        if self.design.complete:
            weights = g.error_weights(self.design, object)
        else:
            weights = g.observed_error_weights(self.codes, self.design, object)
        return g.Evidence(
            self.design,
            components,
            weights,
            self.anova() if components.estimator == "ems" else None,
            self._test_behind_g(object, components.estimator, object_variance),
            float(means.var(ddof=1)),
            means.size,
        )

    def _test_behind_g(self, object: str, estimator: str, object_variance: str) -> FTest | None:
        if object_variance != "unbiased" or estimator == "henderson" or object in self.design.nested:
            return None
        try:
            tests = self.test(object)
        except DesignError:
            return None
        if tests.default == "quasi_f_sums":
            return None  # 1 - 1 / F'' is not G: its interval then comes from draws of all mean squares
        test = tests.chosen
        return test if test.f is not None and test.f > 0 else None

    def means(self, facet: str | None = None) -> Floats:
        """Observed mean score of every level of a facet, in the order of `names`."""
        facet = facet or self.default_object
        codes = self.codes[facet]
        n = len(self.names[facet])
        middle = float(self.values.mean())
        sums = np.bincount(codes, weights=self.values - middle, minlength=n)
        means: Floats = middle + sums / np.bincount(codes, minlength=n)
        return means

    def ranking(
        self,
        pairs: str = "pooled",
        margin: float | None = None,
        higher_is_better: bool = True,
        seed: int = 1,
    ) -> Ranking:
        """Systems from best to worst with rank ranges, all pairs at once.

        Args:
            pairs: "pooled" (quasi-t with one error for all pairs, studentised range) or "separate" (each pair's own
                mean squares, Holm).
            margin: a difference smaller than this counts as none: asks for two one-sided tests.
            higher_is_better: which end of the scale comes first.
            seed: of the draws behind the probability of being best.

        Raises:
            DesignError: there are no systems to rank.
        """
        from mojimeter.ratings import ranking as r

        if "system" not in self.design.levels:
            raise DesignError("this study has no system column, so there is nothing to rank")
        if pairs not in r.PAIR_ERRORS:
            raise InputError(f"pairs {pairs!r}: expected one of {', '.join(r.PAIR_ERRORS)}")
        self._check_estimator(None)
        if not self.design.complete:
            return self._rank_incomplete(pairs, margin, higher_is_better, seed)
        anova = self.anova()
        checked = r.check_equal_pair_errors(self.cube, anova, "system", seed=seed)
        notes = []
        if pairs == "pooled":
            errors = r.pooled_pair_errors(anova, "system")
            if checked is not None and checked[0] < 0.05:
                notes.append(
                    f"the errors of pairs differ more than sampling allows (largest {checked[1]:.1f} times the "
                    f"smallest): one pooled error is too short for some pairs; compare with separate pair errors"
                )
        else:
            errors = r.separate_pair_errors(self.cube, anova, "system")
        return r.rank_systems(
            self.names["system"],
            self.means("system"),
            errors,
            r.mean_error(anova, "system", seed=seed),
            margin,
            higher_is_better,
            seed,
            tuple(notes),
            None if checked is None else checked[0],
        )

    def _rank_incomplete(self, pairs: str, margin: float | None, higher_is_better: bool, seed: int) -> Ranking:
        from mojimeter.ratings import ranking as r

        if pairs == "separate":
            raise DesignError(
                f"{self.origin}: with ratings missing pairs have no mean squares of their own; use pairs='pooled'"
            )
        found = self._reml.system_means()
        n = found.means.size
        errors = r.PairErrors(np.zeros((n, n)), np.ones((n, n)), True, "REML covariance of the system means")
        for i in range(n):
            for j in range(i):
                difference = found.difference(i, j)
                errors.se[i, j] = errors.se[j, i] = difference.se
                errors.df[i, j] = errors.df[j, i] = max(1.0, min(difference.df, 1e6))
        halves = [(one.ci[1] - one.ci[0]) / 2 for one in map(found.mean, range(n))]
        note = "means are adjusted for the items and raters that each system happened to get"
        return r.rank_systems(
            self.names["system"], found.means, errors, halves, margin, higher_is_better, seed, (note,)
        )

    def bootstrap(self, over: str, draws: int = 2000, seed: int = 1) -> Bootstrap:
        """Resample items, raters or both of a complete crossed table; `over` must be named.

        Raises:
            DesignError: another design, or a two-way bootstrap with fewer than ten raters.
        """
        from mojimeter.ratings.bootstrap import bootstrap_study

        self.require_variation()
        return bootstrap_study(self.cube, self.design, self.names.get("system", ()), over, draws, seed)

    def verdict(self, pairs: str = "pooled", margin: float | None = None) -> Verdict:
        """Whether these ratings rank the systems: not_separated, partly, separated or refused."""
        from mojimeter.ratings.verdict import judge, refuse

        try:
            ranking = self.ranking(pairs, margin)
            return judge(self.test("system"), ranking, self.g_study(), self.components(intervals=False), self.design)
        except DesignError as error:
            return refuse(str(error))

    def agreement(
        self, level: str = "interval", seed: int = 1, draws: int = 1000, most: int | None = None
    ) -> Agreement:
        """How far raters agree, cell by cell (item x system); coefficients that see offsets first.

        Intervals draw whole items, whose cells belong together; those of ICCs draw the variance components of complete
        tables whose cells are pairs of an item and a system, and are F intervals otherwise.

        Args:
            level: of measurement of the scores: "nominal", "ordinal", "interval" or "ratio".
            seed: of the draws.
            draws: of the intervals.
            most: about how many ratings to look at, whole items drawn at random; None: all of them.

        Raises:
            DesignError: fewer than two raters.
        """
        from mojimeter.ratings.agreement import agree

        matrix, own = self.matrix(), self.names["rater"]
        names = own if matrix.shape[1] == len(own) else [str(k + 1) for k in range(matrix.shape[1])]
        items = self._items_of_cells()
        if most is not None and self.design.cells > most:
            matrix, items = _draw_items(matrix, items, most / self.design.cells, seed)
        return agree(
            matrix,
            names,
            level=cast("Level", level),
            cluster=items,
            draws=draws,
            seed=seed,
            icc_of_cells=self._icc_of_cells(len(matrix), seed),
        )

    def _icc_of_cells(self, cells: int, seed: int) -> IccOfCells | None:
        """ICCs of so many cells by raters; None where F intervals do, or where nothing else is to be had."""
        from mojimeter.ratings.agreement import has_cells, intraclass_correlations_of_cells

        if not has_cells(self.design):
            return None
        levels = {f: n for f, n in self.design.levels.items() if f != "rater"}
        if prod(levels.values()) != cells and "item" in self.design.nested:
            return None  # items drawn at random leave groups of unequal size
        levels["item"] = cells * levels["item"] // prod(levels.values())

        def correlate(matrix: Floats, draws: int) -> Mapping[str, Estimate]:
            shape = levels | {"rater": matrix.shape[1]}
            design = replace(self.design, levels=shape, cells=matrix.size)
            anova = analyse_variance(matrix.reshape(tuple(shape.values())), design)
            return intraclass_correlations_of_cells(anova, draws, seed)

        return correlate

    def _items_of_cells(self) -> NDArray[np.int64] | None:
        """Item number of each row of `matrix`; None where a cell is an item."""
        if "item" not in self.codes or "system" not in self.codes:
            return None
        cell, counts = count_groups(*combine(self.codes, tuple(f for f in self.design.facets if f != "rater")))
        items = np.empty(counts.size, dtype=np.int64)
        items[cell] = self.codes["item"]
        return items

    def length(self, column: str, tolerance: float = 0.0, higher_is_better: bool = True) -> LengthEffects:
        """Effects of a covariate (length, tokens, emoji count) on the scores, and the ranking without them.

        Args:
            column: numeric column of the table.
            tolerance: outputs whose covariates differ by at most this are of equal length.
            higher_is_better: high scores are good.
        """
        from mojimeter.ratings.length import length_effects

        return length_effects(self, column, tolerance=tolerance, higher_is_better=higher_is_better)


def _draw_items(
    matrix: Floats, items: NDArray[np.int64] | None, share: float, seed: int
) -> tuple[Floats, NDArray[np.int64] | None]:
    """About this share of the cells, whole items at random."""
    rng = np.random.default_rng(seed)
    if items is None:
        kept = np.sort(rng.permutation(len(matrix))[: max(2, round(share * len(matrix)))])
        return matrix[kept], None
    n = int(items.max()) + 1
    drawn = np.zeros(n, dtype=bool)
    drawn[rng.permutation(n)[: max(2, round(share * n))]] = True
    rows = drawn[items]
    return matrix[rows], np.unique(items[rows], return_inverse=True)[1]
