"""Which raw posts stay."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from mojimeter import emoji
from mojimeter.build.clean import clean
from mojimeter.build.recipe import Clean


def cleaned(texts: list[str | None], settings: Clean | None = None) -> tuple[list[str], dict[str, int]]:
    columns = ("id", "author", "lang", "gender", "age", "split")
    raw = pl.DataFrame({"text": texts}, schema={"text": pl.String}).with_columns(
        pl.lit(None, dtype=pl.String).alias(name) for name in columns
    )
    frame, counts = clean(raw, settings or Clean())
    assert counts["read"] == len(texts) == frame.height + sum(n for reason, n in counts.items() if reason != "read")
    return frame["text"].to_list(), counts


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "no_text"),
        ("   ", "no_text"),
        ("no emoji here, only ™ and ©", "no_emoji"),
        ("love ❤︎", "no_emoji"),  # VS15 asks for text
        ("RT @ann: so true 😂", "retweet"),
        ("so true! RT @ann: the bus is late 😂", "retweet"),
        ("rt @ann the bus 😂", "retweet"),
        ("😂😂😂", "emoji_only"),
        ("@ann 😂 https://t.co/x !!!", "emoji_only"),
        ("1️⃣ 😂", "emoji_only"),
    ],
)
def test_a_post_goes_for_its_reason(text: str | None, reason: str) -> None:
    kept, counts = cleaned([text])
    assert kept == []
    assert counts[reason] == 1


@pytest.mark.parametrize("text", ["ok 😂", "ART @ home 🎨", "2-0 😂", "जीत 🎉", "START 😀", "🇮🇳 বাংলা", "Ⓜ a ❤"])
def test_a_post_with_words_and_a_common_emoji_stays(text: str) -> None:
    assert cleaned([text])[0] == [text]


def test_the_most_used_emoji_are_those_of_the_list_skin_tones_aside() -> None:
    last, next_one = emoji.top(500)[499], emoji.top(501)[500]
    kept, counts = cleaned([f"in {last}", f"out {next_one}", "tone 👍🏿", f"one of both {next_one}😂"])
    assert kept == [f"in {last}", "tone 👍🏿", f"one of both {next_one}😂"]
    assert counts["no_top_emoji"] == 1
    assert len(cleaned([f"out {next_one}"], Clean(top_emoji=501))[0]) == 1


def test_a_gendered_emoji_has_the_place_of_its_neutral_form() -> None:
    # the list of use has 🤷 and 🤦, in its first hundred, and no form with a gender
    assert emoji.rank("🤷") is not None
    assert emoji.rank("🤷‍♀️") is None
    assert cleaned(["who knows 🤷🏽‍♀️", "oh no 🤦‍♂️"])[1]["no_top_emoji"] == 0


def test_the_papers_benchmark_passes_the_papers_filter(shared: Path) -> None:
    # 5,039 posts that the paper filtered by the same list; one holds no emoji at all, and five only such whose parts
    # (🧑 of 👩🏼‍🎓) are on the list, which a count of code points takes for the whole
    release = pl.read_csv(shared / "data" / "semrec" / "benchmark.csv", infer_schema=False)
    kept, counts = cleaned(release["text_with_emoji"].to_list())
    assert (counts["no_emoji"], counts["no_top_emoji"], len(kept)) == (1, 5, 5033)


def test_what_the_recipe_says_otherwise_is_done() -> None:
    kept, _ = cleaned(
        ["RT @ann: 😂 yes", "😂", "@bob 😂 hi"], Clean(retweets="keep", emoji_only="keep", mask=("links",))
    )
    assert kept == ["RT @ann: 😂 yes", "😂", "@bob 😂 hi"]


def test_other_languages_go_where_the_recipe_names_some() -> None:
    columns = {"text": ["a 😂", "b 😂", "c 😂"], "lang": ["en", "hi", None]}
    raw = pl.DataFrame(columns, schema={"text": pl.String, "lang": pl.String})
    frame, counts = clean(raw, Clean(languages=("en",)))
    assert frame["text"].to_list() == ["a 😂"]
    assert counts["other_language"] == 2


def test_an_empty_block_is_no_error() -> None:
    assert cleaned([]) == ([], dict.fromkeys(("read", *[]), 0) | cleaned([])[1])


def test_a_fast_column_and_one_post_at_a_time_agree() -> None:
    texts: list[str | None] = [
        "ok 😂", "@a 😂", "RT @x 😂 y", "1 😂", "x.org/1️⃣ b", "see x.org/a1️⃣", "🅰️ b 😂", None, "🦤 dodo", "k™️ 😂",
    ]  # fmt: skip
    one_by_one = [text for one in texts for text in cleaned([one])[0]]
    assert cleaned(texts)[0] == one_by_one
    assert cleaned(texts * 3000)[0] == one_by_one * 3000
