"""What an emoji is: find, strip, compare, name, group, rank by use.

Cheap to import: the tables load on first use, and Polars only with the column functions.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mojimeter.emoji.compare import LEVELS, Level, key, same
from mojimeter.emoji.scan import TEXT_SIGNS, find, is_emoji, spans, strip

if TYPE_CHECKING:
    from mojimeter.emoji.columns import find_column, strip_column

__all__ = [
    "LEVELS",
    "TEXT_SIGNS",
    "Level",
    "find",
    "find_column",
    "is_emoji",
    "key",
    "same",
    "spans",
    "strip",
    "strip_column",
]

_LATE = {"find_column": "columns", "strip_column": "columns"}


def __getattr__(name: str) -> Any:
    if name in _LATE:
        return getattr(import_module(f"mojimeter.emoji.{_LATE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
