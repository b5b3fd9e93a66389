"""Two run folders side by side: what is compared, what is refused, and the numbers by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from mojimeter.cli.app import app
from mojimeter.errors import InputError
from mojimeter.runs.compare import compare_runs
from mojimeter.runs.folder import RunFolder
from mojimeter.runs.signature import Signature

POSTS = [(f"p{i}", "🎉", f"author{i // 2}") for i in range(8)]
SIGNATURE = Signature("d", 8, "j", "3", "aa+bb", "presentation", "emoji", 0, 2000, "1")


def write_run(
    path: Path, systems: dict[str, list[str]], signature: Signature = SIGNATURE, *, posts: int = len(POSTS)
) -> Path:
    """A run of one task: each system's labels are given, the original's are all ``positive``."""
    chosen = POSTS[:posts]
    judge = signature.judge
    labels = [(i, "gold", judge, "positive") for i, _, _ in chosen]
    labels += [
        (p[0], name, judge, label) for name, given in systems.items() for p, label in zip(chosen, given, strict=True)
    ]
    with RunFolder(path) as folder:
        folder.write_settings({"systems": list(systems)})
        folder.write_table("posts", pl.DataFrame([{"id": i, "text": f"hey {e}", "author": a} for i, e, a in chosen]))
        folder.write_table(
            "outputs", pl.DataFrame([{"id": p[0], "system": name, "reply": "🎂"} for name in systems for p in chosen])
        )
        folder.write_table("labels", pl.DataFrame(labels, schema=["id", "system", "judge", "sentiment"], orient="row"))
        folder.write_scores({"signature": str(signature)})
    return path


GOOD = ["positive"] * 8
HALF = ["positive", "positive", "negative", "negative"] * 2


def test_the_difference_is_that_of_the_shares_of_labels_kept(tmp_path: Path) -> None:
    a, b = write_run(tmp_path / "a", {"m": GOOD}), write_run(tmp_path / "b", {"m": HALF})
    (pair,) = compare_runs(a, b).pairs
    # by hand: one task of five is labelled, so the average is that task's; 8 of 8 against 4 of 8
    assert pair.values == (100.0, 50.0)
    assert pair.result.difference.value == 50.0
    assert (pair.result.posts, pair.result.clusters) == (8, 4)
    # authors' sums of differences are 0, 200, 0, 200: of 4 sign patterns of the two that count, 2 reach the
    # observed sum of 400, so p is about one half
    assert pair.result.p == pytest.approx(0.5, abs=0.05)


def test_a_run_compared_with_itself_differs_by_nothing(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", {"m": HALF})
    (pair,) = compare_runs(a, a).pairs
    assert pair.result.difference.value == 0
    assert pair.result.difference.ci == (0, 0)
    assert pair.result.p == 1


def test_only_posts_that_both_runs_scored_count(tmp_path: Path) -> None:
    like = replace(SIGNATURE, n=8)
    a, b = write_run(tmp_path / "a", {"m": GOOD}), write_run(tmp_path / "b", {"m": HALF[:6]}, like, posts=6)
    assert compare_runs(a, b).pairs[0].result.posts == 6


def test_models_of_other_names_are_compared_where_each_run_has_one(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", {"m": GOOD, "baseline/none": HALF})
    b = write_run(tmp_path / "b", {"n": HALF, "baseline/none": HALF})
    assert [(p.first, p.second) for p in compare_runs(a, b).pairs] == [("m", "n")]
    assert compare_runs(a, b, systems=["baseline/none"]).pairs[0].values == (50.0, 50.0)
    assert compare_runs(a, b, systems=["m", "baseline/none"]).pairs[0].values == (100.0, 50.0)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"data": "e"}, "data d and e"),
        ({"judge": "k"}, "judge j and k"),
        ({"votes": "1"}, "votes 3 and 1"),
        ({"prompt": "aa+cc"}, "prompt bb and cc"),
        ({"equality": "tone"}, "equality presentation and tone"),
        ({"append": "raw"}, "append emoji and raw"),
    ],
)
def test_runs_with_unlike_signatures_are_refused_by_the_part_that_differs(
    tmp_path: Path, change: dict[str, str], says: str
) -> None:
    a = write_run(tmp_path / "a", {"m": GOOD})
    b = write_run(tmp_path / "b", {"m": HALF}, replace(SIGNATURE, **change))  # type: ignore[arg-type]
    with pytest.raises(InputError, match=f"cannot be compared.*{says.replace('+', '.')}"):
        compare_runs(a, b)


def test_another_prompt_seed_or_version_is_no_obstacle(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", {"m": GOOD})
    b = write_run(tmp_path / "b", {"m": HALF}, replace(SIGNATURE, prompt="zz+bb", seed=7, draws=10, version="2"))
    assert compare_runs(a, b).warnings == ("made by versions 1 and 2 of mojimeter",)


def test_what_is_no_finished_run_is_told_apart(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", {"m": GOOD})
    with pytest.raises(InputError, match=r"nowhere: not a run folder"):
        compare_runs(a, tmp_path / "nowhere")
    (a / "signature.txt").unlink()
    with pytest.raises(InputError, match="not finished"):
        compare_runs(a, a)


def test_nothing_in_common_and_an_unknown_system_are_refused_with_the_names(tmp_path: Path) -> None:
    a, b = write_run(tmp_path / "a", {"m": GOOD, "n": HALF}), write_run(tmp_path / "b", {"k": HALF})
    with pytest.raises(InputError, match="no system is in both runs"):
        compare_runs(a, b)
    with pytest.raises(InputError, match="no system 'x'; it has k"):
        compare_runs(a, b, systems=["m", "x"])


def test_the_command_prints_one_json_object_or_a_verdict(tmp_path: Path) -> None:
    a, b = write_run(tmp_path / "a", {"m": GOOD}), write_run(tmp_path / "b", {"m": HALF})
    result = CliRunner().invoke(app, ["compare", str(a), str(b), "--json"])
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert document["pairs"][0]["difference"]["value"] == 50.0
    assert document["signatures"] == [str(SIGNATURE)] * 2
    shown = CliRunner().invoke(app, ["compare", str(a), str(b)])
    assert "a tie, on 8 posts by 4 authors" in shown.stdout


def test_systems_of_the_judges_maker_are_flagged_in_the_table_and_the_json(tmp_path: Path) -> None:
    judged = replace(SIGNATURE, judge="openai/gpt-4o-mini")
    a = write_run(tmp_path / "a", {"openai/gpt-4o": GOOD, "x/llama3.1": HALF}, judged)
    b = write_run(tmp_path / "b", {"openai/gpt-4o": HALF, "x/llama3.1": GOOD}, judged)
    result = CliRunner().invoke(app, ["compare", str(a), str(b), "--json"])
    document = json.loads(result.stdout)
    assert {pair["first"]: pair["kin"] for pair in document["pairs"]} == {
        "openai/gpt-4o": [True, True],
        "x/llama3.1": [False, False],
    }
    (warning,) = document["warnings"]
    assert warning.startswith("the judge openai/gpt-4o-mini may favour its own kin")
    assert "openai/gpt-4o (same maker)" in warning
    mixed = compare_runs(a, b, systems=["x/llama3.1", "openai/gpt-4o"]).pairs[0]
    assert mixed.kin == (False, True)
    shown = CliRunner().invoke(app, ["compare", str(a), str(b)], env={"COLUMNS": "160"}).stdout
    assert "openai/gpt-4o (kin)" in shown
    assert "x/llama3.1 (kin)" not in shown
    assert "(kin): the judge is this system or of the same maker; see judge bias." in shown


def test_overlap_has_no_judge_and_so_no_kin(tmp_path: Path) -> None:
    judged = replace(SIGNATURE, judge="openai/gpt-4o-mini")
    a, b = (write_run(tmp_path / name, {"openai/gpt-4o": GOOD}, judged) for name in "ab")
    found = compare_runs(a, b, metric="f1")
    assert found.pairs[0].kin == (False, False)
    assert found.warnings == ()


def test_a_run_that_says_which_model_its_judges_name_stands_for_is_believed(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", {"openai/gpt-4o": GOOD})
    with RunFolder(a) as folder:
        folder.write_settings({"known_as": {"j": "openai/gpt-4o"}})
    found = compare_runs(a, a)
    assert found.pairs[0].kin == (True, True)
    assert "j (openai/gpt-4o)" in found.warnings[0]
    assert "openai/gpt-4o (itself)" in found.warnings[0]
