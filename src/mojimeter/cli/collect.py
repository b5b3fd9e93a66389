"""``mojimeter collect``: the group of commands on collecting ratings from people."""

from __future__ import annotations

from importlib import import_module

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


for _name, _module in COMMANDS:
    app.command(_name, cls=ManyValues)(import_module(_module).command)
