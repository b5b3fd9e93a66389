"""The page document: everything a report shows, from any mix of runs, as one tree of JSON's types.

The page, the tables for papers and tests read this and nothing else. Knows what each kind of run
gives; nothing of HTML.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mojimeter import __version__
from mojimeter.datasets.readers import read_labels, read_outputs
from mojimeter.datasets.tables import read_table
from mojimeter.errors import InputError
from mojimeter.models.calls import well_formed
from mojimeter.models.secrets import without_secrets
from mojimeter.report.page.disambiguation import describe_disambiguation
from mojimeter.report.page.emoji_index import EmojiIndex
from mojimeter.report.page.options import ReportOptions, Say, is_file, silent
from mojimeter.report.page.rating_study import describe_study, judges_as_raters, study_of
from mojimeter.report.page.recommendation import describe_recommendation
from mojimeter.report.page.sources import Source, recognise, with_distinct_names
from mojimeter.report.sentences import names_of, plain_caution

SCHEMA = 1
_TOLD = ("notes", "panel_caveats", "study")  # what a run says beside its document
_PATH = re.compile(r"(?:/|[A-Za-z]:\\)[^\n]*[/\\][^/\\\n]+")
_PATH_IN_NAME = re.compile(r"((?:[\w.:-]+/)*)(?:/|[A-Za-z]:\\)[^\n]*[/\\]([^/\\\n]+)")


def read_report(
    paths: Sequence[str | Path],
    *,
    judge_files: Sequence[str | Path] = (),
    options: ReportOptions | None = None,
    say: Say = silent,
) -> dict[str, Any]:
    """The document of a report.

    Args:
        paths: run folders, saved ``--json`` documents and tables of ratings, in any mix.
        judge_files: saved documents about judges (``mojimeter judge ... --json``), for the page's Trust part.
        options: what may be shown.
        say: told (what is being done, done, total), for a progress bar.

    Raises:
        InputError: nothing was given, a path is nothing that can be shown, or a table in it cannot be read.
    """
    chosen = options or ReportOptions()
    if not paths and not judge_files:
        raise InputError("nothing to report: give run folders, documents saved with --json, or tables of ratings")
    sources = [source for path in paths for source in recognise(path)] + _judge_files(judge_files)
    _refuse_unused(chosen.mapping, sources)
    index = EmojiIndex()
    runs: list[dict[str, Any]] = []
    for source in with_distinct_names(sources):
        run = _described(source, index, chosen, say)
        judges = []
        if run["kind"] == "recommendation" and source.document is None:
            judges = _judges_study(source, run, chosen, say)  # may add to the run's notes
        runs += [{"name": source.name, **_tidy(run, source)}, *judges]
    for number, run in enumerate(runs, 1):
        run["id"] = f"r{number}"
    _join_people(runs)
    document = {
        "schema": SCHEMA,
        "title": well_formed(chosen.title or "") or _title(runs),
        "version": __version__,
        "texts": chosen.texts,
        "runs": runs,
    }
    say("collecting emoji", 0, 1)
    index.scan({**document, "runs": [_unscanned(run) for run in runs]})
    return document | {"emoji": index.to_dict()}


def _refuse_unused(mapping: Mapping[str, str], sources: Sequence[Source]) -> None:
    """A pair of ``--map`` that no table can use is a mistake in its spelling."""
    there = {
        column
        for source in sources
        if mapping and source.kind == "rating_study" and source.document is None
        for column in read_table(source.path).columns
    }
    for ours, theirs in mapping.items():
        if theirs not in there:
            raise InputError(f"--map {ours}={theirs}: no table of ratings has a column {theirs!r}")


def _title(runs: Sequence[Mapping[str, Any]]) -> str:
    named = ", ".join(run["name"] for run in runs[:3])
    return f"{named}, ..." if len(runs) > 3 else named


def _judge_files(paths: Sequence[str | Path]) -> list[Source]:
    found = [source for path in paths for source in recognise(path)]
    for source in found:
        if source.kind != "judge":
            raise InputError(
                f"{source.path}: --judge-files takes what 'mojimeter judge ... --json' or 'ratings check|panel --json' "
                f"printed; this is a {source.kind.replace('_', ' ')}"
            )
    return found


def _described(source: Source, index: EmojiIndex, options: ReportOptions, say: Say) -> dict[str, Any]:
    """The run; what is wrong with it always named with its path."""
    try:
        return _describe(source, index, options, say)
    except InputError as error:
        if str(source.path) in str(error):
            raise
        said = str(error).removeprefix(f"{source.path.name}: ")
        raise InputError(f"{source.path}: {said}") from None


def _describe(source: Source, index: EmojiIndex, options: ReportOptions, say: Say) -> dict[str, Any]:
    if source.kind == "recommendation":
        return describe_recommendation(source, index, options, say)
    if source.kind == "disambiguation":
        return describe_disambiguation(source, index, options, say)
    if source.kind == "rating_study":
        return describe_study(source, options, say)
    assert source.document is not None  # a judge's results are always a saved document
    signature = source.document.get("signature")
    return {
        "kind": "judge",
        "command": source.command,
        "signature": signature if isinstance(signature, str) else None,
        "document": source.document,
        "notes": [],
    }


def _judges_study(source: Source, run: Mapping[str, Any], options: ReportOptions, say: Say) -> list[dict[str, Any]]:
    """The judges of a run that has several, as raters of its systems."""
    panel = run["document"].get("panel")
    if panel is None or not is_file(source.path / "labels.jsonl"):
        return []
    labels = read_labels([source.path / "labels.jsonl"])
    replies = source.path / "outputs.jsonl"
    table = judges_as_raters(labels, read_outputs([replies]) if is_file(replies) else None, panel)
    if table is None:
        return []
    without_texts = ReportOptions(texts=False, max_items=options.max_items)
    say(f"{source.name}: judges as raters", 0, 1)
    try:
        found = study_of(table, "the judges' labels", without_texts)
    except InputError as error:
        run["notes"].append(f"judges as raters: {error}")
        return []
    found["notes"] = [*map(plain_caution, panel["caveats"]), *found["notes"]]
    left_out = panel["left_out"]
    if left_out["systems"]:
        found["notes"].append(f"not in this comparison: {', '.join(left_out['systems'])}")
    if left_out["posts"]:
        found["notes"].append(f"{left_out['posts']:,} posts that not every judge and system has are left out")
    return [{"name": f"{source.name}: judges as raters", "of": source.name, **_tidy(found, source)}]


def _join_people(runs: Sequence[dict[str, Any]]) -> None:
    """Ratings of a study are shown beside the posts of a run where items and systems have the same names."""
    studies = [r for r in runs if r["kind"] == "rating_study" and r["items"] and "of" not in r]
    for run in runs:
        if run["kind"] != "recommendation" or not run["items"]:
            continue
        row_of = {post: row for row, post in enumerate(run["items"]["id"])}
        names = {name: s["name"] for s in run["systems"] for name in (s["base"], s["name"])} | {"gold": "gold"}
        for study in studies:
            ids = study["items"]["id"]
            if not any(item in row_of for item in ids):
                continue
            for system, by_rater in study["items"]["scores"].items():
                if system not in names:
                    continue
                people = run["items"]["people"].setdefault(names[system], {})
                for rater, scores in by_rater.items():
                    for item, score in zip(ids, scores, strict=True):
                        if score is not None and item in row_of:
                            people.setdefault(str(row_of[item]), []).append([rater, score])


def _unscanned(run: Mapping[str, Any]) -> Mapping[str, Any]:
    """What of a run was not scanned yet: the posts of benchmark A were, column by column."""
    if run["kind"] != "recommendation" or not run["items"]:
        return run
    errors = [system["error"] for system in run["items"]["systems"].values()]
    return {**run, "items": errors}


def _tidy(run: dict[str, Any], source: Source) -> dict[str, Any]:
    """The run without what must not leave this machine: paths and keys."""
    hidden = sorted({str(source.path), str(source.path.absolute()), str(source.path.resolve())}, key=len, reverse=True)
    names = [path for path in hidden if "/" in path or "\\" in path]
    run = _without_paths_in_names(run)

    def clean(text: str) -> str:
        text = without_secrets(well_formed(text))
        for path in names:
            text = text.replace(path, source.name)
        return text

    return {
        **run,
        **{name: _map_strings(run[name], clean) for name in _TOLD if name in run},
        "document": _map_strings(run["document"], lambda text: _last_part(clean(text))),
        "items": _without_keys(run.get("items"), clean),
    }


def _without_paths_in_names(run: dict[str, Any]) -> dict[str, Any]:
    """The run with models and judges that are files of this machine called by their last part, wherever they stand."""
    items = run.get("items") or {}
    names = set(_keys(run["document"])) | names_of({"name": "", **run}) | {*items.get("labels", ())}
    judge = re.search(r"\|judge:([^|]*)", run.get("signature") or "")
    names |= {judge[1]} if judge else set()
    shorter: dict[str, str] = {}
    for name in sorted(names, key=len, reverse=True):
        found = None if "://" in name else _PATH_IN_NAME.fullmatch(name)
        if found:
            short, number = found[1] + found[2], 2
            while short in names or short in shorter.values():
                short, number = f"{found[1]}{found[2]} ({number})", number + 1
            shorter[name] = short
    if not shorter:
        return run

    def change(text: str) -> str:
        for name, short in shorter.items():
            text = text.replace(name, short)
        return text

    rest: dict[str, Any] = _map_strings({name: part for name, part in run.items() if name != "items"}, change)
    return rest | {"items": _map_keys(items, change) if items else run.get("items")}


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, one in value.items():
            yield name
            yield from _keys(one)


def _map_keys(value: Any, change: Callable[[str], str]) -> Any:
    """Names of systems and judges are keys of the items; what people and systems wrote are values, and stays."""
    if isinstance(value, Mapping):
        return {change(name): _map_keys(one, change) for name, one in value.items()}
    return value


def _without_keys(items: dict[str, Any] | None, clean: Callable[[str], str]) -> dict[str, Any] | None:
    """Messages of errors may quote paths and keys; what people and systems wrote stays as it is."""
    for system in (items or {}).get("systems", {}).values():
        if "error" in system:
            system["error"] = {row: clean(message) for row, message in system["error"].items()}
    return items


def _last_part(text: str) -> str:
    """The name of the file where a whole string is an absolute path."""
    return re.split(r"[/\\]", text)[-1] if _PATH.fullmatch(text) else text


def _map_strings(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {change(name): _map_strings(one, change) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_map_strings(one, change) for one in value]
    return value
