"""Label Studio's files: tasks with annotations (its JSON export), and a study as tasks and labelling configuration.

Knows that format only: tasks ``{"id", "data", "annotations": [{"completed_by", "result": [...], "was_cancelled",
"lead_time", ...}]}`` as its guide "Task format" describes them, ``completions`` for annotations before version 1.0,
and the tags Rating, Number, Choices, TextArea and Pairwise. Label Studio keeps ``meta`` of a result as it came, so an
exported rating carries its rater there: an account of that name need not exist.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from mojimeter.collect.exchange.answers import Annotated, Answer, Task, keep_last
from mojimeter.collect.exchange.json_files import as_text, get_list, get_object, kind, read_json, read_json_lines
from mojimeter.collect.exchange.survey import GivenRating, Survey, new_folder, write_key, write_text
from mojimeter.collect.study import CHOICES
from mojimeter.errors import InputError

QUESTION = "rating"  # the name of the one control tag of an exported study
TASKS, CONFIG = "tasks.json", "config.xml"
LONGEST = 1e9  # seconds; more is no time that anybody took
# Data of our own beside what is shown; a field of that name is shown under another.
_OWN = ("cell", "question", "scale", "instructions")
_OWN_NAMES = {f"{name}_text": name for name in _OWN}


def read_label_studio(path: str | Path) -> Annotated:
    """Tasks, with their annotations where there are any: a JSON export, or a file of tasks to import (.json, .jsonl).

    A task without ``data`` is taken for the data itself, as Label Studio does.

    Raises:
        InputError: one sentence with file, task and field.
    """
    path = Path(path)
    reader = _Reader(str(path))
    names: set[str] = set()
    for place, task in _tasks(path):
        if reader.add(task, f"{path}, {place}") in names:
            raise InputError(f"{path}, {place}: the id {reader.tasks[-1].name!r} is that of an earlier task")
        names.add(reader.tasks[-1].name)
    if not reader.tasks:
        raise InputError(f"{path}: no tasks in it; expected a JSON export of Label Studio")
    answers, repeated = keep_last(reader.answers)
    return Annotated(
        str(path), reader.tasks, answers, reader.skipped, reader.empty, repeated, dict(reader.unread.most_common())
    )


def _tasks(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    if path.suffix.lower() == ".jsonl":
        for number, task in read_json_lines(path):
            yield f"line {number}", task
        return
    document = read_json(path)
    if isinstance(document, dict):
        document = [document]  # one task, as its programming interface gives it
    if not isinstance(document, list):
        raise InputError(f"{path}: expected a list of tasks, found {kind(document)}")
    for number, task in enumerate(document, 1):
        yield f"task {number}", get_object(task, f"{path}, task {number}")


@dataclass
class _Reader:
    where: str
    tasks: list[Task] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    skipped: int = 0
    empty: int = 0
    unread: Counter[str] = field(default_factory=Counter)

    def add(self, task: dict[str, Any], where: str) -> str:
        if "annotation_id" in task and "data" not in task:
            raise InputError(f"{where}: this is Label Studio's JSON-MIN, which mixes data and answers; export as JSON")
        data = get_object(task["data"], f"{where}.data") if "data" in task else task
        name = as_text(task.get("id")) or as_text(data.get("id")) or str(len(self.tasks) + 1)
        self.tasks.append(Task(name, _fields({key: as_text(value) for key, value in data.items()})))
        if "data" not in task:
            return name
        self.unread["drafts"] += len(get_list(task, "drafts", where))
        self.unread["predictions"] += len(get_list(task, "predictions", where))
        member = "annotations" if "annotations" in task else "completions"
        for number, annotation in enumerate(get_list(task, member, where)):
            place = f"{where}, {member}[{number}]"
            self._add_annotation(get_object(annotation, place), name, number, place)
        self.unread += Counter()  # zero counts go
        return name

    def _add_annotation(self, annotation: dict[str, Any], task: str, number: int, where: str) -> None:
        if annotation.get("was_cancelled"):
            self.skipped += 1
            return
        rater = _rater(annotation.get("completed_by"), where)
        seconds, at = _seconds(annotation.get("lead_time"), where), _moment(annotation)
        found = []
        for index, result in enumerate(get_list(annotation, "result", where)):
            answer = self._answer(get_object(result, f"{where}.result[{index}]"), f"{where}.result[{index}]")
            if answer is not None:
                own = as_text(get_object(result.get("meta") or {}, f"{where}.result[{index}].meta").get("rater"))
                found.append((own or rater, *answer))
        if not found:
            self.empty += 1
        several = Counter((who, question) for who, question, _ in found)
        for who, question, value in found:
            if several[who, question] > 1:  # one a region: no rating of the whole
                self.unread[f"{question} of regions"] += 1
                continue
            if who is None:
                raise InputError(f"{where}.completed_by: not there; expected who gave the annotation")
            duration = None if seconds is None else round(seconds * 1000)
            self.answers.append(Answer(task, who, question, value, duration, at))

    def _answer(self, result: dict[str, Any], where: str) -> tuple[str, str] | None:
        """Question and answer; None for what is no rating."""
        tag = result.get("type")
        if tag not in _VALUES:
            self.unread[str(tag)] += 1
            return None
        question = as_text(result.get("from_name"))
        if not question:
            raise InputError(f"{where}.from_name: not there; expected the name of a control tag")
        value = get_object(result.get("value"), f"{where}.value")
        member = _VALUES[tag]
        if member not in value:
            raise InputError(f"{where}.value: no {member!r}, which a result of type {tag!r} has")
        return question, _value(value[member], tag, f"{where}.value.{member}")


def _fields(data: dict[str, str | None]) -> dict[str, str | None]:
    """The data; of a study that was exported here, what was shown under its own names, without the question."""
    if "cell" not in data:
        return data
    shown = {name: text for name, text in data.items() if name not in _OWN}
    return {"cell": data["cell"]} | {_OWN_NAMES.get(name, name): text for name, text in shown.items()}


# Type of a result -> the member of its value that is the answer.
_VALUES = {"rating": "rating", "number": "number", "choices": "choices", "textarea": "text", "pairwise": "selected"}


def _value(value: Any, tag: str, where: str) -> str:
    if tag in ("rating", "number"):
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f"{where}: expected a number, found {kind(value)}")
        return as_text(value) or ""
    parts = [value] if isinstance(value, str) else value
    if not (isinstance(parts, list) and parts and all(isinstance(part, str) for part in parts)):
        raise InputError(f"{where}: expected text or a list of texts, found {kind(value)}")
    texts = [as_text(part) or "" for part in parts]
    if len(texts) == 1:
        return texts[0]
    return "\n".join(texts) if tag == "textarea" else json.dumps(texts, ensure_ascii=False)


def _rater(who: Any, where: str) -> str | None:
    """The annotator's number; a name or address stays where it is."""
    if isinstance(who, dict):
        who = who.get("email") if who.get("id") is None else who["id"]
    if who is None or (isinstance(who, int | str) and not isinstance(who, bool)):
        return as_text(who)
    raise InputError(f"{where}.completed_by: expected a number or an object with id, found {kind(who)}")


def _seconds(lead_time: Any, where: str) -> float | None:
    if lead_time is None:
        return None
    if isinstance(lead_time, bool) or not isinstance(lead_time, int | float) or not 0 <= lead_time <= LONGEST:
        raise InputError(f"{where}.lead_time: expected seconds, found {(as_text(lead_time) or '')[:40]!r}")
    return float(lead_time)


def _moment(annotation: Mapping[str, Any]) -> float | None:
    """When the annotation was last changed, in seconds since 1970."""
    for member in ("updated_at", "created_at"):
        try:
            moment = datetime.fromisoformat(annotation[member])
        except (KeyError, TypeError, ValueError):
            continue
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return None


def write_label_studio(folder: str | Path, survey: Survey) -> list[Path]:
    """Write ``tasks.json`` and ``config.xml`` into a new folder, and the key beside it.

    Tasks hold the cell's name and what raters see, in the order of the (random) names. Ratings there are become
    annotations; whoever imports the file is their author in Label Studio, their rater stands in ``meta``.

    Returns:
        the files written; the last one is the key, which must not be handed on.

    Raises:
        InputError: the folder is not new, or cannot be written.
    """
    folder = new_folder(Path(folder))
    names = _shown_names(survey)
    given: dict[str, list[GivenRating]] = {}
    for rating in survey.ratings:
        given.setdefault(rating.cell, []).append(rating)
    tasks = []
    for number, shown in enumerate(survey.blinded(), 1):
        data = {"cell": shown.cell, "question": survey.question}
        if survey.form == "scale" and survey.scale_text():
            data["scale"] = survey.scale_text()
        if survey.instructions:
            data["instructions"] = survey.instructions
        data |= {names[name]: text for name, text in shown.fields.items()}
        data |= {name: "" for field, name in names.items() if field not in shown.fields}
        annotations = [_annotation(rating, survey, names) for rating in given.get(shown.cell, ())]
        tasks.append({"id": number, "data": data, **({"annotations": annotations} if annotations else {})})
    return [
        write_text(folder / TASKS, json.dumps(tasks, ensure_ascii=False, indent=1)),
        write_text(folder / CONFIG, _config(survey, names)),
        write_key(folder, survey.cells),
    ]


def _shown_names(survey: Survey) -> dict[str, str]:
    """Field -> its name in the data, free of our own names; of all cells, as the configuration is one for all."""
    fields = dict.fromkeys(name for shown in survey.cells for name in shown.fields)
    other = {name: shown for shown, name in _OWN_NAMES.items()}
    return {name: other.get(name, name) for name in fields}


def _annotation(rating: GivenRating, survey: Survey, names: Mapping[str, str]) -> dict[str, Any]:
    member: dict[str, Any]
    if survey.form == "scale":
        tag, member = "rating", {"rating": int(rating.value)}
    elif survey.form in CHOICES:
        tag, member = "choices", {"choices": [rating.value]}
    else:
        tag, member = "textarea", {"text": [rating.value]}
    result = {
        "id": f"{rating.cell}_{rating.rater}",
        "from_name": QUESTION,
        "to_name": _target(names),
        "type": tag,
        "value": member,
        "meta": {"rater": rating.rater},
    }
    annotation: dict[str, Any] = {"result": [result], "was_cancelled": False, "ground_truth": False}
    if rating.duration_ms is not None:
        annotation["lead_time"] = rating.duration_ms / 1000
    if rating.received_at is not None:
        moment = datetime.fromtimestamp(rating.received_at, UTC).isoformat().replace("+00:00", "Z")
        annotation |= {"created_at": moment, "updated_at": moment}
    return annotation


def _target(names: Mapping[str, str]) -> str:
    """The tag that is rated: the last text shown, the system's."""
    return f"text_{len(names)}"


def _config(survey: Survey, names: Mapping[str, str]) -> str:
    """The labelling configuration. All texts are data (``$name``): a dollar sign in a question is then just that."""
    lines = ["<View>", "  <Style>.htx-text { white-space: pre-wrap; }</Style>"]
    if survey.instructions:
        lines.append('  <Text name="instructions" value="$instructions"/>')
    for number, (shown, name) in enumerate(names.items(), 1):
        lines.append(f'  <Header value={quoteattr(shown)} size="6"/>')
        lines.append(f'  <Text name="text_{number}" value={quoteattr("$" + name)}/>')
    lines.append('  <Header value="$question"/>')
    control = f'name="{QUESTION}" toName="{_target(names)}" required="true"'
    if survey.form == "scale":
        if survey.scale_text():
            lines.append('  <Header value="$scale" size="6"/>')
        lines.append(f'  <Rating {control} maxRating="{survey.points}"/>')
    elif survey.form in CHOICES:
        choices = "".join(f"<Choice value={quoteattr(choice)}/>" for choice in CHOICES[survey.form])
        lines.append(f'  <Choices {control} choice="single-radio" showInline="true">{choices}</Choices>')
    else:
        lines.append(f'  <TextArea {control} rows="2" maxSubmissions="1" editable="true"/>')
    return "\n".join([*lines, "</View>", ""])
