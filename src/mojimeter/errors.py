"""The ways a command can end other than well, each with its exit code.

An error's message is one sentence for the person at the keyboard: it names the file, the row and
the column where there is one, and what was expected. ``cli.main`` prints it and exits; nothing
below the command line prints or exits.
"""

from __future__ import annotations


class MojimeterError(Exception):
    """Something failed (exit code 1)."""

    exit_code = 1


class InputError(MojimeterError, ValueError):
    """Wrong usage or unreadable input (exit code 2)."""

    exit_code = 2


class GateError(MojimeterError):
    """A gate set by the user (``--fail-under METRIC=VALUE``) was not met (exit code 3)."""

    exit_code = 3


class PartialError(MojimeterError):
    """Some of the work is done and saved; the same command goes on from there (exit code 4)."""

    exit_code = 4


class MissingExtraError(MojimeterError, ImportError):
    """A library of an optional extra is not installed (exit code 1)."""

    def __init__(self, library: str, extra: str, what: str) -> None:
        super().__init__(f"{what} needs {library}, which is not installed: pip install 'mojimeter[{extra}]'")
