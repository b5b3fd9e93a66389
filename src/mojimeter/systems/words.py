"""Words of a text, made alike: what the keyword baseline matches on in English, Hindi and Bangla.

Light by design: endings are taken off by a short list for each script, since CLDR's keywords are base
forms. Knows nothing of emoji.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final, NamedTuple

# \w lacks the vowel signs of Indic scripts; the danda ends a sentence
_WORD: Final = re.compile(r"(?:[^\W_]|[\u0900-\u0963\u0966-\u0dff\u200c\u200d'’])+")
_NOT_WORDS: Final = re.compile(r"https?://\S+|www\.\S+|[@&]\w+;?")
_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_DRAWN_OUT: Final = re.compile(r"(.)\1{2,}")


def _listed(text: str) -> list[str]:
    return unicodedata.normalize("NFC", text).split()


# Words that say nothing of the matter although CLDR has some of them as keywords.
_STOP_WORDS: Final = frozenset(
    _listed(
        """a about after again all also am an and any are as at be because been before being but by can cannot could
    did do does doing don down for from get gets got had has have having he her here hers him his how i if in into
    is it its just ll made make me more most my no nor not now of off on once only or other our out over own put re
    rt s said same say says see she should so some such t than that the their them then there these they thing
    this those through to too under up us ve very was we were what when where which while who whom why will with
    would yo you your yours url user via amp one two face person sign symbol button
    का की के को में से है हैं था थी थे हो हूँ हूं और या यह वह ये वे जो तो भी ही पर ने कर एक इस उस तक लिए साथ कि क्या मैं
    हम तुम आप मेरा मेरी मेरे अपना अपनी अपने तेरा उनका उनकी उनके इसका इसके इसकी नहीं न ना मत बहुत सब कुछ कोई रहा रही रहे
    गया गई गए जा अब जब तब फिर किया करना करने होता होती होते वाला वाले वाली मुझे मुझको तुझे तुम्हें उसे इसे हमें उन्हें
    এ এই ও ওই সে তা তার তাদের তিনি আমি আমার আমাদের আমরা তুমি তোমার আপনি আপনার আপনাদের যে যা যদি কি কী কে না নয় নেই হয়
    হবে হয়ে ছিল আছে থেকে জন্য সাথে সঙ্গে এবং আর তবে কিন্তু বা একটি একটা এক কোন কোনো করে করা করি করতে করেন সব খুব
    দিয়ে নিয়ে মত মতো এর পর তো ই যায় গেছে আমাকে তোমাকে আপনাকে তাকে হচ্ছে"""
    )
)

_HINDI_ENDINGS: Final = tuple(
    sorted(_listed("ियों ियां ियाँ ाओं ुओं ाएं ाएँ ों ें ीं ियाँ ाई ने ना ता ती ते नी ा ी े ो ू ि ु ं"), key=len, reverse=True)
)
_BANGLA_ENDINGS: Final = tuple(
    sorted(_listed("গুলোর গুলোকে গুলো গুলি দের েরা েদের টাকে টার টা টি টির খানা কে রা ের তে েই েও ে র ই ও"), key=len, reverse=True)
)


class Word(NamedTuple):
    """A word as it is compared, and as it was written."""

    stem: str
    written: str


def read_words(text: str) -> list[Word]:
    """The words of a text in order, without links, mentions and words that say nothing.

    A hashtag in humps (#HappyBirthday) is cut into its words.
    """
    plain = unicodedata.normalize("NFC", _HUMP.sub(" ", _NOT_WORDS.sub(" ", text)))
    found = [(_plain(written), written) for written in _WORD.findall(plain)]
    return [
        Word(stem(word), written)
        for word, written in found
        if word not in _STOP_WORDS and (len(word) > 1 or not word.isascii())
    ]


def stems(text: str) -> list[str]:
    """The same, stems only.

    >>> stems("#HappyBirthday to my dogs!! Soooo happyyyy")
    ['happy', 'birthday', 'dog', 'happy']
    """
    return [word.stem for word in read_words(text)]


def _plain(word: str) -> str:
    word = word.lower().strip("'’").replace("’", "'").replace("\u200c", "").replace("\u200d", "")
    return _DRAWN_OUT.sub(r"\1", word.removesuffix("'s").replace("'", ""))


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """A word without its ending, by the script of its first letter; stems keep at least two letters."""
    first = word[0] if word else ""
    if first.isascii():
        return _english_stem(word)
    if "\u0900" <= first <= "\u097f":
        return _without_ending(word.replace("ँ", "ं"), _HINDI_ENDINGS)
    if "\u0980" <= first <= "\u09ff":
        return _without_ending(word, _BANGLA_ENDINGS)
    return word


def _without_ending(word: str, endings: tuple[str, ...]) -> str:
    for ending in endings:
        if word.endswith(ending) and len(word) - len(ending) >= 2:
            return word.removesuffix(ending)
    return word


def _english_stem(word: str) -> str:
    """Plurals, -ing, -ed and -er off, y and a last e made alike: love, loved and loving are one."""
    if len(word) < 4:
        return word
    if word.endswith("ies"):
        word = word[:-3] + "y"
    elif word.endswith(("sses", "shes", "ches", "xes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= 3 and any(c in "aeiouy" for c in rest):
            word = rest[:-1] if rest[-1] == rest[-2] and rest[-1] not in "lsz" else rest
            break
    return word[:-1] if len(word) > 3 and word.endswith("e") else word
