"""``mojimeter judge train``: a judge of one's own from labelled posts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer

from mojimeter.cli.output import JSON_OPTION, write_json


def command(
    posts: str = typer.Argument(
        ..., metavar="POSTS", help="Posts: id, text with emoji, best also author. CSV, TSV, JSONL or Parquet."
    ),
    labels: list[str] = typer.Option(
        [],
        "--labels",
        metavar="FILE...",
        help="Labels: id, sentiment, emotion, stance, age, gender; of people, or a run folder's labels.jsonl.",
    ),
    judge: str | None = typer.Option(None, "--judge", help="Whose labels, where the files hold several judges'."),
    out: str = typer.Option(..., "--out", metavar="FILE.npz", help="The weights; card and quality go beside them."),
    map: list[str] = typer.Option([], "--map", metavar="OURS=THEIRS", help="A column's name in the files."),
    json: bool = JSON_OPTION,
) -> None:
    """Fit a judge to labelled posts, and say how well it meets labels of authors it has not seen.

    mojimeter judge train posts.csv --labels labels.csv --out mine.npz

    Afterwards: mojimeter recommend posts.csv --system ... --judge student/mine.npz
    """
    from rich.console import Console
    from rich.progress import Progress

    from mojimeter.datasets.tables import parse_mapping
    from mojimeter.runs.train_judge import train_judge

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("embedding posts", total=None)
        trained = train_judge(
            posts,
            labels,
            out,
            judge=judge,
            mapping=parse_mapping(map),
            progress=lambda done, of: bar.update(task, completed=done, total=of),
        )
    write_json(trained.to_dict()) if json else _print(trained.to_dict())


def _print(document: Mapping[str, Any]) -> None:
    fitted = document["fitted_on"]
    typer.echo(
        f"{document['use']}: fitted on {fitted['posts']} posts labelled by {document['labels_by']}; below, posts of "
        f"{fitted['grouped_by']}s it had not seen ({fitted['folds']} folds)"
    )
    typer.echo(f"{'task':10} {'posts':>6} {'accuracy':>9} {'commonest':>10} {'kappa':>6} {'calibration error':>18}")
    for task, q in document["held_out"].items():
        typer.echo(
            f"{task:10} {q['posts']:>6} {100 * q['accuracy']:>8.1f}% {100 * q['majority']:>9.1f}% {q['kappa']:>6.2f} "
            f"{q['ece']:>18.3f}"
        )
    typer.echo("calibration: how often it is right where it is so sure (posts)")
    for task, q in document["held_out"].items():
        bins = "  ".join(f"{b['confidence']:.2f}: {b['accuracy']:.2f} ({b['posts']})" for b in q["calibration"])
        typer.echo(f"{task:10} {bins}")
    left = {
        "labels of no post": document["labels_without_post"],
        "posts without a label": document["posts_without_label"],
        "labels that could not be read": sum(document["unparsed_labels"].values()),
    }
    for what, count in left.items():
        if count:
            typer.echo(f"left out: {count} {what}", err=True)
    typer.echo("Age and gender are labels perceived in a text, not facts about people.")
