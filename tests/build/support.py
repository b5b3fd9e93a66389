"""Raw posts and judges for the tests of build, made on the spot."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Sequence
from pathlib import Path

from mojimeter.judges.labels import LABELS

WORDS = ("bus", "late", "again", "love", "this", "rain", "exam", "mother", "goal", "tea", "रात", "বৃষ্টি", "kal", "yaar")
EMOJI = ("😂", "❤️", "😭", "👍🏽", "🔥", "🙏", "🤷‍♀️", "🇮🇳", "🎉")


def made_posts(count: int, seed: int = 0) -> list[dict[str, str]]:
    """Posts of 40 authors, some without emoji, some twice, some retweets, some with links."""
    source = random.Random(seed)
    posts: list[dict[str, str]] = []
    for number in range(count):
        text = " ".join(source.choices(WORDS, k=source.randint(3, 9)))
        kind = number % 10
        if kind == 1:
            text = f"RT @friend: {text}"
        if kind == 2:
            text = f"{text} https://example.org/{number}?x=1"
        if kind == 3 and posts:
            text = posts[source.randrange(len(posts))]["text"]
        elif kind != 4:
            text += " " + "".join(source.choices(EMOJI, k=source.randint(1, 3)))
        if kind == 5:
            text = f'he said "no",\nand {text}'
        posts.append({"id": f"p{number}", "text": text, "author": f"a{number % 40}"})
    return posts


def write_jsonl(path: Path, rows: Sequence[dict[str, str | None]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def made_labels(text: str) -> dict[str, str]:
    """A judge by hash: any text has labels, equal texts equal ones."""
    digest = hashlib.sha256(text.encode()).digest()
    return {task: labels[digest[i] % len(labels)] for i, (task, labels) in enumerate(LABELS.items())}
