"""Cuts the bundled emoji font to a set of emoji, and says which emoji it cannot show.

HarfBuzz is asked what browsers will ask it: an emoji is in the font where its characters become exactly one picture.
Knows the font and strings; nothing of where they come from.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib.resources import files
from types import ModuleType
from typing import Any, Final

from mojimeter.emoji.names import name
from mojimeter.emoji.scan import EMOJI_SELECTOR, JOINER
from mojimeter.errors import InputError, MissingExtraError, MojimeterError

FONT: Final = "NotoColorEmoji.ttf.xz"
#: How many missing emoji a message names; the rest are counted.
MOST_NAMED: Final = 10

_NOTHING: Final = 0  # the glyph of what a font does not have


class MissingEmojiError(InputError):
    """The bundled font lacks emoji that a page is to show.

    Attributes:
        emoji: all of them, in the order they were asked for.
    """

    def __init__(self, emoji: Sequence[str]) -> None:
        self.emoji = tuple(emoji)
        named = ", ".join(_described(string) for string in self.emoji[:MOST_NAMED])
        more = len(self.emoji) - MOST_NAMED
        rest = f" and {more} more" if more > 0 else ""
        super().__init__(f"the bundled emoji font cannot show {len(self.emoji)} of the emoji: {named}{rest}")


def cut_emoji_font(emoji: Iterable[str]) -> bytes:
    """A WOFF2 font (COLR version 1) that shows the given emoji in colour, and as little else as can be.

    Digits, ``#`` and ``*`` come with keycaps and skin tones with the hands that have them, so the font is for spans
    around emoji, never for whole texts.

    Args:
        emoji: strings as ``emoji.find`` gives them, in any order, repeated or not. The same set gives the same bytes.

    Raises:
        MissingEmojiError: names the emoji that the font has no single picture for.
        MissingExtraError: uharfbuzz or brotli is not installed.
    """
    from mojimeter.fonts.woff2 import woff2  # NumPy, which marking text does not need

    wanted = sorted(set(emoji))
    shaped = {string: _shape(string) for string in wanted}
    missing = [string for string in wanted if not _is_one_picture(shaped[string])]
    if missing:
        raise MissingEmojiError(missing)
    return woff2(_subset(wanted, {glyphs[0] for glyphs in shaped.values()}))


def missing_emoji(emoji: Iterable[str]) -> list[str]:
    """The emoji that the bundled font cannot show as one picture, each once, in the order given.

    Raises:
        MissingExtraError: uharfbuzz is not installed.
    """
    return [string for string in dict.fromkeys(emoji) if not _is_one_picture(_shape(string))]


def _is_one_picture(glyphs: list[int]) -> bool:
    return len(glyphs) == 1 and glyphs[0] != _NOTHING


def _shape(string: str) -> list[int]:
    """The glyphs that a browser draws for a string; nothing is drawn for selectors and joiners that are left over."""
    hb, _, font = _loaded()
    buffer = hb.Buffer()
    buffer.add_codepoints([ord(character) for character in string])  # add_str refuses lone surrogates
    buffer.guess_segment_properties()
    buffer.flags |= hb.BufferFlags.REMOVE_DEFAULT_IGNORABLES
    hb.shape(font, buffer)
    return [info.codepoint for info in buffer.glyph_infos]


def _subset(strings: Iterable[str], glyphs: set[int]) -> bytes:
    """The font with the characters and pictures given, as plain TrueType."""
    hb, face, _ = _loaded()
    request = hb.SubsetInput()
    request.unicode_set.update({ord(character) for string in strings for character in string})
    request.unicode_set.update({ord(EMOJI_SELECTOR), ord(JOINER)})
    request.glyph_set.update(glyphs)
    # Every picture wanted is named above. Following the layout rules instead would keep each picture that the
    # characters could be joined into: all families and couples as soon as a man, a woman and a joiner are there.
    request.flags |= hb.SubsetFlags.NO_LAYOUT_CLOSURE
    data: bytes = hb.subset(face, request).blob.data
    return data


@lru_cache(maxsize=1)
def _loaded() -> tuple[ModuleType, Any, Any]:
    """HarfBuzz, the face and the font; unpacking the font takes a quarter of a second, once."""
    try:
        import uharfbuzz as hb
    except ImportError:
        raise MissingExtraError("uharfbuzz", "report", "showing emoji in colour") from None
    except TypeError as error:  # how Cython says that another library of this process brought its types in another size
        raise MojimeterError(
            f"uharfbuzz does not load beside another library of this process ({error}); "
            "pip install 'uharfbuzz!=0.57.0', or write the page with a command of its own: mojimeter report"
        ) from None
    face = hb.Face(lzma.decompress((files("mojimeter.fonts") / FONT).read_bytes()))
    return hb, face, hb.Font(face)


def _described(string: str) -> str:
    points = " ".join(f"U+{ord(character):04X}" for character in string)
    try:
        return f"{string} ({name(string)}, {points})"
    except InputError:
        return f"{string!a} (no emoji, {points})"
