"""``mojimeter score``: benchmark A from files, without a model."""

from __future__ import annotations

import typer

from mojimeter.cli.output import JSON_OPTION, write_json, write_warnings


def command(
    posts: str = typer.Argument(
        ...,
        metavar="POSTS",
        help="Posts: id, text with the original emoji, optionally author. CSV, TSV, JSONL or Parquet.",
    ),
    outputs: list[str] = typer.Option(
        [], "--outputs", metavar="FILE...", help="Replies: id, system, reply; or one file a system, named by its stem."
    ),
    labels: list[str] = typer.Option(
        [],
        "--labels",
        metavar="FILE...",
        help="Labels: id, system ('gold' for the original post), judge, a column a task.",
    ),
    format: str = typer.Option("tables", "--format", help="tables, or semrec: the second paper's release as it is."),
    equality: str = typer.Option(
        "presentation",
        "--equality",
        help="When two emoji are the same: exact, presentation, tone, gender; code-points replays the printed tables.",
    ),
    append: str | None = typer.Option(
        None,
        "--append",
        help="What was appended to the posts before they were judged: emoji, or the raw reply. For the signature.",
    ),
    judge: str | None = typer.Option(
        None,
        "--judge",
        help="Who ranks, where the files hold labels of several judges; a panel of all of them is shown below.",
    ),
    alias: list[str] = typer.Option(
        [],
        "--is",
        metavar="JUDGE=MODEL",
        help="Which model a judge's name in the files stands for, so that systems of its kin are marked.",
    ),
    n: str = typer.Option("3", "--n", "-n", help="How many emoji the systems were asked for: 1 to 5, or 1-5."),
    bootstrap: int = typer.Option(2000, "--bootstrap", min=1, help="Draws of the bootstrap over authors."),
    seed: int = typer.Option(0, "--seed", min=0, help="Seed of the bootstrap."),
    map: list[str] = typer.Option([], "--map", metavar="OURS=THEIRS", help="A column's name in the files."),
    out: str | None = typer.Option(
        None, "--out", metavar="DIR", help="Keep tables and scores as a run folder, for report and compare."
    ),
    fail_under: list[str] = typer.Option(
        [],
        "--fail-under",
        metavar="METRIC=VALUE",
        help="Exit 3 if a system's score is lower: average=75, f1=8, gpt-4o:kept=88.",
    ),
    json: bool = JSON_OPTION,
) -> None:
    """Score recommended emoji from files: overlap, preservation, diversity and ranks, with intervals over authors.

    mojimeter score posts.csv --outputs replies.csv --labels labels.csv

    mojimeter score benchmark.csv --outputs zeroshot_*.csv --format semrec --is released=openai/gpt-4o-mini
    """
    from mojimeter.datasets.tables import parse_mapping
    from mojimeter.report.gates import check_gates, parse_gates
    from mojimeter.runs.scoring import ScoringOptions, parse_count, score_document
    from mojimeter.trust.commands import parse_aliases

    gates = parse_gates(fail_under)
    scores = score_document(
        posts,
        outputs,
        labels,
        mapping=parse_mapping(map),
        options=ScoringOptions(format, equality, append, judge, parse_count(n), bootstrap, seed, parse_aliases(alias)),
        out=out,
    )
    write_warnings(scores["warnings"])
    if json:
        write_json(scores)
    else:
        from mojimeter.report.terminal import print_scores

        print_scores(scores)
    check_gates(scores, gates)
