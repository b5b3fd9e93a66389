"""``mojimeter judge ...`` from files, without a model: one JSON object, one screen, one sentence for bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from mojimeter.cli.app import app
from mojimeter.errors import InputError, PartialError
from mojimeter.trust.sources import Asking, label_rows

TEXTS = ["so glad 🎉", "rain again 😢", "what a day", "love it ❤️", "no way 😡"]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """100 posts of 20 authors, labels of two judges for originals, a system and random emoji, and people's labels."""
    rng = np.random.default_rng(0)
    n = 100
    sentiment = rng.choice(["positive", "negative", "neutral"], n)
    posts = pl.DataFrame(
        {
            "id": [f"p{i}" for i in range(n)],
            "text": [f"{TEXTS[i % 5]} {i}" for i in range(n)],
            "author": [f"a{i // 5}" for i in range(n)],
            "sentiment": sentiment,
        }
    )

    def noisy(right: Any, keep: float) -> list[str]:
        return [r if rng.random() < keep else str(rng.choice(["positive", "negative", "neutral"])) for r in right]

    rows = []
    for judge, keep in (("openai/gpt-4o", 0.9), ("cheap", 0.6)):
        gold = noisy(sentiment, keep)
        labelled = {("gold", 1): gold, ("gold", 2): noisy(gold, 0.9)}
        labelled |= {("gpt-4o-mini", 1): noisy(gold, 0.7), ("mistral-7b", 1): noisy(gold, 0.6)}
        labelled |= {("baseline/random", 1): noisy(gold, 0.2), ("baseline/none", 1): noisy(gold, 0.5)}
        for (system, epoch), column in labelled.items():
            rows += [
                {"id": f"p{i}", "system": system, "judge": judge, "epoch": epoch, "sentiment": label}
                for i, label in enumerate(column)
            ]
    posts.write_csv(tmp_path / "posts.csv")
    pl.DataFrame(rows).write_csv(tmp_path / "labels.csv")
    few = pl.DataFrame(rows).filter((pl.col("judge") == "cheap") | pl.col("id").str.len_chars().eq(2).not_())
    few.filter((pl.col("judge") == "cheap") | (pl.col("id") < "p50")).write_csv(tmp_path / "few.csv")
    return {path.stem: str(path) for path in tmp_path.iterdir()}


def run(*arguments: str) -> dict[str, Any]:
    done = CliRunner().invoke(app, ["judge", *arguments, "--json"], catch_exceptions=False)
    assert done.exit_code == 0
    document: dict[str, Any] = json.loads(done.stdout)
    assert document["schema"] == 1
    return document


def screen(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["judge", *arguments], catch_exceptions=False, env={"COLUMNS": "80"})
    assert done.exit_code == 0
    assert max(map(len, done.stdout.splitlines())) <= 80
    return done.stdout


def test_accuracy_gives_the_contracts_numbers_for_each_judge_side_by_side(files: dict[str, str]) -> None:
    document = run("accuracy", files["posts"], "--labels", files["labels"], "--bootstrap", "50")
    assert document["truth"] == "posts"
    for judge in ("openai/gpt-4o", "cheap"):
        found = document["judges"][judge]["sentiment"]
        for name in ("accuracy", "kappa", "precision", "recall", "f1_macro"):
            assert found[name]["ci"][0] <= found[name]["value"] <= found[name]["ci"][1]
        assert set(found["per_class"]) == {"positive", "negative", "neutral"}
    assert document["differences"][0]["posts"] == 100
    assert "Per class" in screen("accuracy", files["posts"], "--labels", files["labels"], "--bootstrap", "50")


def test_any_judge_in_the_files_can_be_the_truth(files: dict[str, str]) -> None:
    document = run(
        "accuracy", files["posts"], "--labels", files["labels"], "--truth", "openai/gpt-4o", "--bootstrap", "20"
    )
    assert list(document["judges"]) == ["cheap"]


def test_sensitivity_noise_bias_and_correct_work_from_files_alone(files: dict[str, str]) -> None:
    few = ("--bootstrap", "50")
    sensitive = run("sensitivity", files["posts"], "--labels", files["labels"], *few)
    variants = sensitive["judges"]["cheap"]
    assert (
        variants["baseline/random"]["sentiment"]["kappa"]["value"]
        < variants["baseline/none"]["sentiment"]["kappa"]["value"]
    )
    noisy = run("noise", files["posts"], "--labels", files["labels"], *few)
    assert noisy["judges"]["cheap"]["texts"] == 100
    assert {"judge": "openai/gpt-4o", "system": "gpt-4o-mini", "kinship": "same maker"} in noisy["kin"]
    biased = run("bias", files["posts"], "--labels", files["labels"], *few)
    assert biased["self_preference"][0]["system"] == "gpt-4o-mini"
    corrected = run("correct", files["posts"], "--labels", files["few"], "--good", "openai/gpt-4o", "--cheap", "cheap")
    found = corrected["estimates"]["gpt-4o-mini"]
    assert found["labels"] + found["unlabelled"] == 100
    assert found["unlabelled"] > 0
    assert corrected["savings"] == {}
    for command in ("sensitivity", "noise", "bias"):
        screen(command, files["posts"], "--labels", files["labels"], *few)
    assert "(kin)" in screen("correct", files["posts"], "--labels", files["few"], "--good", "openai/gpt-4o")


def test_where_all_good_labels_are_known_the_saving_is_printed(files: dict[str, str]) -> None:
    arguments = ("correct", files["posts"], "--labels", files["labels"], "--good", "openai/gpt-4o", "--cheap", "cheap")
    curve = run(*arguments, "--at", "20", "50", "--choices", "5")["savings"]["gpt-4o-mini"]
    assert [step["labels"] for step in curve["at"]] == [20, 50]
    assert curve["needed_corrected"] <= 100
    assert "saved" in screen(*arguments, "--at", "20", "50", "--choices", "5")


def test_without_systems_the_share_of_each_label_is_corrected(files: dict[str, str], tmp_path: Path) -> None:
    only = tmp_path / "gold.csv"
    pl.read_csv(files["few"]).filter((pl.col("system") == "gold") & (pl.col("epoch") == 1)).write_csv(only)
    document = run("correct", files["posts"], "--labels", str(only), "--good", "openai/gpt-4o", "--cheap", "cheap")
    shares = document["estimates"]
    assert set(shares) == {"sentiment positive", "sentiment negative", "sentiment neutral"}
    assert sum(share["labels_only"]["value"] for share in shares.values()) == pytest.approx(100)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("accuracy", "posts", "--labels", "labels", "--truth", "nobody"), "which labels are right"),
        (("sensitivity", "posts", "--labels", "labels", "--variant", "x"), "no labels of 'x'"),
        (("noise", "posts", "--labels", "labels", "--random", "x"), "no labels of 'x'"),
        (("correct", "posts", "--labels", "labels"), "which labels are which"),
        (("correct", "posts", "--labels", "labels", "--good", "cheap", "--task", "colour"), "--task colour"),
        (("bias",), "nothing to look at"),
        (("noise", "posts", "--labels", "labels", "--is", "x"), "expected JUDGE=MODEL"),
        (("accuracy", "posts", "--judge", "nonsense"), "no judge 'nonsense'"),
    ],
)
def test_wrong_options_are_one_sentence(files: dict[str, str], arguments: tuple[str, ...], says: str) -> None:
    with pytest.raises(InputError, match=says):
        CliRunner().invoke(app, ["judge", *(files.get(a, a) for a in arguments)], catch_exceptions=False)


def test_known_labels_that_are_none_of_the_tasks_name_their_row(tmp_path: Path) -> None:
    posts = tmp_path / "posts.csv"
    posts.write_text("id,text,sentiment\na,x,positive\nb,y,2\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"row 2, column 'sentiment': expected positive, negative, neutral, found '2'"):
        CliRunner().invoke(app, ["judge", "accuracy", str(posts), "--judge", "student/starter"], catch_exceptions=False)


def test_a_model_is_asked_once_a_text_and_vote_and_its_answers_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("inspect_ai")
    from mojimeter.models.calls import Call
    from mojimeter.models.client import Client

    asked = []

    async def answer(self: Client, request: Any, model: Any = None) -> Call:
        known = self.ledger.recall(request)
        if known is None:
            asked.append(request.turn)
            known = Call(request.key, request.model, request.purpose, "sentiment: positive\ngender: male")
            self.ledger.add(known)
        return known

    monkeypatch.setattr(Client, "ask", answer)
    rows = [("a", "gold", "same"), ("b", "gold", "same"), ("c", "gold", "other")]
    asking = Asking(votes=3, out=str(tmp_path / "run"))
    found = label_rows(["mockllm/x"], rows, asking, repeats=2)
    assert found["sentiment"].to_list() == ["positive"] * 6
    assert found["epoch"].to_list() == [1, 1, 1, 2, 2, 2]
    # two distinct texts; sentiment and gender settle with two equal votes, the unread tasks too; repeats ask anew
    assert sorted(asked) == [0, 0, 1, 1, 3, 3, 4, 4]
    label_rows(["mockllm/x"], rows, asking, repeats=2)
    assert len(asked) == 8


def test_calls_that_fail_are_counted_and_leave_a_resumable_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("inspect_ai")
    from mojimeter.models.client import CallError, Client

    async def refuse(self: Client, request: Any, model: Any = None) -> Any:
        raise CallError("mockllm/x: 503")

    monkeypatch.setattr(Client, "ask", refuse)
    with pytest.raises(PartialError, match=r"2 of 2 texts have no label \(mockllm/x: 503\)"):
        label_rows(["mockllm/x"], [("a", "gold", "x"), ("b", "gold", "y")], Asking(out=str(tmp_path / "run")))


def test_a_post_whose_original_has_no_good_label_counts_as_unlabelled_and_not_as_lost(
    files: dict[str, str], tmp_path: Path
) -> None:
    partly = tmp_path / "partly.csv"
    labels = pl.read_csv(files["labels"])
    is_missing = (pl.col("judge") == "openai/gpt-4o") & (pl.col("system") == "gold") & (pl.col("id") >= "p50")
    labels.filter(~is_missing).write_csv(partly)
    document = run("correct", files["posts"], "--labels", str(partly), "--good", "openai/gpt-4o", "--cheap", "cheap")
    ids = [f"p{i}" for i in range(100)]
    assert document["estimates"]["mistral-7b"]["labels"] == sum(post < "p50" for post in ids)


def test_good_labels_without_a_cheap_one_are_counted(files: dict[str, str], tmp_path: Path) -> None:
    partly = tmp_path / "partly.csv"
    is_cheap_p7 = (pl.col("judge") == "cheap") & (pl.col("id") == "p7")
    pl.read_csv(files["labels"]).filter(~is_cheap_p7).write_csv(partly)
    document = run("correct", files["posts"], "--labels", str(partly), "--good", "openai/gpt-4o", "--cheap", "cheap")
    assert "mistral-7b: 1 posts with a good label have no cheap one and are left out" in document["warnings"]


def test_a_provider_there_is_none_of_is_one_error_before_anything_is_asked(tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai")
    with pytest.raises(InputError, match="cannot be loaded"):
        label_rows(["noprovider/x"], [("a", "gold", "x")], Asking(out=str(tmp_path / "run")))
