"""``mojimeter ratings length``: do the scores follow length, and how would the systems rank without it?"""

from __future__ import annotations

import typer

from mojimeter.cli.output import JSON_OPTION, write_json


def command(
    file: str = typer.Argument(..., metavar="FILE", help="Ratings: item, system, rater, score and the covariate."),
    length: str = typer.Option(
        "length", "--length", metavar="COLUMN", help="The covariate: words, tokens, emoji, size."
    ),
    tolerance: float = typer.Option(0.0, "--tolerance", min=0, help="Outputs this close are of equal length."),
    ratio: str | None = typer.Option(
        None, "--ratio", metavar="TOP/BOTTOM", help="Also a ratio of two columns by system, in both readings."
    ),
    item: str = typer.Option("item", "--item", metavar="COLUMN", help="Column that names the item."),
    system: str = typer.Option("system", "--system", metavar="COLUMN", help="Column that names the system."),
    rater: str = typer.Option("rater", "--rater", metavar="COLUMN", help="Column that names the rater."),
    score: str = typer.Option("score", "--score", metavar="COLUMN", help="Column of scores."),
    map: list[str] = typer.Option([], "--map", metavar="OURS=THEIRS", help="A column's name in the file."),
    lower_is_better: bool = typer.Option(False, "--lower-is-better", help="Low scores are good (errors, distances)."),
    json: bool = JSON_OPTION,
) -> None:
    """Slopes on length for the panel and each rater, rankings on pairs of equal length and at the average length.

    mojimeter ratings length ratings.csv --length words --tolerance 5
    """
    from mojimeter.datasets.tables import parse_mapping
    from mojimeter.errors import InputError
    from mojimeter.ratings.length import TwoRatios, length_effects, ratios_by_system
    from mojimeter.ratings.length_screen import describe_length
    from mojimeter.ratings.summary import open_study

    study = open_study(file, item, system, rater, [score], (), None, parse_mapping(map))
    found = length_effects(study, length, tolerance=tolerance, higher_is_better=not lower_is_better)
    ratios: tuple[TwoRatios, ...] = ()
    if ratio is not None:
        top, slash, bottom = ratio.partition("/")
        if not (top and slash and bottom):
            raise InputError(f"--ratio {ratio!r}: expected TOP/BOTTOM, two columns such as tokens/emoji")
        ratios = ratios_by_system(study, top.strip(), bottom.strip())
    if json:
        document = {"schema": 1, "design": study.design.to_dict()} | found.to_dict()
        if ratio is not None:
            document["ratio"] = {"columns": ratio, "systems": [r.to_dict() for r in ratios]}
        write_json(document)
    else:
        typer.echo(describe_length(found, ratios))
