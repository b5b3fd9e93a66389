"""How long a call is tried and how many at a time: set on purpose, because the defaults nest and never end."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a call is tried.

    Attributes:
        sdk_retries: attempts of the provider's SDK within one of Inspect's; these honour Retry-After.
        retries: Inspect's, with waits of 3, 6, 12, ... seconds.
        garbled_retries: for answers that are not UTF-8 or not JSON.
        attempt_timeout: seconds one of Inspect's attempts may take, SDK retries included.
        max_connections: calls to one provider at the same time.
        give_up_after: failed calls in a row after which a model is not asked again in this run.
    """

    sdk_retries: int = 3
    retries: int | None = 4
    garbled_retries: int = 2
    attempt_timeout: int | None = 120
    max_connections: int | None = 10
    give_up_after: int = 20


AS_THE_TASK_SAYS = Patience(retries=None, attempt_timeout=None, max_connections=None)
"""Leaves retries, time limits and connections to Inspect's own flags."""
