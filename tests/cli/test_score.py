"""``mojimeter score`` as it is typed."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from mojimeter.cli import main

POSTS = "doc,text,author\n1,great 🎉,a\n2,sad 😢,b\n3,ok 👍🏽,c\n"
REPLIES = "doc,reply\n1,🎉🎂🥳\n2,\n3,👍 fine\n"
LABELS = """doc,system,judge,sentiment,gender
1,gold,j,Positive.,male
2,gold,j,negative,female
3,gold,j,positive,female
1,model,j,**positive**,male
2,model,j,negative,male
3,model,j,no idea,female
1,baseline/none,j,neutral,male
2,baseline/none,j,negative,female
3,baseline/none,j,positive,female
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "posts.csv").write_text(POSTS, encoding="utf-8")
    (tmp_path / "zeroshot_model.csv").write_text(REPLIES, encoding="utf-8")
    (tmp_path / "labels.csv").write_text(LABELS, encoding="utf-8")
    return tmp_path


class Result(NamedTuple):
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


def _run(*args: str | Path, cwd: Path) -> Result:
    """Run the command in this process, as ``main`` does for the shell: much quicker than a process a case."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(cwd)
        patch.setenv("COLUMNS", "80")
        patch.setattr(sys, "argv", ["mojimeter", "score", *map(str, args)])
        streams = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
            try:
                main()
                code: Any = 0
            except SystemExit as end:
                code = end.code
    return Result(int(code or 0), streams[0].getvalue(), streams[1].getvalue())


FILES = ("posts.csv", "--outputs", "zeroshot_model.csv", "--labels", "labels.csv", "--map", "id=doc")


def _document(folder: Path, *more: str) -> dict[str, Any]:
    result = _run(*FILES, "--bootstrap", "100", "--json", *more, cwd=folder)
    assert result.returncode == 0, result.stderr
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def test_json_has_the_shape_of_the_contract(folder: Path) -> None:
    document = _document(folder)
    assert document["schema"] == 1
    assert isinstance(document["signature"], str)
    assert document["calls"] == {"made": 0, "saved": 0}
    scores = document["systems"]["model"]
    assert scores["strategy"] == "zeroshot"
    assert scores["posts"] == 3
    assert set(scores["overlap"]) == {"precision", "recall", "f1"}
    assert {"sentiment", "emotion", "stance", "age", "gender", "average"} <= set(scores["preservation"])
    assert {"value", "ci"} <= set(scores["overlap"]["f1"])
    assert set(scores["per_class"]["gender"]) == {"male", "female"}
    assert {"distinct", "entropy_bits", "across_attempts"} <= set(scores["diversity"])
    assert {"no_emoji", "extra_text", "wrong_count", "repeated", "damaged", "unparsed_labels"} <= set(scores["replies"])
    assert scores["leaked"] is False
    assert len(scores["rank"]) == 2
    for name in ("kept", "recovered"):
        assert "value" in scores[name]


def test_labels_are_read_as_a_judge_writes_them(folder: Path) -> None:
    scores = _document(folder)["systems"]["model"]
    # "**positive**" is "Positive."; "no idea" is unparsed and not kept
    assert scores["preservation"]["sentiment"]["value"] == pytest.approx(200 / 3)
    assert scores["replies"]["unparsed_labels"]["sentiment"] == 1


def test_equality_is_chosen_on_the_command_line(folder: Path) -> None:
    default, tone = _document(folder), _document(folder, "--equality", "tone")
    assert tone["systems"]["model"]["overlap"]["f1"]["value"] > default["systems"]["model"]["overlap"]["f1"]["value"]


def test_labels_alone_give_preservation_and_say_why_there_is_no_overlap(folder: Path) -> None:
    result = _run("posts.csv", "--labels", "labels.csv", "--map", "id=doc", "--bootstrap", "50", "--json", cwd=folder)
    assert result.returncode == 0, result.stderr
    scores = json.loads(result.stdout)["systems"]["model"]
    assert scores["preservation"]["sentiment"]["value"] == pytest.approx(200 / 3)
    assert scores["overlap"]["f1"] == {"value": None, "reason": "no replies were given, only labels"}
    shown = _run("posts.csv", "--labels", "labels.csv", "--map", "id=doc", "--bootstrap", "50", cwd=folder)
    assert shown.returncode == 0, shown.stderr


def test_a_free_count_flags_no_wrong_count(folder: Path) -> None:
    assert _document(folder)["systems"]["model"]["replies"]["wrong_count"] == 1
    assert _document(folder, "--n", "1-5")["systems"]["model"]["replies"]["wrong_count"] == 0


def test_the_same_command_gives_the_same_numbers(folder: Path) -> None:
    assert _document(folder) == _document(folder)


def test_warnings_go_to_stderr_and_the_table_to_stdout(folder: Path) -> None:
    result = _run(*FILES, "--bootstrap", "50", cwd=folder)
    assert result.returncode == 0
    assert "warning: only 3 authors to resample" in result.stderr
    assert "warning" not in result.stdout
    for part in (
        "model",
        "baseline/none (b)",
        "not facts about people",
        "equality:presentation",
        "3 posts by 3 authors",
    ):
        assert part in result.stdout
    assert max(map(len, result.stdout.splitlines()[:-1])) <= 80


def test_a_gate_that_is_not_met_exits_with_3_after_the_scores(folder: Path) -> None:
    result = _run(*FILES, "--bootstrap", "50", "--json", "--fail-under", "average=99", cwd=folder)
    assert result.returncode == 3
    assert "model: average is" in result.stderr
    assert json.loads(result.stdout)["systems"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("nowhere.csv", "--outputs", "zeroshot_model.csv"), "nowhere.csv: no such file"),
        (("posts.csv",), "nothing to score"),
        (("posts.csv", "--outputs", "zeroshot_model.csv"), "posts.csv: no column 'id'; it has doc, text, author"),
        ((*FILES, "--map", "lang=tongue"), "no file has a column 'tongue'"),
        ((*FILES, "--equality", "alike"), "no equality 'alike'"),
        ((*FILES, "--format", "xml"), "no format 'xml'"),
        ((*FILES, "--n", "7"), "expected a number from 1 to 5, or 1-5"),
        ((*FILES, "--fail-under", "average"), "expected METRIC=VALUE"),
        (("posts.csv", "--outputs", "zeroshot_model.csv", "--format", "semrec"), "no column 'item'"),
        ((*FILES, "--format", "semrec"), "no --labels"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_2(folder: Path, args: tuple[str, ...], message: str) -> None:
    result = _run(*args, cwd=folder)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_the_release_is_scored_from_its_files_as_a_shell_lists_them(shared: Path) -> None:
    """In a process of its own: nothing but one JSON object reaches stdout."""
    files = sorted((shared / "data" / "semrec").glob("zeroshot_*.csv"))
    script = "from mojimeter.cli import main; main()"
    paths = [shared / "data" / "semrec" / "benchmark.csv", "--outputs", *files, "--format", "semrec"]
    command = [sys.executable, "-c", script, "score", *map(str, paths), "--bootstrap", "50", "--json"]
    environment = {**os.environ, "MOJIMETER_SCORE_SEED": "7"}
    result = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False, env=environment)
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    assert len(document["systems"]) == len(files) + 1
    assert "seed:7" in document["signature"]


def test_labels_of_several_judges_come_with_a_verdict_on_other_judges(folder: Path) -> None:
    header, *rows = LABELS.splitlines()
    second = [row.replace(",j,", ",k,").replace("model", "other") for row in rows]
    both = [row.replace("model", "other") for row in rows] + [row.replace(",j,", ",k,") for row in rows] + second
    lines = [header, *rows, *[row for row in both if "other" in row or ",k," in row]]
    (folder / "labels.csv").write_text("\n".join(dict.fromkeys(lines)) + "\n", encoding="utf-8")
    arguments = ("posts.csv", "--labels", "labels.csv", "--map", "id=doc", "--judge", "k")
    done = _run(*arguments, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["panel"]["judges"] == ["k", "j"], "the judge that ranks comes first"
    assert document["panel"]["systems"] == ["model", "other"]
    assert document["panel"]["verdict"] in ("not_separated", "refused")
    shown = _run(*arguments, cwd=folder)
    assert "Would other judges rank them the same?" in shown.stdout
