"""Cutting and packing the emoji font of a page, beside fontTools' packing of the same cut font.

The emoji are the 900 that people use most: as many as a report of the demo shows. Both get the same plain font from
HarfBuzz; compared are CPU time (the packing alone, and all of ``cut_emoji_font``) and bytes.
Run: ``python -m bench fonts``.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable

from mojimeter.emoji import top
from mojimeter.fonts import cut, cut_emoji_font
from mojimeter.fonts.woff2 import woff2

EMOJI = 900
SECONDS_BAR = 3.0


def cpu_seconds(work: Callable[[], bytes]) -> tuple[float, int]:
    """CPU time of some packing, and how many bytes came out."""
    start = time.process_time()
    size = len(work())
    return time.process_time() - start, size


def packed_by_fonttools(plain: bytes) -> bytes:
    from fontTools.ttLib import TTFont

    font, out = TTFont(io.BytesIO(plain), recalcTimestamp=False), io.BytesIO()
    font.flavor = "woff2"
    font.save(out, reorderTables=False)
    return out.getvalue()


def main() -> None:
    emoji = top(EMOJI)
    cut_emoji_font(emoji[:1])  # the font is unpacked once a process
    plain = cut._subset(emoji, {cut._shape(string)[0] for string in emoji})
    whole, _ = cpu_seconds(lambda: cut_emoji_font(emoji))
    ours, size = cpu_seconds(lambda: woff2(plain))
    theirs, their_size = cpu_seconds(lambda: packed_by_fonttools(plain))
    print(f"packing  {theirs / ours:.1f} times as fast as fontTools, {size / their_size:.3f} times its bytes")
    print(
        f"cutting  {EMOJI} emoji: {whole / SECONDS_BAR:.0%} of the bar of {SECONDS_BAR:g} CPU seconds, "
        f"{size / EMOJI:.0f} bytes an emoji: {'met' if whole < SECONDS_BAR else 'MISSED'}"
    )


if __name__ == "__main__":
    main()
