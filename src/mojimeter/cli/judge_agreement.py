"""``mojimeter judge agreement``: two files of labels or verdicts side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from mojimeter.cli.output import JSON_OPTION, write_json

if TYPE_CHECKING:
    from collections.abc import Mapping


def command(
    first: str = typer.Argument(..., metavar="FILE", help="Labels (id, a column a task) or verdicts (id, verdict)."),
    second: str = typer.Argument(..., metavar="FILE", help="The same things labelled by another judge, or by people."),
    bootstrap: int = typer.Option(2000, "--bootstrap", min=1, help="Draws of the bootstrap over ids (for alpha)."),
    map: list[str] = typer.Option([], "--map", metavar="OURS=THEIRS", help="A column's name in the files."),
    json: bool = JSON_OPTION,
) -> None:
    """Compare two label or verdict files: agreement, Cohen's kappa, Krippendorff's alpha, each with its interval.

    mojimeter judge agreement gpt-4o.csv people.csv
    """
    from mojimeter.datasets.tables import parse_mapping
    from mojimeter.runs.agreement import compare_files

    document = compare_files(first, second, mapping=parse_mapping(map), draws=bootstrap).to_dict()
    if json:
        write_json(document)
    else:
        _print(document)


def _print(document: Mapping[str, Any]) -> None:
    rows = document["rows"]
    typer.echo(f"{document['first']} and {document['second']}: {rows['both']} rows in both", nl=False)
    typer.echo(f", {rows['only_first']} only in the first, {rows['only_second']} only in the second.")
    typer.echo(f"{'task':<10} {'compared':>8} {'unparsed':>9}  {'agree %':<20} {'kappa':<21} {'alpha':<21}")
    for task, found in document["tasks"].items():
        unparsed = "+".join(map(str, found["unparsed"]))
        cells = [_shown(found["agreement"], 100, 1), _shown(found["kappa"], 1, 2), _shown(found["alpha"], 1, 2)]
        line = f"{task:<10} {found['compared']:>8} {unparsed:>9}  {cells[0]:<20} {cells[1]:<21} {cells[2]:<21}"
        typer.echo(line.rstrip())
        for name in ("agreement", "kappa", "alpha"):
            if found[name]["value"] is None:
                typer.echo(f"  {name}: {found[name]['reason']}")
    typer.echo("kappa: Cohen's; alpha: Krippendorff's, nominal; 95% intervals, alpha's over ids.")
    if {"age", "gender"} & set(document["tasks"]):
        typer.echo("Age and gender are labels perceived in a text, not facts about people.")


def _shown(estimate: Mapping[str, Any], scale: int, digits: int) -> str:
    if estimate["value"] is None:
        return "-"
    text = f"{scale * estimate['value']:.{digits}f}"
    ci = estimate.get("ci")
    return text if ci is None else f"{text} [{scale * ci[0]:.{digits}f}, {scale * ci[1]:.{digits}f}]"
