"""Scores from files kept as a run folder: what is kept reads back as it was, and a real run is never replaced."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from mojimeter.datasets.readers import read_posts
from mojimeter.errors import InputError
from mojimeter.report.page.document import read_report
from mojimeter.runs.compare import compare_runs
from mojimeter.runs.folder import RunFolder
from mojimeter.runs.scoring import ScoringOptions, score_document
from mojimeter.runs.signature import data_hash

OPTIONS = ScoringOptions(draws=100)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "posts.csv").write_text(
        "id,text,author,lang\np1,great 🎉,ann,en\np2,sad 😢,ben,en\np3,ok 👍,chen,en\n", encoding="utf-8"
    )
    (tmp_path / "m.csv").write_text("id,reply\np1,🎉🎂🥳\np2,\np3,👍 fine\n", encoding="utf-8")
    (tmp_path / "labels.csv").write_text(
        "id,system,judge,sentiment\n"
        "p1,gold,j,positive\np2,gold,j,negative\np3,gold,j,positive\n"
        "p1,m,j,positive\np2,m,j,positive\np3,m,j,no idea\n",
        encoding="utf-8",
    )
    return tmp_path


def _score(files: Path, out: str = "run", **more: Any) -> dict[str, Any]:
    return score_document(
        files / "posts.csv", [files / "m.csv"], [files / "labels.csv"], options=OPTIONS, out=files / out, **more
    )


def test_the_folder_holds_the_document_and_tables_that_score_the_same_again(files: Path) -> None:
    document = _score(files)
    run = files / "run"
    assert json.loads((run / "scores.json").read_text(encoding="utf-8")) == json.loads(json.dumps(document))
    assert (run / "signature.txt").read_text(encoding="utf-8").strip() == document["signature"]
    again = score_document(run / "posts.jsonl", [run / "outputs.jsonl"], [run / "labels.jsonl"], options=OPTIONS)
    for name in ("systems", "signature", "data"):
        assert again[name] == document[name]


def test_a_folder_of_scores_can_be_reported_and_compared(files: Path) -> None:
    _score(files)
    (run,) = read_report([files / "run"])["runs"]
    assert run["items"]["labels"]["j"]["m"]["sentiment"] == "00?"
    (files / "m.csv").write_text("id,reply\np1,🎂\np2,😢\np3,👍\n", encoding="utf-8")
    _score(files, "other")
    (pair,) = compare_runs(files / "run", files / "other", metric="f1").pairs
    # by hand: F1 of p1 is 2/4, of p2 0, of p3 1 in the first run, 0, 1 and 1 in the other
    assert pair.values == pytest.approx((50.0, 200 / 3))


def test_posts_with_their_emoji_in_a_column_of_their_own_read_back_as_they_were(files: Path) -> None:
    (files / "posts.csv").write_text(
        # in the second text an emoji was left
        "id,text,emoji,author\np1,great,🎉🎂,ann\np2,sad 😭 day,😢,ben\np3,ok,👍,chen\n",
        encoding="utf-8",
    )
    document = _score(files)
    assert document["leaks"]["count"] == 1
    before, after = read_posts(files / "posts.csv"), read_posts(files / "run" / "posts.jsonl")
    assert data_hash(after) == data_hash(before)
    assert after["emoji"].to_list() == before["emoji"].to_list() == [["🎉", "🎂"], ["😢"], ["👍"]]
    assert after["leaked"].to_list() == [False, True, False]
    (run,) = read_report([files / "run"])["runs"]
    assert run["items"]["leaked"] == [1]


def test_posts_that_a_folder_could_not_hold_are_refused(files: Path) -> None:
    (files / "posts.csv").write_text("id,text,emoji\np1,great,🎉 (party)\np2,sad 😭,😢\np3,ok,👍\n", encoding="utf-8")
    with pytest.raises(InputError, match="column 'emoji' holds more than emoji"):
        _score(files)
    assert not (files / "run" / "scores.json").exists()


def test_scores_give_way_to_scores_but_never_a_run(files: Path) -> None:
    _score(files)
    _score(files)
    with RunFolder(files / "real") as folder:
        folder.write_settings({"systems": ["local/x"], "posts_file": "starter"})
    with pytest.raises(InputError, match="holds a run, which scores from files must not replace"):
        _score(files, "real")


def test_labels_of_several_judges_are_kept_as_ratings_too(files: Path) -> None:
    labels = pl.read_csv(files / "labels.csv")
    pl.concat([labels, labels.with_columns(judge=pl.lit("k"))]).write_csv(files / "labels.csv")
    score_document(
        files / "posts.csv",
        [files / "m.csv"],
        [files / "labels.csv"],
        options=ScoringOptions(draws=100, judge="j"),
        out=files / "run",
    )
    ratings = pl.read_ndjson(files / "run" / "ratings.jsonl")
    # of the five labels the sentiment of the first post alone is there and kept
    assert ratings.filter(pl.col("rater") == "k").sort("item")["score"].to_list() == [1, 0, 0]


def test_the_papers_release_is_kept_and_reported_with_its_own_labels(shared: Path, tmp_path: Path) -> None:
    data = shared / "data" / "semrec"
    document = score_document(
        data / "benchmark.csv",
        [data / "zeroshot_gpt-4o.csv", data / "zeroshot_random_sentence.csv"],
        options=ScoringOptions("semrec", "code-points", draws=50, known_as={"released": "openai/gpt-4o-mini"}),
        out=tmp_path / "run",
    )
    run = read_report([tmp_path / "run"])["runs"][0]
    assert run["items"]["n"] == 5039
    # the second paper's printed row of gpt-4o, zero-shot (design/recommendation.md)
    whole = run["slices"][0]["systems"]["gpt-4o"]
    printed = {"precision": 6.93, "recall": 16.14, "f1": 9.04, "sentiment": 78.41, "emotion": 67.41, "average": 79.23}
    assert {name: round(whole[name]["value"], 2) for name in printed} == printed
    kin = {system["name"]: system["kin"] for system in run["systems"]}
    assert kin["gpt-4o"] == ["released"]
    assert len(run["items"]["leaked"]) == document["leaks"]["count"]
