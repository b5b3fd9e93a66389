"""Options of the commands that call models: what calls may cost, how long they are tried, and where they are kept."""

from __future__ import annotations

import typer

PRICES = typer.Option(
    None, "--prices", metavar="FILE", help="TOML: for each model input and output in US dollars a million tokens."
)
MAX_COST = typer.Option(
    None, "--max-cost", min=0.0, metavar="USD", help="Stop, resumably, before a call could go over."
)
MAX_CONNECTIONS = typer.Option(10, "--max-connections", min=1, help="Calls to a provider at the same time.")
MAX_RETRIES = typer.Option(4, "--max-retries", min=0, help="Of a failing call, with growing waits.")
TIMEOUT = typer.Option(120, "--timeout", min=1, metavar="SECONDS", help="Of one attempt at a call.")
BOOTSTRAP_SEED = typer.Option(0, "--bootstrap-seed", min=0, help="Seed of those draws; --seed is of the models.")
OUT = typer.Option(None, "--out", metavar="DIR", help="The run folder; the same one goes on.")
