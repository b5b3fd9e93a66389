"""A language model as a judge: temperature 0, votes, and no call more than the labels need.

With three votes two equal ones settle a label, so the third is asked only when two disagree; a label
without a majority is a tie, reported and left unparsed. By default one call asks for all five tasks,
which takes 2 calls a text where the paper took 15; ``together=False`` asks task by task in the paper's
way. Which calls a text needs is decided here, one at a time, as a generator: whoever drives it (a run,
a replay of the ledger, a count before anything is spent) gets the same labels. A model in this process
is asked once: at temperature 0 it would only say the same again. Knows nothing of how a call is made,
nor of metrics.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field

from mojimeter.errors import InputError
from mojimeter.judges.labels import LABELS, parse_answers, parse_label
from mojimeter.judges.prompts import joint_prompt, prompts_digest, single_prompt
from mojimeter.models.calls import Call, Request, well_formed

MAX_TOKENS = 1024  # room for a model that thinks before it answers
MAX_TOKENS_LOCAL = 48
TASKS = tuple(LABELS)
LOCAL = "local/"


@dataclass(frozen=True, slots=True)
class Labels:
    """What a judge says of one text.

    Attributes:
        values: task -> label, or None where no label has a majority.
        ties: the tasks on which the votes were used up without a majority.
        votes: votes used, the most over the tasks.
        votes_cast: task -> every vote in order (None: unparsed).
    """

    values: dict[str, str | None]
    ties: tuple[str, ...] = ()
    votes: int = 1
    votes_cast: dict[str, tuple[str | None, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LlmJudge:
    """A model that labels texts.

    Attributes:
        name: any Inspect model name.
        votes: the most votes a label may take; more than half of them settle it. 1 for a model in this process.
        together: ask for the five tasks in one call.
    """

    name: str
    votes: int = 3
    together: bool = True

    def __post_init__(self) -> None:
        if self.votes < 1:
            raise InputError(f"votes is {self.votes}; expected 1 or more")
        if self.name.startswith(LOCAL):
            object.__setattr__(self, "votes", 1)

    @property
    def digest(self) -> str:
        """12 hexadecimal digits of the prompts."""
        return prompts_digest(TASKS, self.together)

    def ballot(self, text: str) -> Generator[Request, Call, Labels]:
        """Yields each call that is needed, takes its answer, returns the labels."""
        cast: dict[str, tuple[str | None, ...]] = {}
        asked = 0
        for tasks in (TASKS,) if self.together else tuple((task,) for task in TASKS):
            votes: list[dict[str, str | None]] = []
            while len(votes) < self.votes and not all(self._is_settled(votes, task) for task in tasks):
                call = yield self.request(tasks, text, len(votes))
                votes.append(_read(tasks, call.reply))
            asked = max(asked, len(votes))
            cast |= {task: tuple(vote[task] for vote in votes) for task in tasks}
        winners = {task: self._winner(votes) for task, votes in cast.items()}
        ties = tuple(task for task, winner in winners.items() if winner is None)
        values = {task: winner[0] if winner else None for task, winner in winners.items()}
        return Labels(values, ties, asked, cast)

    def request(self, tasks: Sequence[str], text: str, vote: int) -> Request:
        """One vote on one text; each vote is a question of its own."""
        single = len(tasks) == 1
        local = self.name.startswith(LOCAL)
        return Request(
            model=self.name,
            messages=single_prompt(tasks[0], well_formed(text)) if single else joint_prompt(tasks, well_formed(text)),
            purpose="judge",
            temperature=0.0,
            max_tokens=MAX_TOKENS_LOCAL if local else MAX_TOKENS,
            grammar=_grammar(tasks) if local else None,
            turn=vote,
        )

    def calls_for(self, texts: int) -> tuple[int, int]:
        """The fewest and the most calls that so many texts can take."""
        groups = 1 if self.together else len(TASKS)
        return texts * groups * (self.votes // 2 + 1), texts * groups * self.votes

    def _is_settled(self, votes: Sequence[dict[str, str | None]], task: str) -> bool:
        return self._winner([vote[task] for vote in votes]) is not None

    def _winner(self, votes: Sequence[str | None]) -> tuple[str | None] | None:
        """The label (or unparsed) that has a majority of the votes allowed, in a tuple; None for no majority."""
        for label, count in Counter(votes).most_common(1):
            if count > self.votes // 2:
                return (label,)
        return None


def replay(judge: LlmJudge, text: str, find: Callable[[Request], Call | None]) -> Labels | Request:
    """The labels from calls already made, or the first call that is missing."""
    ballot = judge.ballot(text)
    try:
        request = next(ballot)
        while True:
            call = find(request)
            if call is None:
                return request
            request = ballot.send(call)
    except StopIteration as done:
        labels: Labels = done.value
        return labels


def _read(tasks: Sequence[str], reply: str) -> dict[str, str | None]:
    if len(tasks) == 1:
        return {tasks[0]: parse_label(tasks[0], reply)}
    return parse_answers(reply, tasks)


def _grammar(tasks: Sequence[str]) -> str:
    from mojimeter.models.grammar import answers_grammar, choice_grammar

    if len(tasks) == 1:
        return choice_grammar(LABELS[tasks[0]])
    return answers_grammar([(task, LABELS[task]) for task in tasks])
