"""The student judge: linear heads on a sentence embedding of the text and a look-up for each emoji.

For a task with labels l, a post with text t and emoji e_1 .. e_n (D of them different) has the logits

    b_l + w_l . E5(t) + sum_i u_l(e_i) sqrt(D) / n + c_l . counts

where u_l(e) is a number from a shipped table: the head's weights times the vectors of the emoji's name, keywords and
sign, so an emoji that no training post had is read by what Unicode calls it. Text and emoji are apart: a text is
embedded once, and judging a further system costs look-ups. Probabilities are the softmax of the logits over
a temperature fitted on held-out posts. Predicts only: fitting is ``judges.fitting``. Knows nothing of metrics.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mojimeter import emoji
from mojimeter.errors import InputError
from mojimeter.judges.labels import LABELS

PREFIX: Final = "student/"
SHIPPED: Final = ("starter",)
FORMAT: Final = 1
TASKS: Final = tuple(LABELS)
#: none, three or more, one of them twice
COUNTS: Final = 3
_FOLDED: Final[tuple[emoji.Level, ...]] = ("tone", "gender")

Numbers = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Head:
    """One task's weights.

    Attributes:
        labels: k labels, a subset of the task's where the training posts had no more.
        text: (384, k), for the embedding.
        emoji: (rows, k), for each emoji of the student's table.
        counts: (3, k).
        bias: (k,).
        temperature: what logits are divided by before the softmax.
    """

    labels: tuple[str, ...]
    text: Numbers
    emoji: Numbers
    counts: Numbers
    bias: Numbers
    temperature: float


class StudentJudge:
    """A judge that needs no calls: it always gives each task a label.

    Attributes:
        name: as given on the command line.
        digest: 12 hexadecimal digits of the weights' file.
        heads: task -> weights.
        quality: what was measured of it, as stored with its weights.
    """

    def __init__(
        self, name: str, digest: str, table: Sequence[str], heads: Mapping[str, Head], quality: Mapping[str, Any]
    ) -> None:
        self.name, self.digest, self.heads, self.quality = name, digest, dict(heads), dict(quality)
        self._rows = {one: row for row, one in enumerate(table)}

    def label(
        self, texts: Sequence[str], emoji_of: Sequence[Sequence[str]] | None = None
    ) -> dict[str, list[str | None]]:
        """One column a task: the label of each text.

        Args:
            texts: posts with their emoji; without them where ``emoji_of`` is given.
            emoji_of: the emoji of each post, in any order.

        Raises:
            MissingExtraError: the encoder is not installed.
        """
        columns: dict[str, list[str | None]] = {}
        for task, logits in self._logits(texts, emoji_of).items():
            labels = self.heads[task].labels
            columns[task] = [labels[best] for best in logits.argmax(axis=1)]
        return columns

    def probabilities(
        self, texts: Sequence[str], emoji_of: Sequence[Sequence[str]] | None = None
    ) -> dict[str, Numbers]:
        """Task -> (texts, labels) calibrated probabilities, columns in the order of ``heads[task].labels``."""
        return {
            task: softmax(logits / self.heads[task].temperature)
            for task, logits in self._logits(texts, emoji_of).items()
        }

    def _logits(self, texts: Sequence[str], emoji_of: Sequence[Sequence[str]] | None) -> dict[str, Numbers]:
        from mojimeter.models.encoder import shared_encoder

        given = [emoji.find(text) for text in texts] if emoji_of is None else [list(them) for them in emoji_of]
        plain = [plain_text(text) for text in texts]
        vectors = shared_encoder().embed(plain)
        rows, weights, owners = self._bags(given)
        counts = count_features(given)
        logits = {}
        for task, head in self.heads.items():
            logits[task] = vectors @ head.text + counts @ head.counts + head.bias
            np.add.at(logits[task], owners, head.emoji[rows] * weights[:, None])
        return logits

    def _bags(self, given: Sequence[Sequence[str]]) -> tuple[NDArray[np.int64], Numbers, NDArray[np.int64]]:
        """All emoji of all posts as (row of the table, weight, post)."""
        rows: list[int] = []
        weights: list[float] = []
        owners: list[int] = []
        for post, them in enumerate(given):
            known = [row for one in them if (row := self._row(one)) is not None]
            rows += known
            weights += [bag_weight(known)] * len(known)
            owners += [post] * len(known)
        return np.array(rows, np.int64), np.array(weights, np.float32), np.array(owners, np.int64)

    def _row(self, one: str) -> int | None:
        for level in _FOLDED:
            row = self._rows.get(emoji.key(one, level))
            if row is not None:
                return row
        return None


def load_student(name: str) -> StudentJudge:
    """``student/starter``, or ``student/`` and the path of an ``.npz`` file that ``judge train`` made.

    Raises:
        InputError: no such student, or a file that does not hold one.
    """
    which = name.removeprefix(PREFIX)
    if which in SHIPPED:
        return _shipped(which)
    path = Path(which)
    if path.suffix != ".npz":
        raise InputError(f"no judge {name!r}; expected {PREFIX}{SHIPPED[0]} or {PREFIX}FILE.npz")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: the judge cannot be read: {error.strerror}") from None
    return read_student(content, name, str(path))


def quality(name: str = "student/starter") -> dict[str, Any]:
    """What was measured of a student when it was fitted, to be printed beside every score it gives."""
    return load_student(name).quality


def read_student(content: bytes, name: str, where: str) -> StudentJudge:
    """A student from the bytes of its file.

    Raises:
        InputError: they do not hold one.
    """
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            about = json.loads(str(arrays["about"]))
            if about["format"] != FORMAT:
                raise InputError(f"{where}: a judge of format {about['format']}; this version reads {FORMAT}")
            table = [str(one) for one in arrays["table"]]
            heads = {
                task: _head(task, about["heads"][task], arrays, len(table)) for task in TASKS if task in about["heads"]
            }
    except (ValueError, KeyError, TypeError, OSError, EOFError, zipfile.BadZipFile) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{where}: not a judge that judge train made ({error})") from None
    if set(heads) != set(TASKS):
        raise InputError(f"{where}: it judges {', '.join(heads) or 'nothing'}; expected {', '.join(TASKS)}")
    return StudentJudge(name, hashlib.sha256(content).hexdigest()[:12], table, heads, about["quality"])


def write_student(table: Sequence[str], heads: Mapping[str, Head], quality: Mapping[str, Any]) -> bytes:
    """The bytes of a student's file; the same student gives the same bytes."""
    about = {
        "format": FORMAT,
        "heads": {
            t: {"labels": list(head.labels), "temperature": round(head.temperature, 4)} for t, head in heads.items()
        },
        "quality": quality,
    }
    arrays: dict[str, NDArray[Any]] = {
        "about": np.array(json.dumps(about, ensure_ascii=False)),
        "table": np.array(list(table)),
    }
    for task, head in heads.items():
        arrays[f"{task}_text"] = head.text.astype(np.float16)
        arrays[f"{task}_emoji"] = head.emoji.astype(np.float16)
        arrays[f"{task}_counts"] = head.counts.astype(np.float32)
        arrays[f"{task}_bias"] = head.bias.astype(np.float32)
    return _npz(arrays)


def plain_text(text: str) -> str:
    """What is embedded of a post."""
    return emoji.strip(text).strip()


def count_features(given: Sequence[Sequence[str]]) -> Numbers:
    """(posts, 3): no emoji at all, three or more, one of them twice."""
    rows = [[len(them) == 0, len(them) >= 3, len(set(them)) < len(them)] for them in given]
    return np.array(rows, np.float32).reshape(len(rows), COUNTS)


def bag_weight(rows: Sequence[int]) -> float:
    """What each emoji of a post counts: their mean, times the root of how many are different.

    Between the mean, for which two emoji say no more than one, and the sum, for which ten times the same say ten
    times as much.
    """
    return float(np.sqrt(len(set(rows))) / len(rows)) if rows else 0.0


def softmax(logits: Numbers) -> Numbers:
    """Rows of probabilities."""
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True), dtype=np.float32)


@lru_cache(maxsize=len(SHIPPED))
def _shipped(which: str) -> StudentJudge:
    source = files("mojimeter.judges") / "weights" / f"{which}.npz"
    return read_student(source.read_bytes(), PREFIX + which, f"{which}.npz")


def _head(task: str, about: Mapping[str, Any], arrays: Any, rows: int) -> Head:
    labels = tuple(str(label) for label in about["labels"])
    if not labels or not set(labels) <= set(LABELS[task]):
        raise ValueError(f"{task}: labels {', '.join(labels) or 'none'}")
    temperature = float(about["temperature"])
    if not 0 < temperature < float("inf"):
        raise ValueError(f"{task}: temperature {temperature}")
    from mojimeter.models.encoder import DIMENSIONS

    shapes = {"text": (DIMENSIONS, len(labels)), "emoji": (rows, len(labels)), "counts": (COUNTS, len(labels))}
    shapes |= {"bias": (len(labels),)}  # type: ignore[dict-item]
    found = {}
    for part, shape in shapes.items():
        array = np.asarray(arrays[f"{task}_{part}"], dtype=np.float32)
        if array.shape != shape or not np.isfinite(array).all():
            raise ValueError(f"{task}_{part}: expected finite numbers of shape {shape}")
        found[part] = array
    return Head(labels, found["text"], found["emoji"], found["counts"], found["bias"], temperature)


def _npz(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """What ``numpy.savez_compressed`` writes, with a fixed time in each entry."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, array in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            content = io.BytesIO()
            np.lib.format.write_array(content, np.asarray(array), allow_pickle=False)
            archive.writestr(entry, content.getvalue())
    return packed.getvalue()
