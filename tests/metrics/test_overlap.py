"""Overlap of sets of emoji, by hand and against a plain loop."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mojimeter.metrics.bags import as_bags, renamed
from mojimeter.metrics.overlap import overlap

LISTS = st.lists(st.lists(st.sampled_from("abcdef"), max_size=5), min_size=1, max_size=12)


def _lists(values: list[list[str]]) -> pl.Series:
    return pl.Series(values, dtype=pl.List(pl.String))


def _by_loop(given_: list[list[str]], gold: list[list[str]]) -> list[tuple[float, float, float]]:
    out = []
    for g, o in zip(given_, gold, strict=True):
        common = len(set(g) & set(o))
        precision = common / len(set(g)) if g else 0.0
        recall = common / len(set(o)) if o else 0.0
        f1 = 2 * precision * recall / (precision + recall) if common else 0.0
        out.append((precision, recall, f1))
    return out


def test_three_recommended_of_which_one_is_right() -> None:
    given_, gold = as_bags(_lists([["🎉", "🎂", "🥳"]]), _lists([["🎉"]]))
    result = overlap(given_, gold)
    # P = 1/3, R = 1/1, F1 = 2 * 1/3 * 1 / (4/3) = 1/2
    assert (result.precision[0], result.recall[0], result.f1[0]) == pytest.approx((1 / 3, 1.0, 0.5))


def test_repeats_count_once() -> None:
    given_, gold = as_bags(_lists([["😢", "😢"]]), _lists([["😢", "💔", "💔"]]))
    result = overlap(given_, gold)
    assert (result.precision[0], result.recall[0]) == (1.0, 0.5)


def test_an_empty_reply_scores_nothing() -> None:
    given_, gold = as_bags(pl.Series([[], None], dtype=pl.List(pl.String)), _lists([["a"], ["a"]]))
    result = overlap(given_, gold)
    assert result.precision.tolist() == result.recall.tolist() == result.f1.tolist() == [0.0, 0.0]


@given(LISTS, st.randoms(use_true_random=False))
def test_overlap_is_that_of_a_plain_loop(gold: list[list[str]], random: object) -> None:
    given_ = [[c for c in "abcdef" if random.random() < 0.4] for _ in gold]  # type: ignore[attr-defined]
    result = overlap(*as_bags(_lists(given_), _lists(gold)))
    columns = np.column_stack([result.precision, result.recall, result.f1])
    assert columns == pytest.approx(np.array(_by_loop(given_, gold)))


@given(LISTS)
def test_giving_back_the_original_emoji_is_perfect(gold: list[list[str]]) -> None:
    result = overlap(*as_bags(_lists(gold), _lists(gold)))
    assert result.f1.tolist() == [1.0 if lists else 0.0 for lists in gold]


@given(LISTS)
def test_bags_hold_what_the_lists_hold(lists: list[list[str]]) -> None:
    (bags,) = as_bags(_lists(lists))
    assert bags.sizes().tolist() == [len(items) for items in lists]
    assert [bags.names[c] for c in bags.code] == [c for items in lists for c in items]
    backwards = bags.take(np.arange(len(lists))[::-1])
    assert [bags.names[c] for c in backwards.code] == [c for items in lists[::-1] for c in items]
    assert bags.as_sets().sizes().tolist() == [len(set(items)) for items in lists]


def test_renaming_merges_what_gets_the_same_name_and_drops_what_gets_none() -> None:
    (bags,) = as_bags(_lists([["a", "b", "c"], ["c"]]))
    (merged,) = renamed((bags,), {"a": "x", "b": "x", "c": None}.get)
    assert merged.names == ("x",)
    assert merged.sizes().tolist() == [2, 0]
    assert merged.as_sets().sizes().tolist() == [1, 0]
