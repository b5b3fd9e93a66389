"""What the tests of the emoji room share: nasty text, and Unicode's files."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import strategies as st

# What breaks scanners: joiners, selectors, tones, flags cut in two, keycaps, tags, broken characters,
# and letters whose joiners are spelling.
NASTY = st.text(
    st.sampled_from(
        "a1#* \n.क्षরیم\u200d\u200c\ufe0e\ufe0f\u20e3\ufffd\ud83d\U000e0067\U000e0062\U000e007f"
        "😀❤☺👍👩👨🤝🏻🏿🦰🇮🇳🇧🇩🏴🏳🌈♂♀⚕©™↔▶✌☝⚽👁🗨🫱🫲"
    ),
    max_size=14,
)


def rows_of_emoji_test(shared: Path) -> dict[str, str]:
    """String -> status, for every row of Unicode's emoji-test 17.0."""
    rows = {}
    for line in (shared / "data/lexicon/emoji-test-17.0.txt").read_text(encoding="utf-8").splitlines():
        if found := re.match(r"([0-9A-F ]+?) *; ([a-z-]+)", line):
            rows["".join(chr(int(point, 16)) for point in found[1].split())] = found[2]
    return rows


def strings_of_index(shared: Path) -> list[str]:
    """Every string of the 18.0 index."""
    lines = (shared / "data/lexicon/rgi-emoji-18.0-index.txt").read_text(encoding="utf-8").splitlines()
    return [
        "".join(chr(int(p, 16)) for p in re.findall(r"U\+([0-9A-F]+)", line.split("→")[0])) for line in lines if line
    ]
