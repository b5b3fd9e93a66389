"""Finds and takes out the emoji of a whole Polars column, with the results of the single-string scanner.

Polars extracts the runs, each distinct one is read once by ``scan``, and the results are joined back;
what only the single-string scanner can decide is left to it, row by row. Knows nothing of posts.
"""

from __future__ import annotations

import polars as pl

from mojimeter.emoji import scan

_SEPARATOR = "\x00"  # cannot be part of a run


def find_column(texts: pl.Series) -> pl.Series:
    """The emoji of every text: a Series of lists of strings, null where the text is null.

    Equal to ``scan.find`` of every value.
    """
    texts = _as_strings(texts)
    runs = texts.str.extract_all(scan.run_pattern())
    rows = pl.DataFrame({"runs": runs.list.join(_SEPARATOR)})
    distinct = rows["runs"].unique().drop_nulls()
    found = pl.Series(
        "emoji",
        [[e for run in joined.split(_SEPARATOR) if run for e in scan.read_run(run).emoji] for joined in distinct],
        dtype=pl.List(pl.String),
    )
    table = pl.DataFrame({"runs": distinct, "emoji": found})
    return rows.join(table, on="runs", how="left", maintain_order="left")["emoji"].alias(texts.name)


def strip_column(texts: pl.Series) -> pl.Series:
    """Every text without its emoji, equal to ``scan.strip`` of every value; null stays null."""
    texts = _as_strings(texts)
    runs = texts.str.extract_all(scan.run_pattern())
    distinct = runs.explode().unique().drop_nulls()
    odd = [run for run in distinct if scan.read_run(run).rest]
    in_doubt = texts.str.contains(scan.strip_pattern_of_doubt())
    if odd:
        in_doubt |= runs.list.eval(pl.element().is_in(odd).any()).list.first()
    stripped = texts.str.replace_all(scan.run_pattern(), "")
    if not in_doubt.any():
        return stripped
    by_hand = pl.Series(texts.name, [scan.strip(t) for t in texts.filter(in_doubt)], dtype=pl.String)
    return stripped.scatter(in_doubt.arg_true(), by_hand)


def _as_strings(texts: pl.Series) -> pl.Series:
    return texts if texts.dtype == pl.String else texts.cast(pl.String)
