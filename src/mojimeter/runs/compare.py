"""Two runs side by side: is one system ahead of another that was run another day?

Only runs with like signatures are compared: the same posts, the same judge with the same prompts and votes,
the same equality and the same way of appending. The systems' own prompt may differ: that is what people
compare. Knows run folders and scores, no model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mojimeter.errors import InputError
from mojimeter.metrics.recommendation import score_recommendations
from mojimeter.metrics.results import RecommendationScores
from mojimeter.runs.folder import RunFolder, read_settings
from mojimeter.runs.kin import kin_of_judge, kin_warning
from mojimeter.runs.signature import Signature
from mojimeter.stats.paired import PairedDifference, paired_difference

METRICS = ("average", "average_unleaked", "f1")
# What may differ between two runs that are compared: the bootstrap is done anew, the version is reported.
_MAY_DIFFER = {"seed", "draws", "version"}
_BASELINE = "baseline/"


@dataclass(frozen=True, slots=True)
class Compared:
    """One system of each run.

    Attributes:
        first, second: the systems' names.
        values: their means over the common posts, in percent.
        result: first minus second, in percentage points.
        kin: whether the judge behind the values is that system or of the same maker; never where no judge is.
    """

    first: str
    second: str
    values: tuple[float, float]
    result: PairedDifference
    kin: tuple[bool, bool] = (False, False)

    def to_dict(self) -> dict[str, Any]:
        named = {"first": self.first, "second": self.second, "kin": list(self.kin), "values": list(self.values)}
        return {**named, **self.result.to_dict()}


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs compared.

    Attributes:
        runs: the folders, as given.
        signatures: of the two runs, as they were printed.
        metric: what was compared: ``average`` (preservation), ``average_unleaked`` or ``f1``.
        pairs: the systems compared.
        warnings: what a reader must know, one sentence each.
    """

    runs: tuple[str, str]
    signatures: tuple[str, str]
    metric: str
    pairs: tuple[Compared, ...]
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": 1,
            "runs": list(self.runs),
            "signatures": list(self.signatures),
            "metric": self.metric,
            "pairs": [pair.to_dict() for pair in self.pairs],
            "warnings": list(self.warnings),
        }


def compare_runs(
    first: str | Path,
    second: str | Path,
    *,
    systems: Sequence[str] = (),
    metric: str = "average",
    draws: int = 2000,
    seed: int = 0,
) -> Comparison:
    """Compare two run folders post by post, on the posts that both scored.

    Args:
        first, second: run folders.
        systems: none: every system that both runs hold, or the one model of each where each has only one;
            one: that system in both; two: that of the first run and that of the second.
        metric: ``average``, ``average_unleaked`` or ``f1``.
        draws, seed: of the bootstrap and of the sign-flip test over authors.

    Raises:
        InputError: a folder is not a finished run, the signatures are unlike, a system is not there, or nothing
            can be compared.
    """
    if metric not in METRICS:
        raise InputError(f"no metric {metric!r} to compare; expected {', '.join(METRICS)}")
    if len(systems) > 2:
        raise InputError(f"{len(systems)} systems: expected at most one of each run")
    signatures = _signature(Path(first)), _signature(Path(second))
    _refuse_unlike(signatures)
    scores = [_score(Path(path), s) for path, s in zip((first, second), signatures, strict=True)]
    pairs = _choose(scores, systems, (str(first), str(second)))
    authors = _authors(Path(first))
    warnings = []
    if signatures[0].version != signatures[1].version:
        warnings.append(f"made by versions {signatures[0].version} and {signatures[1].version} of mojimeter")
    leaked = sorted(
        {a for a, _ in pairs if scores[0].systems[a].leaked} | {b for _, b in pairs if scores[1].systems[b].leaked}
    )
    if leaked and metric == "average":
        warnings.append(
            f"{', '.join(leaked)}: the prompt held the judge's own labels; compare --metric average_unleaked"
        )
    kin, known_as = _kin(signatures[0].judge, pairs, metric, (first, second))
    if kin:
        warnings.append(kin_warning(signatures[0].judge, kin, known_as))
    compared = [_compare(scores, pair, metric, authors, draws, seed) for pair in pairs]
    return Comparison(
        (str(first), str(second)),
        (str(signatures[0]), str(signatures[1])),
        metric,
        tuple(replace(pair, kin=(pair.first in kin, pair.second in kin)) for pair in compared),
        tuple(warnings),
    )


def _kin(
    judge: str, pairs: Sequence[tuple[str, str]], metric: str, runs: Sequence[str | Path]
) -> tuple[dict[str, str], dict[str, str]]:
    """Kin of the judge among the systems compared, and which model the runs say a judge's name stands for."""
    known_as: dict[str, str] = {}
    for run in runs:
        known_as |= (read_settings(run) or {}).get("known_as", {})
    systems = list(dict.fromkeys(name for pair in pairs for name in pair))
    return {} if metric == "f1" else kin_of_judge(judge, systems, known_as), known_as


def _signature(path: Path) -> Signature:
    file = path / "signature.txt"
    if not file.is_file():
        known = "a run that is not finished: the command that made it goes on from there"
        raise InputError(f"{path}: {known if read_settings(path) else 'not a run folder (no settings.toml)'}")
    try:
        return Signature.parse(file.read_text(encoding="utf-8").strip())
    except (ValueError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: {error}") from None


def _refuse_unlike(signatures: tuple[Signature, Signature]) -> None:
    ours, theirs = (replace(s, prompt=s.prompt.partition("+")[2]) for s in signatures)
    unlike = {k: v for k, v in ours.differences(theirs).items() if k not in _MAY_DIFFER}
    if unlike:
        named = "; ".join(f"{name} {a} and {b}" for name, (a, b) in unlike.items())
        raise InputError(f"these runs cannot be compared, their signatures differ in {named}")


def _score(path: Path, signature: Signature) -> RecommendationScores:
    from mojimeter.datasets.readers import read_labels, read_outputs, read_posts

    folder = RunFolder(path)
    return score_recommendations(
        read_posts(folder.table("posts")),
        read_outputs([folder.table("outputs")]),
        read_labels([folder.table("labels")]),
        signature.equality,
        draws=1,  # only the values at each post are needed
        judge=signature.judge,
        append=signature.append,
    )


def _choose(
    scores: Sequence[RecommendationScores], wanted: Sequence[str], runs: tuple[str, str]
) -> list[tuple[str, str]]:
    held = [list(s.systems) for s in scores]
    if wanted:
        pair = (wanted[0], wanted[-1])
        for name, names, run in zip(pair, held, runs, strict=True):
            if name not in names:
                raise InputError(f"{run}: no system {name!r}; it has {', '.join(names)}")
        return [pair]
    models = [[n for n in names if not n.startswith(_BASELINE)] for names in held]
    common = [n for n in models[0] if n in models[1]]
    if common:
        return [(n, n) for n in common]
    if len(models[0]) == len(models[1]) == 1:
        return [(models[0][0], models[1][0])]
    common = [n for n in held[0] if n in held[1]]
    if common and not any(models):
        return [(n, n) for n in common]
    raise InputError(
        f"no system is in both runs ({', '.join(held[0])}; {', '.join(held[1])}): "
        "say which to compare, --system A --system B"
    )


def _authors(path: Path) -> pl.DataFrame:
    from mojimeter.datasets.readers import read_posts

    posts = read_posts(RunFolder(path).table("posts"))
    return posts.select("id", pl.coalesce("author", "id").alias("author"))


def _compare(
    scores: Sequence[RecommendationScores],
    pair: tuple[str, str],
    metric: str,
    authors: pl.DataFrame,
    draws: int,
    seed: int,
) -> Compared:
    columns = [
        pl.DataFrame({"id": s.post_ids, side: _values(s, name, metric)})
        for s, name, side in zip(scores, pair, ("first", "second"), strict=True)
    ]
    both = (
        columns[0]
        .join(columns[1], on="id")
        .join(authors, on="id")
        .filter(~pl.any_horizontal(pl.col("first", "second").is_nan()))
    )
    if both.is_empty():
        raise InputError(f"{pair[0]} and {pair[1]} were scored on no common post")
    first, second = both["first"].to_numpy(), both["second"].to_numpy()
    cluster = both["author"].rank("dense").to_numpy().astype(np.int64) - 1
    result = paired_difference(first, second, cluster, draws=draws, seed=seed)
    return Compared(*pair, (float(first.mean()), float(second.mean())), result)


def _values(scores: RecommendationScores, name: str, metric: str) -> Any:
    if metric not in scores.by_post[name]:
        raise InputError(f"{name}: no {metric} to compare; the run holds no labels of it")
    return scores.by_post[name][metric]
