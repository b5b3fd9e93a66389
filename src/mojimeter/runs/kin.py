"""Which systems of a table are kin of the judge or verifier that scored them: the join of scores and ``trust.bias``.

A judge may favour its own answers and those of its maker's models, so every table of scores says where that could be.
Works on names and on the JSON document of scores; knows no file and no command line, and measures nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from mojimeter.systems.answerers import NO_CONTEXT
from mojimeter.trust.bias import kinship

Role = Literal["judge", "verifier"]
# `judge bias` measures favour where judges give labels; nothing of ours does for verdicts.
_WHAT_HELPS = {
    "judge": "'mojimeter judge bias' tells by how much",
    "verifier": "people's verdicts (--people) or another verifier would tell",
}


def with_kin(
    document: Mapping[str, Any],
    judges: Sequence[str],
    known_as: Mapping[str, str] | None = None,
    role: Role = "judge",
) -> dict[str, Any]:
    """The document with ``kin`` beside every system, and a warning for every judge that has kin among them.

    Args:
        document: scores as ``score --json`` or ``disambiguate --json`` prints them.
        judges: whose labels or verdicts made them, the one that ranks first; none where nothing was judged.
        known_as: judge -> model name, where the judge's own name does not say which model it is.
        role: what the judges are called.

    Returns:
        A new document. ``systems.<name>.kin`` is whether the judge that ranks is that system or of the same maker;
        ``by_judge.<judge>.<name>.kin``, where there are several judges, is the same of each.
    """
    systems = list(document["systems"])
    kin = {judge: kin_of_judge(judge, systems, known_as) for judge in judges}
    first = kin[judges[0]] if judges else {}
    out = dict(document)
    out["systems"] = _marked(document["systems"], first)
    if "by_judge" in document:
        out["by_judge"] = {judge: _marked(rows, kin.get(judge, {})) for judge, rows in document["by_judge"].items()}
    warnings = [kin_warning(judge, kin[judge], known_as, role) for judge in judges if kin[judge]]
    out["warnings"] = [*document["warnings"], *warnings]
    return out


def kin_of_judge(judge: str, systems: Sequence[str], known_as: Mapping[str, str] | None = None) -> dict[str, str]:
    """System -> ``itself`` or ``same maker``, of those that are kin; a model shown no context is still that model."""
    model = (known_as or {}).get(judge, judge)
    return {name: how for name in systems if (how := kinship(model, name.removeprefix(NO_CONTEXT))) is not None}


def kin_warning(
    judge: str, kin: Mapping[str, str], known_as: Mapping[str, str] | None = None, role: Role = "judge"
) -> str:
    """The sentence about a judge that has kin among the systems."""
    model = (known_as or {}).get(judge, judge)
    who = judge if judge == model else f"{judge} ({model})"
    listed = ", ".join(f"{system} ({how})" for system, how in kin.items())
    return f"the {role} {who} may favour its own kin among the systems: {listed}; {_WHAT_HELPS[role]}"


def _marked(systems: Mapping[str, Mapping[str, Any]], kin: Mapping[str, str]) -> dict[str, Any]:
    return {name: {**scores, "kin": name in kin} for name, scores in systems.items()}
