"""Makes the package's emoji font out of npm's ``@fontsource/noto-color-emoji``: Noto Color Emoji, COLR version 1.

    python scripts/vendor_font.py PACKAGE_FOLDER [OUT]

OUT is the package's own font room unless given. The whole font of the npm package holds every picture twice, as COLR
and as SVG; the SVG copies go, and so do the metrics of vertical text. What is left is packed with xz, which Python's
standard library reads. The same folder gives the same bytes; SOURCE.txt says where they come from.
"""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import shutil
import sys
from pathlib import Path

from fontTools.ttLib import TTFont

ROOM = Path(__file__).resolve().parents[1] / "src" / "mojimeter" / "fonts"
WHOLE = "files/noto-color-emoji-emoji-400-normal.woff2"
NAME = "NotoColorEmoji.ttf.xz"
#: SVG: the same pictures again; vhea, vmtx: metrics of vertical text.
LEFT_OUT = ("SVG ", "vhea", "vmtx")


def main(package: Path, out: Path = ROOM) -> None:
    original = (package / WHOLE).read_bytes()
    font = plain_font(original)
    packed = lzma.compress(font, preset=9 | lzma.PRESET_EXTREME)
    (out / NAME).write_bytes(packed)
    shutil.copyfile(package / "LICENSE", out / "OFL.txt")
    about = json.loads((package / "package.json").read_text(encoding="utf-8"))
    (out / "SOURCE.txt").write_text(
        f"Noto Color Emoji (SIL Open Font License 1.1, see OFL.txt), made by scripts/vendor_font.py.\n\n"
        f"{NAME}: {about['name']} {about['version']} of npm, {WHOLE},\n"
        f"without its tables {', '.join(tag.strip() for tag in LEFT_OUT)}\n"
        f"  sha256 of the original      {hashlib.sha256(original).hexdigest()}\n"
        f"  sha256 of the font, unpacked {hashlib.sha256(font).hexdigest()}\n"
        f"  sha256 of the file here     {hashlib.sha256(packed).hexdigest()}\n",
        encoding="utf-8",
    )


def plain_font(woff2: bytes) -> bytes:
    """The font of a WOFF2 file as plain TrueType, without the tables that no page needs."""
    font = TTFont(io.BytesIO(woff2), recalcTimestamp=False, recalcBBoxes=False)
    for tag in LEFT_OUT:
        if tag in font:
            del font[tag]
    font.flavor = None
    out = io.BytesIO()
    font.save(out, reorderTables=None)
    return out.getvalue()


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*map(Path, sys.argv[1:]))
