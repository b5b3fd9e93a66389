"""What an emoji costs: tokens and seconds, where outputs say so.

Two numbers are called "tokens per emoji" in the field and differ: the *ratio of means* (all tokens by all
emoji, what a bill shows) and the *mean of ratios* (the average over replies, which a reply without emoji
has none of). Both are given, by name. Knows numbers only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mojimeter.metrics.bags import Floats, Integers
from mojimeter.metrics.tally import Tally
from mojimeter.stats.estimate import Estimate


def cost_per_emoji(tally: Tally, spent: Floats, emoji: Integers, weight: Floats, cluster: Integers) -> dict[str, Any]:
    """Both costs of one resource, as ratios to be resolved.

    Args:
        spent: tokens or seconds of each reply, NaN where not known, shape (replies,).
        emoji: how many emoji each reply holds.
        weight: 1 / attempts at the reply's post.
        cluster: the cluster of each reply.
    """
    known = np.isfinite(spent)
    if not known.any():
        absent = Estimate.absent("the outputs do not say")
        return {"ratio_of_means": absent, "mean_of_ratios": absent, "replies": 0}
    known_weight = np.where(known, weight, 0.0)
    with_emoji = known & (emoji > 0)
    amount, sizes = np.nan_to_num(spent), emoji.astype(np.float64)
    each = np.divide(amount, sizes, out=np.zeros(len(spent)), where=with_emoji)
    counted = np.where(with_emoji, known_weight, 0.0)
    return {
        "ratio_of_means": tally.ratio(amount * known_weight, sizes * known_weight, cluster, scale=1.0),
        "mean_of_ratios": tally.ratio(each * counted, counted, cluster, scale=1.0),
        "replies": int(known.sum()),
    }
