"""Keeps a study's emoji font in step with its texts, which may be edited after the study was made.

Knows settings, the bundled font and which emoji the study's own font has; nothing of what is rated.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

from mojimeter.collect.study import FONT, StudyConfig, read_study
from mojimeter.collect.web.words import CHECK_EMOJI
from mojimeter.errors import InputError

_EMOJI_FACT: Final = "emoji"
# Every emoji holds one of these; most texts hold none, and need no emoji table then.
_PERHAPS: Final = re.compile("[©®\u203c-\U0010ffff]")


def emoji_of_texts(config: StudyConfig) -> set[str]:
    """The emoji in the study's own texts, and those of the check on the start page."""
    texts = (config.title, config.question, config.instructions, config.consent, config.contact)
    labels = (config.scale.low, config.scale.high, *config.scale.labels, *config.words.values())
    perhaps = [text for text in (*texts, *labels) if _PERHAPS.search(text)]
    if not perhaps:
        return set(CHECK_EMOJI)
    from mojimeter.collect.payloads import segments

    return {part for text in perhaps for part, is_emoji in segments(text) if is_emoji} | set(CHECK_EMOJI)


def as_fact(emoji: set[str]) -> str:
    """Emoji as they are stored, longest first: a scanner made of them takes 👍🏽 whole."""
    return json.dumps(sorted(emoji, key=lambda e: (-len(e), e)), ensure_ascii=False)


def refresh_font(folder: str | Path) -> tuple[str, ...]:
    """Cut the study's font anew if its texts were edited and show emoji that the font does not have.

    Returns:
        The emoji that were added; none where the font had them all.

    Raises:
        InputError: no study there, or the font cannot be written; ``MissingEmojiError`` where even the bundled font
            lacks an emoji.
        Unavailable: the database cannot be used.
    """
    folder = Path(folder)
    shown = emoji_of_texts(read_study(folder))
    if shown == set(CHECK_EMOJI):
        return ()
    from sqlalchemy import update

    from mojimeter.collect.database import writing
    from mojimeter.collect.schema import study as facts
    from mojimeter.collect.store import open_store

    store = open_store(folder)
    try:
        known = set(json.loads(store.fact(_EMOJI_FACT) or "[]"))
        if added := shown - known:
            _write_font(folder / FONT, known | added)  # before the fact: if we are stopped here, it is cut once more
            with writing(store.engine) as connection:
                connection.execute(update(facts).where(facts.c.key == _EMOJI_FACT).values(value=as_fact(known | added)))
    finally:
        store.engine.dispose()
    return tuple(sorted(added))


def _write_font(path: Path, emoji: set[str]) -> None:
    from mojimeter.fonts import cut_emoji_font

    font = cut_emoji_font(emoji)
    part = path.with_name(path.name + ".part")
    try:
        part.write_bytes(font)
        part.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None
