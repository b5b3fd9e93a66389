"""Who rates which items, and in which order: the randomisation that sheets and the web app share.

Items (or groups of cells that belong together) are dealt to raters evenly, and each rater's order is balanced for
position. Knows numbers of items, treatments and raters; nothing of texts, names or ratings. A treatment is what is
compared within an item: a system.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]

#: Exchanges that `deal` tries before it takes the most even sharing that it has found.
_TRIES = 20_000


def deal(items: int, raters: int, each: int, rng: np.random.Generator) -> list[list[int]]:
    """Items to raters: equal loads, equal raters per item, and pairs of raters that share equally many items.

    A first greedy dealing is made even by exchanges: two raters swap two items if pairs of raters then share more
    evenly. Loads and numbers of raters per item are equal, or within one where they cannot be; so are the items that
    pairs of raters share, unless no such design was found.

    Args:
        items: how many there are.
        raters: how many raters.
        each: items of each rater, at most `items`.
        rng: decides ties and exchanges.

    Returns:
        For each rater, the numbers of the items, ascending.
    """
    has = _deal_greedily(items, raters, each, rng)
    _share_evenly(has, rng)
    return [np.flatnonzero(row).tolist() for row in has]


def _deal_greedily(items: int, raters: int, each: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Raters x items: item by item to those who have most left to take and share least with each other."""
    total = raters * each
    # the items that get one rater more than the others are drawn
    wanted = np.full(items, total // items)
    wanted[rng.permutation(items)[: total % items]] += 1
    left = np.full(raters, each)
    shared = np.zeros((raters, raters))
    has = np.zeros((raters, items), dtype=bool)
    for item in sorted(rng.permutation(items).tolist(), key=lambda k: -int(wanted[k])):
        chosen: list[int] = []
        for _ in range(int(wanted[item])):
            free = [r for r in range(raters) if r not in chosen and left[r] > 0]
            if not free:
                break
            best = min(free, key=lambda r: (-left[r], float(shared[r, chosen].sum()), float(rng.random())))
            chosen.append(best)
            left[best] -= 1
        for a, b in combinations(chosen, 2):
            shared[a, b] += 1
            shared[b, a] += 1
        has[chosen, item] = True
    return has


def _share_evenly(has: NDArray[np.bool_], rng: np.random.Generator) -> None:
    """Exchange items between raters, in place, until all pairs of raters share equally many, to within one."""
    raters = has.shape[0]
    if raters < 3:
        return  # a single pair shares what loads and raters per item leave it
    shared: Counts = has.astype(np.int64) @ has.T.astype(np.int64)
    first, second = np.triu_indices(raters, 1)
    for _ in range(_TRIES):
        counts = shared[first, second]
        low, high, mean = counts.min(), counts.max(), counts.mean()
        if high - low <= 1:
            return
        # of the pairs furthest from the mean, one that shares too much gives an item away, too little gets one
        much = high - mean >= mean - low
        pair = rng.choice(np.flatnonzero(counts == (high if much else low)))
        one, other = (first[pair], second[pair]) if rng.random() < 0.5 else (second[pair], first[pair])
        if much:
            a, item = one, _draw(has[one] & has[other], rng)
            b = -1 if item < 0 else _draw(~has[:, item], rng)
        else:
            b, item = one, _draw(has[other] & ~has[one], rng)
            a = -1 if item < 0 else _draw(has[:, item] & (np.arange(raters) != other), rng)
        if a >= 0 and b >= 0:
            _exchange(has, shared, int(a), int(b), item, rng)


def _draw(mask: NDArray[np.bool_], rng: np.random.Generator) -> int:
    """One of the true places; -1 where there is none."""
    places = np.flatnonzero(mask)
    return int(rng.choice(places)) if places.size else -1


def _exchange(has: NDArray[np.bool_], shared: Counts, a: int, b: int, item: int, rng: np.random.Generator) -> None:
    """Rater a gives `item` to b and gets another one back, unless pairs would then share less evenly."""
    back = _draw(has[b] & ~has[a], rng)
    if back < 0:
        return
    # what a gains with each other rater, b loses; what a and b share stays
    gain = has[:, back].astype(np.int64) - has[:, item]
    gain[[a, b]] = 0
    # the sum of squares falls as sharing becomes more even, while the sum itself stays
    if (gain * (shared[a] - shared[b] + gain)).sum() <= 0:
        shared[a] += gain
        shared[b] -= gain
        shared[:, a], shared[:, b] = shared[a], shared[b]
        has[a, item], has[b, item], has[b, back], has[a, back] = False, True, False, True


def williams(treatments: int) -> list[list[int]]:
    """Rows of a Williams design: a Latin square in which every treatment follows every other equally often.

    For an odd number two squares are needed, one the mirror of the other (Williams 1949, Australian Journal of
    Scientific Research A 2, 149-168).

    >>> williams(4)
    [[0, 3, 1, 2], [1, 0, 2, 3], [2, 1, 3, 0], [3, 2, 0, 1]]
    """
    base = [k // 2 if k % 2 == 0 else treatments - (k + 1) // 2 for k in range(treatments)]
    rows = [[(b + shift) % treatments for b in base] for shift in range(treatments)]
    return rows if treatments % 2 == 0 else rows + [list(reversed(row)) for row in rows]


def order_in_rounds(
    items: Sequence[int],
    treatments: int,
    rater: int,
    there: AbstractSet[tuple[int, int]],
    rng: np.random.Generator,
) -> list[tuple[int, int]]:
    """One rater's order: a round for each treatment, every item once a round, each time with another treatment.

    Which treatment an item shows in which round is a row of a Williams design, the next row for the next item and for
    the next rater. So in every round each treatment comes equally often (to within one); over as many raters as there
    are treatments each item and treatment comes once in every round, early and late alike. Within a round the order
    is random, and an item never follows itself where there are others.

    Args:
        items: the numbers of this rater's items, in an order that is the same for all raters.
        treatments: how many there are.
        rater: number of the rater, from 0.
        there: the (item, treatment) pairs that exist.
        rng: decides the order within rounds.

    Returns:
        (item, treatment) pairs.
    """
    square = williams(treatments)
    mirrored = treatments if len(square) > treatments and (rater // treatments) % 2 else 0
    out: list[tuple[int, int]] = []
    for turn in range(treatments):
        round_ = [
            (item, square[mirrored + (rank + rater) % treatments][turn])
            for rank, item in enumerate(items)
            if (item, square[mirrored + (rank + rater) % treatments][turn]) in there
        ]
        round_ = [round_[k] for k in rng.permutation(len(round_)).tolist()]
        if len(round_) > 1 and out and round_[0][0] == out[-1][0]:
            round_[0], round_[1] = round_[1], round_[0]
        out.extend(round_)
    return out
