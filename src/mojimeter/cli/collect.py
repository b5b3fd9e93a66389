"""``mojimeter collect``: the group of commands on collecting ratings from people."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import typer

from mojimeter.cli.many import ManyValues

# (name on the command line, module). A module exposes `command`.
COMMANDS: tuple[tuple[str, str], ...] = (
    ("init", "mojimeter.cli.collect_init"),
    ("invite", "mojimeter.cli.collect_invite"),
    ("serve", "mojimeter.cli.collect_serve"),
    ("status", "mojimeter.cli.collect_status"),
    ("export", "mojimeter.cli.collect_export"),
    ("revoke", "mojimeter.cli.collect_revoke"),
    ("backup", "mojimeter.cli.collect_backup"),
    ("restore", "mojimeter.cli.collect_restore"),
    ("import", "mojimeter.cli.collect_import"),
)

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Collect ratings from people: a small web app that shows no system's name and loses no rating.",
)


@app.callback()
def _group() -> None: ...


def _with_database(command: Callable[..., Any]) -> Callable[..., Any]:
    """Say in a sentence that the extra is missing, before anything else is tried."""

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> Any:
        if find_spec("sqlalchemy") is None:
            from mojimeter.errors import MissingExtraError

            raise MissingExtraError("sqlalchemy", "web", "Collecting ratings")
        return command(*arguments, **options)

    return run


for _name, _module in COMMANDS:
    _command = import_module(_module).command
    # what other tools collected is read without a database
    app.command(_name, cls=ManyValues)(_command if _name == "import" else _with_database(_command))
