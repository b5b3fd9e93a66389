"""Fragments become sentences, names stay as they are, and cautions name what a command has."""

from __future__ import annotations

import pytest

from mojimeter.ratings import cautions
from mojimeter.report.sentences import names_of, plain_caution, sentence


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ""),
        ("some posts are left out", "Some posts are left out."),
        ("Is it so?", "Is it so?"),
        ("maker/adds words", "Maker/adds words."),
        ("maker/a: 3 of 9 posts", "maker/a: 3 of 9 posts."),
    ],
)
def test_a_fragment_becomes_a_sentence_and_a_name_keeps_its_letters(text: str, said: str) -> None:
    assert sentence(text, {"maker/a", ""}) == said


def test_names_are_those_of_systems_judges_and_raters() -> None:
    run = {"name": "r", "systems": [{"name": "a (zeroshot)", "base": "a", "kin": ["j"]}]}
    study = {"name": "s", "study": {"ranking": [{"system": "b"}], "raters": [{"rater": "anna"}]}}
    assert names_of(run) == {"r", "a (zeroshot)", "a", "j"}
    assert names_of(study) == {"s", "b", "anna"}


def test_every_caution_is_a_sentence_without_an_argument_of_python() -> None:
    found = [value for name, value in vars(cautions).items() if name.isupper() and isinstance(value, str)]
    assert len(found) == 5
    for caution in found:
        said = plain_caution(caution)
        assert said[0].isupper()
        assert said.endswith(".")
        assert "='" not in said
