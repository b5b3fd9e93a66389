"""Benchmark B run against a provider over HTTP, by the command's own run and by Inspect."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.log import read_eval_log

from mojimeter.errors import InputError
from mojimeter.models.patience import Patience
from mojimeter.runs.disambiguate import DisambiguateSettings, PairsOutcome, PairsRun, count_calls, run_disambiguate
from mojimeter.tasks.disambiguate import disambiguate
from tests.faults.conftest import KEY, Serve
from tests.faults.provider import Provider
from tests.tasks import pairs_benchmark

PAIRS = 6


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    return pairs_benchmark.write_pairs(tmp_path / "pairs.jsonl", PAIRS)


def settings(provider: Provider, pairs: Path, **more: Any) -> DisambiguateSettings:
    given = {"systems": (provider.system,), "verifier": provider.judge, "draws": 50, **more}
    return DisambiguateSettings(pairs=str(pairs), **given)


def run(provider: Provider, pairs: Path, out: Path, *, allow_failures: bool = False, **more: Any) -> PairsOutcome:
    patience = Patience(sdk_retries=0, retries=0, attempt_timeout=20, max_connections=4)
    return run_disambiguate(settings(provider, pairs, **more), out, patience=patience, allow_failures=allow_failures)


def test_a_run_gives_the_measures_that_the_system_was_made_to_have(serve: Serve, pairs: Path, tmp_path: Path) -> None:
    provider = serve(reply=pairs_benchmark.reply)
    document = run(provider, pairs, tmp_path / "run").document
    system = document["systems"][provider.system]
    # halls 0, 2, 4 are read by their context; 1, 3, 5 always as music, as without any context
    assert system["acc_pair"]["value"] == pytest.approx(1 / 2)
    assert system["acc_query"]["value"] == pytest.approx(9 / 12)
    assert system["acc_pair_if_independent"]["value"] == pytest.approx(1 / 2)
    assert system["context_awareness"]["value"] == pytest.approx(1 / 2)
    assert system["output_variability"]["value"] == pytest.approx(3 / 12)
    assert system["bias"]["value"] == pytest.approx(9 / 12)
    assert system["bias_without_context"]["value"] == 1
    commoner = document["systems"]["baseline/commoner"]
    assert (commoner["acc_pair"]["value"], commoner["acc_query"]["value"]) == (0, pytest.approx(1 / 2))
    blind = document["systems"][f"baseline/no-context:{provider.system}"]
    assert (blind["acc_pair"]["value"], blind["acc_query"]["value"]) == (0, pytest.approx(1 / 2))
    assert document["verifier"]["name"] == provider.judge
    for name in ("settings.toml", "pairs.jsonl", "answers.jsonl", "differences.jsonl", "scores.json", "signature.txt"):
        assert (tmp_path / "run" / name).is_file()


def test_each_condition_is_asked_once_and_a_second_run_asks_nothing(serve: Serve, pairs: Path, tmp_path: Path) -> None:
    provider = serve(reply=pairs_benchmark.reply)
    first = run(provider, pairs, tmp_path / "run").document
    assert provider.answered["writer"] == 3 * PAIRS  # the model without context costs no call of its own
    before = sum(provider.answered.values())
    second = run(provider, pairs, tmp_path / "run").document
    assert sum(provider.answered.values()) == before
    assert second["calls"]["made"] == 0
    assert second["systems"] == first["systems"]


def test_only_the_accuracies_take_two_verifier_calls_a_pair_at_most(serve: Serve, pairs: Path, tmp_path: Path) -> None:
    provider = serve(reply=pairs_benchmark.reply)
    document = run(provider, pairs, tmp_path / "run", baselines=False, only_accuracy=True).document
    assert provider.answered["labeller"] <= 2 * PAIRS
    system = document["systems"][provider.system]
    assert system["acc_pair"]["value"] == pytest.approx(1 / 2)
    assert system["context_awareness"]["reason"] == "no differences were given"


def test_what_a_dry_run_counts_holds_and_it_asks_nobody(serve: Serve, pairs: Path, tmp_path: Path) -> None:
    provider = serve(reply=pairs_benchmark.reply)
    plan = count_calls(PairsRun(settings(provider, pairs, baselines=False)), tmp_path / "run")
    assert not provider.requests
    assert not (tmp_path / "run").exists()
    run(provider, pairs, tmp_path / "run", baselines=False)
    assert plan["calls"]["answer"] == {provider.system: provider.answered["writer"]}
    assert provider.answered["labeller"] <= plan["calls"]["verify"]["most"]


def test_failed_calls_leave_the_run_partial_and_the_same_command_makes_the_rest(
    serve: Serve, pairs: Path, tmp_path: Path
) -> None:
    broken = {"on": True}

    def faults(model: str, messages: list[dict[str, str]], attempt: int) -> str | None:
        return "400" if broken["on"] and "hall 3" in messages[-1]["content"] else None

    provider = serve(faults, reply=pairs_benchmark.reply)
    partial = run(provider, pairs, tmp_path / "run", baselines=False)
    assert partial.unfinished is not None
    assert partial.document["failed"]["items"] == 1
    broken["on"] = False
    asked = provider.answered["writer"]
    whole = run(provider, pairs, tmp_path / "run", baselines=False)
    assert whole.unfinished is None
    assert provider.answered["writer"] - asked == 3
    assert whole.document["systems"][provider.system]["acc_query"]["value"] == pytest.approx(9 / 12)


def test_with_failures_allowed_an_answer_that_failed_is_wrong_and_counted(
    serve: Serve, pairs: Path, tmp_path: Path
) -> None:
    provider = serve(
        lambda model, messages, attempt: "400" if "hall 0" in messages[-1]["content"] else None,
        reply=pairs_benchmark.reply,
    )
    document = run(provider, pairs, tmp_path / "run", baselines=False, allow_failures=True).document
    system = document["systems"][provider.system]
    assert system["no_answer"] == 3
    assert system["acc_pair"]["value"] == pytest.approx(2 / 6)


def test_a_verifiers_reply_without_a_verdict_is_counted_as_unparsed(serve: Serve, pairs: Path, tmp_path: Path) -> None:
    def mumbling(model: str, messages: list[dict[str, str]]) -> str:
        if model == "labeller" and "number 2" in messages[-1]["content"]:
            return "It depends."
        return pairs_benchmark.reply(model, messages)

    provider = serve(reply=mumbling)
    system = run(provider, pairs, tmp_path / "run", baselines=False).document["systems"][provider.system]
    assert system["unparsed"] == 2
    assert system["acc_pair"]["value"] == pytest.approx(2 / 5)


def test_peoples_answers_are_verified_and_scored_beside_the_systems(serve: Serve, pairs: Path, tmp_path: Path) -> None:
    provider = serve(reply=pairs_benchmark.reply)
    rows = [f"p{i},{k},clearly {pairs_benchmark.WORDS[k]}" for i in range(PAIRS) for k in "12"]
    people = tmp_path / "ana.csv"
    people.write_text("id,condition,answer\n" + "\n".join(rows) + "\n", encoding="utf-8")
    document = run(provider, pairs, tmp_path / "run", answers=(str(people),)).document
    assert next(iter(document["systems"])) == "ana"
    assert document["systems"]["ana"]["acc_pair"]["value"] == 1
    assert document["given"] == ["ana"]


def test_another_verifier_in_the_same_folder_is_refused(serve: Serve, pairs: Path, tmp_path: Path) -> None:
    provider = serve(reply=pairs_benchmark.reply)
    run(provider, pairs, tmp_path / "run", baselines=False, only_accuracy=True)
    with pytest.raises(InputError, match="holds a run with only_accuracy = True"):
        run(provider, pairs, tmp_path / "run", baselines=False)


def test_inspect_eval_finds_the_task_by_name_with_the_verifier_as_a_role(
    serve: Serve, pairs: Path, tmp_path: Path
) -> None:
    provider = serve(reply=pairs_benchmark.reply)
    inspect = Path(sys.executable).with_name("inspect")
    command = [str(inspect), "eval", "mojimeter/disambiguate", "-T", f"pairs={pairs}", "--model", provider.system]
    command += ["--model-role", f"verifier={provider.judge}", "--log-dir", str(tmp_path / "logs"), "--display", "none"]
    command += ["--limit", "2"]
    done = subprocess.run(
        command, env=os.environ | provider.environment(KEY), cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert provider.answered["writer"] == 3 * 2
    (path,) = (tmp_path / "logs").glob("*.eval")
    log = read_eval_log(str(path))
    assert log.results is not None
    metrics = {score.name: score.metrics["mean"].value for score in log.results.scores}
    # hall 0 is read by its context, hall 1 is always music
    assert metrics["acc_pair"] == pytest.approx(1 / 2)
    assert metrics["acc_query"] == pytest.approx(3 / 4)
    assert metrics["context_awareness"] == pytest.approx(1 / 2)


def test_a_baseline_runs_in_inspect_without_a_model_and_unknown_verdicts_are_unscored(
    pairs: Path, tmp_path: Path
) -> None:
    (log,) = inspect_eval(
        disambiguate(str(pairs), system="baseline/commoner", only_accuracy=True),
        model=None,
        log_dir=str(tmp_path),
        display="none",
    )
    assert log.status == "success"
    assert log.results is not None
    scores = {score.name: score for score in log.results.scores}
    assert scores["acc_pair"].metrics["mean"].value == 0
    assert scores["acc_query"].metrics["mean"].value == pytest.approx(1 / 2)
    assert scores["context_awareness"].scored_samples == 0
    with pytest.raises(InputError, match="--model openai/x"):
        disambiguate(str(pairs), system="openai/x")


def test_no_key_reaches_the_run_folder(serve: Serve, pairs: Path, tmp_path: Path) -> None:
    provider = serve(reply=pairs_benchmark.reply)
    run(provider, pairs, tmp_path / "run", baselines=False, only_accuracy=True)
    for path in (tmp_path / "run").rglob("*"):
        if path.is_file():
            assert KEY.encode() not in path.read_bytes(), path
    assert json.loads((tmp_path / "run" / "scores.json").read_text(encoding="utf-8"))["schema"] == 1
