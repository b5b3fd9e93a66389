"""Builds the command line from the modules beside it and turns errors into exit codes."""

from __future__ import annotations

import os
import sys
from importlib import import_module

import typer

from mojimeter.cli.many import ManyValues
from mojimeter.errors import MojimeterError

# (name on the command line, module). A module exposes `command` (a function) or `app` (a group).
COMMANDS: tuple[tuple[str, str], ...] = (
    ("demo", "mojimeter.cli.demo"),
    ("recommend", "mojimeter.cli.recommend"),
    ("score", "mojimeter.cli.score"),
    ("compare", "mojimeter.cli.compare"),
    ("disambiguate", "mojimeter.cli.disambiguate"),
    ("build", "mojimeter.cli.build"),
    ("ratings", "mojimeter.cli.ratings"),
    ("judge", "mojimeter.cli.judge"),
    ("doctor", "mojimeter.cli.doctor"),
    ("suggest", "mojimeter.cli.suggest"),
)

app = typer.Typer(
    name="mojimeter",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"auto_envvar_prefix": "MOJIMETER", "help_option_names": ["-h", "--help"]},
    help="Measure how well language models use emoji, and whether the ranking would survive another panel.",
)


def _version(wanted: bool) -> None:
    if wanted:
        from mojimeter import __version__

        typer.echo(f"mojimeter {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and leave."
    ),
) -> None: ...


for _name, _module in COMMANDS:
    _loaded = import_module(_module)
    if hasattr(_loaded, "app"):
        app.add_typer(_loaded.app, name=_name)
    else:
        app.command(_name, cls=ManyValues)(_loaded.command)


def main() -> None:
    """Run the command line; every foreseen error is one sentence on stderr and its exit code."""
    # Many small problems on few cores: BLAS threads cost more than they give (design/engine.md).
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        app()
    except MojimeterError as error:
        sys.stderr.write(f"mojimeter: {error}\n")
        raise SystemExit(error.exit_code) from None
    except BrokenPipeError:
        # the reader of our output (head, less) has gone; that is not a failure of ours
        sys.stderr.close()
        raise SystemExit(0) from None
    except KeyboardInterrupt:
        sys.stderr.write("mojimeter: interrupted\n")
        raise SystemExit(130) from None
