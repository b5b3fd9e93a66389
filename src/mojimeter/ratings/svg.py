"""Just enough SVG for the plots of a rating study: text, bars, lines, bands, dots, axes.

Everything that comes from data is escaped here, so that a system's name can hold anything. Knows no statistics.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

INK, FAINT, COLOUR, PALE = "#222222", "#cccccc", "#2b6cb0", "#bcd4ec"
_FONT = "font-family='system-ui, sans-serif'"


@dataclass
class Canvas:
    """A drawing in user units (pixels at scale 1), written once at the end."""

    width: int
    height: int
    title: str
    parts: list[str] = field(default_factory=list)

    def text(self, x: float, y: float, text: str, anchor: str = "start", size: int = 12, colour: str = INK) -> None:
        """Text with its baseline at y; `anchor` start, middle or end."""
        clean = "".join(c if c.isprintable() else " " for c in text)
        self.parts.append(
            f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' font-size='{size}' fill='{colour}' {_FONT}>"
            f"{escape(clean)}</text>"
        )

    def bar(self, x: float, y: float, width: float, height: float, colour: str = COLOUR) -> None:
        """A filled rectangle."""
        self.parts.append(
            f"<rect x='{x:.1f}' y='{y:.1f}' width='{max(0.0, width):.1f}' height='{height:.1f}' fill='{colour}'/>"
        )

    def line(
        self, points: Sequence[tuple[float, float]], colour: str = INK, width: float = 1.5, dashed: bool = False
    ) -> None:
        """A polyline."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dash = " stroke-dasharray='4 4'" if dashed else ""
        self.parts.append(f"<polyline points='{path}' fill='none' stroke='{colour}' stroke-width='{width}'{dash}/>")

    def band(self, points: Sequence[tuple[float, float, float]], colour: str = PALE) -> None:
        """The area between two lines: (x, low y, high y)."""
        around = [(x, low) for x, low, _ in points] + [(x, high) for x, _, high in reversed(points)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in around)
        self.parts.append(f"<polygon points='{path}' fill='{colour}' stroke='none'/>")

    def dot(self, x: float, y: float, radius: float = 4, colour: str = COLOUR) -> None:
        """A filled circle."""
        self.parts.append(f"<circle cx='{x:.1f}' cy='{y:.1f}' r='{radius}' fill='{colour}'/>")

    def render(self) -> str:
        """The document, self-contained, on white."""
        return (
            f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {self.width} {self.height}' "
            f"width='{self.width}' height='{self.height}' role='img'><title>{escape(self.title)}</title>"
            f"<rect width='{self.width}' height='{self.height}' fill='white'/>" + "".join(self.parts) + "</svg>\n"
        )


@dataclass(frozen=True)
class Scale:
    """Maps [low, high] of the data to [start, end] of the canvas, on a log scale if asked."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high = (math.log(self.low), math.log(self.high)) if self.log else (self.low, self.high)
        at = math.log(value) if self.log else value
        share = 0.5 if high == low else (at - low) / (high - low)
        return self.start + share * (self.end - self.start)


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers between two values."""
    if not high > low:
        return [low]
    raw = (high - low) / about
    step = 10 ** math.floor(math.log10(raw))
    step *= next(m for m in (1, 2, 5, 10) if m * step >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]
