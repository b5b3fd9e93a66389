"""Benchmark A from tables: every score of every system, each with its interval over authors.

Puts the metrics of this package together: lines the tables up (``corpus``), lets each system put its sums in one tally
(``one_system``), resamples that once, ranks the systems (``standing``) and returns the result that ``mojimeter score
--json`` prints. Knows no model, no file and no judge.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from mojimeter.errors import InputError
from mojimeter.metrics.corpus import Corpus, line_up
from mojimeter.metrics.one_system import CODE_POINTS, SystemTree
from mojimeter.metrics.replies import FLAGS
from mojimeter.metrics.results import RecommendationScores, SystemScores
from mojimeter.metrics.standing import Standing, rank_systems
from mojimeter.metrics.tally import Tally, resolve
from mojimeter.runs.signature import UNKNOWN, Signature, data_hash

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

EQUALITIES = (CODE_POINTS, "exact", "presentation", "tone", "gender")
APPENDED = ("emoji", "raw")
# Below this many authors percentile intervals are known to be too narrow (Cameron, Gelbach & Miller 2008).
_FEW_CLUSTERS = 20


def score_recommendations(
    posts: IntoDataFrame,
    outputs: IntoDataFrame,
    labels: IntoDataFrame | None = None,
    equality: str = "presentation",
    draws: int = 2000,
    seed: int = 0,
    *,
    judge: str | None = None,
    asked: int | None = 3,
    known_labels: Mapping[str, Collection[str]] | None = None,
    append: str = "emoji",
    votes: str = UNKNOWN,
    prompt: str = UNKNOWN,
) -> RecommendationScores:
    """Score emoji recommendations from tables.

    Args:
        posts: ``id``, ``text`` (with the original emoji) and optional columns, or the canonical table of
            ``datasets.as_posts``.
        outputs: ``id``, ``system``, ``reply``; with the columns that ``systems.read_replies`` adds where
            replies were read already. A column ``profile`` that says ``labels`` marks conditional prompts that
            held the judge's own labels.
        labels: ``id``, ``system``, ``judge`` and a column a task; None scores without preservation.
        equality: when two emoji are the same: ``exact``, ``presentation``, ``tone``, ``gender``;
            ``code-points`` replays the overlap of the published tables (the other criteria then use
            ``presentation``).
        draws, seed: of the bootstrap over authors.
        judge: whose labels count, where there are several.
        asked: how many emoji the systems were asked for; None for "one to five".
        known_labels: the labels there are, by task; other strings are counted as unparsed though compared as
            they stand.
        append: what was appended to the posts before they were judged (``emoji`` or the ``raw`` reply); for
            the signature.
        votes, prompt: of the judge and of the prompts, for the signature.

    Raises:
        InputError: a table is wrong (see ``datasets.records``), an option is, or nothing can be lined up.
    """
    if equality not in EQUALITIES:
        raise InputError(f"no equality {equality!r}; expected {', '.join(EQUALITIES)}")
    if append not in APPENDED:
        raise InputError(f"cannot append {append!r}; expected {', '.join(APPENDED)}")
    if draws < 1:
        raise InputError(f"{draws} bootstrap draws: expected 1 or more")
    posts_frame = _as_canonical(posts, "posts")
    hash_of_posts = data_hash(posts_frame)
    posts_frame = posts_frame.drop("original", "text", strict=False)  # no longer needed, and large
    labels_frame = None if labels is None else _as_canonical(labels, "labels")
    corpus = line_up(
        posts_frame, _with_emoji(_as_canonical(outputs, "outputs"), asked), labels_frame, judge=judge, seed=seed
    )
    if corpus.clusters < _FEW_CLUSTERS:
        corpus.warnings.append(
            f"only {corpus.clusters} authors to resample: intervals from so few are too narrow"
            if corpus.clusters > 1
            else "one author: no interval can be given"
        )
    tally = Tally(corpus.clusters)
    scored = [SystemTree(corpus, system, equality, tally, known_labels, draws, seed) for system in corpus.systems]
    leaked = any(s.leaked for s in scored)
    ranked_by = "f1" if corpus.labels is None else "average_unleaked" if leaked else "average"
    standing = rank_systems(
        [s.attempts.name for s in scored],
        [s.by_post[ranked_by] for s in scored],
        corpus.cluster,
        corpus.clusters,
        draws=draws,
        seed=seed,
    )
    sums = tally.resample(draws, seed)
    results = {
        s.attempts.name: SystemScores(rank=standing.ranks[i], **resolve(s.tree, sums)) for i, s in enumerate(scored)
    }
    signature = Signature(
        data=hash_of_posts,
        n=corpus.posts.height,
        judge=_judge_name(labels_frame, judge),
        votes=votes,
        prompt=prompt,
        equality=equality,
        append=append,
        seed=seed,
        draws=draws,
        version=_version(),
    )
    return RecommendationScores(
        signature=signature,
        systems={name: results[name] for name in _best_first(results, standing)},
        ranked_by=ranked_by,
        differences=standing.differences,
        data=_describe(corpus),
        leaks=tuple(corpus.posts.filter(pl.col("leaked"))["id"]) if "leaked" in corpus.posts.columns else (),
        warnings=tuple(corpus.warnings),
        post_ids=corpus.posts["id"],
        by_post={s.attempts.name: s.by_post for s in scored},
    )


def _as_canonical(frame: IntoDataFrame, what: str) -> pl.DataFrame:
    """Any data frame as the canonical table of its kind."""
    import narwhals as nw

    from mojimeter.datasets import records

    native = nw.from_native(frame, eager_only=True).to_polars()
    ready, convert = {
        "posts": (records.POST_COLUMNS, records.as_posts),
        "outputs": (records.OUTPUT_COLUMNS, records.as_outputs),
        "labels": (records.LABEL_COLUMNS, records.as_labels),
    }[what]
    is_canonical = set(ready) <= set(native.columns)
    if is_canonical and (what == "posts" or native.is_empty()):  # no replies: systems known by labels alone
        return native
    return convert(native, what)


def _with_emoji(outputs: pl.DataFrame, asked: int | None) -> pl.DataFrame:
    """Outputs with their emoji and flags; replies that were not read yet are read here."""
    if {"emoji", *FLAGS} <= set(outputs.columns):
        return outputs
    from mojimeter.systems.reply import read_replies

    read = read_replies(outputs["reply"], asked)
    return outputs.drop(c for c in read.columns if c in outputs.columns).hstack(read)


def _judge_name(labels: pl.DataFrame | None, judge: str | None) -> str:
    return UNKNOWN if labels is None else judge or str(labels["judge"][0])


def _version() -> str:
    from mojimeter import __version__

    return __version__


def _describe(corpus: Corpus) -> dict[str, Any]:
    sizes = corpus.posts["emoji"].list.len()
    return {
        "posts": corpus.posts.height,
        "authors": corpus.posts["author"].drop_nulls().n_unique(),
        "resampled": corpus.authors,
        "without_emoji": int((sizes == 0).sum()),
        "emoji_per_post": float(sizes.mean() or 0.0),  # type: ignore[arg-type]
    }


def _best_first(results: Mapping[str, SystemScores], standing: Standing) -> list[str]:
    """Systems by the score they are ranked by, best first; those without one last, by name."""
    return sorted(results, key=lambda name: (-standing.values.get(name, -np.inf), name))
