"""A Hugging Face text-classification model as a judge; the model is made here, tiny, taught five words."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from mojimeter.errors import InputError, MojimeterError
from mojimeter.judges.classifier import load_classifier, match_labels
from mojimeter.judges.labels import LABELS

needs_transformers = pytest.mark.skipif(
    find_spec("transformers") is None or find_spec("torch") is None,
    reason="transformers and torch are not installed (pip install transformers torch)",
)
WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "good", "bad", "plain", "day", "😀", "😢")


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A one-layer BERT that says positive for "good" and 😀, negative for "bad" and 😢, neutral for "plain"."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    torch.manual_seed(0)
    vocabulary = tmp_path / "vocab.txt"
    vocabulary.write_text("\n".join(WORDS), encoding="utf-8")
    config = BertConfig(
        vocab_size=len(WORDS),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
        max_position_embeddings=16,
        id2label={0: "NEGATIVE", 1: "NEUTRAL", 2: "POSITIVE"},
        label2id={"NEGATIVE": 0, "NEUTRAL": 1, "POSITIVE": 2},
    )
    model = BertForSequenceClassification(config)
    _teach(model, torch)
    folder = tmp_path / "tiny"
    model.save_pretrained(folder)
    BertTokenizer(str(vocabulary)).save_pretrained(folder)
    return folder


def _teach(model: Any, torch: Any) -> None:
    tokens = {word: number for number, word in enumerate(WORDS)}
    texts = [("good", 2), ("bad", 0), ("plain", 1), ("😀", 2), ("😢", 0)]
    rows = [[tokens["[CLS]"], tokens[word], tokens["[SEP]"]] for word, _ in texts]
    goal = torch.tensor([label for _, label in texts])
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    model.eval()  # without dropout five words are learnt by heart
    for _ in range(1000):
        optimiser.zero_grad()
        loss = model(input_ids=torch.tensor(rows), labels=goal).loss
        loss.backward()
        optimiser.step()
        if float(loss.detach()) < 0.01:
            return
    raise AssertionError(f"the tiny model did not learn its words (loss {float(loss):.2f})")


@needs_transformers
def test_a_folder_with_a_model_labels_the_task_its_labels_are_of_and_no_other(tiny: Path) -> None:
    judge = load_classifier(f"hf-classifier/{tiny}")
    found = judge.label(["good", "bad", "plain", "😢", "😀"])
    assert judge.task == "sentiment"
    assert found["sentiment"] == ["positive", "negative", "neutral", "negative", "positive"]
    assert set(found) == set(LABELS)
    assert found["gender"] == [None] * 5


@needs_transformers
def test_texts_longer_than_the_model_reads_are_cut_and_not_an_error(tiny: Path) -> None:
    judge = load_classifier(f"hf-classifier/{tiny}")
    assert judge.label(["good " * 500])["sentiment"] == ["positive"]
    assert judge.label([])["sentiment"] == []


@needs_transformers
def test_labels_that_say_nothing_can_be_told_and_change_the_digest(tiny: Path) -> None:
    config = json.loads((tiny / "config.json").read_text(encoding="utf-8"))
    config["id2label"] = {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"}
    config["label2id"] = {"LABEL_0": 0, "LABEL_1": 1, "LABEL_2": 2}
    before = load_classifier(f"hf-classifier/{tiny}").digest
    (tiny / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(InputError, match="do not say which task"):
        load_classifier(f"hf-classifier/{tiny}")
    judge = load_classifier(f"hf-classifier/{tiny}?task=gender&LABEL_0=male&LABEL_2=female")
    assert judge.label(["bad", "good", "plain"])["gender"] == ["male", "female", None]
    assert judge.digest != before
    assert len(judge.digest) == 12


@needs_transformers
def test_the_accuracy_command_runs_it(tiny: Path, tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from mojimeter.cli.app import app

    posts = tmp_path / "posts.csv"
    posts.write_text("id,text,sentiment\na,good 😀,positive\nb,bad 😢,negative\nc,plain,negative\n", encoding="utf-8")
    done = CliRunner().invoke(
        app, ["judge", "accuracy", str(posts), "--judge", f"hf-classifier/{tiny}", "--json"], catch_exceptions=False
    )
    document = json.loads(done.stdout)
    (found,) = document["judges"].values()
    assert found["sentiment"]["accuracy"]["value"] == pytest.approx(2 / 3)


@needs_transformers
def test_a_folder_without_a_model_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be loaded"):
        load_classifier(f"hf-classifier/{tmp_path}")


@pytest.mark.skipif(find_spec("transformers") is not None, reason="transformers is installed")
def test_without_transformers_the_sentence_says_what_to_install() -> None:
    with pytest.raises(MojimeterError, match="pip install transformers torch"):
        load_classifier("hf-classifier/some/model")


def test_label_names_say_their_task() -> None:
    assert match_labels("m", ["negative", "neutral", "positive"])[0] == "sentiment"
    task, labels = match_labels("m", ["anger", "disgust", "fear", "joy", "neutral", "sadness", "surprise"])
    assert task == "emotion"
    assert labels["joy"] == "happiness"
    assert "neutral" not in labels
    assert match_labels("m", ["Female", "Male"]) == ("gender", {"Female": "female", "Male": "male"})


@pytest.mark.parametrize(
    ("theirs", "task", "told", "says"),
    [
        (["LABEL_0", "LABEL_1"], None, {}, "do not say which task"),
        (["a", "b"], "gender", {"c": "male"}, "no label 'c'"),
        (["a", "b"], "gender", {"a": "teen"}, "expected a label of gender"),
    ],
)
def test_labels_that_fit_no_task_are_refused(
    theirs: list[str], task: str | None, told: dict[str, str], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        match_labels("m", theirs, task, told)


def test_a_task_there_is_none_of_is_refused_before_anything_is_loaded() -> None:
    with pytest.raises(InputError, match="no task 'colour'"):
        load_classifier("hf-classifier/some/model?task=colour")
