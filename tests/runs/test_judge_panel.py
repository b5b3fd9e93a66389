"""What several judges say together of a leaderboard."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import polars as pl
import pytest

from mojimeter.metrics import score_recommendations
from mojimeter.report.terminal import print_scores
from mojimeter.runs.judge_panel import with_judge_panel

POSTS = 40
JUDGES = ("lab/one", "lab/two", "lab/three")
LABEL = ("positive", "negative")


def _posts() -> pl.DataFrame:
    return pl.DataFrame({"id": [f"p{i}" for i in range(POSTS)], "text": [f"post {i} 🎉" for i in range(POSTS)]})


def _labels(kept: dict[tuple[str, str], float], judges: tuple[str, ...] = JUDGES, seed: int = 1) -> pl.DataFrame:
    """Labels by scripted judges: the share of a system's posts whose label each judge leaves as it was."""
    rng = np.random.default_rng(seed)
    rows = []
    for judge in judges:
        rows += [(f"p{i}", "gold", judge, "positive") for i in range(POSTS)]
        for (system, who), share in kept.items():
            if who == judge:
                same = rng.random(POSTS) < share
                rows += [(f"p{i}", system, judge, LABEL[int(not same[i])]) for i in range(POSTS)]
    return pl.DataFrame(rows, schema=["id", "system", "judge", "sentiment"], orient="row")


def _document(labels: pl.DataFrame, judges: tuple[str, ...] = JUDGES) -> dict[str, Any]:
    systems = labels.filter(pl.col("system") != "gold")["system"].unique().sort().to_list()
    outputs = pl.DataFrame({"id": [f"p{i}" for i in range(POSTS)]}).join(
        pl.DataFrame({"system": systems, "reply": ["🎉"] * len(systems)}), how="cross"
    )
    scored = {j: score_recommendations(_posts(), outputs, labels, draws=20, judge=j) for j in judges}
    document = with_judge_panel(scored, judges[0])
    json.dumps(document, allow_nan=False)
    return document


def _printed(document: dict[str, Any]) -> str:
    stream = io.StringIO()
    print_scores(document, file=stream, width=80)
    assert max(len(line) for line in stream.getvalue().splitlines()[:-1]) <= 80
    return " ".join(stream.getvalue().split())


def _shares(alpha: tuple[float, ...], beta: tuple[float, ...]) -> dict[tuple[str, str], float]:
    return {("alpha", j): a for j, a in zip(JUDGES, alpha, strict=False)} | {
        ("beta", j): b for j, b in zip(JUDGES, beta, strict=False)
    }


def test_judges_of_one_mind_separate_what_differs() -> None:
    document = _document(_labels(_shares((0.95, 0.95, 0.95), (0.2, 0.2, 0.2))))
    panel = document["panel"]
    assert panel["verdict"] == "separated"
    assert [(row["system"], row["rank"]) for row in panel["ranking"]] == [("alpha", [1, 1]), ("beta", [2, 2])]
    assert "Separated: the two systems differ" in _printed(document)


def test_judges_who_each_prefer_another_system_cannot_rank_though_one_judge_can() -> None:
    document = _document(_labels(_shares((0.9, 0.1, 0.9), (0.1, 0.9, 0.3))))
    assert document["systems"]["alpha"]["rank"] == [1, 1], "the judge that ranks is sure"
    assert document["panel"]["verdict"] == "not_separated"
    assert [row["rank"] for row in document["panel"]["ranking"]] == [[1, 2], [1, 2]]
    text = _printed(document)
    leaderboard, verdict = text.index("Leaderboard"), text.index("Tie: these ratings cannot rank the two systems")
    assert leaderboard < verdict < text.index("Preserved by task"), "right under the leaderboard"
    assert "J1: lab/one; J2: lab/two; J3: lab/three." in text
    assert "Judges agree on single posts to alpha" in text


def test_means_of_the_panel_are_the_mean_of_the_judges_scores() -> None:
    document = _document(_labels(_shares((0.9, 0.7, 0.8), (0.6, 0.5, 0.4))))
    for row in document["panel"]["ranking"]:
        own = [document["by_judge"][judge][row["system"]]["average"]["value"] for judge in JUDGES]
        assert row["mean"]["value"] == pytest.approx(sum(own) / 3)


def test_two_judges_come_with_the_degrees_of_freedom_they_leave() -> None:
    document = _document(_labels(_shares((0.9, 0.7), (0.6, 0.5)), JUDGES[:2]), JUDGES[:2])
    assert "two judges hardly show how judges differ and the test rests on" in document["panel"]["caveats"][0]
    assert "Note: two judges hardly show" in _printed(document)
    three = _document(_labels(_shares((0.9, 0.7, 0.8), (0.6, 0.5, 0.4))))
    assert not any("two judges" in caveat for caveat in three["panel"]["caveats"])


def test_baselines_do_not_make_the_systems_differ() -> None:
    kept = _shares((0.9, 0.1, 0.9), (0.1, 0.9, 0.3)) | {("baseline/none", j): 0.0 for j in JUDGES}
    panel = _document(_labels(kept))["panel"]
    assert panel["systems"] == ["alpha", "beta"]
    assert panel["left_out"]["systems"] == ["baseline/none"]
    assert panel["verdict"] == "not_separated"


def test_one_judge_makes_no_panel() -> None:
    document = _document(_labels(_shares((0.9,), (0.6,)), JUDGES[:1]), JUDGES[:1])
    assert "panel" not in document
    assert "by_judge" not in document


def test_one_system_and_judges_who_all_say_the_same_are_refused_in_a_sentence() -> None:
    alone = _document(_labels({("alpha", j): 0.5 for j in JUDGES}))
    assert alone["panel"]["verdict"] == "refused"
    assert "no verdict: there is one system" in _printed(alone).lower()
    constant = _document(_labels(_shares((1, 1, 1), (1, 1, 1))))
    assert constant["panel"]["verdict"] == "refused"
    assert "No verdict: " in _printed(constant)


def test_posts_that_a_judge_did_not_label_are_left_out_and_counted() -> None:
    labels = _labels(_shares((0.9, 0.7, 0.8), (0.6, 0.5, 0.4)))
    hole = (pl.col("judge") == "lab/two") & (pl.col("id").is_in(["p0", "p1"])) & (pl.col("system") == "gold")
    document = _document(labels.filter(~hole))
    assert document["panel"]["left_out"]["posts"] == 2
    assert document["panel"]["design"]["item"] == POSTS - 2
    assert "Without 2 posts that not every judge and system has." in _printed(document)


def test_names_of_judges_and_systems_are_printed_as_they_are() -> None:
    judges = ("lab/[red]one[/red]", "lab/two", "lab/three")
    kept = {("[bold]a", j): 0.9 for j in judges} | {("b", j): 0.4 for j in judges}
    assert "J1: lab/[red]one[/red]" in _printed(_document(_labels(kept, judges), judges))
