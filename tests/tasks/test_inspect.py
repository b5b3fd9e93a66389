"""The task as Inspect's own users run it: by name, with roles, and read back from its log."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from inspect_ai import eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from mojimeter.datasets.inspect_logs import read_eval_log
from mojimeter.errors import InputError
from mojimeter.tasks.recommend import recommend
from tests.faults import benchmark
from tests.faults.conftest import KEY, Serve


def test_inspect_eval_finds_the_task_by_name_and_its_log_reads_as_outputs(
    serve: Serve, posts: Path, tmp_path: Path
) -> None:
    provider = serve()
    inspect = Path(sys.executable).with_name("inspect")
    command = [str(inspect), "eval", "mojimeter/recommend", "-T", f"posts={posts}", "-T", "strategy=fewshot"]
    command += ["--model", provider.system, "--model-role", f"judge={provider.judge}", "--limit", "3"]
    command += ["--log-dir", str(tmp_path / "logs"), "--display", "none"]
    done = subprocess.run(
        command, env=os.environ | provider.environment(KEY), cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert provider.answered["writer"] == 3
    assert provider.answered["labeller"] == 2 * 2 * 3
    (log,) = (tmp_path / "logs").glob("*.eval")
    outputs = read_eval_log(log)
    assert outputs["system"].unique().to_list() == [provider.system]
    assert outputs["strategy"].unique().to_list() == ["fewshot"]
    assert outputs["id"].to_list() == ["p0", "p1", "p2"]
    assert outputs["reply"].null_count() == 0
    assert outputs["tokens"].to_list() == [4, 4, 4]


def test_scores_are_shares_of_labels_kept_with_errors_over_authors(posts: Path, tmp_path: Path) -> None:
    def judge(input: list[object], *_: object) -> ModelOutput:
        text = benchmark.post_in(str(getattr(input[-1], "text", "")))
        sentiment = "positive" if "🎉" in text else "negative"
        labels = f"sentiment: {sentiment}\nemotion: fear\nstance: none\nage: teen\ngender: male"
        output = ModelOutput.from_content("judge", labels)
        output.usage = ModelUsage()  # else Inspect's mock fetches a tokenizer to count
        return output

    (log,) = eval(
        recommend(str(posts), system="baseline/none"),
        model=None,
        model_roles={"judge": get_model("mockllm/judge", custom_outputs=judge)},
        log_dir=str(tmp_path),
        display="none",
        limit=5,
    )
    assert log.status == "success"
    assert log.results is not None
    metrics = {score.name: score.metrics for score in log.results.scores}
    # of five posts one holds 🎉 (see benchmark.EMOJI): without it the judge changes its mind there
    assert metrics["sentiment"]["mean"].value == pytest.approx(4 / 5)
    assert metrics["average"]["mean"].value == pytest.approx((4 / 5 + 4) / 5)
    assert "stderr" in metrics["average"]


def test_a_system_that_is_no_baseline_is_pointed_to_the_model_option(posts: Path) -> None:
    with pytest.raises(InputError, match="--model openai/x"):
        recommend(str(posts), system="openai/x")


def test_what_is_no_log_or_not_a_finished_one_is_one_sentence(tmp_path: Path) -> None:
    broken = tmp_path / "broken.eval"
    broken.write_bytes(b"PK\x03\x04 not really")
    with pytest.raises(InputError, match="not readable as an Inspect log"):
        read_eval_log(broken)
    with pytest.raises(InputError, match="no such file"):
        read_eval_log(tmp_path / "none.eval")
