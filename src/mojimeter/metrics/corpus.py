"""Posts, outputs and labels, lined up by number: what every metric of benchmark A is computed from.

Polars ends here: posts are put in order of id (so that the order of a file changes nothing), authors become
clusters, replies and labels point at their posts. What cannot be lined up is counted in ``warnings``, never
dropped in silence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from mojimeter.datasets.records import GOLD, TASKS, labels_of_strategy
from mojimeter.errors import InputError
from mojimeter.metrics.bags import Integers
from mojimeter.metrics.preservation import NO_EMOJI, Codes, label_codes
from mojimeter.metrics.replies import FLAGS
from mojimeter.stats.resample import pool_clusters

_KEY = ("post", "epoch")


# What scoring needs of each table; the rest (texts above all) is let go, so that a million posts fit.
_OF_POSTS = ("id", "author", "emoji", "age", "gender", "gold_emoji", "leaked")
_OF_OUTPUTS = ("system", "strategy", "epoch", "reply", "emoji", "tokens", "seconds", "error", "profile", *FLAGS)
_OF_LABELS = ("system", "strategy", "epoch", *TASKS)


@dataclass(frozen=True, slots=True)
class Labels:
    """One judge's labels as numbers.

    Attributes:
        tasks: the tasks for which the originals have labels, in the order of ``records.TASKS``.
        names: label strings of each task, by code.
        gold, without: codes of the original posts and of the texts alone, shape (posts, tasks), -1 = not read.
        has_gold, has_without: whether the post was labelled at all, shape (posts,).
    """

    tasks: tuple[str, ...]
    names: Mapping[str, list[str]]
    gold: Codes
    without: Codes
    has_gold: NDArray[np.bool_]
    has_without: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Attempts:
    """One system's attempts at its posts.

    Attributes:
        name, system, strategy: ``name`` tells systems apart where one was run with several strategies.
        post, epoch: which post each attempt is at, and which attempt it is, shape (attempts,).
        outputs: the replies, row by row; None for a system of which only labels are known.
        codes: label codes, shape (attempts, tasks), -1 = not read or not there; None without labels.
        judged: attempts that count for preservation, shape (attempts,).
        labels: the rows of labels (as codes) that belong to the attempts, for counting.
        unlabelled: attempts that the judge should have labelled and did not.
    """

    name: str
    system: str
    strategy: str | None
    post: Integers
    epoch: Integers
    outputs: pl.DataFrame | None
    codes: Codes | None
    judged: NDArray[np.bool_]
    labels: pl.DataFrame | None
    unlabelled: int


@dataclass(slots=True)
class Corpus:
    """Everything lined up.

    Attributes:
        cluster: what each post is resampled with, 0 to ``clusters`` - 1.
        authors: what is resampled: authors, and posts without one; pooled into ``clusters`` where very many.
        labels: None with the reason in ``no_labels``.
    """

    posts: pl.DataFrame
    cluster: Integers
    clusters: int
    authors: int
    labels: Labels | None
    no_labels: str
    systems: list[Attempts]
    warnings: list[str] = field(default_factory=list)


def line_up(
    posts: pl.DataFrame, outputs: pl.DataFrame, labels: pl.DataFrame | None, *, judge: str | None, seed: int
) -> Corpus:
    """Line up the three tables.

    Args:
        posts, outputs, labels: canonical (``datasets.records``); outputs also with ``emoji`` and the reply
            flags.
        judge: whose labels count; may be None where there is only one.
        seed: of the pooling of very many authors.

    Raises:
        InputError: no reply or label belongs to any post, or there are several judges and none is chosen.
    """
    posts = posts.select(c for c in _OF_POSTS if c in posts.columns).sort("id")
    cluster, authors = _clusters(posts)
    cluster, clusters = pool_clusters(cluster, authors, seed)
    warnings: list[str] = []
    outputs = _with_post(outputs, _OF_OUTPUTS, posts, "outputs", warnings)
    read = None
    no_labels = "no labels were given"
    if labels is not None:
        labels = _with_post(_of_judge(labels, judge), _OF_LABELS, posts, "labels", warnings)
        read, labels, no_labels = _read_labels(labels, posts.height)
        if read is None:
            warnings.append(no_labels)
        elif missing := int((~read.has_gold).sum()):
            warnings.append(f"{missing} posts have no gold labels and are left out of preservation")
    corpus = Corpus(posts, cluster, clusters, authors, read, no_labels, [], warnings)
    corpus.systems.extend(_systems(outputs, labels, read, posts.height, warnings))
    if not corpus.systems:
        raise InputError("there is no system to score: neither outputs nor labels name one")
    return corpus


def _clusters(posts: pl.DataFrame) -> tuple[Integers, int]:
    """Which author wrote each post; a post without an author is its own cluster."""
    who = posts.select(
        pl.when(pl.col("author").is_null()).then("p" + pl.col("id")).otherwise("a" + pl.col("author"))
    ).to_series()
    codes = (who.rank("dense") - 1).cast(pl.Int64).to_numpy()
    return codes, int(codes.max()) + 1


def _with_post(
    frame: pl.DataFrame, columns: Sequence[str], posts: pl.DataFrame, what: str, warnings: list[str]
) -> pl.DataFrame:
    """The frame with the number of each row's post, in order; rows of other posts are counted and left out."""
    index = posts.select("id").with_row_index("post").with_columns(pl.col("post").cast(pl.Int64))
    post = frame.select("id").join(index, on="id", how="left", maintain_order="left")["post"]
    unknown = post.null_count()
    if unknown and unknown == frame.height:
        raise InputError(
            f"none of the {unknown} rows of {what} belongs to a post: their ids (such as "
            f"{frame['id'][0]!r}) are not among the posts' ids (such as {posts['id'][0]!r})"
        )
    if unknown:
        example = frame["id"].filter(post.is_null())[0]
        warnings.append(
            f"{unknown} rows of {what} have ids that are not among the posts (such as {example!r}): left out"
        )
    placed = frame.select(c for c in columns if c in frame.columns).with_columns(post)
    return placed.filter(pl.col("post").is_not_null()).sort(_KEY)


def _of_judge(labels: pl.DataFrame, judge: str | None) -> pl.DataFrame:
    judges = labels["judge"].unique().sort().to_list()
    if judge is None and len(judges) > 1:
        raise InputError(f"the labels are of {len(judges)} judges ({', '.join(judges)}): name one (--judge)")
    if judge is not None and judge not in judges:
        raise InputError(f"no labels of judge {judge!r}; there are labels of {', '.join(judges)}")
    return labels.filter(pl.col("judge") == (judge or judges[0]))


def _read_labels(labels: pl.DataFrame, posts: int) -> tuple[Labels | None, pl.DataFrame, str]:
    """Labels as numbers, and the frame with numbers for labels; or why there are none."""
    gold = _first_of(labels, GOLD)
    if gold.is_empty():
        return None, labels, f"the labels hold none of the original posts (system {GOLD!r})"
    tasks = tuple(t for t in TASKS if gold[t].null_count() < gold.height)
    if not tasks:
        return None, labels, "no label of the original posts could be read"
    names = {}
    for task in tasks:
        names[task], codes = label_codes(labels[task])
        labels = labels.with_columns(codes.alias(task))
    labels = labels.select("system", "strategy", *_KEY, *tasks)
    of_gold, has_gold = _by_post(_first_of(labels, GOLD), tasks, posts)
    of_none, has_none = _by_post(_first_of(labels, NO_EMOJI), tasks, posts)
    return Labels(tasks, names, of_gold, of_none, has_gold, has_none), labels, ""


def _first_of(labels: pl.DataFrame, system: str) -> pl.DataFrame:
    """The labels of a system, one row a post (the first attempt: these texts do not change)."""
    return labels.filter(pl.col("system") == system).unique("post", keep="first", maintain_order=True)


def _by_post(labels: pl.DataFrame, tasks: tuple[str, ...], posts: int) -> tuple[Codes, NDArray[np.bool_]]:
    codes = np.full((posts, len(tasks)), -1, dtype=np.int16)
    there = np.zeros(posts, dtype=bool)
    at = labels["post"].to_numpy()
    there[at] = True
    for column, task in enumerate(tasks):
        codes[at, column] = labels[task].to_numpy()
    return codes, there


def _systems(
    outputs: pl.DataFrame,
    labels: pl.DataFrame | None,
    read: Labels | None,
    posts: int,
    warnings: list[str],
) -> Iterator[Attempts]:
    runs = _runs(outputs, labels)
    systems = [system for system, _ in runs]
    for system, strategy in runs:
        name = f"{system} ({strategy or 'no strategy'})" if systems.count(system) > 1 else system
        replies = outputs.filter((pl.col("system") == system) & pl.col("strategy").eq_missing(strategy))
        rows = None if labels is None else _labels_of(labels, system, strategy)
        yield _attempts(name, system, strategy, replies, rows, read, posts, warnings)


def _runs(outputs: pl.DataFrame, labels: pl.DataFrame | None) -> list[tuple[str, str | None]]:
    """Every system and strategy: of the replies, and of the labels for systems that no reply names."""
    named = [outputs.select("system", "strategy")]
    if labels is not None:
        without_replies = ~pl.col("system").is_in([GOLD, *outputs["system"].unique()])
        named.append(labels.filter(without_replies).select("system", "strategy"))
    return sorted(pl.concat(named).unique().iter_rows(), key=str)


def _labels_of(labels: pl.DataFrame, system: str, strategy: str | None) -> pl.DataFrame | None:
    own = labels_of_strategy(labels.filter(pl.col("system") == system), strategy)
    return own if own.height else None


def _attempts(
    name: str,
    system: str,
    strategy: str | None,
    replies: pl.DataFrame,
    rows: pl.DataFrame | None,
    read: Labels | None,
    posts: int,
    warnings: list[str],
) -> Attempts:
    base = replies if replies.height else rows
    assert base is not None  # a system is known by its replies or by its labels
    post, epoch = base["post"].to_numpy(), base["epoch"].to_numpy()
    covered = len(np.unique(post))
    if covered < posts:
        warnings.append(
            f"{name}: {covered} of {posts} posts; scored on those, compared with others on the posts both have"
        )
    outputs = replies if replies.height else None
    if rows is None or read is None:
        return Attempts(name, system, strategy, post, epoch, outputs, None, np.zeros(len(post), bool), None, 0)
    codes, there = _codes_of(base, rows, read.tasks)
    # an attempt that was never shown to the judge, as a whole, is not a failure of the system
    shown = np.isin(epoch, rows["epoch"].unique().to_numpy())
    judged = shown & read.has_gold[post]
    unlabelled = int((judged & ~there).sum())
    if unlabelled:
        warnings.append(f"{name}: {unlabelled} replies have no label and count as not preserved")
    if not shown.all():
        warnings.append(f"{name}: {int((~shown).sum())} replies of attempts that nobody labelled do not count there")
    counted = rows.join(base.select(_KEY), on=list(_KEY), how="semi")
    if counted.height < rows.height:
        warnings.append(f"{name}: {rows.height - counted.height} labels without a reply were left out")
    return Attempts(name, system, strategy, post, epoch, outputs, codes, judged, counted, unlabelled)


def _codes_of(attempts: pl.DataFrame, labels: pl.DataFrame, tasks: tuple[str, ...]) -> tuple[Codes, NDArray[np.bool_]]:
    """The label codes of each attempt, -1 where there is none, and whether it was labelled at all."""
    joined = attempts.select(_KEY).join(
        labels.select(*_KEY, *tasks).with_columns(pl.lit(True).alias("there")),
        on=list(_KEY),
        how="left",
        maintain_order="left",
    )
    codes = np.column_stack([joined[task].fill_null(-1).to_numpy() for task in tasks])
    return codes, joined["there"].fill_null(False).to_numpy()
