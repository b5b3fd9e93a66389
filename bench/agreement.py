"""Agreement: how many times as fast as the `krippendorff` package and pingouin, on the same table in the same run.

`krippendorff` builds arrays of raters' values by values: on 6,960 distinct floats it asks for hundreds of gigabytes, so
it is timed on fewer distinct values, and ours on the same and on all. Peers are installed with the extra `dev`; one
that is not is left out and said so. Run: ``python -m bench agreement``.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mojimeter.ratings.agreement import LEVELS, agree, intraclass_correlations, krippendorff_alpha

UNITS, RATERS = 2320, 3
FEW_VALUES = 60


def main() -> None:
    """Print the rows: what, ours, the peer's, the ratio."""
    rng = np.random.default_rng(0)
    floats = 5.0 + rng.normal(size=(UNITS, 1)) + rng.normal(size=(UNITS, RATERS))
    floats -= floats.min() - 0.1
    few = np.round(floats * FEW_VALUES / floats.max())
    _alpha(few, floats)
    _icc(floats)
    seconds = _best(lambda: agree(floats, draws=1000), 1)
    print(f"  {'everything, panel and 3 pairs, 1,000 draws':<46}{_show(seconds):>10}")


def _alpha(few: NDArray[np.float64], floats: NDArray[np.float64]) -> None:
    distinct = np.unique(few).size
    for level in LEVELS:
        ours = _best(lambda level=level: krippendorff_alpha(few, level, draws=0), 30)
        peer = _krippendorff(few, level)
        what = f"alpha ({level}), {UNITS} x {RATERS}, {distinct} values"
        if peer is None:
            print(f"  {what:<46}{_show(ours):>10}   krippendorff: not installed, left out")
        else:
            print(f"  {what:<46}{_show(ours):>10}   krippendorff {_show(peer):>10}   {peer / ours:>8,.0f} x")
    values, memory = np.unique(floats).size, _krippendorff_memory(floats)
    for level in LEVELS:
        seconds = _best(lambda level=level: krippendorff_alpha(floats, level, draws=0), 10)
        tracemalloc.start()
        krippendorff_alpha(floats, level, draws=0)
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        what = f"alpha ({level}), {values:,} distinct floats"
        print(f"  {what:<46}{_show(seconds):>10}   {peak:.1f} MB   krippendorff: {memory:,.0f} GiB (worked out)")


def _icc(floats: NDArray[np.float64]) -> None:
    ours = _best(lambda: intraclass_correlations(floats), 200)
    what = f"six ICCs with intervals, {UNITS} x {RATERS}"
    try:
        import pandas as pd
        import pingouin
    except ImportError:
        print(f"  {what:<46}{_show(ours):>10}   pingouin: not installed, left out")
        return
    unit, rater = np.indices(floats.shape)
    long = pd.DataFrame({"unit": unit.ravel(), "rater": rater.ravel(), "score": floats.ravel()})
    peer = _best(lambda: pingouin.intraclass_corr(long, "unit", "rater", "score"), 2)
    print(f"  {what:<46}{_show(ours):>10}   pingouin {_show(peer):>14}   {peer / ours:>8,.0f} x")


def _krippendorff(matrix: NDArray[np.float64], level: str) -> float | None:
    try:
        import krippendorff
    except ImportError:
        return None
    return _best(lambda: krippendorff.alpha(matrix.T, level_of_measurement=level), 2)


def _krippendorff_memory(matrix: NDArray[np.float64]) -> float:
    """GiB of the array of units x values x values that its coincidences are summed from; worked out, not tried."""
    return 8.0 * len(matrix) * np.unique(matrix).size ** 2 / 2**30


def _best(work: Callable[[], object], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def _show(seconds: float) -> str:
    return f"{seconds * 1e3:,.2f} ms" if seconds < 1 else f"{seconds:,.2f} s"


if __name__ == "__main__":
    main()
