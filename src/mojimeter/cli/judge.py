"""``mojimeter judge``: the group of commands on judges."""

from __future__ import annotations

from importlib import import_module

import typer

from mojimeter.cli.many import ManyValues

# (name on the command line, module). A module exposes `command`.
COMMANDS: tuple[tuple[str, str], ...] = (
    ("train", "mojimeter.cli.judge_train"),
    ("accuracy", "mojimeter.cli.judge_accuracy"),
    ("sensitivity", "mojimeter.cli.judge_sensitivity"),
    ("validity", "mojimeter.cli.judge_validity"),
    ("agreement", "mojimeter.cli.judge_agreement"),
    ("noise", "mojimeter.cli.judge_noise"),
    ("correct", "mojimeter.cli.judge_correct"),
    ("bias", "mojimeter.cli.judge_bias"),
)

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Judges: what their labels are worth, and one of your own.",
)


@app.callback()
def _group() -> None: ...


for _name, _module in COMMANDS:
    app.command(_name, cls=ManyValues)(import_module(_module).command)
