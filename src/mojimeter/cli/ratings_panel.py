"""``mojimeter ratings panel``: what a panel of models is worth, in people."""

from __future__ import annotations

import typer

from mojimeter.cli.output import JSON_OPTION, write_json


def command(
    file: str = typer.Argument(..., metavar="FILE", help="Ratings by models and people of the same units."),
    judges: list[str] = typer.Option(..., "--judges", metavar="RATER", help="Raters that are models."),
    people: list[str] = typer.Option(
        [], "--people", metavar="RATER", help="Raters that are people; default: all others."
    ),
    item: str = typer.Option("item", "--item", metavar="COLUMN", help="Column that names the item."),
    system: str | None = typer.Option(None, "--system", metavar="COLUMN", help="Column that names the system."),
    rater: str = typer.Option("rater", "--rater", metavar="COLUMN", help="Column that names the rater."),
    score: str = typer.Option("score", "--score", metavar="COLUMN", help="Column of scores."),
    map: list[str] = typer.Option([], "--map", metavar="OURS=THEIRS", help="A column's name in the file."),
    fail_under: list[str] = typer.Option(
        [], "--fail-under", metavar="METRIC=VALUE", help="Exit 3 if consistency or absolute worth is lower."
    ),
    json: bool = JSON_OPTION,
) -> None:
    """How many people's mean would do as well as these models: for the order of units, and for their scores.

    mojimeter ratings panel ratings.csv --judges gpt-4o gemma --people anna bela chen
    """
    import math

    from mojimeter.datasets.tables import parse_mapping
    from mojimeter.ratings.gates import hold_gates
    from mojimeter.ratings.panel import split_panel
    from mojimeter.ratings.panel_screen import describe_panel
    from mojimeter.ratings.summary import open_study

    study = open_study(file, item, system, rater, [score], (), None, parse_mapping(map))
    named = [[n.strip() for text in texts for n in text.split(",") if n.strip()] for texts in (judges, people)]
    found = split_panel(study, named[0], named[1])
    if json:
        write_json({"schema": 1} | found.to_dict())
    else:
        typer.echo(describe_panel(found))
    worth = {"consistency": found.panel.consistency, "absolute": found.panel.absolute}
    hold_gates({k: math.inf if e.state == "unbounded" else e.value for k, e in worth.items()}, fail_under)
