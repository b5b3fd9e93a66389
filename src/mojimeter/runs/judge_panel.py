"""Would other judges rank the systems the same way? The join of ``metrics`` and ``ratings`` for several judges.

A judge is a rater: what each judge leaves preserved of every post and system is one item x system x rater table, and
``ratings.Study`` says what it says of any such table. Knows no model, no file and no command line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mojimeter.errors import InputError
from mojimeter.metrics.results import RecommendationScores
from mojimeter.report.gates import is_baseline

_FROM_STUDY = (
    "signature",
    "design",
    "tests",
    "components",
    "estimator",
    "g",
    "phi",
    "raters_needed",
    "agreement",
    "raters",
    "ranking",
    "verdict",
    "sentence",
    "next_steps",
    "notes",
)


def with_judge_panel(scores: Mapping[str, RecommendationScores], first: str) -> dict[str, Any]:
    """The document of the judge that ranks, with what the others say beside it.

    Args:
        scores: the same posts and replies scored by the labels of each judge, by judge.
        first: the judge whose scores the document holds.

    Returns:
        The document of ``first``; with two judges or more also ``by_judge`` (average and rank of every system) and
        ``panel`` (see `study_panel`).
    """
    document = scores[first].to_dict()
    if len(scores) < 2:
        return document
    ranked_by = document["ranked_by"]
    by_judge = {
        name: {
            system: {
                **{score: values["preservation"][score] for score in ("average", ranked_by)},
                "rank": values["rank"],
            }
            for system, values in judged.to_dict()["systems"].items()
        }
        for name, judged in scores.items()
    }
    return {**document, "by_judge": by_judge, "panel": study_panel(scores, ranked_by)}


def study_panel(scores: Mapping[str, RecommendationScores], ranked_by: str) -> dict[str, Any]:
    """What a panel of judges says of the ranking, judges and posts taken as samples of others like them.

    A rating is the percentage of labels kept of one post, by one system, under one judge, the mean of all attempts:
    the means of the study are the scores of the leaderboard. Baselines are there for comparison, so they are left
    out where two systems remain. Posts that do not count for each judge and system are left out and counted.

    Args:
        scores: of each judge, by judge.
        ranked_by: the score that the leaderboard ranks by.

    Returns:
        ``judges``, ``systems``, ``left_out`` (baselines, and how many posts), ``verdict``, ``sentence``, ``caveats``
        and what ``ratings study --json`` gives of the same names; where there is no study ``verdict`` is "refused",
        and ``sentence`` says why.
    """
    judges = list(scores)
    systems = [name for name in scores[judges[0]].systems if all(name in judged.by_post for judged in scores.values())]
    compared = [name for name in systems if not is_baseline(name)]
    if len(compared) < 2:
        compared = systems
    panel: dict[str, Any] = {"judges": judges, "systems": compared, "scored_by": ranked_by}
    # shape (systems, judges, posts)
    cube = np.array([[scores[judge].by_post[system][ranked_by] for judge in judges] for system in compared])
    counts = np.isfinite(cube).all(axis=(0, 1))
    panel["left_out"] = {
        "systems": [name for name in systems if name not in compared],
        "posts": int((np.isfinite(cube).any(axis=(0, 1)) & ~counts).sum()),
    }
    ids = scores[judges[0]].post_ids.to_numpy()[counts]
    found = _study(cube[:, :, counts], compared, judges, ids)
    data = scores[judges[0]].data
    if data["resampled"] < data["posts"] and found["verdict"] != "refused":
        found["caveats"].append("posts by the same author are taken as independent here")
    return panel | found


def _study(cube: np.ndarray[Any, Any], systems: list[str], judges: list[str], ids: Any) -> dict[str, Any]:
    from mojimeter.ratings import Study
    from mojimeter.ratings.cautions import ALPHA_THESE_RATERS, ICC_CELLS_OF_ONE_ITEM
    from mojimeter.ratings.summary import summarise

    why = ""
    if len(systems) < 2:
        why = "there is one system, and a ranking needs two"
    elif len(ids) < 2:
        why = f"{len(ids)} posts count for every judge and system, and a study of them needs two"
    if why:
        return _refused(why)
    shape = (len(systems), len(judges), len(ids))
    table = {
        "item": np.broadcast_to(ids, shape).ravel(),
        "system": np.repeat(systems, len(judges) * len(ids)),
        "rater": np.tile(np.repeat(judges, len(ids)), len(systems)),
        "score": cube.ravel(),
    }
    try:
        document = summarise(Study(table, origin="the judges' labels"))
    except InputError as error:
        return _refused(str(error))
    of_agreement = (ALPHA_THESE_RATERS, ICC_CELLS_OF_ONE_ITEM)  # said beside its numbers, or not shown
    caveats = [*_caveats(document, len(judges)), *(c for c in document["cautions"] if c not in of_agreement)]
    return {name: document[name] for name in _FROM_STUDY} | {"caveats": caveats}


def _refused(why: str) -> dict[str, Any]:
    return {"verdict": "refused", "sentence": f"no verdict: {why}", "caveats": []}


def _caveats(document: Mapping[str, Any], judges: int) -> list[str]:
    """What the reader has to know of a panel this small."""
    caveats = ["the verdict is on judges like these: models that share training data may also share errors"]
    tests = document["tests"].get("system", {})
    test = tests.get(tests.get("default"), {})
    if judges == 2:
        df = test.get("df2")
        rests = "" if df is None else f" and the test rests on {df:.1f} degrees of freedom"
        caveats.insert(0, f"two judges hardly show how judges differ{rests}: a third one would say much more")
    return caveats
