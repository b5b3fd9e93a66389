"""Plots of a rating study as SVG files: variance shares, G over raters, rater means and slopes, rank ranges.

Reads the JSON document of `summary` and nothing else. What the document does not hold is not drawn.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mojimeter.errors import InputError
from mojimeter.ratings.svg import FAINT, INK, PALE, Canvas, Scale, ticks

_LEFT, _ROW, _WIDTH = 170, 24, 640


def write_plots(document: Mapping[str, Any], folder: str | Path) -> list[Path]:
    """Write the plots of a document into a folder, made if need be; the paths written.

    Several scores: each plot's name starts with its score.

    Raises:
        InputError: the folder cannot be written.
    """
    folder = Path(folder)
    several = "scores" in document and "design" not in document
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for score, one in document["scores"].items() if several else [("", document)]:
            prefix = re.sub(r"[^\w.-]+", "_", score) + "_" if several else ""
            for name, canvas in draw_plots(one).items():
                path = folder / f"{prefix}{name}.svg"
                path.write_text(canvas.render(), encoding="utf-8")
                written.append(path)
    except OSError as error:
        raise InputError(f"{folder}: cannot write plots: {error.strerror or error}") from None
    return written


def draw_plots(document: Mapping[str, Any]) -> dict[str, Canvas]:
    """Name -> drawing, of those that the document has numbers for."""
    drawn = {
        "variance_shares": draw_shares(document),
        "g_over_raters": draw_g(document),
        "raters": draw_raters(document),
        "rank_ranges": draw_ranks(document),
    }
    return {name: canvas for name, canvas in drawn.items() if canvas is not None}


def draw_shares(document: Mapping[str, Any]) -> Canvas | None:
    """Share of the variance that each source carries."""
    rows = [r for r in document["components"] if r["share"] is not None]
    if not rows:
        return None
    rows = sorted(rows, key=lambda r: -r["share"])
    canvas = _canvas(f"Share of variance by source ({document['estimator']})", len(rows))
    x = Scale(0.0, max(r["share"] for r in rows) or 1.0, _LEFT, _WIDTH - 70)
    for k, row in enumerate(rows):
        y = _top(k)
        canvas.text(_LEFT - 8, y + 15, _short(row["source"]), "end")
        canvas.bar(_LEFT, y + 3, x(row["share"]) - _LEFT, _ROW - 8)
        canvas.text(x(row["share"]) + 6, y + 15, f"{100 * row['share']:.1f}%")
    return canvas


def draw_g(document: Mapping[str, Any]) -> Canvas | None:
    """G over the number of raters at the study's items, with its 95% interval where there is one."""
    rows = document["d_study"]
    if len(rows) < 2:
        return None
    intervals = all(r["g"].get("ci") for r in rows)
    title = f"G for ranking {document['generalizability']['object']}s over the number of raters"
    title += ", 95% interval" if intervals else ""
    canvas = Canvas(_WIDTH, 360, title)
    canvas.text(20, 26, title, size=14)
    x = Scale(rows[0]["rater"], rows[-1]["rater"], 60, _WIDTH - 30, log=True)
    y = Scale(0.0, 1.0, 310, 50)
    if intervals:
        canvas.band([(x(r["rater"]), y(r["g"]["ci"][0]), y(r["g"]["ci"][1])) for r in rows])
    for value in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        canvas.line([(60, y(value)), (_WIDTH - 30, y(value))], FAINT, 1, dashed=value == 0.8)
        canvas.text(52, y(value) + 4, f"{value:.1f}", "end")
    for raters in (1, 2, 3, 5, 10, 20, 50, 100):
        if rows[0]["rater"] <= raters <= rows[-1]["rater"]:
            canvas.text(x(raters), 330, f"{raters}", "middle")
    canvas.text(_WIDTH / 2, 350, "raters (log scale)", "middle")
    canvas.line([(x(r["rater"]), y(r["g"]["value"])) for r in rows], width=2)
    now = document["design"].get("rater")
    for row in rows:
        if row["rater"] == now:
            canvas.dot(x(now), y(row["g"]["value"]))
            canvas.text(x(now), y(row["g"]["value"]) - 10, "this study", "middle")
    return canvas


def draw_raters(document: Mapping[str, Any]) -> Canvas | None:
    """Every rater's mean with one standard deviation, and slope on the mean of the other raters."""
    rows = document["raters"]
    if not rows:
        return None
    rows = sorted(rows, key=lambda r: -r["mean"])[:60]
    title = "Raters: mean, one standard deviation, slope on the mean of the others"
    canvas = _canvas(title, len(rows) + 1)
    spread = [(r["mean"] - (r["sd"] or 0), r["mean"] + (r["sd"] or 0)) for r in rows]
    x = Scale(min(low for low, _ in spread), max(high for _, high in spread), _LEFT, _WIDTH - 110)
    for k, (row, (low, high)) in enumerate(zip(rows, spread, strict=True)):
        y = _top(k) + 11
        canvas.text(_LEFT - 8, y + 4, _short(row["rater"]), "end")
        canvas.line([(x(low), y), (x(high), y)])
        canvas.dot(x(row["mean"]), y)
        slope = row["slope_on_others"]
        canvas.text(_WIDTH - 20, y + 4, "slope -" if slope is None else f"slope {slope:.2f}", "end")
    _axis(canvas, x, _top(len(rows)))
    return canvas


def draw_ranks(document: Mapping[str, Any]) -> Canvas | None:
    """The places that the ratings leave open to each system, all pairs at once."""
    rows = document["ranking"][:60]
    if not rows:
        return None
    canvas = _canvas("Places that these ratings leave open (95%, all pairs at once)", len(rows) + 1)
    n = len(document["ranking"])
    x = Scale(1, max(2, n), _LEFT + 10, _WIDTH - 40)
    for k, row in enumerate(rows):
        y = _top(k) + 11
        low, high = row["rank"]
        canvas.text(_LEFT - 8, y + 4, _short(row["system"]), "end")
        canvas.line([(x(low), y), (x(high), y)], PALE, width=8)
        canvas.dot(x(k + 1), y)
    for place in sorted({1, n, *(round(t) for t in ticks(1, n, 8))} - {0}):
        canvas.text(x(place), _top(len(rows)) + 16, f"{place}", "middle")
    return canvas


def _canvas(title: str, rows: int) -> Canvas:
    canvas = Canvas(_WIDTH, 56 + rows * _ROW, title)
    canvas.text(20, 26, title, size=14)
    return canvas


def _top(row: int) -> float:
    return 40 + row * _ROW


def _axis(canvas: Canvas, x: Scale, y: float) -> None:
    canvas.line([(x.start, y), (x.end, y)], INK, 1)
    for value in ticks(x.low, x.high):
        canvas.text(x(value), y + 16, f"{value:g}", "middle")


def _short(name: str) -> str:
    return name if len(name) <= 22 else name[:21] + "…"
