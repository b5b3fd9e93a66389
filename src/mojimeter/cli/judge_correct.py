"""``mojimeter judge correct``: few good labels correct many cheap ones."""

from __future__ import annotations

import typer

from mojimeter.cli import judge_options as options
from mojimeter.cli.output import JSON_OPTION, write_json


def command(
    posts: str = options.POSTS,
    labels: list[str] = options.LABELS,
    outputs: list[str] = options.OUTPUTS,
    format: str = options.FORMAT,
    good: str | None = typer.Option(None, "--good", metavar="JUDGE", help="Whose labels in the files are good."),
    cheap: str | None = typer.Option(None, "--cheap", metavar="JUDGE", help="Whose labels in the files are cheap."),
    judge: str | None = typer.Option(
        None, "--judge", metavar="J", help="Cheap labels from a judge that is asked now: student/starter, a model, ..."
    ),
    task: str = typer.Option("average", "--task", help="Of preservation: average, or one of the five tasks."),
    hard: bool = typer.Option(False, "--hard", help="A student's labels, where its probabilities would be used."),
    at: list[int] = typer.Option([], "--at", metavar="N...", help="Numbers of good labels; default 250 500 1000 2000."),
    times_full: float = typer.Option(1.25, "--times-full", min=1.0, help="How much wider an interval may be."),
    choices: int = typer.Option(100, "--choices", min=1, help="Random choices of posts behind a number."),
    alias: list[str] = options.ALIAS,
    limit: int | None = options.LIMIT,
    votes: int = options.VOTES,
    apart: bool = options.APART,
    out: str | None = options.OUT,
    seed: int = options.SEED,
    map: list[str] = options.MAP,
    json: bool = JSON_OPTION,
) -> None:
    """Preservation (or, without systems, the share of each label) from few good labels and many cheap ones (PPI++).

    mojimeter judge correct posts.csv --outputs replies.csv --labels people.csv --judge student/starter

    mojimeter judge correct benchmark.csv --outputs zeroshot_gpt-4o.csv --format semrec --judge student/starter
    """
    from mojimeter.datasets.tables import parse_mapping
    from mojimeter.trust.commands import correct_document, parse_aliases
    from mojimeter.trust.screens import Screen, print_correct
    from mojimeter.trust.sources import Asking, read_material

    aliases = parse_aliases(alias)
    material = read_material(posts, outputs, labels, format=format, mapping=parse_mapping(map), limit=limit)
    asking = Asking(votes, not apart, out, progress=options.progress())
    document = correct_document(
        material,
        asking,
        good=good,
        cheap=cheap,
        judge=judge,
        task=task,
        hard=hard,
        at=at or (250, 500, 1000, 2000),
        times_full=times_full,
        choices=choices,
        aliases=aliases,
        seed=seed,
    )
    write_json(document) if json else print_correct(document, Screen())
