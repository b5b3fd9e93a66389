"""What a study says about the ranking, in one word, one sentence and the next steps.

Reads the test, the ranking and the generalizability study; computes nothing itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mojimeter.ratings.components import Components
from mojimeter.ratings.design import Design
from mojimeter.ratings.generalizability import GStudy
from mojimeter.ratings.ranking import Ranking
from mojimeter.ratings.system_tests import EffectTests, FTest

LEVEL = 0.05
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


@dataclass(frozen=True)
class Verdict:
    """The answer to "can these ratings rank the systems?".

    Attributes:
        verdict: "not_separated", "partly", "separated" or "refused".
        sentence: for people.
        next_steps: what to do about it, most useful first.
    """

    verdict: str
    sentence: str
    next_steps: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """All of it."""
        return {"verdict": self.verdict, "sentence": self.sentence, "next_steps": list(self.next_steps)}


def count(n: int) -> str:
    """A number in words up to twelve, in digits beyond."""
    return _NUMBERS[n] if 0 <= n < len(_NUMBERS) else f"{n:,}"


def format_p(p: float) -> str:
    """``p = .76``, ``p = .003``, ``p < .001``."""
    if p < 0.001:
        return "p < .001"
    digits = 2 if p >= 0.055 else 3
    text = f"{p:.{digits}f}".lstrip("0")
    return "p > .99" if text.startswith("1") else f"p = {text}"


def format_f(test: FTest) -> str:
    """``F(7, 14.4) = 0.58, p = .76``."""
    if test.f is None or test.df1 is None or test.df2 is None or test.p is None:
        return "F unbounded (no error at all)" if test.state == "unbounded" else f"no F ratio ({test.reason})"
    return (
        f"F({_df(test.df1)}, {_df(test.df2)}) = {test.f:.3g}, {format_p(test.p)}"
        if test.f >= 1000
        else (f"F({_df(test.df1)}, {_df(test.df2)}) = {test.f:.2f}, {format_p(test.p)}")
    )


def _df(df: float) -> str:
    return f"{df:.0f}" if abs(df - round(df)) < 0.005 or df >= 100 else f"{df:.1f}"


def refuse(reason: str, next_steps: tuple[str, ...] = ()) -> Verdict:
    """A study that cannot be asked whether it ranks systems."""
    return Verdict("refused", f"no verdict: {reason}", next_steps)


def judge(
    tests: EffectTests, ranking: Ranking, g_study: GStudy | None, components: Components, design: Design
) -> Verdict:
    """The verdict on the systems of a study.

    Not separated: the overall test fails (a pair that passes all the same is named). Separated: every pair
    differs, all at once. Partly: in between. A failing test is never called equality; equivalence is claimed only
    by two one-sided tests with the user's margin.
    """
    test = tests.chosen
    if test.p is None:
        return refuse(f"the systems cannot be tested: {test.reason}")
    systems, pairs = len(ranking.systems), len(ranking.systems) * (len(ranking.systems) - 1) // 2
    differing = ranking.separated_pairs
    what = format_f(test)
    if test.p >= LEVEL:
        sentence = f"tie: these ratings cannot rank the {count(systems)} systems: {what}"
        sentence += _why_tied(tests, components, g_study)
        if differing:
            sentence += f"; yet {_example(ranking)} if all pairs are compared at once: a lead, not a ranking"
        return Verdict("not_separated", sentence + _equivalence(ranking), _next_steps(g_study, design, False))
    if differing == pairs:
        who = "the two systems differ" if systems == 2 else f"all {count(systems)} systems differ from each other"
        sentence = f"separated: {who}: {what}"
        return Verdict("separated", sentence + _equivalence(ranking), _next_steps(g_study, design, True))
    sentence = f"partly: {differing:,} of {pairs:,} pairs differ: {what}"
    if not differing:
        sentence = f"partly: the systems differ ({what}), but no single pair does when all are compared at once"
    elif _clear_winner(ranking):
        sentence += f"; {ranking.systems[0].system} is ahead of all others"
    elif (tied := _tied_for_first(ranking)) > 1:
        sentence += f"; the first place is open between {count(tied)} systems"
    return Verdict("partly", sentence + _equivalence(ranking), _next_steps(g_study, design, False))


def _clear_winner(ranking: Ranking) -> bool:
    return ranking.systems[0].rank[1] == 1


def _tied_for_first(ranking: Ranking) -> int:
    return sum(s.rank[0] == 1 for s in ranking.systems)


def _why_tied(tests: EffectTests, components: Components, g_study: GStudy | None) -> str:
    if tests.chosen.f is not None and tests.chosen.f < 1:
        if g_study is not None and g_study.less_spread_than_chance:
            return "; the systems differ by less than chance alone would make them"
        used = components.used
        if used.get("system:rater", 0.0) > used.get("system", 0.0):
            return "; raters disagree about which systems are better by more than the systems differ"
        return "; the systems differ by no more than noise would make them"
    return "; that is not proof that they are equal"


def _example(ranking: Ranking) -> str:
    pair = next(p for p in ranking.pairs if p.separated)
    more = ranking.separated_pairs - 1
    return f"{pair.first} and {pair.second} differ" + (f" (and {more} more pair{'s' * (more > 1)})" if more else "")


def _equivalence(ranking: Ranking) -> str:
    if ranking.equivalent is None:
        return ""
    n = len(ranking.systems)
    passed = sum(ranking.equivalent[i, j] < LEVEL for i in range(n) for j in range(i + 1, n))
    total = n * (n - 1) // 2
    if passed == total:
        return f"; all pairs are equivalent within {ranking.margin:g} (two one-sided tests)"
    return f"; {passed} of {total} pairs are equivalent within {ranking.margin:g} (two one-sided tests, each at 5%)"


def _next_steps(g_study: GStudy | None, design: Design, done: bool) -> tuple[str, ...]:
    steps = []
    if g_study is not None and 0.8 in g_study.raters_needed and (g_study.g.value or 0.0) < 0.8:
        steps.append(_about_raters(g_study, design))
    if g_study is not None and g_study.g.value is not None and g_study.g.value >= 0.8 and not done:
        steps.append("report the rank ranges, not the order; systems that share a place are not told apart")
    if done:
        steps.append("the order holds for other raters and items like these; report the intervals with it")
    if not done and (g_study is None or (g_study.g.value or 0.0) < 0.8):
        steps.append("publish the means, the rank ranges and this test, not an order")
    return tuple(steps)


def _about_raters(g_study: GStudy, design: Design) -> str:
    needed = g_study.raters_needed[0.8]
    now = design.levels["rater"]
    if needed.raters.value is not None:
        bounds = needed.raters.ci
        interval = (
            ""
            if bounds is None
            else f" (95% interval {bounds[0]:.0f} to {_or_no_limit(bounds[1])})"
            if (bounds[0] is not None)
            else " (interval without bound)"
        )
        return f"for G = 0.8 plan {needed.raters.value:.0f} raters in place of {now}{interval}"
    if needed.raters.ci is not None and needed.raters.ci[0] is not None:
        return (
            f"no number of raters reaches G = 0.8 by these estimates (95% interval {needed.raters.ci[0]:.0f} to "
            "no limit): run another pilot, with more raters on fewer items"
        )
    return "no number of raters reaches G = 0.8 by these estimates"


def _or_no_limit(bound: float | None) -> str:
    return "no limit" if bound is None else f"{bound:.0f}"
