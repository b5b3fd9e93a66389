"""A table of a report as text: what LaTeX and Markdown both write. Knows neither, nor where the text came from."""

from __future__ import annotations

from dataclasses import dataclass

TIE = "="


@dataclass(frozen=True, slots=True)
class Row:
    """One system: its name, and a cell a column; ``aside`` puts it below the rule."""

    cells: tuple[str, ...]
    aside: bool = False


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table of text.

    Attributes:
        name: of the run.
        columns: headings.
        rows: best first, those that stand aside last.
        caption: what the numbers are, sentence by sentence.
        signature: of the run, where it has one.
        texts: so many columns are text (place and system, or a measure), the rest numbers.
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    caption: tuple[str, ...]
    signature: str | None
    texts: int = 2

    def rule_above(self, number: int) -> bool:
        """Whether those that stand aside begin with this row."""
        return number > 0 and self.rows[number].aside and not self.rows[number - 1].aside
