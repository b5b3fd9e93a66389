"""Writes the emoji tables of the package from Unicode's files: names, keywords, groups, order of use.

    python scripts/make_emoji_tables.py FOLDER [OUT]

OUT is the package's own folder of tables unless given. FOLDER holds ``emoji-test-*.txt``,
``cldr*_en.json``, ``cldr*_hi.json``, ``cldr*_bn.json`` (each maps a string to its CLDR ``name`` and
``keywords``) and ``unicode_emoji_frequency_*_ranked.tsv``. The same files give the same bytes. Only the
order of emoji is taken from the frequency list. All of it is under the Unicode License v3, which lies
beside the tables.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
import sys
from pathlib import Path

from mojimeter.emoji.compare import key
from mojimeter.emoji.names import LANGUAGES, toned_keywords, toned_name
from mojimeter.emoji.scan import SKIN_TONES, TEXT_SIGNS, table

DATA = Path(__file__).resolve().parents[1] / "src" / "mojimeter" / "emoji" / "data"

Entry = tuple[str, list[str]]


def main(folder: Path, out: Path = DATA) -> None:
    """Write every table and say how large each became."""
    written = {f"names_{lang}.tsv.gz": names(_one(folder, f"cldr*_{lang}.json")) for lang in LANGUAGES}
    written["groups.tsv.gz"] = groups(_one(folder, "emoji-test-*.txt"))
    written["use.txt.gz"] = use(_one(folder, "unicode_emoji_frequency_*_ranked.tsv"))
    out.mkdir(parents=True, exist_ok=True)
    for name, text in written.items():
        # no time and no file name in the header: equal tables are equal files
        packed = gzip.compress(text.encode(), compresslevel=9, mtime=0)
        (out / name).write_bytes(packed)
        print(f"{name}\t{text.count(chr(10))} lines\t{len(packed)} bytes")


def names(source: Path) -> str:
    """Lines of emoji, name, keywords; an entry that follows from the untoned one by rule is left out."""
    annotations = json.loads(source.read_text(encoding="utf-8"))
    known = {key(string) for string in table() | TEXT_SIGNS}
    entries: dict[str, Entry] = {
        key(string): (value["name"], sorted(value["keywords"]))
        for string, value in annotations.items()
        if key(string) in known
    }
    lines = []
    for string, (name, keywords) in sorted(entries.items()):
        base = key(string, "tone")
        if base != string and base in entries:
            tones = [entries[tone][0] for tone in dict.fromkeys(c for c in string if c in SKIN_TONES)]
            base_name, base_keywords = entries[base]
            new_name = "" if toned_name(base_name, tones) == name else name
            same_keywords = toned_keywords(base_keywords, tones) == keywords
            if not new_name and same_keywords:
                continue
            lines.append(f"{string}\t{new_name}\t{'' if same_keywords else '|'.join(keywords)}")
        else:
            lines.append(f"{string}\t{name}\t{'|'.join(keywords)}")
    return "\n".join(lines) + "\n"


def groups(source: Path) -> str:
    """Lines of group, subgroup and its emoji without skin tones, in Unicode's order."""
    members: dict[tuple[str, str], dict[str, None]] = {}
    group = subgroup = ""
    for line in source.read_text(encoding="utf-8").splitlines():
        if line.startswith("# group: "):
            group = line.removeprefix("# group: ")
        elif line.startswith("# subgroup: "):
            subgroup = line.removeprefix("# subgroup: ")
        elif row := re.match(r"([0-9A-F ]+?) *;", line):
            string = "".join(chr(int(point, 16)) for point in row[1].split())
            members.setdefault((group, subgroup), {})[key(string, "tone")] = None
    return "".join(f"{g}\t{s}\t{' '.join(strings)}\n" for (g, s), strings in members.items())


def use(source: Path) -> str:
    """One emoji a line, the most used first."""
    with source.open(encoding="utf-8", newline="") as lines:
        ranked = sorted(csv.DictReader(lines, delimiter="\t"), key=lambda row: int(row["Rank"]))
    return "".join(row["Emoji"] + "\n" for row in ranked)


def _one(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        sys.exit(f"{folder}: expected one file like {pattern}, found {len(found)}")
    return found[0]


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*map(Path, sys.argv[1:]))
