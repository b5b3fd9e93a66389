"""Run folders small enough to count by hand, for tests of the report; written by the house's own writers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from mojimeter.datasets.readers import read_labels, read_outputs, read_posts
from mojimeter.metrics.disambiguation import score_disambiguation
from mojimeter.metrics.recommendation import score_recommendations
from mojimeter.runs.folder import RunFolder
from mojimeter.runs.judge_panel import with_judge_panel
from mojimeter.runs.kin import with_kin

TASKS = ("sentiment", "emotion", "stance", "age", "gender")
ABOUT = {"equality": "presentation", "draws": 200, "bootstrap_seed": 0, "n": "3", "append": "emoji"}
Labels = Mapping[str, Mapping[str, Sequence[str | None]]]


def write_recommendation(
    path: Path,
    posts: Sequence[Mapping[str, Any]],
    replies: Mapping[str, Sequence[str | None]],
    labels: Mapping[str, Labels],
    *,
    scored: bool = True,
    settings: Mapping[str, Any] | None = None,
    more: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
) -> Path:
    """A run of benchmark A.

    Args:
        path: the folder.
        posts: rows of the table of posts.
        replies: system -> its reply to each post, None for a call that gave nothing.
        labels: judge -> system (or ``gold``) -> task -> the label of each post.
        scored: also the scores.
        settings: beside the usual ones.
        more: table -> rows to add to it, such as second attempts.
    """
    ids = [post["id"] for post in posts]
    outputs = [
        {"id": i, "system": system, "epoch": 1, "reply": reply, "error": None if reply is not None else "not asked yet"}
        for system, given in replies.items()
        for i, reply in zip(ids, given, strict=True)
    ]
    rows = [
        {
            "id": post,
            "system": system,
            "judge": judge,
            "epoch": 1,
            **{task: by_task[task][k] for task in by_task},
        }
        for judge, by_system in labels.items()
        for system, by_task in by_system.items()
        for k, post in enumerate(ids)
    ]
    added = more or {}
    chosen = {"judges": list(labels), "systems": list(replies), **ABOUT, **(settings or {})}
    with RunFolder(path) as folder:
        folder.write_settings(chosen)
        folder.write_table("posts", pl.DataFrame(list(posts)))
        folder.write_table("outputs", pl.DataFrame([*outputs, *added.get("outputs", [])], infer_schema_length=None))
        folder.write_table("labels", pl.DataFrame([*rows, *added.get("labels", [])], infer_schema_length=None))
        if scored:
            tables = (
                read_posts(folder.table("posts")),
                read_outputs([folder.table("outputs")]),
                read_labels([folder.table("labels")]),
            )
            by_judge = {j: score_recommendations(*tables, draws=chosen["draws"], judge=j) for j in labels}
            first = next(iter(labels))
            folder.write_scores({**with_kin(with_judge_panel(by_judge, first), list(labels)), "run": str(path)})
    return path


def same_labels(*labels: str | None) -> dict[str, list[str | None]]:
    """These labels of the posts for the task sentiment alone."""
    return {"sentiment": list(labels)}


def write_pairs(
    path: Path,
    pairs: Sequence[Mapping[str, Any]],
    answers: Sequence[Mapping[str, Any]],
    differences: Sequence[Mapping[str, Any]] = (),
    *,
    scored: bool = True,
) -> Path:
    """A run of benchmark B from the rows of its tables."""
    with RunFolder(path) as folder:
        folder.write_settings({"systems": ["maker/a"], "verifier": "embedded", "draws": 200, "bootstrap_seed": 0})
        folder.write_table("pairs", pl.DataFrame(list(pairs)))
        folder.write_table("answers", pl.DataFrame(list(answers), infer_schema_length=None))
        if differences:
            folder.write_table("differences", pl.DataFrame(list(differences), infer_schema_length=None))
        if scored:
            found = score_disambiguation(
                pl.DataFrame(list(pairs)),
                pl.DataFrame(list(answers), infer_schema_length=None),
                pl.DataFrame(list(differences), infer_schema_length=None) if differences else None,
                draws=200,
                verifier="embedded",
            )
            folder.write_scores({**found.to_dict(), "run": str(path), "given": []})
    return path
