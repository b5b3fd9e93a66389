"""What a recommender is asked: three ways to prompt, each replaceable by a file.

A template is a text file. Above a line of three dashes stands the instruction (the system message),
below it the question; without that line the whole file is the question. These fields are filled in:
``{post}``, ``{count}``, ``{gender}``, ``{age}``, ``{lang}`` and ``{examples}`` (a line of its own: the
examples go in as turns of the conversation there). Other braces are refused, so that a misspelt field
cannot reach a model. Knows nothing of models or judges.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from mojimeter.errors import InputError

STRATEGIES = ("zeroshot", "fewshot", "conditional")
FIELDS = ("post", "count", "gender", "age", "lang")
CHOOSE = (1, 5)  # "one to five, you choose"
UNKNOWN = "not known"

_NUMBERS = ("", "one", "two", "three", "four", "five")
_FIELD = re.compile(r"\{(\w*)\}")
_EXAMPLES = re.compile(r"^[ \t]*\{examples\}[ \t]*\n?", re.MULTILINE)
_SEPARATOR = re.compile(r"^---[ \t]*$", re.MULTILINE)

Message = tuple[str, str]  # (role, content): "system", "user" or "assistant"


@dataclass(frozen=True, slots=True)
class Prompt:
    """A template ready to be filled in.

    Attributes:
        strategy: ``zeroshot``, ``fewshot`` or ``conditional``.
        instruction: the system message, or "".
        question: the user message with its fields.
        shots: whether the five examples are shown.
        digest: 12 hexadecimal digits of everything that decides what a model reads; it goes into signatures.
    """

    strategy: str
    instruction: str
    question: str
    shots: bool
    digest: str

    def render(self, post: Mapping[str, Any], n: int | None) -> list[Message]:
        """The messages for one post.

        Args:
            post: ``text`` (without emoji) and, where known, ``gender``, ``age``, ``lang``.
            n: emoji asked for, 1 to 5; None: one to five, the model chooses.
        """
        messages: list[Message] = [("system", self.instruction)] if self.instruction else []
        lang = str(post.get("lang") or "en")
        if self.shots:
            for example in examples(lang):
                shown = example.emoji[: n if n is not None else example.free]
                messages.append(("user", self._question({"text": example.text, "lang": lang}, n)))
                messages.append(("assistant", "".join(shown)))
        messages.append(("user", self._question(post, n)))
        return messages

    def _question(self, post: Mapping[str, Any], n: int | None) -> str:
        values = {
            "post": str(post["text"]).strip(),
            "count": count_phrase(n),
            **{name: str(post.get(name) or UNKNOWN) for name in ("gender", "age", "lang")},
        }
        # one pass, so that braces inside a post stay as they are
        return _FIELD.sub(lambda m: values[m[1]], self.question)


@dataclass(frozen=True, slots=True)
class Example:
    """One worked example: a post of our own, its emoji by preference, how many to show when n is free."""

    text: str
    emoji: tuple[str, ...]
    free: int


def load_prompt(strategy: str = "zeroshot", template: str | Path | None = None) -> Prompt:
    """The prompt of a strategy, or a user's own template file.

    Raises:
        InputError: an unknown strategy; a template that cannot be read, has no ``{post}`` or an unknown field.
    """
    if strategy not in STRATEGIES:
        raise InputError(f"no strategy {strategy!r}; expected one of {', '.join(STRATEGIES)}")
    if template is None:
        where = f"{strategy}.txt"
        text = _resource(where).decode()
    else:
        where = str(template)
        try:
            text = Path(template).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise InputError(f"{where}: the template cannot be read: {reason}") from None
    return parse_template(text, strategy, where)


def parse_template(text: str, strategy: str, where: str) -> Prompt:
    """A template's text as a prompt (see the module's first paragraph).

    Raises:
        InputError: no ``{post}``, a field that is not known, or ``conditional`` without the author in it.
    """
    shots = _EXAMPLES.search(text) is not None
    body = _EXAMPLES.sub("", text)
    parts = _SEPARATOR.split(body, maxsplit=1)
    instruction, question = (parts[0], parts[1]) if len(parts) == 2 else ("", parts[0])
    for field in _FIELD.findall(body):
        if field not in FIELDS:
            known = ", ".join(f"{{{name}}}" for name in (*FIELDS, "examples"))
            raise InputError(f"{where}: no field {{{field}}} (known: {known})")
    if "{post}" not in question:
        raise InputError(f"{where}: the template has no {{post}} in its question")
    if _FIELD.search(instruction):
        raise InputError(f"{where}: fields belong below the line of three dashes, but one stands above it")
    if strategy == "conditional" and not ("{gender}" in question or "{age}" in question):
        raise InputError(f"{where}: a conditional template needs {{gender}} or {{age}}")
    if strategy == "fewshot" and not shots:
        raise InputError(f"{where}: a few-shot template needs a line {{examples}}")
    shown = _resource("examples.toml") if shots else b""
    digest = hashlib.sha256(b"\0".join([text.encode(), shown])).hexdigest()[:12]
    return Prompt(strategy, instruction.strip(), question.strip(), shots, digest)


def parse_count(n: str | int) -> int | None:
    """``"3"`` -> 3; ``"1-5"`` -> None, which means one to five and the model chooses.

    Raises:
        InputError: anything else.
    """
    if str(n) == "1-5":
        return None
    if str(n) in {"1", "2", "3", "4", "5"}:
        return int(n)
    raise InputError(f"n is {n!r}; expected a number from 1 to 5, or 1-5 (the model chooses)")


def count_phrase(n: int | None) -> str:
    """How a prompt says how many emoji are wanted."""
    if n is None:
        return "one to five emoji, as many as you find fitting"
    return f"exactly {_NUMBERS[n]} emoji" + (f", all {_NUMBERS[n]} different" if n > 1 else "")


def examples(lang: str) -> tuple[Example, ...]:
    """Five examples in the language of a post (Hindi and Bangla, also mixed with English; else English)."""
    tables = _examples()
    return tables.get(lang.split("-")[0].split("_")[0].casefold(), tables["en"])


@lru_cache(maxsize=1)
def _examples() -> dict[str, tuple[Example, ...]]:
    raw = tomllib.loads(_resource("examples.toml").decode())
    return {lang: tuple(Example(r["text"], tuple(r["emoji"]), r["free"]) for r in rows) for lang, rows in raw.items()}


@lru_cache(maxsize=8)
def _resource(name: str) -> bytes:
    return resources.files("mojimeter.systems").joinpath("prompts", name).read_bytes()
