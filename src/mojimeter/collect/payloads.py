"""What of a cell may be shown: its texts, cut where an emoji begins or ends.

The cutting is done here, once, when the study is made, so that the process that serves raters needs no emoji table.
Knows texts and emoji; must not know systems or items' names: nothing that goes in here may tell them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from mojimeter import emoji
from mojimeter.collect.study import RATED, Form

#: The fields of each form in the order in which they are shown; those in OPTIONAL may be missing.
FIELDS: Final[Mapping[Form, tuple[str, ...]]] = {
    "scale": ("post", "text"),
    "keeps": ("original", "text"),
    "verdict": ("context", "text", "question", "reference", "answer"),
    "answer": ("context", "text", "question"),
}
OPTIONAL: Final[frozenset[str]] = frozenset({"post", "context"})


def segments(text: str) -> list[list[Any]]:
    """A text as ``[part, is it an emoji]`` pairs; the parts joined are the text.

    >>> segments("ok 👍")
    [['ok ', False], ['👍', True]]
    """
    out: list[list[Any]] = []
    at = 0
    for start, end in emoji.spans(text):
        if start > at:
            out.append([text[at:start], False])
        out.append([text[start:end], True])
        at = end
    if at < len(text):
        out.append([text[at:], False])
    return out


def as_payload(form: Form, fields: Mapping[str, str], lang: str | None, *, names: bool) -> dict[str, Any]:
    """The payload of a cell: its language, its fields as segments, and the emoji's names if the study shows them."""
    shown = {name: segments(_storable(fields[name])) for name in FIELDS[form] if fields.get(name)}
    out: dict[str, Any] = {"lang": lang, "fields": shown}
    if names:
        rated = [part for part, is_emoji in shown.get(RATED[form], []) if is_emoji]
        spoken = lang if lang in emoji.LANGUAGES else "en"
        out["names"] = [[e, emoji.name(e, spoken)] for e in dict.fromkeys(rated)]
    return out


def plain_text(payload: Mapping[str, Any], field: str) -> str:
    """A field of a payload as the text it was; empty where the payload has no such field."""
    return "".join(part for part, _ in payload["fields"].get(field, []))


def emoji_of(payloads: Iterable[Mapping[str, Any]]) -> set[str]:
    """Every emoji that is shown."""
    return {
        part for payload in payloads for parts in payload["fields"].values() for part, is_emoji in parts if is_emoji
    }


def _storable(text: str) -> str:
    """Without NUL, which PostgreSQL cannot store, and without half characters, which UTF-8 cannot hold."""
    return text.replace("\x00", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
