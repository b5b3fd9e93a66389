"""Fits a student judge: regularised logistic regression on embeddings, and what it is worth on posts it has not seen.

Held-out numbers are grouped: all posts of an author are held out together, because posts of one author are alike.
Needs scikit-learn (the extra ``train``); what it makes does not. Knows nothing of files or the command line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mojimeter.errors import InputError, MissingExtraError
from mojimeter.judges.labels import LABELS
from mojimeter.judges.student import COUNTS, TASKS, Head, Numbers, bag_weight, count_features, softmax
from mojimeter.models import emoji_vectors

#: A class with fewer examples than this cannot be fitted and measured.
LEAST_EXAMPLES: Final = 10
FOLDS: Final = 5
BINS: Final = 10
#: Strength of the fit, scikit-learn's C; chosen on the starter posts' development part (docs/student.md).
STRENGTH: Final = 10.0
#: Tasks whose rare labels get more weight, chosen in the same way.
BALANCED: Final = ("age",)
#: Each post is learnt from once more without its emoji, with this weight, so that the text alone keeps a reading and a
#: judge does not take "no emoji" for a statement. Chosen on the starter posts' development part (docs/student.md).
BARE_WEIGHT: Final = 0.3


@dataclass(frozen=True, slots=True)
class TaskQuality:
    """How one task's labels were met on held-out posts.

    Attributes:
        posts: how many were held out.
        accuracy, kappa: 0 to 1; Cohen's kappa.
        majority: accuracy of always saying the commonest label.
        ece: expected calibration error, 0 to 1 (Guo et al. 2017, 10 bins of equal width).
        calibration: for each bin that has posts: its posts, mean confidence, accuracy.
        confusion: label given -> label met -> posts.
    """

    posts: int
    accuracy: float
    kappa: float
    majority: float
    ece: float
    calibration: list[dict[str, float]] = field(default_factory=list)
    confusion: dict[str, dict[str, int]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Examples:
    """Posts as a student sees them, with their labels.

    Attributes:
        vectors: (n, 384) embeddings of the texts without emoji.
        emoji: the emoji of each.
        labels: task -> n labels; None where a post has none for that task.
        groups: n names; what shares a name is held out together.
    """

    vectors: Numbers
    emoji: list[list[str]]
    labels: dict[str, list[str | None]]
    groups: list[str]


def fit(
    examples: Examples, strength: float = STRENGTH, balanced: Sequence[str] = BALANCED
) -> tuple[dict[str, Head], dict[str, TaskQuality]]:
    """Heads fitted on all examples, and what such heads are worth on held-out groups.

    Raises:
        InputError: a task with fewer than two labels, or a label with fewer than 10 examples.
        MissingExtraError: scikit-learn is not installed.
    """
    check_examples(examples)
    features = Features(examples)
    heads: dict[str, Head] = {}
    measured: dict[str, TaskQuality] = {}
    for task in TASKS:
        rows, labels = _labelled(examples, task)
        groups = [examples.groups[row] for row in rows]
        out = held_out_logits(features.matrix[rows], features.bare[rows], labels, groups, strength, task in balanced)
        names = tuple(label for label in LABELS[task] if label in set(labels))
        temperature = best_temperature(out, np.array([names.index(label) for label in labels]))
        measured[task] = measure(softmax(out / temperature), names, labels)
        fitted = _fit(features.matrix[rows], features.bare[rows], labels, strength, task in balanced)
        heads[task] = features.head(task, *fitted, temperature)
    return heads, measured


def check_examples(examples: Examples, least: int = LEAST_EXAMPLES) -> None:
    """Refuse labels that are too few to fit and measure.

    Raises:
        InputError: names the task, the label and how many there are.
    """
    for task in TASKS:
        counts = Counter(label for label in examples.labels[task] if label is not None)
        for label, count in sorted(counts.items(), key=lambda pair: pair[1]):
            if label not in LABELS[task]:
                raise InputError(f"{task}: label {label!r}; expected one of {', '.join(LABELS[task])}")
            if count < least:
                raise InputError(
                    f"{task}: {count} of the posts labelled {label!r}; at least {least} are needed to learn it"
                )
        if len(counts) < 2:
            only = f"only {next(iter(counts))!r}" if counts else "nothing"
            raise InputError(f"{task}: {only} among the labels; at least two different labels are needed")
    if len(set(examples.groups)) < FOLDS:
        raise InputError(f"{len(set(examples.groups))} authors; at least {FOLDS} are needed to hold some out")


class Features:
    """The matrix that heads are fitted on, and the way back from its weights to a head's tables.

    Attributes:
        matrix: (posts, features) of text and emoji.
        bare: the same posts without their emoji.
    """

    def __init__(self, examples: Examples) -> None:
        self._views = [_centred(emoji_vectors.view(name)) for name in emoji_vectors.VIEWS]
        self._mean = examples.vectors.mean(axis=0)
        self.matrix = np.hstack(
            [examples.vectors - self._mean, self._emoji(examples.emoji), count_features(examples.emoji)]
        )

        self.bare = self.matrix.copy()
        self.bare[:, examples.vectors.shape[1] : -COUNTS] = 0.0
        self.bare[:, -COUNTS:] = count_features([[]])

    def _emoji(self, given: Sequence[Sequence[str]]) -> Numbers:
        table = np.hstack(self._views)
        out = np.zeros((len(given), table.shape[1]), np.float32)
        for post, them in enumerate(given):
            rows = [row for one in them if (row := emoji_vectors.row_of(one)) is not None]
            if rows:
                out[post] = table[rows].sum(axis=0) * bag_weight(rows)
        return out

    def head(self, task: str, names: tuple[str, ...], weights: Numbers, bias: Numbers, temperature: float) -> Head:
        """A head from the weights (labels, features) of the matrix."""
        size = len(self._mean)
        text = weights[:, :size].T
        return Head(
            names,
            text.astype(np.float32),
            (np.hstack(self._views) @ weights[:, size:-COUNTS].T).astype(np.float32),
            weights[:, -COUNTS:].T.astype(np.float32),
            (bias - self._mean @ text).astype(np.float32),
            temperature,
        )


def held_out_logits(
    matrix: Numbers, bare: Numbers, labels: Sequence[str], groups: Sequence[str], strength: float, balanced: bool
) -> Numbers:
    """(posts, labels) logits of each post by a head that saw no post of its group."""
    names = sorted(set(labels))
    given = np.array(labels)
    out = np.full((len(labels), len(names)), -1e3, np.float32)  # a label that a fold did not see is never said
    fold_of = _folds(groups)
    for fold in range(FOLDS):
        held = np.array([fold_of[group] == fold for group in groups])
        if not held.any() or len(set(given[~held])) < 2:
            continue
        seen, weights, bias = _fit(matrix[~held], bare[~held], list(given[~held]), strength, balanced)
        out[np.ix_(held, np.array([names.index(name) for name in seen]))] = matrix[held] @ weights.T + bias
    order = [names.index(label) for label in _in_order(names)]
    return out[:, order]


def best_temperature(logits: Numbers, given: NDArray[np.int64]) -> float:
    """The temperature with the least log loss (Guo et al. 2017, "On calibration of modern neural networks")."""
    from scipy.optimize import minimize_scalar

    def loss(log_temperature: float) -> float:
        found = softmax(logits / np.float32(np.exp(log_temperature)))[np.arange(len(given)), given]
        return float(-np.log(np.maximum(found, 1e-9)).mean())

    return float(np.exp(minimize_scalar(loss, bounds=(-3.0, 3.0), method="bounded").x))


def measure(probabilities: Numbers, names: Sequence[str], given: Sequence[str]) -> TaskQuality:
    """Agreement and calibration of probabilities (posts, names) with the labels given."""
    best = probabilities.argmax(axis=1)
    met = [names[place] for place in best]
    right = np.array([a == b for a, b in zip(met, given, strict=True)])
    confidence = probabilities[np.arange(len(given)), best]
    table = _calibration(confidence, right)
    confusion = {name: dict.fromkeys(names, 0) for name in sorted(set(given), key=_place(given))}
    for label, said in zip(given, met, strict=True):
        confusion[label][said] += 1
    return TaskQuality(
        posts=len(given),
        accuracy=float(right.mean()),
        kappa=cohen_kappa(given, met),
        majority=Counter(given).most_common(1)[0][1] / len(given),
        ece=sum(bin_["posts"] * abs(bin_["confidence"] - bin_["accuracy"]) for bin_ in table) / len(given),
        calibration=table,
        confusion=confusion,
    )


def cohen_kappa(left: Sequence[str], right: Sequence[str]) -> float:
    """Cohen's kappa (Cohen 1960); 0 where chance leaves nothing to agree on."""
    ours, theirs = Counter(left), Counter(right)
    observed = sum(a == b for a, b in zip(left, right, strict=True)) / len(left)
    expected = sum(count * theirs[label] for label, count in ours.items()) / len(left) ** 2
    return (observed - expected) / (1 - expected) if expected < 1 else 0.0


def _fit(
    matrix: Numbers, bare: Numbers, labels: Sequence[str], strength: float, balanced: bool
) -> tuple[tuple[str, ...], Numbers, Numbers]:
    """Labels in their task's order, weights (labels, features), bias (labels)."""
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError:
        raise MissingExtraError("scikit-learn", "train", "fitting a judge") from None
    model = LogisticRegression(C=strength, class_weight="balanced" if balanced else None, max_iter=3000)
    both = np.vstack([matrix, bare]).astype(np.float64)
    weight = np.repeat([1.0, BARE_WEIGHT], len(matrix))
    model.fit(both, np.tile(np.array(labels), 2), sample_weight=weight)
    found = [str(label) for label in model.classes_]
    weights, bias = model.coef_, model.intercept_
    if len(found) == 2:  # one row for the second label
        weights, bias = np.vstack([-weights, weights]) / 2, np.concatenate([-bias, bias]) / 2
    names = _in_order(found)
    order = [found.index(name) for name in names]
    return names, weights[order].astype(np.float32), bias[order].astype(np.float32)


def _in_order(names: Sequence[str]) -> tuple[str, ...]:
    for labels in LABELS.values():
        if set(names) <= set(labels):
            return tuple(label for label in labels if label in names)
    return tuple(sorted(names))


def _labelled(examples: Examples, task: str) -> tuple[NDArray[np.int64], list[str]]:
    found = [(row, label) for row, label in enumerate(examples.labels[task]) if label is not None]
    return np.array([row for row, _ in found], np.int64), [label for _, label in found]


def _folds(groups: Sequence[str]) -> dict[str, int]:
    """Group -> fold, the largest groups first to the fold with the fewest posts; no chance in it."""
    sizes = [0] * FOLDS
    folds: dict[str, int] = {}
    for group, count in sorted(Counter(groups).items(), key=lambda pair: (-pair[1], pair[0])):
        folds[group] = sizes.index(min(sizes))
        sizes[folds[group]] += count
    return folds


def _calibration(confidence: Numbers, right: NDArray[np.bool_]) -> list[dict[str, float]]:
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    table = []
    for place in range(BINS):
        inside = bins == place
        if inside.any():
            table.append(
                {
                    "posts": int(inside.sum()),
                    "confidence": float(confidence[inside].mean()),
                    "accuracy": float(right[inside].mean()),
                }
            )
    return table


def _centred(view: Numbers) -> Numbers:
    return np.asarray(view - view.mean(axis=0), dtype=np.float32)


def _place(given: Sequence[str]) -> Any:
    order = _in_order(sorted(set(given)))
    return order.index
