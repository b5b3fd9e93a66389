"""Benchmark B from tables: do systems read an emoji by its context, and how much is guessing or habit.

Every measure is a ratio of sums over pairs (or a function of such sums), so every interval resamples whole
pairs. What could not be read is left out of its measure and counted; it is never taken as wrong. Knows tables
and numbers: no model, no file, no command line.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from mojimeter.datasets.pairs import COMPARED, CONDITIONS, ORDERS, as_answers, as_differences, as_pairs
from mojimeter.errors import InputError
from mojimeter.judges.labels import parse_labels
from mojimeter.metrics.standing import Standing, rank_systems
from mojimeter.stats.estimate import Estimate
from mojimeter.stats.paired import paired_difference
from mojimeter.stats.resample import Floats, bootstrap

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

MEASURES = (
    "acc_pair",
    "acc_query",
    "acc_pair_if_independent",
    "context_awareness",
    "output_variability",
    "bias",
)
NO_VERDICTS = "no verdicts were given"
NO_DIFFERENCES = "no differences were given"
NO_READINGS = "no readings were given: a wrong answer does not say which reading it took"
NO_PEOPLE = "no verdicts by people were given"
# Below this many pairs percentile intervals are known to be too narrow (Cameron, Gelbach & Miller 2008).
_FEW_PAIRS = 20


@dataclass(frozen=True, slots=True)
class SystemDisambiguation:
    """What one system scored; shares from 0 to 1.

    Attributes:
        pairs: pairs with at least one answer of it.
        measures: ``acc_pair``, ``acc_query``, ``acc_pair_if_independent``, ``context_awareness``,
            ``output_variability``, ``bias`` (the share of figurative readings), as the contract names them.
        details: ``acc_by_context`` (the p1 and p2 of the pair accuracy under independence), ``acc_pair_gain``
            (pair accuracy less that), ``bias_without_context``, ``strings_differ`` (string inequality, the cheap
            upper bound of ``context_awareness`` and ``output_variability``).
        by: the measures for each ``category``, ``lang`` and ``emoji``.
        counts: what was left out and why; see ``score_disambiguation``.
        rank: best and worst place by pair accuracy that the data leave open.
    """

    pairs: int
    measures: Mapping[str, Estimate]
    details: Mapping[str, Any]
    by: Mapping[str, Mapping[str, Any]]
    counts: Mapping[str, int]
    rank: tuple[int, int]

    def to_dict(self) -> dict[str, Any]:
        """The contract's object for a system."""
        return {
            "pairs": self.pairs,
            **_plain(self.measures),
            **_plain(self.details),
            "rank": list(self.rank),
            **{f"by_{name}": _plain(groups) for name, groups in self.by.items()},
            **self.counts,
        }


@dataclass(frozen=True, slots=True)
class DisambiguationScores:
    """Scores of all systems on one set of pairs, in the form that ``disambiguate --json`` prints.

    Attributes:
        signature: what the numbers depend on.
        data: ``pairs``, counts by category and language, and ``balanced`` (pairs with one literal and one figurative
            reading, on which bias rests).
        systems: by pair accuracy, best first.
        differences: for every two systems and both accuracies the paired difference, with the interval that holds for
            all pairs of systems at once and whether it leaves out 0 (``separated``); places rest on ``acc_pair``.
        verifier: its name and how it agrees with people; more where it was measured otherwise.
        warnings: what was left out or looks wrong, one sentence each.
        calls: model calls made and saved for these numbers (none, when scored from files).
    """

    signature: str
    data: Mapping[str, Any]
    systems: Mapping[str, SystemDisambiguation]
    differences: tuple[Mapping[str, Any], ...]
    verifier: Mapping[str, Any]
    warnings: tuple[str, ...]
    calls: Mapping[str, int] = field(default_factory=lambda: {"made": 0, "saved": 0})

    def to_dict(self) -> dict[str, Any]:
        """The contract's document."""
        return {
            "schema": 1,
            "signature": self.signature,
            "calls": dict(self.calls),
            "data": dict(self.data),
            "systems": {name: scores.to_dict() for name, scores in self.systems.items()},
            "differences": _plain(self.differences),
            "verifier": _plain(self.verifier),
            "warnings": list(self.warnings),
        }


def score_disambiguation(
    pairs: IntoDataFrame,
    answers: IntoDataFrame,
    differences: IntoDataFrame | None = None,
    people: IntoDataFrame | None = None,
    *,
    draws: int = 2000,
    seed: int = 0,
    verifier: str | None = None,
    verifier_facts: Mapping[str, Any] | None = None,
    prompt: str = "-",
) -> DisambiguationScores:
    """Score answers to pairs.

    With I_k = 1 where the answer under context k is right (EMODIS, equations 1, 2, 4 and 5):

    * ``acc_pair``: mean of I_1 I_2 over pairs whose two verdicts are known;
    * ``acc_query``: mean of I over all answers under a context whose verdict is known;
    * ``acc_pair_if_independent``: p_1 p_2, where p_k is the accuracy under context k;
    * ``context_awareness``: share of pairs whose two answers differ in meaning, both orders saying so;
    * ``output_variability``: share of answers under a context that differ in meaning from the one without;
    * ``bias``: share of figurative readings among the literal and figurative ones, over pairs with one
      reading of each kind, read under both contexts; 0.5 where neither is preferred.

    Left out and counted, a system at a time: ``unparsed`` verdicts that could not be read, ``unverified`` answers
    without a verdict, ``missing`` answers, ``unparsed_differences`` that could not be read, ``one_order`` comparisons
    asked in one order only, ``neither`` readings that are neither of the two. Counted and not left out: ``no_answer``,
    answers that are empty: without a verdict they are wrong. An empty verdict beside a reading is taken from it.

    Args:
        pairs: see ``datasets.pairs.as_pairs``.
        answers: see ``datasets.pairs.as_answers``; those to other pairs are left out with a warning.
        differences: see ``datasets.pairs.as_differences``.
        people: people's verdicts on some of the answers: ``id``, ``system``, ``condition``, ``verdict``.
        draws, seed: of the bootstrap over pairs.
        verifier: who gave the verdicts and differences.
        verifier_facts: how it was measured otherwise; goes into ``verifier`` as it is.
        prompt: of the systems and the verifier, for the signature.

    Raises:
        InputError: a table is wrong, or no answer belongs to a pair.
    """
    if draws < 1:
        raise InputError(f"{draws} bootstrap draws: expected 1 or more")
    pairs_frame = as_pairs(_native(pairs), "pairs")
    warnings: list[str] = []
    answers_frame = _of_these_pairs(as_answers(_native(answers), "answers"), pairs_frame, "answers", warnings)
    if not answers_frame.height:
        raise InputError("answers: none of them is to one of these pairs; the ids must be those of the pairs")
    differences_frame = None
    if differences is not None:
        given = as_differences(_native(differences), "differences")
        differences_frame = _of_these_pairs(given, pairs_frame, "differences", warnings)
    if pairs_frame.height < _FEW_PAIRS:
        warnings.append(
            f"only {pairs_frame.height} pairs to resample: intervals from so few are too narrow"
            if pairs_frame.height > 1
            else "one pair: no interval can be given"
        )
    names = answers_frame["system"].unique(maintain_order=True).to_list()
    at_work = [_System(name, pairs_frame, answers_frame, differences_frame) for name in names]
    standings = {measure: _standing(at_work, measure, draws, seed) for measure in ("acc_pair", "acc_query")}
    standing = standings["acc_pair"]
    scored = [
        _scores(system, pairs_frame, rank, draws, seed) for system, rank in zip(at_work, standing.ranks, strict=True)
    ]
    order = sorted(range(len(names)), key=lambda i: (-standing.values.get(names[i], -1.0), names[i]))
    agreement, agreed = _verifier_agreement(answers_frame, people, pairs_frame, draws, seed)
    facts = {
        "name": verifier,
        "agreement": agreement[0],
        "kappa": agreement[1],
        "kappa_with_people": agreement[1],
        "people": agreed,
    }
    return DisambiguationScores(
        signature=_signature(pairs_frame, verifier, prompt, draws, seed),
        data=_data(pairs_frame),
        systems={names[i]: scored[i] for i in order},
        differences=_paired_differences(at_work, order, standings, draws, seed),
        verifier={**facts, **(verifier_facts or {})},
        warnings=tuple(warnings),
    )


class _System:
    """One system's answers as arrays over pairs; NaN where something is not known."""

    def __init__(self, name: str, pairs: pl.DataFrame, answers: pl.DataFrame, differences: pl.DataFrame | None) -> None:
        self.name = name
        self.row = {pair_id: row for row, pair_id in enumerate(pairs["id"])}
        shape = pairs.height
        self.right = {k: np.full(shape, np.nan) for k in "12"}
        self.reading: dict[str, list[str | None]] = {k: [None] * shape for k in CONDITIONS}
        self.text: dict[str, list[str | None]] = {k: [None] * shape for k in CONDITIONS}
        self.counts = dict.fromkeys(("unparsed", "unverified", "missing", "no_answer", "neither"), 0)
        self.counts |= {"unparsed_differences": 0, "one_order": 0}
        own = answers.filter(pl.col("system") == name)
        own = own.with_columns(parse_labels("verdict", own["verdict"]).alias("parsed"))
        self.has_verdicts = self.has_readings = False
        for row in own.iter_rows(named=True):
            self._take(row)
        self.asked = np.array([any(self.text[k][i] is not None for k in CONDITIONS) for i in range(shape)])
        self.counts["missing"] = int(sum(self.text[k][i] is None for k in "12" for i in np.flatnonzero(self.asked)))
        self.differs = self._differences(differences, shape)

    @property
    def by_pair(self) -> dict[str, Floats]:
        """Each accuracy on each pair; NaN where one of its two verdicts is not known."""
        first, second = self.right["1"], self.right["2"]
        return {"acc_pair": first * second, "acc_query": (first + second) / 2.0}

    def _take(self, row: Mapping[str, Any]) -> None:
        place, k = self.row[row["id"]], row["condition"]
        self.text[k][place] = row["answer"] or ""
        verdict, reading = row["parsed"], row["reading"]
        self.has_readings |= reading is not None
        if not row["answer"]:
            self.counts["no_answer"] += 1
            if row["verdict"] is None and reading is None:
                verdict, reading = "wrong", "neither"
        if k != "none":
            if row["verdict"] is not None and verdict is None:
                self.counts["unparsed"] += 1
            elif verdict is None and reading is None:
                self.counts["unverified"] += 1
            elif verdict is None:
                verdict = "right" if reading == k else "wrong"
            if verdict is not None:
                self.has_verdicts = True
                self.right[k][place] = float(verdict == "right")
                if reading is None and verdict == "right":
                    reading = k
        self.counts["neither"] += reading == "neither"
        self.reading[k][place] = reading

    def _differences(self, differences: pl.DataFrame | None, shape: int) -> dict[str, Floats] | None:
        if differences is None:
            return None
        own = differences.filter(pl.col("system") == self.name)
        if not own.height:
            return None
        said: dict[tuple[str, int], dict[str, bool | None]] = {}
        for row in own.iter_rows(named=True):
            said.setdefault((row["pair"], self.row[row["id"]]), {})[row["order"]] = row["differs"]
        found = {compared: np.full(shape, np.nan) for compared in COMPARED}
        for (compared, place), by_order in said.items():
            unread = [order for order in by_order if by_order[order] is None]
            self.counts["unparsed_differences"] += len(unread)
            if len(by_order) < len(ORDERS):
                self.counts["one_order"] += 1
            elif not unread:
                found[compared][place] = float(all(by_order.values()))
        return found


def _scores(system: _System, pairs: pl.DataFrame, rank: tuple[int, int], draws: int, seed: int) -> SystemDisambiguation:
    balanced = (pairs["reading_1"] != pairs["reading_2"]).fill_null(False).to_numpy()
    figurative = {k: (pairs[f"reading_{k}"] == "figurative").fill_null(False).to_numpy() for k in "12"}
    columns = _Columns(system, balanced, figurative)

    def measure(rows: Floats | None = None) -> dict[str, Estimate]:
        return {name: columns.measure(name, rows, draws, seed) for name in MEASURES}

    by: dict[str, dict[str, Any]] = {}
    for group in ("category", "lang", "emoji"):
        by[group] = {}
        for value in pairs[group].drop_nulls().unique(maintain_order=True):
            rows = (pairs[group] == value).fill_null(False).to_numpy()
            if (rows & system.asked).any():
                by[group][value] = {"pairs": int((rows & system.asked).sum()), **measure(rows)}
    details = {
        "acc_by_context": {k: columns.measure(f"acc_{k}", None, draws, seed) for k in "12"},
        "acc_pair_gain": columns.measure("acc_pair_gain", None, draws, seed),
        "bias_without_context": columns.measure("bias_without_context", None, draws, seed),
        "strings_differ": {
            "between_contexts": columns.measure("strings_1-2", None, draws, seed),
            "from_no_context": columns.measure("strings_none", None, draws, seed),
        },
    }
    return SystemDisambiguation(int(system.asked.sum()), measure(), details, by, system.counts, rank)


Statistic = Callable[[Floats], Floats]


class _Columns:
    """For each measure its columns of sums, one row a pair, and the function of the sums that it is."""

    def __init__(self, system: _System, balanced: Any, figurative: Mapping[str, Any]) -> None:
        self.system = system
        self.balanced = balanced
        self.figurative = figurative

    def measure(self, name: str, rows: Any, draws: int, seed: int) -> Estimate:
        """The estimate over some of the pairs (None: all), or why there is none."""
        found = self._columns(name)
        if isinstance(found, str):
            return Estimate.absent(found)
        columns, statistic, empty = found
        columns = columns if rows is None else columns[rows]
        # pairs that say nothing of a measure are not among what is resampled for it
        columns = columns[columns[:, 1::2].sum(axis=1) > 0]
        if not len(columns) or (columns[:, 1::2].sum(axis=0) == 0).any():
            return Estimate.absent(empty)
        return bootstrap(statistic, columns, draws=draws, seed=seed)

    def _columns(self, name: str) -> tuple[Floats, Statistic, str] | str:
        system, right = self.system, self.system.right
        if name.startswith("acc_"):
            if not system.has_verdicts:
                return NO_VERDICTS
            if name == "acc_pair":
                return _ratio(system.by_pair["acc_pair"]), _share, "no pair has both verdicts"
            each = np.hstack([_ratio(right["1"]), _ratio(right["2"])])
            if name in ("acc_1", "acc_2"):
                return _ratio(right[name[-1]]), _share, f"no verdict under context {name[-1]}"
            if name == "acc_query":
                return each[:, :2] + each[:, 2:], _share, "no answer has a verdict"
            reason = "no verdict under one of the contexts"
            if name == "acc_pair_if_independent":
                return each, _product, reason
            return np.hstack([_ratio(system.by_pair["acc_pair"]), each]), _gain, "no pair has both verdicts"
        if name.startswith("strings_"):
            return self._strings(name.removeprefix("strings_"))
        if name.startswith("bias"):
            return self._bias(("none",) if name == "bias_without_context" else ("1", "2"))
        if system.differs is None:
            return NO_DIFFERENCES
        if name == "context_awareness":
            return _ratio(system.differs["1-2"]), _share, "no two answers were compared in both orders"
        both = _ratio(system.differs["1-none"]) + _ratio(system.differs["2-none"])
        return both, _share, "no answer was compared in both orders with the one without context"

    def _strings(self, compared: str) -> tuple[Floats, Statistic, str]:
        text = self.system.text
        if compared == "1-2":
            return _ratio(_unequal(text["1"], text["2"])), _share, "no pair has both answers"
        both = _ratio(_unequal(text["1"], text["none"])) + _ratio(_unequal(text["2"], text["none"]))
        return both, _share, "no answers without context were given"

    def _bias(self, conditions: Sequence[str]) -> tuple[Floats, Statistic, str] | str:
        system = self.system
        if not system.has_readings:
            return NO_READINGS
        if not self.balanced.any():
            return "no pair has one literal and one figurative reading"
        columns = np.zeros((len(self.balanced), 2))
        for place in np.flatnonzero(self.balanced):
            given = [system.reading[k][place] for k in conditions]
            if None in given:
                continue
            told = [reading for reading in given if reading in ("1", "2")]
            columns[place] = sum(bool(self.figurative[r][place]) for r in told if r), len(told)
        return columns, _share, "no answer was read as literal or figurative on a pair that has one of each"


def _ratio(values: Floats) -> Floats:
    """Two columns a pair: the value, and whether there is one."""
    known = np.isfinite(values)
    return np.column_stack([np.where(known, values, 0.0), known.astype(float)])


def _share(sums: Floats) -> Floats:
    return _divided(sums[:, 0], sums[:, 1])


def _product(sums: Floats) -> Floats:
    return _divided(sums[:, 0], sums[:, 1]) * _divided(sums[:, 2], sums[:, 3])


def _gain(sums: Floats) -> Floats:
    return _share(sums) - _product(sums[:, 2:])


def _divided(numerator: Floats, denominator: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient: Floats = numerator / denominator
    return quotient


def _unequal(first: Sequence[str | None], second: Sequence[str | None]) -> Floats:
    """1 where two answers are other strings, whatever their case and space; NaN where one is missing."""
    return np.array(
        [
            np.nan if a is None or b is None else float(a.casefold().split() != b.casefold().split())
            for a, b in zip(first, second, strict=True)
        ]
    )


def _standing(systems: Sequence[_System], measure: str, draws: int, seed: int) -> Standing:
    """All systems compared at once by one of the accuracies."""
    names, values = [system.name for system in systems], [system.by_pair[measure] for system in systems]
    count = len(values[0])
    return rank_systems(names, values, np.arange(count), count, draws=draws, seed=seed)


def _paired_differences(
    systems: Sequence[_System], order: Sequence[int], standings: Mapping[str, Standing], draws: int, seed: int
) -> tuple[Mapping[str, Any], ...]:
    """Every two systems on the pairs whose verdicts both know, the better one first."""
    found: list[Mapping[str, Any]] = []
    for measure, standing in standings.items():
        for i, j in combinations(order, 2):
            first, second = systems[i].by_pair[measure], systems[j].by_pair[measure]
            common = np.isfinite(first) & np.isfinite(second)
            if not common.any():
                continue
            difference = paired_difference(first[common], second[common], draws=draws, seed=seed)
            found.append(
                {
                    "system": systems[i].name,
                    "against": systems[j].name,
                    "measure": measure,
                    "difference": difference.difference,
                    **standing.compared.verdict(i, j),
                    "p": difference.p,
                    "detectable": difference.detectable,
                    "pairs": difference.posts,
                }
            )
    return tuple(found)


def _verifier_agreement(
    answers: pl.DataFrame, people: IntoDataFrame | None, pairs: pl.DataFrame, draws: int, seed: int
) -> tuple[tuple[Estimate, Estimate], dict[str, int] | None]:
    """Agreement and kappa (Cohen 1960) of verifier and people on the answers both judged, over pairs."""
    if people is None:
        return (Estimate.absent(NO_PEOPLE), Estimate.absent(NO_PEOPLE)), None
    frame = _native(people)
    if "verdict" not in frame.columns:
        raise InputError(f"people's verdicts: no column 'verdict'; it has {', '.join(frame.columns)}")
    if "answer" not in frame.columns:
        frame = frame.with_columns(pl.lit(None, dtype=pl.String).alias("answer"))
    theirs = as_answers(frame, "people's verdicts")
    both = answers.filter(pl.col("condition") != "none").join(
        theirs.select("id", "system", "condition", pl.col("verdict").alias("by_people")),
        on=["id", "system", "condition"],
        how="inner",
    )
    ours = parse_labels("verdict", both["verdict"])
    by_people = parse_labels("verdict", both["by_people"])
    counts = {
        "answers": both.height,
        "unparsed": int(by_people.null_count()),
        "not_found": theirs.height - both.height,
    }
    row = {pair_id: place for place, pair_id in enumerate(pairs["id"])}
    cells = np.zeros((pairs.height, 4))
    for pair_id, mine, other in zip(both["id"], ours, by_people, strict=True):
        if mine is not None and other is not None:
            cells[row[pair_id], 2 * (mine == "right") + (other == "right")] += 1
    cells = cells[cells.sum(axis=1) > 0]
    if not len(cells):
        reason = "no answer has a verdict both by the verifier and by people"
        return (Estimate.absent(reason), Estimate.absent(reason)), counts
    agreement = bootstrap(lambda s: _divided(s[:, 0] + s[:, 3], s.sum(axis=1)), cells, draws=draws, seed=seed)
    kappa = bootstrap(cohen_kappa, cells, draws=draws, seed=seed)
    if not np.isfinite(kappa.value if kappa.value is not None else np.nan):
        kappa = Estimate.absent("all verdicts are the same: chance alone would agree every time")
    return (agreement, kappa), counts


def cohen_kappa(cells: Floats) -> Floats:
    """Kappa of two by two tables, shape (n, 4): both wrong, second right, first right, both right (Cohen 1960)."""
    total = cells.sum(axis=1)
    first, second = cells[:, 2] + cells[:, 3], cells[:, 1] + cells[:, 3]
    observed = _divided(cells[:, 0] + cells[:, 3], total)
    chance = _divided(first * second + (total - first) * (total - second), total**2)
    return _divided(observed - chance, 1.0 - chance)


def _of_these_pairs(frame: pl.DataFrame, pairs: pl.DataFrame, what: str, warnings: list[str]) -> pl.DataFrame:
    kept = frame.join(pairs.select("id"), on="id", how="semi", maintain_order="left")
    if kept.height < frame.height:
        warnings.append(f"{frame.height - kept.height} {what} to pairs that are not among these are left out")
    return kept


def _data(pairs: pl.DataFrame) -> dict[str, Any]:
    def counted(column: str) -> dict[str, int]:
        values = pairs[column].drop_nulls()
        return dict(sorted(values.value_counts().iter_rows()))

    return {
        "pairs": pairs.height,
        "by_category": counted("category"),
        "by_lang": counted("lang"),
        "emoji": pairs["emoji"].n_unique(),
        "balanced": int((pairs["reading_1"] != pairs["reading_2"]).fill_null(False).sum()),
    }


def _signature(pairs: pl.DataFrame, verifier: str | None, prompt: str, draws: int, seed: int) -> str:
    from mojimeter import __version__

    columns = pairs.select("id", "text", "question", "context_1", "answer_1", "context_2", "answer_2").sort("id")
    digest = hashlib.sha256(columns.write_csv(include_header=False).encode()).hexdigest()[:8]
    parts = {
        "data": digest,
        "n": pairs.height,
        "verifier": verifier or "-",
        "prompt": prompt,
        "seed": seed,
        "draws": draws,
        "version": __version__,
    }
    return "|".join(f"{name}:{str(value).replace('|', '/')}" for name, value in parts.items())


def _native(frame: IntoDataFrame) -> pl.DataFrame:
    import narwhals as nw

    return frame if isinstance(frame, pl.DataFrame) else nw.from_native(frame).to_polars()


def _plain(value: Any) -> Any:
    """JSON's own types all the way down."""
    if isinstance(value, Estimate):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value
