"""The command line itself: what every command shares."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mojimeter.cli import main
from mojimeter.report.plain import plain

POSTS = "id,text,author\n1,great 🎉,a\n2,sad 😢,b\n"
REPLIES = "id,system,reply\n1,m,🎉\n2,m,😢\n"


def _main(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["mojimeter", *arguments])
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


@pytest.mark.parametrize(
    ("command", "variable"), [("suggest", "MOJIMETER_SUGGEST_JSON"), ("doctor", "MOJIMETER_DOCTOR_JSON")]
)
def test_an_option_has_a_variable_of_its_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str, variable: str
) -> None:
    monkeypatch.setenv(variable, "1")
    monkeypatch.setenv("MOJIMETER_SUGGEST_SYSTEM", "baseline/keyword")
    monkeypatch.setenv("MOJIMETER_SUGGEST_N", "2")
    assert _main(monkeypatch, command, *(["birthday"] if command == "suggest" else [])) == 0
    document = json.loads(capsys.readouterr().out)
    assert command == "doctor" or (document["system"], len(document["emoji"])) == ("baseline/keyword", 2)


def test_no_option_of_recommend_or_score_has_a_variable_that_ends_in_an_underscore() -> None:
    from typer.main import get_command

    from mojimeter.cli.app import app

    commands = get_command(app).commands  # type: ignore[attr-defined]
    for name in ("recommend", "score", "suggest", "compare", "doctor"):
        assert not [p.name for p in commands[name].params if p.name.endswith("_")]


@pytest.mark.parametrize("json_too", [[], ["--json"]])
def test_a_reader_that_leaves_is_no_failure_and_no_noise(tmp_path: Path, json_too: list[str]) -> None:
    (tmp_path / "p.csv").write_text(POSTS, encoding="utf-8")
    (tmp_path / "o.csv").write_text(REPLIES, encoding="utf-8")
    command = ["score", "p.csv", "--outputs", "o.csv", "--bootstrap", "2"]
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-c", "from mojimeter.cli import main; main()", *command, *json_too],
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            check=False,
        )
    finally:
        os.close(writing)
    assert done.returncode == 0
    assert all(line.startswith("warning: ") for line in done.stderr.splitlines())


def test_a_full_disk_is_one_sentence(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    class Full(io.StringIO):
        def write(self, _: str) -> int:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys, "stdout", Full())
    assert _main(monkeypatch, "doctor", "--json") == 1
    assert capsys.readouterr().err == "mojimeter: No space left on device\n"


def test_a_file_name_cannot_write_to_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _main(monkeypatch, "score", "no\x1b[31m\nfile.csv", "--outputs", "x.csv") == 2
    assert capsys.readouterr().err == "mojimeter: no\\x1b[31m\\nfile.csv: no such file\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb\tc", "a\\nb\\tc"),
        ("\x1b[2J", "\\x1b[2J"),
        ("x\u202egnp", "x\\u202egnp"),
        ("\udcff", "\\udcff"),
        ("🤷🏽‍♀️ 🏴󠁧󠁢󠁳󠁣󠁴󠁿 मैं ‌ক", "🤷🏽‍♀️ 🏴󠁧󠁢󠁳󠁣󠁴󠁿 मैं ‌ক"),
    ],
)
def test_what_moves_a_terminal_is_spelled_out_and_emoji_stay(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_a_judge_without_labels_is_wrong_usage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "p.csv").write_text(POSTS, encoding="utf-8")
    (tmp_path / "o.csv").write_text(REPLIES, encoding="utf-8")
    files = str(tmp_path / "p.csv"), "--outputs", str(tmp_path / "o.csv")
    assert _main(monkeypatch, "score", *files, "--judge", "someone") == 2
    assert "--judge someone chooses among labels, and none were given" in capsys.readouterr().err
