"""Prices and the budget: never overspent, never guessed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mojimeter.errors import InputError
from mojimeter.models.calls import Request
from mojimeter.models.prices import Budget, BudgetError, Price, price_of, read_prices


def request(model: str = "openai/x", text: str = "hello there") -> Request:
    return Request(model, (("user", text),), "judge", max_tokens=100)


def test_prices_are_dollars_for_a_million_tokens(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text('["openai/gpt-4o-mini"]\ninput = 0.15\noutput = 0.60\n', encoding="utf-8")
    price = read_prices(path)["openai/gpt-4o-mini"]
    # two million tokens in and half a million out: 2 x 0.15 + 0.5 x 0.60
    assert price.of(2_000_000, 500_000) == pytest.approx(0.60)


@pytest.mark.parametrize(
    "text", ["nonsense", '["m"]\ninput = 1\n', '["m"]\ninput = "a"\noutput = 1\n', '["m"]\ninput = -1\noutput = 1\n']
)
def test_a_file_that_is_no_price_list_is_one_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"prices\.toml"):
        read_prices(path)


def test_models_of_this_process_cost_nothing_and_unknown_ones_are_not_guessed() -> None:
    assert price_of("local/smollm2-135m", {}) == Price(0, 0)
    assert price_of("openai/x", {}) is None


@given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 100)), max_size=60), st.floats(1e-5, 1e-2))
def test_calls_within_their_limits_never_cost_more_than_the_budget(tokens: list[tuple[int, int]], limit: float) -> None:
    budget = Budget(limit, {"openai/x": Price(3.0, 15.0)})
    for tokens_in, tokens_out in tokens:
        asked = request(text="x" * 3 * tokens_in)
        try:
            held = budget.reserve(asked)
        except BudgetError:
            break
        budget.settle(asked, held, tokens_in, tokens_out)
    assert budget.spent <= limit + 1e-12


def test_calls_in_flight_are_counted_at_the_most_they_can_cost() -> None:
    asked = request()
    most = Budget(None, {"openai/x": Price(1, 1)}).reserve(asked)
    budget = Budget(2.5 * most, {"openai/x": Price(1, 1)})
    budget.reserve(asked)
    held = budget.reserve(asked)
    with pytest.raises(BudgetError, match="--max-cost"):
        budget.reserve(asked)
    budget.release(held)
    assert budget.reserve(asked) == held


def test_a_provider_that_counts_no_tokens_is_charged_the_most() -> None:
    budget = Budget(None, {"openai/x": Price(1, 1)})
    asked = request()
    held = budget.reserve(asked)
    assert budget.settle(asked, held, None, None) == held
