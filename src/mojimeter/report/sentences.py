"""Warnings, notes and cautions as sentences of a page or a paper.

Programs print fragments after a colon; a page has sentences. The one thing that a sentence's capital may not touch is
a name. Knows documents as dictionaries; nothing of HTML or LaTeX.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from mojimeter.ratings import cautions

PERCEIVED = "Perceived age and gender are labels, not facts about people."
_PLAIN = {
    cautions.ONE_LINE_UNSEEN: (
        "With so few raters nobody can see whether they disagree along one line, such as a taste for length. If they "
        "do, the 5% test rejects up to 26% of the time and pooled intervals cover 60%, not 95%: compare with what "
        "errors of each pair's own give (ratings study --pairs separate)."
    ),
    cautions.ONE_LINE_SEEN: (
        "Raters disagree about some pairs of systems more than about others: the 5% test may reject 26% of the time "
        "and pooled intervals cover 60%, not 95%. Intervals from each pair's own errors hold (ratings study --pairs "
        "separate)."
    ),
}


def sentence(text: str, names: Collection[str] = ()) -> str:
    """The text with a capital and a full stop; a text that opens with one of the names keeps it as it is.

    >>> sentence("two posts are left out"), sentence("gpt-4: 24 of 240 posts", ["gpt-4"])
    ('Two posts are left out.', 'gpt-4: 24 of 240 posts.')
    """
    if not text:
        return text
    named = any(name and re.match(re.escape(name) + r"(?!\w)", text) for name in names)
    ended = text if text.endswith((".", "!", "?")) else f"{text}."
    return ended if named else ended[:1].upper() + ended[1:]


def names_of(run: Mapping[str, Any]) -> set[str]:
    """Names that a sentence about a run of the page document may open with."""
    systems = run.get("systems") or ()
    study = run.get("study") or {}
    names = {str(run["name"]), *(str(one[key]) for one in systems for key in ("name", "base") if key in one)}
    names |= {str(judge) for one in systems for judge in one.get("kin", ())}
    names |= {str(row["system"]) for row in study.get("ranking") or ()}
    return names | {str(row["rater"]) for row in study.get("raters") or ()}


def plain_caution(text: str) -> str:
    """A caution of a rating study as a sentence that names the command's option, not the function's argument."""
    return _PLAIN.get(text) or sentence(text)
