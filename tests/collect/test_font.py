"""The study's font has the emoji of texts that were edited after the study was made."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont

from mojimeter.collect.font import emoji_of_texts, refresh_font
from mojimeter.collect.study import FONT, SETTINGS, StudyConfig
from mojimeter.collect.web.words import CHECK_EMOJI
from mojimeter.errors import InputError
from mojimeter.fonts import MissingEmojiError, cut
from tests.collect.small import SmallStudy, small_study


def edit(study: SmallStudy, old: str, new: str) -> None:
    path = study.folder / SETTINGS
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def characters(study: SmallStudy) -> set[int]:
    return set(TTFont(io.BytesIO((study.folder / FONT).read_bytes())).getBestCmap())


def test_an_emoji_that_comes_into_the_texts_later_comes_into_the_font(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", raters=1)
    before = characters(study)
    assert ord("🦒") not in before
    edit(study, "How good is it?", "How good is it? 🦒")
    edit(study, "[words]", '[words]\nstart_button = "Go 👩🏽‍🚀"')
    assert refresh_font(study.folder) == ("👩🏽‍🚀", "🦒")
    assert before | {ord("🦒"), ord("👩"), ord("🚀")} <= characters(study)
    known = json.loads(study.store().fact("emoji") or "")
    assert {"🦒", "👩🏽‍🚀", *CHECK_EMOJI} <= set(known)
    assert [len(e) for e in known] == sorted((len(e) for e in known), reverse=True)
    assert refresh_font(study.folder) == ()


def test_texts_as_they_were_leave_the_font_alone(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", raters=1)
    before = (study.folder / FONT).read_bytes()
    edit(study, "How good is it?", "कितना अच्छा है? 👍")  # 👍 is among the emoji that are rated
    assert refresh_font(study.folder) == ()
    assert (study.folder / FONT).read_bytes() == before


def test_an_emoji_that_nobody_can_be_shown_is_named_and_the_font_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = small_study(tmp_path / "study", raters=1)
    before = (study.folder / FONT).read_bytes()
    edit(study, "How good is it?", "How good is it? 🦒")
    shape = cut._shape
    monkeypatch.setattr(cut, "_shape", lambda string: [0] if string == "🦒" else shape(string))
    with pytest.raises(MissingEmojiError, match="🦒"):
        refresh_font(study.folder)
    assert (study.folder / FONT).read_bytes() == before


def test_a_font_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", raters=1)
    (study.folder / (FONT + ".part")).mkdir()
    edit(study, "How good is it?", "How good is it? 🦒")
    with pytest.raises(InputError, match=r"emoji\.woff2: cannot be written"):
        refresh_font(study.folder)


@pytest.mark.parametrize("emoji", ["©️", "®️", "‼️", "1️⃣", "☺️", "🇩🇪", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"])
def test_emoji_of_every_kind_are_found_in_texts(emoji: str) -> None:
    config = StudyConfig(title="A study", form="scale", question=f"How good? {emoji}")
    assert emoji_of_texts(config) == {emoji, *CHECK_EMOJI}
