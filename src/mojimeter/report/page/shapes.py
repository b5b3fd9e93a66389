"""What a saved document must hold to be shown: the contract's fields that the page reads, and no more.

Saved files come from elsewhere: a field that is missing or of another kind is one sentence that says where. Knows the
JSON contract only.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from mojimeter.errors import InputError
from mojimeter.runs.signature import Signature


class _Shape(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)


class _Number(_Shape):
    """A number with its interval, or none with the reason."""

    value: float | None
    ci: list[float | None] | None = None

    @field_validator("ci")
    @classmethod
    def _two(cls, ci: list[float | None] | None) -> list[float | None] | None:
        if ci is not None and len(ci) != 2:
            raise ValueError("expected the two ends of an interval")
        return ci


_Rank = list[int]


class _Use(_Shape):
    emoji: str
    percent: float


class _Diversity(_Shape):
    distinct: int | None
    entropy_bits: float | None
    top: list[_Use]


class _Recommender(_Shape):
    strategy: str | None
    posts: int
    overlap: dict[str, _Number]
    category: dict[str, dict[str, _Number]]
    preservation: dict[str, _Number]
    per_class: dict[str, dict[str, _Number]]
    leaked: bool
    kept: _Number
    recovered: _Number
    diversity: _Diversity
    replies: dict[str, Any]
    rank: _Rank


class _PostData(_Shape):
    posts: int
    authors: int
    resampled: int


class _Recommendation(_Shape):
    signature: str
    ranked_by: str
    data: _PostData
    systems: dict[str, _Recommender]
    differences: list[dict[str, Any]]
    warnings: list[str]

    @field_validator("signature")
    @classmethod
    def _parses(cls, text: str) -> str:
        Signature.parse(text)
        return text


class _Answerer(_Shape):
    pairs: int
    acc_pair: _Number
    acc_query: _Number
    acc_pair_if_independent: _Number
    context_awareness: _Number
    output_variability: _Number
    bias: _Number
    rank: _Rank
    by_category: dict[str, dict[str, Any]]
    by_lang: dict[str, dict[str, Any]]
    no_answer: int
    unparsed: int
    unparsed_differences: int


class _PairData(_Shape):
    pairs: int
    by_category: dict[str, int]
    by_lang: dict[str, int]


class _Disambiguation(_Shape):
    signature: str
    data: _PairData
    systems: dict[str, _Answerer]
    differences: list[dict[str, Any]]
    verifier: dict[str, Any]
    warnings: list[str]


class _Component(_Shape):
    source: str
    estimate: float | None
    share: float | None


class _Rater(_Shape):
    rater: str
    ratings: int
    mean: float
    sd: float | None
    slope_on_others: float | None


class _Ranked(_Shape):
    system: str
    mean: _Number
    rank: _Rank


class _Decision(_Shape):
    rater: int
    g: _Number
    phi: _Number


class _Study(_Shape):
    signature: str
    design: dict[str, Any]
    describe: str
    verdict: str
    sentence: str
    components: list[_Component]
    g: _Number
    d_study: list[_Decision]
    raters: list[_Rater]
    ranking: list[_Ranked]
    agreement: dict[str, Any]


_SHAPES: Mapping[str, type[_Shape]] = {
    "recommendation": _Recommendation,
    "disambiguation": _Disambiguation,
    "rating_study": _Study,
}


def check_shape(document: Mapping[str, Any], kind: str, where: Path) -> None:
    """Refuse a document that lacks what the page reads.

    Args:
        document: as saved.
        kind: what it is; a judge's results may have any form.
        where: the file, for the message.

    Raises:
        InputError: names the file, the field and what is wrong with it.
    """
    shape = _SHAPES.get(kind)
    if shape is None:
        return
    try:
        shape.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        wrong = " is missing" if first["type"] == "missing" else f": {first['msg'][:1].lower()}{first['msg'][1:]}"
        raise InputError(f"{where}: not a document that mojimeter printed: field {field!r}{wrong}") from None
