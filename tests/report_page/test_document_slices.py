"""Scores of part of the posts: what they are compared with is the package's own scoring of those posts alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mojimeter import emoji
from mojimeter.datasets.readers import read_labels, read_outputs, read_posts
from mojimeter.metrics.recommendation import score_recommendations
from mojimeter.report.page.document import read_report
from mojimeter.report.page.items import share_of_unlike_pairs
from mojimeter.report.page.slices import MEASURES
from tests.report_page.big_run import JUDGE, write_big_run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """400 posts by about 90 authors in five languages, four systems, 200 draws."""
    return write_big_run(tmp_path_factory.mktemp("runs") / "r", posts=400, systems=4, authors=90, draws=200)


@pytest.fixture(scope="module")
def slices(folder: Path) -> dict[tuple[str | None, str | None], dict[str, Any]]:
    return {(s["lang"], s["group"]): s for s in read_report([folder])["runs"][0]["slices"]}


def _alone(folder: Path, chosen: pl.Series) -> dict[str, Any]:
    """The document that scoring those posts alone gives."""
    posts = read_posts(folder / "posts.jsonl").filter(chosen)
    tables = [
        table.join(posts.select("id"), on="id", how="semi")
        for table in (read_outputs([folder / "outputs.jsonl"]), read_labels([folder / "labels.jsonl"]))
    ]
    return score_recommendations(posts, *tables, draws=200, judge=JUDGE).to_dict()


@pytest.mark.parametrize("lang", ["en", "bn-en"])
def test_a_slice_has_the_numbers_of_scoring_its_posts_alone(
    folder: Path, slices: dict[tuple[str | None, str | None], dict[str, Any]], lang: str
) -> None:
    posts = read_posts(folder / "posts.jsonl")
    _compare(slices[lang, None], _alone(folder, posts["lang"] == lang))


def test_a_slice_of_a_group_holds_the_posts_whose_author_used_an_emoji_of_it(
    folder: Path, slices: dict[tuple[str | None, str | None], dict[str, Any]]
) -> None:
    posts = read_posts(folder / "posts.jsonl")
    group = "Activities"
    used = pl.Series([any(emoji.group(e) == group for e in gold) for gold in posts["emoji"].to_list()])
    assert slices[None, group]["posts"] == used.sum()
    _compare(slices[None, group], _alone(folder, used))
    both = slices["en", "Smileys & Emotion"]
    smileys = pl.Series([any(emoji.group(e) == "Smileys & Emotion" for e in gold) for gold in posts["emoji"].to_list()])
    assert both["posts"] == (smileys & (posts["lang"] == "en")).sum()


def _compare(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert found["posts"] == expected["data"]["posts"]
    assert found["authors"] == expected["data"]["resampled"]
    assert set(found["systems"]) == set(expected["systems"])
    for name, scores in found["systems"].items():
        theirs = expected["systems"][name]
        assert scores["rank"] == list(theirs["rank"])
        for measure, path in MEASURES.items():
            if measure == "emoji_per_reply":
                continue
            other: Any = theirs
            for step in path:
                other = other[step]
            assert scores[measure]["value"] == pytest.approx(other["value"], nan_ok=True), (name, measure)
            assert scores[measure].get("ci") == pytest.approx(other.get("ci"), nan_ok=True), (name, measure)


def test_every_combination_that_has_a_post_has_a_slice_and_small_ones_a_reason(
    slices: dict[tuple[str | None, str | None], dict[str, Any]],
) -> None:
    assert {lang for lang, _ in slices} == {None, "en", "hi", "bn", "hi-en", "bn-en"}
    for one in slices.values():
        assert ("systems" in one) == (one["posts"] >= 10 and one["authors"] >= 5)
        assert ("refused" in one) != ("systems" in one)


@given(
    st.integers(1, 6).flatmap(
        lambda n: st.lists(st.lists(st.integers(-2, 3), min_size=4, max_size=4), min_size=n, max_size=n)
    )
)
@settings(max_examples=60, deadline=None)
def test_the_share_of_unlike_pairs_is_what_counting_gives(rows: list[list[int]]) -> None:
    found = share_of_unlike_pairs(np.array(rows))
    for column in range(4):
        given_codes = [row[column] for row in rows if row[column] != -2]
        pairs = [(a, b) for i, a in enumerate(given_codes) for b in given_codes[i + 1 :]]
        if pairs:
            assert found[column] == pytest.approx(sum(a != b for a, b in pairs) / len(pairs))
        else:
            assert np.isnan(found[column])
