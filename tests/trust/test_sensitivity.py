"""Labels with other emoji: hand-made tables, and the second paper's judge in its own release."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from mojimeter.datasets.records import as_labels
from mojimeter.errors import InputError
from mojimeter.trust.commands import sensitivity_document
from mojimeter.trust.sensitivity import judge_sensitivity
from mojimeter.trust.sources import Asking, read_material, variant_rows


def labelled(gold: list[str | None], other: list[str | None], variant: str = "baseline/random") -> pl.DataFrame:
    ids = [str(i) for i in range(len(gold))]
    both = [
        pl.DataFrame(
            {"id": ids, "system": name, "judge": "j", "gender": column}, schema_overrides={"gender": pl.String}
        )
        for name, column in (("gold", gold), (variant, other))
    ]
    return as_labels(pl.concat(both), "test")


def test_a_judge_that_ignores_emoji_has_kappa_one_and_changes_nothing() -> None:
    same = ["male", "female", "male", "female"]
    found = judge_sensitivity(labelled(same, same), draws=50).judges["j"]["baseline/random"]["gender"]
    assert found.kappa.value == pytest.approx(1.0)
    assert found.correlation.value == pytest.approx(1.0)
    assert found.changed.value == 0.0


def test_kappa_and_correlation_are_those_worked_out_by_hand() -> None:
    # 40 male-male, 10 male-female, 20 female-male, 30 female-female
    gold = ["male"] * 50 + ["female"] * 50
    other = ["male"] * 40 + ["female"] * 10 + ["male"] * 20 + ["female"] * 30
    found = judge_sensitivity(labelled(gold, other), draws=50).judges["j"]["baseline/random"]["gender"]
    assert found.kappa.value == pytest.approx((0.7 - 0.5) / 0.5)  # p_e = .5 x .6 + .5 x .4
    # phi = (40 x 30 - 10 x 20) / sqrt(50 x 50 x 60 x 40)
    assert found.correlation.value == pytest.approx(1000 / (50 * 50 * 60 * 40) ** 0.5)
    assert found.changed.value == pytest.approx(30.0)


def test_labels_that_could_not_be_read_are_counted_and_not_part_of_the_coefficients() -> None:
    gold, other = ["male", "female", None, "male"], ["male", "female", "male", "nonsense"]
    found = judge_sensitivity(labelled(gold, other), draws=20).judges["j"]["baseline/random"]["gender"]
    assert (found.posts, found.unparsed) == (2, 2)


def test_without_other_emoji_there_is_nothing_to_compare() -> None:
    with pytest.raises(InputError, match="with other emoji"):
        judge_sensitivity(labelled(["male"], ["male"], "gpt-4o"))


def test_the_random_variant_is_three_distinct_emoji_at_the_end_in_place_of_the_original_ones(tmp_path: Path) -> None:
    (tmp_path / "posts.csv").write_text("id,text\na,so glad 🎉 today\nb,rain again\n", encoding="utf-8")
    from mojimeter import emoji

    posts = read_material(str(tmp_path / "posts.csv")).posts
    rows = {(post, system): text for post, system, text in variant_rows(posts, ["baseline/random", "baseline/none"], 0)}
    assert len(set(emoji.find(rows["a", "baseline/random"]))) == 3
    assert emoji.strip(rows["a", "baseline/random"]).split() == ["so", "glad", "today"]
    assert emoji.find(rows["a", "baseline/none"]) == []


def test_the_release_shows_the_papers_judge_as_sensitive_as_its_table_three_says(shared: Path) -> None:
    folder = shared / "data" / "semrec"
    material = read_material(
        str(folder / "benchmark.csv"), [str(folder / "zeroshot_random_sentence.csv")], format="semrec"
    )
    document = sensitivity_document(material, [], [], Asking(), draws=100)
    gender = document["judges"]["released"]["random_sentence"]["gender"]
    # Table III: GPT-4o-mini, gender, on 1,000 other tweets of the same corpus: kappa .470, correlation .474. The
    # binomial standard error of such a kappa is about .03, so three of them
    assert gender["kappa"]["value"] == pytest.approx(0.470, abs=0.09)
    assert gender["correlation"]["value"] == pytest.approx(0.474, abs=0.09)
    # 100 minus the preservation of random emoji in the release, 74.88 (design: published numbers), but for the one
    # label that could not be read
    assert gender["changed"]["value"] == pytest.approx(100 - 74.88, abs=0.03)
