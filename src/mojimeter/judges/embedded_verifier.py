"""The verifier that ships: sentence embeddings against both expected answers, and a small linear head.

It asks how much nearer an answer is to the expected answer than to the pair's other one, and corrects that by a few
counts of words. It needs the other answer, so it cannot verify one answer alone. It does not read the context. What
it is worth was measured on labelled answers to pairs it was not fitted on, and that is part of it (``facts``). Must
not know runs, metrics or the command line.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from mojimeter.datasets.pair_checks import content_words
from mojimeter.errors import InputError
from mojimeter.judges.verifier import EMBEDDED, Claim, Question

Floats = NDArray[np.float64]

FEATURES: Final = (
    "likeness_to_expected",
    "likeness_to_other",
    "likeness_of_both",
    "nearer",
    "nearer_for_their_distance",
    "words_of_expected",
    "words_of_other",
    "denies_unlike_expected",
    "denies_unlike_other",
    "yes_or_no_of_expected",
    "yes_or_no_of_other",
    "hedges",
)
_WEIGHTS = "verifier.npz"
_DISTANCE = 0.02  # keeps answers that are nearly alike from blowing up the ratio


def _compiled(pattern: str) -> re.Pattern[str]:
    # Bangla letters with a dot below have two spellings; texts are brought to the same one
    return re.compile(unicodedata.normalize("NFC", pattern))


_DENIAL = _compiled(
    r"\b(?:no|not|never|nothing|nobody|without|hardly)\b|n['’]t\b|नहीं|बिना|(?:^|\s)না(?:\s|[।,.!]|$)|নেই|নয়"
)
_YES = _compiled(r"\W*(?:yes|yeah|sí|oui|ja|हाँ|हां|হ্যাঁ)(?!\w)")
_NO = _compiled(r"\W*(?:no|nope|nein|non|नहीं|না)(?!\w)")
_HEDGE = _compiled(
    r"\b(?:maybe|perhaps|might|could|depends|either|cannot|can['’]t tell|not possible|hard to say|unclear|not clear"
    r"|or)\b|शायद|मुश्किल|पता नहीं|हो सकता|হতে পারে|বলা কঠিন|জানি না|হয়তো"
)


@dataclass
class EmbeddedVerifier:
    """See the module's first paragraph.

    Attributes:
        weights: of the standardised features, shape (12,).
        intercept: of the head.
        centre, scale: of the features, shape (12,).
        quality: what was measured, by ``scripts/train_verifier.py``.
        digest: 12 hexadecimal digits of the head.
    """

    weights: Floats
    intercept: float
    centre: Floats
    scale: Floats
    quality: dict[str, Any]
    digest: str
    name: str = EMBEDDED
    _vectors: dict[str, Floats] = field(default_factory=dict, repr=False)

    def verdict(self, question: Question) -> str:
        """``right`` or ``wrong``; of a likeness: whether the second answer means what the first says.

        Raises:
            MissingExtraError: the encoder is not installed.
        """
        return "right" if self.margin(self._as_claim(question)) > 0 else "wrong"

    def margin(self, claim: Claim) -> float:
        """Log odds that the answer is right."""
        standardised = (self.features([claim])[0] - self.centre) / self.scale
        return float(standardised @ self.weights + self.intercept)

    def features(self, claims: Sequence[Claim]) -> Floats:
        """What the head sees, shape (claims, 12), in the order of ``FEATURES``."""
        self.prepare([text for claim in claims for text in (claim.answer, claim.expected, claim.other)])
        return np.array([self._features(claim) for claim in claims])

    def prepare(self, texts: Sequence[str]) -> None:
        """Embed texts ahead, which is quicker than one by one as they are needed."""
        from mojimeter.models.encoder import shared_encoder

        wanted = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if wanted:
            self._vectors |= dict(zip(wanted, shared_encoder().embed(wanted).astype(np.float64), strict=True))

    def facts(self) -> dict[str, Any]:
        """Accuracy and kappa on labelled answers to pairs it was not fitted on, with intervals over pairs."""
        return dict(self.quality)

    def _features(self, claim: Claim) -> list[float]:
        answer, expected, other = (self._vectors[text] for text in (claim.answer, claim.expected, claim.other))
        to_expected, to_other, both = float(answer @ expected), float(answer @ other), float(expected @ other)
        said, right, wrong = (_content(text) for text in (claim.answer, claim.expected, claim.other))
        plain = [_plain(text) for text in (claim.answer, claim.expected, claim.other)]
        denies = [_DENIAL.search(text) is not None for text in plain]
        sign = [_sign(text) for text in plain]
        return [
            to_expected,
            to_other,
            both,
            to_expected - to_other,
            (to_expected - to_other) / (1.0 - both + _DISTANCE),
            len(said & right) / max(1, len(right)),
            len(said & wrong) / max(1, len(wrong)),
            float(denies[0] != denies[1]),
            float(denies[0] != denies[2]),
            float(sign[0] * sign[1]),
            float(sign[0] * sign[2]),
            float(_HEDGE.search(plain[0]) is not None),
        ]

    def _as_claim(self, question: Question) -> Claim:
        """A likeness as the claim that the second answer means the first, which the farther expected one is not."""
        if isinstance(question, Claim):
            return question
        self.prepare([question.first, *question.expected])
        first = self._vectors[question.first]
        other = min(question.expected, key=lambda expected: float(first @ self._vectors[expected]))
        return Claim(question.text, question.question, question.second, question.first, other)


def _content(text: str) -> set[str]:
    """Content words of a text in any of the languages: stems where it is written in Latin letters."""
    return content_words(text, "en" if text.isascii() else "other")


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text.casefold())


def _sign(text: str) -> int:
    """1 for an answer that starts with yes, -1 for no, else 0."""
    return int(_YES.match(text) is not None) - int(_NO.match(text) is not None)


@lru_cache(maxsize=1)
def load_verifier() -> EmbeddedVerifier:
    """The verifier that ships.

    Raises:
        InputError: its weights are not those of this version.
    """
    return read_verifier((files("mojimeter.judges") / "weights" / _WEIGHTS).read_bytes(), _WEIGHTS)


def read_verifier(content: bytes, where: str) -> EmbeddedVerifier:
    """A verifier from the bytes that ``write_verifier`` gave; never unpickles.

    Raises:
        InputError: they are not such.
    """
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            weights, centre, scale = (arrays[name].astype(np.float64) for name in ("weights", "centre", "scale"))
            intercept = float(arrays["intercept"])
            about = json.loads(bytes(arrays["about"]).decode())
    except (ValueError, KeyError, OSError, EOFError, BadZipFile) as error:
        raise InputError(f"{where}: not the weights of a verifier ({error})") from None
    if about.get("features") != list(FEATURES) or any(a.shape != (len(FEATURES),) for a in (weights, centre, scale)):
        raise InputError(f"{where}: made for other features than this version computes; run scripts/train_verifier.py")
    return EmbeddedVerifier(
        weights, intercept, centre, scale, about["quality"], hashlib.sha256(content).hexdigest()[:12]
    )


def write_verifier(weights: Floats, intercept: float, centre: Floats, scale: Floats, quality: dict[str, Any]) -> bytes:
    """The bytes of a verifier; the same values give the same bytes."""
    about = json.dumps({"features": FEATURES, "quality": quality}, ensure_ascii=False, sort_keys=True).encode()
    out = io.BytesIO()
    np.savez(
        out,
        weights=weights,
        intercept=np.float64(intercept),
        centre=centre,
        scale=scale,
        about=np.frombuffer(about, dtype=np.uint8),
    )
    return out.getvalue()
