"""``mojimeter suggest``: emoji for one text, with their names and the words that led to them."""

from __future__ import annotations

import typer

from mojimeter.cli.output import JSON_OPTION, write_json


def command(
    text: str = typer.Argument(..., metavar="TEXT", help="The text to find emoji for; emoji in it are set aside."),
    n: int = typer.Option(3, "--n", "-n", min=1, max=5, help="How many emoji."),
    lang: str = typer.Option("en", "--lang", help="Language of the names: en, hi or bn."),
    system: str | None = typer.Option(
        None, "--system", help="Which baseline recommends; the best that is installed (taught, else keyword)."
    ),
    seed: int = typer.Option(0, "--seed", min=0, help="Seed of baseline/random."),
    json: bool = JSON_OPTION,
) -> None:
    """Suggest emoji for one text, in English, Hindi or Bangla, without a language model.

    mojimeter suggest "Happy birthday to my dog!"
    """
    from mojimeter.systems.suggest import suggest

    suggestions = suggest(text, n, lang=lang, system=system, seed=seed)
    if json:
        write_json(suggestions.to_dict())
        return
    if not suggestions.emoji:
        typer.echo(f"{suggestions.system} suggests no emoji")
    for one in suggestions.emoji:
        why = f"  ({', '.join(one.matched)})" if one.matched else ""
        typer.echo(f"{one.emoji}  {one.name}{why}")
    if suggestions.filled:
        typer.echo(
            "no word led to the last " + ("one" if suggestions.filled == 1 else f"{suggestions.filled}"), err=True
        )
