"""``mojimeter collect export``: the table that ``ratings study`` reads."""

from __future__ import annotations

import typer

from mojimeter.cli.output import JSON_OPTION, write_json, write_warnings


def command(
    study: str = typer.Argument(..., metavar="STUDY", help="A study folder made by collect init."),
    out: str = typer.Option(
        ..., "--out", metavar="FILE|DIR", help="The table (.csv, .tsv, .jsonl, .parquet); a folder for the tools."
    ),
    format: str | None = typer.Option(
        None, "--format", help="csv, tsv, jsonl or parquet (default: by suffix), label-studio or potato."
    ),
    everything: bool = typer.Option(
        False, "--all", help="Training, attention items and repeats too, told apart by the column part."
    ),
    texts: bool = typer.Option(False, "--texts", help="The texts that were shown, a column a field."),
    leave_out_failed: bool = typer.Option(
        False, "--leave-out-failed-attention", help="Leave out raters who failed any attention item; they are counted."
    ),
    json: bool = JSON_OPTION,
) -> None:
    """Write the ratings, with a data dictionary (OUT.dictionary.json) and a checksum (OUT.sha256) beside them.

    One row a rating: item, system, rater, score, part, position, duration_ms and others. Repeats, training and
    attention items are left out of the table and counted, as are the ratings of who withdrew, which are never
    exported. Free answers make the table of answers that `disambiguate` reads.

    mojimeter collect export study --out ratings.csv

    mojimeter ratings study ratings.csv
    """
    from mojimeter.collect.exchange import TOOLS
    from mojimeter.collect.export import PLAIN, export_ratings, export_to_tool, write_export
    from mojimeter.collect.store import open_store
    from mojimeter.errors import InputError

    if format is not None and format not in PLAIN + TOOLS:
        raise InputError(f"--format {format!r}: expected {', '.join(PLAIN + TOOLS)}")
    if format in PLAIN and not out.lower().endswith(f".{format}"):
        raise InputError(f"--out {out!r}: expected a name ending in .{format}")
    store = open_store(study, edited=True)
    if format in TOOLS:
        if everything or texts or leave_out_failed:
            raise InputError(f"--all, --texts and --leave-out-failed-attention do not go with --format {format}")
        files = [str(path) for path in export_to_tool(store, format or "", out)]
        store.engine.dispose()
        if json:
            write_json({"schema": 1, "files": files})
        else:
            typer.echo("Written: " + ", ".join(files))
            typer.echo("The tasks name no system; the key that does lies beside the folder: keep it to yourself.")
        return
    found = export_ratings(store, everything=everything, texts=texts, leave_out_failed=leave_out_failed)
    store.engine.dispose()
    files_of = write_export(found, out)
    document = found.to_dict()
    failed = [name for name, (passed, given) in found.attention.items() if passed < given]
    if failed and not leave_out_failed:
        write_warnings([f"{', '.join(failed)} failed attention items and are in the table (see attention in --json)"])
    if json:
        write_json({"schema": 1} | document | files_of)
        return
    typer.echo(f"{document['ratings']:,} ratings by {document['raters']} raters written to {out}.")
    left = ", ".join(f"{n:,} {reason.replace('_', ' ')}" for reason, n in found.left_out.items())
    typer.echo(
        f"Not in it: {left or 'nothing that was given'}; {found.not_given:,} not given. Changed: {found.changed:,}."
    )
    if found.intra_rater.repeats:
        typer.echo(found.intra_rater.describe())
    typer.echo(f"SHA-256 {files_of['sha256']}; columns are described in {files_of['dictionary']}.")
    if "score" in found.frame.columns:
        nested = " --nested rater:item" if store.config.design == "nested" else ""
        typer.echo(f"Next: mojimeter ratings study {out}{nested}")
    elif "answer" in found.frame.columns:
        typer.echo(f"Next: mojimeter disambiguate PAIRS --answers {out}")
