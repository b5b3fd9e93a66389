"""Recommends the emoji whose CLDR names and keywords a post's words match: the baseline that only reads.

Names and keywords form an inverted index for each language; a post is looked up in the English one and,
where it has Devanagari or Bangla letters, in that of Hindi or Bangla. The score of an emoji is

    sum over matched terms of  share x ln(emoji / emoji with that term)   -   ln(rank by use)

that is, the inverse document frequency of Sparck Jones (1972), where a keyword of several words counts as
one term and each of its words for its share of it, and a prior by use after Zipf's law (use ~ 1 / rank).
Knows nothing of judges, metrics or models.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any, Final

from mojimeter import emoji
from mojimeter.systems.words import Word, read_words, stems

_LONGEST_PHRASE: Final = 4
_LETTERS: Final = {"hi": re.compile("[\u0900-\u097f]"), "bn": re.compile("[\u0980-\u09ff]")}


@dataclass(frozen=True, slots=True)
class Match:
    """One recommended emoji and the words of the post that led to it (none: it is merely much used)."""

    emoji: str
    terms: tuple[str, ...]
    score: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"emoji": self.emoji, "terms": list(self.terms), "score": self.score}


class KeywordEmoji:
    """Recommends by keywords; what no keyword fills is filled with the most used emoji.

    So it gives n emoji for every post, in whatever language, and no two that differ in gender alone.
    """

    name = "baseline/keyword"

    def __init__(self, seed: int = 0) -> None: ...

    def recommend(self, post: Mapping[str, Any], n: int = 3) -> list[str]:
        """The n best emoji for the post's ``text``, the best first."""
        return [match.emoji for match in self.explain(post, n)]

    def explain(self, post: Mapping[str, Any], n: int = 3) -> list[Match]:
        """The same with the words of the post that led to each."""
        text = emoji.strip(post.get("text") or "")
        scores: dict[str, float] = {}
        written: dict[str, list[str]] = {}
        for lang in _languages(text):
            index = _index(lang)
            for term, its_words in _phrases(read_words(text)).items():
                for candidate, weight in index.get(term, ()):
                    scores[candidate] = scores.get(candidate, 0.0) + weight
                    written.setdefault(candidate, []).append(its_words)
        ranked = sorted(((score - _rarity(e), e) for e, score in scores.items()), key=lambda pair: (-pair[0], pair[1]))
        best: dict[str, Match] = {}
        for score, candidate in chain(ranked, ((0.0 - _rarity(e), e) for e in _by_use())):
            if len(best) >= n:
                break
            terms = tuple(dict.fromkeys(written.get(candidate, ())))
            best.setdefault(emoji.key(candidate, "gender"), Match(candidate, terms, score))
        return list(best.values())


def _languages(text: str) -> list[str]:
    return ["en", *(lang for lang, letters in _LETTERS.items() if letters.search(text))]


def _phrases(found: list[Word]) -> dict[str, str]:
    """Every word and every row of up to four: the stems it is looked up by -> as it was written."""
    phrases: dict[str, str] = {}
    for size in range(1, _LONGEST_PHRASE + 1):
        for start in range(len(found) - size + 1):
            row = found[start : start + size]
            phrases.setdefault(" ".join(w.stem for w in row), " ".join(w.written for w in row))
    return phrases


@lru_cache(maxsize=1)
def _by_use() -> dict[str, int]:
    """Ranked emoji -> rank, the most used first."""
    return {e: place for place, e in enumerate(emoji.top(emoji.RANKED), start=1)}


def _rarity(candidate: str) -> float:
    ranks = _by_use()
    return math.log(ranks.get(candidate, len(ranks) + 1))


@lru_cache(maxsize=len(emoji.LANGUAGES))
def _index(lang: str) -> dict[str, tuple[tuple[str, float], ...]]:
    """Term -> the emoji it speaks for, each with its weight; one entry for all skin tones."""
    shares: dict[str, dict[str, float]] = {}
    stems_of = lru_cache(maxsize=None)(stems)  # keywords are shared by many emoji
    untoned = [e for e in emoji.all_emoji() if emoji.key(e, "tone") == emoji.key(e) and not emoji.is_component(e)]
    for candidate in untoned:
        for phrase in {emoji.name(candidate, lang), *emoji.keywords(candidate, lang)}:
            its_stems = stems_of(phrase)
            whole = " ".join(its_stems)
            for term in its_stems:
                _raise_share(shares.setdefault(term, {}), candidate, 1 / len(its_stems))
            if whole:
                _raise_share(shares.setdefault(whole, {}), candidate, 1.0)
    return {
        term: tuple((e, share * math.log(len(untoned) / len(holders))) for e, share in holders.items())
        for term, holders in shares.items()
    }


def _raise_share(holders: dict[str, float], candidate: str, share: float) -> None:
    holders[candidate] = max(holders.get(candidate, 0.0), share)
