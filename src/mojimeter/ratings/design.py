"""The layout of a rating study: facets, nesting, effects, and which components they can tell apart.

Knows counts and set algebra, nothing of scores. Every later formula (expected mean squares, error terms,
generalizability) is read off the effects that this module lists, so that crossed, nested and fixed
designs need no formulas of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import prod
from typing import Any

from mojimeter.errors import InputError

RESIDUAL = "residual"


class DesignError(InputError):
    """The design cannot answer the question; the message says what would make it answerable."""


def split_parents(parent: str, facets: Iterable[str]) -> tuple[str, ...]:
    """``"item:system"`` as its facets; a facet whose own name holds a colon stays whole."""
    return (parent,) if parent in set(facets) else tuple(parent.split(":"))


@dataclass(frozen=True)
class Effect:
    """A source of variance.

    Attributes:
        name: ``"system"``, ``"item:system"`` (crossed), ``"rater(item)"`` (nested), ``"residual"``.
        facets: every facet that indexes it, nesting ones included.
        primary: the facets that are not there only because another is nested in them.
    """

    name: str
    facets: frozenset[str]
    primary: frozenset[str]


@dataclass(frozen=True)
class Design:
    """Facets with their numbers of levels, what is nested in what, what is fixed, and what is there.

    Attributes:
        levels: facet -> number of levels; of a nested facet, the number within each level of its parent
            (the mean, rounded down, where these differ).
        nested: facet -> the facet it is nested in, or two joined by a colon (``"item:system"``).
        fixed: facets whose levels are all the levels of interest; all others are random samples.
        cells: number of ratings.
        complete: every combination of levels has exactly one rating (nested: equal numbers everywhere).
        inseparable: effect name -> why these data cannot tell it from another (incomplete tables).
    """

    levels: Mapping[str, int]
    nested: Mapping[str, str] = field(default_factory=dict)
    fixed: frozenset[str] = frozenset()
    cells: int = 0
    complete: bool = True
    inseparable: Mapping[str, str] = field(default_factory=dict)

    @property
    def facets(self) -> tuple[str, ...]:
        """Facets in the order of the axes of the cube."""
        return tuple(self.levels)

    @property
    def possible_cells(self) -> int:
        """Number of ratings of the full table."""
        return prod(self.levels.values())

    @property
    def missing(self) -> int:
        """How many ratings the full table has that are not there."""
        return 0 if self.complete else max(self.possible_cells - self.cells, 0)

    def parents(self, facet: str) -> tuple[str, ...]:
        """The facets in whose combinations this one is nested; none if it is crossed."""
        return split_parents(self.nested[facet], self.levels) if facet in self.nested else ()

    def closure(self, facets: Iterable[str]) -> frozenset[str]:
        """The facets with all those in which they are nested."""
        out = set(facets)
        for facet in tuple(out):
            out.update(self.parents(facet))
        return frozenset(out)

    @cached_property
    def effects(self) -> tuple[Effect, ...]:
        """All sources of variance, main effects first; the last one is the residual."""
        seen: dict[frozenset[str], Effect] = {}
        for size in range(1, len(self.levels) + 1):
            for subset in combinations(self.facets, size):
                facets = self.closure(subset)
                if facets not in seen:
                    seen[facets] = self._effect(facets)
        ordered = sorted(seen.values(), key=lambda e: len(e.facets) + 100 * (e.name == RESIDUAL))
        return tuple(ordered)

    def _effect(self, facets: frozenset[str]) -> Effect:
        parents = {p for f in facets for p in self.parents(f)}
        primary = [f for f in self.facets if f in facets and f not in parents]
        if len(facets) == len(self.levels):
            return Effect(RESIDUAL, facets, frozenset(primary))
        inside = [f for f in self.facets if f in facets and f in parents]
        name = ":".join(primary) + (f"({':'.join(inside)})" if inside else "")
        return Effect(name, facets, frozenset(primary))

    def effect(self, name: str) -> Effect:
        """The effect of that name.

        Raises:
            InputError: there is none; names those there are.
        """
        for effect in self.effects:
            if effect.name == name or effect.primary == frozenset([name]):
                return effect
        raise InputError(f"no effect {name!r} in this design; it has {', '.join(e.name for e in self.effects)}")

    def multiplier(self, effect: Effect) -> int:
        """Number of ratings behind one level of the effect: its factor in expected mean squares."""
        return prod(n for f, n in self.levels.items() if f not in effect.facets)

    def count(self, facets: Iterable[str]) -> int:
        """Number of combinations of levels of these facets."""
        wanted = set(facets)
        return prod(n for f, n in self.levels.items() if f in wanted)

    def degrees_of_freedom(self, effect: Effect) -> int:
        """(n - 1) of every primary facet times n of every nesting one."""
        return prod((n - 1) if f in effect.primary else n for f, n in self.levels.items() if f in effect.facets)

    def enters(self, source: Effect, effect: Effect, fixed: frozenset[str] | None = None) -> bool:
        """Whether the component of `source` is in the expected mean square of `effect`.

        Cornfield and Tukey's rule (Brennan 2001, section 3.5): an interaction sums to zero over a fixed
        facet, so it is not in the mean square of an effect that averages over that facet. The residual
        holds the error of measurement and enters everywhere.
        """
        fixed = self.fixed if fixed is None else fixed
        if not source.facets >= effect.facets:
            return False
        return source.name == RESIDUAL or not (source.primary - effect.facets) & fixed

    def object_facets(self, name: str) -> frozenset[str]:
        """Facets that make up an object of measurement, checked.

        Raises:
            InputError: the design has no such facet.
        """
        if name not in self.levels:
            raise DesignError(f"no facet {name!r} in this study; the object can be {' or '.join(self.levels)}")
        return self.closure([name])

    def require_levels(self, facet: str, need: str, origin: str = "") -> None:
        """Refuse, by name, a facet with fewer than two levels.

        Raises:
            DesignError: the facet has one level; `need` says what that makes impossible.
        """
        if self.levels.get(facet, 2) < 2:
            where = f"{origin}: " if origin else ""
            raise DesignError(f"{where}only one {facet}: {need}; at least two {facet}s are needed")

    def formula(self, score: str = "score", estimated: Iterable[str] | None = None) -> str:
        """The model in lme4's notation, random effects unless fixed; the residual is implicit."""
        wanted = None if estimated is None else set(estimated)
        fixed_part, random_part = ["1"], []
        for effect in self.effects[:-1]:
            if wanted is not None and effect.name not in wanted:
                continue
            grouping = ":".join(f for f in self.facets if f in effect.facets)
            if effect.facets <= self.fixed:
                fixed_part.append(grouping)
            else:
                random_part.append(f"(1 | {grouping})")
        return f"{score} ~ " + " + ".join(fixed_part + random_part)

    def describe(self) -> str:
        """One line for people: ``290 items x 8 systems x 3 raters = 6,960 ratings, complete``."""
        parts = []
        for facet, n in self.levels.items():
            word = f"{n:,} {facet}{'s' if n != 1 else ''}"
            parts.append(f"{word} per {' x '.join(self.parents(facet))}" if facet in self.nested else word)
        missing = "complete" if self.complete else f"{self.missing:,} of {self.possible_cells:,} missing"
        if not self.complete and self.nested:
            missing = "unequal numbers"
        text = f"{' x '.join(parts)}: {self.cells:,} ratings, {missing}"
        return text + (f"; {', '.join(sorted(self.fixed))} fixed" if self.fixed else "")

    def to_dict(self) -> dict[str, Any]:
        """Counts as in the contract; nesting and fixed facets where there are any."""
        out: dict[str, Any] = dict(self.levels)
        out |= {"cells": self.cells, "missing": self.missing}
        if self.nested:
            out["nested"] = dict(self.nested)
        if self.fixed:
            out["fixed"] = sorted(self.fixed)
        if self.inseparable:
            out["inseparable"] = dict(self.inseparable)
        return out
