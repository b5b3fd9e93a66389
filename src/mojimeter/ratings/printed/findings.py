"""What a check of printed numbers finds: contradictions, which hold under no rounding, and notes, which may.

Knows ranges and words.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from mojimeter.ratings.printed.numbers import Range, show

Kind = Literal["contradiction", "note"]


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong or worth a remark.

    Attributes:
        kind: ``contradiction``: no rounding makes it true; ``note``: it can be true.
        what: one sentence.
        printed: the number as printed.
        possible: the range that it would have to be in, None for a side without a bound; None where there is no
            such range.
    """

    kind: Kind
    what: str
    printed: str
    possible: tuple[float | None, float | None] | None = None

    def to_dict(self) -> dict[str, Any]:
        possible = None if self.possible is None else list(self.possible)
        return {"kind": self.kind, "what": self.what, "printed": self.printed, "possible": possible}


def bounds(possible: Range) -> tuple[float | None, float | None]:
    """A range as JSON: no infinities."""
    low, high = possible.lo, possible.hi
    return (low if math.isfinite(low) else None, high if math.isfinite(high) else None)


def words(possible: Range) -> str:
    """A range in words."""
    low, high = show(possible.lo), show(possible.hi)
    if low == high:
        return low
    if math.isinf(possible.lo) and math.isinf(possible.hi):
        return "anything"
    if math.isinf(possible.hi):
        return f"{low} or more"
    return f"{high} or less" if math.isinf(possible.lo) else f"{low} to {high}"


def compare(name: str, text: object, printed: Range, possible: Range, because: str) -> Finding | None:
    """Hold a printed number against the range that other printed numbers leave it.

    A contradiction where the two do not meet; a note where they meet but the digits as they stand give another number.

    Args:
        name: what the number is said to be.
        text: as printed.
        printed: what that stands for.
        possible: what it can be.
        because: where that comes from.
    """
    if not printed.meets(possible):
        extra = " (as printed it is cut off there, not rounded)" if _truncated(str(text), possible) else ""
        what = f"{name}: printed {text}, but {because} allows {words(possible)}{extra}"
        return Finding("contradiction", what, str(text), bounds(possible))
    if math.isfinite(possible.mid) and not printed.holds(possible.mid):
        what = f"{name}: printed {text}; {because} gives {show(possible.mid)} as the digits stand, {words(possible)}"
        return Finding("note", what + " with rounding", str(text), bounds(possible))
    return None


def _truncated(text: str, possible: Range) -> bool:
    """Whether cutting digits off, rather than rounding, would give what is printed."""
    bare = text.strip().rstrip("%")
    decimals = len(bare.partition(".")[2])
    scale = 0.01 if text.strip().endswith("%") else 1.0
    try:
        value = float(bare) * scale
    except ValueError:
        return False
    step = 10.0**-decimals * scale
    return decimals > 0 and value <= possible.lo and possible.hi < value + step
