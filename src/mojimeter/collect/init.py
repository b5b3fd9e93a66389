"""What ``collect init`` does: source, size, texts and known items into a study, with sensible choices for the rest.

Brings together sources, known items, texts and ``make``; has no rules of its own but what goes with what.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mojimeter.collect.known import read_known, shipped_checks, shipped_training
from mojimeter.collect.make import Made, make_study
from mojimeter.collect.material import Cell, Material
from mojimeter.collect.sources import choose_systems, complete_groups, read_source, sample_items
from mojimeter.collect.study import SETTINGS, Form, StudyConfig, as_study
from mojimeter.collect.texts import QUESTIONS, default_consent, default_instructions
from mojimeter.errors import InputError
from mojimeter.ratings.plan import Plan, plan
from mojimeter.ratings.power import components_of_pilot

_UNITS: Mapping[Form, str] = {"scale": "items", "keeps": "items", "verdict": "questions", "answer": "questions"}


@dataclass(frozen=True)
class Wish:
    """What was asked for on the command line; None and empty: not said."""

    source: str
    out: str
    form: str | None = None
    title: str = "A study of emoji"
    question: str | None = None
    points: int = 5
    design: str = "crossed"
    raters: int | None = None
    raters_per_item: int = 3
    cells_per_rater: int = 0
    repeats: float = 0.0
    attention: int = 0
    training: str | None = None
    systems: tuple[str, ...] = ()
    items: int | None = None
    by: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    pilot: str | None = None
    target: float = 0.8
    mapping: Mapping[str, str] = field(default_factory=dict)
    tool: str | None = None
    key: str | None = None
    database: str = ""
    instructions: str | None = None
    consent: str | None = None
    contact: str = ""
    language: str = "en"
    external_id_parameter: str = ""
    show_emoji_names: bool = False
    seed: int = 1


@dataclass(frozen=True)
class Begun:
    """A study that was made, what was left out, what was planned, and what to think of."""

    made: Made
    left_out: Mapping[str, int]
    proposal: Plan | None
    raters: int
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return self.made.to_dict() | {
            "left_out": dict(self.left_out),
            "raters": self.raters,
            "plan": None if self.proposal is None else self.proposal.to_dict(),
            "admin_token": self.made.admin_token,
            "completion_code": self.made.config.completion_code,
            "warnings": list(self.warnings),
        }

    def describe(self) -> list[str]:
        """For people: what was made, what was left out, and the commands that come next."""
        made, folder = self.made, self.made.folder
        unit = _UNITS[made.config.form]
        who = f"{made.systems} systems" if made.config.form != "answer" else "answered by people"
        lines = [
            f"Study in {folder}: {made.items} {unit}, {who}, {made.cells} cells; form {made.config.form}, design "
            f"{made.config.design}.",
            f"{made.training} training items, {made.attention} attention items; {made.emoji} emoji in the font.",
        ]
        if self.left_out:
            counts = ", ".join(f"{n} {reason.replace('_', ' ')}" for reason, n in self.left_out.items())
            lines.append(f"Left out: {counts}.")
        if self.proposal is not None and self.proposal.cheapest is not None:
            best = self.proposal.cheapest
            lines.append(
                f"Planned from the pilot: {best.raters} raters and {best.items} items reach G = {best.value:.2f} "
                f"({best.ratings:,} ratings)."
            )
        return [
            *lines,
            f"Administrator's token (shown once, only its hash is stored): {made.admin_token}",
            f"Read and edit {folder / SETTINGS}; then:",
            f"  mojimeter collect invite {folder} --raters {self.raters}",
            f"  mojimeter collect serve {folder}",
        ]


def init_study(wish: Wish) -> Begun:
    """Make the study that was asked for.

    Raises:
        InputError: anything in the source or among the options that does not go together; nothing is left behind.
        Unavailable: the database cannot be reached.
    """
    material = read_source(
        wish.source, form=wish.form, outputs=wish.outputs, mapping=wish.mapping, tool=wish.tool, key=wish.key
    )
    if wish.systems:
        material = choose_systems(material, wish.systems)
    proposal = _proposal(wish, material)
    wanted_items, raters = _size(wish, proposal, material)
    if wanted_items is not None:
        material = sample_items(material, wanted_items, wish.by, wish.seed)
    config = _config(wish, material.form, raters)
    material = replace(material, cells=(*_known(wish, config), *material.cells))
    made = make_study(wish.out, config, material)
    warnings = _warnings(wish, config, material, proposal, wanted_items)
    return Begun(made, material.left_out, proposal, raters, tuple(warnings))


def _proposal(wish: Wish, material: Material) -> Plan | None:
    if wish.pilot is None:
        return None
    if wish.design != "crossed":
        raise InputError("--plan proposes a crossed study; leave --design out")
    components, _ = components_of_pilot(wish.pilot, "item", "system", "rater", "score", {})
    groups = len({item.group for item in material.items})
    found = plan(
        components,
        systems=max(len(material.systems), 2),
        target=wish.target,
        max_items=max(wish.items or groups, 2),
        min_items=max(wish.items or 2, 2),
        seed=wish.seed,
    )
    if found.cheapest is None and (wish.items is None or wish.raters is None):
        raise InputError(f"{wish.pilot}: {found.reason}; give --raters and --items yourself, or another --target")
    return found


def _size(wish: Wish, proposal: Plan | None, material: Material) -> tuple[int | None, int]:
    """Items to sample (None: all) and raters: what was said, else what was planned, else all and three."""
    best = proposal.cheapest if proposal is not None else None
    items, raters = wish.items, wish.raters
    if best is not None:
        groups = len({item.group for item in material.items})
        items = items if items is not None else min(best.items, groups)
        raters = raters if raters is not None else best.raters
    if raters is None:
        raters = 2 * wish.raters_per_item if wish.design == "nested" else 3
    return items, raters


def _config(wish: Wish, form: Form, raters: int) -> StudyConfig:
    document: dict[str, Any] = {
        "title": wish.title,
        "form": form,
        "question": wish.question or QUESTIONS[form],
        "language": wish.language,
        "contact": wish.contact,
        "scale": {"points": wish.points},
        "design": wish.design,
        "raters": raters,
        "raters_per_item": wish.raters_per_item,
        "cells_per_rater": wish.cells_per_rater,
        "repeats": wish.repeats,
        "attention": wish.attention,
        "seed": wish.seed,
        "show_emoji_names": wish.show_emoji_names,
        "external_id_parameter": wish.external_id_parameter,
        "database": {"url": wish.database},
    }
    config = as_study(document, "collect init")
    return replace(
        config,
        instructions=_text_of(wish.instructions) or default_instructions(config),
        consent=_text_of(wish.consent) or default_consent(config),
    )


def _text_of(path: str | None) -> str:
    if path is None:
        return ""
    try:
        text = Path(path).read_text(encoding="utf-8-sig").strip()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8; save the file as UTF-8") from None
    if not text:
        raise InputError(f"{path}: the file is empty; expected a text")
    return text


def _known(wish: Wish, config: StudyConfig) -> list[Cell]:
    """Training and attention items: one's own where the file has any of a kind, else those that ship."""
    own = read_known(wish.training, config) if wish.training is not None else []
    training = [c for c in own if c.kind == "training"] or shipped_training(config)
    checks = [c for c in own if c.kind == "attention"] or shipped_checks(config)
    return training + checks


def _warnings(
    wish: Wish, config: StudyConfig, material: Material, proposal: Plan | None, items: int | None
) -> list[str]:
    out = []
    langs = {item.lang for item in material.items if item.lang}
    if wish.training is None and (config.language != "en" or langs - {"en"}):
        out.append("training and attention items are in English; give --training FILE for your own")
    if config.language != "en" and not config.words:
        out.append(f"the pages' texts are in English; put them into {config.language} in [words] of {SETTINGS}")
    if not config.contact:
        out.append(f"no contact is given: raters should know whom to ask; set contact in {SETTINGS}")
    if config.show_emoji_names:
        out.append("names of emoji are shown beside what is rated; they bias ratings")
    best = proposal.cheapest if proposal is not None else None
    if best is not None and items is not None and items < best.items:
        out.append(f"the plan asks for {best.items} items; there are {items}")
    groups = len({item.group for item in material.items})
    whole = len(complete_groups(material))
    if whole < groups:
        out.append(f"{groups - whole} of {groups} items do not have every system's output; a crossed study needs them")
    ratings = len([c for c in material.cells if c.kind == "main"])
    if config.design == "crossed" and ratings > 600:
        out.append(f"every rater has {ratings:,} ratings to give; consider --items, --systems, or --design incomplete")
    return out
