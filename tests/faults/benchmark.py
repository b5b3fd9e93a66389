"""A small benchmark whose right answers are known: posts, a recommender and a judge as pure functions of the text."""

from __future__ import annotations

import csv
import hashlib
import re
from pathlib import Path
from typing import Any

from mojimeter.judges import LABELS
from mojimeter.runs.recommend import Outcome, run_recommend
from mojimeter.runs.settings import RecommendSettings
from tests.faults.provider import Provider

POSTS = 8
EMOJI = ("😀", "😢", "😡", "🎉", "🐹", "🚌", "🌧️", "❤️", "👍🏽", "🙏")


def write_posts(path: Path, count: int) -> Path:
    """``count`` posts by ``count // 2`` authors."""
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "text", "author", "age", "gender"])
        for i in range(count):
            emoji = EMOJI[i % len(EMOJI)]
            rows.writerow([f"p{i}", f"post {i} about buses {emoji}", f"a{i // 2}", "teen", "female"])
    return path


def reply(model: str, messages: list[dict[str, str]]) -> str:
    """What the provider's models answer: three emoji, or labels, by a hash of what they read."""
    question = "\n".join(message["content"] for message in messages)
    if model == "labeller":
        text = post_in(messages[-1]["content"])
        asked = [task for task in LABELS if re.search(rf"^{task}: ", question, re.MULTILINE)]
        if not asked:  # one task, known by its labels
            task = next(t for t, labels in LABELS.items() if all(f"- {label}: " in question for label in labels))
            return label_of(task, text)
        return "\n".join(f"{task}: {label_of(task, text)}" for task in asked)
    digest = hashlib.sha256(question.encode()).digest()
    return "".join(EMOJI[byte % len(EMOJI)] for byte in digest[:3])


def label_of(task: str, text: str) -> str:
    """The label that the judge gives a text: fixed, and different enough over texts."""
    digest = hashlib.sha256(f"{task}{text}".encode()).digest()
    return LABELS[task][digest[0] % len(LABELS[task])]


def post_in(question: str) -> str:
    """The text that a judge was given."""
    found = re.search(r"<post>\n(.*)\n</post>", question, re.DOTALL)
    assert found is not None, question
    return found[1]


def run(provider: Provider, posts: Path, out: Path, *, patience: Any = None, **settings: Any) -> Outcome:
    """A run over the benchmark with few bootstrap draws and, unless asked for, without baselines."""
    from mojimeter.models.patience import Patience

    options = {k: settings.pop(k) for k in ("prices", "max_cost", "allow_failures") if k in settings}
    chosen = RecommendSettings(
        **{
            "posts": str(posts),
            "systems": (provider.system,),
            "judges": (provider.judge,),
            "draws": 50,
            "baselines": False,
            **settings,
        }
    )
    quick = patience or Patience(sdk_retries=2, retries=0, attempt_timeout=20, max_connections=4)
    return run_recommend(chosen, out, patience=quick, **options)


def scores(outcome: Outcome) -> Any:
    """What must not depend on faults: the scores of the systems, whatever they are called, but for the seconds."""
    return [{k: v for k, v in s.items() if k != "cost"} for s in outcome.document["systems"].values()]
