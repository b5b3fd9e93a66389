"""The item x system x judge table: one row each whatever the attempts, and the leaderboard's own numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mojimeter.judges.labels import LABELS
from mojimeter.judges.panel import preservation_ratings
from mojimeter.metrics import score_recommendations
from mojimeter.ratings import Study

TASKS = list(LABELS)
COLUMNS = ["id", "system", "judge", "strategy", "epoch", *TASKS]
GOLD = [labels[0] for labels in LABELS.values()]
OTHER = [labels[1] for labels in LABELS.values()]


def kept(count: int) -> list[str]:
    """Labels of which so many are the original's."""
    return GOLD[:count] + OTHER[count:]


def labels_of(rows: list[tuple[str, str, str, str | None, int, list[str | None]]]) -> pl.DataFrame:
    """The canonical table."""
    schema = {c: pl.Int64 if c == "epoch" else pl.String for c in COLUMNS}
    return pl.DataFrame([(*row[:5], *row[5]) for row in rows], schema=schema, orient="row")


def outputs_of(rows: list[tuple[str, str, str | None, int]]) -> pl.DataFrame:
    whole = [(*row, "🎉", ["🎉"]) for row in rows]
    schema = {"id": pl.String, "system": pl.String, "strategy": pl.String, "epoch": pl.Int64, "reply": pl.String}
    return pl.DataFrame(whole, schema={**schema, "emoji": pl.List(pl.String)}, orient="row")


def rows(ratings: pl.DataFrame) -> set[tuple[Any, ...]]:
    return set(ratings.select("item", "system", "rater", "attempts", "score").rows())


def test_attempts_are_averaged_and_counted() -> None:
    labels = labels_of(
        [
            ("p", "gold", "j", None, 1, list(GOLD)),
            ("p", "m", "j", "zeroshot", 1, kept(5)),
            ("p", "m", "j", "zeroshot", 2, kept(2)),
            ("p", "m", "j", "zeroshot", 3, kept(2)),
            ("p", "baseline/none", "j", None, 1, kept(4)),
        ]
    )
    # by hand: (5 + 2 + 2) / 3 = 3
    assert rows(preservation_ratings(labels)) == {("p", "m", "j", 3, 3.0), ("p", "baseline/none", "j", 1, 4.0)}


def test_a_reply_without_labels_keeps_nothing_and_an_epoch_that_a_judge_never_saw_does_not_count() -> None:
    labels = labels_of(
        [
            ("p", "gold", "j", None, 1, list(GOLD)),
            ("q", "gold", "j", None, 1, list(GOLD)),
            ("p", "gold", "k", None, 1, list(GOLD)),
            ("p", "m", "j", None, 1, kept(4)),
            ("q", "m", "j", None, 2, kept(2)),
            ("p", "m", "k", None, 1, kept(1)),
            ("q", "m", "k", None, 1, kept(1)),
        ]
    )
    outputs = outputs_of([(i, "m", None, epoch) for i in "pq" for epoch in (1, 2)])
    # j saw both epochs: p is (4 + 0) / 2, q is (0 + 2) / 2; k saw the first alone, and the original of p alone
    assert rows(preservation_ratings(labels, outputs)) == {
        ("p", "m", "j", 2, 2.0),
        ("q", "m", "j", 2, 1.0),
        ("p", "m", "k", 1, 1.0),
    }


def test_a_label_that_could_not_be_read_is_not_kept() -> None:
    labels = labels_of([("p", "gold", "j", None, 1, [*GOLD[:4], None]), ("p", "m", "j", None, 1, [*GOLD[:4], None])])
    assert rows(preservation_ratings(labels)) == {("p", "m", "j", 1, 4.0)}


def test_strategies_of_one_system_are_systems_of_their_own() -> None:
    labels = labels_of(
        [
            ("p", "gold", "j", None, 1, list(GOLD)),
            ("p", "m", "j", "zeroshot", 1, kept(5)),
            ("p", "m", "j", "fewshot", 1, kept(2)),
        ]
    )
    found = preservation_ratings(labels)
    assert rows(found) == {("p", "m (zeroshot)", "j", 1, 5.0), ("p", "m (fewshot)", "j", 1, 2.0)}


def test_without_labels_there_are_no_ratings() -> None:
    found = preservation_ratings(labels_of([]))
    assert found.height == 0
    assert found.columns == ["item", "system", "rater", "attempts", "score"]


def test_the_table_of_several_attempts_is_a_study_as_it_is() -> None:
    rng = np.random.default_rng(2)
    table = [(str(i), "gold", j, None, 1, list(GOLD)) for i in range(12) for j in "jkl"]
    table += [
        (str(i), s, j, None, epoch, kept(int(rng.integers(0, 6))))
        for i in range(12)
        for s in ("m", "n")
        for j in "jkl"
        for epoch in (1, 2)
    ]
    study = Study(preservation_ratings(labels_of(table)))  # type: ignore[arg-type]
    assert study.design.complete
    assert study.design.levels == {"item": 12, "system": 2, "rater": 3}


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_ratings_are_the_leaderboards_averages_of_each_post(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ids = [f"p{i}" for i in range(6)]
    posts = pl.DataFrame(
        {"id": ids, "text": ["a"] * 6, "original": ["a 🎉"] * 6, "emoji": [["🎉"]] * 6, "author": ids}
    ).with_columns(leaked=pl.lit(False))
    runs = [("m", "zeroshot"), ("m", "fewshot"), ("n", None)]
    there = rng.random((3, 6, 2)) < 0.9
    replies = [
        (i, system, strategy, epoch + 1)
        for r, (system, strategy) in enumerate(runs)
        for k, i in enumerate(ids)
        for epoch in range(2)
        if there[r, k, epoch]
    ]
    table: list[tuple[str, str, str, str | None, int, list[str | None]]] = []
    for judge in "jk":
        table += [(i, "gold", judge, None, 1, list(GOLD)) for i in ids if rng.random() < 0.9]
        table += [
            (i, system, judge, strategy, epoch, [None if rng.random() < 0.1 else x for x in kept(int(rng.integers(6)))])
            for i, system, strategy, epoch in replies
            if rng.random() < 0.8
        ]
    labels, outputs = labels_of(table), outputs_of(replies)
    found = preservation_ratings(labels, outputs)
    assert not found.select("item", "system", "rater").is_duplicated().any()
    for judge in "jk":
        if not labels.filter((pl.col("judge") == judge) & (pl.col("system") == "gold")).height:
            continue
        scores = score_recommendations(posts, outputs, labels, draws=2, judge=judge)
        own = found.filter(pl.col("rater") == judge)
        for system, by_post in scores.by_post.items():
            expected = {
                i: value / 20 for i, value in zip(scores.post_ids, by_post["average"], strict=True) if value == value
            }
            ours = own.filter(pl.col("system") == system)
            assert dict(zip(ours["item"], ours["score"], strict=True)) == pytest.approx(expected)
