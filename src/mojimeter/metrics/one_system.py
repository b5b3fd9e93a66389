"""One system's scores as a tree of ratios still to be resolved, and its value on every post.

The place where the metrics of this package meet the tables of ``corpus``; ``recommendation`` resolves the trees of all
systems together, so that they share their bootstrap draws. Knows no other system.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np
import polars as pl

from mojimeter.datasets.records import TASKS
from mojimeter.metrics.bags import Bags, Floats, as_bags, renamed
from mojimeter.metrics.code_points import characters, mostly_words
from mojimeter.metrics.corpus import Attempts, Corpus, Labels
from mojimeter.metrics.cost import cost_per_emoji
from mojimeter.metrics.distribution import distribution_scores
from mojimeter.metrics.diversity import distance_between_attempts, distinct, most_used
from mojimeter.metrics.overlap import overlap
from mojimeter.metrics.preservation import NO_EMOJI, UNLEAKED, Codes, share_equal, stays, turned
from mojimeter.metrics.replies import FLAGS, count_flags, count_unparsed
from mojimeter.metrics.tally import Tally
from mojimeter.stats.estimate import Estimate

CODE_POINTS = "code-points"
# A profile that is the judge's gold label for at least this share of posts was taken from the judge.
_LEAK_SHARE = 0.95


class SystemTree:
    """One system's results.

    Attributes:
        tree: the fields of ``SystemScores`` but ``rank``, with a ``Ratio`` where an estimate will be.
        by_post: the mean over attempts at each post of ``f1``, ``average`` and ``average_unleaked``, in percent,
            NaN where the post does not count, shape (posts,).
        by_epoch: the same metrics' mean in each attempt.
        leaked: whether the recommender was given the judge's own labels.
    """

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
        level = "presentation" if equality == CODE_POINTS else equality
        given_keys, gold_keys = renamed((given, gold), _key_at(level))
        # A post without emoji gives nothing to match; the published means hold it as a 0 all the same.
        to_match = (gold.sizes() > 0).astype(float)
        compared: tuple[Bags, ...] = (given_keys, gold_keys)
        if equality == CODE_POINTS and outputs is not None:
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
        """Conditional prompting with the judge's own labels: the answer was in the question.

        Outputs may say so themselves (``profile`` is ``labels``); else the posts' age and gender are compared
        with the judge's.
        """
        labels, outputs = self.corpus.labels, self.attempts.outputs
        if self.attempts.strategy != "conditional" or labels is None:
            return False
        if outputs is not None and "profile" in outputs.columns and (outputs["profile"] == "labels").any():
            return True
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


def _key_at(level: str) -> Callable[[str], str]:
    from mojimeter import emoji

    return lambda e: emoji.key(e, level)


def _group(e: str) -> str | None:
    from mojimeter import emoji

    return emoji.group(e)


def _subgroup(e: str) -> str | None:
    from mojimeter import emoji

    return emoji.subgroup(e)
