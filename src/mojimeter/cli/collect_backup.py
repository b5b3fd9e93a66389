"""``mojimeter collect backup``: a whole study in one file."""

from __future__ import annotations

import typer

from mojimeter.cli.output import JSON_OPTION, write_json


def command(
    study: str = typer.Argument(..., metavar="STUDY", help="A study folder made by collect init."),
    out: str = typer.Option(..., "--out", metavar="FILE", help="The backup to write, such as study.jsonl.gz."),
    json: bool = JSON_OPTION,
) -> None:
    """Write settings, font and database to one file with checksums, while raters go on working.

    The file holds what the database holds, hashes of links but no links, and can be restored into SQLite or PostgreSQL.
    Links that were sent out work with the restored study.

    mojimeter collect backup study --out study-monday.jsonl.gz
    """
    from mojimeter.collect.backup import back_up

    contents = back_up(study, out)
    if json:
        write_json({"schema": 1, "file": out} | contents.to_dict())
        return
    typer.echo(f"{contents.rows['events']:,} rating events by {contents.rows['raters']} raters in {out}.")
    typer.echo(f"SHA-256 of the events: {contents.hashes['events']}")
    typer.echo(f"Check it: mojimeter collect restore {out} --verify")
