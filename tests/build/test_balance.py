"""Which labelled posts a benchmark keeps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mojimeter.build.balance import assign_split, balance
from mojimeter.build.keys import draw_key
from mojimeter.build.recipe import PAPER, Balance, Draw, Recipe, as_recipe, read_recipe, write_recipe
from mojimeter.datasets.records import TASKS
from mojimeter.errors import InputError
from mojimeter.judges.labels import LABELS


def table(rows: list[dict[str, str]]) -> pl.DataFrame:
    common = {"sentiment": "neutral", "emotion": "happiness", "stance": "none", "age": "adult", "gender": "female"}
    return pl.DataFrame([common | row for row in rows])


def test_the_papers_rule_by_hand() -> None:
    # 0 anger, 1 nothing, 2 child and male, 3 male, 4 against, 5 male, 6 surprise, 7 male
    rows: list[dict[str, str]] = [
        {"emotion": "anger"}, {}, {"age": "child", "gender": "male"}, {"gender": "male"}, {"stance": "against"},
        {"gender": "male"}, {"emotion": "surprise"}, {"gender": "male"},
    ]  # fmt: skip
    two_men = Balance(keep=PAPER.keep, draw=(Draw(task="gender", label="male", posts=2),))
    flags, steps = balance(table(rows), [str(n) for n in range(8)], two_men, 0, TASKS)
    men = sorted([3, 5, 7], key=lambda n: draw_key(0, str(n)))[:2]
    assert np.flatnonzero(flags).tolist() == sorted([0, 2, 4, *men])
    assert [(s.available, s.taken, s.new) for s in steps if s.taken] == [(1, 1, 1), (1, 1, 1), (1, 1, 1), (3, 2, 2)]


def test_a_draw_from_all_may_meet_posts_already_kept() -> None:
    rows = [{"gender": "male", "age": "child"}] * 3
    rules = Balance(keep={"age": ("child",)}, draw=(Draw(task="gender", label="male", posts=2, among="all"),))
    flags, steps = balance(table(rows), ["a", "b", "c"], rules, 0, TASKS)
    assert flags.all()
    assert (steps[-1].taken, steps[-1].new) == (2, 0)


def test_no_rule_keeps_all() -> None:
    flags, _ = balance(table([{}, {}]), ["a", "b"], Balance(), 0, TASKS)
    assert flags.all()


def test_a_rule_about_a_task_without_labels_is_refused() -> None:
    with pytest.raises(InputError, match="balances by emotion"):
        balance(table([{}]), ["a"], PAPER, 0, ("sentiment",))


def test_the_papers_recipe_keeps_the_whole_of_the_papers_benchmark(shared: Path) -> None:
    # The release is what the rule left: 3,474 posts of the minority classes and 1,565 more men (counted in the
    # file with another tool), so that the same rule on its labels must leave nothing out.
    release = pl.read_csv(shared / "data" / "semrec" / "benchmark.csv", infer_schema=False)
    labels = release.select([pl.col(f"gold_{task}").alias(task) for task in TASKS])
    flags, steps = balance(labels, release["item"].to_list(), PAPER, 0, TASKS)
    assert int(flags.sum()) == 5039
    assert sum(step.new for step in steps[:-1]) == 3474
    assert (steps[-1].available, steps[-1].new) == (1565, 1565)


LABELLED = st.lists(st.fixed_dictionaries({t: st.sampled_from(labels) for t, labels in LABELS.items()}), max_size=20)


@settings(deadline=None)  # a busy machine is no failure
@given(LABELLED, st.integers(0, 5), st.randoms())
def test_a_balance_does_not_depend_on_the_order_of_posts(rows: list[dict[str, str]], seed: int, source: object) -> None:
    if not rows:
        return
    rules = Balance(keep=PAPER.keep, draw=(Draw(task="gender", label="male", posts=2),))
    ids = [f"p{n}" for n in range(len(rows))]
    kept = set(np.array(ids)[balance(pl.DataFrame(rows), ids, rules, seed, TASKS)[0]])
    order = list(range(len(rows)))
    source.shuffle(order)  # type: ignore[attr-defined]
    flags, _ = balance(pl.DataFrame([rows[n] for n in order]), [ids[n] for n in order], rules, seed, TASKS)
    assert {ids[n] for n, flag in zip(order, flags, strict=True) if flag} == kept
    minority = {i for i, r in zip(ids, rows, strict=True) if any(r[t] in ls for t, ls in PAPER.keep.items())}
    assert minority <= kept


def test_splits_have_their_shares_and_an_author_has_one() -> None:
    shares = {"train": 0.8, "test": 0.2}
    splits = [assign_split(f"author {n}", shares, 1) for n in range(5000)]
    assert splits == [assign_split(f"author {n}", shares, 1) for n in range(5000)]
    # binomial, 5000 x 0.2: deviation 28
    assert abs(splits.count("test") - 1000) < 4 * 28
    assert splits != [assign_split(f"author {n}", shares, 2) for n in range(5000)]


def test_a_recipe_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    recipe = as_recipe(
        {
            "name": "mine",
            "seed": 4,
            "clean": {"top_emoji": 100, "duplicates": "near", "languages": ["hi", "bn"], "mask": ["links"]},
            "label": {"judge": "openai/gpt-4o-mini", "at_most": 500},
            "balance": {
                "keep": {"emotion": ["fear"]},
                "draw": [{"task": "gender", "label": "male", "posts": 10, "among": "all"}],
            },
            "splits": {"train": 0.9, "test": 0.1},
        },
        "here",
    )
    for one in (recipe, Recipe(), Recipe(balance=Balance())):
        path = tmp_path / "recipe.toml"
        path.write_text(write_recipe(one, {"sha256": "abc", "sources": {"a b.csv": "def"}}), encoding="utf-8")
        again, made = read_recipe(path)
        assert again == one
        assert again.digest == one.digest
        assert made == {"sha256": "abc", "sources": {"a b.csv": "def"}}


def test_what_is_only_said_of_a_recipe_does_not_change_its_digest() -> None:
    assert Recipe(name="x", source="y", licence="z").digest == Recipe().digest
    assert Recipe(seed=1).digest != Recipe().digest


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("top = 3", ("top: no such setting",)),
        ("[clean]\ntop_emoji = 'many'", ("clean.top_emoji", "'many'")),
        ("[clean]\ntop_emoji = 5000", ("clean.top_emoji", "1549")),
        ("[balance.keep]\nemotion = ['joy']", ("balance.keep", "no label 'joy'", "happiness")),
        ("[balance.keep]\nmood = ['joy']", ("no task 'mood'",)),
        ("[[balance.draw]]\ntask = 'gender'\nlabel = 'man'\nposts = 1", ("no label 'man'",)),
        ("[splits]\ntrain = 0.5", ("splits", "sum to 1")),
        ("= 3", ("not TOML",)),
    ],
)
def test_a_wrong_recipe_is_one_sentence(tmp_path: Path, text: str, words: tuple[str, ...]) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_recipe(path)
    assert "\n" not in str(caught.value)
    for word in ("recipe.toml", *words):
        assert word in str(caught.value)
