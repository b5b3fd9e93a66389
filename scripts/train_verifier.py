"""Fits the embedded verifier's head on the labelled answers and measures it on pairs it was not fitted on.

    python scripts/train_verifier.py [--out FOLDER]

Logistic regression on the 12 features of ``judges.embedded_verifier``; its penalty is chosen by cross-validation
over the pairs of the part ``train``. Empty answers are left out of the fit, since they need no verifier, and kept in
the measurement, since they are part of the job. What is measured on ``test`` becomes part of the weights.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_score

from mojimeter.datasets.pairs import read_verdicts
from mojimeter.judges.embedded_verifier import FEATURES, EmbeddedVerifier, write_verifier
from mojimeter.judges.verifier import Claim, Likeness, settle
from mojimeter.metrics.disambiguation import cohen_kappa
from mojimeter.stats.resample import bootstrap, sum_by_cluster

OUT = Path(__file__).resolve().parents[1] / "src" / "mojimeter" / "judges" / "weights"
PENALTIES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
FOLDS = 8
DRAWS, SEED = 2000, 0

Row = Mapping[str, Any]


def main() -> None:
    """Fit, measure, write, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    train, test = (read_verdicts(part).to_dicts() for part in ("train", "test"))
    head = fit([row for row in train if settle(claim(row)) is None])
    head.quality.update(measure(head, test))
    head.quality["small_model"] = measure_verdicts(head, read_verdicts("small_model").to_dicts())
    given.out.mkdir(parents=True, exist_ok=True)
    content = write_verifier(head.weights, head.intercept, head.centre, head.scale, head.quality)
    (given.out / "verifier.npz").write_bytes(content)
    print(json.dumps(head.quality, ensure_ascii=False, indent=1))
    for name, weight in zip(FEATURES, head.weights, strict=True):
        print(f"{weight:+.2f} {name}")


def fit(rows: Sequence[Row]) -> EmbeddedVerifier:
    """A head fitted on labelled answers."""
    width = len(FEATURES)
    blank = EmbeddedVerifier(np.zeros(width), 0.0, np.zeros(width), np.ones(width), {}, "")
    features = blank.features([claim(row) for row in rows])
    centre, scale = features.mean(axis=0), features.std(axis=0)
    scale[scale == 0.0] = 1.0
    standardised = (features - centre) / scale
    right = np.array([row["verdict"] == "right" for row in rows])
    pairs = [row["pair"] for row in rows]
    scores = {
        penalty: cross_val_score(
            LogisticRegression(C=penalty, max_iter=2000),
            standardised,
            right,
            groups=pairs,
            cv=GroupKFold(FOLDS, shuffle=True, random_state=SEED),
            scoring="neg_log_loss",
        ).mean()
        for penalty in PENALTIES
    }
    best = max(scores, key=lambda penalty: scores[penalty])
    model = LogisticRegression(C=best, max_iter=2000).fit(standardised, right)
    quality = {"fitted_on": {"answers": len(rows), "pairs": len(set(pairs))}, "penalty": best}
    return EmbeddedVerifier(model.coef_[0], float(model.intercept_[0]), centre, scale, quality, "")


def measure(verifier: EmbeddedVerifier, rows: Sequence[Row]) -> dict[str, Any]:
    """Accuracy and kappa on labelled answers, over all and by kind and language; the same for differences."""
    said = [settle(claim(row)) or verifier.verdict(claim(row)) for row in rows]
    differences = [(row, other) for row, other in combinations(rows, 2) if is_comparable(row, other)]
    found = [differ(verifier, row, other) for row, other in differences]
    truth = [row["reading"] != other["reading"] for row, other in differences]
    return {
        "measured_on": {"answers": len(rows), "pairs": len({row["pair"] for row in rows})},
        **agreement([row["pair"] for row in rows], said, [row["verdict"] for row in rows], "right"),
        "accuracy_by_kind": shares(rows, said, "kind"),
        "accuracy_by_lang": shares(rows, said, "lang"),
        "differences": {
            "compared": len(differences),
            **agreement([row["pair"] for row, _ in differences], found, truth, True),
        },
    }


def measure_verdicts(verifier: EmbeddedVerifier, rows: Sequence[Row]) -> dict[str, Any]:
    """Accuracy and kappa on all the answers that one model gave, a mixture that nobody chose."""
    said = [settle(claim(row)) or verifier.verdict(claim(row)) for row in rows]
    pairs = [row["pair"] for row in rows]
    found = agreement(pairs, said, [row["verdict"] for row in rows], "right")
    return {"answers": len(rows), "pairs": len(set(pairs)), **found}


def is_comparable(row: Row, other: Row) -> bool:
    """Whether it is known that two answers mean the same, or that they do not."""
    readings = (row["reading"], other["reading"])
    return row["pair"] == other["pair"] and "neither" not in readings


def differ(verifier: EmbeddedVerifier, row: Row, other: Row) -> bool:
    """Whether the verifier finds two answers to differ: asked in both orders, and both say so."""
    expected = (row["expected"], row["other"])
    said = []
    for first, second in ((row["answer"], other["answer"]), (other["answer"], row["answer"])):
        likeness = Likeness(row["text"], row["question"], first, second, expected)
        said.append((settle(likeness) or verifier.verdict(likeness)) == "wrong")
    return all(said)


def agreement(pairs: Sequence[str], said: Sequence[Any], truth: Sequence[Any], yes: Any) -> dict[str, Any]:
    """Accuracy and kappa, with intervals that resample pairs."""
    _, cluster = np.unique(pairs, return_inverse=True)
    cell = np.array([2 * (a == yes) + (b == yes) for a, b in zip(said, truth, strict=True)])
    columns = [sum_by_cluster((cell == c).astype(float), cluster, int(cluster.max()) + 1) for c in range(4)]
    table = np.column_stack(columns)
    accuracy = bootstrap(lambda sums: (sums[:, 0] + sums[:, 3]) / sums.sum(axis=1), table, draws=DRAWS, seed=SEED)
    kappa = bootstrap(cohen_kappa, table, draws=DRAWS, seed=SEED)
    return {"accuracy": accuracy.to_dict(), "kappa": kappa.to_dict()}


def shares(rows: Sequence[Row], said: Sequence[str], column: str) -> dict[str, Any]:
    """For each kind: how many answers, and how many of the verdicts are those of the labels."""
    out: dict[str, Any] = {}
    for row, verdict in zip(rows, said, strict=True):
        counts = out.setdefault(row[column], {"answers": 0, "agreed": 0})
        counts["answers"] += 1
        counts["agreed"] += verdict == row["verdict"]
    return dict(sorted(out.items()))


def claim(row: Row) -> Claim:
    """A labelled answer as a verifier is asked about it."""
    return Claim(row["text"], row["question"], row["answer"], row["expected"], row["other"], row["context"])


if __name__ == "__main__":
    main()
