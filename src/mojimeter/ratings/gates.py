"""Gates that a user sets on numbers: ``--fail-under METRIC=VALUE``. Knows names and values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from mojimeter.errors import GateError, InputError


def hold_gates(values: Mapping[str, float | None], gates: Sequence[str]) -> None:
    """Hold numbers against floors; one that cannot be had does not pass.

    Raises:
        InputError: a gate is not METRIC=VALUE, or of a metric that is not there.
        GateError: one or more are not met, all named.
    """
    missed = []
    for gate in gates:
        metric, equals, text = gate.partition("=")
        try:
            floor = float(text)
        except ValueError:
            floor = math.nan
        if not equals or metric not in values or not math.isfinite(floor):
            known = ", ".join(values)
            raise InputError(f"--fail-under {gate!r}: expected METRIC=VALUE, with a number and one of {known}")
        value = values[metric]
        if value is None or not value >= floor:
            missed.append(f"{metric} {'has no value' if value is None else f'is {value:.3f}'}, required {floor:g}")
    if missed:
        raise GateError("not met: " + "; ".join(missed))
