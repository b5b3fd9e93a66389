"""Can all numbers of a printed analysis be true at once? Interval arithmetic through rounding."""

from mojimeter.ratings.printed.findings import Finding
from mojimeter.ratings.printed.numbers import Range, read_printed
from mojimeter.ratings.printed.table import PrintedTable, TableCheck

__all__ = ["Finding", "PrintedTable", "Range", "TableCheck", "read_printed"]
