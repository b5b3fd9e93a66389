"""The store: ratings are on disk once and only once, raters see and write what is theirs, on both databases."""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, func, select

from mojimeter.collect.database import reading
from mojimeter.collect.invites import Link
from mojimeter.collect.schema import events, raters, sessions
from mojimeter.collect.schema import study as facts
from mojimeter.collect.store import (
    BadValue,
    Closed,
    KeyReused,
    NotYours,
    Refused,
    Saved,
    Session,
    Store,
    StoreError,
    Unavailable,
    hash_of,
)
from mojimeter.collect.study import Scale
from tests.collect.small import SYSTEMS, SmallStudy, small_study
from tests.postgres import Postgres

DAY = 86_400.0


@dataclass
class Clock:
    """A clock that tests set."""

    seconds: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.seconds


@dataclass
class Scene:
    """A study and two raters of it whom no other test knows; the first is signed in."""

    study: SmallStudy
    store: Store
    clock: Clock
    link: Link
    other_link: Link
    session: Session = field(init=False)

    def __post_init__(self) -> None:
        self.clock.seconds = self.link.expires - 10 * DAY
        self.session = self.store.enter(self.link.token)
        self.store.consent(self.me)

    @property
    def me(self) -> str:
        return self.link.rater

    @property
    def other(self) -> str:
        return self.other_link.rater

    def key(self, number: int) -> str:
        return f"{self.me}-{number:08d}"

    def rate(self, position: int = 1, value: str = "3", number: int = 1, **changes: Any) -> Saved:
        given: dict[str, Any] = {
            "key": self.key(number),
            "position": position,
            "cell_id": self.store.page(self.me, position).cell_id,
            "value": value,
            "shown_at": 1_800_000_000.0,
            "duration_ms": 1500,
            "session": self.session,
        }
        return self.store.rate(self.me, **(given | changes))

    def stored(self) -> list[Any]:
        """Both raters' events in the order in which they came."""
        mine = events.c.rater_id.in_([self.me, self.other])
        with reading(self.store.engine) as connection:
            return list(connection.execute(select(events).where(mine).order_by(events.c.number)).all())


def scene_of(folder: Path, **settings: Any) -> Scene:
    """A study of its own, on SQLite."""
    study = small_study(folder / "study", **settings)
    opened, clock = study.store(), Clock()
    return Scene(study, Store(opened.engine, opened.config, clock), clock, *study.links[:2])


@dataclass
class Everybody:
    """A study that the tests of this module share, each with two raters of its own."""

    study: SmallStudy
    store: Store
    links: Iterator[Link]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def everybody(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Everybody]:
    """1 training item, 3 items x 2 systems."""
    folder = tmp_path_factory.mktemp("shared")
    url = "" if request.param == "sqlite" else _new_database(request.getfixturevalue("postgres"))
    study = small_study(folder / "study", raters=80, database_url=url)
    store = study.store()
    yield Everybody(study, store, iter(study.links))
    store.engine.dispose()


def _new_database(postgres: Postgres) -> str:
    name = f"store_{secrets.token_hex(4)}"
    postgres.execute(f"CREATE DATABASE {name}")
    return postgres.url(name)


@pytest.fixture
def scene(everybody: Everybody) -> Scene:
    clock = Clock()
    store = Store(everybody.store.engine, everybody.store.config, clock)
    return Scene(everybody.study, store, clock, next(everybody.links), next(everybody.links))


# --- nothing lost, nothing twice ----------------------------------------------------------------------------------


def test_a_rating_that_was_acknowledged_is_stored_with_all_that_came_with_it(scene: Scene) -> None:
    saved = scene.rate(2, "4")
    assert saved == Saved(scene.key(1), 2, 3, True)
    (found,) = scene.stored()
    assert (found.key, found.rater_id, found.position, found.value) == (scene.key(1), scene.me, 2, "4")
    assert (found.shown_at, found.duration_ms) == (1_800_000_000.0, 1500)
    assert found.received_at == scene.clock.seconds
    assert found.session == scene.session.hash[:16]


def test_the_same_rating_sent_again_gets_the_same_acknowledgement_and_is_stored_once(scene: Scene) -> None:
    first, again = scene.rate(), scene.rate()
    assert first.fresh
    assert not again.fresh
    assert (again.key, again.position, again.next_position) == (first.key, first.position, first.next_position)
    assert len(scene.stored()) == 1


def test_a_key_that_stands_for_another_rating_is_refused_and_changes_nothing(scene: Scene) -> None:
    scene.rate(1, "3")
    for changes in ({"value": "4"}, {"position": 2}):
        with pytest.raises(KeyReused):
            scene.rate(**changes)
    assert [e.value for e in scene.stored()] == ["3"]


def test_a_later_rating_counts_and_the_earlier_one_stays(scene: Scene) -> None:
    scene.rate(1, "3", 1)
    scene.rate(1, "5", 2)
    assert scene.store.page(scene.me, 1).value == "5"
    assert [e.value for e in scene.stored()] == ["3", "5"]
    # the first one's late second delivery is acknowledged and does not bring it back
    assert not scene.rate(1, "3", 1).fresh
    assert scene.store.page(scene.me, 1).value == "5"


def test_many_threads_that_send_everything_twice_store_everything_once(everybody: Everybody) -> None:
    store = everybody.store
    sessions_ = [store.enter(next(everybody.links).token) for _ in range(8)]
    for session in sessions_:
        store.consent(session.rater)
    pages = {s.rater: store.pages(s.rater, 1, 99) for s in sessions_}

    def send(job: tuple[Session, int]) -> Saved:
        session, k = job
        page = pages[session.rater][k]
        return store.rate(
            session.rater,
            key=f"{session.rater}-{k:08d}",
            position=page.position,
            cell_id=page.cell_id,
            value=str(k % 5 + 1),
            shown_at=0.0,
            duration_ms=k,
            session=session,
        )

    jobs = [(s, k) for k in range(7) for s in sessions_] * 2
    with ThreadPoolExecutor(12) as pool:
        saved = list(pool.map(send, jobs))
    assert sum(s.fresh for s in saved) == 56
    theirs = events.c.rater_id.in_([s.rater for s in sessions_])
    with reading(store.engine) as connection:
        assert connection.execute(select(func.count(), func.count(events.c.key.distinct())).where(theirs)).one() == (
            56,
            56,
        )
    assert all(store.state(s.rater).completed for s in sessions_)


def test_what_one_thread_sends_wrongly_does_not_harm_those_who_share_its_commit(tmp_path: Path) -> None:
    scene = scene_of(tmp_path, items=20)
    pages = scene.store.pages(scene.me, 1, 99)

    def send(k: int) -> str:
        cell = pages[k].cell_id if k % 3 else "0" * 16
        try:
            scene.store.rate(
                scene.me, key=scene.key(k), position=k + 1, cell_id=cell, value="1", shown_at=0.0, duration_ms=1
            )
        except NotYours:
            return "refused"
        return "saved"

    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(send, range(len(pages))))
    assert found == ["saved" if k % 3 else "refused" for k in range(len(pages))]
    assert {e.position for e in scene.stored()} == {k + 1 for k in range(len(pages)) if k % 3}


def test_a_rating_that_the_database_cannot_store_is_not_acknowledged(tmp_path: Path) -> None:
    scene = scene_of(tmp_path)

    def forbid(connection: Any, *_: Any) -> None:
        connection.execute("PRAGMA query_only = ON")  # as on a full disk: reading works, writing does not

    event.listen(scene.store.engine, "checkout", forbid)
    for _ in range(2):
        with pytest.raises(Unavailable, match="cannot be used now"):
            scene.rate()
    event.remove(scene.store.engine, "checkout", forbid)
    scene.store.engine.dispose()
    assert scene.stored() == []
    assert scene.rate().fresh


def test_of_ratings_that_waited_on_a_device_each_is_judged_for_itself(scene: Scene) -> None:
    cells = {p.position: p.cell_id for p in scene.store.pages(scene.me, 1, 9)}
    found = []
    for key, position, cell, value in ((1, 1, 1, "1"), (2, 2, 1, "2"), (3, 3, 3, "9"), (4, 4, 4, "4"), (1, 1, 1, "1")):
        rating = {"key": scene.key(key), "position": position, "cell_id": cells[cell], "value": value}
        try:
            found.append(scene.store.rate(scene.me, shown_at=0.0, duration_ms=1, **rating))
        except StoreError as error:
            found.append(error)
    assert [type(f).__name__ for f in found] == ["Saved", "NotYours", "BadValue", "Saved", "Saved"]
    assert [e.value for e in scene.stored()] == ["1", "4"]


# --- what is refused ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"value": "0"},
        {"value": "6"},
        {"value": ""},
        {"value": "3 "},
        {"value": "３"},  # a full-width three
        {"key": "short"},
        {"key": "has blanks in it"},
        {"key": "x" * 65},
        {"shown_at": float("nan")},
        {"shown_at": float("inf")},
        {"duration_ms": -1},
        {"duration_ms": 10**12},
    ],
)
def test_what_cannot_be_a_rating_is_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    scene = scene_of(tmp_path)
    with pytest.raises(BadValue):
        scene.rate(**changes)
    assert scene.stored() == []


@pytest.mark.parametrize(
    ("form", "good", "bad"),
    [
        ("scale", ("1", "7"), ("0", "8", "yes")),
        ("keeps", ("yes", "no"), ("1", "Yes", "right")),
        ("verdict", ("right", "wrong"), ("yes", "1")),
        ("answer", ("joy", "  because\r\nof it  ", "हँसी 😀", "x" * 2000), ("", " \n ", "\x00", "x" * 2001)),
    ],
)
def test_each_form_has_its_values(tmp_path: Path, form: Any, good: tuple[str, ...], bad: tuple[str, ...]) -> None:
    scene = scene_of(tmp_path, form=form, scale=Scale(points=7))
    for k, value in enumerate(good):
        scene.rate(1, value, k)
    for k, value in enumerate(bad):
        with pytest.raises(BadValue):
            scene.rate(1, value, 100 + k)
    wanted = ["joy", "because\nof it", "हँसी 😀", "x" * 2000] if form == "answer" else list(good)
    assert [e.value for e in scene.stored()] == wanted


def test_control_characters_and_half_characters_of_answers_are_not_stored(tmp_path: Path) -> None:
    scene = scene_of(tmp_path, form="answer")
    scene.rate(1, "a\x00b\x1b[31mc\ud83d\x7f\nd")
    assert scene.stored()[0].value == "ab[31mc\nd"


def test_nobody_sees_or_writes_what_is_not_theirs(scene: Scene) -> None:
    other = scene.store.enter(scene.other_link.token)
    scene.store.consent(other.rater)
    theirs = {p.position: p.cell_id for p in scene.store.pages(scene.other, 1, 99)}
    mine = {p.position: p.cell_id for p in scene.store.pages(scene.me, 1, 99)}
    differing = next(k for k in mine if mine[k] != theirs[k])
    with pytest.raises(NotYours):
        scene.rate(differing, cell_id=theirs[differing])
    for position in (0, -1, len(mine) + 1, 10**9, 2**31, 2**70):
        with pytest.raises(NotYours):
            scene.store.page(scene.me, position)
        with pytest.raises(NotYours):
            scene.store.rate(
                scene.me, key=scene.key(50), position=position, cell_id=mine[1], value="3", shown_at=0.0, duration_ms=1
            )
    with pytest.raises(NotYours):
        scene.rate(1, number=51, cell_id="\ud800")
    assert scene.store.pages(scene.me, 1, -1) == []
    with pytest.raises(NotYours):
        scene.store.page("r99", 1)
    scene.rate(1)
    assert scene.store.page(scene.other, 1).value is None
    with pytest.raises(KeyReused):  # another rater's key is no way to learn of, or to replace, that rating
        scene.store.rate(
            scene.other, key=scene.key(1), position=1, cell_id=theirs[1], value="3", shown_at=0.0, duration_ms=1
        )


def test_without_consent_nothing_is_shown_or_stored(scene: Scene) -> None:
    other = scene.store.enter(scene.other_link.token)
    with pytest.raises(Closed) as error:
        scene.store.page(other.rater, 1)
    assert error.value.reason == "consent"
    with pytest.raises(Closed):
        scene.store.rate(scene.other, key=scene.key(9), position=1, cell_id="x", value="3", shown_at=0.0, duration_ms=1)


def test_who_withdrew_can_neither_rate_nor_come_back(scene: Scene) -> None:
    scene.rate(1)
    scene.store.withdraw(scene.me)
    for again in (lambda: scene.rate(2, number=2), lambda: scene.store.consent(scene.me)):
        with pytest.raises(Closed) as error:
            again()
        assert error.value.reason == "withdrawn"
    assert scene.store.state(scene.me).withdrawn
    assert len(scene.stored()) == 1  # it stays stored, and is never exported


# --- coming and going ---------------------------------------------------------------------------------------------


def test_a_link_lets_its_rater_in_from_any_number_of_devices(scene: Scene) -> None:
    again = scene.store.enter(scene.link.token)
    assert again.cookie != scene.session.cookie
    assert again.csrf != scene.session.csrf
    assert scene.store.session(scene.session.cookie) == scene.session
    assert scene.store.session(again.cookie) == again
    scene.store.leave(again.cookie)
    assert scene.store.session(again.cookie) is None
    assert scene.store.session(scene.session.cookie) == scene.session


def test_any_other_token_lets_nobody_in(scene: Scene) -> None:
    for token in ("", "x", scene.me, "0" * 32, "a" * 10_000, "\x00", "é" * 10, "\ud800", scene.link.token[:-1]):
        with pytest.raises(Refused) as error:
            scene.store.enter(token)
        assert error.value.reason == "unknown"
        assert scene.store.session(token) is None


def test_an_expired_link_lets_nobody_in_and_sessions_end_after_their_hours(scene: Scene) -> None:
    scene.clock.seconds += 24 * 3600 - 1
    assert scene.store.session(scene.session.cookie) is not None
    scene.clock.seconds += 2
    assert scene.store.session(scene.session.cookie) is None
    scene.clock.seconds = scene.link.expires
    with pytest.raises(Refused) as error:
        scene.store.enter(scene.link.token)
    assert error.value.reason == "expired"


def test_revoking_ends_sessions_at_once_and_keeps_what_was_rated(scene: Scene) -> None:
    scene.rate(1)
    scene.store.revoke(scene.me)
    assert scene.store.session(scene.session.cookie) is None
    with pytest.raises(Refused) as error:
        scene.store.enter(scene.link.token)
    assert error.value.reason == "revoked"
    with pytest.raises(Closed):
        scene.store.rate(scene.me, key=scene.key(2), position=2, cell_id="x", value="3", shown_at=0.0, duration_ms=1)
    assert len(scene.stored()) == 1


def test_only_hashes_of_tokens_and_cookies_are_stored(scene: Scene) -> None:
    scene.store.enter_admin(scene.study.admin_token)
    with reading(scene.store.engine) as connection:
        rows = [connection.execute(select(t)).all() for t in (raters, sessions, facts)]
    everything = repr(rows)
    tokens = [link.token for link in scene.study.links]
    for secret in [*tokens, scene.session.cookie, scene.session.csrf, scene.study.admin_token]:
        assert secret not in everything
        assert len(secret) * 6 >= 128  # bits, of URL-safe base64
    assert hash_of(tokens[0]) in everything


def test_the_administrator_is_no_rater_and_raters_are_no_administrators(scene: Scene) -> None:
    admin = scene.store.enter_admin(scene.study.admin_token)
    assert scene.store.admin_session(admin.cookie) == admin
    assert scene.store.session(admin.cookie) is None
    assert scene.store.admin_session(scene.session.cookie) is None
    for token in ("", scene.link.token, scene.study.admin_token[:-1]):
        with pytest.raises(Refused):
            scene.store.enter_admin(token)
    with pytest.raises(Refused):
        scene.store.enter(scene.study.admin_token)


def test_an_outside_id_is_kept_only_if_the_study_asks_and_only_the_first(tmp_path: Path) -> None:
    for parameter, wanted in (("PROLIFIC_PID", ["5f0c-A_1", None]), ("", [None, None])):
        study = small_study(tmp_path / f"study{parameter}", external_id_parameter=parameter)
        store = study.store()
        for external in ("ann@example.org", "Ann Smith", "x" * 65, "5f0c-A_1", "other"):
            store.consent(store.enter(study.links[0].token).rater, external)
        with reading(store.engine) as connection:
            found = connection.execute(select(raters.c.external_id).order_by(raters.c.id)).scalars().all()
        assert list(found) == wanted


def test_what_comes_with_a_link_is_kept_with_consent_and_not_before(scene: Scene) -> None:
    session = scene.store.enter(scene.other_link.token)
    for keep in (
        lambda: scene.store.arrive(session.rater, "5f0c", {"colour": True}),
        lambda: scene.store.check(session.rater, {"colour": True}),
    ):
        with pytest.raises(Closed):
            keep()
    with pytest.raises(BadValue):
        scene.store.consent(session.rater, "5f0c", {"agent": "Mozilla/5.0 (X11; Linux x86_64)"})
    assert not scene.store.state(session.rater).consented
    scene.store.consent(session.rater, "5f0c", {"colour": True})
    assert scene.store.state(session.rater).consented


# --- what is shown ------------------------------------------------------------------------------------------------


def test_nothing_that_is_shown_names_a_system_or_an_item(scene: Scene) -> None:
    shown = [json.dumps(p.payload) + p.cell_id for p in scene.store.pages(scene.me, 1, 99)]
    for text in shown:
        assert not any(system in text for system in SYSTEMS)
        assert "source-item" not in text
    cells = [p.cell_id for p in scene.store.pages(scene.me, 1, 99)]
    assert len(set(cells)) == len(cells) == 7
    assert all(len(c) == 16 and set(c) <= set("0123456789abcdef") for c in cells)


def test_names_of_cells_say_nothing_of_order_or_content(tmp_path: Path) -> None:
    def names(folder: str) -> set[str]:
        scene = scene_of(tmp_path / folder)
        return {p.cell_id for p in scene.store.pages(scene.me, 1, 99)}

    assert not names("a") & names("b")  # the same study made twice: nothing is derived


def test_the_state_follows_the_rater_from_training_to_the_end(scene: Scene) -> None:
    assert not scene.store.state(scene.other).consented
    state = scene.store.state(scene.me)
    assert (state.training, state.training_done, state.done, state.total, state.next_position) == (1, False, 0, 7, 1)
    for k in range(1, 8):
        saved = scene.rate(k, number=k)
        assert saved.next_position == (k + 1 if k < 7 else None)
    state = scene.store.state(scene.me)
    assert (state.training_done, state.done, state.next_position, state.completed) == (True, 7, None, True)
    with reading(scene.store.engine) as connection:
        assert connection.execute(select(raters.c.completed).where(raters.c.id == scene.me)).scalar() is not None


def test_what_was_skipped_comes_next_once_all_behind_it_is_rated(scene: Scene) -> None:
    for k in (1, 2, 4, 5, 6):
        scene.rate(k, number=k)
    assert scene.rate(7, number=7).next_position == 3
    assert scene.store.state(scene.me).next_position == 3


def test_feedback_comes_after_a_training_rating_only(tmp_path: Path) -> None:
    scene = scene_of(tmp_path)
    assert scene.store.page(scene.me, 1).feedback is None
    assert scene.store.page(scene.me, 1).expected is None
    scene.rate(1, "2")
    page = scene.store.page(scene.me, 1)
    assert (page.part, page.value, page.expected) == ("training", "2", "5")
    assert page.feedback == "That is what we expected."
    silent = scene_of(tmp_path / "silent", training_feedback=False)
    silent.rate(1, "2")
    assert silent.store.page(silent.me, 1).feedback is None


def test_an_attention_item_looks_like_any_other(tmp_path: Path) -> None:
    scene = scene_of(tmp_path, attention=1)
    pages = scene.store.pages(scene.me, 1, 99)
    assert [p.part for p in pages] == ["training"] + ["main"] * 7
    for page in pages[1:]:
        scene.rate(page.position, number=page.position)
        after = scene.store.page(scene.me, page.position)
        assert after.expected is None
        assert after.feedback is None


@pytest.mark.parametrize(
    "result",
    [
        {"agent": "Mozilla/5.0 (X11; Linux x86_64)"},
        {"colour": True, "nested": {"a": 1}},
        {"Colour": True},
        {"width": float("nan")},
        {f"k{chr(97 + k)}": 1 for k in range(13)},
    ],
)
def test_a_check_of_the_font_stores_flags_and_nothing_that_tells_machines_apart(
    tmp_path: Path, result: dict[str, Any]
) -> None:
    scene = scene_of(tmp_path)
    scene.store.check(scene.me, {"colour": True, "boxes": False, "viewport": "phone"})
    with pytest.raises(BadValue):
        scene.store.check(scene.me, result)


def test_the_serving_process_needs_no_heavy_library() -> None:
    code = (
        "import sys, mojimeter.collect.store, mojimeter.collect.status\n"
        "print([m for m in ('numpy', 'polars', 'pydantic', 'scipy', 'emoji', 'typer') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
