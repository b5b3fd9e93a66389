"""An estimated number with its 95% interval, or the reason why there is none.

This is the one shape of a number in every JSON document the commands print.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with a 95% interval, or a named absence.

    Attributes:
        value: the estimate, or None where it cannot be had or has no bound.
        ci: (low, high) of the 95% interval; a bound of None is unbounded; None where there is no interval.
        reason: why there is no value (one phrase), if so.
        state: ``"unbounded"`` or ``"never"`` where the quantity exists but has no finite value.
    """

    value: float | None
    ci: tuple[float | None, float | None] | None = None
    reason: str | None = None
    state: str | None = None

    @classmethod
    def absent(cls, reason: str) -> Estimate:
        """A number that cannot be had, and why."""
        return cls(None, reason=reason)

    @classmethod
    def unbounded(cls, ci: tuple[float | None, float | None] | None = None) -> Estimate:
        """A number without a finite bound."""
        return cls(None, ci=ci, state="unbounded")

    def to_dict(self) -> dict[str, Any]:
        """The JSON form of the contract; NaN and infinities never leave as numbers."""
        value = _finite(self.value)
        if value is None and self.value is not None:
            return {"value": None, "reason": self.reason or "not a finite number"}
        out: dict[str, Any] = {"value": value}
        if self.ci is not None:
            out["ci"] = [_finite(self.ci[0]), _finite(self.ci[1])]
        if self.reason is not None:
            out["reason"] = self.reason
        if self.state is not None:
            out["state"] = self.state
        return out


def _finite(x: float | None) -> float | None:
    return None if x is None or not math.isfinite(x) else float(x)
