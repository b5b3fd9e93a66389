"""Small studies for tests: made by the same code as ``collect init``, with invented texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mojimeter.collect.invites import Link, invite
from mojimeter.collect.make import make_study
from mojimeter.collect.material import Cell, Item, Material
from mojimeter.collect.store import Store, open_store
from mojimeter.collect.study import Form, StudyConfig

SYSTEMS = ("secret-alpha", "secret-beta")
EMOJI = ("🎉", "😂", "👍", "❤️")

_VALUES = {"scale": "5", "keeps": "yes", "verdict": "right", "answer": "check"}


@dataclass(frozen=True)
class SmallStudy:
    """A study folder, its raters' links, and the administrator's token."""

    folder: Path
    links: tuple[Link, ...]
    admin_token: str
    config: StudyConfig

    def store(self) -> Store:
        return open_store(self.folder)


def small_material(
    form: Form = "scale", items: int = 3, systems: Sequence[str] = SYSTEMS, training: int = 1, attention: int = 0
) -> Material:
    """Items ``source-item-k`` with one cell a system; texts name neither."""
    cells = [
        Cell(None, "", _fields(form, f"Practice {k} 👍"), "training", "en", _VALUES[form], "That is what we expected.")
        for k in range(training)
    ]
    cells += [
        Cell(f"source-item-{k}", system, _fields(form, f"Post {k} {EMOJI[(k + s) % 4]}"), lang="en")
        for k in range(items)
        for s, system in enumerate(systems)
    ]
    cells += [Cell(None, "", _fields(form, f"Check {k}"), "attention", "en", _VALUES[form]) for k in range(attention)]
    found = tuple(Item(f"source-item-{k}", f"source-item-{k}", "en") for k in range(items))
    return Material(form, found, tuple(cells), "invented for a test")


def _fields(form: Form, text: str) -> dict[str, str]:
    more = {
        "scale": {"post": "A post"},
        "keeps": {"original": "A post 😀"},
        "verdict": {"context": "A context", "question": "Why?", "reference": "Because.", "answer": f"Answer to {text}"},
        "answer": {"context": "A context", "question": "Why?"},
    }
    return more[form] | {"text": text}


def small_study(
    folder: Path,
    form: Form = "scale",
    *,
    raters: int = 2,
    items: int = 3,
    systems: Sequence[str] = SYSTEMS,
    training: int = 1,
    material: Material | None = None,
    base_url: str = "http://127.0.0.1:8000",
    **settings: Any,
) -> SmallStudy:
    """A study in `folder`; settings are those of ``StudyConfig`` (``repeats=0.2``, ``database_url=...``).

    `raters` are invited, and are those that the design is dealt for.
    """
    attention = int(settings.get("attention", 0))
    config = StudyConfig(title="A small study", form=form, question="How good is it?", consent="Do you agree?")
    config = replace(
        config, raters=max(raters, 1), instructions="Read, then rate.\n\n- calmly\n- one by one", **settings
    )
    made = make_study(folder, config, material or small_material(form, items, systems, training, attention))
    return SmallStudy(folder, invite(folder, raters, base_url=base_url).links, made.admin_token, made.config)
