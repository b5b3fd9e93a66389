"""Repeated labelling: hand counts, known corner cases of the corrected score, and the release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from mojimeter.datasets.records import TASKS, as_labels
from mojimeter.errors import InputError
from mojimeter.trust.commands import noise_document
from mojimeter.trust.noise import judge_noise, self_agreement
from mojimeter.trust.sources import Asking, epochs_as_texts, read_material


def rows(system: str, epoch: int, labels: list[str | None]) -> list[dict[str, Any]]:
    return [
        {"id": str(i), "system": system, "judge": "j", "epoch": epoch, "gender": label, "text": None}
        for i, label in enumerate(labels)
    ]


def table(*parts: list[dict[str, Any]]) -> pl.DataFrame:
    frame = pl.DataFrame([row for part in parts for row in part], schema_overrides={"gender": pl.String})
    return epochs_as_texts(as_labels(frame.drop("text"), "test"))


def test_three_labellings_agree_in_as_many_pairs_as_a_hand_count_finds() -> None:
    # post 0: m m f -> 1 of 3 pairs; post 1: m m m -> 3 of 3; post 2: m, unreadable, unreadable -> 0 of 3
    labels = table(
        rows("gold", 1, ["male", "male", "male"]),
        rows("gold", 2, ["male", "male", None]),
        rows("gold", 3, ["female", "male", None]),
    )
    assert self_agreement(labels).sort("id")["gender"].to_list() == pytest.approx([1 / 3, 1.0, 0.0])
    found = judge_noise(labels, draws=100)["j"]
    assert (found.texts, found.labellings) == (3, 9)
    assert found.changes["gender"].value == pytest.approx(100 * (1 - 4 / 9))


def test_the_corrected_score_is_zero_for_random_and_one_at_the_ceiling() -> None:
    gold = ["male", "female"] * 20
    again = ["female" if i < 4 else label for i, label in enumerate(gold)]  # two of 40 labels change
    labels = table(
        rows("gold", 1, gold),
        rows("gold", 2, again),
        rows("baseline/random", 1, ["male"] * 40),
        rows("as good", 1, again),
        rows("half way", 1, [g if i % 2 else r for i, (g, r) in enumerate(zip(gold, ["male"] * 40, strict=True))]),
    )
    found = judge_noise(labels, draws=200)["j"]
    assert found.ceiling["average"].value == pytest.approx(95.0)
    assert found.systems["baseline/random"].corrected["average"].value == 0.0
    assert found.systems["as good"].corrected["average"].value == pytest.approx(1.0)
    raw = found.systems["half way"].raw["average"].value
    random = found.systems["baseline/random"].raw["average"].value
    assert raw is not None
    assert random is not None
    expected = (raw - random) / (95.0 - random)
    assert found.systems["half way"].corrected["average"].value == pytest.approx(expected)


def test_a_judge_as_noisy_as_random_emoji_leaves_no_room_and_no_number() -> None:
    gold = ["male", "female"] * 10
    labels = table(
        rows("gold", 1, gold),
        rows("gold", 2, ["female", "male"] * 10),
        rows("baseline/random", 1, gold),
        rows("x", 1, gold),
    )
    corrected = judge_noise(labels, draws=50)["j"].systems["x"].corrected["average"]
    assert corrected.value is None
    assert corrected.reason is not None
    assert "no room" in corrected.reason


def test_without_random_emoji_there_is_a_ceiling_and_no_corrected_score() -> None:
    labels = table(rows("gold", 1, ["male"]), rows("gold", 2, ["male"]), rows("x", 1, ["male"]))
    found = judge_noise(labels, draws=10)["j"]
    assert found.random is None
    assert found.systems["x"].corrected["average"].value is None


def test_labels_given_once_are_refused() -> None:
    with pytest.raises(InputError, match="more than once"):
        judge_noise(table(rows("gold", 1, ["male"])))


def test_the_ceiling_is_the_match_of_two_independent_labellings() -> None:
    # a judge that says male with probability .8: two labellings agree with .8^2 + .2^2 = .68
    rng = np.random.default_rng(0)
    said = [np.where(rng.random(4000) < 0.8, "male", "female").tolist() for _ in range(3)]
    found = judge_noise(table(*(rows("gold", k + 1, s) for k, s in enumerate(said))), draws=200)["j"]
    ceiling = found.ceiling["gender"]
    assert ceiling.ci is not None
    assert ceiling.ci[0] <= 68.0 <= ceiling.ci[1]  # type: ignore[operator]


def test_equal_texts_of_the_release_tell_how_often_its_judge_changes_its_mind(shared: Path) -> None:
    folder = shared / "data" / "semrec"
    files = sorted(map(str, folder.glob("zeroshot_*.csv")))
    material = read_material(str(folder / "benchmark.csv"), files, format="semrec")
    document = noise_document(material, [], Asking(), same_text=True, aliases={"released": "gpt-4o-mini"}, draws=200)
    judge = document["judges"]["released"]
    # design/recommendation.md: GPT-4o 79.23, random 72.65, no emoji 79.04
    raw = {name: s["raw"]["average"]["value"] for name, s in judge["systems"].items()}
    assert raw["gpt-4o"] == pytest.approx(79.23, abs=0.01)
    assert raw["random_sentence"] == pytest.approx(72.65, abs=0.01)
    assert raw["baseline/none"] == pytest.approx(79.04, abs=0.02)
    ceiling = judge["ceiling"]["average"]["value"]
    assert raw["gpt-4o"] < ceiling < 100
    corrected = judge["systems"]["gpt-4o"]["corrected"]["average"]["value"]
    expected = (raw["gpt-4o"] - raw["random_sentence"]) / (ceiling - raw["random_sentence"])
    assert corrected == pytest.approx(expected)
    assert document["kin"] == [{"judge": "released", "system": "gpt-4o", "kinship": "same maker"}]
    assert set(judge["ceiling"]) == {"average", *TASKS}
