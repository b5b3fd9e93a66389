"""``mojimeter judge bias``: self-preference, order and length."""

from __future__ import annotations

import typer

from mojimeter.cli import judge_options as options
from mojimeter.cli.output import JSON_OPTION, write_json


def command(
    posts: str | None = typer.Argument(None, metavar="[POSTS]", help="Posts, where labels or outputs are given."),
    labels: list[str] = options.LABELS,
    outputs: list[str] = options.OUTPUTS,
    format: str = options.FORMAT,
    judge: list[str] = options.JUDGE,
    alias: list[str] = options.ALIAS,
    differences: str | None = typer.Option(
        None, "--differences", metavar="FILE", help="Verdicts on pairs: id, system, pair, order (ab, ba), differs."
    ),
    verdicts: str | None = typer.Option(
        None, "--verdicts", metavar="FILE", help="Verdicts on answers: id, answer, verdict; optional people, length."
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
    """Does a judge favour a system of its own kin, the order of a pair, or the length of an answer?

    mojimeter judge bias posts.csv --labels labels.csv --is released=openai/gpt-4o-mini

    mojimeter judge bias --differences differences.csv --verdicts answers.csv
    """
    from mojimeter.datasets.tables import parse_mapping
    from mojimeter.trust.commands import bias_document, parse_aliases
    from mojimeter.trust.screens import Screen, print_bias
    from mojimeter.trust.sources import Asking, read_material

    mapping = parse_mapping(map)
    aliases = parse_aliases(alias)
    material = None
    if posts is not None:
        material = read_material(posts, outputs, labels, format=format, mapping=mapping, limit=limit)
    asking = Asking(votes, not apart, out, progress=options.progress())
    document = bias_document(
        material, judge, asking, aliases, differences, verdicts, mapping, draws=bootstrap, seed=seed
    )
    write_json(document) if json else print_bias(document, Screen())
