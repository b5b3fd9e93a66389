"""What to say beside a number whose test or interval does not always hold what it promises.

Sentences, each with the rate that `make bench-stats` measured on the paper's design (docs/calibration.md), and the
conditions under which they apply. Knows counts of raters and of flags; nothing of how the numbers are computed.
"""

from __future__ import annotations

from collections.abc import Mapping

# Below this many raters the check of equal errors of pairs misses most of what it looks for.
RATERS_FOR_CHECK = 10

ONE_LINE_UNSEEN = (
    "so few raters hide whether they disagree along one line, say a taste for length; then the 5% test rejects up to "
    "26%, pooled intervals cover 60%: compare pairs='separate'"
)
ONE_LINE_SEEN = (
    "raters disagree about some pairs of systems more than about others: the 5% test may reject 26%, pooled intervals "
    "cover 60%; those of pairs='separate' hold"
)
SEPARATE_FEW_RATERS = (
    "with so few raters each pair's own error is poorly known: single intervals hold, but rank ranges may cover all "
    "true ranks at once only 70% of the time"
)
ALPHA_THESE_RATERS = "alpha's interval is for these raters; over raters at large it covers less than 40%"
ICC_CELLS_OF_ONE_ITEM = (
    "ICC intervals cover 44% to 89%, not 95%: with ratings missing they take cells of one item for unrelated"
)


def cautions_for(
    levels: Mapping[str, int],
    pairs: str = "pooled",
    *,
    heterogeneity: float | None = None,
    agreement: bool = True,
    icc_interval: str = "components",
) -> tuple[str, ...]:
    """The sentences that apply to a study.

    Args:
        levels: facet -> number of levels.
        pairs: "pooled" or "separate" errors of differences.
        heterogeneity: p of the hypothesis that all pairs have the same error; None: not checked.
        agreement: whether alpha and the ICCs are shown.
        icc_interval: where the intervals of ICCs come from, "f" or "components".
    """
    out = []
    raters, systems = levels.get("rater", 0), levels.get("system", 0)
    if systems > 2 and raters > 1 and pairs == "pooled":
        if heterogeneity is not None and heterogeneity < 0.05:
            out.append(ONE_LINE_SEEN)
        elif raters < RATERS_FOR_CHECK:
            out.append(ONE_LINE_UNSEEN)
    if systems > 1 and pairs == "separate" and raters < RATERS_FOR_CHECK:
        out.append(SEPARATE_FEW_RATERS)
    if agreement and raters > 1:
        out.append(ALPHA_THESE_RATERS)
        if icc_interval == "f" and systems > 1 and levels.get("item", 0) > 1:
            out.append(ICC_CELLS_OF_ONE_ITEM)
    return tuple(out)
