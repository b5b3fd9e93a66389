"""Every emoji of a report, once: items, curves and axes name an emoji by its place in this list.

The page marks emoji in running text by this list, so it holds all that the project's own scanner finds anywhere in what
is shown. Knows strings, nothing of runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mojimeter import emoji


class EmojiIndex:
    """The emoji met so far, in the order in which they were met."""

    def __init__(self) -> None:
        self._place: dict[str, int] = {}

    @property
    def strings(self) -> list[str]:
        """The emoji as they are written, by place."""
        return list(self._place)

    def place(self, string: str) -> int:
        """The place of an emoji, a new one where it was not met before."""
        return self._place.setdefault(string, len(self._place))

    def places(self, strings: Iterable[str]) -> list[int]:
        """The places of several."""
        return [self.place(string) for string in strings]

    def scan(self, shown: Any) -> None:
        """Take in every emoji of every string in a tree of JSON's types, names of fields included."""
        if isinstance(shown, str):
            self.places(emoji.find(shown))
        elif isinstance(shown, Mapping):
            for name, value in shown.items():
                self.scan(name)
                self.scan(value)
        elif isinstance(shown, list | tuple):
            for value in shown:
                self.scan(value)

    def to_dict(self) -> dict[str, Any]:
        """Columns by place: ``strings``, ``name`` (CLDR, English), ``group`` (Unicode's; null where it is newer than
        the table) and ``use`` (place among all emoji by use, 1 for the most used; null where it is not ranked).
        """
        strings = self.strings
        return {
            "strings": strings,
            "name": [emoji.name(string) for string in strings],
            "group": [emoji.group(string) for string in strings],
            "use": [emoji.rank(string) for string in strings],
            "ranked": emoji.RANKED,
        }
