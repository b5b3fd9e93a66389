"""``mojimeter report`` as it is typed: files, formats, streams, and what stops it before anything is written."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from mojimeter.cli import main
from tests.report_page.small_runs import same_labels, write_recommendation

POSTS = [{"id": f"p{i}", "text": "hello 🎉", "author": f"a{i}", "lang": "en"} for i in range(3)]


class Result(NamedTuple):
    """What a command left behind."""

    code: int
    stdout: str
    stderr: str


class _Bytes(io.TextIOWrapper):
    """A standard output that keeps what is written to it, as text or as bytes."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)

    def text(self) -> str:
        self.flush()
        data: bytes = self.buffer.getvalue()  # type: ignore[attr-defined]
        return data.decode()


def run_command(*args: str | Path, cwd: Path) -> Result:
    """Run the command in this process, as ``main`` does for the shell."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(cwd)
        patch.setattr(sys, "argv", ["mojimeter", "report", *map(str, args)])
        out, err = _Bytes(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main()
                code: Any = 0
            except SystemExit as end:
                code = end.code
    return Result(int(code or 0), out.text(), err.getvalue())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    labels = {"j": {name: same_labels("positive", "positive", "negative") for name in ("gold", "m")}}
    write_recommendation(tmp_path / "run", POSTS, {"m": ["🎉", "🎂 yay", "😂"]}, labels)
    return tmp_path


def test_a_page_is_written_where_no_name_is_given(folder: Path) -> None:
    done = run_command("run", cwd=folder)
    assert done.code == 0, done.stderr
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    assert done.stdout.startswith("wrote report.html: ")
    assert not list(folder.glob("*.part"))


def test_json_is_one_object_that_says_what_was_written(folder: Path) -> None:
    done = run_command("run", "--out", "r.html", "--json", cwd=folder)
    document = json.loads(done.stdout)
    assert document["schema"] == 1
    assert (document["out"], document["format"]) == ("r.html", "html")
    assert document["bytes"] == (folder / "r.html").stat().st_size
    (run,) = document["runs"]
    assert (run["name"], run["kind"], run["items"]) == ("run", "recommendation", 3)
    assert run["signature"].startswith("data:")
    assert document["emoji"] == 3
    assert document["notes"] == []


@pytest.mark.parametrize(
    ("args", "file", "begins"),
    [
        (["--out", "t.tex"], "t.tex", "% run\n"),
        (["--out", "t.md"], "t.md", "# run\n"),
        (["--format", "latex"], "report.tex", "% run\n"),
        (["--format", "markdown", "--out", "t.txt"], "t.txt", "# run\n"),
    ],
)
def test_the_format_is_that_of_the_name_or_as_said(folder: Path, args: list[str], file: str, begins: str) -> None:
    done = run_command("run", *args, cwd=folder)
    assert done.code == 0, done.stderr
    assert (folder / file).read_text(encoding="utf-8").startswith(begins)


def test_a_dash_writes_to_standard_output_and_nothing_else_there(folder: Path) -> None:
    done = run_command("run", "--format", "markdown", "--out", "-", cwd=folder)
    assert done.stdout.startswith("# run\n")
    assert "wrote" not in done.stdout
    assert not (folder / "report.md").exists()


def test_json_and_a_dash_exclude_each_other(folder: Path) -> None:
    done = run_command("run", "--out", "-", "--json", cwd=folder)
    assert (done.code, done.stdout) == (2, "")
    assert "both write to standard output" in done.stderr


def test_an_existing_file_gives_way_only_to_a_whole_one(folder: Path) -> None:
    (folder / "report.md").write_text("old", encoding="utf-8")
    assert run_command("nowhere", "--out", "report.md", cwd=folder).code == 2
    assert (folder / "report.md").read_text(encoding="utf-8") == "old"
    assert run_command("run", "--out", "report.md", cwd=folder).code == 0
    assert (folder / "report.md").read_text(encoding="utf-8").startswith("# run")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "nothing to report"),
        (["nowhere"], "nowhere: no such file or folder"),
        (["run", "--out", "r.pdf"], "--out r.pdf: expected a name ending in .html, .tex, .md, or --format"),
        (["run", "--out", "no/such/r.html"], "there is no folder no/such"),
        (["run", "--out", "run"], "expected a name ending in"),
        (["run", "--out", "run", "--format", "html"], "run: is a folder; expected a file to write"),
        (["run", "--format", "pdf"], "--format pdf: expected html, latex, markdown"),
        (["run", "--missing-emoji", "maybe"], "--missing-emoji maybe: expected fail or note"),
        (["run", "--map", "item"], "--map 'item': expected OUR_COLUMN=COLUMN_OF_THE_FILE"),
    ],
)
def test_wrong_usage_is_one_sentence_and_exit_code_two(folder: Path, args: list[str], message: str) -> None:
    done = run_command(*args, cwd=folder)
    assert done.code == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


@pytest.fixture
def lacking(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The font as if it had no birthday cake: it has all emoji of today, but will not have those of next year."""
    from mojimeter.fonts import cut

    shape = cut._shape
    monkeypatch.setattr(cut, "_shape", lambda string: [0] if string == "🎂" else shape(string))
    return folder


def test_an_emoji_that_the_font_lacks_fails_the_page_by_name_before_anything_is_written(lacking: Path) -> None:
    done = run_command("run", cwd=lacking)
    assert done.code == 2
    assert "🎂 (birthday cake, U+1F382)" in done.stderr
    assert not (lacking / "report.html").exists()


def test_on_request_an_emoji_that_the_font_lacks_is_noted(lacking: Path) -> None:
    done = run_command("run", "--missing-emoji", "note", "--json", cwd=lacking)
    assert done.code == 0, done.stderr
    assert json.loads(done.stdout)["missing_emoji"] == [{"emoji": "🎂", "name": "birthday cake", "points": "U+1F382"}]
    assert "warning: no picture in the bundled font: birthday cake (U+1F382)" in done.stderr
    assert (lacking / "report.html").is_file()


def test_tables_need_no_emoji_font(lacking: Path) -> None:
    assert run_command("run", "--out", "t.tex", cwd=lacking).code == 0


def test_notes_on_what_is_left_out_go_to_stderr_too(folder: Path) -> None:
    (folder / "run" / "scores.json").unlink()
    done = run_command("run", "--format", "markdown", cwd=folder)
    assert done.code == 0
    assert "warning: run: this run is not finished" in done.stderr


def test_a_page_without_texts_holds_none(folder: Path) -> None:
    from mojimeter.report.page.document import read_report
    from mojimeter.report.page.options import ReportOptions

    assert "yay" in json.dumps(read_report([folder / "run"]))
    assert "yay" not in json.dumps(read_report([folder / "run"], options=ReportOptions(texts=False)))
    assert run_command("run", "--no-texts", cwd=folder).code == 0
