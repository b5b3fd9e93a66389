"""``mojimeter compare``: is one run's system ahead of another run's?"""

from __future__ import annotations

import typer

from mojimeter.cli.output import JSON_OPTION, write_json, write_warnings


def command(
    first: str = typer.Argument(..., metavar="RUN", help="A run folder."),
    second: str = typer.Argument(..., metavar="RUN", help="Another, of the same posts and judge."),
    system: list[str] = typer.Option(
        [], "--system", help="The system to compare; twice: that of the first run and that of the second."
    ),
    metric: str = typer.Option("average", "--metric", help="average (labels kept), average_unleaked, or f1 (overlap)."),
    bootstrap: int = typer.Option(2000, "--bootstrap", min=1, help="Draws over authors."),
    seed: int = typer.Option(0, "--seed", min=0, help="Seed of the draws."),
    json: bool = JSON_OPTION,
) -> None:
    """Compare two runs post by post: difference, interval, paired test, and what could have been seen.

    Runs with unlike signatures are refused.
    """
    from mojimeter.runs.compare import compare_runs

    comparison = compare_runs(first, second, systems=system, metric=metric, draws=bootstrap, seed=seed)
    write_warnings(comparison.warnings)
    if json:
        write_json(comparison.to_dict())
    else:
        from mojimeter.report.comparison import print_comparison

        print_comparison(comparison)
