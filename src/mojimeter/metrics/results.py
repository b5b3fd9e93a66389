"""What scoring returns: plain frozen records that know their JSON form, and nothing of how they came about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from mojimeter.metrics.bags import Floats
from mojimeter.runs.signature import Signature
from mojimeter.stats.estimate import Estimate


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
        post_ids: the posts, in the order of ``by_post``.
        by_post: each system's mean over attempts at each post by metric, in percent, NaN where the post does not
            count, shape (posts,); for paired comparisons, not part of the document.
    """

    signature: Signature
    systems: Mapping[str, SystemScores]
    ranked_by: str
    differences: tuple[Mapping[str, Any], ...]
    data: Mapping[str, Any]
    leaks: tuple[str, ...]
    warnings: tuple[str, ...]
    calls: Mapping[str, int] = field(default_factory=lambda: {"made": 0, "saved": 0})
    post_ids: pl.Series = field(default_factory=lambda: pl.Series(dtype=pl.String), repr=False, compare=False)
    by_post: Mapping[str, Mapping[str, Floats]] = field(default_factory=dict, repr=False, compare=False)

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


def _plain(value: Any) -> Any:
    """JSON's own types all the way down."""
    if isinstance(value, Estimate):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value
