"""The posts of a run of benchmark A as the page lists them: columns by item, labels as one character an item.

With 20,000 posts, eight systems and five tasks there are a million cells, so each task's labels of a system are one
string. Knows the canonical tables; computes no score.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from mojimeter import emoji
from mojimeter.datasets.records import GOLD, TASKS, labels_of_strategy
from mojimeter.judges.labels import LABELS
from mojimeter.metrics.bags import Floats
from mojimeter.metrics.corpus import Attempts
from mojimeter.metrics.preservation import NO_EMOJI
from mojimeter.metrics.replies import FLAGS
from mojimeter.models.calls import CallLedger
from mojimeter.report.page.emoji_index import EmojiIndex
from mojimeter.report.page.options import setting
from mojimeter.report.page.votes import TextOf, split_votes, voting_judge
from mojimeter.systems.append import with_recommendation

MISSING = "."
UNPARSED = "?"
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_AIDS = ("baseline/none", "baseline/original", "baseline/random")


def describe_items(
    posts: pl.DataFrame,
    systems: Sequence[Attempts],
    outputs: pl.DataFrame,
    labels: pl.DataFrame | None,
    index: EmojiIndex,
    *,
    texts: bool,
    most: int | None,
    leaked: Iterable[str],
    settings: Mapping[str, Any],
    ledger: CallLedger | None,
) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """The items, the tasks with their labels, and notes on what is not shown.

    Args:
        posts: canonical, in the order in which they are to be shown.
        systems: the systems that were lined up: their names on the page.
        outputs: canonical, with ``emoji`` and the reply flags.
        labels: canonical, of all judges.
        index: takes in the emoji.
        texts: whether texts and replies may be shown.
        most: so many items at most, the first ones; None: all.
        leaked: ids of the posts whose plain text still held an emoji.
        settings, ledger: of the run, for the votes of judges that vote.
    """
    notes: list[str] = []
    if most is not None and posts.height > most:
        notes.append(f"the list shows the first {most:,} of {posts.height:,} posts; scores rest on all of them")
    shown = posts.head(most) if most is not None else posts
    row_of = {name: row for row, name in enumerate(shown["id"])}
    items: dict[str, Any] = {
        "n": shown.height,
        "id": shown["id"].to_list(),
        "text": shown["original"].to_list() if texts else None,
        "lang": shown["lang"].to_list(),
        "author": shown["author"].rank("dense").cast(pl.Int64).to_list(),
        "gold": [index.places(found) for found in shown["emoji"].to_list()],
        "leaked": sorted(row_of[post] for post in leaked if post in row_of),
    }
    items["systems"] = {s.name: _replies(s, outputs, row_of, shown.height, index, texts) for s in systems}
    if any("other_attempts" in found for found in items["systems"].values()):
        notes.append("where a post was tried several times its emoji, flags and labels here are of the first attempt")
    tasks, items["labels"], cells = _labels(systems, labels, row_of, shown.height, notes)
    text_of = _judged_text(posts, systems, outputs, setting(settings, "append", "emoji"))
    items["votes"] = _votes(systems, labels, text_of, row_of, settings, ledger)
    if texts:
        index.places(emoji.find_column(shown["original"]).explode().drop_nulls().unique(maintain_order=True).to_list())
    items |= _known_labels(shown)
    items["people"] = {}
    items["disagreement"], items["disagreement_of"] = _disagreement(systems, cells, items, index)
    items["mattered"] = _mattered(cells, shown.height)
    return items, tasks, notes


def _replies(
    system: Attempts, outputs: pl.DataFrame, row_of: Mapping[str, int], n: int, index: EmojiIndex, texts: bool
) -> dict[str, Any]:
    """One system's emoji at each item (null: no reply), and what is out of the ordinary about its replies."""
    found: list[list[int] | None] = [None] * n
    reply: dict[str, str] = {}
    flags: dict[str, list[str]] = {}
    error: dict[str, str] = {}
    others: dict[str, list[list[int]]] = {}
    columns = _own(system, outputs).select("id", "reply", "error", "emoji", *FLAGS)
    seen: set[int] = set()
    for post, raw, failed, given, *flagged in columns.iter_rows():
        row = row_of.get(post)
        if row is None:
            continue
        if row in seen:
            if raw is not None:
                others.setdefault(str(row), []).append(index.places(given))
            continue
        seen.add(row)
        if failed is not None:
            error[str(row)] = failed
        if raw is None:
            continue
        found[row] = index.places(given)
        if any(flagged):
            flags[str(row)] = [name for name, is_so in zip(FLAGS, flagged, strict=True) if is_so]
        if texts and "".join(raw.split()) != "".join(given):
            reply[str(row)] = raw
    out: dict[str, Any] = {"emoji": found, "reply": reply, "flags": flags, "error": error}
    return out | {"other_attempts": others} if others else out


Cells = Mapping[str, Mapping[str, Mapping[str, np.ndarray[Any, Any]]]]  # judge -> system -> task -> codes by item


def _labels(
    systems: Sequence[Attempts], labels: pl.DataFrame | None, row_of: Mapping[str, int], n: int, notes: list[str]
) -> tuple[dict[str, Any], dict[str, Any], Cells]:
    """Tasks with their labels; judge -> system -> task -> a character an item; and the same as numbers.

    Numbers: the place of the label, -1 for one that could not be read, -2 where there is none.
    """
    if labels is None:
        return {}, {}, {}
    there = [task for task in TASKS if labels[task].null_count() < labels.height]
    names = {task: _commonest(labels[task], task, notes) for task in there}
    shown: dict[str, Any] = {}
    cells: dict[str, Any] = {}
    for judge in labels["judge"].unique(maintain_order=True):
        of_judge = labels.filter(pl.col("judge") == judge)
        cells[judge] = {}
        for name, own in _labels_by_system(of_judge, systems):
            first = own.sort("epoch", maintain_order=True).unique("id", keep="first", maintain_order=True)
            rows = [row_of.get(post, -1) for post in first["id"]]
            kept = np.array(rows) >= 0
            cells[judge][name] = {}
            for task in there:
                codes = np.full(n, -2)
                place = {label: code for code, label in enumerate(names[task])}
                values = np.array([place.get(label, -1) for label in first[task].to_list()], dtype=int)
                codes[np.array(rows)[kept]] = values[kept]
                cells[judge][name][task] = codes
        shown[judge] = {
            name: {task: _as_string(codes) for task, codes in by_task.items()} for name, by_task in cells[judge].items()
        }
    off_list = {task: [label for label in names[task] if label not in LABELS[task]] for task in there}
    return {task: {"labels": names[task], "off_list": off_list[task]} for task in there}, shown, cells


def _commonest(column: pl.Series, task: str, notes: list[str]) -> list[str]:
    """The labels there are: those of the list first, then what a judge made up, the commonest first.

    At most as many as one character can tell apart.
    """
    counts = dict(column.drop_nulls().value_counts().iter_rows())
    listed = [label for label in LABELS[task] if label in counts]
    off_list = sorted((label for label in counts if label not in listed), key=lambda label: (-counts[label], label))
    names = [*listed, *off_list]
    if len(names) > len(DIGITS):
        notes.append(
            f"{task}: {len(names)} different labels, most of them off the list of labels; the rarest "
            f"{len(names) - len(DIGITS)} show as unreadable"
        )
    return names[: len(DIGITS)]


def _labels_by_system(labels: pl.DataFrame, systems: Sequence[Attempts]) -> list[tuple[str, pl.DataFrame]]:
    """The labels of the originals, of the text alone, and of every system, by the name it has on the page."""
    out = [(GOLD, labels.filter(pl.col("system") == GOLD))]
    names = {s.name for s in systems}
    if NO_EMOJI not in names:
        out.append((NO_EMOJI, labels.filter(pl.col("system") == NO_EMOJI)))
    for s in systems:
        out.append((s.name, labels_of_strategy(labels.filter(pl.col("system") == s.system), s.strategy)))
    return [(name, own) for name, own in out if own.height]


def _as_string(codes: np.ndarray[Any, Any]) -> str:
    table = np.array([*DIGITS, UNPARSED, MISSING])
    return "".join(table[np.where(codes >= 0, codes, len(DIGITS) - 1 - codes)])


def _votes(
    systems: Sequence[Attempts],
    labels: pl.DataFrame | None,
    text_of: TextOf,
    row_of: Mapping[str, int],
    settings: Mapping[str, Any],
    ledger: CallLedger | None,
) -> dict[str, Any]:
    """By judge: the votes of items on which it was not unanimous (see ``votes.split_votes``)."""
    if labels is None or not {"votes", "ties"} <= set(labels.columns):
        return {}
    out = {}
    for name in labels["judge"].unique(maintain_order=True):
        judge = voting_judge(name, settings)
        if judge is not None:
            rows = [
                (system, own.sort("epoch", maintain_order=True).unique("id", keep="first", maintain_order=True))
                for system, own in _labels_by_system(labels.filter(pl.col("judge") == name), systems)
            ]
            out[name] = split_votes(judge, rows, text_of, row_of, ledger)
    return out


def _judged_text(posts: pl.DataFrame, systems: Sequence[Attempts], outputs: pl.DataFrame, append: str) -> TextOf:
    """What judges saw of a system's first reply to a post, or of the original."""
    originals, plain = (dict(posts.select("id", column).iter_rows()) for column in ("original", "text"))
    by_name = {system.name: system for system in systems}

    @cache
    def replies(name: str) -> dict[str, str | None]:
        first = _own(by_name[name], outputs).unique("id", keep="first", maintain_order=True)
        return dict(first.select("id", "reply").iter_rows())

    def text_of(name: str, post: str) -> str | None:
        if name == GOLD:
            return originals.get(post)
        if post not in plain:
            return None
        return with_recommendation(plain[post], replies(name).get(post) if name in by_name else None, append)

    return text_of


def _own(system: Attempts, outputs: pl.DataFrame) -> pl.DataFrame:
    """A system's replies, the first attempt at each post first."""
    own = outputs.filter((pl.col("system") == system.system) & pl.col("strategy").eq_missing(system.strategy))
    return own.sort("epoch", maintain_order=True)


def _known_labels(posts: pl.DataFrame) -> dict[str, Any]:
    """Labels that the posts came with, and the votes behind them, where a column ``votes_<task>`` has them."""
    there = [name for name, kind in posts.schema.items() if kind == pl.String and posts[name].drop_nulls().len()]
    known = {task: posts[task].to_list() for task in TASKS if task in there}
    votes = {
        task: [None if voted is None else voted.split() for voted in posts[f"votes_{task}"]]
        for task in known
        if f"votes_{task}" in there
    }
    return {"known": known, "known_votes": votes}


def _disagreement(
    systems: Sequence[Attempts], cells: Cells, items: Mapping[str, Any], index: EmojiIndex
) -> tuple[list[float | None], str]:
    """Share of pairs of systems whose labels differ, mean over tasks and judges; without labels, whose emoji differ.

    What is there for comparison only is left out where two other systems are. A label that could not be read
    differs from every label that could.
    """
    names = _compared([s.name for s in systems])
    columns = [
        [by_system[name][task] for name in names if name in by_system]
        for by_system in cells.values()
        for task in next(iter(by_system.values()), {})
    ]
    n, of = items["n"], "labels"
    if not columns:
        columns, of = [_emoji_codes([items["systems"][name]["emoji"] for name in names], index)], "emoji"
    return mean_by_item([share_of_unlike_pairs(np.array(c)) for c in columns if len(c) > 1], n), of


def _compared(names: Sequence[str]) -> list[str]:
    rest = [name for name in names if name not in _AIDS and not name.startswith("random")]
    return rest if len(rest) > 1 else list(names)


def share_of_unlike_pairs(codes: np.ndarray[Any, Any]) -> Floats:
    """Share of pairs of rows whose codes differ, by column; NaN where fewer than two rows have one (-2: none).

    Args:
        codes: shape (systems, items).
    """
    present = codes != -2
    pairs = np.zeros(codes.shape[1])
    unlike = np.zeros(codes.shape[1])
    for i, j in combinations(range(len(codes)), 2):
        both = present[i] & present[j]
        pairs += both
        unlike += both & (codes[i] != codes[j])
    share: Floats = np.divide(unlike, pairs, out=np.full(len(pairs), np.nan), where=pairs > 0)
    return share


def _emoji_codes(given: Sequence[Sequence[Sequence[int] | None]], index: EmojiIndex) -> list[np.ndarray[Any, Any]]:
    """By system, a number for each different set of emoji (presentation ignored); -2 without a reply."""
    keys = [emoji.key(string) for string in index.strings]
    sets: dict[frozenset[str], int] = {}
    return [
        np.array(
            [-2 if one is None else sets.setdefault(frozenset(keys[i] for i in one), len(sets)) for one in of_system],
            dtype=int,
        )
        for of_system in given
    ]


def _mattered(cells: Cells, n: int) -> list[float | None]:
    """Share of tasks (and judges) that label the text alone otherwise than the original: where emoji mattered."""
    columns = []
    for by_system in cells.values():
        if GOLD not in by_system or NO_EMOJI not in by_system:
            continue
        for task, gold in by_system[GOLD].items():
            without = by_system[NO_EMOJI][task]
            known = (gold != -2) & (without != -2)
            columns.append(np.where(known, ((gold != without) | (gold == -1)).astype(float), np.nan))
    return mean_by_item(columns, n)


def mean_by_item(columns: Sequence[Floats], n: int) -> list[float | None]:
    """The mean of columns of shape (n,), at each item over those that have a value there; None where none has."""
    if not columns:
        return [None] * n
    table = np.array(columns)
    known = np.isfinite(table)
    count = known.sum(axis=0)
    means = np.divide(np.where(known, table, 0.0).sum(axis=0), count, out=np.full(n, np.nan), where=count > 0)
    return [None if np.isnan(value) else float(value) for value in means]
