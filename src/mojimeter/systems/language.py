"""A language model as a recommender: the question it is asked for one post.

The strategy, the number of emoji and the temperature are the system's; what the model answers is read by
``reply``. Knows how to ask, not how to reach a model, and nothing of judges.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from mojimeter.models.calls import Request, well_formed
from mojimeter.systems.prompts import CHOOSE, Prompt

BASELINE = "baseline/"
LOCAL = "local/"
MAX_TOKENS = 1024  # room for a model that thinks before it answers
MAX_TOKENS_LOCAL = 64


@dataclass(frozen=True, slots=True)
class LanguageSystem:
    """A model, a prompt and how it is sampled.

    Attributes:
        model: any Inspect model name, ``local/...`` included.
        prompt: the strategy's prompt.
        n: emoji asked for; None: one to five.
        temperature: 1 in the paper.
        seed: makes sampling repeatable where the provider can; None: providers get none, and the
            models of this process take 0.
    """

    model: str
    prompt: Prompt
    n: int | None = 3
    temperature: float | None = 1.0
    seed: int | None = None

    def request(self, post: Mapping[str, Any], epoch: int = 1) -> Request:
        """What to ask for one post.

        Args:
            post: ``id``, ``text`` and what the prompt shows of the author.
            epoch: which repeat, from 1; each has its own draw.
        """
        local = self.model.startswith(LOCAL)
        seed = 0 if self.seed is None and local else self.seed
        messages = self.prompt.render(post, self.n)
        return Request(
            model=self.model,
            messages=tuple((role, well_formed(content)) for role, content in messages),
            purpose="recommend",
            temperature=self.temperature,
            max_tokens=MAX_TOKENS_LOCAL if local else MAX_TOKENS,
            seed=None if seed is None else _draw(seed, str(post["id"]), epoch),
            grammar=emoji_grammar(self.n) if local else None,
            turn=epoch - 1,
        )


def is_baseline(system: str) -> bool:
    """Whether a system is one of ours that asks no model."""
    return system.startswith(BASELINE)


@lru_cache(maxsize=8)
def emoji_grammar(n: int | None) -> str:
    """LLGuidance text for n emoji side by side, any that exist; it constrains the format and nothing else."""
    from mojimeter import emoji
    from mojimeter.models.grammar import choice_grammar

    least, most = CHOOSE if n is None else (n, n)
    return choice_grammar(emoji.all_emoji(), least, most)


def _draw(seed: int, post: str, epoch: int) -> int:
    """A seed for one post and epoch that does not depend on the order of work."""
    digest = hashlib.sha256(f"{seed}\0{post}\0{epoch}".encode(errors="replace")).digest()
    return int.from_bytes(digest[:4], "big") & 0x7FFFFFFF
