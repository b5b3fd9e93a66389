"""Strict reading of JSON files that others wrote: what is wrong is one sentence with the file and the place.

Knows JSON, not what is in it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from mojimeter.errors import InputError

# JSON can hold halves of surrogate pairs, which no text file can; a broken emoji stays visible.
_NOT_UTF8 = str.maketrans(dict.fromkeys(range(0xD800, 0xE000), "\ufffd"))


def read_json(path: Path) -> Any:
    """The document in a file.

    Raises:
        InputError: no such file, not UTF-8, not JSON, nested too deeply.
    """
    return parse_json(read_text(path), str(path))


def read_json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line number (from 1) and object of every line that is not blank.

    Raises:
        InputError: a line is not a JSON object.
    """
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        value = parse_json(line, where)
        if not isinstance(value, dict):
            raise InputError(f"{where}: expected a JSON object, found {kind(value)}")
        yield number, value


def read_text(path: Path) -> str:
    """A UTF-8 file; a byte order mark is ignored.

    Raises:
        InputError: no such file, or not UTF-8.
    """
    if path.is_dir():
        raise InputError(f"{path} is a folder; expected a file")
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputError(f"{path}, line {line}: not UTF-8; save the file as UTF-8") from None


def parse_json(text: str, where: str) -> Any:
    """A JSON text; NaN and infinity, which JSON does not have, are refused.

    Raises:
        InputError: not JSON.
    """
    try:
        return json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise InputError(f"{where}: not JSON ({error.msg}, line {error.lineno}, column {error.colno})") from None
    except ValueError as error:  # NaN, or a number of thousands of digits
        raise InputError(f"{where}: not JSON ({str(error).splitlines()[0]})") from None
    except RecursionError:
        raise InputError(f"{where}: nested too deeply for a file of this kind") from None


def as_text(value: Any) -> str | None:
    """A JSON value as a cell of a table: strings as they are, numbers as written, the rest as JSON; null is None."""
    if value is None:
        return None
    if isinstance(value, str):
        return value.translate(_NOT_UTF8)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return json.dumps(value, ensure_ascii=False).translate(_NOT_UTF8)


def kind(value: Any) -> str:
    """What a JSON value is, in JSON's own words."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false", int: "a number"}
    return "null" if value is None else names.get(type(value), "a number")


def get_list(holder: dict[str, Any], name: str, where: str) -> list[Any]:
    """A member that must be a list; absent or null is empty.

    Raises:
        InputError: it is something else.
    """
    value = holder.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise InputError(f"{where}.{name}: expected a list, found {kind(value)}")
    return value


def get_object(value: Any, where: str) -> dict[str, Any]:
    """A value that must be an object.

    Raises:
        InputError: it is something else.
    """
    if not isinstance(value, dict):
        raise InputError(f"{where}: expected an object, found {kind(value)}")
    return value


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"the number {text[:20]} is too large")
    return number


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"it has no {name}")
