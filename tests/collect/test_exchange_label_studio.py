"""Label Studio: real exports are read, a study survives the way there and back, and broken files get one sentence.

The shape of tasks and results is that of Label Studio's guide "Task format" and of the sample results on the pages of
its tags Rating, Choices, TextArea, Number and Pairwise.
"""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings

from mojimeter.collect.exchange.answers import as_ratings
from mojimeter.collect.exchange.label_studio import read_label_studio, write_label_studio
from mojimeter.collect.exchange.survey import GivenRating, ShownCell, Survey, key_path, read_key
from mojimeter.errors import InputError
from tests.collect.exchange_support import surveys


def result(name: str, tag: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"id": "Dx_aB91ISN", "from_name": name, "to_name": "txt", "type": tag, "value": value, "origin": "manual"}


def annotation(who: Any, *results: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": 1001, "completed_by": who, "result": list(results), "was_cancelled": False, "lead_time": 4.288} | more


def rated(stars: Any) -> dict[str, Any]:
    return result("quality", "rating", {"rating": stars})


def export(path: Path, *tasks: dict[str, Any]) -> Path:
    path.write_text(json.dumps(list(tasks)), encoding="utf-8")
    return path


def task(number: int, *annotations: dict[str, Any], **data: Any) -> dict[str, Any]:
    return {"id": number, "data": {"text": f"text {number}", **data}, "annotations": list(annotations), "project": 83}


def test_several_annotators_become_rows_of_one_table(tmp_path: Path) -> None:
    file = export(
        tmp_path / "export.json",
        task(1, annotation(10, rated(4)), annotation({"id": 11, "email": "a@b.c"}, rated(2)), item="p1", system="x"),
        task(2, annotation(10, rated(5)), item="p1", system="y"),
    )
    table = as_ratings(read_label_studio(file)).ratings
    assert table.select("item", "system", "rater", "score", "duration_ms").rows() == [
        ("p1", "x", "10", 4, 4288),
        ("p1", "x", "11", 2, 4288),
        ("p1", "y", "10", 5, 4288),
    ]
    assert table["text"].to_list() == ["text 1", "text 1", "text 2"]


def test_what_is_no_rating_is_counted(tmp_path: Path) -> None:
    span = result("ner", "labels", {"start": 0, "end": 4, "labels": ["PER"]})
    file = export(
        tmp_path / "export.json",
        task(1, annotation(1, rated(3)), annotation(2, was_cancelled=True), annotation(3)),
        task(2, annotation(1, span)),
        task(3) | {"drafts": [{"result": []}], "predictions": [{"result": [rated(1)]}]},
    )
    found = as_ratings(read_label_studio(file)).to_dict()
    assert found["ratings"] == 1
    assert (found["skipped"], found["empty"], found["tasks_without_rating"]) == (1, 2, 2)
    assert found["unread"] == {"labels": 1, "drafts": 1, "predictions": 1}


def test_of_two_annotations_by_one_person_the_later_counts(tmp_path: Path) -> None:
    late, early = "2021-03-09T22:16:08.728353Z", "2021-03-09T21:00:00.000000Z"
    file = export(
        tmp_path / "e.json",
        task(1, annotation(1, rated(5), updated_at=late), annotation(1, rated(1), updated_at=early)),
    )
    found = as_ratings(read_label_studio(file))
    assert found.ratings["score"].to_list() == [5]
    assert found.source.repeated == 1


def test_questions_are_columns_until_one_is_named(tmp_path: Path) -> None:
    both = annotation(7, rated(4), result("why", "textarea", {"text": ["it fits"]}))
    only = annotation(8, result("why", "textarea", {"text": ["no idea"]}))
    source = read_label_studio(export(tmp_path / "e.json", task(1, both, only)))
    wide = as_ratings(source).ratings
    assert wide.select("rater", "quality", "why").rows() == [("7", "4", "it fits"), ("8", None, "no idea")]
    one = as_ratings(source, score="quality")
    assert one.ratings.select("rater", "score", "why").rows() == [("7", 4, "it fits")]
    assert one.without_score == 1
    with pytest.raises(InputError, match=r"no question 'size'; it has 'quality', 'why'"):
        as_ratings(source, score="size")


def test_a_question_called_like_a_column_of_ours_does_not_take_its_place(tmp_path: Path) -> None:
    names = ("rater", "score", "quality")
    answers = [result(name, "rating", {"rating": stars}) for stars, name in enumerate(names, 1)]
    source = read_label_studio(export(tmp_path / "e.json", task(1, annotation(7, *answers), item="p")))
    row = as_ratings(source, score="quality").ratings.row(0, named=True)
    assert (row["rater"], row["score"], row["rater_answer"], row["score_answer"]) == ("7", 3, "1", "2")


@pytest.mark.parametrize(
    ("choice", "values", "score"),
    [("yes", {}, 1), ("wrong", {}, 0), ("great", {"great": "2"}, 2), ("3", {}, 3), ("no", {"no": "-1"}, -1)],
)
def test_words_become_numbers(tmp_path: Path, choice: str, values: dict[str, str], score: int) -> None:
    file = export(tmp_path / "e.json", task(1, annotation(1, result("k", "choices", {"choices": [choice]}))))
    assert as_ratings(read_label_studio(file), values=values).ratings["score"].to_list() == [score]


def test_a_free_text_that_says_no_stays_a_text(tmp_path: Path) -> None:
    texts = [result("a", "textarea", {"text": [text]}) for text in ("no", "because of the rain")]
    file = export(tmp_path / "e.json", task(1, annotation(1, texts[0])), task(2, annotation(1, texts[1])))
    found = as_ratings(read_label_studio(file))
    assert found.ratings["score"].to_list() == ["no", "because of the rain"]
    assert found.words == {"no": 1, "because of the rain": 1}


def test_other_tags_are_read_as_their_pages_show_them(tmp_path: Path) -> None:
    results = [
        result("n", "number", {"number": 2.5}),
        result("p", "pairwise", {"selected": "left"}),
        result("c", "choices", {"choices": ["a", "b"]}),
    ]
    row = as_ratings(read_label_studio(export(tmp_path / "e.json", task(1, annotation(1, *results))))).ratings
    assert row.select("n", "p", "c").rows() == [("2.5", "left", '["a", "b"]')]


def test_ratings_of_regions_are_counted_not_taken_for_ratings_of_the_text(tmp_path: Path) -> None:
    file = export(tmp_path / "e.json", task(1, annotation(1, rated(1), rated(5))), task(2, annotation(1, rated(3))))
    found = as_ratings(read_label_studio(file))
    assert found.ratings["score"].to_list() == [3]
    assert found.source.unread == {"quality of regions": 2}


def test_addresses_do_not_get_into_the_table(tmp_path: Path) -> None:
    who = {"email": "someone@example.org"}
    file = export(tmp_path / "e.json", task(1, annotation(who, rated(1)), annotation(4, rated(2))))
    found = as_ratings(read_label_studio(file))
    assert found.ratings["rater"].to_list() == ["rater_1", "4"]
    assert found.renamed == 1


def test_completions_of_old_versions_and_tasks_without_data_are_read(tmp_path: Path) -> None:
    old = {"id": 5, "data": {"text": "t"}, "completions": [annotation(1, rated(2))]}
    assert as_ratings(read_label_studio(export(tmp_path / "old.json", old))).ratings["item"].to_list() == ["5"]
    bare = tmp_path / "bare.jsonl"
    bare.write_text('{"id": "a", "text": "x 😂"}\n\n{"id": 7, "text": null, "more": {"k": [1]}}\n', encoding="utf-8")
    table = read_label_studio(bare).table()
    assert table.rows(named=True) == [
        {"id": "a", "text": "x 😂", "more": None},
        {"id": "7", "text": None, "more": '{"k": [1]}'},
    ]


BROKEN = {
    "not JSON": ('[{"id": 1', "not JSON"),
    "not a list": ('"x"', "expected a list of tasks, found a string"),
    "no object": ("[1]", "task 1: expected an object, found a number"),
    "NaN": ('[{"id": 1, "data": {"x": NaN}}]', "has no NaN"),
    "empty": ("[]", "no tasks in it"),
    "data": ('[{"id": 1, "data": []}]', "task 1.data: expected an object, found a list"),
    "same id": ('[{"id": 1, "data": {}}, {"id": 1, "data": {}}]', "task 2: the id '1' is that of an earlier task"),
    "min": ('[{"id": 1, "text": "a", "rating": 3, "annotator": 1, "annotation_id": 4}]', "JSON-MIN"),
    "annotations": ('[{"id": 1, "data": {}, "annotations": {}}]', "annotations: expected a list, found an object"),
    "value": (
        json.dumps([task(1, annotation(1, rated("five")))]),
        "task 1, annotations[0].result[0].value.rating: expected a number, found a string",
    ),
    "no value": (
        json.dumps([task(1, annotation(1, {"type": "rating", "from_name": "q", "value": {}}))]),
        "annotations[0].result[0].value: no 'rating'",
    ),
    "no rater": (json.dumps([task(1, annotation(None, rated(1)))]), "annotations[0].completed_by: not there"),
    "time": (json.dumps([task(1, annotation(1, rated(1), lead_time="x"))]), "lead_time: expected seconds"),
    "huge number": ('[{"id": 1, "data": {"x": ' + "9" * 5000 + "}}]", "not JSON"),
    "deep": ("[" * 100_000, "nested too deeply"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_one_sentence_with_file_and_field(tmp_path: Path, name: str) -> None:
    text, said = BROKEN[name]
    file = tmp_path / "broken.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(said)) as caught:
        as_ratings(read_label_studio(file))
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_that_are_none_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_label_studio(tmp_path / "absent.json")
    latin = tmp_path / "latin.json"
    latin.write_bytes(b'[{"id": 1,\n "data": {"t": "\xe9"}}]')
    with pytest.raises(InputError, match=r"line 2: not UTF-8"):
        read_label_studio(latin)


CELLS = (
    ShownCell("c9f", "post-1", "gpt-secret", {"post": "Costs $5 & <b>more</b> 😂", "output": "🎉"}),
    ShownCell("a07", "post-1", "nearest-secret", {"post": "Costs $5 & <b>more</b> 😂", "output": '"x"\nשלום'}),
)


def test_an_export_is_blind_and_its_key_lies_outside(tmp_path: Path) -> None:
    written = write_label_studio(tmp_path / "out", Survey("t", "scale", "How $good?", CELLS, low="bad", high="good"))
    assert [path.relative_to(tmp_path).as_posix() for path in written] == [
        "out/tasks.json",
        "out/config.xml",
        "out.key.json",
    ]
    handed_over = "".join(path.read_text("utf-8") for path in (tmp_path / "out").iterdir())
    assert "secret" not in handed_over
    assert "post-1" not in handed_over
    tasks = json.loads(written[0].read_text("utf-8"))
    assert [task["data"]["cell"] for task in tasks] == ["a07", "c9f"], "by their random names"
    assert stat.S_IMODE(written[2].stat().st_mode) == 0o600
    assert read_key(written[2]) == {"c9f": ("post-1", "gpt-secret"), "a07": ("post-1", "nearest-secret")}


@pytest.mark.parametrize("form", ["scale", "keeps", "verdict", "answer"])
def test_the_configuration_shows_data_and_nothing_else(tmp_path: Path, form: Any) -> None:
    written = write_label_studio(tmp_path / "out", Survey("t", form, "Does it <fit> $x?", CELLS, instructions="Read"))
    config = ElementTree.fromstring(written[1].read_text("utf-8"))
    shown = [tag.get("value", "") for tag in config.iter() if tag.tag in ("Text", "Header")]
    data = json.loads(written[0].read_text("utf-8"))[0]["data"]
    variables = [value[1:] for value in shown if value.startswith("$")]
    assert {"question", "post", "output", "instructions"} <= set(variables) <= set(data)
    assert data["question"] == "Does it <fit> $x?"
    names = {tag.get("name") for tag in config.iter("Text")}
    (control,) = [tag for tag in config.iter() if tag.get("toName")]
    assert control.get("toName") in names
    assert control.tag == {"scale": "Rating", "answer": "TextArea"}.get(form, "Choices")


def test_a_field_may_have_the_name_of_one_of_ours(tmp_path: Path) -> None:
    cells = [ShownCell("c1", "i", "s", {"question": "Why?", "answer": "So."})]
    survey = Survey("t", "verdict", "Is it right?", cells, [GivenRating("c1", "r01", "right")], instructions="Read.")
    write_label_studio(tmp_path / "out", survey)
    source = read_label_studio(tmp_path / "out" / "tasks.json")
    assert source.tasks[0].fields == {"cell": "c1", "question": "Why?", "answer": "So."}
    row = as_ratings(source, key=read_key(tmp_path / "out.key.json")).ratings.row(0, named=True)
    assert row == {"item": "i", "system": "s", "rater": "r01", "score": 1, "duration_ms": None} | source.tasks[0].fields


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    survey = Survey("t", "scale", "q", CELLS)
    write_label_studio(tmp_path / "out", survey)
    with pytest.raises(InputError, match="is there already"):
        write_label_studio(tmp_path / "out", survey)
    key_path(tmp_path / "other").write_text("{}")
    with pytest.raises(InputError, match=r"other\.key\.json is there already"):
        write_label_studio(tmp_path / "other", survey)


def test_blinded_ratings_need_the_key_and_the_right_one(tmp_path: Path) -> None:
    survey = Survey("t", "scale", "q", CELLS, [GivenRating("c9f", "r01", "4")])
    write_label_studio(tmp_path / "out", survey)
    source = read_label_studio(tmp_path / "out" / "tasks.json")
    with pytest.raises(InputError, match="give the key"):
        as_ratings(source)
    with pytest.raises(InputError, match="the key has no cell 'a07'"):
        as_ratings(source, key={"c9f": ("i", "s")})


def test_a_rating_that_has_been_through_label_studio_still_knows_its_rater(tmp_path: Path) -> None:
    """Label Studio gives imported annotations to whoever imports them, and keeps the results as they are."""
    write_label_studio(tmp_path / "out", Survey("t", "scale", "q", CELLS, [GivenRating("c9f", "r01", "4")]))
    tasks = json.loads((tmp_path / "out" / "tasks.json").read_text("utf-8"))
    for one in (annotation for task in tasks for annotation in task.get("annotations", ())):
        one["completed_by"] = 1
    file = export(tmp_path / "back.json", *tasks)
    assert as_ratings(read_label_studio(file), key=read_key(tmp_path / "out.key.json")).ratings["rater"][0] == "r01"


@settings(max_examples=30, deadline=None)
@given(survey=surveys())
def test_a_study_comes_back_whole(tmp_path_factory: pytest.TempPathFactory, survey: Survey) -> None:
    folder = tmp_path_factory.mktemp("ls") / "out"
    write_label_studio(folder, survey)
    source = read_label_studio(folder / "tasks.json")
    shown = {task.fields["cell"]: task.fields for task in source.tasks}
    assert {cell: (f["post"], f["output"]) for cell, f in shown.items()} == {
        c.cell: (c.fields["post"], c.fields["output"]) for c in survey.cells
    }
    cell_of = {task.name: task.fields["cell"] for task in source.tasks}
    given = {(cell_of[a.task], a.rater, a.value, a.duration_ms) for a in source.answers}
    assert given == {(r.cell, r.rater, r.value, r.duration_ms) for r in survey.ratings}
    assert read_key(key_path(folder)) == {c.cell: (c.item, c.system) for c in survey.cells}
    if survey.ratings:
        table = as_ratings(source, key=read_key(key_path(folder))).ratings
        place = {c.cell: (c.item, c.system) for c in survey.cells}
        assert sorted(table.select("item", "system", "rater").rows()) == sorted(
            (*place[r.cell], r.rater) for r in survey.ratings
        )
