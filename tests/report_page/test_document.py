"""The page document: what each kind of run gives, counted by hand; what is refused; what never leaves the machine."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from mojimeter import emoji
from mojimeter.errors import InputError
from mojimeter.models.calls import Call, CallLedger
from mojimeter.report.export import to_latex, to_markdown
from mojimeter.report.page.document import read_report
from mojimeter.report.page.options import ReportOptions
from tests.report_page.small_runs import same_labels, write_pairs, write_recommendation

POSTS = [
    {"id": "p1", "text": "great day 🎉", "author": "ann", "lang": "en"},
    {"id": "p2", "text": "oh no 😢😢", "author": "ben", "lang": "en"},
    {"id": "p3", "text": "ठीक है 👍🏽", "author": "chitra", "lang": "hi"},
    {"id": "p4", "text": "plain words", "author": "chitra", "lang": "hi"},
]
REPLIES: dict[str, list[str | None]] = {
    "baseline/none": ["", "", "", ""],
    "maker/a": ["🎉🎂🥳", "😢", "👍 fine", "🙂🙂🙂"],
    "other/b": ["🎂🎂🎂", None, "👍👍👍", "😂😂😂"],
}
LABELS = {
    "maker/judge": {
        "gold": same_labels("positive", "negative", "neutral", "neutral"),
        "baseline/none": same_labels("neutral", "negative", "neutral", "neutral"),
        "maker/a": same_labels("positive", "negative", "positive", None),
        "other/b": same_labels("positive", "positive", "positive", "positive"),
    }
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_recommendation(tmp_path_factory.mktemp("runs") / "small", POSTS, REPLIES, LABELS)


@pytest.fixture(scope="module")
def document(written: Path) -> dict[str, Any]:
    """The report on the small run; read by tests that change nothing."""
    return read_report([written])


@pytest.fixture
def run(written: Path, tmp_path: Path) -> Path:
    """A copy of the small run, to be changed."""
    return Path(shutil.copytree(written, tmp_path / "small"))


def one(*paths: Path, **options: Any) -> dict[str, Any]:
    """The first run of the report on these paths."""
    runs: list[dict[str, Any]] = read_report(paths, options=ReportOptions(**options))["runs"]
    return runs[0]


def test_items_hold_every_emoji_of_post_and_systems_by_its_place_in_the_list(document: dict[str, Any]) -> None:
    items, strings = document["runs"][0]["items"], document["emoji"]["strings"]
    assert items["id"] == ["p1", "p2", "p3", "p4"]
    assert items["text"][0] == "great day 🎉"
    assert [[strings[i] for i in gold] for gold in items["gold"]] == [["🎉"], ["😢", "😢"], ["👍🏽"], []]
    given = items["systems"]["maker/a"]["emoji"]
    assert [[strings[i] for i in one] for one in given] == [["🎉", "🎂", "🥳"], ["😢"], ["👍"], ["🙂", "🙂", "🙂"]]


def test_a_reply_is_shown_only_where_it_is_not_just_its_emoji(document: dict[str, Any]) -> None:
    assert document["runs"][0]["items"]["systems"]["maker/a"]["reply"] == {"2": "👍 fine"}


def test_flags_and_failures_of_replies_stand_at_their_items(document: dict[str, Any]) -> None:
    systems = document["runs"][0]["items"]["systems"]
    # three emoji were asked for
    assert systems["maker/a"]["flags"] == {"1": ["wrong_count"], "2": ["extra_text", "wrong_count"], "3": ["repeated"]}
    assert systems["other/b"]["emoji"][1] is None
    assert systems["other/b"]["error"] == {"1": "not asked yet"}


def test_labels_are_one_character_an_item(document: dict[str, Any]) -> None:
    found = document["runs"][0]
    assert found["tasks"] == {"sentiment": {"labels": ["positive", "negative", "neutral"], "off_list": []}}
    assert found["items"]["labels"]["maker/judge"] == {
        "gold": {"sentiment": "0122"},
        "baseline/none": {"sentiment": "2122"},
        "maker/a": {"sentiment": "010?"},  # the last could not be read
        "other/b": {"sentiment": "0000"},
    }


def test_a_label_off_the_list_is_shown_after_those_on_it_and_said_to_be_off(tmp_path: Path) -> None:
    labels = {"j": {**LABELS["maker/judge"], "maker/a": same_labels("meh", "negative", "meh", "neutral")}}
    found = one(write_recommendation(tmp_path / "r", POSTS, REPLIES, labels))
    assert found["tasks"]["sentiment"] == {"labels": ["positive", "negative", "neutral", "meh"], "off_list": ["meh"]}
    assert found["items"]["labels"]["j"]["maker/a"]["sentiment"] == "3132"


def test_where_systems_disagree_is_the_share_of_pairs_whose_labels_differ(document: dict[str, Any]) -> None:
    items = document["runs"][0]["items"]
    # without the text alone two systems are left, so each item has one pair: labels p/p, n/p, p/p, unread/p
    assert items["disagreement_of"] == "labels"
    assert items["disagreement"] == [0.0, 1.0, 0.0, 1.0]


def test_where_emoji_mattered_is_where_the_text_alone_has_another_label(document: dict[str, Any]) -> None:
    # positive and neutral, then three times the same
    assert document["runs"][0]["items"]["mattered"] == [1.0, 0.0, 0.0, 0.0]


def test_without_labels_systems_disagree_where_their_emoji_differ(tmp_path: Path) -> None:
    run = write_recommendation(tmp_path / "r", POSTS, REPLIES, LABELS, scored=False)
    (run / "labels.jsonl").unlink()
    items = one(run)["items"]
    assert items["disagreement_of"] == "emoji"
    # the second post has one reply only; 👍 and 👍 are alike as sets, whatever their number
    assert items["disagreement"] == [1.0, None, 0.0, 1.0]
    assert items["mattered"] == [None] * 4


def test_the_first_slice_is_the_document(document: dict[str, Any]) -> None:
    found = document["runs"][0]
    whole = found["slices"][0]
    assert (whole["lang"], whole["group"], whole["posts"], whole["authors"]) == (None, None, 4, 3)
    for name, scores in found["document"]["systems"].items():
        shown = whole["systems"][name]
        for task in ("average", "average_unleaked", "sentiment", "gender"):
            assert shown[task] == scores["preservation"][task]
        assert shown["f1"] == scores["overlap"]["f1"]
        assert shown["group_f1"] == scores["category"]["group"]["f1"]
        assert (shown["kept"], shown["recovered"]) == (scores["kept"], scores["recovered"])
        assert shown["rank"] == list(scores["rank"])


def test_emoji_in_a_reply_are_counted_over_replies(document: dict[str, Any]) -> None:
    systems = {system["name"]: system for system in document["runs"][0]["systems"]}
    assert systems["maker/a"]["emoji_per_reply"]["value"] == pytest.approx((3 + 1 + 1 + 3) / 4)
    assert systems["other/b"]["emoji_per_reply"]["value"] == pytest.approx((3 + 0 + 3 + 3) / 4)
    assert systems["baseline/none"]["emoji_per_reply"]["value"] == 0.0


def test_a_slice_of_few_posts_is_refused_with_the_reason(document: dict[str, Any]) -> None:
    slices = {(s["lang"], s["group"]): s for s in document["runs"][0]["slices"]}
    assert "systems" not in slices["hi", None]
    assert slices["hi", None]["refused"].startswith("2 posts by 1 author: fewer than 10 posts or 5 authors")
    assert (None, "People & Body") in slices  # 👍🏽
    assert (None, "Flags") not in slices  # nobody used one


def test_systems_say_what_a_reader_must_know_of_them(document: dict[str, Any]) -> None:
    systems = {system["name"]: system for system in document["runs"][0]["systems"]}
    assert systems["baseline/none"]["baseline"]
    assert systems["other/b"]["failed"] == 1
    assert systems["maker/a"]["unparsed"] == 1


def test_judges_of_the_same_maker_stand_beside_a_system(tmp_path: Path) -> None:
    given = same_labels("positive", "negative", "neutral", "neutral")
    labels = {judge: dict.fromkeys(("gold", "gpt-4o", "gemma2-9b"), given) for judge in ("openai/gpt-4o-mini", "j")}
    replies = {"gpt-4o": ["🎉"] * 4, "gemma2-9b": ["🎉"] * 4}
    found = one(write_recommendation(tmp_path / "r", POSTS, replies, labels))
    kin = {system["name"]: system["kin"] for system in found["systems"]}
    assert kin == {"gpt-4o": ["openai/gpt-4o-mini"], "gemma2-9b": []}


def test_two_strategies_of_a_system_are_two_systems_of_one_base(tmp_path: Path) -> None:
    posts = POSTS[:2]
    labels = {"j": {"gold": same_labels("positive", "negative")}}
    more = {
        "outputs": [
            {"id": p["id"], "system": "m", "strategy": s, "epoch": 1, "reply": "🎉", "error": None}
            for p in posts
            for s in ("zeroshot", "fewshot")
        ],
        "labels": [
            {"id": p["id"], "system": "m", "strategy": s, "judge": "j", "epoch": 1, "sentiment": "positive"}
            for p in posts
            for s in ("zeroshot", "fewshot")
        ],
    }
    found = one(write_recommendation(tmp_path / "r", posts, {}, labels, more=more))
    assert {(s["name"], s["base"], s["strategy"]) for s in found["systems"]} == {
        ("m (fewshot)", "m", "fewshot"),
        ("m (zeroshot)", "m", "zeroshot"),
    }
    assert set(found["items"]["labels"]["j"]) >= {"m (fewshot)", "m (zeroshot)"}


def test_of_several_attempts_the_first_is_shown_and_the_others_beside_it(tmp_path: Path) -> None:
    posts = POSTS[:2]
    labels = {"j": {"gold": same_labels("positive", "negative"), "m": same_labels("positive", "positive")}}
    more = {"outputs": [{"id": "p1", "system": "m", "epoch": 2, "reply": "😂", "error": None}]}
    run = write_recommendation(tmp_path / "r", posts, {"m": ["🎉", "😢"]}, labels, more=more)
    document = read_report([run])
    found, strings = document["runs"][0], document["emoji"]["strings"]
    shown = found["items"]["systems"]["m"]
    assert [strings[i] for i in shown["emoji"][0]] == ["🎉"]
    assert {row: [[strings[i] for i in one] for one in tries] for row, tries in shown["other_attempts"].items()} == {
        "0": [["😂"]]
    }
    assert any("first attempt" in note for note in found["notes"])


def test_peoples_curve_is_that_of_the_posts_own_emoji(document: dict[str, Any]) -> None:
    found, strings = document["runs"][0], document["emoji"]["strings"]
    # 🎉 once, 😢 twice, 👍🏽 once: ties by code point
    assert [(strings[i], share) for i, share in found["curves"][""]] == [
        ("😢", 50.0),
        ("🎉", 25.0),
        ("👍🏽", 25.0),
    ]
    assert found["distinct"][""] == 3
    assert found["distinct"]["baseline/none"] == 0


def test_the_list_of_emoji_tells_names_groups_and_use(document: dict[str, Any]) -> None:
    listed = document["emoji"]
    place = listed["strings"].index("😂")
    # CLDR's name; Unicode's order of use of 2021 begins with 😂
    assert (listed["name"][place], listed["use"][place]) == ("face with tears of joy", 1)
    assert listed["group"][place] == "Smileys & Emotion"


def test_every_emoji_that_the_scanner_finds_in_the_document_is_in_the_list(run: Path, tmp_path: Path) -> None:
    accuracy = tmp_path / "accuracy.json"
    accuracy.write_text(
        json.dumps({"schema": 1, "truth": "🦄", "judges": {"🐙": {}}, "unusable": {}}), encoding="utf-8"
    )
    (run / "card.md").write_text("# Card 🧪\n", encoding="utf-8")
    document = read_report([run, accuracy], options=ReportOptions(title="Report ⭐"))
    assert set(emoji.find(json.dumps(document, ensure_ascii=False))) <= set(document["emoji"]["strings"])
    assert {"🦄", "🐙", "🧪", "⭐", "👍"} <= set(document["emoji"]["strings"])


def test_a_document_is_json_and_nothing_else(document: dict[str, Any]) -> None:
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_without_texts_no_word_of_a_post_or_reply_is_in_the_document(run: Path) -> None:
    document = read_report([run], options=ReportOptions(texts=False))
    written = json.dumps(document, ensure_ascii=False)
    assert document["texts"] is False
    assert "great day" not in written
    assert "fine" not in written
    assert document["runs"][0]["items"]["gold"]  # the emoji stay


def test_fewer_items_are_listed_on_request_and_scores_stay(run: Path) -> None:
    whole, cut = one(run), one(run, max_items=2)
    assert cut["items"]["n"] == 2
    assert cut["items"]["labels"]["maker/judge"]["other/b"]["sentiment"] == "00"
    assert cut["slices"] == whole["slices"]
    assert cut["notes"] == ["the list shows the first 2 of 4 posts; scores rest on all of them"]


def test_a_run_without_scores_is_shown_with_what_it_has(tmp_path: Path) -> None:
    run = write_recommendation(tmp_path / "r", POSTS, REPLIES, LABELS, scored=False)
    found = one(run)
    assert found["document"]["systems"]["other/b"]["posts"] == 3  # the reply that is not there is no failure yet
    assert found["notes"][0].startswith("this run is not finished")
    assert found["notes"][1] == "1 of 12 replies failed or have not been asked for; they are left out"
    assert found["items"]["systems"]["other/b"]["error"] == {"1": "not asked yet"}


def test_replies_that_the_judge_has_not_seen_do_not_count_yet(tmp_path: Path) -> None:
    labels = {"j": {name: rows for name, rows in LABELS["maker/judge"].items() if name != "other/b"}}
    found = one(write_recommendation(tmp_path / "r", POSTS, REPLIES, labels, scored=False))
    assert "other/b" not in found["document"]["systems"]
    assert "3 replies have no label by j yet; they are left out" in found["notes"]


def test_a_run_of_which_nothing_can_be_scored_still_shows_its_posts(tmp_path: Path) -> None:
    run = write_recommendation(tmp_path / "r", POSTS, REPLIES, LABELS, scored=False)
    (run / "outputs.jsonl").unlink()
    (run / "labels.jsonl").unlink()
    found = one(run)
    assert found["document"]["systems"] == {}
    assert found["items"]["n"] == 4
    assert any(note.startswith("nothing can be scored yet") for note in found["notes"])


def test_replies_that_came_after_the_scores_are_named(run: Path) -> None:
    with (run / "outputs.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({"id": "p1", "system": "late/c", "epoch": 1, "reply": "🎉"}) + "\n")
    assert any("late/c: replies but no scores" in note for note in one(run)["notes"])


def test_what_calls_took_is_summed_by_model_from_the_ledger(run: Path) -> None:
    ledger = CallLedger(run / "calls.jsonl")
    ledger.add(Call("k1", "maker/a", "recommend", "🎉", input_tokens=10, output_tokens=3, seconds=1.0, usd=0.002))
    ledger.add(Call("k2", "maker/a", "recommend", "🎂", input_tokens=20, output_tokens=5, seconds=3.0, usd=0.004))
    ledger.add(Call("k3", "other/b", "recommend", "🎂", input_tokens=20, output_tokens=5, seconds=2.0))
    ledger.add(Call("k4", "maker/judge", "judge", "positive", input_tokens=7, output_tokens=1, seconds=0.5, usd=0.001))
    ledger.close()
    found = one(run)
    systems = {system["name"]: system for system in found["systems"]}
    a, b, none = systems["maker/a"], systems["other/b"], systems["baseline/none"]
    assert (a["calls"], a["tokens"], a["seconds"]) == (2, {"input": 30, "output": 8}, {"total": 4.0, "per_call": 2.0})
    assert a["usd"] == pytest.approx(0.006)
    assert b["usd"] is None
    assert b["cost_reason"] == "not every call tells its price"
    assert (none["calls"], none["cost_reason"]) == (None, "no model was called")
    assert found["judge_costs"]["maker/judge"]["calls"] == 1


def test_without_a_ledger_the_outputs_own_tokens_and_seconds_count(tmp_path: Path) -> None:
    labels = {"j": {"gold": same_labels("positive"), "m": same_labels("positive")}}
    more = {"outputs": [{"id": "p1", "system": "m", "epoch": 1, "reply": "🎉", "tokens": 12, "seconds": 0.5}]}
    run = write_recommendation(tmp_path / "r", POSTS[:1], {}, labels, more=more)
    (system,) = one(run)["systems"]
    assert system["tokens"] == {"input": None, "output": 12.0}
    assert system["seconds"] == {"total": 0.5, "per_call": 0.5}
    assert system["usd"] is None


def test_votes_that_were_not_unanimous_are_read_back_from_the_ledger(tmp_path: Path) -> None:
    from mojimeter.judges.llm import LlmJudge

    judge = LlmJudge("maker/judge", votes=3, together=False)
    labels = {"maker/judge": {"gold": same_labels("positive", "negative"), "m": same_labels("negative", "negative")}}
    run = write_recommendation(
        tmp_path / "r",
        POSTS[:2],
        {"m": ["🎂", "😢"]},
        labels,
        settings={"votes": 3, "together": False},
        scored=True,
    )
    rows = pl.read_ndjson(run / "labels.jsonl").with_columns(votes=pl.lit(2), ties=pl.lit(None, dtype=pl.String))
    split = (pl.col("id") == "p1") & (pl.col("system") == "m")
    rows = rows.with_columns(votes=pl.when(split).then(3).otherwise(2), ties=pl.when(split).then(pl.lit("age,gender")))
    rows.write_ndjson(run / "labels.jsonl")
    ledger = CallLedger(run / "calls.jsonl")
    # what was judged: the plain text and the emoji of the reply
    said = {"sentiment": ["positive", "negative", "negative"], "emotion": ["fear", "fear"], "stance": ["none", "none"]}
    said |= {"age": ["teen", "adult", "child"], "gender": ["male", "huh", "female"]}
    for task, votes in said.items():
        for turn, vote in enumerate(votes):
            request = judge.request((task,), "great day 🎂", turn)
            ledger.add(Call(request.key, "maker/judge", "judge", vote))
    ledger.close()
    found = one(run)["items"]["votes"]["maker/judge"]
    assert (found["most"], found["unanimous"]) == (3, 2)
    assert found["split"] == {
        "m": {
            "0": {
                "votes": 3,
                "ties": ["age", "gender"],
                "cast": {
                    "sentiment": ["positive", "negative", "negative"],
                    "emotion": ["fear", "fear"],
                    "stance": ["none", "none"],
                    "age": ["teen", "adult", "child"],
                    "gender": ["male", None, "female"],
                },
            }
        }
    }


def test_labels_that_came_with_the_posts_are_shown_with_the_votes_behind_them(tmp_path: Path) -> None:
    posts = [{**POSTS[0], "sentiment": "positive", "votes_sentiment": "positive positive neutral"}, *POSTS[1:2]]
    labels = {"j": {"gold": same_labels("positive", "negative"), "m": same_labels("positive", "negative")}}
    items = one(write_recommendation(tmp_path / "r", posts, {"m": ["🎉", "😢"]}, labels))["items"]
    assert items["known"] == {"sentiment": ["positive", None]}
    assert items["known_votes"] == {"sentiment": [["positive", "positive", "neutral"], None]}


def test_the_card_in_the_folder_is_shown_and_that_of_the_starter_posts_for_those(run: Path, tmp_path: Path) -> None:
    assert one(run)["card"] is None
    (run / "card.md").write_text("# Data card: mine\n", encoding="utf-8")
    assert one(run)["card"] == "# Data card: mine\n"
    labels = {"j": {"gold": same_labels("positive"), "m": same_labels("positive")}}
    other = write_recommendation(
        tmp_path / "s", POSTS[:1], {"m": ["🎉"]}, labels, settings={"posts_file": "starter:test"}
    )
    assert str(one(other)["card"]).startswith("# Data card: starter posts")


def test_no_path_of_the_machine_and_no_key_reaches_the_document(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAKER_API_KEY", "sk-very-secret-1234")
    rows = pl.read_ndjson(run / "outputs.jsonl").with_columns(
        error=pl.when(pl.col("reply").is_null()).then(pl.lit(f"401 sk-very-secret-1234 in {run}/logs"))
    )
    rows.write_ndjson(run / "outputs.jsonl")
    study = tmp_path / "ratings.csv"
    study.write_text("item,system,rater,score\n" + _ratings(), encoding="utf-8")
    written = json.dumps(read_report([run, study]))
    assert str(tmp_path) not in written
    assert "sk-very-secret-1234" not in written
    assert "401 <MAKER_API_KEY> in small/logs" in written


def test_two_runs_of_one_name_get_two_names(run: Path, tmp_path: Path) -> None:
    other = write_recommendation(tmp_path / "again" / "small", POSTS, REPLIES, LABELS)
    document = read_report([run, other, run / "scores.json"])
    assert [(r["id"], r["name"]) for r in document["runs"]] == [
        ("r1", "small"),
        ("r2", "small (2)"),
        ("r3", "small (3)"),
    ]
    assert document["title"] == "small, small (2), small (3)"


def test_a_saved_document_shows_its_scores_and_says_what_it_cannot_show(run: Path, tmp_path: Path) -> None:
    saved = tmp_path / "scores-of-may.json"
    saved.write_bytes((run / "scores.json").read_bytes())
    found = one(saved)
    assert (found["name"], found["kind"], found["items"]) == ("scores-of-may", "recommendation", None)
    assert len(found["slices"]) == 1
    assert found["slices"][0]["systems"]["maker/a"]["f1"] == found["document"]["systems"]["maker/a"]["overlap"]["f1"]
    assert "give the run folder" in found["notes"][0]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", "{", "a.json, line 1: not JSON"),
        ("a.json", "[1]", "a.json: holds list, not a JSON object"),
        ("a.json", '{"schema": 1, "x": NaN}', "a.json: holds NaN, which is not a finite number"),
        ("a.json", '{"schema": 1, "x": -1e999}', "a.json: holds -1e999, which is not a finite number"),
        ("a.json", '{"schema": 1}', "a.json: not a document that can be shown; expected what one of these printed:"),
        ("a.json", '{"status": "partial", "schema": 1}', "give its folder"),
        (
            "a.json",
            '{"systems": {}, "ranked_by": "f1", "data": {}, "signature": "x"}',
            "a.json: not a document that mojimeter printed: field 'signature': value error, not a signature",
        ),
        ("a.txt", "hello", "a.txt: cannot tell what it is"),
        ("a.csv", "x,y\n1,2\n", "a.csv: no column 'item'; it has x, y"),
        ("a.jsonl", '{"item": 1, "rater": "r", "score": "high"}\n', "row 1, column 'score': 'high' is not a score"),
    ],
)
def test_what_cannot_be_shown_is_one_sentence_that_names_it(
    tmp_path: Path, name: str, content: str, message: str
) -> None:
    file = tmp_path / name
    file.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_report([file])
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_an_absent_path_and_a_folder_that_is_no_run_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere: no such file or folder; expected a run folder"):
        read_report([tmp_path / "nowhere"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="empty: not a run folder"):
        read_report([tmp_path / "empty"])
    with pytest.raises(InputError, match="nothing to report"):
        read_report([])


def test_a_run_whose_scores_are_of_another_form_is_named_with_the_field(run: Path) -> None:
    scores = json.loads((run / "scores.json").read_text(encoding="utf-8"))
    del scores["systems"]["maker/a"]["kept"]
    (run / "scores.json").write_text(json.dumps(scores), encoding="utf-8")
    with pytest.raises(InputError, match=r"scores.json: .* field 'systems.maker/a.kept' is missing"):
        read_report([run])


def test_tables_that_changed_after_they_were_scored_are_noted(run: Path) -> None:
    assert one(run)["notes"] == []
    rows = pl.read_ndjson(run / "labels.jsonl", infer_schema_length=None)
    turned = pl.when((pl.col("system") == "maker/a") & (pl.col("id") == "p1")).then(pl.lit("negative"))
    rows.with_columns(sentiment=turned.otherwise(pl.col("sentiment"))).write_ndjson(run / "labels.jsonl")
    assert any("tables have changed since they were scored (maker/a)" in note for note in one(run)["notes"])


def test_a_table_that_does_not_fit_the_run_is_named_with_its_folder(run: Path) -> None:
    rows = pl.read_ndjson(run / "labels.jsonl", infer_schema_length=None).with_columns(judge=pl.lit("someone else"))
    rows.write_ndjson(run / "labels.jsonl")
    with pytest.raises(InputError, match="small: no labels of judge 'maker/judge'"):
        one(run)


def test_a_setting_of_another_kind_is_named(tmp_path: Path) -> None:
    run = write_recommendation(tmp_path / "r", POSTS, REPLIES, LABELS, scored=False)
    text = (run / "settings.toml").read_text(encoding="utf-8")
    (run / "settings.toml").write_text(text.replace("draws = 200", 'draws = "many"'), encoding="utf-8")
    with pytest.raises(InputError, match="draws is 'many'; expected a value such as 2000"):
        one(run)


def _damaged(document: Any, draw: Any) -> Any:
    """The document with one node, somewhere, gone or of another kind."""
    keys = list(document) if isinstance(document, dict) else list(range(len(document)))
    key = draw(st.sampled_from(keys))
    inner = document[key]
    copy = document.copy()
    if isinstance(inner, dict | list) and inner and draw(st.integers(0, 4)):
        copy[key] = _damaged(inner, draw)
    elif draw(st.booleans()):
        del copy[key]
    else:
        copy[key] = draw(st.sampled_from([None, True, -1, 2.5, "", "x\ud800", [], [1], {}, {"a": None}]))
    return copy


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory, written: Path) -> tuple[dict[str, Any], ...]:
    """A document of each kind that is checked."""
    folder = tmp_path_factory.mktemp("saved")
    pairs = write_pairs(folder / "pairs", [_pair(n) for n in (1, 2, 3)], ANSWERS, DIFFERENCES)
    (folder / "r.csv").write_text("item,system,rater,score\n" + _ratings(), encoding="utf-8")
    study = json.loads(json.dumps(read_report([folder / "r.csv"])["runs"][0]["document"]))
    scores = [json.loads((path / "scores.json").read_text(encoding="utf-8")) for path in (written, pairs)]
    judge = {"schema": 1, "first": "a", "second": "b", "tasks": {"age": {"kappa": {"value": 0.5, "ci": [0.4, 0.6]}}}}
    return (*scores, study, judge)


@given(st.data())
@settings(max_examples=50, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
def test_a_damaged_document_is_refused_in_one_sentence_or_shown(saved: tuple[dict[str, Any], ...], data: Any) -> None:
    document = _damaged(data.draw(st.sampled_from(saved)), data.draw)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "damaged.json"
        file.write_text(json.dumps(document), encoding="utf-8")
        report = None
        with suppress(InputError):
            report = read_report([file])
        if report is None:
            with pytest.raises(InputError, match=r"^[^\n]*damaged.json[^\n]*$"):
                read_report([file])
            return
    for text in (json.dumps(report, ensure_ascii=False), to_latex(report), to_markdown(report)):
        text.encode("utf-8")


def test_judge_files_are_judges_results_only(run: Path, tmp_path: Path) -> None:
    results = tmp_path / "agreement.json"
    results.write_text(json.dumps({"schema": 1, "first": "a", "second": "b", "tasks": {}}), encoding="utf-8")
    document = read_report([run], judge_files=[results])
    assert (document["runs"][1]["kind"], document["runs"][1]["command"]) == ("judge", "judge agreement")
    with pytest.raises(InputError, match="this is a recommendation"):
        read_report([run], judge_files=[run / "scores.json"])


def test_lone_surrogates_in_a_saved_document_become_replacement_characters(tmp_path: Path) -> None:
    results = tmp_path / "agreement.json"
    results.write_text('{"schema": 1, "first": "\\ud83d", "second": "b", "tasks": {}}', encoding="utf-8")
    found = one(results)
    assert found["document"]["first"] == "\ufffd"


# benchmark B ---------------------------------------------------------------------------------------------------------


def _pair(number: int, lang: str = "en", category: str = "tone") -> dict[str, Any]:
    return {
        "id": f"q{number}",
        "category": category,
        "text": f"ok {number} 💀",
        "emoji": "💀",
        "question": "Why the 💀?",
        "context_1": "A funeral.",
        "answer_1": "Someone died.",
        "context_2": "A joke.",
        "answer_2": "It is funny.",
        "reading_1": "literal",
        "reading_2": "figurative",
        "lang": lang,
    }


def _answer(pair: str, condition: str, answer: str | None, verdict: str | None, reading: str | None) -> dict[str, Any]:
    return {
        "id": pair,
        "system": "maker/a",
        "condition": condition,
        "answer": answer,
        "verdict": verdict,
        "reading": reading,
    }


ANSWERS = [
    _answer("q1", "1", "Someone died.", "right", "1"),
    _answer("q1", "2", "It is sad.", "wrong", "neither"),
    _answer("q1", "none", "Ha.", None, "2"),
    _answer("q2", "1", "", None, None),  # empty: wrong, neither reading
    _answer("q2", "2", "Funny!", None, "2"),  # the verdict follows from the reading
    _answer("q2", "none", "Hm.", None, None),
    _answer("q3", "1", "Dead.", "who knows", None),  # a verdict that cannot be read
]
DIFFERENCES = [
    {"id": i, "system": "maker/a", "pair": pair, "order": order, "differs": differs}
    for i, pair, order, differs in [
        ("q1", "1-2", "ab", True),
        ("q1", "1-2", "ba", True),
        ("q2", "1-2", "ab", True),
        ("q2", "1-2", "ba", False),
        ("q1", "1-none", "ab", True),  # one order only
    ]
]


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    return write_pairs(tmp_path / "pairs", [_pair(n) for n in (1, 2, 3)], ANSWERS, DIFFERENCES)


def test_answers_verdicts_readings_and_differences_stand_at_their_pairs(pairs: Path) -> None:
    items = one(pairs)["items"]
    assert items["context_1"] == ["A funeral."] * 3
    found = items["systems"]["maker/a"]
    assert found["answer"]["1"] == ["Someone died.", "", "Dead."]
    assert found["answer"]["2"] == ["It is sad.", "Funny!", None]
    assert found["verdict"] == {"1": "rw?", "2": "wr."}
    assert found["reading"] == {"1": "1n.", "2": "n2.", "none": "2.."}
    assert found["differs"] == {"1-2": "tf.", "1-none": "?..", "2-none": "..."}


def test_letters_of_verdicts_add_up_to_the_scores(pairs: Path) -> None:
    found = one(pairs)
    verdict = found["items"]["systems"]["maker/a"]["verdict"]
    letters = verdict["1"] + verdict["2"]
    share = letters.count("r") / (letters.count("r") + letters.count("w"))
    assert found["document"]["systems"]["maker/a"]["acc_query"]["value"] == pytest.approx(share) == pytest.approx(0.5)


def test_pairs_are_sliced_by_language_and_kind_as_the_document_scores_them(tmp_path: Path) -> None:
    rows = [_pair(n, "en" if n % 2 else "hi", "tone" if n < 13 else "community") for n in range(1, 25)]
    answers = [
        _answer(row["id"], k, f"said {row['id']}", "right" if (int(row["id"][1:]) + int(k)) % 3 else "wrong", None)
        for row in rows
        for k in "12"
    ]
    found = one(write_pairs(tmp_path / "r", rows, answers))
    slices = {(s["lang"], s["category"]): s for s in found["slices"]}
    scores = found["document"]["systems"]["maker/a"]
    assert slices[None, None]["systems"]["maker/a"]["acc_pair"] == scores["acc_pair"]
    for lang in ("en", "hi"):
        assert slices[lang, None]["systems"]["maker/a"]["acc_pair"] == scores["by_lang"][lang]["acc_pair"]
    assert slices[None, "tone"]["systems"]["maker/a"]["bias"] == scores["by_category"]["tone"]["bias"]
    assert slices["en", "tone"]["refused"] == "6 pairs: fewer than 10 say nothing of a system"


def test_where_context_mattered_is_where_the_two_answers_differ(pairs: Path) -> None:
    # q1 both orders say so, q2 only one; of q3 neither differences nor readings are known
    assert one(pairs)["items"]["mattered"] == [1.0, 0.0, None]


def test_pairs_without_scores_are_scored_as_far_as_they_go(tmp_path: Path) -> None:
    answers = [*ANSWERS, _answer("q3", "2", None, None, None)]
    run = write_pairs(tmp_path / "r", [_pair(n) for n in (1, 2, 3)], answers, scored=False)
    found = one(run)
    assert found["document"]["systems"]["maker/a"]["pairs"] == 3
    # the empty answer of q2 is null in the file, as a call that failed is
    assert any("answers failed or have not been asked for" in note for note in found["notes"])


def test_pairs_without_texts_keep_their_verdicts(pairs: Path) -> None:
    document = read_report([pairs], options=ReportOptions(texts=False))
    written = json.dumps(document)
    assert "funeral" not in written
    assert "Someone died" not in written
    assert document["runs"][0]["items"]["systems"]["maker/a"]["verdict"]["1"] == "rw?"


def test_a_verifier_of_the_same_maker_stands_beside_a_system(tmp_path: Path) -> None:
    run = write_pairs(tmp_path / "r", [_pair(n) for n in (1, 2, 3)], ANSWERS, scored=False)
    text = (run / "settings.toml").read_text(encoding="utf-8")
    (run / "settings.toml").write_text(text.replace('"embedded"', '"openai/gpt-4o"'), encoding="utf-8")
    rows = pl.read_ndjson(run / "answers.jsonl").with_columns(system=pl.lit("openai/gpt-4o-mini"))
    rows.write_ndjson(run / "answers.jsonl")
    (system,) = one(run)["systems"]
    assert system["kin"] == ["openai/gpt-4o"]


def test_a_saved_document_of_pairs_has_its_languages_and_kinds(pairs: Path) -> None:
    found = one(pairs / "scores.json")
    assert [(s["lang"], s["category"]) for s in found["slices"]] == [(None, None), ("en", None), (None, "tone")]
    assert found["items"] is None


# rating studies ------------------------------------------------------------------------------------------------------

SCORES = {("p1", "maker/a"): (5, 4), ("p1", "other/b"): (3, 3), ("p2", "maker/a"): (4, 2), ("p2", "other/b"): (1, 2)}


def _ratings() -> str:
    rows = [
        f"{item},{system},{rater},{score}\n"
        for (item, system), both in SCORES.items()
        for rater, score in zip(("Ann", "Ben"), both, strict=True)
    ]
    return "".join(rows)


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    file = tmp_path / "people.csv"
    file.write_text("item,system,rater,score\n" + _ratings(), encoding="utf-8")
    return file


def test_a_table_of_ratings_is_studied_and_listed(ratings: Path) -> None:
    found = one(ratings)
    assert found["kind"] == "rating_study"
    assert found["study"]["sentence"] == found["document"]["sentence"]
    assert found["items"]["scores"]["maker/a"] == {"Ann": [5.0, 4.0], "Ben": [4.0, 2.0]}
    assert [row["source"] for row in found["study"]["variance"]][:3] == ["item", "system", "rater"]
    assert found["study"]["raters_now"] == 2
    assert {row["raters"] for row in found["study"]["g_curve"]} >= {1, 2, 100}


def test_a_raters_mean_has_an_interval_over_items(ratings: Path) -> None:
    ann = one(ratings)["study"]["raters"][0]
    # Ann's items have means 4 and 2.5: their mean 3.25, standard error 0.75; t of one degree of freedom is 12.706
    assert ann["mean"]["value"] == pytest.approx(3.25)
    assert ann["mean"]["ci"] == pytest.approx([3.25 - 12.7062 * 0.75, 3.25 + 12.7062 * 0.75], rel=1e-4)


def test_without_a_column_of_lengths_the_study_says_why_there_is_nothing_on_length(ratings: Path) -> None:
    study = one(ratings)["study"]
    assert study["length"] is None
    assert study["length_reason"].startswith("the table has no column that says how long outputs are")


def test_a_column_of_lengths_gives_slopes_and_a_ranking_on_equal_lengths(tmp_path: Path) -> None:
    rows = ["item,system,rater,score,words\n"]
    for item in range(6):
        for rater in "AB":
            # b is longer and rated higher by what its length gives; on items 4 and 5 both are of equal length
            longer = 5 if item < 4 else 0
            rows.append(f"{item},a,{rater},{3 + item % 2},10\n")
            rows.append(f"{item},b,{rater},{3 + item % 2 + longer / 5 - (item == 5)},{10 + longer}\n")
    file = tmp_path / "r.csv"
    file.write_text("".join(rows), encoding="utf-8")
    length = one(file)["study"]["length"]["columns"]["words"]
    ranking = {row["system"]: row for row in length["matched_ranking"]}
    # two items of equal length: a tie and a win for a, so a wins (0.5 + 1) / 2; by the raw mean b is first
    assert ranking["a"]["win_rate"]["value"] == pytest.approx(0.75)
    assert (ranking["a"]["rank"], ranking["a"]["raw_rank"], ranking["b"]["raw_rank"]) == (1, 2, 1)
    assert length["matched"]["pairs"] == 2


def test_ratings_of_the_same_items_and_systems_stand_beside_the_posts(run: Path, ratings: Path) -> None:
    people = one(run, ratings)["items"]["people"]
    assert people["maker/a"] == {"0": [["Ann", 5.0], ["Ben", 4.0]], "1": [["Ann", 4.0], ["Ben", 2.0]]}
    assert set(people) == {"maker/a", "other/b"}


def test_columns_of_a_table_of_ratings_can_be_mapped_whatever_else_is_reported(run: Path, tmp_path: Path) -> None:
    file = tmp_path / "r.csv"
    file.write_text("doc,system,rater,score\n" + _ratings(), encoding="utf-8")
    document = read_report([run, file], options=ReportOptions(mapping={"item": "doc"}))
    assert document["runs"][1]["items"]["id"] == ["p1", "p2"]


def test_a_mapping_that_no_table_can_use_is_an_error(run: Path) -> None:
    with pytest.raises(InputError, match="--map item=doc: no table of ratings has a column 'doc'"):
        read_report([run], options=ReportOptions(mapping={"item": "doc"}))


def test_several_judges_of_a_run_are_raters_with_the_panels_verdict(tmp_path: Path) -> None:
    second = {
        "gold": same_labels("positive", "negative", "positive", "neutral"),
        "baseline/none": same_labels("neutral", "negative", "neutral", "neutral"),
        "maker/a": same_labels("positive", "positive", "positive", "neutral"),
        "other/b": same_labels("negative", "positive", "positive", "neutral"),
    }
    run = write_recommendation(tmp_path / "r", POSTS, REPLIES, {**LABELS, "other/judge": second})
    document = read_report([run])
    main, study = document["runs"]
    assert (study["name"], study["of"], study["kind"]) == ("r: judges as raters", "r", "rating_study")
    assert study["study"]["sentence"] == main["document"]["panel"]["sentence"]
    assert [row["rater"] for row in study["study"]["raters"]] == ["maker/judge", "other/judge"]
    # by hand: the first judge keeps the labels of p1 and p2 for maker/a, in percent
    assert study["items"]["scores"]["maker/a"]["maker/judge"] == [100.0, 100.0, 0.0, 0.0]
    assert "not in this comparison: baseline/none" in study["notes"]
    assert main["items"]["people"] == {}  # judges are no people


def test_a_reply_that_a_judge_left_unlabelled_is_not_kept_as_in_the_panel(tmp_path: Path) -> None:
    second = {
        "gold": same_labels("positive", "negative", "positive", "neutral"),
        "other/b": same_labels("negative", "positive", "positive", "neutral"),
    }
    by_hand = [  # no row for p4
        {"id": f"p{k}", "system": "maker/a", "judge": "other/judge", "epoch": 1, "sentiment": "positive"}
        for k in (1, 2, 3)
    ]
    judges = {**LABELS, "other/judge": second}
    main, study = read_report([write_recommendation(tmp_path / "r", POSTS, REPLIES, judges, more={"labels": by_hand})])[
        "runs"
    ]
    assert study["items"]["scores"]["maker/a"]["other/judge"] == [100.0, 0.0, 100.0, 0.0]
    panel = main["document"]["panel"]
    assert study["study"]["sentence"] == panel["sentence"]
    means = {row["system"]: row["mean"]["value"] for row in study["study"]["ranking"]}
    assert means == pytest.approx({row["system"]: row["mean"]["value"] for row in panel["ranking"]})


def test_a_saved_study_of_several_scores_is_a_study_of_each(tmp_path: Path, ratings: Path) -> None:
    from mojimeter.ratings.summary import open_study, summarise

    document = summarise(open_study(ratings))
    file = tmp_path / "saved.json"
    file.write_text(json.dumps({"schema": 1, "scores": {"fluency": document, "sense": document}}), encoding="utf-8")
    found = read_report([file])["runs"]
    assert [r["name"] for r in found] == ["saved: fluency", "saved: sense"]
    assert found[0]["document"]["source"] == "people.csv"  # not where it lay


def test_the_shared_study_of_summaries_is_reported_with_its_published_means(shared: Path) -> None:
    found = one(shared / "data" / "rating_studies" / "summeval_expert_coherence_long.csv")
    means = {row["rater"]: row["mean"]["value"] for row in found["study"]["raters"]}
    frame = pl.read_csv(shared / "data" / "rating_studies" / "summeval_expert_coherence_long.csv")
    for rater, mean in frame.group_by("rater").agg(pl.col("score").mean()).iter_rows():
        assert means[rater] == pytest.approx(mean)
    assert found["items"]["n"] == 100


def test_a_model_or_judge_that_is_a_file_of_this_machine_is_called_by_its_last_part(tmp_path: Path) -> None:
    judge, near, far = "student//home/me/mine.npz", "local//home/me/a/m.gguf", "local//home/me/b/m.gguf"
    labels = {name: same_labels(*["positive", "negative"] * 6) for name in ("gold", near, far)}
    posts = [{"id": f"p{i}", "text": f"kept /home/me in a text {i} 🎉", "author": f"a{i}"} for i in range(12)]
    run = write_recommendation(tmp_path / "r", posts, {near: ["🎉"] * 12, far: ["😢"] * 12}, {judge: labels})
    found = one(run)
    names = ["local/m.gguf", "local/m.gguf (2)"]
    assert sorted(system["name"] for system in found["systems"]) == names
    for part in (found["document"]["systems"], found["items"]["systems"], found["slices"][0]["systems"]):
        assert sorted(part) == names
    assert list(found["items"]["labels"]) == ["student/mine.npz"]
    assert "|judge:student/mine.npz|" in found["signature"]
    assert found["judges"][0]["judge"] == "student/mine.npz"
    texts = found["items"].pop("text")
    assert texts[0] == "kept /home/me in a text 0 🎉"  # what people wrote is shown as they wrote it
    assert "/home/me" not in json.dumps(found)


def test_labels_of_two_strategies_are_not_shown_at_replies_that_name_none_as_they_do_not_count(tmp_path: Path) -> None:
    labels = {"j": {"gold": same_labels(*["positive"] * 4)}}
    added = [
        {"id": p["id"], "system": "m", "strategy": s, "judge": "j", "epoch": 1, "sentiment": "positive"}
        for s in ("zeroshot", "fewshot")
        for p in POSTS
    ]
    run = write_recommendation(tmp_path / "r", POSTS, {"m": ["🎉"] * 4}, labels, more={"labels": added})
    (found,) = read_report([run])["runs"]
    assert found["slices"][0]["systems"]["m"]["sentiment"]["value"] is None
    assert list(found["items"]["labels"]["j"]) == ["gold"]
