"""What providers do to a run, over HTTP and through Inspect's ``openai-api/`` provider as users meet it.

The right scores are those of the same run with a provider that never fails.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import polars as pl
import pytest

from mojimeter.emoji import find
from mojimeter.errors import InputError, PartialError
from mojimeter.models.patience import Patience
from mojimeter.models.prices import Price
from tests.faults import benchmark
from tests.faults.conftest import KEY, Serve

TRANSIENT = ("429", "500", "cut", "bytes", "not-json", "slow:0.3")


def test_a_run_through_every_transient_fault_ends_with_the_scores_of_a_run_without_any(
    serve: Serve, posts: Path, tmp_path: Path
) -> None:
    calm = benchmark.run(serve(), posts, tmp_path / "calm")

    new = itertools.count()

    def stormy(model: str, messages: list[dict[str, str]], attempt: int) -> str | None:
        """Every second new question meets a fault, each fault in its turn."""
        which = next(new) % (2 * len(TRANSIENT)) if attempt == 0 else 1
        return TRANSIENT[which // 2] if which % 2 == 0 else None

    provider = serve(stormy)
    storm = benchmark.run(provider, posts, tmp_path / "storm")
    assert set(TRANSIENT) <= set(provider.requests), "every fault was shown"
    assert storm.unfinished is None
    assert benchmark.scores(storm) == benchmark.scores(calm)
    assert storm.document["calls"]["made"] == calm.document["calls"]["made"]


def test_a_busy_server_is_asked_again_only_after_the_time_it_named(serve: Serve, posts: Path, tmp_path: Path) -> None:
    provider = serve(lambda model, messages, attempt: "429" if attempt == 0 else None)
    outcome = benchmark.run(provider, posts, tmp_path / "run", limit=1)
    assert outcome.unfinished is None
    # Retry-After was one second (see provider.py); without it the SDK would come back after half of one
    assert min(provider.waits) >= 0.95


def test_empty_refused_and_broken_replies_are_kept_and_counted(serve: Serve, posts: Path, tmp_path: Path) -> None:
    shown = {"post 0 ": "empty", "post 1 ": "null", "post 2 ": "refusal", "post 3 ": "surrogate"}

    def odd(model: str, messages: list[dict[str, str]], attempt: int) -> str | None:
        if model == "labeller":
            return None
        return next((fault for start, fault in shown.items() if start in messages[-1]["content"]), None)

    provider = serve(odd)
    outcome = benchmark.run(provider, posts, tmp_path / "run")
    assert outcome.unfinished is None
    replies = outcome.document["systems"][provider.system]["replies"]
    assert (replies["no_emoji"], replies["damaged"]) == (3, 1)
    outputs = pl.read_ndjson(tmp_path / "run" / "outputs.jsonl").filter(pl.col("system") == provider.system)
    assert outputs.height == benchmark.POSTS
    assert outputs.filter(pl.col("id") == "p3")["reply"].item() == "\ufffd 🎉"
    stops = [json.loads(line)["stop"] for line in (tmp_path / "run" / "calls.jsonl").read_text().splitlines()]
    assert stops.count("content_filter") == 1


def test_judges_that_say_nothing_leave_labels_unparsed_and_counted(serve: Serve, posts: Path, tmp_path: Path) -> None:
    def silent(model: str, messages: list[dict[str, str]], attempt: int) -> str | None:
        """Labels the originals, which have one emoji, and says nothing of recommendations, which have three."""
        return "empty" if model == "labeller" and len(find(benchmark.post_in(messages[-1]["content"]))) == 3 else None

    provider = serve(silent)
    outcome = benchmark.run(provider, posts, tmp_path / "run", limit=3)
    assert outcome.unfinished is None
    system = outcome.document["systems"][provider.system]
    assert system["replies"]["unparsed_labels"]["sentiment"] == 3
    assert system["preservation"]["average"]["value"] == 0.0


def test_a_run_in_which_calls_failed_is_unfinished_and_the_same_command_makes_only_the_missing_calls(
    serve: Serve, posts: Path, tmp_path: Path
) -> None:
    calm_provider = serve()
    calm = benchmark.run(calm_provider, posts, tmp_path / "calm")
    provider = serve(lambda model, messages, attempt: "400" if "post 5 " in messages[-1]["content"] else None)
    first = benchmark.run(provider, posts, tmp_path / "run")
    assert isinstance(first.unfinished, PartialError)
    assert first.unfinished.exit_code == 4
    assert f"1 of {benchmark.POSTS}" in str(first.unfinished)
    assert first.document["status"] == "partial"
    assert "systems" not in first.document
    assert any("bad request" in reason for reason in first.document["failed"]["reasons"])
    errors = pl.read_ndjson(tmp_path / "run" / "outputs.jsonl").filter(pl.col("error").is_not_null())
    assert errors.select("id", "system").rows() == [("p5", provider.system)]
    assert not (tmp_path / "run" / "scores.json").exists()

    provider.faults = lambda model, messages, attempt: None
    second = benchmark.run(provider, posts, tmp_path / "run")
    assert second.unfinished is None
    assert benchmark.scores(second) == benchmark.scores(calm)
    made = [first.document["calls"]["made"], second.document["calls"]["made"]]
    assert sum(made) == calm.document["calls"]["made"] == sum(calm_provider.answered.values())

    before = sum(provider.requests.values())
    third = benchmark.run(provider, posts, tmp_path / "run")
    assert third.document["calls"]["made"] == 0
    assert sum(provider.requests.values()) == before, "a third run asks nobody"
    assert benchmark.scores(third) == benchmark.scores(calm)


def test_failures_can_be_accepted_and_then_count_against_the_system(serve: Serve, posts: Path, tmp_path: Path) -> None:
    provider = serve(
        lambda model, messages, attempt: "400" if model == "writer" and "post 5 " in messages[-1]["content"] else None
    )
    outcome = benchmark.run(provider, posts, tmp_path / "run", allow_failures=True)
    assert outcome.unfinished is None
    assert outcome.document["failed"]["items"] == 1
    scores = outcome.document["systems"][provider.system]
    assert scores["posts"] == benchmark.POSTS, "the failed post is still one of its posts"


def test_a_run_with_every_sample_failed_is_no_success_and_gives_up_soon(
    serve: Serve, posts: Path, tmp_path: Path
) -> None:
    provider = serve(lambda model, messages, attempt: "401")
    outcome = benchmark.run(provider, posts, tmp_path / "run")
    assert isinstance(outcome.unfinished, PartialError)
    assert outcome.document["calls"]["made"] == 0
    assert sum(provider.requests.values()) <= 2 * 2 * 4, "a refused key is not tried on every post"
    assert any("AuthenticationError" in reason for reason in outcome.document["failed"]["reasons"])


def test_a_server_that_hangs_costs_its_time_limit_and_no_more(serve: Serve, posts: Path, tmp_path: Path) -> None:
    provider = serve(lambda model, messages, attempt: "slow:8" if "post 0 " in messages[-1]["content"] else None)
    quick = Patience(sdk_retries=0, retries=0, attempt_timeout=1, max_connections=4)
    outcome = benchmark.run(provider, posts, tmp_path / "run", limit=2, patience=quick)
    assert isinstance(outcome.unfinished, PartialError)
    assert any("AttemptTimeoutError" in reason for reason in outcome.document["failed"]["reasons"])


def test_a_key_is_in_no_file_of_the_run_folder(serve: Serve, posts: Path, tmp_path: Path) -> None:
    provider = serve(lambda model, messages, attempt: "echo-key" if "post 1 " in messages[-1]["content"] else None)
    benchmark.run(provider, posts, tmp_path / "run")
    assert provider.requests["echo-key"] > 0, "the server sent the key back in its error"
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert any(path.suffix == ".eval" for path in files)
    for path in files:
        for name, content in _contents(path):
            assert KEY.encode() not in content, f"{path.name}: {name}"


def test_money_runs_out_before_the_call_that_could_go_over_and_the_run_goes_on_with_more(
    serve: Serve, posts: Path, tmp_path: Path
) -> None:
    provider = serve()
    prices = {provider.system: Price(1.0, 2.0), provider.judge: Price(1.0, 2.0)}
    poor = benchmark.run(provider, posts, tmp_path / "run", prices=prices, max_cost=0.006)
    assert isinstance(poor.unfinished, PartialError)
    spent = poor.document["calls"]["usd"]
    # the provider counts 40 tokens in and 4 out for each call
    assert spent == pytest.approx(poor.document["calls"]["made"] * (40 * 1.0 + 4 * 2.0) / 1e6)
    assert 0 < spent <= 0.006
    assert any("--max-cost" in reason for reason in poor.document["failed"]["reasons"])
    rich = benchmark.run(provider, posts, tmp_path / "run", prices=prices, max_cost=10.0)
    assert rich.unfinished is None
    assert rich.document["calls"]["known"] == poor.document["calls"]["made"]


def test_a_limit_of_money_needs_every_price(serve: Serve, posts: Path, tmp_path: Path) -> None:
    provider = serve()
    with pytest.raises(InputError, match="needs the price of"):
        benchmark.run(provider, posts, tmp_path / "run", prices={provider.system: Price(1.0, 2.0)}, max_cost=1.0)
    assert not provider.requests


def _contents(path: Path) -> list[tuple[str, bytes]]:
    """A file's bytes, or those of each member where it is an archive."""
    import zipfile

    if path.suffix != ".eval":
        return [(path.name, path.read_bytes())]
    with zipfile.ZipFile(path) as archive:
        return [(name, _member(archive, name)) for name in archive.namelist()]


def _member(archive: object, name: str) -> bytes:
    import zipfile

    assert isinstance(archive, zipfile.ZipFile)
    try:
        return archive.read(name)
    except NotImplementedError:  # zstd, which the standard library learns only in 3.14; Inspect brings it
        import zipfile_zstd  # noqa: F401 (teaches zipfile the method)

        return archive.read(name)
