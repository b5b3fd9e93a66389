"""Rating studies: how many times as fast as GeneralizIT and lme4, and what no peer finishes.

Every ratio is taken within one run on the same table; ours is the best of several rounds, a slow peer runs once.
lme4 is asked through Rscript where that is installed and timed inside R, without R's start. Our time is given twice:
from a dense array, and from the same long data frame that the peers get. Run: ``python -m bench ratings``.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

from mojimeter.ratings import Design, Study
from mojimeter.ratings.anova import analyse_variance
from mojimeter.ratings.bootstrap import bootstrap_study
from mojimeter.ratings.components import estimate_from_mean_squares, henderson_1

LME4 = """
suppressMessages(library(lme4))
d <- read.csv(commandArgs(TRUE)[1]); for (n in c("item", "system", "rater")) d[[n]] <- factor(d[[n]])
t <- system.time(lmer(score ~ 1 + (1|item) + (1|system) + (1|rater) + (1|item:system) + (1|item:rater)
  + (1|system:rater), data = d, control = lmerControl(calc.derivs = FALSE)))
cat(t[["elapsed"]])
"""


def main() -> None:
    """Print the rows: what, ours, the peer's, the ratio."""
    rng = np.random.default_rng(0)
    cube = _simulate(rng, 290, 8, 3)
    frame = _long(cube)
    array = _best(lambda: _components(cube), 300)
    study = _best(lambda: Study(frame).components(intervals=False), 20)
    _row("7 components, 290x8x3, from an array", array)
    _row("7 components, 290x8x3, from a long frame", study)
    for name, peer in (("GeneralizIT", _generalizit(frame)), ("lme4", _lme4(frame))):
        if peer is None:
            print(f"  {name}: not installed, left out")
        else:
            print(f"  {name:<42}{_seconds(peer):>10}   {peer / array:>10,.0f} x array   {peer / study:>8,.0f} x frame")
    draws = _best(lambda: bootstrap_study(cube, _design(cube), tuple("abcdefgh"), "items", 2000), 5)
    _row("2,000 bootstrap draws of all components", draws)
    print(
        f"  the same as 2,000 analyses one by one{'':<5}{_seconds(2000 * array):>10}   {2000 * array / draws:>10,.0f} x"
    )
    holes = Study(frame.sample(fraction=0.9, seed=1))
    _row("Henderson I, 290x8x3, 10% missing", _best(lambda: henderson_1(holes.codes, holes.values, holes.design), 10))
    big = rng.standard_normal((5000, 50, 20))
    _row("7 components, 5000x50x20 (5 million)", _best(lambda: _components(big), 3))
    _row("one pass over those 5 million (a copy)", _best(big.copy, 3))
    large = _long(big).cast({"item": pl.String, "system": pl.String, "rater": pl.String})
    _row("reading and coding those 5 million rows", _best(lambda: Study(large), 1))
    print(f"  peak memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.1f} GB")


def _simulate(rng: np.random.Generator, items: int, systems: int, raters: int) -> np.ndarray:
    """A table on which neither program meets a boundary."""
    cube = rng.standard_normal((items, systems, raters))
    cube += 0.6 * rng.standard_normal((items, systems, 1)) + 0.7 * rng.standard_normal((items, 1, raters))
    cube += 0.4 * rng.standard_normal((1, systems, raters)) + 0.8 * rng.standard_normal((1, systems, 1))
    return cube + 0.5 * rng.standard_normal((items, 1, 1)) + rng.standard_normal((1, 1, raters))


def _design(cube: np.ndarray) -> Design:
    return Design(dict(zip(("item", "system", "rater"), cube.shape, strict=True)), cells=cube.size)


def _components(cube: np.ndarray) -> dict[str, float]:
    return estimate_from_mean_squares(analyse_variance(cube, _design(cube)))


def _long(cube: np.ndarray) -> pl.DataFrame:
    i, s, r = np.indices(cube.shape, dtype=np.int32).reshape(3, -1)
    return pl.DataFrame({"item": i, "system": s, "rater": r, "score": cube.ravel()})


def _generalizit(frame: pl.DataFrame) -> float | None:
    try:
        import generalizit
    except ImportError:
        return None
    table = frame.to_pandas()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        peer = generalizit.GeneralizIT(data=table, design_str="item x system x rater", response="score")
        peer.calculate_anova()
        return time.perf_counter() - start


def _lme4(frame: pl.DataFrame) -> float | None:
    rscript = shutil.which("Rscript")
    if rscript is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        data, script = Path(folder) / "table.csv", Path(folder) / "fit.R"
        frame.write_csv(data)
        script.write_text(LME4)
        done = subprocess.run([rscript, str(script), str(data)], capture_output=True, text=True, check=False)
    return float(done.stdout.split()[-1]) if done.returncode == 0 else None


def _best(work: Callable[[], object], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def _row(what: str, seconds: float) -> None:
    print(f"{what:<44}{_seconds(seconds):>10}")


def _seconds(seconds: float) -> str:
    return f"{seconds * 1e3:.2f} ms" if seconds < 1 else f"{seconds:.2f} s"


if __name__ == "__main__":
    main()
