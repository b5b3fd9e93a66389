"""Builds the command line from the modules beside it and turns errors into exit codes."""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import NoReturn

import typer

from mojimeter.cli.many import ManyValues
from mojimeter.errors import MojimeterError

# (name on the command line, module). A module exposes `command` (a function) or `app` (a group).
COMMANDS: tuple[tuple[str, str], ...] = (
    ("demo", "mojimeter.cli.demo"),
    ("recommend", "mojimeter.cli.recommend"),
    ("score", "mojimeter.cli.score"),
    ("compare", "mojimeter.cli.compare"),
    ("report", "mojimeter.cli.report"),
    ("disambiguate", "mojimeter.cli.disambiguate"),
    ("build", "mojimeter.cli.build"),
    ("ratings", "mojimeter.cli.ratings"),
    ("collect", "mojimeter.cli.collect"),
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
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # an argument that is not UTF-8 comes back out as it can
    before = _standard_output()
    try:
        app()
    except MojimeterError as error:
        _say(str(error))
        raise SystemExit(error.exit_code) from None
    except OSError as error:
        if error.errno == errno.EPIPE:
            _leave_closed_pipe()
        _say(f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error))
        raise SystemExit(1) from None
    except SystemExit:
        if _standard_output() != before:  # typer and rich put something else there when a pipe is closed, and fail
            _leave_closed_pipe()
        raise
    except KeyboardInterrupt:
        _say("interrupted")
        raise SystemExit(130) from None


def _say(message: str) -> None:
    from mojimeter.report.plain import plain

    sys.stderr.write(f"mojimeter: {plain(message)}\n")


def _standard_output() -> tuple[int, tuple[int, int] | None]:
    """Which stream and which file output goes to."""
    try:
        file = os.fstat(1)
    except OSError:
        return id(sys.stdout), None
    return id(sys.stdout), (file.st_dev, file.st_ino)


def _leave_closed_pipe() -> NoReturn:
    """The reader of our output (head, less) has gone; that is not a failure of ours."""
    # what is left in the buffer goes nowhere, or Python would complain of it at the end
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    raise SystemExit(0) from None
