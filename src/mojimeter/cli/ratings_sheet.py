"""``mojimeter ratings sheet``: blinded rating sheets for people, and reading them back."""

from __future__ import annotations

import typer

from mojimeter.cli.output import JSON_OPTION, write_json


def command(
    source: str | None = typer.Argument(
        None, metavar="[RUN|FILE]", help="A run folder, or a table with item, system, text and, if wanted, post."
    ),
    raters: int = typer.Option(3, "--raters", min=1, help="How many raters."),
    names: str | None = typer.Option(
        None, "--names", metavar="A,B", help="Their names, instead of rater_1, rater_2, ..."
    ),
    design: str = typer.Option(
        "crossed", "--design", help="crossed (everybody rates all) or bib (balanced incomplete)."
    ),
    per_rater: int | None = typer.Option(None, "--per-rater", help="Ratings of each rater, for bib."),
    scale: str | None = typer.Option(
        None, "--scale", metavar="LOW-HIGH", help="Lowest and highest score, such as 1-5."
    ),
    out: str = typer.Option(..., "--out", help="Folder for the sheets; with --collect, the table of ratings (CSV)."),
    collect: str | None = typer.Option(
        None, "--collect", metavar="DIR", help="Read filled-in sheets from this folder."
    ),
    map: list[str] = typer.Option([], "--map", metavar="OURS=THEIRS", help="A column's name in FILE."),
    seed: int = typer.Option(1, "--seed", min=0, help="Seed of the order."),
    fail_under: list[str] = typer.Option(
        [], "--fail-under", metavar="METRIC=VALUE", help="With --collect: exit 3 if complete (a share) is lower."
    ),
    json: bool = JSON_OPTION,
) -> None:
    """Write one blinded, randomised sheet per rater; with --collect, read them back into one table.

    Fill in the column `score`. Keep key.json to yourself: it tells which system wrote what.

    mojimeter ratings sheet runs/today --raters 3 --scale 1-5 --out sheets

    mojimeter ratings sheet --collect sheets --out ratings.csv
    """
    if collect is not None:
        _collect(collect, out, fail_under, json)
        return
    from mojimeter.datasets.tables import parse_mapping
    from mojimeter.errors import InputError
    from mojimeter.ratings.sheets import Design, make_sheets, read_scale, read_source, write_sheets

    if source is None:
        raise InputError("no source; expected a run folder or a table, or --collect DIR")
    if design not in ("crossed", "bib"):
        raise InputError(f"--design {design!r}: expected crossed or bib")
    found = read_source(source, parse_mapping(map))
    who = [n.strip() for n in names.split(",")] if names else raters
    kind: Design = "crossed" if design == "crossed" else "bib"
    sheets = make_sheets(found.cells, who, design=kind, per_rater=per_rater, scale=read_scale(scale), seed=seed)
    written = write_sheets(sheets, out)
    document = sheets.to_dict() | {"without_reply": found.without_reply, "repeats": found.repeats}
    if json:
        write_json({"schema": 1} | document | {"files": [str(p) for p in written]})
        return
    sizes, per_cell = document["per_rater"], document["ratings_per_cell"]
    typer.echo(f"{len(written)} sheets in {out}: {_span(sizes)} rows each, {_span(per_cell)} ratings per cell.")
    if "cells_shared_by_pairs" in document:
        typer.echo(f"Pairs of raters share {_span(document['cells_shared_by_pairs'])} cells.")
    if found.without_reply or found.repeats:
        typer.echo(f"Left off the sheets: {found.without_reply} without a reply, {found.repeats} repeated.")
    if max(per_cell) < 2:
        typer.echo("Each cell has one rating: agreement cannot be seen, add raters.")
    typer.echo(f"Send the sheets, keep {out}/key.json; then: mojimeter ratings sheet --collect {out} --out ratings.csv")


def _span(numbers: list[int]) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low} to {high}"


def _collect(folder: str, out: str, gates: list[str], json: bool) -> None:
    from mojimeter.errors import InputError
    from mojimeter.ratings.gates import hold_gates
    from mojimeter.ratings.sheets import collect_sheets

    found = collect_sheets(folder)
    try:
        found.ratings.write_csv(out)
    except OSError as error:
        raise InputError(f"{out}: cannot be written: {error.strerror or error}") from None
    if json:
        write_json({"schema": 1} | found.to_dict() | {"file": out})
    else:
        typer.echo(f"{found.ratings.height:,} of {found.expected:,} ratings ({found.complete:.1%}) written to {out}.")
        counts = {k: n for k, n in found.to_dict()["problems"].items() if n}
        for kind, n in counts.items():
            typer.echo(f"  {kind.replace('_', ' ')}: {n}")
        for problem in found.problems[:20]:
            row = "" if problem.row is None else f", row {problem.row}"
            typer.echo(f"  {problem.rater}{row}: {problem.what}")
        if len(found.problems) > 20:
            typer.echo(f"  ... and {len(found.problems) - 20} more (all are in --json)")
    hold_gates({"complete": found.complete}, gates)
