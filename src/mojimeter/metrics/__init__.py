"""Pure functions from tables to numbers."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mojimeter.metrics.disambiguation import DisambiguationScores, SystemDisambiguation, score_disambiguation
    from mojimeter.metrics.recommendation import score_recommendations
    from mojimeter.metrics.results import RecommendationScores, SystemScores

__all__ = [
    "DisambiguationScores",
    "RecommendationScores",
    "SystemDisambiguation",
    "SystemScores",
    "score_disambiguation",
    "score_recommendations",
]

# Found on first use, so that one metric can be imported without the rest.
_LATE = {
    "DisambiguationScores": "disambiguation",
    "SystemDisambiguation": "disambiguation",
    "score_disambiguation": "disambiguation",
    "RecommendationScores": "results",
    "SystemScores": "results",
    "score_recommendations": "recommendation",
}


def __getattr__(name: str) -> Any:
    if name in _LATE:
        return getattr(import_module(f"mojimeter.metrics.{_LATE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
