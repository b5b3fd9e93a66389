"""study.toml: what is written is read back, and what cannot be is said by name."""

from __future__ import annotations

import stat
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mojimeter.collect.study import Limits, Scale, StudyConfig, as_study, read_study, to_toml, write_study
from mojimeter.errors import InputError
from tests.collect.small import small_study

CONFIG = StudyConfig(title="Emoji", form="scale", question="How good?")
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=60)


def read(text: str) -> StudyConfig:
    import tomllib

    return as_study(tomllib.loads(text), "study.toml")


@given(TEXTS.filter(str.strip), TEXTS, TEXTS, st.integers(2, 11), st.floats(0, 0.5), st.booleans())
@settings(max_examples=80, deadline=None)
def test_settings_are_read_back_as_they_were_written(
    title: str, instructions: str, label: str, points: int, repeats: float, keyboard: bool
) -> None:
    config = replace(
        CONFIG,
        title=title,
        instructions=instructions,
        scale=Scale(points, label, "high", tuple(f"{label}{k}" for k in range(points))),
        limits=Limits(5000, 77),
        repeats=repeats,
        keyboard=keyboard,
        consent=f'"""{instructions}\\',
        database_url="env:X",
        words={"start_button": 'Los "geht\'s" 😀'},
    )
    assert read(to_toml(config)) == config


def test_every_setting_has_a_comment_or_a_name_that_says_it() -> None:
    lines = to_toml(CONFIG).splitlines()
    bare = {"title", "contact", "points", "low", "high", "[scale]", "[limits]", "[database]", "[words]"}
    for before, line in pairwise(lines):
        name = line.partition(" =")[0]
        if " = " in line and not line.startswith("#") and name not in bare:
            assert before.startswith("#"), line


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"title is 'nothing'; expected text"),
        ('title = "t"', r"form is 'nothing'; expected scale or keeps or verdict or answer"),
        ('title = "t"\nform = "rank"', r"form is 'rank'; expected scale"),
        ('title = "t"\nform = "scale"\nquestion = ""', r"question is ''"),
        ("points = 3", r"points is no setting"),
        ("[scale]\npoints = 1", r"\[scale\] points is 1; expected a whole number from 2 to 11"),
        ("[scale]\npoints = 5.0", r"\[scale\] points is 5.0"),
        ("[scale]\npoints = true", r"\[scale\] points is True"),
        ('[scale]\nlabels = ["a"]', r"\[scale\] labels: 1 for 5 points"),
        ('[scale]\nlabel = "a"', r"\[scale\] label is no setting; expected high, labels, low, points"),
        ("scale = 5", r"scale is 5; expected a table \[scale\]"),
        ("repeats = 0.6", r"repeats is 0.6; expected a share from 0 to 0.5"),
        ("repeats = nan", r"repeats is nan"),
        ('keyboard = "yes"', r"keyboard is 'yes'; expected true or false"),
        ('language = "english please"', r"language is 'english please'; expected a code such as en or hi"),
        ('external_id_parameter = "a b"', r"external_id_parameter is 'a b'; expected a parameter's name"),
        ('design = "latin"', r"design is 'latin'; expected crossed or incomplete or nested"),
        ('withdrawal = "export"', r"withdrawal is 'export'; expected keep_out"),
        ("seed = -1", r"seed is -1"),
        ('[database]\nurl = "postgresql://ann:secret@host/x"', r"\[database\] url holds a password"),
        ('[database]\nurl = "postgresql://ann@host/x?password=secret"', r"\[database\] url holds a password"),
        ('[words]\nno_such_word = "x"', r"\[words\]: there is no string 'no_such_word'"),
        ("[words]\nstart_button = 3", r"words is"),
    ],
)
def test_a_setting_that_cannot_be_is_named_with_what_was_expected(text: str, message: str) -> None:
    whole = 'title = "t"\nform = "scale"\nquestion = "q"\n'
    with pytest.raises(InputError, match=message) as error:
        read(text if text == "" or text.startswith("title") else whole + text)
    assert "secret" not in str(error.value)


def test_a_file_that_is_no_toml_or_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no study\.toml; expected a folder made by mojimeter collect init"):
        read_study(tmp_path)
    (tmp_path / "study.toml").write_text("title = \n")
    with pytest.raises(InputError, match=r"study\.toml: not TOML"):
        read_study(tmp_path)
    (tmp_path / "study.toml").write_bytes(b"title = '\xff'")
    with pytest.raises(InputError, match="not UTF-8"):
        read_study(tmp_path)


def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    write_study(tmp_path, CONFIG)
    with pytest.raises(InputError, match="is there already"):
        write_study(tmp_path, CONFIG)


def test_texts_may_be_edited_at_any_time_but_form_and_scale_never(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    file = study.folder / "study.toml"
    written = file.read_text()
    file.write_text(
        written.replace('low = "very bad"', 'low = "awful"').replace("body_bytes = 65536", "body_bytes = 9000")
    )
    assert study.store().config.scale.low == "awful"
    for old, new in (("points = 5", "points = 7"), ('form = "scale"', 'form = "keeps"')):
        file.write_text(written.replace(old, new))
        with pytest.raises(InputError, match="differ from what the study was made with"):
            study.store()


def test_a_study_can_be_read_by_its_owner_only(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    assert stat.S_IMODE(study.folder.stat().st_mode) == 0o700
    for name in ("ratings.sqlite", "links.csv"):
        assert stat.S_IMODE((study.folder / name).stat().st_mode) == 0o600
