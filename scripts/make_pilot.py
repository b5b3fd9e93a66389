"""Writes ``examples/pilot.csv``: a small SIMULATED pilot study for docs/ratings.md. No person rated anything in it.

    python scripts/make_pilot.py [OUT]

Components of variance are those of the study in ``examples/two_emojis.toml``, but for the systems, whose true means are
set (A 0.45 above B, B 0.3 above C, C 0.15 above D); an emoji more is worth 0.1 points. Rounded to a scale of 1 to 5.
Seed 1: the same bytes every time.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np

ITEMS, RATERS, SEED = 40, 6, 1
SYSTEMS = {"A": 3.95, "B": 3.50, "C": 3.20, "D": 3.05}  # true means
VARIANCE = {"item": 0.143, "rater": 0.57, "item:system": 0.087, "item:rater": 0.447, "system:rater": 0.068}
RESIDUAL, PER_EMOJI = 0.636, 0.1


def main(out: Path) -> None:
    """Draw the table and write it."""
    rng = np.random.default_rng(SEED)

    def effect(source: str, *shape: int) -> np.ndarray:
        return rng.normal(0.0, VARIANCE[source] ** 0.5, shape)

    systems = len(SYSTEMS)
    emoji = rng.integers(1, 6, (ITEMS, systems))
    score = np.array(list(SYSTEMS.values()))[None, :, None] + PER_EMOJI * (emoji - 3)[:, :, None]
    score = score + effect("item", ITEMS, 1, 1) + effect("rater", 1, 1, RATERS)
    score = score + effect("item:system", ITEMS, systems, 1) + effect("item:rater", ITEMS, 1, RATERS)
    score = score + effect("system:rater", 1, systems, RATERS)
    score = score + rng.normal(0.0, RESIDUAL**0.5, (ITEMS, systems, RATERS))
    rounded = np.clip(np.rint(score), 1, 5).astype(int)
    with out.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["item", "system", "rater", "score", "emoji"])
        for i in range(ITEMS):
            for s, system in enumerate(SYSTEMS):
                for r in range(RATERS):
                    rows.writerow([f"post_{i + 1:02d}", system, f"rater_{r + 1}", rounded[i, s, r], emoji[i, s]])


if __name__ == "__main__":
    folder = Path(__file__).resolve().parents[1] / "examples"
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else folder / "pilot.csv")
