"""Finding emoji: how many times as fast as ``emoji.emoji_list``, single strings and columns.

Every ratio is taken within one run: the peer and ours alternate over the same posts, and the median of
the rounds is shown with their range. The posts are the paper's where ``../shared`` is there, else made
ones. A column is measured as long as the data (its fixed costs weigh) and at 200 thousand posts.
Run: ``python -m bench emoji``.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl

import emoji as peer
from mojimeter import emoji
from mojimeter.systems import get_baseline, read_replies, read_reply

SEMREC = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "semrec"
ROUNDS = 7
LONG_COLUMN = 200_000


def posts() -> tuple[str, list[str]]:
    """What the posts are, and the posts."""
    file = SEMREC / "benchmark.csv"
    if file.is_file():
        return "posts of semrec", pl.read_csv(file, infer_schema=False)["text_with_emoji"].to_list()
    source = random.Random(0)
    words = ["the", "of", "and", "to", "in", "you", "that", "was", "for", "on", "are", "with", "they", "this", "have"]
    used = emoji.top(300)
    made = [
        " ".join(source.choices(words, k=15)) + " " + "".join(source.choices(used, k=source.randint(1, 4)))
        for _ in range(5000)
    ]
    return "made posts", made


def seconds(work: Callable[[], object]) -> float:
    """Wall time of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def run() -> list[tuple[str, str]]:
    """(what, figure) of every comparison."""
    what, texts = posts()
    column = pl.Series(texts)
    times = -(-LONG_COLUMN // len(texts))
    long_column = pl.concat([column] * times, rechunk=True)
    assert emoji.find_column(column).to_list() == [emoji.find(text) for text in texts]
    contests: dict[str, tuple[Callable[[], object], float]] = {
        f"find, {len(texts):,} single strings (bar 10)": (lambda: [emoji.find(text) for text in texts], 1),
        f"find_column, {len(column):,} rows (bar 100)": (lambda: emoji.find_column(column), 1),
        f"find_column, {len(long_column):,} rows (bar 100)": (lambda: emoji.find_column(long_column), times),
        f"strip_column, {len(long_column):,} rows": (lambda: emoji.strip_column(long_column), times),
    }
    ratios: dict[str, list[float]] = {name: [] for name in contests}
    rates: dict[str, list[float]] = {name: [] for name in contests}
    for _ in range(ROUNDS):
        for name, (ours, share) in contests.items():
            theirs = seconds(lambda: [peer.emoji_list(text) for text in texts])
            mine = seconds(ours)
            ratios[name].append(share * theirs / mine)
            rates[name].append(share * len(texts) / mine)
    rows = [
        (
            name,
            f"{statistics.median(found):.0f} times emoji.emoji_list (from {min(found):.0f} to {max(found):.0f}); "
            f"{statistics.median(rates[name]):,.0f} a second",
        )
        for name, found in ratios.items()
    ]
    return [("text", what), *rows, *_other()]


def _other() -> list[tuple[str, str]]:
    """Replies as a column against one by one, and the keyword baseline against finding."""
    replies = ["".join(emoji.top(40)[i % 37 : i % 37 + 3]) + (" (so)" if i % 3 else "") for i in range(20_000)]
    column = pl.Series(replies)
    one_by_one = seconds(lambda: [read_reply(reply) for reply in replies])
    at_once = seconds(lambda: read_replies(column))
    baseline = get_baseline("baseline/keyword")
    texts = posts()[1][:1000]
    baseline.recommend({"text": texts[0]})
    recommending = seconds(lambda: [baseline.recommend({"text": text}) for text in texts])
    peer_time = seconds(lambda: [peer.emoji_list(text) for text in texts])
    return [
        ("read_replies, 20,000 rows", f"{one_by_one / at_once:.0f} times read_reply one by one"),
        ("baseline/keyword, a post", f"{recommending / peer_time:.1f} times the cost of emoji.emoji_list on it"),
    ]


def main() -> None:
    """Print the table."""
    rows = run()
    width = max(len(name) for name, _ in rows)
    for name, figure in rows:
        print(f"{name:<{width}}  {figure}")


if __name__ == "__main__":
    main()
