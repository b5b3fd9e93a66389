"""The bundled font has every emoji that is scored, is cut to what is asked for, and names what it lacks."""

from __future__ import annotations

import hashlib
import io
import lzma
import re
import sys
from importlib.resources import files

import pytest

pytest.importorskip("uharfbuzz")

from fontTools.ttLib import TTFont

from mojimeter.emoji.scan import table
from mojimeter.errors import InputError, MissingExtraError
from mojimeter.fonts import MissingEmojiError, cut, cut_emoji_font, missing_emoji

ROOM = files("mojimeter.fonts")


def _pictures(font: bytes, string: str) -> list[int]:
    """The glyphs of a string in a cut font; 0 is "not there"."""
    import uharfbuzz as hb

    plain = TTFont(io.BytesIO(font))
    plain.flavor = None
    out = io.BytesIO()
    plain.save(out)
    buffer = hb.Buffer()
    buffer.add_str(string)
    buffer.guess_segment_properties()
    hb.shape(hb.Font(hb.Face(out.getvalue())), buffer)
    return [info.codepoint for info in buffer.glyph_infos]


def test_every_emoji_of_the_scanner_is_in_the_font():
    assert missing_emoji(table()) == []


@pytest.mark.parametrize("left_over", ["\ufe0f", "\u200d"])
def test_an_emoji_with_something_invisible_after_it_is_in_the_font(left_over: str):
    strings = [string + left_over for string in ("😂", "❤", "👍🏽", "🇮🇳")]
    assert missing_emoji(strings) == []
    assert cut_emoji_font(strings).startswith(b"wOF2")


def test_a_cut_font_shows_what_it_was_cut_for_and_nothing_else():
    font = cut_emoji_font(["👩", "👧", "❤️", "1️⃣", "🇮🇳"])
    for string in ("👩", "👧", "❤️", "❤", "1️⃣", "🇮🇳"):
        (glyph,) = _pictures(font, string)
        assert glyph != 0, string
    assert _pictures(font, "😂") == [0]
    assert 0 in _pictures(font, "2️⃣")


def test_pictures_of_sequences_come_only_where_they_are_asked_for():
    parts, whole = ["👨", "👩", "👧"], "👨‍👩‍👧"
    assert len(_pictures(cut_emoji_font(parts), whole)) > 1
    (glyph,) = _pictures(cut_emoji_font([*parts, whole]), whole)
    assert glyph != 0


def test_the_cut_font_is_in_colour_and_small():
    font = cut_emoji_font(["😂", "👍🏽"])
    assert font.startswith(b"wOF2")
    assert len(font) < 10_000
    read = TTFont(io.BytesIO(font))
    assert read["COLR"].version == 1
    assert "SVG " not in read


def test_the_same_set_gives_the_same_font():
    assert cut_emoji_font(["😂", "👍🏽", "😂"]) == cut_emoji_font(iter(["👍🏽", "😂"]))


def test_no_emoji_still_give_a_font():
    assert cut_emoji_font([]).startswith(b"wOF2")


def test_emoji_that_the_font_lacks_are_named():
    with pytest.raises(MissingEmojiError) as raised:
        cut_emoji_font(["😂", "👍👍", "x"])
    assert raised.value.emoji == ("x", "👍👍")
    assert isinstance(raised.value, InputError)
    assert str(raised.value) == (
        "the bundled emoji font cannot show 2 of the emoji: 'x' (no emoji, U+0078), "
        "'\\U0001f44d\\U0001f44d' (no emoji, U+1F44D U+1F44D)"
    )


def test_an_emoji_newer_than_the_font_is_named_in_words(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cut, "_shape", lambda string: [0] if string == "👍🏽" else [7])
    assert missing_emoji(["😂", "👍🏽", "👍🏽"]) == ["👍🏽"]
    with pytest.raises(MissingEmojiError, match=r"👍🏽 \(thumbs up: medium skin tone, U\+1F44D U\+1F3FD\)$"):
        cut_emoji_font(["😂", "👍🏽"])


def test_many_missing_emoji_are_counted():
    with pytest.raises(MissingEmojiError, match=r"cannot show 25 of the emoji: .* and 15 more$") as raised:
        cut_emoji_font(chr(ord("a") + number) for number in range(25))
    assert str(raised.value).count("no emoji") == cut.MOST_NAMED
    assert len(raised.value.emoji) == 25


@pytest.mark.parametrize("string", ["", "\ud83d", "\ud83d\ude02", "\u200d", "\ufe0f"])
def test_odd_strings_are_missing_and_not_an_accident(string: str):
    with pytest.raises(MissingEmojiError):
        cut_emoji_font([string])


@pytest.mark.parametrize("library", ["uharfbuzz", "brotli"])
def test_a_missing_library_is_one_sentence(library: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, library, None)
    cut._loaded.cache_clear()
    with pytest.raises(MissingExtraError, match=rf"needs {library}.*pip install 'mojimeter\[report\]'"):
        cut_emoji_font(["😂"])
    monkeypatch.undo()
    cut._loaded.cache_clear()


def test_the_font_is_the_one_its_note_names_and_its_licence_is_with_it():
    note = (ROOM / "SOURCE.txt").read_text(encoding="utf-8")
    sums = dict(re.findall(r"sha256 of the (\w+)[\w ,]*? +(\w{64})", note))
    packed = (ROOM / cut.FONT).read_bytes()
    assert hashlib.sha256(packed).hexdigest() == sums["file"]
    assert hashlib.sha256(lzma.decompress(packed)).hexdigest() == sums["font"]
    assert "SIL OPEN FONT LICENSE Version 1.1" in (ROOM / "OFL.txt").read_text(encoding="utf-8")
