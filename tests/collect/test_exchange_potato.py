"""Potato: outputs of its versions are read, a study survives the way there and back, broken files get one sentence.

The shapes are those of files in Potato's own repository (``annotation_output`` of its example projects, for versions
before 2) and of what Potato 2.12.1 wrote when it was run and annotated over HTTP.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings

from mojimeter.collect.exchange.answers import as_ratings
from mojimeter.collect.exchange.potato import read_potato, write_potato
from mojimeter.collect.exchange.survey import GivenRating, ShownCell, Survey, key_path, read_key
from mojimeter.errors import InputError
from tests.collect.exchange_support import surveys

Labels = dict[str, dict[str, Any]]


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def lines(path: Path, *records: dict[str, Any]) -> Path:
    return write(path, "".join(json.dumps(record) + "\n" for record in records))


def state(folder: Path, user: str, labels: Any, **more: Any) -> Path:
    document = {"user_id": user, "instance_id_to_label_to_value": labels} | more
    return write(folder / user / "user_state.json", json.dumps(document))


def old_record(instance: str, labels: Labels, **more: Any) -> dict[str, Any]:
    spent = {"time_string": "Time spent: 0d 0h 1m 50s "}
    return {"id": instance, "displayed_text": "t", "label_annotations": labels, "behavioral_data": spent} | more


def test_folders_of_version_2_are_read(tmp_path: Path) -> None:
    pairs = [[{"schema": "score", "name": "4"}, "4"], [{"schema": "why", "name": "text_box"}, 'it\'s "ok"\nשלום']]
    times = {"c1": {"instance_id": "c1", "total_time_ms": 5210}}
    state(tmp_path, "alice", {"c1": pairs}, instance_id_to_behavioral_data=times)
    state(tmp_path, "bob", {"c1": [[{"schema": "score", "name": "2"}, "2"]], "c2": []})
    found = as_ratings(read_potato(tmp_path), score="score")
    assert found.ratings.select("item", "rater", "score", "why", "duration_ms").rows() == [
        ("c1", "alice", 4, 'it\'s "ok"\nשלום', 5210),
        ("c1", "bob", 2, None, None),
    ]
    assert found.source.empty == 1


def test_folders_of_earlier_versions_are_read_by_the_name_of_the_folder(tmp_path: Path) -> None:
    for user, stars in (("ann", "scale_5"), ("ben", "scale_2")):
        lines(tmp_path / user / "annotated_instances.jsonl", old_record("7", {"good": {stars: stars[-1]}}))
    lines(tmp_path / "carl" / "annotated_instances.jsonl", {"id": "7", "annotation": {"good": ["scale_1"]}})
    table = as_ratings(read_potato(tmp_path)).ratings
    assert table.select("item", "rater", "score", "duration_ms").rows() == [
        ("7", "ann", 5, 110_000),
        ("7", "ben", 2, 110_000),
        ("7", "carl", 1, None),
    ]


def test_the_file_of_all_annotators_is_read(tmp_path: Path) -> None:
    record = old_record("7", {"good": {"yes": "true"}}) | {"user_id": "ann", "instance_id": "7"}
    del record["id"]
    file = lines(tmp_path / "annotated_instances.jsonl", record)
    assert as_ratings(read_potato(file)).ratings.select("item", "rater", "score").rows() == [("7", "ann", 1)]
    assert as_ratings(read_potato(tmp_path)).ratings.height == 1, "also by its folder"


def test_tables_of_earlier_versions_are_read(tmp_path: Path) -> None:
    text = (
        "user\tinstance_id\tdisplayed_text\tsentiment:::neutral\tsentiment:::positive\tspan_annotation:::sure\n"
        "ann\t5\tE: one\t\ttrue\t[]\nann\t6\tG\ttrue\t\t[{'start': 1}]\n"
    )
    found = as_ratings(read_potato(write(tmp_path / "annotated_instances.tsv", text)))
    assert found.ratings.select("item", "rater", "score", "text").rows() == [
        ("5", "ann", "positive", "E: one"),
        ("6", "ann", "neutral", "G"),
    ]
    assert found.source.unread == {"spans": 1}
    assert found.words == {"positive": 1, "neutral": 1}


def test_exports_of_version_2_are_read(tmp_path: Path) -> None:
    labels = {"score": {"4": "4"}, "keeps": {"yes": "yes"}, "answer": {"text_box": "so, so"}}
    record = {"instance_id": "c1", "user_id": "alice", "labels": labels, "spans": {}, "links": {}}
    table = 'instance_id,user_id,score.4,keeps.yes,answer.text_box\nc1,alice,4,yes,"so, so"\n'
    flat = pl.DataFrame(
        {"instance_id": ["c1"], "user_id": ["alice"], "score": [4.0], "keeps": ["yes"], "answer": "so, so"}
    )
    flat.write_parquet(tmp_path / "annotations.parquet")
    for file in (
        lines(tmp_path / "annotations.jsonl", record),
        write(tmp_path / "annotations.csv", table),
        tmp_path / "annotations.parquet",
    ):
        rows = as_ratings(read_potato(file), score="score").ratings.select("item", "rater", "score", "keeps", "answer")
        assert rows.rows() == [("c1", "alice", 4, "yes", "so, so")], file


@pytest.mark.parametrize(
    ("labels", "answer"),
    [
        ({"positive": "true"}, "positive"),
        ({"positive": True}, "positive"),
        ({"positive": "positive"}, "positive"),
        ({"positive": "q:::positive"}, "positive"),
        ({"positive": "2"}, "positive"),  # the number of its key
        ({"scale_3": "3"}, "3"),
        ({"scale_3": "true"}, "3"),
        ({"4": "4"}, "4"),
        ({"slider": "0"}, "0"),
        ({"slider": 0}, "0"),
        ({"text_box": "true"}, "true"),
        ({"text_box": "false"}, "false"),
        ({"a": "true", "b": "true"}, '["a", "b"]'),
        ({"a": "true", "b": False}, "a"),
    ],
)
def test_a_label_or_its_value_is_the_answer(tmp_path: Path, labels: dict[str, Any], answer: str) -> None:
    file = lines(tmp_path / "u" / "annotated_instances.jsonl", old_record("1", {"q": labels}))
    assert [(a.question, a.value) for a in read_potato(file).answers] == [("q", answer)]


def test_values_under_several_names_are_questions_of_their_own(tmp_path: Path) -> None:
    file = lines(tmp_path / "u" / "annotated_instances.jsonl", old_record("1", {"q": {"Tone": "High", "Speed": "Low"}}))
    assert [(a.question, a.value) for a in read_potato(file).answers] == [("q.Tone", "High"), ("q.Speed", "Low")]


def test_items_say_what_an_id_stands_for(tmp_path: Path) -> None:
    state(
        tmp_path / "out",
        "ann",
        {"1": [[{"schema": "s", "name": "5"}, "5"]], "9": [[{"schema": "s", "name": "1"}, "1"]]},
    )
    items = write(tmp_path / "items.csv", "id,text,doc,model\n1,hello,p1,gpt\n2,bye,p2,gpt\n")
    source = read_potato(tmp_path / "out", items)
    with pytest.raises(InputError, match="task '9' has no field 'doc'"):
        as_ratings(source, mapping={"item": "doc", "system": "model"})
    state(tmp_path / "out", "ann", {"1": [[{"schema": "s", "name": "5"}, "5"]]})
    table = as_ratings(read_potato(tmp_path / "out", items), mapping={"item": "doc", "system": "model"}).ratings
    assert table.rows(named=True) == [
        {"item": "p1", "system": "gpt", "rater": "ann", "score": 5, "duration_ms": None, "id": "1", "text": "hello"}
    ]


def test_a_file_of_items_is_a_table(tmp_path: Path) -> None:
    file = lines(tmp_path / "items.jsonl", {"id": "a", "text": "x 😂"}, {"id": 2, "text": "y", "lang": "hi"})
    assert read_potato(file).table().rows() == [("a", "x 😂", None), ("2", "y", "hi")]
    listed = write(tmp_path / "items.json", '[{"id": "a", "text": "x"}]')
    assert read_potato(listed).table().rows() == [("a", "x")]


BROKEN = {
    "a/annotated_instances.jsonl": [
        ("{", "line 1: not JSON"),
        ('{"label_annotations": {}}', "line 1: no instance_id or id"),
        ('\n{"id": "1", "label_annotations": 3}', "line 2, label_annotations: expected an object, found a number"),
        ("[1]", "entry 1: expected an object, found a number"),
    ],
    "all.jsonl": [
        ('{"id": "1", "label_annotations": {}}', "line 1: no user_id"),
        ('{"text": "x"}', "line 1: no id"),
        ('{"id": 1}\n{"id": "1"}', "line 2: the id '1' is that of an earlier item"),
    ],
    "a/user_state.json": [
        ("[]", "expected an object, found a list"),
        ('{"instance_id_to_label_to_value": {"i": [3]}}', "['i'][0]: expected a label and its value"),
        ('{"instance_id_to_label_to_value": {"i": [[{"schema": "s"}, 1]]}}', "['i'][0][0]: expected schema and name"),
        ('{"instance_id_to_label_to_value": []}', "no answers in it"),
    ],
    "all.csv": [("user,instance_id,q:::1\n,5,true\n", "row 1, column 'user': empty"), ("", "the file is empty")],
}


@pytest.mark.parametrize(("name", "text", "said"), [(n, t, s) for n, cases in BROKEN.items() for t, s in cases])
def test_a_broken_file_is_one_sentence_with_file_and_field(tmp_path: Path, name: str, text: str, said: str) -> None:
    file = write(tmp_path / name, text)
    with pytest.raises(InputError, match=re.escape(said)) as caught:
        as_ratings(read_potato(file))
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_without_annotators_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected an output folder of Potato"):
        read_potato(tmp_path)
    with pytest.raises(InputError, match="no such file or folder"):
        read_potato(tmp_path / "absent")


CELLS = (
    ShownCell("c9f", "post-1", "gpt-secret", {"post": "<script>x</script> & 😂", "output": "🎉"}),
    ShownCell("a07", "post-1", "nearest-secret", {"post": "<script>x</script> & 😂", "output": "a\nשלום"}),
)


def test_an_export_is_blind_and_takes_no_post_for_a_page(tmp_path: Path) -> None:
    survey = Survey("t", "scale", "How good?", CELLS, [GivenRating("c9f", "r01", "4", 900)])
    written = write_potato(tmp_path / "out", survey)
    assert [path.relative_to(tmp_path).as_posix() for path in written] == [
        "out/data/items.jsonl",
        "out/config.yaml",
        "out/annotation_output/r01/user_state.json",
        "out.key.json",
    ]
    handed_over = "".join(path.read_text("utf-8") for path in written[:-1])
    assert "secret" not in handed_over
    assert "post-1" not in handed_over
    items = [json.loads(line) for line in written[0].read_text("utf-8").splitlines()]
    assert [item["id"] for item in items] == ["a07", "c9f"], "by their random names"
    assert "&lt;script&gt;x&lt;/script&gt; &amp; 😂" in items[0]["text"]
    assert "<script" not in items[0]["text"]
    table = as_ratings(read_potato(tmp_path / "out"), key=read_key(written[-1])).ratings
    assert table.select("item", "system", "rater", "score", "duration_ms").rows() == [
        ("post-1", "gpt-secret", "r01", 4, 900)
    ]


@pytest.mark.parametrize("form", ["scale", "keeps", "verdict", "answer"])
def test_the_configuration_is_yaml_with_one_question(tmp_path: Path, form: Any) -> None:
    yaml = pytest.importorskip("yaml")
    write_potato(tmp_path / "out", Survey('T: "x" #1', form, "Does it {fit}:\u2028 - 😂?", CELLS, low="bad", high="no"))
    config = yaml.safe_load((tmp_path / "out" / "config.yaml").read_text("utf-8"))
    assert config["annotation_task_name"] == 'T: "x" #1'
    assert config["data_files"] == ["data/items.jsonl"]
    (scheme,) = config["annotation_schemes"]
    assert scheme["description"] == "Does it {fit}:\u2028 - 😂?"
    kinds = {"scale": "likert", "answer": "text"}
    assert scheme["annotation_type"] == kinds.get(form, "radio")


def test_a_rater_whose_name_is_no_folder_is_refused(tmp_path: Path) -> None:
    survey = Survey("t", "scale", "q", CELLS, [GivenRating("c9f", "../x", "4")])
    with pytest.raises(InputError, match="cannot be the name of a folder"):
        write_potato(tmp_path / "out", survey)
    assert not (tmp_path / "x").exists()


@settings(max_examples=30, deadline=None)
@given(survey=surveys())
def test_a_study_comes_back_whole(tmp_path_factory: pytest.TempPathFactory, survey: Survey) -> None:
    folder = tmp_path_factory.mktemp("potato") / "out"
    write_potato(folder, survey)
    items = {task.name: task.fields for task in read_potato(folder / "data" / "items.jsonl").tasks}
    assert {cell: (f["field_post"], f["field_output"]) for cell, f in items.items()} == {
        c.cell: (c.fields["post"], c.fields["output"]) for c in survey.cells
    }
    assert read_key(key_path(folder)) == {c.cell: (c.item, c.system) for c in survey.cells}
    if survey.ratings:
        source = read_potato(folder)
        given = {(a.task, a.rater, a.value, a.duration_ms) for a in source.answers}
        assert given == {(r.cell, r.rater, r.value, r.duration_ms) for r in survey.ratings}
        table = as_ratings(source, key=read_key(key_path(folder))).ratings
        assert table.height == len(survey.ratings)


@settings(max_examples=30, deadline=None)
@given(survey=surveys())
def test_any_text_in_the_configuration_is_read_back_by_yaml(
    tmp_path_factory: pytest.TempPathFactory, survey: Survey
) -> None:
    yaml = pytest.importorskip("yaml")
    folder = tmp_path_factory.mktemp("yaml") / "out"
    write_potato(folder, survey)
    config = yaml.safe_load((folder / "config.yaml").read_text("utf-8"))
    assert config["annotation_task_name"] == survey.title
    assert config["annotation_schemes"][0]["description"] == survey.question
    assert config["annotation_instructions"] == survey.instructions
