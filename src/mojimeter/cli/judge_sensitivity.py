"""``mojimeter judge sensitivity``: labels with the emoji replaced."""

from __future__ import annotations

import typer

from mojimeter.cli import judge_options as options
from mojimeter.cli.output import JSON_OPTION, write_json


def command(
    posts: str = options.POSTS,
    labels: list[str] = options.LABELS,
    judge: list[str] = options.JUDGE,
    outputs: list[str] = options.OUTPUTS,
    format: str = options.FORMAT,
    variant: list[str] = typer.Option(
        [],
        "--variant",
        metavar="SYSTEM...",
        help="What stands for other emoji: baseline/random (the paper's), baseline/none, baseline/original, or any "
        "system in the files.",
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
    """Label posts as written and with three random emoji, without, and with the original ones at the end.

    mojimeter judge sensitivity posts.csv --judge student/starter openai/gpt-4o-mini

    mojimeter judge sensitivity benchmark.csv --outputs zeroshot_random_sentence.csv --format semrec
    """
    from mojimeter.datasets.tables import parse_mapping
    from mojimeter.trust.commands import sensitivity_document
    from mojimeter.trust.screens import Screen, print_sensitivity
    from mojimeter.trust.sources import Asking, read_material

    material = read_material(posts, outputs, labels, format=format, mapping=parse_mapping(map), limit=limit)
    asking = Asking(votes, not apart, out, progress=options.progress())
    document = sensitivity_document(material, judge, variant, asking, draws=bootstrap, seed=seed)
    write_json(document) if json else print_sensitivity(document, Screen())
