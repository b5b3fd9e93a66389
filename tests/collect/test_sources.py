"""Sources: whatever can be rated becomes items and cells, and what cannot is counted."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sqlalchemy import select

from mojimeter import emoji
from mojimeter.collect.database import reading
from mojimeter.collect.exchange.label_studio import write_label_studio
from mojimeter.collect.exchange.potato import write_potato
from mojimeter.collect.exchange.survey import ShownCell, Survey
from mojimeter.collect.init import Wish, init_study
from mojimeter.collect.known import read_known, shipped_checks, shipped_training
from mojimeter.collect.material import Cell, Material
from mojimeter.collect.payloads import FIELDS, OPTIONAL, as_payload, emoji_of, plain_text, segments
from mojimeter.collect.schema import cells
from mojimeter.collect.sources import PEOPLE, choose_systems, read_source, sample_items
from mojimeter.collect.store import open_store
from mojimeter.collect.study import Form, Scale, StudyConfig, read_study
from mojimeter.collect.texts import default_consent, default_instructions
from mojimeter.errors import InputError
from mojimeter.fonts import MissingEmojiError, cut

POSTS = [
    {"id": "p1", "text": "We won! 🎉", "lang": "en"},
    {"id": "p2", "text": "So tired 😴", "lang": "en"},
    {"id": "p3", "text": "वाह 😍", "lang": "hi"},
    {"id": "p4", "text": "nobody answers", "lang": "hi"},
]
OUTPUTS = [
    {"id": "p1", "system": "a", "reply": "🏆🎉"},
    {"id": "p2", "system": "a", "reply": "Here you are: 😴"},
    {"id": "p3", "system": "a", "reply": "no emoji at all"},
    {"id": "p1", "system": "b", "reply": "😢"},
    {"id": "p2", "system": "b", "reply": None},
    {"id": "p3", "system": "b", "reply": "😍"},
    {"id": "p1", "system": "b", "reply": "🙃", "epoch": 2},
]
CONFIG = StudyConfig(title="t", form="scale", question="q")


def write_lines(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return str(path)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    write_lines(folder / "posts.jsonl", POSTS)
    write_lines(folder / "outputs.jsonl", OUTPUTS)
    return folder


def shown(material: Material) -> dict[tuple[str | None, str], dict[str, str]]:
    return {(c.item, c.system): dict(c.fields) for c in material.cells}


# --- runs ---------------------------------------------------------------------------------------------------------


def test_a_run_gives_each_post_with_each_systems_emoji_as_judges_saw_them(run: Path) -> None:
    found = read_source(str(run))
    assert found.form == "scale"
    assert shown(found) == {
        ("p1", "a"): {"post": "We won!", "text": "We won! 🏆🎉"},
        ("p1", "b"): {"post": "We won!", "text": "We won! 😢"},
        ("p2", "a"): {"post": "So tired", "text": "So tired 😴"},
        ("p3", "a"): {"post": "वाह", "text": "वाह"},  # a system without emoji is rated as it is
        ("p3", "b"): {"post": "वाह", "text": "वाह 😍"},
    }
    assert found.left_out == {"without_reply": 1, "repeated": 1, "posts_without_output": 1}
    assert [(i.id, i.lang) for i in found.items] == [("p1", "en"), ("p2", "en"), ("p3", "hi")]


def test_a_run_that_appended_raw_replies_shows_raw_replies(run: Path) -> None:
    (run / "settings.toml").write_text('append = "raw"\n')
    assert shown(read_source(str(run)))["p2", "a"]["text"] == "So tired Here you are: 😴"


def test_the_form_keeps_shows_the_original_with_its_own_emoji(run: Path) -> None:
    found = read_source(str(run), form="keeps")
    assert shown(found)["p1", "b"] == {"original": "We won! 🎉", "text": "We won! 😢"}


def test_posts_and_outputs_can_come_from_anywhere(run: Path) -> None:
    found = read_source(str(run / "posts.jsonl"), outputs=[str(run / "outputs.jsonl")])
    assert shown(found) == shown(read_source(str(run)))


def test_a_column_is_mapped_in_the_files_that_have_it_and_refused_where_none_has(run: Path, tmp_path: Path) -> None:
    posts = write_lines(tmp_path / "p.jsonl", [{"nr": p["id"], "text": p["text"]} for p in POSTS])
    replies = [{"nr": o["id"], "raw": o["reply"]} for o in OUTPUTS if o["system"] == "a"]
    outputs = write_lines(tmp_path / "a.jsonl", replies)
    found = read_source(posts, outputs=[outputs], mapping={"id": "nr", "reply": "raw"})
    assert shown(found)["p1", "a"]["text"] == "We won! 🏆🎉"
    with pytest.raises(InputError, match="--map lang=language: no file has a column 'language'"):
        read_source(posts, outputs=[outputs], mapping={"id": "nr", "reply": "raw", "lang": "language"})


def test_strategies_of_a_system_are_systems_of_their_own(run: Path) -> None:
    rows = [{"id": "p1", "system": "a", "strategy": s, "reply": "🎉"} for s in ("zeroshot", "fewshot")]
    write_lines(run / "outputs.jsonl", rows)
    assert read_source(str(run)).systems == ("a (zeroshot)", "a (fewshot)")


def test_a_run_of_disambiguation_gives_answers_beside_the_expected_ones(tmp_path: Path) -> None:
    pair = {
        "id": "x", "category": "tone", "text": "ok 👍", "emoji": "👍", "question": "Why?", "lang": "en",
        "context_1": "one", "answer_1": "yes", "context_2": "two", "answer_2": "no",
    }  # fmt: skip
    write_lines(tmp_path / "pairs.jsonl", [pair])
    answers = [
        {"id": "x", "system": "a", "condition": "1", "answer": "sure"},
        {"id": "x", "system": "a", "condition": "2", "answer": "nope"},
        {"id": "x", "system": "a", "condition": "none", "answer": "maybe"},
        {"id": "x", "system": "b", "condition": "1", "answer": "  "},
        {"id": "gone", "system": "b", "condition": "1", "answer": "hm"},
    ]
    write_lines(tmp_path / "answers.jsonl", answers)
    found = read_source(str(tmp_path))
    assert found.form == "verdict"
    assert shown(found)["x/2", "a"] == {
        "context": "two", "text": "ok 👍", "question": "Why?", "reference": "no", "answer": "nope",
    }  # fmt: skip
    assert found.left_out == {"without_context": 1, "without_answer": 1, "without_pair": 1}
    assert [(i.id, i.group, i.condition) for i in found.items] == [("x/1", "x", "1"), ("x/2", "x", "2")]


def test_pairs_are_questions_that_people_answer(tmp_path: Path) -> None:
    found = read_source("pairs:en")
    assert found.form == "answer"
    assert found.systems == (PEOPLE,)
    assert all(set(c.fields) == {"context", "text", "question"} for c in found.cells)
    assert set(Counter(i.group for i in found.items).values()) == {2}  # each pair in both of its contexts
    with pytest.raises(InputError, match="so expected answer"):
        read_source("pairs:en", form="verdict")


# --- tables -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "row", "form"),
    [
        ("item,system,text", "i,s,hello", "scale"),
        ("item,system,post,output", "i,s,p,hello", "scale"),
        ("id,system,reply", "i,s,hello", "scale"),
        ("item,system,original,text", "i,s,o,hello", "keeps"),
        ("item,system,context,text,question,reference,answer", "i,s,c,t,q,r,a", "verdict"),
        ("item,text,question", "i,t,q", "answer"),
    ],
)
def test_the_columns_of_a_table_say_which_form_it_can_have(tmp_path: Path, header: str, row: str, form: str) -> None:
    file = tmp_path / "table.csv"
    file.write_text(f"{header}\n{row}\n")
    found = read_source(str(file))
    assert found.form == form
    assert set(found.cells[0].fields) >= set(FIELDS[found.form]) - OPTIONAL


def test_columns_can_be_mapped_and_what_is_empty_or_repeated_is_counted(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text("doc,model,summary,topic\n1,a,x,t\n1,a,again,t\n1,b,,t\n2,a,y,u\n")
    found = read_source(str(file), mapping={"item": "doc", "system": "model", "text": "summary"})
    assert [(c.item, c.system, c.fields["text"]) for c in found.cells] == [("1", "a", "x"), ("2", "a", "y")]
    assert found.left_out == {"repeated": 1, "without_text": 1}
    assert [i.strata for i in found.items] == [{"topic": "t"}, {"topic": "u"}]


@pytest.mark.parametrize(
    ("text", "form", "message"),
    [
        ("item,text\n1,x\n", None, r"no column 'system', which the form scale needs \(see --map\); it has item, text"),
        ("item,system,text\n1,,x\n", None, "row 1: no system"),
        ("item,system,text\n1,a,x\n,a,x\n", None, "row 2: no item"),
        ("item,system,text\n1,a,x\n", "keeps", "no column 'original'"),
        ("item,system,text\n1,a,x\n", "stars", "--form 'stars': expected scale, keeps, verdict, answer"),
    ],
)
def test_a_table_that_cannot_be_rated_is_one_sentence(
    tmp_path: Path, text: str, form: str | None, message: str
) -> None:
    file = tmp_path / "table.csv"
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        read_source(str(file), form=form)


def test_folders_that_are_no_runs_say_what_they_lack(tmp_path: Path, run: Path) -> None:
    with pytest.raises(InputError, match=r"no posts table .*expected the folder of a run"):
        read_source(str(tmp_path))
    write_lines(run / "outputs.jsonl", [{"id": "zz", "system": "a", "reply": "🎉"}])
    with pytest.raises(InputError, match="answers post 'zz', which is not among the posts"):
        read_source(str(run))


def test_tasks_of_label_studio_come_in_with_their_fields(tmp_path: Path) -> None:
    file = tmp_path / "tasks.json"
    tasks = [{"id": k, "data": {"doc": f"d{k}", "model": "m", "text": f"hello {k} 😀"}} for k in (1, 2)]
    file.write_text(json.dumps(tasks))
    found = read_source(str(file), tool="label-studio", mapping={"item": "doc", "system": "model"})
    assert [(c.item, c.system, c.fields["text"]) for c in found.cells] == [
        ("d1", "m", "hello 1 😀"),
        ("d2", "m", "hello 2 😀"),
    ]
    with pytest.raises(InputError, match="expected label-studio or potato"):
        read_source(str(file), tool="excel")


@pytest.mark.parametrize("form", ["scale", "verdict", "answer"])
@pytest.mark.parametrize("tool", ["label-studio", "potato"])
def test_tasks_that_were_exported_blind_come_back_with_their_key(tmp_path: Path, tool: str, form: str) -> None:
    fields = (
        {"text": "hello 😀", "post": "hello"} if form == "scale" else {"context": "a", "text": "b 😀", "question": "c"}
    )
    fields |= {"reference": "d", "answer": "e"} if form == "verdict" else {}
    system = PEOPLE if form == "answer" else "m"
    cells = [ShownCell(f"{k:016x}", f"d{k}", system, fields) for k in (1, 2)]
    write = {"label-studio": write_label_studio, "potato": write_potato}[tool]
    write(tmp_path / "tasks", Survey("t", form, "How good?", cells))  # type: ignore[arg-type]
    source = str(tmp_path / "tasks" / ("tasks.json" if tool == "label-studio" else ""))
    found = read_source(source, tool=tool, key=str(tmp_path / "tasks.key.json"))
    assert (found.form, shown(found)) == (form, {(f"d{k}", system): fields for k in (1, 2)})
    if form != "answer":
        with pytest.raises(InputError, match=r"tasks name cells, .*give the key that was written beside it \(--key\)"):
            read_source(source, tool=tool)
    (tmp_path / "other.json").write_text('{"cells": {}}')
    with pytest.raises(InputError, match="the key has no cell '0000000000000001'; is it another export's"):
        read_source(source, tool=tool, key=str(tmp_path / "other.json"))
    with pytest.raises(InputError, match="--key goes with --from"):
        read_source(source, key=str(tmp_path / "tasks.key.json"))


def test_posts_without_outputs_say_that_they_need_outputs(run: Path) -> None:
    for source in ("starter", "starter:test"):
        with pytest.raises(InputError, match=rf"^{source}: posts without outputs; .* --outputs FILE"):
            read_source(source)
    with pytest.raises(InputError, match=r"no column 'system', .*Outputs in a file of their own: --outputs FILE"):
        read_source(str(run / "posts.jsonl"), form="scale")


# --- choosing -----------------------------------------------------------------------------------------------------


def test_systems_can_be_chosen_by_name(run: Path) -> None:
    found = choose_systems(read_source(str(run)), ["b"])
    assert found.systems == ("b",)
    assert [i.id for i in found.items] == ["p1", "p3"]
    whole = read_source(str(run))
    with pytest.raises(InputError, match=r"no system 'c' in .*; it has a, b"):
        choose_systems(whole, ["c"])


def test_a_sample_of_items_is_stratified_and_takes_whole_items_first(tmp_path: Path) -> None:
    rows = [f"{lang}{k},{s},{lang},x" for lang in ("en", "hi") for k in range(6) for s in "ab" if (k, s) != (0, "b")]
    file = tmp_path / "table.csv"
    file.write_text("item,system,lang,text\n" + "\n".join(rows) + "\n")
    whole = read_source(str(file))
    some = sample_items(whole, 4, [], seed=3)
    assert Counter(i.lang for i in some.items) == {"en": 2, "hi": 2}
    assert not {"en0", "hi0"} & {i.id for i in some.items}  # of these one system's output is missing
    assert len(some.cells) == 8
    assert some.left_out == {"items_not_drawn": 8}
    assert sample_items(whole, 4, [], seed=3) == some
    assert sample_items(whole, 12, [], seed=3).items == whole.items
    with pytest.raises(InputError, match="cannot draw 13 of 12"):
        sample_items(whole, 13, [], seed=3)
    with pytest.raises(InputError, match="no column 'mood'"):
        sample_items(whole, 4, ["mood"], seed=3)


def test_a_sample_of_pairs_keeps_both_contexts() -> None:
    some = sample_items(read_source("pairs"), 12, [], seed=1)
    assert len(some.items) == len(some.cells) == 24
    assert set(Counter(i.group for i in some.items).values()) == {2}


# --- what is shown ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "plain", "😀", "a 👍🏽 b", "🏳️‍🌈🏳️‍🌈", "1️⃣ of 2", "हाँ 😍।", "©️ and ©", "end 🎉"])
def test_segments_joined_are_the_text_and_mark_every_emoji(text: str) -> None:
    found = segments(text)
    assert "".join(part for part, _ in found) == text
    assert [part for part, is_emoji in found if is_emoji] == emoji.find(text)


def test_a_payload_holds_the_fields_the_language_and_nothing_else() -> None:
    payload = as_payload("scale", {"text": "ok 👍", "system": "secret", "post": "ok"}, "en", names=False)
    assert payload == {"lang": "en", "fields": {"post": [["ok", False]], "text": [["ok ", False], ["👍", True]]}}
    assert plain_text(payload, "text") == "ok 👍"
    assert plain_text(payload, "no such field") == ""
    assert emoji_of([payload]) == {"👍"}


def test_names_of_emoji_are_there_only_if_the_study_shows_them() -> None:
    payload = as_payload("scale", {"text": "👍👍", "post": "😢"}, "hi", names=True)
    assert payload["names"] == [["👍", "थंब्स अप"]]  # CLDR 48, Hindi


def test_characters_that_no_database_can_hold_are_replaced() -> None:
    payload = as_payload("scale", {"text": "a\x00b\ud83d"}, None, names=False)
    assert plain_text(payload, "text") == "a\ufffdb\ufffd"


# --- training and attention ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["scale", "keeps", "verdict", "answer"])
@pytest.mark.parametrize("points", [2, 3, 5, 7, 11])
def test_known_items_that_ship_have_the_forms_fields_and_values(form: Form, points: int) -> None:
    config = StudyConfig(title="t", form=form, question="q", scale=Scale(points=points))
    training, checks = shipped_training(config), shipped_checks(config)
    assert [c.kind for c in training] == ["training"] * 2
    assert all(c.feedback for c in training)
    for cell in [*training, *checks]:
        assert set(FIELDS[form]) - OPTIONAL <= set(cell.fields) <= set(FIELDS[form])
        assert config.check_value(cell.expected or "") == cell.expected
    for check in checks:  # each says which answer to give
        assert f" {check.expected}." in check.fields["text"]
        assert config.passes(check.expected or "", check.expected or "")
    if form == "scale":
        assert [c.expected for c in training] == [str(points), "1"]
    asked = Counter(c.expected for c in checks)
    assert len(asked) >= min(points, 4) if form == "scale" else len(asked) >= 2


def test_an_attention_item_of_free_text_is_passed_by_the_word_in_any_case() -> None:
    config = StudyConfig(title="t", form="answer", question="q")
    assert config.passes("check", "I write Check here")
    assert not config.passes("check", "what?")
    assert not StudyConfig(title="t", form="keeps", question="q").passes("no", "not no")


def test_own_training_and_attention_items_are_read_from_a_table(tmp_path: Path) -> None:
    file = tmp_path / "known.csv"
    file.write_text("text,expected,feedback,part\nनमस्ते 😀,4,अच्छा,\nचुनें 2,2,,attention\n")
    first, second = read_known(file, CONFIG)
    assert (first.kind, first.expected, first.feedback, first.fields["text"]) == ("training", "4", "अच्छा", "नमस्ते 😀")
    assert (second.kind, second.expected, second.feedback) == ("attention", "2", None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("text\nx\n", "no column 'expected'"),
        ("text,expected\n,3\n", "row 1, column 'text': empty"),
        ("text,expected\nx,3\ny,6\n", "row 2, column 'expected': '6'; expected 1, 2, 3, 4, 5"),
        ("text,expected,part\nx,3,exam\n", "row 1, column 'part': 'exam'; expected training or attention"),
    ],
)
def test_own_known_items_that_are_wrong_are_named_by_row_and_column(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "known.csv"
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        read_known(file, CONFIG)


# --- init ---------------------------------------------------------------------------------------------------------


def test_instructions_say_that_there_are_checks_and_repeats_where_there_are() -> None:
    plain = default_instructions(CONFIG)
    assert "check" not in plain
    assert "twice" not in plain
    config = StudyConfig(title="t", form="scale", question="q", attention=2, repeats=0.1)
    assert "checks" in default_instructions(config)
    assert "twice" in default_instructions(config)
    assert "withdraw" in default_consent(config)


def test_init_makes_a_study_with_sensible_choices_and_counts_what_it_left_out(run: Path, tmp_path: Path) -> None:
    begun = init_study(Wish(source=str(run), out=str(tmp_path / "study")))
    config = read_study(tmp_path / "study")
    assert (config.form, config.design, config.scale.points) == ("scale", "crossed", 5)
    assert (begun.made.items, begun.made.systems, begun.made.cells, begun.made.training) == (3, 2, 5, 2)
    assert begun.left_out == {"without_reply": 1, "repeated": 1, "posts_without_output": 1}
    assert any("1 of 3 items do not have every system's output" in w for w in begun.warnings)
    store = open_store(tmp_path / "study")
    assert json.loads(store.fact("emoji") or "")
    assert (tmp_path / "study" / "emoji.woff2").read_bytes()[:4] == b"wOF2"


def test_an_emoji_that_the_font_lacks_fails_by_name_and_leaves_nothing_behind(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shape = cut._shape
    monkeypatch.setattr(cut, "_shape", lambda string: [0] if string == "😴" else shape(string))
    with pytest.raises(MissingEmojiError, match=r"😴 \(sleeping face"):
        init_study(Wish(source=str(run), out=str(tmp_path / "study")))
    assert not (tmp_path / "study").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"points": 12}, r"\[scale\] points is 12"),
        ({"design": "nested", "raters": 4}, "expected a multiple of 3"),
        ({"design": "incomplete"}, "cells_per_rater = 0"),
        ({"attention": 11}, "there are 10 items with a known answer"),
        ({"instructions": "nowhere.txt"}, "nowhere.txt: cannot be read"),
        ({"systems": ("zzz",)}, "no system 'zzz'"),
        ({"database": "oracle://x/y"}, "kind 'oracle'|cannot be read"),
    ],
)
def test_wishes_that_do_not_go_together_leave_nothing_behind(
    run: Path, tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        init_study(Wish(source=str(run), out=str(tmp_path / "study"), **changes))
    assert not (tmp_path / "study").exists()


def test_nothing_is_overwritten(run: Path, tmp_path: Path) -> None:
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "mine.txt").write_text("keep")
    with pytest.raises(InputError, match="the folder is not empty"):
        init_study(Wish(source=str(run), out=str(tmp_path / "study")))
    assert [p.name for p in (tmp_path / "study").iterdir()] == ["mine.txt"]


def test_a_pilot_proposes_raters_and_items_unless_they_are_given(tmp_path: Path) -> None:
    pilot = tmp_path / "pilot.csv"
    rng = np.random.default_rng(5)
    means = {"a": 2.0, "b": 3.0, "c": 4.0}
    rows = [
        (f"i{i}", s, f"r{r}", mean + rng.normal(0, 0.7))
        for i in range(10) for s, mean in means.items() for r in range(3)
    ]  # fmt: skip
    pl.DataFrame(rows, schema=["item", "system", "rater", "score"], orient="row").write_csv(pilot)
    table = tmp_path / "table.csv"
    table.write_text("item,system,text\n" + "".join(f"i{i},{s},x\n" for i in range(40) for s in means))
    begun = init_study(Wish(source=str(table), out=str(tmp_path / "a"), pilot=str(pilot), target=0.9))
    assert begun.proposal is not None
    best = begun.proposal.cheapest
    assert best is not None
    assert (begun.made.items, begun.raters) == (best.items, best.raters)
    assert best.value >= 0.9
    given = init_study(Wish(source=str(table), out=str(tmp_path / "b"), pilot=str(pilot), items=7, raters=5))
    assert (given.made.items, given.raters) == (7, 5)


def test_cells_of_one_study_are_stored_as_they_were_read(run: Path, tmp_path: Path) -> None:
    init_study(Wish(source=str(run), out=str(tmp_path / "study")))
    store = open_store(tmp_path / "study")
    with reading(store.engine) as connection:
        rows = connection.execute(select(cells).where(cells.c.kind == "main")).all()
    stored = {(r.item_id, r.system): plain_text(r.payload, "text") for r in rows}
    expected: list[Cell] = list(read_source(str(run)).cells)
    assert stored == {(c.item, c.system): c.fields["text"] for c in expected}
