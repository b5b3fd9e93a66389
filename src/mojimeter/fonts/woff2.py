"""Packs a TrueType font as WOFF2, quickly: the outlines are rearranged for all glyphs at once.

fontTools does the same one point at a time; for the font of a report that is seven seconds where this is a fraction of
one, which is the only reason for this module. It follows W3C's "WOFF File Format 2.0" (sections 4 and 5; section
numbers below are that document's) and OpenType's chapters on ``glyf``, ``loca`` and ``hmtx``; fontTools is the oracle
of its tests. Knows bytes only: nothing of emoji. Composite glyphs are not supported, for the bundled font has none.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mojimeter.errors import MissingExtraError

Bytes = NDArray[np.uint8]
Integers = NDArray[np.int64]

#: The numbers of section 4.1 for the tables that a cut colour font has.
KNOWN_TAGS: Final = {
    tag: index
    for index, tag in {
        0: "cmap", 1: "head", 2: "hhea", 3: "hmtx", 4: "maxp", 5: "name", 6: "OS/2", 7: "post", 8: "cvt ", 9: "fpgm",
        10: "glyf", 11: "loca", 12: "prep", 17: "gasp", 23: "vhea", 24: "vmtx", 26: "GDEF", 27: "GPOS", 28: "GSUB",
        34: "COLR", 35: "CPAL",
    }.items()
}  # fmt: skip
_OTHER_TAG: Final = 63

#: Brotli's effort: 11 saves 6 % of an emoji font for fifteen times the time. The window is 2**18 bytes; a larger one
#: makes these fonts larger.
_QUALITY: Final = 9
_WINDOW: Final = 18

# flags of a point in ``glyf``
_ON_CURVE: Final = 0x01
_X_SHORT: Final = 0x02
_Y_SHORT: Final = 0x04
_REPEAT: Final = 0x08
_X_SAME_OR_POSITIVE: Final = 0x10
_Y_SAME_OR_POSITIVE: Final = 0x20
_OVERLAP: Final = 0x40

_LOSSLESS: Final = 1 << 11  # the bit of head.flags for "went through a lossless transformation"
_HEAD_FLAGS_AT: Final = 16
_HEAD_CHECKSUM_AT: Final = 8
_LOCA_FORMAT_AT: Final = 50


def woff2(sfnt: bytes) -> bytes:
    """A TrueType font as WOFF2 with transformed outlines; the same font gives the same bytes.

    Raises:
        ValueError: for a font with composite glyphs, or whose first bytes are not TrueType's.
        MissingExtraError: brotli is not installed.
    """
    try:
        import brotli
    except ImportError:
        raise MissingExtraError("brotli", "report", "writing a font for pages") from None
    tables = read_tables(sfnt)
    head = bytearray(tables["head"])
    outlines = read_outlines(tables["glyf"], read_loca(tables["loca"], long=head[_LOCA_FORMAT_AT + 1] == 1))
    glyf, loca, long = aligned(tables["glyf"], outlines)
    struct.pack_into(">h", head, _LOCA_FORMAT_AT, long)
    struct.pack_into(">H", head, _HEAD_FLAGS_AT, struct.unpack_from(">H", head, _HEAD_FLAGS_AT)[0] | _LOSSLESS)
    tables |= {"glyf": glyf, "loca": loca, "head": _with_checksum(tables | {"glyf": glyf, "loca": loca}, head)}
    moved = tables | {
        "glyf": transformed(outlines, long),
        "loca": b"",
        "hmtx": transformed_hmtx(tables["hmtx"], tables["hhea"], outlines),
    }
    packed: bytes = brotli.compress(b"".join(moved.values()), mode=brotli.MODE_FONT, quality=_QUALITY, lgwin=_WINDOW)
    directory = b"".join(_entry(tag, data, moved[tag]) for tag, data in tables.items())
    return _header(tables, directory, len(packed)) + directory + packed + b"\0" * (-len(directory + packed) % 4)


def read_tables(sfnt: bytes) -> dict[str, bytes]:
    """The tables of a font by tag, in the order of the tags."""
    signature, count = struct.unpack_from(">4sH", sfnt)
    if signature != b"\0\1\0\0":
        raise ValueError(f"not a TrueType font: it begins with {signature!r}")
    entries = (struct.unpack_from(">4sLLL", sfnt, 12 + 16 * i) for i in range(count))
    return dict(sorted((tag.decode("ascii"), sfnt[at : at + length]) for tag, _, at, length in entries))


def read_loca(loca: bytes, *, long: bool) -> Integers:
    """Where each glyph begins in ``glyf``, and where the last one ends."""
    return np.frombuffer(loca, ">u4").astype(np.int64) if long else np.frombuffer(loca, ">u2").astype(np.int64) * 2


@dataclass(frozen=True)
class Outlines:
    """The glyphs of a font, read: arrays with one entry a glyph, and those of points one after another.

    ``starts`` and ``ends`` are in ``glyf`` (equal for a glyph without data); ``drawn`` are the numbers of the
    glyphs that have contours, and ``contour_points``, ``instructions``, ``points`` (how many each has) and ``boxes``
    (left, bottom, right, top) go with those. ``flags`` are TrueType's; ``dx`` and ``dy`` the way from the last point.
    """

    starts: Integers
    ends: Integers
    contours: Integers
    drawn: Integers
    contour_points: list[list[int]]
    instructions: list[bytes]
    points: Integers
    boxes: Integers
    flags: Bytes
    dx: Integers
    dy: Integers


def read_outlines(glyf: bytes, loca: Integers) -> Outlines:
    """All glyphs of a font.

    Raises:
        ValueError: for a composite glyph.
    """
    starts, ends = loca[:-1], loca[1:]
    contours = np.zeros(len(starts), np.int64)
    drawn: list[int] = []
    contour_points: list[list[int]] = []
    instructions: list[bytes] = []
    boxes: list[tuple[int, ...]] = []
    flags = bytearray()
    coordinates = []
    for glyph in np.flatnonzero(ends > starts).tolist():
        at = int(starts[glyph])
        count, *box = struct.unpack_from(">5h", glyf, at)
        if count < 0:
            raise ValueError(f"glyph {glyph} is made of others, which is not supported")
        if count == 0:
            continue
        contours[glyph] = count
        drawn.append(glyph)
        boxes.append(tuple(box))
        last = struct.unpack_from(f">{count}H", glyf, at + 10)
        contour_points.append([end - before for before, end in zip((-1, *last), last, strict=False)])
        at += 10 + 2 * count
        (length,) = struct.unpack_from(">H", glyf, at)
        at += 2 + length
        instructions.append(glyf[at - length : at])
        coordinates.append(_read_flags(glyf, at, last[-1] + 1, flags))
    points = np.array([sum(of) for of in contour_points], np.int64)
    numbers = np.frombuffer(bytes(flags), np.uint8)
    dx, dy = _read_moves(np.frombuffer(glyf, np.uint8), numbers, points, np.array(coordinates, np.int64))
    return Outlines(
        starts, ends, contours, np.array(drawn, np.int64), contour_points, instructions, points,
        np.array(boxes, np.int64).reshape(-1, 4), numbers, dx, dy,
    )  # fmt: skip


def _read_flags(glyf: bytes, at: int, points: int, flags: bytearray) -> int:
    """Add the flags of a glyph's points to ``flags``; where its coordinates begin."""
    goal = len(flags) + points
    while len(flags) < goal:
        flag = glyf[at]
        at += 1
        flags.append(flag)
        if flag & _REPEAT:
            flags.extend((flag,) * glyf[at])
            at += 1
    return at


def _read_moves(glyf: Bytes, flags: Bytes, points: Integers, at: Integers) -> tuple[Integers, Integers]:
    """The steps of all points, x and y; ``at`` is where the x of each glyph begin, its y follow."""
    widths_x = _widths(flags, _X_SHORT, _X_SAME_OR_POSITIVE)
    widths_y = _widths(flags, _Y_SHORT, _Y_SAME_OR_POSITIVE)
    first = _first_points(points)
    glyph = np.repeat(np.arange(len(points)), points)
    before_x, before_y = (np.concatenate(([0], np.cumsum(widths))) for widths in (widths_x, widths_y))
    at_y = at + before_x[first + points] - before_x[first]
    where_x = at[glyph] + before_x[:-1] - before_x[first][glyph]
    where_y = at_y[glyph] + before_y[:-1] - before_y[first][glyph]
    return (
        _moves(glyf, where_x, widths_x, (flags & _X_SAME_OR_POSITIVE) > 0),
        _moves(glyf, where_y, widths_y, (flags & _Y_SAME_OR_POSITIVE) > 0),
    )


def _widths(flags: Bytes, short: int, same: int) -> Integers:
    """How many bytes each point's coordinate takes: one, none for "as before", two."""
    return np.where(flags & short, 1, np.where(flags & same, 0, 2)).astype(np.int64)


def _moves(glyf: Bytes, where: Integers, widths: Integers, positive: NDArray[np.bool_]) -> Integers:
    high = glyf[np.minimum(where, len(glyf) - 1)].astype(np.int64)
    low = glyf[np.minimum(where + 1, len(glyf) - 1)]
    short = np.where(positive, high, -high)
    long = ((high << 8 | low) ^ 0x8000) - 0x8000
    return np.select([widths == 1, widths == 2], [short, long], 0)


def aligned(glyf: bytes, outlines: Outlines) -> tuple[bytes, bytes, bool]:
    """``glyf`` with every glyph on a multiple of four, its ``loca``, and whether that is the long format.

    The spec no longer asks for it, but the lengths and checksums stated for the font must be those of what decoders
    make, and decoders align so.
    """
    lengths = outlines.ends - outlines.starts
    at = np.concatenate(([0], np.cumsum((lengths + 3) // 4 * 4)))
    out = np.zeros(int(at[-1]), np.uint8)
    moved = np.repeat(at[:-1] - outlines.starts, lengths) + np.arange(outlines.starts[0], outlines.ends[-1])
    out[moved] = np.frombuffer(glyf, np.uint8)[outlines.starts[0] : outlines.ends[-1]]
    long = bool(at[-1] >= 1 << 17)
    loca = at.astype(">u4").tobytes() if long else (at // 2).astype(">u2").tobytes()
    return out.tobytes(), loca, long


def transformed(outlines: Outlines, long: bool) -> bytes:
    """The transformed ``glyf`` table (section 5.1): the parts of all glyphs sorted into one stream for each kind."""
    flags, triplets, sizes = _triplets(outlines)
    ends = np.concatenate(([0], np.cumsum(sizes)))[np.cumsum(outlines.points)]
    begins = np.concatenate(([0], ends))[:-1]
    data = triplets.tobytes()
    glyph_stream = b"".join(
        data[begin:end] + _short(len(code))
        for begin, end, code in zip(begins, ends, outlines.instructions, strict=True)
    )
    boxes = _boxes(outlines)
    overlaps, any_overlap = _overlaps(outlines)
    streams = (
        outlines.contours.astype(">i2").tobytes(),
        b"".join(_short(count) for of_glyph in outlines.contour_points for count in of_glyph),
        flags.tobytes(),
        glyph_stream,
        b"",  # of composite glyphs
        boxes,
        b"".join(outlines.instructions),
    )
    header = struct.pack(">4H7L", 0, any_overlap, len(outlines.starts), long, *map(len, streams))
    return header + b"".join(streams) + (overlaps if any_overlap else b"")


def transformed_hmtx(hmtx: bytes, hhea: bytes, outlines: Outlines) -> bytes:
    """``hmtx`` without the side bearings that are the left edges of the outlines (section 5.4); as it is if none are.

    The bearings beside a width and those of the glyphs after the last width are left out separately.
    """
    (count,) = struct.unpack_from(">H", hhea, 34)
    left = np.zeros(len(outlines.starts), np.int64)
    left[outlines.drawn] = outlines.boxes[:, 0]
    pairs = np.frombuffer(hmtx[: 4 * count], ">i2").reshape(-1, 2)
    widths, beside, after = pairs[:, 0], pairs[:, 1], np.frombuffer(hmtx[4 * count :], ">i2")
    same_beside, same_after = bool((beside == left[:count]).all()), bool((after == left[count:]).all())
    if not (same_beside or same_after):
        return hmtx
    kept = (b"" if same_beside else beside.tobytes()) + (b"" if same_after else after.tobytes())
    return bytes((same_beside | same_after << 1,)) + widths.tobytes() + kept


def _triplets(outlines: Outlines) -> tuple[Bytes, Bytes, Integers]:
    """Section 5.2's encoding of each point: its flag, the bytes of all points, how many bytes each point has."""
    dx, dy = outlines.dx, outlines.dy
    x, y = np.abs(dx), np.abs(dy)
    x_sign, y_sign = (dx >= 0).astype(np.int64), (dy >= 0).astype(np.int64)
    signs = x_sign + 2 * y_sign
    x1, y1 = x - 1, y - 1
    zero = np.zeros_like(x)
    kinds: list[Any] = [
        (dx == 0) & (y < 1280),
        (dy == 0) & (x < 1280),
        (x < 65) & (y < 65),
        (x < 769) & (y < 769),
        (x < 4096) & (y < 4096),
    ]
    flags = np.select(
        kinds,
        [
            ((y & 0xF00) >> 7) + y_sign,
            10 + ((x & 0xF00) >> 7) + x_sign,
            20 + (x1 & 0x30) + ((y1 & 0x30) >> 2) + signs,
            84 + 12 * ((x1 & 0x300) >> 8) + ((y1 & 0x300) >> 6) + signs,
            120 + signs,
        ],
        124 + signs,
    ) + np.where(outlines.flags & _ON_CURVE, 0, 128)
    rows = np.stack(
        [
            np.select(kinds, [y, x, (x1 & 0xF) << 4 | y1 & 0xF, x1, x >> 4], x >> 8),
            np.select(kinds, [zero, zero, zero, y1, (x & 0xF) << 4 | y >> 8], x),
            np.select(kinds, [zero, zero, zero, zero, y], y >> 8),
            y,
        ],
        axis=1,
    )
    sizes = np.select(kinds, [1, 1, 1, 2, 3], 4)
    return flags.astype(np.uint8), (rows & 0xFF)[np.arange(4) < sizes[:, None]].astype(np.uint8), sizes


def _boxes(outlines: Outlines) -> bytes:
    """The bounding boxes that do not follow from the points, after a bitmap of the glyphs that have one."""
    first = _first_points(outlines.points)
    x, y = (_within_glyph(steps, first, outlines.points) for steps in (outlines.dx, outlines.dy))
    edges = [bound.reduceat(along, first) for bound in (np.minimum, np.maximum) for along in (x, y) if len(first)]
    follows: Integers = np.stack(edges, axis=1) if edges else outlines.boxes
    differ: NDArray[np.bool_] = (follows != outlines.boxes).any(axis=1)
    stated = np.zeros((len(outlines.starts) + 31) // 32 * 32, np.uint8)
    stated[outlines.drawn[differ]] = 1
    return np.packbits(stated).tobytes() + outlines.boxes[differ].astype(">i2").tobytes()


def _first_points(points: Integers) -> Integers:
    """The number of each glyph's first point, from how many points each has."""
    return np.cumsum(points) - points


def _within_glyph(steps: Integers, first: Integers, points: Integers) -> Integers:
    """Where each point is, from the steps to it, each glyph beginning at zero."""
    sums = np.cumsum(steps)
    before: Integers = sums[first] - steps[first]
    return sums - np.repeat(before, points)


def _overlaps(outlines: Outlines) -> tuple[bytes, bool]:
    """A bitmap of the glyphs whose first point says that contours overlap, and whether there are any."""
    marked = np.zeros(len(outlines.starts), np.uint8)
    marked[outlines.drawn] = (outlines.flags[_first_points(outlines.points)] & _OVERLAP) > 0
    return np.packbits(marked).tobytes(), bool(marked.any())


def _short(value: int) -> bytes:
    """Section 4.2's 255UInt16."""
    if value < 253:
        return bytes((value,))
    if value < 506:
        return bytes((255, value - 253))
    if value < 762:
        return bytes((254, value - 506))
    return struct.pack(">BH", 253, value)


def _base128(value: int) -> bytes:
    """Section 4.1's UIntBase128: seven bits a byte, the first bit set on all but the last."""
    out = [value & 0x7F]
    while value := value >> 7:
        out.append(value & 0x7F | 0x80)
    return bytes(reversed(out))


def _entry(tag: str, data: bytes, moved: bytes) -> bytes:
    """The entry of a table in the directory (section 4.1).

    "Transformed" is version 0 of ``glyf`` and ``loca`` and version 1, in the two highest bits, of ``hmtx``.
    """
    known = KNOWN_TAGS.get(tag, _OTHER_TAG)
    name = tag.encode("ascii") if known == _OTHER_TAG else b""
    is_transformed = tag in ("glyf", "loca") or (tag == "hmtx" and moved is not data)
    version = 1 << 6 if is_transformed and tag == "hmtx" else 0
    length = _base128(len(moved)) if is_transformed else b""
    return bytes((known | version,)) + name + _base128(len(data)) + length


def _header(tables: Mapping[str, bytes], directory: bytes, packed: int) -> bytes:
    whole = 12 + 16 * len(tables) + sum((len(data) + 3) // 4 * 4 for data in tables.values())
    length = (48 + len(directory) + packed + 3) // 4 * 4
    major, minor = struct.unpack_from(">HH", tables["head"], 4)
    return struct.pack(
        ">4s4sLHHLLHHLLLLL", b"wOF2", b"\0\1\0\0", length, len(tables), 0, whole, packed, major, minor, 0, 0, 0, 0, 0
    )


def _with_checksum(tables: Mapping[str, bytes], head: bytearray) -> bytes:
    """``head`` with the checksum of the whole plain font, as OpenType's ``checkSumAdjustment`` asks."""
    struct.pack_into(">L", head, _HEAD_CHECKSUM_AT, 0)
    contents = {**tables, "head": bytes(head)}
    power = 1 << (len(tables).bit_length() - 1)
    directory = struct.pack(
        ">4s4H", b"\0\1\0\0", len(tables), power * 16, power.bit_length() - 1, (len(tables) - power) * 16
    )
    at, total = 12 + 16 * len(tables), 0
    for tag, data in contents.items():
        checksum = _checksum(data)
        directory += struct.pack(">4sLLL", tag.encode("ascii"), checksum, at, len(data))
        at += (len(data) + 3) // 4 * 4
        total += checksum
    struct.pack_into(">L", head, _HEAD_CHECKSUM_AT, (0xB1B0AFBA - total - _checksum(directory)) & 0xFFFFFFFF)
    return bytes(head)


def _checksum(data: bytes) -> int:
    words = np.frombuffer(data + b"\0" * (-len(data) % 4), ">u4")
    return int(words.sum(dtype=np.uint64)) & 0xFFFFFFFF
