"""``mojimeter ratings``: the group of commands on rating studies."""

from __future__ import annotations

from importlib import import_module

import typer

from mojimeter.cli.many import ManyValues

# (name on the command line, module). A module exposes `command`.
COMMANDS: tuple[tuple[str, str], ...] = (
    ("study", "mojimeter.cli.ratings_study"),
    ("plan", "mojimeter.cli.ratings_plan"),
    ("length", "mojimeter.cli.ratings_length"),
    ("splits", "mojimeter.cli.ratings_splits"),
    ("panel", "mojimeter.cli.ratings_panel"),
    ("check", "mojimeter.cli.ratings_check"),
    ("power", "mojimeter.cli.ratings_power"),
    ("sheet", "mojimeter.cli.ratings_sheet"),
)

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Rating studies: would other raters, on other items, rank the systems the same way?",
)


@app.callback()
def _group() -> None: ...


for _name, _module in COMMANDS:
    app.command(_name, cls=ManyValues)(import_module(_module).command)
