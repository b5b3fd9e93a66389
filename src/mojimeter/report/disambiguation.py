"""Benchmark B for people: what ``mojimeter disambiguate`` prints where no JSON is asked for, and its gates.

Reads the JSON document of scores and nothing else, so that a saved run prints as a fresh one does. Fits 80 columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import IO, Any

from rich.console import Console
from rich.table import Table

from mojimeter.errors import GateError, InputError
from mojimeter.report.gates import Gate, is_baseline
from mojimeter.report.terminal import told_apart

_CATEGORIES = ("situation", "relation", "tone", "community")
_COUNTS = {
    "missing": "missing: no answer under a context, left out",
    "no_answer": "no_answer: empty or failed, wrong",
    "unverified": "unverified: no verdict, left out",
    "unparsed": "unparsed: verdicts that could not be read, left out",
    "unparsed_differences": "unparsed_differences: likewise",
    "one_order": "one_order: compared in one order only, left out",
    "neither": "neither: answers that are neither reading",
}
_GATED = (
    "acc_pair",
    "acc_query",
    "acc_pair_if_independent",
    "acc_pair_gain",
    "context_awareness",
    "output_variability",
    "bias",
)


def print_disambiguation(document: Mapping[str, Any], file: IO[str] | None = None, width: int | None = None) -> None:
    """Print the leaderboard of benchmark B, what is behind it, and how to read it.

    Args:
        document: what ``disambiguate --json`` prints.
        file: where to; standard output by default.
        width: columns; the terminal's by default.
    """
    console = Console(file=file, width=width, highlight=False, emoji=False, markup=False)
    data, systems = document["data"], document["systems"]
    kinds = ", ".join(f"{name} {count}" for name, count in data["by_category"].items())
    console.print(f"{data['pairs']} pairs ({kinds}), {data['emoji']} emoji")
    console.print()
    console.print("Leaderboard, percent", style="bold")
    console.print(_leaderboard(systems))
    if not document.get("given") and "given" in document:
        console.print("people: no answers given; --answers FILE scores theirs beside these.")
    console.print("place: all these data leave open at 95%; intervals resample pairs; (b) baseline.")
    console.print("pair: both contexts right; query: answers right; p1xp2: pair accuracy if the two")
    console.print("answers were independent; aware: the two answers differ in meaning; varied: an")
    console.print("answer differs from the one without context; figur.: figurative among readings")
    console.print("taken, 50 where neither kind is preferred.")
    if any(scores.get("kin") for scores in systems.values()):
        console.print("(kin): the verifier is this system or of the same maker, and may favour it.")
    console.print()
    console.print("Pair accuracy by kind of context and by language, percent", style="bold")
    console.print(_by_group(data, systems))
    if any(scores[name] for scores in systems.values() for name in _COUNTS):
        console.print()
        console.print("Out of the ordinary, counts", style="bold")
        console.print(_oddities(systems))
    console.print()
    for line in _differences(document) + _verifier(document):
        console.print(line)
    for reason in _absences(systems):
        console.print(reason)
    console.print()
    console.print(document["signature"], soft_wrap=True)


def check_disambiguation_gates(document: Mapping[str, Any], gates: Sequence[Gate]) -> None:
    """Hold scores (shares from 0 to 1) against their gates; a score without a value does not pass.

    Raises:
        InputError: a gate names a system or a measure that there is none of.
        GateError: one or more gates are not met, all of them named.
    """
    missed = []
    for gate in gates:
        if gate.metric not in _GATED:
            raise InputError(f"--fail-under: no metric {gate.metric!r}; there are {', '.join(_GATED)}")
        for system, scores in _gated(document["systems"], gate).items():
            value = scores[gate.metric]["value"]
            if value is None or value < gate.value:
                found = "has no value" if value is None else f"is {value:.3f}"
                missed.append(f"{system}: {gate.metric} {found}, required {gate.value:g}")
    if missed:
        raise GateError("not met: " + "; ".join(missed))


def _gated(systems: Mapping[str, Any], gate: Gate) -> Mapping[str, Any]:
    if gate.system is None:
        return {name: scores for name, scores in systems.items() if not is_baseline(name)} or systems
    if gate.system not in systems:
        raise InputError(f"--fail-under: no system {gate.system!r}; there are {', '.join(systems)}")
    return {gate.system: systems[gate.system]}


def _leaderboard(systems: Mapping[str, Any]) -> Table:
    table = _table()
    _numbers(table, "place")
    table.add_column("system", overflow="fold", min_width=12)
    _numbers(table, "pair", "95%", "query", "p1xp2", "aware", "varied", "figur.")
    for name, scores in systems.items():
        best, worst = scores["rank"]
        shown = [scores["acc_query"], scores["acc_pair_if_independent"], scores["context_awareness"]]
        shown += [scores["output_variability"], scores["bias"]]
        table.add_row(
            str(best) if best == worst else f"{best}-{worst}",
            _shown(name, scores),
            _percent(scores["acc_pair"]),
            _interval(scores["acc_pair"]),
            *map(_percent, shown),
            style="dim" if is_baseline(name) else None,
        )
    return table


def _by_group(data: Mapping[str, Any], systems: Mapping[str, Any]) -> Table:
    categories = [c for c in _CATEGORIES if c in data["by_category"]]
    categories += [c for c in data["by_category"] if c not in categories][: 6 - len(categories)]
    languages = list(data["by_lang"])[:4]
    table = _table()
    table.add_column("system", overflow="fold", min_width=12)
    _numbers(table, *categories, *languages)
    for name, scores in systems.items():
        cells = [_of(scores["by_category"], c) for c in categories] + [_of(scores["by_lang"], x) for x in languages]
        table.add_row(_shown(name, scores), *cells, style="dim" if is_baseline(name) else None)
    return table


def _oddities(systems: Mapping[str, Any]) -> Table:
    shown = [name for name in _COUNTS if any(scores[name] for scores in systems.values())]
    table = _table()
    table.caption = "; ".join(_COUNTS[name] for name in shown) + "."
    table.caption_justify = "left"
    table.add_column("system", overflow="fold", min_width=12)
    for name in shown:
        table.add_column(name, justify="right", overflow="fold")
    for system, scores in systems.items():
        table.add_row(_shown(system, scores), *[str(scores[name]) for name in shown])
    return table


def _differences(document: Mapping[str, Any]) -> list[str]:
    """The best real system against every other, by pair accuracy."""
    best = next((name for name in document["systems"] if not is_baseline(name)), None)
    lines: list[str] = []
    for found in document["differences"]:
        if found["measure"] != "acc_pair" or best not in (found["system"], found["against"]):
            continue
        sign = 1.0 if found["system"] == best else -1.0
        other = found["against"] if sign > 0 else found["system"]
        value, ci = sign * found["difference"]["value"], found["difference"].get("ci")
        text = f"{best} minus {other}: {100 * value + 0.0:+.1f}"
        if ci is not None:
            low, high = sorted(100 * sign * bound + 0.0 for bound in ci)
            text += f" [{low:.1f}, {high:.1f}]"
        text += "" if found["p"] is None else f", p {found['p']:.3f}"
        lines.append(f"{text}: {told_apart(found)}")
    return ["Differences of pair accuracy, points:", *lines] if lines else []


def _verifier(document: Mapping[str, Any]) -> list[str]:
    verifier = document["verifier"]
    lines = []
    if "measured_on" in verifier:
        measured = verifier["measured_on"]
        accuracy = f"{_percent(verifier['accuracy'])} {_interval(verifier['accuracy'])}"
        lines.append(
            f"Verifier {verifier['name']}: accuracy {accuracy}, "
            f"kappa {verifier['kappa']['value']:.2f} on {measured['answers']} labelled answers"
        )
        lines.append(f"to {measured['pairs']} pairs that it was not fitted on.")
        if "differences" in verifier:
            found = verifier["differences"]
            lines.append(
                f"Whether two answers differ: accuracy {_percent(found['accuracy'])} {_interval(found['accuracy'])}, "
                f"kappa {found['kappa']['value']:.2f} ({found['compared']} comparisons)."
            )
        if "small_model" in verifier:
            found = verifier["small_model"]
            lines.append(
                f"On all {found['answers']} answers of a small model: accuracy {_percent(found['accuracy'])} "
                f"{_interval(found['accuracy'])}, kappa {found['kappa']['value']:.2f}."
            )
        lines.append("The labelled answers are a chosen mixture; on another it will do otherwise.")
    elif verifier["name"]:
        lines.append(f"Verifier {verifier['name']}.")
    agreement = verifier["agreement"]
    if agreement["value"] is None:
        lines.append(f"Verifier and people: {agreement['reason']} (--people FILE).")
    else:
        kappa = verifier["kappa_with_people"]
        shown = "-" if kappa["value"] is None else f"{kappa['value']:.2f}"
        lines.append(
            f"Verifier and people: agreement {_percent(agreement)} {_interval(agreement)}, kappa {shown} "
            f"on {verifier['people']['answers']} answers."
        )
    return lines


def _absences(systems: Mapping[str, Any]) -> list[str]:
    """Why measures that no system has are missing, each once."""
    lines = []
    for name in ("acc_pair", "context_awareness", "bias"):
        reasons = {scores[name].get("reason") for scores in systems.values() if scores[name]["value"] is None}
        if len(reasons) == 1 and all(scores[name]["value"] is None for scores in systems.values()):
            lines.append(f"{name}: {reasons.pop()}.")
    return lines


def _table() -> Table:
    return Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))


def _numbers(table: Table, *columns: str) -> None:
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)


def _shown(name: str, scores: Mapping[str, Any]) -> str:
    # runs of earlier versions do not say who is kin
    return name + (" (b)" if is_baseline(name) else "") + (" (kin)" if scores.get("kin") else "")


def _of(groups: Mapping[str, Any], name: str) -> str:
    return _percent(groups[name]["acc_pair"]) if name in groups else "-"


def _percent(estimate: Mapping[str, Any]) -> str:
    value = estimate["value"]
    return "-" if value is None else f"{100 * value:.1f}"


def _interval(estimate: Mapping[str, Any]) -> str:
    ci = estimate.get("ci")
    return "-" if ci is None else f"[{100 * ci[0]:.0f}, {100 * ci[1]:.0f}]"
