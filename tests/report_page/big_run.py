"""A large run folder of benchmark A, for speed and the page's list: made up, the same every time, no one's data.

Posts are strings of common words in five languages with emoji that people use much; replies and labels are drawn at
random, better systems nearer to the original. It says nothing of any model.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from mojimeter import emoji
from mojimeter.datasets.readers import read_labels, read_outputs, read_posts
from mojimeter.judges.labels import LABELS
from mojimeter.metrics.recommendation import score_recommendations
from mojimeter.runs.folder import RunFolder
from mojimeter.runs.kin import with_kin

JUDGE = "student/made-up"
WORDS = {
    lang: tuple(words.split())
    for lang, words in {
        "en": "morning train coffee rain friend happy late sunday cake tired exam goal music sister home again",
        "hi": "सुबह चाय बारिश दोस्त खुश देर रविवार माँ थका परीक्षा गाना घर फिर क्षमा",
        "bn": "সকাল চা বৃষ্টি বন্ধু খুশি দেরি রবিবার মা ক্লান্ত পরীক্ষা গান বাড়ি আবার ক্ষমা",
        "hi-en": "yaar chai traffic kya boss exam mummy ghar party late scene mast",
        "bn-en": "bhai cha bristi match exam ma bari khub darun office abar late",
    }.items()
}


def write_big_run(
    folder: Path,
    posts: int = 20_000,
    systems: int = 8,
    authors: int = 6_000,
    *,
    scored: bool = True,
    draws: int = 2000,
    seed: int = 0,
) -> Path:
    """Write the folder.

    Args:
        folder: to be made.
        posts, systems, authors: how many; the first two systems are baselines.
        scored: also scores.json and signature.txt.
        draws: of the bootstrap.
        seed: of everything.
    """
    rng = np.random.default_rng(seed)
    used = emoji.top(400)
    weight = 1 / np.arange(1, 401) ** 0.8
    weight /= weight.sum()
    languages = rng.choice(list(WORDS), size=posts, p=[0.5, 0.2, 0.15, 0.1, 0.05])
    gold = [[used[i] for i in rng.choice(400, size=rng.integers(1, 4), p=weight)] for _ in range(posts)]
    ids = [f"post-{i:05d}" for i in range(posts)]
    texts = [
        " ".join(rng.choice(WORDS[lang], size=rng.integers(4, 14))) + " " + "".join(own)
        for lang, own in zip(languages, gold, strict=True)
    ]
    with RunFolder(folder) as run:
        author = [f"author-{a}" for a in rng.integers(0, authors, size=posts)]
        run.write_table("posts", pl.DataFrame({"id": ids, "text": texts, "author": author, "lang": languages}))
        names = ["baseline/none", "baseline/random", *(f"maker/model-{k}" for k in range(1, systems - 1))]
        replies, labels = [], [_gold_labels(rng, ids)]
        truth = labels[0]
        for place, name in enumerate(names):
            replies.append(_replies(rng, ids, name, gold, used, weight, 0.1 * place))
            labels.append(_kept_labels(rng, truth, name, 0.45 + 0.05 * place))
        run.write_table("outputs", pl.concat(replies))
        run.write_table("labels", pl.concat(labels))
        run.write_settings({"systems": names, "judges": [JUDGE], "n": "3", "draws": draws, "bootstrap_seed": 0})
        if scored:
            found = score_recommendations(
                read_posts(run.table("posts")),
                read_outputs([run.table("outputs")]),
                read_labels([run.table("labels")]),
                draws=draws,
                judge=JUDGE,
            )
            run.write_scores(with_kin(found.to_dict(), [JUDGE]))
    return folder


def _replies(
    rng: np.random.Generator,
    ids: list[str],
    name: str,
    gold: list[list[str]],
    used: list[str],
    weight: np.ndarray[tuple[int], np.dtype[np.float64]],
    near: float,
) -> pl.DataFrame:
    drawn = rng.choice(len(used), size=(len(ids), 3), p=weight)
    hit = rng.random(len(ids)) < near
    replies: list[str | None] = []
    for row, own in enumerate(gold):
        given = [used[i] for i in drawn[row]]
        if hit[row]:
            given[0] = own[0]
        replies.append("" if name == "baseline/none" else "".join(given))
    for row in rng.integers(0, len(ids), size=len(ids) // 100):
        replies[row] = None if name.startswith("maker/") and row % 2 else replies[row]
    return pl.DataFrame({"id": ids, "system": name, "strategy": None, "epoch": 1, "reply": replies})


def _gold_labels(rng: np.random.Generator, ids: list[str]) -> pl.DataFrame:
    columns = {task: rng.choice(list(labels), size=len(ids)) for task, labels in LABELS.items()}
    return pl.DataFrame({"id": ids, "system": "gold", "judge": JUDGE, "strategy": None, "epoch": 1, **columns})


def _kept_labels(rng: np.random.Generator, truth: pl.DataFrame, name: str, kept: float) -> pl.DataFrame:
    columns = {}
    for task, labels in LABELS.items():
        stays = rng.random(truth.height) < kept
        columns[task] = np.where(stays, truth[task].to_numpy(), rng.choice(list(labels), size=truth.height))
    return truth.with_columns(pl.lit(name).alias("system"), *(pl.Series(t, v) for t, v in columns.items()))
