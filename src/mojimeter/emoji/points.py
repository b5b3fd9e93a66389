"""A text cut into code points, the way the published overlap figures cut it.

That paper compares code points, not emoji, so a skin tone, a joiner or a selector counts as an emoji of
its own. Kept apart because no other part should count this way. Knows nothing of scores.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal, get_args

from mojimeter.emoji.scan import TEXT_SIGNS, table
from mojimeter.errors import InputError

CodePoints = Literal["all", "emoji", "blocks"]

# The blocks kept of Mistral's replies in the released replay.
_BLOCKS: Final = re.compile(
    "[\U0001f600-\U0001f64f\U0001f300-\U0001f5ff\U0001f680-\U0001f6ff\U0001f700-\U0001fbff\U0001f004\U0001f0cf"
    "\U0001f1e6-\U0001f1ff\u25aa-\u25ab\u25fe-\u25ff\u2600-\u27bf\u2b50]"
)


@lru_cache(maxsize=1)
def _emoji_points() -> frozenset[str]:
    """Every code point of any emoji string, but for digits, # and *."""
    return frozenset(c for string in table() | TEXT_SIGNS for c in string if not c.isascii())


def code_points(text: str, which: CodePoints = "emoji") -> list[str]:
    """The code points of a text that a code-point comparison looks at, in order, repeats kept.

    Args:
        text: gold emoji or a raw reply.
        which: ``emoji`` - those that occur in an emoji (tones, joiners and selectors included);
            ``all`` - every one, words too: ``gold_emoji`` against the raw reply this way gives the
            printed 6.93/16.14/9.04 of GPT-4o and the rows of Llama, Gemma2 and the random sentence;
            ``blocks`` - those in the blocks by which the replay filters Mistral's replies (gold: ``all``).

    Raises:
        InputError: for another choice.
    """
    if which == "all":
        return list(text)
    if which == "emoji":
        points = _emoji_points()
        return [] if text.isascii() else [c for c in text if c in points]
    if which == "blocks":
        return _BLOCKS.findall(text)
    raise InputError(f"code points {which!r}: expected {', '.join(get_args(CodePoints))}")
