"""Writes docs/cli.md from the commands' own help, so that the two cannot disagree.

    python scripts/write_cli_docs.py [--check]

With ``--check`` it writes nothing and leaves with 1 where the page is not what it would write.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ["COLUMNS"] = "100"
os.environ["TERMINAL_WIDTH"] = "100"

from typer.main import get_command
from typer.testing import CliRunner

from mojimeter.cli.app import app

PAGE = Path(__file__).resolve().parents[1] / "docs" / "cli.md"
HEAD = """# Commands

Written by `make docs` from the commands' own help.
Exit codes: 0 done, 1 failed, 2 wrong usage or unreadable input, 3 a gate (`--fail-under`) was not met, 4 partial but
resumable, 130 interrupted.
"""


def names() -> list[tuple[str, ...]]:
    """Every command's words, groups before their commands."""
    root = get_command(app)
    found: list[tuple[str, ...]] = []
    for name, command in root.commands.items():  # type: ignore[attr-defined]
        found.append((name,))
        found += [(name, sub) for sub in getattr(command, "commands", {})]
    return found


def page() -> str:
    """The page's text."""
    parts = [HEAD]
    for words in names():
        result = CliRunner().invoke(app, [*words, "--help"], prog_name="mojimeter", terminal_width=100)
        if result.exit_code:
            raise SystemExit(f"mojimeter {' '.join(words)} --help: exit code {result.exit_code}")
        text = "\n".join(line.rstrip() for line in result.stdout.strip().splitlines())
        parts.append(f"## mojimeter {' '.join(words)}\n\n```\n{text}\n```\n")
    return "\n".join(parts)


def main() -> None:
    """Write the page, or check it."""
    text = page()
    if "--check" in sys.argv[1:]:
        raise SystemExit(0 if PAGE.is_file() and PAGE.read_text(encoding="utf-8") == text else 1)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
