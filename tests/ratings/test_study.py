"""What a study takes in, and the one sentence it answers bad input with."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mojimeter.errors import InputError
from mojimeter.ratings import Study
from tests.ratings.conftest import long_table

CUBE = np.random.default_rng(0).integers(1, 6, (5, 3, 4)).astype(float)
FRAME = long_table(CUBE)


def spoiled(column: str, row: int, value: object) -> pl.DataFrame:
    """The table as strings, with one cell replaced; rows count from 1."""
    frame = FRAME.cast(pl.String)
    values = frame[column].to_list()
    values[row - 1] = value
    return frame.with_columns(pl.Series(column, values, dtype=pl.String))


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas", "pyarrow", "mapping"])
def test_any_data_frame_gives_the_same_study(kind: str):
    if kind in ("pandas", "pyarrow"):
        pytest.importorskip(kind)
    frame = FRAME.with_columns(pl.format("s{}", "system").alias("system"))
    data = {
        "polars": lambda: frame,
        "lazy": frame.lazy,
        "pandas": frame.to_pandas,
        "pyarrow": frame.to_arrow,
        "mapping": lambda: frame.to_dict(as_series=False),
    }[kind]()
    study = Study(data)
    assert study.names["system"] == ("s0", "s1", "s2")
    assert np.array_equal(study.cube, CUBE)


def test_a_pandas_frame_needs_no_pyarrow(monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("pandas")
    import sys

    frame = FRAME.to_pandas().astype({"system": str, "score": float})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert Study(frame).design.cells == 60


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_any_file_gives_the_same_study(tmp_path: Path, suffix: str):
    path = tmp_path / f"ratings.{suffix}"
    if suffix == "parquet":
        FRAME.write_parquet(path)
    elif suffix == "jsonl":
        FRAME.write_ndjson(path)
    else:
        FRAME.write_csv(path, separator="\t" if suffix == "tsv" else ",")
    assert np.array_equal(Study(path).cube, CUBE)


def test_columns_can_be_named_and_mapped():
    frame = FRAME.rename({"item": "doc", "system": "model", "rater": "judge", "score": "fluency"})
    assert np.array_equal(Study(frame, item="doc", system="model", rater="judge", score="fluency").cube, CUBE)
    mapped = Study(frame, mapping={"item": "doc", "system": "model", "rater": "judge", "score": "fluency"})
    assert np.array_equal(mapped.cube, CUBE)


def test_levels_come_in_natural_order():
    frame = FRAME.with_columns((pl.lit("r") + (pl.col("rater") + 8).cast(pl.String)).alias("rater"))
    assert Study(frame).names["rater"] == ("r8", "r9", "r10", "r11")


@given(st.integers(0, 1000))
@settings(max_examples=15, deadline=None)
def test_the_order_of_rows_is_irrelevant(seed: int):
    shuffled = Study(FRAME.sample(fraction=1.0, shuffle=True, seed=seed))
    assert np.array_equal(shuffled.cube, CUBE)


def test_several_scores_are_several_studies_of_one_table():
    frame = FRAME.with_columns((pl.col("score") * 2).alias("double"))
    study = Study(frame, score=["score", "double"])
    assert [s.score for s in study.each()] == ["score", "double"]
    assert study.select("double").anova().ms["item"] == pytest.approx(4 * study.select("score").anova().ms["item"])
    with pytest.raises(InputError, match=r"several scores \(score, double\); choose one with .select"):
        study.anova()
    with pytest.raises(InputError, match="no score column 'fluency' in this study; it has score, double"):
        study.select("fluency")


def test_the_matrix_has_a_row_per_cell_and_a_column_per_rater():
    assert np.array_equal(Study(FRAME).matrix(), CUBE.reshape(15, 4))
    holes = Study(FRAME.slice(1)).matrix()
    assert np.isnan(holes[0, 0])
    assert np.isnan(holes).sum() == 1


def test_covariates_stay_at_their_rows():
    frame = FRAME.with_columns(pl.Series("length", range(60)))
    assert Study(frame).frame["length"].to_list() == list(range(60))


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (spoiled("score", 7, ""), "data: row 7, column 'score': no score; expected a number"),
        (spoiled("score", 7, None), "data: row 7, column 'score': no score; expected a number"),
        (spoiled("score", 8, "good"), "data: row 8, column 'score': 'good' is not a score; expected a finite number"),
        (spoiled("score", 8, "3,5"), "'3,5' is not a score; expected a finite number, with a decimal point"),
        (spoiled("score", 9, "nan"), "row 9, column 'score': 'nan' is not a score"),
        (spoiled("score", 9, "inf"), "row 9, column 'score': 'inf' is not a score"),
        (spoiled("rater", 3, " "), "data: row 3, column 'rater': empty; expected a name"),
        (spoiled("item", 4, None), "data: row 4, column 'item': empty; expected a name"),
        (FRAME.drop("rater"), "data: no column 'rater'; it has item, system, score"),
        (FRAME.head(0), "data: no rows; expected one rating per row"),
        (pl.concat([FRAME, FRAME.slice(4, 1)]), "rows 5 and 61 both rate item '0', system '1', rater '0'"),
        (pl.concat([FRAME, FRAME.slice(4, 3)]), "(3 double ratings in all)"),
        (FRAME.with_columns(pl.lit(date(2026, 9, 24)).alias("score")), "column 'score' holds Date; expected numbers"),
        ([1, 2, 3], "data: list is not a table; expected a file's path, a data frame or a mapping of columns"),
        ({"item": [1], "rater": [1, 2]}, "data: not a table of columns of equal length"),
    ],
)
def test_bad_input_gets_one_sentence_that_says_where(table: object, sentence: str):
    with pytest.raises(InputError) as caught:
        Study(table)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_is_named_in_the_sentence(tmp_path: Path):
    path = tmp_path / "r.csv"
    spoiled("score", 2, "x").write_csv(path)
    with pytest.raises(InputError, match=r"r\.csv: row 2, column 'score': 'x' is not a score"):
        Study(path)
    with pytest.raises(InputError, match="no such file"):
        Study(tmp_path / "nothing.csv")


def test_scores_that_never_vary_are_refused_when_asked_about():
    study = Study(FRAME.with_columns(pl.lit(3.0).alias("score")))
    with pytest.raises(InputError, match="all 60 scores are 3; where nothing varies nothing can be compared"):
        study.test()
    with pytest.raises(InputError, match="all 60 scores are 3"):
        study.components()


def test_one_column_cannot_play_two_parts():
    with pytest.raises(InputError, match="column 'item' was given two parts to play"):
        Study(FRAME, rater="item")
    with pytest.raises(InputError, match="at least two of item, system and rater"):
        Study(FRAME, system=None, rater=None)
    with pytest.raises(InputError, match="no score column was given"):
        Study(FRAME, score=[])


def test_hundreds_of_thousands_of_rows_are_read_as_arrays():
    n = 300_000
    index = np.arange(n)
    frame = pl.DataFrame(
        {"item": index // 60, "system": index // 6 % 10, "rater": index % 6, "score": (index * 7919) % 11}
    ).sample(fraction=1.0, shuffle=True, seed=0)
    study = Study(frame)
    assert study.design.describe() == "5,000 items x 10 systems x 6 raters: 300,000 ratings, complete"
    assert study.anova().df["residual"] == 4999 * 9 * 5


def test_means_keep_their_digits_far_from_zero():
    frame = FRAME.with_columns(pl.col("score") / 1024 + 2.0**20)
    assert Study(frame).means("system") - 2.0**20 == pytest.approx(CUBE.mean(axis=(0, 2)) / 1024, rel=1e-6)


def test_nothing_but_the_core_libraries_is_needed():
    import subprocess
    import sys

    code = (
        "import sys\n"
        "for name in ('inspect_ai', 'typer', 'rich', 'pydantic', 'emoji', 'sklearn', 'pandas', 'pyarrow'):\n"
        "    sys.modules[name] = None\n"
        "from mojimeter.ratings import Study\n"
        "s = Study({'item': [1, 1, 2, 2, 3, 3], 'rater': list('ababab'), 'score': [1, 2, 2, 3, 5, 5]}, system=None)\n"
        "import json; print(json.dumps(s.g_study().to_dict()['g']))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 0.5 < json.loads(done.stdout)["value"] < 1


def test_the_names_others_rely_on_can_be_imported_in_any_order():
    import importlib

    for module in ("plan", "power", "printed"):
        importlib.import_module(f"mojimeter.ratings.{module}")
    from mojimeter.ratings import PrintedTable, plan, power

    assert callable(plan)
    assert callable(power)
    assert isinstance(PrintedTable, type)


def test_length_and_agreement_are_asked_of_the_study():
    study = Study(FRAME.with_columns((pl.col("item") * 3 + pl.col("system")).alias("length")))
    assert study.length("length").covariate == "length"
    assert study.agreement().to_dict()["alpha"]["interval"]["value"] is not None
