"""Judges that need no calls: beside one that does, alone, and as the source of a conditional prompt's author."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl
import pytest

from mojimeter.judges import LABELS, student
from tests.faults import benchmark
from tests.faults.conftest import Serve

N = benchmark.POSTS


class HashJudge:
    """Labels by a hash of the text, and remembers what it was given."""

    name = "student/starter"
    digest = "0123456789ab"

    def __init__(self) -> None:
        self.texts: list[str] = []

    def label(self, texts: Sequence[str]) -> Mapping[str, Sequence[str | None]]:
        self.texts.extend(texts)
        return {task: [benchmark.label_of(task, text) for text in texts] for task in LABELS}


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> HashJudge:
    stand_in = HashJudge()
    monkeypatch.setattr(student, "load_student", lambda name: stand_in)
    return stand_in


def test_the_judge_that_ships_is_the_default_and_reads_each_distinct_text_once(
    judge: HashJudge, serve: Serve, posts: Path, tmp_path: Path
) -> None:
    provider = serve()
    outcome = benchmark.run(provider, posts, tmp_path / "run", judges=())
    assert sum(provider.answered.values()) == N, "one call a post, none to judge"
    assert len(judge.texts) == len(set(judge.texts)) == 2 * N
    assert "judge:student/starter" in outcome.document["signature"]
    assert outcome.document["calls"]["saved"] == 0, (
        "the paper's judge calls are not counted for a judge that takes none"
    )


def test_it_gives_the_scores_of_a_model_that_says_the_same(
    judge: HashJudge, serve: Serve, posts: Path, tmp_path: Path
) -> None:
    provider = serve()
    both = benchmark.run(provider, posts, tmp_path / "run", judges=(provider.judge, judge.name))
    by_judge = both.document["by_judge"]
    assert by_judge[judge.name] == by_judge[provider.judge]
    assert pl.read_ndjson(tmp_path / "run" / "ratings.jsonl").height == 2 * N


def test_its_labels_can_stand_in_for_the_author_and_that_leaks(
    judge: HashJudge, serve: Serve, posts: Path, tmp_path: Path
) -> None:
    outcome = benchmark.run(
        serve(), posts, tmp_path / "run", judges=(), strategy="conditional", profile="labels", limit=3
    )
    assert outcome.unfinished is None, "the run and its tables ask the same questions"
    (scores,) = outcome.document["systems"].values()
    assert scores["leaked"] is True


def test_a_run_with_several_judges_says_whether_other_judges_would_rank_the_same(
    judge: HashJudge, serve: Serve, posts: Path, tmp_path: Path
) -> None:
    provider = serve()
    twin = provider.system.replace("writer", "twin")
    chosen = {"judges": (provider.judge, judge.name), "systems": (provider.system, twin, "baseline/keyword")}
    outcome = benchmark.run(provider, posts, tmp_path / "run", **chosen)
    panel = outcome.document["panel"]
    assert panel["judges"] == [provider.judge, judge.name]
    assert set(panel["systems"]) == {provider.system, twin}
    assert panel["left_out"]["systems"] == ["baseline/keyword"]
    assert panel["design"]["rater"] == 2
    # both judges label by the same hash of the text, so they agree on every post and system
    assert panel["agreement"]["alpha"]["interval"]["value"] == pytest.approx(1.0)
    assert "panel" in json.loads((tmp_path / "run" / "scores.json").read_text())
