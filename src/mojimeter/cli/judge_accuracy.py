"""``mojimeter judge accuracy``: judges against known labels."""

from __future__ import annotations

import typer

from mojimeter.cli import judge_options as options
from mojimeter.cli.output import JSON_OPTION, write_json


def command(
    posts: str = options.POSTS,
    labels: list[str] = options.LABELS,
    judge: list[str] = options.JUDGE,
    truth: str | None = typer.Option(
        None, "--truth", metavar="JUDGE", help="Whose labels are right; else the posts' own columns (sentiment, ...)."
    ),
    limit: int | None = options.LIMIT,
    votes: int = options.VOTES,
    apart: bool = options.APART,
    out: str | None = options.OUT,
    bootstrap: int = options.BOOTSTRAP,
    seed: int = options.SEED,
    map: list[str] = options.MAP,
    json: bool = JSON_OPTION,
) -> None:
    """Precision, recall, F1, accuracy and kappa of judges against known labels, overall and per class.

    mojimeter judge accuracy starter:test --judge student/starter

    mojimeter judge accuracy posts.csv --labels gpt-4o.csv gpt-4o-mini.csv
    """
    from mojimeter.datasets.tables import parse_mapping
    from mojimeter.trust.commands import accuracy_document
    from mojimeter.trust.screens import Screen, print_accuracy
    from mojimeter.trust.sources import Asking, read_material

    material = read_material(posts, (), labels, mapping=parse_mapping(map), limit=limit)
    asking = Asking(votes, not apart, out, progress=options.progress())
    document = accuracy_document(material, posts, judge, truth, asking, draws=bootstrap, seed=seed)
    write_json(document) if json else print_accuracy(document, Screen())
