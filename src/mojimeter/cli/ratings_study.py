"""``mojimeter ratings study``: one screen on a table of ratings."""

from __future__ import annotations

import typer

from mojimeter.cli.output import JSON_OPTION, write_json


def command(
    file: str = typer.Argument(
        ..., metavar="FILE", help="Ratings: item, system, rater, score, one per row. CSV, TSV, JSONL or Parquet."
    ),
    item: str = typer.Option("item", "--item", metavar="COLUMN", help="Column that names the item."),
    system: str | None = typer.Option(
        None, "--system", metavar="COLUMN", help="Column that names the system; a table without one is items x raters."
    ),
    rater: str = typer.Option("rater", "--rater", metavar="COLUMN", help="Column that names the rater."),
    score: str = typer.Option("score", "--score", metavar="COL[,COL]", help="Columns of scores, one study each."),
    map: list[str] = typer.Option([], "--map", metavar="OURS=THEIRS", help="A column's name in the file."),
    fixed: list[str] = typer.Option(
        [], "--fixed", metavar="FACET", help="Facets whose levels are all that matter: system, item or rater."
    ),
    nested: list[str] = typer.Option(
        [],
        "--nested",
        metavar="FACET:IN",
        help="rater:item (raters of their own for every item), rater:item:system, or item:COLUMN (items in groups).",
    ),
    object: str | None = typer.Option(
        None, "--object", metavar="FACET", help="What is measured: system (default) or item."
    ),
    object_variance: str = typer.Option(
        "unbiased",
        "--object-variance",
        help="unbiased; observed_n and observed_n_minus_1 (variance of the observed means) reproduce published G.",
    ),
    estimator: str | None = typer.Option(
        None, "--estimator", help="ems (complete tables), reml (incomplete ones) or henderson (fast, unconstrained)."
    ),
    pairs: str = typer.Option("pooled", "--pairs", help="Errors of differences: pooled, or separate for every pair."),
    margin: float | None = typer.Option(
        None, "--margin", help="A difference below this counts as none: tests equivalence by two one-sided tests."
    ),
    lower_is_better: bool = typer.Option(False, "--lower-is-better", help="Low scores are good (errors, distances)."),
    target: list[float] = typer.Option([0.8, 0.9], "--target", help="G to reach with more raters."),
    level: str = typer.Option("interval", "--level", help="Scale of the scores for agreement: nominal, ordinal, ..."),
    plot: str | None = typer.Option(None, "--plot", metavar="DIR", help="Write the plots there, as SVG."),
    seed: int = typer.Option(1, "--seed", min=0, help="Seed of the draws behind intervals."),
    fail_under: list[str] = typer.Option(
        [], "--fail-under", metavar="METRIC=VALUE", help="Exit 3 if g, phi, alpha or icc is lower: g=0.8."
    ),
    json: bool = JSON_OPTION,
) -> None:
    """Say whether these ratings rank the systems, and what a better study would need.

    mojimeter ratings study ratings.csv

    mojimeter ratings study ratings.csv --score fluency,adequacy --plot plots
    """
    from mojimeter.datasets.tables import parse_mapping
    from mojimeter.ratings.summary import Questions, check_gates, open_study, parse_nesting, summarise_all

    study = open_study(
        file,
        item,
        system,
        rater,
        [part.strip() for part in score.split(",") if part.strip()],
        [part for text in fixed for part in text.split(",")],
        parse_nesting(nested),
        parse_mapping(map),
    )
    if "system" not in study.design.levels:
        typer.echo("no column 'system': read as items x raters (name one with --system COLUMN)", err=True)
    document = summarise_all(
        study,
        Questions(object, object_variance, estimator, pairs, margin, not lower_is_better, tuple(target), level, seed),
    )
    if plot is not None:
        from mojimeter.ratings.plots import write_plots

        for path in write_plots(document, plot):
            typer.echo(f"wrote {path}", err=True)
    if json:
        write_json(document)
    else:
        from mojimeter.ratings.screen import render

        typer.echo(render(document))
    check_gates(document, fail_under)
