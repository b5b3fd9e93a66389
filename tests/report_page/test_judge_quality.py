"""What the page says of a judge that was fitted here: what was measured beside its weights, or why nothing is."""

from __future__ import annotations

from pathlib import Path

import pytest

from mojimeter.judges.student import quality
from mojimeter.report.page.judge_quality import describe_judges


def test_the_shipped_judge_has_the_quality_that_lies_beside_its_weights() -> None:
    measured = quality("student/starter")
    (found,) = describe_judges(["student/starter", "openai/gpt-4o-mini", "student/starter"])
    assert found["posts"] == measured["measured_on"]["posts"]
    for task, one in found["tasks"].items():
        assert one["kappa"] == measured["test"][task]["kappa"]
        assert one["outside"] == measured["gpt_4o_mini"]["kappa"][task]
    worst = min(one["kappa"]["value"] for one in found["tasks"].values())
    assert f"kappa {worst:.2f} (" in found["sentence"]
    assert "Scores are worth no more than their judge." in found["sentence"]


def test_a_judge_whose_weights_are_not_here_says_so_and_others_are_not_students(tmp_path: Path) -> None:
    assert describe_judges(["openai/gpt-4o-mini"]) == []
    (found,) = describe_judges([f"student/{tmp_path}/gone.npz"])
    assert found["reason"] == "its quality lies beside its weights, and those are not here"


@pytest.mark.parametrize("measured", [{}, {"held_out": 3}, {"test": {"age": {"kappa": "high"}}}, {"held_out": {}}])
def test_weights_that_tell_nothing_sensible_of_their_quality_are_no_error(
    monkeypatch: pytest.MonkeyPatch, measured: dict[str, object]
) -> None:
    monkeypatch.setattr("mojimeter.report.page.judge_quality.quality", lambda name: measured)
    (found,) = describe_judges(["student/odd.npz"])
    assert found == {"judge": "student/odd.npz", "reason": "its weights do not say how it was measured"}


def test_a_judge_that_people_trained_shows_what_its_folds_held_out(monkeypatch: pytest.MonkeyPatch) -> None:
    task = {"posts": 90, "accuracy": 0.8, "kappa": 0.6, "majority": 0.5, "ece": 0.1}
    measured = {"fitted_on": {"posts": 90, "groups": 12}, "held_out": {"stance": task}}
    monkeypatch.setattr("mojimeter.report.page.judge_quality.quality", lambda name: measured)
    (found,) = describe_judges(["student/mine.npz"])
    assert found["tasks"]["stance"]["kappa"] == {"value": 0.6}
    assert found["outside"] is None
    assert found["sentence"].startswith(
        "student/mine.npz agrees with the known labels of 90 posts that it had not seen at kappa 0.60 (stance)."
    )
