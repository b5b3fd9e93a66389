"""Speed and memory of ``mojimeter build`` before labelling: posts a second and core, and ten million posts in 2 GB.

The peer is what one would write first: the same filters post by post with ``re`` and ``emoji.emoji_list``; it is run
on fewer of the same posts in the same run, and must keep the same ones. CPU seconds are counted, all threads
together, so the figure is for one core. The posts are made: a fifth have emoji (``--share``), and handles and links are
as common as among tweets.
Run: ``python -m bench build`` (``--posts 10000000`` for the big one).
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import emoji as peer
from mojimeter import emoji
from mojimeter.build.clean import clean
from mojimeter.build.keys import hash_column, near_keys
from mojimeter.build.masks import mask_column
from mojimeter.build.recipe import Clean, Recipe
from mojimeter.build.run import Job, build_benchmark
from mojimeter.build.sources import open_sources
from mojimeter.build.stream import LocalEngine, clean_sources, first_of_each

ON_REQUEST = False
BAR = 300_000
PEER_POSTS = 10_000
_TEXT = (
    "the to and a of in is you that it for on was with this are be have at just not so my me we your all but if they "
    "what like do get can time out good know day love want one need now today go back people see new think how when "
    "because really home work never going last night school happy morning everyone game music बहुत अच्छा আজ ভালো yaar"
)
_WORDS = _TEXT.split()


def write_posts(path: Path, posts: int, share: float, seed: int = 0) -> None:
    """Posts of 3 to 25 words as CSV, ``share`` with one to three emoji; one in six has a handle, one in nine a link."""
    rng = np.random.default_rng(seed)
    used = pl.Series(emoji.top(600))
    words = pl.Series(_WORDS)
    with path.open("wb") as file:
        for start in range(0, posts, 100_000):
            size = min(100_000, posts - start)
            lengths = rng.integers(3, 26, size)
            owner = np.repeat(np.arange(size), lengths)
            text = (
                pl.DataFrame({"post": owner, "word": words.gather(rng.integers(0, len(words), len(owner)))})
                .group_by("post", maintain_order=True)
                .agg(pl.col("word").str.join(" "))["word"]
            )
            chance = rng.random((4, size))
            # the more used, the more often: 1/rank
            weights = 1 / np.arange(1, len(used) + 1)
            picks = [used.gather(rng.choice(len(used), size, p=weights / weights.sum())) for _ in range(3)]
            many = rng.integers(1, 4, size)
            frame = pl.DataFrame({"text": text, "many": many, "a": picks[0], "b": picks[1], "c": picks[2]}).select(
                pl.int_range(start, start + size).cast(pl.String).alias("id"),
                pl.concat_str(
                    pl.when(pl.Series(chance[0] < 1 / 6)).then(pl.lit("@someone ")).otherwise(pl.lit("")),
                    pl.col("text"),
                    pl.when(pl.Series(chance[1] < share))
                    .then(
                        pl.concat_str(
                            pl.lit(" "),
                            "a",
                            pl.when(pl.col("many") > 1).then(pl.col("b")).otherwise(pl.lit("")),
                            pl.when(pl.col("many") > 2).then(pl.col("c")).otherwise(pl.lit("")),
                        )
                    )
                    .otherwise(pl.lit("")),
                    pl.when(pl.Series(chance[2] < 1 / 9)).then(pl.lit(" https://t.co/Ab1cD2")).otherwise(pl.lit("")),
                ).alias("text"),
                pl.Series("author", rng.integers(0, max(2, posts // 20), size)).cast(pl.String),
            )
            frame.write_csv(file, include_header=start == 0)


def bench_before_labelling(posts: int, share: float, duplicates: str) -> dict[str, Any]:
    """CPU of all that comes before labelling: hash, read, filter, mask, write parts, drop duplicates, check ids."""
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / "raw.csv"
        write_posts(raw, posts, share)
        settings = Clean.model_validate({"duplicates": duplicates})
        near_keys(pl.Series(["a"]))  # tables that every build makes once
        clean(pl.DataFrame({"text": ["a 😂"], "lang": [None]}, schema={"text": pl.String, "lang": pl.String}), settings)
        start = time.process_time()
        sources = open_sources([str(raw)], Path(folder))
        parts = clean_sources(sources, settings, Path(folder) / "parts", LocalEngine())
        kept = first_of_each(parts.key("near" if duplicates == "near" else "exact"))
        parts.repeated_id(kept)
        ours = time.process_time() - start
        texts = pl.read_csv(raw, infer_schema=False, n_rows=PEER_POSTS)["text"].to_list()
        start = time.process_time()
        plain = clean_one_by_one(texts)
        theirs = (time.process_time() - start) * posts / len(texts)
        frame = pl.DataFrame(
            {"text": texts, "lang": [None] * len(texts)}, schema={"text": pl.String, "lang": pl.String}
        )
        same = clean(frame, settings)[0]
        assert same.filter(hash_column(same["text"]).is_first_distinct())["text"].to_list() == plain
    return {"posts_per_cpu_second": posts / ours, "times_the_plain_loop": theirs / ours, "kept": int(kept.sum())}


def clean_one_by_one(texts: list[str]) -> list[str]:
    """The same filters, masks and exact duplicates as a plain loop, for texts as they are made here."""
    common = {emoji.key(one, "tone") for one in emoji.top(500)}
    seen: set[str] = set()
    kept = []
    for text in texts:
        found = [one["emoji"] for one in peer.emoji_list(text)]
        if not any(emoji.key(one, "tone") in common for one in found) or re.search(r"(^|\s)RT\s*:?\s*@", text):
            continue
        text = re.sub(r"https?://\S+", "<url>", text)
        text = re.sub(r"\S+@\S+\.\w+", "<mail>", text)
        text = re.sub(r"@\w+", "@user", text)
        text = re.sub(r"\+?\d[\d .()-]{7,}\d", "<phone>", text)
        bare = peer.replace_emoji(text, "").replace("<url>", "").replace("@user", "")
        if re.search(r"\w", bare) and text not in seen:
            seen.add(text)
            kept.append(text)
    return kept


def bench_duplicates(posts: int) -> dict[str, float]:
    """Posts a second of CPU for each way to find duplicates, given masked texts."""
    from importlib.util import find_spec

    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / "raw.csv"
        write_posts(raw, posts, 1.0)
        texts = mask_column(pl.read_csv(raw, infer_schema=False)["text"])
    speeds = {}
    near_keys(texts.head(10))
    ways = {"exact": lambda: hash_column(texts).is_first_distinct(), "near": lambda: first_of_each(near_keys(texts))}
    if find_spec("rensa"):
        from mojimeter.build.fuzzy import fuzzy_duplicates

        ways["fuzzy"] = lambda: fuzzy_duplicates([texts], 0.8)
    for name, way in ways.items():
        start = time.process_time()
        way()
        speeds[name] = posts / (time.process_time() - start)
    return speeds


def bench_memory(posts: int, share: float) -> dict[str, Any]:
    """A whole build without labels in a process of its own: peak memory, CPU and wall."""
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / "raw.csv"
        write_posts(raw, posts, share)
        command = [sys.executable, "-m", "bench.build", "--child", folder]
        out = subprocess.run(
            command, capture_output=True, text=True, check=True, cwd=Path(__file__).resolve().parents[1]
        )
        return {"raw_gb": raw.stat().st_size / 1e9, **json.loads(out.stdout)}


def _child(folder: str) -> dict[str, Any]:
    start, wall = time.process_time(), time.perf_counter()
    job = Job((f"{folder}/raw.csv",), f"{folder}/out.jsonl", Recipe(), "none")
    document = build_benchmark(job)
    return {
        "cpu_seconds": time.process_time() - start,
        "seconds": time.perf_counter() - wall,
        "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
        "kept": document["posts"]["kept"],
        "read": document["posts"]["read"],
    }


def main(arguments: list[str] | None = None) -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--posts", type=int, default=400_000, help="for speed and for memory")
    parser.add_argument(
        "--share", type=float, default=0.2, help="of posts that have an emoji (about a fifth of tweets)"
    )
    parser.add_argument("--only", choices=["speed", "duplicates", "memory"])
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        print(json.dumps(_child(options.child)))
        return
    if options.only in (None, "speed"):
        for share in dict.fromkeys((options.share, 1.0)):
            for duplicates in ("exact", "near"):
                speed = bench_before_labelling(min(options.posts, 400_000), share, duplicates)
                rate = speed["posts_per_cpu_second"]
                print(
                    f"before labelling, {share:.0%} of posts with emoji, {duplicates} duplicates: {rate:,.0f} posts a "
                    f"second and core (bar {BAR:,}: {'met' if rate >= BAR else 'MISSED'}); "
                    f"{speed['times_the_plain_loop']:.0f} times a plain loop with emoji.emoji_list"
                )
    if options.only in (None, "duplicates"):
        for name, rate in bench_duplicates(50_000).items():
            print(f"finding {name} duplicates alone: {rate:,.0f} posts a second and core")
    if options.only in (None, "memory"):
        found = bench_memory(options.posts, options.share)
        print(
            f"whole build without labels, {found['read']:,} posts ({found['raw_gb']:.2f} GB): {found['kept']:,} kept, "
            f"peak {found['peak_gb']:.2f} GB (bar 2: {'met' if found['peak_gb'] < 2 else 'MISSED'}), "
            f"{found['cpu_seconds']:.0f} s of CPU, {found['read'] / found['cpu_seconds']:,.0f} posts a second and core"
        )


if __name__ == "__main__":
    main()
