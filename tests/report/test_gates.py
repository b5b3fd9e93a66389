"""Gates for use in CI."""

from __future__ import annotations

from typing import Any

import pytest

from mojimeter.errors import GateError, InputError
from mojimeter.report.gates import Gate, check_gates, parse_gates


def _scores(average: float | None) -> dict[str, Any]:
    estimate = {"value": average}
    return {
        "overlap": {"f1": {"value": 9.0}},
        "preservation": {"average": estimate},
        "kept": estimate,
        "recovered": estimate,
    }


DOCUMENT = {"systems": {"good": _scores(80.0), "bad": _scores(60.0), "baseline/none": _scores(10.0)}}


def test_a_gate_is_a_metric_and_a_value_and_perhaps_a_system() -> None:
    assert parse_gates(["average=75.5", "openai/gpt:kept=88"]) == [
        Gate("average", 75.5),
        Gate("kept", 88.0, "openai/gpt"),
    ]


@pytest.mark.parametrize("text", ["average", "average=", "average=high", "=3", "a=nan"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="expected METRIC=VALUE"):
        parse_gates([text])


def test_every_system_but_the_baselines_must_pass() -> None:
    check_gates(DOCUMENT, parse_gates(["average=60"]))
    with pytest.raises(GateError, match=r"bad: average is 60\.00, required 61$"):
        check_gates(DOCUMENT, parse_gates(["average=61"]))


def test_a_gate_can_be_for_one_system() -> None:
    check_gates(DOCUMENT, parse_gates(["good:average=75"]))
    with pytest.raises(GateError, match="baseline/none"):
        check_gates(DOCUMENT, parse_gates(["baseline/none:average=11"]))


def test_a_score_without_a_value_does_not_pass() -> None:
    with pytest.raises(GateError, match="has no value"):
        check_gates({"systems": {"x": _scores(None)}}, parse_gates(["average=0"]))


def test_unknown_metrics_and_systems_are_named() -> None:
    with pytest.raises(InputError, match="no metric 'bleu'; there are average, f1, kept, recovered"):
        check_gates(DOCUMENT, parse_gates(["bleu=1"]))
    with pytest.raises(InputError, match="no system 'ugly'; there are good, bad"):
        check_gates(DOCUMENT, parse_gates(["ugly:average=1"]))
