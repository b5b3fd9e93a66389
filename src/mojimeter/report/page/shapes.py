"""What a saved document must hold to be shown: the contract's fields that the page reads, and no more.

Saved files come from elsewhere: a field that is missing or of another kind is one sentence that says where. Knows the
JSON contract only.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from mojimeter.errors import InputError
from mojimeter.runs.signature import Signature

_TWO = Field(min_length=2, max_length=2)


class _Shape(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)


class _Number(_Shape):
    """A number with its interval, or none with the reason."""

    value: float | None
    ci: Annotated[list[float | None], _TWO] | None = None


_Rank = Annotated[list[int], _TWO]


class _Use(_Shape):
    emoji: str
    percent: float


class _Replies(_Shape):
    unparsed_labels: dict[str, int] = {}
    missing: int | None = None


class _Diversity(_Shape):
    distinct: int | None
    entropy_bits: float | None
    entropy_bits_ci: Annotated[list[float | None], _TWO] | None = None
    top: list[_Use]


class _Overlap(_Shape):
    precision: _Number
    recall: _Number
    f1: _Number


class _Categories(_Shape):
    group: _Overlap
    subgroup: _Overlap


class _Preservation(_Shape):
    sentiment: _Number
    emotion: _Number
    stance: _Number
    age: _Number
    gender: _Number
    average: _Number
    average_unleaked: _Number


class _Difference(_Shape):
    system: str
    against: str
    difference: _Number


class _Recommender(_Shape):
    strategy: str | None
    posts: int
    overlap: _Overlap
    category: _Categories
    preservation: _Preservation
    per_class: dict[str, dict[str, _Number]]
    leaked: bool
    kept: _Number
    recovered: _Number
    diversity: _Diversity
    replies: _Replies
    rank: _Rank


class _PostData(_Shape):
    posts: int
    authors: int
    resampled: int


class _Leaks(_Shape):
    count: int
    ids: list[str]


class _Judged(_Shape):
    kin: bool = False


class _LeftOut(_Shape):
    systems: list[str]
    posts: int


class _Panel(_Shape):
    judges: list[str]
    systems: list[str]
    scored_by: str
    left_out: _LeftOut
    caveats: list[str]


class _Recommendation(_Shape):
    signature: str
    by_judge: dict[str, dict[str, _Judged]] = {}
    panel: _Panel | None = None
    leaks: _Leaks
    ranked_by: Literal["average", "average_unleaked", "f1"]
    data: _PostData
    systems: dict[str, _Recommender]
    differences: list[_Difference]
    warnings: list[str]

    @field_validator("signature")
    @classmethod
    def _parses(cls, text: str) -> str:
        Signature.parse(text)
        return text


class _PairMeasures(_Shape):
    pairs: int
    acc_pair: _Number
    acc_query: _Number
    acc_pair_if_independent: _Number
    context_awareness: _Number
    output_variability: _Number
    bias: _Number


class _Answerer(_PairMeasures):
    rank: _Rank
    by_category: dict[str, _PairMeasures]
    by_lang: dict[str, _PairMeasures]
    no_answer: int
    unparsed: int
    unparsed_differences: int


class _PairData(_Shape):
    pairs: int
    by_category: dict[str, int]
    by_lang: dict[str, int]


class _Verifier(_Shape):
    name: str | None
    agreement: _Number


class _Disambiguation(_Shape):
    signature: str
    data: _PairData
    systems: dict[str, _Answerer]
    differences: list[_Difference]
    verifier: _Verifier
    warnings: list[str]
    given: list[str] = []


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
    cautions: list[str] = []


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
