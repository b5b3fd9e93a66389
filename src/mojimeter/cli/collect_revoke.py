"""``mojimeter collect revoke``: close a rater's link."""

from __future__ import annotations

import typer

from mojimeter.cli.output import JSON_OPTION, write_json


def command(
    study: str = typer.Argument(..., metavar="STUDY", help="A study folder made by collect init."),
    rater: str = typer.Argument(..., metavar="RATER", help="The rater's name in links.csv, such as r03."),
    json: bool = JSON_OPTION,
) -> None:
    """Close a rater's link and end all sessions at once; ratings given so far stay and are exported.

    The place in the design is free for the next rater that is invited.

    mojimeter collect revoke study r03
    """
    from mojimeter.collect.invites import revoke

    lines = revoke(study, rater)
    if json:
        write_json({"schema": 1, "rater": rater, "revoked": True, "links_removed": lines})
    else:
        typer.echo(f"{rater} is revoked: the link is closed and all sessions have ended. Ratings given so far stay.")
