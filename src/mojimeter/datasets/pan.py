"""Posts from the PAN-2018 author-profiling corpus: one XML file an author, genders in ``truth.txt``.

The corpus is not public, so a copy is somebody's file like any other: document types and entities are
refused before the parser sees them.
"""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import polars as pl

from mojimeter.errors import InputError

_DECLARATION = re.compile(rb"<!(DOCTYPE|ENTITY)", re.IGNORECASE)


def read_pan(folder: Path) -> pl.DataFrame:
    """Read a folder ``LANG/{text/*.xml,truth.txt}`` (or the folder above several languages).

    Returns:
        Columns ``id`` (author and position), ``text``, ``author``, ``lang``, ``gender`` (null where the truth
        file does not name the author).

    Raises:
        InputError: no author files, a file that is not the corpus' XML, a line of the truth file that is not.
    """
    files = sorted(folder.glob("**/*.xml"))
    if not files:
        raise InputError(f"{folder}: no .xml file of an author; expected a PAN-2018 folder or a table file")
    genders = {k: v for truth in sorted(folder.glob("**/truth.txt")) for k, v in _read_truth(truth).items()}
    rows = [
        {
            "id": f"{path.stem}-{i}",
            "text": text,
            "author": path.stem,
            "lang": lang,
            "gender": genders.get(path.stem),
        }
        for path in files
        for lang, texts in [_read_author(path)]
        for i, text in enumerate(texts)
    ]
    if not rows:
        raise InputError(f"{folder}: no document in any author's file")
    return pl.DataFrame(rows, schema_overrides={"gender": pl.String, "lang": pl.String})


def _read_author(path: Path) -> tuple[str | None, list[str]]:
    data = path.read_bytes()
    if _DECLARATION.search(data):
        raise InputError(f"{path}: holds a document type or entity declaration, which the corpus never does")
    try:
        root = ElementTree.fromstring(data)
    except ElementTree.ParseError as error:
        raise InputError(f"{path}, line {error.position[0]}: not XML ({error.msg.split(':')[0]})") from None
    if root.tag != "author":
        raise InputError(f"{path}: expected the element 'author', found {root.tag!r}")
    return root.get("lang"), [d.text for d in root.iter("document") if d.text and d.text.strip()]


def _read_truth(path: Path) -> dict[str, str]:
    genders = {}
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        if line.strip():
            author, separator, gender = line.strip().partition(":::")
            if not separator or gender not in ("male", "female"):
                raise InputError(f"{path}, line {number}: expected AUTHOR:::male or AUTHOR:::female, found {line!r}")
            genders[author] = gender
    return genders
