"""What was given to report: a run folder, a saved ``--json`` document or a table of ratings, told apart by content.

Opens files and looks at their form; reads no score and shows nothing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from mojimeter.datasets.tables import SUFFIXES
from mojimeter.errors import InputError
from mojimeter.models.calls import well_formed
from mojimeter.report.page.shapes import check_shape

Kind = Literal["recommendation", "disambiguation", "rating_study", "judge"]
EXPECTED = "expected a run folder, a document saved with --json, or a table of ratings"
# What tells a document that `--json` printed from others: all of these fields, first match wins.
_DOCUMENTS: tuple[tuple[Kind, str, tuple[str, ...]], ...] = (
    ("recommendation", "score", ("systems", "ranked_by", "data")),
    ("disambiguation", "disambiguate", ("systems", "verifier", "data")),
    ("rating_study", "ratings study", ("design", "verdict", "sentence", "components")),
    ("judge", "judge accuracy", ("truth", "judges", "unusable")),
    ("judge", "judge noise", ("repeats", "judges", "kin")),
    ("judge", "judge sensitivity", ("posts", "judges", "seed")),
    ("judge", "judge correct", ("good", "cheap", "estimates")),
    ("judge", "judge validity", ("by_matching_pairs",)),
    ("judge", "judge agreement", ("first", "second", "tasks")),
    ("judge", "judge bias", ("self_preference",)),
    ("judge", "judge bias", ("order",)),
    ("judge", "judge bias", ("length", "schema")),
    ("judge", "ratings panel", ("units", "people", "panel")),
    ("judge", "ratings check", ("findings", "solved")),
    ("judge", "ratings length", ("covariate", "panel", "systems")),
    ("judge", "compare", ("runs", "signatures", "pairs")),
)


@dataclass(frozen=True, slots=True)
class Source:
    """One thing to show.

    Attributes:
        path: the file or folder.
        kind: what it is.
        name: what it is called on the page: never more of the path than the last part.
        command: the command that printed ``document``.
        document: the saved ``--json`` object, where that is what was given.
    """

    path: Path
    kind: Kind
    name: str
    command: str = ""
    document: Mapping[str, Any] | None = None


def recognise(path: str | Path) -> list[Source]:
    """What a path holds; a document of several scores holds a study of each.

    Raises:
        InputError: it is nothing that can be shown; one sentence says what was expected.
    """
    path = Path(path)
    if path.is_dir():
        return [_recognise_folder(path)]
    if not path.exists():
        raise InputError(f"{path}: no such file or folder; {EXPECTED}")
    if path.suffix.lower() == ".json":
        return list(_recognise_document(path))
    if path.suffix.lower() in SUFFIXES:
        return [Source(path, "rating_study", path.stem)]
    raise InputError(f"{path}: cannot tell what it is; {EXPECTED} ({', '.join((*SUFFIXES, '.json'))})")


def with_distinct_names(sources: Sequence[Source]) -> list[Source]:
    """The sources, a second one of the same name called ``name (2)``."""
    taken: set[str] = set()
    out = []
    for source in sources:
        stem = well_formed(source.name)
        name, number = stem, 2
        while name in taken:
            name, number = f"{stem} ({number})", number + 1
        taken.add(name)
        out.append(Source(source.path, source.kind, name, source.command, source.document))
    return out


def _recognise_folder(path: Path) -> Source:
    name = path.resolve().name or "run"
    for table, kind in (("posts", "recommendation"), ("pairs", "disambiguation")):
        if (path / f"{table}.jsonl").is_file():
            return Source(path, kind, name)  # type: ignore[arg-type]
    raise InputError(f"{path}: not a run folder (it holds neither posts.jsonl nor pairs.jsonl); {EXPECTED}")


def _recognise_document(path: Path) -> Iterator[Source]:
    document = read_json(path)
    scores = document.get("scores")
    if isinstance(scores, dict) and scores and all(isinstance(one, dict) for one in scores.values()):
        for score, one in scores.items():
            check_shape(one, "rating_study", path)
            yield Source(path, "rating_study", f"{path.stem}: {score}", "ratings study", one)
        return
    if document.get("status") == "partial":
        raise InputError(f"{path}: printed by a run that is not finished, so it holds no scores; give its folder")
    for kind, command, fields in _DOCUMENTS:
        if all(field in document for field in fields):
            check_shape(document, kind, path)
            # a run folder's own file is called after the folder
            name = path.resolve().parent.name if path.name == "scores.json" else path.stem
            yield Source(path, kind, name or path.stem, command, document)
            return
    known = ", ".join(sorted({command for _, command, _ in _DOCUMENTS}))
    raise InputError(f"{path}: not a document that can be shown; expected what one of these printed: {known}")


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in a file.

    Raises:
        InputError: it is not one, or cannot be read.
    """

    def finite(number: str) -> float:
        """Also refuses NaN and Infinity, which are no JSON, and numbers that are too large to be one."""
        value = float(number)
        if not math.isfinite(value):
            raise InputError(f"{path}: holds {number[:40]}, which is not a finite number")
        return value

    try:
        document = json.loads(path.read_text(encoding="utf-8-sig"), parse_constant=finite, parse_float=finite)
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except json.JSONDecodeError as error:
        raise InputError(f"{path}, line {error.lineno}: not JSON ({error.msg}); {EXPECTED}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON that can be read ({type(error).__name__}); {EXPECTED}") from None
    if not isinstance(document, dict):
        raise InputError(f"{path}: holds {type(document).__name__}, not a JSON object; {EXPECTED}")
    return document
