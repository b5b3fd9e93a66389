"""Tables of ratings with known mean squares, for the tests of this folder."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest

from mojimeter.ratings import Design

# arXiv:2609.29445v1, Table 1 (system, rater, system:rater printed; the rest follow from its F ratios and shares:
# reference/two_emojis.json, real_studies.json).
TWO_EMOJIS_MEAN_SQUARES = {
    "item": 7.919024,
    "system": 11.85,
    "rater": 1345.16,
    "item:system": 0.897686,
    "item:rater": 4.216406,
    "system:rater": 20.25,
    "residual": 0.636412,
}
TWO_EMOJIS_MEANS = (3.667, 3.638, 3.579, 3.516, 3.454, 3.443, 3.421, 3.325)
AXES = ("item", "system", "rater")


def cube_with_mean_squares(
    ms: dict[str, float], shape: tuple[int, int, int], system_means: tuple[float, ...] | None = None, seed: int = 0
) -> np.ndarray:
    """An item x system x rater cube whose mean squares are exactly these: orthogonal deviations, scaled."""
    rng = np.random.default_rng(seed)
    cube = np.full(shape, 0.0 if system_means is None else float(np.mean(system_means)))
    for size in (1, 2, 3):
        for axes in combinations(range(3), size):
            name = ":".join(AXES[a] for a in axes) if size < 3 else "residual"
            table = rng.standard_normal([shape[a] if a in axes else 1 for a in range(3)])
            if name == "system" and system_means is not None:
                table = np.array(system_means, dtype=float)[None, :, None]
            for a in axes:
                table = table - table.mean(axis=a, keepdims=True)
            df = np.prod([shape[a] - 1 for a in axes])
            have = (table**2).sum() * np.prod(shape) / table.size
            cube = cube + table * np.sqrt(ms[name] * df / have)
    return cube


def long_table(cube: np.ndarray) -> pl.DataFrame:
    """The cube as rows item, system, rater, score."""
    i, s, r = np.indices(cube.shape).reshape(3, -1)
    return pl.DataFrame({"item": i, "system": s, "rater": r, "score": cube.ravel()})


def simulated_cube(components: dict[str, float], shape: tuple[int, int, int], rng: np.random.Generator) -> np.ndarray:
    """One draw of the crossed random effects model."""
    cube = np.zeros(shape)
    for size in (1, 2, 3):
        for axes in combinations(range(3), size):
            name = ":".join(AXES[a] for a in axes) if size < 3 else "residual"
            sizes = [shape[a] if a in axes else 1 for a in range(3)]
            cube = cube + np.sqrt(components.get(name, 0.0)) * rng.standard_normal(sizes)
    return cube


def crossed(items: int = 290, systems: int = 8, raters: int = 3) -> Design:
    """A complete crossed design."""
    return Design({"item": items, "system": systems, "rater": raters}, cells=items * systems * raters)


@pytest.fixture(scope="session")
def two_emojis() -> pl.DataFrame:
    """6,960 ratings with the paper's mean squares and its order of system means."""
    return long_table(cube_with_mean_squares(TWO_EMOJIS_MEAN_SQUARES, (290, 8, 3), TWO_EMOJIS_MEANS))
