"""What makes a judge unfair: a system of its own kin among the ranked, the order of a pair, the length of an answer.

* Self-preference: how much more a judge thinks of a system that is itself, or of its own maker, than other judges do,
  beyond how much more it thinks of the other systems (a difference of differences over the same posts).
* Order: verdicts on a pair of texts in the order ab and ba should be the same.
* Length: verdicts on answers against the answers' length, beside what people say of the same answers where known;
  without people, a slope may be a bias or the truth.

Knows tables of labels and verdicts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from mojimeter.datasets.records import GOLD
from mojimeter.errors import InputError
from mojimeter.judges.labels import LABELS
from mojimeter.stats.estimate import Estimate
from mojimeter.stats.resample import Floats, bootstrap
from mojimeter.trust.clusters import clusters_of

ITSELF: Final = "itself"
SAME_MAKER: Final = "same maker"

# A model's name starts with one of these -> who made it. Others are kin only to models of the same first word.
MAKERS: Final[Mapping[str, str]] = {
    "gpt": "openai",
    "chatgpt": "openai",
    "o1": "openai",
    "o3": "openai",
    "o4": "openai",
    "claude": "anthropic",
    "gemini": "google",
    "gemma": "google",
    "llama": "meta",
    "mistral": "mistral",
    "mixtral": "mistral",
    "ministral": "mistral",
    "qwen": "alibaba",
    "deepseek": "deepseek",
    "phi": "microsoft",
    "command": "cohere",
    "grok": "xai",
    "smollm": "hugging face",
}
_DATED = re.compile(r"[-@:](?:\d{4}-?\d{2}-?\d{2}|latest|free|\d{4})$")
_NOT_MODELS = ("baseline/", "student/", "hf-classifier/", "random")


@dataclass(frozen=True, slots=True)
class SelfPreference:
    """A judge and a system that is its kin.

    Attributes:
        kinship: ``itself`` or ``same maker``.
        effect: percentage points of preservation that the judge gives this system beyond what the other judges
            give it and beyond its own leniency on the other systems.
    """

    judge: str
    system: str
    kinship: str
    effect: Estimate

    def to_dict(self) -> dict[str, Any]:
        return {
            "judge": self.judge,
            "system": self.system,
            "kinship": self.kinship,
            "effect": self.effect.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class OrderBias:
    """Verdicts on the same pairs in both orders.

    Attributes:
        pairs: with a verdict in both orders.
        ab, ba: percent called different in each order; difference: ab minus ba.
        inconsistent: percent of pairs whose verdict changes with the order.
        p: of no preference for an order among the inconsistent ones (exact binomial; McNemar 1947); None: no such.
    """

    pairs: int
    ab: Estimate
    ba: Estimate
    difference: Estimate
    inconsistent: Estimate
    p: float | None

    def to_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {"pairs": self.pairs}
        out |= {name: getattr(self, name).to_dict() for name in ("ab", "ba", "difference", "inconsistent")}
        return out | {"p": self.p}


@dataclass(frozen=True, slots=True)
class LengthBias:
    """Verdicts against the length of what was judged.

    Attributes:
        answers: with a verdict and a length; unread: without.
        shorter, longer: percent called right in the shorter and in the longer half.
        per_doubling: percentage points of "right" that an answer twice as long gains.
        beyond_people: the same of the judge's verdict minus people's: what length earns undeservedly.
    """

    answers: int
    unread: int
    shorter: Estimate
    longer: Estimate
    per_doubling: Estimate
    beyond_people: Estimate

    def to_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {"answers": self.answers, "unread": self.unread}
        return out | {n: getattr(self, n).to_dict() for n in ("shorter", "longer", "per_doubling", "beyond_people")}


def kinship(judge: str, system: str) -> str | None:
    """``itself``, ``same maker`` or None, from the two models' names (``openai/gpt-4o-mini``, ``gpt-4o``).

    Providers are ignored, for one serves many makers' models; so are dates at the end.
    """
    if judge.startswith(_NOT_MODELS) or system.startswith(_NOT_MODELS) or system == GOLD:
        return None
    first, second = _bare(judge), _bare(system)
    if first == second:
        return ITSELF
    return SAME_MAKER if _maker(first) == _maker(second) else None


def kin_of(judges: Sequence[str], systems: Sequence[str]) -> dict[tuple[str, str], str]:
    """(judge, system) -> kinship, of those that have one: what every table of scores should flag."""
    return {(j, s): kin for j in judges for s in systems if (kin := kinship(j, s)) is not None}


def self_preference(
    labels: pl.DataFrame,
    authors: pl.DataFrame | None = None,
    *,
    known_as: Mapping[str, str] | None = None,
    draws: int = 2000,
    seed: int = 0,
) -> tuple[SelfPreference, ...]:
    """Every judge that has a system of its kin among the ranked, and how it favours it.

    Args:
        labels: canonical labels of one or more judges, with those of the originals (``gold``).
        authors: ``id``, ``author``, for the intervals.
        known_as: judge -> model name, where the judge's name in the table does not say which model it is.
        draws, seed: of the bootstrap over authors.
    """
    judges = labels["judge"].unique(maintain_order=True).to_list()
    systems = [s for s in labels["system"].unique(maintain_order=True) if s != GOLD]
    names = {judge: (known_as or {}).get(judge, judge) for judge in judges}
    scores = _scores(labels, authors)
    out = []
    for judge in judges:
        own = [s for s in systems if kinship(names[judge], s)]
        for system in own:
            strangers = [j for j in judges if j != judge and not kinship(names[j], system)]
            others = [s for s in systems if s not in own and not s.startswith(_NOT_MODELS)]
            effect = _effect(scores, judge, system, strangers, others, draws, seed)
            out.append(SelfPreference(judge, system, kinship(names[judge], system) or "", effect))
    return tuple(out)


def order_bias(differences: pl.DataFrame, *, draws: int = 2000, seed: int = 0) -> OrderBias:
    """Whether verdicts on pairs depend on their order.

    Args:
        differences: ``id``, ``system``, ``pair``, ``order`` (``ab``, ``ba``), ``differs`` (true, false; null: unread).

    Raises:
        InputError: a column is missing, or no pair was judged in both orders.
    """
    _require(differences, ("id", "system", "pair", "order", "differs"))
    frame = differences.with_columns(
        pl.col("differs").cast(pl.String).str.to_lowercase().replace_strict(
            {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0}, default=None, return_dtype=pl.Float64
        )
    )  # fmt: skip
    keys = ["id", "system", "pair"]
    sides = [
        frame.filter(pl.col("order") == order).unique(keys, keep="first").select(*keys, pl.col("differs").alias(order))
        for order in ("ab", "ba")
    ]
    both = sides[0].join(sides[1], on=keys).drop_nulls(["ab", "ba"])
    if not both.height:
        raise InputError("no pair was judged in both orders (column 'order': ab and ba)")
    ab, ba = both["ab"].to_numpy(), both["ba"].to_numpy()
    columns = np.column_stack([ab, ba, ab - ba, ab != ba, np.ones(both.height)])
    table = _by_cluster(columns, both)
    first, second, difference, changed = (_percent(table, column, 4, draws, seed) for column in range(4))
    p = _binomial_p(int((ab > ba).sum()), int((ab < ba).sum()))
    return OrderBias(both.height, first, second, difference, changed, p)


def length_bias(verdicts: pl.DataFrame, *, draws: int = 2000, seed: int = 0) -> LengthBias:
    """Whether longer answers are called right more often than they should be.

    Args:
        verdicts: ``id``, ``verdict`` (``right``, ``wrong``), ``answer`` (its characters count) or ``length``, optional
            ``people`` (people's verdict on the same answer).

    Raises:
        InputError: a column is missing, or there are fewer than ten verdicts on answers of unlike lengths.
    """
    _require(verdicts, ("id", "verdict"))
    if "length" in verdicts.columns:
        size = pl.col("length").cast(pl.Float64, strict=False)
    else:
        _require(verdicts, ("answer",))
        size = pl.col("answer").cast(pl.String).str.strip_chars().str.len_chars().cast(pl.Float64)
    frame = verdicts.with_columns(size=size, judge=_is_right("verdict"))
    read = frame.filter(pl.col("judge").is_not_null() & (pl.col("size") > 0))
    x = np.log2(read["size"].to_numpy()) if read.height else np.empty(0)
    if read.height < 10 or np.ptp(x) == 0:
        raise InputError(f"{read.height} verdicts on answers of unlike lengths: too few to see a bias; 10 are needed")
    y = read["judge"].to_numpy()
    middle = float(np.median(x))
    is_long = x > middle if (x > middle).any() else x >= middle
    halves = _by_cluster(np.column_stack([y * ~is_long, ~is_long, y * is_long, is_long]).astype(float), read)
    beyond = Estimate.absent("no column 'people' with people's verdicts on the same answers")
    if "people" in read.columns:
        people = read.with_columns(p=_is_right("people")).filter(pl.col("p").is_not_null())
        if people.height >= 10:
            excess = people["judge"].to_numpy() - people["p"].to_numpy()
            beyond = _slope(np.log2(people["size"].to_numpy()), excess, people, draws, seed)
        else:
            beyond = Estimate.absent(f"people's verdicts on {people.height} answers: too few")
    return LengthBias(
        read.height,
        frame.height - read.height,
        _percent(halves, 0, 1, draws, seed),
        _percent(halves, 2, 3, draws, seed),
        _slope(x, y, read, draws, seed),
        beyond,
    )


def _bare(name: str) -> str:
    bare = name.rstrip("/").rsplit("/", 1)[-1].casefold().removesuffix(".gguf")
    return _DATED.sub("", bare)


def _maker(bare: str) -> str:
    word = re.split(r"[-_.:\s]", bare, maxsplit=1)[0]
    for start in sorted(MAKERS, key=len, reverse=True):
        if re.match(rf"{start}(?![a-z])", word) or word == start:
            return MAKERS[start]
    return word


def _scores(labels: pl.DataFrame, authors: pl.DataFrame | None) -> pl.DataFrame:
    """``id``, ``author``, ``judge``, ``system``, ``score``: percent of the labels that stayed."""
    tasks = [t for t in LABELS if labels[t].null_count() < labels.height]
    gold = labels.filter((pl.col("system") == GOLD) & (pl.col("epoch") == 1))
    gold = gold.select("id", "judge", *(pl.col(t).alias(f"{t}_gold") for t in tasks))
    both = labels.filter(pl.col("system") != GOLD).join(gold, on=["id", "judge"])
    stays = [(pl.col(t) == pl.col(f"{t}_gold")).fill_null(False).cast(pl.Float64) for t in tasks]
    scored = both.group_by("id", "judge", "system").agg((100.0 * pl.mean_horizontal(stays)).mean().alias("score"))
    return scored if authors is None else scored.join(authors.select("id", "author"), on="id", how="left")


def _effect(
    scores: pl.DataFrame,
    judge: str,
    system: str,
    strangers: Sequence[str],
    others: Sequence[str],
    draws: int,
    seed: int,
) -> Estimate:
    if not strangers:
        return Estimate.absent("no other judge to compare with")
    if not others:
        return Estimate.absent("no other model to compare with")
    keys = [c for c in ("id", "author") if c in scores.columns]
    mine, theirs = pl.col("judge") == judge, pl.col("judge").is_in(list(strangers))
    this, rest = pl.col("system") == system, pl.col("system").is_in(list(others))
    wide = scores.group_by(keys).agg(
        pl.col("score").filter(mine & this).mean().alias("a"),
        pl.col("score").filter(mine & rest).mean().alias("b"),
        pl.col("score").filter(theirs & this).mean().alias("c"),
        pl.col("score").filter(theirs & rest).mean().alias("d"),
    )
    wide = wide.drop_nulls(["a", "b", "c", "d"]).sort("id")
    if not wide.height:
        return Estimate.absent("no post was labelled by both judges for both systems")
    value = (wide["a"] - wide["b"] - wide["c"] + wide["d"]).to_numpy() / 100.0
    return _percent(_by_cluster(np.column_stack([value, np.ones(len(value))]), wide), 0, 1, draws, seed)


def _by_cluster(columns: Floats, frame: pl.DataFrame) -> Floats:
    cluster = clusters_of(frame)
    out = np.zeros((int(cluster.max()) + 1, columns.shape[1]))
    np.add.at(out, cluster, columns.astype(np.float64))
    return out


def _percent(table: Floats, top: int, bottom: int, draws: int, seed: int) -> Estimate:
    def share(sums: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            percent: Floats = 100.0 * sums[:, top] / sums[:, bottom]
        return percent

    return bootstrap(share, table, draws=draws, seed=seed)


def _slope(x: Floats, y: Floats, frame: pl.DataFrame, draws: int, seed: int) -> Estimate:
    x = x - x.mean()
    table = _by_cluster(np.column_stack([np.ones(len(x)), x, y, x * x, x * y]), frame)

    def slope(sums: Floats) -> Floats:
        n, sx, sy, sxx, sxy = sums.T
        with np.errstate(divide="ignore", invalid="ignore"):
            percent: Floats = 100.0 * (n * sxy - sx * sy) / (n * sxx - sx * sx)
        return percent

    return bootstrap(slope, table, draws=draws, seed=seed)


def _is_right(column: str) -> pl.Expr:
    words = {"right": 1.0, "wrong": 0.0}
    text = pl.col(column).cast(pl.String).str.strip_chars().str.to_lowercase()
    return text.replace_strict(words, default=None, return_dtype=pl.Float64)


def _binomial_p(first: int, second: int) -> float | None:
    """Two-sided exact p of as many or more on one side, were both as likely."""
    if first + second == 0:
        return None
    from scipy.special import bdtr

    return min(1.0, 2.0 * float(bdtr(min(first, second), first + second, 0.5)))


def _require(frame: pl.DataFrame, columns: Sequence[str]) -> None:
    for name in columns:
        if name not in frame.columns:
            raise InputError(f"no column {name!r}; there are {', '.join(frame.columns)}")
