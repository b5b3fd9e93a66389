"""Benchmark A from tables: every score of every system, each with its interval over authors.

Puts the metrics of this package together: lines the tables up (``corpus``), lets each metric put its sums
in one tally, resamples that once, and returns the result that ``mojimeter score --json`` prints. Knows no
model, no file and no judge.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from mojimeter.datasets.records import TASKS
from mojimeter.errors import InputError
from mojimeter.metrics.bags import Bags, Floats, as_bags, renamed
from mojimeter.metrics.code_points import characters, mostly_words
from mojimeter.metrics.corpus import Attempts, Corpus, Labels, line_up
from mojimeter.metrics.cost import cost_per_emoji
from mojimeter.metrics.distribution import distribution_scores
from mojimeter.metrics.diversity import distance_between_attempts, distinct, most_used
from mojimeter.metrics.overlap import overlap
from mojimeter.metrics.preservation import NO_EMOJI, UNLEAKED, Codes, share_equal, stays, turned
from mojimeter.metrics.replies import FLAGS, count_flags, count_unparsed
from mojimeter.metrics.standing import Standing, rank_systems
from mojimeter.metrics.tally import Tally, resolve
from mojimeter.runs.signature import UNKNOWN, Signature, data_hash
from mojimeter.stats.estimate import Estimate

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

EQUALITIES = ("code-points", "exact", "presentation", "tone", "gender")
APPENDED = ("emoji", "raw")
# A profile that is the judge's gold label for at least this share of posts was taken from the judge.
_LEAK_SHARE = 0.95
# Below this many authors percentile intervals are known to be too narrow (Cameron, Gelbach & Miller 2008).
_FEW_CLUSTERS = 20


@dataclass(frozen=True, slots=True)
class SystemScores:
    """What one system scored; every part in the form that the JSON contract names.

    Attributes:
        strategy: how it was prompted, if known.
        posts: how many posts it was scored on.
        overlap: ``precision``, ``recall``, ``f1`` in percent, mean over posts.
        category: the same for Unicode ``group`` and ``subgroup``.
        distribution: ``jensen_shannon`` divergence from the original emoji in bits, 0 (alike) to 1.
        preservation: percent of posts whose label stays, per task, ``average`` over tasks and
            ``average_unleaked`` over sentiment, emotion and stance.
        per_class: the same among the posts of each gold label.
        leaked: the recommender was given the judge's own age or gender labels.
        kept, recovered: percent of (post, task) whose label stays, where the text alone gets the original's
            label and where not.
        diversity, replies, cost, attempts: see the modules of those names.
        rank: best and worst place that the data leave open.
    """

    strategy: str | None
    posts: int
    overlap: Mapping[str, Estimate]
    category: Mapping[str, Mapping[str, Estimate]]
    distribution: Mapping[str, Estimate]
    preservation: Mapping[str, Estimate]
    per_class: Mapping[str, Mapping[str, Estimate]]
    leaked: bool
    kept: Estimate
    recovered: Estimate
    diversity: Mapping[str, Any]
    replies: Mapping[str, Any]
    cost: Mapping[str, Any]
    attempts: Mapping[str, Any]
    rank: tuple[int, int]

    def to_dict(self) -> dict[str, Any]:
        return {name: _plain(getattr(self, name)) for name in self.__dataclass_fields__}


@dataclass(frozen=True, slots=True)
class RecommendationScores:
    """Scores of all systems on one set of posts, in the form that ``score --json`` prints.

    Attributes:
        signature: what the numbers depend on.
        systems: scores by system, best first.
        ranked_by: what ``rank`` and ``differences`` rest on: ``average``, ``average_unleaked`` or (without
            labels) ``f1``.
        differences: paired differences against ``baseline/none`` and against the best system.
        data: counts about the posts; ``leaks``: ids of plain texts that still held emoji.
        warnings: what was left out or looks wrong, one sentence each.
        calls: model calls made and saved for these numbers (none, when scored from files).
    """

    signature: Signature
    systems: Mapping[str, SystemScores]
    ranked_by: str
    differences: tuple[Mapping[str, Any], ...]
    data: Mapping[str, Any]
    leaks: tuple[str, ...]
    warnings: tuple[str, ...]
    calls: Mapping[str, int] = field(default_factory=lambda: {"made": 0, "saved": 0})

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": 1,
            "signature": str(self.signature),
            "calls": dict(self.calls),
            "data": dict(self.data),
            "leaks": {"count": len(self.leaks), "ids": list(self.leaks)},
            "ranked_by": self.ranked_by,
            "systems": {name: scores.to_dict() for name, scores in self.systems.items()},
            "differences": _plain(self.differences),
            "warnings": list(self.warnings),
        }


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
            replies were read already.
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
    scored = [_Scored(corpus, system, equality, tally, known_labels, draws, seed) for system in corpus.systems]
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
    )


class _Scored:
    """One system's results as a tree of ratios still to be resolved, and its value on every post."""

    def __init__(
        self,
        corpus: Corpus,
        attempts: Attempts,
        equality: str,
        tally: Tally,
        known_labels: Mapping[str, Collection[str]] | None,
        draws: int,
        seed: int,
    ) -> None:
        self.corpus, self.attempts, self.tally = corpus, attempts, tally
        self.posts = corpus.posts.height
        self.cluster = corpus.cluster[attempts.post]
        self.weight = self._per_post(np.ones(len(attempts.post)))
        self.by_post: dict[str, Floats] = {}
        self.by_epoch: dict[str, dict[int, float]] = {}
        self.leaked = self._is_leaked()
        self.tree: dict[str, Any] = {
            "strategy": attempts.strategy,
            "posts": len(np.unique(attempts.post)),
            "leaked": self.leaked,
            **self._emoji_scores(equality, draws, seed),
            **self._preservation(),
            "replies": self._replies(known_labels),
        }
        self.tree["attempts"] = self._between_attempts()

    def _per_post(self, counted: Floats) -> Floats:
        """Weights that make the attempts of a post that count add up to one."""
        per_post = np.bincount(self.attempts.post, weights=counted, minlength=self.posts)[self.attempts.post]
        return np.divide(counted, per_post, out=np.zeros_like(counted), where=per_post > 0)

    def _remember(self, name: str, values: Floats, weight: Floats) -> None:
        """Keep a metric's mean over the attempts at each post (NaN where none counts), and its mean in each attempt."""
        post, epoch = self.attempts.post, self.attempts.epoch
        counted = np.bincount(post, weights=weight, minlength=self.posts)
        total = np.bincount(post, weights=weight * values, minlength=self.posts)
        self.by_post[name] = np.divide(total, counted, out=np.full(self.posts, np.nan), where=counted > 0)
        self.by_epoch[name] = {
            int(e): float(values[(epoch == e) & (weight > 0)].mean())
            for e in np.unique(epoch)
            if ((epoch == e) & (weight > 0)).any()
        }

    def _emoji_scores(self, equality: str, draws: int, seed: int) -> dict[str, Any]:
        """Overlap, category, distribution, diversity and cost: what needs the emoji themselves."""
        outputs, names = self.attempts.outputs, ("precision", "recall", "f1")
        if outputs is None and self.attempts.system != NO_EMOJI:
            absent = Estimate.absent("no replies were given, only labels")
            self.by_post["f1"] = np.full(self.posts, np.nan)
            three = dict.fromkeys(names, absent)
            return {
                "overlap": three,
                "category": {"group": three, "subgroup": three},
                "distribution": {"jensen_shannon": absent},
                "diversity": {"distinct": None, "entropy_bits": None, "across_attempts": absent, "top": []},
                "cost": {},
            }
        given, gold = self._bags(outputs)
        level = "presentation" if equality == "code-points" else equality
        given_keys, gold_keys = renamed((given, gold), _key_at(level))
        # A post without emoji gives nothing to match; the published means hold it as a 0 all the same.
        to_match = (gold.sizes() > 0).astype(float)
        compared: tuple[Bags, ...] = (given_keys, gold_keys)
        if equality == "code-points" and outputs is not None:
            compared, to_match = self._characters(outputs), np.ones_like(to_match)
        return {
            "overlap": self._overlap(compared, to_match, remember=True),
            "category": {
                kind: self._overlap(renamed((given, gold), name_of), to_match)
                for kind, name_of in (("group", _group), ("subgroup", _subgroup))
            },
            **self._spread(given_keys, gold_keys, draws, seed),
            "cost": self._cost(outputs, given),
        }

    def _bags(self, outputs: pl.DataFrame | None) -> tuple[Bags, Bags]:
        """The emoji of every attempt and of its post."""
        of_posts = self.corpus.posts["emoji"]
        if outputs is None:
            of_outputs = pl.Series([[]] * len(self.attempts.post), dtype=pl.List(pl.String))
        else:
            of_outputs = outputs["emoji"]
        given, gold = as_bags(of_outputs, of_posts)
        return given, gold.take(self.attempts.post)

    def _characters(self, outputs: pl.DataFrame) -> tuple[Bags, Bags]:
        """Characters of the reply as it came and of the gold emoji as released, for the published tables."""
        posts = self.corpus.posts
        released = posts["gold_emoji"] if "gold_emoji" in posts.columns else posts["emoji"].list.join("")
        given, gold = as_bags(
            characters(outputs["reply"], in_ranges=mostly_words(outputs["reply"])), characters(released)
        )
        return given, gold.take(self.attempts.post)

    def _overlap(self, given_and_gold: tuple[Bags, ...], to_match: Floats, *, remember: bool = False) -> dict[str, Any]:
        """Precision, recall and F1 over the posts that have emoji to be matched (``to_match`` 1, else 0)."""
        result = overlap(*given_and_gold)
        weight = self.weight * to_match
        if remember:
            self._remember("f1", 100 * result.f1, weight)
        return {
            name: self.tally.ratio(getattr(result, name) * weight, weight, self.cluster)
            for name in ("precision", "recall", "f1")
        }

    def _spread(self, given: Bags, gold: Bags, draws: int, seed: int) -> dict[str, Any]:
        """Distribution and diversity."""
        scores = distribution_scores(given, gold, self.cluster, self.corpus.clusters, draws=draws, seed=seed)
        sums, pairs = distance_between_attempts(given, self.attempts.post, self.attempts.epoch, self.posts)
        across: Any = Estimate.absent("there is one attempt a post")
        if pairs.any():
            mean = np.divide(sums, pairs, out=np.zeros(self.posts), where=pairs > 0)
            across = self.tally.ratio(mean, (pairs > 0).astype(float), self.corpus.cluster)
        return {
            "distribution": {"jensen_shannon": scores.jensen_shannon},
            "diversity": {
                "distinct": distinct(given),
                "entropy_bits": scores.entropy_bits.value,
                "entropy_bits_ci": scores.entropy_bits.ci,
                "across_attempts": across,
                "top": [{"emoji": emoji, "percent": share} for emoji, share in most_used(given)],
            },
        }

    def _cost(self, outputs: pl.DataFrame | None, given: Bags) -> dict[str, Any]:
        if outputs is None:
            return {}
        sizes = given.sizes()
        return {
            f"{what}_per_emoji": cost_per_emoji(
                self.tally,
                outputs[what].cast(pl.Float64).fill_null(np.nan).to_numpy(),
                sizes,
                self.weight,
                self.cluster,
            )
            for what in ("tokens", "seconds")
            if what in outputs.columns
        }

    def _preservation(self) -> dict[str, Any]:
        """Preservation per task and class, its averages, and its split into kept and recovered."""
        read, codes = self.corpus.labels, self.attempts.codes
        if read is None or codes is None:
            return self._no_preservation()
        gold = read.gold[self.attempts.post]
        weight = self._per_post(self.attempts.judged.astype(float))
        kept = stays(codes, gold)
        shares: dict[str, Any] = {}
        per_class: dict[str, Any] = {}
        for column, task in enumerate(read.tasks):
            shares[task] = self.tally.ratio(kept[:, column] * weight, weight, self.cluster)
            per_class[task] = self._per_class(kept[:, column], gold[:, column], read.names[task], weight)
        for task in TASKS:
            if task not in read.tasks:
                shares[task] = Estimate.absent("the original posts have no labels for it")
        for name, tasks in (("average", TASKS), ("average_unleaked", UNLEAKED)):
            shares[name] = self._average(name, kept, [t in tasks for t in read.tasks], weight)
        return {
            "preservation": {name: shares[name] for name in (*TASKS, "average", "average_unleaked")},
            "per_class": per_class,
            **self._kept_and_recovered(read, kept, gold, weight),
        }

    def _no_preservation(self) -> dict[str, Any]:
        reason = self.corpus.no_labels if self.corpus.labels is None else "there are no labels for this system"
        absent = Estimate.absent(reason)
        for name in ("average", "average_unleaked"):
            self.by_post[name] = np.full(self.posts, np.nan)
        return {
            "preservation": dict.fromkeys((*TASKS, "average", "average_unleaked"), absent),
            "per_class": {},
            "kept": absent,
            "recovered": absent,
        }

    def _average(self, name: str, kept: Floats, chosen: list[bool], weight: Floats) -> Any:
        """The mean over tasks; they share their posts, so it is the mean over posts of the share of tasks too."""
        if not any(chosen):
            self.by_post[name] = np.full(self.posts, np.nan)
            return Estimate.absent("the original posts have no labels for these tasks")
        share = kept[:, chosen].mean(axis=1)
        self._remember(name, 100 * share, weight)
        return self.tally.ratio(share * weight, weight, self.cluster)

    def _per_class(self, kept: Floats, gold: Codes, names: list[str], weight: Floats) -> dict[str, Any]:
        present = np.unique(gold[(gold >= 0) & (weight > 0)])
        return {
            names[code]: self.tally.ratio(kept * weight * (gold == code), weight * (gold == code), self.cluster)
            for code in present
        }

    def _kept_and_recovered(self, read: Labels, kept: Floats, gold: Codes, weight: Floats) -> dict[str, Any]:
        if not read.has_without.any():
            absent = Estimate.absent(f"there are no labels of the text alone ({NO_EMOJI})")
            return {"kept": absent, "recovered": absent}
        changed = turned(read.without[self.attempts.post], gold)
        weight = weight * read.has_without[self.attempts.post]
        return {
            name: self.tally.ratio(weight * (kept * where).sum(axis=1), weight * where.sum(axis=1), self.cluster)
            for name, where in (("kept", ~changed), ("recovered", changed))
        }

    def _is_leaked(self) -> bool:
        """Conditional prompting with the judge's own labels: the answer was in the question."""
        labels = self.corpus.labels
        if self.attempts.strategy != "conditional" or labels is None:
            return False
        for task in ("age", "gender"):
            if task in labels.tasks and task in self.corpus.posts.columns:
                codes = labels.gold[:, labels.tasks.index(task)]
                gold = pl.Series([None if c < 0 else labels.names[task][c] for c in codes], dtype=pl.String)
                share = share_equal(self.corpus.posts[task], gold)
                if share is not None and share >= _LEAK_SHARE:
                    return True
        return False

    def _replies(self, known: Mapping[str, Collection[str]] | None) -> dict[str, Any]:
        outputs, labels = self.attempts.outputs, self.attempts.labels
        if outputs is not None:
            counts: dict[str, Any] = dict(count_flags(outputs))
        elif self.attempts.system == NO_EMOJI:
            counts = dict.fromkeys((*FLAGS, "missing", "errors"), 0) | {"no_emoji": len(self.attempts.post)}
        else:
            counts = dict.fromkeys((*FLAGS, "missing", "errors"))
        counts["total"] = len(self.attempts.post)
        counts["unlabelled"] = self.attempts.unlabelled
        read = self.corpus.labels
        counts["unparsed_labels"] = {}
        if read is not None and labels is not None:
            for task in read.tasks:
                there = None if known is None else known.get(task)
                counts["unparsed_labels"][task] = count_unparsed(labels[task].to_numpy(), read.names[task], there)
        return counts

    def _between_attempts(self) -> dict[str, Any]:
        """How much the scores move from one attempt to the next (sample standard deviation, points)."""
        count = len(np.unique(self.attempts.epoch))
        spread: dict[str, Any] = {"count": count}
        for name in ("average", "f1"):
            means = list(self.by_epoch.get(name, {}).values())
            spread[f"{name}_by_attempt"] = means
            spread[f"{name}_sd"] = float(np.std(means, ddof=1)) if len(means) > 1 else None
        return spread


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
    if set(ready) <= set(native.columns) and what == "posts":
        return native
    return convert(native, what)


def _with_emoji(outputs: pl.DataFrame, asked: int | None) -> pl.DataFrame:
    """Outputs with their emoji and flags; replies that were not read yet are read here."""
    if {"emoji", *FLAGS} <= set(outputs.columns):
        return outputs
    from mojimeter.systems.reply import read_replies

    read = read_replies(outputs["reply"], asked)
    return outputs.drop(c for c in read.columns if c in outputs.columns).hstack(read)


def _key_at(level: str) -> Callable[[str], str]:
    from mojimeter import emoji

    return lambda e: emoji.key(e, level)


def _group(e: str) -> str | None:
    from mojimeter import emoji

    return emoji.group(e)


def _subgroup(e: str) -> str | None:
    from mojimeter import emoji

    return emoji.subgroup(e)


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


def _plain(value: Any) -> Any:
    """JSON's own types all the way down."""
    if isinstance(value, Estimate):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value
