"""Benchmark A as an Inspect task: a post without its emoji goes in, recommended emoji come out, judges label both.

One sample is one post. Its solver asks the system; its scorer has each judge label the original and the post
with the recommended emoji. Both in one task, rather than two evaluations, because a post is then finished
when its sample is, and the original's labels are asked for once whichever system's sample comes first.
Every call goes through one ``Client`` whose ledger answers what was asked before: that is what makes a
run resume exactly. Votes are counted inside the scorer, not by Inspect's epochs.

    inspect eval mojimeter/recommend -T posts=posts.csv --model openai/gpt-4o-mini --model-role judge=openai/gpt-4o

Must not know run folders, tables of results or the command line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import anyio
from inspect_ai import Epochs, Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser, Model, ModelOutput, ModelUsage, get_model, model_roles
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from mojimeter.errors import InputError
from mojimeter.judges.llm import TASKS, Labels, LlmJudge
from mojimeter.judges.panel import DEFAULT_JUDGE, TextJudge, get_judge
from mojimeter.models.calls import Call, CallLedger, well_formed
from mojimeter.models.client import Client
from mojimeter.models.patience import AS_THE_TASK_SAYS
from mojimeter.systems.append import with_recommendation
from mojimeter.systems.baselines import get_baseline
from mojimeter.systems.language import LanguageSystem, is_baseline
from mojimeter.systems.prompts import load_prompt, parse_count
from mojimeter.tasks.recommender import Recommender, check_choices

JUDGE_ROLE = "judge"


@task
def recommend(
    posts: str,
    system: str | None = None,
    strategy: str = "zeroshot",
    n: str = "3",
    template: str | None = None,
    profile: str = "posts",
    append: str = "emoji",
    votes: int = 3,
    together: bool = True,
    epochs: int = 1,
    temperature: float = 1.0,
    seed: int | None = None,
) -> Task:
    """Emoji recommendation that keeps the meaning.

    The system is Inspect's ``--model``; the judge is the model role ``judge``, or where none is given
    the judge that ships with the project.

    Args:
        posts: a table of posts (CSV, TSV, JSONL, Parquet): ``id``, ``text`` with its emoji.
        system: a baseline's name (``baseline/random``) instead of a model.
        strategy: zeroshot, fewshot or conditional.
        n: how many emoji, 1 to 5, or 1-5 (the model chooses).
        template: a prompt template of your own.
        profile: where a conditional prompt's age and gender come from: posts or labels (the judge's: leaks).
        append: what the judge sees after the text: emoji, or raw (the reply as it came).
        votes: the judge's votes at most.
        together: ask the judge for the five tasks in one call.
        epochs: repeats of the recommender.
        temperature: of the recommender.
        seed: of the recommender, where the provider takes one.
    """
    from mojimeter.datasets.readers import read_posts

    frame = read_posts(posts)
    check_choices(profile, append)
    count = parse_count(n)
    client = Client(CallLedger(), patience=AS_THE_TASK_SAYS)
    judge: LlmJudge | TextJudge | None = None

    def judge_of_this_run() -> LlmJudge | TextJudge:
        # a role is known only once Inspect runs the task
        nonlocal judge
        if judge is None:
            model = _role_model()
            judge = LlmJudge(str(model), votes, together) if model else get_judge(DEFAULT_JUDGE)
        return judge

    def recommender_of_this_run() -> Recommender:
        profile_judge = judge_of_this_run() if strategy == "conditional" and profile == "labels" else None
        if system is not None:
            return Recommender(system, get_baseline(system, seed or 0), count)
        asked = LanguageSystem(str(get_model()), load_prompt(strategy, template), count, temperature, seed)
        return Recommender(asked.model, asked, count, profile_judge)

    if system is not None and not is_baseline(system):
        raise InputError(f"-T system={system}: expected a baseline; a model is given as --model {system}")
    load_prompt(strategy, template)  # a wrong template is an error before anything runs
    return Task(
        dataset=MemoryDataset(samples_of(frame.to_dicts()), name="posts"),
        solver=recommending(recommender_of_this_run, client),
        scorer=preservation(judge_of_this_run, client, append=append),
        epochs=Epochs(epochs),
    )


def samples_of(posts: Sequence[Mapping[str, Any]]) -> list[Sample]:
    """One sample a post, with the post's id; what the system must not see is in the metadata."""
    return [
        Sample(
            id=post["id"],
            input=post["text"] or " ",
            target="".join(post["emoji"]),
            metadata={**post, "author": post.get("author") or post["id"]},
        )
        for post in posts
    ]


@solver
def recommending(
    recommender: Callable[[], Recommender], client: Client, done: Callable[[], None] | None = None
) -> Solver:
    """Asks the system for one post; the reply becomes the sample's output."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        who = recommender()
        post = dict(state.metadata)
        reply = who.fixed_reply(post)
        if reply is None and isinstance(who.system, LanguageSystem):
            if who.profile_judge is not None:
                labels = await label(who.profile_judge, post["original"], client)
                post |= {"age": labels.values["age"], "gender": labels.values["gender"]}
            request = who.system.request(post, state.epoch)
            state.messages = [ChatMessageUser(content=request.messages[-1][1])]
            state.output = _output(who.name, await client.ask(request, _model_of(request.model)))
        else:
            state.output = ModelOutput.from_content(who.name, reply or "")
        state.completed = True
        if done is not None:
            done()
        return state

    return solve


@scorer(metrics={"*": [mean(), stderr(cluster="author")]}, name="preservation")
def preservation(
    judge: Callable[[], LlmJudge | TextJudge],
    client: Client,
    append: str = "emoji",
    done: Callable[[], None] | None = None,
) -> Scorer:
    """Whether each label of the original stays with the recommended emoji: 1 or 0 a task, and their mean."""

    async def score(state: TaskState, target: Target) -> Score:
        post = state.metadata
        recommended = with_recommendation(post["text"], state.output.completion, append)
        original = await label(judge(), post["original"], client)
        now = await label(judge(), recommended, client)
        kept = {t: float(now.values[t] is not None and now.values[t] == original.values[t]) for t in TASKS}
        if done is not None:
            done()
        return Score(
            value={**kept, "average": sum(kept.values()) / len(TASKS)},
            answer=recommended,
            metadata={"judge": judge().name, "original": original.values, "recommended": now.values},
        )

    return score


def _output(name: str, call: Call) -> ModelOutput:
    """A finished call as a sample's output, with what it took."""
    output = ModelOutput.from_content(name, well_formed(call.reply))
    output.time = call.seconds
    if call.input_tokens is not None and call.output_tokens is not None:
        total = call.input_tokens + call.output_tokens
        output.usage = ModelUsage(input_tokens=call.input_tokens, output_tokens=call.output_tokens, total_tokens=total)
    return output


async def label(judge: LlmJudge | TextJudge, text: str, client: Client) -> Labels:
    """A judge's labels of one text, asking for no more votes than they need."""
    if not isinstance(judge, LlmJudge):
        columns = await anyio.to_thread.run_sync(judge.label, [text])
        return Labels({task: columns[task][0] for task in TASKS})
    ballot = judge.ballot(text)
    try:
        request = next(ballot)
        while True:
            request = ballot.send(await client.ask(request, _model_of(request.model)))
    except StopIteration as finished:
        labels: Labels = finished.value
        return labels


def _model_of(name: str) -> Model | None:
    """The model of this evaluation or of its judge role, where that is the one named."""
    for model in (get_model(), _role_model()):
        if model is not None and str(model) == name:
            return model
    return None


def _role_model() -> Model | None:
    role = model_roles().get(JUDGE_ROLE)
    return role[0] if isinstance(role, list) else role
