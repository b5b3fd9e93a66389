"""``mojimeter collect restore``: a study from its backup, or only a check of the backup."""

from __future__ import annotations

import typer

from mojimeter.cli.output import JSON_OPTION, write_json


def command(
    backup: str = typer.Argument(..., metavar="FILE", help="A backup made by collect backup."),
    out: str | None = typer.Option(None, "--out", metavar="DIR", help="The study's new folder; empty or not there."),
    database: str | None = typer.Option(
        None, "--database", metavar="URL|file", help="Into this database instead of where the study was."
    ),
    verify: bool = typer.Option(False, "--verify", help="Without --out: check the file, write nothing."),
    json: bool = JSON_OPTION,
) -> None:
    """Make a study folder from a backup; what was written is read back and every table compared.

    mojimeter collect restore study-monday.jsonl.gz --verify

    mojimeter collect restore study-monday.jsonl.gz --out study2
    """
    from mojimeter.collect.backup import restore, verify_backup
    from mojimeter.errors import InputError

    if out is None and not verify:
        raise InputError("where to? expected --out DIR, or --verify to check the file only")
    if out is None and database is not None:
        raise InputError("--database goes with --out")
    contents = verify_backup(backup) if out is None else restore(backup, out, database)
    if json:
        write_json({"schema": 1, "file": backup, "folder": out, "verified": True} | contents.to_dict())
        return
    what = "is whole" if out is None else f"restored to {out}; every table is as in the backup"
    typer.echo(f"{backup}: {what}.")
    typer.echo(f"{contents.rows['events']:,} rating events by {contents.rows['raters']} raters.")
    typer.echo(f"SHA-256 of the events: {contents.hashes['events']}")
