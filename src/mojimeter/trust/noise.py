"""How often a judge's label changes by itself, the ceiling that puts on preservation, and scores corrected for it.

A judge that labels the same text twice and disagrees with itself would call the original emoji "not preserved". So no
score can be expected above the chance that two labellings of one text agree, and random emoji score far above 0. The
corrected score (score - random) / (ceiling - random) is 0 for random emoji and 1 for emoji as good as the original
ones. Interval: all three are taken anew in each bootstrap draw of authors. Knows tables of labels and texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from mojimeter.datasets.records import GOLD
from mojimeter.errors import InputError
from mojimeter.judges.labels import LABELS
from mojimeter.stats.estimate import Estimate
from mojimeter.stats.resample import Floats, percentile_interval, pool_clusters, resample, sum_by_cluster
from mojimeter.trust.clusters import clusters_of
from mojimeter.trust.sensitivity import is_variant

TASKS = tuple(LABELS)
AVERAGE = "average"
ORIGINAL = "baseline/original"


@dataclass(frozen=True, slots=True)
class SystemNoise:
    """One system under one judge; task (or ``average``) -> number.

    Attributes:
        raw: preservation, percent.
        corrected: (raw - random) / (ceiling - random); 0 as random emoji, 1 as the original ones.
    """

    raw: Mapping[str, Estimate]
    corrected: Mapping[str, Estimate]

    def to_dict(self) -> dict[str, Any]:
        return {
            name: {task: estimate.to_dict() for task, estimate in getattr(self, name).items()}
            for name in ("raw", "corrected")
        }


@dataclass(frozen=True, slots=True)
class JudgeNoise:
    """What repeated labelling says of one judge.

    Attributes:
        texts: labelled more than once; labellings: of these texts, in all.
        changes: task (or ``average``) -> percent of pairs of labellings of one text that differ.
        ceiling: 100 - changes: what the original emoji themselves would score.
        moved_ceiling: the average that ``baseline/original`` scored, where it was labelled: noise and position.
        random: the system that stands for random emoji; None where there is none.
        systems: name -> scores.
    """

    texts: int
    labellings: int
    changes: Mapping[str, Estimate]
    ceiling: Mapping[str, Estimate]
    moved_ceiling: Estimate
    random: str | None
    systems: Mapping[str, SystemNoise]

    def to_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {"texts": self.texts, "labellings": self.labellings, "random": self.random}
        for name in ("changes", "ceiling"):
            out[name] = {task: estimate.to_dict() for task, estimate in getattr(self, name).items()}
        out["moved_ceiling"] = self.moved_ceiling.to_dict()
        return out | {"systems": {name: found.to_dict() for name, found in self.systems.items()}}


def judge_noise(
    labels: pl.DataFrame,
    authors: pl.DataFrame | None = None,
    *,
    random: str | None = None,
    draws: int = 2000,
    seed: int = 0,
) -> dict[str, JudgeNoise]:
    """Noise, ceiling and corrected scores of every judge.

    Args:
        labels: canonical labels with a column ``text``: what was labelled; rows of one judge with the same text are
            independent labellings of it. Null where the text is not known.
        authors: ``id``, ``author``, for the intervals; None: each post alone.
        random: the system that stands for random emoji; None: one whose name says so.
        draws, seed: of the bootstrap over authors.

    Raises:
        InputError: no text was labelled twice by one judge, or there is no system of that name.
    """
    if random is not None and random not in labels["system"]:
        raise InputError(f"no labels of {random!r}; there are {', '.join(labels['system'].unique().sort())}")
    out = {}
    for judge in labels["judge"].unique(maintain_order=True):
        own = labels.filter(pl.col("judge") == judge)
        if authors is not None:
            own = own.join(authors.select("id", "author"), on="id", how="left", maintain_order="left")
        found = _one_judge(own, random, draws, seed)
        if found is not None:
            out[judge] = found
    if not out:
        raise InputError(
            "no judge labelled a text more than once: give labels of the same posts with epoch 1, 2, ..., "
            "or have a judge label them with --judge"
        )
    return out


def self_agreement(own: pl.DataFrame) -> pl.DataFrame:
    """One judge's texts that were labelled more than once.

    Returns:
        ``id``, ``author`` where known, ``labellings``, and a column a task: the share of pairs of labellings that agree
        (one that could not be read agrees with none).
    """
    keep = ["id", *(c for c in ("author",) if c in own.columns)]
    groups = own.filter(pl.col("text").is_not_null()).group_by("text", maintain_order=True)
    pairs = pl.len() * (pl.len() - 1)
    # n_l (n_l - 1) summed over labels, over all ordered pairs
    agree = [
        ((pl.col(t).drop_nulls().value_counts().struct.field("count").cast(pl.Int64).pow(2).sum()
          - pl.col(t).count()) / pairs).alias(t)
        for t in TASKS
    ]  # fmt: skip
    found = groups.agg(pl.col(keep).first(), pl.len().alias("labellings"), *agree)
    return found.filter(pl.col("labellings") > 1).drop("text")


def _one_judge(own: pl.DataFrame, random: str | None, draws: int, seed: int) -> JudgeNoise | None:
    repeated = self_agreement(own)
    if not repeated.height:
        return None
    tasks = [t for t in TASKS if own[t].null_count() < own.height]
    kept = _kept(own, tasks)
    systems = kept["system"].unique(maintain_order=True).to_list() if kept.height else []
    chosen = random or next((name for name in systems if is_variant(name) and "random" in name), None)
    sums = _Sums(repeated, kept, systems, tasks, draws, seed)
    ceiling = {name: sums.estimate(lambda s, n=name: sums.ceiling(s, n)) for name in (AVERAGE, *tasks)}
    return JudgeNoise(
        texts=repeated.height,
        labellings=int(repeated["labellings"].sum()),
        changes={name: _from_hundred(estimate) for name, estimate in ceiling.items()},
        ceiling=ceiling,
        moved_ceiling=(
            sums.estimate(lambda s: sums.score(s, ORIGINAL, AVERAGE))
            if ORIGINAL in systems
            else Estimate.absent(f"no labels of {ORIGINAL}")
        ),
        random=chosen,
        systems={system: _system(sums, system, chosen, tasks) for system in systems},
    )


def _system(sums: _Sums, system: str, random: str | None, tasks: list[str]) -> SystemNoise:
    names = (AVERAGE, *tasks)
    return SystemNoise(
        {name: sums.estimate(lambda s, n=name: sums.score(s, system, n)) for name in names},
        {name: sums.corrected(system, random, name) for name in names},
    )


def _kept(own: pl.DataFrame, tasks: list[str]) -> pl.DataFrame:
    """One row an output that this judge labelled: which of the original's labels stayed; a null label never does."""
    gold = own.filter((pl.col("system") == GOLD) & (pl.col("epoch") == 1)).select(
        "id", *(pl.col(t).alias(f"{t}_gold") for t in tasks)
    )
    rated = own.filter(pl.col("system") != GOLD).join(gold, on="id", how="inner", maintain_order="left")
    stays = [(pl.col(t) == pl.col(f"{t}_gold")).fill_null(False).cast(pl.Float64).alias(t) for t in tasks]
    return rated.select("id", *(c for c in ("author",) if c in own.columns), "system", *stays)


class _Sums:
    """Sums by cluster of agreeing repeats and kept labels, drawn again together."""

    def __init__(
        self, repeated: pl.DataFrame, kept: pl.DataFrame, systems: list[str], tasks: list[str], draws: int, seed: int
    ) -> None:
        self._tasks = tasks
        shared = ["id", *(c for c in ("author",) if c in repeated.columns)]
        cluster = clusters_of(pl.concat([repeated.select(shared), kept.select(shared)]))
        cluster, clusters = pool_clusters(cluster, int(cluster.max()) + 1, seed)
        self._column: dict[tuple[str | None, str], int] = {}
        columns: list[Floats] = []

        def add(rows: pl.DataFrame, group: Any, system: str | None) -> None:
            for name in (*tasks, ""):
                values = np.ones(rows.height) if not name else rows[name].to_numpy()
                self._column[(system, name)] = len(columns)
                columns.append(sum_by_cluster(values, group, clusters))

        add(repeated, cluster[: repeated.height], None)
        where = cluster[repeated.height :]
        for system in systems:
            is_it = (kept["system"] == system).to_numpy()
            add(kept.filter(pl.Series(is_it)), where[is_it], system)
        drawn = resample(np.column_stack(columns), draws, seed)
        self._observed, self._draws = drawn.observed[None], drawn.draws

    def score(self, sums: Floats, system: str | None, name: str) -> Floats:
        """Percent kept of a system (None: of the repeats) on one task or on average, shape (n,)."""
        tasks = self._tasks if name == AVERAGE else [name]
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = [sums[:, self._column[(system, t)]] / sums[:, self._column[(system, "")]] for t in tasks]
        percent: Floats = 100.0 * np.mean(shares, axis=0)
        return percent

    def ceiling(self, sums: Floats, name: str) -> Floats:
        return self.score(sums, None, name)

    def estimate(self, statistic: Any) -> Estimate:
        value = float(statistic(self._observed)[0])
        if not np.isfinite(value):
            return Estimate.absent("nothing to count")
        return Estimate(value, percentile_interval(statistic(self._draws)) if len(self._draws) else None)

    def corrected(self, system: str, random: str | None, name: str) -> Estimate:
        if random is None:
            return Estimate.absent("no labels of random emoji to start from")
        if system == random:
            return Estimate(0.0, reason="it is where the scale starts")

        def parts(sums: Floats) -> tuple[Floats, Floats]:
            floor = self.score(sums, random, name)
            return self.score(sums, system, name) - floor, self.ceiling(sums, name) - floor

        top, room = parts(self._observed)
        if not room[0] > 0:
            return Estimate.absent("the judge's noise leaves no room above random emoji")
        value = float(top[0] / room[0])
        if not len(self._draws):
            return Estimate(value)
        tops, rooms = parts(self._draws)
        finite = np.isfinite(rooms) & np.isfinite(tops)
        if (rooms[finite] <= 0).mean() > 0.025:
            return Estimate(value, (None, None), "in over 2.5% of draws noise leaves no room above random emoji")
        usable = finite & (rooms > 0)
        return Estimate(value, percentile_interval(tops[usable] / rooms[usable]))


def _from_hundred(ceiling: Estimate) -> Estimate:
    if ceiling.value is None:
        return ceiling
    ci = ceiling.ci
    ends = None if ci is None or ci[0] is None or ci[1] is None else (100.0 - ci[1], 100.0 - ci[0])
    return Estimate(100.0 - ceiling.value, ends)
