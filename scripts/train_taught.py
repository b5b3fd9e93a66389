"""Fits ``baseline/taught`` on the starter posts' training part and writes its weights.

    python scripts/train_taught.py [OUT]

Softmax over all emoji with vectors; the target of a post is its different emoji, each an equal share. L-BFGS on the log
loss with an L2 penalty; size and penalty were chosen on the development part (docs/student.md).
"""

from __future__ import annotations

import io
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from mojimeter import emoji
from mojimeter.datasets.starter import read_starter
from mojimeter.models import emoji_vectors
from mojimeter.models.encoder import shared_encoder
from mojimeter.systems.keyword import KeywordEmoji
from mojimeter.systems.nearest import Numbers, log_ranks, similarity
from mojimeter.systems.taught import FILE, keyword_scores

OUT = Path(__file__).resolve().parents[1] / "src" / "mojimeter" / "systems" / "weights" / FILE
SIZE = 192  # principal components of the emoji's vectors
PENALTY = 0.3
BIAS_PENALTY = 0.03
STEPS = 120


def main(out: Path) -> None:
    """Fit, write, and say how large it became."""
    posts = read_starter("starter:train")
    given = [emoji.find(text) for text in posts["text"]]
    texts = [emoji.strip(text).strip() for text, them in zip(posts["text"], given, strict=True) if them]
    weights = fit(texts, [them for them in given if them])
    out.parent.mkdir(parents=True, exist_ok=True)
    write(out, weights)
    print(f"{out.name}\t{len(texts)} posts\tgains {weights['gains'].round(3).tolist()}\t{out.stat().st_size} bytes")


def fit(texts: Sequence[str], given: Sequence[Sequence[str]]) -> dict[str, np.ndarray]:
    """The arrays of the weights' file."""
    inputs = shared_encoder().embed(texts)
    posts = (inputs - emoji_vectors.post_middle()).astype(np.float32)
    spread = float(np.sqrt((posts**2).sum(axis=1).mean()))
    posts /= spread
    vectors = components()
    keyword = KeywordEmoji()
    fixed = [
        -np.broadcast_to(log_ranks(), (len(texts), len(vectors))),
        np.stack([keyword_scores(keyword, {"text": text}) for text in texts]),
        np.stack([similarity(vector) for vector in inputs]),
    ]
    wanted = targets(given)
    known = wanted.sum(axis=1) > 0
    posts, wanted, fixed = posts[known], wanted[known], [one[known] for one in fixed]
    size = posts.shape[1] * SIZE

    def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        now = parameters.astype(np.float32)
        weights, bias, gains = now[:size].reshape(-1, SIZE), now[size:-3], now[-3:]
        logits = (posts @ weights + bias) @ vectors.T
        for gain, one in zip(gains, fixed, strict=True):
            logits += gain * one
        logits -= logits.max(axis=1, keepdims=True)
        powers = np.exp(logits)
        total = powers.sum(axis=1, keepdims=True)
        value = -(wanted * (logits - np.log(total))).sum()
        value += PENALTY * (weights**2).sum() + BIAS_PENALTY * (bias**2).sum()
        off = powers / total - wanted
        moved = off @ vectors
        slopes = [(posts.T @ moved + 2 * PENALTY * weights).ravel(), moved.sum(axis=0) + 2 * BIAS_PENALTY * bias]
        return float(value), np.concatenate([*slopes, [float((off * one).sum()) for one in fixed]]).astype(float)

    start = np.zeros(size + SIZE + 3)
    start[-3] = 0.5
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS}).x.astype(np.float32)
    small, scale = emoji_vectors.quantize(vectors)
    return {
        "map": (found[:size].reshape(-1, SIZE) / spread).astype(np.float16),
        "bias": found[size:-3],
        "vectors": small,
        "vectors_scale": scale,
        "gains": found[-3:],
    }


def components() -> Numbers:
    """Principal components of the emoji's views, each divided by the root of its spread, mean length 1."""
    views = [emoji_vectors.view(name) for name in emoji_vectors.VIEWS]
    table = np.hstack([view - view.mean(axis=0) for view in views]).astype(np.float64)
    _, axes = np.linalg.eigh(table.T @ table)
    axes = axes[:, ::-1][:, :SIZE]
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(SIZE)])
    scores = table @ axes
    scores /= np.sqrt(scores.std(axis=0))
    return (scores / np.sqrt((scores**2).sum(axis=1).mean())).astype(np.float32)


def targets(given: Sequence[Sequence[str]]) -> Numbers:
    """(posts, emoji): an equal share to each different emoji of a post."""
    out = np.zeros((len(given), len(emoji_vectors.table())), np.float32)
    for post, them in enumerate(given):
        rows = {row for one in them if (row := emoji_vectors.row_of(one)) is not None}
        for row in rows:
            out[post, row] = 1 / len(rows)
    return out


def write(out: Path, arrays: dict[str, np.ndarray]) -> None:
    """What ``numpy.savez_compressed`` writes, with a fixed time in each entry: equal weights are equal files."""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, array in arrays.items():
            content = io.BytesIO()
            np.lib.format.write_array(content, np.asarray(array), allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content.getvalue())


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else OUT)
