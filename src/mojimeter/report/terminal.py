"""The leaderboard for people: what ``mojimeter score`` and ``recommend`` print where no JSON is asked for.

Reads the JSON document of scores and nothing else, so that a saved run prints as a fresh one does. Fits 80
columns, folding long names of systems.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import IO, Any

from rich.console import Console
from rich.table import Table

from mojimeter.report.gates import is_baseline
from mojimeter.report.plain import plain

_TASKS = ("sentiment", "emotion", "stance", "age", "gender")
# Kind of odd reply -> heading and what it means.
_ODDITIES = {
    "no_emoji": ("none", "none: no emoji"),
    "extra_text": ("words", "words: words beside the emoji"),
    "wrong_count": ("count", "count: not as many emoji as asked for"),
    "repeated": ("repeat", "repeat: the same emoji twice"),
    "damaged": ("broken", "broken: half an emoji or undecodable characters"),
    "missing": ("missing", "missing: no reply at all"),
    "unlabelled": ("unjudged", "unjudged: no label, counted as not preserved"),
    "unparsed": ("off-list", "off-list: labels the judge made up or that could not be read, all tasks"),
}
# Columns that are shown where some system has them: heading -> (what it means, where it is).
_EXTRAS: dict[str, tuple[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]]] = {
    "varied": (
        "varied: how unlike two attempts at a post are, percent",
        lambda scores: scores["diversity"]["across_attempts"],
    ),
    "tokens": ("tokens: all tokens by all emoji", lambda scores: _cost(scores, "tokens")),
    "sec.": ("sec.: all seconds by all emoji", lambda scores: _cost(scores, "seconds")),
}
_MOST_JUDGES = 4  # whose scores fit beside the panel's
_HEADLINES = {"average": "preserved", "average_unleaked": "preserved*", "f1": "overlap"}


def print_scores(document: Mapping[str, Any], file: IO[str] | None = None, width: int | None = None) -> None:
    """Print the leaderboard, what is behind it, and how to read it.

    Args:
        document: what ``score --json`` prints.
        file: where to; standard output by default.
        width: columns; the terminal's by default.
    """
    console = Console(file=file, width=width, highlight=False, emoji=False, markup=False)
    data, systems = document["data"], document["systems"]
    authors = f" by {_plural(data['authors'], 'author')}" if data["authors"] else ", authors not known"
    console.print(_plural(data["posts"], "post") + authors)
    console.print()
    console.print("Leaderboard, percent", style="bold")
    console.print(_leaderboard(document))
    for line in _how_to_read(document):
        console.print(line)
    if "panel" in document:
        console.print()
        _print_panel(console, document["panel"], document["by_judge"])
    if document["ranked_by"] != "f1":
        console.print()
        console.print("Preserved by task, percent", style="bold")
        console.print(_by_task(systems))
        console.print("Age and gender are labels perceived in a text, not facts about people.")
    console.print()
    console.print("Emoji against the original ones, and how varied they are", style="bold")
    console.print(_by_criterion(systems))
    console.print("percent; group, subgr.: F1 of Unicode groups and subgroups; diverg.: Jensen-")
    console.print("Shannon divergence, bits, 0 alike to 1; distinct: different emoji used.")
    if extra := [legend for legend, read in _EXTRAS.values() if _known(systems, read)]:
        console.print("; ".join(extra) + ".")
    console.print()
    _print_oddities(console, systems)
    console.print()
    console.print(plain(document["signature"]), soft_wrap=True)


def _leaderboard(document: Mapping[str, Any]) -> Table:
    ranked_by = document["ranked_by"]
    table = _table()
    _add_numbers(table, "place")
    _add_system(table)
    _add_numbers(table, _HEADLINES[ranked_by], "95% interval")
    if ranked_by == "average_unleaked":
        _add_numbers(table, "all five")
    if ranked_by != "f1":
        _add_numbers(table, "kept", "recovered", "overlap")
    for name, scores in document["systems"].items():
        headline = scores["overlap"]["f1"] if ranked_by == "f1" else scores["preservation"][ranked_by]
        cells = [_place(scores["rank"]), _shown(name, scores), _number(headline), _interval(headline)]
        if ranked_by == "average_unleaked":
            cells.append(_number(scores["preservation"]["average"]))
        if ranked_by != "f1":
            cells += [_number(scores["kept"]), _number(scores["recovered"]), _number(scores["overlap"]["f1"])]
        table.add_row(*cells, style=_style(name))
    return table


def _how_to_read(document: Mapping[str, Any]) -> list[str]:
    """What the numbers mean, in a few lines, and what these data say first of all."""
    systems, ranked_by = document["systems"], document["ranked_by"]
    lines = ["place: all these data leave open at 95%; intervals resample " + _resampled(document) + "."]
    if ranked_by != "f1":
        lines.append("preserved: the judge's label is that of the original post; mean of the tasks.")
        lines.append("kept: of labels that the text alone gets too; recovered: of those it does not.")
    lines.append("overlap: F1 of recommended against original emoji." + _mark_legend(systems))
    if any(scores.get("kin") for scores in systems.values()):
        lines.append("(kin): the judge is this system or of the same maker; see judge bias.")
    if ranked_by == "average_unleaked":
        lines.append(
            "* sentiment, emotion and stance only: (leaked) systems were told the judge's own label of age or gender."
        )
    lines += [_difference(d) for d in document["differences"] if _is_headline(d, systems)]
    if leaks := document["leaks"]["count"]:
        lines.append(f"{_plural(leaks, 'plain text')} still held emoji, a hint to the recommender.")
    return lines


def _print_panel(console: Console, panel: Mapping[str, Any], by_judge: Mapping[str, Any]) -> None:
    """What several judges say together, and how far they agree."""
    judges = panel["judges"]
    console.print("Would other judges rank them the same?", style="bold")
    console.print(panel["sentence"][:1].upper() + panel["sentence"][1:] + ".")
    if panel.get("ranking"):
        console.print(_by_judge(panel, by_judge))
        console.print("place: what other judges and posts like these leave open at 95%; percent kept:")
    console.print("; ".join(f"J{k}: {judge}" for k, judge in enumerate(judges, 1)) + ".")
    for row in panel.get("ranking") or ():
        if kin := _judges_of_kin(row["system"], by_judge):
            console.print(f"(kin): {plain(row['system'])} or its maker judges as {plain(', '.join(kin))}.")
    if "agreement" in panel:
        console.print(_agreement(panel))
    for caveat in panel["caveats"]:
        console.print(f"Note: {caveat}.")
    left_out = panel["left_out"]
    if left_out["systems"]:
        console.print(f"Not in this comparison: {', '.join(left_out['systems'])}.")
    if left_out["posts"]:
        console.print(f"Without {_plural(left_out['posts'], 'post')} that not every judge and system has.")


def _by_judge(panel: Mapping[str, Any], by_judge: Mapping[str, Any]) -> Table:
    """The panel's ranking, and what each of the first few judges gives a system."""
    judges = panel["judges"][:_MOST_JUDGES]
    table = _table()
    _add_numbers(table, "place")
    _add_system(table)
    _add_numbers(table, "mean", *[f"J{k}" for k in range(1, len(judges) + 1)])
    for row in panel["ranking"]:
        name = row["system"]
        own = [_number(by_judge[judge][name][panel["scored_by"]]) for judge in judges]
        shown = plain(name) + (" (kin)" if _judges_of_kin(name, by_judge) else "")
        table.add_row(_place(row["rank"]), shown, _number(row["mean"]), *own, style=_style(name))
    return table


def _judges_of_kin(system: str, by_judge: Mapping[str, Any]) -> list[str]:
    """The judges that are this system or of its maker."""
    return [judge for judge, rows in by_judge.items() if rows[system].get("kin")]


def _agreement(panel: Mapping[str, Any]) -> str:
    """How far judges agree post by post, offsets counted first."""
    agreement = panel["agreement"]
    if "alpha" not in agreement:
        return f"Agreement of judges: none ({agreement.get('reason', 'not known')})."
    alpha, pearson = agreement["alpha"].get("interval", {}), agreement.get("pearson") or {}
    text = f"Judges agree on single posts to alpha {_coefficient(alpha)} (Pearson, blind to offsets,"
    return f"{text} {_coefficient(pearson)}); intervals: other posts, these judges."


def _coefficient(estimate: Mapping[str, Any]) -> str:
    if estimate.get("value") is None:
        return f"none, {estimate.get('reason', 'not defined')}"
    ci = estimate.get("ci")
    return f"{estimate['value']:.2f}" + (f" [{ci[0]:.2f}, {ci[1]:.2f}]" if ci else "")


def _resampled(document: Mapping[str, Any]) -> str:
    return "authors" if document["data"]["authors"] else "posts"


def _mark_legend(systems: Mapping[str, Any]) -> str:
    return " (b): a baseline." if any(is_baseline(name) for name in systems) else ""


def _by_task(systems: Mapping[str, Any]) -> Table:
    table = _table()
    _add_system(table)
    _add_numbers(table, *_TASKS)
    for name, scores in systems.items():
        numbers = [_number(scores["preservation"][task]) for task in _TASKS]
        table.add_row(_shown(name, scores), *numbers, style=_style(name))
    return table


def _by_criterion(systems: Mapping[str, Any]) -> Table:
    """Overlap, category and distribution side by side, with diversity and what an emoji cost where known."""
    extras = {column: read for column, (_, read) in _EXTRAS.items() if _known(systems, read)}
    table = _table()
    _add_system(table)
    _add_numbers(table, "precision", "recall", "F1", "group", "subgr.", "diverg.", "distinct", *extras)
    for name, scores in systems.items():
        overlap, category = scores["overlap"], scores["category"]
        numbers = [overlap["precision"], overlap["recall"], overlap["f1"]]
        numbers += [category["group"]["f1"], category["subgroup"]["f1"], scores["distribution"]["jensen_shannon"]]
        cells = [*map(_number, numbers), _count(scores["diversity"]["distinct"])]
        cells += [_number(read(scores)) for read in extras.values()]
        table.add_row(_shown(name, scores), *cells, style=_style(name))
    return table


def _known(systems: Mapping[str, Any], read: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> bool:
    return any(read(scores)["value"] is not None for scores in systems.values())


def _cost(scores: Mapping[str, Any], what: str) -> Mapping[str, Any]:
    costs = scores["cost"].get(f"{what}_per_emoji")
    found: Mapping[str, Any] = {"value": None} if costs is None else costs["ratio_of_means"]
    return found


def _print_oddities(console: Console, systems: Mapping[str, Any]) -> None:
    """Replies that were not what was asked for; kinds that no system shows are left out."""
    rows = {
        name: {**scores["replies"], "unparsed": sum(scores["replies"]["unparsed_labels"].values())}
        for name, scores in systems.items()
    }
    shown = [kind for kind in _ODDITIES if any(row.get(kind) for row in rows.values())]
    if not shown:
        console.print("All replies were as asked for.")
        return
    table = _table()
    _add_system(table)
    _add_numbers(table, "replies", *[_ODDITIES[kind][0] for kind in shown])
    for name, row in rows.items():
        cells = [_count(row["total"]), *[_count(row.get(kind)) for kind in shown]]
        table.add_row(_shown(name, systems[name]), *cells, style=_style(name))
    console.print("Replies and labels out of the ordinary, counts", style="bold")
    console.print(table)
    console.print("; ".join(_ODDITIES[kind][1] for kind in shown) + ".")


def _is_headline(difference: Mapping[str, Any], systems: Mapping[str, Any]) -> bool:
    """The best real system against the text alone, the first thing to ask of a leaderboard."""
    best = next((name for name in systems if not is_baseline(name)), None)
    return {difference["system"], difference["against"]} == {best, "baseline/none"}


def _difference(difference: Mapping[str, Any]) -> str:
    system, against, sign = difference["system"], difference["against"], 1.0
    if system == "baseline/none":
        system, against, sign = against, system, -1.0
    value = sign * difference["difference"]["value"] + 0.0  # no minus zero
    text = f"{plain(system)} minus {plain(against)}: {value:+.2f}"
    ci = difference["difference"].get("ci")
    if ci is not None:
        low, high = sorted(sign * bound + 0.0 for bound in ci)
        text += f", 95% interval [{low:.2f}, {high:.2f}]"
    return f"{text}: {told_apart(difference)}."


def told_apart(difference: Mapping[str, Any]) -> str:
    """Whether a run's tested difference is one, in words."""
    if difference["separated"]:
        return "different"
    low, high = difference["difference"].get("ci") or (0.0, 0.0)
    if low > 0 or high < 0:
        # its own interval leaves 0 out, but so would one of many by chance: the places allow for that
        return "different by itself, a tie once all pairs are compared at once"
    return "a tie"


def _table() -> Table:
    return Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))


def _add_system(table: Table) -> None:
    table.add_column("system", overflow="fold", min_width=12)


def _add_numbers(table: Table, *columns: str) -> None:
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)


def _shown(name: str, scores: Mapping[str, Any]) -> str:
    marks = {"b": is_baseline(name), "leaked": scores["leaked"], "kin": scores.get("kin")}
    return plain(name) + "".join(f" ({mark})" for mark, holds in marks.items() if holds)


def _style(name: str) -> str | None:
    return "dim" if is_baseline(name) else None


def _place(rank: list[int]) -> str:
    best, worst = rank
    return str(best) if best == worst else f"{best}-{worst}"


def _number(estimate: Mapping[str, Any]) -> str:
    value = estimate["value"]
    return "-" if value is None else f"{value:.2f}"


def _interval(estimate: Mapping[str, Any]) -> str:
    ci = estimate.get("ci")
    return "-" if ci is None else f"[{ci[0]:.1f}, {ci[1]:.1f}]"


def _count(value: int | None) -> str:
    return "-" if value is None else str(value)


def _plural(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
