"""Potato's files: items, what its annotators gave, and a study as data and configuration.

Knows that format only, in the versions that are met:

* before version 2: a folder an annotator with ``annotated_instances.jsonl`` (``{"id", "displayed_text",
  "label_annotations": {schema: {label: value}}}``; the oldest have ``annotation`` for it), and one file of all
  annotators, JSON lines with ``user_id`` and ``instance_id``, or CSV and TSV with columns ``schema:::label``;
* since version 2: a folder an annotator with ``user_state.json`` (``instance_id_to_label_to_value``), and exports as
  JSON lines (``{"instance_id", "user_id", "labels"}``), CSV and TSV (columns ``schema.label``) and Parquet.

A label is marked by true, by its own name or, in some versions, by the number of its key; anything else beside a label
is a value of its own (a slider, a text).
"""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mojimeter.collect.exchange.answers import Annotated, Answer, Task, keep_last
from mojimeter.collect.exchange.json_files import (
    as_text,
    get_object,
    kind,
    parse_json,
    read_json,
    read_json_lines,
    read_text,
)
from mojimeter.collect.exchange.survey import GivenRating, Survey, new_folder, write_key, write_text
from mojimeter.collect.study import CHOICES
from mojimeter.datasets.tables import read_table
from mojimeter.errors import InputError

QUESTION = "rating"  # the name of the one annotation scheme of an exported study
ITEMS, CONFIG, OUTPUT = Path("data") / "items.jsonl", "config.yaml", "annotation_output"
STATE, LINES = "user_state.json", "annotated_instances.jsonl"
_USER, _INSTANCE = ("user_id", "user"), "instance_id"
_NOT_LABELS = (*_USER, _INSTANCE, "displayed_text", "annotator_origin", "annotator_origin_detail")
_SPANS = "span_annotation:::"
_POINT = re.compile(r"scale_([0-9]+)")
_KEY = re.compile(r"[0-9]{1,2}")
# Schemes with one field, whose label is only a name: what stands beside it is the answer.
_VALUE_LABELS = ("text_box", "slider", "number", "free_response", "value")
_TIME = re.compile(r"(?:([0-9]{1,5})d )?(?:([0-9]{1,2})h )?(?:([0-9]{1,2})m )?\b([0-9]{1,2})s")
_LONGEST_MS = 10**12  # more is no time that anybody took


def read_potato(path: str | Path, items: str | Path | None = None) -> Annotated:
    """What annotators gave: the output folder, or one of its files; or a file of items.

    Args:
        path: a folder that holds a folder for every annotator, or a file.
        items: the file of items that was annotated (``id`` and any other fields), to know what an id stands for.

    Raises:
        InputError: one sentence with file, line and field.
    """
    path = Path(path)
    reader = _Reader()
    files = [path] if path.is_file() else _files_in(path)
    for file in files:
        reader.read(file)
    tasks = {name: Task(name, {} if text is None else {"text": text}) for name, text in reader.shown.items()}
    if reader.items:
        tasks = reader.items
    elif items is not None:
        known = {task.name: task for task in read_potato(items).tasks}
        tasks = known | {name: task for name, task in tasks.items() if name not in known}
    answers, repeated = keep_last(reader.answers)
    return Annotated(str(path), list(tasks.values()), answers, 0, reader.empty, repeated, dict(reader.unread))


def _files_in(folder: Path) -> list[Path]:
    """For every annotator the file that holds the answers; where there is no annotator, the file of all."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such file or folder")
    if (folder / OUTPUT).is_dir():
        folder = folder / OUTPUT
    found = []
    for own in sorted(child for child in folder.iterdir() if child.is_dir()):
        found += [own / name for name in (STATE, LINES) if (own / name).is_file()][:1]
    if not found:
        found = sorted(file for file in folder.glob("annotated_instances.*") if file.is_file())[:1]
    if not found:
        raise InputError(f"{folder}: no annotator's {STATE} or {LINES} in it; expected an output folder of Potato")
    return found


@dataclass
class _Reader:
    answers: list[Answer] = field(default_factory=list)
    shown: dict[str, str | None] = field(default_factory=dict)
    items: dict[str, Task] = field(default_factory=dict)
    empty: int = 0
    unread: Counter[str] = field(default_factory=Counter)

    def read(self, path: Path) -> None:
        if path.name == STATE:
            self._read_state(path)
        elif path.suffix.lower() in (".csv", ".tsv", ".parquet"):
            self._read_table(path)
        else:
            for where, record in _records(path):
                self._read_record(record, path, where)

    def _read_state(self, path: Path) -> None:
        state = get_object(read_json(path), str(path))
        rater = as_text(state.get("user_id")) or path.parent.name
        times = state.get("instance_id_to_behavioral_data") or {}
        member = "instance_id_to_label_to_value"
        given = get_object(state.get(member) or {}, f"{path}, {member}")
        for instance, labels in given.items():
            where = f"{path}, {member}[{instance!r}]"
            spent = times.get(instance) if isinstance(times, dict) else None
            self._add(instance, rater, _groups(labels, where), _spent(spent))
        spans = state.get("instance_id_to_span_to_value")
        if isinstance(spans, dict):
            self._count_spans(sum(bool(of_one) for of_one in spans.values()))

    def _read_record(self, record: dict[str, Any], path: Path, where: str) -> None:
        member = next((name for name in ("label_annotations", "annotation", "labels") if name in record), None)
        if member is None or (member == "labels" and _INSTANCE not in record):
            self._read_item(record, where)
            return
        instance = as_text(record.get(_INSTANCE, record.get("id")))
        if not instance:
            raise InputError(f"{where}: no instance_id or id")
        rater = next((as_text(record[name]) for name in _USER if record.get(name) is not None), None)
        if rater is None and path.parent.parent != path.parent and "id" in record and path.name == LINES:
            rater = path.parent.name
        if not rater:
            raise InputError(f"{where}: no user_id; expected who gave the annotation")
        self.shown.setdefault(instance, as_text(record.get("displayed_text")))
        groups = _groups(record[member], f"{where}, {member}")
        self._add(instance, rater, groups, _spent(record.get("behavioral_data")))
        self._count_spans(bool(record.get("span_annotations") or record.get("spans")))

    def _read_item(self, record: dict[str, Any], where: str) -> None:
        name = as_text(record.get("id"))
        if not name:
            raise InputError(f"{where}: no id; expected an item with id, or an annotation")
        if name in self.items:
            raise InputError(f"{where}: the id {name!r} is that of an earlier item")
        self.items[name] = Task(name, {key: as_text(value) for key, value in record.items()})

    def _read_table(self, path: Path) -> None:
        frame = read_table(path)
        user = next((name for name in _USER if name in frame.columns), None)
        if user is None or _INSTANCE not in frame.columns:
            for number, row in enumerate(frame.iter_rows(named=True), 1):
                self._read_item(row, f"{path}, row {number}")
            return
        for number, row in enumerate(frame.iter_rows(named=True), 1):
            instance, rater = as_text(row[_INSTANCE]), as_text(row[user])
            for name, value in ((_INSTANCE, instance), (user, rater)):
                if not value:
                    raise InputError(f"{path}, row {number}, column {name!r}: empty")
            self.shown.setdefault(str(instance), as_text(row.get("displayed_text")))
            groups, spans = _columns(row)
            self._count_spans(spans)
            self._add(str(instance), str(rater), groups, None)

    def _add(self, instance: str, rater: str, groups: Mapping[str, dict[str, Any]], spent: int | None) -> None:
        self.shown.setdefault(instance, None)
        answers = [pair for schema, labels in groups.items() for pair in _answers(schema, labels)]
        if not answers:
            self.empty += 1
        self.answers += [Answer(instance, rater, question, value, spent) for question, value in answers]

    def _count_spans(self, count: int) -> None:
        if count:
            self.unread["spans"] += count


def _records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a file of JSON lines, or of one JSON list."""
    text = read_text(path)
    if text.lstrip().startswith("["):
        for number, record in enumerate(parse_json(text, str(path)), 1):
            yield f"{path}, entry {number}", get_object(record, f"{path}, entry {number}")
        return
    for number, record in read_json_lines(path):
        yield f"{path}, line {number}", record


def _groups(labels: Any, where: str) -> dict[str, dict[str, Any]]:
    """Scheme -> label -> value, from either shape of it: nested objects, or pairs of a label and its value."""
    groups: dict[str, dict[str, Any]] = {}
    if isinstance(labels, list):
        for index, pair in enumerate(labels):
            place = f"{where}[{index}]"
            if not (isinstance(pair, list) and len(pair) == 2):
                raise InputError(f"{place}: expected a label and its value, found {kind(pair)}")
            label = get_object(pair[0], f"{place}[0]")
            schema, name = as_text(label.get("schema")), as_text(label.get("name"))
            if schema is None or name is None:
                raise InputError(f"{place}[0]: expected schema and name")
            groups.setdefault(schema, {})[name] = pair[1]
        return groups
    for schema, given in get_object(labels, where).items():
        if isinstance(given, dict):
            groups[schema] = (
                given["labels"] if list(given) == ["labels"] and isinstance(given["labels"], dict) else given
            )
        elif isinstance(given, list):  # the oldest: names of the labels chosen
            groups[schema] = {as_text(name) or "": True for name in given}
        else:
            groups[schema] = {"value": given}
    return groups


def _columns(row: Mapping[str, Any]) -> tuple[dict[str, dict[str, Any]], int]:
    """Scheme -> label -> value from a row of a table, and how many columns hold spans."""
    groups: dict[str, dict[str, Any]] = {}
    spans = 0
    old = any(":::" in name for name in row)
    for name, value in row.items():
        if name in _NOT_LABELS or value is None or value == "":
            continue
        if name.startswith(_SPANS) or name.endswith("._spans"):
            spans += value not in ("[]", "{}")
        elif not name.endswith(("._room", "._room_id")):
            schema, found, label = name.partition(":::" if old else ".")
            groups.setdefault(schema, {})[label if found else "value"] = value
    return groups, spans


def _answers(schema: str, labels: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Questions and answers of one scheme: a label chosen, a list of several, or values under their own names."""
    given = {label: value for label, value in labels.items() if value is not None and value != ""}
    if len(given) == 1 and (field := next(iter(given))) in (*_VALUE_LABELS, schema):
        return [(schema, as_text(given[field]) or "")]
    given = {label: value for label, value in given.items() if value is not False and value != "false"}
    chosen = [label for label, value in given.items() if _is_mark(schema, label, value, alone=len(given) == 1)]
    if chosen and len(chosen) == len(given):
        points = [found[1] if (found := _POINT.fullmatch(label)) else label for label in chosen]
        return [(schema, points[0] if len(points) == 1 else json.dumps(points, ensure_ascii=False))]
    if len(given) == 1:
        return [(schema, as_text(value) or "") for value in given.values()]
    return [(f"{schema}.{label}", as_text(value) or "") for label, value in given.items()]


def _is_mark(schema: str, label: str, value: Any, *, alone: bool) -> bool:
    """Whether a value says only that its label was chosen."""
    if value is True or value in ("true", "True", "on", label, f"{schema}:::{label}"):
        return True
    numbered = _POINT.fullmatch(label) or label.isdecimal()
    return alone and not numbered and isinstance(value, str | int) and _KEY.fullmatch(str(value)) is not None


def _spent(behaviour: Any) -> int | None:
    """Milliseconds on an item, from what the page noted of its user."""
    if not isinstance(behaviour, dict):
        return None
    total = behaviour.get("total_time_ms")
    if isinstance(total, int | float) and not isinstance(total, bool) and 0 < total < _LONGEST_MS:
        return round(total)
    found = _TIME.search(str(behaviour.get("time_string", "")))
    if found is None:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return 1000 * (((days * 24 + hours) * 60 + minutes) * 60 + seconds)


def write_potato(folder: str | Path, survey: Survey) -> list[Path]:
    """Write ``data/items.jsonl`` and ``config.yaml`` into a new folder, and the key beside it.

    Items hold the cell's name and what raters see, in the order of the (random) names. Ratings there are become the
    state of Potato's annotators, each in a folder of the rater's name. The time of a rating has no place in it.

    Returns:
        the files written; the last one is the key, which must not be handed on.

    Raises:
        InputError: the folder is not new, or a rater's name is no folder's.
    """
    folder = new_folder(Path(folder))
    lines = [
        json.dumps(
            {"id": shown.cell, "text": _page(shown.fields)} | {f"field_{n}": t for n, t in shown.fields.items()},
            ensure_ascii=False,
        )
        for shown in survey.blinded()
    ]
    return [
        write_text(folder / ITEMS, "".join(line + "\n" for line in lines)),
        write_text(folder / CONFIG, _config(survey)),
        *_write_states(folder / OUTPUT, survey),
        write_key(folder, survey.cells),
    ]


def _page(fields: Mapping[str, str]) -> str:
    """What Potato shows: it takes text for HTML, so a post's own tags must not be any."""
    parts = [
        f'<p><b>{html.escape(name)}</b><br><span dir="auto">{html.escape(text).replace(chr(10), "<br>")}</span></p>'
        for name, text in fields.items()
    ]
    return "".join(parts)


def _config(survey: Survey) -> str:
    """The configuration: YAML whose values are JSON, which YAML takes as it is."""
    scheme: dict[str, Any] = {"name": QUESTION, "description": survey.question}
    if survey.form == "scale":
        ends = {"min_label": survey.low or "1", "max_label": survey.high or str(survey.points)}
        scheme |= {"annotation_type": "likert", **ends, "size": survey.points}
    elif survey.form in CHOICES:
        scheme |= {"annotation_type": "radio", "labels": list(CHOICES[survey.form])}
    else:
        scheme |= {"annotation_type": "text"}
    settings: dict[str, Any] = {
        "annotation_task_name": survey.title,
        "task_dir": ".",
        "server_name": "potato",
        "port": 8000,
        "data_files": [str(ITEMS.as_posix())],
        "item_properties": {"id_key": "id", "text_key": "text"},
        "output_annotation_dir": OUTPUT,
        "export_annotation_format": "jsonl",
        "annotation_instructions": survey.instructions,
        "annotation_schemes": [scheme | {"label_requirement": {"required": True}}],
        "user_config": {"allow_all_users": True, "users": []},
    }
    return "".join(f"{name}: {_yaml(value)}\n" for name, value in settings.items())


# Characters that YAML does not take as they are inside quotes, or takes for ends of line.
_NOT_YAML = re.compile("[^\t\n -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


def _yaml(value: Any) -> str:
    return _NOT_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))


def _write_states(folder: Path, survey: Survey) -> list[Path]:
    by_rater: dict[str, list[GivenRating]] = {}
    for rating in survey.ratings:
        by_rater.setdefault(rating.rater, []).append(rating)
    written = []
    for rater, ratings in by_rater.items():
        if not re.fullmatch(r"\w[\w.@ -]*", rater):
            raise InputError(f"rater {rater!r} cannot be the name of a folder, which Potato's output needs")
        label = "text_box" if survey.form == "answer" else None
        labels = {r.cell: [[{"schema": QUESTION, "name": label or r.value}, r.value]] for r in ratings}
        times = {
            r.cell: {"instance_id": r.cell, "total_time_ms": r.duration_ms}
            for r in ratings
            if r.duration_ms is not None
        }
        state = {
            "user_id": rater,
            "instance_id_ordering": list(labels),
            "current_instance_index": 0,
            "current_phase_and_page": ["annotation", None],
            "completed_phase_and_pages": [],
            "max_assignments": len(labels),
            "instance_id_to_behavioral_data": times,
            "instance_id_to_label_to_value": labels,
            "instance_id_to_span_to_value": {},
            "phase_to_page_to_label_to_value": {},
            "phase_to_page_to_span_to_value": {},
        }
        written.append(write_text(folder / rater / STATE, json.dumps(state, ensure_ascii=False, indent=1)))
    return written
