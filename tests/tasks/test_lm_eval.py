"""Sample files of the LM Evaluation Harness, in the form that its ``--log_samples`` writes (lm-eval 0.4)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mojimeter.datasets.lm_eval import read_samples
from mojimeter.errors import InputError


def write(path: Path, *samples: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(sample) + "\n" for sample in samples), encoding="utf-8")
    return path


def sample(doc_id: int, resps: Any, filtered: Any = None, doc: Any = None, filter_: str = "none") -> dict[str, Any]:
    return {
        "doc_id": doc_id,
        "doc": doc or {"text": "x"},
        "target": "",
        "arguments": {"gen_args_0": {"arg_0": "x"}},
        "resps": resps,
        "filtered_resps": filtered if filtered is not None else resps,
        "filter": filter_,
    }


def test_replies_come_with_the_models_name_from_the_folder(tmp_path: Path) -> None:
    path = tmp_path / "org__model-7b" / "samples_emoji_2026-01-01T00-00-00.jsonl"
    write(path, sample(0, [["🎉🎂"]], ["🎉🎂"], {"id": "p7"}), sample(1, [["no\ud83d"]], ["no\ud83d"]))
    outputs = read_samples(path)
    assert outputs.select("id", "system", "epoch", "reply").rows() == [
        ("p7", "org/model-7b", 1, "🎉🎂"),
        ("1", "org/model-7b", 1, "no\ufffd"),
    ]


def test_repeats_are_epochs_and_a_filter_that_folds_them_is_undone(tmp_path: Path) -> None:
    path = write(tmp_path / "m" / "samples_emoji_x.jsonl", sample(0, [["a", "b"]], ["a"]))
    assert read_samples(path, system="me").select("system", "epoch", "reply").rows() == [("me", 1, "a"), ("me", 2, "b")]


def test_of_several_filters_the_first_counts(tmp_path: Path) -> None:
    path = tmp_path / "m" / "samples_emoji_x.jsonl"
    write(path, sample(0, [["a b"]], ["a"], filter_="first"), sample(0, [["a b"]], ["b"], filter_="last"))
    assert read_samples(path)["reply"].to_list() == ["a"]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("nonsense", "line 1: not JSON"),
        ('{"doc_id": 1, "resps": ' + "[" * 9000 + "]" * 9000 + "}", "line 1: nested too deeply"),
        ('{"a": 1}', "line 1: not a sample of lm-eval"),
        (json.dumps(sample(0, [[-1.5, False]], [[-1.5, False]])), "only generation tasks"),
        ("", "no samples"),
    ],
)
def test_what_is_no_generation_sample_is_one_sentence(tmp_path: Path, line: str, sentence: str) -> None:
    path = tmp_path / "samples_x.jsonl"
    path.write_text(line + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=sentence):
        read_samples(path)
