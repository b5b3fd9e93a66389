"""Finds and takes out the emoji of one string: the scanner every other part of the project relies on.

Knows the strings that are emoji (the table of the ``emoji`` package) and how they sit in running text;
knows nothing of posts, names or columns (``columns`` scans columns with this very scanner).

What counts. Every string of Unicode's emoji-test file is one emoji, the longest match first. A bare
character that has both a text and an emoji form counts too, because people type ❤ and ☺ that way,
except the signs of ``TEXT_SIGNS``, which are text until a VS16 follows. A VS16 (U+FE0F) after an emoji
belongs to it; a VS15 (U+FE0E) after a single character asks for text, so that is no emoji.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, Literal, NamedTuple

JOINER: Final = "\u200d"
EMOJI_SELECTOR: Final = "\ufe0f"  # VS16: show as emoji
TEXT_SELECTOR: Final = "\ufe0e"  # VS15: show as text
KEYCAP: Final = "\u20e3"
SKIN_TONES: Final = frozenset(map(chr, range(0x1F3FB, 0x1F400)))
REGIONAL_INDICATORS: Final = frozenset(map(chr, range(0x1F1E6, 0x1F200)))
TAGS: Final = frozenset(map(chr, range(0xE0020, 0xE0080)))
INVISIBLE: Final = frozenset({JOINER, EMOJI_SELECTOR, TEXT_SELECTOR}) | TAGS
# what makes an emoji of characters that are none alone
_COMBINING: Final = REGIONAL_INDICATORS | {EMOJI_SELECTOR, KEYCAP}

# Signs that stay text without VS16 although they carry Unicode's Emoji property. Digits, # and * are
# not listed: no table string is one of them alone.
TEXT_SIGNS: Final = frozenset(
    "©®™‼⁉ℹ"  # marks and punctuation
    "↔↕↖↗↘↙↩↪➡⤴⤵⬅⬆⬇"  # arrows
    "▪▫▶◀◻◼"  # geometric play and square signs
    "♀♂⚕♾Ⓜ〰〽㊗㊙"
)

_MOST_REMEMBERED: Final = 65_536
_LONGEST_REMEMBERED: Final = 64
_MOST_PASSES: Final = 8

TokenKind = Literal["emoji", "stray", "text"]


class Token(NamedTuple):
    """A stretch of a run: an emoji, an invisible character left over, or text."""

    kind: TokenKind
    start: int
    end: int


@lru_cache(maxsize=1)
def table() -> frozenset[str]:
    """Every string that is one emoji (RGI and its partly qualified spellings, and the components)."""
    from emoji import EMOJI_DATA

    return frozenset(EMOJI_DATA) - TEXT_SIGNS


@lru_cache(maxsize=1)
def _lengths() -> dict[str, tuple[int, ...]]:
    """First character -> the lengths of the table strings that start with it, longest first."""
    lengths: dict[str, set[int]] = {}
    for string in table():
        lengths.setdefault(string[0], set()).add(len(string))
    return {first: tuple(sorted(found, reverse=True)) for first, found in lengths.items()}


def _ranges(characters: Iterable[str]) -> str:
    """A regex class body that covers the characters in few ranges (and some between, which match nothing)."""
    ranges: list[list[int]] = []
    for point in sorted(map(ord, characters)):
        gap = 16 if point < 0x10000 else 0x400
        if ranges and point - ranges[-1][1] <= gap:
            ranges[-1][1] = point
        else:
            ranges.append([point, point])
    return "".join(chr(low) if low == high else f"{chr(low)}-{chr(high)}" for low, high in ranges)


@lru_cache(maxsize=1)
def _run_classes() -> tuple[str, str]:
    """Regex class bodies: what a run starts with (keycaps apart), and what may follow."""
    beyond_ascii = {c for string in table() for c in string if ord(c) > 0x7F} | TEXT_SIGNS
    start = _ranges(beyond_ascii - INVISIBLE)
    return start, f"{start}{JOINER}{TEXT_SELECTOR}{EMOJI_SELECTOR}{min(TAGS)}-{max(TAGS)}"


@lru_cache(maxsize=1)
def run_pattern() -> str:
    """The regex of a run, valid for Python and for Polars: no emoji reaches beyond its run.

    A run starts at a character that can start an emoji, so joiners that belong to Devanagari, Bangla or
    Persian spelling stay outside.
    """
    start, rest = _run_classes()
    return f"(?:[{start}]|[0-9#*]{EMOJI_SELECTOR}?{KEYCAP})[{rest}]*"


@lru_cache(maxsize=1)
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The run regex, and one three times as fast for text without keycaps (the same runs there)."""
    start, rest = _run_classes()
    return re.compile(run_pattern()), re.compile(f"[{start}][{rest}]*")


def _pattern(text: str) -> re.Pattern[str]:
    whole, quick = _patterns()
    return whole if KEYCAP in text else quick


def tokens(run: str) -> list[Token]:
    """Cut a run into emoji, stray invisible characters and text, from left to right, longest match first."""
    strings, lengths = table(), _lengths()
    found: list[Token] = []
    at, size = 0, len(run)
    while at < size:
        first = run[at]
        end = at
        for length in lengths.get(first, ()):
            candidate = run[at : at + length]  # shorter than length at the run's end
            if candidate in strings:
                end = at + len(candidate)
                break
        kind: TokenKind = "emoji"
        if end <= at + 1 and run[at + 1 : at + 2] == TEXT_SELECTOR and first not in INVISIBLE:
            kind, end = "text", at + 2
        elif end == at:
            kind, end = ("stray" if first in INVISIBLE else "text"), at + 1
        elif run[end : end + 1] == EMOJI_SELECTOR and run[end - 1] != EMOJI_SELECTOR:
            end += 1
        found.append(Token(kind, at, end))
        at = end
    return found


class Run(NamedTuple):
    """What a run holds: its emoji, where they are, and what is left when they are taken out."""

    emoji: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    rest: str
    starts_with_emoji: bool


_runs: dict[str, Run] = {}


def read_run(run: str) -> Run:
    """Scan a run once; runs repeat so much that the results are remembered."""
    known = _runs.get(run)
    if known is not None:
        return known
    cut = tokens(run)
    spans = tuple([(start, end) for kind, start, end in cut if kind == "emoji"])
    result = Run(
        emoji=tuple([run[start:end] for start, end in spans]),
        spans=spans,
        rest="" if len(spans) == len(cut) else _without_emoji(run, cut),
        starts_with_emoji=cut[0].kind == "emoji",
    )
    if len(run) <= _LONGEST_REMEMBERED:
        if len(_runs) >= _MOST_REMEMBERED:
            _runs.clear()
        _runs[run] = result
    return result


def _without_emoji(run: str, cut: list[Token]) -> str:
    """The run without its emoji and without the stray characters that touch one."""
    keep = [token.kind != "emoji" for token in cut]
    for order in (range(1, len(cut)), range(len(cut) - 2, -1, -1)):
        for i in order:
            before = i - order.step
            if cut[i].kind == "stray" and not keep[before]:
                keep[i] = False
    return "".join(run[t.start : t.end] for t, kept in zip(cut, keep, strict=True) if kept)


def find(text: str) -> list[str]:
    """The emoji of a text, in order, as they are written; never raises on odd text.

    >>> find("ok 👍🏽!")
    ['👍🏽']
    """
    if text.isascii():
        return []
    found: list[str] = []
    for run in _pattern(text).findall(text):
        found += (_runs.get(run) or read_run(run)).emoji
    return found


def spans(text: str) -> list[tuple[int, int]]:
    """Where the emoji of a text are: (start, end) in code points, end excluded."""
    if text.isascii():
        return []
    found: list[tuple[int, int]] = []
    for match in _pattern(text).finditer(text):
        at = match.start()
        found += [(at + start, at + end) for start, end in read_run(match[0]).spans]
    return found


def is_emoji(text: str) -> bool:
    """Whether a string is exactly one emoji."""
    return spans(text) == [(0, len(text))]


def joins_letters(before: str) -> bool:
    """Whether an invisible joiner after this character can be spelling (Indic, Arabic and like scripts)."""
    point = ord(before)
    writes_with_joiners = 0x0590 <= point < 0x2000 or 0xA800 <= point < 0xAC00 or 0x10800 <= point < 0x1C000
    return (writes_with_joiners or 0xFB1D <= point < 0xFE00) and unicodedata.category(before)[0] in "LM"


def strip(text: str) -> str:
    """The text without emoji, and without joiners, selectors and tags that touched one.

    Spaces stay as they are, and so do joiners that are spelling (after a letter of an Indic, Arabic or
    like script). What is left holds no emoji: where taking one out makes another (🇮😀🇳), that goes too.
    """
    if text.isascii():
        return text
    for _ in range(_MOST_PASSES):
        text, again = _strip_once(text)
        if not again:
            return text
    # emoji nested this deep are an attack on our time: drop whatever could make another one
    return _strip_once("".join(c for c in text if c not in _COMBINING))[0]


def _strip_once(text: str) -> tuple[str, bool]:
    """The text after one pass, and whether what is left over may have formed a new emoji."""
    pieces: list[str] = []
    at, again = 0, False
    for match in _pattern(text).finditer(text):
        run = read_run(match[0])
        if not run.spans:
            continue
        before = text[at : match.start()]
        pieces.append(_without_trailing_strays(before) if run.starts_with_emoji else before)
        pieces.append(run.rest)
        again = again or bool(run.rest)
        at = match.end()
    pieces.append(text[at:])
    return "".join(pieces), again


def _without_trailing_strays(before: str) -> str:
    bare = before.rstrip("".join(INVISIBLE))
    return before if bare != before and bare and joins_letters(bare[-1]) else bare


@lru_cache(maxsize=1)
def doubt_pattern() -> str:
    """Regex of invisible characters right before a run: only ``strip`` can tell what they are."""
    _, rest = _run_classes()
    return f"(?:^|[^{rest}])[{JOINER}{TEXT_SELECTOR}{EMOJI_SELECTOR}{min(TAGS)}-{max(TAGS)}]+{run_pattern()}"


@lru_cache(maxsize=1)
def sequence_pattern() -> str:
    """The regex of whatever has the form of one emoji, with all that clings to it.

    Every table string matches it as a whole, and a match is as long as it can be. So where each match in a
    text is what ``find`` finds in that match, the matches are what ``find`` finds in the text.
    """
    start, _ = _run_classes()
    selectors, tags = TEXT_SELECTOR + EMOJI_SELECTOR, f"{min(TAGS)}-{max(TAGS)}"
    tone = f"[{min(SKIN_TONES)}-{max(SKIN_TONES)}]{EMOJI_SELECTOR}?"
    one = f"[{start}](?:[{selectors}]|{tone})?[{tags}]*"
    flag = f"[{min(REGIONAL_INDICATORS)}-{max(REGIONAL_INDICATORS)}]{{2}}"
    keycap = f"[0-9#*]{EMOJI_SELECTOR}?{KEYCAP}"
    return f"(?:{flag}|{one}(?:{JOINER}{one})*|{keycap})[{selectors}]*"
