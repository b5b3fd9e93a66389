"""What an emoji is: find, strip, compare, name, group, rank by use.

Cheap to import: the tables load on first use, and Polars only with the column functions.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mojimeter.emoji.compare import LEVELS, Level, key, same
from mojimeter.emoji.damage import DAMAGE_CLASS, damage, without_damage
from mojimeter.emoji.names import (
    LANGUAGES,
    RANKED,
    all_emoji,
    group,
    is_component,
    keywords,
    name,
    rank,
    subgroup,
    top,
)
from mojimeter.emoji.points import CodePoints, code_points
from mojimeter.emoji.scan import TEXT_SIGNS, find, is_emoji, spans, strip

if TYPE_CHECKING:
    from mojimeter.emoji.columns import find_column, strip_column

__all__ = [
    "DAMAGE_CLASS",
    "LANGUAGES",
    "LEVELS",
    "RANKED",
    "TEXT_SIGNS",
    "CodePoints",
    "Level",
    "all_emoji",
    "code_points",
    "damage",
    "find",
    "find_column",
    "group",
    "is_component",
    "is_emoji",
    "key",
    "keywords",
    "name",
    "rank",
    "same",
    "spans",
    "strip",
    "strip_column",
    "subgroup",
    "top",
    "without_damage",
]

_LATE = {"find_column": "columns", "strip_column": "columns"}


def __getattr__(name: str) -> Any:
    if name in _LATE:
        return getattr(import_module(f"mojimeter.emoji.{_LATE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
