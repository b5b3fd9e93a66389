"""Blocks of raw files: together they are the file, whatever their size."""

from __future__ import annotations

import hashlib
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mojimeter.build.sources import open_sources
from mojimeter.errors import InputError
from tests.build.support import made_posts, write_jsonl


def texts_of(path: Path, size: int) -> tuple[list[str], int]:
    (source,) = open_sources([str(path)], path.parent / "staging", block_bytes=size, block_rows=max(1, size // 100))
    assert source.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    frames = [block.read() for block in source.blocks]
    return pl.concat(frames)["text"].to_list(), len(frames)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
@pytest.mark.parametrize("size", [60, 333, 5000, 1 << 24])
def test_blocks_of_any_size_hold_the_file_in_order(tmp_path: Path, suffix: str, size: int) -> None:
    posts = made_posts(120)
    path = tmp_path / f"raw.{suffix}"
    frame = pl.DataFrame(posts)
    if suffix == "jsonl":
        write_jsonl(path, posts)
    elif suffix == "parquet":
        frame.write_parquet(path)
    else:
        frame.write_csv(path, separator="\t" if suffix == "tsv" else ",")
    texts, blocks = texts_of(path, size)
    assert texts == [post["text"] for post in posts]
    assert (blocks == 1) == (size == 1 << 24)


CELL = st.text(alphabet='ab,"\n 😀é', min_size=1, max_size=12).filter(lambda text: text.strip('\n "') != "")


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.lists(CELL, min_size=1, max_size=12), st.integers(16, 80))
def test_a_line_break_within_quotes_ends_no_row(tmp_path: Path, cells: list[str], size: int) -> None:
    path = tmp_path / "quoted.csv"
    pl.DataFrame({"id": [str(n) for n in range(len(cells))], "text": cells}).write_csv(path, quote_style="always")
    assert texts_of(path, size)[0] == cells


def test_a_byte_order_mark_and_blank_lines_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "raw.csv"
    path.write_bytes("\ufeffid,text\n1,a 😀\n\n2,b 😀\n\n\n".encode())
    assert texts_of(path, 1 << 20)[0] == ["a 😀", "b 😀"]
    assert texts_of(path, 20)[0] == ["a 😀", "b 😀"]


def test_numbers_in_json_become_text_and_broken_emoji_stay_visible(tmp_path: Path) -> None:
    path = tmp_path / "raw.jsonl"
    path.write_text('{"id": 7, "text": "half \\ud83d"}\n{"id": 8, "text": "b"}\n', encoding="utf-8")
    (source,) = open_sources([str(path)], tmp_path)
    frame = source.blocks[0].read()
    assert frame["id"].to_list() == ["7", "8"]
    assert frame["text"].to_list() == ["half \ufffd", "b"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.csv", b"", ("a.csv", "empty")),
        ("a.csv", b"id,text\n", ("a.csv", "empty")),
        ("a.csv", b'id,text\n1,"open\n2,b\n', ("a.csv", "quote")),
        ("a.csv", b"id,text\n1,\xff\xfe\n", ("a.csv", "line 1", "UTF-8")),
        ("a.csv", b"id,words\n1,b\n", ("a.csv", "no column 'text'", "'words'")),
        ("a.csv", b"id,text\n1,b\n,c\n", ("a.csv", "row 2", "'id'", "empty")),
        ("a.jsonl", b"{not json}\n", ("a.jsonl", "not readable as jsonl")),
        ("a.jsonl", b'{"id": "1", "text": {"x": 1}}\n', ("a.jsonl", "'text'", "expected text")),
        ("a.parquet", b"PAR1", ("a.parquet", "not readable as parquet")),
        ("a.xlsx", b"x", ("a.xlsx", ".parquet")),
    ],
)
def test_a_bad_file_is_one_sentence(tmp_path: Path, name: str, content: bytes, words: tuple[str, ...]) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        texts_of(path, 1 << 20)
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.csv: no such file"):
        open_sources([str(tmp_path / "nowhere.csv")], tmp_path)


def test_the_starter_posts_and_a_pan_folder_are_sources_too(tmp_path: Path) -> None:
    folder = tmp_path / "en"
    (folder / "text").mkdir(parents=True)
    (folder / "text" / "u1.xml").write_text(
        '<author lang="en"><documents><document>hi 😀</document></documents></author>', encoding="utf-8"
    )
    (folder / "truth.txt").write_text("u1:::female\n", encoding="utf-8")
    starter, pan = open_sources(["starter:dev", str(folder)], tmp_path / "staging")
    assert sum(block.read().height for block in starter.blocks) == 200
    assert pan.blocks[0].read().select("text", "author", "gender").rows() == [("hi 😀", "u1", "female")]


def test_emoji_in_a_column_of_their_own_follow_the_text(tmp_path: Path) -> None:
    path = tmp_path / "raw.csv"
    path.write_text("id,text,emoji\n1,sunny day,☀️\n2,has one 😀,🎉\n3,none,\n", encoding="utf-8")
    assert texts_of(path, 1 << 20)[0] == ["sunny day ☀️", "has one 😀", "none "]
