"""What calls cost: prices from a file the user gives, a budget that is never overspent.

Prices change and differ by contract, so none are built in: a TOML file names them, in US dollars for a
million tokens. Where a model's price is not known, only calls are counted, and that is said.

    ["openai/gpt-4o-mini"]
    input = 0.15
    output = 0.60
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mojimeter.errors import InputError, PartialError
from mojimeter.models.calls import Request

BYTES_PER_TOKEN = 3  # of prompts; English has about four, Hindi and Bangla fewer: on the dear side
FREE = ("local/", "mockllm/")  # computed here: no money
FRAME_TOKENS = 16  # what a chat template adds to a request


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens in and out."""

    input: float
    output: float

    def of(self, input_tokens: float, output_tokens: float) -> float:
        """US dollars for so many tokens."""
        return (input_tokens * self.input + output_tokens * self.output) / 1e6


class BudgetError(PartialError):
    """The next call could go over the budget: it is not made, and the run can be resumed."""


def read_prices(path: str | Path) -> dict[str, Price]:
    """Prices by model name.

    Raises:
        InputError: the file is not TOML of the form above.
    """
    try:
        tables = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: prices cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: prices cannot be read: {error}") from None
    prices = {}
    for model, table in tables.items():
        values = [table.get(side) for side in ("input", "output")] if isinstance(table, dict) else []
        numbers = [float(v) for v in values if isinstance(v, int | float) and not isinstance(v, bool) and v >= 0]
        if len(numbers) != 2:
            raise InputError(f"{path}, [{model!r}]: expected input and output in US dollars per million tokens")
        prices[model] = Price(*numbers)
    return prices


def price_of(model: str, prices: Mapping[str, Price]) -> Price | None:
    """The price of a model, nothing for one that runs in this process, None where it is not known."""
    if model.startswith(FREE):
        return Price(0.0, 0.0)
    return prices.get(model)


def expected_tokens(request: Request) -> float:
    """Tokens a request will be billed for on the way in, guessed from its bytes and on the dear side."""
    return request.size / BYTES_PER_TOKEN + FRAME_TOKENS


class Budget:
    """Money still to spend. A call reserves the most it can cost before it is made.

    Args:
        limit: US dollars; None for no limit (what is spent is still counted).
        prices: by model name.
        spent: US dollars spent before, in the same run.

    Raises:
        BudgetError: (from ``reserve``) the call could go over the limit.
    """

    def __init__(self, limit: float | None, prices: Mapping[str, Price], spent: float = 0.0) -> None:
        self.limit = limit
        self.spent = spent
        self._prices = prices
        self._reserved = 0.0

    def reserve(self, request: Request) -> float:
        """Hold back the most that a request can cost; give it to ``settle`` or ``release`` afterwards."""
        price = price_of(request.model, self._prices)
        if price is None:
            return 0.0
        most = price.of(expected_tokens(request), request.max_tokens or 0)
        if self.limit is not None and self.spent + self._reserved + most > self.limit:
            raise BudgetError(
                f"the next call could go over --max-cost {self.limit:g} US dollars ({self.spent:.4f} spent)"
            )
        self._reserved += most
        return most

    def settle(
        self, request: Request, reserved: float, input_tokens: int | None, output_tokens: int | None
    ) -> float | None:
        """Count what the call cost, in US dollars; None where the price is not known."""
        self.release(reserved)
        price = price_of(request.model, self._prices)
        if price is None:
            return None
        counted = input_tokens is not None and output_tokens is not None
        cost = price.of(input_tokens or 0, output_tokens or 0) if counted else reserved
        self.spent += cost
        return cost

    def release(self, reserved: float) -> None:
        """Give back what was held for a call that failed."""
        self._reserved -= reserved
