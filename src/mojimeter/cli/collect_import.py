"""``mojimeter collect import``: ratings that were collected with another tool."""

from __future__ import annotations

import typer

from mojimeter.cli.output import JSON_OPTION, write_json, write_warnings


def command(
    source: str = typer.Argument(
        ..., metavar="FILE|DIR", help="A JSON export of Label Studio; Potato's output folder, or a file of it."
    ),
    format: str = typer.Option(..., "--format", help="label-studio or potato."),
    out: str = typer.Option(..., "--out", help="The table of ratings to write: .csv, .tsv, .jsonl or .parquet."),
    key: str | None = typer.Option(None, "--key", help="The key file that collect export wrote beside its folder."),
    items: str | None = typer.Option(
        None, "--items", metavar="FILE", help="Potato: the file of items, to take item, system and others from."
    ),
    map: list[str] = typer.Option([], "--map", metavar="OURS=THEIRS", help="A field's name in the data."),
    score: str | None = typer.Option(
        None, "--score", metavar="QUESTION", help="Which question gives the score, where several were asked."
    ),
    value: list[str] = typer.Option(
        [], "--value", metavar="WORD=NUMBER", help="What a word of the scored question counts, such as good=1."
    ),
    json: bool = JSON_OPTION,
) -> None:
    """Write the ratings in a file of Label Studio or Potato as the table that `ratings study` reads.

    One row a rater and item: item, system (where the data name one), rater, score, duration_ms, then the other fields
    of the data. Several questions are one column each, unless --score names one. What was skipped, empty, repeated or
    no rating is counted.

    mojimeter collect import export.json --format label-studio --map item=doc_id system=model --out ratings.csv

    mojimeter collect import potato --format potato --key potato.key.json --out ratings.csv
    """
    from mojimeter.collect.exchange import TOOLS
    from mojimeter.collect.exchange.answers import as_ratings
    from mojimeter.collect.exchange.label_studio import read_label_studio
    from mojimeter.collect.exchange.plain import write_table
    from mojimeter.collect.exchange.potato import read_potato
    from mojimeter.collect.exchange.survey import read_key
    from mojimeter.datasets.tables import parse_mapping
    from mojimeter.errors import InputError

    if format not in TOOLS:
        raise InputError(f"--format {format!r}: expected {' or '.join(TOOLS)}")
    if items is not None and format != "potato":
        raise InputError("--items goes with --format potato; an export of Label Studio holds its data")
    found = read_potato(source, items) if format == "potato" else read_label_studio(source)
    imported = as_ratings(
        found,
        key=None if key is None else read_key(key),
        mapping=parse_mapping(map),
        score=score,
        values=_values(value),
    )
    digest = write_table(imported.ratings, out)
    document = imported.to_dict()
    write_warnings(_warnings(document))
    if json:
        write_json({"schema": 1} | document | {"file": out, "sha256": digest})
        return
    counted = "no system is named" if document["systems"] is None else f"{document['systems']} systems"
    typer.echo(
        f"{document['ratings']:,} ratings of {document['items']:,} items ({counted}) by {document['raters']} raters "
        f"written to {out}."
    )
    left = {name: document[name] for name in ("skipped", "empty", "repeated", "without_score", "tasks_without_rating")}
    left |= document["unread"]
    said = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in left.items() if count)
    typer.echo(f"Not in it: {said or 'nothing'}.")


def _values(pairs: list[str]) -> dict[str, str]:
    """``["good=1"]`` -> ``{"good": "1"}``."""
    from mojimeter.errors import InputError

    values = {}
    for pair in pairs:
        word, equals, number = pair.rpartition("=")
        try:
            float(number)
        except ValueError:
            equals = ""
        if not (word and equals):
            raise InputError(f"--value {pair!r}: expected WORD=NUMBER, such as good=1")
        values[word] = number
    return values


def _warnings(document: dict[str, object]) -> list[str]:
    words, warnings = document["not_numbers"], []
    if isinstance(words, dict) and words:
        shown = ", ".join(repr(str(word)[:30]) for word in list(words)[:5])
        more = f" and {len(words) - 5} more" if len(words) > 5 else ""
        warnings.append(f"the score holds words ({shown}{more}); ratings study needs numbers: --value WORD=NUMBER")
    if document["renamed_raters"]:
        warnings.append(
            f"{document['renamed_raters']} raters had e-mail addresses for names; they are rater_1, ... here"
        )
    return warnings
