"""From runs to a file: reads the document, makes the page or the tables, and writes them whole or not at all.

The join of the page's parts that ``mojimeter report`` runs. Knows no command line.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mojimeter import emoji
from mojimeter.errors import InputError, MissingExtraError
from mojimeter.report.page.document import read_report
from mojimeter.report.page.options import ReportOptions, Say, silent

FORMATS = {"html": ".html", "latex": ".tex", "markdown": ".md"}
_SUFFIXES = {".html": "html", ".htm": "html", ".tex": "latex", ".md": "markdown", ".markdown": "markdown"}
MISSING_EMOJI = ("fail", "note")
STDOUT = "-"


def format_of(out: str | None, format: str | None) -> tuple[str, str]:
    """Where to write, and in which format.

    Args:
        out: a file, ``-`` for standard output, None for ``report`` with the format's suffix.
        format: html, latex or markdown; None: by the suffix of ``out``, html where there is none to go by.

    Raises:
        InputError: no such format, or a suffix that says none.
    """
    if format is not None and format not in FORMATS:
        raise InputError(f"--format {format}: expected {', '.join(FORMATS)}")
    if out is None:
        return f"report{FORMATS[format or 'html']}", format or "html"
    if format is not None:
        return out, format
    if out == STDOUT:
        return out, "html"
    found = _SUFFIXES.get(Path(out).suffix.lower())
    if found is None:
        raise InputError(f"--out {out}: expected a name ending in {', '.join(FORMATS.values())}, or --format")
    return out, found


def write_report(
    paths: Sequence[str | Path],
    out: str | None = None,
    *,
    format: str | None = None,
    judge_files: Sequence[str | Path] = (),
    missing_emoji: str = "fail",
    options: ReportOptions | None = None,
    say: Say = silent,
) -> dict[str, Any]:
    """Write a report; an existing file gives way once the new one is whole.

    Args:
        paths, judge_files, options, say: see ``document.read_report``.
        out, format: see ``format_of``.
        missing_emoji: what an emoji that the bundled font lacks does: ``fail``, or ``note``, which lists it on the page
            and leaves its picture to the reader's machine.

    Returns:
        What ``mojimeter report --json`` prints: ``out``, ``bytes``, ``format``, ``runs`` (name, kind, signature,
        items), ``emoji`` (how many different ones), ``notes``.

    Raises:
        InputError: a path, a table or an option is wrong.
        MissingEmojiError: the font lacks emoji of the page, all of them named; nothing is written.
        MissingExtraError: what pages need is not installed.
    """
    if missing_emoji not in MISSING_EMOJI:
        raise InputError(f"--missing-emoji {missing_emoji}: expected {' or '.join(MISSING_EMOJI)}")
    out, chosen = format_of(out, format)
    _check_place(out)
    document = read_report(paths, judge_files=judge_files, options=options, say=say)
    if chosen == "html":
        text = _page(document, missing_emoji, say)
    else:
        from mojimeter.report import export

        text = export.to_latex(document) if chosen == "latex" else export.to_markdown(document)
    data = text.encode("utf-8", "replace")
    _write(out, data)
    return {
        "schema": 1,
        "out": out,
        "bytes": len(data),
        "format": chosen,
        "runs": [
            {
                "name": run["name"],
                "kind": run["kind"],
                "signature": run["signature"],
                "items": (run.get("items") or {}).get("n", 0),
            }
            for run in document["runs"]
        ],
        "emoji": len(document["emoji"]["strings"]),
        "notes": [f"{run['name']}: {note}" for run in document["runs"] for note in run["notes"]],
        "missing_emoji": document.get("missing_emoji", []),
    }


def _page(document: dict[str, Any], missing_emoji: str, say: Say) -> str:
    from mojimeter import fonts

    try:
        from mojimeter.report.page.html import render
    except ImportError as error:
        raise MissingExtraError(error.name or "jinja2", "report", "writing a page") from None
    strings = document["emoji"]["strings"]
    say("cutting the emoji font", 0, 1)
    if missing_emoji == "note" and (lacking := fonts.missing_emoji(strings)):
        document["missing_emoji"] = [_about(string) for string in lacking]
        strings = [string for string in strings if string not in set(lacking)]
    font = fonts.cut_emoji_font(strings)
    say("writing the page", 0, 1)
    return render(document, font=font)


def _about(string: str) -> dict[str, str]:
    return {
        "emoji": string,
        "name": emoji.name(string),
        "points": " ".join(f"U+{ord(character):04X}" for character in string),
    }


def _check_place(out: str) -> None:
    """Refuse a place that cannot be written to before any work is done."""
    if out == STDOUT:
        return
    path = Path(out)
    if path.is_dir():
        raise InputError(f"{out}: is a folder; expected a file to write")
    if not path.parent.is_dir():
        raise InputError(f"{out}: cannot be written: there is no folder {path.parent}")


def _write(out: str, data: bytes) -> None:
    if out == STDOUT:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    path = Path(out)
    part = path.with_name(path.name + ".part")
    try:
        part.write_bytes(data)
        os.replace(part, path)
    except OSError as error:
        raise InputError(f"{out}: cannot be written: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)
