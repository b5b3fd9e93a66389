"""A system at work on a benchmark's posts, as the wiring sees it; without the engine, so that a plan is quick."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mojimeter.errors import InputError
from mojimeter.judges.llm import LlmJudge
from mojimeter.judges.panel import TextJudge
from mojimeter.systems.append import APPEND
from mojimeter.systems.baselines import Baseline
from mojimeter.systems.language import LanguageSystem

PROFILES = ("posts", "labels")  # where a conditional prompt's age and gender come from


@dataclass(frozen=True)
class Recommender:
    """A system at work: a language model with its client, or a baseline.

    Attributes:
        name: as the tables show it.
        system: what is asked.
        n: emoji asked for; None: one to five (a baseline then gives three).
        profile_judge: whose labels of the original stand in for the author's age and gender in a
            conditional prompt; None: the posts' own columns.
    """

    name: str
    system: LanguageSystem | Baseline
    n: int | None = 3
    profile_judge: LlmJudge | TextJudge | None = None
    _replies: dict[str, str] = field(default_factory=dict, repr=False, compare=False)

    def fixed_reply(self, post: Mapping[str, Any]) -> str | None:
        """A baseline's reply; None for a model, which must be asked."""
        if isinstance(self.system, LanguageSystem):
            return None
        known = self._replies.get(post["id"])
        if known is None:
            known = self._replies[post["id"]] = "".join(self.system.recommend(post, self.n or 3))
        return known


def check_choices(profile: str, append: str) -> None:
    """Refuse a profile or a way to append that there is none of.

    Raises:
        InputError: with the ones there are.
    """
    for name, value, known in (("profile", profile, PROFILES), ("append", append, APPEND)):
        if value not in known:
            raise InputError(f"{name} is {value!r}; expected {' or '.join(known)}")
