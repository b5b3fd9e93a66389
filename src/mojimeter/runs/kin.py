"""Which systems of a leaderboard are kin of the judge that scored them: the join of scores and ``trust.bias``.

A judge may favour its own answers and those of its maker's models, so every table of scores says where that could be.
Works on the JSON document of scores; knows no file and no command line, and measures nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mojimeter.trust.bias import kin_of

_HOW_MUCH = "'mojimeter judge bias' tells by how much"


def with_kin(
    document: Mapping[str, Any], judges: Sequence[str], known_as: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The document with ``kin`` beside every system, and a warning for every judge that has kin among them.

    Args:
        document: scores as ``score --json`` prints them.
        judges: whose labels made them, the one that ranks first; none where nothing was judged.
        known_as: judge -> model name, where the judge's own name does not say which model it is.

    Returns:
        A new document. ``systems.<name>.kin`` is whether the judge that ranks is that system or of the same maker;
        ``by_judge.<judge>.<name>.kin``, where there are several judges, is the same of each.
    """
    names = {judge: (known_as or {}).get(judge, judge) for judge in judges}
    kin = {judge: _kin_of_one(name, list(document["systems"])) for judge, name in names.items()}
    first = kin[judges[0]] if judges else {}
    out = dict(document)
    out["systems"] = _marked(document["systems"], first)
    if "by_judge" in document:
        out["by_judge"] = {judge: _marked(rows, kin.get(judge, {})) for judge, rows in document["by_judge"].items()}
    out["warnings"] = [*document["warnings"], *(_warning(j, names[j], kin[j]) for j in judges if kin[j])]
    return out


def _kin_of_one(judge: str, systems: Sequence[str]) -> dict[str, str]:
    return {system: how for (_, system), how in kin_of([judge], systems).items()}


def _marked(systems: Mapping[str, Mapping[str, Any]], kin: Mapping[str, str]) -> dict[str, Any]:
    return {name: {**scores, "kin": name in kin} for name, scores in systems.items()}


def _warning(judge: str, model: str, kin: Mapping[str, str]) -> str:
    who = judge if judge == model else f"{judge} ({model})"
    listed = ", ".join(f"{system} ({how})" for system, how in kin.items())
    return f"the judge {who} may favour its own kin among the systems: {listed}; {_HOW_MUCH}"
