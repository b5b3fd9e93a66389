"""Options that take several values after one flag."""

from __future__ import annotations

from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from mojimeter.cli.many import ManyValues

app = typer.Typer()


@app.command(cls=ManyValues)
def command(
    posts: str,
    outputs: Annotated[list[str], typer.Option("--outputs")] = [],  # noqa: B006
    seed: Annotated[int, typer.Option("--seed", "-s")] = 0,
    loud: Annotated[bool, typer.Option("--loud")] = False,
) -> None:
    typer.echo(f"{posts} {outputs} {seed} {loud}")


def _run(*args: str) -> str:
    result = CliRunner().invoke(app, list(args))
    assert result.exit_code == 0, result.output
    return result.output.strip()


@pytest.mark.parametrize(
    "args",
    [
        ("P", "--outputs", "a", "b", "c", "--loud", "-s", "3"),
        ("P", "--outputs", "a", "--outputs", "b", "c", "-s", "3", "--loud"),
        ("--seed", "3", "P", "--loud", "--outputs", "a", "b", "c"),
        ("--loud", "P", "--seed=3", "--outputs=a", "--outputs", "b", "--outputs", "c"),
        ("--outputs", "a", "P", "--outputs", "b", "c", "--loud", "--seed", "3"),
    ],
)
def test_values_in_a_row_are_values_of_one_option(args: tuple[str, ...]) -> None:
    assert _run(*args) == "P ['a', 'b', 'c'] 3 True"


def test_an_argument_that_is_still_missing_is_not_swallowed() -> None:
    assert _run("--outputs", "a", "P") == "P ['a'] 0 False"


def test_after_two_dashes_nothing_is_an_option() -> None:
    assert _run("--outputs", "a", "--", "-P") == "-P ['a'] 0 False"
