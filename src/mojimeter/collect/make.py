"""Making a study: its folder, settings, font and database, all or nothing.

Knows material and settings; must not know where the material was read from.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert

from mojimeter import __version__
from mojimeter.collect import schema
from mojimeter.collect.database import create, open_database, writing
from mojimeter.collect.designs import PlacedCell, check_design
from mojimeter.collect.folder import claim, take_back
from mojimeter.collect.font import as_fact, emoji_of_texts
from mojimeter.collect.material import Cell, Item, Material
from mojimeter.collect.payloads import as_payload, emoji_of, segments
from mojimeter.collect.store import ADMIN_HASH, hash_of, new_token
from mojimeter.collect.study import FONT, StudyConfig, database_of, write_study


@dataclass(frozen=True)
class Made:
    """What was made. ``admin_token`` is known nowhere else: only its hash is stored."""

    folder: Path
    config: StudyConfig
    admin_token: str
    items: int
    systems: int
    cells: int
    training: int
    attention: int
    emoji: int

    def to_dict(self) -> dict[str, Any]:
        return {
            "folder": str(self.folder),
            "form": self.config.form,
            "design": self.config.design,
            "items": self.items,
            "systems": self.systems,
            "cells": self.cells,
            "training": self.training,
            "attention": self.attention,
            "emoji": self.emoji,
        }


def make_study(folder: str | Path, config: StudyConfig, material: Material) -> Made:
    """Make a study folder: settings, the font cut to the emoji that are shown, and the database.

    Args:
        folder: is made; may be there if it is empty.
        config: settings; a completion code is drawn if it has none.
        material: items and cells, training and attention among them.

    Raises:
        InputError: the folder is not empty, the database holds a study, numbers of the design do not go together, or
            the bundled font lacks an emoji (``MissingEmojiError`` names it). Nothing is left behind then.
        Unavailable: the database cannot be reached.
    """
    from mojimeter.fonts import cut_emoji_font

    folder = Path(folder)
    config = _with_code(config)
    check_design(config, placed(material))
    payloads = [as_payload(config.form, c.fields, c.lang, names=config.show_emoji_names) for c in material.cells]
    told = {part for c in material.cells for part, is_emoji in segments(c.feedback or "") if is_emoji}
    shown = emoji_of(payloads) | emoji_of_texts(config) | told
    font = cut_emoji_font(shown)
    fresh = claim(folder)
    try:
        where = database_of(folder, config)
        engine = open_database(where)
        write_study(folder, config)
        (folder / FONT).write_bytes(font)
        token = new_token()
        with writing(engine) as connection:
            create(connection)
            _fill(connection, config, material, payloads, token, shown)
        engine.dispose()
        if isinstance(where, Path):
            where.chmod(0o600)
    except BaseException:
        take_back(folder, fresh)
        raise
    kinds = [c.kind for c in material.cells]
    return Made(
        folder=folder,
        config=config,
        admin_token=token,
        items=len(material.items),
        systems=len(material.systems),
        cells=kinds.count("main"),
        training=kinds.count("training"),
        attention=config.attention,
        emoji=len(shown),
    )


def placed(material: Material) -> list[PlacedCell]:
    """Cells as the designs see them, before they have names."""
    items = {item.id: item for item in material.items}
    return [_placed(str(k), cell, items.get(cell.item or "")) for k, cell in enumerate(material.cells)]


def _placed(name: str, cell: Cell, item: Item | None) -> PlacedCell:
    if item is None:
        return PlacedCell(name, name, "", cell.kind)
    return PlacedCell(name, item.group, treatment(item.condition, cell.system), cell.kind)


def treatment(condition: str, system: str) -> str:
    """What is compared within a group: systems, under each condition that the group has."""
    return json.dumps([condition, system], ensure_ascii=False)


def _with_code(config: StudyConfig) -> StudyConfig:
    # no letters and digits that are taken for one another
    drawn = "".join(secrets.choice("ABCDEFGHJKMNPQRSTUVWXYZ23456789") for _ in range(8))
    return config if config.completion_code else replace(config, completion_code=drawn)


def _fill(
    connection: Connection,
    config: StudyConfig,
    material: Material,
    payloads: Sequence[dict[str, Any]],
    token: str,
    shown: set[str],
) -> None:
    facts = {
        "study_id": secrets.token_hex(8),
        "created": repr(time.time()),
        "version": __version__,
        "origin": material.origin,
        "left_out": json.dumps(dict(material.left_out)),
        "emoji": as_fact(shown),
        "fixed_hash": config.fixed_hash(),
        "design_hash": config.design_hash(),
        ADMIN_HASH: hash_of(token),
    }
    connection.execute(insert(schema.study), [{"key": k, "value": v} for k, v in facts.items()])
    connection.execute(
        insert(schema.items),
        [
            {
                "id": item.id,
                "number": k,
                "lang": item.lang,
                "payload": {"group": item.group, "condition": item.condition},
            }
            for k, item in enumerate(material.items)
        ],
    )
    connection.execute(
        insert(schema.cells),
        [
            {
                "id": secrets.token_hex(8),
                "number": k,
                "item_id": cell.item,
                "system": cell.system,
                "payload": payload,
                "kind": cell.kind,
                "expected": cell.expected,
                "feedback": cell.feedback,
            }
            for k, (cell, payload) in enumerate(zip(material.cells, payloads, strict=True))
        ],
    )
