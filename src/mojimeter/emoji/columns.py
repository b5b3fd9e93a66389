"""Finds and takes out the emoji of a whole Polars column, with the results of the single-string scanner.

Polars extracts the runs of emoji-capable characters, ``scan`` reads each distinct run once, and the
results are joined back; what depends on more than a run is left to ``scan`` row by row. Knows nothing
of posts.
"""

from __future__ import annotations

import polars as pl

from mojimeter.emoji import scan

_SEPARATOR = "\x00"  # is part of no run
_SMALLEST_PART = 20_000


def find_column(texts: pl.Series) -> pl.Series:
    """The emoji of every text: a Series of lists of strings, null where the text is null.

    Equal to ``scan.find`` of every value.
    """
    runs = _joined_runs(_as_strings(texts))
    distinct = runs.unique().drop_nulls()
    # strings go to Polars ten times as fast joined as in Python lists
    joined = pl.Series([_join_emoji(row) for row in distinct.to_list()], dtype=pl.String)
    found = joined.str.extract_all(f"[^{_SEPARATOR}]+")
    where = pl.DataFrame({"runs": distinct}).with_row_index("at")
    at = runs.to_frame("runs").join(where, on="runs", how="left", maintain_order="left")["at"]
    return found.gather(at).alias(texts.name)


def _joined_runs(texts: pl.Series) -> pl.Series:
    """The runs of every text as one string; long columns in parts, one a thread."""
    extract = pl.col("text").str.extract_all(scan.run_pattern()).list.join(_SEPARATOR)
    size = max(_SMALLEST_PART, -(-len(texts) // pl.thread_pool_size()))
    frame = texts.alias("text").to_frame()
    if len(texts) <= size:
        return frame.select(extract).to_series()
    parts = [frame.lazy().slice(start, size).select(extract) for start in range(0, len(texts), size)]
    return pl.concat(pl.collect_all(parts)).to_series()


def _join_emoji(runs: str) -> str:
    if _SEPARATOR not in runs:  # most rows hold one run
        return _SEPARATOR.join(scan.read_run(runs).emoji) if runs else ""
    return _SEPARATOR.join([emoji for run in runs.split(_SEPARATOR) for emoji in scan.read_run(run).emoji])


def strip_column(texts: pl.Series) -> pl.Series:
    """Every text without its emoji, equal to ``scan.strip`` of every value; null stays null."""
    texts = _as_strings(texts)
    runs = texts.str.extract_all(scan.run_pattern())
    # the nulls are what some versions of Polars make of empty lists
    distinct = runs.explode().drop_nulls().unique().to_list()
    odd = [run for run in distinct if scan.read_run(run).rest]
    in_doubt = texts.str.contains(scan.doubt_pattern()).fill_null(False)
    if odd:
        in_doubt |= runs.list.eval(pl.element().is_in(odd)).list.any().fill_null(False)
    stripped = texts.str.replace_all(scan.run_pattern(), "")
    if not in_doubt.any():
        return stripped
    by_hand = pl.Series([scan.strip(text) for text in texts.filter(in_doubt).to_list()], dtype=pl.String)
    return stripped.scatter(in_doubt.arg_true(), by_hand)


def _as_strings(texts: pl.Series) -> pl.Series:
    return texts if texts.dtype == pl.String else texts.cast(pl.String)
