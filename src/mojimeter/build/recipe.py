"""The recipe: every decision that makes a benchmark of raw posts, as one TOML file that is checked when read.

The default is the second paper's (section IV): posts that hold one of the 500 most used emoji, no duplicates, all posts
labelled disgust, anger, fear, child, senior or against, and 2,000 male ones of the rest. Knows no posts.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from mojimeter.errors import InputError
from mojimeter.judges.labels import LABELS

Mask = Literal["links", "mails", "handles", "phones"]


def _check_label(task: str, label: str) -> None:
    if task not in LABELS:
        raise ValueError(f"no task {task!r}; expected {', '.join(LABELS)}")
    if label not in LABELS[task]:
        raise ValueError(f"{task} has no label {label!r}; expected {', '.join(LABELS[task])}")


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)


class Clean(_Part):
    """Which posts stay, and what in them is masked."""

    top_emoji: int = Field(default=500, ge=1, le=1549)
    """A post must hold one of this many most used emoji (skin tones aside)."""
    retweets: Literal["drop", "keep"] = "drop"
    emoji_only: Literal["drop", "keep"] = "drop"
    duplicates: Literal["keep", "exact", "near", "fuzzy"] = "exact"
    """exact: the same text once masked; near: equal by ``keys.near_text``; fuzzy: MinHash (extra ``fuzzy``)."""
    similarity: float = Field(default=0.8, gt=0, le=1)
    """For fuzzy: the Jaccard similarity from which two posts are duplicates."""
    languages: tuple[str, ...] = ()
    """Of the column ``lang``; empty: any."""
    mask: tuple[Mask, ...] = ("links", "mails", "handles", "phones")


class Label(_Part):
    """How many posts are labelled, and by whom."""

    judge: str | None = None
    """None: whoever the command names; the labels then decide, not the recipe."""
    votes: int = Field(default=3, ge=1)
    at_most: int | None = Field(default=None, ge=1)
    """Draw so many posts before labelling, by the seeded hash of the id."""


class Draw(_Part):
    """So many posts of one label, drawn by the seeded hash of the id."""

    task: str
    label: str
    posts: int = Field(ge=1)
    among: Literal["rest", "all"] = "rest"
    """rest: from posts not already kept; all: from all of that label, so that some may be kept already."""

    @model_validator(mode="after")
    def _known(self) -> Self:
        _check_label(self.task, self.label)
        return self


class Balance(_Part):
    """Whole minority classes, then draws from others; with neither, every labelled post stays."""

    keep: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    draw: tuple[Draw, ...] = ()

    @field_validator("keep")
    @classmethod
    def _known(cls, keep: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        for task, labels in keep.items():
            for label in labels:
                _check_label(task, label)
        return keep


PAPER = Balance(
    keep={"emotion": ("disgust", "anger", "fear"), "age": ("child", "senior"), "stance": ("against",)},
    draw=(Draw(task="gender", label="male", posts=2000),),
)


class Recipe(_Part):
    """Everything that decides which posts come out."""

    name: str = "paper"
    source: str = ""
    """Where the posts come from, and under which licence: for the data card only."""
    licence: str = ""
    seed: int = Field(default=0, ge=0)
    clean: Clean = Clean()
    label: Label = Label()
    balance: Balance = PAPER
    splits: dict[str, float] = Field(default_factory=dict)
    """Name -> share; whole authors go to one split. Empty: a column ``split`` of the posts is kept."""

    @field_validator("splits")
    @classmethod
    def _shares(cls, splits: dict[str, float]) -> dict[str, float]:
        if splits and (min(splits.values()) <= 0 or abs(sum(splits.values()) - 1) > 1e-9):
            raise ValueError(f"shares must be above 0 and sum to 1, not {sum(splits.values()):g}")
        return splits

    @property
    def digest(self) -> str:
        """12 hexadecimal digits of everything that decides which posts come out."""
        values = json.dumps(self.model_dump(exclude={"name", "source", "licence"}), sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(values.encode()).hexdigest()[:12]


def read_recipe(path: str | Path) -> tuple[Recipe, dict[str, Any]]:
    """A recipe, and what is recorded of a benchmark made with it (table ``made``; empty where there is none).

    Raises:
        InputError: no such file, not TOML, or a setting that is not one: names file, setting and what was expected.
    """
    path = Path(path)
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: the recipe cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not TOML: {error}") from None
    made = values.pop("made", {})
    if not isinstance(made, dict):
        raise InputError(f"{path}: made: expected a table")
    return as_recipe(values, str(path)), made


def as_recipe(values: dict[str, Any], where: str) -> Recipe:
    """Check settings.

    Raises:
        InputError: the first setting that is wrong.
    """
    try:
        return Recipe.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        setting = ".".join(str(part) for part in first["loc"])
        found = "" if isinstance(first["input"], dict) else f" (found {first['input']!r})"
        said = first["msg"].removeprefix("Value error, ")
        what = "no such setting" if first["type"] == "extra_forbidden" else f"{said}{found}"
        raise InputError(f"{where}: {setting or 'recipe'}: {what}") from None


def write_recipe(recipe: Recipe, made: dict[str, Any]) -> str:
    """The recipe as TOML, with what is recorded of the benchmark; ``read_recipe`` reads it back."""
    from mojimeter.runs.folder import to_toml

    values = recipe.model_dump(exclude_none=True)
    clean, label, balance, splits = (values.pop(name) for name in ("clean", "label", "balance", "splits"))
    text = to_toml({**values, "clean": clean, "label": label})
    text += "\n" + to_toml({"balance": {"draw": []} if not balance["draw"] else {}}).strip("\n")
    text += "\n[balance.keep]\n" + to_toml(balance["keep"])
    for draw in balance["draw"]:
        text += "\n[[balance.draw]]\n" + to_toml(draw)
    if splits:
        text += to_toml({"splits": splits})
    sources = made.pop("sources", {}) if made else {}
    if made:
        text += to_toml({"made": made}) + "\n[made.sources]\n" + to_toml(sources)
    return text
