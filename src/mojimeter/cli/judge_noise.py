"""``mojimeter judge noise``: how often labels change by themselves, and what that does to scores."""

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
    repeats: int = typer.Option(3, "--repeats", min=2, help="How often --judge labels each post."),
    same_text: bool = typer.Option(
        False,
        "--same-text",
        help="Equal texts in the files were labelled separately, so they are repeats too (semrec: always). Else only "
        "epochs of 'gold' are.",
    ),
    random: str | None = typer.Option(None, "--random", metavar="SYSTEM", help="What stands for random emoji."),
    alias: list[str] = options.ALIAS,
    limit: int | None = options.LIMIT,
    votes: int = options.VOTES,
    apart: bool = options.APART,
    out: str | None = options.OUT,
    bootstrap: int = options.BOOTSTRAP,
    seed: int = options.SEED,
    map: list[str] = options.MAP,
    json: bool = JSON_OPTION,
) -> None:
    """Repeat labelling: how often a label changes, the ceiling on preservation, and scores corrected for both.

    mojimeter judge noise posts.csv --judge openai/gpt-4o-mini --repeats 3 --limit 200

    mojimeter judge noise benchmark.csv --outputs zeroshot_*.csv --format semrec
    """
    from mojimeter.datasets.tables import parse_mapping
    from mojimeter.trust.commands import noise_document, parse_aliases
    from mojimeter.trust.screens import Screen, print_noise
    from mojimeter.trust.sources import Asking, read_material

    aliases = parse_aliases(alias)
    material = read_material(posts, outputs, labels, format=format, mapping=parse_mapping(map), limit=limit)
    asking = Asking(votes, not apart, out, progress=options.progress())
    document = noise_document(
        material,
        judge,
        asking,
        repeats=repeats,
        same_text=same_text or format == "semrec",
        random=random,
        aliases=aliases,
        draws=bootstrap,
        seed=seed,
    )
    write_json(document) if json else print_noise(document, Screen())
