"""Reads the raw reply of a recommender: which emoji it gave, and what was wrong with it.

Nothing is dropped in silence: every reply gets flags, and scores count them. Knows nothing of posts,
judges or metrics. One reply (``read_reply``) and a column of them (``read_replies``) read the same.

Too many emoji. ``emoji`` always holds all that were found, because the published scores use them all;
``kept`` holds the first n, so that a report can show what cutting would change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from mojimeter import emoji as emoji_room
from mojimeter.errors import InputError

if TYPE_CHECKING:
    import polars as pl

#: no_emoji: none was found (excludes every other flag); extra_text: words or signs beside the emoji;
#: wrong_count: not as many as asked for, repeats counted; repeated: the same emoji twice (level
#: ``presentation``); damaged: see ``emoji.damage``.
FLAGS: Final = ("no_emoji", "extra_text", "wrong_count", "repeated", "damaged")
#: What "as many as you like" means (n=None).
FREE_COUNT: Final = (1, 5)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a reply holds.

    Attributes:
        emoji: every emoji found, in order, as written.
        flags: what is wrong with the reply, of ``FLAGS``; empty for a clean one.
        kept: the first n of ``emoji`` (of five where the count was free).
    """

    emoji: list[str]
    flags: frozenset[str]
    kept: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Plain lists; flags in the order of ``FLAGS``."""
        return {
            "emoji": list(self.emoji),
            "flags": [flag for flag in FLAGS if flag in self.flags],
            "kept": list(self.kept),
        }


def read_reply(reply: str | None, n: int | None = 3) -> Reply:
    """Read one reply.

    Args:
        reply: the raw text; None (the model gave nothing) reads as empty.
        n: how many emoji were asked for; None means one to five, as the model likes.

    Raises:
        InputError: if n is below 1.

    >>> read_reply("🎉🎉 party", n=3).to_dict()
    {'emoji': ['🎉', '🎉'], 'flags': ['extra_text', 'wrong_count', 'repeated'], 'kept': ['🎉', '🎉']}
    """
    _check_count(n)
    text = reply or ""
    found = emoji_room.find(text)
    flags = _flags(text, found, n)
    return Reply(found, flags, found[: FREE_COUNT[1] if n is None else n])


def _check_count(n: int | None) -> None:
    if n is not None and n < 1:
        raise InputError(f"number of emoji asked for is {n}: expected 1 or more, or none for a free choice")


def _flags(text: str, found: list[str], n: int | None) -> frozenset[str]:
    if not found:
        return frozenset({"no_emoji"})
    flags = set()
    if has_extra_text(text):
        flags.add("extra_text")
    low, high = FREE_COUNT if n is None else (n, n)
    if not low <= len(found) <= high:
        flags.add("wrong_count")
    if len({emoji_room.key(e) for e in found}) < len(found):
        flags.add("repeated")
    if emoji_room.damage(text):
        flags.add("damaged")
    return frozenset(flags)


def has_extra_text(text: str) -> bool:
    """Whether something is left beside emoji, white space and what is broken."""
    left = emoji_room.strip(text)
    return bool(left.strip()) and bool("".join(emoji_room.without_damage(left).split()))


def read_replies(replies: pl.Series | Iterable[str | None], n: int | None = 3) -> pl.DataFrame:
    """Read a column of replies, with the results of ``read_reply`` for each.

    Args:
        replies: raw replies; a null reads as empty. Lone surrogates in Python strings become U+FFFD.
        n: as in ``read_reply``.

    Returns:
        One row a reply: ``emoji`` (list of strings), one boolean column for each of ``FLAGS``, and
        ``kept`` (list of strings).

    Raises:
        InputError: if n is below 1.
    """
    import polars as pl

    _check_count(n)
    texts = replies if isinstance(replies, pl.Series) else _as_series(replies)
    texts = texts.cast(pl.String).fill_null("")
    found = emoji_room.find_column(texts)
    none = found.list.len() == 0
    low, high = FREE_COUNT if n is None else (n, n)
    columns = pl.DataFrame({"text": texts, "emoji": found, "no_emoji": none})
    return columns.select(
        "emoji",
        "no_emoji",
        extra_text=~none & _has_extra_text(texts),
        wrong_count=~none & ~found.list.len().is_between(low, high),
        repeated=~none & _repeats(found),
        damaged=_ask(texts, ~none & _may_be_damaged(texts), lambda text: emoji_room.damage(text) > 0),
        kept=pl.col("emoji").list.head(high),
    )


def _as_series(replies: Iterable[str | None]) -> pl.Series:
    import polars as pl

    readable = [
        None if reply is None else reply.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
        for reply in replies
    ]
    return pl.Series(readable, dtype=pl.String)


def _has_extra_text(texts: pl.Series) -> pl.Series:
    """``has_extra_text`` of every text: one sound character is enough, the rest is asked one by one."""
    left = emoji_room.strip_column(texts)
    # \s of Polars lacks four characters that Python counts as white space
    certain = left.str.contains(rf"[^\s\x1c-\x1f{emoji_room.DAMAGE_CLASS}]")
    return _ask(texts, ~certain & (left != ""), has_extra_text) | certain


def _may_be_damaged(texts: pl.Series) -> pl.Series:
    return texts.str.contains(f"[{emoji_room.DAMAGE_CLASS}]")


def _ask(texts: pl.Series, candidates: pl.Series, question: Callable[[str], bool]) -> pl.Series:
    """Ask the single-reply question of the candidates; the answer for all others is no."""
    import polars as pl

    answers = [question(text) for text in texts.filter(candidates).to_list()]
    no = pl.repeat(False, len(texts), eager=True)
    return no.scatter(candidates.arg_true(), pl.Series(answers, dtype=pl.Boolean)) if answers else no


def _repeats(found: pl.Series) -> pl.Series:
    import polars as pl

    distinct = found.explode().drop_nulls().unique()
    keys = pl.Series([emoji_room.key(e) for e in distinct.to_list()], dtype=pl.String)
    folded = found.list.eval(pl.element().replace_strict(distinct, keys, return_dtype=pl.String))
    return folded.list.n_unique() < found.list.len()
