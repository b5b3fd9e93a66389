"""``mojimeter ratings splits``: twins across splits, and the optimism of splitting row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from mojimeter.cli.output import JSON_OPTION, write_json

if TYPE_CHECKING:
    import polars as pl


def command(
    file: str = typer.Argument(..., metavar="FILE", help="A table with an item column; several rows per item."),
    item: str = typer.Option("item", "--item", metavar="COLUMN", help="Column that names the source item."),
    system: str = typer.Option("system", "--system", metavar="COLUMN", help="Column that names the system, if any."),
    label: str | None = typer.Option(
        None, "--label", metavar="COLUMN", help="Column to predict from the emoji; without it twins are counted only."
    ),
    text: str = typer.Option("text", "--text", metavar="COLUMN", help="Column with the emoji."),
    test_share: float = typer.Option(0.2, "--test-share", help="Share of the rows to test on."),
    repeats: int = typer.Option(20, "--repeats", min=2, help="Splits of each kind."),
    map: list[str] = typer.Option([], "--map", metavar="OURS=THEIRS", help="A column's name in the file."),
    seed: int = typer.Option(1, "--seed", min=0, help="Seed of the splits."),
    json: bool = JSON_OPTION,
) -> None:
    """How many test rows have a twin in training, and what that does to the macro-F1 of a classifier.

    The classifier is a logistic regression on emoji counts (extra `train`).

    mojimeter ratings splits outputs.csv --label emotion --text reply
    """
    import numpy as np

    from mojimeter.datasets.tables import parse_mapping, read_table
    from mojimeter.errors import InputError
    from mojimeter.ratings.reading import code_levels
    from mojimeter.ratings.splits import count_twins, measure_optimism
    from mojimeter.ratings.splits_screen import describe_splits

    needed = [item] if label is None else [item, label, text]
    frame = read_table(file, required=needed, mapping=parse_mapping(map))
    if frame.height == 0:
        raise InputError(f"{file}: no rows; expected several per item")
    groups = code_levels(frame[item], file)[0].astype(np.int64)
    twins = count_twins(groups, test_share, repeats=repeats, seed=seed)
    optimism = None
    if label is not None:
        labels, names = code_levels(frame[label], file)
        systems = frame[system].cast(_text()).to_list() if system in frame.columns else None
        if systems is not None and None in systems:
            raise InputError(f"{file}: row {systems.index(None) + 1}, column {system!r}: empty; expected a name")
        optimism = measure_optimism(
            _logistic_regression(),
            _emoji_counts(frame[text]),
            [names[k] for k in labels.tolist()],
            groups,
            systems,
            test_share=test_share,
            repeats=repeats,
            seed=seed,
        )
    if json:
        document = {"schema": 1} | twins.to_dict()
        write_json(document if optimism is None else document | {"classifier": optimism.to_dict()})
    else:
        typer.echo(describe_splits(twins, optimism))


def _text() -> Any:
    import polars as pl

    return pl.String


def _emoji_counts(texts: pl.Series) -> Any:
    """Rows by emoji, how often each occurs; a sparse matrix."""
    import numpy as np
    from scipy.sparse import csr_matrix

    from mojimeter import emoji

    found = emoji.find_column(texts.fill_null("")).to_list()
    vocabulary = {e: k for k, e in enumerate(dict.fromkeys(e for row in found for e in row))}
    row = np.repeat(np.arange(len(found)), [len(r) for r in found])
    column = np.array([vocabulary[e] for r in found for e in r], dtype=np.int64)
    return csr_matrix((np.ones(row.size), (row, column)), shape=(len(found), max(len(vocabulary), 1)))


def _logistic_regression() -> Any:
    """Fit and predict with scikit-learn's defaults, C = 1."""
    from mojimeter.errors import MissingExtraError

    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError:
        raise MissingExtraError("scikit-learn", "train", "the classifier of `ratings splits`") from None

    def fit_predict(train: Any, labels: Any, test: Any) -> Any:
        if len(set(labels.tolist())) < 2:
            return labels[:1].repeat(test.shape[0])
        return LogisticRegression(max_iter=1000).fit(train, labels).predict(test)

    return fit_predict
