"""Status: who did how much, counted by hand."""

from __future__ import annotations

import io
import random
from collections import Counter
from pathlib import Path
from statistics import median

import pytest

from mojimeter.collect.current import current_ratings
from mojimeter.collect.database import reading
from mojimeter.collect.invites import invite
from mojimeter.collect.status import RaterStatus, StudyStatus, is_main, study_status
from mojimeter.collect.status_screen import status_table
from mojimeter.collect.store import Store
from tests.collect.simulated import rate_all
from tests.collect.small import SYSTEMS, SmallStudy, small_study

# 1 training + 6 main + 1 attention + round(0.4 * 6) = 2 repeats
TOTAL = 10


@pytest.fixture
def study(tmp_path: Path) -> SmallStudy:
    return small_study(tmp_path / "study", raters=6, attention=1, repeats=0.4)


def status_of(study: SmallStudy, days: float = 0) -> StudyStatus:
    store = study.store()
    return study_status(Store(store.engine, store.config, lambda: study.links[0].expires - 10 + 86_400 * days))


def by_name(status: StudyStatus) -> dict[str, RaterStatus]:
    return {r.rater: r for r in status.raters}


def test_states_progress_and_what_is_missing_are_counted(study: SmallStudy) -> None:
    store = study.store()
    rate_all(study, store, lambda rater, page: "5", ["r01"], check={"colour": True, "boxes": False})
    rate_all(study, store, lambda rater, page: str(page.position % 5 + 1), ["r02", "r03"], until=4, duration_ms=4000)
    store.withdraw("r03")
    rate_all(study, store, lambda rater, page: "5", ["r04"], until=2, check={"colour": True, "boxes": True})
    store.revoke("r04")
    store.consent("r05")
    status = status_of(study)
    found = by_name(status)
    assert [found[f"r0{k}"].state for k in range(1, 7)] == [
        "done", "started", "withdrawn", "revoked", "started", "invited",
    ]  # fmt: skip
    assert status.states == {"done": 1, "started": 2, "withdrawn": 1, "revoked": 1, "invited": 1}
    first = found["r01"]
    assert (first.done, first.total, first.main_done, first.main_total) == (TOTAL, TOTAL, 6, 6)
    assert (first.attention_passed, first.attention_given) == (1, 1)  # the check asks for 5
    assert (first.repeats_agreed, first.repeats_given) == (2, 2)
    assert first.median_seconds == 2.0
    assert found["r02"].median_seconds == 4.0
    assert (first.emoji_ok, found["r04"].emoji_ok, found["r02"].emoji_ok) == (True, False, None)
    # of the ratings of main cells: what r01 gave, and what r02 and r04 gave (r03 withdrew)
    given = 6 + found["r02"].main_done + found["r04"].main_done
    assert status.ratings == given
    assert status.missing == (6 - found["r02"].main_done) + 6 + 6
    assert status.lost == (6 - found["r03"].main_done) + (6 - found["r04"].main_done)
    assert status.cells == 6
    assert status.cells_without_rating == 0
    assert status.ratings_per_cell[0] >= 1
    assert status.complete == given / (6 * 5)


def test_ratings_of_who_withdrew_cover_no_cell(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    store = study.store()
    rate_all(study, store, lambda rater, page: "5", ["r01"])
    assert study_status(store).cells_without_rating == 0
    store.withdraw("r01")
    status = study_status(store)
    assert (status.cells_without_rating, status.ratings, status.ratings_per_cell) == (6, 0, (0, 0))
    assert by_name(status)["r01"].main_done == 6  # they are there, and are counted


def test_a_link_that_expired_before_the_end_is_said(study: SmallStudy) -> None:
    rate_all(study, study.store(), lambda rater, page: "5", ["r01"])
    rate_all(study, study.store(), lambda rater, page: "5", ["r02"], until=3)
    found = by_name(status_of(study, days=1))
    assert [found[name].state for name in ("r01", "r02", "r03")] == ["done", "expired", "expired"]


def test_changed_ratings_and_wrong_checks_are_seen(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", attention=1, repeats=0.4)
    store = study.store()
    rate_all(study, store, lambda rater, page: str((page.position + 2) % 4 + 1), ["r01"])
    page = store.page("r01", 3)
    for k, value in enumerate(("1", "2")):
        store.rate(
            "r01", key=f"again-{k:06d}", position=3, cell_id=page.cell_id, value=value, shown_at=0.0, duration_ms=1
        )
    found = by_name(study_status(store))["r01"]
    assert found.changed == 1
    assert (found.attention_passed, found.attention_given) == (0, 1)
    assert found.repeats_given == 2


def test_what_the_database_counts_is_what_is_there_row_by_row(tmp_path: Path, database: str) -> None:
    study = small_study(tmp_path / "study", raters=4, items=4, attention=2, repeats=0.5, database_url=database)
    store, chance = study.store(), random.Random(8)
    for link in study.links:
        store.consent(link.rater)
        pages = store.pages(link.rater, 1, 100)
        for k in range(30):  # some never, some several times
            page = chance.choice(pages[chance.randrange(3) :])
            value, took = str(chance.randint(4, 5)), chance.randint(1, 9000)
            rated = {"position": page.position, "cell_id": page.cell_id, "value": value, "duration_ms": took}
            store.rate(link.rater, key=f"key-{link.rater}-{k}", shown_at=0.0, **rated)
    store.withdraw("r02")
    status = study_status(store)
    with reading(store.engine) as connection:
        asked = list(current_ratings(connection))
    cells: Counter[str] = Counter()
    for found in status.raters:
        mine = {row.position: row for row in asked if row.rater == found.rater}
        given = [row for row in mine.values() if row.value is not None]
        first = [row for row in given if is_main(row)]
        cells.update(row.cell for row in first if found.rater != "r02")
        checked = [row for row in given if row.kind == "attention"]
        pairs = [(row.value, mine[row.repeat_of].value) for row in given if row.repeat_of is not None]
        both = [a == b for a, b in pairs if b is not None]
        assert (found.done, found.total) == (len(given), len(mine))
        assert (found.main_done, found.main_total) == (len(first), sum(map(is_main, mine.values())))
        assert found.changed == sum(row.times > 1 for row in given) > 0
        assert found.last_seen == max(row.received_at for row in given)
        assert found.median_seconds == median(row.duration_ms for row in given if row.kind == "main") / 1000
        assert (found.attention_passed, found.attention_given) == (
            sum(row.value == row.expected for row in checked),
            len(checked),
        )
        assert (found.repeats_agreed, found.repeats_given) == (sum(both), len(both))
    assert status.ratings == cells.total()
    assert status.cells_without_rating == status.cells - len(cells)
    assert status.ratings_per_cell[1] == max(cells.values())
    store.engine.dispose()


def test_a_study_without_raters_is_empty_and_not_an_error(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", raters=0)
    status = study_status(study.store())
    assert (status.raters, status.complete, status.missing) == ((), None, 0)
    out = io.StringIO()
    status_table(status, out)
    assert "Nobody was invited yet" in out.getvalue()


def test_more_than_ninety_nine_raters_stay_in_order(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", raters=1, items=1)
    invite(study.folder, 101)
    names = [r.rater for r in study_status(study.store()).raters]
    assert names[:2] == ["r01", "r02"]
    assert names[98:] == ["r99", "r100", "r101", "r102"]


def test_neither_table_nor_json_names_a_system(study: SmallStudy) -> None:
    rate_all(study, study.store(), lambda rater, page: "5", ["r01"])
    status = status_of(study)
    out = io.StringIO()
    status_table(status, out)
    for text in (out.getvalue(), repr(status.to_dict())):
        assert not any(system in text for system in SYSTEMS)
        assert "source-item" not in text
    assert "r01" in out.getvalue()
    assert "10/10" in out.getvalue()
