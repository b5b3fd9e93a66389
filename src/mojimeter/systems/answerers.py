"""Who answers the questions of benchmark B: language models, baselines, people's answers from a file.

Each says, for a pair and a condition, either its answer or the call that will give it. Conditions are ``1`` and
``2`` (the two contexts) and ``none``. Knows how to ask, not how to reach a model, and nothing of verifiers.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from mojimeter.errors import InputError
from mojimeter.models.calls import Request, well_formed

LOCAL = "local/"
COMMONER: Final = "baseline/commoner"
RANDOM: Final = "baseline/random"
#: Followed by a model's name: that model, never shown a context.
NO_CONTEXT: Final = "baseline/no-context:"
BASELINES: Final = (COMMONER, RANDOM)
TEMPERATURE = 0.2  # the paper's
MAX_TOKENS = 1024  # room for a model that thinks before it answers
MAX_TOKENS_LOCAL = 20

_INSTRUCTION = (
    "You read short messages with emoji. Answer the question about the message in one short sentence of at most ten "
    "words: say what is meant here. Give one answer, and do not explain it."
)

Pair = Mapping[str, Any]


class Answerer(Protocol):
    """A system at work on pairs."""

    @property
    def name(self) -> str:
        """What the system is called on the command line and in tables."""

    def answer(self, pair: Pair, condition: str) -> str | Request | None:
        """Its answer, or the call that gives it; None where it gave none."""


@dataclass(frozen=True, slots=True)
class LanguageAnswerer:
    """A model that is asked.

    Attributes:
        name: any Inspect model name, ``local/...`` included.
        temperature: 0.2 in the paper.
        seed: makes sampling repeatable where the provider can; None: providers get none, and the models of
            this process take 0.
    """

    name: str
    temperature: float | None = TEMPERATURE
    seed: int | None = None

    def answer(self, pair: Pair, condition: str) -> Request:
        """The call that asks for one condition."""
        local = self.name.startswith(LOCAL)
        seed = 0 if self.seed is None and local else self.seed
        return Request(
            model=self.name,
            messages=question_messages(pair, condition),
            purpose="answer",
            temperature=self.temperature,
            max_tokens=MAX_TOKENS_LOCAL if local else MAX_TOKENS,
            seed=None if seed is None else _draw(seed, str(pair["id"]), condition),
        )


@dataclass(frozen=True, slots=True)
class WithoutContext:
    """A model that is never shown the context: what it says without one stands for all conditions."""

    model: LanguageAnswerer

    @property
    def name(self) -> str:
        return NO_CONTEXT + self.model.name

    def answer(self, pair: Pair, condition: str) -> Request:
        """The call without context, whatever the condition."""
        return self.model.answer(pair, "none")


@dataclass(frozen=True, slots=True)
class CommonerReading:
    """Always the reading that is held to be the commoner, whatever the context: never both, always one right.

    Where a pair has one reading of each kind that is the figurative one, which the paper (its Table 4) found to be
    the more frequent; else it is the first.
    """

    name: str = COMMONER

    def answer(self, pair: Pair, condition: str) -> str:
        """The expected answer of the commoner reading."""
        figurative = [k for k in "12" if pair[f"reading_{k}"] == "figurative"]
        return str(pair[f"answer_{figurative[0] if len(figurative) == 1 else '1'}"])


@dataclass(frozen=True, slots=True)
class RandomReading:
    """One of the two expected answers, each as likely, drawn anew for every condition."""

    seed: int = 0
    name: str = RANDOM

    def answer(self, pair: Pair, condition: str) -> str:
        """A draw that depends on the seed, the pair and the condition, never on the order of work."""
        draw = random.Random(f"{self.seed}:{pair['id']}:{condition}")
        return str(pair[f"answer_{draw.choice('12')}"])


@dataclass(frozen=True, slots=True)
class GivenAnswers:
    """People, or a system run elsewhere: answers by (pair's id, condition)."""

    name: str
    answers: Mapping[tuple[str, str], str]

    def answer(self, pair: Pair, condition: str) -> str | None:
        """The answer in the file."""
        return self.answers.get((str(pair["id"]), condition))


def get_answerer(name: str, *, temperature: float | None = TEMPERATURE, seed: int | None = None) -> Answerer:
    """The answerer of a name, as it stands on the command line.

    Raises:
        InputError: no such baseline, or a name without a provider.
    """
    if name == COMMONER:
        return CommonerReading()
    if name == RANDOM:
        return RandomReading(seed or 0)
    if name.startswith(NO_CONTEXT):
        return WithoutContext(LanguageAnswerer(name.removeprefix(NO_CONTEXT), temperature, seed))
    if name.startswith("baseline/"):
        raise InputError(f"no baseline {name!r}; expected {', '.join(BASELINES)} or {NO_CONTEXT}MODEL")
    if "/" not in name:
        raise InputError(
            f"no system {name!r}; expected baseline/..., local/... or a model such as openai/gpt-4o-mini "
            "(people's answers are given as --answers FILE)"
        )
    return LanguageAnswerer(name, temperature, seed)


def question_messages(pair: Pair, condition: str) -> tuple[tuple[str, str], ...]:
    """What a model reads for one condition."""
    context = f"Context: {pair[f'context_{condition}']}\n" if condition != "none" else ""
    question = f"{context}Message: {pair['text']}\nQuestion: {pair['question']}"
    return (("system", _INSTRUCTION), ("user", well_formed(question)))


def prompt_digest() -> str:
    """12 hexadecimal digits of everything a model reads but the pair; it goes into signatures."""
    blank = {"context_1": "", "text": "", "question": ""}
    return hashlib.sha256(repr(question_messages(blank, "1")).encode()).hexdigest()[:12]


def _draw(seed: int, pair: str, condition: str) -> int:
    """A seed for one pair and condition that does not depend on the order of work."""
    digest = hashlib.sha256(f"{seed}\0{pair}\0{condition}".encode(errors="replace")).digest()
    return int.from_bytes(digest[:4], "big") & 0x7FFFFFFF
