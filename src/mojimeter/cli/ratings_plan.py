"""``mojimeter ratings plan``: raters and items that the next study needs, or a pilot sample to find out from."""

from __future__ import annotations

import typer

from mojimeter.cli.output import JSON_OPTION, write_json


def command(
    file: str | None = typer.Argument(
        None, metavar="[FILE]", help="Ratings of a pilot; or give --component four times."
    ),
    target: float = typer.Option(0.8, "--target", help="What to reach, between 0 and 1."),
    goal: str = typer.Option(
        "g", "--goal", help="g (ranking), phi (scores as such), power_random (systems a sample) or power_fixed."
    ),
    cost_rater: float = typer.Option(0.0, "--cost-rater", help="Cost of recruiting one rater."),
    cost_rating: float = typer.Option(1.0, "--cost-rating", help="Cost of one rating."),
    cost_item: float = typer.Option(0.0, "--cost-item", help="Cost of preparing one item."),
    systems: int | None = typer.Option(None, "--systems", help="Systems to compare; default: those of FILE."),
    items: int | None = typer.Option(None, "--items", min=2, help="Items, if their number is fixed."),
    max_items: int = typer.Option(5000, "--max-items", help="Most items to consider."),
    max_raters: int = typer.Option(200, "--max-raters", help="Most raters to consider."),
    alpha: float = typer.Option(0.05, "--alpha", help="Level of the test, for power."),
    component: list[str] = typer.Option(
        [],
        "--component",
        metavar="SOURCE=VARIANCE",
        help="system, item:system, system:rater, residual; overrides FILE.",
    ),
    item: str = typer.Option("item", "--item", metavar="COLUMN", help="FILE's column that names the item."),
    system: str | None = typer.Option(None, "--system", metavar="COLUMN", help="FILE's column that names the system."),
    rater: str = typer.Option("rater", "--rater", metavar="COLUMN", help="FILE's column that names the rater."),
    score: str = typer.Option("score", "--score", metavar="COLUMN", help="FILE's column of scores."),
    map: list[str] = typer.Option([], "--map", metavar="OURS=THEIRS", help="A column's name in the file."),
    pilot: str | None = typer.Option(
        None, "--pilot", metavar="ITEMS", help="Draw a stratified pilot sample from this file of items instead."
    ),
    by: str | None = typer.Option(None, "--by", metavar="COL[,COL]", help="Columns whose combinations are the strata."),
    n: int = typer.Option(50, "-n", help="Items of the pilot sample."),
    out: str | None = typer.Option(None, "--out", metavar="FILE", help="Where to write the pilot sample (CSV)."),
    seed: int = typer.Option(1, "--seed", min=0, help="Seed of the draws."),
    json: bool = JSON_OPTION,
) -> None:
    """Cheapest design for a target G, Phi or power; or, with --pilot, a sample of items for a first small study.

    mojimeter ratings plan --pilot items.csv --by lang -n 50 --out pilot.csv

    mojimeter ratings plan pilot_ratings.csv --target 0.8 --cost-rater 50 --cost-rating 0.10
    """
    if pilot is not None:
        _draw_pilot(pilot, by, n, out, seed, json)
        return
    from mojimeter.datasets.tables import parse_mapping
    from mojimeter.errors import InputError
    from mojimeter.ratings.plan import GOALS, Prices, plan
    from mojimeter.ratings.plan_screen import describe_plan
    from mojimeter.ratings.power import components_of_pilot, read_components

    base: dict[str, float] = {}
    if file is not None:
        base, found = components_of_pilot(file, item, system, rater, score, parse_mapping(map))
        systems = systems or found
    if systems is None:
        raise InputError("how many systems? give --systems, or the ratings of a pilot")
    wanted = next((g for g in GOALS if g == goal), None)
    if wanted is None:
        raise InputError(f"--goal {goal!r}: expected {', '.join(GOALS)}")
    found_plan = plan(
        read_components(component, base),
        systems=systems,
        target=target,
        goal=wanted,
        prices=Prices(cost_rater, cost_rating, cost_item),
        max_raters=max_raters,
        max_items=items or max_items,
        min_items=items or 2,
        alpha=alpha,
        seed=seed,
    )
    if json:
        write_json({"schema": 1} | found_plan.to_dict())
    else:
        typer.echo(describe_plan(found_plan))


def _draw_pilot(path: str, by: str | None, n: int, out: str | None, seed: int, json: bool) -> None:
    from mojimeter.ratings.pilot import draw_pilot_file

    sample = draw_pilot_file(path, [c.strip() for c in by.split(",")] if by else [], n, out, seed=seed)
    if json:
        write_json({"schema": 1} | sample.to_dict())
        return
    for name, (size, drawn) in sample.strata.items():
        typer.echo(f"  {name}: {drawn} of {size}")
    typer.echo(f"{sample.frame.height} items drawn with seed {seed}{f'; written to {out}' if out else ''}")
    if out is None:
        typer.echo("give --out FILE to write them", err=True)
