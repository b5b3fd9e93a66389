"""The texts that a study begins with: question, instructions and consent, in plain English, to be edited.

Knows settings; nothing of what is rated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mojimeter.collect.study import Form, StudyConfig

QUESTIONS: Final[Mapping[Form, str]] = {
    "scale": "How well do the emoji fit the post?",
    "keeps": "Does the second text keep the meaning of the original?",
    "verdict": "Does the answer say the same as the reference answer?",
    "answer": "Your answer, in a few words",
}

_TASK: Final[Mapping[Form, str]] = {
    "scale": "You will see short posts, each with emoji that were added to it. Please say how well the emoji fit: "
    "what is said, and how it is said.\n\n"
    "- Use the whole scale.\n"
    "- Judge the emoji, not the post.\n"
    "- The same post comes several times with other emoji. Judge each for itself.",
    "keeps": "You will see an original text and a second one that has other emoji. Please say whether the second "
    "keeps the meaning of the original: what is said, and the mood in which it is said.\n\n"
    "- Other emoji can keep the meaning.\n"
    "- The same original comes several times. Judge each for itself.",
    "verdict": "You will see a situation, a message with an emoji, a question about it, a reference answer, and an "
    "answer to be judged. Please say whether the answer says the same as the reference.\n\n"
    "- Other words are fine. The meaning counts.\n"
    "- An answer that says the same and adds something wrong is wrong.",
    "answer": "You will see a situation, a message with an emoji, and a question about it. Please answer the question "
    "in a few words.\n\n"
    "- The situation decides what the emoji means.\n"
    "- Write whole words. Spelling does not matter.",
}


def default_instructions(config: StudyConfig) -> str:
    """What to do, and that there are checks and repeats where there are."""
    parts = [_TASK[config.form]]
    if config.form != "answer":
        parts.append("There is no need to think long: your first impression is what we want to know.")
    if config.attention:
        parts.append("A few items are checks: they say themselves which answer to give.")
    if config.repeats:
        parts.append("Some items come twice. This is on purpose.")
    parts.append("You can pause at any time and go on later, on any device, with the same link.")
    return "\n\n".join(parts)


def default_consent(config: StudyConfig) -> str:
    """What the study is, that it is voluntary, and what to expect of the texts."""
    about = {
        "scale": "how well computer programs choose emoji",
        "keeps": "whether texts keep their meaning when their emoji change",
        "verdict": "how well emoji are understood",
        "answer": "how people understand emoji",
    }[config.form]
    return (
        f"This is a study of {about}. Taking part means reading short texts and giving your opinion on each.\n\n"
        "- Taking part is voluntary. You can stop at any time, without giving a reason.\n"
        "- If you withdraw, your answers are left out of all results.\n"
        "- The texts were written by people on the internet or for this study. Some may be rude or unpleasant.\n"
        "- The answers will be analysed, and may be published, without anything that says who you are."
    )
