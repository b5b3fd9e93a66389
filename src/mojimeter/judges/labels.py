"""What a judge may answer: the label sets, their aliases, and the one reader of a judge's replies.

Deterministic and without a model. A reply that states no label, or more than one, is unparsed (None):
callers count it, they never guess. Age and gender are labels a reader perceives in a text, not facts
about the person who wrote it. Knows nothing of prompts, votes or scores.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from mojimeter.errors import InputError

if TYPE_CHECKING:
    import polars as pl

LABELS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "sentiment": ("positive", "negative", "neutral"),
        "emotion": ("anger", "disgust", "fear", "happiness", "sadness", "surprise"),
        "stance": ("favor", "none", "against"),
        "age": ("child", "teen", "adult", "senior"),
        "gender": ("male", "female"),
    }
)
VERDICTS = ("right", "wrong")
RATINGS = ("1", "2", "3", "4", "5")

# Other words for a label, spelled out so that a reader can see what counts. Words that turn up in an
# explanation as often as in an answer (man, woman, young, like) are left out on purpose.
ALIASES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "sentiment": {"neither positive nor negative": "neutral"},
        "emotion": {
            "joy": "happiness",
            "joyful": "happiness",
            "happy": "happiness",
            "angry": "anger",
            "disgusted": "disgust",
            "scared": "fear",
            "afraid": "fear",
            "fearful": "fear",
            "sad": "sadness",
            "surprised": "surprise",
        },
        "stance": {
            "favour": "favor",
            "in favor": "favor",
            "in favour": "favor",
            "in favor of": "favor",
            "in favour of": "favor",
            "supportive": "favor",
            "opposed": "against",
            "no stance": "none",
            "neutral": "none",
        },
        "age": {
            "children": "child",
            "teenager": "teen",
            "teenage": "teen",
            "adolescent": "teen",
            "young adult": "adult",
            "middle-aged": "adult",
            "elderly": "senior",
            "older adult": "senior",
            "senior citizen": "senior",
        },
        "gender": {},
    }
)

# A label right after one of these is denied, not stated ("not positive", "isn't a negative post").
_DENIAL = (
    r"(?:\bnot(?! (?:only|just|merely)\b)|\bcannot\b|n['’]t\b|\bnever|\bneither|\bnor|\bwithout|\brather than"
    r"|\binstead of|\bfar from|\bno longer)"
    r"(?:\s+(?:a|an|the|be|being|at|all|really|quite|very|entirely|completely|fully|exactly|clearly|strictly"
    r"|necessarily|say|called|considered|so|in|any))*\s+[\"'“‘*_`]*$"
)
_DENIED = re.compile(_DENIAL)
_HINT = re.compile(r"no|n['’]t|ne[vi]|without|rather|instead|far")  # cheap, and true wherever _DENIED may be
_REACH = 60  # characters before a label in which a denial is looked for
_FORMATTING = re.compile(r"[*_`~#]+")

_VERDICT_WORD = re.compile(
    r"(?<![\w-])(?:(?P<right>right(?!\s+(?:now|away|after|before|here|there|hand|side)\b)|correct|accurate|true)"
    r"|(?P<wrong>wrong|incorrect|inaccurate|false))(?![\w-])"
)
_RATING = re.compile(r"(?<![\w.,/-])(\d+(?:[.,]\d+)?)(?:\s*(?:/|out of|of)\s*5)?(?![\w/]|[.,]\d)")


def label_set(task: str) -> tuple[str, ...]:
    """The labels of a task: one of the five, ``"verdict"`` or ``"rating_1_5"``.

    Raises:
        InputError: an unknown task.
    """
    if task == "verdict":
        return VERDICTS
    if task == "rating_1_5":
        return RATINGS
    if task not in LABELS:
        raise InputError(f"no task {task!r}; expected one of {', '.join((*LABELS, 'verdict', 'rating_1_5'))}")
    return LABELS[task]


def parse_label(task: str, reply: str | None) -> str | None:
    """The one label that a judge's reply states, or None.

    Labels and aliases count as whole words, whatever their case and markdown. A label that is denied
    ("not positive") is not stated. More than one label, or none, is None. For ``"verdict"`` the last
    verdict stated wins and a denied one is turned round ("not right" is wrong); for ``"rating_1_5"``
    the answer is a digit from 1 to 5 ("4/5" is "4").

    Raises:
        InputError: an unknown task.
    """
    labels = label_set(task)
    if reply is None:
        return None
    plain = reply.strip().casefold()
    if plain in labels:  # nine replies in ten are the bare word
        return plain
    text = " ".join(_FORMATTING.sub("", plain).split())
    if task == "verdict":
        return _last_verdict(text)
    if task == "rating_1_5":
        return _only({m[1] for m in _RATING.finditer(text)}, RATINGS)
    pattern, canonical = _vocabulary(task)
    stated = {canonical[m[0]] for m in pattern.finditer(text) if not _is_denied(text, m.start())}
    return _only(stated, labels)


def parse_labels(task: str, replies: pl.Series) -> pl.Series:
    """``parse_label`` over a column of replies; each distinct reply is read once."""
    import polars as pl

    distinct = replies.cast(pl.String).unique()
    table = {reply: parse_label(task, reply) for reply in distinct}
    return pl.Series(replies.name, [table[r] for r in replies.cast(pl.String)], dtype=pl.String)


def parse_answers(reply: str | None, tasks: Sequence[str]) -> dict[str, str | None]:
    """The labels in one reply to several tasks, as ``task: label`` lines or as JSON.

    What follows a task's name up to the next task's name is that task's answer; a task named twice with
    two different answers, or not at all, is None. A lone label without names is never shared out.
    """
    out: dict[str, str | None] = dict.fromkeys(tasks)
    if not reply:
        return out
    text = _FORMATTING.sub("", reply)
    marks = list(_task_marks(tuple(tasks)).finditer(text))
    found: dict[str, set[str | None]] = {}
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    for mark, end in zip(marks, ends, strict=False):
        task = mark[1].casefold()
        found.setdefault(task, set()).add(parse_label(task, _first_line(text[mark.end() : end])))
    for task, answers in found.items():
        out[task] = answers.pop() if len(answers) == 1 else None
    return out


def _first_line(answer: str) -> str:
    # after the answer's own line a reply may go on to explain: that is not the answer
    return answer.strip().split("\n", 1)[0]


@lru_cache(maxsize=8)
def _task_marks(tasks: tuple[str, ...]) -> re.Pattern[str]:
    names = "|".join(map(re.escape, tasks))
    return re.compile(rf"(?<!\w)(?:perceived[ _])?({names})[\"'”’)\]]*\s*[:=]", re.IGNORECASE)


@lru_cache(maxsize=8)
def _vocabulary(task: str) -> tuple[re.Pattern[str], dict[str, str]]:
    canonical = {label: label for label in LABELS[task]} | dict(ALIASES[task])
    longest_first = sorted(canonical, key=len, reverse=True)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest_first))})(?![\w-])"), canonical


def _is_denied(text: str, start: int) -> bool:
    before = text[max(0, start - _REACH) : start]
    return _HINT.search(before) is not None and _DENIED.search(before) is not None


def _only(stated: Iterable[str], labels: Sequence[str]) -> str | None:
    found = list(stated)
    return found[0] if len(found) == 1 and found[0] in labels else None


def _last_verdict(text: str) -> str | None:
    bare = text.strip(" .!\"'")
    if bare in ("yes", "no"):
        return "right" if bare == "yes" else "wrong"
    last = None
    for match in _VERDICT_WORD.finditer(text):
        before = text[max(0, match.start() - _REACH) : match.start()]
        if re.search(r"\b(?:neither|nor)\s+$", before):  # "neither right nor wrong" is no verdict
            last = None
            continue
        said = "right" if match["right"] else "wrong"
        denied = _DENIED.search(before) is not None
        last = said if not denied else ("wrong" if said == "right" else "right")
    return last
