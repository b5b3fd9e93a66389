"""A post with its recommended emoji: what a judge gets to read.

The emoji stand at the end, because a recommender is not asked where they go. Knows nothing of judges.
"""

from __future__ import annotations

from mojimeter.errors import InputError
from mojimeter.models.calls import well_formed
from mojimeter.systems.reply import read_reply

APPEND = ("emoji", "raw")


def with_recommendation(text: str, reply: str | None, append: str = "emoji") -> str:
    """The plain text followed by the emoji of a reply, or by the reply as it came (``raw``, the paper's way).

    A reply without emoji leaves the text alone, so that it costs no judge anything new.

    Raises:
        InputError: ``append`` is neither.
    """
    if append not in APPEND:
        raise InputError(f"append is {append!r}; expected {' or '.join(APPEND)}")
    added = (reply or "").strip() if append == "raw" else "".join(read_reply(reply, None).emoji)
    plain = text.strip()
    return well_formed(f"{plain} {added}".strip() if added else plain)
