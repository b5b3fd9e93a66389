"""What is masked in a post, so that nobody can be looked up by it: links, mail addresses, handles, phone numbers.

Each becomes a token (``<url>``, ``<mail>``, ``@user``, ``<phone>``). In doubt it is masked. A pattern runs only on
texts that hold a character it needs, which is most of the speed. Emoji are never part of a match. Knows columns of
texts only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import polars as pl

TOKENS: Final = MappingProxyType({"links": "<url>", "mails": "<mail>", "handles": "@user", "phones": "<phone>"})

# Word characters, but for the letters that are emoji (🅰, ℹ) and the marks that shape emoji (VS16, keycap).
_W: Final = r"[\w--[ℹⓂ\x{1F130}-\x{1F189}\x{FE0E}\x{FE0F}\x{20E3}\x{200D}]]"
_PATH: Final = rf"(?:{_W}|[-./?%&=#:;~+@!$'(*,\[\]])*(?:{_W}|[/=#%])"  # ends in no punctuation of the sentence
_DOMAINS: Final = "com|net|org|edu|gov|info|io|co|in|bd|uk|de|fr|es|ly|me|tv|gl|gd|be|to|app|dev|xyz|link|page"


@dataclass(frozen=True, slots=True)
class Pattern:
    """What is masked by a regex, and what a text must hold, whatever its case, for that to match at all."""

    regex: str
    needs: tuple[str, ...]


_D: Final = r"\p{Nd}"
# Word boundaries are those of ASCII: Unicode's make the regex engine many times slower.
_B: Final = r"(?-u:\b)"
_NAME: Final = rf"(?:{_B}[a-z0-9][a-z0-9-]*\.)+"
_DIGITS: Final = tuple(
    chr(first + n) for first in (0x30, 0x660, 0x6F0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xBE6, 0xFF10) for n in range(10)
)
# In this order: a link can hold an @, a mail address holds a handle, and both hold a domain.
PATTERNS: Final[tuple[tuple[str, Pattern], ...]] = (
    ("links", Pattern(rf"(?i)(?:{_B}[a-z][a-z0-9+.-]*://|{_B}www\.){_PATH}", ("://", "www."))),
    ("mails", Pattern(rf"(?:{_W}|[.%+-])+[@＠](?:{_W}|-)+(?:\.(?:{_W}|-)+)+", ("@", "＠"))),
    # a dot goes on with the handle before a small letter only: "@user.I" is a new sentence
    ("handles", Pattern(rf"[@＠]{_W}+(?:\.[\p{{Ll}}\p{{Nd}}_]{_W}*)*(?:@{_W}+(?:[.-]{_W}+)+)?", ("@", "＠"))),
    (
        "links",
        Pattern(
            rf"(?i){_NAME}(?:{_DOMAINS}){_B}/{_PATH}|{_NAME}(?:com|net|org){_B}/?",
            (".com", ".net", ".org", *(f".{domain}/" for domain in _DOMAINS.split("|"))),
        ),
    ),
    (
        "phones",
        Pattern(
            rf"\+{_D}{{1,3}}(?:[ .-]?\(?{_D}{{2,5}}\)?){{2,5}}"  # +91 98765 43210
            rf"|(?:{_B}{_D}{{1,3}}[ .-])?\(?{_D}{{3,5}}\)?[ .-]?{_D}{{3,4}}[ .-]?{_D}{{3,7}}"  # (555) 123-4567
            rf"|{_D}{{5}}[ -]{_D}{{5,6}}"  # 98765 43210
            rf"|{_B}{_D}{{3}}[.-]{_D}{{4}}{_B}"  # 555-1234
            rf"|{_B}{_D}{{2}}(?:[ .]{_D}{{2}}){{4}}{_B}"  # 06 12 34 56 78
            rf"|{_D}{{9,15}}",
            _DIGITS,
        ),
    ),
)


def mask_column(texts: pl.Series, which: Sequence[str] = tuple(TOKENS)) -> pl.Series:
    """Every text with its links, mail addresses, handles and phone numbers as tokens; null stays null."""
    for name, pattern in PATTERNS:
        if name in which:
            texts = _mask(texts, pattern, TOKENS[name])
    return texts


def count_masks(texts: pl.Series) -> dict[str, int]:
    """How many tokens of each kind masked texts hold."""
    return {name: int(texts.str.count_matches(token, literal=True).sum() or 0) for name, token in TOKENS.items()}


def _mask(texts: pl.Series, pattern: Pattern, token: str) -> pl.Series:
    holds = texts.str.contains_any(
        list(pattern.needs), ascii_case_insensitive=any(map(str.isalpha, "".join(pattern.needs)))
    )
    rows = holds.fill_null(False).arg_true()
    if not len(rows):
        return texts
    return texts.scatter(rows, texts.gather(rows).str.replace_all(pattern.regex, token))
