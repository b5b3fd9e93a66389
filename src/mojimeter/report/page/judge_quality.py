"""What a student judge of a run was measured to be worth, for the page: scores are worth no more than their judge.

The quality lies beside the judge's weights; a judge whose weights are not here has none, with the reason. Weights that
people trained are their files, so nothing is taken to be there. Knows judges by name; nothing of runs or HTML.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mojimeter.errors import InputError
from mojimeter.judges.panel import STUDENT
from mojimeter.judges.student import quality


def describe_judges(names: Iterable[str]) -> list[dict[str, Any]]:
    """The measured quality of each student among the judges, in their order.

    Returns:
        For each ``{"judge", "sentence", "posts", "authors", "tasks": {task: {"accuracy": E, "kappa": E, "commonest",
        "moves", "outside"}}, "outside": {"posts", "judge"} or null}``; accuracies and shares are 0 to 1, ``moves`` is
        the share of labels that change with random emoji, ``outside`` kappa with another judge on other posts. Where
        nothing is known ``{"judge", "reason"}``.
    """
    return [_describe(name) for name in dict.fromkeys(names) if name.startswith(STUDENT)]


def _describe(name: str) -> dict[str, Any]:
    try:
        return {"judge": name, **_read(name, quality(name))}
    except InputError:
        return {"judge": name, "reason": "its quality lies beside its weights, and those are not here"}
    except (KeyError, TypeError, ValueError, AttributeError):
        return {"judge": name, "reason": "its weights do not say how it was measured"}


def _read(name: str, measured: Mapping[str, Any]) -> dict[str, Any]:
    """The parts that the page shows: of posts apart where there were some, else of the folds held out in fitting."""
    found = measured.get("test") or measured["held_out"]
    on = measured["measured_on"] if measured.get("test") else measured["fitted_on"]
    outside = measured.get("gpt_4o_mini") or {}
    moves = measured.get("emoji_sensitivity", {}).get("replaced", {})
    tasks = {
        task: {
            "accuracy": _estimate(one["accuracy"]),
            "kappa": _estimate(one["kappa"]),
            "commonest": float(one["majority"]),
            "moves": moves.get(task),
            "outside": outside.get("kappa", {}).get(task),
        }
        for task, one in found.items()
    }
    said = f"{name} agrees with the known labels of {on['posts']:,} posts that it had not seen at kappa "
    said += _range({task: one["kappa"]["value"] for task, one in tasks.items()})
    if outside:
        said += f", and with GPT-4o-mini on {outside['posts']:,} tweets at {_range(outside['kappa'])}"
    return {
        "sentence": f"{said}. Scores are worth no more than their judge.",
        "posts": int(on["posts"]),
        "authors": on.get("authors"),
        "tasks": tasks,
        "outside": {"posts": outside["posts"], "judge": "GPT-4o-mini"} if outside else None,
    }


def _estimate(value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return {"value": float(value["value"]), "ci": [float(bound) for bound in value["ci"]]}
    return {"value": float(value)}


def _range(kappas: Mapping[str, float]) -> str:
    low, high = min(kappas, key=kappas.__getitem__), max(kappas, key=kappas.__getitem__)
    return f"{kappas[low]:.2f} ({low})" + (f" to {kappas[high]:.2f} ({high})" if low != high else "")
