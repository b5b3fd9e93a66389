"""The run folder's tables."""

from __future__ import annotations

import datetime
from pathlib import Path

import polars as pl
import pytest

from mojimeter.datasets.tables import read_table
from mojimeter.errors import InputError
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


SETTINGS = {"systems": ["a"], "seed": 1, "draws": 2000, "bootstrap_seed": 0, "equality": "tone"}


def test_a_run_goes_on_with_more_of_the_same_or_another_scoring(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run") as folder:
        folder.require_same_run(SETTINGS, ())
        folder.write_settings(SETTINGS)
        folder.require_same_run({**SETTINGS, "systems": ("a", "b")}, ("systems",))
        folder.require_same_run({**SETTINGS, "draws": 5, "bootstrap_seed": 9, "equality": "exact"}, ())
        assert folder.settings() == SETTINGS  # asking is not writing


@pytest.mark.parametrize("change", [{"seed": 2}, {"seed": None}, {"template": "other.txt"}, {"systems": ("b",)}])
def test_a_run_of_other_calls_is_refused_by_the_setting_that_differs(tmp_path: Path, change: dict[str, object]) -> None:
    with RunFolder(tmp_path / "run") as folder:
        folder.write_settings(SETTINGS)
        with pytest.raises(InputError, match=f"holds a run with {next(iter(change))} = .*give another --out"):
            folder.require_same_run({**SETTINGS, "draws": 5, **change}, ())
