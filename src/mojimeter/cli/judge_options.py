"""Options that several commands of ``mojimeter judge`` share, and the progress of asking judges."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import typer

POSTS = typer.Argument(..., metavar="POSTS", help="Posts: id, text with its emoji, optionally author.")
OUTPUTS = typer.Option([], "--outputs", metavar="FILE...", help="Replies of systems: id, system, reply.")
LABELS = typer.Option(
    [], "--labels", metavar="FILE...", help="Labels: id, system ('gold': the post itself), judge, a column a task."
)
FORMAT = typer.Option("tables", "--format", help="tables, or semrec: the second paper's release (POSTS, --outputs).")
JUDGE = typer.Option(
    [], "--judge", metavar="J...", help="Judges to ask now: student/starter, hf-classifier/..., any model."
)
ALIAS = typer.Option([], "--is", metavar="JUDGE=MODEL", help="Which model a judge's name in the files stands for.")
VOTES = typer.Option(3, "--votes", min=1, help="A model's votes at most; a majority ends them early.")
APART = typer.Option(False, "--apart", help="Ask a model task by task.")
LIMIT = typer.Option(None, "--limit", min=1, help="Only the first so many posts.")
OUT = typer.Option(None, "--out", metavar="DIR", help="Where answers and labels are kept; the same one goes on.")
BOOTSTRAP = typer.Option(2000, "--bootstrap", min=1, help="Draws of the bootstrap over authors.")
SEED = typer.Option(0, "--seed", min=0, help="Of the bootstrap and of random choices.")
MAP = typer.Option([], "--map", metavar="OURS=THEIRS", help="A column's name in the files.")


def progress() -> Callable[[int, int], None]:
    """A line on stderr now and then; nothing for what is done at once."""
    started = time.monotonic()
    last = started

    def say(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= 5:
            last = now
            sys.stderr.write(f"{done:,} of {total:,} texts labelled\n")

    return say
