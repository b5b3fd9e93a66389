"""Benchmark B as an Inspect task: a pair goes in, three answers come out, a verifier says what they mean.

One sample is one pair. Its solver asks the system under each context and without one; its scorer asks the verifier
about the answers. All in one sample, because pair accuracy, context awareness and output variability compare
answers to the same pair. Every call goes through one ``Client`` whose ledger answers what was asked before: that is
what makes a run resume exactly.

    inspect eval mojimeter/disambiguate --model openai/gpt-4o-mini --model-role verifier=openai/gpt-4o

Must not know run folders, tables of results or the command line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import anyio
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, Model, ModelOutput, get_model, model_roles
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from mojimeter.errors import InputError
from mojimeter.judges.labels import parse_label
from mojimeter.judges.verifier import EMBEDDED, LlmVerifier, Verified, Verifier, get_verifier, verify_pair
from mojimeter.models.calls import CallLedger, Request, well_formed
from mojimeter.models.client import Client, load_model
from mojimeter.models.patience import AS_THE_TASK_SAYS
from mojimeter.systems.answerers import TEMPERATURE, Answerer, LanguageAnswerer, get_answerer
from mojimeter.tasks.evaluate import Failure, run_tasks

VERIFIER_ROLE = "verifier"
CONDITIONS = ("1", "2", "none")
_ANSWERS = "answers"
Known = Mapping[str, Mapping[str, "str | None"]]  # verdicts and readings by condition
_UNKNOWN = math.nan  # Inspect leaves it out of the metric and counts it as unscored


@task
def disambiguate(
    pairs: str = "pairs",
    system: str | None = None,
    temperature: float = TEMPERATURE,
    seed: int | None = None,
    only_accuracy: bool = False,
) -> Task:
    """What an emoji means here: the same sentence under two contexts and under none.

    The system is Inspect's ``--model``; the verifier is the model role ``verifier``, or where none is given the
    one that ships with the project.

    Args:
        pairs: a table of pairs (CSV, TSV, JSONL, Parquet), or the set that ships: ``pairs``, ``pairs:en``.
        system: a baseline's name (``baseline/commoner``, ``baseline/random``) instead of a model.
        temperature: of the system.
        seed: of the system, where the provider takes one.
        only_accuracy: ask the verifier only what the two accuracies need.
    """
    from mojimeter.datasets.pairs import read_pairs

    frame = read_pairs(pairs)
    client = Client(CallLedger(), patience=AS_THE_TASK_SAYS)
    if system is not None and not system.startswith("baseline/"):
        raise InputError(f"-T system={system}: expected a baseline; a model is given as --model {system}")
    fixed = get_answerer(system, temperature=temperature, seed=seed) if system is not None else None

    def answerer_of_this_run() -> Answerer:
        # the model is known only once Inspect runs the task
        return fixed or LanguageAnswerer(str(get_model()), temperature, seed)

    def verifier_of_this_run() -> Verifier:
        model = _role_model()
        return LlmVerifier(str(model)) if model else get_verifier(EMBEDDED)

    return Task(
        dataset=MemoryDataset(samples_of(frame.to_dicts()), name="pairs"),
        solver=answering(answerer_of_this_run, client),
        scorer=verified(verifier_of_this_run, client, only_accuracy=only_accuracy),
    )


def samples_of(pairs: Sequence[Mapping[str, Any]]) -> list[Sample]:
    """One sample a pair, with the pair's id; contexts and expected answers are in the metadata."""
    return [
        Sample(
            id=pair["id"],
            input=f"{pair['text']}\n{pair['question']}",
            target=[pair["answer_1"], pair["answer_2"]],
            metadata=dict(pair),
        )
        for pair in pairs
    ]


@solver
def answering(answerer: Callable[[], Answerer], client: Client, done: Callable[[], None] | None = None) -> Solver:
    """Asks the system under each condition; the answers go to the sample's store and its transcript."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        who = answerer()
        answers: dict[str, str | None] = {}
        state.messages = []
        for condition in CONDITIONS:
            said = who.answer(state.metadata, condition)
            if isinstance(said, Request):
                state.messages.append(ChatMessageUser(content=said.messages[-1][1]))
                call = await client.ask(said, _model_of(said.model))
                said = well_formed(call.reply)
                state.messages.append(ChatMessageAssistant(content=said))
            answers[condition] = said
        state.store.set(_ANSWERS, answers)
        state.output = ModelOutput.from_content(who.name, "\n".join(f"{k}: {a}" for k, a in answers.items()))
        state.completed = True
        if done is not None:
            done()
        return state

    return solve


@scorer(metrics={"*": [mean(), stderr()]}, name="disambiguation")
def verified(
    verifier: Callable[[], Verifier],
    client: Client,
    *,
    given: Callable[[str], Known] | None = None,
    only_accuracy: bool = False,
) -> Scorer:
    """Pair and query accuracy, context awareness and output variability of one pair; NaN where not known."""

    async def score(state: TaskState, target: Target) -> Score:
        found = await verify(
            verifier(),
            state.metadata,
            state.store.get(_ANSWERS),
            client,
            given=given(str(state.metadata["id"])) if given else None,
            only_accuracy=only_accuracy,
        )
        return Score(
            value={**pair_values(found)},
            answer=state.output.completion,
            metadata={
                "verifier": verifier().name,
                "answers": {k: dict(row) for k, row in found.answers.items()},
                "differences": {f"{c} {order}": differs for (c, order), differs in found.differences.items()},
            },
        )

    return score


async def verify(
    verifier: Verifier,
    pair: Mapping[str, Any],
    answers: Mapping[str, str | None],
    client: Client,
    *,
    given: Known | None = None,
    only_accuracy: bool = False,
) -> Verified:
    """What a verifier says of one pair's answers, asking for no more than that needs."""
    asking = verify_pair(pair, answers, given=given, only_accuracy=only_accuracy)
    try:
        question = next(asking)
        while True:
            if isinstance(verifier, LlmVerifier):
                request = verifier.request(question)
                said = well_formed((await client.ask(request, _model_of(request.model))).reply)
            else:
                said = await anyio.to_thread.run_sync(verifier.verdict, question)
            question = asking.send(said)
    except StopIteration as finished:
        found: Verified = finished.value
        return found


def pair_values(found: Verified) -> dict[str, float]:
    """The measures of one pair, 0 to 1; NaN where a verdict is missing or could not be read."""
    verdicts = [parse_label("verdict", found.answers.get(k, {}).get("verdict")) for k in "12"]
    right = [_UNKNOWN if verdict is None else float(verdict == "right") for verdict in verdicts]
    differs = {c: _both_orders(found, c) for c in ("1-2", "1-none", "2-none")}
    return {
        "acc_pair": right[0] * right[1],
        "acc_query": sum(right) / 2.0,
        "context_awareness": differs["1-2"],
        "output_variability": (differs["1-none"] + differs["2-none"]) / 2.0,
    }


def _both_orders(found: Verified, compared: str) -> float:
    said = [found.differences.get((compared, order)) for order in ("ab", "ba")]
    return _UNKNOWN if None in said else float(all(said))


def evaluate_pairs(
    answerers: Sequence[Answerer],
    verifier: Verifier | None,
    pairs: Sequence[Mapping[str, Any]],
    client: Client,
    *,
    given: Callable[[str, str], Known],
    only_accuracy: bool,
    logs: Path,
    done: Callable[[str], None] = lambda system: None,
) -> list[Failure]:
    """Ask answerers for pairs and a model verifier about the answers, as Inspect evaluations, several at once.

    Args:
        answerers: what is ranked.
        verifier: a model; one of ours, or None, needs no calls and is not this function's business.
        pairs: rows of the canonical table of pairs.
        client: whose ledger gets every call.
        given: (system, pair's id) -> verdicts known already, by condition.
        only_accuracy: ask the verifier for verdicts alone.
        logs: where Inspect's logs go; see ``tasks.evaluate``.
        done: called with a system's name whenever one of its pairs is finished.

    Raises:
        KeyboardInterrupt: the evaluation was cancelled.
        MojimeterError: Inspect could not run it at all.
    """
    asked = verifier if isinstance(verifier, LlmVerifier) else None
    tasks = [_task(who, asked, pairs, client, given, only_accuracy, partial(done, who.name)) for who in answerers]
    return run_tasks(tasks, client, logs)


def _task(
    who: Answerer,
    verifier: LlmVerifier | None,
    pairs: Sequence[Mapping[str, Any]],
    client: Client,
    given: Callable[[str, str], Known],
    only_accuracy: bool,
    done: Callable[[], None],
) -> Task:
    return Task(
        name="disambiguate_" + re.sub(r"[^A-Za-z0-9.]+", "-", who.name).strip("-"),
        dataset=MemoryDataset(samples_of(pairs), name="pairs"),
        solver=answering(lambda: who, client, done),
        scorer=verified(lambda: verifier, client, given=partial(given, who.name), only_accuracy=only_accuracy)
        if verifier
        else None,
        model=load_model(who.name, client.patience) if isinstance(who, LanguageAnswerer) else None,
        metadata={"system": who.name, "verifier": verifier.name if verifier else None},
    )


def _model_of(name: str) -> Model | None:
    """The model of this evaluation or of its verifier role, where that is the one named."""
    for model in (get_model(), _role_model()):
        if model is not None and str(model) == name:
            return model
    return None


def _role_model() -> Model | None:
    role = model_roles().get(VERIFIER_ROLE)
    return role[0] if isinstance(role, list) else role
