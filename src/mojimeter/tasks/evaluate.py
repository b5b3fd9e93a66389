"""Runs recommenders over posts as Inspect evaluations, several at once, and says honestly what failed.

Inspect calls an evaluation a success even where every sample failed; here every failed sample is
returned. Must not know run folders beyond the folder for logs, nor tables.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from inspect_ai import Epochs, Task, eval
from inspect_ai.dataset import MemoryDataset
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log, write_eval_log

from mojimeter.errors import MojimeterError
from mojimeter.judges.llm import LlmJudge
from mojimeter.models.client import Client, load_model
from mojimeter.models.secrets import without_secrets
from mojimeter.systems.language import LanguageSystem
from mojimeter.tasks.recommend import preservation, recommending, samples_of
from mojimeter.tasks.recommender import Recommender

T = TypeVar("T")

FAILED = "failed"
SAMPLES_PER_CONNECTION = 2  # while one post waits for its judge another can ask its system


@dataclass(frozen=True, slots=True)
class Failure:
    """A sample that did not end well: which, and why in one line."""

    system: str
    id: str
    epoch: int
    reason: str


def evaluate(
    recommenders: Sequence[Recommender],
    judges: Sequence[LlmJudge],
    posts: Sequence[Mapping[str, Any]],
    client: Client,
    *,
    epochs: int,
    append: str,
    logs: Path,
    done: Callable[[str], None] = lambda system: None,
) -> list[Failure]:
    """Ask every recommender for every post and have the judges label originals and recommendations.

    Args:
        recommenders: what is ranked; baselines run one epoch, since they always say the same.
        judges: models that label; judges that need no calls are not this function's business.
        posts: rows of the canonical table of posts.
        client: whose ledger gets every call.
        epochs: repeats of the language models.
        append: what the judges see after the text.
        logs: where Inspect's logs go. A system's whole new log replaces its older ones; a log with failed
            samples, or of a killed process, is moved to ``failed/`` below it.
        done: called with a system's name whenever one of its samples is finished.

    Raises:
        KeyboardInterrupt: the evaluation was cancelled.
        MojimeterError: Inspect could not run it at all.
    """
    tasks = [_task(r, judges, posts, client, epochs, append, partial(done, r.name)) for r in recommenders]
    return run_tasks(tasks, client, logs)


def run_tasks(tasks: Sequence[Task], client: Client, logs: Path) -> list[Failure]:
    """Run Inspect tasks, keep their logs in order, and return every sample that did not end well.

    Args:
        tasks: each with a ``system`` in its metadata.
        client: its patience sets how many samples run at a time.
        logs: the folder of logs; see ``evaluate``.

    Raises:
        KeyboardInterrupt: the evaluation was cancelled.
        MojimeterError: Inspect could not run it at all.
    """
    _clear_unfinished(logs)
    connections = client.patience.max_connections or 10
    results = eval(
        list(tasks),
        model=None,
        log_dir=str(logs),
        display="none",
        log_level="critical",
        log_realtime=False,
        log_buffer=100,
        score_display=False,
        fail_on_error=False,
        max_tasks=len(tasks),
        max_samples=SAMPLES_PER_CONNECTION * connections,
        max_connections=connections,
        ctl_server=False,
    )
    for log in results:
        _redact(log)
    failures = [failure for log in results for failure in _failures(log)]
    for log in results:
        if _ended_well(log):
            _set_aside(logs, [p for p in _logs_of(logs, log.eval.task) if p != _path(log.location)], delete=True)
        else:
            _set_aside(logs, [_path(log.location)])
    if len(results) < len(tasks) or any(log.status == "cancelled" for log in results):
        raise KeyboardInterrupt  # Inspect swallows it
    for log in results:
        if log.status == "error" and not any(s.error for s in log.samples or ()):
            raise MojimeterError(f"{log.eval.task}: {log.error.message if log.error else 'failed'}")
    return failures


def _task(
    who: Recommender,
    judges: Sequence[LlmJudge],
    posts: Sequence[Mapping[str, Any]],
    client: Client,
    epochs: int,
    append: str,
    done: Callable[[], None],
) -> Task:
    system = who.system if isinstance(who.system, LanguageSystem) else None
    scorers = [preservation(partial(_itself, judge), client, append=append) for judge in judges]
    return Task(
        name=_task_name(who.name),
        dataset=MemoryDataset(samples_of(posts), name="posts"),
        solver=recommending(partial(_itself, who), client, done),
        scorer=scorers or None,
        model=load_model(system.model, client.patience) if system else None,
        epochs=Epochs(epochs if system else 1),
        metadata={
            "system": who.name,
            "strategy": system.prompt.strategy if system else None,
            "judges": [judge.name for judge in judges],
        },
    )


def _itself(thing: T) -> T:
    return thing


def _task_name(system: str) -> str:
    return "recommend_" + re.sub(r"[^A-Za-z0-9.]+", "-", system).strip("-")


def _failures(log: EvalLog) -> list[Failure]:
    system = str((log.eval.metadata or {})["system"])
    return [
        Failure(system, str(sample.id), sample.epoch, " ".join(sample.error.message.split())[:300])
        for sample in log.samples or ()
        if sample.error is not None
    ]


def _redact(log: EvalLog) -> None:
    """Rewrite a log that holds a key: a server may have sent it back in the text of an error."""
    text = log.model_dump_json()
    clean = without_secrets(text)
    if clean != text:
        write_eval_log(EvalLog.model_validate_json(clean), log.location)


def _ended_well(log: EvalLog) -> bool:
    return log.status == "success" and not any(sample.error for sample in log.samples or ())


def _clear_unfinished(logs: Path) -> None:
    """Move away the logs of processes that were killed: they would stay as "started" for ever.

    One that cannot be read any more is deleted; every answer in it is in the ledger.
    """
    if not logs.is_dir():
        return
    for path in [_path(info.name) for info in list_eval_logs(str(logs), recursive=False)]:
        try:
            log = read_eval_log(str(path))
        except Exception:  # noqa: BLE001 (a file cut off by a kill can fail in any way; all mean the same)
            path.unlink()
            continue
        if log.status != "success":
            _redact(log)
            _set_aside(logs, [path])


def _logs_of(logs: Path, task: str) -> list[Path]:
    infos = list_eval_logs(str(logs), recursive=False)
    return [_path(info.name) for info in infos if info.task == task.replace("_", "-")]


def _set_aside(logs: Path, paths: Sequence[Path], *, delete: bool = False) -> None:
    for path in paths:
        if delete:
            path.unlink(missing_ok=True)
        elif path.exists():
            (logs / FAILED).mkdir(exist_ok=True)
            shutil.move(path, logs / FAILED / path.name)


def _path(location: str) -> Path:
    return Path(location.removeprefix("file://")) if os.sep == "/" else Path(location.removeprefix("file:///"))
