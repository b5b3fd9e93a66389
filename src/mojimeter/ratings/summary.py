"""Everything one asks of a rating study at once, as the JSON document of ``ratings study``.

Calls the questions of `Study` and puts the answers side by side; a question that the design refuses leaves its
reason in the document, never a hole. The screen and the plots read this document and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mojimeter import __version__
from mojimeter.datasets.tables import read_table
from mojimeter.errors import GateError, InputError
from mojimeter.ratings.cautions import cautions_for
from mojimeter.ratings.components import Components
from mojimeter.ratings.design import DesignError
from mojimeter.ratings.gates import hold_gates
from mojimeter.ratings.generalizability import GStudy
from mojimeter.ratings.ranking import Ranking
from mojimeter.ratings.study import Study
from mojimeter.ratings.system_tests import EffectTests
from mojimeter.ratings.verdict import Verdict, judge, refuse
from mojimeter.stats import Estimate

T = TypeVar("T")
SCHEMA = 1
_MOST_PAIRS = 2000
_MOST_RATERS = 200
_MANY_RATERS = 20  # every pair of them is resampled
_MOST_AGREEMENT = 30_000  # ratings; agreement resamples all of them hundreds of times


@dataclass(frozen=True)
class Questions:
    """How a study is to be looked at.

    Attributes:
        object: of measurement; None: system, or item where there are no systems.
        object_variance: "unbiased", "observed_n", "observed_n_minus_1".
        estimator: of the components; None: ems where complete, reml otherwise.
        pairs: "pooled" or "separate" errors of differences.
        margin: below which a difference counts as none; asks for equivalence tests.
        higher_is_better: which end of the scale is rank 1.
        targets: values of G to reach.
        level: of measurement, for agreement.
        seed: of all draws.
    """

    object: str | None = None
    object_variance: str = "unbiased"
    estimator: str | None = None
    pairs: str = "pooled"
    margin: float | None = None
    higher_is_better: bool = True
    targets: tuple[float, ...] = (0.8, 0.9)
    level: str = "interval"
    seed: int = 1


def open_study(
    path: str | Path,
    item: str = "item",
    system: str | None = None,
    rater: str = "rater",
    score: Sequence[str] = ("score",),
    fixed: Sequence[str] = (),
    nested: dict[str, str] | None = None,
    mapping: dict[str, str] | None = None,
) -> Study:
    """A study from a file; without a column `system` it is one of items and raters.

    Raises:
        InputError: the file cannot be read or is no study.
    """
    frame = read_table(path, mapping=mapping)
    if system is None and "system" in frame.columns:
        system = "system"
    return Study(frame, item, system, rater, score, fixed, nested, origin=str(path))


def parse_nesting(texts: Sequence[str]) -> dict[str, str]:
    """``["rater:item"]`` as facet -> parent.

    Raises:
        InputError: a text is not FACET:IN.
    """
    out = {}
    for text in texts:
        facet, colon, parent = text.partition(":")
        if not colon or facet not in ("rater", "item") or not parent:
            raise InputError(f"--nested {text!r}: expected rater:item, rater:item:system or item:COLUMN")
        out[facet] = parent
    return out


def summarise(study: Study, questions: Questions | None = None) -> dict[str, Any]:
    """The JSON document of a study of one score.

    Raises:
        InputError: nothing can be asked of these ratings (one level of a facet, scores all equal).
    """
    ask = questions or Questions()
    # What was asked for by name and cannot be had is an error; what is offered by default is left out with its reason.
    components, refused = _attempt(
        lambda: study.components(ask.estimator, seed=ask.seed), study.design.complete or ask.estimator is not None
    )
    g_study, g_refused = _attempt(
        lambda: study.g_study(ask.object, ask.object_variance, ask.estimator, ask.targets, ask.seed),
        ask.object is not None,
    )
    tests = _tests(study)
    ranking, verdict = _rank(study, ask, tests, components, g_study, refused)
    notes = [*(components.notes if components else ()), *(ranking.notes if ranking else ())]
    notes += [note for note in (g_study.notes if g_study else ()) if note not in notes]
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "signature": _signature(study, ask),
        "source": study.origin,
        "score": study.score,
        "design": study.design.to_dict(),
        "describe": study.design.describe(),
        "scale": _scale(study),
        "anova": study.anova().to_dict() if study.design.complete else [],
        "tests": {name: t.to_dict() for name, t in tests.items()},
        "components": components.to_dict() if components else [],
        "estimator": components.estimator if components else None,
        "formula": components.formula if components else None,
        "criterion": components.criterion if components else None,
        "g": (g_study.g if g_study else Estimate.absent(g_refused)).to_dict(),
        "phi": (g_study.phi if g_study else Estimate.absent(g_refused)).to_dict(),
        "raters_needed": g_study.to_dict()["raters_needed"] if g_study else {},
        "generalizability": g_study.to_dict() if g_study else {"reason": g_refused},
        "d_study": _decisions(study, ask, g_study),
        "agreement": (agreement := _agreement(study, ask)),
        "raters": _raters(study),
        "ranking": ranking.to_dict() if ranking else [],
        "higher_is_better": ask.higher_is_better,
        "pairs": _pairs(ranking),
        "verdict": verdict.verdict,
        "sentence": verdict.sentence,
        "next_steps": list(verdict.next_steps),
        "notes": notes,
        "cautions": list(_cautions(study, ask, ranking, agreement)),
        "seed": ask.seed,
    }
    if refused:
        document["refused"] = refused
    return document


def summarise_all(study: Study, questions: Questions | None = None) -> dict[str, Any]:
    """The document of one score, or with several scores a document that holds one for each."""
    if len(study.score_names) == 1:
        return summarise(study, questions)
    return {"schema": SCHEMA, "scores": {s.score: summarise(s, questions) for s in study.each()}}


def check_gates(document: dict[str, Any], gates: Sequence[str]) -> None:
    """Hold g, phi, alpha and icc (2,1) of every score against the user's floors.

    Raises:
        InputError: a gate is not METRIC=VALUE.
        GateError: one or more are not met, all named.
    """
    missed = []
    for one in [document] if "design" in document else document["scores"].values():
        try:
            hold_gates(_gated(one), gates)
        except GateError as error:
            missed.append(f"{one['score']}: {error}")
    if missed:
        raise GateError("; ".join(missed))


def _gated(document: dict[str, Any]) -> dict[str, float | None]:
    agreement = document["agreement"]
    return {
        "g": document["g"]["value"],
        "phi": document["phi"]["value"],
        "alpha": agreement.get("alpha", {}).get(agreement.get("level"), {}).get("value"),
        "icc": agreement.get("icc", {}).get("2,1", {}).get("value"),
    }


def _signature(study: Study, ask: Questions) -> str:
    """Everything the numbers depend on: two documents may be compared where the settings agree."""
    parts = {
        "data": study.fingerprint(),
        "n": study.design.cells,
        "score": study.score,
        "estimator": ask.estimator or study.default_estimator,
        "object": ask.object or study.default_object,
        "variance": ask.object_variance,
        "fixed": ",".join(sorted(study.design.fixed)) or "-",
        "pairs": ask.pairs,
        "seed": ask.seed,
        "version": __version__,
    }
    plain = {name: re.sub(r"[|:\s]", "_", str(value)) for name, value in parts.items()}
    return "|".join(f"{name}:{value}" for name, value in plain.items())


def _attempt(question: Callable[[], T], must: bool = False) -> tuple[T | None, str]:
    """The answer, or the reason why the design refuses it; `must` lets the refusal through."""
    try:
        return question(), ""
    except DesignError as error:
        if must:
            raise
        return None, str(error)


def _tests(study: Study) -> dict[str, EffectTests]:
    out = {}
    for facet in study.design.facets if study.design.complete else (study.default_object,):
        found, _ = _attempt(partial(study.test, facet))
        if found is not None:
            out[found.source] = found
    return out


def _rank(
    study: Study,
    ask: Questions,
    tests: dict[str, EffectTests],
    components: Components | None,
    g_study: GStudy | None,
    refused: str,
) -> tuple[Ranking | None, Verdict]:
    if "system" not in study.design.levels:
        return None, refuse("there are no systems in this table; it tells how reliable the items' scores are")
    ranking, why = _attempt(
        lambda: study.ranking(ask.pairs, ask.margin, ask.higher_is_better, ask.seed), ask.pairs != "pooled"
    )
    if ranking is None or "system" not in tests or components is None:
        return ranking, refuse(why or refused)
    own = g_study if g_study is not None and g_study.object == "system" else None
    return ranking, judge(tests["system"], ranking, own, components, study.design)


def _scale(study: Study) -> dict[str, float]:
    values = study.values
    return {
        "mean": float(values.mean()),
        "sd": float(values.std(ddof=1)),
        "min": float(values.min()),
        "max": float(values.max()),
    }


def _decisions(study: Study, ask: Questions, g_study: GStudy | None) -> list[dict[str, Any]]:
    """G over numbers of raters at the study's items."""
    if g_study is None or "rater" not in study.design.levels or "rater" in study.design.fixed:
        return []
    now = study.design.levels["rater"]
    grid = sorted({1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 100, now, *(round(now * k) for k in (0.5, 2, 3))} - {0})
    found, _ = _attempt(lambda: study.d_study(grid, (), ask.object, ask.object_variance, ask.estimator, ask.seed))
    return [] if found is None else [row.to_dict() for row in found.rows]


def _agreement(study: Study, ask: Questions) -> dict[str, Any]:
    """Agreement; of a large table that of whole items drawn at random, which `sampled_ratings` then counts."""
    large = study.design.cells > _MOST_AGREEMENT
    many = study.design.levels.get("rater", 0) > _MANY_RATERS and "rater" not in study.design.nested
    draws = 200 if large or many else 1000
    found, why = _attempt(lambda: study.agreement(ask.level, ask.seed, draws, _MOST_AGREEMENT))
    if found is None:
        return {"reason": why}
    document: dict[str, Any] = found.to_dict()
    return document | {"sampled_ratings": _MOST_AGREEMENT} if large else document


def _cautions(study: Study, ask: Questions, ranking: Ranking | None, agreement: Mapping[str, Any]) -> tuple[str, ...]:
    """What does not hold as printed; they were measured with raters who are crossed with the items and a sample."""
    design = study.design
    if "rater" in design.nested or "rater" in design.fixed:
        return ()
    shown = agreement.get("alpha", {}).get(ask.level, {}).get("value") is not None
    levels = design.levels if ranking is not None else {f: n for f, n in design.levels.items() if f != "system"}
    intervals = {one.get("interval") for one in agreement.get("icc", {}).values()}
    return cautions_for(
        levels,
        ask.pairs,
        heterogeneity=None if ranking is None else ranking.heterogeneity,
        agreement=shown,
        icc_interval="f" if "f" in intervals else "components",
    )


def _raters(study: Study) -> list[dict[str, Any]]:
    """Mean, spread and slope of every rater against the mean of the others on the same cells."""
    if "rater" not in study.design.levels or len(study.names["rater"]) > _MOST_RATERS:
        return []
    codes, n = study.codes["rater"], len(study.names["rater"])
    counts = np.bincount(codes, minlength=n)
    means = study.means("rater")
    squares = np.bincount(codes, weights=(study.values - means[codes]) ** 2, minlength=n)
    slopes = _slopes(study.matrix()) if "rater" not in study.design.nested else [None] * n
    return [
        {
            "rater": name,
            "ratings": int(counts[k]),
            "mean": float(means[k]),
            "sd": float(np.sqrt(squares[k] / (counts[k] - 1))) if counts[k] > 1 else None,
            "slope_on_others": slopes[k],
        }
        for k, name in enumerate(study.names["rater"])
    ]


def _slopes(matrix: NDArray[np.float64]) -> list[float | None]:
    known = ~np.isnan(matrix)
    filled = np.where(known, matrix, 0.0)
    total, count = filled.sum(axis=1), known.sum(axis=1)
    out: list[float | None] = []
    for k in range(matrix.shape[1]):
        both = known[:, k] & (count > 1)
        if both.sum() < 3:
            out.append(None)
            continue
        own = matrix[both, k]
        others = (total[both] - own) / (count[both] - 1)
        others = others - others.mean()
        spread = float(others @ others)
        out.append(float(others @ (own - own.mean()) / spread) if spread > 0 else None)
    return out


def _pairs(ranking: Ranking | None) -> list[dict[str, Any]]:
    if ranking is None or len(ranking.systems) * (len(ranking.systems) - 1) // 2 > _MOST_PAIRS:
        return []
    return [pair.to_dict() for pair in ranking.pairs]
