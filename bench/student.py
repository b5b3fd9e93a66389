"""Baselines that need no language model, compared by overlap, and what judging one more system costs.

    python -m bench student [--posts N]

Posts: starter:test, and where ``../shared`` is beside the project seeded samples of the second paper's benchmark,
TweetEval's emoji task, and posts in Hindi, Hindi-English and Bangla. Intervals resample posts. Texts are embedded
once; the first run takes minutes, later ones seconds. Nothing here is fitted on these posts.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from mojimeter import emoji
from mojimeter.datasets.records import TASKS
from mojimeter.datasets.starter import read_starter
from mojimeter.datasets.tables import read_table
from mojimeter.judges.student import load_student
from mojimeter.models.encoder import shared_encoder
from mojimeter.systems.baselines import get_baseline

ON_REQUEST = True  # minutes of embedding on a fresh machine
SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
SYSTEMS = ("baseline/random", "baseline/keyword", "baseline/nearest", "baseline/taught")
DRAWS = 2000
# Macro-F1 on the whole test set, percent, from the leaderboard of cardiffnlp/tweeteval (Barbieri et al. 2020,
# "TweetEval", and later); all of them were trained on its 45,000 tweets, ours on none.
PUBLISHED = {"SVM": 29.3, "FastText": 25.8, "LSTM": 24.7, "RoBERTa-base": 30.9, "BERTweet": 33.4}


def main() -> None:
    """Print every comparison that the machine has posts for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--posts", type=int, default=1500, help="of TweetEval; 1,000 at most of the others")
    given = parser.parse_args()
    compare("starter:test", read_starter("starter:test")["text"].to_list())
    if SHARED.is_dir():
        for name, file, column, count in (
            ("second paper's benchmark (English)", "semrec/benchmark.csv", "text_with_emoji", 1000),
            ("Hindi posts", "hindi/constraint2021_posts_with_emoji.csv", "text", 300),
            ("Hindi-English posts", "hindi/hinglish_sentimix_posts_with_emoji.csv", "text", 300),
            ("Bangla posts", "bangla/posts_with_emoji.csv", "text", 300),
        ):
            texts = read_table(SHARED / file)[column].to_list()
            compare(name, random.Random(0).sample(texts, min(count, len(texts))))
        tweet_eval(given.posts)
    cost_of_one_more_system()


def compare(name: str, texts: Sequence[str]) -> None:
    """F1 of three recommended against the writer's emoji (tone folded), and posts where one of them is right."""
    rows = [(emoji.strip(text).strip(), {emoji.key(e, "tone") for e in emoji.find(text)}) for text in texts]
    rows = [(text, gold) for text, gold in rows if gold]
    print(f"{name}: {len(rows)} posts with emoji")
    shared_encoder().embed([text for text, _ in rows])
    for system in SYSTEMS:
        asked = get_baseline(system)
        start = time.process_time()
        found = [{emoji.key(e, "tone") for e in asked.recommend({"id": text, "text": text})} for text, _ in rows]
        each = 1000 * (time.process_time() - start) / len(rows)
        both = np.array([len(them & gold) for them, (_, gold) in zip(found, rows, strict=True)])
        f1 = 200 * both / np.array([len(them) + len(gold) for them, (_, gold) in zip(found, rows, strict=True)])
        print(
            f"  {system:17} F1 {_with_interval(f1)}  one of three right {_with_interval(100.0 * (both > 0))}"
            f"  different {len(set().union(*found)):4}  {each:.1f} ms CPU a post beside the encoder"
        )


def tweet_eval(count: int) -> None:
    """Top-1 accuracy and macro-F1 over TweetEval's 20 emoji: the first of a system's ranking that is one of them."""
    labels = [line.split("\t")[1] for line in (SHARED / "tweeteval_emoji" / "mapping.txt").read_text().splitlines()]
    classes = [emoji.key(one) for one in labels]
    frame = read_table(SHARED / "tweeteval_emoji" / "test.csv")
    picked = sorted(random.Random(0).sample(range(frame.height), min(count, frame.height)))
    texts = [emoji.strip(frame["text"][row]).strip() for row in picked]
    gold = np.array([int(frame["label"][row]) for row in picked])
    print(f"TweetEval emoji: a seeded {len(picked)} of {frame.height} test tweets, 20 classes")
    common = np.bincount(gold, minlength=20).argmax()
    _print_classes("commonest class", np.full(len(gold), common), gold)
    shared_encoder().embed(texts)
    for system in SYSTEMS[1:]:
        asked = get_baseline(system)
        met = [_first_of(asked.recommend({"id": text, "text": text}, 1200), classes) for text in texts]
        _print_classes(system, np.array(met), gold)
    print("  published macro-F1, trained on the task: " + ", ".join(f"{k} {v}" for k, v in PUBLISHED.items()))


def _first_of(ranking: Sequence[str], classes: Sequence[str]) -> int:
    return next((classes.index(key) for one in ranking if (key := emoji.key(one)) in classes), 0)


def _print_classes(name: str, met: np.ndarray, gold: np.ndarray) -> None:
    draws = np.random.default_rng(0).integers(0, len(gold), (300, len(gold)))
    low, high = np.quantile([_macro_f1(met[d], gold[d]) for d in draws], (0.025, 0.975))
    right = _with_interval(100.0 * (met == gold))
    print(f"  {name:17} accuracy {right}  macro-F1 {_macro_f1(met, gold):.1f} [{low:.1f}, {high:.1f}]")


def _macro_f1(met: np.ndarray, gold: np.ndarray) -> float:
    right = np.bincount(gold[met == gold], minlength=20)
    said, there = np.bincount(met, minlength=20), np.bincount(gold, minlength=20)
    return float(100 * np.mean(2 * right / np.maximum(said + there, 1)))


def cost_of_one_more_system(posts: int = 10_000) -> None:
    """Seconds to label one more system's recommendations for posts that are embedded already."""
    judge = load_student("student/starter")
    texts = [emoji.strip(text).strip() for text in read_starter()["text"]]
    texts = (texts * (posts // len(texts) + 1))[:posts]
    asked = get_baseline("baseline/random")
    them = [asked.recommend({"id": str(number)}) for number in range(posts)]
    judge.label(texts[:1], them[:1])
    shared_encoder().embed(texts)
    start, cpu = time.perf_counter(), time.process_time()
    labels: Mapping[str, Sequence[str | None]] = judge.label(texts, them)
    took = time.perf_counter() - start
    assert all(len(labels[task]) == posts for task in TASKS)
    print(f"judging one more system on {posts:,} posts: {took:.2f} s, {time.process_time() - cpu:.2f} s of CPU")


def _with_interval(values: np.ndarray) -> str:
    draws = np.random.default_rng(0).integers(0, len(values), (DRAWS, len(values)))
    low, high = np.quantile(values[draws].mean(axis=1), (0.025, 0.975))
    return f"{values.mean():5.2f} [{low:.2f}, {high:.2f}]"
