"""Designs: every cell exactly as often as the design says, balanced for position, repeats far from first showings."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations, pairwise
from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mojimeter.collect.designs import Assignment, PlacedCell, assign, check_design, slots
from mojimeter.collect.study import StudyConfig
from mojimeter.errors import InputError
from mojimeter.ratings.orders import deal, williams

CONFIG = StudyConfig(title="t", form="scale", question="q")


def cells(items: int, systems: int, training: int = 0, attention: int = 0) -> list[PlacedCell]:
    return [
        *(PlacedCell(f"t{k}", f"t{k}", "", "training") for k in range(training)),
        *(PlacedCell(f"i{i}s{s}", f"i{i}", f"s{s}") for i in range(items) for s in range(systems)),
        *(PlacedCell(f"a{k}", f"a{k}", "", "attention") for k in range(attention)),
    ]


def main_cells(order: list[Assignment]) -> list[str]:
    """Cells of the items in order, without training, attention and repeats."""
    return [a.cell_id for a in order if a.repeat_of is None and a.cell_id.startswith("i")]


@given(st.integers(1, 9), st.integers(1, 5), st.integers(0, 30), st.integers(0, 999))
@settings(max_examples=60, deadline=None)
def test_a_crossed_rater_sees_every_cell_once_and_no_item_twice_running(
    items: int, systems: int, slot: int, seed: int
) -> None:
    all_cells = cells(items, systems)
    order = assign(slot, all_cells, replace(CONFIG, seed=seed))
    assert sorted(main_cells(order)) == sorted(c.id for c in all_cells)
    assert [a.position for a in order] == list(range(1, len(all_cells) + 1))
    if items > 2:
        assert all(a.cell_id[:2] != b.cell_id[:2] for a, b in pairwise(order))


@given(st.integers(1, 8), st.integers(2, 6), st.integers(0, 999))
@settings(max_examples=40, deadline=None)
def test_over_as_many_raters_as_systems_each_cell_comes_once_in_every_round(
    items: int, systems: int, seed: int
) -> None:
    rounds = Counter(
        (cell, place // items)
        for slot in range(systems)
        for place, cell in enumerate(main_cells(assign(slot, cells(items, systems), replace(CONFIG, seed=seed))))
    )
    assert set(rounds.values()) == {1}
    assert len(rounds) == items * systems * systems


@given(st.integers(2, 12), st.integers(1, 5), st.integers(0, 40), st.integers(0, 999))
@settings(max_examples=40, deadline=None)
def test_in_every_round_of_every_rater_systems_come_equally_often(
    items: int, systems: int, slot: int, seed: int
) -> None:
    order = main_cells(assign(slot, cells(items, systems), replace(CONFIG, seed=seed)))
    for start in range(0, len(order), items):
        counts = Counter(cell.partition("s")[2] for cell in order[start : start + items])
        padded = [counts.get(str(s), 0) for s in range(systems)]
        assert max(padded) - min(padded) <= 1


@pytest.mark.parametrize("n", range(2, 9))
def test_a_williams_design_has_every_treatment_after_every_other_equally_often(n: int) -> None:
    rows = williams(n)
    assert len(rows) == (n if n % 2 == 0 else 2 * n)  # Williams 1949: one square if even, two if odd
    followers = Counter(pair for row in rows for pair in pairwise(row))
    assert len(followers) == n * (n - 1)
    assert len(set(followers.values())) == 1
    for place in range(n):
        assert len({Counter(row[place] for row in rows)[k] for k in range(n)}) == 1


@given(st.integers(3, 30), st.integers(1, 4), st.integers(1, 8), st.data())
@settings(max_examples=40, deadline=None)
def test_an_incomplete_design_has_equal_loads_and_equal_raters_per_item(
    items: int, systems: int, raters: int, data: st.DataObject
) -> None:
    each = data.draw(st.integers(ceil(items / raters), items))
    config = replace(CONFIG, design="incomplete", raters=raters, cells_per_rater=each * systems)
    orders = [main_cells(assign(slot, cells(items, systems), config)) for slot in range(raters)]
    assert {len(set(order)) for order in orders} == {each * systems}
    per_cell = Counter(cell for order in orders for cell in order)
    assert len(per_cell) == items * systems
    assert max(per_cell.values()) - min(per_cell.values()) <= 1


# (items, raters, items of each): with all of them a design exists where all pairs of raters share as many items, or to
# within one. The second is the Fano plane, the fifth and the last are projective planes of order 3 and 4.
@pytest.mark.parametrize(
    "numbers",
    [(70, 7, 30), (7, 7, 3), (20, 6, 10), (30, 12, 10), (13, 13, 4), (290, 12, 100), (40, 10, 12), (21, 21, 5)],
)
def test_pairs_of_raters_share_equally_many_items_to_within_one(numbers: tuple[int, int, int]) -> None:
    dealt = deal(*numbers, np.random.default_rng(1))
    shared = [len(set(a) & set(b)) for a, b in combinations(dealt, 2)]
    assert max(shared) - min(shared) <= 1


def test_raters_beyond_the_incomplete_design_get_a_dealing_of_their_own() -> None:
    config = replace(CONFIG, design="incomplete", raters=4, cells_per_rater=6)
    orders = [main_cells(assign(slot, cells(6, 2), config)) for slot in range(8)]
    assert set(Counter(c for order in orders[4:] for c in order).values()) == {2}
    assert {frozenset(o) for o in orders[:4]} != {frozenset(o) for o in orders[4:]}


@given(st.integers(1, 4), st.integers(1, 3), st.integers(3, 20), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_a_nested_design_gives_each_item_exactly_k_raters_who_share_no_item_with_other_teams(
    teams: int, k: int, items: int, systems: int
) -> None:
    teams = min(teams, items)
    config = replace(CONFIG, design="nested", raters=teams * k, raters_per_item=k)
    orders = [main_cells(assign(slot, cells(items, systems), config)) for slot in range(teams * k)]
    assert set(Counter(c for order in orders for c in order).values()) == {k}
    for a, b in combinations(range(teams * k), 2):
        assert bool(set(orders[a]) & set(orders[b])) == (a // k == b // k)
    loads = [len(order) // systems for order in orders]
    assert max(loads) - min(loads) <= 1
    assert slots(config) == teams * k
    with pytest.raises(InputError, match="all taken"):
        assign(teams * k, cells(items, systems), config)


@given(st.integers(2, 15), st.integers(1, 5), st.floats(0.01, 0.5), st.integers(0, 4), st.integers(0, 99))
@settings(max_examples=80, deadline=None)
def test_repeats_come_at_least_a_third_of_the_session_after_their_first_showing(
    items: int, systems: int, share: float, attention: int, seed: int
) -> None:
    config = replace(CONFIG, repeats=share, attention=attention, seed=seed)
    order = assign(seed % 7, cells(items, systems, training=2, attention=attention), config)
    repeats = [a for a in order if a.repeat_of is not None]
    by_position = {a.position: a for a in order}
    assert len(repeats) == round(share * items * systems)
    assert len({a.repeat_of for a in repeats}) == len(repeats)
    session = len(order) - 2
    for again in repeats:
        first = by_position[again.repeat_of or 0]
        assert first.cell_id == again.cell_id
        assert first.repeat_of is None
        assert first.cell_id.startswith("i")  # never a training or attention item
        assert again.position - first.position >= session / 3


def test_repeats_do_not_stand_beside_their_item_where_there_is_room() -> None:
    for slot in range(10):
        order = assign(slot, cells(12, 4), replace(CONFIG, repeats=0.2))
        groups = [a.cell_id.partition("s")[0] for a in order]
        assert all(a != b for a, b in pairwise(groups))
        assert any(a.repeat_of is None for a in order[-10:])  # woven in: the 10 repeats are not simply the end


@given(st.integers(1, 10), st.integers(1, 3), st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_training_comes_first_and_attention_items_are_spread_over_the_session(
    items: int, systems: int, attention: int
) -> None:
    config = replace(CONFIG, attention=attention)
    order = assign(0, cells(items, systems, training=2, attention=5), config)
    assert [a.part for a in order] == ["training"] * 2 + ["main"] * (len(order) - 2)
    places = [k for k, a in enumerate(order[2:]) if a.cell_id.startswith("a")]
    assert len(places) == attention
    n = items * systems
    for k, place in enumerate(places):  # one in each stretch, pushed on by those before it
        assert k * n // attention <= place - k <= (k + 1) * n // attention


def test_the_same_seed_and_slot_give_the_same_order_whoever_was_invited_before() -> None:
    config = replace(CONFIG, repeats=0.25, attention=2)
    all_cells = cells(6, 3, 2, 3)
    assert assign(4, all_cells, config) == assign(4, all_cells, config)
    assert assign(4, all_cells, config) != assign(5, all_cells, config)
    assert assign(4, all_cells, config) != assign(4, all_cells, replace(config, seed=2))


def test_cells_that_are_missing_are_not_asked_for_and_nothing_else_changes() -> None:
    some = [c for k, c in enumerate(cells(7, 3)) if k % 5]
    for slot in range(4):
        assert sorted(main_cells(assign(slot, some, CONFIG))) == sorted(c.id for c in some)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"design": "incomplete", "cells_per_rater": 7}, "a multiple of 2 up to 12, such as 6"),
        ({"design": "incomplete", "cells_per_rater": 14}, "such as 12"),
        ({"design": "incomplete", "cells_per_rater": 2, "raters": 2}, "at least 6 cells each"),
        ({"design": "nested", "raters": 5, "raters_per_item": 2}, "a multiple of 2 up to 12"),
        ({"design": "nested", "raters": 14, "raters_per_item": 2}, "up to 12"),
        ({"attention": 4}, "there are 3"),
    ],
)
def test_numbers_that_do_not_go_together_are_refused_with_numbers_that_do(
    changes: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        check_design(replace(CONFIG, **changes), cells(6, 2, attention=3))  # type: ignore[arg-type]


def test_a_study_without_cells_is_refused() -> None:
    with pytest.raises(InputError, match="nothing to rate"):
        check_design(CONFIG, cells(0, 2, training=1))
