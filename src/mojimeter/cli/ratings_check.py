"""``mojimeter ratings check``: can all numbers of a printed table be true at once?"""

from __future__ import annotations

import typer

from mojimeter.cli.output import JSON_OPTION, write_json


def command(
    file: str = typer.Argument(..., metavar="TABLE.toml", help="The numbers as printed; see examples/two_emojis.toml."),
    strict: bool = typer.Option(False, "--strict", help="Exit 3 if there is a contradiction."),
    json: bool = JSON_OPTION,
) -> None:
    """Check a printed analysis against itself: mean squares, F ratios, shares, means, p values and claims.

    A contradiction holds under no rounding of the printed numbers; a note may. Mean squares that were not printed are
    solved for, each with the range that rounding leaves it.

    mojimeter ratings check examples/two_emojis.toml
    """
    from mojimeter.errors import GateError
    from mojimeter.ratings.printed import PrintedTable
    from mojimeter.ratings.printed.screen import describe

    check = PrintedTable.read(file).check()
    if json:
        write_json({"schema": 1} | check.to_dict())
    else:
        typer.echo(describe(check))
    found = len(check.contradictions)
    if strict and found:
        raise GateError(f"{file}: {found} contradiction{'s' if found > 1 else ''}")
