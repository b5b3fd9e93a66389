"""Grammars that hold a local model to a format, as LLGuidance text for llama.cpp's ``grammar`` field.

Only the format is held: nothing that fits it is made likelier or forbidden. Knows strings, not what they mean.
"""

from __future__ import annotations

from collections.abc import Sequence


def choice_grammar(choices: Sequence[str], least: int = 1, most: int = 1) -> str:
    """LLGuidance text for ``least`` to ``most`` of the given strings, side by side."""
    quoted = " | ".join(_quoted(c) for c in choices)
    times = f"{{{least},{most}}}"
    return f"%llguidance {{}}\nstart: CHOICE{times}\nCHOICE: {quoted}\n"


def answers_grammar(answers: Sequence[tuple[str, Sequence[str]]]) -> str:
    """LLGuidance text for one line ``name: label`` for each (name, labels)."""
    newline = _quoted("\n")
    start = f" {newline} ".join(f"{_quoted(name + ': ')} L{i}" for i, (name, _) in enumerate(answers))
    rules = "".join(f"L{i}: {' | '.join(map(_quoted, labels))}\n" for i, (_, labels) in enumerate(answers))
    return f"%llguidance {{}}\nstart: {start}\n{rules}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
