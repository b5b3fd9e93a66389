"""Rating sheets for people: blinded, in random order balanced for position, and read back without loss.

A sheet is a CSV file that opens in any spreadsheet. It shows the post and a reply, never which system wrote it: each
row has an opaque name, a keyed hash whose secret stays in the key file beside the sheets. Knows tables of items,
systems and texts; nothing of models.
"""

from __future__ import annotations

import csv
import hashlib
import hmac
import json
import os
import re
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from mojimeter.datasets.tables import SUFFIXES, read_table
from mojimeter.errors import InputError
from mojimeter.ratings.orders import deal, order_in_rounds

Design = Literal["crossed", "bib"]
KEY = "key.json"
COLUMNS = ("cell", "post", "reply", "score")
PROBLEMS = ("missing", "not_a_number", "out_of_scale", "double", "unknown_cell", "wrong_sheet", "no_sheet")

# A spreadsheet takes a cell that starts so for a formula, also after blanks.
_FORMULA = re.compile(r"^\s*[=+\-@\t\r|]")
_FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)")


@dataclass(frozen=True)
class Cell:
    """What one rating is about: an item, the system that replied, and both texts as shown."""

    item: str
    system: str
    post: str
    reply: str


@dataclass(frozen=True)
class Source:
    """Cells to be rated, and what could not be: outputs without a reply, repeats of the same system and item."""

    cells: tuple[Cell, ...]
    without_reply: int
    repeats: int


@dataclass(frozen=True)
class Sheets:
    """Who rates what, in which order.

    Attributes:
        cells: all cells.
        raters: names.
        orders: for each rater, cell numbers in the order of the sheet.
        design, seed, scale: as asked for.
    """

    cells: tuple[Cell, ...]
    raters: tuple[str, ...]
    orders: tuple[tuple[int, ...], ...]
    design: Design
    seed: int
    scale: tuple[float, float] | None = None

    def balance(self) -> dict[str, Any]:
        """How even the design is: ratings per cell, and cells shared by pairs of raters, least and most."""
        per_cell = Counter(c for order in self.orders for c in order)
        counts = [per_cell[c] for c in range(len(self.cells))]
        sets = [set(order) for order in self.orders]
        shared = [len(a & b) for a, b in combinations(sets, 2)]
        out: dict[str, Any] = {"ratings_per_cell": [min(counts), max(counts)]}
        if shared:
            out["cells_shared_by_pairs"] = [min(shared), max(shared)]
        return out

    def to_dict(self) -> dict[str, Any]:
        return {
            "design": self.design,
            "cells": len(self.cells),
            "raters": list(self.raters),
            "per_rater": [len(order) for order in self.orders],
            "seed": self.seed,
            "scale": None if self.scale is None else list(self.scale),
        } | self.balance()


def read_source(path: str | Path, mapping: Mapping[str, str] | None = None) -> Source:
    """Cells from a run folder (its posts and outputs) or from a table with item, system and text.

    A run's posts are shown without their emoji. A table may have a column `post` too; `text` (or `reply`) is what is
    rated.

    Raises:
        InputError: nothing to read, a column or post that is missing.
    """
    path = Path(path)
    if path.is_dir():
        return _read_run(path)
    mapping = dict(mapping or {})
    frame = read_table(path, mapping=mapping)
    shown = "text" if "text" in frame.columns else "reply"
    for name in ("item", "system", shown):
        if name not in frame.columns:
            raise InputError(f"{path}: no column {name!r}; it has {', '.join(frame.columns)}")
    posts = frame["post"] if "post" in frame.columns else pl.Series("post", [""] * frame.height)
    columns = [c.cast(pl.String).to_list() for c in (frame["item"], frame["system"], posts, frame[shown])]
    for row, (item, system) in enumerate(zip(columns[0], columns[1], strict=True), 1):
        if not item or not system:
            raise InputError(f"{path}: row {row}: no {'system' if item else 'item'}; expected a name")
    return _cells(zip(*columns, strict=True))


def _read_run(folder: Path) -> Source:
    from mojimeter.datasets.records import as_outputs, as_posts

    paths = {name: _table_in(folder, name) for name in ("posts", "outputs")}
    posts = as_posts(read_table(paths["posts"]), str(paths["posts"]))
    outputs = as_outputs(read_table(paths["outputs"]), str(paths["outputs"]))
    texts = dict(zip(posts["id"].to_list(), posts["text"].to_list(), strict=True))
    strategies = outputs.select("system", "strategy").unique()
    several = {s for s, n in Counter(strategies["system"].to_list()).items() if n > 1}
    rows = []
    for row in outputs.sort("epoch", nulls_last=False, maintain_order=True).iter_rows(named=True):
        if row["id"] not in texts:
            raise InputError(f"{paths['outputs']}: id {row['id']!r} has no post in {paths['posts'].name}")
        system = f"{row['system']} ({row['strategy']})" if row["system"] in several else row["system"]
        rows.append((row["id"], system, texts[row["id"]], row["reply"]))
    return _cells(iter(rows))


def _table_in(folder: Path, name: str) -> Path:
    for suffix in SUFFIXES:
        if (folder / (name + suffix)).is_file():
            return folder / (name + suffix)
    raise InputError(f"{folder}: no {name} table ({name}.csv, .jsonl or .parquet); expected a run folder")


def _cells(rows: Iterator[tuple[Any, ...]]) -> Source:
    """The first reply of each system to each item; what has no reply or comes again is counted."""
    found: dict[tuple[str, str], Cell] = {}
    without, repeats = 0, 0
    for item, system, post, reply in rows:
        if reply is None or not str(reply).strip():
            without += 1
        elif (item, system) in found:
            repeats += 1
        else:
            found[item, system] = Cell(item, system, post or "", str(reply))
    return Source(tuple(found.values()), without, repeats)


def make_sheets(
    cells: Sequence[Cell],
    raters: int | Sequence[str],
    *,
    design: Design = "crossed",
    per_rater: int | None = None,
    scale: tuple[float, float] | None = None,
    seed: int = 1,
) -> Sheets:
    """Who rates what, in which order.

    Crossed: everybody rates everything. Balanced incomplete (``bib``): everybody rates all systems on some items, so
    that systems are compared within raters; items are dealt so that each gets as many raters and each pair of raters
    shares as many items as the numbers allow.

    Order: a sheet goes through its items once per round, in new random order, each time with another system, balanced
    for position (``ratings.orders``).

    Args:
        cells: what is to be rated; not every system needs every item.
        raters: how many, or their names.
        per_rater: ratings of each rater in a balanced incomplete design, a multiple of the number of systems.
        scale: lowest and highest score, checked when sheets are read back.
        seed: of all orders; the same seed gives the same sheets but for their secret names.

    Raises:
        InputError: nothing to rate, numbers that do not go together, names that are no file names.
    """
    names = tuple(f"rater_{k + 1}" for k in range(raters)) if isinstance(raters, int) else tuple(raters)
    _check_names(names)
    if not cells:
        raise InputError("nothing to rate: no output has a reply")
    if scale is not None and not scale[0] < scale[1]:
        raise InputError(f"the scale runs from {scale[0]:g} to {scale[1]:g}; expected a lower and a higher end")
    rng = np.random.default_rng(seed)
    items = list(dict.fromkeys(c.item for c in cells))
    systems = list(dict.fromkeys(c.system for c in cells))
    number = {item: k for k, item in enumerate(items)}
    turn = dict(zip(systems, rng.permutation(len(systems)).tolist(), strict=True))
    place = {(number[c.item], turn[c.system]): k for k, c in enumerate(cells)}
    if design == "crossed":
        if per_rater is not None and per_rater != len(cells):
            raise InputError(f"crossed raters rate all {len(cells)} cells; for {per_rater} each use the design bib")
        dealt = [list(range(len(items)))] * len(names)
    elif design == "bib":
        dealt = deal(len(items), len(names), _items_each(per_rater, len(systems), len(items)), rng)
    else:
        raise InputError(f"no design {design!r}; expected crossed or bib")
    rank = rng.permutation(len(items))
    own = [sorted(numbers, key=lambda k: int(rank[k])) for numbers in dealt]
    there = place.keys()
    orders = tuple(
        tuple(place[pair] for pair in order_in_rounds(numbers, len(systems), rater, there, rng))
        for rater, numbers in enumerate(own)
    )
    return Sheets(tuple(cells), names, orders, design, seed, scale)


def _check_names(names: Sequence[str]) -> None:
    if not names:
        raise InputError("0 raters: at least one is needed")
    for name in names:
        if not re.fullmatch(r"\w[\w .-]{0,60}", name) or name.endswith((" ", ".")) or name.lower() == "key":
            raise InputError(f"rater {name!r} cannot be a file's name; expected letters, digits, _ and -")
    if len({n.lower() for n in names}) < len(names):
        raise InputError("two raters have one name")


def _items_each(per_rater: int | None, systems: int, items: int) -> int:
    if per_rater is None:
        raise InputError("a balanced incomplete design needs the number of ratings per rater (--per-rater)")
    each, rest = divmod(per_rater, systems)
    if rest or not 1 <= each <= items:
        near = [n for n in (each * systems, (each + 1) * systems) if 0 < n <= items * systems]
        raise InputError(
            f"{per_rater} ratings per rater; raters see all {systems} systems on each of their items, so expected a "
            f"multiple of {systems} up to {items * systems}{f', such as {near[-1]}' if near else ''}"
        )
    return each


def write_sheets(sheets: Sheets, folder: str | Path) -> list[Path]:
    """Write one CSV per rater and the key.

    The key file must stay with you: who has it can tell the systems apart. It is readable by its owner only.

    Raises:
        InputError: the folder holds a key already, or cannot be written.
    """
    folder = Path(folder)
    key = folder / KEY
    if key.exists():
        raise InputError(
            f"{key} is there already; new sheets would make the old ones unreadable, choose another folder"
        )
    secret = secrets.token_hex(32)
    document = {
        "schema": 1,
        "keep_secret": "whoever has this file can tell which system wrote what; do not send it to raters",
        "secret": secret,
        "design": sheets.design,
        "seed": sheets.seed,
        "scale": None if sheets.scale is None else list(sheets.scale),
        "cells": [[c.item, c.system] for c in sheets.cells],
        "orders": dict(zip(sheets.raters, [list(o) for o in sheets.orders], strict=True)),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            json.dump(document, file, ensure_ascii=False)
        written = []
        for rater, order in zip(sheets.raters, sheets.orders, strict=True):
            path = folder / f"{rater}.csv"
            # the mark at the start makes spreadsheets read UTF-8
            with path.open("x", encoding="utf-8-sig", newline="") as file:
                out = csv.writer(file)
                out.writerow(COLUMNS)
                for cell in (sheets.cells[k] for k in order):
                    name = blind_name(secret, rater, cell.item, cell.system)
                    out.writerow([name, _harmless(cell.post), _harmless(cell.reply), ""])
            written.append(path)
    except OSError as error:
        raise InputError(f"{error.filename or folder}: cannot be written: {error.strerror}") from None
    return written


def blind_name(secret: str, rater: str, item: str, system: str) -> str:
    """A cell's name on one rater's sheet: c and 20 hexadecimal digits of HMAC-SHA256 (RFC 2104)."""
    message = json.dumps([rater, item, system], ensure_ascii=False).encode()
    return "c" + hmac.new(secret.encode(), message, hashlib.sha256).hexdigest()[:20]


def _harmless(text: str) -> str:
    """Text that no spreadsheet takes for a formula, without control characters."""
    text = _FORBIDDEN.sub("\ufffd", text)
    return "'" + text if _FORMULA.match(text) else text


@dataclass(frozen=True)
class Problem:
    """One row of a sheet that did not give a rating, or gave too many."""

    kind: str
    rater: str
    row: int | None
    cell: str
    what: str

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "rater": self.rater, "row": self.row, "cell": self.cell, "what": self.what}


@dataclass
class Collected:
    """What the sheets gave back.

    Attributes:
        ratings: columns item, system, rater, score, position (place on the sheet, from 1).
        expected: ratings asked for.
        problems: everything that is not in `ratings`, or is there twice.
    """

    ratings: pl.DataFrame
    expected: int
    problems: list[Problem] = field(default_factory=list)

    @property
    def complete(self) -> float:
        """Share of the ratings asked for that are there."""
        return self.ratings.height / self.expected if self.expected else 0.0

    def to_dict(self) -> dict[str, Any]:
        counts = Counter(p.kind for p in self.problems)
        return {
            "ratings": self.ratings.height,
            "expected": self.expected,
            "complete": self.complete,
            "problems": {kind: counts.get(kind, 0) for kind in PROBLEMS},
            "details": [p.to_dict() for p in self.problems],
        }


@dataclass(frozen=True)
class _Key:
    secret: str
    cells: tuple[tuple[str, str], ...]
    orders: Mapping[str, tuple[int, ...]]
    scale: tuple[float, float] | None


def collect_sheets(folder: str | Path) -> Collected:
    """Read filled-in sheets back into the long table.

    Rows may have been sorted, sheets saved with semicolons or tabs. Every score is either in the table or among the
    problems: missing, not a number, out of scale, double (kept if both say the same, else neither), a row that is not
    from these sheets, or from another rater's.

    Raises:
        InputError: no key, a broken key, or a sheet that is no table.
    """
    folder = Path(folder)
    key = _read_key(folder / KEY)
    owner = {blind_name(key.secret, r, *key.cells[c]): r for r, order in key.orders.items() for c in order}
    rows: list[tuple[str, str, str, float, int]] = []
    found = Collected(pl.DataFrame(), sum(len(order) for order in key.orders.values()))
    for rater, order in key.orders.items():
        names = {blind_name(key.secret, rater, *key.cells[c]): (k, c) for k, c in enumerate(order, 1)}
        path = folder / f"{rater}.csv"
        if not path.is_file():
            found.problems.append(
                Problem("no_sheet", rater, None, "", f"{path} is not there: {len(order)} ratings missing")
            )
            continue
        scores: dict[str, list[tuple[int, float | None]]] = {name: [] for name in names}
        for row, name, text in _read_sheet(path):
            if name not in names:
                other = owner.get(name)
                kind = "unknown_cell" if other is None else "wrong_sheet"
                what = f"score {text!r} for a cell " + (
                    "that is on no sheet" if other is None else f"of {other}'s sheet"
                )
                found.problems.append(Problem(kind, rater, row, name, what))
                continue
            scores[name].append((row, _score(text, key.scale, rater, row, name, found.problems)))
        for name, (position, cell) in names.items():
            score = _settle(scores[name], rater, name, found.problems)
            if score is not None:
                rows.append((*key.cells[cell], rater, score, position))
    schema = {"item": pl.String, "system": pl.String, "rater": pl.String, "score": pl.Float64, "position": pl.Int64}
    found.ratings = pl.DataFrame(rows, schema=schema, orient="row")
    return found


def _read_key(path: Path) -> _Key:
    if not path.is_file():
        raise InputError(f"{path}: no such file; expected the key that was written with the sheets")
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        cells = tuple((str(item), str(system)) for item, system in document["cells"])
        orders = {str(r): tuple(int(c) for c in order) for r, order in document["orders"].items()}
        if any(not 0 <= c < len(cells) for order in orders.values() for c in order):
            raise ValueError
        _check_names(tuple(orders))
        scale = document.get("scale")
        return _Key(
            str(document["secret"]), cells, orders, None if scale is None else (float(scale[0]), float(scale[1]))
        )
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, UnicodeDecodeError):
        raise InputError(f"{path}: not a key that mojimeter wrote") from None


def _read_sheet(path: Path) -> Iterator[tuple[int, str, str]]:
    """Row number (the first row of data is 1), cell name and score as text, of every row that is not blank."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8; save the sheet as CSV UTF-8") from None
    header = text.split("\n", 1)[0]
    separator = max(",;\t", key=header.count)
    reader = csv.reader(text.splitlines(keepends=True), delimiter=separator)
    try:
        names = [name.strip().lower() for name in next(reader, [])]
        if "cell" not in names or "score" not in names:
            raise InputError(f"{path}: no columns cell and score; it has {', '.join(names) or 'none'}")
        cell, score = names.index("cell"), names.index("score")
        for row, values in enumerate(reader, 1):
            if any(v.strip() for v in values):
                padded = values + [""] * (max(cell, score) + 1 - len(values))
                yield row, padded[cell].strip(), padded[score].strip()
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: {error}") from None


def _score(
    text: str, scale: tuple[float, float] | None, rater: str, row: int, name: str, problems: list[Problem]
) -> float | None:
    """A score; a decimal comma is a decimal point. What is none is written down among the problems."""
    if not text:
        return None
    if not _NUMBER.fullmatch(text):
        problems.append(Problem("not_a_number", rater, row, name, f"{text[:40]!r}; expected a number"))
        return None
    value = float(text.replace(",", "."))
    if scale is not None and not scale[0] <= value <= scale[1]:
        what = f"{value:g} is not on the scale from {scale[0]:g} to {scale[1]:g}"
        problems.append(Problem("out_of_scale", rater, row, name, what))
        return None
    return value


def _settle(given: list[tuple[int, float | None]], rater: str, name: str, problems: list[Problem]) -> float | None:
    """The one score of a cell, or none."""
    scores = [(row, s) for row, s in given if s is not None]
    if len(given) > 1:
        values = {s for _, s in scores}
        listed = ", ".join(f"{s:g} in row {row}" for row, s in scores) or "no score in any"
        kept = "kept once" if len(values) == 1 else "not kept" if values else "no score"
        problems.append(Problem("double", rater, given[-1][0], name, f"{len(given)} rows: {listed}; {kept}"))
        return scores[0][1] if len(values) == 1 else None
    if not scores:
        # a score that could not be read was reported already
        reported = any(
            p.cell == name and p.rater == rater and p.kind in ("not_a_number", "out_of_scale") for p in problems
        )
        if not reported:
            row = given[0][0] if given else None
            what = "no score" if given else "the row is gone from the sheet"
            problems.append(Problem("missing", rater, row, name, what))
        return None
    return scores[0][1]


def read_scale(text: str | None) -> tuple[float, float] | None:
    """``"1-5"`` as its ends.

    Raises:
        InputError: something else.
    """
    if text is None:
        return None
    found = re.fullmatch(r"\s*(-?[0-9.]+)\s*(?:-|to|\.\.)\s*(-?[0-9.]+)\s*", text)
    try:
        ends = (float(found[1]), float(found[2])) if found else None
    except ValueError:
        ends = None
    if ends is None or not ends[0] < ends[1]:
        raise InputError(f"--scale {text!r}: expected the lowest and highest score, such as 1-5")
    return ends
