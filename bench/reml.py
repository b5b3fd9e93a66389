"""REML of tables with holes: how many times as fast as lme4 and lmerTest, and that both find the same.

lme4 runs through Rscript on the same table in the same run, timed inside R, so that starting R does not count; where R
or lmerTest is absent a line says so. The large table has no peer: lme4 does not end within seven minutes on it, so its
time is given as a multiple of our own on the small one. Run: ``python -m bench reml``.
"""

from __future__ import annotations

import json
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from bench.simulated_studies import TWO_EMOJIS, World, draw_table, long_table
from mojimeter.ratings.reml import RemlFit, fit_reml
from mojimeter.ratings.system_tests import FTest

ROUNDS = 5
R_TIMEOUT = 900
R_PROGRAM = """
suppressMessages(library(lmerTest))
d <- read.csv(commandArgs(TRUE)[1]); for (n in c("item", "system", "rater")) d[[n]] <- factor(d[[n]])
two <- "+ (1|item) + (1|rater) + (1|item:system) + (1|item:rater) + (1|system:rater)"
quiet <- function(x) suppressMessages(suppressWarnings(x))
fit <- system.time(m <- quiet(lme4::lmer(as.formula(paste("score ~ (1|system)", two)), d)))[["elapsed"]]
test <- system.time({
  f <- quiet(lmerTest::lmer(as.formula(paste("score ~ system", two)), d)); a <- quiet(anova(f))
})[["elapsed"]]
cat(sprintf('{"fit": %.6f, "test": %.6f, "criterion": %.8f, "f": %.8f, "df2": %.8f}',
            fit, test, REMLcrit(m), a[1, "F value"], a[1, "DenDF"]))
"""


def table(items: int, systems: int, raters: int, seed: int = 1) -> dict[str, np.ndarray]:
    """A table with a tenth of its ratings missing, variances of the paper's study."""
    rng = np.random.default_rng(seed)
    components = {**TWO_EMOJIS, "system": 0.0119}
    cube = draw_table(World(raters, items, systems, components=components), rng).cube
    return dict(long_table(cube, rng.random(cube.shape) > 0.1))


def fit(columns: dict[str, np.ndarray]) -> tuple[RemlFit, FTest, float, float]:
    """Our fit and test, and the seconds of each."""
    start = time.perf_counter()
    found = fit_reml(columns["item"], columns["system"], columns["rater"], columns["score"])
    middle = time.perf_counter()
    test = found.system_test()
    return found, test, middle - start, time.perf_counter() - middle


def run_lme4(columns: dict[str, np.ndarray]) -> dict[str, float] | str:
    """The same from lme4 and lmerTest, or why not."""
    rscript = shutil.which("Rscript")
    if rscript is None:
        return "Rscript is not installed"
    with tempfile.TemporaryDirectory() as folder:
        file, program = Path(folder, "table.csv"), Path(folder, "fit.R")
        pl.DataFrame(columns).write_csv(file)
        program.write_text(R_PROGRAM)
        try:
            done = subprocess.run(
                [rscript, str(program), str(file)], capture_output=True, text=True, timeout=R_TIMEOUT, check=False
            )
        except subprocess.TimeoutExpired:
            return f"lme4 did not end in {R_TIMEOUT} s"
    if done.returncode:
        return "lmerTest does not run here: " + (done.stderr.strip().splitlines() or ["no message"])[-1]
    out: dict[str, float] = json.loads(done.stdout)
    return out


def compare_small() -> tuple[float, list[str]]:
    """290 x 8 x 3: our seconds for the fit, and lines."""
    columns = table(290, 8, 3)
    fit(columns)  # imports and first calls
    rounds = [fit(columns) for _ in range(ROUNDS)]
    own_fit, own_test = statistics.median(r[2] for r in rounds), statistics.median(r[3] for r in rounds)
    found, test = rounds[0][0], rounds[0][1]
    if test.f is None:
        raise AssertionError("a table with several systems has an F")
    size = f"290 x 8 x 3, {columns['score'].size:,} of 6,960 ratings"
    theirs = run_lme4(columns)
    if isinstance(theirs, str):
        lines = [f"{size}: {theirs}, so there is no ratio (ours: fit {own_fit:.3f} s, test {own_test:.3f} s)"]
        return own_fit, lines
    return own_fit, [
        f"{size}, REML: {theirs['fit'] / own_fit:.0f} times as fast as lme4 ({own_fit:.3f} s, {theirs['fit']:.2f} s)",
        f"  test of systems: {theirs['test'] / own_test:.0f} times as fast as lmerTest ({own_test:.3f} s, "
        f"{theirs['test']:.2f} s)",
        f"  criterion {found.criterion:.4f}, lme4's {theirs['criterion']:.4f}; F {test.f:.4f} on {test.df2:.2f}, "
        f"lmerTest's {theirs['f']:.4f} on {theirs['df2']:.2f}",
    ]


def compare_large(small: float) -> list[str]:
    """2000 x 20 x 10."""
    columns = table(2000, 20, 10)
    found, _, own_fit, own_test = fit(columns)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [
        f"2000 x 20 x 10, {columns['score'].size:,} of 400,000 ratings, REML: {own_fit / small:.0f} times the small "
        f"table's time for 57 times the ratings ({own_fit:.1f} s, bar 60; test of systems {own_test:.1f} s)",
        f"  {found.iterations} steps, peak memory of the process {peak:,.0f} MB",
    ]


def main() -> None:
    """Print all lines."""
    small, lines = compare_small()
    print("\n".join(lines), flush=True)
    if "--small" not in sys.argv:
        print("\n".join(compare_large(small)))


if __name__ == "__main__":
    main()
