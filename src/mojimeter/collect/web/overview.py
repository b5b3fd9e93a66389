"""What the administrator's page shows: who did how much. Never a system, never a rating.

Knows the study's status; must not know HTTP or HTML.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from mojimeter.collect.status import RaterStatus, StudyStatus, study_status
from mojimeter.collect.store import Store

COLUMNS = ("Rater", "State", "Done", "Seconds each", "Checks passed", "Repeats agreed", "Changed", "Emoji", "Last seen")


@dataclass(frozen=True)
class Overview:
    """A few sentences and a table, all as text."""

    lines: Sequence[str]
    rows: Sequence[Sequence[str]]
    columns: Sequence[str] = COLUMNS


def overview(store: Store) -> Overview:
    """How far the study is, as the administrator's page shows it.

    Raises:
        Unavailable: the database cannot be used.
    """
    status = study_status(store)
    return Overview(tuple(_lines(status)), tuple(_row(rater) for rater in status.raters))


def _lines(status: StudyStatus) -> list[str]:
    asked = status.ratings + status.missing + status.lost
    least, most = status.ratings_per_cell
    return [
        f"{status.ratings:,} ratings stored of {asked:,} asked for; {status.missing:,} can still come, "
        f"{status.lost:,} cannot (withdrawn, revoked or expired).",
        f"Ratings of each of {status.cells:,} cells: {least if least == most else f'{least} to {most}'}; "
        f"cells without any: {status.cells_without_rating:,}.",
    ]


def _row(rater: RaterStatus) -> tuple[str, ...]:
    return (
        rater.rater,
        rater.state,
        f"{rater.done} of {rater.total}",
        "" if rater.median_seconds is None else f"{rater.median_seconds:.1f}",
        _share(rater.attention_passed, rater.attention_given),
        _share(rater.repeats_agreed, rater.repeats_given),
        str(rater.changed),
        {None: "", True: "in colour", False: "not right"}[rater.emoji_ok],
        "" if rater.last_seen is None else f"{datetime.fromtimestamp(rater.last_seen, UTC):%Y-%m-%d %H:%M} UTC",
    )


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole}" if whole else ""
