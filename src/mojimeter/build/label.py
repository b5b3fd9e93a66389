"""Labels for cleaned posts: by a judge of ours, by a model, or from files; batch by batch, so that a kill costs little.

A judge of ours labels batches that any engine can map, each into a file of its own. A model is asked through the ledger
of calls, which is its memory. A post without a label on every task is not labelled: it is counted, never guessed.
Knows nothing of balance.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from mojimeter.build.stream import Engine, Flags, Parts
from mojimeter.datasets.records import GOLD, TASKS, as_labels
from mojimeter.datasets.tables import read_table, rename_columns
from mojimeter.errors import InputError
from mojimeter.judges.labels import LABELS, parse_labels
from mojimeter.judges.llm import LlmJudge
from mojimeter.judges.panel import TextJudge, get_judge

if TYPE_CHECKING:
    from mojimeter.models.calls import CallLedger
    from mojimeter.models.client import Client
    from mojimeter.models.patience import Patience
    from mojimeter.models.prices import Budget

BATCH: Final = 128  # posts; at 70 ms a post, what a kill can lose is 9 seconds


@dataclass(frozen=True, slots=True)
class Labelled:
    """Labels of the chosen posts.

    Attributes:
        table: one row a post, in order; one column a task, null where there is no label of the task's set.
        tasks: the tasks that were labelled at all.
        failed: reason -> posts for which a call failed.
    """

    table: pl.DataFrame
    tasks: tuple[str, ...]
    failed: dict[str, int] = field(default_factory=dict)

    @property
    def complete(self) -> Flags:
        """Which posts have a label on every task."""
        flags: Flags = self.table.select(pl.all_horizontal(pl.col(self.tasks).is_not_null())).to_series().to_numpy()
        return flags

    def missing(self) -> dict[str, int]:
        """Task -> posts without a label."""
        return {task: self.table[task].null_count() for task in self.tasks}


@dataclass(frozen=True, slots=True)
class LabelTask:
    """Label some rows of a part into a file.

    Attributes:
        source: the part.
        rows: of it.
        judge: a judge of ours.
        out: the Parquet file to write.
    """

    source: str
    rows: tuple[int, ...]
    judge: str
    out: str


def label_batch(task: LabelTask) -> int:
    """Write the labels of a batch; returns its size."""
    texts = _texts(task.source, task.rows)
    columns = _own_judge(task.judge).label(texts)
    frame = pl.DataFrame({t: columns[t] for t in TASKS}, schema=dict.fromkeys(TASKS, pl.String))
    part = Path(task.out).with_suffix(".part")
    frame.write_parquet(part)
    os.replace(part, task.out)
    return len(texts)


def label_with_own_judge(
    parts: Parts, chosen: Flags, judge: str, folder: Path, engine: Engine, progress: Callable[[int, int], None]
) -> Labelled:
    """Labels by a judge of ours.

    Args:
        parts, chosen: the posts.
        judge: its name.
        folder: for the labels; what is there is used.
        engine: who does it.
        progress: called with posts labelled and posts in all.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tasks = [
        LabelTask(source, tuple(rows), judge, str(folder / f"{number:07}.parquet"))
        for number, (source, rows) in enumerate(parts.slices(chosen, BATCH))
    ]
    missing = [task for task in tasks if not Path(task.out).exists()]
    total = int(chosen.sum())
    done = total - sum(len(task.rows) for task in missing)
    progress(done, total)
    for count in engine.map(label_batch, missing):
        done += count
        progress(done, total)
    frames = [pl.read_parquet(task.out) for task in tasks]
    schema = dict.fromkeys(TASKS, pl.String)
    return Labelled(_in_set(pl.concat(frames) if frames else pl.DataFrame(schema=schema)), TASKS)


def label_with_model(
    parts: Parts,
    chosen: Flags,
    judge: LlmJudge,
    ledger: CallLedger,
    budget: Budget,
    patience: Patience,
    progress: Callable[[int, int], None],
) -> Labelled:
    """Labels by a model; calls that the ledger holds are not made again, equal texts are labelled once.

    Raises:
        BudgetError: the next call could go over the budget; what was answered is in the ledger.
    """
    import anyio

    from mojimeter.models.client import Client

    client = Client(ledger, budget, patience)
    rows: list[dict[str, str | None]] = []
    failed: dict[str, int] = {}
    total = int(chosen.sum())
    for source, part in parts.slices(chosen, BATCH):
        labels, reasons = anyio.run(_ask, judge, _texts(source, part), client)
        rows += labels
        for reason in reasons:
            failed[reason] = failed.get(reason, 0) + 1
        progress(len(rows), total)
    return Labelled(_in_set(pl.DataFrame(rows, schema=dict.fromkeys(TASKS, pl.String))), TASKS, failed)


async def _ask(judge: LlmJudge, texts: Sequence[str], client: Client) -> tuple[list[dict[str, str | None]], list[str]]:
    """Labels of texts, all asked at once (the provider's limit on connections spaces them), and why some failed."""
    import anyio

    from mojimeter.models.client import CallError

    labels: list[dict[str, str | None]] = [dict.fromkeys(TASKS) for _ in texts]
    reasons: list[str] = []

    async def one(number: int, text: str) -> None:
        ballot = judge.ballot(text)
        try:
            request = next(ballot)
            while True:
                request = ballot.send(await client.ask(request))
        except StopIteration as done:
            labels[number] = done.value.values
        except CallError as error:
            reasons.append(str(error))

    try:
        async with anyio.create_task_group() as group:
            for number, text in enumerate(texts):
                group.start_soon(one, number, text)
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None
    return labels, reasons


def labels_from_files(parts: Parts, chosen: Flags, files: Sequence[str], mapping: Mapping[str, str]) -> Labelled:
    """Labels made elsewhere, of the original posts (system ``gold``), joined by id; a post not in them has none.

    Label strings go through the judges' alias table.

    Raises:
        InputError: a file is not readable, labels a post twice, or labels none of these posts.
    """
    frames = []
    for file in files:
        table = read_table(file)
        # the posts' column of ids may be called otherwise here
        ours = {name: theirs for name, theirs in mapping.items() if name != "id" or theirs in table.columns}
        frame = as_labels(rename_columns(table, ours, where=file), file, system=GOLD, judge="file")
        frames.append(frame.filter(pl.col("system") == GOLD).select("id", *TASKS))
    known = pl.concat(frames)
    again = known.filter(known["id"].is_duplicated())
    if again.height:
        raise InputError(f"{', '.join(files)}: post {again['id'][0]!r} is labelled twice; expected one judge's labels")
    table = pl.DataFrame({"id": pl.Series(list(parts.ids(chosen)), dtype=pl.String)})
    table = table.join(known, on="id", how="left", maintain_order="left")
    tasks = tuple(task for task in TASKS if known[task].null_count() < known.height)
    if not tasks or all(table[task].null_count() == table.height for task in tasks):
        raise InputError(
            f"{', '.join(files)}: no label for any of the posts; do the ids agree (first: {_first(table)})?"
        )
    parsed = table.select([parse_labels(task, table[task]).alias(task) for task in TASKS])
    return Labelled(_in_set(parsed), tasks)


def _first(table: pl.DataFrame) -> str:
    return repr(table["id"][0]) if table.height else "none"


def _in_set(table: pl.DataFrame) -> pl.DataFrame:
    """Labels that are not of the task's set are no labels."""
    return table.select(
        pl.when(pl.col(task).is_in(list(LABELS[task]))).then(pl.col(task)).alias(task) for task in TASKS
    )


def _texts(source: str, rows: Sequence[int]) -> list[str]:
    texts: list[str] = pl.read_parquet(source, columns=["text"])["text"].gather(list(rows)).to_list()
    return texts


@lru_cache(maxsize=4)
def _own_judge(name: str) -> TextJudge:
    judge = get_judge(name)
    if isinstance(judge, LlmJudge):
        raise InputError(f"{name}: a model is asked, not mapped")
    return judge
