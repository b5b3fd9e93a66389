"""Tokens per emoji: the two numbers that go by that name."""

from __future__ import annotations

import numpy as np
import pytest

from mojimeter.metrics.cost import cost_per_emoji
from mojimeter.metrics.tally import Tally, resolve


def _cost(spent: list[float], emoji: list[int]) -> dict[str, float | None]:
    rows = len(spent)
    tally = Tally(rows)
    tree = cost_per_emoji(tally, np.array(spent), np.array(emoji), np.ones(rows), np.arange(rows))
    resolved = resolve(tree, tally.resample(50, 0))
    return {"rom": resolved["ratio_of_means"].value, "mor": resolved["mean_of_ratios"].value, "n": tree["replies"]}


def test_the_ratio_of_means_and_the_mean_of_ratios_differ() -> None:
    # (10 + 90) / (1 + 3) = 25; (10 / 1 + 90 / 3) / 2 = 20
    assert _cost([10, 90], [1, 3]) == {"rom": pytest.approx(25), "mor": pytest.approx(20), "n": 2}


def test_a_reply_without_emoji_costs_tokens_but_has_no_ratio() -> None:
    assert _cost([10, 90], [1, 0]) == {"rom": pytest.approx(100), "mor": pytest.approx(10), "n": 2}


def test_replies_whose_cost_is_not_known_are_left_out_and_counted() -> None:
    assert _cost([10, np.nan], [2, 3]) == {"rom": pytest.approx(5), "mor": pytest.approx(5), "n": 1}


def test_costs_that_nobody_noted_are_absent() -> None:
    assert _cost([np.nan], [3]) == {"rom": None, "mor": None, "n": 0}


def test_no_emoji_at_all_has_no_cost_per_emoji() -> None:
    assert _cost([10.0, 5.0], [0, 0]) == {"rom": None, "mor": None, "n": 2}
