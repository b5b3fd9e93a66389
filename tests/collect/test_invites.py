"""Inviting: links are written once and stored as hashes, slots are filled, orders stay."""

from __future__ import annotations

import csv
import stat
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from mojimeter.collect.database import reading
from mojimeter.collect.invites import invite, renew_admin, renew_link, revoke
from mojimeter.collect.schema import assignments, cells, raters
from mojimeter.collect.store import Refused, Store
from mojimeter.errors import InputError
from tests.collect.simulated import rate_all
from tests.collect.small import SmallStudy, small_study


def orders(store: Store) -> dict[str, list[tuple[int, str]]]:
    with reading(store.engine) as connection:
        rows = connection.execute(select(assignments).order_by(assignments.c.rater_id, assignments.c.position)).all()
    found: dict[str, list[tuple[int, str]]] = {}
    for row in rows:
        found.setdefault(row.rater_id, []).append((row.position, row.cell_id))
    return found


def links_in(study: SmallStudy) -> list[dict[str, str]]:
    with (study.folder / "links.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_links_are_in_one_file_that_only_its_owner_can_read(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", base_url="https://rate.example.org/x/")
    rows = links_in(study)
    assert [r["rater"] for r in rows] == ["r01", "r02"]
    assert [r["link"] for r in rows] == [f"https://rate.example.org/x/s/{link.token}" for link in study.links]
    assert stat.S_IMODE((study.folder / "links.csv").stat().st_mode) == 0o600
    for file in study.folder.iterdir():
        if file.name != "links.csv":
            assert study.links[0].token.encode() not in file.read_bytes()


def test_raters_can_be_added_at_any_time_and_nobody_else_is_touched(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", repeats=0.3)
    store = study.store()
    before = orders(store)
    rate_all(study, store, lambda rater, page: "3", ["r01"], until=3)
    added = invite(study.folder, 2)
    assert [link.rater for link in added.links] == ["r03", "r04"]
    after = orders(store)
    assert {name: after[name] for name in before} == before
    assert len({tuple(order) for order in after.values()}) == 4
    assert len(links_in(study)) == 4
    assert store.enter(study.links[0].token).rater == "r01"


def test_a_place_that_was_given_up_is_taken_by_the_next_rater(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", raters=4, design="nested", raters_per_item=2)
    store = study.store()
    with pytest.raises(InputError, match="places for 4 raters, all taken"):
        invite(study.folder, 1)
    store.revoke("r02")
    (new,) = invite(study.folder, 1).links
    found = orders(store)
    assert {c for _, c in found[new.rater]} == {c for _, c in found["r02"]}
    with reading(store.engine) as connection:
        taken = Counter(connection.execute(select(raters.c.slot)).scalars())
    assert taken == {0: 1, 1: 2, 2: 1, 3: 1}


@pytest.mark.parametrize(
    ("settings", "each", "per_cell"),
    [
        ({"design": "incomplete", "cells_per_rater": 6}, 6, 2),
        ({"design": "nested", "raters_per_item": 2}, 6, 2),
        ({}, 12, 4),
    ],
)
def test_every_design_gives_every_cell_as_many_raters_as_it_says(
    tmp_path: Path, settings: dict[str, Any], each: int, per_cell: int
) -> None:
    study = small_study(tmp_path / "study", raters=4, items=6, training=0, **settings)
    store = study.store()
    found = orders(store)
    assert {len(order) for order in found.values()} == {each}
    with reading(store.engine) as connection:
        main = connection.execute(select(cells.c.id).where(cells.c.kind == "main")).scalars().all()
    counts = Counter(cell for order in found.values() for _, cell in order)
    assert {counts[cell] for cell in main} == {per_cell}


def test_before_the_first_rating_an_edited_design_is_dealt_anew_and_links_stay(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", attention=0)
    before = orders(study.store())
    file = study.folder / "study.toml"
    file.write_text(file.read_text().replace("repeats = 0.0", "repeats = 0.5").replace("seed = 1", "seed = 2"))
    with pytest.raises(InputError, match="the design was edited; run mojimeter collect invite once to deal anew"):
        study.store()
    found = invite(study.folder, 0)
    assert (found.redealt, found.links, found.file) == (2, (), None)
    store = study.store()
    assert {len(order) for order in orders(store).values()} == {10}
    assert orders(store) != before
    assert store.enter(study.links[1].token).rater == "r02"
    assert invite(study.folder, 0).redealt == 0


def test_after_the_first_rating_the_design_stays(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    rate_all(study, study.store(), lambda rater, page: "3", ["r01"], until=1)
    file = study.folder / "study.toml"
    written = file.read_text()
    file.write_text(written.replace("seed = 1", "seed = 2"))
    for use in (study.store, lambda: invite(study.folder, 1)):
        with pytest.raises(
            InputError, match="the design or seed was edited, but there are ratings; put the old values"
        ):
            use()
    file.write_text(written)
    assert study.store().state("r01").done == 1


def test_a_lost_link_is_replaced_and_the_old_one_ends(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    store = study.store()
    session = store.enter(study.links[0].token)
    (link,) = renew_link(study.folder, "r01", valid_days=3).links
    with pytest.raises(Refused):
        store.enter(study.links[0].token)
    assert store.session(session.cookie) is None
    assert store.enter(link.token).rater == "r01"
    assert [r["link"] for r in links_in(study) if r["rater"] == "r01"] == [link.url]
    store.withdraw("r02")
    with pytest.raises(InputError, match="r02 has withdrawn and cannot come back"):
        renew_link(study.folder, "r02")
    with pytest.raises(InputError, match="no rater 'r09'"):
        renew_link(study.folder, "r09")


def test_a_revoked_raters_link_leaves_the_file(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    assert revoke(study.folder, "r01") == 1
    assert [r["rater"] for r in links_in(study)] == ["r02"]
    assert stat.S_IMODE((study.folder / "links.csv").stat().st_mode) == 0o600
    with pytest.raises(InputError, match="no rater 'r9'; expected r01, r02"):
        revoke(study.folder, "r9")


def test_a_new_administrators_token_ends_the_old_one(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    store = study.store()
    old = store.enter_admin(study.admin_token)
    token = renew_admin(study.folder)
    assert store.admin_session(old.cookie) is None
    with pytest.raises(Refused):
        store.enter_admin(study.admin_token)
    assert store.enter_admin(token)


def test_a_link_that_cannot_be_written_down_does_not_exist(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    (study.folder / "links.csv").unlink()
    (study.folder / "links.csv").mkdir()
    with pytest.raises(InputError, match=r"links\.csv: cannot be written"):
        invite(study.folder, 3)
    with reading(study.store().engine) as connection:
        assert connection.execute(select(raters.c.id).order_by(raters.c.id)).scalars().all() == ["r01", "r02"]


def test_links_of_an_invitation_that_was_killed_before_its_commit_do_not_stay_in_the_file(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    file = study.folder / "links.csv"
    # as the file is left: r03 is written down, and unknown to the database; the last line is cut off
    file.write_text(file.read_text() + "r03,http://127.0.0.1:8000/s/dead,2027-01-01T00:00:00+00:00\nr04,http")
    added = invite(study.folder, 2).links
    assert [(r["rater"], r["link"]) for r in links_in(study)] == [
        (link.rater, link.url) for link in (*study.links, *added)
    ]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_links_are_added_on_lines_of_their_own_whatever_an_editor_left(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    file = study.folder / "links.csv"
    file.write_text(file.read_text().rstrip("\n"))
    invite(study.folder, 1)
    assert [r["rater"] for r in links_in(study)] == ["r01", "r02", "r03"]
    file.write_text("")
    invite(study.folder, 1)
    assert [r["rater"] for r in links_in(study)] == ["r04"]


@pytest.mark.parametrize("url", ["rate.example.org", "ftp://x", "http://", "https://x/?a=1", "javascript:alert(1)"])
def test_an_address_that_is_none_is_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(InputError, match="--base-url"):
        invite(tmp_path, 1, base_url=url)
