"""A student judge from a user's own posts and labels: reads them, fits, and writes weights, quality and model card.

The join of ``datasets`` and ``judges.fitting`` that ``mojimeter judge train`` runs. Knows no command line.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from mojimeter.datasets.readers import read_posts
from mojimeter.datasets.records import GOLD, TASKS, as_labels
from mojimeter.datasets.starter import is_starter, starter_labels
from mojimeter.datasets.tables import read_table
from mojimeter.errors import InputError, MissingExtraError
from mojimeter.judges.fitting import FOLDS, Examples, TaskQuality, check_examples, fit
from mojimeter.judges.labels import parse_labels
from mojimeter.judges.student import plain_text, read_student, write_student
from mojimeter.models import emoji_vectors
from mojimeter.models.encoder import shared_encoder

PEOPLE = "labels"  # who labelled, where the file does not say


@dataclass(frozen=True, slots=True)
class TrainedJudge:
    """A fitted judge and where it lies.

    Attributes:
        path: the weights; the model card and the quality lie beside them as .md and .json.
        quality: what is stored with the weights.
    """

    path: Path
    quality: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """The JSON document of ``judge train``."""
        return {"schema": 1, "file": str(self.path), "use": f"student/{self.path}", **self.quality}


def train_judge(
    posts: str,
    labels: Sequence[str],
    out: str | Path,
    *,
    judge: str | None = None,
    mapping: Mapping[str, str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> TrainedJudge:
    """Fit a student to the labels of posts.

    Args:
        posts: anything ``read_posts`` takes.
        labels: tables of labels; rows of other systems than ``gold`` are left out. May be empty for starter posts,
            which have their own.
        out: the file of weights to write, ending in .npz.
        judge: whose labels, where the tables hold several judges'.
        mapping: our column -> the files' column.
        progress: called with texts embedded and texts to embed.

    Raises:
        InputError: unreadable or too few labels; the sentence names the task, the label and how many there are.
        MissingExtraError: scikit-learn or the encoder is not installed.
    """
    path = Path(out)
    if path.suffix != ".npz":
        raise InputError(f"--out {path}: expected a name ending in .npz")
    _require_sklearn()
    frame = read_posts(posts, _present(mapping, posts))
    found, who, unparsed = _labels(posts, labels, judge, mapping or {})
    joined = frame.select("id", "original", "emoji", "author").join(found, on="id", how="inner")
    if joined.is_empty():
        raise InputError(f"{posts}: none of its ids has a label")
    examples = _examples(joined, None)
    check_examples(examples)  # before the encoder spends minutes
    examples = _examples(joined, progress)
    heads, measured = fit(examples)
    quality = {
        "judge": f"student/{path.name}",
        "labels_by": who,
        "fitted_on": {
            "posts": joined.height,
            "groups": len(set(examples.groups)),
            "grouped_by": "author" if joined["author"].null_count() < joined.height else "post",
            "folds": FOLDS,
        },
        "labels_without_post": found.height - joined.height,
        "posts_without_label": frame.height - joined.height,
        "unparsed_labels": unparsed,
        "held_out": {task: _rounded(value) for task, value in measured.items()},
    }
    content = write_student(emoji_vectors.table(), heads, quality)
    read_student(content, f"student/{path}", str(path))  # what is written can be read
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.with_suffix(".json").write_text(json.dumps(quality, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        path.with_suffix(".md").write_text(model_card(quality), encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None
    return TrainedJudge(path, quality)


def model_card(quality: Mapping[str, Any]) -> str:
    """The model card that lies beside the weights."""
    fitted = quality["fitted_on"]
    rows = "\n".join(
        f"| {task} | {q['posts']} | {q['accuracy']:.3f} | {q['majority']:.3f} | {q['kappa']:.2f} | {q['ece']:.3f} |"
        for task, q in quality["held_out"].items()
    )
    return f"""# Model card: {quality["judge"]}

Linear heads on multilingual E5-small embeddings (text) and look-up tables (emoji), fitted by
`mojimeter judge train` to the labels of {quality["labels_by"]!r} on {fitted["posts"]:,} posts.

Held-out agreement with those labels: {fitted["folds"]} folds, all posts of one {fitted["grouped_by"]} in the same fold
({fitted["groups"]} of them). "Commonest" is the accuracy of always saying the commonest label.

| task | posts | accuracy | commonest | kappa | calibration error |
|---|---|---|---|---|---|
{rows}

It repeats what the labels say, their mistakes and prejudices included, and was measured on posts like those it was
fitted on. Age and gender are labels that are perceived in a text, not facts about people. The weights hold no post.
"""


def _labels(
    posts: str, files: Sequence[str], judge: str | None, mapping: Mapping[str, str]
) -> tuple[pl.DataFrame, str, dict[str, int]]:
    """One row of labels a post, who gave them, and how many could not be read."""
    if files:
        read = [as_labels(read_table(f, mapping=_present(mapping, f)), f, system=GOLD, judge=PEOPLE) for f in files]
        frame = pl.concat(read, how="diagonal_relaxed").filter(pl.col("system") == GOLD)
    elif is_starter(posts):
        frame = starter_labels(posts)
    else:
        raise InputError("no labels: give files of them (--labels)")
    judges = frame["judge"].unique(maintain_order=True).to_list()
    chosen = judge or (judges[0] if len(judges) == 1 else None)
    if chosen is None or chosen not in judges:
        named = ", ".join(map(repr, judges)) or "none of the original posts (system 'gold')"
        raise InputError(f"--judge {judge or 'is needed'}: the labels are those of {named}")
    frame = frame.filter(pl.col("judge") == chosen).unique("id", keep="first", maintain_order=True)
    parsed = frame.with_columns([parse_labels(task, frame[task]).alias(task) for task in TASKS])
    unparsed = {task: parsed[task].null_count() - frame[task].null_count() for task in TASKS}
    return parsed.select("id", *TASKS), str(chosen), unparsed


def _examples(joined: pl.DataFrame, progress: Callable[[int, int], None] | None) -> Examples:
    """Examples; without a progress only what can be checked before anything is embedded."""
    import numpy as np

    texts = [plain_text(text) for text in joined["original"]]
    vectors = np.empty((0, 0), np.float32) if progress is None else shared_encoder().embed(texts, progress)
    groups = joined["author"].fill_null(joined["id"]).to_list()
    return Examples(vectors, joined["emoji"].to_list(), {task: joined[task].to_list() for task in TASKS}, groups)


def _present(mapping: Mapping[str, str] | None, file: str) -> dict[str, str]:
    """The pairs whose column is in a file: posts and labels share one ``--map``."""
    if not mapping or not Path(file).is_file():
        return {}
    columns = read_table(file).columns
    return {ours: theirs for ours, theirs in mapping.items() if theirs in columns}


def _rounded(quality: TaskQuality) -> dict[str, Any]:
    def short(value: Any) -> Any:
        if isinstance(value, float):
            return round(value, 4)
        if isinstance(value, list):
            return [{name: short(one) for name, one in row.items()} for row in value]
        return value

    return {name: short(value) for name, value in quality.to_dict().items()}


def _require_sklearn() -> None:
    from importlib.util import find_spec

    if find_spec("sklearn") is None:
        raise MissingExtraError("scikit-learn", "train", "judge train")
