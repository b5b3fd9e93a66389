"""Speed and memory of scoring: the paper's release against a plain loop, and a million posts within 2 GB.

The plain loop is what one would write first: sets per post, then for each bootstrap draw a walk over the authors
drawn. It is run with fewer draws and scaled up; its values are compared with ours first.
Run: ``python -m bench.score`` (``--posts N`` for another size).
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

SHARED = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "semrec"
LOOP_DRAWS = 100


def bench_release(draws: int = 2000) -> dict[str, Any] | None:
    """The release, all systems: ours, all in, against the plain loop on the same tables."""
    if not SHARED.is_dir():
        return None
    from mojimeter.datasets.semrec import read_semrec
    from mojimeter.runs.scoring import ScoringOptions, score_files

    files = sorted(SHARED.glob("zeroshot_*.csv"))
    start = time.process_time()
    ours = score_files(SHARED / "benchmark.csv", files, options=ScoringOptions("semrec", draws=draws))
    our_seconds = time.process_time() - start
    posts, outputs, labels = read_semrec(SHARED / "benchmark.csv", files)
    start = time.process_time()
    by_author = score_by_loop(posts, outputs, labels)
    once = time.process_time() - start
    start = time.process_time()
    theirs = {system: draw_by_loop(values, LOOP_DRAWS) for system, values in by_author.items()}
    loop_seconds = once + (time.process_time() - start) * draws / LOOP_DRAWS
    for system, (f1, average) in theirs.items():
        scores = ours.systems[system]
        assert abs((scores.overlap["f1"].value or 0) - f1) < 1e-6, (system, f1)
        assert abs((scores.preservation["average"].value or 0) - average) < 1e-6, (system, average)
    return {
        "what": f"release, {len(files)} files, {draws} draws",
        "our_cpu_seconds": our_seconds,
        "loop_cpu_seconds_scaled": loop_seconds,
        "times_faster": loop_seconds / our_seconds,
    }


Pairs = list[tuple[float | None, float]]


def score_by_loop(posts: pl.DataFrame, outputs: pl.DataFrame, labels: pl.DataFrame) -> dict[str, dict[str, Pairs]]:
    """Overlap F1 (None where there is nothing to match) and share of tasks preserved, by system and author."""
    from mojimeter import emoji
    from mojimeter.datasets.records import TASKS

    def keys(found: list[str]) -> set[str]:
        return {emoji.key(e) for e in found}

    gold = {row["id"]: keys(emoji.find(row["original"])) for row in posts.iter_rows(named=True)}
    author = dict(zip(posts["id"], posts["author"], strict=True))
    label = {(row["system"], row["id"]): row for row in labels.iter_rows(named=True)}
    result = {}
    for (system,), frame in outputs.group_by("system"):
        per_author: dict[str, Pairs] = {}
        for row in frame.iter_rows(named=True):
            given, wanted = keys(emoji.find(row["reply"] or "")), gold[row["id"]]
            f1 = 2 * len(given & wanted) / (len(given) + len(wanted)) if wanted else None
            ours, theirs = label[(str(system), row["id"])], label[("gold", row["id"])]
            kept = sum(ours[t] is not None and ours[t] == theirs[t] for t in TASKS) / len(TASKS)
            per_author.setdefault(author[row["id"]], []).append((f1, kept))
        result[str(system)] = per_author
    return result


def draw_by_loop(per_author: dict[str, Pairs], draws: int) -> tuple[float, float]:
    """Bootstrap over authors as a plain loop; the point estimates."""
    names = list(per_author)
    rng = np.random.default_rng(0)
    drawn = []
    for _ in range(draws):
        chosen = rng.integers(0, len(names), len(names))
        drawn.append(_means([pair for k in chosen for pair in per_author[names[k]]]))
    np.quantile(np.array(drawn), [0.025, 0.975], axis=0)
    return _means([pair for pairs in per_author.values() for pair in pairs])


def _means(pairs: Pairs) -> tuple[float, float]:
    matched = [f1 for f1, _ in pairs if f1 is not None]
    return 100 * sum(matched) / len(matched), 100 * sum(kept for _, kept in pairs) / len(pairs)


def bench_memory(posts: int, draws: int = 2000) -> dict[str, Any]:
    """Scoring many posts in a process of its own, so that its peak is its own."""
    command = [sys.executable, "-m", "bench.score", "--child", str(posts), "--draws", str(draws)]
    out = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).resolve().parents[1])
    return {"what": f"{posts:,} synthetic posts, one system, {draws} draws", **json.loads(out.stdout)}


def _child(posts: int, draws: int) -> dict[str, float]:
    """Score ``posts`` synthetic posts from raw replies; peak memory before and after."""
    from mojimeter.metrics import score_recommendations

    frames = synthetic(posts)
    before = _peak_gb()
    start = time.process_time()
    score_recommendations(*frames, draws=draws)
    return {"cpu_seconds": time.process_time() - start, "peak_gb": _peak_gb(), "peak_gb_of_the_tables": before}


def synthetic(posts: int, seed: int = 0) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Posts of 40 to 140 characters with one or two emoji, replies with three, labels on all five tasks; no authors."""
    from mojimeter.judges.labels import LABELS

    rng = np.random.default_rng(seed)
    pool = pl.Series(["😂", "❤️", "😭", "👍🏽", "🔥", "🙏", "🤷‍♀️", "🇮🇳", "🎉", "😊", "💀", "✨"])
    words = pl.Series(["the bus was late again ", "what a day for it ", "see you there, all of you ", "no comment "])

    def pick(series: pl.Series) -> pl.Series:
        return series.gather(rng.integers(0, len(series), posts))

    ids = pl.Series("id", np.arange(posts)).cast(pl.String)
    text = pick(words) + pick(words) + pick(words) + pick(words) + pick(pool) + pick(pool)
    reply = pick(pool) + pick(pool) + pick(pool)
    frame = pl.DataFrame({"id": ids, "text": text})
    outputs = pl.DataFrame({"id": ids, "system": pl.repeat("m", posts, eager=True), "reply": reply})
    labels = [
        pl.DataFrame({"id": ids, **{task: pick(pl.Series(names)) for task, names in LABELS.items()}}).with_columns(
            system=pl.lit(system), judge=pl.lit("j")
        )
        for system in ("gold", "m")
    ]
    return frame, outputs, pl.concat(labels)


def _peak_gb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--posts", type=int, default=1_000_000)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        print(json.dumps(_child(options.child, options.draws)))
        return
    release = bench_release(options.draws)
    if release is None:
        print("release: ../shared is not there, skipped")
    else:
        print(
            f"{release['what']}: {release['our_cpu_seconds']:.1f} s of CPU all in; plain loop of two of the scores "
            f"(scaled from {LOOP_DRAWS} draws) {release['loop_cpu_seconds_scaled']:.0f} s: "
            f"{release['times_faster']:.0f} times as long"
        )
    memory = bench_memory(options.posts, options.draws)
    print(
        f"{memory['what']}: peak {memory['peak_gb']:.2f} GB (tables alone {memory['peak_gb_of_the_tables']:.2f}), "
        f"{memory['cpu_seconds']:.0f} s of CPU; bar 2 GB: {'met' if memory['peak_gb'] < 2 else 'MISSED'}"
    )


if __name__ == "__main__":
    main()
