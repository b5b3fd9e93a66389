"""``mojimeter collect invite``: one link per rater; a new link for one who lost it."""

from __future__ import annotations

import typer

from mojimeter.cli.output import JSON_OPTION, write_json, write_warnings


def command(
    study: str = typer.Argument(..., metavar="STUDY", help="A study folder made by collect init."),
    raters: int = typer.Option(
        0, "--raters", min=0, help="How many to add; 0 only deals anew after study.toml was edited."
    ),
    valid_days: float | None = typer.Option(
        None, "--valid-days", min=0.01, help="How long the links can be used; default: link_days of the study."
    ),
    base_url: str = typer.Option("http://127.0.0.1:8000", "--base-url", metavar="URL", help="Where it is served."),
    renew: str | None = typer.Option(None, "--renew", metavar="RATER", help="A new link for this rater instead."),
    admin: bool = typer.Option(False, "--admin", help="A new administrator's token instead; the old one ends."),
    json: bool = JSON_OPTION,
) -> None:
    """Add raters and write their links to links.csv in the study's folder, readable by its owner only.

    Only hashes of links are stored: links.csv is the only place where they can be read. Raters who were invited before
    keep their links and their orders.

    mojimeter collect invite study --raters 12 --base-url https://rate.example.org

    mojimeter collect invite study --renew r03
    """
    from mojimeter.collect.invites import invite, renew_admin, renew_link
    from mojimeter.errors import InputError

    if admin + (renew is not None) + (raters > 0) > 1:
        raise InputError("--raters, --renew and --admin are three different things; expected one of them")
    if admin:
        token = renew_admin(study)
        if json:
            write_json({"schema": 1, "admin_token": token})
        else:
            typer.echo(f"Administrator's token (shown once, only its hash is stored): {token}")
        return
    if renew is None:
        found = invite(study, raters, base_url=base_url, valid_days=valid_days)
    else:
        found = renew_link(study, renew, base_url=base_url, valid_days=valid_days)
    if base_url.startswith("http://") and "127.0.0.1" not in base_url and "localhost" not in base_url:
        write_warnings(["links begin with http: what raters send can be read on the way; serve by https"])
    if json:
        write_json({"schema": 1} | found.to_dict())
        return
    if found.redealt:
        typer.echo(f"The design was edited: {found.redealt} raters have new orders; their links stay.")
    for link in found.links:
        typer.echo(f"{link.rater}  {link.url}  ({link.positions} ratings, until {link.expires_at[:10]})")
    if found.file is not None:
        typer.echo(
            f"Written to {found.file}, the only place where links can be read; send each rater one, keep the file."
        )
    elif not found.redealt:
        typer.echo("Nobody was invited: the design is as it was. --raters N adds raters.")
