"""Whole runs of benchmark A against a provider over HTTP: what is asked, what is written, what it costs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from mojimeter.datasets.readers import read_labels, read_outputs, read_posts
from mojimeter.errors import InputError
from mojimeter.judges.labels import LABELS
from mojimeter.models.prices import Price
from mojimeter.runs.folder import RunFolder
from mojimeter.runs.plan import plan_recommend
from mojimeter.runs.recommend import run_recommend
from mojimeter.runs.settings import RecommendSettings
from tests.faults import benchmark
from tests.faults.conftest import Serve

N = benchmark.POSTS
THIRD_OF_THE_PAPER = 10  # its 30 judge calls a post and system: five tasks, three votes, with and without


def test_judge_calls_are_at_most_a_third_of_the_papers_with_the_same_labels(
    serve: Serve, posts: Path, tmp_path: Path
) -> None:
    provider = serve()
    outcome = benchmark.run(provider, posts, tmp_path / "run")
    assert provider.answered["labeller"] <= THIRD_OF_THE_PAPER * N, "even with one system"
    assert provider.answered["labeller"] == 2 * 2 * N, "two votes on two texts a post"
    labels = pl.read_ndjson(tmp_path / "run" / "labels.jsonl")
    assert labels.height == 2 * N
    for row in labels.filter(pl.col("system") == "gold").join(read_posts(posts), on="id").iter_rows(named=True):
        # the majority of three votes of a judge that always says the same is what it says
        assert {task: row[task] for task in LABELS} == {
            task: benchmark.label_of(task, row["original"]) for task in LABELS
        }
    assert outcome.document["calls"]["saved"] == N + 30 * N - (N + 4 * N)


def test_originals_and_equal_texts_are_labelled_once_whatever_the_number_of_systems(
    serve: Serve, posts: Path, tmp_path: Path
) -> None:
    provider = serve(reply=lambda model, messages: "🦄" if model != "labeller" else benchmark.reply(model, messages))
    twin = provider.system.replace("writer", "twin")
    benchmark.run(provider, posts, tmp_path / "run", systems=(provider.system, twin))
    assert provider.answered["writer"] == provider.answered["twin"] == N
    assert provider.answered["labeller"] == 2 * 2 * N, "the two systems said the same"


def test_the_papers_way_of_asking_takes_more_calls_and_gives_the_same_labels(
    serve: Serve, posts: Path, tmp_path: Path
) -> None:
    provider = serve()
    benchmark.run(provider, posts, tmp_path / "together", limit=3)
    asked = provider.answered["labeller"]
    benchmark.run(provider, posts, tmp_path / "apart", limit=3, together=False)
    assert provider.answered["labeller"] - asked == 5 * asked
    columns = ["id", "system", *LABELS]
    together, apart = (
        pl.read_ndjson(tmp_path / name / "labels.jsonl").select(columns).sort(columns[:2])
        for name in ("together", "apart")
    )
    assert together.equals(apart)


def test_score_gives_the_same_numbers_from_the_folder(serve: Serve, posts: Path, tmp_path: Path) -> None:
    from mojimeter.runs.scoring import ScoringOptions, score_document

    out = tmp_path / "run"
    outcome = benchmark.run(serve(), posts, out, epochs=2, baselines=True)
    again = score_document(
        out / "posts.jsonl", [out / "outputs.jsonl"], [out / "labels.jsonl"], options=ScoringOptions(draws=50)
    )
    assert again["systems"] == outcome.document["systems"]
    assert read_outputs([out / "outputs.jsonl"]).height == N * (2 + 1 + 1), "two epochs of the model, one of baselines"
    assert json.loads((out / "scores.json").read_text())["systems"] == outcome.document["systems"]
    assert (out / "signature.txt").read_text().strip() == outcome.document["signature"]


def test_several_judges_make_an_item_system_judge_table(serve: Serve, posts: Path, tmp_path: Path) -> None:
    provider = serve()
    second = provider.judge.replace("labeller", "writer")  # answers with emoji: every label unparsed
    outcome = benchmark.run(provider, posts, tmp_path / "run", limit=4, judges=(provider.judge, second))
    ratings = pl.read_ndjson(tmp_path / "run" / "ratings.jsonl")
    assert ratings.columns == ["item", "system", "rater", "attempts", "score"]
    assert ratings["attempts"].unique().to_list() == [1]
    assert ratings.height == 4 * 1 * 2
    assert ratings.filter(pl.col("rater") == second)["score"].unique().to_list() == [0]
    labels = read_labels([tmp_path / "run" / "labels.jsonl"]).filter(pl.col("judge") == provider.judge)
    gold = {row["id"]: row for row in labels.filter(pl.col("system") == "gold").iter_rows(named=True)}
    for row in labels.filter(pl.col("system") != "gold").iter_rows(named=True):
        kept = sum(row[task] == gold[row["id"]][task] for task in LABELS)
        rating = ratings.filter(item=row["id"], system=row["system"], rater=provider.judge)
        assert rating["score"].item() == kept
    assert set(outcome.document["by_judge"]) == {provider.judge, second}


def test_a_system_that_is_the_judge_is_flagged_in_the_scores(serve: Serve, posts: Path, tmp_path: Path) -> None:
    provider = serve()
    twin = provider.system.replace("writer", "twin")
    judged = {"systems": (provider.system, twin), "judges": (provider.system,)}
    document = benchmark.run(provider, posts, tmp_path / "run", limit=3, **judged).document
    assert {name: row["kin"] for name, row in document["systems"].items()} == {provider.system: True, twin: False}
    assert any(f"{provider.system} (itself)" in warning for warning in document["warnings"])
    kept = json.loads((tmp_path / "run" / "scores.json").read_text())
    assert kept["systems"][provider.system]["kin"] is True


def test_a_plan_counts_calls_and_money_and_asks_nobody(serve: Serve, posts: Path, tmp_path: Path) -> None:
    provider = serve()
    settings = RecommendSettings(str(posts), (provider.system,), (provider.judge,), draws=50, baselines=False)
    unpriced = plan_recommend(settings, tmp_path / "run", {})
    assert unpriced["usd"]["value"] is None
    assert provider.system in unpriced["usd"]["reason"]
    prices = {provider.system: Price(1, 1), provider.judge: Price(1, 1)}
    plan = plan_recommend(settings, tmp_path / "run", prices)
    assert not provider.requests
    assert not (tmp_path / "run").exists()
    outcome = benchmark.run(provider, posts, tmp_path / "run")
    assert plan["calls"]["least"] <= outcome.document["calls"]["made"] <= plan["calls"]["most"]
    assert plan["calls"]["recommend"] == {provider.system: N}
    assert 0 < plan["usd"]["least"] < plan["usd"]["most"]
    after = plan_recommend(settings, tmp_path / "run", prices)
    assert (after["calls"]["least"], after["calls"]["most"], after["usd"]["most"]) == (0, 0, 0)


def test_a_run_can_grow_but_not_turn_into_another(serve: Serve, posts: Path, tmp_path: Path) -> None:
    provider = serve()
    out = tmp_path / "run"
    small = benchmark.run(provider, posts, out, limit=3)
    grown = benchmark.run(provider, posts, out, limit=4)
    assert grown.document["calls"]["known"] == small.document["calls"]["made"]
    with pytest.raises(InputError, match="holds a run with n = '3', not '2'; give another --out"):
        benchmark.run(provider, posts, out, n="2")
    benchmark.write_posts(posts, 3)
    with pytest.raises(InputError, match="posts_sha256"):
        benchmark.run(provider, posts, out, limit=3)


def test_another_bootstrap_or_equality_asks_nothing_and_writes_settings_and_scores_anew(
    serve: Serve, posts: Path, tmp_path: Path
) -> None:
    provider = serve()
    out = tmp_path / "run"
    before = benchmark.run(provider, posts, out, limit=4).document
    asked = len(provider.requests)
    after = benchmark.run(provider, posts, out, limit=4, draws=70, bootstrap_seed=3, equality="tone").document
    assert len(provider.requests) == asked
    assert after["calls"]["made"] == 0
    for part in ("seed:3", "draws:70", "equality:tone"):
        assert part in after["signature"]
        assert part not in before["signature"]
    assert (out / "signature.txt").read_text().strip() == after["signature"]
    assert json.loads((out / "scores.json").read_text())["signature"] == after["signature"]
    settings = RunFolder(out).settings() or {}
    assert (settings["draws"], settings["bootstrap_seed"], settings["equality"]) == (70, 3, "tone")
    (old,), (new,) = before["systems"].values(), after["systems"].values()
    assert old["preservation"]["average"]["value"] == new["preservation"]["average"]["value"]
    with pytest.raises(InputError, match=r"holds a run with temperature = 1\.0, not 0\.5"):
        benchmark.run(provider, posts, out, limit=4, draws=80, temperature=0.5)
    assert (RunFolder(out).settings() or {})["draws"] == 70, "a refused run changes nothing"


def test_two_processes_cannot_write_to_one_folder(tmp_path: Path) -> None:
    with (
        RunFolder(tmp_path / "run"),
        pytest.raises(InputError, match="another run is writing"),
        RunFolder(tmp_path / "run"),
    ):
        pass
    with RunFolder(tmp_path / "run"):
        assert (tmp_path / "run").is_dir()


def test_conditional_prompts_show_the_posts_own_age_and_gender(serve: Serve, posts: Path, tmp_path: Path) -> None:
    asked: list[str] = []

    def remember(model: str, messages: list[dict[str, str]]) -> str:
        if model == "writer":
            asked.append(messages[-1]["content"])
        return benchmark.reply(model, messages)

    provider = serve(reply=remember)
    outcome = benchmark.run(provider, posts, tmp_path / "run", strategy="conditional")
    assert len(asked) == N
    assert outcome.document["profile"] == "posts"
    assert outcome.document["systems"][provider.system]["leaked"] is False
    assert all("gender as given: female" in question and "age as given: teen" in question for question in asked)


def test_conditional_prompts_with_the_judges_labels_are_marked_as_leaked(
    serve: Serve, posts: Path, tmp_path: Path
) -> None:
    asked: list[str] = []

    def remember(model: str, messages: list[dict[str, str]]) -> str:
        if model == "writer":
            asked.append(messages[-1]["content"])
        return benchmark.reply(model, messages)

    provider = serve(reply=remember)
    outcome = benchmark.run(provider, posts, tmp_path / "run", limit=4, strategy="conditional", profile="labels")
    originals = read_posts(posts)["original"].to_list()[:4]
    expected = {f"age as given: {benchmark.label_of('age', text)}" for text in originals}
    assert {line for question in asked for line in expected if line in question} == expected
    assert outcome.document["profile"] == "labels"
    scores = outcome.document["systems"][provider.system]
    assert scores["leaked"] is True
    assert scores["preservation"]["average_unleaked"]["value"] is not None


def test_a_conditional_run_without_ages_and_genders_says_what_it_needs(serve: Serve, tmp_path: Path) -> None:
    plain = tmp_path / "plain.csv"
    plain.write_text("id,text\n1,hello 🎉\n", encoding="utf-8")
    with pytest.raises(InputError, match="no age and no gender"):
        benchmark.run(serve(), plain, tmp_path / "run", strategy="conditional")


def test_baselines_alone_need_no_recommender_and_the_original_is_found_again(
    serve: Serve, posts: Path, tmp_path: Path
) -> None:
    provider = serve()
    outcome = benchmark.run(provider, posts, tmp_path / "run", systems=("baseline/original",))
    assert provider.answered["writer"] == 0
    assert outcome.document["systems"]["baseline/original"]["overlap"]["f1"]["value"] == 100
    # the emoji stood at the end already, so the judge reads the very same text
    assert provider.answered["labeller"] == 2 * N


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"n": "6"}, "expected a number from 1 to 5"),
        ({"strategy": "twoshot"}, "no strategy 'twoshot'"),
        ({"append": "after"}, "append is 'after'"),
        ({"profile": "labels"}, "needs --strategy conditional"),
        ({"systems": ()}, "nothing to rank"),
        ({"systems": ("gpt-4o",)}, "no system 'gpt-4o'"),
        ({"systems": ("baseline/best",)}, "no baseline 'baseline/best'"),
        ({"judges": ("gpt-4o",)}, "no judge 'gpt-4o'"),
        ({"template": "nowhere.txt"}, "nowhere.txt: the template cannot be read"),
        ({"epochs": 0}, "epochs is 0"),
    ],
)
def test_wrong_settings_are_one_sentence_before_anything_is_written(
    settings: dict[str, Any], sentence: str, posts: Path, tmp_path: Path
) -> None:
    chosen = RecommendSettings(**{"posts": str(posts), "systems": ("openai/x",), "judges": ("openai/x",), **settings})
    with pytest.raises(InputError, match=sentence):
        run_recommend(chosen, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_model_without_its_key_is_one_sentence_that_names_the_variable(
    posts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    chosen = RecommendSettings(str(posts), ("openai/gpt-4o-mini",), ("openai/gpt-4o-mini",))
    with pytest.raises(InputError, match="OPENAI_API_KEY"):
        run_recommend(chosen, tmp_path / "run")
