"""Names, keywords, groups and use of emoji, from generated tables of Unicode's data.

Names and keywords are CLDR 48's in English, Hindi and Bangla; groups are those of Unicode's emoji-test
17.0; the order of use is the Unicode Consortium's of 2021. ``scripts/make_emoji_tables.py`` writes the
tables, ``data/LICENSE-UNICODE.txt`` is their licence. An emoji with skin tones is looked up without them
where it has no entry of its own. Knows nothing of texts.
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Final

from mojimeter.emoji.compare import key
from mojimeter.emoji.scan import EMOJI_SELECTOR, SKIN_TONES, TEXT_SIGNS, table
from mojimeter.errors import InputError

LANGUAGES: Final = ("en", "hi", "bn")
#: How many emoji are ranked by use.
RANKED: Final = 1549


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str
    keywords: tuple[str, ...]


def name(emoji: str, lang: str = "en") -> str:
    """The CLDR name of an emoji; the English one where a language has none (emoji newer than CLDR).

    Raises:
        InputError: for a string that is no emoji, or a language other than en, hi, bn.

    >>> name("👍🏽"), name("👍", "hi")
    ('thumbs up: medium skin tone', 'थंब्स अप')
    """
    found = _look_up(emoji, lang) or _look_up(emoji, "en")
    return found.name if found is not None else _name_of_new(emoji)


def keywords(emoji: str, lang: str = "en") -> list[str]:
    """The CLDR keywords of an emoji, sorted; empty where the language has none.

    Raises:
        InputError: as ``name``.
    """
    found = _look_up(emoji, lang)
    return list(found.keywords) if found is not None else []


def group(emoji: str) -> str | None:
    """Unicode's group ("Smileys & Emotion"); None for an emoji newer than the table.

    Raises:
        InputError: for a string that is no emoji.
    """
    found = _groups().get(key(_checked(emoji), "tone"))
    return found[0] if found else None


def subgroup(emoji: str) -> str | None:
    """Unicode's subgroup ("face-smiling"); None for an emoji newer than the table.

    Raises:
        InputError: for a string that is no emoji.
    """
    found = _groups().get(key(_checked(emoji), "tone"))
    return found[1] if found else None


def rank(emoji: str) -> int | None:
    """The place of an emoji by use, 1 for the most used, tones apart; None where it is not on the list.

    Raises:
        InputError: for a string that is no emoji.
    """
    return _ranks().get(key(_checked(emoji), "tone"))


def top(n: int) -> list[str]:
    """The n most used emoji, the most used first (``RANKED`` are ranked, without skin tones).

    Raises:
        InputError: if n is negative or more than are ranked.
    """
    ranked = _use()
    if not 0 <= n <= len(ranked):
        raise InputError(f"the {n} most used emoji: expected a number from 0 to {len(ranked)}")
    return list(ranked[:n])


@lru_cache(maxsize=1)
def _all() -> tuple[str, ...]:
    from emoji import EMOJI_DATA, STATUS

    rgi = {STATUS["component"], STATUS["fully_qualified"]}
    return tuple(sorted(string for string, about in EMOJI_DATA.items() if about["status"] in rgi))


def all_emoji() -> list[str]:
    """Every emoji recommended for general interchange, fully qualified, by code point."""
    return list(_all())


def is_component(emoji: str) -> bool:
    """Whether a string is a skin tone or a hair style, which show as emoji but are parts of others."""
    from emoji import EMOJI_DATA, STATUS

    return bool(EMOJI_DATA.get(key(emoji), {}).get("status") == STATUS["component"])


def toned_name(base: str, tones: Sequence[str]) -> str:
    """The name with skin tones, by CLDR's rule: they come first after the colon."""
    head, _, rest = base.partition(": ")
    return f"{head}: {', '.join([*tones, rest] if rest else tones)}"


def toned_keywords(base: Sequence[str], tones: Sequence[str]) -> list[str]:
    """The keywords with skin tones: those without, and the names of the tones."""
    return sorted({*base, *tones})


@lru_cache(maxsize=65_536)
def _look_up(emoji: str, lang: str) -> _Entry | None:
    if lang not in LANGUAGES:
        raise InputError(f"language {lang!r}: expected {', '.join(LANGUAGES)}")
    entries = _entries(lang)
    shown = key(_checked(emoji))
    own = entries.get(shown)
    if own is not None and own.name and own.keywords:
        return own
    base = entries.get(key(emoji, "tone"))
    if base is None:
        return own
    tones = [entries[tone].name for tone in dict.fromkeys(c for c in shown if c in SKIN_TONES)]
    return _Entry(
        (own.name if own is not None else "") or toned_name(base.name, tones),
        (own.keywords if own is not None else ()) or tuple(toned_keywords(base.keywords, tones)),
    )


def _name_of_new(emoji: str) -> str:
    """The name in the ``emoji`` package's table, which is ahead of CLDR's."""
    from emoji import EMOJI_DATA

    about = EMOJI_DATA.get(emoji) or EMOJI_DATA.get(emoji.removesuffix(EMOJI_SELECTOR)) or EMOJI_DATA[key(emoji)]
    plain = str(about["en"]).strip(":").replace("_", " ")
    for tone in ("light", "medium-light", "medium", "medium-dark", "dark"):
        ending = f" {tone} skin tone"
        if plain.endswith(ending):
            return f"{plain.removesuffix(ending)}: {tone} skin tone"
    return plain


@lru_cache(maxsize=1)
def _known_keys() -> frozenset[str]:
    return frozenset(key(string) for string in table() | TEXT_SIGNS)


def _checked(emoji: str) -> str:
    """The string if it is an emoji (or a sign that can be one), else an error."""
    if key(emoji) not in _known_keys():
        raise InputError(f"{emoji!r} is not an emoji: expected one string as emoji.find gives it")
    return emoji


def _read(file: str) -> list[str]:
    packed = (files("mojimeter.emoji") / "data" / file).read_bytes()
    return gzip.decompress(packed).decode().splitlines()


@lru_cache(maxsize=len(LANGUAGES))
def _entries(lang: str) -> dict[str, _Entry]:
    entries = {}
    for line in _read(f"names_{lang}.tsv.gz"):
        string, its_name, words = line.split("\t")
        entries[string] = _Entry(its_name, tuple(words.split("|")) if words else ())
    return entries


@lru_cache(maxsize=1)
def _groups() -> dict[str, tuple[str, str]]:
    found = {}
    for line in _read("groups.tsv.gz"):
        its_group, its_subgroup, members = line.split("\t")
        found.update(dict.fromkeys(members.split(" "), (its_group, its_subgroup)))
    return found


@lru_cache(maxsize=1)
def _use() -> tuple[str, ...]:
    return tuple(_read("use.txt.gz"))


@lru_cache(maxsize=1)
def _ranks() -> dict[str, int]:
    ranks: dict[str, int] = {}
    for place, string in enumerate(_use(), start=1):
        ranks.setdefault(key(string, "tone"), place)
    return ranks
