"""Names, keywords, groups and ranks, against Unicode's own files where they are there."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from mojimeter import emoji
from mojimeter.errors import InputError
from tests.emoji.support import rows_of_emoji_test

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("string", "lang", "name"),
    [  # CLDR 48 annotations
        ("👍", "en", "thumbs up"),
        ("👍🏽", "en", "thumbs up: medium skin tone"),
        ("❤", "en", "red heart"),
        ("❤️", "en", "red heart"),
        ("👨🏻‍🦰", "en", "man: light skin tone, red hair"),
        ("🧑🏻‍❤‍💋‍🧑🏼", "en", "kiss: person, person, light skin tone, medium-light skin tone"),
        ("👋🏻", "hi", "हाथ हिलाना: गोरी त्वचा"),
        ("👋🏻", "bn", "হাত নাড়ানো: হালকা ত্বকের রঙ"),
    ],
)
def test_an_emoji_has_its_cldr_name(string: str, lang: str, name: str) -> None:
    assert emoji.name(string, lang) == name


def test_keywords_are_cldrs() -> None:
    assert emoji.keywords("🤚🏻") == ["back", "backhand", "hand", "light skin tone", "raised"]


@pytest.mark.parametrize("lang", emoji.LANGUAGES)
def test_every_emoji_has_a_name_in_every_language(lang: str) -> None:
    assert all(emoji.name(string, lang) for string in emoji.all_emoji())


def test_an_emoji_newer_than_cldr_has_its_english_name_and_no_group() -> None:
    assert emoji.name("\U0001faf9🏿", "bn") == "leftwards thumb sign: dark skin tone"
    assert emoji.keywords("\U0001faf9", "bn") == []
    assert emoji.group("\U0001faf9") is None
    assert emoji.rank("\U0001faf9") is None


@pytest.mark.parametrize("bad", ["", "a", "👍👎", "thumbs up", "\u200d", "\ud83d"])
def test_what_is_no_emoji_has_no_name(bad: str) -> None:
    for ask in (emoji.name, emoji.keywords, emoji.group, emoji.subgroup, emoji.rank):
        with pytest.raises(InputError, match="not an emoji"):
            ask(bad)


def test_a_language_without_names_is_refused() -> None:
    with pytest.raises(InputError, match="expected en, hi, bn"):
        emoji.name("👍", "fr")


def test_groups_are_unicodes() -> None:
    assert (emoji.group("😀"), emoji.subgroup("😀")) == ("Smileys & Emotion", "face-smiling")
    assert (emoji.group("👍🏽"), emoji.subgroup("👍🏽")) == ("People & Body", "hand-fingers-closed")
    assert emoji.group("🇧🇩") == "Flags"
    assert emoji.group("🏽") == "Component"


def test_the_most_used_come_first() -> None:
    # the Unicode Consortium's list of 2021
    assert emoji.top(5) == ["😂", "❤️", "🤣", "👍", "😭"]
    assert [emoji.rank(e) for e in ("😂", "❤", "👍🏿", "🦳")] == [1, 2, 4, 1549]
    assert len(emoji.top(emoji.RANKED)) == emoji.RANKED
    with pytest.raises(InputError, match="from 0 to 1549"):
        emoji.top(1550)


def test_all_emoji_are_distinct_and_fully_qualified() -> None:
    known = emoji.all_emoji()
    assert len(known) == len(set(known)) > 3900
    assert len({emoji.key(e) for e in known}) == len(known)
    assert emoji.all_emoji() is not emoji.all_emoji()  # a caller may change its list


def test_groups_are_those_of_every_row_of_unicodes_test_file(shared: Path) -> None:
    group = subgroup = ""
    rows = iter(rows_of_emoji_test(shared))
    for line in (shared / "data/lexicon/emoji-test-17.0.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("# group: "):
            group = line[9:]
        elif line.startswith("# subgroup: "):
            subgroup = line[12:]
        elif line and not line.startswith("#"):
            string = next(rows)
            assert (emoji.group(string), emoji.subgroup(string)) == (group, subgroup), string


@pytest.mark.parametrize("lang", emoji.LANGUAGES)
def test_every_cldr_entry_of_an_emoji_is_given_back(shared: Path, lang: str) -> None:
    entries = json.loads((shared / f"data/lexicon/cldr48_{lang}.json").read_text(encoding="utf-8"))
    known = {emoji.key(e) for e in emoji.all_emoji()}
    checked = 0
    for string, entry in entries.items():
        if emoji.key(string) in known:
            assert emoji.name(string, lang) == entry["name"]
            assert emoji.keywords(string, lang) == sorted(entry["keywords"])
            checked += 1
    assert checked >= 3950


def test_ranks_are_those_of_the_frequency_list(shared: Path) -> None:
    path = shared / "data/lexicon/unicode_emoji_frequency_2021_ranked.tsv"
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            assert emoji.rank(row["Emoji"]) == int(row["Rank"])


def test_the_tables_are_what_the_script_makes_of_unicodes_files(shared: Path, tmp_path: Path) -> None:
    script = ROOT / "scripts/make_emoji_tables.py"
    command = [sys.executable, str(script), str(shared / "data/lexicon"), str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True)
    for made in sorted(tmp_path.iterdir()):
        assert made.read_bytes() == (ROOT / "src/mojimeter/emoji/data" / made.name).read_bytes(), made.name
    assert len(list(tmp_path.iterdir())) == 5


def test_the_tables_stay_under_a_megabyte_and_carry_their_licence() -> None:
    data = ROOT / "src/mojimeter/emoji/data"
    assert sum(path.stat().st_size for path in data.iterdir()) < 1_000_000
    licence = (data / "LICENSE-UNICODE.txt").read_text(encoding="utf-8")
    assert "UNICODE LICENSE V3" in licence
    assert all(path.name in licence for path in data.glob("*.gz"))


def test_importing_the_room_loads_neither_polars_nor_the_tables() -> None:
    code = (
        "import sys; from mojimeter import emoji; print([m for m in ('polars', 'numpy', 'emoji') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert out.strip() == "[]"
