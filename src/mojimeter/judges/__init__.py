"""What labels: five label sets, LLM judge with votes, student judge, verifier.

Importing this package is cheap: judges themselves are loaded when one is asked for.
"""

from mojimeter.judges.labels import (
    ALIASES,
    LABELS,
    label_set,
    parse_answers,
    parse_label,
    parse_labels,
)

__all__ = ["ALIASES", "LABELS", "label_set", "parse_answers", "parse_label", "parse_labels"]
