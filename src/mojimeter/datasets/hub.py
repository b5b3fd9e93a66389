"""A data set of the Hugging Face hub as a table, through the library ``datasets`` when it is installed."""

from __future__ import annotations

import polars as pl

from mojimeter.errors import InputError, MissingExtraError


def read_hub(name: str) -> pl.DataFrame:
    """Read ``NAME`` or ``NAME@SPLIT`` (default split: test) as a data frame; an ``id`` is made if there is none.

    A folder of files works as a name too, as the library has it. Code from the hub is never run.

    Raises:
        MissingExtraError: the library is not installed.
        InputError: no such data set or split.
    """
    try:
        import datasets
    except ImportError:
        raise MissingExtraError("the library 'datasets'", "hub", f"hf:{name}") from None
    source, _, split = name.partition("@")
    try:
        loaded = datasets.load_dataset(source, split=split or "test")
    except (ValueError, OSError, ConnectionError) as error:
        raise InputError(f"hf:{name}: {str(error).splitlines()[0]}") from None
    frame: pl.DataFrame = loaded.to_polars()
    if "id" not in frame.columns:
        frame = frame.with_row_index("id")
    return frame
