"""What a run's calls took: how many, tokens, seconds and money by model, from the ledger of calls.

Only sums leave this module: no question, no reply and no key. A number that some call does not tell is left unknown,
with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from mojimeter.models.calls import Call, CallLedger
from mojimeter.runs.folder import CALLS

NOT_MODELS = "no model was called"
NO_LEDGER = "the run holds no ledger of its calls"


def read_ledger(folder: Path) -> CallLedger | None:
    """The ledger of a run's calls, as it is; None where there is none.

    Raises:
        InputError: it is damaged.
    """
    return CallLedger(folder / CALLS, read_only=True) if (folder / CALLS).is_file() else None


def sum_costs(ledger: CallLedger | None) -> dict[tuple[str, str], dict[str, Any]]:
    """By model and purpose: what its calls took; nothing where there is no ledger."""
    by_model: dict[tuple[str, str], list[Call]] = {}
    for call in ledger if ledger is not None else ():
        by_model.setdefault((call.model, call.purpose), []).append(call)
    return {key: _sum(calls) for key, calls in by_model.items()}


def unknown_cost(reason: str) -> dict[str, Any]:
    """The same fields where nothing is known."""
    return {"calls": None, "tokens": None, "seconds": None, "usd": None, "cost_reason": reason}


def cost_of(
    costs: dict[tuple[str, str], dict[str, Any]], model: str, purposes: Sequence[str], *, called: bool
) -> dict[str, Any]:
    """What the calls of one system took.

    Args:
        model: its name.
        purposes: of its calls.
        called: whether it is a model at all.
    """
    for purpose in purposes:
        if (model, purpose) in costs:
            return costs[model, purpose]
    return unknown_cost(NO_LEDGER if called else NOT_MODELS)


def _sum(calls: Sequence[Call]) -> dict[str, Any]:
    seconds = _total(call.seconds for call in calls)
    tokens = [_total(getattr(call, f"{side}_tokens") for call in calls) for side in ("input", "output")]
    out = {
        "calls": len(calls),
        "tokens": None if None in tokens else {"input": tokens[0], "output": tokens[1]},
        "seconds": None if seconds is None else {"total": seconds, "per_call": seconds / len(calls)},
        "usd": _total(call.usd for call in calls),
    }
    lacking = [name for name in ("tokens", "seconds") if out[name] is None]
    if out["usd"] is None:
        lacking.append("price")
    return out | ({"cost_reason": f"not every call tells its {' and '.join(lacking)}"} if lacking else {})


def _total(values: Iterable[float | None]) -> float | None:
    known = list(values)
    return None if None in known else sum(value for value in known if value is not None)
