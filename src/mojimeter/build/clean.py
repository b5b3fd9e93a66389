"""Which raw posts stay, and how they look: filters and masks over one block, wherever it is run.

Every post that goes is counted under the first reason that applies. Duplicates are a matter of all blocks: here each
post only gets the keys by which they are found. Knows one block of posts at a time; nothing of labels.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import polars as pl

from mojimeter import emoji
from mojimeter.build.keys import hash_column, near_keys
from mojimeter.build.masks import TOKENS, mask_column
from mojimeter.build.recipe import Clean

# In the order in which they are tried.
REASONS: Final = ("no_text", "other_language", "no_emoji", "no_top_emoji", "retweet", "emoji_only")
# "RT @user: ..." wherever it starts: what follows is somebody else's text
_RETWEET: Final = r"(?:^|[\s\x22\x27“‘(])RT\s*:?\s*[@＠]|^\s*(?i:rt) [@＠]"
_SLICE: Final = 20_000  # posts; finding emoji takes less than half the time in slices that fit the caches
_UNRANKED: Final = 1 << 20
_WORD: Final = r"[\p{L}--[Ⓜℹ\x{1F130}-\x{1F189}]]"


def clean(raw: pl.DataFrame, settings: Clean) -> tuple[pl.DataFrame, dict[str, int]]:
    """The posts of a block that stay, masked, and how many went for which reason.

    Args:
        raw: columns as ``sources.Block.read`` gives them.
        settings: of the recipe.

    Returns:
        The columns of ``raw`` with ``text`` masked, and ``row`` (of the block, from 0), ``exact`` (the key of the
        text), ``near`` (of the near-duplicate text; only where duplicates are dropped by it); and the counts, with
        ``read``.
    """
    counts = dict.fromkeys(("read", *REASONS), 0)
    counts["read"] = raw.height
    frame = raw.with_row_index("row")

    def drop(reason: str, goes: pl.Series) -> None:
        nonlocal frame
        gone = int(goes.sum() or 0)
        if gone:
            counts[reason] += gone
            frame = frame.filter(~goes)

    drop("no_text", frame["text"].is_null() | (frame["text"].str.strip_chars() == "").fill_null(True))
    if settings.languages:
        drop("other_language", ~frame["lang"].is_in(list(settings.languages)).fill_null(False))
    none, only_rare = _without_emoji(frame["text"], settings.top_emoji)
    drop("no_emoji", none)
    drop("no_top_emoji", only_rare.filter(~none))
    if settings.retweets == "drop":
        drop("retweet", _is_retweet(frame["text"]))
    written = frame["text"]
    frame = frame.with_columns(mask_column(written, settings.mask).alias("text"))
    # a mask takes no emoji, but for the digit of a keycap in a link: look again there
    changed = ((frame["text"] != written) & written.str.contains("\u20e3", literal=True)).arg_true()
    none, only_rare = _without_emoji(frame["text"].gather(changed), settings.top_emoji)
    goes = pl.repeat(False, frame.height, dtype=pl.Boolean, eager=True)
    drop("no_emoji", goes.scatter(changed.filter(none | only_rare), True))
    if settings.emoji_only == "drop":
        drop("emoji_only", _is_emoji_only(frame["text"]))
    keys = [hash_column(frame["text"]).alias("exact")]
    if settings.duplicates == "near":
        full = frame["text"] if set(settings.mask) == set(TOKENS) else mask_column(frame["text"])
        keys.append(pl.Series("near", near_keys(full), dtype=pl.UInt64))
    return frame.with_columns(keys), counts


@lru_cache(maxsize=65_536)
def place_by_use(one: str) -> int:
    """The place of an emoji on the list of use; the list has one entry for 🤷, 🤷‍♀️ and 🤷‍♂️, and none for skin tones."""
    return emoji.rank(one) or emoji.rank(emoji.key(one, "gender")) or _UNRANKED


def _without_emoji(texts: pl.Series, top: int) -> tuple[pl.Series, pl.Series]:
    """Which texts hold no emoji, and which hold emoji but none of the most used."""
    parts = [_without_emoji_part(texts.slice(at, _SLICE), top) for at in range(0, max(1, len(texts)), _SLICE)]
    return pl.concat([none for none, _ in parts]), pl.concat([only_rare for _, only_rare in parts])


def _without_emoji_part(texts: pl.Series, top: int) -> tuple[pl.Series, pl.Series]:
    found = emoji.find_column(texts)
    none = found.list.len() == 0
    rare = [one for one in found.explode().drop_nulls().unique().to_list() if place_by_use(one) > top]
    if not rare:
        return none, pl.repeat(False, len(texts), dtype=pl.Boolean, eager=True)
    known = found.to_frame("found").select(pl.col("found").list.eval(~pl.element().is_in(rare)).list.any())
    return none, ~known.to_series().fill_null(False) & ~none


def _is_retweet(texts: pl.Series) -> pl.Series:
    in_doubt = texts.str.contains_any(["RT", "rt @", "rt ＠", "Rt @", "rT @"]).arg_true()
    found = pl.repeat(False, len(texts), dtype=pl.Boolean, eager=True)
    return found.scatter(in_doubt.filter(texts.gather(in_doubt).str.contains(_RETWEET)), True)


def _is_emoji_only(texts: pl.Series) -> pl.Series:
    """Which masked texts hold neither letter nor number once emoji and tokens are taken out."""
    bare = texts.str.replace_many(list(TOKENS.values()), [""] * len(TOKENS))
    in_doubt = (~bare.str.contains(_WORD)).arg_true()  # numbers or nothing: few enough for the exact way
    if not len(in_doubt):
        return pl.repeat(False, len(texts), dtype=pl.Boolean, eager=True)
    plain = emoji.strip_column(bare.gather(in_doubt))
    only = ~plain.str.contains(r"[\p{L}\p{N}]")
    return pl.repeat(False, len(texts), dtype=pl.Boolean, eager=True).scatter(in_doubt.filter(only), True)
