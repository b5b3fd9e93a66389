"""A run killed without warning, as its user meets it: a process, ``kill -9``, and the same command again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.faults import benchmark
from tests.faults.conftest import KEY, Serve
from tests.faults.provider import Provider

CONNECTIONS = 4


def command(provider: Provider, posts: Path, out: Path) -> list[str]:
    main = "from mojimeter.cli import main; main()"
    asked = ["recommend", str(posts), "--system", provider.system, "--judge", provider.judge, "--out", str(out)]
    options = ["--max-connections", str(CONNECTIONS), "--bootstrap", "50", "--no-baselines", "--json"]
    return [sys.executable, "-c", main, *asked, *options]


def test_a_killed_run_goes_on_without_repeating_paid_calls_and_ends_with_the_right_scores(
    serve: Serve, posts: Path, tmp_path: Path
) -> None:
    calm_provider = serve()
    calm = benchmark.run(calm_provider, posts, tmp_path / "calm")
    needed = sum(calm_provider.answered.values())

    provider = serve(delay=0.05)
    out = tmp_path / "run"
    environment = os.environ | provider.environment(KEY)
    process = subprocess.Popen(command(provider, posts, out), env=environment, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 300
        while sum(provider.answered.values()) < needed // 2 and time.monotonic() < deadline:
            time.sleep(0.01)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    kept = len((out / "calls.jsonl").read_bytes().splitlines())
    assert needed // 3 < kept < needed, "killed halfway"
    assert not (out / "scores.json").exists()

    provider.delay = 0
    resumed = subprocess.run(command(provider, posts, out), env=environment, capture_output=True, check=True)
    document = json.loads(resumed.stdout)
    repeated = sum(provider.answered.values()) - needed
    assert 0 <= repeated <= 2 * CONNECTIONS, "at most the calls in flight are asked again"
    assert document["calls"]["made"] + document["calls"]["known"] == needed
    assert [{k: v for k, v in s.items() if k != "cost"} for s in document["systems"].values()] == benchmark.scores(calm)

    before = sum(provider.requests.values())
    again = benchmark.run(provider, posts, out).document
    assert again["calls"]["made"] == 0
    assert sum(provider.requests.values()) == before
    assert again["systems"] == document["systems"]
    logs = sorted(path.name for path in (out / "logs").glob("*.eval"))
    assert len(logs) == 1, "one whole log a system, none of the killed process"


def test_an_interrupted_run_says_so_and_leaves_with_130(serve: Serve, posts: Path, tmp_path: Path) -> None:
    provider = serve(delay=1.0)  # so slow that the signal comes long before the end
    out = tmp_path / "run"
    process = subprocess.Popen(
        command(provider, posts, out),
        env=os.environ | provider.environment(KEY),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 300
    while sum(provider.answered.values()) < 8 and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=300)
    assert process.returncode == 130, stderr
    assert stdout == ""
    assert "interrupted" in stderr
    assert "Traceback" not in stderr
