"""Table files: what is read, and what a broken one is told."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from mojimeter.datasets.tables import parse_mapping, read_table
from mojimeter.errors import InputError


def write(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("name", "data", "rows"),
    [
        ("plain.csv", b"a,b\n1,2\n", [{"a": "1", "b": "2"}]),
        ("byte-order-mark.csv", b"\xef\xbb\xbfa,b\n1,2\n", [{"a": "1", "b": "2"}]),
        ("windows-ends.csv", b"a,b\r\n1,2\r\n\r\n", [{"a": "1", "b": "2"}]),
        ("line-break-inside.csv", b'a,b\n1,"x\ny"\n', [{"a": "1", "b": "x\ny"}]),
        ("short-row.csv", b"a,b\n1\n2,3\n", [{"a": "1", "b": None}, {"a": "2", "b": "3"}]),
        ("tabs.tsv", b"a\tb\n1\tx,y\n", [{"a": "1", "b": "x,y"}]),
        ("leading-zero.csv", b"id,text\n007,x\n", [{"id": "007", "text": "x"}]),
        ("lines.jsonl", b'{"a":1}\n\n{"a":2,"b":"x"}\n', [{"a": 1, "b": None}, {"a": 2, "b": "x"}]),
        ("mark.jsonl", b'\xef\xbb\xbf{"a":1}\n', [{"a": 1}]),
        ("pair.jsonl", b'{"a":"\\ud83d\\ude00"}\n', [{"a": "\U0001f600"}]),
    ],
)
def test_a_sound_file_is_read_as_it_is(tmp_path: Path, name: str, data: bytes, rows: list[dict[str, object]]) -> None:
    assert read_table(write(tmp_path, name, data)).to_dicts() == rows


@pytest.mark.parametrize("escape", [b"\\ud83d", b"\\ude00", b"\\ud83d\\ud83d"])
def test_half_an_emoji_in_json_stays_visible_as_damage(tmp_path: Path, escape: bytes) -> None:
    text = read_table(write(tmp_path, "half.jsonl", b'{"a":"x' + escape + b'y"}\n'))["a"][0]
    assert text.startswith("x")
    assert text.endswith("y")
    assert set(text[1:-1]) == {"\ufffd"}


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("many-cells.csv", b"a,b\n1,2\n3,4,5\n", "row 2: 3 cells where the header has 2"),
        ("latin-1.csv", b"a,b\n1,\xe9\n", "line 2, byte 3: not UTF-8"),
        ("utf-16.csv", "a,b\n1,2\n".encode("utf-16"), "line 1, byte 1: not UTF-8"),
        ("open-quote.csv", b'a,b\n1,"x\ny,3\n', "is a quote not closed?"),
        ("twice.csv", b"a,a\n1,2\n", "column 'a' appears twice"),
        ("empty.csv", b"", "the file is empty"),
        ("empty.jsonl", b"\n\n", "the file is empty"),
        ("cut.jsonl", b'{"a":1}\n{"a":\n', "line 2: not JSON"),
        ("list.jsonl", b'{"a":1}\n[1]\n', "line 2: expected a JSON object, found list"),
        ("deep.jsonl", b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}\n", "line 1: nested too deeply"),
        ("nan.jsonl", b'{"a":1}\n{"a":NaN}\n', "line 2: not JSON (it has no NaN)"),
        ("not.parquet", b"PAR1", "not readable as parquet"),
        ("table.xlsx", b"PK", "cannot tell the format"),
    ],
)
def test_a_broken_file_is_one_sentence_with_file_and_place(tmp_path: Path, name: str, data: bytes, says: str) -> None:
    with pytest.raises(InputError) as caught:
        read_table(write(tmp_path, name, data))
    message = str(caught.value)
    assert name in message
    assert says in message
    assert "\n" not in message


@pytest.mark.parametrize("name", ["fewshot_[bold]a b.csv", "what*.csv", "who?.jsonl"])
def test_a_name_with_signs_that_shells_expand_is_only_a_name(tmp_path: Path, name: str) -> None:
    data = b"a\n1\n" if name.endswith("csv") else b'{"a":"1"}\n'
    assert read_table(write(tmp_path, name, data))["a"].to_list() == ["1"]


def test_a_parquet_file_with_brackets_in_its_name_is_read(tmp_path: Path) -> None:
    pl.DataFrame({"a": ["1"]}).write_parquet(tmp_path / "plain.parquet")
    path = (tmp_path / "plain.parquet").rename(tmp_path / "a[b].parquet")
    assert read_table(path)["a"].to_list() == ["1"]


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
def test_a_file_that_may_not_be_read_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path = write(tmp_path, name, b"a\n1\n")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(InputError, match=f"{name}: cannot be read: Permission denied"):
        read_table(path)


def test_a_missing_file_a_folder_and_a_missing_column_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_table(tmp_path / "absent.csv")
    with pytest.raises(InputError, match="is a folder"):
        read_table(tmp_path)
    path = write(tmp_path, "t.csv", b"a,b\n1,2\n")
    with pytest.raises(InputError, match="no column 'c'; it has 'a', 'b'"):
        read_table(path, required=["c"])
    with pytest.raises(InputError, match=r"no column 'z' \(mapped to 'a'\)"):
        read_table(path, mapping={"a": "z"})


def test_a_mapped_column_takes_our_name_and_the_old_bearer_gives_way(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", b"id,doc_id\n1,x\n")
    assert read_table(path, mapping={"id": "doc_id"}).to_dicts() == [{"id": "x"}]


@pytest.mark.parametrize("pairs", [["a"], ["=b"], ["a="], ["a=b", "a=c"]])
def test_a_mapping_that_is_not_one_is_refused(pairs: list[str]) -> None:
    with pytest.raises(InputError, match="--map"):
        parse_mapping(pairs)
