"""A run of benchmark A as the page shows it: its document, its scores by part of the posts, its posts one by one.

A folder that holds no scores yet is scored from its tables as far as they go, and says so. Knows run folders and
documents; nothing of HTML.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from mojimeter import emoji
from mojimeter.datasets import starter
from mojimeter.datasets.readers import read_labels, read_outputs, read_posts
from mojimeter.datasets.records import GOLD
from mojimeter.errors import InputError
from mojimeter.metrics.bags import as_bags, renamed
from mojimeter.metrics.corpus import Attempts, line_up
from mojimeter.metrics.diversity import distinct, most_used
from mojimeter.metrics.recommendation import score_recommendations
from mojimeter.metrics.results import RecommendationScores
from mojimeter.report.gates import is_baseline
from mojimeter.report.page.cost import cost_of, read_ledger, sum_costs, unknown_cost
from mojimeter.report.page.emoji_index import EmojiIndex
from mojimeter.report.page.items import describe_items
from mojimeter.report.page.judge_quality import describe_judges
from mojimeter.report.page.options import ReportOptions, Say, card_of, is_file, read_document, setting
from mojimeter.report.page.slices import measures_of, score_slices, tally_posts
from mojimeter.report.page.sources import Source
from mojimeter.report.sentences import plain_caution
from mojimeter.runs.folder import read_settings
from mojimeter.runs.judge_panel import with_judge_panel
from mojimeter.runs.kin import kin_of_judge, with_kin
from mojimeter.runs.scoring import no_outputs, parse_count
from mojimeter.runs.signature import UNKNOWN, Signature
from mojimeter.systems.reply import read_replies

WRITERS = ""  # of the posts' own emoji among the systems' names, none of which is empty
_SAME = 1e-6  # points of percent


@dataclass(frozen=True, slots=True)
class Tables:
    """The canonical tables of a run folder.

    Attributes:
        posts, outputs, labels: see ``datasets.records``; outputs with their emoji and flags. None: no such table.
        scored: the outputs that scores rest on; all but in a run that is not finished.
        settings: of the run; empty where there are none.
    """

    posts: pl.DataFrame
    outputs: pl.DataFrame
    labels: pl.DataFrame | None
    scored: pl.DataFrame
    settings: Mapping[str, Any]


def describe_recommendation(source: Source, index: EmojiIndex, options: ReportOptions, say: Say) -> dict[str, Any]:
    """One run for the page; see docs/report.md for its fields.

    Raises:
        InputError: a table of the run cannot be read.
    """
    tables = _read_tables(source.path) if source.document is None else None
    document = source.document
    notes: list[str] = []
    if tables is not None:
        document = read_document(source.path, source.kind)
        if document is None:
            say(f"{source.name}: scoring", 0, 1)
            document, tables, notes = _score_unfinished(tables)
    assert document is not None
    run: dict[str, Any] = {
        "kind": "recommendation",
        "signature": document.get("signature"),
        "document": document,
        "notes": notes,
        "card": card_of(source, tables.settings.get("posts_file") if tables else None, starter.NAME),
        "leaks": document["leaks"]["count"] if document["systems"] else 0,
        "judges": describe_judges(_judges(document)),
        "panel_caveats": [plain_caution(caveat) for caveat in (document.get("panel") or {}).get("caveats", ())],
    }
    if tables is None:
        return run | _from_document(document, index, notes)
    return run | _from_tables(source, tables, document, index, options, say, notes)


def _from_document(document: Mapping[str, Any], index: EmojiIndex, notes: list[str]) -> dict[str, Any]:
    """What a saved document alone can show: scores of all posts, no post."""
    notes.append("only a saved document was given: no items and no scores by language or group (give the run folder)")
    systems = document["systems"]
    data = document["data"]
    return {
        "systems": [
            _system(name, scores["strategy"], document, unknown_cost("the document does not say"), None)
            for name, scores in systems.items()
        ],
        "slices": [
            {
                "lang": None,
                "group": None,
                "posts": data["posts"],
                "authors": data["authors"],
                "systems": {name: measures_of(scores) for name, scores in systems.items()},
            }
        ],
        "items": None,
        "tasks": {},
        "curves": _curves(document, index, None),
        "distinct": {name: scores["diversity"]["distinct"] for name, scores in systems.items()},
        "entropy_bits": _entropies(document),
        "judge_costs": {},
    }


def _from_tables(
    source: Source,
    tables: Tables,
    document: Mapping[str, Any],
    index: EmojiIndex,
    options: ReportOptions,
    say: Say,
    notes: list[str],
) -> dict[str, Any]:
    systems: list[Attempts] = []
    slices: list[dict[str, Any]] = []
    extra: Mapping[str, Any] = {}
    if document["systems"]:
        signature = Signature.parse(document["signature"])
        labels = tables.labels if signature.judge != UNKNOWN else None
        systems = _attempts(tables, labels, signature)
        tally = tally_posts(
            tables.posts,
            tables.scored,
            labels,
            judge=None if labels is None else signature.judge,
            equality=signature.equality,
            ranked_by=document["ranked_by"],
            only=list(document["systems"]),
            draws=signature.draws,
            seed=signature.seed,
        )
        extra = tally.score()
        notes += _changed(document, extra)
        whole = {
            name: measures_of(scores) | {"emoji_per_reply": extra[name]["emoji_per_reply"]}
            for name, scores in document["systems"].items()
            if name in extra
        }
        slices = score_slices(tally, whole, lambda what, done, total: say(f"{source.name}: {what}", done, total))
    ledger = read_ledger(source.path)
    items, tasks, more = describe_items(
        tables.posts,
        systems,
        tables.outputs,
        tables.labels,
        index,
        texts=options.texts,
        most=options.max_items,
        leaked=document["leaks"]["ids"] if document["systems"] else (),
        settings=tables.settings,
        ledger=ledger,
    )
    notes += more
    notes += _unscored(tables, document)
    costs = sum_costs(ledger)
    strategies = {s.name: (s.system, s.strategy) for s in systems}
    gold = as_bags(tables.posts["emoji"])
    bags = renamed(gold, lambda e: emoji.key(e, "presentation"))[0]
    return {
        "systems": [
            _system(
                name,
                scores["strategy"],
                document,
                _cost(costs, strategies.get(name, (name, None)), tables),
                extra.get(name, {}).get("emoji_per_reply"),
            )
            for name, scores in document["systems"].items()
        ],
        "slices": slices,
        "items": items,
        "tasks": tasks,
        "curves": _curves(document, index, most_used(bags)),
        "distinct": {
            WRITERS: distinct(bags),
            **{name: scores["diversity"]["distinct"] for name, scores in document["systems"].items()},
        },
        "entropy_bits": _entropies(document),
        "judge_costs": {model: cost for (model, purpose), cost in costs.items() if purpose == "judge"},
    }


def _read_tables(folder: Path) -> Tables:
    posts = read_posts(folder / "posts.jsonl")
    settings = read_settings(folder) or {}
    asked = parse_count(str(settings.get("n", "3")))
    outputs = read_outputs([folder / "outputs.jsonl"]) if is_file(folder / "outputs.jsonl") else no_outputs()
    outputs = outputs.hstack(read_replies(outputs["reply"], asked))
    labels = read_labels([folder / "labels.jsonl"]) if is_file(folder / "labels.jsonl") else None
    return Tables(posts, outputs, labels, outputs, settings)


def _score_unfinished(tables: Tables) -> tuple[dict[str, Any], Tables, list[str]]:
    """Scores of what an unfinished run has: replies that are not there, or that its judge has not labelled, wait.

    Returns:
        A document (``systems`` empty where nothing can be scored yet), the tables it rests on, and notes.
    """
    settings, labels, outputs = tables.settings, tables.labels, tables.outputs
    waiting = int(outputs["reply"].is_null().sum())
    answered = outputs.filter(pl.col("reply").is_not_null())
    judges = [] if labels is None else _in_order(labels["judge"].unique().sort().to_list(), settings.get("judges", ()))
    unlabelled = 0
    if labels is not None and judges:
        keys = ["id", "system", "epoch"]
        judged = labels.filter((pl.col("judge") == judges[0]) & (pl.col("system") != GOLD))
        there = answered.join(judged, on=keys, how="semi", maintain_order="left")
        unlabelled = answered.height - there.height
        answered = there
    notes = ["this run is not finished: it holds no scores yet, and what is shown is what it has so far"]
    if waiting:
        notes.append(f"{waiting:,} of {outputs.height:,} replies failed or have not been asked for; they are left out")
    if unlabelled:
        notes.append(f"{unlabelled:,} replies have no label by {judges[0]} yet; they are left out")
    how = {
        "equality": setting(settings, "equality", "presentation"),
        "draws": setting(settings, "draws", 2000),
        "seed": setting(settings, "bootstrap_seed", 0),
        "append": setting(settings, "append", "emoji"),
        "asked": parse_count(str(settings.get("n", "3"))),
    }
    try:
        document = _score(tables.posts, answered, labels if judges else None, judges, how)
    except InputError as error:
        notes.append(f"nothing can be scored yet: {error}")
        document = {"schema": 1, "status": "partial", "systems": {}, "data": {"posts": tables.posts.height}}
    return document, replace(tables, scored=answered), notes


def _in_order(judges: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """The judges, those that the settings name first, in their order."""
    return [j for j in wanted if j in judges] + [j for j in judges if j not in wanted]


def _score(
    posts: pl.DataFrame,
    outputs: pl.DataFrame,
    labels: pl.DataFrame | None,
    judges: Sequence[str],
    how: Mapping[str, Any],
) -> dict[str, Any]:
    def scores(judge: str | None) -> RecommendationScores:
        return score_recommendations(posts, outputs, labels, judge=judge, **how)

    if not judges:
        return with_kin(scores(None).to_dict(), [])
    return with_kin(with_judge_panel({judge: scores(judge) for judge in judges}, judges[0]), judges)


def _attempts(tables: Tables, labels: pl.DataFrame | None, signature: Signature) -> list[Attempts]:
    judge = None if labels is None else signature.judge
    return line_up(tables.posts, tables.outputs, labels, judge=judge, seed=signature.seed).systems


def _changed(document: Mapping[str, Any], now: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A note where the tables, scored now, have other numbers than the document: slices and items rest on them."""
    changed = []
    for name, scores in document["systems"].items():
        before = measures_of(scores)
        for measure in ("average", "f1", "kept"):
            ours = now[name][measure]["value"] if name in now else None
            theirs = before[measure]["value"]
            if (ours is None) != (theirs is None) or (ours is not None and abs(ours - theirs) > _SAME):
                changed.append(name)
                break
    if not changed:
        return []
    return [
        f"the tables have changed since they were scored ({', '.join(changed)}): slices and items show them as they are"
    ]


def _unscored(tables: Tables, document: Mapping[str, Any]) -> list[str]:
    """Systems whose replies came after the scores."""
    named = {name.partition(" (")[0] for name in document["systems"]}
    waiting = sorted(set(tables.outputs["system"].unique()) - named)
    return [f"{', '.join(waiting)}: replies but no scores; the run went on after it was scored"] if waiting else []


def _judges(document: Mapping[str, Any]) -> list[str]:
    """Who labelled; nobody where nothing is scored or scores need no labels."""
    first = Signature.parse(document["signature"]).judge if document["systems"] else UNKNOWN
    return [judge for judge in (first, *document.get("by_judge", {})) if judge != UNKNOWN]


def _system(
    name: str,
    strategy: str | None,
    document: Mapping[str, Any],
    cost: Mapping[str, Any],
    emoji_per_reply: Mapping[str, Any] | None,
) -> dict[str, Any]:
    ending = f" ({strategy or 'no strategy'})"
    scores = document["systems"][name]
    replies = scores["replies"]
    return {
        "name": name,
        "base": name.removesuffix(ending),
        "strategy": strategy,
        "baseline": is_baseline(name),
        "leaked": scores["leaked"],
        "kin": _kin(name.removesuffix(ending), name, document),
        "posts": scores["posts"],
        "emoji_per_reply": emoji_per_reply,
        **cost,
        "failed": (replies.get("missing") or 0),
        "unparsed": sum(replies.get("unparsed_labels", {}).values()),
    }


def _kin(base: str, name: str, document: Mapping[str, Any]) -> list[str]:
    """Judges that are this system or of the same maker; by what the document says where a judge goes by an alias."""
    first = Signature.parse(document["signature"]).judge
    marks = {first: document["systems"], **document.get("by_judge", {})}
    return [judge for judge, rows in marks.items() if rows.get(name, {}).get("kin") or kin_of_judge(judge, [base])]


def _cost(
    costs: dict[tuple[str, str], dict[str, Any]], system: tuple[str, str | None], tables: Tables
) -> dict[str, Any]:
    """From the ledger; else what the outputs themselves say of tokens and seconds."""
    name, strategy = system
    found = cost_of(costs, name, ("recommend",), called=not is_baseline(name))
    if found["calls"] is not None or is_baseline(name):
        return found
    own = tables.outputs.filter((pl.col("system") == name) & pl.col("strategy").eq_missing(strategy))
    known = {c: own[c].drop_nulls() for c in ("tokens", "seconds") if own[c].null_count() < own.height}
    if "tokens" in known:
        found["tokens"] = {"input": None, "output": float(known["tokens"].sum())}
    if "seconds" in known:
        total = float(known["seconds"].sum())
        found["seconds"] = {"total": total, "per_call": total / len(known["seconds"])}
    return found


def _curves(
    document: Mapping[str, Any], index: EmojiIndex, people: Sequence[tuple[str, float]] | None
) -> dict[str, Any]:
    """Each system's emoji with their share of all it gave, in percent, most used first; people's beside them."""
    curves: dict[str, Any] = {}
    if people is not None:
        curves[WRITERS] = [[index.place(string), share] for string, share in people]
    for name, scores in document["systems"].items():
        curves[name] = [[index.place(one["emoji"]), one["percent"]] for one in scores["diversity"]["top"]]
    return curves


def _entropies(document: Mapping[str, Any]) -> dict[str, Any]:
    out = {}
    for name, scores in document["systems"].items():
        value, ci = scores["diversity"]["entropy_bits"], scores["diversity"].get("entropy_bits_ci")
        out[name] = {"value": value} | ({"ci": list(ci)} if ci else {})
        if value is None:
            out[name]["reason"] = "no replies were given, only labels"
    return out
