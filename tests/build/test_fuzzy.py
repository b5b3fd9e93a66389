"""Fuzzy duplicates, against the similarity worked out pair by pair."""

from __future__ import annotations

import random
from pathlib import Path

import polars as pl
import pytest

pytest.importorskip("rensa", reason="the extra 'fuzzy' is not installed")

from mojimeter.build.fuzzy import fuzzy_duplicates, shingles
from mojimeter.build.keys import near_text
from mojimeter.build.recipe import Clean, Recipe
from mojimeter.build.run import Job, build_benchmark
from tests.build.support import write_jsonl


def jaccard(a: str, b: str) -> float:
    first, second = (set(shingles(text)) for text in near_text(pl.Series([a, b])))
    return len(first & second) / len(first | second)


def test_what_shares_most_of_its_letters_with_an_earlier_post_is_a_duplicate() -> None:
    base = "the bus was late again this morning and nobody told us anything about it"
    texts = [base, f"{base}!!! 😡", f"{base} ok", "the train was early for once and everybody was surprised", "", "😂"]
    assert fuzzy_duplicates([pl.Series(texts[:3]), pl.Series(texts[3:])], 0.8).tolist() == [
        False, True, True, False, False, False,
    ]  # fmt: skip


def test_clear_cases_are_decided_as_the_exact_similarity_decides_them() -> None:
    source = random.Random(0)
    letters = [chr(c) for c in range(ord("a"), ord("z"))]
    wrong = 0
    for _ in range(80):
        words = ["".join(source.choices(letters, k=5)) for _ in range(20)]
        changed = [w if source.random() > 0.12 else "".join(source.choices(letters, k=5)) for w in words]
        a, b = " ".join(words), " ".join(changed)
        exact = jaccard(a, b)
        # 128 permutations: standard deviation at most 0.044
        if abs(exact - 0.7) > 3 * 0.044:
            wrong += bool(fuzzy_duplicates([pl.Series([a, b])], 0.7)[1]) != (exact >= 0.7)
    assert wrong <= 1


def test_a_recipe_can_ask_for_them(tmp_path: Path) -> None:
    base = "the bus was late again this morning and nobody told us anything about it"
    raw = write_jsonl(tmp_path / "raw.jsonl", [{"id": str(n), "text": f"{base} {'abc'[n]} 😂"} for n in range(3)])
    recipe = Recipe(clean=Clean(duplicates="fuzzy", similarity=0.8))
    document = build_benchmark(Job((str(raw),), str(tmp_path / "out.csv"), recipe, judge="none"))
    assert (document["posts"]["kept"], document["posts"]["dropped"]["duplicate"]) == (1, 2)
