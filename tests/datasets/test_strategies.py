"""Which labels belong to replies of one strategy, case by case."""

from __future__ import annotations

import polars as pl
import pytest

from mojimeter.datasets.records import labels_of_strategy


@pytest.mark.parametrize(
    ("strategy", "labelled", "belong"),
    [
        ("fewshot", ["fewshot", "zeroshot", None], ["fewshot"]),
        ("fewshot", ["zeroshot", None, None], [None, None]),  # labels that name none are everybody's
        ("fewshot", ["zeroshot"], []),
        (None, ["fewshot", None], [None]),
        (None, ["fewshot", "fewshot"], ["fewshot", "fewshot"]),  # the only labels there are
        (None, ["fewshot", "zeroshot"], []),  # nobody can tell which
        (None, [], []),
    ],
)
def test_labels_go_with_their_strategy_or_with_the_side_that_names_none(
    strategy: str | None, labelled: list[str | None], belong: list[str | None]
) -> None:
    labels = pl.DataFrame({"strategy": labelled}, schema={"strategy": pl.String})
    assert labels_of_strategy(labels, strategy)["strategy"].to_list() == belong
