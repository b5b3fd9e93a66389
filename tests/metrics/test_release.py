"""The second paper's release gives the second paper's numbers, and the corrected ones.

Expected values: the paper's Tables V and VII (papers/001_36110b8546da1293.txt) and design/recommendation.md,
none from this program.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mojimeter.datasets.records import TASKS
from mojimeter.runs.scoring import ScoringOptions, score_files

# Table V, zero-shot: precision, recall, F1, then sentiment, emotion, stance, age, gender, average. Mistral's gender is
# printed 75.90 there; 3,825 of 5,039 posts are 75.908%, so the third decimal was cut.
TABLE_5 = {
    "gpt-4o": (6.93, 16.14, 9.04, 78.41, 67.41, 88.61, 82.02, 79.70, 79.23),
    "llama3.1-70b-instruct": (7.26, 16.89, 9.52, 78.27, 67.18, 87.24, 81.76, 80.39, 78.97),
    "gemma2-9b-instruct": (6.71, 15.61, 8.70, 78.57, 66.44, 87.42, 80.59, 81.78, 78.96),
    "mistral-7b-instruct": (3.70, 7.37, 4.56, 76.68, 60.83, 86.45, 78.43, 75.91, 75.66),
    "random_sentence": (0.27, 0.52, 0.33, 69.12, 57.09, 86.96, 75.17, 74.88, 72.65),
}
# Table VII, zero-shot rows, in the order of its heading.
CLASSES = (
    ("sentiment", ("positive", "negative", "neutral")),
    ("emotion", ("happiness", "sadness", "fear", "anger", "surprise", "disgust")),
    ("stance", ("favor", "none", "against")),
    ("age", ("child", "teen", "adult", "senior")),
    ("gender", ("male", "female")),
)
TABLE_7 = {
    "gpt-4o": (
        "87.51 81.37 52.13 84.00 57.30 61.38 67.05 45.35 37.60 78.38 91.78 83.22 70.28 91.91 77.27 20.83 70.30 86.93"
    ),
    "llama3.1-70b-instruct": (
        "86.14 84.68 47.13 82.81 53.93 63.79 67.17 40.52 41.20 74.90 89.56 85.69 67.57 92.95 76.49 20.83 70.30 88.16"
    ),
    "gemma2-9b-instruct": (
        "86.43 84.00 49.57 82.34 53.93 60.34 71.21 42.01 35.19 76.83 90.19 83.51 66.31 91.67 75.42 21.87 67.70 92.63"
    ),
    "mistral-7b-instruct": (
        "82.82 83.46 48.51 79.44 67.98 61.72 54.10 33.09 24.59 71.43 91.06 78.67 65.05 90.63 70.68 18.75 64.10 85.00"
    ),
    "random_sentence": (
        "67.84 73.66 62.02 67.19 51.12 52.76 58.73 37.17 39.23 55.98 96.02 72.42 60.02 93.88 57.15 16.66 50.32 93.78"
    ),
}
# design/recommendation.md: whole emoji, sets per post; recovered and kept, pooled over posts and tasks.
WHOLE = {
    "gpt-4o": (7.00, 15.40, 9.13),
    "llama3.1-70b-instruct": (7.17, 16.03, 9.42),
    "gemma2-9b-instruct": (6.94, 14.87, 8.94),
    "mistral-7b-instruct": (3.41, 6.74, 4.23),
}
SPLIT = {
    "gpt-4o": (42.15, 89.06),
    "llama3.1-70b-instruct": (43.15, 88.47),
    "gemma2-9b-instruct": (40.84, 89.07),
    "mistral-7b-instruct": (39.08, 85.36),
    "random_sentence": (38.21, 81.78),
}


def _files(shared: Path) -> list[Path]:
    return sorted((shared / "data" / "semrec").glob("zeroshot_*.csv"))


@pytest.fixture(scope="module")
def whole(shared: Path) -> dict[str, Any]:
    options = ScoringOptions("semrec", draws=2000)
    return score_files(shared / "data" / "semrec" / "benchmark.csv", _files(shared), options=options).to_dict()


@pytest.fixture(scope="module")
def printed(shared: Path) -> dict[str, Any]:
    options = ScoringOptions("semrec", equality="code-points", draws=200)
    return score_files(shared / "data" / "semrec" / "benchmark.csv", _files(shared), options=options).to_dict()


@pytest.mark.parametrize("system", TABLE_5)
def test_code_points_give_table_5(printed: dict[str, Any], system: str) -> None:
    scores = printed["systems"][system]
    found = [scores["overlap"][name]["value"] for name in ("precision", "recall", "f1")]
    found += [scores["preservation"][name]["value"] for name in (*TASKS, "average")]
    assert found == pytest.approx(TABLE_5[system], abs=0.01)
    assert scores["posts"] == 5039


@pytest.mark.parametrize("system", TABLE_7)
def test_classes_are_preserved_as_in_table_7(printed: dict[str, Any], system: str) -> None:
    per_class = printed["systems"][system]["per_class"]
    found = [per_class[task][label]["value"] for task, labels in CLASSES for label in labels]
    assert found == pytest.approx([float(x) for x in TABLE_7[system].split()], abs=0.01)


@pytest.mark.parametrize("system", WHOLE)
def test_whole_emoji_give_the_corrected_overlap(whole: dict[str, Any], system: str) -> None:
    overlap = whole["systems"][system]["overlap"]
    found = [overlap[name]["value"] for name in ("precision", "recall", "f1")]
    assert found == pytest.approx(WHOLE[system], abs=0.0205)  # "give or take .02", to two decimals


@pytest.mark.parametrize("system", SPLIT)
def test_kept_and_recovered(whole: dict[str, Any], system: str) -> None:
    scores = whole["systems"][system]
    found = (scores["recovered"]["value"], scores["kept"]["value"])
    assert found == pytest.approx(SPLIT[system], abs=0.01)


def test_no_emoji_at_all_scores_above_three_of_four_models(whole: dict[str, Any]) -> None:
    preservation = whole["systems"]["baseline/none"]["preservation"]
    found = [preservation[name]["value"] for name in (*TASKS, "average")]
    assert found == pytest.approx((74.98, 65.19, 90.18, 80.69, 84.16, 79.04), abs=0.01)
    assert list(whole["systems"])[:2] == ["gpt-4o", "baseline/none"]


def test_gpt_4o_is_not_surely_better_than_no_emoji(whole: dict[str, Any]) -> None:
    (found,) = [d for d in whole["differences"] if (d["system"], d["against"]) == ("gpt-4o", "baseline/none")]
    assert found["difference"]["value"] == pytest.approx(0.19, abs=0.005)
    # +0.19 [-0.45, 0.84]; a 2.5% quantile of 2,000 draws has a Monte Carlo error of 0.02
    assert found["difference"]["ci"] == pytest.approx([-0.45, 0.84], abs=0.06)
    assert found["separated"] is False
    assert found["posts"] == 5039


def test_only_the_last_two_places_are_sure(whole: dict[str, Any]) -> None:
    ranks = {name: scores["rank"] for name, scores in whole["systems"].items()}
    assert ranks["mistral-7b-instruct"] == [5, 5]
    assert ranks["random_sentence"] == [6, 6]
    assert {tuple(ranks[n]) for n in ranks if n not in ("mistral-7b-instruct", "random_sentence")} == {(1, 4)}


def test_what_the_release_holds_is_counted(whole: dict[str, Any]) -> None:
    assert whole["data"]["authors"] == 1003
    assert whole["data"]["emoji_per_post"] == pytest.approx(1.92, abs=0.02)  # the paper prints 2.25
    assert whole["leaks"]["count"] == pytest.approx(20, abs=3)
    # off-list labels: "38 to 54 per model for emotion"
    emotion = [whole["systems"][s]["replies"]["unparsed_labels"]["emotion"] for s in WHOLE]
    assert (min(emotion), max(emotion)) == (38, 54)
    # unique emoji: "about 1,037/842/825/679"; Table VIII prints 803/717/664/570
    distinct = {s: whole["systems"][s]["diversity"]["distinct"] for s in WHOLE}
    assert distinct["gpt-4o"] == pytest.approx(1037, abs=5)
    assert distinct["mistral-7b-instruct"] == pytest.approx(842, abs=5)
    assert distinct["gemma2-9b-instruct"] == pytest.approx(825, abs=5)
    assert distinct["llama3.1-70b-instruct"] == pytest.approx(679, abs=5)
    # Mistral explains itself in 3,572
    assert whole["systems"]["mistral-7b-instruct"]["replies"]["extra_text"] == pytest.approx(3572, abs=15)


def test_a_file_under_another_name_scores_the_same(shared: Path, tmp_path: Path, printed: dict[str, Any]) -> None:
    """Nothing is known by its name: neither the system that explains itself nor the one that holds the text alone."""
    source = shared / "data" / "semrec"
    for old, new in (("zeroshot_mistral-7b-instruct", "zeroshot_x"), ("zeroshot_random_sentence", "zeroshot_y")):
        (tmp_path / f"{new}.csv").write_bytes((source / f"{old}.csv").read_bytes())
    options = ScoringOptions("semrec", equality="code-points", draws=200)
    renamed = score_files(source / "benchmark.csv", sorted(tmp_path.glob("*.csv")), options=options).to_dict()
    for old, new in (("mistral-7b-instruct", "x"), ("random_sentence", "y")):
        for part in ("overlap", "preservation", "kept", "recovered", "replies"):
            assert renamed["systems"][new][part] == printed["systems"][old][part]


def test_a_conditional_file_is_marked_as_leaked(shared: Path, tmp_path: Path) -> None:
    """The paper's conditional prompts held the judge's labels of age and gender, which the benchmark's file holds."""
    source = shared / "data" / "semrec"
    (tmp_path / "conditional_gpt-4o.csv").write_bytes((source / "zeroshot_gpt-4o.csv").read_bytes())
    files = [tmp_path / "conditional_gpt-4o.csv", source / "zeroshot_random_sentence.csv"]
    found = score_files(source / "benchmark.csv", files, options=ScoringOptions("semrec", draws=50)).to_dict()
    assert found["systems"]["gpt-4o"]["leaked"] is True
    assert found["ranked_by"] == "average_unleaked"
    mean_of_three = (78.41 + 67.41 + 88.61) / 3
    assert found["systems"]["gpt-4o"]["preservation"]["average_unleaked"]["value"] == pytest.approx(
        mean_of_three, abs=0.01
    )
    assert found["systems"]["random_sentence"]["leaked"] is False
