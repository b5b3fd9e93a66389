"""The page of commands is what the commands say of themselves."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_of_commands_is_in_step_with_their_help() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "write_cli_docs.py"), "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, "docs/cli.md is out of step: run `make docs`\n" + done.stderr
