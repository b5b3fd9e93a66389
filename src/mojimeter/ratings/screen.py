"""The one screen of ``ratings study``: what the document says, for people.

Reads the JSON document of `summary` and nothing else; returns text, prints nothing.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

WIDTH = 96
_BAR = 22
_MOST_SYSTEMS = 12
_TEST_NAMES = {
    "quasi_f": "quasi-F",
    "quasi_f_sums": "quasi-F, sums",
    "raters_random": "F, raters random",
    "items_random": "F, items random",
    "residual": "F, residual",
    "reml": "F, REML",
}
_ICC_INTERVALS = {
    "f": "ICC intervals: F, which takes units for unrelated",
    "components": "ICC intervals: from the variance components, as the cells of one item are related",
}


def render(document: Mapping[str, Any], width: int = WIDTH) -> str:
    """The screen of a document, one study or several scores one after the other.

    Args:
        document: what ``ratings study --json`` prints.
        width: columns to keep to.
    """
    if "scores" in document and "design" not in document:
        return "\n\n".join(render(one, width) for one in document["scores"].values())
    decimals = _decimals(document["scale"]["sd"])
    parts = [
        _heading(document, width),
        _verdict(document, width),
        _ranking(document, decimals, width),
        _tests(document, width),
        _components(document, width),
        _generalizability(document, width),
        _agreement(document, decimals, width),
        _next_steps(document, width),
    ]
    return "\n\n".join(part for part in parts if part) + f"\n{document['signature']}"


def _decimals(sd: float) -> int:
    """Decimals that show hundredths of a standard deviation."""
    return min(6, max(0, 2 - math.floor(math.log10(sd)))) if sd > 0 else 2


def _wrap(text: str, width: int, indent: int = 10, first: str = "", hang: int = 0) -> str:
    return textwrap.fill(
        text, width, initial_indent=first.ljust(indent), subsequent_indent=" " * (indent + hang), break_on_hyphens=False
    )


def _heading(document: Mapping[str, Any], width: int) -> str:
    return _wrap(f"{document['source']}, {document['score']}: {document['describe']}", width, indent=2).lstrip()


def _verdict(document: Mapping[str, Any], width: int) -> str:
    return _wrap(document["sentence"], width, first="VERDICT")


def _ranking(document: Mapping[str, Any], decimals: int, width: int) -> str:
    rows = document["ranking"]
    if not rows:
        return ""
    longest = max(6, min(24, max(len(r["system"]) for r in rows)))
    title = "RANKING" if document["higher_is_better"] else "RANKING, low is good"
    longest = max(longest, len(title) - 2)
    head = f"{title:<{longest + 2}}{'mean':>8}  {'against the average [95%]':>28}  {'rank':>7}  {'best':>5}"
    lines = [head]
    shown = rows if len(rows) <= _MOST_SYSTEMS else rows[: _MOST_SYSTEMS - 2]
    for row in shown:
        lines.append(_ranked(row, longest, decimals))
    if len(shown) < len(rows):
        lines.append(f"  ... {len(rows) - len(shown) - 1} more (all in --json)")
        lines.append(_ranked(rows[-1], longest, decimals))
    return "\n".join(lines)


def _ranked(row: Mapping[str, Any], longest: int, decimals: int) -> str:
    low, high = row["rank"]
    place = str(low) if low == high else f"{low} to {high}"
    best = "" if row["best"] is None else _percent(row["best"])
    deviation = _estimate(row["deviation"], decimals, sign=True)
    name = f"{_clip(row['system'], longest):<{longest}}"
    return f"  {name}{row['mean']['value']:>8.{decimals}f}  {deviation:>28}  {place:>7}  {best:>5}"


def _clip(text: str, n: int) -> str:
    printable = "".join(c if c.isprintable() else "?" for c in text)
    return printable if len(printable) <= n else printable[: n - 1] + "…"


def _percent(share: float) -> str:
    if 0 < share < 0.01:
        return "<1%"
    return f"{100 * share:.0f}%"


def _estimate(estimate: Mapping[str, Any], decimals: int, sign: bool = False) -> str:
    if estimate.get("value") is None:
        return estimate.get("state") or "none"
    text = f"{estimate['value']:{'+' if sign else ''}.{decimals}f}"
    ci = estimate.get("ci")
    if not ci:
        return text
    low, high = (("no limit" if b is None else f"{b:{'+' if sign else ''}.{decimals}f}") for b in ci)
    return f"{text} [{low}, {high}]"


def _tests(document: Mapping[str, Any], width: int) -> str:
    source = "system" if "system" in document["tests"] else next(iter(document["tests"]), None)
    if source is None:
        return ""
    tests = document["tests"][source]
    default = tests["default"]
    lines = [f"TESTS of {source}s".ljust(20) + "       F      df1, df2        p   takes for granted"]
    seen = set()
    for name in _TEST_NAMES:
        test = tests.get(name)
        if test is None or (name != default and (test["error"], test["df1"]) in seen):
            continue
        seen.add((test["error"], test["df1"]))
        mark = ">" if name == default else " "
        f = f"{test['f']:.2f}" if test["f"] is not None else (test.get("state") or "none")
        df = "" if test["df2"] is None else f"{_df(test['df1'])}, {_df(test['df2'])}"
        p = "" if test["p"] is None else _p(test["p"])
        title = "F" if name == "quasi_f" and not set("+-") & set(test["error"]) else _TEST_NAMES[name]
        line = f"{mark} {title:<18}{f:>8}  {df:>12}  {p:>7}   "
        lines.append(line + _clip(test["assumes"], width - len(line)))
    if tests.get("note") and tests["note"] not in document["notes"]:
        lines.append(_wrap(tests["note"], width, indent=2))
    return "\n".join(lines)


def _df(df: float) -> str:
    return f"{df:.0f}" if abs(df - round(df)) < 0.005 or df >= 100 else f"{df:.1f}"


def _p(p: float) -> str:
    if p < 0.001:
        return "< .001"
    return f"{p:.3f}".lstrip("0") if p < 0.995 else "> .99"


def _components(document: Mapping[str, Any], width: int) -> str:
    rows = document["components"]
    if not rows:
        return _wrap(document.get("refused", "none"), width, first="COMPONENTS")
    longest = max(10, *(len(r["source"]) for r in rows))
    most = max((r["share"] or 0.0) for r in rows) or 1.0
    intervals = any(r["ci"] for r in rows)
    decimals = _decimals(document["scale"]["sd"] ** 2 / 10)
    head = f"estimate{' [95%]' if intervals else ''}, {document['estimator']}"
    lines = [f"{'COMPONENTS':<{longest + 2}}  share of variance{'':{_BAR - 9}}{head}"]
    for row in sorted(rows, key=lambda r: -(r["share"] if r["share"] is not None else -1.0)):
        if row["estimate"] is None:
            lines.append(_clip(f"  {row['source']:<{longest}}  refused: {row['reason']}", width))
            continue
        bar = "█" * round(_BAR * row["share"] / most)
        value = _estimate({"value": row["estimate"], "ci": row["ci"]}, decimals)
        lines.append(f"  {row['source']:<{longest}}  {100 * row['share']:5.1f}% {bar:<{_BAR}} {value}")
    lines.append(_wrap(document["formula"], width, indent=4, first="  "))
    return "\n".join(lines)


def _generalizability(document: Mapping[str, Any], width: int) -> str:
    g = document["generalizability"]
    if "g" not in g:
        return _wrap(str(g.get("reason", "none")), width, first="G")
    text = f"{_estimate(g['g'], 2)} for ranking {g['object']}s; Phi {_estimate(g['phi'], 2)} for their scores as such"
    if g["cancels_from_ranking"]:
        text += f" (whose error also holds {', '.join(g['cancels_from_ranking'])}, which all {g['object']}s share)"
    if g["object_variance"] != "unbiased":
        text += f"; with the variance of the observed means ({g['object_variance']})"
    if g["less_spread_than_chance"]:
        text += "; less spread than chance"
    lines = [_wrap(text, width, first="G")]
    if g["raters_needed"]:
        lines.append(_wrap(_raters_needed(g), width))
    at_panel, at_items = g["ceiling_at_this_panel"], g["ceiling_at_these_items"]
    ceilings = []
    if not g["universe_variance"]:
        at_panel = at_items = None
    if at_panel is not None:
        panel = "this panel on " if "rater" in document["design"] else ""
        ceilings.append(f"{panel}unlimited items {at_panel:.2f}")
    if at_items is not None:
        items = " on these items" if "item" in document["design"] and g["object"] != "item" else ""
        ceilings.append(f"unlimited raters{items} {at_items:.2f}")
    if ceilings:
        lines.append(_wrap("ceiling of G: " + ", ".join(ceilings), width))
    return "\n".join(lines)


def _raters_needed(g: Mapping[str, Any]) -> str:
    parts: list[str] = []
    conditional = False
    for target, needed in g["raters_needed"].items():
        value = "none" if needed["value"] is None else f"{needed['value']:.0f}"
        ci = needed.get("ci")
        if ci is None and "conditional" in needed:
            ci, conditional = needed["conditional"]["ci"], True
        parts.append(f"{value} for {'G = ' if not parts else ''}{target}" + ("" if ci is None else _bounds(ci)))
    text = "raters needed: " + ", ".join(parts)
    return text + (f" (in doubt: the {g['object']} component only)" if conditional else "")


def _bounds(ci: Sequence[float | None]) -> str:
    low, high = ("no limit" if b is None else f"{b:.0f}" for b in ci)
    return " [no limit]" if low == high == "no limit" else f" [{low}, {high}]"


def _agreement(document: Mapping[str, Any], decimals: int, width: int) -> str:
    agreement = document["agreement"]
    if "alpha" not in agreement:
        return _wrap(str(agreement.get("reason", "none")), width, first="AGREEMENT") if agreement else ""
    nested = "rater" in document["design"].get("nested", {})
    first, second = ["ICC(1,1)"] if nested else ["ICC(2,1)"], [] if nested else ["ICC(3,1)"]
    icc = agreement.get("icc", {})
    level = agreement.get("level", "interval")
    counted = [f"alpha ({level}) {_or_reason(agreement['alpha'].get(level))}"]
    counted += [f"{name} {_or_reason(icc[name[4:-1]])}" for name in first if name[4:-1] in icc]
    ignored = [f"{name} {_or_reason(icc[name[4:-1]])}" for name in second if name[4:-1] in icc]
    if agreement.get("pearson") and not nested:
        ignored.append(f"Pearson {_or_reason(agreement['pearson'])}")
    lines = [_wrap("offsets count: " + ", ".join(counted), width, first="AGREEMENT")]
    if ignored:
        lines.append(_wrap("offsets ignored: " + ", ".join(ignored), width))
    if nested:
        lines.append(_wrap("raters differ from item to item, so no two of them can be compared", width))
    of_raters = ["" if nested else _worst_pair(agreement), _rater_means(document["raters"], decimals)]
    more = ["; ".join(text for text in of_raters if text)]
    sources = {_ICC_INTERVALS[one["interval"]] for one in icc.values() if "interval" in one}
    lines += [_wrap(source, width) for source in sorted(sources)]
    if "sampled_ratings" in agreement:
        more.insert(0, f"from about {agreement['sampled_ratings']:,} ratings, whole items drawn at random")
    return "\n".join(lines + [_wrap(text, width) for text in more if text])


def _or_reason(estimate: Mapping[str, Any] | None) -> str:
    if not estimate:
        return "none"
    return (
        _estimate(estimate, 3) if estimate.get("value") is not None else f"none ({estimate.get('reason', 'no value')})"
    )


def _worst_pair(agreement: Mapping[str, Any]) -> str:
    """The pair of raters with the lowest alpha, where the panel has more than one pair."""
    pairs = []
    for pair in agreement.get("pairs", []):
        alpha = pair.get("alpha", {})
        alpha = alpha.get(agreement.get("level", "interval"), alpha)
        if isinstance(alpha, Mapping) and alpha.get("value") is not None:
            pairs.append((float(alpha["value"]), pair))
    if len(pairs) < 2:
        return ""
    value, pair = min(pairs, key=lambda p: p[0])
    names = pair.get("raters") or [pair.get("first"), pair.get("second")]
    return f"lowest pair: {_clip(str(names[0]), 20)} and {_clip(str(names[1]), 20)}, alpha {value:.3f}"


def _rater_means(raters: Sequence[Mapping[str, Any]], decimals: int) -> str:
    if not raters:
        return ""
    ordered = sorted(raters, key=lambda r: -r["mean"])
    shown = [f"{r['mean']:.{decimals}f} ({_clip(r['rater'], 16)})" for r in ordered]
    if len(shown) > 6:
        return f"means of {len(shown)} raters: {shown[0]} to {shown[-1]}"
    return "means of raters: " + ", ".join(shown)


def _next_steps(document: Mapping[str, Any], width: int) -> str:
    steps = [f"{k + 1}. {step}" for k, step in enumerate(document["next_steps"])]
    lines = [_wrap(step, width, first="NEXT" if k == 0 else "", hang=3) for k, step in enumerate(steps)]
    said = [*document["notes"], *document["cautions"]]
    notes = [_wrap(note, width, first="NOTE" if k == 0 else "") for k, note in enumerate(said)]
    return "\n".join(lines + notes)
