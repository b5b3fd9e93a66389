"""Numbers as printed: a string of digits stands for every number that rounds to it.

``"11.85"`` is anything from 11.845 to 11.855, ``"22.1%"`` from .2205 to .2215, ``"<.001"`` from 0 to .001.
Interval arithmetic (Moore 1966) carries such ranges through a formula, with the value that the digits themselves
give beside them, so that what comes out holds everything that the printed numbers allow. Knows strings and numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

from mojimeter.errors import InputError

_NUMBER = re.compile(
    r"""^\s*(?P<relation><=|>=|<|>|=|≤|≥|~|≈)?\s*
    (?P<sign>[-+−–])?\s*
    (?P<digits>[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?|[0-9]+(?:\.[0-9]*)?|\.[0-9]+)
    (?:[eE](?P<exponent>[-+]?[0-9]{1,3}))?
    \s*(?P<percent>%|percent)?\s*$""",
    re.VERBOSE,
)
_LARGEST_EXPONENT = 300
_SLACK = 1e-9  # of the numbers' size: what rounding in this program may add


@dataclass(frozen=True)
class Range:
    """Every value that printed numbers allow.

    Attributes:
        lo, hi: bounds, possibly infinite.
        mid: the value from the digits as they stand.
    """

    lo: float
    mid: float
    hi: float

    @classmethod
    def exactly(cls, value: float) -> Range:
        return cls(value, value, value)

    @property
    def exact(self) -> bool:
        return self.lo == self.hi

    def meets(self, other: Range) -> bool:
        """Whether some value is in both."""
        slack = _SLACK * max(abs(x) for x in (self.mid, other.mid, 1e-300) if math.isfinite(x))
        return self.lo <= other.hi + slack and other.lo <= self.hi + slack

    def holds(self, value: float) -> bool:
        return self.meets(Range.exactly(value))

    def __neg__(self) -> Range:
        return Range(-self.hi, -self.mid, -self.lo)

    def __add__(self, other: Range) -> Range:
        return Range(self.lo + other.lo, self.mid + other.mid, self.hi + other.hi)

    def __sub__(self, other: Range) -> Range:
        return self + -other

    def __mul__(self, other: Range) -> Range:
        corners = [_times(a, b) for a in (self.lo, self.hi) for b in (other.lo, other.hi)]
        return Range(min(corners), _times(self.mid, other.mid), max(corners))

    def __truediv__(self, other: Range) -> Range:
        """Quotient.

        Raises:
            InputError: the divisor may be zero.
        """
        if other.lo <= 0.0 <= other.hi:
            raise InputError("divides by something that may be zero")
        return self * Range(1.0 / other.hi, 1.0 / other.mid, 1.0 / other.lo)

    def power(self, other: Range) -> Range:
        """Self to the power of other: whole powers of anything, any powers of what is positive.

        Raises:
            InputError: neither.
        """
        if other.exact and float(other.mid).is_integer() and abs(other.mid) <= 1000:
            n = int(other.mid)
            if n < 0:
                return Range.exactly(1.0) / self.power(Range.exactly(-n))
            ends = [_raise(self.lo, n), _raise(self.hi, n)]
            low = 0.0 if n % 2 == 0 and n > 0 and self.lo < 0.0 < self.hi else min(ends)
            return Range(low, _raise(self.mid, n), max(ends))
        if self.lo <= 0.0:
            raise InputError("takes a power that is not whole of something that may not be positive")
        return (other * self.increasing(math.log)).increasing(_exp)

    def increasing(self, f: Callable[[float], float]) -> Range:
        """An increasing function of it."""
        return Range(f(self.lo), f(self.mid), f(self.hi))


def _times(a: float, b: float) -> float:
    return 0.0 if a == 0.0 or b == 0.0 else a * b


def _raise(base: float, n: int) -> float:
    try:
        return float(base**n)
    except OverflowError:
        return math.inf if base > 0 or n % 2 == 0 else -math.inf


def _exp(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def read_printed(text: object, where: str) -> Range:
    """What a printed number stands for.

    Args:
        text: the string as printed; a whole number is taken as exact, a count.
        where: what to call it in messages.

    Raises:
        InputError: not a number, or a decimal that is not a string (its digits are lost).
    """
    if isinstance(text, bool | float) or not isinstance(text, int | str):
        raise InputError(f'{where}: {text!r}; expected a string as printed, such as "11.85" or "22.1%"')
    if isinstance(text, int):
        return Range.exactly(float(text))
    found = _NUMBER.match(text)
    if found is None or len(text) > 60:
        raise InputError(f'{where}: {text[:60]!r} is not a number; expected one as printed, such as "11.85", "<.001"')
    if abs(int(found["exponent"] or 0)) > _LARGEST_EXPONENT:
        raise InputError(f"{where}: {text!r}; expected an exponent of at most {_LARGEST_EXPONENT}")
    digits = found["digits"].replace(",", "")
    scale = 10.0 ** int(found["exponent"] or 0) * (0.01 if found["percent"] else 1.0)
    decimals = len(digits.partition(".")[2])
    half = 0.5 * 10.0**-decimals * scale
    value = float(digits) * scale
    if found["sign"] in ("-", "−", "–"):
        value = -value
    match found["relation"]:
        case "<" | "<=" | "≤":
            return Range(0.0 if value > 0 else -math.inf, value, value)
        case ">" | ">=" | "≥":
            return Range(value, value, math.inf)
        case _:
            return Range(value - half, value, value + half)


def hull(ranges: Sequence[Range], choose: Callable[[Sequence[float]], float]) -> Range:
    """A function that rises in each of several ranges, such as their mean, least or greatest."""
    return Range(choose([r.lo for r in ranges]), choose([r.mid for r in ranges]), choose([r.hi for r in ranges]))


def sum_of_squares(ranges: Sequence[Range]) -> Range:
    """Sum of squared deviations from the mean of values that each lie in a range; the bounds are reached.

    Least: values drawn as near to one centre as they go (a convex problem in one variable). Greatest: a convex function
    has its maximum at a corner; with ranges of one width, the upper ends are those of the larger midpoints. Ranges of
    different widths: all corners up to twelve values, beyond that a bound that is not reached.

    Raises:
        InputError: a range without a bound.
    """
    if not all(math.isfinite(r.lo) and math.isfinite(r.hi) for r in ranges):
        raise InputError("needs values with bounds")

    def spread(values: Sequence[float]) -> float:
        mean = math.fsum(values) / len(values)
        return math.fsum((v - mean) ** 2 for v in values)

    widths = [r.hi - r.lo for r in ranges]
    ordered = sorted(ranges, key=lambda r: r.lo + r.hi)
    if max(widths) - min(widths) <= 1e-9 * max(widths):
        cuts = range(len(ordered) + 1)
        most = max(spread([r.lo if k < cut else r.hi for k, r in enumerate(ordered)]) for cut in cuts)
    elif len(ranges) <= 12:
        most = max(spread(corner) for corner in product(*((r.lo, r.hi) for r in ranges)))
    else:
        about = math.fsum(r.mid for r in ranges) / len(ranges)
        most = math.fsum(max((r.lo - about) ** 2, (r.hi - about) ** 2) for r in ranges)
    low, high = min(r.lo for r in ranges), max(r.hi for r in ranges)
    for _ in range(200):
        third = (high - low) / 3.0
        a, b = low + third, high - third
        fa, fb = (math.fsum((min(max(c, r.lo), r.hi) - c) ** 2 for r in ranges) for c in (a, b))
        low, high = (low, b) if fa <= fb else (a, high)
    centre = (low + high) / 2.0
    least = spread([min(max(centre, r.lo), r.hi) for r in ranges])
    return Range(min(least, most), spread([r.mid for r in ranges]), most)


def show(value: float) -> str:
    """A number for a sentence: six significant digits."""
    return f"{value:.6g}"
