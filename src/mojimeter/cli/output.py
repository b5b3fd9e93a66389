"""How commands speak: one JSON object on stdout, or text for people; never both."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any

import typer

JSON_OPTION = typer.Option(False, "--json", help="Write one JSON object to stdout and nothing else there.")


def write_json(document: Mapping[str, Any]) -> None:
    """Write one JSON object to stdout; NaN and infinity are refused rather than written."""
    json.dump(document, sys.stdout, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")
    sys.stdout.flush()  # while a reader that has gone can still be told from an error of ours


def write_warnings(warnings: Iterable[str]) -> None:
    """Write warnings to stderr, one a line."""
    from mojimeter.report.plain import plain

    for warning in warnings:
        typer.echo(f"warning: {plain(warning)}", err=True)
