"""``mojimeter collect status``: who did how much, how long it took, and what is missing."""

from __future__ import annotations

import typer

from mojimeter.cli.output import JSON_OPTION, write_json


def command(
    study: str = typer.Argument(..., metavar="STUDY", help="A study folder made by collect init."),
    fail_under: list[str] = typer.Option(
        [], "--fail-under", metavar="METRIC=VALUE", help="Exit 3 if complete (a share) is lower."
    ),
    json: bool = JSON_OPTION,
) -> None:
    """Show each rater's state and progress, median seconds, attention items passed, repeats agreed, missing ratings.

    Names no system. A rating that was changed counts as it was last.

    mojimeter collect status study
    """
    from mojimeter.collect.status import study_status
    from mojimeter.collect.status_screen import status_table
    from mojimeter.collect.store import open_store
    from mojimeter.ratings.gates import hold_gates

    store = open_store(study, edited=True)
    status = study_status(store)
    store.engine.dispose()
    if json:
        write_json({"schema": 1} | status.to_dict())
    else:
        status_table(status)
    hold_gates({"complete": status.complete}, fail_under)
