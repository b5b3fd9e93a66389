"""``mojimeter collect init``: a study folder from a run, a set of pairs or a table of outputs."""

from __future__ import annotations

import typer

from mojimeter.cli.output import JSON_OPTION, write_json, write_warnings


def command(
    source: str = typer.Argument(
        ...,
        metavar="RUN|PAIRS|FILE",
        help="A run folder; pairs[:LANG] or a table of pairs; a table with item, system, text; posts, with --outputs.",
    ),
    out: str = typer.Option(..., "--out", metavar="DIR", help="The study's folder; must be empty or not there."),
    form: str | None = typer.Option(
        None, "--form", help="scale (1 to N), keeps (yes/no), verdict (right/wrong) or answer (free text)."
    ),
    title: str = typer.Option("A study of emoji", "--title", help="What raters read at the top."),
    question: str | None = typer.Option(None, "--question", help="Asked under every item."),
    scale: int = typer.Option(5, "--scale", min=2, max=11, help="Points of the scale."),
    design: str = typer.Option(
        "crossed",
        "--design",
        help="crossed (everybody rates all), incomplete (balanced) or nested (k raters per item).",
    ),
    raters: int | None = typer.Option(None, "--raters", min=1, help="Raters that the design is dealt for."),
    raters_per_item: int = typer.Option(3, "--raters-per-item", min=1, help="Of the nested design."),
    cells_per_rater: int = typer.Option(0, "--cells-per-rater", min=0, help="Of the incomplete design."),
    repeats: float = typer.Option(0.0, "--repeats", min=0.0, max=0.5, help="Share of cells that come twice."),
    attention: int = typer.Option(0, "--attention", min=0, max=50, help="Items with a known answer among the others."),
    training: str | None = typer.Option(
        None, "--training", metavar="FILE", help="Own training and attention items: the form's fields, expected, ..."
    ),
    systems: str | None = typer.Option(None, "--systems", metavar="A,B", help="Only these systems."),
    items: int | None = typer.Option(None, "--items", min=1, help="A stratified sample of so many items."),
    by: str | None = typer.Option(None, "--by", metavar="COL[,COL]", help="Columns that stratify the sample."),
    outputs: list[str] = typer.Option([], "--outputs", metavar="FILE", help="Replies to the posts in SOURCE."),
    plan: str | None = typer.Option(
        None, "--plan", metavar="PILOT", help="Ratings of a pilot: raters and items are then proposed by ratings plan."
    ),
    target: float = typer.Option(0.8, "--target", help="With --plan: the G to reach."),
    map: list[str] = typer.Option([], "--map", metavar="OURS=THEIRS", help="A column's name in the table."),
    tool: str | None = typer.Option(None, "--from", help="SOURCE holds tasks of label-studio or potato."),
    key: str | None = typer.Option(
        None, "--key", metavar="FILE", help="With --from: the key file that collect export wrote beside blinded tasks."
    ),
    database: str = typer.Option("", "--database", metavar="URL", help="postgresql://USER@HOST/NAME or env:NAME."),
    instructions: str | None = typer.Option(None, "--instructions", metavar="FILE", help="Text shown before."),
    consent: str | None = typer.Option(None, "--consent", metavar="FILE", help="Text that raters agree to."),
    contact: str = typer.Option("", "--contact", help="How raters reach you."),
    language: str = typer.Option("en", "--language", help="Of the pages."),
    external_id: str = typer.Option(
        "", "--external-id-parameter", metavar="NAME", help="Link parameter with an outside id, such as PROLIFIC_PID."
    ),
    show_emoji_names: bool = typer.Option(False, "--show-emoji-names", help="Names beside emoji (they bias)."),
    seed: int = typer.Option(1, "--seed", min=0, help="Seed of orders and samples."),
    json: bool = JSON_OPTION,
) -> None:
    """Make a study: study.toml to be edited, and a database with blinded cells in it.

    mojimeter collect init runs/today --out study --attention 3 --repeats 0.1

    mojimeter collect init pairs:en --out ceiling --items 40

    mojimeter collect init outputs.csv --map item=doc text=summary --plan pilot.csv --target 0.8 --out study
    """
    from mojimeter.collect.init import Wish, init_study
    from mojimeter.datasets.tables import parse_mapping

    begun = init_study(
        Wish(
            source=source,
            out=out,
            form=form,
            title=title,
            question=question,
            points=scale,
            design=design,
            raters=raters,
            raters_per_item=raters_per_item,
            cells_per_rater=cells_per_rater,
            repeats=repeats,
            attention=attention,
            training=training,
            systems=tuple(s.strip() for s in systems.split(",")) if systems else (),
            items=items,
            by=tuple(c.strip() for c in by.split(",")) if by else (),
            outputs=tuple(outputs),
            pilot=plan,
            target=target,
            mapping=parse_mapping(map),
            tool=tool,
            key=key,
            database=database,
            instructions=instructions,
            consent=consent,
            contact=contact,
            language=language,
            external_id_parameter=external_id,
            show_emoji_names=show_emoji_names,
            seed=seed,
        )
    )
    write_warnings(begun.warnings)
    if json:
        write_json({"schema": 1} | begun.to_dict())
        return
    for line in begun.describe():
        typer.echo(line)
