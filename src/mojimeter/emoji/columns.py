"""Finds and takes out the emoji of a whole Polars column, with the results of the single-string scanner.

Polars extracts the runs of emoji-capable characters and what in them has the form of an emoji; ``scan``
reads each distinct form once and says whether it is what it looks like; the results are joined back.
What form cannot tell is left to ``scan``. Knows nothing of posts.
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
    texts = _as_strings(texts)
    if len(texts) <= _SMALLEST_PART:
        return _read(texts)
    runs = _joined_runs(texts)
    distinct = runs.unique().drop_nulls()
    keys = distinct.to_frame("runs").with_row_index("at")
    at = runs.to_frame("runs").join(keys, on="runs", how="left", maintain_order="left")["at"]
    return _read(distinct).gather(at).alias(texts.name)


def _read(texts: pl.Series) -> pl.Series:
    """The emoji of every text: by form where that is enough, else by the scanner."""
    sequences = texts.str.extract_all(scan.sequence_pattern())
    column, frame = pl.col("sequences"), sequences.to_frame("sequences")
    # the nulls are what some versions of Polars make of empty lists
    forms = frame.select(column.explode().drop_nulls().unique()).to_series().to_list()
    unclear = [form for form in forms if scan.read_run(form).emoji != (form,)]
    if not unclear:
        return sequences
    holds_unclear = column.list.eval(pl.element().is_in(unclear).any()).list.first()
    rows = frame.select(holds_unclear.arg_true()).to_series()
    # strings go to Polars ten times as fast joined as in Python lists
    joined = pl.Series([_SEPARATOR.join(scan.find(text)) for text in texts.gather(rows).to_list()], dtype=pl.String)
    scanned = joined.str.extract_all(f"[^{_SEPARATOR}]+")
    size = len(texts)
    order = pl.int_range(size, eager=True).scatter(rows, pl.int_range(size, size + len(rows), eager=True))
    # a gather from chunks is slow
    return pl.concat([sequences, scanned], rechunk=True).gather(order).alias(texts.name)


def _joined_runs(texts: pl.Series) -> pl.Series:
    """The runs of every text as one string, extracted in parts, one a thread."""
    extract = pl.col("text").str.extract_all(scan.run_pattern()).list.join(_SEPARATOR)
    size = max(_SMALLEST_PART, -(-len(texts) // pl.thread_pool_size()))
    frame = texts.alias("text").to_frame()
    parts = [frame.lazy().slice(start, size).select(extract) for start in range(0, len(texts), size)]
    return pl.concat(pl.collect_all(parts)).to_series()


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
