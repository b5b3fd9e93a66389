"""A build from raw files to its papers: counts that add up, the same bytes again, and going on after a kill."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from mojimeter import emoji
from mojimeter.build import label as labelling
from mojimeter.build.keys import draw_key
from mojimeter.build.recipe import Balance, Clean, Label, Recipe
from mojimeter.build.run import Job, build_benchmark, iter_warnings
from mojimeter.datasets.readers import read_labels, read_posts
from mojimeter.errors import InputError, PartialError
from mojimeter.judges.labels import LABELS
from tests.build.support import made_labels, made_posts, write_jsonl
from tests.faults.conftest import KEY
from tests.faults.provider import Provider

RETWEETS = sum("RT @friend" in post["text"] for post in made_posts(400))


class HashJudge:
    """A judge of ours that labels by hash and leaves texts with "exam" unlabelled on one task."""

    name, digest = "student/hash", "000000000000"

    def label(self, texts: list[str]) -> dict[str, list[str | None]]:
        rows = [made_labels(text) for text in texts]
        columns: dict[str, list[str | None]] = {task: [row[task] for row in rows] for task in LABELS}
        columns["emotion"] = [None if "exam" in text else e for text, e in zip(texts, columns["emotion"], strict=True)]
        return columns


@pytest.fixture
def hash_judge(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr("mojimeter.judges.panel.get_judge", lambda name, **_: HashJudge())
    monkeypatch.setattr(labelling, "_own_judge", lambda name: HashJudge())
    return "student/hash"


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "raw.jsonl", made_posts(400))


def rows(path: str | Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def test_every_raw_post_is_kept_or_counted_under_one_reason(raw: Path, tmp_path: Path, hash_judge: str) -> None:
    document = build_benchmark(Job((str(raw),), str(tmp_path / "out.jsonl"), judge=hash_judge))
    posts = document["posts"]
    assert posts["read"] == 400 == posts["kept"] + sum(posts["dropped"].values())
    assert posts["dropped"]["retweet"] == RETWEETS
    assert posts["dropped"]["duplicate"] > 0
    assert posts["dropped"]["no_emoji"] >= 40
    assert posts["dropped"]["unlabelled"] == document["unlabelled"]["emotion"] > 0
    assert posts["kept"] == len(rows(tmp_path / "out.jsonl"))
    for task, counts in document["after"]["labels"].items():
        assert sum(counts.values()) == posts["kept"], task
        assert sum(document["before"]["labels"][task].values()) == posts["labelled"]
    assert not (tmp_path / "out.work").exists()


def test_posts_and_labels_are_read_by_the_rest_of_the_project(raw: Path, tmp_path: Path, hash_judge: str) -> None:
    document = build_benchmark(Job((str(raw),), str(tmp_path / "out.jsonl"), judge=hash_judge))
    posts = read_posts(tmp_path / "out.jsonl")
    labels = read_labels([tmp_path / "out.labels.jsonl"])
    assert posts["id"].to_list() == labels["id"].to_list()
    assert not posts["leaked"].any()
    assert posts["gender"].null_count() == posts.height, "the judge's labels must not reach a prompt"
    for row in rows(tmp_path / "out.jsonl"):
        assert row["gold_emoji"].split(" ") == emoji.find(row["text"]) != []
        assert row["plain"] == emoji.strip(row["text"]).strip()
    by_hand = {row["id"]: made_labels(row["text"]) for row in rows(tmp_path / "out.jsonl")}
    assert labels.select("id", *LABELS).rows() == [(i, *by_hand[i].values()) for i in by_hand]
    emoji_per_post = posts["emoji"].list.len().mean()
    assert document["after"]["emoji_per_post"] == pytest.approx(emoji_per_post, abs=5e-5)


def test_posts_keep_the_order_of_the_input_and_the_minority_is_whole(
    raw: Path, tmp_path: Path, hash_judge: str
) -> None:
    build_benchmark(Job((str(raw),), str(tmp_path / "out.jsonl"), judge=hash_judge))
    kept = [row["id"] for row in rows(tmp_path / "out.jsonl")]
    assert kept == sorted(kept, key=lambda name: int(name[1:]))
    build_benchmark(Job((str(raw),), str(tmp_path / "all.jsonl"), Recipe(balance=Balance()), judge=hash_judge))
    labels = {row["id"]: row for row in rows(tmp_path / "all.labels.jsonl")}
    minority = {i for i, row in labels.items() if row["stance"] == "against" or row["age"] in ("child", "senior")}
    assert minority <= set(kept)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_the_recipe_that_is_written_gives_the_same_bytes_again(tmp_path: Path, suffix: str, hash_judge: str) -> None:
    from mojimeter.build.recipe import read_recipe

    raw = write_jsonl(tmp_path / "raw.jsonl", made_posts(300))
    first = build_benchmark(Job((str(raw),), str(tmp_path / f"one.{suffix}"), judge=hash_judge))
    assert first["reproduced"] is None
    recipe, made = read_recipe(tmp_path / "one.recipe.toml")
    again = Job((str(raw),), str(tmp_path / f"two.{suffix}"), recipe, hash_judge, block_bytes=4000, block_rows=30)
    second = build_benchmark(again, made=made)
    assert second["reproduced"] is True
    assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"two.{suffix}").read_bytes()
    other = build_benchmark(again, made={**made, "sha256": "0" * 64})
    assert other["reproduced"] is False
    assert any("other bytes" in warning for warning in iter_warnings(other))


def test_what_can_be_wrong_with_a_benchmark_is_found(tmp_path: Path) -> None:
    posts = [
        {"id": "1", "text": "the bus is late 😂", "author": "ann", "split": "train"},
        {"id": "2", "text": "The BUS is laaate!!! 🙏", "author": "bob", "split": "test"},
        {"id": "3", "text": "so happy :joy: today 🎉", "author": "ann", "split": "test"},
        {"id": "4", "text": "tea at 5:30: fine 🎉", "author": "cem", "split": "test"},
    ]
    raw = write_jsonl(tmp_path / "raw.jsonl", posts)
    audit = build_benchmark(Job((str(raw),), str(tmp_path / "out.csv"), judge="none"))["audit"]
    assert audit["near_duplicates"] == {
        "posts": 1,
        "across_splits": {"groups": 1, "posts": 2, "examples": ["1", "2"]},
    }
    assert audit["authors_across_splits"] == {"groups": 1, "posts": 2, "examples": ["1", "3"]}
    assert audit["emoji_named_in_text"] == {"posts": 1, "examples": ["3"]}
    assert audit["emoji_left_in_text"]["posts"] == 0
    near = build_benchmark(
        Job((str(raw),), str(tmp_path / "near.csv"), Recipe(clean=Clean(duplicates="near")), judge="none")
    )
    assert near["posts"]["dropped"]["duplicate"] == 1
    assert near["audit"]["near_duplicates"]["posts"] == 0


def test_our_own_splits_keep_authors_and_near_duplicates_together(tmp_path: Path) -> None:
    posts: list[dict[str, str | None]] = [
        {
            "id": str(n),
            "text": f"post {'abcdefgh'[n % 8]} {'!' * (n // 8)} 😂",
            "author": None if n % 2 else f"a{n % 6}",
        }
        for n in range(64)
    ]
    raw = write_jsonl(tmp_path / "raw.jsonl", posts)
    recipe = Recipe(splits={"train": 0.5, "test": 0.5})
    document = build_benchmark(Job((str(raw),), str(tmp_path / "out.csv"), recipe, judge="none"))
    assert document["audit"]["authors_across_splits"]["groups"] == 0
    table = pl.read_csv(tmp_path / "out.csv")
    assert set(table["split"]) == {"train", "test"}
    alone = table.filter(pl.col("author").is_null())
    assert alone.group_by("plain").agg(pl.col("split").n_unique())["split"].max() == 1


def test_ids_are_made_where_there_are_none_and_refused_where_they_repeat(tmp_path: Path) -> None:
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text("text\na 😂\nno emoji\nb 😂\n", encoding="utf-8")
    two.write_text("text\nc 😂\n", encoding="utf-8")
    build_benchmark(Job((str(one), str(two)), str(tmp_path / "out.csv"), judge="none", block_bytes=10))
    assert pl.read_csv(tmp_path / "out.csv")["id"].to_list() == ["one-1", "one-3", "two-1"]
    twice = tmp_path / "twice.csv"
    twice.write_text("id,text\n7,a 😂\n7,b 😂\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"id '7' is on two different posts; --number"):
        build_benchmark(Job((str(twice),), str(tmp_path / "x.csv"), judge="none"))
    document = build_benchmark(Job((str(twice),), str(tmp_path / "y.csv"), judge="none", numbered=True))
    assert document["posts"]["kept"] == 2


def test_a_limit_draws_the_lowest_hashes_of_the_ids(raw: Path, tmp_path: Path) -> None:
    build_benchmark(Job((str(raw),), str(tmp_path / "all.jsonl"), judge="none"))
    recipe = Recipe(seed=3, label=Label(at_most=20))
    document = build_benchmark(Job((str(raw),), str(tmp_path / "few.jsonl"), recipe, judge="none"))
    every = [row["id"] for row in rows(tmp_path / "all.jsonl")]
    drawn = set(sorted(every, key=lambda name: draw_key(3, name))[:20])
    assert [row["id"] for row in rows(tmp_path / "few.jsonl")] == [name for name in every if name in drawn]
    assert document["posts"]["dropped"]["not_drawn_to_label"] == len(every) - 20


def test_labels_made_elsewhere_are_joined_by_id_and_odd_ones_are_counted(tmp_path: Path) -> None:
    raw = write_jsonl(tmp_path / "raw.jsonl", [{"id": str(n), "text": f"post {n} 😂"} for n in range(4)])
    labels = tmp_path / "labels.csv"
    labels.write_text("id,feeling,gender\n0,angry,male\n1,Joy.,female\n2,bored,male\n", encoding="utf-8")
    job = Job(
        (str(raw),), str(tmp_path / "out.csv"), Recipe(balance=Balance(keep={"emotion": ("anger",)})),
        labels=(str(labels),), mapping={"emotion": "feeling"},
    )  # fmt: skip
    document = build_benchmark(job)
    assert (
        document["before"]["labels"]["emotion"] | {"anger": 1, "happiness": 1}
        == document["before"]["labels"]["emotion"]
    )
    assert document["unlabelled"] == {"emotion": 2, "gender": 1}  # "bored" is no label; post 3 has none
    assert (document["posts"]["dropped"]["unlabelled"], document["posts"]["kept"]) == (2, 1)


@pytest.mark.parametrize(
    ("job", "words"),
    [
        ({"out": "x.txt"}, "expected a name ending in"),
        ({"extra": ("plain",)}, "that name is taken"),
        ({"extra": ("nope",)}, "no column 'nope' to keep"),
        ({"raw": ()}, "no raw posts"),
        ({"judge": "nobody"}, "no judge 'nobody'"),
    ],
)
def test_wrong_usage_is_one_sentence(raw: Path, tmp_path: Path, job: dict[str, Any], words: str) -> None:
    asked = {"raw": (str(raw),), "judge": "none", **job}
    asked["out"] = str(tmp_path / asked.get("out", "out.csv"))
    with pytest.raises(InputError, match=words):
        build_benchmark(Job(**asked))


def test_the_work_of_another_build_is_not_mixed_in(raw: Path, tmp_path: Path) -> None:
    job = Job((str(raw),), str(tmp_path / "out.csv"), judge="none")
    build_benchmark(job, keep_work=True)
    build_benchmark(job, keep_work=True)
    with pytest.raises(InputError, match="another build"):
        build_benchmark(Job((str(raw),), str(tmp_path / "out.csv"), Recipe(seed=9), judge="none"))


CHILD = """
import sys, time
from mojimeter.build.run import Job, build_benchmark
from mojimeter.build.stream import LocalEngine

class Slow(LocalEngine):
    def map(self, function, items):
        for result in super().map(function, items):
            time.sleep(float(sys.argv[3]))
            yield result

build_benchmark(Job((sys.argv[1],), sys.argv[2], judge="none", block_bytes=3000), engine=Slow())
"""


def test_a_killed_build_goes_on_from_its_parts_to_the_same_bytes(tmp_path: Path) -> None:
    raw = write_jsonl(tmp_path / "raw.jsonl", made_posts(600))
    build_benchmark(Job((str(raw),), str(tmp_path / "calm.jsonl"), judge="none"))
    out = tmp_path / "killed.jsonl"
    parts = tmp_path / "killed.work" / "parts"
    process = subprocess.Popen([sys.executable, "-c", CHILD, str(raw), str(out), "0.2"])
    deadline = time.monotonic() + 120
    while len(list(parts.glob("*.json"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = {path: path.stat().st_mtime_ns for path in parts.glob("*.json")}
    assert len(done) >= 3
    assert not out.exists()
    seen: list[int] = []
    build_benchmark(
        Job((str(raw),), str(out), judge="none", block_bytes=3000),
        keep_work=True,
        progress=lambda what, n, of: seen.append(n) if what == "clean" else None,
    )
    assert seen[0] == len(done)
    assert all(path.stat().st_mtime_ns == at for path, at in done.items()), "no finished part is made again"
    assert out.read_bytes() == (tmp_path / "calm.jsonl").read_bytes()


def test_batches_of_labels_are_kept_and_the_rest_is_labelled_next_time(
    raw: Path, tmp_path: Path, hash_judge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labelling, "BATCH", 32)
    job = Job((str(raw),), str(tmp_path / "out.jsonl"), judge=hash_judge)
    asked: Counter[str] = Counter()
    whole = HashJudge.label

    def failing(self: HashJudge, texts: list[str]) -> dict[str, list[str | None]]:
        if sum(asked.values()) >= 64:
            raise KeyboardInterrupt
        asked.update(texts)
        return whole(self, texts)

    monkeypatch.setattr(HashJudge, "label", failing)
    with pytest.raises(KeyboardInterrupt):
        build_benchmark(job)
    monkeypatch.setattr(HashJudge, "label", lambda self, texts: asked.update(texts) or whole(self, texts))  # type: ignore[func-returns-value]
    document = build_benchmark(job)
    assert set(asked.values()) == {1}
    assert sum(asked.values()) == document["posts"]["labelled"] + document["posts"]["dropped"]["unlabelled"]


def _label_reply(model: str, messages: list[dict[str, str]]) -> str:
    text = messages[-1]["content"]
    labels = {"sentiment": "neutral", "emotion": "fear", "stance": "none", "age": "adult", "gender": "female"}
    if "exam" in text:
        labels["stance"] = "maybe"
    return "\n".join(f"{task}: {label}" for task, label in labels.items())


def test_a_model_labels_through_the_ledger_and_failed_calls_can_be_made_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mojimeter.models.patience import Patience

    posts = [post for post in made_posts(24) if post["text"]]
    raw = write_jsonl(tmp_path / "raw.jsonl", posts)
    patience = Patience(sdk_retries=0, retries=0, garbled_retries=0)
    refuses = {"on": True}

    def faults(model: str, messages: list[dict[str, str]], attempt: int) -> str | None:
        return "400" if refuses["on"] and "goal" in messages[-1]["content"] else None

    with Provider(_label_reply, faults, service="builder") as provider:
        for name, value in provider.environment(KEY).items():
            monkeypatch.setenv(name, value)
        job = Job((str(raw),), str(tmp_path / "out.jsonl"), judge=provider.judge)
        plan = build_benchmark(job, dry_run=True)
        assert provider.requests.total() == 0
        with pytest.raises(PartialError, match="could not be labelled"):
            build_benchmark(job, patience=patience)
        answered = provider.answered.total()
        refuses["on"] = False
        document = build_benchmark(job, patience=patience)
    assert answered > 0
    assert provider.answered.total() == plan["calls"]["least"] == 2 * plan["posts"]["to_label"], "no call is made twice"
    assert document["failed"] == {}
    assert document["unlabelled"]["stance"] == document["posts"]["dropped"]["unlabelled"] > 0
    assert document["after"]["labels"]["emotion"]["fear"] == document["posts"]["kept"]


def test_the_card_states_source_licence_and_what_was_left_out(raw: Path, tmp_path: Path, hash_judge: str) -> None:
    recipe = Recipe(source="made for a test", licence="MIT")
    document = build_benchmark(Job((str(raw),), str(tmp_path / "out.csv"), recipe, hash_judge))
    card = (tmp_path / "out.card.md").read_text(encoding="utf-8")
    for words in ("made for a test", "MIT", document["sha256"], f"| retweets | {RETWEETS} |", "not facts about people"):
        assert words in card
    assert str(tmp_path) not in json.dumps(document["recipe"])
    bare = build_benchmark(Job((str(raw),), str(tmp_path / "bare.csv"), judge="none"))
    assert "**not stated**" in (tmp_path / "bare.card.md").read_text(encoding="utf-8")
    assert bare["posts"]["labelled"] is None


def test_the_command_writes_one_json_object_and_progress_goes_elsewhere(raw: Path, tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from mojimeter.cli.app import app

    def run(*options: str) -> Any:
        return CliRunner().invoke(app, ["build", str(raw), "--judge", "none", *options])

    done = run("--out", str(tmp_path / "o.csv"), "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout) == json.loads((tmp_path / "o.report.json").read_text(encoding="utf-8"))
    assert "raw posts ->" in run("--out", str(tmp_path / "o.csv")).stdout
    bad = run("--out", str(tmp_path / "o.txt"))
    assert isinstance(bad.exception, InputError)
    assert bad.stdout == ""
