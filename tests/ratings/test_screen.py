"""``ratings study`` as people and programs meet it: the screen, the JSON, the plots, the exit codes."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest

from mojimeter import __version__
from mojimeter.ratings import Study
from mojimeter.ratings.plots import draw_plots, write_plots
from mojimeter.ratings.screen import render
from mojimeter.ratings.summary import Questions, summarise, summarise_all
from tests.ratings.conftest import long_table


def run(arguments: Sequence[object], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of ``mojimeter ratings study``, run in this process."""
    from mojimeter.cli import app as cli

    before = sys.argv
    sys.argv = ["mojimeter", "ratings", "study", *map(str, arguments)]
    try:
        cli.main()
        code = 0
    except SystemExit as stop:
        code = int(stop.code or 0)
    finally:
        sys.argv = before
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture(scope="module")
def paper_file(two_emojis: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ratings") / "paper.csv"
    two_emojis.write_csv(path)
    return path


@pytest.fixture(scope="module")
def paper(two_emojis: pl.DataFrame) -> dict:
    return summarise(Study(two_emojis))


def small(**columns: object) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    frame = long_table(rng.normal(size=(8, 3, 4)) + rng.normal(size=(1, 1, 4)))
    return frame.with_columns(**columns)


def test_json_has_the_contracts_shape_and_the_papers_numbers(paper_file: Path, capsys):
    code, out, _ = run([paper_file, "--json"], capsys)
    assert code == 0
    document = json.loads(out)
    assert document["schema"] == 1
    assert document["design"] == {"item": 290, "system": 8, "rater": 3, "cells": 6960, "missing": 0}
    quasi = document["tests"]["system"]["quasi_f"]
    assert (round(quasi["f"], 4), quasi["df1"], round(quasi["df2"], 2), round(quasi["p"], 3)) == (
        0.5777,
        7,
        14.36,
        0.763,
    )
    for name in ("quasi_f_sums", "raters_random", "items_random", "residual"):
        assert {"f", "df1", "df2", "p"} <= set(document["tests"]["system"][name])
    system = next(c for c in document["components"] if c["source"] == "system")
    assert (round(system["estimate"], 5), system["used"], system["share"]) == (-0.00996, 0.0, 0.0)
    assert len(system["ci"]) == 2
    assert document["estimator"] == "ems"
    assert document["g"]["value"] == 0.0
    assert round(document["g"]["ci"][1], 2) == 0.62
    assert set(document["phi"]) >= {"value", "ci"}
    needed = document["raters_needed"]["0.8"]
    assert (needed["value"], needed["state"], needed["conditional"]["ci"]) == (None, "never", [8, None])
    assert needed["ci"][1] is None
    assert {"alpha", "icc", "pearson", "pairs"} <= set(document["agreement"])
    assert {"interval", "ordinal", "nominal"} <= set(document["agreement"]["alpha"])
    assert [r["rank"] for r in document["ranking"]] == [[1, 8]] * 8
    assert set(document["ranking"][0]) >= {"system", "mean", "rank"}
    assert document["verdict"] == "not_separated"
    sources = {row["source"]: row for row in document["anova"]}
    assert round(sources["system"]["ms"], 2) == 11.85
    assert set(sources["system"]) == {"source", "df", "ss", "ms"}


def test_the_papers_agreement_is_that_recomputed_from_its_table(paper: dict):
    # reference/two_emojis.json: alpha .0161 (within .0137 to .0186), ICC(2,1) .114, ICC(3,1) .162
    assert round(paper["agreement"]["alpha"]["interval"]["value"], 4) == 0.0161
    assert round(paper["agreement"]["icc"]["2,1"]["value"], 3) == 0.114
    assert round(paper["agreement"]["icc"]["3,1"]["value"], 3) == 0.162


def test_the_screen_says_it_in_one_screen(paper: dict):
    text = render(paper)
    lines = text.splitlines()
    assert len(lines) <= 50
    assert max(map(len, lines[:-1])) <= 96  # the signature, last, is kept whole
    assert lines[-1].startswith("data:")
    assert "VERDICT   tie: these ratings cannot rank the eight systems: F(7, 14.4) = 0.58, p = .76;" in text
    assert "> quasi-F" in text
    assert "290 items x 8 systems x 3 raters" in lines[0]
    assert text.index("alpha (interval)") < text.index("Pearson")
    assert "(1 | system:rater)" in " ".join(text.split())
    assert text.count("1 to 8") == 8
    assert "none for G = 0.8 [8, no limit]" in text
    assert "NEXT      1. " in text


def test_components_are_shown_as_bars_by_share(paper: dict):
    lines = [line for line in render(paper).splitlines() if "%" in line and "█" in line]
    assert lines[0].split()[0] == "residual"
    bars = [line.count("█") for line in lines]
    assert bars == sorted(bars, reverse=True)


def test_long_and_strange_names_do_not_break_the_screen():
    names = {"0": "a" * 80, "1": "two\nlines\x1b[31m", "2": "<script>alert(1)</script>"}
    frame = small().with_columns(pl.col("system").cast(pl.String).replace_strict(names))
    text = render(summarise(Study(frame)))
    assert max(map(len, text.splitlines()[:-1])) <= 96
    assert "\x1b" not in text
    assert "two?lines" in text


def test_a_study_with_holes_is_told_by_reml_and_names_what_it_refuses():
    frame = small().filter(pl.col("rater") == (pl.col("item") + pl.col("system")) % 4)
    document = summarise(Study(frame))
    if document["components"]:
        refused = next(c for c in document["components"] if c["source"] == "item:system")
        assert refused["estimate"] is None
        assert "refused: every item:system has one rater" in render(document)
    else:
        assert document["verdict"] == "refused"
        assert document["refused"]


def test_holes_are_counted_on_the_screen(tmp_path: Path, capsys):
    path = tmp_path / "holes.csv"
    small().slice(3).write_csv(path)
    code, out, _ = run([path], capsys)
    assert code == 0
    assert "93 ratings, 3 of 96 missing" in out
    assert "> F, REML" in out


def test_a_table_without_systems_is_told_as_items_and_raters(tmp_path: Path, capsys):
    path = tmp_path / "items.csv"
    small().filter(pl.col("system") == 0).drop("system").write_csv(path)
    code, out, err = run([path, "--json"], capsys)
    document = json.loads(out)
    assert code == 0
    assert "read as items x raters" in err
    assert document["verdict"] == "refused"
    assert document["generalizability"]["object"] == "item"
    assert document["ranking"] == []
    assert "AGREEMENT" in render(document)


def test_several_scores_give_one_object_with_a_study_each(tmp_path: Path, capsys):
    path = tmp_path / "two.csv"
    small(double=pl.col("score") * 2).write_csv(path)
    code, out, _ = run([path, "--score", "score,double", "--json"], capsys)
    document = json.loads(out)
    assert code == 0
    assert list(document["scores"]) == ["score", "double"]
    first, second = (document["scores"][s]["components"][0]["estimate"] for s in ("score", "double"))
    assert second == pytest.approx(4 * first)


def test_choices_reach_the_analysis(tmp_path: Path, capsys):
    path = tmp_path / "r.csv"
    small().rename({"item": "doc"}).write_csv(path)
    code, out, _ = run(
        [path, "--map", "item=doc", "--fixed", "item", "--pairs", "separate", "--margin", "3", "--estimator", "ems",
         "--object-variance", "observed_n", "--target", "0.7", "--lower-is-better", "--seed", "5", "--json"], capsys,
    )  # fmt: skip
    document = json.loads(out)
    assert code == 0
    assert document["design"]["fixed"] == ["item"]
    assert document["tests"]["system"]["quasi_f"]["error"] == "system:rater"
    assert list(document["raters_needed"]) == ["0.7"]
    assert document["generalizability"]["object_variance"] == "observed_n"
    assert "p_equivalent" in document["pairs"][0]
    means = [r["mean"]["value"] for r in document["ranking"]]
    assert means == sorted(means)
    assert document["seed"] == 5


def test_nesting_can_be_declared_on_the_command_line(tmp_path: Path, capsys):
    path = tmp_path / "r.csv"
    small(topic=pl.col("item") % 2).write_csv(path)
    code, out, _ = run([path, "--nested", "item:topic", "--json"], capsys)
    assert code == 0
    assert json.loads(out)["design"]["topic"] == 2
    code, out, _ = run([path, "--nested", "rater:item", "--json"], capsys)
    assert json.loads(out)["design"]["nested"] == {"rater": "item"}
    code, _, err = run([path, "--nested", "topic"], capsys)
    assert code == 2
    assert "expected rater:item" in err


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda f: pl.concat([f, f.head(1)]), "both rate"),
        (lambda f: f.with_columns(pl.lit("x").alias("score")), "'x' is not a score"),
        (lambda f: f.with_columns(pl.lit("").alias("score")), "no score; expected a number"),
        (lambda f: f.filter(pl.col("rater") == 0), "only one rater"),
        (lambda f: f.filter(pl.col("system") == 0), "only one system"),
        (lambda f: f.with_columns(pl.lit(2).alias("score")), "all 96 scores are 2"),
        (lambda f: f.rename({"rater": "ratre"}), "no column 'rater'; it has item, system, ratre, score"),
        (lambda f: f.filter((pl.col("system") == 0) == (pl.col("item") < 4)).filter(
            (pl.col("system") == 0) == (pl.col("rater") < 2)), "share no item and no rater"),
        (lambda f: f.head(0), "no rows"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence_and_exit_code_2(spoil, sentence: str, tmp_path: Path, capsys):
    path = tmp_path / "bad.csv"
    spoil(small()).write_csv(path)
    code, out, err = run([path], capsys)
    assert code == 2
    assert out == ""
    message = [line for line in err.splitlines() if not line.startswith("no column 'system'")]
    assert len(message) == 1
    assert sentence in message[0]
    assert str(path) in message[0] or "only one" in sentence


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--object", "person"], "no facet 'person' in this study"),
        (["--object", "rater"], "rater cannot be the object of measurement"),
        (["--estimator", "ems"], "expected mean squares need a complete table"),
        (["--pairs", "separate"], "pairs have no mean squares of their own"),
        (["--pairs", "all"], "pairs 'all': expected one of pooled, separate"),
        (["--estimator", "ml"], "estimator 'ml': expected one of ems, reml, henderson"),
        (["--target", "2"], "target 2: a target for G lies strictly between 0 and 1"),
        (["--margin", "0"], "margin 0: expected a positive difference"),
        (["--level", "metric"], "metric"),
        (["--fixed", "judge"], "no facet 'judge' in this study"),
        (["--object-variance", "n"], "object variance 'n'"),
        (["--system", "model"], "no column 'model'"),
        (["--score", "fluency"], "no column 'fluency'; it has item, system, rater, score"),
    ],
)
def test_what_is_asked_for_by_name_and_cannot_be_had_is_exit_code_2(options, sentence: str, tmp_path: Path, capsys):
    path = tmp_path / "holes.csv"
    small().slice(1).write_csv(path)
    code, out, err = run([path, *options], capsys)
    assert code == 2
    assert out == ""
    assert sentence in err.splitlines()[-1]


def test_a_gate_that_is_not_met_is_exit_code_3(tmp_path: Path, capsys):
    path = tmp_path / "r.csv"
    small().write_csv(path)
    code, out, err = run([path, "--fail-under", "g=0.999", "--json"], capsys)
    assert code == 3
    found = json.loads(out)["g"]["value"]
    assert f"mojimeter: score: not met: g is {found:.3f}, required 0.999" in err
    assert run([path, "--fail-under", "icc=-1"], capsys)[0] == 0
    code, _, err = run([path, "--fail-under", "kappa=1"], capsys)
    assert code == 2
    assert "expected METRIC=VALUE, with a number and one of g, phi, alpha, icc" in err


def test_plots_are_written_as_well_formed_svg(tmp_path: Path, capsys):
    path = tmp_path / "r.csv"
    small().write_csv(path)
    code, out, err = run([path, "--plot", tmp_path / "plots", "--json"], capsys)
    assert code == 0
    json.loads(out)
    names = sorted(p.name for p in (tmp_path / "plots").iterdir())
    assert names == ["g_over_raters.svg", "rank_ranges.svg", "raters.svg", "variance_shares.svg"]
    for name in names:
        root = ElementTree.parse(tmp_path / "plots" / name).getroot()
        assert root.tag.endswith("svg")
        assert name in err


def test_names_in_plots_are_escaped():
    names = {"0": "<script>alert(1)</script>", "1": "a & 'b' \"c\"", "2": "ok\x00\x1b"}
    frame = small().with_columns(pl.col("system").cast(pl.String).replace_strict(names))
    for canvas in draw_plots(summarise(Study(frame))).values():
        text = canvas.render()
        ElementTree.fromstring(text)
        assert "<script" not in text


def test_plots_of_several_scores_are_kept_apart(tmp_path: Path):
    document = summarise_all(Study(small(other=pl.col("score") ** 2), score=["score", "other"]))
    written = {p.name for p in write_plots(document, tmp_path)}
    assert {"score_raters.svg", "other_raters.svg"} <= written


def test_the_same_file_and_seed_give_the_same_document():
    first, second = (summarise(Study(small()), Questions(seed=4)) for _ in range(2))
    assert json.dumps(first) == json.dumps(second)


def test_the_signature_follows_the_data_and_not_their_order():
    signature = summarise(Study(small()))["signature"]
    assert summarise(Study(small().sample(fraction=1.0, shuffle=True, seed=2)))["signature"] == signature
    assert summarise(Study(small().with_columns(pl.col("score") + 1e-9)))["signature"] != signature
    assert signature.endswith("|seed:1|version:" + __version__)
    assert "|estimator:ems|object:system|" in signature


def test_nothing_in_the_document_is_not_a_number(paper: dict):
    assert json.dumps(paper, allow_nan=False)  # raises on NaN and infinity
    # raters who agree perfectly, and a rater who gives the same score throughout
    cube = np.zeros((6, 3, 3)) + np.arange(3.0)[None, :, None]
    assert json.dumps(summarise(Study(long_table(cube))), allow_nan=False)
    cube[:, :, 1] = 2
    assert json.dumps(summarise(Study(long_table(cube))), allow_nan=False)


def test_help_names_every_option(capsys):
    code, out, _ = run(["--help"], capsys)
    assert code == 0
    for option in (
        "--item",
        "--fixed",
        "--nested",
        "--margin",
        "--pairs",
        "--object-variance",
        "--plot",
        "--fail-under",
    ):
        assert option in out
