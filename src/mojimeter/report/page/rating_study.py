"""A rating study as the page shows it: verdict, variance shares, G over raters, raters, ranking, length.

From a table of ratings the study is run here; a saved document is shown as it is; several judges of a run are raters
too. Knows the questions of ``ratings``; nothing of HTML.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mojimeter.datasets.records import TASKS
from mojimeter.datasets.tables import read_table
from mojimeter.errors import InputError
from mojimeter.judges.panel import preservation_ratings
from mojimeter.metrics.preservation import UNLEAKED
from mojimeter.ratings.reading import read_scores
from mojimeter.ratings.study import Study
from mojimeter.ratings.summary import summarise
from mojimeter.report.page.options import ReportOptions, Say
from mojimeter.report.page.sources import Source
from mojimeter.report.sentences import plain_caution

#: Columns that say how long an output is, by the names they usually have.
LENGTHS = ("length", "words", "tokens", "characters", "chars", "emoji")
_SHOWN_ALONG = ("text", "lang")
_MOST_CELLS = 400_000  # ratings listed one by one


def describe_study(source: Source, options: ReportOptions, say: Say) -> dict[str, Any]:
    """One study for the page; see docs/report.md for its fields.

    Raises:
        InputError: the table is no study.
    """
    if source.document is not None:
        notes = ["only a saved document was given: no ratings one by one, no length (give the table of ratings)"]
        return _run(source.document, None, {"reason": notes[0]}, notes)
    frame = read_table(source.path, mapping=_usable(source.path, options.mapping))
    return study_of(frame, source.path.name, options, lambda done: say(f"{source.name}: rating study", done, 3))


def study_of(frame: pl.DataFrame, origin: str, options: ReportOptions, say: Any = lambda done: None) -> dict[str, Any]:
    """A study of a table of ratings: ``item``, ``system`` where there are several, ``rater``, ``score``.

    Raises:
        InputError: the table is no study.
    """
    for column in ("item", "rater", "score"):
        if column not in frame.columns:
            raise InputError(
                f"{origin}: no column {column!r}; it has {', '.join(frame.columns)} (a table of ratings has item, "
                "system, rater and score; --map OURS=THEIRS names others)"
            )
    system = "system" if "system" in frame.columns else None
    frame = frame.with_columns(pl.Series("score", read_scores(frame["score"], origin)))
    say(0)
    study = Study(frame, system=system, origin=origin)
    document = summarise(study)
    say(1)
    length = _length(study, frame)
    say(2)
    notes: list[str] = []
    run = _run(document, _raters(document, frame), length, notes)
    run["items"] = _items(frame, options, notes)
    say(3)
    return run


def judges_as_raters(
    labels: pl.DataFrame, outputs: pl.DataFrame | None, panel: Mapping[str, Any]
) -> pl.DataFrame | None:
    """The item x system x judge table behind a run's panel: percent of labels kept, mean over attempts.

    Args:
        labels, outputs: canonical; no outputs where only labels were given.
        panel: of the run's document; names judges, systems and the score that ranks.

    Returns:
        Columns ``item``, ``system``, ``rater``, ``score``, of the posts that count for every judge and system.
    """
    count = UNLEAKED if panel["scored_by"] == "average_unleaked" else TASKS
    tasks = [task for task in count if labels[task].null_count() < labels.height]
    table = preservation_ratings(labels, outputs, tasks).filter(
        pl.col("system").is_in(panel["systems"]) & pl.col("rater").is_in(panel["judges"])
    )
    whole = table.group_by("item").len().filter(pl.col("len") == len(panel["systems"]) * len(panel["judges"]))
    table = table.join(whole.select("item"), on="item", how="semi", maintain_order="left")
    percent = pl.col("score") * 100.0 / len(tasks)
    return table.select("item", "system", "rater", percent) if table.height else None


def _usable(path: Path, mapping: Mapping[str, str]) -> dict[str, str]:
    """The pairs of ``--map`` that this file has the columns of."""
    if not mapping:
        return {}
    there = read_table(path).columns
    return {ours: theirs for ours, theirs in mapping.items() if theirs in there}


def _run(
    document: Mapping[str, Any],
    raters: Sequence[Mapping[str, Any]] | None,
    length: Mapping[str, Any],
    notes: list[str],
) -> dict[str, Any]:
    return {
        "kind": "rating_study",
        "signature": document.get("signature"),
        "document": document,
        "notes": notes,
        "study": {
            "sentence": document["sentence"],
            "cautions": [plain_caution(caution) for caution in document.get("cautions", ())],
            "verdict": document["verdict"],
            "variance": [_share(component) for component in document["components"]],
            "g_curve": [{"raters": row["rater"], "g": row["g"], "phi": row["phi"]} for row in document["d_study"]],
            "raters_now": document["design"].get("rater"),
            "raters": list(raters) if raters is not None else [_rater(row) for row in document["raters"]],
            "ranking": document["ranking"],
            "length": length if "columns" in length else None,
            "length_reason": length.get("reason"),
            "agreement": document["agreement"],
        },
        "items": None,
    }


def _share(component: Mapping[str, Any]) -> dict[str, Any]:
    return {name: component.get(name) for name in ("source", "share", "estimate", "used", "ci")}


def _rater(row: Mapping[str, Any], ci: Sequence[float] | None = None) -> dict[str, Any]:
    slope = row["slope_on_others"]
    return {
        "rater": row["rater"],
        "n": row["ratings"],
        "mean": {"value": row["mean"]} | ({"ci": list(ci)} if ci is not None else {}),
        "sd": row["sd"],
        "slope": {"value": slope}
        if slope is not None
        else {"value": None, "reason": "too few cells shared with others"},
    }


def _raters(document: Mapping[str, Any], frame: pl.DataFrame) -> list[dict[str, Any]]:
    """Raters with an interval of their mean over items: t of the items' means, as of other items like these."""
    from scipy.special import stdtrit

    scores = frame.select(
        pl.col("item").cast(pl.String), pl.col("rater").cast(pl.String), pl.col("score").cast(pl.Float64)
    )
    out = []
    for row in document["raters"]:
        own = scores.filter(pl.col("rater") == row["rater"])
        sums = own.group_by("item", maintain_order=True).agg(pl.col("score").sum(), pl.len().alias("n"))
        total, count, n = sums["score"].to_numpy(), sums["n"].to_numpy().astype(float), sums.height
        ci = None
        if n > 1:
            # standard error of a ratio of sums over items (Cochran 1977, Sampling Techniques, 6.3)
            spread = float(((total - row["mean"] * count) ** 2).sum()) * n / (n - 1)
            margin = float(stdtrit(n - 1, 0.975)) * np.sqrt(spread) / count.sum()
            ci = (row["mean"] - margin, row["mean"] + margin)
        out.append(_rater(row, ci))
    return out


def _length(study: Study, frame: pl.DataFrame) -> dict[str, Any]:
    """What length does to the scores, for each column that says how long an output is; or why there is nothing."""
    if "system" not in study.design.levels:
        return {"reason": "there are no systems whose lengths could be compared"}
    there = [column for column in LENGTHS if column in frame.columns]
    if not there:
        return {"reason": f"the table has no column that says how long outputs are ({', '.join(LENGTHS)})"}
    columns, reasons = {}, []
    for column in there:
        try:
            found = study.length(column).to_dict()
        except InputError as error:
            reasons.append(str(error))
            continue
        by_win_rate = sorted(found["systems"], key=lambda s: (s["win_rank"] is None, s["win_rank"] or 0.0))
        columns[column] = {
            "slope_panel": found["panel"]["within_items"],
            "by_rater": [{"rater": r["rater"], "slope": r["within_items"]} for r in found["raters"]],
            "matched_ranking": [
                {
                    "system": s["system"],
                    "win_rate": s["win_rate"],
                    "rank": s["win_rank"],
                    "raw_rank": s["rank"],
                    "mean": s["mean"],
                    "length": s["length"],
                    "matched": s["matched"],
                }
                for s in by_win_rate
            ],
            "matched": found["matched"],
        }
    return {"columns": columns, "reason": "; ".join(reasons) or None} if columns else {"reason": "; ".join(reasons)}


def _items(frame: pl.DataFrame, options: ReportOptions, notes: list[str]) -> dict[str, Any] | None:
    """Every rating, by system and rater in the order of the items; a cell rated twice has the mean."""
    if frame.height > _MOST_CELLS:
        notes.append(f"{frame.height:,} ratings are too many to list one by one")
        return None
    frame = frame.with_columns(pl.col("item", "rater").cast(pl.String))
    systems = frame["system"].cast(pl.String) if "system" in frame.columns else pl.Series(["all"] * frame.height)
    frame = frame.with_columns(systems.alias("system"))
    ids = frame["item"].unique(maintain_order=True)
    if options.max_items is not None and len(ids) > options.max_items:
        notes.append(f"the list shows the first {options.max_items:,} of {len(ids):,} items; the study rests on all")
        ids = ids.head(options.max_items)
    row_of = {item: row for row, item in enumerate(ids)}
    frame = frame.join(ids.to_frame("item"), on="item", how="semi", maintain_order="left")
    cells = frame.group_by("system", "rater", "item", maintain_order=True).agg(pl.col("score").mean(), pl.len())
    if (cells["len"] > 1).any():
        notes.append("cells rated more than once by a rater are listed with their mean")
    scores: dict[str, dict[str, list[float | None]]] = {}
    for system, rater, item, score, _ in cells.iter_rows():
        of_rater = scores.setdefault(system, {}).setdefault(rater, [None] * len(ids))
        of_rater[row_of[item]] = score
    out: dict[str, Any] = {"n": len(ids), "id": ids.to_list(), "scores": scores}
    for column in _SHOWN_ALONG:
        if column in frame.columns and (column != "text" or options.texts):
            first = frame.group_by("item", maintain_order=True).agg(
                pl.col(column).cast(pl.String), pl.col(column).n_unique().alias("kinds")
            )
            if (first["kinds"] == 1).all():  # a text that differs by system is the output, not the item
                out[column] = [values[0] for values in first[column].to_list()]
    return out
