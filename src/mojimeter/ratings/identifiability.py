"""What a table of ratings cannot tell apart, and what would make it answerable.

Looks only at who rated what, never at the scores: terms whose groupings coincide, terms whose effects are mixed up
in a subtler way, systems on islands. Knows integer codes and names; nothing of estimation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mojimeter.ratings.blocks import BlockedModel
from mojimeter.ratings.design import RESIDUAL, DesignError

Codes = NDArray[Any]

# Smallest eigenvalue of the scaled information that still counts as information.
_TOLERANCE = 1e-9


class UnidentifiableError(DesignError):
    """The data cannot tell some terms apart (exit code 2).

    Attributes:
        terms: names of the terms.
        remedy: what would make them distinguishable.
    """

    def __init__(self, message: str, terms: Sequence[str], remedy: str) -> None:
        super().__init__(f"{message}; {remedy}")
        self.terms = tuple(terms)
        self.remedy = remedy


def check_groupings(random: Mapping[str, Codes], fixed: Mapping[str, Codes], n: int) -> None:
    """Refuse terms whose groupings coincide with each other, with the ratings, or with nothing at all.

    Args:
        random: term -> level number of each rating.
        fixed: likewise.
        n: number of ratings.

    Raises:
        UnidentifiableError: names the terms and what would tell them apart.
    """
    partitions = {name: _partition(codes) for name, codes in {**fixed, **random}.items()}
    for name in random:
        _check_levels(name, int(partitions[name].max()) + 1, n)
    names = list(partitions)
    for i, one in enumerate(names):
        for other in names[max(i + 1, len(fixed)) :]:
            if np.array_equal(partitions[one], partitions[other]):
                raise _coinciding(one, other)


def check_information(model: BlockedModel) -> None:
    """Refuse a model whose variances the data cannot tell apart, however cleverly.

    The information that the data hold on the variances, tr(M V_k M V_l) with M the projection off the fixed
    effects, is singular exactly when the covariance matrices V_k are linearly dependent off the fixed effects:
    then no estimator can tell the variances apart (Rao & Kleffe 1988, *Estimation of Variance Components*, ch. 4).

    Raises:
        UnidentifiableError: names the terms and what is missing.
    """
    if model.n <= model.p:
        raise UnidentifiableError(
            f"{model.n} ratings for {model.p} means leave nothing to estimate variances from",
            model.terms,
            "more ratings are needed",
        )
    variances = np.zeros(len(model.terms))
    variances[-1] = 1.0
    dependent = _dependent(model.evaluate(variances).expected)
    if dependent:
        terms = [model.terms[k] for k in dependent]
        raise UnidentifiableError(
            f"these ratings cannot tell the variance of {_listed(terms)} apart", terms, _remedy(terms)
        )


def _check_levels(name: str, levels: int, n: int) -> None:
    if levels == 1:
        raise UnidentifiableError(
            f"there is only one {name}, so its variance cannot be told from the mean",
            [name],
            f"at least two are needed, or leave {name} out",
        )
    if levels == n:
        raise UnidentifiableError(
            f"every {name} has one rating, so its variance cannot be told from the residual",
            [name, RESIDUAL],
            f"at least some {name} need a second rating, or leave {name} out",
        )


def _coinciding(one: str, other: str) -> UnidentifiableError:
    return UnidentifiableError(
        f"{one} and {other} group the ratings in the same way, so they cannot be told apart",
        [one, other],
        f"cross them (let some {one} meet two {other}), or leave one of them out",
    )


def _remedy(terms: Sequence[str]) -> str:
    if RESIDUAL in terms:
        return "more of the cells need ratings by several raters, or leave one of these terms out"
    return "more items or raters in common are needed, or leave one of these terms out"


def _dependent(information: NDArray[np.float64]) -> list[int]:
    """Terms that take part in a direction without information."""
    diagonal = np.diagonal(information)
    empty = np.flatnonzero(diagonal <= _TOLERANCE * diagonal.max())
    if empty.size:
        return [int(k) for k in empty]
    size = np.sqrt(diagonal)
    values, vectors = np.linalg.eigh(information / np.outer(size, size))
    if values[0] > _TOLERANCE:
        return []
    return [int(k) for k in np.flatnonzero(np.abs(vectors[:, 0]) > 1e-4)]


def _partition(codes: Codes) -> NDArray[np.int64]:
    """Level numbers in order of first appearance: equal for two groupings exactly when they coincide."""
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    number = np.empty(first.size, dtype=np.int64)
    number[np.argsort(first)] = np.arange(first.size)
    return number[inverse]


@dataclass(frozen=True)
class Islands:
    """How far the systems are tied together by common items and raters.

    Attributes:
        apart: groups of systems that share no item and no rater, directly or by a chain; one group if all are tied.
        only_between: groups of systems whose differences cannot be estimated with items and raters fixed: every
            comparison of one group with another is at the same time one between different items or raters.
    """

    apart: tuple[tuple[int, ...], ...]
    only_between: tuple[tuple[int, ...], ...]

    @property
    def caution(self) -> str | None:
        """What a comparison of all systems rests on, if not on common items and raters."""
        if len(self.only_between) < 2:
            return None
        return (
            f"the systems fall into {len(self.only_between)} groups that are compared only across different items or "
            "raters, so a difference between groups holds that of the items or raters too; it rests on these being "
            "random samples"
        )


def find_islands(system: Codes, others: Sequence[Codes]) -> Islands:
    """Groups of systems that common items and raters tie together.

    `apart` are the connected components of the graph that joins a system with every item and rater it met.
    `only_between` comes from the additive fixed-effects model (Searle 1971, *Linear Models*, section 7.4): two
    systems are in one group when their difference is estimable, that is, equal in every null vector of the
    information on systems and the smaller facets once the largest is swept out.

    Args:
        system: level number of each rating.
        others: the same for items and raters; none: nothing is known that could part them.
    """
    system = _partition_sorted(system)
    others = [_partition_sorted(c) for c in others]
    return Islands(_connected(system, others), _estimable(system, others))


def check_systems(groups: Mapping[str, Codes]) -> Islands:
    """Refuse systems that no chain of common items and raters ties together.

    Args:
        groups: term -> level number of each rating; "system" and main effects of other facets are looked at.

    Raises:
        UnidentifiableError: names the islands and what would join them.
    """
    others = [name for name in groups if name != "system" and ":" not in name and "system" not in name]
    islands = find_islands(groups["system"], [groups[name] for name in others])
    if len(islands.apart) > 1:
        first, second = islands.apart[:2]
        raise UnidentifiableError(
            f"systems {_some(first)} and systems {_some(second)} share no {' and no '.join(others)}, so they cannot be "
            "compared",
            ["system"],
            f"one {others[-1]} in common would join them",
        )
    return islands


def _connected(system: Codes, others: Sequence[Codes]) -> tuple[tuple[int, ...], ...]:
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    n_systems = int(system.max()) + 1
    rows, columns, size = [], [], n_systems
    for codes in others:
        rows.append(system)
        columns.append(codes + size)
        size += int(codes.max()) + 1
    if not rows:
        return (tuple(range(n_systems)),)
    row, column = np.concatenate(rows), np.concatenate(columns)
    graph = coo_matrix((np.ones(row.size, dtype=np.int8), (row, column)), shape=(size, size))
    _, label = connected_components(graph, directed=False)
    return _groups(label[:n_systems])


def _estimable(system: Codes, others: Sequence[Codes]) -> tuple[tuple[int, ...], ...]:
    n_systems = int(system.max()) + 1
    if not others:
        return (tuple(range(n_systems)),)
    by_size = sorted(others, key=lambda c: int(c.max()), reverse=True)
    swept, kept = by_size[0], [system, *by_size[1:]]
    offsets = np.cumsum([0, *(int(c.max()) + 1 for c in kept)])
    q, n_swept = int(offsets[-1]), int(swept.max()) + 1
    counts = np.zeros((n_swept, q))
    for c, offset in zip(kept, offsets, strict=False):
        np.add.at(counts, (swept, c + offset), 1.0)
    information = np.zeros((q, q))
    for a, offset_a in zip(kept, offsets, strict=False):
        for b, offset_b in zip(kept, offsets, strict=False):
            np.add.at(information, (a + offset_a, b + offset_b), 1.0)
    information -= (counts / counts.sum(axis=1, keepdims=True) * len(kept)).T @ counts
    values, vectors = np.linalg.eigh(information)
    null = vectors[:n_systems, values < 1e-9 * max(1.0, float(values[-1]))]
    # rotating the null space changes nothing: compare systems by distances between their rows
    rounded = np.round(null @ null.T, 6)
    return _groups(np.unique(rounded, axis=0, return_inverse=True)[1])


def _groups(labels: Codes) -> tuple[tuple[int, ...], ...]:
    found: dict[int, list[int]] = {}
    for system, label in enumerate(labels.tolist()):
        found.setdefault(label, []).append(system)
    return tuple(tuple(g) for g in sorted(found.values()))


def _partition_sorted(codes: Codes) -> NDArray[np.int64]:
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)


def _some(members: Sequence[int]) -> str:
    shown = ", ".join(str(m) for m in members[:3])
    return "{" + shown + (f" and {len(members) - 3} more" if len(members) > 3 else "") + "}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + f" and {names[-1]}" if len(names) > 1 else names[0]
