"""From raw files to a benchmark and its papers: the order of the steps, and what is remembered between them.

    POSTS               the benchmark (.csv, .tsv, .jsonl or .parquet): id, text, plain, gold_emoji, author, lang, ...
    POSTS.labels.jsonl  its labels, as the table of labels that ``score`` reads
    POSTS.recipe.toml   the recipe with hashes of what went in and came out
    POSTS.card.md       the data card
    POSTS.report.json   what the command prints with --json
    POSTS.work/         parts and calls until the build is done; the same command goes on from them

Labels stay out of the posts: a table of posts may show ``gender`` and ``age`` to a prompt, and the judge's own would
tell it the answer. Knows no command line.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from mojimeter import __version__, emoji
from mojimeter.build.audit import Audit, Description
from mojimeter.build.balance import Step, assign_split, balance
from mojimeter.build.card import write_card
from mojimeter.build.keys import draw_keys, lowest, near_text
from mojimeter.build.label import Labelled, label_with_model, label_with_own_judge, labels_from_files
from mojimeter.build.recipe import Recipe, write_recipe
from mojimeter.build.sources import BLOCK_BYTES, BLOCK_ROWS, COLUMNS, Source, open_sources
from mojimeter.build.stream import Engine, Flags, LocalEngine, Parts, as_json, clean_sources, first_of_each
from mojimeter.datasets.records import GOLD, TASKS
from mojimeter.errors import InputError, PartialError
from mojimeter.runs.folder import RunFolder

if TYPE_CHECKING:
    from mojimeter.models.patience import Patience
    from mojimeter.models.prices import Price

SUFFIXES: Final = (".csv", ".tsv", ".jsonl", ".parquet")
_LABEL_COLUMNS: Final = (*TASKS, "system", "judge", "strategy", "epoch")
NO_JUDGE: Final = "none"

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much is done, and of how much."""


@dataclass(frozen=True, slots=True)
class Job:
    """What is asked for.

    Attributes:
        raw: files, ``starter[:PART]``, ``hf:NAME`` or PAN-2018 folders.
        out: the file of posts to write.
        recipe: the decisions.
        judge: who labels; ``none`` for a benchmark without labels, which is not balanced.
        labels: files with labels made elsewhere, instead of a judge.
        mapping: our column name -> the files'.
        extra: further columns to keep.
        numbered: make ids of file name and row.
        block_bytes, block_rows: of raw file handled at a time.
        together: ask a model for the five tasks in one call.
    """

    raw: tuple[str, ...]
    out: str
    recipe: Recipe = field(default_factory=Recipe)
    judge: str = "student/starter"
    labels: tuple[str, ...] = ()
    mapping: Mapping[str, str] = field(default_factory=dict)
    extra: tuple[str, ...] = ()
    numbered: bool = False
    block_bytes: int = BLOCK_BYTES
    block_rows: int = BLOCK_ROWS
    together: bool = True

    def beside(self, ending: str) -> Path:
        """The path of a file that goes with the posts."""
        return Path(f"{Path(self.out).with_suffix('')}.{ending}")

    def post_mapping(self) -> dict[str, str]:
        """The part of the mapping that is about raw posts: with files of labels, names of labels are theirs."""
        return {k: v for k, v in self.mapping.items() if not (self.labels and k in _LABEL_COLUMNS)}


def build_benchmark(
    job: Job,
    *,
    engine: Engine | None = None,
    made: Mapping[str, Any] | None = None,
    patience: Patience | None = None,
    prices: Mapping[str, Price] | None = None,
    max_cost: float | None = None,
    allow_failures: bool = False,
    keep_work: bool = False,
    dry_run: bool = False,
    progress: Progress = lambda what, done, of: None,
) -> dict[str, Any]:
    """Build, or go on building, a benchmark; returns the document that ``--json`` prints.

    Args:
        job: what is asked for.
        engine: where blocks are cleaned and labelled; this process by default.
        made: what a recipe file records of an earlier build, to be compared with this one.
        patience, prices, max_cost: for a judge that is a model.
        allow_failures: go on where calls failed; those posts are dropped and counted.
        keep_work: keep the work folder when done.
        dry_run: stop before labelling and count the calls it would take.
        progress: see ``Progress``.

    Raises:
        InputError: input that cannot be used, or a work folder of another build.
        PartialError: calls failed or the budget is used up; the same command goes on.
    """
    _check(job)
    with RunFolder(job.beside("work")) as folder:
        sources = open_sources(
            job.raw,
            folder.path / "staging",
            job.post_mapping(),
            job.extra,
            numbered=job.numbered,
            block_bytes=job.block_bytes,
            block_rows=job.block_rows,
        )
        _check_same_build(folder, job, sources)
        engine = engine or LocalEngine()
        parts = clean_sources(
            sources,
            job.recipe.clean,
            folder.path / "parts",
            engine,
            lambda done, of, posts: progress("clean", done, of),
        )
        chosen, dropped = _select(parts, job.recipe)
        if dry_run:
            return _plan(job, parts, dropped, int(chosen.sum()))
        labelled = _label(job, parts, chosen, folder, engine, patience, prices or {}, max_cost, progress)
        if labelled is not None and labelled.failed and not allow_failures:
            count, reason = sum(labelled.failed.values()), next(iter(labelled.failed))
            raise PartialError(
                f"{count} posts could not be labelled ({reason}); what is done is in {folder.path}, and the same "
                "command goes on from there"
            )
        kept, steps, labels = _balance(job, parts, chosen, labelled, dropped)
        document = _write(
            job, sources, parts, chosen, kept, labelled, labels, steps, dropped, made or {}, folder, progress
        )
    if not keep_work:
        shutil.rmtree(folder.path, ignore_errors=True)
    return document


def _check(job: Job) -> None:
    if not job.raw:
        raise InputError("no raw posts were given")
    if Path(job.out).suffix.lower() not in SUFFIXES:
        raise InputError(f"--out {job.out}: expected a name ending in {', '.join(SUFFIXES)}")
    if any(Path(raw).resolve() == Path(job.out).resolve() for raw in job.raw):
        raise InputError(f"--out {job.out} is one of the raw files; give another name")
    if not job.labels and job.judge != NO_JUDGE:  # before the work, not after it
        from mojimeter.judges.panel import get_judge

        get_judge(job.judge, votes=job.recipe.label.votes, together=job.together)
    for name in job.extra:
        if name in (*COLUMNS, "plain", "gold_emoji", "row", "exact", "near"):
            raise InputError(f"--keep {name}: that name is taken")


def _check_same_build(folder: RunFolder, job: Job, sources: Sequence[Source]) -> None:
    identity: dict[str, Any] = {
        "recipe": job.recipe.digest,
        "judge": "files" if job.labels else job.judge,
        "mapping": [f"{ours}={theirs}" for ours, theirs in sorted(job.mapping.items())],
        "keep": list(job.extra),
        "numbered": job.numbered,
        "blocks": [job.block_bytes, job.block_rows],
        "version": __version__,
        "sources": {source.name: source.sha256 for source in sources},
    }
    before = folder.settings()
    if before is not None and before != identity:
        name = next(name for name in identity if before.get(name) != identity[name])
        raise InputError(f"{folder.path}: holds the work of another build (other {name}); delete it to start anew")
    folder.write_settings(identity)


def _select(parts: Parts, recipe: Recipe) -> tuple[Flags, dict[str, int]]:
    """Which posts are to be labelled, and why others are not."""
    dropped = {reason: count for reason, count in parts.counts.items() if reason != "read"}
    way = recipe.clean.duplicates
    chosen = np.ones(len(parts), bool)
    if way in ("exact", "near"):
        chosen = first_of_each(parts.key("near" if way == "near" else "exact"))
    elif way == "fuzzy":
        from mojimeter.build.fuzzy import fuzzy_duplicates

        texts = (frame["text"] for frame in parts.frames(chosen, ["text"]))
        chosen = ~fuzzy_duplicates(texts, recipe.clean.similarity)
    dropped["duplicate"] = len(parts) - int(chosen.sum())
    again = parts.repeated_id(chosen)
    if again is not None:
        raise InputError(f"id {again!r} is on two different posts; --number makes ids of file name and row")
    if recipe.label.at_most is not None and recipe.label.at_most < chosen.sum():
        rows = np.flatnonzero(chosen)
        drawn = lowest(draw_keys(recipe.seed, parts.ids(chosen)), recipe.label.at_most)
        chosen = np.zeros(len(parts), bool)
        chosen[rows[drawn]] = True
        dropped["not_drawn_to_label"] = len(rows) - int(chosen.sum())
    if not chosen.any():
        raise InputError(f"no post is left to label: {_listed(dropped)}")
    return chosen, dropped


def _label(
    job: Job,
    parts: Parts,
    chosen: Flags,
    folder: RunFolder,
    engine: Engine,
    patience: Patience | None,
    prices: Mapping[str, Price],
    max_cost: float | None,
    progress: Progress,
) -> Labelled | None:
    def report(done: int, of: int) -> None:
        progress("label", done, of)

    if job.labels:
        names = {"id", *_LABEL_COLUMNS}
        return labels_from_files(parts, chosen, job.labels, {k: v for k, v in job.mapping.items() if k in names})
    if job.judge == NO_JUDGE:
        return None
    from mojimeter.judges.llm import LlmJudge
    from mojimeter.judges.panel import get_judge

    judge = get_judge(job.judge, votes=job.recipe.label.votes, together=job.together)
    if not isinstance(judge, LlmJudge):
        return label_with_own_judge(parts, chosen, job.judge, folder.path / "labels", engine, report)
    from mojimeter.models.calls import CallLedger
    from mojimeter.models.patience import Patience
    from mojimeter.models.prices import Budget, price_of

    if max_cost is not None and price_of(judge.name, prices) is None:
        raise InputError(f"--max-cost needs the price of {judge.name}: give --prices FILE with [{judge.name!r}] in it")
    ledger = CallLedger(folder.calls)
    budget = Budget(max_cost, prices, sum(call.usd or 0.0 for call in ledger))
    try:
        return label_with_model(parts, chosen, judge, ledger, budget, patience or Patience(), report)
    finally:
        ledger.close()


def _balance(
    job: Job, parts: Parts, chosen: Flags, labelled: Labelled | None, dropped: dict[str, int]
) -> tuple[Flags, list[Step], pl.DataFrame | None]:
    """Which rows are kept, what each rule did, and the labels of the kept posts with their ids."""
    if labelled is None:
        return chosen, [], None
    complete = labelled.complete
    failed = sum(labelled.failed.values())
    dropped["label_failed"] = failed
    dropped["unlabelled"] = int((~complete).sum()) - failed
    if not complete.any():
        raise InputError(f"no post has a label on every task: {_listed(dropped)}")
    ids = pl.Series("id", list(parts.ids(chosen)), dtype=pl.String).filter(pl.Series(complete))
    table = labelled.table.filter(pl.Series(complete))
    flags, steps = balance(table, ids.to_list(), job.recipe.balance, job.recipe.seed, labelled.tasks)
    if not flags.any():
        raise InputError(f"the recipe keeps none of {table.height} labelled posts")
    dropped["not_kept"] = int((~flags).sum())
    kept = np.zeros(len(parts), bool)
    kept[np.flatnonzero(chosen)[complete][flags]] = True
    return kept, steps, table.with_columns(ids).filter(pl.Series(flags))


def _write(
    job: Job,
    sources: Sequence[Source],
    parts: Parts,
    chosen: Flags,
    kept: Flags,
    labelled: Labelled | None,
    labels: pl.DataFrame | None,
    steps: Sequence[Step],
    dropped: dict[str, int],
    made: Mapping[str, Any],
    folder: RunFolder,
    progress: Progress,
) -> dict[str, Any]:
    before, after, audit = Description(), Description(), Audit()
    labelled_rows = chosen.copy()
    if labelled is not None:
        labelled_rows[np.flatnonzero(chosen)[~labelled.complete]] = False
        for frame in parts.frames(labelled_rows & ~kept):
            before.add(_split_emoji(frame))
    out = Path(job.out)
    out.parent.mkdir(parents=True, exist_ok=True)
    columns = [name for name in COLUMNS[2:] if name in parts.columns or (name == "split" and job.recipe.splits)]
    writer = _Writer(out, folder.path / "final", ("id", "text", "plain", "gold_emoji", *columns, *job.extra))
    total, done = int(kept.sum()), 0
    for frame in parts.frames(kept):
        posts = _with_splits(_split_emoji(frame), job.recipe)
        before.add(posts)
        after.add(posts)
        audit.add(posts)
        writer.add(posts)
        done += posts.height
        progress("write", done, total)
    digest = writer.close()
    described = {"before": before.to_dict(), "after": after.to_dict()}
    if labelled is not None and labels is not None:
        described["before"]["labels"] = _shares(labelled.table.filter(pl.Series(labelled.complete)), labelled.tasks)
        described["after"]["labels"] = _shares(labels, labelled.tasks)
        _write_labels(job, labels)
    inputs = {source.name: source.sha256 for source in sources}
    record = _record(job, inputs, digest)
    document: dict[str, Any] = {
        "schema": 1,
        "recipe": {"name": job.recipe.name, "digest": job.recipe.digest, "seed": job.recipe.seed},
        "sources": [{"name": source.name, "sha256": source.sha256} for source in sources],
        "judge": record["judge"],
        "posts": {
            "read": parts.counts.get("read", 0),
            "dropped": dropped,
            "labelled": int(labelled.complete.sum()) if labelled is not None else None,
            "kept": total,
        },
        "unlabelled": labelled.missing() if labelled is not None else {},
        "failed": labelled.failed if labelled is not None else {},
        **described,
        "balance": [step.to_dict() for step in steps],
        "audit": audit.to_dict(),
        "sha256": digest,
        "reproduced": _reproduced(made, record),
        "files": {
            "posts": job.out,
            **{
                name: str(job.beside(ending))
                for name, ending in _BESIDE.items()
                if name != "labels" or labels is not None
            },
        },
    }
    _replace(job.beside("recipe.toml"), write_recipe(job.recipe, record))
    _replace(job.beside("card.md"), write_card(document, job.recipe))
    _replace(job.beside("report.json"), as_json(document) + "\n")
    return document


_BESIDE: Final = {"labels": "labels.jsonl", "recipe": "recipe.toml", "card": "card.md", "report": "report.json"}


def _split_emoji(frame: pl.DataFrame) -> pl.DataFrame:
    """Text and emoji apart, beside the text as it was written."""
    found = emoji.find_column(frame["text"])
    return frame.with_columns(
        emoji.strip_column(frame["text"]).str.strip_chars().alias("plain"),
        found.alias("found"),
        found.list.join(" ").alias("gold_emoji"),
    )


def _with_splits(frame: pl.DataFrame, recipe: Recipe) -> pl.DataFrame:
    """Splits by author; a post without one goes where its near duplicates go."""
    if not recipe.splits:
        return frame
    groups = pl.select(pl.coalesce(frame["author"], near_text(frame["text"]))).to_series().to_list()
    names = [assign_split(group, recipe.splits, recipe.seed) for group in groups]
    return frame.with_columns(pl.Series("split", names, dtype=pl.String))


def _shares(table: pl.DataFrame, tasks: Sequence[str]) -> dict[str, dict[str, int]]:
    from mojimeter.judges.labels import LABELS

    counts = {task: dict(table[task].value_counts().iter_rows()) for task in tasks}
    return {task: {label: int(counts[task].get(label, 0)) for label in LABELS[task]} for task in tasks}


def _write_labels(job: Job, labels: pl.DataFrame) -> None:
    frame = labels.select(
        "id", pl.lit(GOLD).alias("system"), pl.lit("file" if job.labels else job.judge).alias("judge"), *TASKS
    )
    part = job.beside("labels.jsonl.part")
    frame.write_ndjson(part)
    os.replace(part, job.beside("labels.jsonl"))


def _record(job: Job, inputs: Mapping[str, str], digest: str) -> dict[str, Any]:
    judge, prompt = ("files", _files_hash(job.labels)) if job.labels else (job.judge, NO_JUDGE)
    if not job.labels and job.judge != NO_JUDGE:
        from mojimeter.judges.panel import get_judge

        prompt = get_judge(job.judge, votes=job.recipe.label.votes, together=job.together).digest
    return {
        "recipe": job.recipe.digest,
        "version": __version__,
        "judge": judge,
        "judge_digest": prompt,
        "sha256": digest,
        "sources": dict(inputs),
    }


def _reproduced(made: Mapping[str, Any], record: Mapping[str, Any]) -> bool | None:
    """Whether a build from the same recipe, files, judge and version gave the same bytes; None where they differ."""
    same = all(made.get(name) == record[name] for name in record if name not in ("sha256", "sources"))
    if not made or not same or sorted(made.get("sources", {}).values()) != sorted(record["sources"].values()):
        return None
    return bool(made.get("sha256") == record["sha256"])


def _files_hash(files: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(Path(file).read_bytes())
    return digest.hexdigest()[:12]


def _plan(job: Job, parts: Parts, dropped: Mapping[str, int], posts: int) -> dict[str, Any]:
    from mojimeter.judges.llm import LlmJudge
    from mojimeter.judges.panel import get_judge

    least = most = 0
    if not job.labels and job.judge != NO_JUDGE:
        judge = get_judge(job.judge, votes=job.recipe.label.votes, together=job.together)
        if isinstance(judge, LlmJudge):
            least, most = judge.calls_for(posts)
    return {
        "schema": 1,
        "status": "dry_run",
        "posts": {"read": parts.counts.get("read", 0), "dropped": dict(dropped), "to_label": posts},
        "calls": {"least": least, "most": most},
    }


class _Writer:
    """Writes posts part by part, under another name until they are all there."""

    def __init__(self, out: Path, folder: Path, columns: Sequence[str]) -> None:
        self._out = out
        self._kind = out.suffix.lower()
        self._folder = folder
        self._columns = list(columns)
        self._count = 0
        self._part = out.with_name(out.name + ".part")
        if self._kind == ".parquet":
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        else:
            self._part.write_bytes(b"")

    def add(self, posts: pl.DataFrame) -> None:
        frame = posts.select(self._columns)
        self._count += 1
        if self._kind == ".parquet":
            frame.write_parquet(self._folder / f"{self._count:06}.parquet")
            return
        with self._part.open("ab") as file:
            if self._kind == ".jsonl":
                frame.write_ndjson(file)
            else:
                frame.write_csv(file, include_header=self._count == 1, separator="\t" if self._kind == ".tsv" else ",")

    def close(self) -> str:
        """Give the file its name; returns its SHA-256."""
        if self._kind == ".parquet":
            files = sorted(self._folder.glob("*.parquet"))
            pl.scan_parquet(files).sink_parquet(self._part, maintain_order=True, row_group_size=100_000)
        os.replace(self._part, self._out)
        with self._out.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


def _listed(dropped: Mapping[str, int]) -> str:
    return ", ".join(f"{reason} {count}" for reason, count in dropped.items() if count) or "nothing was dropped"


def _replace(path: Path, text: str) -> None:
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


def iter_warnings(document: Mapping[str, Any]) -> Iterator[str]:
    """What a person should know of a benchmark before using it."""
    audit = document["audit"]
    if audit["emoji_left_in_text"]["posts"]:
        yield f"{audit['emoji_left_in_text']['posts']} plain texts still hold an emoji"
    if audit["emoji_named_in_text"]["posts"]:
        yield f"{audit['emoji_named_in_text']['posts']} plain texts spell an emoji out (:joy:)"
    if audit["near_duplicates"]["across_splits"].get("posts"):
        yield f"{audit['near_duplicates']['across_splits']['posts']} posts have a near duplicate in another split"
    if audit["authors_across_splits"].get("posts"):
        yield f"{audit['authors_across_splits']['groups']} authors are in more than one split"
    for step in document["balance"]:
        wanted = step["rule"].split(" ", 1)[0]
        if wanted.isdigit() and step["taken"] < int(wanted):
            yield f"{step['rule']}: only {step['available']} there"
    if document["reproduced"] is False:
        yield "the same recipe, files, judge and version gave other bytes before"
