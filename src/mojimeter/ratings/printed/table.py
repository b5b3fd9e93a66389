"""A printed analysis, checked against itself: can all of its numbers be true at once?

`PrintedTable` takes numbers as printed, solves for the mean squares that were not printed, and holds degrees of
freedom, F ratios, shares, means, p values and claims against what the others allow. Knows no data: only what a
paper shows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from mojimeter.errors import InputError
from mojimeter.ratings.printed.expressions import evaluate
from mojimeter.ratings.printed.findings import Finding, bounds, compare, words
from mojimeter.ratings.printed.numbers import Range, read_printed, show, sum_of_squares
from mojimeter.ratings.printed.probabilities import check_p
from mojimeter.ratings.printed.sections import check_shape, count_of, read_toml, text_of
from mojimeter.ratings.printed.squares import Floats, Ratio, Squares, effect_name, read_design

_OBJECT_VARIANCES = ("unbiased", "observed_n", "observed_n_minus_1")


@dataclass(frozen=True)
class TableCheck:
    """What a check found.

    Attributes:
        findings: contradictions first.
        solved: name -> range of what follows from the printed numbers (mean squares, shares, components).
    """

    findings: tuple[Finding, ...]
    solved: Mapping[str, Range]

    @property
    def contradictions(self) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if f.kind == "contradiction")

    def to_dict(self) -> dict[str, Any]:
        """The contract's ``findings`` and ``solved``; each solved number with the range that rounding leaves it."""
        solved = {}
        for name, value in self.solved.items():
            mid = value.mid if math.isfinite(value.mid) else None
            solved[name] = {"value": mid, "possible": list(bounds(value))}
        return {"findings": [f.to_dict() for f in self.findings], "solved": solved}


class PrintedTable:
    """The numbers of one paper, as strings.

    Args:
        document: the TOML document as a dictionary; its sections are described in the manual of
            ``mojimeter ratings check``.

    Raises:
        InputError: a section, key or number that cannot be read.

    Example:
        >>> table = PrintedTable({"claim": [{"name": "tokens", "value": "124", "equals": "294.7 / 2.60"}]})
        >>> [f.kind for f in table.check().findings]
        ['contradiction']
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._sections = check_shape(document)
        self._origin: str | None = None
        self._findings: list[Finding] = []
        design = self._sections["design"]
        self._squares = Squares(read_design(design)) if design else None
        self._names: dict[str, list[Range]] = {}
        self._means: dict[str, list[Range]] = {}

    @classmethod
    def read(cls, path: str | Path) -> PrintedTable:
        """From a TOML file.

        Raises:
            InputError: one sentence with the file's name.
        """
        document = read_toml(path)
        try:
            table = cls(document)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        table._origin = str(path)
        return table

    def check(self) -> TableCheck:
        """Check everything; the same table always gives the same findings.

        Raises:
            InputError: a number, effect or formula that cannot be read, or nothing to check.
        """
        try:
            return self._check()
        except InputError as error:
            raise InputError(f"{self._origin}: {error}" if self._origin else str(error)) from None

    def _check(self) -> TableCheck:
        if not any(self._sections.values()):
            raise InputError("nothing to check; expected numbers as printed, such as [mean_squares] or [[claim]]")
        self._findings, self._names, self._means = [], {}, {}
        solved: dict[str, Range] = {}
        self._read_quantities()
        self._read_means()
        if self._squares is not None:
            self._squares.known.clear()
            self._check_degrees_of_freedom()
            self._gather_squares()
            solved = self._solve()
            self._check_components(solved)
        self._check_f_p()
        for number, entry in enumerate(self._sections["p"], 1):
            self._keep(check_p(entry, f"[[p]] {number}"))
        for number, entry in enumerate(self._sections["raters_needed"], 1):
            self._check_raters_needed(entry, f"[[raters_needed]] {number}", solved)
        for number, entry in enumerate(self._sections["claim"], 1):
            self._check_claim(entry, f"[[claim]] {number}")
        ordered = sorted(self._findings, key=lambda f: f.kind != "contradiction")
        return TableCheck(tuple(ordered), solved)

    def _keep(self, finding: Finding | None) -> None:
        if finding is not None:
            self._findings.append(finding)

    # --- what is given ------------------------------------------------------------------------------------

    def _read_quantities(self) -> None:
        for name, value in self._sections["quantities"].items():
            if not name.isidentifier():
                raise InputError(f"[quantities] {name!r}: expected a name of letters, digits and _")
            values = value if isinstance(value, list) else [value]
            if not values:
                raise InputError(f"[quantities] {name}: an empty list; expected at least one number")
            self._names[name] = [read_printed(v, f"[quantities] {name}") for v in values]

    def _read_means(self) -> None:
        for number, entry in enumerate(self._sections["means"], 1):
            where = f"[[means]] {number}"
            of, n = text_of(entry, "of", where), count_of(entry, "n", where)
            values = entry["values"]
            if not isinstance(values, list) or len(values) < 2:
                raise InputError(f"{where}: values = {values!r}; expected a list of two or more strings")
            ranges = [read_printed(v, f"{where}, value {k}") for k, v in enumerate(values, 1)]
            if of in self._means:
                raise InputError(f"{where}: means of {of!r} were given before")
            self._means[of] = ranges
            self._names[f"means_{of}"] = ranges
            if entry.get("integer", False) is True:
                for text, value in zip(values, ranges, strict=True):
                    self._keep(_grim(of, str(text), value, n))
            self._check_levels(of, n, len(values), where)
        self._check_grand_means()

    def _check_levels(self, of: str, n: int, count: int, where: str) -> None:
        if self._squares is None or of not in self._squares.design.levels:
            return
        design = self._squares.design
        if design.levels[of] != count:
            raise InputError(f"{where}: {count} means for {design.levels[of]} levels of {of}; expected one each")
        each = design.cells // count
        if n != each:
            what = f"means of {of}: n is {n:,}, but a complete design has {each:,} ratings behind each"
            self._keep(Finding("contradiction", what, str(n), (float(each), float(each))))

    def _check_grand_means(self) -> None:
        if self._squares is None:
            return
        crossed = [of for of in self._means if of in self._squares.design.levels]
        for first, second in pairwise(crossed):
            here, there = (evaluate(f"mean(means_{of})", self._names, "means") for of in (first, second))
            if not here.meets(there):
                what = (
                    f"the {second} means average to {words(there)}, the {first} means to {words(here)}: in a complete "
                    "crossed design both are the grand mean"
                )
                self._findings.append(Finding("contradiction", what, words(there), bounds(here)))

    # --- the analysis of variance -------------------------------------------------------------------------

    def _check_degrees_of_freedom(self) -> None:
        squares = _there(self._squares)
        true = dict(zip(squares.names, squares.df.astype(int).tolist(), strict=True))
        for text, printed in self._sections["df"].items():
            name = "total" if text == "total" else effect_name(squares.design, text, "[df]")
            expected = squares.design.cells - 1 if name == "total" else true[name]
            given = read_printed(printed, f"[df] {text}")
            if not given.holds(expected):
                self._keep(_wrong_df(f"df of {name}", printed, expected))
        for number, entry in enumerate(self._sections["f"], 1):
            where = f"[[f]] {number}"
            df = entry.get("df")
            if df is None:
                continue
            if not isinstance(df, list) or len(df) != 2:
                raise InputError(f"{where}: df = {df!r}; expected two numbers")
            effect = effect_name(squares.design, text_of(entry, "effect", where), where)
            pair = [read_printed(v, f"{where}, df") for v in df]
            if not pair[0].holds(true[effect]):
                self._keep(_wrong_df(f"numerator df of F({effect})", df[0], true[effect]))
            terms = self._terms(text_of(entry, "error", where), where)
            if len(terms) == 1:
                error = next(iter(terms))
                if not pair[1].holds(true[error]):
                    self._keep(_wrong_df(f"denominator df of F({effect}) over {error}", df[1], true[error]))

    def _terms(self, text: str, where: str) -> dict[str, float]:
        """``"a:b + a:c - residual"`` as effect -> +1 or -1."""
        squares = _there(self._squares)
        out: dict[str, float] = {}
        sign = 1.0
        for part in text.replace("+", " + ").replace("-", " - ").replace(" x ", ":").split():
            if part in "+-":
                sign = 1.0 if part == "+" else -1.0
                continue
            out[effect_name(squares.design, part, where)] = sign
            sign = 1.0
        if not out:
            raise InputError(f"{where}: error = {text!r}; expected an effect, or several with + and -")
        return out

    def _gather_squares(self) -> None:
        squares = _there(self._squares)
        df, total = squares.df, squares.df
        for text, printed in self._sections["mean_squares"].items():
            name = effect_name(squares.design, text, "[mean_squares]")
            allowed = read_printed(printed, f"[mean_squares] {text}")
            self._add(Ratio(f"mean square of {name}", str(printed), squares.unit(name), None, allowed))
        for text, printed in self._sections["sums_of_squares"].items():
            name = "total" if text == "total" else effect_name(squares.design, text, "[sums_of_squares]")
            row = total if name == "total" else squares.unit(name) * df
            allowed = read_printed(printed, f"[sums_of_squares] {text}")
            self._add(Ratio(f"sum of squares of {name}", str(printed), row, None, allowed))
        for number, entry in enumerate(self._sections["f"], 1):
            self._add(self._f_ratio(entry, f"[[f]] {number}"))
        for text, printed in self._sections["share_of_ss"].items():
            name = effect_name(squares.design, text, "[share_of_ss]")
            allowed = read_printed(printed, f"[share_of_ss] {text}")
            self._add(
                Ratio(f"share of {name} in the sum of squares", str(printed), squares.unit(name) * df, total, allowed)
            )
        for text, printed in self._sections["components"].items():
            name = effect_name(squares.design, text, "[components]")
            allowed = read_printed(printed, f"[components] {text}")
            self._add(Ratio(f"variance component of {name}", str(printed), squares.component(name), None, allowed))
        for of, ranges in self._means.items():
            if of in squares.design.levels:
                each = float(squares.design.cells // squares.design.levels[of])
                spread = sum_of_squares(ranges)
                allowed = Range(spread.lo * each, spread.mid * each, spread.hi * each)
                label = f"sum of squares of {of} from its printed means"
                self._add(Ratio(label, show(allowed.mid), squares.unit(of) * df, None, allowed))

    def _f_ratio(self, entry: Mapping[str, Any], where: str) -> Ratio:
        squares = _there(self._squares)
        effect = effect_name(squares.design, text_of(entry, "effect", where), where)
        error = text_of(entry, "error", where)
        bottom: Floats = sum(squares.unit(e) * a for e, a in self._terms(error, where).items())  # type: ignore[assignment]
        printed = read_printed(entry["value"], f"{where}, value")
        return Ratio(f"F of {effect} over {error}", str(entry["value"]), squares.unit(effect), bottom, printed)

    def _add(self, ratio: Ratio) -> None:
        possible = _there(self._squares).add(ratio)
        if possible is not None:
            what = f"{ratio.label}: printed {ratio.printed}, but the numbers before it allow only {words(possible)}"
            self._findings.append(Finding("contradiction", what, ratio.printed, bounds(possible)))

    def _solve(self) -> dict[str, Range]:
        squares = _there(self._squares)
        solved: dict[str, Range] = {}
        for name, df in zip(squares.names, squares.df, strict=True):
            key = name.replace(":", "_")
            solved[f"ms_{key}"] = squares.ratio_range(squares.unit(name))
            self._names[f"df_{key}"] = [Range.exactly(float(df))]
        solved["ss_total"] = squares.ratio_range(squares.df)
        for name, df in zip(squares.names, squares.df, strict=True):
            share = squares.ratio_range(squares.unit(name) * df, squares.df)
            solved[f"share_of_ss_{name.replace(':', '_')}"] = _if_known(share, 0.0, 1.0)
        for name in squares.names:
            solved[f"component_{name.replace(':', '_')}"] = squares.ratio_range(squares.component(name))
        self._add_agreement(solved)
        for name, value in solved.items():
            if not math.isnan(value.mid):
                self._names[name] = [value]
        for facet, n in squares.design.levels.items():
            self._names[f"n_{facet}"] = [Range.exactly(float(n))]
        return solved

    def _add_agreement(self, solved: dict[str, Range]) -> None:
        """Interval alpha of the cells: 1 - (N - 1) / (cells (raters - 1)) x SS within cells / SS total."""
        squares = _there(self._squares)
        if "rater" not in squares.design.levels:
            return
        raters = squares.design.levels["rater"]
        units = squares.design.cells // raters
        within = squares.df.copy()
        for k, effect in enumerate(squares.design.effects):
            if "rater" not in effect.facets:
                within[k] = 0.0
        share = squares.ratio_range(within, squares.df)
        factor = (squares.design.cells - 1) / (units * (raters - 1))
        one = Range.exactly(1.0)
        alpha = one - Range.exactly(factor) * share
        solved["alpha_interval"] = _if_known(alpha, 1.0 - factor, 1.0)

    def _check_components(self, solved: Mapping[str, Range]) -> None:
        squares = _there(self._squares)
        if not self._sections["share_of_variance"]:
            return
        used = {name: _not_negative(solved[f"component_{name.replace(':', '_')}"]) for name in squares.names}
        for text, printed in self._sections["share_of_variance"].items():
            name = effect_name(squares.design, text, "[share_of_variance]")
            given = read_printed(printed, f"[share_of_variance] {text}")
            others = [r for n, r in used.items() if n != name]
            possible = _share(used[name], others)
            self._keep(compare(f"variance share of {name}", printed, given, possible, "the mean squares' solution"))

    # --- tests and claims ---------------------------------------------------------------------------------

    def _check_f_p(self) -> None:
        for number, entry in enumerate(self._sections["f"], 1):
            self._check_satterthwaite(entry, f"[[f]] {number}")
            if "p" in entry and isinstance(entry.get("df"), list):
                test = {"test": "f", "value": entry["value"], "df": entry["df"], "p": entry["p"]}
                name = entry.get("name") or f"p of F({entry['effect']})"
                self._keep(check_p(test | {"name": name}, f"[[f]] {number}"))

    def _check_satterthwaite(self, entry: Mapping[str, Any], where: str) -> None:
        """Denominator df of a quasi-F: (combination)^2 / sum of (a MS)^2 / df (Satterthwaite 1946)."""
        terms = self._terms(text_of(entry, "error", where), where)
        if len(terms) < 2 or "df" not in entry:
            return
        squares = _there(self._squares)
        df = dict(zip(squares.names, squares.df.tolist(), strict=True))
        combination: Floats = sum(squares.unit(e) * a for e, a in terms.items())  # type: ignore[assignment]
        two = Range.exactly(2.0)
        spread = Range.exactly(0.0)
        for effect in terms:
            spread += squares.ratio_range(squares.unit(effect)).power(two) / Range.exactly(df[effect])
        value = squares.ratio_range(combination)
        if spread.lo <= 0.0 or math.isnan(value.mid):
            return
        printed = entry["df"][1]
        name, because = f"denominator df of F({entry['effect']})", "Satterthwaite's formula"
        possible = value.power(two) / spread
        self._keep(compare(name, printed, read_printed(printed, f"{where}, df"), possible, because))

    def _check_claim(self, entry: Mapping[str, Any], where: str) -> None:
        name = text_of(entry, "name", where)
        kinds = [k for k in ("equals", "at_least", "at_most", "between") if k in entry]
        if len(kinds) != 1:
            raise InputError(f"{where}: expected one of equals, at_least, at_most, between; found {len(kinds)}")
        kind = kinds[0]
        text = entry["value"]
        printed = self._formula(text, where) if isinstance(text, str) else read_printed(text, where)
        if kind == "between":
            ends = entry["between"]
            if not isinstance(ends, list) or len(ends) != 2:
                raise InputError(f"{where}: between = {ends!r}; expected two numbers")
            low, high = (self._formula(str(e), where) for e in ends)
            if low.mid > high.mid:
                raise InputError(f"{where}: between = {ends!r}; expected the lower end first")
            possible = Range(low.lo, printed.mid if low.mid <= printed.mid <= high.mid else math.nan, high.hi)
            because = f"the stated range {ends[0]} to {ends[1]}"
            self._keep(compare(name, text, printed, possible, because))
            return
        formula = str(entry[kind])
        value = self._formula(formula, where)
        if kind == "at_least":
            value = Range(value.lo, max(value.mid, printed.mid), math.inf)
        elif kind == "at_most":
            value = Range(-math.inf, min(value.mid, printed.mid), value.hi)
        self._keep(compare(name, text, printed, value, formula))

    def _formula(self, text: str, where: str) -> Range:
        """A printed number, or a formula."""
        try:
            return read_printed(text, where)
        except InputError:
            return evaluate(text, self._names, where)

    def _check_raters_needed(self, entry: Mapping[str, Any], where: str, solved: Mapping[str, Range]) -> None:
        squares = _there(self._squares)
        if tuple(sorted(squares.design.levels)) != ("item", "rater", "system"):
            raise InputError(f"{where}: needs a design of item, system and rater")
        target, variance = self._target_and_variance(entry, where, solved)
        items = Range.exactly(float(squares.design.levels["item"]))
        error = _not_negative(solved["component_system_rater"]) + _not_negative(solved["component_residual"]) / items
        fixed = _not_negative(solved["component_item_system"]) / items
        spare = variance * Range.exactly(1.0 / target - 1.0) - fixed
        name = str(entry.get("name") or f"raters needed for G of {target:g}")
        text, printed = entry["value"], read_printed(entry["value"], f"{where}, value")
        if spare.hi <= 0.0:
            what = f"{name}: printed {text}, but with this system variance no number of raters reaches it"
            self._findings.append(Finding("contradiction", what, str(text)))
            return
        low, high = _ceil(error.lo / spare.hi), math.inf if spare.lo <= 0.0 else _ceil(error.hi / spare.lo)
        mid = math.nan if spare.mid <= 0.0 else _ceil(error.mid / spare.mid)
        because = (
            f"the variance of the {'system means' if variance is not solved['component_system'] else 'components'}"
        )
        self._keep(compare(name, text, printed, Range(low, mid, high), because))
        self._note_fewer(name, text, printed, target, solved)

    def _target_and_variance(
        self, entry: Mapping[str, Any], where: str, solved: Mapping[str, Range]
    ) -> tuple[float, Range]:
        target = read_printed(entry["target"], f"{where}, target").mid
        if not 0.0 < target < 1.0:
            raise InputError(f"{where}: target = {entry['target']!r}; expected a number between 0 and 1")
        kind = entry.get("object_variance", "unbiased")
        if kind not in _OBJECT_VARIANCES:
            raise InputError(f"{where}: object_variance = {kind!r}; expected {', '.join(_OBJECT_VARIANCES)}")
        if kind == "unbiased":
            return target, solved["component_system"]
        if "system" not in self._means:
            raise InputError(f"{where}: object_variance = {kind!r} needs [means] of system")
        function = "popvar" if kind == "observed_n" else "var"
        return target, evaluate(f"{function}(means_system)", self._names, where)

    def _note_fewer(self, name: str, text: object, printed: Range, target: float, solved: Mapping[str, Range]) -> None:
        """Whether the upper 95% limit of the system component would do with fewer raters."""
        from mojimeter.ratings.system_tests import compare_levels, f_quantile

        anova = _there(self._squares).anova()
        if anova is None:
            return
        test = compare_levels(anova, "system").tests["quasi_f"]
        if test.f is None or test.df1 is None or test.df2 is None:
            return
        levels = anova.design.levels
        denominator = anova.ms["system"] / test.f
        upper = (test.f / f_quantile(0.025, test.df1, test.df2) - 1.0) * denominator
        upper /= levels["item"] * levels["rater"]
        error = max(solved["component_system_rater"].mid, 0.0) + solved["component_residual"].mid / levels["item"]
        spare = upper * (1.0 / target - 1.0) - max(solved["component_item_system"].mid, 0.0) / levels["item"]
        if spare <= 0.0 or (fewer := _ceil(error / spare)) >= printed.lo:
            return
        what = (
            f"{name}: {text} is not a minimum: at the upper 95% limit of the system component ({upper:.4f}) "
            f"{fewer:.0f} raters reach it"
        )
        self._findings.append(Finding("note", what, str(text), (fewer, None)))


def _if_known(value: Range, least: float, most: float) -> Range:
    """Without a middle where the printed numbers leave all of a quantity's own range open."""
    if value.lo <= least + 1e-9 and value.hi >= most - 1e-9:
        return Range(value.lo, math.nan, value.hi)
    return value


def _there(squares: Squares | None) -> Squares:
    if squares is None:
        raise InputError("this needs a [design] with the facets and their numbers of levels")
    return squares


def _wrong_df(name: str, printed: object, expected: int) -> Finding:
    what = f"{name}: printed {printed}, but this design has {expected:,}"
    return Finding("contradiction", what, str(printed), (float(expected), float(expected)))


def _grim(of: str, text: str, value: Range, n: int) -> Finding | None:
    """Whether some whole sum of n whole scores has that mean (GRIM: Brown & Heathers 2017)."""
    slack = 1e-9 * max(1.0, abs(value.mid) * n)
    below = math.floor(value.hi * n + slack)
    if below >= value.lo * n - slack:
        return None
    what = (
        f"mean of {of} {text}: {n:,} whole scores cannot average to that; the nearest means are "
        f"{show(below / n)} and {show((below + 1) / n)}"
    )
    return Finding("contradiction", what, text, (below / n, (below + 1) / n))


def _not_negative(value: Range) -> Range:
    return Range(max(value.lo, 0.0), max(value.mid, 0.0), max(value.hi, 0.0))


def _share(own: Range, others: list[Range]) -> Range:
    """The share own / (own + others), which rises in own and falls in the others."""

    def share(a: float, b: float) -> float:
        if math.isinf(a):
            return 1.0
        return 0.0 if math.isinf(b) or a + b == 0.0 else a / (a + b)

    return Range(
        share(own.lo, math.fsum(r.hi for r in others)),
        share(own.mid, math.fsum(r.mid for r in others)),
        share(own.hi, math.fsum(r.lo for r in others)),
    )


def _ceil(x: float) -> float:
    return float(math.ceil(x - 1e-9 * max(1.0, abs(x)))) if math.isfinite(x) else x
