"""What can be wrong with a finished benchmark: emoji left in the text, near duplicates and authors across splits.

Reads the posts as they will be written, part by part, and keeps only numbers and a few ids. Nothing is corrected here.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import Any, Final

import numpy as np
import polars as pl

from mojimeter import emoji
from mojimeter.build.keys import hash_column, near_keys
from mojimeter.build.masks import TOKENS, count_masks, mask_column

_EXAMPLES: Final = 5
_NAMED: Final = r":[a-z0-9_+'’-]{2,}:"


class Description:
    """How a set of posts looks: size, emoji and tokens a post, languages, authors."""

    def __init__(self) -> None:
        self.posts = self._emoji = self._tokens = self._authors_known = 0
        self._distinct: set[str] = set()
        self._authors: set[int] = set()
        self._languages: Counter[str] = Counter()

    def add(self, frame: pl.DataFrame) -> None:
        """More posts: columns ``plain`` and ``found`` (lists), ``author``, ``lang``."""
        self.posts += frame.height
        self._emoji += int(frame["found"].list.len().sum() or 0)
        self._tokens += int(frame["plain"].str.count_matches(r"\S+").sum() or 0)
        self._distinct.update(emoji.key(one) for one in frame["found"].explode().drop_nulls().unique().to_list())
        authors = frame["author"].drop_nulls()
        self._authors_known += len(authors)
        self._authors.update(hash_column(authors.unique()).to_list())
        for language, count in frame["lang"].drop_nulls().value_counts().iter_rows():
            self._languages[language] += count

    def to_dict(self) -> dict[str, Any]:
        def mean(total: int) -> float | None:
            return round(total / self.posts, 4) if self.posts else None

        return {
            "posts": self.posts,
            "emoji_per_post": mean(self._emoji),
            "distinct_emoji": len(self._distinct),
            "tokens_per_post": mean(self._tokens),
            "authors": len(self._authors) if self._authors_known else None,
            "languages": dict(sorted(self._languages.items(), key=lambda pair: (-pair[1], pair[0]))),
        }


class Audit:
    """Leaks in the posts as written; feed it part by part, then ask."""

    def __init__(self) -> None:
        self._ids: list[pl.Series] = []
        self._near: list[np.ndarray[Any, np.dtype[np.uint64]]] = []
        self._authors: list[pl.Series] = []
        self._splits: list[pl.Series] = []
        self._left: list[str] = []
        self._named: list[str] = []
        self._left_posts = self._named_posts = 0
        self._masks: Counter[str] = Counter()

    def add(self, frame: pl.DataFrame) -> None:
        """More posts: ``id``, ``text``, ``plain``, ``author``, ``split``."""
        left = frame.filter(emoji.find_column(frame["plain"]).list.len() > 0)["id"]
        self._left_posts += len(left)
        self._left += left.head(_EXAMPLES).to_list()
        in_doubt = frame.filter(frame["plain"].str.contains(_NAMED))
        named = [i for i, text in in_doubt.select("id", "plain").iter_rows() if names_an_emoji(text)]
        self._named_posts += len(named)
        self._named += named[:_EXAMPLES]
        self._masks.update(count_masks(frame["text"]))
        self._near.append(near_keys(mask_column(frame["text"])))
        hashed = pl.when(pl.col("author").is_not_null()).then(hash_column(frame["author"])).alias("author")
        self._authors.append(frame.select(hashed).to_series())
        self._splits.append(frame["split"])
        # ids are only for examples across splits
        no_splits = frame["split"].null_count() == frame.height
        self._ids.append(pl.repeat(None, frame.height, dtype=pl.String, eager=True) if no_splits else frame["id"])

    def to_dict(self) -> dict[str, Any]:
        near = pl.Series("key", np.concatenate(self._near) if self._near else [], dtype=pl.UInt64)
        splits = pl.concat(self._splits) if self._splits else pl.Series([], dtype=pl.String)
        authors = pl.concat(self._authors) if self._authors else pl.Series([], dtype=pl.UInt64)
        repeats = int((~near.is_first_distinct()).sum() or 0)
        return {
            "emoji_left_in_text": {"posts": self._left_posts, "examples": self._left[:_EXAMPLES]},
            "emoji_named_in_text": {"posts": self._named_posts, "examples": self._named[:_EXAMPLES]},
            "near_duplicates": {"posts": repeats, "across_splits": self._across(near, splits, "no column 'split'")},
            "authors_across_splits": self._across(authors, splits, "no column 'author' or no column 'split'"),
            "masked": {name: self._masks[name] for name in TOKENS},
        }

    def _across(self, keys: pl.Series, splits: pl.Series, reason: str) -> dict[str, Any]:
        """Keys that stand in more than one split: how many, in how many posts, and some of these."""
        if splits.null_count() == len(splits) or keys.null_count() == len(keys):
            return {"value": None, "reason": reason}
        both = pl.DataFrame({"key": keys, "split": splits}).with_row_index("row").drop_nulls()
        both = both.filter(pl.col("key").is_duplicated())
        crossing = both.filter(pl.col("split").n_unique().over("key") > 1)
        rows = crossing.sort("key", "row").head(_EXAMPLES)["row"]
        ids = pl.concat(self._ids)
        return {
            "groups": crossing["key"].n_unique(),
            "posts": crossing.height,
            "examples": ids.gather(rows).to_list(),
        }


def names_an_emoji(text: str) -> bool:
    """Whether a text spells an emoji out, as ``:joy:`` does: it is in the text though no emoji is."""
    return any(match in _names() for match in re.findall(_NAMED, text))


@lru_cache(maxsize=1)
def _names() -> frozenset[str]:
    from emoji import EMOJI_DATA

    names: set[str] = set()
    for about in EMOJI_DATA.values():
        names.update([str(about["en"]).lower(), *about.get("alias", ())])
    return frozenset(names)
