"""Prompts: what a model reads, and that a template cannot go wrong in silence."""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mojimeter import emoji
from mojimeter.errors import InputError
from mojimeter.systems.append import with_recommendation
from mojimeter.systems.language import LanguageSystem
from mojimeter.systems.prompts import STRATEGIES, count_phrase, examples, load_prompt, parse_count, parse_template

POST = {"id": "1", "text": "the bus is late", "gender": "female", "age": "senior", "lang": "en"}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, None])
def test_every_strategy_shows_the_post_last_and_says_how_many(strategy: str, n: int | None) -> None:
    messages = load_prompt(strategy).render(POST, n)
    assert messages[0][0] == "system"
    assert messages[-1][0] == "user"
    assert "the bus is late" in messages[-1][1]
    assert count_phrase(n) in messages[-1][1]


def test_only_the_conditional_prompt_tells_of_the_author() -> None:
    told = {s: "senior" in str(load_prompt(s).render(POST, 3)) for s in STRATEGIES}
    assert told == {"zeroshot": False, "fewshot": False, "conditional": True}
    unknown = load_prompt("conditional").render({"id": "1", "text": "x"}, 3)[-1][1]
    assert unknown.count("not known") == 2


@pytest.mark.parametrize("lang", ["en", "hi", "bn"])
def test_five_examples_a_language_show_as_many_emoji_as_are_asked_for(lang: str) -> None:
    assert len(examples(lang)) == 5
    assert sorted(example.free for example in examples(lang)) == [1, 2, 3, 4, 5]
    for n in (1, 3, 5):
        shown = [text for role, text in load_prompt("fewshot").render({**POST, "lang": lang}, n) if role == "assistant"]
        assert [len(emoji.find(text)) for text in shown] == [n] * 5
        assert [len(set(emoji.find(text))) for text in shown] == [n] * 5


def test_mixed_languages_take_the_examples_of_their_script_and_unknown_ones_english() -> None:
    assert examples("bn-en") == examples("bn")
    assert examples("fr") == examples("en")


def test_examples_are_not_from_the_benchmark(shared: Path) -> None:
    import polars as pl

    texts = set(pl.read_csv(shared / "data" / "semrec" / "benchmark.csv", infer_schema=False)["text"].str.strip_chars())
    assert not texts & {example.text for example in examples("en")}


@given(st.text(st.characters(codec="utf-8"), min_size=1).filter(str.strip))
def test_a_post_reaches_the_model_as_it_is_braces_and_all(text: str) -> None:
    assert text.strip() in load_prompt().render({"id": "1", "text": text}, 3)[-1][1]


def test_a_template_of_the_users_own_replaces_the_prompt_and_its_hash(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("Be brief.\n---\n{post} -> {count}, {lang}\n", encoding="utf-8")
    prompt = load_prompt("zeroshot", path)
    assert prompt.render(POST, 1) == [("system", "Be brief."), ("user", "the bus is late -> exactly one emoji, en")]
    assert prompt.digest != load_prompt().digest
    assert len(prompt.digest) == 12


@pytest.mark.parametrize(
    ("text", "strategy", "sentence"),
    [
        ("no post here", "zeroshot", "has no {post}"),
        ("{post} {mood}", "zeroshot", r"no field {mood} \(known: {post}"),
        ("{post}\n---\nx", "zeroshot", "has no {post} in its question"),
        ("{count}\n---\n{post}", "zeroshot", "fields belong below"),
        ("{post}", "conditional", "needs {gender} or {age}"),
        ("{post}", "fewshot", "needs a line {examples}"),
    ],
)
def test_a_template_that_cannot_work_is_one_sentence(text: str, strategy: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        parse_template(text, strategy, "mine.txt")


def test_a_template_that_is_not_text_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe{post}")
    with pytest.raises(InputError, match="not UTF-8"):
        load_prompt("zeroshot", tmp_path / "bad.txt")


def test_counts_are_one_to_five_or_free() -> None:
    assert [parse_count(n) for n in ("1", "5", 3, "1-5")] == [1, 5, 3, None]
    for wrong in ("0", "6", "two", "1-3", ""):
        with pytest.raises(InputError, match="expected a number from 1 to 5"):
            parse_count(wrong)


def test_epochs_and_seeds_make_draws_of_their_own_whatever_the_order() -> None:
    system = LanguageSystem("openai/x", load_prompt(), seed=1)
    seeds = {system.request({**POST, "id": i}, epoch).seed for i in ("a", "b") for epoch in (1, 2)}
    assert len(seeds) == 4
    assert system.request(POST, 2) == system.request(POST, 2)
    unseeded = LanguageSystem("openai/x", load_prompt())
    assert unseeded.request(POST).seed is None
    assert unseeded.request(POST, 1).key != unseeded.request(POST, 2).key
    assert LanguageSystem("local/x.gguf", load_prompt()).request(POST).seed is not None


@pytest.mark.parametrize(
    ("reply", "append", "text"),
    [
        ("🎉🎂", "emoji", "hi 🎉🎂"),
        ("🎉 because of the party", "emoji", "hi 🎉"),
        ("🎉 because of the party", "raw", "hi 🎉 because of the party"),
        ("sorry, no", "emoji", "hi"),
        ("", "raw", "hi"),
        (None, "emoji", "hi"),
        ("\ud83d🎉", "raw", "hi \ufffd🎉"),
    ],
)
def test_what_a_judge_reads_is_the_text_and_the_emoji_alone_unless_raw(reply: str, append: str, text: str) -> None:
    assert with_recommendation("hi ", reply, append) == text


def test_the_examples_file_is_small_toml_without_surprises() -> None:
    tables = tomllib.loads(resources.files("mojimeter.systems").joinpath("prompts", "examples.toml").read_text("utf-8"))
    assert set(tables) == {"en", "hi", "bn"}
