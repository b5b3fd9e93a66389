"""Makes the table of emoji vectors that ships (``models/emoji_vectors.npz``).

    python scripts/make_emoji_index.py [OUT]

Every untoned emoji's CLDR name and keywords (English, Hindi, Bangla) and the emoji itself are embedded, about 14,000
short texts, and the starter posts' training part: ten minutes the first time, seconds once they are in the encoder's
cache. The same encoder gives the same bytes.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from mojimeter import emoji
from mojimeter.datasets.starter import read_starter
from mojimeter.models.emoji_vectors import FILE, Vectors, emoji_with_vectors, quantize
from mojimeter.models.encoder import shared_encoder

OUT = Path(__file__).resolve().parents[1] / "src" / "mojimeter" / "models" / FILE


def main(out: Path) -> None:
    """Embed, shrink, write, and say how large it became."""
    them = emoji_with_vectors()
    views = {
        "name": embed([emoji.name(e) for e in them], "names"),
        "keywords": embed([words_of(e, "en") for e in them], "keywords"),
        "itself": embed(list(them), "emoji"),
    }
    for lang in ("hi", "bn"):
        both = embed([emoji.name(e, lang) for e in them], f"{lang} names")
        both = both + embed([words_of(e, lang) for e in them], f"{lang} keywords")
        views[lang] = both / np.linalg.norm(both, axis=1, keepdims=True)
    arrays = {"emoji": np.array(them)}
    for name, vectors in views.items():
        arrays[name], arrays[f"{name}_scale"] = quantize(vectors)
    # where ordinary posts are: what all of them share says nothing about one of them
    plain = [emoji.strip(text).strip() for text in read_starter("starter:train")["text"]]
    arrays["post_middle"] = embed(plain, "posts").mean(axis=0)
    np.savez_compressed(out, **arrays)
    print(f"{out.name}\t{len(them)} emoji\t{out.stat().st_size} bytes")


def words_of(one: str, lang: str) -> str:
    """The keywords as one text; the name where there are none."""
    return ", ".join(emoji.keywords(one, lang)) or emoji.name(one, lang)


def embed(texts: list[str], what: str) -> Vectors:
    """Embed with a line on stderr now and then."""

    def say(done: int, of: int) -> None:
        if done % 500 == 0 or done == of:
            print(f"{what}: {done} of {of}", file=sys.stderr, flush=True)

    return shared_encoder().embed(texts, say)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else OUT)
