"""What a run of benchmark A is asked to do, and the same made concrete: posts, prompt, systems, judges.

Everything wrong with a setting is found here, before anything is asked or written. Makes no call.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from mojimeter.datasets.records import TASKS
from mojimeter.errors import InputError
from mojimeter.judges.llm import Labels, LlmJudge, replay
from mojimeter.judges.panel import DEFAULT_JUDGE, TextJudge, get_judge
from mojimeter.models.calls import CallLedger, Request
from mojimeter.systems.baselines import get_baseline
from mojimeter.systems.language import LanguageSystem, is_baseline
from mojimeter.systems.prompts import load_prompt, parse_count
from mojimeter.tasks.recommender import Recommender, check_choices

if TYPE_CHECKING:
    import polars as pl


ALWAYS_SHOWN = ("baseline/none", "baseline/random")


@dataclass(frozen=True, slots=True)
class RecommendSettings:
    """What a run is asked to do; every field is in ``settings.toml``.

    Attributes:
        posts: file of posts, or anything ``datasets.readers.read_posts`` takes.
        systems: names, baselines included.
        judges: names; none: the judge that ships with the project.
        strategy, n, template: the prompt (see ``systems.prompts``).
        profile: where a conditional prompt's age and gender come from: ``posts`` or ``labels``, which leaks.
        append: what judges see after the text: ``emoji`` or ``raw``.
        epochs: repeats of the language models.
        limit: the first so many posts; None: all.
        limits: system -> the first so many posts for it alone, where it is slow; it is compared with the others on
            the posts that both have.
        votes: a judge's votes at most.
        together: ask a judge for the five tasks in one call.
        temperature, seed: of the recommenders.
        baselines: add ``baseline/none`` and ``baseline/random``, without which a score cannot be read.
        equality, draws, bootstrap_seed: of the scoring.
    """

    posts: str
    systems: tuple[str, ...]
    judges: tuple[str, ...] = ()
    strategy: str = "zeroshot"
    n: str = "3"
    template: str | None = None
    profile: str | None = None
    append: str = "emoji"
    epochs: int = 1
    limit: int | None = None
    votes: int = 3
    together: bool = True
    temperature: float = 1.0
    seed: int | None = None
    baselines: bool = True
    equality: str = "presentation"
    draws: int = 2000
    bootstrap_seed: int = 0
    mapping: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, int] = field(default_factory=dict)


class Run:
    """Settings made concrete: posts read, prompts loaded, systems and judges found.

    Raises:
        InputError: any setting is wrong; nothing has been asked or written by then.
    """

    def __init__(self, settings: RecommendSettings) -> None:
        from mojimeter.datasets.readers import read_posts
        from mojimeter.metrics.recommendation import EQUALITIES

        self.settings = settings
        self.profile = settings.profile or "posts"
        check_choices(self.profile, settings.append)
        for name, value in (("epochs", settings.epochs), ("limit", settings.limit)):
            if value is not None and value < 1:
                raise InputError(f"{name} is {value}; expected 1 or more")
        if settings.equality not in EQUALITIES:
            raise InputError(f"no equality {settings.equality!r}; expected {', '.join(EQUALITIES)}")
        if settings.profile is not None and settings.strategy != "conditional":
            raise InputError(
                "--profile says where a conditional prompt's age and gender come from: it needs --strategy conditional"
            )
        if not settings.systems:
            raise InputError("nothing to rank: name one or more systems (--system)")
        self.n = parse_count(settings.n)
        self.prompt = load_prompt(settings.strategy, settings.template)
        frame = read_posts(settings.posts, settings.mapping)
        self._posts_digest = _digest(frame)
        self.frame = frame.head(settings.limit) if settings.limit else frame
        self.posts = self.frame.to_dicts()
        if settings.strategy == "conditional" and self.profile == "posts" and not self._has_profiles():
            raise InputError(
                f"{settings.posts}: no age and no gender in it; a conditional prompt needs them, "
                "or --profile labels, which takes the judge's own and leaks"
            )
        names = settings.judges or (DEFAULT_JUDGE,)
        self.judges: list[LlmJudge | TextJudge] = [
            get_judge(name, votes=settings.votes, together=settings.together) for name in once(names)
        ]
        self.asked_judges = [judge for judge in self.judges if isinstance(judge, LlmJudge)]
        self.own_judges = [judge for judge in self.judges if not isinstance(judge, LlmJudge)]
        self.first_judge = self.judges[0]
        self._own_profiles: dict[str, dict[str, str | None]] = {}
        self.recommenders = [self._recommender(name) for name in self._system_names()]
        for name, limit in settings.limits.items():
            if limit < 1 or name not in self._system_names():
                known = ", ".join(self._system_names())
                raise InputError(f"limit {name}={limit}: expected one of {known}, and 1 or more")

    def identity(self) -> dict[str, Any]:
        """What is written to ``settings.toml``."""
        from mojimeter import __version__

        settings = asdict(self.settings)
        mapping, limits = settings.pop("mapping"), settings.pop("limits")
        posts_file = settings.pop("posts")
        systems = [r.name for r in self.recommenders]
        judges = [j.name for j in self.judges]
        return {
            **settings,
            "profile": self.profile if self.settings.strategy == "conditional" else None,
            "systems": systems,
            "judges": judges,
            "posts_file": posts_file,
            "posts_sha256": self._posts_digest,
            "prompt": self.prompt.digest,
            "judge_prompts": {j.name: j.digest for j in self.judges},
            "version": __version__,
            **({"map": dict(mapping)} if mapping else {}),
            **({"limits": dict(limits)} if limits else {}),
        }

    def _has_profiles(self) -> bool:
        return any(self.frame[column].null_count() < self.frame.height for column in ("age", "gender"))

    def _system_names(self) -> list[str]:
        return once((*self.settings.systems, *(ALWAYS_SHOWN if self.settings.baselines else ())))

    def _recommender(self, name: str) -> Recommender:
        if is_baseline(name):
            return Recommender(name, get_baseline(name, self.settings.seed or 0), self.n)
        if "/" not in name:
            raise InputError(
                f"no system {name!r}; expected baseline/..., local/... or a model such as openai/gpt-4o-mini"
            )
        system = LanguageSystem(name, self.prompt, self.n, self.settings.temperature, self.settings.seed)
        leaks = self.settings.strategy == "conditional" and self.profile == "labels"
        return Recommender(name, system, self.n, self.first_judge if leaks else None)

    def epochs_of(self, who: Recommender) -> range:
        """The epochs a recommender runs: a baseline always says the same, so one."""
        return range(1, (self.settings.epochs if isinstance(who.system, LanguageSystem) else 1) + 1)

    def posts_of(self, who: Recommender) -> list[dict[str, Any]]:
        """The posts a recommender is asked about."""
        return self.posts[: self.settings.limits.get(who.name)]

    def profile_labels(self, who: Recommender, post: Mapping[str, Any], ledger: CallLedger) -> dict[str, Any] | Request:
        """What a conditional prompt is told of the author, or the call that has to come first."""
        judge = who.profile_judge
        if judge is None:
            return {}
        labels = (
            replay(judge, post["original"], lambda r: ledger.get(r.key))
            if isinstance(judge, LlmJudge)
            else (Labels(dict(self._own_profile(judge, post["original"]))))
        )
        return labels if isinstance(labels, Request) else {task: labels.values[task] for task in ("age", "gender")}

    def _own_profile(self, judge: TextJudge, text: str) -> dict[str, str | None]:
        if not self._own_profiles:
            columns = judge.label([post["original"] for post in self.posts])
            for index, post in enumerate(self.posts):
                self._own_profiles[post["original"]] = {task: columns[task][index] for task in TASKS}
        return self._own_profiles[text]


def parse_limits(pairs: Iterable[str]) -> dict[str, int]:
    """``["local/smollm2-135m=40"]`` -> ``{"local/smollm2-135m": 40}``.

    Raises:
        InputError: a pair is not SYSTEM=N.
    """
    limits = {}
    for pair in pairs:
        system, _, number = pair.rpartition("=")
        if not system or not number.isdecimal():
            raise InputError(f"limit {pair!r}: expected SYSTEM=N, such as local/smollm2-135m=40")
        limits[system] = int(number)
    return limits


def _digest(frame: pl.DataFrame) -> str:
    digest = hashlib.sha256()
    for post_id, original in frame.select("id", "original").iter_rows():
        digest.update(f"{post_id}\0{original}\0".encode())
    return digest.hexdigest()[:16]


def once(names: Iterable[str]) -> list[str]:
    """The names in order, each once."""
    return list(dict.fromkeys(names))
