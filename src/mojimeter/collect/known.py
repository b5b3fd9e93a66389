"""Training and attention items: a small set that ships, and reading one's own from a file.

The set is written for this project, in English. Training items show the two ends of the scale with a word on what was
expected; attention items say themselves which answer is right, and instructions say that there are some. Knows forms
and fields; nothing of studies that exist.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from mojimeter.collect.material import Cell
from mojimeter.collect.payloads import FIELDS, OPTIONAL
from mojimeter.collect.study import Form, StudyConfig
from mojimeter.errors import InputError

HIGH: Final = "high"
LOW: Final = "low"
# Where on the scale the answers are that attention items ask for: all over it, in no obvious order.
_PLACES: Final = (0.3, 0.8, 0.1, 0.6, 0.95, 0.45, 0.2, 0.7, 0.55, 0.05)

_TRAINING: Final[Mapping[Form, tuple[tuple[dict[str, str], str, str], ...]]] = {
    "scale": (
        (
            {"post": "We won the final, in the last minute!", "text": "We won the final, in the last minute! 🎉🏆"},
            HIGH,
            "The emoji fit what is said and how it is said: a number near the upper end was expected here.",
        ),
        (
            {"post": "My grandmother died this morning.", "text": "My grandmother died this morning. 😂🍕"},
            LOW,
            "Laughter and pizza go against what is said: a number near the lower end was expected here.",
        ),
    ),
    "keeps": (
        (
            {"original": "Finally Friday, see you at the beach 😎", "text": "Finally Friday, see you at the beach 🏖️😊"},
            "yes",
            "The emoji are others, but the mood and what is said stay the same: yes was expected here.",
        ),
        (
            {"original": "Great, the train is late again 🙄", "text": "Great, the train is late again 🥳"},
            "no",
            "The original is annoyed; with the party face it becomes glad. No was expected here.",
        ),
    ),
    "verdict": (
        (
            {
                "context": "Mia has just heard that she got the job.",
                "text": "I can't believe it 😭",
                "question": "Why the 😭?",
                "reference": "She is overwhelmed with joy.",
                "answer": "She is crying because she is so happy.",
            },
            "right",
            "Other words, but the same as the reference: right was expected here.",
        ),
        (
            {
                "context": "Mia has just heard that she did not get the job.",
                "text": "I can't believe it 😭",
                "question": "Why the 😭?",
                "reference": "She is sad.",
                "answer": "She is crying because she is so happy.",
            },
            "wrong",
            "The context says that she did not get the job, so joy is wrong: wrong was expected here.",
        ),
    ),
    "answer": (
        (
            {
                "context": "Tom has just dropped his phone into the lake.",
                "text": "best day ever 🙃",
                "question": "Why the 🙃?",
            },
            "He means the opposite of what he writes.",
            "A few words are enough, for instance: he means the opposite of what he writes.",
        ),
        (
            {
                "context": "Tom is hanging upside down from a climbing wall, for the first time.",
                "text": "best day ever 🙃",
                "question": "Why the 🙃?",
            },
            "He is hanging upside down.",
            "The context decides. For instance: he is hanging upside down.",
        ),
    ),
}


def shipped_training(config: StudyConfig) -> list[Cell]:
    """The two training items of this form that ship."""
    ends = {HIGH: str(config.scale.points), LOW: "1"}
    return [
        Cell(None, "", fields, "training", "en", ends.get(expected, expected), feedback)
        for fields, expected, feedback in _TRAINING[config.form]
    ]


def shipped_checks(config: StudyConfig) -> list[Cell]:
    """Attention items: each says which answer to give."""
    values = config.values() or ("check", "seen", "here", "yes", "read")
    asked = [values[int(place * len(values))] for place in _PLACES]
    return [Cell(None, "", _check(config.form, value), "attention", "en", value) for value in asked]


def _check(form: Form, value: str) -> dict[str, str]:
    what = f"please write the word {value}" if form == "answer" else f"please choose {value}"
    text = f"This item checks that items are read: {what}."
    match form:
        case "scale":
            return {"text": text}
        case "keeps":
            return {"original": text, "text": text}
        case "verdict":
            return {"text": text, "question": "Which answer is asked for?", "reference": value, "answer": text}
        case "answer":
            return {"text": text, "question": "Which word is asked for?"}


def read_known(path: str | Path, config: StudyConfig) -> list[Cell]:
    """Training and attention items from a table.

    Columns: the form's fields, ``expected``, and optionally ``feedback``, ``lang`` and ``part`` (training or
    attention; training by default).

    Raises:
        InputError: the file cannot be read, a column or cell is missing, or a value is none of the form's.
    """
    from mojimeter.datasets.tables import read_table

    fields = FIELDS[config.form]
    required = [name for name in fields if name not in OPTIONAL]
    frame = read_table(path, required=[*required, "expected"])
    cells = []
    for number, row in enumerate(frame.iter_rows(named=True), 1):
        where = f"{path}, row {number}"
        texts = {name: _text(row.get(name)) for name in fields}
        for name in required:
            if not texts[name]:
                raise InputError(f"{where}, column {name!r}: empty")
        part = _text(row.get("part")) or "training"
        if part not in ("training", "attention"):
            raise InputError(f"{where}, column 'part': {part!r}; expected training or attention")
        expected = config.check_value(_text(row["expected"]))
        if expected is None:
            wanted = ", ".join(config.values()) or "a text"
            raise InputError(f"{where}, column 'expected': {row['expected']!r}; expected {wanted}")
        cell = Cell(
            None,
            "",
            {k: v for k, v in texts.items() if v},
            "training",
            _text(row.get("lang")) or config.language,
            expected,
            _text(row.get("feedback")) or None,
        )
        cells.append(cell if part == "training" else replace(cell, kind="attention", feedback=None))
    return cells


def _text(value: Any) -> str:
    return "" if value is None else str(value).strip()
