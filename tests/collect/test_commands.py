"""The commands: one JSON object on stdout, one sentence where something is wrong, and the way from init to study."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from mojimeter.cli import collect
from mojimeter.cli.app import app
from mojimeter.collect.invites import Link
from mojimeter.collect.store import open_store
from mojimeter.collect.study import read_study
from mojimeter.errors import GateError, InputError, MissingExtraError
from tests.collect.simulated import rate_all
from tests.collect.small import SmallStudy

TABLE = "item,system,text,lang\n" + "".join(
    f"i{k},{s},text {k} {e},en\n" for k in range(6) for s, e in (("model-a", "🎉"), ("model-b", "😂"))
)


def run(*arguments: str) -> str:
    found = CliRunner().invoke(app, ["collect", *arguments])
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    assert found.exit_code == 0, found.output
    return found.stdout


def run_json(*arguments: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(run(*arguments, "--json"))
    assert document["schema"] == 1
    return document


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "outputs.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


def test_the_whole_way_from_init_to_the_verdict_of_a_study(table: Path, tmp_path: Path, database: str) -> None:
    folder = str(tmp_path / "study")
    options = ["--repeats", "0.2", "--attention", "1", *(["--database", database] if database else [])]
    made = run_json("init", str(table), "--out", folder, *options)
    assert (made["items"], made["systems"], made["cells"], made["form"]) == (6, 2, 12, "scale")
    invited = run_json("invite", folder, "--raters", "3")
    assert [link["rater"] for link in invited["links"]] == ["r01", "r02", "r03"]
    assert {link["positions"] for link in invited["links"]} == {2 + 12 + 2 + 1}
    _rate(folder, invited)
    status = run_json("status", folder)
    assert status["complete"] == 1.0
    assert [r["state"] for r in status["raters"]] == ["done"] * 3
    out = tmp_path / "ratings.csv"
    exported = run_json("export", folder, "--out", str(out))
    assert exported["ratings"] == 36
    assert exported["left_out"] == {"training": 6, "attention": 3, "repeat": 6}
    study = json.loads(CliRunner().invoke(app, ["ratings", "study", str(out), "--json"]).stdout)
    assert study["design"] == {"item": 6, "system": 2, "rater": 3, "cells": 36, "missing": 0}
    assert study["ranking"][0]["system"] == "model-b"  # as the simulated raters see it
    backup = str(tmp_path / "backup.gz")
    kept = run_json("backup", folder, "--out", backup)
    assert run_json("restore", backup, "--verify")["sha256"] == kept["sha256"]
    again = str(tmp_path / "again")
    run_json("restore", backup, "--out", again, "--database", "file")
    assert run_json("status", again) == status
    assert run_json("revoke", again, "r02")["revoked"] is True
    assert run_json("status", again)["states"] == {"done": 2, "revoked": 1}


def _rate(folder: str, invited: dict[str, Any]) -> None:
    store = open_store(folder)
    links = tuple(Link(x["rater"], x["link"].rsplit("/", 1)[1], x["link"], 0.0, 0) for x in invited["links"])
    shift = {"r01": 0, "r02": 1, "r03": 0}

    def answer(rater: str, page: Any) -> str:
        text = "".join(part for part, _ in page.payload["fields"]["text"])
        return str((4 if "😂" in text else 2) + shift[rater] * (page.position % 2))

    rate_all(SmallStudy(Path(folder), links, "", store.config), store, answer)


def test_init_prints_what_was_made_and_what_comes_next(table: Path, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    said = run("init", str(table), "--out", str(folder))
    assert "6 items, 2 systems, 12 cells; form scale, design crossed" in said
    assert f"mojimeter collect invite {folder} --raters 3" in said
    assert f"mojimeter collect serve {folder}" in said
    config = read_study(folder)
    assert config.completion_code
    assert config.completion_code not in said
    assert "model-a" not in (folder / "study.toml").read_text()


def test_options_of_init_reach_the_study(table: Path, tmp_path: Path) -> None:
    (tmp_path / "consent.txt").write_text("Do you agree? 🙂\n\n- yes\n")
    folder = tmp_path / "study"
    options = {
        "--title": "Ours", "--question": "Good?", "--scale": "7", "--design": "nested", "--raters": "4",
        "--raters-per-item": "2", "--repeats": "0.5", "--attention": "2", "--seed": "9", "--language": "hi",
        "--consent": str(tmp_path / "consent.txt"), "--external-id-parameter": "PROLIFIC_PID",
    }  # fmt: skip
    said = run_json("init", str(table), "--out", str(folder), "--show-emoji-names", *sum(options.items(), ()))
    config = read_study(folder)
    assert (config.title, config.question, config.scale.points) == ("Ours", "Good?", 7)
    assert (config.design, config.raters, config.raters_per_item) == ("nested", 4, 2)
    assert (config.repeats, config.attention, config.seed, config.language) == (0.5, 2, 9, "hi")
    assert config.consent == "Do you agree? 🙂\n\n- yes"
    assert (config.external_id_parameter, config.show_emoji_names) == ("PROLIFIC_PID", True)
    assert any("names of emoji" in w for w in said["warnings"])
    assert any("in English" in w for w in said["warnings"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("init", "{table}", "--out", "{tmp}"), "the folder is not empty"),
        (("init", "{tmp}/none.csv", "--out", "{tmp}/s"), "no such file"),
        (("init", "{table}", "--out", "{tmp}/s", "--systems", "model-c"), "no system 'model-c'"),
        (("init", "{table}", "--out", "{tmp}/s", "--form", "rank"), "--form 'rank'"),
        (("status", "{tmp}"), "expected a folder made by mojimeter collect init"),
        (("invite", "{tmp}", "--raters", "1"), "expected a folder made by mojimeter collect init"),
        (("export", "{tmp}", "--out", "x.csv"), "expected a folder made by mojimeter collect init"),
        (("export", "{tmp}", "--out", "x.csv", "--format", "xml"), "--format 'xml'"),
        (("export", "{tmp}", "--out", "x.csv", "--format", "jsonl"), "expected a name ending in .jsonl"),
        (("restore", "{table}"), "where to\\?"),
        (("restore", "{table}", "--verify"), "not a backup"),
        (("restore", "{table}", "--verify", "--database", "file"), "--database goes with --out"),
        (("invite", "{tmp}", "--raters", "2", "--admin"), "three different things"),
    ],
)
def test_what_is_wrong_is_one_sentence(table: Path, tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        run(*(a.format(table=table, tmp=tmp_path) for a in arguments))


@pytest.mark.parametrize("arguments", [("init", "pairs", "--out", "x"), ("status", "x"), ("backup", "x", "--out", "y")])
def test_a_missing_extra_is_one_sentence_with_the_command_that_installs_it(
    arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collect, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"needs sqlalchemy, .* pip install 'mojimeter\[web\]'"):
        run(*arguments)


def test_a_gate_on_completeness_is_held(table: Path, tmp_path: Path) -> None:
    folder = str(tmp_path / "study")
    run("init", str(table), "--out", folder)
    run("invite", folder, "--raters", "1")
    run("status", folder, "--fail-under", "complete=0")
    with pytest.raises(GateError, match="complete"):
        run("status", folder, "--fail-under", "complete=0.5")


def test_a_study_of_free_answers_ends_in_disambiguate(tmp_path: Path) -> None:
    folder = str(tmp_path / "study")
    run("init", "pairs:en", "--out", folder, "--items", "2")
    invited = run_json("invite", folder, "--raters", "2")
    store = open_store(folder)
    links = tuple(Link(x["rater"], x["link"].rsplit("/", 1)[1], x["link"], 0.0, 0) for x in invited["links"])
    rate_all(SmallStudy(Path(folder), links, "", store.config), store, lambda rater, page: "It is a joke.")
    out = tmp_path / "people.csv"
    run("export", folder, "--out", str(out))
    found = CliRunner().invoke(app, ["disambiguate", "pairs:en", "--answers", str(out), "--json"])
    assert found.exit_code == 0, found.output
    assert {"r01", "r02"} <= set(json.loads(found.stdout)["systems"])


def test_a_damaged_backup_ends_with_exit_code_1_and_a_sentence(tmp_path: Path, table: Path) -> None:
    folder = str(tmp_path / "study")
    run("init", str(table), "--out", folder)
    run("backup", folder, "--out", str(tmp_path / "b.gz"))
    whole = (tmp_path / "b.gz").read_bytes()
    (tmp_path / "b.gz").write_bytes(whole[:-50])
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from mojimeter.cli import main; main()",
            "collect",
            "restore",
            str(tmp_path / "b.gz"),
            "--verify",
        ],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("mojimeter: ")
    assert "cut off" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("design", "flag"), [("crossed", ""), ("nested", " --nested rater:item")])
def test_export_says_how_a_study_of_its_design_is_studied(table: Path, tmp_path: Path, design: str, flag: str) -> None:
    folder, out = tmp_path / "study", tmp_path / "ratings.csv"
    run("init", str(table), "--out", str(folder), "--design", design, "--raters", "2", "--raters-per-item", "1")
    _rate(str(folder), run_json("invite", str(folder), "--raters", "2"))
    assert f"Next: mojimeter ratings study {out}{flag}\n" in run("export", str(folder), "--out", str(out))
