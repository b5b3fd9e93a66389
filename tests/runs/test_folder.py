"""The run folder's tables."""

from __future__ import annotations

import datetime
from pathlib import Path

import polars as pl

from mojimeter.datasets.tables import read_table
from mojimeter.runs.folder import RunFolder


def test_columns_of_dates_bytes_and_numbers_that_are_none_are_written_as_json_can(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "id": ["1", "2"],
            "day": [datetime.date(2020, 1, 2), None],
            "score": [float("nan"), 1.5],
            "raw": [b"ok", b"\xff"],
            "parts": [[1.0, float("inf")], []],
        }
    )
    with RunFolder(tmp_path / "run") as folder:
        path = folder.write_table("posts", frame)
    assert read_table(path).to_dicts() == [
        {"id": "1", "day": "2020-01-02", "score": None, "raw": "ok", "parts": [1.0, None]},
        {"id": "2", "day": None, "score": 1.5, "raw": "\ufffd", "parts": []},
    ]
