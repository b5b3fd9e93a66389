"""docs/ratings.md shows what the commands print, and its simulated pilot is what its script writes."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
import shlex
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "ratings.md"
BLOCKS = re.findall(r"^```\n\$ (mojimeter ratings [^\n]*)\n(.*?)\n```$", PAGE.read_text("utf-8"), re.M | re.S)


def printed(command: str, monkeypatch: pytest.MonkeyPatch) -> str:
    from mojimeter.cli.app import main

    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", shlex.split(command))
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        main()
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def test_the_page_shows_commands() -> None:
    assert len(BLOCKS) == len(re.findall(r"^\$ mojimeter", PAGE.read_text("utf-8"), re.M)) >= 8


@pytest.mark.parametrize(("command", "shown"), BLOCKS, ids=[command for command, _ in BLOCKS])
def test_a_shown_output_is_what_the_command_prints(command: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if "../shared" in command and not (ROOT.parent / "shared" / "data").is_dir():
        pytest.skip("../shared is not there")
    text = printed(command, monkeypatch)
    for part in re.split(r"^\.\.\.$", shown, flags=re.M):
        assert part.strip("\n") in text


def test_the_pilot_is_what_its_script_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "pilot.csv"
    monkeypatch.setattr(sys, "argv", ["make_pilot.py", str(out)])
    runpy.run_path(str(ROOT / "scripts" / "make_pilot.py"), run_name="__main__")
    assert out.read_bytes() == (ROOT / "examples" / "pilot.csv").read_bytes()
