"""The doors: one module per command group, no logic.

A module here imports nothing at its top but typer and ``mojimeter.cli``: everything else is
imported inside the command, so that ``mojimeter --help`` answers at once.
"""

from mojimeter.cli.app import main

__all__ = ["main"]
