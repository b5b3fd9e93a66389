"""Where the labels come from that the other modules judge: files, or judges that are asked now.

The join of ``datasets``, ``systems`` and ``judges`` behind ``mojimeter judge``. Every text is labelled once for each
judge and repeat; answers of models are kept in a run folder, from which the same command goes on. Knows no statistics
and no command line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from mojimeter.datasets.records import GOLD, LABEL_COLUMNS, OUTPUT_COLUMNS, TASKS
from mojimeter.datasets.tables import SUFFIXES, read_table
from mojimeter.errors import InputError, MojimeterError, PartialError
from mojimeter.judges.labels import LABELS, parse_labels
from mojimeter.judges.llm import LlmJudge
from mojimeter.judges.panel import STUDENT, TextJudge, get_judge
from mojimeter.systems.append import with_recommendation

if TYPE_CHECKING:
    from mojimeter.models.calls import Call, CallLedger

FORMATS = ("tables", "semrec")
DEFAULT_FOLDER = "runs/judge"
Progress = Callable[[int, int], None]
Answers = dict[str, list[str | None]]  # task -> a label a text


@dataclass(frozen=True, slots=True)
class Material:
    """Posts, what systems made of them, and labels of both.

    Attributes:
        posts: the canonical table; outputs: the canonical table, empty where there are none.
        labels: the canonical table with labels read (null where they could not be), empty where there are none.
        append: what was appended to a post before it was labelled: ``emoji``, or the ``raw`` reply.
    """

    posts: pl.DataFrame
    outputs: pl.DataFrame
    labels: pl.DataFrame
    append: str = "emoji"


@dataclass(frozen=True, slots=True)
class Asking:
    """How judges are asked.

    Attributes:
        votes, together: of models; see ``judges.llm``.
        out: the run folder for answers of models; None: ``runs/judge`` once a model is asked.
        connections: calls at the same time.
        progress: called with (done, to do).
    """

    votes: int = 3
    together: bool = True
    out: str | None = None
    connections: int = 10
    progress: Progress | None = None


def read_material(
    posts: str,
    outputs: Sequence[str] = (),
    labels: Sequence[str] = (),
    *,
    format: str = "tables",
    mapping: Mapping[str, str] | None = None,
    limit: int | None = None,
) -> Material:
    """Read files of posts, outputs and labels; ``semrec`` is the second paper's release, its labels beside the outputs.

    Raises:
        InputError: a file is not readable or wrong, or an option is.
    """
    if format not in FORMATS:
        raise InputError(f"no format {format!r}; expected {' or '.join(FORMATS)}")
    if format == "semrec":
        from mojimeter.datasets.semrec import read_semrec

        if labels or mapping:
            raise InputError("semrec files hold their labels and fixed column names: no --labels and no --map")
        material = Material(*read_semrec(posts, list(outputs)), append="raw")
    else:
        material = _read_tables(posts, outputs, labels, mapping or {})
    if limit is not None:
        kept = material.posts.head(limit)
        ids = kept.select("id")
        material = Material(
            kept,
            material.outputs.join(ids, on="id", how="semi", maintain_order="left"),
            material.labels.join(ids, on="id", how="semi", maintain_order="left"),
            material.append,
        )
    read = [parse_labels(task, material.labels[task]).alias(task) for task in TASKS]
    return replace(material, labels=material.labels.with_columns(read))


def _read_tables(posts: str, outputs: Sequence[str], labels: Sequence[str], mapping: Mapping[str, str]) -> Material:
    from mojimeter.datasets.readers import read_labels, read_outputs, read_posts

    used: set[str] = set()

    def of(path: str) -> dict[str, str]:
        """The pairs of --map whose column this file has."""
        if not mapping or Path(path).suffix.lower() not in SUFFIXES:
            used.update(mapping)  # what is not a table says itself what it lacks
            return dict(mapping)
        there = read_table(path).columns
        chosen = {ours: theirs for ours, theirs in mapping.items() if theirs in there}
        used.update(chosen)
        return chosen

    read = Material(
        read_posts(posts, of(posts)),
        pl.concat([read_outputs([path], of(path)) for path in outputs], how="diagonal_relaxed")
        if mapping and outputs
        else read_outputs(outputs)
        if outputs
        else _empty(OUTPUT_COLUMNS, {"epoch": pl.Int64, "tokens": pl.Float64, "seconds": pl.Float64}),
        pl.concat([read_labels([path], of(path)) for path in labels], how="diagonal_relaxed")
        if mapping and labels
        else read_labels(labels)
        if labels
        else _empty(LABEL_COLUMNS, {"epoch": pl.Int64}),
    )
    for ours in sorted(set(mapping) - used):
        raise InputError(f"--map {ours}={mapping[ours]}: no file has a column {mapping[ours]!r}")
    return read


def _empty(columns: Sequence[str], numbers: Mapping[str, type[pl.DataType]]) -> pl.DataFrame:
    return pl.DataFrame(schema={column: numbers.get(column, pl.String) for column in columns})


def known_labels(material: Material, truth: str | None, where: str) -> tuple[pl.DataFrame, pl.DataFrame, str]:
    """The labels that count as right, and those to hold against them.

    They are the posts' own columns named for tasks, or those of the judge that ``truth`` names in the files of
    labels; without either, of the only judge there.

    Returns:
        ``id``, ``author`` and tasks; the canonical labels of the other judges; whose labels the first are.

    Raises:
        InputError: there are none, or one of the posts' own labels is not one of the task's.
    """
    posts, labels = material.posts, material.labels.filter(pl.col("system") == GOLD)
    judges = labels["judge"].unique(maintain_order=True).to_list()
    own = [t for t in TASKS if t in posts.columns and posts[t].null_count() < posts.height]
    if truth is None and own:
        parsed = [parse_labels(t, posts[t].cast(pl.String)).alias(t) for t in own]
        _refuse_unknown(posts, own, parsed, where)
        return posts.select("id", "author", *parsed), labels, "posts"
    if truth is None and len(judges) == 1:
        truth = judges[0]
    if truth is None or truth not in judges:
        there = f"; the files of labels hold {', '.join(judges)}" if judges else ""
        raise InputError(
            f"{where}: which labels are right? expected a column named for a task ({', '.join(TASKS)}) or --truth JUDGE"
            + there
        )
    right = labels.filter((pl.col("judge") == truth) & (pl.col("epoch") == 1)).select("id", *TASKS)
    others = labels.filter(pl.col("judge") != truth)
    return right.join(posts.select("id", "author"), on="id", how="left", maintain_order="left"), others, truth


def _refuse_unknown(posts: pl.DataFrame, tasks: Sequence[str], parsed: Sequence[pl.Series], where: str) -> None:
    for task, read in zip(tasks, parsed, strict=True):
        wrong = posts[task].is_not_null() & read.is_null()
        if wrong.any():
            row = int(wrong.arg_max() or 0)
            raise InputError(
                f"{where}, row {row + 1}, column {task!r}: expected {', '.join(LABELS[task])}, "
                f"found {str(posts[task][row])!r}"
            )


def label_rows(
    judges: Sequence[str], rows: Sequence[tuple[str, str, str]], asking: Asking, *, repeats: int = 1
) -> pl.DataFrame:
    """Have judges label texts.

    Args:
        judges: names.
        rows: (id, system, text).
        asking: how.
        repeats: independent labellings of every text; they become epochs.

    Returns:
        The canonical table of labels with the column ``text``.

    Raises:
        PartialError: calls failed; the ones that did not are in the run folder.
    """
    texts = list(dict.fromkeys(text for *_, text in rows))
    index = {text: number for number, text in enumerate(texts)}
    opened = [get_judge(name, votes=asking.votes, together=asking.together) for name in judges]
    out: list[dict[str, Any]] = []
    with _answers(opened, asking) as ledger:
        for name, judge in zip(judges, opened, strict=True):
            for repeat in range(repeats):
                answers = _ask(judge, texts, repeat, ledger, asking)
                out += [
                    {
                        "id": post, "system": system, "judge": name, "strategy": None, "epoch": repeat + 1,
                        **{t: answers[t][index[text]] for t in TASKS}, "text": text,
                    }
                    for post, system, text in rows
                ]  # fmt: skip
    schema = {c: pl.Int64 if c == "epoch" else pl.String for c in (*LABEL_COLUMNS, "text")}
    return pl.DataFrame(out, schema=schema)


def save_labels(labels: pl.DataFrame, asking: Asking) -> None:
    """Keep the labels that judges gave, as ``labels.jsonl`` in the run folder, where one is named."""
    if asking.out is None:
        return
    from mojimeter.runs.folder import RunFolder

    with RunFolder(asking.out) as run:
        run.write_table("labels", labels.select(LABEL_COLUMNS))


def original_rows(posts: pl.DataFrame) -> list[tuple[str, str, str]]:
    """The posts as their authors wrote them, to be labelled."""
    return [(post, GOLD, text) for post, text in posts.select("id", "original").iter_rows()]


def output_rows(material: Material) -> list[tuple[str, str, str]]:
    """The posts with each system's emoji at the end, to be labelled; the first epoch, as the emoji alone."""
    plain = material.outputs.filter(pl.col("epoch") == 1).join(material.posts.select("id", "text"), on="id")
    return [
        (post, system, with_recommendation(text, reply))
        for post, system, reply, text in plain.select("id", "system", "reply", "text").iter_rows()
    ]


def variant_rows(posts: pl.DataFrame, variants: Sequence[str], seed: int) -> list[tuple[str, str, str]]:
    """The posts with the emoji of baselines at the end (three random ones, none, the original ones)."""
    from mojimeter.systems.baselines import get_baseline

    out = []
    for name in variants:
        baseline = get_baseline(name, seed)
        for post in posts.select("id", "text", "emoji").iter_rows(named=True):
            out.append((post["id"], name, with_recommendation(post["text"], "".join(baseline.recommend(post, 3)))))
    return out


def with_texts(material: Material) -> pl.DataFrame:
    """The labels with the column ``text``: what was labelled, where posts and outputs tell."""
    keys = ["id", "system", "strategy", "epoch"]
    plain = dict(material.posts.select("id", "text").iter_rows())
    rows = material.outputs.select(*keys, "reply").join(material.posts.select("id"), on="id", how="semi")
    texts = [with_recommendation(plain[row[0]], row[-1], material.append) for row in rows.iter_rows()]
    known = rows.drop("reply").with_columns(pl.Series("text", texts, dtype=pl.String))
    joined = material.labels.drop("text", strict=False).join(
        known, on=keys, how="left", nulls_equal=True, maintain_order="left"
    )
    written = pl.col("system") == GOLD
    original = material.posts.select("id", pl.col("original").alias("_original"))
    return (
        joined.join(original, on="id", how="left", maintain_order="left")
        .with_columns(text=pl.when(written).then("_original").otherwise("text"))
        .drop("_original")
    )


def epochs_as_texts(labels: pl.DataFrame) -> pl.DataFrame:
    """The labels with a ``text`` that stands for the post as written, where all epochs labelled the same one.

    For files in which equal texts share one labelling, as in this project's own runs: only repeats that say they
    are repeats (epochs of ``gold``) count.
    """
    name = pl.when(pl.col("system") == GOLD).then(pl.concat_str(pl.lit("post "), pl.col("id")))
    return labels.with_columns(text=name)


def probabilities_kept(judge: str, material: Material, systems: Iterable[str]) -> pl.DataFrame | None:
    """How likely a student thinks it that a label stays: sum over labels of p(original) p(recommended).

    Returns:
        ``id``, ``system`` and a column a task; None for a judge that gives no probabilities.
    """
    if not judge.startswith(STUDENT):
        return None
    from mojimeter.judges.student import load_student

    student = load_student(judge)
    rows = [row for row in output_rows(material) if row[1] in set(systems)]
    of_post = {post: n for n, (post, _, _) in enumerate(original_rows(material.posts))}
    written = student.probabilities([text for *_, text in original_rows(material.posts)])
    now = student.probabilities([text for *_, text in rows])
    where = [of_post[post] for post, _, _ in rows]
    kept = {task: (now[task] * written[task][where]).sum(axis=1).astype(float) for task in TASKS}
    return pl.DataFrame({"id": [r[0] for r in rows], "system": [r[1] for r in rows], **kept})


def probabilities_of(judge: str, posts: pl.DataFrame) -> pl.DataFrame | None:
    """How likely a student thinks each label of each post as written.

    Returns:
        ``id`` and a column a task and label, named as in ``sentiment positive``; None for a judge that gives no
        probabilities.
    """
    if not judge.startswith(STUDENT):
        return None
    from mojimeter.judges.student import load_student

    student = load_student(judge)
    found = student.probabilities([text for *_, text in original_rows(posts)])
    columns = {
        f"{task} {label}": found[task][:, number].astype(float)
        for task in TASKS
        for number, label in enumerate(student.heads[task].labels)
    }
    return pl.DataFrame({"id": posts["id"], **columns})


def _ask(
    judge: LlmJudge | TextJudge, texts: Sequence[str], repeat: int, ledger: CallLedger | None, asking: Asking
) -> Answers:
    if isinstance(judge, LlmJudge):
        assert ledger is not None
        return _ask_model(judge, texts, repeat, ledger, asking)
    if judge.name.startswith(STUDENT):
        # so that a long first reading shows how far it is; label() then finds the embeddings
        from mojimeter.judges.student import plain_text
        from mojimeter.models.encoder import shared_encoder

        shared_encoder().embed([plain_text(text) for text in texts], asking.progress)
    columns = judge.label(texts)
    return {task: list(columns[task]) for task in TASKS}


def _ask_model(judge: LlmJudge, texts: Sequence[str], repeat: int, ledger: CallLedger, asking: Asking) -> Answers:
    import anyio

    from mojimeter.models.client import Client, load_model
    from mojimeter.models.patience import Patience

    patience = Patience(max_connections=asking.connections)
    load_model(judge.name, patience)  # a wrong name or a missing key is one error, not one for every text
    client = Client(ledger, patience=patience)
    labels: list[Mapping[str, str | None] | None] = [None] * len(texts)
    reasons: dict[str, int] = {}
    limiter = anyio.CapacityLimiter(asking.connections)
    done = 0

    async def one(number: int) -> None:
        nonlocal done
        async with limiter:
            ballot = judge.ballot(texts[number])
            try:
                request = next(ballot)
                while True:
                    # a repeat is the same question asked again: it takes the turns after those of the repeats before
                    shifted = replace(request, turn=request.turn + repeat * judge.votes)
                    call: Call = await client.ask(shifted)
                    request = ballot.send(call)
            except StopIteration as finished:
                labels[number] = finished.value.values
            except MojimeterError as error:
                reasons[str(error)] = reasons.get(str(error), 0) + 1
        done += 1
        if asking.progress is not None:
            asking.progress(done, len(texts))

    async def everything() -> None:
        async with anyio.create_task_group() as group:
            for number in range(len(texts)):
                group.start_soon(one, number)

    anyio.run(everything)
    if reasons:
        worst = max(reasons, key=lambda reason: reasons[reason])
        raise PartialError(
            f"{sum(reasons.values())} of {len(texts)} texts have no label ({worst}); what was answered is in "
            f"{asking.out or DEFAULT_FOLDER}, and the same command goes on from there"
        )
    return {task: [None if one is None else one[task] for one in labels] for task in TASKS}


def _answers(judges: Sequence[LlmJudge | TextJudge], asking: Asking) -> Any:
    """The ledger of calls in the run folder, held while models are asked; None where none is asked."""
    if not any(isinstance(judge, LlmJudge) for judge in judges):
        return nullcontext(None)
    return _Ledger(asking.out or DEFAULT_FOLDER)


class _Ledger:
    """The run folder's ledger of calls, locked while it is open."""

    def __init__(self, folder: str) -> None:
        from mojimeter.runs.folder import RunFolder

        self._folder = RunFolder(folder)

    def __enter__(self) -> CallLedger:
        from mojimeter.models.calls import CallLedger

        self._folder.__enter__()
        self._ledger = CallLedger(self._folder.calls)
        return self._ledger

    def __exit__(self, *error: Any) -> None:
        self._ledger.close()
        self._folder.__exit__(*error)
