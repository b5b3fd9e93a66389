"""From a run folder, a set of pairs, a table of outputs or another tool's tasks to items and cells.

Every output is either a cell or counted by the reason why it is none. Knows the tables of the house; must not know
the database, designs or the web.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import polars as pl

from mojimeter.collect.exchange import TOOLS
from mojimeter.collect.exchange.answers import Task
from mojimeter.collect.material import Cell, Item, Material
from mojimeter.collect.payloads import FIELDS, OPTIONAL
from mojimeter.collect.study import FORMS, Form
from mojimeter.datasets.pairs import PAIR_COLUMNS, as_answers, as_pairs, is_shipped, read_pairs
from mojimeter.datasets.records import as_outputs, as_posts
from mojimeter.datasets.starter import is_starter
from mojimeter.datasets.tables import SUFFIXES, read_table, rename_columns
from mojimeter.errors import InputError

#: The one who answers in the form ``answer``: there is nothing to compare, people are the answer.
PEOPLE: Final = "people"
# Other names under which the columns of a table of outputs are known.
_ALIASES: Final = {"item": ("id",), "text": ("output", "reply", "answer"), "original": ("gold",)}
_ONLY_POSTS: Final = (
    "posts without outputs; what is rated is a system's output: give replies with --outputs FILE, or the folder of a "
    "run of recommend"
)
_FIELD: Final = "field_"  # Potato: our own fields, beside the page that it shows


def read_source(
    source: str,
    *,
    form: str | None = None,
    outputs: Sequence[str] = (),
    mapping: Mapping[str, str] | None = None,
    tool: str | None = None,
    key: str | None = None,
) -> Material:
    """Whatever can be rated in `source`.

    Args:
        source: a run folder of ``recommend`` (form scale or keeps) or ``disambiguate`` (verdict), ``pairs[:LANG]`` or a
            table of pairs (answer), a table with a row an item and system (any form), or posts with `outputs`.
        form: None: scale for posts, verdict or answer for pairs; a table's columns decide.
        outputs: files of replies to the posts in `source`.
        mapping: our column names -> those of the table.
        tool: ``label-studio`` or ``potato``: `source` holds that tool's tasks.
        key: the file that says which task is which item and system, of tasks that ``collect export`` blinded.

    Raises:
        InputError: nothing readable, a column or cell that is missing, a form that the source cannot have.
    """
    if form is not None and form not in FORMS:
        raise InputError(f"--form {form!r}: expected {', '.join(FORMS)}")
    wanted: Form | None = next((f for f in FORMS if f == form), None)
    if key is not None and tool is None:
        raise InputError("--key goes with --from label-studio or --from potato")
    if tool is not None:
        return _from_table(_tasks_of(source, tool, mapping or {}, key), source, wanted)
    if outputs:
        return _from_posts(*_posts_and_outputs(source, outputs, mapping or {}), wanted, source, "emoji")
    if Path(source).is_dir():
        return _from_run(Path(source), wanted)
    if is_starter(source):
        raise InputError(f"{source}: {_ONLY_POSTS}")
    if is_shipped(source):
        return _from_pairs(read_pairs(source, mapping), source, wanted)
    frame = read_table(source, mapping=mapping)
    if {"context_1", "answer_1", "question"} <= set(frame.columns):
        return _from_pairs(as_pairs(frame, source), source, wanted)
    return _from_table(frame, source, wanted)


def _posts_and_outputs(
    source: str, outputs: Sequence[str], mapping: Mapping[str, str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Posts and the replies to them; each mapped column is looked for in each file."""
    from mojimeter.datasets.readers import read_outputs, read_posts
    from mojimeter.runs.scoring import ColumnMap

    if not mapping:
        return read_posts(source), read_outputs(outputs)
    columns = ColumnMap(mapping)
    posts = read_posts(source, columns.of(source))
    replies = [read_outputs([path], columns.of(path)) for path in outputs]
    columns.refuse_unused()
    return posts, pl.concat(replies, how="diagonal_relaxed")


# --- a run folder -------------------------------------------------------------------------------------------------


def _from_run(folder: Path, form: Form | None) -> Material:
    if _table_in(folder, "answers") is not None:
        pairs, answers = _required(folder, "pairs"), _required(folder, "answers")
        return _from_answers(
            as_pairs(read_table(pairs), str(pairs)), as_answers(read_table(answers), str(answers)), form, str(folder)
        )
    from mojimeter.runs.folder import read_settings

    posts, outputs = _required(folder, "posts"), _required(folder, "outputs")
    append = str((read_settings(folder) or {}).get("append", "emoji"))
    return _from_posts(
        as_posts(read_table(posts), str(posts)),
        as_outputs(read_table(outputs), str(outputs)),
        form,
        str(folder),
        append,
    )


def _table_in(folder: Path, name: str) -> Path | None:
    return next((p for s in SUFFIXES if (p := folder / (name + s)).is_file()), None)


def _required(folder: Path, name: str) -> Path:
    found = _table_in(folder, name)
    if found is None:
        raise InputError(
            f"{folder}: no {name} table ({name}.csv, .jsonl or .parquet); expected the folder of a run of recommend "
            "(posts, outputs) or disambiguate (pairs, answers)"
        )
    return found


def _from_posts(posts: pl.DataFrame, outputs: pl.DataFrame, form: Form | None, where: str, append: str) -> Material:
    """Posts with each system's emoji at the end, as judges saw them in the run."""
    from mojimeter.systems.append import with_recommendation

    form = form or "scale"
    _refuse_form(form, ("scale", "keeps"), f"{where} holds posts and outputs")
    texts = {row["id"]: row for row in posts.iter_rows(named=True)}
    several = _systems_with_several_strategies(outputs)
    left_out: Counter[str] = Counter()
    cells: dict[tuple[str, str], Cell] = {}
    for row in outputs.sort("epoch", nulls_last=False, maintain_order=True).iter_rows(named=True):
        post = texts.get(row["id"])
        if post is None:
            raise InputError(f"{where}: an output answers post {row['id']!r}, which is not among the posts")
        system = f"{row['system']} ({row['strategy']})" if row["system"] in several else row["system"]
        if row["reply"] is None:
            left_out["without_reply"] += 1
        elif (row["id"], system) in cells:
            left_out["repeated"] += 1
        else:
            shown = with_recommendation(post["text"], row["reply"], append)
            first = {"post": post["text"].strip()} if form == "scale" else {"original": post["original"].strip()}
            cells[row["id"], system] = Cell(row["id"], system, first | {"text": shown}, lang=post["lang"])
    strata = [c for c in posts.columns if c not in ("id", "original", "text", "emoji", "leaked")]
    rated = {item for item, _ in cells}
    items = tuple(
        Item(i, i, row["lang"], strata={c: str(row[c]) for c in strata if row[c] is not None})
        for i, row in texts.items()
        if i in rated
    )
    left_out["posts_without_output"] = len(texts) - len(items)
    return Material(form, items, _by_item(items, cells.values()), where, _counted(left_out))


def _systems_with_several_strategies(outputs: pl.DataFrame) -> set[str]:
    counts = Counter(outputs.select("system", "strategy").unique()["system"].to_list())
    return {system for system, n in counts.items() if n > 1}


# --- pairs --------------------------------------------------------------------------------------------------------


def _from_answers(pairs: pl.DataFrame, answers: pl.DataFrame, form: Form | None, where: str) -> Material:
    """Systems' answers to pairs, each in the context that it was given in, beside the expected answer."""
    form = form or "verdict"
    _refuse_form(form, ("verdict",), f"{where} holds pairs and answers")
    known = {row["id"]: row for row in pairs.iter_rows(named=True)}
    left_out: Counter[str] = Counter()
    cells, items = [], {}
    for row in answers.iter_rows(named=True):
        pair, condition = known.get(row["id"]), row["condition"]
        if pair is None:
            left_out["without_pair"] += 1
        elif condition == "none":
            left_out["without_context"] += 1  # there is no right answer to compare with
        elif row["answer"] is None or not str(row["answer"]).strip():
            left_out["without_answer"] += 1
        else:
            item = _item_of(pair, condition)
            items[item.id] = item
            fields = _texts_of(pair, condition) | {
                "reference": pair[f"answer_{condition}"],
                "answer": str(row["answer"]).strip(),
            }
            cells.append(Cell(item.id, row["system"], fields, lang=pair["lang"]))
    ordered = tuple(items[i] for p in known for c in ("1", "2") if (i := f"{p}/{c}") in items)
    return Material(form, ordered, _by_item(ordered, cells), where, _counted(left_out))


def _from_pairs(pairs: pl.DataFrame, where: str, form: Form | None) -> Material:
    """Questions that people answer themselves."""
    form = form or "answer"
    _refuse_form(form, ("answer",), f"{where} holds pairs without systems' answers")
    rows = [(row, c) for row in pairs.iter_rows(named=True) for c in ("1", "2")]
    items = tuple(_item_of(row, c) for row, c in rows)
    cells = tuple(
        Cell(item.id, PEOPLE, _texts_of(row, c), lang=row["lang"]) for item, (row, c) in zip(items, rows, strict=True)
    )
    return Material(form, items, cells, where)


def _item_of(pair: Mapping[str, Any], condition: str) -> Item:
    strata = {c: str(pair[c]) for c in pair if c not in PAIR_COLUMNS or c in ("category", "lang")}
    return Item(f"{pair['id']}/{condition}", str(pair["id"]), pair["lang"], condition, strata)


def _texts_of(pair: Mapping[str, Any], condition: str) -> dict[str, str]:
    return {"context": pair[f"context_{condition}"], "text": pair["text"], "question": pair["question"]}


# --- any table ----------------------------------------------------------------------------------------------------


def _from_table(frame: pl.DataFrame, where: str, form: Form | None) -> Material:
    """A row an item and system; the columns say which form it can have."""
    frame = _with_our_names(frame, form)
    form = form or _form_of(frame.columns)
    if form == "answer" and "system" not in frame.columns:
        frame = frame.with_columns(pl.lit(PEOPLE).alias("system"))
    required = [name for name in FIELDS[form] if name not in OPTIONAL]
    for name in ("item", "system", *required):
        if name not in frame.columns:
            hint = ". Outputs in a file of their own: --outputs FILE" if name == "system" else ""
            raise InputError(
                f"{where}: no column {name!r}, which the form {form} needs (see --map); it has "
                f"{', '.join(frame.columns)}{hint}"
            )
    named = {"item", "system", "lang", "group", *FIELDS[form]}
    strata = [c for c in frame.columns if c not in named and not frame[c].dtype.is_nested()]
    left_out: Counter[str] = Counter()
    items: dict[str, Item] = {}
    cells: dict[tuple[str, str], Cell] = {}
    for number, row in enumerate(frame.iter_rows(named=True), 1):
        item, system, lang = (_text(row.get(name)) for name in ("item", "system", "lang"))
        if not item or not system:
            raise InputError(f"{where}, row {number}: no {'system' if item else 'item'}; expected a name")
        fields = {name: text for name in FIELDS[form] if (text := _text(row.get(name)))}
        if any(name not in fields for name in required):
            left_out["without_text"] += 1
        elif (item, system) in cells:
            left_out["repeated"] += 1
        else:
            cells[item, system] = Cell(item, system, fields, lang=lang or None)
            described = {c: str(row[c]) for c in (*strata, "lang") if row.get(c) is not None}
            items.setdefault(item, Item(item, _text(row.get("group")) or item, lang or None, strata=described))
    found = tuple(items.values())
    return Material(form, found, _by_item(found, cells.values()), where, _counted(left_out))


def _with_our_names(frame: pl.DataFrame, form: Form | None) -> pl.DataFrame:
    for ours, others in _ALIASES.items():
        for theirs in others:
            # `answer` is a field of its own where there is a reference to compare it with
            taken = theirs == "answer" and (form == "verdict" or "reference" in frame.columns)
            if ours not in frame.columns and theirs in frame.columns and not taken:
                frame = frame.rename({theirs: ours})
    return frame


def _form_of(columns: Iterable[str]) -> Form:
    there = set(columns)
    if {"question", "reference", "answer"} <= there:
        return "verdict"
    if "original" in there and "post" not in there:
        return "keeps"
    return "answer" if "question" in there and "system" not in there else "scale"


def _tasks_of(source: str, tool: str, mapping: Mapping[str, str], key: str | None) -> pl.DataFrame:
    """Another tool's tasks as a table of their fields; the tool's own name for a task is the item's if it has none."""
    if tool not in TOOLS:
        raise InputError(f"--from {tool!r}: expected {' or '.join(TOOLS)}")
    fields = [_our_fields(task.name, task.fields) for task in _read_tasks(source, tool)]
    if key is not None:
        fields = _with_key(fields, key, source)
    columns = list(dict.fromkeys(name for own in fields for name in own))
    frame = pl.DataFrame({name: [own.get(name) for own in fields] for name in columns}, infer_schema_length=None)
    frame = rename_columns(frame, mapping, where=source)
    has_system = "system" in frame.columns or _form_of(frame.columns) == "answer"
    if "cell" in frame.columns and not has_system:
        raise InputError(
            f"{source}: its tasks name cells, not items and systems; give the key that was written beside it (--key)"
        )
    return frame.drop("task") if {"item", "id"} & set(frame.columns) else frame.rename({"task": "item"})


def _read_tasks(source: str, tool: str) -> Sequence[Task]:
    from mojimeter.collect.exchange.label_studio import read_label_studio
    from mojimeter.collect.exchange.potato import ITEMS, read_potato

    if tool == "label-studio":
        return read_label_studio(source).tasks
    items = Path(source) / ITEMS  # in a project's folder the tasks, not what annotators gave
    return read_potato(items if items.is_file() else source).tasks


def _our_fields(name: str, fields: Mapping[str, str | None]) -> dict[str, str | None]:
    """A task's fields; of one that we wrote for Potato, what was to be shown and not the page made of it."""
    if f"{_FIELD}text" not in fields:
        return {"task": name, **fields}
    own = {n.removeprefix(_FIELD): text for n, text in fields.items() if n.startswith(_FIELD)}
    return {"task": name, "cell": name, **own}


def _with_key(fields: Sequence[dict[str, str | None]], key: str, source: str) -> list[dict[str, str | None]]:
    from mojimeter.collect.exchange.survey import read_key

    known = read_key(key)
    out = []
    for own in fields:
        cell = own.get("cell") or own["task"] or ""
        if cell not in known:
            raise InputError(f"{source}: the key has no cell {cell!r}; is it another export's?")
        item, system = known[cell]
        # people who answer themselves are no system
        out.append(own | {"item": item} | ({} if system == PEOPLE else {"system": system}))
    return out


# --- choosing -----------------------------------------------------------------------------------------------------


def choose_systems(material: Material, systems: Sequence[str]) -> Material:
    """Only these systems.

    Raises:
        InputError: one is not there; names those that are.
    """
    for name in systems:
        if name not in material.systems:
            raise InputError(f"no system {name!r} in {material.origin}; it has {', '.join(material.systems)}")
    cells = tuple(c for c in material.cells if c.system in systems)
    rated = {c.item for c in cells}
    return replace(material, cells=cells, items=tuple(i for i in material.items if i.id in rated))


def sample_items(material: Material, n: int, by: Sequence[str], seed: int) -> Material:
    """A stratified, reproducible sample of so many groups (posts, or pairs with both their contexts).

    Drawn from the groups that every system has an output for, if these are enough: a crossed study should be whole.

    Args:
        material: whole.
        n: how many groups.
        by: columns of the source whose combinations are the strata; none: languages, where there are several.
        seed: of the draw.

    Raises:
        InputError: an unknown column, or n out of range.
    """
    from mojimeter.ratings.pilot import draw_pilot

    firsts = {item.group: item for item in reversed(material.items)}
    groups = list(dict.fromkeys(item.group for item in material.items))
    complete = complete_groups(material)
    groups = [g for g in groups if g in complete] if len(complete) >= n else groups
    columns = list(dict.fromkeys(name for item in firsts.values() for name in item.strata))
    frame = pl.DataFrame(
        {"_group": groups} | {c: [firsts[g].strata.get(c) for g in groups] for c in columns}, infer_schema_length=None
    )
    by = list(by) or [c for c in ("category", "lang") if c in columns]
    chosen = set(draw_pilot(frame, by, n, seed=seed).frame["_group"].to_list())
    items = tuple(i for i in material.items if i.group in chosen)
    kept = {i.id for i in items}
    not_drawn = len(firsts) - len(chosen)
    left_out = dict(material.left_out) | ({"items_not_drawn": not_drawn} if not_drawn else {})
    return replace(material, items=items, cells=tuple(c for c in material.cells if c.item in kept), left_out=left_out)


def complete_groups(material: Material) -> set[str]:
    """The groups that have as many cells as the fullest one."""
    group_of = {item.id: item.group for item in material.items}
    counts = Counter(group_of[c.item] for c in material.cells if c.item is not None)
    most = max(counts.values(), default=0)
    return {group for group, n in counts.items() if n == most}


def _refuse_form(form: Form, possible: tuple[Form, ...], why: str) -> None:
    if form not in possible:
        raise InputError(f"--form {form}: {why}, so expected {' or '.join(possible)}")


def _by_item(items: Sequence[Item], cells: Iterable[Cell]) -> tuple[Cell, ...]:
    order = {item.id: k for k, item in enumerate(items)}
    return tuple(sorted(cells, key=lambda c: order[c.item or ""]))


def _counted(left_out: Mapping[str, int]) -> dict[str, int]:
    return {reason: n for reason, n in left_out.items() if n}


def _text(value: Any) -> str:
    return "" if value is None else str(value).strip()
