"""Agreement weights between categories: how nearly two different categories count as agreement.

All have 1 on the diagonal. Names and formulas of Gwet, Handbook of Inter-Rater Reliability (4th ed. 2014), chapter 3,
as in his irrCAC. Gwet's ordinal weights are not Krippendorff's ordinal metric.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from mojimeter.errors import InputError

Floats = NDArray[np.float64]
Weights = Literal["identity", "linear", "quadratic", "ordinal", "radical", "ratio"]
WEIGHTS: tuple[Weights, ...] = get_args(Weights)


def agreement_weights(categories: Floats, name: Weights) -> Floats:
    """Weight matrix of increasing category values, shape (q, q).

    Args:
        categories: the values, in order; only ``identity`` and ``ordinal`` do without their distances.
        name: ``identity`` (only equal counts), ``linear``, ``quadratic``, ``ordinal``, ``radical``, ``ratio``.

    Raises:
        InputError: an unknown name; ratio weights for values of which some pair sums to zero.
    """
    values = np.asarray(categories, dtype=np.float64)
    q = values.size
    if name not in WEIGHTS:
        raise InputError(f"no weights {name!r}; expected {', '.join(WEIGHTS)}")
    if q < 2 or name == "identity":
        return np.eye(q)
    apart = np.abs(values[:, None] - values[None, :])
    if name == "ordinal":
        steps = np.abs(np.arange(q)[:, None] - np.arange(q)[None, :])
        pairs = steps * (steps + 1) / 2.0
        ordinal: Floats = 1.0 - pairs / pairs.max()
        return ordinal
    if name == "ratio":
        both = values[:, None] + values[None, :]
        if (both[~np.eye(q, dtype=bool)] == 0).any():
            raise InputError("ratio weights need categories of which no two sum to zero")
        shares = np.square(np.divide(apart, both, out=np.zeros_like(apart), where=apart > 0))
        relative: Floats = 1.0 - shares / shares.max()
        return relative
    power = {"linear": 1.0, "quadratic": 2.0, "radical": 0.5}[name]
    weights: Floats = 1.0 - (apart / apart.max()) ** power
    return weights
