"""A rater's way through the pages without script: every step, every form, and texts that are up to no good."""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("starlette")

from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from mojimeter.collect.database import Unavailable, reading
from mojimeter.collect.material import Cell, Item, Material
from mojimeter.collect.schema import checks, events, raters, sessions
from mojimeter.collect.study import Form, Scale, StudyConfig
from mojimeter.collect.web.marking import blocks, pattern_of, segments, show
from mojimeter.collect.web.pages import Pages
from mojimeter.collect.web.words import WORDS, places, problem_with, words_of
from tests.collect.small import SmallStudy, small_study
from tests.collect.web_support import Visitor, client_of, field

VALUES = {"scale": "4", "keeps": "no", "verdict": "right", "answer": "because of the rain"}


def stored(study: SmallStudy) -> list[tuple[int, str]]:
    """Position and value of every event, in order."""
    with reading(study.store().engine) as connection:
        return [tuple(r) for r in connection.execute(select(events.c.position, events.c.value).order_by("number"))]


def send_form(visitor: Visitor, position: int, value: str, **changed: str) -> object:
    page = visitor.client.get(f"/rate/{position}").text
    fields = {name: field(name, page) for name in ("csrf", "key", "cell", "shown_at")}
    return visitor.client.post(f"/rate/{position}", data=fields | {"value": value} | changed)


@pytest.mark.parametrize("form", ["scale", "keeps", "verdict", "answer"])
def test_a_whole_session_needs_no_script(tmp_path: Path, form: Form) -> None:
    study = small_study(tmp_path / "study", form, raters=1, items=2, completion_code="THANKS-42")
    with client_of(study) as client:
        visitor = Visitor(client, study.links[0].token)
        assert "Begin" in client.get(f"/s/{visitor.token}").text
        assert visitor.enter().headers["location"] == "/"
        assert client.get("/").headers["location"] == "/consent"
        assert client.get("/rate/1").headers["location"] == "/consent"
        assert "Do you agree?" in client.get("/consent").text
        assert visitor.post("/consent").headers["location"] == "/instructions"
        page = client.get("/instructions").text
        assert "<li>calmly</li>" in page
        assert "there are 4 items" in page
        assert client.get("/").headers["location"] == "/instructions"
        assert client.get("/rate").headers["location"] == "/rate/1"
        assert "Practice 1 of 1" in client.get("/rate/1").text
        assert client.get("/rate/2").headers["location"] == "/rate"  # practice comes first
        assert "That is what we expected." not in client.get("/rate/1").text
        answer = send_form(visitor, 1, VALUES[form])
        assert answer.headers["location"] == "/rate/1"
        page = client.get("/rate/1").text
        assert "That is what we expected." in page
        assert 'href="/rate/2"' in page
        for position in range(2, 6):
            page = client.get(f"/rate/{position}").text
            assert f"Item {position - 1} of 4" in page
            assert "How good is it?" in page
            following = "/done" if position == 5 else f"/rate/{position + 1}"
            assert send_form(visitor, position, VALUES[form]).headers["location"] == following
        assert "THANKS-42" in client.get("/done").text
        assert client.get("/").headers["location"] == "/done"
    assert stored(study) == [(k, VALUES[form]) for k in range(1, 6)]


def test_a_form_sent_twice_is_stored_once_and_a_changed_one_is_shown_again(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", raters=1, training=0)
    with client_of(study) as client:
        visitor = Visitor(client, study.links[0].token).agree()
        key = secrets.token_hex(16)
        assert send_form(visitor, 1, "2", key=key).headers["location"] == "/rate/2"
        assert send_form(visitor, 1, "2", key=key).headers["location"] == "/rate/2"
        answer = send_form(visitor, 1, "5", key=key)
        assert answer.status_code == 409
        assert "sent before with another value" in answer.text
        assert field("key", answer.text) != key
        assert re.search(r'value="2" checked', answer.text)
    assert stored(study) == [(1, "2")]


def test_going_back_shows_the_current_answer_and_changing_it_keeps_both(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", raters=1, training=0)
    with client_of(study) as client:
        visitor = Visitor(client, study.links[0].token).agree()
        send_form(visitor, 1, "2")
        assert re.search(r'value="2" checked', client.get("/rate/1").text)
        send_form(visitor, 1, "4")
        assert re.search(r'value="4" checked', client.get("/rate/1").text)
    assert stored(study) == [(1, "2"), (1, "4")]


@pytest.mark.parametrize("value", ["", "0", "6", "3.5", "three", "<b>", "1" * 2000])
def test_a_value_that_is_not_on_the_scale_is_refused(tmp_path: Path, value: str) -> None:
    study = small_study(tmp_path / "study", raters=1, training=0)
    with client_of(study) as client:
        visitor = Visitor(client, study.links[0].token).agree()
        assert send_form(visitor, 1, value).status_code == 422
        assert visitor.rate(1, value).status_code == 422
    assert stored(study) == []


def test_resuming_goes_to_the_first_item_without_an_answer_on_any_device(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", raters=1, training=0)
    with client_of(study) as one:
        visitor = Visitor(one, study.links[0].token).agree()
        send_form(visitor, 1, "2")
        send_form(visitor, 3, "2")
        assert visitor.post("/pause").headers["location"] == "/paused"
        assert "open your link again" in one.get("/paused").text
        assert one.get("/rate/2").status_code == 401
    with client_of(study) as other:
        Visitor(other, study.links[0].token).enter()
        assert other.get("/").headers["location"] == "/rate"
        assert other.get("/rate").headers["location"] == "/rate/2"


def test_done_is_shown_only_when_all_is_done(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", raters=1, items=1, training=0, completion_code="THANKS-42")
    with client_of(study) as client:
        visitor = Visitor(client, study.links[0].token).agree()
        send_form(visitor, 2, "2")
        answer = client.get("/done")
        assert answer.status_code == 303
        assert "THANKS-42" not in answer.text


def test_withdrawing_asks_first_and_is_for_good(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", raters=1, training=0)
    with client_of(study) as client:
        visitor = Visitor(client, study.links[0].token).agree()
        csrf, cell = visitor.csrf(), visitor.cell(1)
        assert "You need not give a reason" in client.get("/withdraw").text
        assert visitor.post("/withdraw").headers["location"] == "/withdrawn"
        assert "left out of all results" in client.get("/withdrawn").text
        assert client.get("/rate/1").headers["location"] == "/withdrawn"
        assert visitor.rate(1, "3", csrf=csrf, cell=cell).status_code == 410
        assert client.get("/cells?from=1&count=2").status_code == 410
        visitor.enter()
        assert client.get("/").headers["location"] == "/withdrawn"


def test_someone_who_does_not_agree_is_signed_out_and_rates_nothing(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", raters=1)
    with client_of(study) as client:
        visitor = Visitor(client, study.links[0].token)
        visitor.enter()
        assert visitor.rate(1, "3", cell="x").status_code == 403
        answer = visitor.post("/pause", declined="1")
        assert "no answers are collected" in client.get(answer.headers["location"]).text
        assert client.get("/").status_code == 401


def test_an_outside_id_is_passed_through_and_nothing_else_of_the_address_is(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", raters=1, external_id_parameter="PROLIFIC_PID")
    with client_of(study) as client:
        visitor = Visitor(client, study.links[0].token)
        page = client.get(f"/s/{visitor.token}?PROLIFIC_PID=5f3c&STUDY_ID=secret").text
        assert field("external_id", page) == "5f3c"
        assert "secret" not in page
        visitor.enter(external_id=field("external_id", page))
        assert "PROLIFIC_PID" in client.get("/consent").text
        visitor.post("/consent")
    with reading(study.store().engine) as connection:
        assert connection.execute(select(raters.c.external_id)).scalar() == "5f3c"


def test_nothing_of_who_does_not_agree_is_stored(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", raters=1, external_id_parameter="PROLIFIC_PID")
    fresh = study.store().state("r01")
    with client_of(study) as client:
        visitor = Visitor(client, study.links[0].token)
        visitor.enter(external_id="5f3c", check='{"colour": true}')
        assert not any("5f3c" in value for value in client.cookies.values())
        visitor.post("/pause", declined="1")
        assert dict(client.cookies) == {}
    with reading(study.store().engine) as connection:
        who = connection.execute(select(raters)).one()
        assert (who.external_id, who.consented) == (None, None)
        assert connection.execute(select(checks)).all() == []
        assert connection.execute(select(sessions)).all() == []
    assert study.store().state("r01") == fresh


def test_what_one_visitor_brought_is_not_kept_for_the_next_on_the_same_device(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", raters=2, external_id_parameter="PROLIFIC_PID")
    with client_of(study) as client:
        Visitor(client, study.links[0].token).enter(external_id="first", check='{"colour": true}')
        Visitor(client, study.links[1].token).agree()
    with reading(study.store().engine) as connection:
        assert connection.execute(select(raters.c.external_id)).scalars().all() == [None, None]
        assert connection.execute(select(checks)).all() == []


@pytest.mark.parametrize("cookie", ["", "x", "\xff", "bnVsbA==", "WzEsMl0=", "W251bGwsIHsiYSI6IHsiYiI6IDF9fV0="])
def test_a_cookie_of_the_entry_that_is_none_of_ours_is_as_none(tmp_path: Path, cookie: str) -> None:
    """null, [1,2] and [null, {"a": {"b": 1}}] among them."""
    study = small_study(tmp_path / "study", raters=1, external_id_parameter="PROLIFIC_PID")
    with client_of(study) as client:
        visitor = Visitor(client, study.links[0].token)
        visitor.enter(external_id="5f3c")
        (name,) = [name for name in client.cookies if name.startswith("entry")]
        others = "; ".join(f"{k}={v}" for k, v in client.cookies.items() if k != name)
        csrf = visitor.csrf()
        client.cookies.clear()
        sent = client.post(
            "/consent", data={"csrf": csrf}, headers={"cookie": f"{others}; {name}={cookie}".encode("latin-1")}
        )
        assert sent.headers["location"] == "/instructions"
    with reading(study.store().engine) as connection:
        assert connection.execute(select(raters.c.external_id)).scalar() is None


def test_who_comes_back_after_consent_brings_a_new_check(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", raters=1, external_id_parameter="PROLIFIC_PID")
    with client_of(study) as client:
        Visitor(client, study.links[0].token).agree()
    with client_of(study) as client:
        Visitor(client, study.links[0].token).enter(external_id="5f3c", check='{"boxes": true}')
    with reading(study.store().engine) as connection:
        assert connection.execute(select(raters.c.external_id)).scalar() == "5f3c"
        assert connection.execute(select(checks.c.result)).scalars().all() == [{"boxes": True}]


def test_the_check_of_emoji_is_stored_with_the_entry_and_a_broken_one_is_not(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", raters=1)
    with client_of(study) as client:
        visitor = Visitor(client, study.links[0].token)
        for text in ("", "{", "[]", '{"user_agent": "Mozilla/5.0 (X11; Linux)"}', json.dumps({"colour": True})):
            assert visitor.enter(check=text).status_code == 303
        assert client.post("/check", json={"colour": True}, headers={"x-csrf-token": visitor.csrf()}).status_code == 403
        visitor.post("/consent")
        csrf = visitor.csrf()
        sent = client.post("/check", json={"colour": False, "boxes": True}, headers={"x-csrf-token": csrf})
        assert sent.json() == {"saved": True}
        assert client.post("/check", json={"a": "B" * 99}, headers={"x-csrf-token": csrf}).status_code == 422
    with reading(study.store().engine) as connection:
        found = connection.execute(select(checks.c.result).order_by(checks.c.number)).scalars().all()
    assert found == [{"colour": True}, {"colour": False, "boxes": True}]


def test_the_next_items_come_ahead_but_none_of_the_main_part_before_practice_is_done(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", raters=1, items=6, training=1)
    with client_of(study) as client:
        visitor = Visitor(client, study.links[0].token).agree()
        answer = client.get("/cells?from=1&count=6").json()
        assert [c["position"] for c in answer["cells"]] == [1]
        visitor.rate(1, "5")
        answer = client.get("/cells?from=2&count=100").json()
        assert [c["position"] for c in answer["cells"]] == list(range(2, 10))
        assert answer["csrf"] == visitor.csrf()
        for wrong in ("from=0&count=2", "from=-1&count=2", "from=x", "", "from=99&count=2", "from=1e9&count=²"):
            assert len(client.get(f"/cells?{wrong}").json()["cells"]) <= 2


def test_a_database_that_cannot_store_is_503_and_says_that_nothing_was_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = small_study(tmp_path / "study", raters=1, training=0)
    store = study.store()

    def full(*_: object, **__: object) -> None:
        raise Unavailable("database or disk is full")

    with client_of(study, store=store) as client:
        visitor = Visitor(client, study.links[0].token).agree()
        cell = visitor.cell(1)
        monkeypatch.setattr(store, "rate", full)
        answer = visitor.rate(1, "3", cell=cell)
        assert answer.status_code == 503
        assert answer.headers["retry-after"]
        assert "saved" not in answer.json()
        assert "disk" not in answer.text
        page = send_form(visitor, 1, "3")
        assert page.status_code == 503
        assert "This was not saved" in page.text


HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{ 7*7 }} {% raw %} ${x}",
    "javascript:alert(1)",
    "\u202eevil\u202c \u2066x",
    "a\x07b",
    "line\r\nline\u2028line",
    "क्षत्रिय 👩‍👩‍👧 जीत",
    "\ud83d half",
    "‘’&amp;&lt;",
)


@pytest.mark.parametrize("form", ["scale", "keeps", "verdict", "answer"])
def test_texts_of_others_are_shown_and_cannot_do_anything(tmp_path: Path, form: Form) -> None:
    names = {
        "scale": ("post", "text"),
        "keeps": ("original", "text"),
        "verdict": ("context", "text", "question", "reference", "answer"),
        "answer": ("context", "text", "question"),
    }[form]
    cells = tuple(Cell(f"i{k}", "s", dict.fromkeys(names, text), lang="en") for k, text in enumerate(HOSTILE))
    material = Material(form, tuple(Item(f"i{k}", f"i{k}", "en") for k in range(len(HOSTILE))), cells, "hostile")
    study = small_study(tmp_path / "study", form, raters=1, material=material)
    with client_of(study) as client:
        Visitor(client, study.links[0].token).agree()
        pages = "".join(client.get(f"/rate/{k}").text for k in range(1, len(HOSTILE) + 1))
    assert "<script>alert" not in pages
    assert "<img" not in pages
    assert "&lt;script&gt;alert(1)" in pages
    assert "{{ 7*7 }}" in pages
    assert "[RLO]" in pages
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08\x0e-\x1f]", pages)
    assert "&amp;amp;&amp;lt;" in pages
    assert '<span class="e">👩‍👩‍👧</span>' in pages


def test_a_free_answer_comes_back_as_it_was_written(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", "answer", raters=1, training=0)
    written = '</textarea><script>alert(1)</script> "तेज़ बारिश" 😀'
    with client_of(study) as client:
        visitor = Visitor(client, study.links[0].token).agree()
        assert visitor.rate(1, written).status_code == 200
        page = client.get("/rate/1").text
    assert "&lt;/textarea&gt;&lt;script&gt;" in page
    assert "<script>alert" not in page
    assert stored(study) == [(1, written)]


@given(st.lists(st.tuples(st.text(), st.booleans())))
def test_marking_loses_no_letter_and_lets_no_tag_through(parts: list[tuple[str, bool]]) -> None:
    html = str(show(parts))
    tags = set(re.findall(r"<[^>]*>", html))
    assert tags <= {'<span class="e">', "</span>", '<span class="control" dir="ltr">'}
    plain = re.sub(r"<[^>]*>", "", html)
    for text, _ in parts:
        for letter in text:
            if letter.isalnum():
                assert letter in plain


@given(st.text(alphabet="ab 😀👍🏽❤️1️⃣"), st.sets(st.sampled_from(["😀", "👍🏽", "👍", "❤️", "1️⃣"])))
def test_segments_joined_are_the_text(text: str, emoji: set[str]) -> None:
    found = segments(text, pattern_of(emoji))
    assert "".join(part for part, _ in found) == text
    assert all(part in emoji for part, is_emoji in found if is_emoji)


def test_the_longest_emoji_is_taken() -> None:
    assert segments("👍🏽", pattern_of(["👍", "👍🏽"])) == [("👍🏽", True)]


def test_instructions_are_paragraphs_and_lists_and_nothing_else() -> None:
    assert blocks("One\nline.\r\n\r\nTwo:\n- a\n* b\nmore\n\n\n") == [
        ("p", ["One line."]),
        ("p", ["Two:"]),
        ("ul", ["a", "b more"]),
    ]
    assert blocks("") == []
    assert blocks("# no <b>heading</b>") == [("p", ["# no <b>heading</b>"])]


def test_every_string_can_be_said_in_the_studys_language_and_is_escaped(tmp_path: Path) -> None:
    words = {"save": "सहेजें <b>", "item_of": "{total} में से {n}", "yes": "हाँ"}
    study = small_study(tmp_path / "study", "keeps", raters=1, training=0, language="hi", words=words)
    with client_of(study) as client:
        Visitor(client, study.links[0].token).agree()
        page = client.get("/rate/1").text
    assert '<html lang="hi" dir="ltr">' in page
    assert "सहेजें &lt;b&gt;" in page
    assert "6 में से 1" in page
    assert "हाँ" in page


def test_a_study_in_urdu_runs_from_right_to_left(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", raters=1, language="ur")
    with client_of(study) as client:
        assert '<html lang="ur" dir="rtl">' in client.get("/s/x").text


def test_a_translation_that_cannot_be_filled_is_told() -> None:
    assert problem_with("item_of", "{total}: {n}") is None
    assert problem_with("save", "Sichern") is None
    assert "expected {n} and {total}" in (problem_with("item_of", "{m} of {total}") or "")
    assert "without its pair" in (problem_with("item_of", "{n of") or "")
    assert "no string" in (problem_with("nothing", "x") or "")
    assert problem_with("item_of", "{n.__class__}") is not None
    assert words_of({"save": "S", "unknown": "x"}) == dict(WORDS) | {"save": "S"}
    assert places("{a} {b}") == {"a", "b"}


CONFIG = StudyConfig(title="T", form="scale", question="Q")


@pytest.mark.parametrize(("points", "first", "last"), [(2, "1", "2"), (7, "1", "7"), (11, "1", "11")])
def test_a_scale_has_as_many_choices_as_points_and_its_ends_say_what_they_mean(
    points: int, first: str, last: str
) -> None:
    choices = Pages(replace(CONFIG, scale=Scale(points, "awful", "great")), [])._choices()
    assert len(choices) == points
    assert choices[0] == (first, first, "awful")
    assert choices[-1] == (last, last, "great")


def test_every_point_can_have_a_label_of_its_own() -> None:
    pages = Pages(replace(CONFIG, scale=Scale(3, labels=("no", "maybe", "yes"))), [])
    assert [hint for _, _, hint in pages._choices()] == ["no", "maybe", "yes"]


def test_keys_name_every_choice_that_has_one() -> None:
    def keys(form: Form, points: int = 5) -> dict[str, str]:
        return Pages(replace(CONFIG, form=form, scale=Scale(points)), [])._key_map()

    assert keys("scale") == {str(k): str(k) for k in range(1, 6)}
    assert keys("scale", 11) == {str(k): str(k) for k in range(1, 10)} | {"0": "10"}
    assert keys("keeps") == {"y": "yes", "n": "no"}
    assert keys("verdict") == {"r": "right", "w": "wrong"}
    assert keys("answer") == {}


def test_a_study_without_keys_offers_none(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", raters=1, training=0, keyboard=False)
    with client_of(study) as client:
        Visitor(client, study.links[0].token).agree()
        assert "keyboard" not in client.get("/instructions").text
        page = client.get("/rate/1").text
        assert 'data-keys=""' in page
        assert "use-keys" not in page


def test_names_of_emoji_are_shown_only_if_the_study_says_so(tmp_path: Path) -> None:
    for shown in (False, True):
        study = small_study(tmp_path / str(shown), raters=1, training=0, show_emoji_names=shown)
        with client_of(study) as client:
            Visitor(client, study.links[0].token).agree()
            pages = " ".join(client.get(f"/rate/{k}").text for k in range(1, 7))
        assert ("party popper" in pages) == shown


def test_what_is_not_there_and_what_is_not_done_here_are_pages_too(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", raters=1)
    with client_of(study) as client:
        for path, status in (("/nowhere", 404), ("/static/../app.py", 404), ("/static/app.py", 404)):
            answer = client.get(path)
            assert answer.status_code == status
            assert "There is no such page." in answer.text
        assert client.post("/done").status_code == 405
        assert client.put("/ratings").status_code == 405
        for nowhere in ("x", "99999999999999999999"):
            assert client.get(f"/rate/{nowhere}").status_code == 401  # nobody is signed in
        Visitor(client, study.links[0].token).agree()
        for nowhere in ("x", "99999999999999999999"):
            answer = client.get(f"/rate/{nowhere}")
            assert answer.status_code == 404
            assert "There is no such page." in answer.text


def test_files_of_ours_are_sent_once(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", raters=1)
    with client_of(study) as client:
        for path, kind in (
            ("/static/style.css", "text/css"),
            ("/static/rate.js", "text/javascript"),
            ("/font.woff2", "font/"),
        ):
            first = client.get(path)
            assert first.headers["content-type"].startswith(kind)
            again = client.get(path, headers={"if-none-match": first.headers["etag"]})
            assert (again.status_code, again.content) == (304, b"")
            plain = client.get(path, headers={"accept-encoding": "identity"})
            assert "content-encoding" not in plain.headers
            assert plain.content == first.content
