"""The settings of a study: ``study.toml``, which a person may edit, and the ``StudyConfig`` that it is read into.

Dataclasses rather than Pydantic: the process that serves raters reads this file, and it stays within 50 MB. Knows
what may be set and what each setting means; must not know the database's tables or the web.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Final, Literal, get_args

from mojimeter.collect.web.words import problem_with
from mojimeter.errors import InputError

Form = Literal["scale", "keeps", "verdict", "answer"]
DesignName = Literal["crossed", "incomplete", "nested"]
FORMS: Final[tuple[Form, ...]] = get_args(Form)
DESIGNS: Final[tuple[DesignName, ...]] = get_args(DesignName)
#: What a rater chooses from, where it is words; a scale has its points, an answer is free text.
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {"keeps": ("yes", "no"), "verdict": ("right", "wrong")}
#: The field that holds what is rated.
RATED: Final[Mapping[Form, str]] = {"scale": "text", "keeps": "text", "verdict": "answer", "answer": "text"}

SETTINGS: Final = "study.toml"
DATABASE: Final = "ratings.sqlite"
FONT: Final = "emoji.woff2"
LINKS: Final = "links.csv"

#: Longest free answer, in characters.
LONGEST_ANSWER: Final = 2000
_ENVIRONMENT: Final = "env:"
# Settings that what was stored at init depends on, and those that say who rates what in which order.
_OF_INIT: Final = ("form", "points", "show_emoji_names")
_OF_DESIGN: Final = ("design", "raters", "raters_per_item", "cells_per_rater", "repeats", "attention", "seed")


@dataclass(frozen=True)
class Scale:
    """Scores 1 to ``points``; ``labels`` are empty or one a point."""

    points: int = 5
    low: str = "very bad"
    high: str = "very good"
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Limits:
    """What one request may weigh and how many may come."""

    body_bytes: int = 65_536
    requests_a_minute: int = 600


@dataclass(frozen=True)
class StudyConfig:
    """All settings of a study; the names are those of ``study.toml``.

    Attributes:
        raters: how many the incomplete and nested designs are dealt for.
        raters_per_item: of the nested design.
        cells_per_rater: of the incomplete design; a multiple of the cells of one item.
        repeats: share of each rater's cells that are shown twice.
        attention: number of items with a known answer among the others.
        link_days, session_hours: how long links and sessions of raters last.
        words: texts of the pages to be said otherwise, in another language for instance.
        database_url: empty: the file beside ``study.toml``; or ``env:NAME``, or a URL without a password.
        withdrawal: what becomes of the ratings of someone who withdraws: never exported, counted.
    """

    title: str
    form: Form
    question: str
    instructions: str = ""
    consent: str = ""
    language: str = "en"
    contact: str = ""
    scale: Scale = field(default_factory=Scale)
    design: DesignName = "crossed"
    raters: int = 3
    raters_per_item: int = 3
    cells_per_rater: int = 0
    repeats: float = 0.0
    attention: int = 0
    seed: int = 1
    training_feedback: bool = True
    show_emoji_names: bool = False
    keyboard: bool = True
    completion_code: str = ""
    external_id_parameter: str = ""
    link_days: int = 30
    session_hours: int = 24
    withdrawal: Literal["keep_out"] = "keep_out"
    limits: Limits = field(default_factory=Limits)
    database_url: str = ""
    words: Mapping[str, str] = field(default_factory=dict)

    def values(self) -> tuple[str, ...]:
        """The values that a rating may have; none for free answers, which may be any text."""
        if self.form == "scale":
            return tuple(str(k) for k in range(1, self.scale.points + 1))
        return CHOICES.get(self.form, ())

    def check_value(self, value: str) -> str | None:
        """The value as it is stored, or None where it is none.

        A free answer loses blanks at its ends and control characters, which PostgreSQL could not store.
        """
        if self.form != "answer":
            return value if value in self.values() else None
        if len(value) > LONGEST_ANSWER:
            return None
        text = re.sub(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]", "", value.replace("\r\n", "\n")).strip()
        return text or None

    def passes(self, expected: str, value: str) -> bool:
        """Whether an attention item was answered as it says; of free answers, whether the word is in it."""
        return expected.casefold() in value.casefold() if self.form == "answer" else expected == value

    def fixed_hash(self) -> str:
        """Of the settings that cannot be edited once the study is made."""
        return _hash(self, _OF_INIT)

    def design_hash(self) -> str:
        """Of the settings that cannot be edited once there are ratings."""
        return _hash(self, _OF_DESIGN)

    def to_dict(self) -> dict[str, Any]:
        """All settings as plain data, without the completion code."""
        out = asdict(self)
        del out["completion_code"]
        out["words"] = dict(self.words)
        return out


def _hash(config: StudyConfig, names: Sequence[str]) -> str:
    values = asdict(config) | {"points": config.scale.points if config.form == "scale" else None}
    return hashlib.sha256(json.dumps([values[n] for n in names]).encode()).hexdigest()


def read_study(folder: str | Path) -> StudyConfig:
    """The settings in a study folder.

    Raises:
        InputError: no such file, not TOML, an unknown setting, or a value out of range; names the setting.
    """
    path = Path(folder) / SETTINGS
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"{folder}: no {SETTINGS}; expected a folder made by mojimeter collect init") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or 'not UTF-8'}") from None
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not TOML: {error}") from None
    return as_study(document, str(path))


def as_study(document: Mapping[str, Any], where: str) -> StudyConfig:
    """Settings out of a TOML document.

    Raises:
        InputError: an unknown setting, or a value out of range; names the setting.
    """
    top = _Table(document, where)
    scale, limits = top.table("scale"), top.table("limits")
    points = scale.whole("points", Scale.points, 2, 11)
    labels = scale.texts("labels")
    if labels and len(labels) != points:
        raise InputError(f"{where}: [scale] labels: {len(labels)} for {points} points; expected one a point, or none")
    database = top.table("database")
    config = StudyConfig(
        title=top.text("title", required=True),
        form=top.one_of("form", FORMS, None),
        question=top.text("question", required=True),
        instructions=top.text("instructions"),
        consent=top.text("consent"),
        language=top.text(
            "language", "en", pattern=r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*", what="a code such as en or hi"
        ),
        contact=top.text("contact"),
        scale=Scale(points, scale.text("low", Scale.low), scale.text("high", Scale.high), labels),
        design=top.one_of("design", DESIGNS, "crossed"),
        raters=top.whole("raters", StudyConfig.raters, 1, 10_000),
        raters_per_item=top.whole("raters_per_item", StudyConfig.raters_per_item, 1, 1000),
        cells_per_rater=top.whole("cells_per_rater", 0, 0, 1_000_000),
        repeats=top.share("repeats", 0.5),
        attention=top.whole("attention", 0, 0, 50),
        seed=top.whole("seed", 1, 0, 2**31 - 1),
        training_feedback=top.flag("training_feedback", True),
        show_emoji_names=top.flag("show_emoji_names", False),
        keyboard=top.flag("keyboard", True),
        completion_code=top.text("completion_code"),
        external_id_parameter=top.text("external_id_parameter", pattern=r"[\w-]{0,40}", what="a parameter's name"),
        link_days=top.whole("link_days", StudyConfig.link_days, 1, 3650),
        session_hours=top.whole("session_hours", StudyConfig.session_hours, 1, 24 * 90),
        withdrawal=top.one_of("withdrawal", ("keep_out",), "keep_out"),
        limits=Limits(
            limits.whole("body_bytes", Limits.body_bytes, 4096, 10_000_000),
            limits.whole("requests_a_minute", Limits.requests_a_minute, 10, 10_000_000),
        ),
        database_url=_without_password(database.text("url"), where),
        words=top.words(),
    )
    for table in (scale, limits, database, top):
        table.refuse_unknown()
    return config


def _without_password(url: str, where: str) -> str:
    if re.match(r"[a-z0-9+]+://[^/@]*:[^/@]+@", url, re.IGNORECASE) or "password=" in url:
        raise InputError(
            f"{where}: [database] url holds a password; leave it out and set the environment variable PGPASSWORD, "
            "or write env:NAME and put the whole URL there"
        )
    return url


def database_of(folder: str | Path, config: StudyConfig) -> str | Path:
    """Where the study's ratings are: the path of a file, or a URL.

    Raises:
        InputError: the environment variable that should hold the URL is not set.
    """
    if not config.database_url:
        return Path(folder) / DATABASE
    if not config.database_url.startswith(_ENVIRONMENT):
        return config.database_url
    name = config.database_url.removeprefix(_ENVIRONMENT)
    if not os.environ.get(name):
        raise InputError(f"{Path(folder) / SETTINGS}: [database] url is env:{name}, but {name} is not set")
    return os.environ[name]


class _Table:
    """A table of the document that is read setting by setting; what was not asked for is unknown."""

    def __init__(self, values: Mapping[str, Any], where: str, name: str = "") -> None:
        self._values, self._where, self._name = values, where, name
        self._asked: set[str] = set()

    def _get(self, key: str) -> Any:
        self._asked.add(key)
        return self._values.get(key)

    def _refuse(self, key: str, expected: str) -> InputError:
        table = f"[{self._name}] " if self._name else ""
        found = self._values.get(key, "nothing")
        return InputError(f"{self._where}: {table}{key} is {found!r:.60}; expected {expected}")

    def table(self, key: str) -> _Table:
        value = self._get(key)
        if value is not None and not isinstance(value, Mapping):
            raise self._refuse(key, f"a table [{key}]")
        return _Table(value or {}, self._where, key)

    def text(
        self, key: str, default: str = "", *, required: bool = False, pattern: str = "", what: str = "text"
    ) -> str:
        value = self._get(key)
        if value is None and not required:
            return default
        if not isinstance(value, str) or (required and not value.strip()):
            raise self._refuse(key, what)
        if pattern and not re.fullmatch(pattern, value):
            raise self._refuse(key, what)
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self._get(key)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise self._refuse(key, "a list of texts")
        return tuple(value)

    def words(self) -> dict[str, str]:
        value = self._get("words")
        if value is None:
            return {}
        if not isinstance(value, Mapping) or not all(isinstance(v, str) for v in value.values()):
            raise self._refuse("words", "a table [words] of texts")
        for name, text in value.items():
            problem = problem_with(name, text)
            if problem is not None:
                raise InputError(f"{self._where}: [words]: {problem}")
        return dict(value)

    def whole(self, key: str, default: int, low: int, high: int) -> int:
        value = self._get(key)
        if value is None:
            return default
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise self._refuse(key, f"a whole number from {low} to {high}")
        return value

    def share(self, key: str, high: float) -> float:
        value = self._get(key)
        if value is None:
            return 0.0
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= high:
            raise self._refuse(key, f"a share from 0 to {high:g}")
        return float(value)

    def flag(self, key: str, default: bool) -> bool:
        value = self._get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self._refuse(key, "true or false")
        return value

    def one_of(self, key: str, values: tuple[Any, ...], default: Any) -> Any:
        value = self._get(key)
        if value is None and default is not None:
            return default
        if value not in values:
            raise self._refuse(key, " or ".join(map(str, values)))
        return value

    def refuse_unknown(self) -> None:
        unknown = [key for key in self._values if key not in self._asked]
        if unknown:
            table = f"[{self._name}] " if self._name else ""
            raise InputError(
                f"{self._where}: {table}{unknown[0]} is no setting; expected {', '.join(sorted(self._asked))}"
            )


def write_study(folder: str | Path, config: StudyConfig) -> Path:
    """Write ``study.toml`` with a comment on every setting; a file that is there is not overwritten.

    Raises:
        InputError: it is there already, or cannot be written.
    """
    path = Path(folder) / SETTINGS
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(to_toml(config))
    except FileExistsError:
        raise InputError(f"{path} is there already; choose another folder") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None
    return path


def to_toml(config: StudyConfig) -> str:
    """The settings as a commented TOML document; `as_study` of it gives the same settings."""
    lines = [_HEAD]
    tables: dict[str, Scale | Limits] = {"scale": config.scale, "limits": config.limits}
    for name in [f.name for f in fields(config)]:
        if name not in tables and name not in ("words", "database_url"):
            lines.append(_setting(name, getattr(config, name)))
    for table, values in tables.items():
        lines.append(f"\n[{table}]\n")
        lines += [_setting(f"{table}.{f.name}", getattr(values, f.name)) for f in fields(values)]
    lines.append("\n[database]\n" + _setting("database.url", config.database_url))
    lines.append("\n" + _WORDS)
    lines += [f"{_toml(key)} = {_toml(text)}\n" for key, text in config.words.items()]
    return "".join(lines)


def _setting(name: str, value: Any) -> str:
    comment = _COMMENTS.get(name)
    return (f"# {comment}\n" if comment else "") + f"{name.rpartition('.')[2]} = {_toml(value)}\n"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_toml, value))}]"
    if not isinstance(value, str):
        return repr(value)
    # a JSON string is a TOML basic string, but for the control character DEL
    lines = [json.dumps(line, ensure_ascii=False)[1:-1].replace("\x7f", "\\u007f") for line in value.split("\n")]
    return f'"{lines[0]}"' if len(lines) == 1 else '"""\n' + "\n".join(lines) + '"""'


_HEAD: Final = """\
# Settings of a rating study. Texts, labels and limits may be edited at any time (restart `collect serve`).
# What says who rates what may be edited until the first rating; then run `mojimeter collect invite` once.

"""

_WORDS: Final = """\
# Texts of the pages that should be said otherwise, in another language for instance; see docs/collect.md.
[words]
"""

_COMMENTS: Final = {
    "form": "scale: 1 to N for an output; keeps: does it keep the meaning, yes or no; verdict: right or wrong;\n"
    "# answer: a free answer. Cannot be changed.",
    "question": "Asked under every item.",
    "instructions": "Shown before the first item: paragraphs, and lines that begin with - for a list.",
    "consent": "Shown before anything is stored. Say who you are and how to reach you (contact).",
    "language": "Of the pages: en, hi, bn, ar ...",
    "design": "crossed: everybody rates everything; incomplete: everybody rates all systems on some items, evenly;\n"
    "# nested: each item is rated by raters_per_item raters who rate no other group of items.",
    "raters": "For how many raters an incomplete or nested design is dealt.",
    "raters_per_item": "Of the nested design.",
    "cells_per_rater": "Of the incomplete design.",
    "repeats": "Share of each rater's cells that come again later: how far a rater agrees with himself or herself.",
    "attention": "Number of checks among the items, whose right answer is obvious.",
    "seed": "Of every order.",
    "training_feedback": "Whether raters are told, after each training item, what was expected.",
    "show_emoji_names": "Names of emoji beside what is rated. They bias. Cannot be changed.",
    "keyboard": "Whether keys rate (1 to N, y and n, Enter, Backspace); each rater can switch them off.",
    "completion_code": "Shown to raters who have finished.",
    "external_id_parameter": "Name of the parameter of the link that holds an outside id, such as PROLIFIC_PID.",
    "link_days": "How long a link can be used.",
    "session_hours": "How long a rater stays signed in; the link signs in again.",
    "withdrawal": "The ratings of someone who withdraws are never exported; they are counted.",
    "scale.labels": "One a point, or none.",
    "limits.body_bytes": "Longest request.",
    "limits.requests_a_minute": "Of one rater.",
    "database.url": "Empty: ratings.sqlite here. postgresql://USER@HOST/NAME without a password (that is read from\n"
    "# PGPASSWORD), or env:NAME for a variable that holds the whole URL.",
}
