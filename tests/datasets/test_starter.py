"""The starter set holds what its card promises: sizes, languages, labels, parts, variety, agreement."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from importlib.resources import files
from itertools import combinations

import polars as pl
import pytest
from sklearn.metrics import cohen_kappa_score

from mojimeter import emoji
from mojimeter.datasets.readers import read_posts
from mojimeter.datasets.starter import PARTS, read_starter, starter_facts, starter_labels
from mojimeter.errors import InputError
from mojimeter.judges.labels import LABELS

FOLDER = files("mojimeter.datasets") / "starter"


@pytest.fixture(scope="module")
def posts() -> pl.DataFrame:
    return read_starter()


def test_there_are_posts_enough_in_each_language(posts: pl.DataFrame) -> None:
    count = Counter(posts["lang"])
    assert posts.height >= 1200
    assert count["en"] >= 800
    assert count["hi"] >= 200
    assert count["bn"] >= 200
    assert count["hi-en"] > 0
    assert count["bn-en"] > 0


@pytest.mark.parametrize(("lang", "script"), [("hi", "[\u0900-\u097f]"), ("bn", "[\u0980-\u09ff]")])
def test_hindi_is_in_devanagari_and_bangla_in_its_own_script(posts: pl.DataFrame, lang: str, script: str) -> None:
    texts = posts.filter(pl.col("lang") == lang)["text"]
    with_letters = [text for text in texts if any(character.isalpha() for character in text)]
    assert sum(bool(re.search(script, text)) for text in with_letters) == len(with_letters)


def test_every_label_of_every_task_is_there_at_least_sixty_times(posts: pl.DataFrame) -> None:
    for task, labels in LABELS.items():
        count = Counter(posts[task])
        assert set(count) == set(labels)
        assert min(count.values()) >= 60, (task, count)


def test_posts_have_none_to_five_emoji_of_at_least_250_kinds(posts: pl.DataFrame) -> None:
    found = [emoji.find(text) for text in posts["text"]]
    assert max(map(len, found)) <= 5
    assert min(map(len, found)) == 0
    assert len({emoji.key(one, "tone") for them in found for one in them}) >= 250


def test_no_row_of_four_words_is_in_more_than_half_a_percent_of_the_posts(posts: pl.DataFrame) -> None:
    holders: defaultdict[tuple[str, ...], set[int]] = defaultdict(set)
    for number, text in enumerate(posts["text"]):
        words = emoji.strip(text).lower().split()
        for start in range(len(words) - 3):
            holders[tuple(words[start : start + 4])].add(number)
    assert max(map(len, holders.values())) <= 0.005 * posts.height


def test_no_two_posts_are_nearly_the_same(posts: pl.DataFrame) -> None:
    # pairs that share most of their words; unlike the script, which compares rows of letters
    bags = [frozenset(re.findall(r"[^\s.,!?।]+", emoji.strip(text).lower())) for text in posts["text"]]
    holders: defaultdict[str, list[int]] = defaultdict(list)
    for number, bag in enumerate(bags):
        if len(bag) >= 4:
            for word in bag:
                holders[word].append(number)
    pairs = {pair for them in holders.values() if len(them) < 60 for pair in combinations(them, 2)}
    near = [(a, b) for a, b in pairs if len(bags[a] & bags[b]) / len(bags[a] | bags[b]) > 0.8]
    assert not near, [posts["text"][place] for pair in near for place in pair]
    assert posts["text"].n_unique() == posts.height


def test_ids_are_unique_and_every_field_is_filled(posts: pl.DataFrame) -> None:
    assert posts["id"].n_unique() == posts.height
    for column in posts.columns:
        assert posts[column].null_count() == 0, column


def test_no_author_is_in_two_parts(posts: pl.DataFrame) -> None:
    parts = posts.group_by("author").agg(pl.col("part").n_unique())
    assert parts["part"].max() == 1
    assert set(posts["part"]) == set(PARTS)


def test_the_test_part_has_240_posts_with_all_languages_and_labels() -> None:
    test = read_starter("starter:test")
    languages = Counter(lang.split("-")[0] for lang in test["lang"])
    pure = Counter(test["lang"])
    assert test.height == 240
    assert pure["hi"] >= 40
    assert pure["bn"] >= 40
    assert languages["en"] / 240 == pytest.approx(886 / 1482, abs=0.05)  # as in the whole set
    for task, labels in LABELS.items():
        count = Counter(test[task])
        assert all(count[label] >= 8 for label in labels), (task, count)


def test_the_label_is_what_two_of_the_three_say(posts: pl.DataFrame) -> None:
    for task in LABELS:
        for label, votes in posts.select(task, f"votes_{task}").iter_rows():
            three = votes.split(" ")
            assert len(three) == 3
            if len(set(three)) < 3:
                assert three.count(label) >= 2
            else:
                assert task == "age"
                assert label == sorted(three, key=LABELS["age"].index)[1]


def test_the_cards_kappas_are_those_of_the_votes(posts: pl.DataFrame) -> None:
    rejects = [json.loads(line) for line in (FOLDER / "rejects.jsonl").read_text(encoding="utf-8").splitlines()]
    card = (FOLDER / "card.md").read_text(encoding="utf-8")
    for task in LABELS:
        votes = [v.split(" ") for v in [*posts[f"votes_{task}"], *(row[f"votes_{task}"] for row in rejects)]]
        writer = [v[0] for v in votes for _ in (1, 2)]
        readers = [one for v in votes for one in v[1:]]
        between = cohen_kappa_score([v[1] for v in votes], [v[2] for v in votes])
        row = f"| {task} | {cohen_kappa_score(writer, readers):.3f} | {between:.3f} |"
        assert row in card


def test_rejects_are_kept_with_a_reason_and_are_not_in_the_set(posts: pl.DataFrame) -> None:
    rejects = [json.loads(line) for line in (FOLDER / "rejects.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(rejects) == starter_facts()["rejected"] > 0
    assert all(row["reason"] for row in rejects)
    assert not {row["text"] for row in rejects} & set(posts["text"])


def test_the_card_says_licence_languages_making_and_biases() -> None:
    card = (FOLDER / "card.md").read_text(encoding="utf-8")
    for said in ("MIT", "Hindi", "Bangla", "language-model agents", "Known biases", "not facts"):
        assert said in card
    facts = starter_facts()
    assert facts["licence"] == "MIT"
    assert sum(facts["languages"].values()) == facts["posts"] == read_starter().height


def test_posts_are_read_by_name_like_any_other_source() -> None:
    frame = read_posts("starter:dev")
    assert set(frame["part"]) == {"dev"}
    assert frame["emoji"].list.len().sum() > 0
    labels = starter_labels("starter:dev")
    assert labels["id"].to_list() == frame["id"].to_list()
    assert set(labels["system"]) == {"gold"}


@pytest.mark.parametrize("name", ["starter:", "starter:tests", "starter:test:x"])
def test_an_unknown_part_is_one_sentence_that_names_the_known_ones(name: str) -> None:
    with pytest.raises(InputError, match="starter:train, starter:dev, starter:test"):
        read_posts(name)
