"""From coded ratings to a design: what is nested in what, what is missing, what hangs together.

Knows integer codes; nothing of scores. Refuses tables that are not a study (double ratings, parts
that share nothing) in one sentence each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from mojimeter.errors import InputError
from mojimeter.ratings.design import Design, DesignError, split_parents
from mojimeter.ratings.reading import CodedRatings

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]


@dataclass(frozen=True)
class CodedLayout:
    """A design with the codes that put each rating in its place.

    Attributes:
        design: the layout.
        codes: facet -> level number of each rating; levels of a nested facet are numbered over all
            parents, so that two parents never share one.
        names: facet -> level names, matching `codes`.
        cells: position of each rating in the flattened cube (complete tables only, else empty).
    """

    design: Design
    codes: Mapping[str, Codes]
    names: Mapping[str, tuple[str, ...]]
    cells: Ints


def lay_out(ratings: CodedRatings, nested: Mapping[str, str], fixed: frozenset[str]) -> CodedLayout:
    """Find the design of coded ratings.

    Args:
        ratings: the coded table; facets named in `nested` as parents come before the others.
        nested: facet -> parent.
        fixed: facets that are fixed.

    Raises:
        InputError: double ratings, unknown facets, or parts of the table that share nothing.
    """
    codes = dict(ratings.codes)
    names = dict(ratings.names)
    facets = tuple(codes)
    _check_facets(facets, nested, fixed, ratings.origin)
    nested = nested or _find_nesting(codes)
    within: dict[str, Ints] = {}
    levels: dict[str, int] = {}
    equal = True
    for facet in facets:
        if facet not in nested:
            within[facet], levels[facet] = codes[facet].astype(np.int64), len(names[facet])
            continue
        parents = split_parents(nested[facet], facets)
        codes[facet], names[facet], within[facet], counts = _renumber(facet, parents, codes, names)
        levels[facet] = int(counts.mean())
        equal = equal and counts.min() == counts.max()
    n = len(next(iter(codes.values())))
    _refuse_double_ratings(codes, ratings)
    complete = equal and n == prod(levels.values())
    design = Design(levels, dict(nested), fixed, n, complete)
    if complete:
        cells = np.zeros(n, dtype=np.int64)
        for facet in facets:
            cells = cells * levels[facet] + within[facet]
        return CodedLayout(design, codes, names, cells)
    _refuse_disconnected(codes, names, nested, ratings.origin)
    design = replace(design, inseparable=_inseparable(design, codes, names))
    return CodedLayout(design, codes, names, np.empty(0, dtype=np.int64))


def _check_facets(facets: tuple[str, ...], nested: Mapping[str, str], fixed: frozenset[str], origin: str) -> None:
    for facet in [*nested, *fixed]:
        if facet not in facets:
            raise InputError(f"{origin}: no facet {facet!r} in this study; it has {', '.join(facets)}")
    for facet, parent in nested.items():
        parents = split_parents(parent, facets)
        strange = any(p not in facets or p in nested or p == facet for p in parents)
        if strange or facet == "system" or len(set(parents)) != len(parents) or "rater" in parents:
            raise DesignError(
                f"{origin}: {facet} nested in {parent} is not a design mojimeter knows; expected rater:item or "
                "rater:item:system (raters of their own for every item or cell) or item:COLUMN (items in groups)"
            )


def _find_nesting(codes: Mapping[str, Codes]) -> dict[str, str]:
    """Raters who cannot be crossed: none of them rated two items, or even two cells."""
    if "rater" not in codes or "item" not in codes:
        return {}
    if "system" in codes and _determines(codes, "rater", ("item", "system")):
        return {"rater": "item:system"}
    return {"rater": "item"} if _determines(codes, "rater", ("item",)) else {}


def _determines(codes: Mapping[str, Codes], facet: str, parents: tuple[str, ...]) -> bool:
    """Whether every level of a facet occurs with one combination of the parents, and some share one."""
    group, counts = count_groups(*combine(codes, parents))
    own = codes[facet]
    n_own = int(own.max()) + 1
    if counts.size < 2 or n_own <= counts.size:
        return False
    first = np.empty(n_own, dtype=np.int64)
    first[own] = group
    return bool((first[own] == group).all())


def _renumber(
    facet: str, parents: tuple[str, ...], codes: Mapping[str, Codes], names: Mapping[str, tuple[str, ...]]
) -> tuple[Codes, tuple[str, ...], Ints, Ints]:
    """Number the levels of a nested facet over all parents, and within each parent."""
    n_own = len(names[facet])
    group, group_sizes = count_groups(*combine(codes, parents))
    found, inverse = np.unique(group * n_own + codes[facet], return_inverse=True)
    of_parent = found // n_own
    counts = np.bincount(of_parent, minlength=group_sizes.size)
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    own = [names[facet][i] for i in (found % n_own).tolist()]
    if len(set(own)) < len(own):
        first_row = np.zeros(group_sizes.size, dtype=np.int64)
        first_row[group] = np.arange(group.size)
        labels = ["/".join(names[p][int(codes[p][row])] for p in parents) for row in first_row.tolist()]
        own = [f"{labels[g]}/{name}" for g, name in zip(of_parent.tolist(), own, strict=True)]
    return inverse.astype(np.int32), tuple(own), inverse - starts[of_parent[inverse]], counts


def combine(codes: Mapping[str, Codes], facets: tuple[str, ...]) -> tuple[Ints, int]:
    """One number per combination of levels of some facets, not necessarily all used, and how many can be."""
    key = np.zeros(len(next(iter(codes.values()))), dtype=np.int64)
    size = 1
    for facet in facets:
        n = int(codes[facet].max()) + 1
        key = key * n + codes[facet]
        size *= n
    return key, size


def count_groups(key: Ints, size: int) -> tuple[Ints, Ints]:
    """Compact group number of each row, and the number of rows of each group."""
    if size <= 4 * key.size + 1024:
        counts = np.bincount(key, minlength=size)
        used = counts > 0
        position = np.cumsum(used) - 1
        return position[key], counts[used]
    _, inverse, counts = np.unique(key, return_inverse=True, return_counts=True)
    return inverse, counts


def _refuse_double_ratings(codes: Mapping[str, Codes], ratings: CodedRatings) -> None:
    key, size = combine(codes, tuple(codes))
    group, counts = count_groups(key, size)
    if counts.max() == 1:
        return
    doubled = int(counts.argmax())
    rows = np.flatnonzero(group == doubled)[:2]
    which = ", ".join(f"{f} {ratings.names[f][int(ratings.codes[f][rows[0]])]!r}" for f in ratings.codes)
    extra = int((counts - 1).sum())
    raise InputError(
        f"{ratings.origin}: rows {rows[0] + 1} and {rows[1] + 1} both rate {which}; expected one rating each"
        + (f" ({extra:,} double ratings in all)" if extra > 1 else "")
    )


def _refuse_disconnected(
    codes: Mapping[str, Codes], names: Mapping[str, tuple[str, ...]], nested: Mapping[str, str], origin: str
) -> None:
    """Refuse systems (or raters) that no chain of shared items and raters ties together."""
    anchor = "system" if "system" in codes else "rater"
    if anchor in nested:
        return
    others = [f for f in codes if f != anchor]
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    n_anchor = len(names[anchor])
    rows, columns, offset = [], [], n_anchor
    for other in others:
        rows.append(codes[anchor].astype(np.int64))
        columns.append(codes[other].astype(np.int64) + offset)
        offset += len(names[other])
    row, column = np.concatenate(rows), np.concatenate(columns)
    graph = coo_matrix((np.ones(row.size, dtype=np.int8), (row, column)), shape=(offset, offset))
    parts, label = connected_components(graph, directed=False)
    if parts == 1:
        return
    first = [names[anchor][i] for i in range(n_anchor) if label[i] == label[0]]
    rest = [names[anchor][i] for i in range(n_anchor) if label[i] != label[0]]
    raise DesignError(
        f"{origin}: {anchor} {_some(first)} and {anchor} {_some(rest)} share no {' and no '.join(others)}, so "
        f"they cannot be compared; ratings of both kinds by one rater, on one item, would tie them together"
    )


def _some(names: list[str]) -> str:
    shown = ", ".join(repr(n) for n in names[:3])
    return shown + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _inseparable(design: Design, codes: Mapping[str, Codes], names: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Effects that divide the ratings exactly as a larger effect does, and what would tell them apart."""
    groups = {}
    for effect in design.effects:
        facets = tuple(f for f in design.facets if f in effect.facets)
        groups[effect.name] = len(count_groups(*combine(codes, facets))[1])
    out = {}
    for effect in design.effects:
        for larger in design.effects:
            if effect.facets < larger.facets and groups[effect.name] == groups[larger.name]:
                extra = " and ".join(sorted(larger.facets - effect.facets))
                out[effect.name] = (
                    f"every {effect.name} has one {extra}, so it cannot be told from {larger.name}; "
                    f"at least some {effect.name} combinations need two {extra}s"
                )
                break
    return out
