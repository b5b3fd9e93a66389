"""A run of benchmark B as the page shows it: its document, its scores by language and kind, its pairs one by one.

Knows run folders and documents; nothing of HTML.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from mojimeter.datasets.pairs import COMPARED, CONDITIONS, ORDERS, read_answers, read_differences, read_pairs
from mojimeter.datasets.pairs import NAME as SHIPPED
from mojimeter.errors import InputError
from mojimeter.judges.labels import parse_labels
from mojimeter.metrics.disambiguation import MEASURES, score_disambiguation
from mojimeter.report.gates import is_baseline
from mojimeter.report.page.cost import cost_of, read_ledger, sum_costs, unknown_cost
from mojimeter.report.page.emoji_index import EmojiIndex
from mojimeter.report.page.items import MISSING, UNPARSED, mean_by_item, share_of_unlike_pairs
from mojimeter.report.page.options import ReportOptions, Say, card_of, is_file, read_document, setting
from mojimeter.report.page.sources import Source
from mojimeter.runs.folder import read_settings
from mojimeter.runs.kin import with_kin
from mojimeter.systems.answerers import NO_CONTEXT

FEWEST_PAIRS = 10


def describe_disambiguation(source: Source, index: EmojiIndex, options: ReportOptions, say: Say) -> dict[str, Any]:
    """One run for the page; see docs/report.md for its fields.

    Raises:
        InputError: a table of the run cannot be read.
    """
    if source.document is not None:
        return _from_document(source, source.document)
    folder = source.path
    settings = read_settings(folder) or {}
    pairs = read_pairs(folder / "pairs.jsonl")
    answers = read_answers([folder / "answers.jsonl"]) if is_file(folder / "answers.jsonl") else None
    differences = read_differences([folder / "differences.jsonl"]) if is_file(folder / "differences.jsonl") else None
    notes: list[str] = []
    document = read_document(folder, source.kind)
    if document is None:
        document, notes = _score_unfinished(pairs, answers, differences, settings)
    draws, seed = setting(settings, "draws", 2000), setting(settings, "bootstrap_seed", 0)
    slices = []
    if document["systems"] and answers is not None:
        slices = _slices(pairs, answers, differences, document, draws, seed, source.name, say)
    items, more = _items(pairs, answers, differences, list(document["systems"]), options)
    costs = sum_costs(read_ledger(folder))
    return {
        **_common(source, document, settings.get("pairs_file")),
        "notes": notes + more,
        "systems": [
            _system(name, document, cost_of(costs, _model(name), ("answer",), called=not _is_ours(name)))
            for name in document["systems"]
        ],
        "slices": slices,
        "items": items,
        "judge_costs": {model: cost for (model, purpose), cost in costs.items() if purpose != "answer"},
    }


def _from_document(source: Source, document: Mapping[str, Any]) -> dict[str, Any]:
    """What a saved document alone can show: no pair, and no ranks within a language or kind."""
    data = document["data"]
    slices = [_slice(None, None, data["pairs"], {n: _measures(s) for n, s in document["systems"].items()})]
    for lang, category, by, names in (
        *((lang, None, "by_lang", lang) for lang in data["by_lang"]),
        *((None, kind, "by_category", kind) for kind in data["by_category"]),
    ):
        found = {n: _measures(s[by][names]) for n, s in document["systems"].items() if names in s[by]}
        slices.append(_slice(lang, category, data[by][names], found))
    return {
        **_common(source, document, None),
        "notes": ["only a saved document was given: no pairs one by one (give the run folder)"],
        "systems": [_system(name, document, unknown_cost("the document does not say")) for name in document["systems"]],
        "slices": slices,
        "items": None,
        "judge_costs": {},
    }


def _common(source: Source, document: Mapping[str, Any], data: object) -> dict[str, Any]:
    return {
        "kind": "disambiguation",
        "signature": document.get("signature"),
        "document": document,
        "card": card_of(source, data, SHIPPED),
    }


def _model(name: str) -> str:
    """The model behind a system: a model without context asks the same model."""
    return name.removeprefix(NO_CONTEXT)


def _is_ours(name: str) -> bool:
    return is_baseline(_model(name))


def _system(name: str, document: Mapping[str, Any], cost: Mapping[str, Any]) -> dict[str, Any]:
    scores = document["systems"][name]
    given = name in document.get("given", ())
    if given:
        cost = unknown_cost("its answers were given in a file")
    elif name.startswith(NO_CONTEXT):
        # the answer without context is asked for once, for both
        cost = unknown_cost(f"its calls are those of {_model(name)}")
    return {
        "name": name,
        "base": name,
        "strategy": None,
        "baseline": is_baseline(name),
        "given": given,
        "leaked": False,
        "kin": [document["verifier"]["name"]] if scores.get("kin") else [],
        "pairs": scores["pairs"],
        "emoji_per_reply": None,
        **cost,
        "failed": scores["no_answer"],
        "unparsed": scores["unparsed"] + scores["unparsed_differences"],
    }


def _score_unfinished(
    pairs: pl.DataFrame, answers: pl.DataFrame | None, differences: pl.DataFrame | None, settings: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """Scores of the answers there are; what is missing is left out and counted."""
    notes = ["this run is not finished: it holds no scores yet, and what is shown is what it has so far"]
    empty: dict[str, Any] = {"schema": 1, "status": "partial", "systems": {}, "data": {"pairs": pairs.height}}
    if answers is None:
        return empty, [*notes, "nothing can be scored yet: there are no answers"]
    there = answers.filter(pl.col("answer").is_not_null())
    if waiting := answers.height - there.height:
        notes.append(f"{waiting:,} of {answers.height:,} answers failed or have not been asked for; they are left out")
    try:
        found = score_disambiguation(
            pairs,
            there,
            differences,
            draws=setting(settings, "draws", 2000),
            seed=setting(settings, "bootstrap_seed", 0),
            verifier=setting(settings, "verifier", "") or None,
        )
    except InputError as error:
        return empty, [*notes, f"nothing can be scored yet: {error}"]
    verifier = setting(settings, "verifier", "")
    return with_kin(found.to_dict(), [verifier] if verifier else [], role="verifier"), notes


def _slice(lang: str | None, category: str | None, pairs: int, systems: Mapping[str, Any]) -> dict[str, Any]:
    return {"lang": lang, "category": category, "pairs": pairs, "systems": dict(systems)}


def _measures(scores: Mapping[str, Any]) -> dict[str, Any]:
    out = {name: scores[name] for name in MEASURES} | {"pairs": scores["pairs"]}
    return out | ({"rank": scores["rank"]} if "rank" in scores else {})


def _slices(
    pairs: pl.DataFrame,
    answers: pl.DataFrame,
    differences: pl.DataFrame | None,
    document: Mapping[str, Any],
    draws: int,
    seed: int,
    name: str,
    say: Say,
) -> list[dict[str, Any]]:
    """The whole, then each language, each kind of context, and each of both, scored as their pairs alone would be."""
    cuts = list(_cuts(pairs))
    whole = {system: _measures(scores) for system, scores in document["systems"].items()}
    slices = [_slice(None, None, pairs.height, whole)]
    asked = answers.filter(pl.col("system").is_in(list(document["systems"])))
    for number, (lang, category, part) in enumerate(cuts):
        say(f"{name}: scoring slices", number, len(cuts))
        one: dict[str, Any] = {"lang": lang, "category": category, "pairs": part.height}
        if part.height < FEWEST_PAIRS:
            count = "1 pair" if part.height == 1 else f"{part.height} pairs"
            one["refused"] = f"{count}: fewer than {FEWEST_PAIRS} say nothing of a system"
        else:
            inside = asked.join(part.select("id"), on="id", how="semi", maintain_order="left")
            compared = None
            if differences is not None:
                compared = differences.join(part.select("id"), on="id", how="semi", maintain_order="left")
            one["systems"] = {}
            if inside.height:
                found = score_disambiguation(part, inside, compared, draws=draws, seed=seed).to_dict()
                one["systems"] = {system: _measures(scores) for system, scores in found["systems"].items()}
        slices.append(one)
    say(f"{name}: scoring slices", len(cuts), len(cuts))
    return slices


def _cuts(pairs: pl.DataFrame) -> Iterator[tuple[str | None, str | None, pl.DataFrame]]:
    languages = pairs["lang"].drop_nulls().unique().sort().to_list()
    categories = pairs["category"].unique(maintain_order=True).to_list()
    for lang in (None, *languages):
        spoken = pairs if lang is None else pairs.filter(pl.col("lang") == lang)
        if lang is not None:
            yield lang, None, spoken
        for category in categories:
            part = spoken.filter(pl.col("category") == category)
            if part.height:
                yield lang, category, part


_SHOWN = ("text", "question", "context_1", "answer_1", "context_2", "answer_2")
_LETTERS = {"right": "r", "wrong": "w", "1": "1", "2": "2", "neither": "n"}


def _items(
    pairs: pl.DataFrame,
    answers: pl.DataFrame | None,
    differences: pl.DataFrame | None,
    scored: Sequence[str],
    options: ReportOptions,
) -> tuple[dict[str, Any], list[str]]:
    most = options.max_items
    shown = pairs.head(most) if most is not None else pairs
    notes = []
    if shown.height < pairs.height:
        notes.append(f"the list shows the first {most:,} of {pairs.height:,} pairs; scores rest on all of them")
    row_of = {pair: row for row, pair in enumerate(shown["id"])}
    items: dict[str, Any] = {"n": shown.height}
    for column in ("id", "category", "lang", "emoji", "reading_1", "reading_2"):
        items[column] = shown[column].to_list()
    for column in _SHOWN:
        items[column] = shown[column].to_list() if options.texts else None
    names = [] if answers is None else answers["system"].unique(maintain_order=True).to_list()
    order = [*scored, *(name for name in names if name not in scored)]
    items["systems"] = {}
    for name in order:
        own = None if answers is None else answers.filter(pl.col("system") == name)
        found = _answers(own, row_of, shown.height, texts=options.texts)
        compared = None if differences is None else differences.filter(pl.col("system") == name)
        items["systems"][name] = found | {"differs": _differs(compared, row_of, shown.height)}
    items["disagreement"] = _disagreement(items, order)
    items["mattered"] = _mattered(items, order)
    return items, notes


def _answers(own: pl.DataFrame | None, row_of: Mapping[str, int], n: int, *, texts: bool) -> dict[str, Any]:
    """Answers, verdicts and readings by condition: ``r`` right, ``w`` wrong; ``1``, ``2``, ``n`` neither.

    Derived as the scores are (``metrics.disambiguation``): an empty answer without a verdict is wrong, an empty
    verdict beside a reading is taken from it, and a right answer without a reading has that of its context.
    """
    said: dict[str, list[str | None]] = {k: [None] * n for k in CONDITIONS}
    verdict = {k: [MISSING] * n for k in CONDITIONS if k != "none"}
    reading = {k: [MISSING] * n for k in CONDITIONS}
    if own is not None:
        parsed = parse_labels("verdict", own["verdict"])
        columns = (own["id"], own["condition"], own["answer"], own["verdict"], parsed, own["reading"])
        for pair, k, answer, written, judged, read in zip(*columns, strict=True):
            row = row_of.get(pair)
            if row is None:
                continue
            said[k][row] = (answer or "") if texts else None
            if not answer and written is None and read is None:
                judged, read = "wrong", "neither"
            if judged is None and written is None and read is not None:
                judged = "right" if read == k else "wrong"
            if k != "none":
                verdict[k][row] = _LETTERS.get(judged or "", UNPARSED)
                read = k if read is None and judged == "right" else read
            reading[k][row] = _LETTERS.get(read or "", MISSING)
    return {
        "answer": said if texts else None,
        "verdict": {k: "".join(letters) for k, letters in verdict.items()},
        "reading": {k: "".join(letters) for k, letters in reading.items()},
    }


def _differs(own: pl.DataFrame | None, row_of: Mapping[str, int], n: int) -> dict[str, str]:
    """``t`` where both orders say that two answers differ, ``f`` where not both do, ``?`` unread or one order only."""
    letters = {compared: [MISSING] * n for compared in COMPARED}
    if own is not None:
        said: dict[tuple[str, int], list[bool | None]] = {}
        for pair, compared, differs in own.select("id", "pair", "differs").iter_rows():
            if pair in row_of:
                said.setdefault((compared, row_of[pair]), []).append(differs)
        for (compared, row), both in said.items():
            known = len(both) == len(ORDERS) and None not in both
            letters[compared][row] = ("t" if all(both) else "f") if known else UNPARSED
    return {compared: "".join(found) for compared, found in letters.items()}


def _disagreement(items: Mapping[str, Any], names: Sequence[str]) -> list[float | None]:
    """Share of pairs of systems whose verdicts differ, mean over contexts; baselines out where two others are."""
    compared = _compared(names)
    codes = {"r": 1, "w": 0, UNPARSED: -1, MISSING: -2}
    columns = [
        share_of_unlike_pairs(np.array([[codes[c] for c in items["systems"][s]["verdict"][k]] for s in compared]))
        for k in "12"
        if len(compared) > 1 and items["n"]
    ]
    return mean_by_item(columns, items["n"])


def _mattered(items: Mapping[str, Any], names: Sequence[str]) -> list[float | None]:
    """Share of systems whose answers to the two contexts differ, by the verifier, else by the readings."""
    columns = []
    for name in _compared(names):
        found = items["systems"][name]
        column = []
        for differs, one, two in zip(
            found["differs"]["1-2"], found["reading"]["1"], found["reading"]["2"], strict=True
        ):
            if differs in "tf":
                column.append(float(differs == "t"))
            else:
                column.append(float("nan") if MISSING in (one, two) else float(one != two))
        columns.append(np.array(column))
    return mean_by_item(columns, items["n"])


def _compared(names: Sequence[str]) -> list[str]:
    rest = [name for name in names if not is_baseline(name)]
    return rest if len(rest) > 1 else list(names)
