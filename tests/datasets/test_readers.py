"""Posts, outputs and labels: the canonical tables, and rows that are not."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from mojimeter.datasets.readers import read_labels, read_outputs, read_posts
from mojimeter.datasets.records import LABEL_COLUMNS, OUTPUT_COLUMNS, split_strategy
from mojimeter.errors import InputError, MissingExtraError


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_gold_emoji_are_taken_out_of_the_text_and_kept_in_order(tmp_path: Path) -> None:
    posts = read_posts(write(tmp_path, "p.csv", "id,text,mood\n1,so 😂 good 🎉🎉,up\n2,no emoji,down\n"))
    assert posts["original"].to_list() == ["so 😂 good 🎉🎉", "no emoji"]
    assert posts["emoji"].to_list() == [["😂", "🎉", "🎉"], []]
    assert posts["text"][1] == "no emoji"
    assert "😂" not in posts["text"][0]
    assert posts["author"].to_list() == [None, None]
    assert posts["mood"].to_list() == ["up", "down"]
    assert not posts["leaked"].any()


def test_gold_emoji_given_beside_a_plain_text_are_joined_and_a_leak_is_marked(tmp_path: Path) -> None:
    posts = read_posts(write(tmp_path, "p.csv", "id,text,emoji\n1,well done,👏👏\n2,ha 😂,😂\n3,nothing,\n"))
    assert posts["original"].to_list() == ["well done 👏👏", "ha 😂", "nothing "]
    assert posts["emoji"].to_list() == [["👏", "👏"], ["😂"], []]
    assert posts["leaked"].to_list() == [False, True, False]


def test_gold_emoji_as_a_list_are_read_too(tmp_path: Path) -> None:
    posts = read_posts(write(tmp_path, "p.jsonl", '{"id":1,"text":"yes","emoji":["👍","🎉"]}\n'))
    assert posts["emoji"].to_list() == [["👍", "🎉"]]
    assert posts["id"].to_list() == ["1"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("text\nx\n", "no column 'id'"),
        ("id,text\n", "no rows"),
        ("id,text\n1,a\n,b\n", "row 2, column 'id': empty"),
        ("id,text\n1,a\n2,\n", "row 2, column 'text': empty"),
        ("id,text\n1,a\n2,b\n1,c\n", "row 3: id '1' again; it was in row 1"),
    ],
)
def test_a_wrong_row_of_posts_is_named(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InputError) as caught:
        read_posts(write(tmp_path, "p.csv", text))
    assert says in str(caught.value)
    assert "p.csv" in str(caught.value)


def test_one_file_a_system_takes_its_name_and_strategy_from_the_stem(tmp_path: Path) -> None:
    a = write(tmp_path, "fewshot_gpt-4o.csv", "id,reply\n1,🎉\n2,\n")
    b = write(tmp_path, "my_model.csv", "id,reply,tokens\n1,🎂,4\n")
    outputs = read_outputs([a, b])
    assert tuple(outputs.columns) == OUTPUT_COLUMNS
    assert outputs["system"].to_list() == ["gpt-4o", "gpt-4o", "my_model"]
    assert outputs["strategy"].to_list() == ["fewshot", "fewshot", None]
    assert outputs["reply"].to_list() == ["🎉", None, "🎂"]
    assert outputs["epoch"].to_list() == [1, 1, 1]
    assert outputs["tokens"].to_list() == [None, None, 4.0]


def test_a_prefix_that_is_no_strategy_belongs_to_the_name() -> None:
    assert split_strategy("conditional_x_y") == ("conditional", "x_y")
    assert split_strategy("my_model") == (None, "my_model")
    assert split_strategy("zeroshot_") == (None, "zeroshot_")


def test_the_same_post_twice_is_refused_within_a_file_and_across_files(tmp_path: Path) -> None:
    twice = write(tmp_path, "m.csv", "id,reply\n1,🎉\n1,🎂\n")
    with pytest.raises(InputError, match=r"row 2: id '1', system 'm', epoch 1 again; it was in row 1"):
        read_outputs([twice])
    a = write(tmp_path, "a.csv", "id,system,reply\n1,s,🎉\n")
    b = write(tmp_path, "b.csv", "id,system,reply\n1,s,🎂\n")
    with pytest.raises(InputError, match=r"b\.csv: id '1', system 's', epoch 1 is also in .*a\.csv"):
        read_outputs([a, b])
    epochs = write(tmp_path, "e.csv", "id,reply,epoch\n1,🎉,1\n1,🎂,2\n")
    assert read_outputs([epochs]).height == 2


def test_a_number_that_is_none_is_named_with_row_and_column(tmp_path: Path) -> None:
    path = write(tmp_path, "m.csv", "id,reply,epoch\n1,🎉,1\n2,🎂,two\n")
    with pytest.raises(InputError, match="row 2, column 'epoch': expected a whole number, found 'two'"):
        read_outputs([path])


def test_labels_keep_their_strings_and_absent_tasks_are_null(tmp_path: Path) -> None:
    labels = read_labels([write(tmp_path, "l.csv", "id,system,judge,sentiment\n1,gold,j,Positive\n1,s,j,\n")])
    assert tuple(labels.columns) == LABEL_COLUMNS
    assert labels["sentiment"].to_list() == ["Positive", None]
    assert labels["emotion"].to_list() == [None, None]


def test_labels_without_a_task_or_a_judge_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected one or more of sentiment, emotion"):
        read_labels([write(tmp_path, "l.csv", "id,system,judge\n1,gold,j\n")])
    with pytest.raises(InputError, match="no column 'judge'"):
        read_labels([write(tmp_path, "k.csv", "id,system,sentiment\n1,gold,positive\n")])


AUTHOR = '<author lang="en"><documents><document><![CDATA[{}]]></document><document> </document></documents></author>'


def test_a_pan_2018_folder_gives_authors_languages_and_genders(tmp_path: Path) -> None:
    write(tmp_path, "en/text/aa.xml", AUTHOR.format("love & <3 😍"))
    write(tmp_path, "en/text/bb.xml", AUTHOR.format("ok"))
    write(tmp_path, "en/truth.txt", "aa:::female\n")
    posts = read_posts(tmp_path)
    assert posts.select("id", "author", "lang", "gender", "original").rows() == [
        ("aa-0", "aa", "en", "female", "love & <3 😍"),
        ("bb-0", "bb", "en", None, "ok"),
    ]


@pytest.mark.parametrize(
    ("xml", "says"),
    [
        ('<!DOCTYPE a [<!ENTITY x "y">]><author/>', "entity declaration"),
        ("<author><documents>", "line 1: not XML"),
        ("<html/>", "expected the element 'author'"),
        ("<author/>", "no document"),
    ],
)
def test_an_author_file_that_is_not_the_corpus_is_refused(tmp_path: Path, xml: str, says: str) -> None:
    write(tmp_path, "aa.xml", xml)
    with pytest.raises(InputError, match=says):
        read_posts(tmp_path)


def test_a_truth_line_that_is_none_is_named(tmp_path: Path) -> None:
    write(tmp_path, "aa.xml", AUTHOR.format("x"))
    write(tmp_path, "truth.txt", "aa:::female\nbb:other\n")
    with pytest.raises(InputError, match=r"truth\.txt, line 2: expected AUTHOR:::male"):
        read_posts(tmp_path)


def test_the_hub_without_its_library_names_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'mojimeter\[hub\]'"):
        read_posts("hf:owner/name")


def test_a_hub_data_set_is_read_by_name_and_split_and_given_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []

    def load_dataset(name: str, split: str) -> SimpleNamespace:
        asked.append((name, split))
        if name == "owner/absent":
            raise FileNotFoundError("Couldn't find any data file\nat somewhere")
        return SimpleNamespace(to_polars=lambda: pl.DataFrame({"tweet": ["hi 😀", "yo"]}))

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    posts = read_posts("hf:owner/name@train", {"text": "tweet"})
    assert asked == [("owner/name", "train")]
    assert posts["id"].to_list() == ["0", "1"]
    assert posts["emoji"].to_list() == [["😀"], []]
    with pytest.raises(InputError, match="hf:owner/absent: Couldn't find any data file"):
        read_posts("hf:owner/absent")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"id":1,"text":["a"]}', "column 'text': expected text in every row, found lists"),
        ('{"id":{"a":1},"text":"a"}', "column 'id': expected text in every row, found objects"),
        ('{"id":1,"text":"a","author":[1]}', "column 'author': expected text in every row, found lists"),
        ('{"id":1,"text":"a","emoji":{"a":1}}', "column 'emoji': expected text in every row, found objects"),
        ('{"id":"","text":"a"}', "row 1, column 'id': empty"),
        ('{"id":" ","text":"a"}', "row 1, column 'id': empty"),
    ],
)
def test_a_cell_that_is_no_text_is_named(tmp_path: Path, line: str, says: str) -> None:
    with pytest.raises(InputError) as caught:
        read_posts(write(tmp_path, "p.jsonl", line + "\n"))
    assert says in str(caught.value)


def test_whole_numbers_that_came_as_floats_are_the_same_ids(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    pl.DataFrame({"id": [1.0, 2.5], "text": ["a", "b"]}).write_parquet(path)
    assert read_posts(path)["id"].to_list() == ["1", "2.5"]


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("1,gold,x,1,1", "a system is called 'gold'"),
        ("1, ,x,1,1", "row 1, column 'system': empty"),
        ("1,m,x,-3,1", "row 1, column 'tokens': expected 0 or more, found -3.0"),
        ("1,m,x,3,inf", "row 1, column 'seconds': expected 0 or more, found inf"),
    ],
)
def test_a_row_of_outputs_that_would_mislead_is_named(tmp_path: Path, row: str, says: str) -> None:
    with pytest.raises(InputError) as caught:
        read_outputs([write(tmp_path, "o.csv", f"id,system,reply,tokens,seconds\n{row}\n")])
    assert says in str(caught.value)


def test_a_task_that_only_the_originals_have_is_refused_rather_than_scored_as_lost(tmp_path: Path) -> None:
    gold = write(tmp_path, "gold.csv", "id,system,judge,sentiment,stance\n1,gold,j,positive,none\n")
    short = write(tmp_path, "m.csv", "id,system,judge,sentiment\n1,m,j,positive\n")
    other = write(tmp_path, "k.csv", "id,system,judge,sentiment\n1,m,k,positive\n")
    with pytest.raises(InputError, match=r"m.csv: no column 'stance', for which .*gold.csv has labels"):
        read_labels([gold, short])
    assert read_labels([gold, other]).height == 2  # another judge may label fewer tasks
    assert read_labels([write(tmp_path, "g.csv", "id,system,judge,age\n1,gold,q,teen\n"), other]).height == 2
