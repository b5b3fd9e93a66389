"""The TOML form of a printed table: which sections there are, and what each must look like.

Knows the shape of the document, not what its numbers mean.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mojimeter.errors import InputError

TABLES = (
    "design",
    "mean_squares",
    "sums_of_squares",
    "df",
    "share_of_ss",
    "components",
    "share_of_variance",
    "quantities",
)
LISTS: dict[str, tuple[str, ...]] = {
    "f": ("effect", "error", "value", "df", "p", "name"),
    "means": ("of", "n", "values", "integer", "name"),
    "p": ("name", "test", "value", "df", "n", "p"),
    "raters_needed": ("target", "value", "object_variance", "name"),
    "claim": ("name", "value", "equals", "at_least", "at_most", "between"),
}
NEEDED: dict[str, tuple[str, ...]] = {
    "f": ("effect", "error", "value"),
    "means": ("of", "n", "values"),
    "p": ("test", "value", "p"),
    "raters_needed": ("target", "value"),
    "claim": ("name", "value"),
}


def read_toml(path: str | Path) -> dict[str, Any]:
    """A TOML file as a dictionary.

    Raises:
        InputError: not there, not UTF-8, not TOML; names file and line.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    if path.stat().st_size > 5_000_000:
        raise InputError(f"{path}: larger than 5 MB; expected the numbers of one paper as TOML")
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8; save the file as UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{path}: not readable as TOML: {str(error).splitlines()[0]}") from None


def check_shape(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document with every section there and every list of tables a list.

    Raises:
        InputError: unknown sections or keys, missing keys, values of the wrong kind.
    """
    out: dict[str, Any] = {name: {} for name in TABLES} | {name: [] for name in LISTS}
    for name, section in document.items():
        if name in TABLES:
            if not isinstance(section, Mapping):
                raise InputError(f"[{name}]: expected a table of names and values")
            out[name] = dict(section)
        elif name in LISTS:
            out[name] = _entries(name, section)
        elif name not in ("title", "source"):
            raise InputError(f"no section {name!r}; expected {', '.join((*TABLES, *LISTS, 'title', 'source'))}")
    needs = ("mean_squares", "sums_of_squares", "df", "f", "share_of_ss", "components", "share_of_variance")
    for name in (*needs, "raters_needed"):
        if out[name] and not out["design"]:
            raise InputError(f"[{name}] needs a [design] with the facets and their numbers of levels")
    return out


def _entries(name: str, section: object) -> list[dict[str, Any]]:
    entries = [section] if isinstance(section, Mapping) else section
    if not isinstance(entries, Sequence) or not all(isinstance(e, Mapping) for e in entries):
        raise InputError(f"[[{name}]]: expected tables")
    checked = []
    for number, entry in enumerate(entries, 1):
        where = f"[[{name}]] {number}"
        for key in entry:
            if key not in LISTS[name]:
                raise InputError(f"{where}: no key {key!r}; expected {', '.join(LISTS[name])}")
        for key in NEEDED[name]:
            if key not in entry:
                raise InputError(f"{where}: no {key!r}; expected {', '.join(NEEDED[name])}")
        checked.append(dict(entry))
    return checked


def text_of(entry: Mapping[str, Any], key: str, where: str) -> str:
    """A string of an entry.

    Raises:
        InputError: something else.
    """
    value = entry[key]
    if not isinstance(value, str):
        raise InputError(f"{where}: {key} = {value!r}; expected a string")
    return value


def count_of(entry: Mapping[str, Any], key: str, where: str, least: int = 1) -> int:
    """A whole number of an entry.

    Raises:
        InputError: something else, or less than `least`.
    """
    value = entry.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{where}: {key} = {value!r}; expected a whole number of {least} or more")
    return value
