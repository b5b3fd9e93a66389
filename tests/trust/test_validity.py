"""People against the score: the second paper's Table IV, and textbook formulas."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from mojimeter.datasets.tables import read_table
from mojimeter.errors import InputError
from mojimeter.trust.validity import human_validity, spearman_brown


def test_the_papers_table_four_is_reproduced_exactly(shared: Path) -> None:
    found = human_validity(read_table(shared / "data" / "semrec" / "human_eval_269x4.csv"), draws=200).to_dict()
    # second paper, Table IV: matching pairs, count, downstream score, human judgement as printed
    printed = [(0, 4, 0.0, "0.25"), (1, 65, 0.2, "0.442"), (2, 50, 0.4, "0.46"), (3, 50, 0.6, "0.63")]
    printed += [(4, 50, 0.8, "0.745"), (5, 50, 1.0, "0.85")]
    for k, n, score, people in printed:
        group = found["by_matching_pairs"][str(k)]
        digits = len(people.partition(".")[2])
        assert group["n"] == n
        assert group["task_score"] == pytest.approx(score)
        assert round(group["human_score"]["value"], digits) == float(people)
    # issue and data/MANIFEST.csv: alpha .295 among the people
    assert round(found["alpha_nominal"]["value"], 3) == 0.295


def test_the_correlation_is_scipys_and_the_cap_follows_from_the_agreement(shared: Path) -> None:
    from scipy.stats import spearmanr

    frame = read_table(shared / "data" / "semrec" / "human_eval_269x4.csv")
    raters = frame.select(pl.col("^rater_.*$").cast(pl.Float64)).to_numpy()
    expected = spearmanr(frame["matching_pairs"].cast(pl.Int64).to_numpy(), raters.mean(axis=1)).statistic
    found = human_validity(frame, draws=100)
    assert found.spearman.value == pytest.approx(expected)
    alpha = found.alpha_nominal.value
    assert alpha is not None
    assert found.ceiling.value == pytest.approx((4 * alpha / (1 + 3 * alpha)) ** 0.5)
    assert found.corrected.value == pytest.approx(expected / found.ceiling.value)


def test_four_raters_of_reliability_one_half_have_a_mean_of_four_fifths() -> None:
    assert spearman_brown(0.5, 4) == pytest.approx(0.8)  # Brown 1910: 4 x .5 / (1 + 3 x .5)


def test_missing_judgements_are_counted_and_the_mean_is_of_those_there() -> None:
    frame = pl.DataFrame(
        {"item": ["a", "b", "c"], "matching_pairs": [0, 5, 5], "rater_1": [0, 1, None], "rater_2": [0, None, 0]}
    )
    found = human_validity(frame, draws=50)
    assert found.missing == 2
    assert found.by_matching_pairs[5].human_score.value == pytest.approx(0.5)


def test_people_who_agree_by_chance_only_cap_everything_and_correct_nothing() -> None:
    frame = pl.DataFrame(
        {"item": range(4), "matching_pairs": [0, 1, 4, 5], "rater_1": [0, 1, 0, 1], "rater_2": [1, 0, 1, 0]}
    )
    found = human_validity(frame, draws=50)
    assert found.ceiling.value == 0.0
    assert found.corrected.value is None


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        ("matching_pairs", "6", r"row 2, column 'matching_pairs': expected 0 to 5, found '6'"),
        ("matching_pairs", None, r"row 2, column 'matching_pairs': expected 0 to 5"),
        ("rater_1", "yes", r"row 2, column 'rater_1': expected 0 to 1, found 'yes'"),
        ("item", "a", r"row 2, column 'item': 'a' is there twice"),
    ],
)
def test_a_wrong_cell_is_named(column: str, value: str | None, says: str) -> None:
    rows = {"item": ["a", "b"], "matching_pairs": ["1", "2"], "rater_1": ["0", "1"]}
    rows[column] = [rows[column][0], value]  # type: ignore[list-item]
    with pytest.raises(InputError, match=says):
        human_validity(pl.DataFrame(rows), "people.csv")


def test_a_table_without_raters_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="no column rater_1"):
        human_validity(pl.DataFrame({"item": [1], "matching_pairs": [1]}), "people.csv")
