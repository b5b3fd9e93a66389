"""Printed p values against the statistic and degrees of freedom printed with them.

Knows five tests: F, t, chi-square, z, and the correlations of Pearson and Spearman (exact up to nine values).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from mojimeter.errors import InputError
from mojimeter.ratings.printed.findings import Finding, bounds, compare, words
from mojimeter.ratings.printed.numbers import Range, read_printed, show
from mojimeter.ratings.printed.sections import count_of, text_of
from mojimeter.ratings.rank_correlation import MAX_EXACT, spearman_distribution, t_approximation_p

TESTS = ("f", "t", "chi2", "z", "pearson", "spearman")


def check_p(entry: Mapping[str, Any], where: str) -> Finding | None:
    """Hold a printed p against its statistic.

    Args:
        entry: ``test`` (one of `TESTS`), ``value``, ``p``, with ``df`` (F: two, t and chi2: one) or ``n``.
        where: what to call it in messages.

    Raises:
        InputError: an unknown test, missing or unreadable numbers.
    """
    test = text_of(entry, "test", where).lower()
    if test not in TESTS:
        raise InputError(f"{where}: no test {test!r}; expected {', '.join(TESTS)}")
    value, p = read_printed(entry["value"], f"{where}, value"), read_printed(entry["p"], f"{where}, p")
    name = str(entry.get("name") or f"p of {test} = {entry['value']}")
    if test in ("spearman", "pearson") and (value.lo > 1.0 or value.hi < -1.0):
        return Finding("contradiction", f"{name}: no correlation is {entry['value']}", str(entry["value"]), (-1.0, 1.0))
    if test == "spearman":
        return _spearman(name, entry, value, p, count_of(entry, "n", where, 3))
    if test == "pearson":
        n = count_of(entry, "n", where, 3)
        possible = _two_sided(value, lambda r: float(t_approximation_p(max(-1.0, min(1.0, r)), n) or 0.0))
    else:
        possible = _tail(test, value, _degrees(entry, test, where))
    if not value.exact and value.mid in (value.lo, value.hi):
        # a bound ("> 3") has no digits that stand for one value
        possible = Range(possible.lo, math.nan, possible.hi)
    finding = compare(name, entry["p"], p, possible, f"{test} = {entry['value']}")
    if finding is None or finding.kind == "note" or test in ("f", "chi2"):
        return finding
    half = Range(possible.lo / 2.0, possible.mid / 2.0, possible.hi / 2.0)
    if p.meets(half):
        what = f"{name}: printed {entry['p']} is the one-sided p; the two-sided one is {words(possible)}"
        return Finding("note", what, str(entry["p"]), bounds(possible))
    return finding


def _degrees(entry: Mapping[str, Any], test: str, where: str) -> list[Range]:
    wanted = {"f": 2, "t": 1, "chi2": 1, "z": 0}[test]
    given = entry.get("df", [])
    values = given if isinstance(given, list) else [given]
    if len(values) != wanted:
        raise InputError(f"{where}: {len(values)} degrees of freedom; the {test} test has {wanted}")
    out = [read_printed(v, f"{where}, df") for v in values]
    if any(r.lo <= 0.0 for r in out):
        raise InputError(f"{where}: degrees of freedom must be positive")
    return out


def _two_sided(value: Range, p: Callable[[float], float]) -> Range:
    """Range of a p that falls as the statistic moves away from zero."""
    far = max(abs(value.lo), abs(value.hi))
    near = 0.0 if value.lo <= 0.0 <= value.hi else min(abs(value.lo), abs(value.hi))
    return Range(p(far), p(value.mid), p(near))


def _tail(test: str, value: Range, df: list[Range]) -> Range:
    from scipy.special import chdtrc, fdtrc, ndtr, stdtr

    if test == "z":
        return _two_sided(value, lambda z: float(2.0 * ndtr(-abs(z))))
    ends = [[r.lo, r.mid, r.hi] for r in df]
    if test == "t":
        found = [_two_sided(value, lambda t, k=k: float(2.0 * stdtr(k, -abs(t)))) for k in ends[0]]  # type: ignore[misc]
    elif test == "chi2":
        found = [_upper(value, lambda x, k=k: float(chdtrc(k, x))) for k in ends[0]]  # type: ignore[misc]
    else:
        pairs = [(a, b) for a in ends[0] for b in ends[1]]
        found = [_upper(value, lambda f, a=a, b=b: float(fdtrc(a, b, f))) for a, b in pairs]  # type: ignore[misc]
    return Range(min(r.lo for r in found), found[len(found) // 2].mid, max(r.hi for r in found))


def _upper(value: Range, p: Callable[[float], float]) -> Range:
    return Range(p(max(value.hi, 0.0)), p(max(value.mid, 0.0)), p(max(value.lo, 0.0)))


def _spearman(name: str, entry: Mapping[str, Any], value: Range, p: Range, n: int) -> Finding | None:
    approximate = _two_sided(value, lambda r: float(t_approximation_p(max(-1.0, min(1.0, r)), n) or 0.0))
    text = str(entry["p"])
    if n > MAX_EXACT:
        if p.meets(approximate):
            return None
        what = f"{name}: printed {text}; the t approximation gives {words(approximate)}, an exact test may differ"
        return Finding("note", what, text, bounds(approximate))
    rho, share = spearman_distribution(n)
    matching = [r for r in rho.tolist() if value.holds(r)]
    if not matching:
        what = f"{name}: {entry['value']} is no Spearman correlation of {n} values without ties"
        return Finding("note", what, str(entry["value"]), None)
    exact = sorted(float(share[abs(rho) >= abs(r) - 1e-9].sum()) for r in matching)
    possible = Range(exact[0], exact[len(exact) // 2], exact[-1])
    if p.meets(possible):
        return None
    if p.meets(approximate):
        what = f"{name}: printed {text} is the t approximation; the exact value at n = {n} is {show(possible.mid)}"
        return Finding("note", what, text, bounds(possible))
    what = f"{name}: printed {text}, but the exact value at n = {n} is {words(possible)}"
    return Finding("contradiction", what, text, bounds(possible))
