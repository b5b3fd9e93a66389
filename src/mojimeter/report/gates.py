"""Gates: scores that must not fall below a value (``--fail-under METRIC=VALUE``), for use in other people's CI.

Works on the JSON document of scores, so that a gate means what the document says. Knows no command line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mojimeter.errors import GateError, InputError


@dataclass(frozen=True, slots=True)
class Gate:
    """``metric`` of ``system`` (None: of every system that is not a baseline) must be ``value`` or more."""

    metric: str
    value: float
    system: str | None = None


def is_baseline(system: str) -> bool:
    """Whether a system is there for comparison only: ``baseline/...``, or the release's ``random...``."""
    return system.startswith(("baseline/", "random"))


def parse_gates(texts: Sequence[str]) -> list[Gate]:
    """Read ``METRIC=VALUE`` and ``SYSTEM:METRIC=VALUE``.

    Raises:
        InputError: a text is neither.
    """
    gates = []
    for text in texts:
        left, equals, value = text.rpartition("=")
        system, _, metric = left.rpartition(":")
        try:
            number = float(value)
        except ValueError:
            number = float("nan")
        if not equals or not metric or number != number:
            raise InputError(f"--fail-under {text!r}: expected METRIC=VALUE or SYSTEM:METRIC=VALUE, such as average=75")
        gates.append(Gate(metric, number, system or None))
    return gates


def check_gates(document: Mapping[str, Any], gates: Sequence[Gate]) -> None:
    """Hold scores against their gates; a score without a value does not pass.

    Args:
        document: what ``score --json`` prints.

    Raises:
        InputError: a gate names a system or a metric that there is none of.
        GateError: one or more gates are not met, all of them named.
    """
    missed = []
    for gate in gates:
        for system, scores in _gated(document["systems"], gate):
            values = _estimates(scores)
            if gate.metric not in values:
                raise InputError(f"--fail-under: no metric {gate.metric!r}; there are {', '.join(sorted(values))}")
            value = values[gate.metric]
            if value is None:
                missed.append(f"{system}: {gate.metric} has no value, required {gate.value:g}")
            elif value < gate.value:
                missed.append(f"{system}: {gate.metric} is {value:.2f}, required {gate.value:g}")
    if missed:
        raise GateError("not met: " + "; ".join(missed))


def _gated(systems: Mapping[str, Any], gate: Gate) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if gate.system is not None:
        if gate.system not in systems:
            raise InputError(f"--fail-under: no system {gate.system!r}; there are {', '.join(systems)}")
        yield gate.system, systems[gate.system]
        return
    real = {name: scores for name, scores in systems.items() if not is_baseline(name)}
    yield from (real or systems).items()


def _estimates(scores: Mapping[str, Any]) -> dict[str, float | None]:
    """The scores of one system by name: those of overlap and preservation, kept and recovered."""
    parts = {**scores["overlap"], **scores["preservation"], "kept": scores["kept"], "recovered": scores["recovered"]}
    return {name: estimate["value"] for name, estimate in parts.items()}
