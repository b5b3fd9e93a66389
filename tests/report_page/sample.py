"""A page document made by hand: one run of each kind, numbers chosen to be told apart, and texts that mean harm.

Nothing of it is measured. Emoji, labels and scores are such that a test can say by hand what the page must show.
"""

from __future__ import annotations

from typing import Any

SCRIPT = "<script>alert('script')</script>"
IMAGE = '<img src=x onerror="alert(1)">'
CLOSING = "</script></style></title><style>* { display: none !important }</style>"
ATTRIBUTE = "\" onmouseover=\"alert('attribute')\" x='"
LINK = "javascript:alert('link')"
TEMPLATE = "{{ 7 * 7 }} {% for x in y %}"
OVERRIDE = "abc \u202edefghi\u202c end"
HALF = "half \ud83d pair"
BROKEN = "joined \u200d 👩\u200d and tone \U0001f3fd and selector \ufe0f and cap \u20e3"
HINDI = "क्षमा करो 🙂"
BANGLA = "ক্ষমা করো ❤️"
HOSTILE = (SCRIPT, IMAGE, CLOSING, ATTRIBUTE, LINK, TEMPLATE, OVERRIDE, HALF, BROKEN)

EMOJI = {
    "strings": ["😂", "❤️", "🙂", "👍🏽", "👩‍💻", "🇮🇳", "1️⃣", "👩", "🏽"],
    "name": ["face with tears of joy", "red heart", "slightly smiling face", "thumbs up: medium skin tone",
             "woman technologist", "flag: India", "keycap: 1", "woman", "medium skin tone"],
    "group": ["Smileys & Emotion", "Smileys & Emotion", "Smileys & Emotion", "People & Body", "People & Body",
              "Flags", "Symbols", "People & Body", "Component"],
    "use": [1, 2, 30, 12, None, 200, 300, 90, None],
    "ranked": 1549,
}  # fmt: skip
TASKS = {
    "sentiment": {"labels": ["negative", "neutral", "positive"]},
    "gender": {"labels": ["female", "male"]},
}
NONE, ALPHA, BETA, GAMMA = "baseline/none", "maker/alpha", "maker/beta (fewshot)", f"evil/{SCRIPT}"
JUDGES = ("judge/one", "judge/two")


def estimate(value: float, low: float, high: float) -> dict[str, Any]:
    return {"value": value, "ci": [low, high]}


def absent(reason: str) -> dict[str, Any]:
    return {"value": None, "reason": reason}


def document() -> dict[str, Any]:
    """The whole document: a benchmark of emoji, one of pairs, a rating study and a judge's file."""
    return {
        "schema": 1,
        "title": f"A sample {SCRIPT}",
        "version": "0.1.0",
        "texts": True,
        "emoji": EMOJI,
        "runs": [recommendation(), disambiguation(), rating_study(), judge_file()],
    }


def _system(name: str, baseline: bool = False, strategy: str | None = None, **more: Any) -> dict[str, Any]:
    base = {"name": name, "base": name.split(" (")[0], "strategy": strategy, "baseline": baseline, "leaked": False}
    costs = {"calls": None, "tokens": None, "seconds": None, "usd": None, "cost_reason": "no model was called"}
    return base | {"kin": [], "posts": 8, "emoji_per_reply": estimate(2.0, 1.5, 2.5), "failed": 0} | costs | more


def _scores(score: float, rank: list[int], **more: Any) -> dict[str, Any]:
    """A system's scores in the document of `score --json`; sentiment is one point above the mean, gender one below."""
    near = estimate(score, score - 5, score + 5)
    preserved = {
        "sentiment": estimate(score + 1, score - 4, score + 6),
        "gender": estimate(score - 1, score - 6, score + 4),
        "average": near,
        "average_unleaked": near,
    }
    replies = {"total": 8, "no_emoji": 0, "extra_text": 0, "wrong_count": 0, "repeated": 0, "damaged": 0}
    replies |= {"missing": 0, "errors": 0, "unlabelled": 0, "unparsed_labels": {"sentiment": 0, "gender": 0}}
    return {
        "strategy": None,
        "posts": 8,
        "overlap": {
            "precision": estimate(20.0, 10.0, 30.0),
            "recall": estimate(30.0, 20.0, 40.0),
            "f1": estimate(24.0, 14.0, 34.0),
        },
        "category": {"group": {"f1": estimate(50.0, 40.0, 60.0)}, "subgroup": {"f1": estimate(25.0, 15.0, 35.0)}},
        "distribution": {"jensen_shannon": estimate(0.5, 0.4, 0.6)},
        "preservation": preserved,
        "per_class": {"sentiment": {"negative": estimate(40.0, 30.0, 50.0), "positive": absent("no post has it")}},
        "kept": estimate(70.0, 60.0, 80.0),
        "recovered": estimate(33.0, 23.0, 43.0),
        "diversity": {
            "distinct": 4,
            "entropy_bits": 1.5,
            "entropy_bits_ci": [1.0, 2.0],
            "across_attempts": absent("there is one attempt a post"),
        },
        "replies": replies,
        "cost": {"tokens_per_emoji": {"ratio_of_means": absent("the outputs do not say")}},
        "leaked": False,
        "rank": rank,
    } | more


def _slice(rows: dict[str, tuple[float, list[int]]], **part: Any) -> dict[str, Any]:
    systems = {}
    for name, (score, rank) in rows.items():
        own = _scores(score, rank)
        flat = {**own["preservation"], **own["overlap"], "kept": own["kept"], "recovered": own["recovered"]}
        systems[name] = flat | {"group_f1": own["category"]["group"]["f1"], "posts": part["posts"], "rank": rank}
    if part["posts"] == 11:
        systems[ALPHA]["posts"] = 3
    return {"lang": None, "group": None, **part, "systems": systems}


_STANDING = {ALPHA: (60.0, [1, 2]), BETA: (58.0, [1, 2]), GAMMA: (41.0, [3, 4]), NONE: (44.0, [3, 4])}


def _panel() -> dict[str, Any]:
    return {
        "judges": list(JUDGES),
        "systems": [ALPHA, BETA],
        "scored_by": "average",
        "verdict": "not_separated",
        "sentence": "tie: these judges cannot rank the two systems",
        "ranking": [
            {"system": ALPHA, "mean": estimate(55.0, 48.0, 62.0), "rank": [1, 2]},
            {"system": BETA, "mean": estimate(54.5, 47.0, 62.0), "rank": [1, 2]},
        ],
        "agreement": {"alpha": {"interval": estimate(0.31, 0.2, 0.42)}, "pearson": estimate(0.4, 0.3, 0.5)},
        "caveats": ["two judges hardly show how judges differ"],
        "left_out": {"systems": [GAMMA], "posts": 1},
    }


def recommendation() -> dict[str, Any]:
    scores = {name: _scores(score, rank) for name, (score, rank) in _STANDING.items()}
    scores[GAMMA]["replies"] |= {"missing": 2, "errors": 2, "unparsed_labels": {"sentiment": 3, "gender": 0}}
    texts = [HINDI, BANGLA, SCRIPT + " 😂", IMAGE, CLOSING, OVERRIDE, HALF, BROKEN]
    return {
        "id": "r1",
        "name": "sample run",
        "kind": "recommendation",
        "signature": "data:00000000|n:8|judge:judge/one|version:0.1.0",
        "notes": [f"A note {IMAGE}"],
        "document": {
            "schema": 1,
            "signature": "data:00000000|n:8|judge:judge/one|version:0.1.0",
            "data": {"posts": 8, "authors": 4, "without_emoji": 4},
            "leaks": {"count": 1, "ids": ["p2"]},
            "ranked_by": "average",
            "systems": scores,
            "differences": [
                {
                    "system": ALPHA,
                    "against": NONE,
                    "difference": estimate(16.0, 8.0, 24.0),
                    "simultaneous_ci": [4.0, 28.0],
                    "separated": True,
                    "p": 0.0005,
                    "detectable": 9.0,
                    "posts": 8,
                },
                {
                    "system": NONE,
                    "against": BETA,
                    "difference": estimate(-14.0, -24.0, -4.0),  # leaves 0 out by itself, not with all in mind
                    "simultaneous_ci": [-30.0, 2.0],
                    "separated": False,
                    "p": 0.08,
                    "detectable": 20.0,
                    "posts": 7,
                },
            ],
            "warnings": [f"a warning {ATTRIBUTE}"],
            "panel": _panel(),
            "by_judge": {
                "judge/one": {
                    ALPHA: {"average": estimate(60.0, 55.0, 65.0)},
                    BETA: {"average": estimate(58.0, 53.0, 63.0)},
                },
                "judge/two": {
                    ALPHA: {"average": estimate(50.0, 45.0, 55.0)},
                    BETA: {"average": estimate(51.0, 46.0, 56.0)},
                },
            },
        },
        "systems": [
            _system(
                ALPHA,
                kin=["judge/one"],
                calls=8,
                tokens={"input": 800, "output": 80},
                usd=0.0123,
                seconds={"total": 12.5, "per_call": 1.5625},
                cost_reason=None,
            ),
            _system(BETA, strategy="fewshot"),
            _system(GAMMA, failed=2, strategy="zeroshot"),
            _system(NONE, baseline=True),
        ],
        "slices": [
            _slice(_STANDING, posts=8, authors=4),
            _slice({ALPHA: (72.0, [1, 1]), NONE: (40.0, [2, 2])}, lang="hi", posts=11, authors=6),
            {
                "lang": "bn",
                "group": None,
                "posts": 3,
                "authors": 2,
                "refused": "3 posts are too few to score a part on",
            },
        ],
        "items": {
            "n": 8,
            "id": ["p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7"],
            "text": texts,
            "lang": ["hi", "bn", "en", "en", "en", "en", "en", "en"],
            "author": [0, 0, 1, 1, 2, 2, 3, 3],
            "gold": [[2], [1], [0], [], [], [], [], [7, 8]],
            "leaked": [2],
            "systems": {
                ALPHA: {
                    "emoji": [[0, 1], [1], [0], [3], [4], [5], [6], [0]],
                    "reply": {"2": f"Sure! {SCRIPT} 😂"},
                    "flags": {"2": ["extra_text"]},
                    "error": {},
                },
                BETA: {"emoji": [[2], [1], [1], [1], [1], [1], [1], [1]], "reply": {}, "flags": {}, "error": {}},
                GAMMA: {
                    "emoji": [None, [1], None, [1], [1], [1], [1], [1]],
                    "reply": {},
                    "flags": {},
                    "error": {"0": f"timeout {IMAGE}"},
                },
                NONE: {"emoji": [[], [], [], [], [], [], [], []], "reply": {}, "flags": {}, "error": {}},
            },
            "labels": {
                "judge/one": {
                    "gold": {"sentiment": "21002101", "gender": "01010101"},
                    ALPHA: {"sentiment": "20002101", "gender": "01010101"},
                    BETA: {"sentiment": "11002101", "gender": "01010101"},
                    GAMMA: {"sentiment": "?1.02101", "gender": ".1.10101"},
                    NONE: {"sentiment": "11111111", "gender": "01010101"},
                },
                "judge/two": {
                    "gold": {"sentiment": "22002101", "gender": "01010101"},
                    ALPHA: {"sentiment": "22002101", "gender": "11010101"},
                },
            },
            "votes": {
                "judge/one": {
                    "most": 3,
                    "unanimous": 2,
                    "split": {ALPHA: {"0": {"votes": 3, "cast": {"sentiment": ["positive", "positive", None]}}}},
                },
            },
            "people": {ALPHA: {"0": [["anna", 4], [f"rater {SCRIPT}", 2]]}},
            "disagreement": [0.5, 0.1, 0.9, 0.2, 0.2, 0.2, 0.2, 0.2],
            "mattered": [1.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        },
        "tasks": TASKS,
        "curves": {
            "": [[1, 40.0], [0, 30.0], [2, 30.0]],
            ALPHA: [[0, 50.0], [1, 30.0], [4, 20.0]],
            BETA: [[1, 90.0], [2, 10.0]],
            NONE: [],
        },
        "distinct": {"": 3, ALPHA: 7, BETA: 2, NONE: 0},
        "entropy_bits": {ALPHA: estimate(1.49, 1.2, 1.7), BETA: estimate(0.47, 0.2, 0.8)},
        "card": f"# Card {SCRIPT}\n\nA *sample* of posts, {IMAGE}.\n\n* one\n* two {LINK}\n",
        "leaks": 1,
        "judge_costs": {},
        "judges": [student()],
        "panel_caveats": ["two judges hardly show how judges differ"],
    }


def student() -> dict[str, Any]:
    """A judge of the run that was measured when it was fitted."""
    task = {"accuracy": estimate(0.83, 0.79, 0.87), "kappa": estimate(0.72, 0.66, 0.78)}
    return {
        "judge": "student/mine",
        "sentence": "student/mine agrees at kappa 0.31 (gender) to 0.72 (sentiment).",
        "posts": 240,
        "authors": 29,
        "tasks": {
            "sentiment": task | {"commonest": 0.475, "moves": 0.484, "outside": 0.48},
            "gender": {
                "accuracy": {"value": 0.7},
                "kappa": {"value": 0.31},
                "commonest": 0.5,
                "moves": None,
                "outside": None,
            },
        },
        "outside": {"posts": 5039, "judge": "another judge"},
    }


def _pair_scores(both: float, rank: list[int]) -> dict[str, Any]:
    values = {"acc_pair": both, "acc_query": 0.6, "acc_pair_if_independent": 0.36, "context_awareness": 0.5}
    values |= {"output_variability": 0.4, "bias": 0.7}
    found: dict[str, Any] = {name: estimate(value, value - 0.1, value + 0.1) for name, value in values.items()}
    return found | {
        "pairs": 2,
        "rank": rank,
        "unparsed": {"verdict": 1},
        "by_category": {"tone": dict(found) | {"pairs": 2}},
    }


def disambiguation() -> dict[str, Any]:
    systems = {"maker/alpha": _pair_scores(0.5, [1, 2]), "baseline/random": _pair_scores(0.25, [1, 2])}
    whole = {"lang": None, "category": None, "pairs": 2, "systems": {name: dict(s) for name, s in systems.items()}}
    return {
        "id": "r2",
        "name": "sample pairs",
        "kind": "disambiguation",
        "signature": "data:11111111|n:2|verifier:embedded|version:0.1.0",
        "notes": [f"A note {TEMPLATE}"],
        "document": {
            "schema": 1,
            "data": {"pairs": 2},
            "systems": systems,
            "differences": [
                {"system": "maker/alpha", "against": "baseline/random", "measure": "acc_pair", "p": 0.2, "pairs": 2,
                 "difference": estimate(0.25, -0.1, 0.6), "detectable": 0.5},
            ],
            "verifier": {"name": "embedded", "accuracy": estimate(0.9, 0.85, 0.94), "people": None,
                         "accuracy_by_lang": {"en": {"agreed": 9, "answers": 10}, "hi": {"agreed": 8, "answers": 10}}},
            "warnings": [],
        },
        "systems": [_system("maker/alpha"), _system("baseline/random", baseline=True)],
        "slices": [whole],
        "items": {
            "n": 2,
            "id": ["q0", "q1"],
            "category": ["tone", "tone"],
            "lang": ["en", "hi"],
            "text": ["fine 🙂", "ठीक है 🙂"],
            "emoji": ["🙂", "🙂"],
            "question": [f"How is it meant? {SCRIPT}", "?"],
            "context_1": [f"After a quarrel. {OVERRIDE}", "one"],
            "answer_1": ["Coldly.", "one"],
            "context_2": ["After good news.", "two"],
            "answer_2": ["Kindly.", "two"],
            "reading_1": ["figurative", "literal"],
            "reading_2": ["literal", "figurative"],
            "systems": {
                "maker/alpha": {
                    "answer": {"1": ["Coldly.", "a"], "2": [f"Coldly. {IMAGE}", "b"], "none": ["Kindly.", None]},
                    "verdict": {"1": "r?", "2": "w.", "none": ".."},
                    "reading": {"1": "1n", "2": "1.", "none": "2."},
                    "differs": {"1-2": "f?", "1-none": "t.", "2-none": "t."},
                },
                "baseline/random": {"answer": {}, "verdict": {}, "reading": {}, "differs": {}},
            },
            "disagreement": [0.5, 0.25],
            "mattered": [1.0, 0.0],
        },
        "card": None,
        "judge_costs": {},
    }  # fmt: skip


def rating_study() -> dict[str, Any]:
    ranking = [
        {"system": "a", "mean": estimate(4.1, 3.9, 4.3), "rank": [1, 2], "deviation": estimate(0.3, 0.1, 0.5)},
        {"system": "b", "mean": estimate(3.9, 3.7, 4.1), "rank": [1, 2], "deviation": estimate(-0.3, -0.5, -0.1)},
    ]
    length = {
        "slope_panel": estimate(0.012, 0.002, 0.022),
        "by_rater": [{"rater": "anna", "slope": estimate(0.01, 0.0, 0.02)}],
        "matched_ranking": [
            {"system": "b", "win_rate": estimate(0.61, 0.5, 0.7), "rank": 1},
            {"system": "a", "win_rate": estimate(0.39, 0.3, 0.5), "rank": 2},
        ],
    }
    return {
        "id": "r3",
        "name": "sample study",
        "kind": "rating_study",
        "signature": "data:22222222|n:12|score:score|version:0.1.0",
        "notes": [],
        "document": {
            "schema": 1,
            "describe": "3 items x 2 systems x 2 raters: 12 ratings, complete",
            "design": {"item": 3, "system": 2, "rater": 2},
            "raters_needed": {"0.8": {"value": None, "ci": [8.0, None], "state": "never"}},
            "cautions": ["so few raters hide whether they agree"],
            "notes": ["a is a name, and some ratings are missing", "some cells were rated twice"],
            "next_steps": ["ask more raters"],
            "higher_is_better": True,
            "pairs": [],
        },
        "study": {
            "sentence": f"tie: these ratings cannot rank the two systems {SCRIPT}",
            "cautions": ["So few raters hide whether they agree."],
            "verdict": "not_separated",
            "variance": [
                {"source": "system", "share": 0.05, "estimate": 0.1, "ci": [0.0, 0.4]},
                {"source": "rater", "share": 0.35, "estimate": 0.7, "ci": [0.2, 1.9]},
                {"source": "system:rater", "share": 0.60, "estimate": 1.2, "ci": [0.9, 1.6]},
            ],
            "g_curve": [
                {"raters": 1, "g": estimate(0.3, 0.0, 0.6)},
                {"raters": 2, "g": estimate(0.45, 0.0, 0.75)},
                {"raters": 10, "g": estimate(0.8, 0.1, 0.94)},
            ],
            "raters_now": 2,
            "raters": [
                {"rater": "anna", "n": 6, "mean": estimate(4.4, 4.1, 4.7), "sd": 0.5, "slope": {"value": 0.9}},
                {"rater": f"ben {IMAGE}", "n": 6, "mean": estimate(3.6, 3.2, 4.0), "sd": 0.9, "slope": None},
            ],
            "ranking": ranking,
            "length": {"columns": {"words": length}},
            "agreement": {
                "level": "interval",
                "alpha": {"interval": estimate(0.4, 0.1, 0.6)},
                "icc": {"2,1": estimate(0.5, 0.2, 0.7)},
            },
        },
        "items": {
            "n": 3,
            "id": ["i0", "i1", "i2"],
            "scores": {
                "a": {"anna": [5, 4, 4], f"ben {IMAGE}": [4, None, 3.5]},
                "b": {"anna": [4, 4, 5], f"ben {IMAGE}": [3, 3, 4]},
            },
        },
    }  # fmt: skip


def judge_file() -> dict[str, Any]:
    task = {"posts": 8, "unparsed": 1, "accuracy": estimate(0.75, 0.6, 0.9), "kappa": estimate(0.5, 0.3, 0.7)}
    return {
        "id": "r4",
        "name": "judge accuracy",
        "kind": "judge",
        "command": "judge accuracy",
        "signature": None,
        "notes": [],
        "document": {
            "schema": 1,
            "posts": 8,
            "judges": {"judge/one": {"sentiment": task, "gender": dict(task)}},
            "brand_new_key": {"deep": {"number": 0.123456, "text": f"unknown {SCRIPT}"}},
            "list_of": [{"judge": "judge/one", "against": "judge/two", "p": 0.5}],
        },
    }
