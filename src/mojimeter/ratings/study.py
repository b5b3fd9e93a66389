"""A rating study: who rated what, with which score, and every question that can be asked of it.

`Study` reads and checks the table, finds out which design it is and hands the arrays to the module that
answers the question. It needs numpy, scipy, polars and narwhals only, and knows nothing of emoji or models.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from mojimeter.errors import InputError
from mojimeter.ratings.anova import Anova, analyse_variance
from mojimeter.ratings.design import Design, DesignError
from mojimeter.ratings.layout import CodedLayout, combine, count_groups, lay_out
from mojimeter.ratings.reading import CodedRatings, read_ratings

Floats = NDArray[np.float64]
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
    ) -> None:
        columns = {role: c for role, c in zip(ROLES, (item, system, rater), strict=True) if c is not None}
        if len(columns) < 2:
            raise InputError("a rating study needs at least two of item, system and rater columns")
        parents = dict(nested or {})
        groups = [p for p in parents.values() if not set(p.split(":")) <= set(columns)]
        facets = {group: group for group in groups} | columns
        scores = (score,) if isinstance(score, str) else tuple(score)
        ratings = read_ratings(data, facets, scores, mapping)
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
        self.design.require_levels("rater", "rater", "nobody to agree with")
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

    def require_variation(self) -> None:
        """Refuse scores that are all equal.

        Raises:
            InputError: they are.
        """
        values = self.values
        if values.min() == values.max():
            raise InputError(
                f"{self.origin}: column {self.score!r}: all {values.size:,} scores are {values[0]:g}; "
                "where nothing varies nothing can be compared"
            )

    def anova(self) -> Anova:
        """Sums of squares, degrees of freedom and mean squares of every effect of a complete table.

        Raises:
            DesignError: the table is incomplete.
        """
        return self._anova

    @cached_property
    def _anova(self) -> Anova:
        return analyse_variance(self.cube, self.design)
