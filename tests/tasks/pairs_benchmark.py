"""A small benchmark B whose right answers are known: pairs, a system and a verifier as pure functions of the text."""

from __future__ import annotations

import json
import re
from pathlib import Path

WORDS = {"1": "burning", "2": "music"}


def write_pairs(path: Path, count: int) -> Path:
    """``count`` pairs over the four kinds."""
    kinds = ("situation", "relation", "tone", "community")
    rows = [
        {
            "id": f"p{i}",
            "category": kinds[i % 4],
            "text": f"hall {i} is 🔥",
            "emoji": "🔥",
            "question": f"What about hall {i}?",
            "context_1": f"Engines came to hall {i}.",
            "answer_1": f"Burning, number {i}.",
            "context_2": f"A band came to hall {i}.",
            "answer_2": f"Music, number {i}.",
            "reading_1": "literal",
            "reading_2": "figurative",
            "lang": "en",
        }
        for i in range(count)
    ]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def reply(model: str, messages: list[dict[str, str]]) -> str:
    """The system reads the context on even halls and says music on odd ones; the verifier goes by the two words."""
    content = messages[-1]["content"]
    if model == "labeller":
        said = {name: text.casefold() for name, text in re.findall(r"<(\w+)>\n(.*?)\n</\1>", content, re.DOTALL)}
        sides = ("answer", "expected_answer") if "answer" in said else ("first_answer", "second_answer")
        same = [[word in said[side] for word in WORDS.values()] for side in sides]
        return "Right." if same[0] == same[1] else "The answer is not right: wrong"
    number = int(re.findall(r"hall (\d+)", content)[0])
    burning = "Engines" in content and number % 2 == 0
    return f"they say {'burning' if burning else 'music'} there"
