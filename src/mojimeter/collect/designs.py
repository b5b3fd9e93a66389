"""Who rates which cells in which order: the designs, with repeats and attention items woven in.

A rater takes a slot of the design; slot and seed decide everything, so raters may be invited at any time. The
randomisation itself is ``ratings.orders``'. Knows cells by number, group and treatment; nothing of texts or systems'
names, and no database.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import Final, Literal

import numpy as np

from mojimeter.collect.material import Kind
from mojimeter.collect.study import StudyConfig
from mojimeter.errors import InputError
from mojimeter.ratings.orders import deal, order_in_rounds

# First numbers of the seeds of what is drawn for the study, for a dealing, and for one rater.
_OF_STUDY: Final = 0
_OF_DEAL: Final = 1
_OF_SLOT: Final = 2
#: How many arrangements of repeats are tried before they all go to the end.
_TRIES: Final = 200


@dataclass(frozen=True)
class PlacedCell:
    """A cell as the designs see it.

    Attributes:
        id: its opaque name.
        group: what should not stand next to itself: an item, or the pair that two items are conditions of.
        treatment: what is compared within a group.
    """

    id: str
    group: str
    treatment: str
    kind: Kind = "main"


@dataclass(frozen=True)
class Assignment:
    """What one rater sees at one position, from 1; ``repeat_of`` is the position of the first showing."""

    position: int
    cell_id: str
    part: Literal["training", "main"]
    repeat_of: int | None = None


@dataclass(frozen=True)
class _Layout:
    """The main cells as numbers: (group, treatment) -> cell id."""

    groups: int
    treatments: int
    cells: dict[tuple[int, int], str]


def check_design(config: StudyConfig, cells: Sequence[PlacedCell]) -> None:
    """Refuse numbers that do not go together.

    Raises:
        InputError: says which numbers would.
    """
    layout = _layout(config, cells)
    if not layout.cells:
        raise InputError("nothing to rate: no output has a text")
    if config.attention > sum(c.kind == "attention" for c in cells):
        available = sum(c.kind == "attention" for c in cells)
        raise InputError(f"attention = {config.attention}: there are {available} items with a known answer")
    if config.design == "incomplete":
        _items_each(config, layout)
    if config.design == "nested":
        _teams(config, layout)


def slots(config: StudyConfig) -> int | None:
    """How many raters the design has places for; None: any number.

    A crossed design takes anybody more. An incomplete one is dealt again for the next ``raters`` raters. A nested one
    is full once every group of items has its raters.
    """
    return config.raters if config.design == "nested" else None


def assign(slot: int, cells: Sequence[PlacedCell], config: StudyConfig) -> list[Assignment]:
    """Everything that the rater in this slot (from 0) sees, in order: training, then the main part.

    Args:
        slot: which rater of the design.
        cells: all cells of the study, always in the same order.
        config: design, repeats, attention, seed.

    Raises:
        InputError: the numbers of the design do not go together, or there is no such slot.
    """
    layout = _layout(config, cells)
    rng = np.random.default_rng([config.seed, _OF_SLOT, slot])
    rank = np.random.default_rng([config.seed, _OF_STUDY]).permutation(layout.groups)
    own = sorted(_groups_of(slot, layout, config), key=lambda g: int(rank[g]))
    order = order_in_rounds(own, layout.treatments, slot, layout.cells.keys(), rng)
    shown = [(layout.cells[pair], pair[0]) for pair in order]
    checks = [c.id for c in cells if c.kind == "attention"][: config.attention]
    main = _with_checks(shown, checks, rng)
    repeated = _with_repeats(main, round(config.repeats * len(shown)), rng)
    training = [Assignment(k, c.id, "training") for k, c in enumerate((c for c in cells if c.kind == "training"), 1)]
    first = len(training) + 1
    out = [
        Assignment(first + k, cell, "main", None if earlier is None else first + earlier)
        for k, (cell, earlier) in enumerate(repeated)
    ]
    return training + out


def _layout(config: StudyConfig, cells: Sequence[PlacedCell]) -> _Layout:
    main = [c for c in cells if c.kind == "main"]
    groups = {g: k for k, g in enumerate(dict.fromkeys(c.group for c in main))}
    names = list(dict.fromkeys(c.treatment for c in main))
    # which treatment has which row of the square is drawn, or the order of the file would decide
    drawn = np.random.default_rng([config.seed, _OF_STUDY, len(names)]).permutation(len(names)).tolist()
    turn = dict(zip(names, drawn, strict=True))
    return _Layout(len(groups), len(names), {(groups[c.group], turn[c.treatment]): c.id for c in main})


def _groups_of(slot: int, layout: _Layout, config: StudyConfig) -> list[int]:
    places = slots(config)
    if places is not None and slot >= places:
        raise InputError(f"the nested design has places for {places} raters, all taken; raise raters before inviting")
    if config.design == "crossed":
        return list(range(layout.groups))
    if config.design == "nested":
        parts = _teams(config, layout)
        return parts[slot // config.raters_per_item]
    replicate, place = divmod(slot, config.raters)
    rng = np.random.default_rng([config.seed, _OF_DEAL, replicate])
    return deal(layout.groups, config.raters, _items_each(config, layout), rng)[place]


def _items_each(config: StudyConfig, layout: _Layout) -> int:
    """Groups of each rater in the incomplete design."""
    each, rest = divmod(config.cells_per_rater, layout.treatments)
    if rest or not 1 <= each <= layout.groups:
        fitting = min(max(each, ceil(layout.groups / config.raters)), layout.groups) * layout.treatments
        raise InputError(
            f"cells_per_rater = {config.cells_per_rater}: each rater sees all {layout.treatments} outputs of an "
            f"item, so expected a multiple of {layout.treatments} up to {layout.groups * layout.treatments}, such as "
            f"{fitting}"
        )
    if config.raters * each < layout.groups:
        raise InputError(
            f"{config.raters} raters with {config.cells_per_rater} cells each leave items without a rating; "
            f"expected at least {ceil(layout.groups / config.raters) * layout.treatments} cells each"
        )
    return each


def _teams(config: StudyConfig, layout: _Layout) -> list[list[int]]:
    """The groups of items of each team of the nested design, drawn."""
    teams, rest = divmod(config.raters, config.raters_per_item)
    if rest or not 1 <= teams <= layout.groups:
        raise InputError(
            f"raters = {config.raters} with raters_per_item = {config.raters_per_item}: expected a multiple of "
            f"{config.raters_per_item} up to {config.raters_per_item * layout.groups}"
        )
    drawn = np.random.default_rng([config.seed, _OF_DEAL]).permutation(layout.groups)
    return [part.tolist() for part in np.array_split(drawn, teams)]


def _with_checks(
    shown: list[tuple[str, int]], checks: Sequence[str], rng: np.random.Generator
) -> list[tuple[str, int | None]]:
    """The cells with one attention item somewhere in each of as many stretches of equal length."""
    out: list[tuple[str, int | None]] = list(shown)
    n = len(shown)
    order = [checks[k] for k in rng.permutation(len(checks)).tolist()]
    places = [int(rng.integers(k * n // len(order), (k + 1) * n // len(order) + 1)) for k in range(len(order))]
    for place, check in reversed(list(zip(places, order, strict=True))):
        out.insert(place, (check, None))
    return out


def _with_repeats(
    main: list[tuple[str, int | None]], wanted: int, rng: np.random.Generator
) -> list[tuple[str, int | None]]:
    """Cells in order, some a second time, at least a third of the session later.

    Returns:
        (cell, place of its first showing or None), places from 0.
    """
    n = len(main)
    repeatable = [k for k, (_, group) in enumerate(main) if group is not None]
    early = [k for k in repeatable if k < n / 2]
    pool = early if len(early) >= wanted else repeatable[:wanted]
    firsts = sorted(pool[k] for k in rng.choice(len(pool), size=min(wanted, len(pool)), replace=False).tolist())
    far = ceil((n + len(firsts)) / 3)
    best, fewest = [*range(n), *firsts], len(main)  # all at the end, in the same order: far enough always
    for _ in range(_TRIES if firsts else 0):
        tried = _woven(n, firsts, [int(rng.integers(min(first + far, n), n + 1)) for first in firsts])
        flaws = _neighbours(main, tried)
        if flaws < fewest and _shortest_wait(tried) >= far:
            best, fewest = tried, flaws
        if fewest <= _neighbours(main, range(n)):
            break
    seen: dict[int, int] = {}
    # the first showing has no place to point to, and becomes the place that the second points to
    return [(main[k][0], None if seen.setdefault(k, place) == place else seen[k]) for place, k in enumerate(best)]


def _woven(n: int, firsts: Sequence[int], before: Sequence[int]) -> list[int]:
    """Places 0 to n - 1, and each of the first showings again before the place that is named for it."""
    again = sorted(zip(before, firsts, strict=True))
    keyed = [(place, 1, place) for place in range(n)] + [(place, 0, first) for place, first in again]
    return [k for _, _, k in sorted(keyed)]


def _shortest_wait(order: Sequence[int]) -> int:
    """The fewest places between a first showing and its repeat."""
    last = {k: place for place, k in enumerate(order)}
    first = {k: place for place, k in reversed(list(enumerate(order)))}
    return min(last[k] - first[k] for k in first if last[k] > first[k])


def _neighbours(main: list[tuple[str, int | None]], order: Sequence[int]) -> int:
    """How often a group follows itself."""
    groups = [main[k][1] for k in order]
    return sum(a == b and a is not None for a, b in pairwise(groups))
