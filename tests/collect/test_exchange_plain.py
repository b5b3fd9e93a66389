"""Plain tables come back as they were written, and `collect import` writes what `ratings study` reads."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mojimeter.cli.app import main
from mojimeter.collect.exchange.answers import as_ratings
from mojimeter.collect.exchange.label_studio import read_label_studio
from mojimeter.collect.exchange.plain import write_table
from mojimeter.collect.exchange.potato import read_potato, write_potato
from mojimeter.collect.exchange.survey import GivenRating, ShownCell, Survey
from mojimeter.datasets.tables import SUFFIXES, read_table
from mojimeter.errors import InputError
from tests.collect.exchange_support import hostile


@settings(max_examples=20, deadline=None)
@given(texts=st.lists(st.none() | hostile, min_size=1, max_size=8), numbers=st.data())
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_any_text_comes_back(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, texts: list[str | None], numbers: st.DataObject
) -> None:
    scores = [numbers.draw(st.integers(-5, 5)) for _ in texts]
    frame = pl.DataFrame({"id": [f"i{k}" for k in range(len(texts))], "text": texts, "score": scores})
    frame = frame.with_columns(pl.col("text").cast(pl.String))
    path = tmp_path_factory.mktemp("t") / f"table{suffix}"
    digest = write_table(frame, path)
    back = read_table(path)
    assert back["text"].cast(pl.String).to_list() == texts
    assert back["score"].cast(pl.Int64).to_list() == scores
    assert digest == hashlib.sha256(path.read_bytes()).hexdigest()


def test_an_unknown_suffix_or_place_is_one_sentence(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1]})
    with pytest.raises(InputError, match=r"expected a name ending in \.csv"):
        write_table(frame, tmp_path / "table.xls")
    with pytest.raises(InputError, match="cannot be written"):
        write_table(frame, tmp_path / "absent" / "table.csv")


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["mojimeter", *arguments])
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


@pytest.fixture
def collected(tmp_path: Path) -> Path:
    """A study of 8 posts, 3 systems and 4 raters, as Potato's output."""
    cells = [ShownCell(f"{i:x}{s:x}c0", f"p{i}", f"s{s}", {"post": f"post {i} 😂"}) for i in range(8) for s in range(3)]
    ratings = [
        GivenRating(cell.cell, f"r{r}", str(1 + (n * 7 + r * r + n // 3) % 5), 1000 + n)
        for n, cell in enumerate(cells)
        for r in range(4)
    ]
    write_potato(tmp_path / "potato", Survey("t", "scale", "How good?", cells, ratings))
    return tmp_path / "potato"


def test_imported_ratings_are_what_the_study_command_reads(
    collected: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, key = tmp_path / "ratings.csv", f"{collected}.key.json"
    given = ["collect", "import", str(collected), "--format", "potato", "--key", key, "--out", str(out), "--json"]
    assert run(monkeypatch, *given) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["ratings"], document["items"], document["systems"], document["raters"]) == (96, 8, 3, 4)
    assert document["sha256"] == hashlib.sha256(out.read_bytes()).hexdigest()
    assert run(monkeypatch, "ratings", "study", str(out), "--json") == 0
    design = json.loads(capsys.readouterr().out)["design"]
    assert {k: design[k] for k in ("item", "system", "rater", "cells", "missing")} == {
        "item": 8, "system": 3, "rater": 4, "cells": 96, "missing": 0
    }  # fmt: skip


def test_what_was_left_out_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    annotation = {"completed_by": 1, "result": [
        {"from_name": "q", "type": "choices", "value": {"choices": ["meh"]}}]}  # fmt: skip
    skipped = {"completed_by": 2, "result": [], "was_cancelled": True}
    file = tmp_path / "export.json"
    file.write_text(json.dumps([{"id": 1, "data": {"system": "a"}, "annotations": [annotation, skipped]}]))
    given = ["collect", "import", str(file), "--format", "label-studio", "--out", str(tmp_path / "r.csv")]
    assert run(monkeypatch, *given) == 0
    said = capsys.readouterr()
    assert "1 ratings of 1 items (1 systems) by 1 raters" in said.out
    assert "1 skipped" in said.out
    assert "the score holds words ('meh')" in said.err
    assert run(monkeypatch, *given, "--value", "meh=3") == 0
    assert "words" not in capsys.readouterr().err
    assert read_table(tmp_path / "r.csv")["score"].to_list() == ["3"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--format", "prodigy"], "expected label-studio or potato"),
        (["--format", "label-studio", "--items", "x.csv"], "--items goes with --format potato"),
        (["--format", "label-studio", "--value", "good"], "expected WORD=NUMBER"),
        (["--format", "label-studio", "--map", "item"], "expected OUR_COLUMN=COLUMN_OF_THE_FILE"),
        (["--format", "label-studio", "--key", "absent.json"], "absent.json: no such file"),
    ],
)
def test_wrong_usage_is_one_sentence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    more: list[str],
    said: str,
) -> None:
    file = tmp_path / "e.json"
    answer = {"from_name": "q", "type": "rating", "value": {"rating": 1}}
    file.write_text(json.dumps([{"id": 1, "data": {}, "annotations": [{"completed_by": 1, "result": [answer]}]}]))
    assert run(monkeypatch, "collect", "import", str(file), "--out", str(tmp_path / "r.csv"), *more) == 2
    assert said in capsys.readouterr().err


_NAMES = (
    "id", "data", "annotations", "result", "value", "rating", "choices", "text", "type", "from_name", "completed_by",
    "was_cancelled", "lead_time", "meta", "rater", "item", "system", "cell", "score", "user_id", "instance_id",
    "labels", "label_annotations", "annotation", "behavioral_data", "instance_id_to_label_to_value", "schema", "name",
    "drafts",
)  # fmt: skip
_LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(allow_nan=False, allow_infinity=False),
    hostile,
    st.sampled_from([2.0**63, 1e300]),
    st.sampled_from(["rating", "choices", "textarea", "1", "yes", "r01"]),
)
_JSON = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_NAMES), inner, max_size=6),
    max_leaves=25,
)
_RESULT = st.fixed_dictionaries(
    {"type": st.sampled_from(["rating", "choices", "textarea"]), "from_name": _JSON, "value": _JSON}
)
_ANNOTATION = st.fixed_dictionaries({"result": st.lists(_RESULT | _JSON, max_size=2), "completed_by": _JSON}) | _JSON


@settings(max_examples=100, deadline=None)
@given(
    document=st.lists(
        st.fixed_dictionaries({"id": _JSON, "data": _JSON, "annotations": st.lists(_ANNOTATION, max_size=2)}) | _JSON,
        max_size=3,
    )
)
def test_no_document_of_label_studio_does_worse_than_one_sentence(
    tmp_path_factory: pytest.TempPathFactory, document: object
) -> None:
    file = tmp_path_factory.mktemp("fuzz") / "export.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    try:
        as_ratings(read_label_studio(file))
    except InputError as error:
        assert_one_sentence(error, file)


@settings(max_examples=100, deadline=None)
@given(
    labels=st.dictionaries(hostile, _JSON, max_size=3) | st.lists(st.tuples(_JSON, _JSON), max_size=3),
    times=st.dictionaries(hostile, _JSON, max_size=2),
    name=st.sampled_from(["user_state.json", "annotations.jsonl", "annotated_instances.jsonl"]),
    more=st.dictionaries(st.sampled_from(_NAMES), _JSON, max_size=4),
)
def test_no_output_of_potato_does_worse_than_one_sentence(
    tmp_path_factory: pytest.TempPathFactory, labels: object, times: object, name: str, more: dict[str, object]
) -> None:
    file = tmp_path_factory.mktemp("fuzz") / name
    record = {"label_annotations": labels, "instance_id_to_label_to_value": {"i": labels}, "behavioral_data": times}
    file.write_text(json.dumps(record | more), encoding="utf-8")
    try:
        as_ratings(read_potato(file))
    except InputError as error:
        assert_one_sentence(error, file)


def assert_one_sentence(error: InputError, file: Path) -> None:
    """What a person can act on: one line that names the file."""
    assert file.name in str(error)
    assert "\n" not in str(error)
