"""The quick WOFF2 packer against fontTools, which reads what it wrote and transforms the same outlines itself."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("brotli")

from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont
from fontTools.ttLib import woff2 as fonttools

from mojimeter.fonts import cut
from mojimeter.fonts.woff2 import aligned, read_loca, read_outlines, read_tables, transformed, woff2

Contours = list[list[tuple[int, int]]]

SQUARE = [[(0, 0), (0, 9), (9, 9), (9, 0)]]


def _font(glyphs: list[Contours], change: Any = None) -> bytes:
    """A TrueType font with these outlines; ``change`` may do things to its glyphs before it is written."""
    builder = FontBuilder(1000, isTTF=True)
    names = [".notdef", *(f"g{i}" for i in range(1, len(glyphs)))]
    builder.setupGlyphOrder(names)
    builder.setupCharacterMap({0x100 + i: name for i, name in enumerate(names)})
    outlines = {}
    for name, contours in zip(names, glyphs, strict=True):
        pen = TTGlyphPen(None)
        for contour in contours:
            pen.moveTo(contour[0])
            for point in contour[1:]:
                pen.lineTo(point)
            pen.closePath()
        outlines[name] = pen.glyph(dropImpliedOnCurves=False)
    builder.setupGlyf(outlines)
    glyf = builder.font["glyf"]
    builder.setupHorizontalMetrics({name: (500, getattr(glyf[name], "xMin", 0)) for name in names})
    builder.setupHorizontalHeader()
    builder.setupPost()
    if change is not None:
        builder.font.recalcBBoxes = False
        change(glyf)
    out = io.BytesIO()
    builder.font.save(out)
    return out.getvalue()


def _points(font: TTFont) -> list[Any]:
    glyf = font["glyf"]
    return [
        (list(glyf[name].coordinates), list(glyf[name].endPtsOfContours), [flag & 1 for flag in glyf[name].flags])
        if glyf[name].numberOfContours
        else None
        for name in font.getGlyphOrder()
    ]


def _bottoms(font: TTFont) -> list[int | None]:
    return [getattr(font["glyf"][name], "yMin", None) for name in font.getGlyphOrder()]


def _assert_the_same_font(plain: bytes, packed: bytes) -> None:
    before, after = TTFont(io.BytesIO(plain)), TTFont(io.BytesIO(packed))
    assert after.flavor == "woff2"
    assert _points(before) == _points(after)
    assert before["hmtx"].metrics == after["hmtx"].metrics
    assert _bottoms(before) == _bottoms(after)
    untouched = set(before.reader.tables) - {"glyf", "loca", "head"}
    assert {tag: before.reader[tag] for tag in untouched} == {tag: after.reader[tag] for tag in untouched}


def _transformed_by_fonttools(plain: bytes) -> bytes:
    font = TTFont(io.BytesIO(plain), recalcBBoxes=False)
    table = fonttools.WOFF2GlyfTable()
    tables = read_tables(plain)
    loca = fonttools.WOFF2LocaTable()
    loca.decompile(tables["loca"], font)
    font.tables["loca"] = loca
    table.decompile(tables["glyf"], font)
    return bytes(table.transform(font))


def _transformed_here(plain: bytes) -> bytes:
    tables = read_tables(plain)
    long = tables["head"][51] == 1
    return transformed(read_outlines(tables["glyf"], read_loca(tables["loca"], long=long)), long)


@pytest.fixture(scope="module")
def of_emoji() -> bytes:
    """The bundled font cut to some emoji, not yet packed."""
    strings = ["😂", "👍🏽", "👨‍👩‍👧", "🇮🇳", "1️⃣", "❤", "🪔", "🏴󠁧󠁢󠁳󠁣󠁴󠁿"]
    return cut._subset(strings, {cut._shape(string)[0] for string in strings})


def test_outlines_of_emoji_are_transformed_as_fonttools_does(of_emoji: bytes):
    assert _transformed_here(of_emoji) == _transformed_by_fonttools(of_emoji)


def test_fonttools_reads_the_same_font_back(of_emoji: bytes):
    _assert_the_same_font(of_emoji, woff2(of_emoji))


def test_the_sizes_and_checksum_stated_are_those_that_fonttools_states(of_emoji: bytes):
    font, out = TTFont(io.BytesIO(of_emoji), recalcTimestamp=False), io.BytesIO()
    font.flavor = "woff2"
    font.save(out, reorderTables=False)
    here, there = (TTFont(io.BytesIO(packed)).reader for packed in (woff2(of_emoji), out.getvalue()))
    assert here["head"] == there["head"]  # the checksum of the whole font and the flag of a transformed one are in it
    assert here.totalSfntSize == there.totalSfntSize
    assert {t: entry.origLength for t, entry in here.tables.items()} == {
        t: entry.origLength for t, entry in there.tables.items()
    }


def test_the_same_font_gives_the_same_bytes(of_emoji: bytes):
    assert woff2(of_emoji) == woff2(of_emoji)


# a step to 64, 768, 4095 and beyond is each another encoding; so are steps along one axis, to 1279 and beyond
STEPS = (0, 1, 64, 65, 255, 256, 768, 769, 1279, 1280, 4095, 4096, 16000)


def test_every_size_of_step_is_kept():
    glyphs: list[Contours] = [SQUARE]
    for x in STEPS:
        for y in STEPS:
            glyphs.append([[(0, 0), (x, y), (0, 0), (-x, y), (0, 0), (x, -y)]])
    plain = _font(glyphs)
    assert _transformed_here(plain) == _transformed_by_fonttools(plain)
    _assert_the_same_font(plain, woff2(plain))


@pytest.mark.parametrize("points", [252, 253, 505, 506, 761, 762, 1100])
def test_long_contours_are_kept(points: int):
    plain = _font([SQUARE, [[(i % 7, i) for i in range(points)], [(0, 0), (5, 5), (5, 0)]]])
    assert _transformed_here(plain) == _transformed_by_fonttools(plain)
    _assert_the_same_font(plain, woff2(plain))


def test_glyphs_without_a_picture_are_kept():
    plain = _font([[], SQUARE, [], [], SQUARE, []])
    assert _transformed_here(plain) == _transformed_by_fonttools(plain)
    _assert_the_same_font(plain, woff2(plain))


def test_a_font_without_any_picture_is_packed():
    plain = _font([[], []])
    assert TTFont(io.BytesIO(woff2(plain))).getGlyphOrder() == TTFont(io.BytesIO(plain)).getGlyphOrder()


def test_bounding_boxes_overlap_flags_and_instructions_are_kept():
    def change(glyf: Any) -> None:
        glyf["g1"].yMin = -70  # a box that does not follow from the points
        glyf["g2"].flags[0] |= 0x40
        glyf["g3"].flags[2] &= ~1  # a point off the curve
        glyf["g3"].program.fromBytecode(b"\x4b" * 300)

    plain = _font([SQUARE] * 40, change)
    assert _transformed_here(plain) == _transformed_by_fonttools(plain)
    _assert_the_same_font(plain, woff2(plain))
    after = TTFont(io.BytesIO(woff2(plain)))
    assert after["glyf"]["g1"].yMin == -70
    assert after["glyf"]["g3"].program.getBytecode() == b"\x4b" * 300
    assert after["glyf"]["g2"].flags[0] & 0x40


def test_large_fonts_get_long_offsets():
    glyphs = [[[(i * 11 % 4001, i * 7 % 3001) for i in range(start, start + 900)]] for start in range(90)]
    plain = _font([SQUARE, *glyphs])
    tables = read_tables(plain)
    outlines = read_outlines(tables["glyf"], read_loca(tables["loca"], long=tables["head"][51] == 1))
    assert aligned(tables["glyf"], outlines)[2] is True
    _assert_the_same_font(plain, woff2(plain))


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.lists(
            st.lists(st.tuples(st.integers(-8000, 8000), st.integers(-8000, 8000)), min_size=1, max_size=12),
            max_size=4,
        ),
        min_size=1,
        max_size=5,
    )
)
def test_any_outlines_come_back(glyphs: list[Contours]):
    plain = _font(glyphs)
    assert _transformed_here(plain) == _transformed_by_fonttools(plain)
    _assert_the_same_font(plain, woff2(plain))


def test_a_glyph_made_of_others_is_refused():
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder([".notdef", "a", "b"])
    builder.setupCharacterMap({})
    pen = TTGlyphPen(None)
    pen.moveTo((0, 0))
    pen.lineTo((0, 9))
    pen.lineTo((9, 0))
    pen.closePath()
    simple = pen.glyph()
    pen = TTGlyphPen({".notdef": simple})
    pen.addComponent(".notdef", (1, 0, 0, 1, 5, 5))
    builder.setupGlyf({".notdef": simple, "a": pen.glyph(), "b": simple})
    builder.setupHorizontalMetrics(dict.fromkeys((".notdef", "a", "b"), (500, 0)))
    builder.setupHorizontalHeader()
    builder.setupPost()
    out = io.BytesIO()
    builder.font.save(out)
    with pytest.raises(ValueError, match="glyph 1 is made of others"):
        woff2(out.getvalue())


def test_what_is_no_truetype_font_is_refused():
    with pytest.raises(ValueError, match="not a TrueType font: it begins with b'wOF2'"):
        woff2(b"wOF2" + b"\0" * 60)
