"""From labelled posts to a balanced benchmark: whole minority classes, draws from others, splits by author.

Pure functions of labels, ids and authors; what is drawn depends on the seed and the id alone, not on the order of files
or the number of machines. The union stays in input order.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from mojimeter.build.keys import draw_key, draw_keys, lowest
from mojimeter.build.recipe import Balance
from mojimeter.build.stream import Flags
from mojimeter.errors import InputError


@dataclass(frozen=True, slots=True)
class Step:
    """What one rule did.

    Attributes:
        rule: in words.
        available: posts it could take.
        taken: of these.
        new: not kept by an earlier rule.
    """

    rule: str
    available: int
    taken: int
    new: int

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def balance(
    labels: pl.DataFrame, ids: list[str], rules: Balance, seed: int, tasks: tuple[str, ...]
) -> tuple[Flags, list[Step]]:
    """Which labelled posts the benchmark keeps.

    Args:
        labels: one row a post, one column a task.
        ids: of the posts.
        rules: whole classes first, in the order given, then each draw.
        seed: of the draws.
        tasks: those that were labelled.

    Returns:
        One flag a post, and what each rule did.

    Raises:
        InputError: a rule is about a task that was not labelled.
    """
    kept = np.zeros(labels.height, bool)
    steps: list[Step] = []

    def take(rule: str, available: Flags, taken: Flags) -> None:
        nonlocal kept
        steps.append(Step(rule, int(available.sum()), int(taken.sum()), int((taken & ~kept).sum())))
        kept = kept | taken

    if not rules.keep and not rules.draw:
        everything = np.ones(labels.height, bool)
        take("all", everything, everything)
    for task in (*rules.keep, *(draw.task for draw in rules.draw)):
        if task not in tasks:
            raise InputError(f"the recipe balances by {task}, which was not labelled; labelled: {', '.join(tasks)}")
    for task, classes in rules.keep.items():
        for label in classes:
            of_class = (labels[task] == label).fill_null(False).to_numpy()
            take(f"all {task} {label}", of_class, of_class)
    keys = draw_keys(seed, ids) if rules.draw else np.zeros(0, np.uint64)
    for draw in rules.draw:
        pool = (labels[draw.task] == draw.label).fill_null(False).to_numpy()
        if draw.among == "rest":
            pool = pool & ~kept
        drawn = np.zeros(labels.height, bool)
        rows = np.flatnonzero(pool)
        drawn[rows[lowest(keys[rows], draw.posts)]] = True
        of = "posts not kept" if draw.among == "rest" else "all"
        take(f"{draw.posts} {draw.task} {draw.label}, drawn from {of}", pool, drawn)
    return kept, steps


def assign_split(group: str, shares: dict[str, float], seed: int) -> str:
    """The split of an author (or of a text without one), by the seeded hash of the name."""
    place = draw_key(seed, f"split\0{group}") / 2**64
    total = 0.0
    for name, share in shares.items():
        total += share
        if place < total:
            return name
    return list(shares)[-1]
