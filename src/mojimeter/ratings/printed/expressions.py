"""Formulas over printed numbers, read by a parser of our own and worked out in ranges.

A literal with a decimal point is a printed number and stands for all that round to it; a whole number is exact, so
write (1/5) for an exact 0.2. Names are quantities that the caller knows. Nothing is ever evaluated as a program.

    sum     := product (("+" | "-") product)*
    product := unary (("*" | "/") unary)*
    unary   := "-" unary | power
    power   := atom (("**" | "^") unary)?
    atom    := number | name | function "(" sum ("," sum)* ")" | "(" sum ")"
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mojimeter.errors import InputError
from mojimeter.ratings.printed.numbers import Range, hull, read_printed, sum_of_squares

Names = Mapping[str, Sequence[Range]]

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?%?)"
    r"|(?P<name>[A-Za-z_][A-Za-z_0-9]*)"
    r"|(?P<sign>\*\*|[-+*/^(),]))"
)
_LONGEST, _DEEPEST = 2000, 60


def evaluate(text: str, names: Names, where: str) -> Range:
    """The range of a formula.

    Args:
        text: the formula.
        names: name -> its values: one, or several (a list, for mean, sum, min, max, var, popvar only).
        where: what to call it in messages.

    Raises:
        InputError: a formula that cannot be read, an unknown name or function, a division by what may be zero.
    """
    if len(text) > _LONGEST:
        raise InputError(f"{where}: a formula of {len(text)} characters; at most {_LONGEST} are read")
    parser = _Parser(_tokens(text, where), names, where)
    try:
        values = parser.sum()
        parser.expect_end()
        value = parser.single(values)
        if not math.isfinite(value.mid) or math.isnan(value.lo + value.hi):
            raise InputError("has no finite value")
        return value
    except InputError as error:
        message = str(error)
        raise InputError(message if message.startswith(where) else f"{where}: {text!r} {message}") from None
    except (OverflowError, ValueError):
        raise InputError(f"{where}: {text!r} has no finite value") from None


def _tokens(text: str, where: str) -> list[tuple[str, str]]:
    out: list[tuple[str, str]] = []
    position = 0
    text = text.rstrip()
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None or found.lastgroup is None:
            raise InputError(f"{where}: {text!r}: did not expect {text[position:].strip()[:1]!r} in a formula")
        out.append((found.lastgroup, found[found.lastgroup]))
        position = found.end()
    return out


Values = Sequence[Range]


def _mean(values: Values) -> Range:
    return hull(values, lambda v: math.fsum(v) / len(v))


def _var(values: Values) -> Range:
    if len(values) < 2:
        raise InputError("takes a variance of fewer than two values")
    return sum_of_squares(values) / Range.exactly(float(len(values) - 1))


def _popvar(values: Values) -> Range:
    return sum_of_squares(values) / Range.exactly(float(len(values)))


def _one(values: Values, name: str) -> Range:
    if len(values) != 1:
        raise InputError(f"gives {name} {len(values)} values; it takes one")
    return values[0]


def _log(values: Values) -> Range:
    value = _one(values, "log")
    if value.lo <= 0.0:
        raise InputError("takes the logarithm of something that may not be positive")
    return value.increasing(math.log)


def _sqrt(values: Values) -> Range:
    value = _one(values, "sqrt")
    if value.lo < 0.0:
        raise InputError("takes the square root of something that may be negative")
    return value.increasing(math.sqrt)


def _abs(values: Values) -> Range:
    value = _one(values, "abs")
    low = 0.0 if value.lo <= 0.0 <= value.hi else min(abs(value.lo), abs(value.hi))
    return Range(low, abs(value.mid), max(abs(value.lo), abs(value.hi)))


def _ceil(values: Values) -> Range:
    # what is a whole number but for rounding in this program stays that number
    return _one(values, "ceil").increasing(lambda x: float(math.ceil(x - 1e-9 * max(1.0, abs(x)))))


def _exp(values: Values) -> Range:
    return _one(values, "exp").increasing(math.exp)


FUNCTIONS: dict[str, Callable[[Values], Range]] = {
    "min": lambda v: hull(v, min),
    "max": lambda v: hull(v, max),
    "sum": lambda v: hull(v, math.fsum),
    "mean": _mean,
    "var": _var,
    "popvar": _popvar,
    "log": _log,
    "exp": _exp,
    "sqrt": _sqrt,
    "abs": _abs,
    "ceil": _ceil,
}


@dataclass
class _Parser:
    """Recursive descent; every method leaves `at` behind what it read."""

    tokens: list[tuple[str, str]]
    names: Names
    where: str
    at: int = 0
    depth: int = 0

    def peek(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def take(self, *wanted: str) -> str:
        if self.peek() in wanted and self.at < len(self.tokens):
            self.at += 1
            return self.tokens[self.at - 1][1]
        return ""

    def expect_end(self) -> None:
        if self.at < len(self.tokens):
            raise InputError(f"cannot be read from {self.peek()!r} on")

    def single(self, values: Values) -> Range:
        if len(values) != 1:
            raise InputError("uses a list where one number is needed; take its mean, sum, min, max, var or popvar")
        return values[0]

    def sum(self) -> Values:
        left = self.product()
        while sign := self.take("+", "-"):
            a, b = self.single(left), self.single(self.product())
            left = [a + b if sign == "+" else a - b]
        return left

    def product(self) -> Values:
        left = self.unary()
        while sign := self.take("*", "/"):
            a, b = self.single(left), self.single(self.unary())
            left = [a * b if sign == "*" else a / b]
        return left

    def unary(self) -> Values:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise InputError(f"is nested deeper than {_DEEPEST} levels")
        result = [-self.single(self.unary())] if self.take("-") else self.power()
        self.depth -= 1
        return result

    def power(self) -> Values:
        base = self.atom()
        if self.take("**", "^"):
            return [self.single(base).power(self.single(self.unary()))]
        return base

    def atom(self) -> Values:
        if self.at >= len(self.tokens):
            raise InputError("ends too early")
        kind, text = self.tokens[self.at]
        self.at += 1
        if kind == "number":
            whole = text.isdigit()
            return [read_printed(int(text) if whole else text, self.where)]
        if kind == "name":
            return self.call(text) if self.peek() == "(" else self.named(text)
        if text == "(":
            inside = self.sum()
            if not self.take(")"):
                raise InputError("has a parenthesis that is not closed")
            return inside
        raise InputError(f"did not expect {text!r}")

    def named(self, name: str) -> Values:
        if name not in self.names:
            known = ", ".join(sorted(self.names)) or "none"
            raise InputError(f"uses {name!r}, which is not known here; known are {known}")
        return self.names[name]

    def call(self, name: str) -> Values:
        if name not in FUNCTIONS:
            raise InputError(f"uses {name}(), which is not known; known are {', '.join(FUNCTIONS)}")
        self.take("(")
        values: list[Range] = [*self.sum()]
        while self.take(","):
            values.extend(self.sum())
        if not self.take(")"):
            raise InputError("has a parenthesis that is not closed")
        return [FUNCTIONS[name](values)]
