"""What can be checked about a pair without reading it: answers that leak, sides that are alike, shapes that are off.

Words are compared by their stems in English and as whole words in Hindi and Bangla, after words without content
are left out. A check that passes says nothing of whether the item is good: that is for readers. Knows one set of
pairs, no models.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from mojimeter import emoji
from mojimeter.datasets.pairs import CATEGORIES, LANGUAGES, READINGS

Pair = Mapping[str, str]

MOST_SENTENCES: Final = 2  # of a context
ANSWER_WORDS: Final = (1, 10)
MOST_PER_EMOJI: Final = 8
SHARE_OF_OPENING: Final = 0.15  # of a language's questions that may start with the same two words

_SENTENCE_END = re.compile(r"[.!?।…]+[\"'”’)]*(?:\s|$)")
# English, Hindi and Bangla words without content of their own
_FILLER_WORDS = """
a an the is are was were be been being am i he she they it we you his her hers him them their theirs its my mine
your yours our us me this that these those there here to of in on at for with without and or but not no nor so
as by from up out off over under about into onto than then too very just really quite what who whom whose which
when where why how does do did done has have had having will would can could should may might must shall if one
ones some someone something any anyone anything get gets got getting make makes made let lets yes
है हैं था थी थे हो होना होता होती होते हुआ हुई हुए का की के को में से पर ने और या भी ही तो यह वह ये वे इस उस
इन उन एक कि जो क्या कौन कब कहाँ कैसे क्यों किस किसी कोई कुछ अपना अपनी अपने मैं मेरा मेरी मेरे हम हमारा तुम आप
उसका उसकी उसके उसे उन्हें उनका उनकी उनके इसे इसका नहीं मत न हाँ रहा रही रहे गया गई गए कर करना करता करती करते किया
दिया लिया लिए साथ बहुत वाला वाली वाले जा जाना
এ ও সে তা এই ওই সেই যে যা কি কী কে কেন কবে কোথায় কীভাবে কোন একটা একটি এক এবং আর বা কিন্তু না নয় নেই নি হ্যাঁ
হয় হয়ে হয়েছে হচ্ছে ছিল ছিলেন আছে আছেন করে করা করছে করছেন করেছে জন্য থেকে সঙ্গে সাথে মধ্যে উপর দিয়ে তার তাঁর
তাকে তাঁকে তারা তাদের আমি আমার আমাকে আমরা আমাদের তুমি তোমার আপনি আপনার ওর ওকে ওরা কোনো কিছু খুব বেশ
"""
_FILLERS = frozenset(unicodedata.normalize("NFC", _FILLER_WORDS).split())
_SUFFIXES = ("ingly", "edly", "iness", "ies", "ied", "ing", "ely", "ed", "es", "ly", "er", "s", "e", "y")


def problems_of(pairs: Sequence[Pair]) -> list[tuple[str, str]]:
    """Everything that the checks find, as (id of the pair, one phrase); empty where all is well.

    The id is "" for what concerns the whole set (how often questions open alike).
    """
    found = [(pair["id"], problem) for pair in pairs for problem in problems_of_pair(pair)]
    found += [(pair_id, f"the {what} of {other} again") for pair_id, what, other in _repeats(pairs)]
    for e, count in Counter(emoji.key(pair["emoji"], "presentation") for pair in pairs).items():
        if count > MOST_PER_EMOJI:
            found.append(("", f"{e} in {count} pairs; expected at most {MOST_PER_EMOJI}"))
    for lang in LANGUAGES:
        questions = [pair["question"] for pair in pairs if pair["lang"] == lang]
        openings = Counter(" ".join(question.casefold().split()[:2]) for question in questions)
        for opening, count in openings.most_common(1):
            if len(questions) >= 20 and count > SHARE_OF_OPENING * len(questions):
                found.append(("", f"{count} of {len(questions)} questions in {lang} start with {opening!r}"))
    return found


def problems_of_pair(pair: Pair) -> list[str]:
    """What the checks find wrong with one pair."""
    found = [f"{name}: {value!r} is not known" for name, value in _unknown_values(pair)]
    if emoji.key(pair["emoji"], "presentation") not in {emoji.key(e, "presentation") for e in emoji.find(pair["text"])}:
        found.append("the emoji is not in the text")
    for stem in ("context", "answer"):
        if plain(pair[f"{stem}_1"]) == plain(pair[f"{stem}_2"]):
            found.append(f"the two {stem}s are the same")
    lang = pair["lang"]
    answers = [content_words(pair[f"answer_{k}"], lang) for k in "12"]
    if shared := answers[0] & answers[1]:
        found.append(f"both answers use {_listed(shared)}")
    given = content_words(pair["text"], lang)
    for name in ("context_1", "context_2"):
        if leaked := content_words(pair[name], lang) & (answers[0] | answers[1]):
            found.append(f"{name} uses {_listed(leaked)} of an answer")
    # a word that the sentence has anyway gives nothing away when the question repeats it
    if leaked := (content_words(pair["question"], lang) - given) & (answers[0] | answers[1]):
        found.append(f"the question uses {_listed(leaked)} of an answer")
    for name in ("context_1", "context_2"):
        if len(_SENTENCE_END.findall(pair[name])) > MOST_SENTENCES:
            found.append(f"{name} has more than {MOST_SENTENCES} sentences")
    low, high = ANSWER_WORDS
    for name in ("answer_1", "answer_2"):
        if not low <= len(pair[name].split()) <= high:
            found.append(f"{name} has {len(pair[name].split())} words; expected {low} to {high}")
    return found


def content_words(text: str, lang: str) -> set[str]:
    """The words of a text that carry its meaning: stems in English, whole words in other languages."""
    words = {w for w in _words(text) if w not in _FILLERS}
    return {_stem(w) for w in words if len(w) > 2} if lang == "en" else {w for w in words if len(w) > 1}


def plain(text: str) -> str:
    """A text without case, punctuation and extra space: what is left when only the wording counts."""
    return " ".join(_words(text)) or " ".join(text.split())


def _words(text: str) -> list[str]:
    # marks (vowel signs of Hindi and Bangla) belong to their word, though they are no letters
    letters = "".join(
        c if c in "'’" or unicodedata.category(c)[0] in "LMN" else " "
        for c in unicodedata.normalize("NFC", text).replace("\u200d", "").replace("\u200c", "").casefold()
    )
    return [w.strip("'’") for w in letters.split() if w.strip("'’")]


def _stem(word: str) -> str:
    word = re.sub(r"['’](?:s|re|ll|ve|d|m|t)$", "", word)
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            return word[: len(word) - len(suffix)]
    return word


def _unknown_values(pair: Pair) -> Iterable[tuple[str, str]]:
    for name, known in (
        ("category", CATEGORIES),
        ("lang", LANGUAGES),
        ("reading_1", READINGS),
        ("reading_2", READINGS),
    ):
        if pair[name] not in known:
            yield name, pair[name]


def _repeats(pairs: Sequence[Pair]) -> Iterable[tuple[str, str, str]]:
    for name in ("id", "text", "context_1", "context_2"):
        first: dict[str, str] = {}
        for pair in pairs:
            value = pair[name].strip().casefold()
            if value in first:
                yield pair["id"], name, first[value]
            first.setdefault(value, pair["id"])


def _listed(words: set[str]) -> str:
    return ", ".join(repr(w) for w in sorted(words))
