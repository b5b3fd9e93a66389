"""The leaderboard for people."""

from __future__ import annotations

import io
from typing import Any

import polars as pl
import pytest

from mojimeter.metrics import score_recommendations
from mojimeter.report.terminal import print_scores

POSTS = pl.DataFrame(
    {"id": ["1", "2", "3"], "text": ["a 🎉", "b 😢", "c 👍"], "author": ["x", "y", "z"], "gender": ["male"] * 3}
)


def _document(strategy: str | None = None, system: str = "m", labels: bool = True) -> dict[str, Any]:
    outputs = pl.DataFrame(
        {"id": ["1", "2", "3"], "system": system, "strategy": strategy, "reply": ["🎉", None, "👍 x"]}
    )
    rows = [(i, s, "positive", "male") for s in ("gold", system, "baseline/none") for i in "123"]
    frame = pl.DataFrame(rows, schema=["id", "system", "sentiment", "gender"], orient="row")
    given = frame.with_columns(judge=pl.lit("j")) if labels else None
    return score_recommendations(POSTS, outputs, given, draws=20).to_dict()


def _printed(document: dict[str, Any], width: int = 80) -> str:
    stream = io.StringIO()
    print_scores(document, file=stream, width=width)
    return stream.getvalue()


def test_it_shows_systems_baselines_intervals_and_how_to_read_them() -> None:
    text = _printed(_document())
    assert "Leaderboard, percent" in text
    assert "baseline/none (b)" in text
    assert "(b): a baseline" in text
    assert "m minus baseline/none: +0.00, 95% interval [0.00, 0.00]: a tie." in text
    assert "Age and gender are labels perceived in a text, not facts about people." in text


def test_a_difference_that_only_its_own_interval_calls_real_is_not_simply_a_tie() -> None:
    document = _document()
    (headline,) = [d for d in document["differences"] if {d["system"], d["against"]} == {"m", "baseline/none"}]
    headline["difference"] = {"value": 2.0, "ci": [0.5, 3.5]}
    headline["separated"] = False
    text = " ".join(_printed(document).split())
    assert "different by itself, a tie once all pairs are compared at once." in text


def test_replies_that_were_odd_are_counted_and_explained() -> None:
    text = " ".join(_printed(_document()).split())
    assert "missing: no reply at all" in text
    assert "words: words beside the emoji" in text
    assert "broken" not in text  # none was


@pytest.mark.parametrize("width", [80, 100])
def test_it_fits_even_with_long_names(width: int) -> None:
    text = _printed(_document(system="together/meta-llama/Meta-Llama-3.1-70B-Instruct-Turbo"), width)
    lines = text.splitlines()[:-1]  # the signature is one line, to be copied
    assert max(map(len, lines)) <= width
    assert "Turbo" in "".join(line.strip() for line in lines).replace(" ", "") or "urbo" in text


def test_a_leak_is_marked_and_headlined_by_the_three_tasks() -> None:
    text = _printed(_document("conditional"))
    assert "m (leaked)" in text
    assert "preserved*" in text
    assert "all five" in text
    assert "were told the judge's own label" in " ".join(text.split())


def test_all_criteria_stand_side_by_side_and_costs_where_they_are_known() -> None:
    text = _printed(_document())
    for heading in ("precision", "recall", "F1", "group", "subgr.", "diverg.", "distinct"):
        assert heading in text
    assert "tokens" not in text
    outputs = pl.DataFrame({"id": ["1", "2"], "system": "m", "reply": ["🎉", "😢😀"], "tokens": [3.0, 9.0]})
    with_tokens = _printed(score_recommendations(POSTS, outputs, draws=20).to_dict())
    assert "tokens: all tokens by all emoji" in with_tokens
    assert "4.00" in with_tokens  # (3 + 9) / (1 + 2)


def test_without_labels_it_ranks_by_overlap() -> None:
    text = _printed(_document(labels=False))
    assert "preserved" not in text
    assert "overlap" in text
