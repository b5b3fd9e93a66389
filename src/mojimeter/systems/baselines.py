"""The systems that need no model, beside which every other is shown.

A baseline depends on the post and its seed only, never on the order of posts. To add one, write an object
with ``name`` and ``recommend`` in a file of ``systems/`` and give it a line in ``BASELINES``. Knows nothing
of judges or metrics.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final, Protocol, cast

from mojimeter import emoji
from mojimeter.errors import InputError

#: The random baseline draws from this many of the most used emoji.
RANDOM_POOL: Final = 500

Post = Mapping[str, Any]


class Baseline(Protocol):
    """A system that recommends emoji without a model."""

    @property
    def name(self) -> str:
        """What the system is called on the command line and in tables."""

    def recommend(self, post: Post, n: int = 3) -> list[str]:
        """Emoji for a post.

        Args:
            post: the columns of a posts table; all use ``text``, some ``id`` or ``emoji``.
            n: how many are wanted, 1 or more.
        """


# name -> module and the function or class that takes a seed and gives the baseline
BASELINES: Final[dict[str, tuple[str, str]]] = {
    "baseline/none": ("mojimeter.systems.baselines", "NoEmoji"),
    "baseline/original": ("mojimeter.systems.baselines", "OriginalEmoji"),
    "baseline/random": ("mojimeter.systems.baselines", "RandomEmoji"),
    "baseline/keyword": ("mojimeter.systems.keyword", "KeywordEmoji"),
    "baseline/nearest": ("mojimeter.systems.nearest", "NearestEmoji"),
    "baseline/taught": ("mojimeter.systems.taught", "TaughtEmoji"),
}


def get_baseline(name: str, seed: int = 0) -> Baseline:
    """The baseline of a name, as it stands on the command line.

    Raises:
        InputError: for an unknown name; it lists the known ones.
    """
    if name not in BASELINES:
        raise InputError(f"no baseline {name!r}: expected {', '.join(BASELINES)}")
    module, factory = BASELINES[name]
    return cast(Baseline, getattr(import_module(module), factory)(seed))


class NoEmoji:
    """Recommends nothing: what the text alone gives."""

    name = "baseline/none"

    def __init__(self, seed: int = 0) -> None: ...

    def recommend(self, post: Post, n: int = 3) -> list[str]:
        """An empty list."""
        return []


class OriginalEmoji:
    """Recommends what the writer used, all of it: the ceiling that position and judge noise leave."""

    name = "baseline/original"

    def __init__(self, seed: int = 0) -> None: ...

    def recommend(self, post: Post, n: int = 3) -> list[str]:
        """The gold emoji in order, however many; from ``emoji`` where the post has it, else from its text."""
        gold = post.get("emoji")
        if gold is None:
            return emoji.find(post.get("original") or post.get("text") or "")
        return emoji.find(gold) if isinstance(gold, str) else [str(e) for e in gold]


class RandomEmoji:
    """Recommends distinct emoji drawn from the most used, each as likely: what knowing nothing gives."""

    name = "baseline/random"

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._pool = emoji.top(RANDOM_POOL)

    def recommend(self, post: Post, n: int = 3) -> list[str]:
        """A draw that depends on the seed and the post's ``id`` (its ``text`` where it has none).

        Raises:
            InputError: if n is more than the pool holds.
        """
        if not 0 <= n <= len(self._pool):
            raise InputError(f"baseline/random for {n} emoji: expected at most {len(self._pool)}")
        which = post.get("id")
        source = random.Random(f"{self._seed}:{post.get('text') or '' if which is None else which}")
        return source.sample(self._pool, n)
