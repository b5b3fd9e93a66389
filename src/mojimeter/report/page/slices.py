"""Scores of part of the posts: those of a language, those whose author used an emoji of some group, and both.

A slice is scored as its posts alone would be: the same ratios, the authors of its posts drawn again, the same number
of draws and seed, rank ranges by the same rule. Every ratio is laid out by post once; a slice adds up its rows. Knows
tables and numbers; nothing of files or pages.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from mojimeter import emoji
from mojimeter.datasets.records import TASKS
from mojimeter.metrics.bags import Floats, Integers
from mojimeter.metrics.corpus import Corpus, line_up
from mojimeter.metrics.one_system import SystemTree
from mojimeter.metrics.preservation import NO_EMOJI
from mojimeter.metrics.tally import Ratio, Tally
from mojimeter.report.page.options import Say, silent
from mojimeter.stats.estimate import Estimate
from mojimeter.stats.ranks import all_pairs, compare_all, rank_ranges
from mojimeter.stats.resample import pool_clusters, resample
from mojimeter.trust.clusters import clusters_of

#: What a slice shows, and where it is in the tree of a system's scores.
MEASURES: Mapping[str, tuple[str, ...]] = {
    **{name: ("preservation", name) for name in ("average", "average_unleaked", *TASKS)},
    "kept": ("kept",),
    "recovered": ("recovered",),
    **{name: ("overlap", name) for name in ("precision", "recall", "f1")},
    "group_f1": ("category", "group", "f1"),
    "subgroup_f1": ("category", "subgroup", "f1"),
    "emoji_per_reply": ("emoji_per_reply",),
}
FEWEST_POSTS = 10
FEWEST_AUTHORS = 5

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class PostTally:
    """The numerator and denominator of every measure of every system, at each post.

    Attributes:
        ids: the posts, in the order of the rows.
        lang: their languages, None where not known.
        groups: emoji group -> the posts whose author used an emoji of it.
        author: cluster number of each post.
        columns: sums by post, shape (posts, columns).
        systems: name -> measure -> place of its two columns, or the JSON form of its absence.
        by_post: for each system the score that ranks, NaN where the post does not count, shape (posts,).
        draws, seed: of the bootstrap.
    """

    ids: list[str]
    lang: list[str | None]
    groups: Mapping[str, Mask]
    author: Integers
    columns: Floats
    systems: Mapping[str, Mapping[str, Ratio | dict[str, Any]]]
    by_post: Mapping[str, Floats]
    draws: int
    seed: int

    def score(self, rows: Mask | None = None) -> dict[str, dict[str, Any]]:
        """Every measure of every system on some of the posts, with ``rank``.

        Args:
            rows: the posts to score, shape (posts,); None: all.
        """
        chosen = np.arange(len(self.ids)) if rows is None else np.flatnonzero(rows)
        codes = np.unique(self.author[chosen], return_inverse=True)[1].astype(np.int64)
        cluster, clusters = pool_clusters(codes, int(codes.max()) + 1, self.seed)
        names = list(self.systems)
        pairs = all_pairs(len(names))
        gaps = self._gaps(names, pairs, chosen)
        table = _sum_rows(np.column_stack([self.columns[chosen], gaps]), cluster, clusters)
        sums = resample(table, self.draws, self.seed)
        first = self.columns.shape[1]
        at = [(first + 2 * p, first + 2 * p + 1) for p in range(len(pairs))]
        drawn = np.column_stack([sums.ratio_draws(*two) for two in at]) if pairs else sums.draws[:, :0]
        with np.errstate(divide="ignore", invalid="ignore"):
            observed = np.array([sums.observed[n] / sums.observed[d] for n, d in at])
        ranks = rank_ranges(len(names), compare_all(pairs, observed, drawn))
        return {
            name: {
                **{
                    measure: sums.ratio(ratio.numerator, ratio.denominator, ratio.scale).to_dict()
                    if isinstance(ratio, Ratio)
                    else ratio
                    for measure, ratio in self.systems[name].items()
                },
                "posts": int(np.isfinite(self.by_post[name][chosen]).sum()),
                "rank": list(rank),
            }
            for name, rank in zip(names, ranks, strict=True)
        }

    def _gaps(self, names: Sequence[str], pairs: Sequence[tuple[int, int]], chosen: Integers) -> Floats:
        """Differences of every two systems at the posts both have, and whether both have the post."""
        columns = np.zeros((len(chosen), 2 * len(pairs)))
        for place, (i, j) in enumerate(pairs):
            gap = self.by_post[names[i]][chosen] - self.by_post[names[j]][chosen]
            common = np.isfinite(gap)
            columns[:, 2 * place] = np.where(common, gap, 0.0)
            columns[:, 2 * place + 1] = common
        return columns


def measures_of(scores: Mapping[str, Any]) -> dict[str, Any]:
    """The measures of a slice out of a system's scores as a document has them."""
    out: dict[str, Any] = {}
    for name, path in MEASURES.items():
        found: Any = scores
        for step in path:
            found = found.get(step) if isinstance(found, Mapping) else None
        out[name] = found if found is not None else {"value": None, "reason": "the document does not say"}
    return {**out, "posts": scores["posts"], "rank": list(scores["rank"])}


def tally_posts(
    posts: pl.DataFrame,
    outputs: pl.DataFrame,
    labels: pl.DataFrame | None,
    *,
    judge: str | None,
    equality: str,
    ranked_by: str,
    only: Collection[str],
    draws: int,
    seed: int,
) -> PostTally:
    """Lay every measure out by post.

    Args:
        posts, outputs, labels: canonical tables; outputs with their ``emoji`` and flags.
        judge: whose labels count.
        equality: when two emoji are the same.
        ranked_by: the score that ranks the whole run; slices are ranked by it too.
        only: names of the systems that were scored; others came later.
        draws, seed: of the bootstrap.

    Raises:
        InputError: nothing can be lined up.
    """
    corpus = line_up(posts, outputs, labels, judge=judge, seed=seed)
    # each post its own cluster: the columns of the tally are then the sums of that post
    alone = replace(corpus, cluster=np.arange(corpus.posts.height), clusters=corpus.posts.height)
    tally = Tally(alone.clusters)
    scored = [system for system in alone.systems if system.name in only]
    trees = {system.name: SystemTree(alone, system, equality, tally, None, 1, seed) for system in scored}
    systems = {name: _measures(tree, alone, tally) for name, tree in trees.items()}
    used = sorted({c for row in systems.values() for m in row.values() if isinstance(m, Ratio) for c in _places(m)})
    moved = {old: new for new, old in enumerate(used)}
    columns = np.column_stack([tally.columns[c] for c in used]) if used else np.empty((alone.clusters, 0))
    in_order = posts.join(alone.posts.select("id").with_row_index("row"), on="id").sort("row")
    return PostTally(
        ids=in_order["id"].to_list(),
        lang=in_order["lang"].to_list(),
        groups=_groups(in_order["emoji"]),
        author=clusters_of(in_order.select("id", "author")),
        columns=columns,
        systems={
            name: {
                measure: Ratio(moved[m.numerator], moved[m.denominator], m.scale) if isinstance(m, Ratio) else m
                for measure, m in row.items()
            }
            for name, row in systems.items()
        },
        by_post={name: tree.by_post[ranked_by] for name, tree in trees.items()},
        draws=draws,
        seed=seed,
    )


def score_slices(tally: PostTally, whole: Mapping[str, Any], say: Say = silent) -> list[dict[str, Any]]:
    """The whole, then each language, each group of emoji, and each of both.

    Args:
        tally: the posts.
        whole: the scores of all posts, as the run's own document has them.
        say: told (what, done, total).

    Returns:
        Objects with ``lang`` and ``group`` (null: any), ``posts``, ``authors``, and ``systems`` or, where the posts or
        their authors are too few, ``refused`` with the reason.
    """
    cuts = list(_cuts(tally))
    slices: list[dict[str, Any]] = []
    for number, (lang, group, rows) in enumerate(cuts):
        say("scoring slices", number, len(cuts))
        posts, authors = int(rows.sum()), len(np.unique(tally.author[rows]))
        one: dict[str, Any] = {"lang": lang, "group": group, "posts": posts, "authors": authors}
        if lang is None and group is None:
            one["systems"] = dict(whole)
        elif why := _too_few(posts, authors):
            one["refused"] = why
        else:
            one["systems"] = tally.score(rows)
        slices.append(one)
    say("scoring slices", len(cuts), len(cuts))
    return slices


def _too_few(posts: int, authors: int) -> str | None:
    if posts >= FEWEST_POSTS and authors >= FEWEST_AUTHORS:
        return None
    return (
        f"{posts} {'post' if posts == 1 else 'posts'} by {authors} {'author' if authors == 1 else 'authors'}: "
        f"fewer than {FEWEST_POSTS} posts or {FEWEST_AUTHORS} authors say nothing of a system"
    )


def _cuts(tally: PostTally) -> Iterator[tuple[str | None, str | None, Mask]]:
    """Every combination of a language and a group that has a post."""
    everything = np.ones(len(tally.ids), dtype=bool)
    known = np.array([lang or "" for lang in tally.lang])
    languages = sorted({lang for lang in tally.lang if lang})
    for lang in (None, *languages):
        spoken = everything if lang is None else known == lang
        yield lang, None, spoken
        for group, used in tally.groups.items():
            if (rows := spoken & used).any():
                yield lang, group, rows


def _groups(gold: pl.Series) -> dict[str, Mask]:
    """Group -> which posts hold an original emoji of it; groups in order of how many do."""
    table = pl.DataFrame({"row": np.arange(len(gold)), "emoji": gold}).explode("emoji").drop_nulls()
    names = table["emoji"].unique().to_list()
    group_of = {name: emoji.group(name) for name in names}
    found: dict[str, Mask] = {}
    for name, rows in table.group_by("emoji", maintain_order=True).agg("row").iter_rows():
        group = group_of[name]
        if group is not None:
            found.setdefault(group, np.zeros(len(gold), dtype=bool))[rows] = True
    return dict(sorted(found.items(), key=lambda item: (-int(item[1].sum()), item[0])))


def _measures(tree: SystemTree, corpus: Corpus, tally: Tally) -> dict[str, Ratio | dict[str, Any]]:
    shown = {**tree.tree, "emoji_per_reply": _emoji_per_reply(tree, tally)}
    out: dict[str, Ratio | dict[str, Any]] = {}
    for name, path in MEASURES.items():
        found: Any = shown
        for step in path:
            found = found[step]
        out[name] = found if isinstance(found, Ratio) else found.to_dict()
    return out


def _emoji_per_reply(tree: SystemTree, tally: Tally) -> Ratio | Estimate:
    """Emoji in a reply, the mean over posts; the text alone has none."""
    outputs = tree.attempts.outputs
    if outputs is None and tree.attempts.system != NO_EMOJI:
        return Estimate.absent("no replies were given, only labels")
    sizes = np.zeros(len(tree.attempts.post)) if outputs is None else outputs["emoji"].list.len().to_numpy()
    return tally.ratio(sizes * tree.weight, tree.weight, tree.cluster, scale=1.0)


def _places(ratio: Ratio) -> Iterable[int]:
    return ratio.numerator, ratio.denominator


def _sum_rows(values: Floats, cluster: Integers, clusters: int) -> Floats:
    """Sums over the rows of each cluster, shape (clusters, columns)."""
    order = np.argsort(cluster, kind="stable")
    starts = np.searchsorted(cluster[order], np.arange(clusters))
    return np.add.reduceat(values[order], starts, axis=0)
