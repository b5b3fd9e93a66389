"""Raters made by a program, for tests of what comes after rating."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from mojimeter.collect.store import CellPage, Store
from tests.collect.small import SmallStudy


def rate_all(
    study: SmallStudy,
    store: Store,
    answer: Callable[[str, CellPage], str],
    raters: Iterable[str] | None = None,
    *,
    check: dict[str, Any] | None = None,
    until: int | None = None,
    duration_ms: int = 2000,
) -> None:
    """Every rater (or these) goes through everything (or so many positions); `answer` gives the value."""
    wanted = None if raters is None else set(raters)
    for link in study.links:
        if wanted is not None and link.rater not in wanted:
            continue
        session = store.enter(link.token)
        store.consent(link.rater)
        if check is not None:
            store.check(link.rater, check)
        for page in store.pages(link.rater, 1, 10_000 if until is None else until):
            store.rate(
                link.rater,
                key=f"{link.rater}-{page.position:08d}",
                position=page.position,
                cell_id=page.cell_id,
                value=answer(link.rater, page),
                shown_at=1_800_000_000.0 + page.position,
                duration_ms=duration_ms,
                session=session,
            )
