"""``mojimeter ratings power``: the chance of finding a difference with so many raters and items."""

from __future__ import annotations

import typer

from mojimeter.cli.output import JSON_OPTION, write_json


def command(
    file: str | None = typer.Argument(
        None, metavar="[PILOT]", help="Ratings of a pilot; or give --component four times."
    ),
    component: list[str] = typer.Option(
        [],
        "--component",
        metavar="SOURCE=VARIANCE",
        help="system, item:system, system:rater, residual; overrides PILOT.",
    ),
    systems: int | None = typer.Option(None, "--systems", help="Systems to compare; default: those of PILOT."),
    items: str = typer.Option("290", "--items", metavar="N[,N]", help="Items, one size or several."),
    raters: str = typer.Option("3,5,10,20", "--raters", metavar="N[,N]", help="Raters, one size or several."),
    alpha: float = typer.Option(0.05, "--alpha", help="Level of the test."),
    item: str = typer.Option("item", "--item", metavar="COLUMN", help="PILOT's column that names the item."),
    system: str | None = typer.Option(None, "--system", metavar="COLUMN", help="PILOT's column that names the system."),
    rater: str = typer.Option("rater", "--rater", metavar="COLUMN", help="PILOT's column that names the rater."),
    score: str = typer.Option("score", "--score", metavar="COLUMN", help="PILOT's column of scores."),
    map: list[str] = typer.Option([], "--map", metavar="OURS=THEIRS", help="A column's name in the file."),
    draws: int = typer.Option(200_000, "--draws", min=1000, help="Draws of the mean squares."),
    seed: int = typer.Option(1, "--seed", min=0, help="Seed of the draws."),
    fail_under: list[str] = typer.Option(
        [], "--fail-under", metavar="METRIC=VALUE", help="Exit 3 if systems_random or systems_fixed is lower anywhere."
    ),
    json: bool = JSON_OPTION,
) -> None:
    """Chance of finding that the systems differ, for systems as a sample and for these very systems.

    mojimeter ratings power pilot.csv --raters 3,10,27 --items 290

    mojimeter ratings power --systems 8 --component system=.0119 item:system=.0871 system:rater=.0676 residual=.6364
    """
    from mojimeter.datasets.tables import parse_mapping
    from mojimeter.errors import InputError
    from mojimeter.ratings.gates import hold_gates
    from mojimeter.ratings.plan_screen import describe_powers
    from mojimeter.ratings.power import check_components, components_of_pilot, power, read_components, read_sizes

    base: dict[str, float] = {}
    if file is not None:
        base, found = components_of_pilot(file, item, system, rater, score, parse_mapping(map))
        systems = systems or found
    if systems is None:
        raise InputError("how many systems? give --systems, or the ratings of a pilot")
    components = check_components(read_components(component, base))
    powers = [
        power(components, systems=systems, items=i, raters=r, alpha=alpha, draws=draws, seed=seed)
        for i in read_sizes(items, "--items")
        for r in read_sizes(raters, "--raters")
    ]
    if json:
        write_json({"schema": 1, "components": components, "designs": [p.to_dict() for p in powers]})
    else:
        typer.echo(describe_powers(components, powers))
    hold_gates(
        {"systems_random": min(p.random for p in powers), "systems_fixed": min(p.fixed for p in powers)}, fail_under
    )
