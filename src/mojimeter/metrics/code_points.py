"""The overlap of the second paper's Table V as it was printed: sets of characters, not of emoji.

The released scores compare the characters of the released ``gold_emoji`` with the characters of the reply
as it came, so a skin tone or a joiner counts as an emoji and a reply's words count against it. The one
system whose replies are mostly explanations (71% hold a letter; no other has more than 2%) was read through
a list of ranges first. That is taken here as the rule: a system more than half of whose replies hold a
letter or a digit is read through those ranges, whoever it is. Exists only to replay printed tables.
"""

from __future__ import annotations

import polars as pl

# The ranges that reproduce the printed row of Mistral-7B-Instruct (design/recommendation.md).
RANGES = (
    (0x1F600, 0x1F64F),
    (0x1F300, 0x1F5FF),
    (0x1F680, 0x1F6FF),
    (0x1F700, 0x1FBFF),
    (0x1F004, 0x1F004),
    (0x1F0CF, 0x1F0CF),
    (0x1F1E6, 0x1F1FF),
    (0x25AA, 0x25AB),
    (0x25FE, 0x25FF),
    (0x2600, 0x27BF),
    (0x2B50, 0x2B50),
)
_OUTSIDE = "[^" + "".join(f"\\x{{{low:X}}}-\\x{{{high:X}}}" for low, high in RANGES) + "]"


def mostly_words(replies: pl.Series) -> bool:
    """Whether more than half of a system's replies hold a letter or a digit."""
    with_words = replies.fill_null("").str.contains(r"[\p{L}\p{N}]").sum()
    return 2 * int(with_words) > len(replies)


def characters(texts: pl.Series, *, in_ranges: bool = False) -> pl.Series:
    """Every text as the list of its characters, null as none; with ``in_ranges`` only those of ``RANGES``."""
    texts = texts.fill_null("")
    if in_ranges:
        texts = texts.str.replace_all(_OUTSIDE, "")
    return texts.str.split("").list.eval(pl.element().filter(pl.element() != ""))
