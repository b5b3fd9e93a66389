"""Outputs to be rated, for docs/collect-study.md: starter posts with the emoji of three baselines.

    python scripts/make_outputs.py examples/outputs.csv

The first 90 English posts of `starter:test`, each without its own emoji and with three of
each baseline. No model is called; the posts are the project's own (see src/mojimeter/datasets/starter/card.md).
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from mojimeter import emoji
from mojimeter.datasets.starter import read_starter
from mojimeter.systems.append import with_recommendation
from mojimeter.systems.baselines import get_baseline

SYSTEMS = ("baseline/keyword", "baseline/nearest", "baseline/random")
POSTS = 90
SEED = 1


def main(path: str) -> None:
    """Write the table: item, system, post, text."""
    posts = [row for row in read_starter("starter:test").iter_rows(named=True) if row["lang"] == "en"][:POSTS]
    systems = {name: get_baseline(name, SEED) for name in SYSTEMS}
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["item", "system", "post", "text"])
        for post in posts:
            plain = emoji.strip(post["text"]).strip()
            for name, system in systems.items():
                found = system.recommend({**post, "text": plain}, 3)
                out.writerow([post["id"], name, plain, with_recommendation(plain, "".join(found))])


if __name__ == "__main__":
    main(*sys.argv[1:])
