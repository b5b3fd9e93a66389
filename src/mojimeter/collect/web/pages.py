"""Turns what the store gives into HTML: one function a page, with the study's words and nothing but what may be shown.

Knows the settings, the store's records and the templates; must not know HTTP, the database or who is asking.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from mojimeter.collect.records import CellPage, RaterState
from mojimeter.collect.study import LONGEST_ANSWER, RATED, StudyConfig
from mojimeter.collect.web.marking import blocks, pattern_of, segments, show
from mojimeter.collect.web.words import CHECK_EMOJI, SCRIPT_WORDS, words_of

if TYPE_CHECKING:
    from mojimeter.collect.web.overview import Overview

TEMPLATES: Final = Path(__file__).parent / "templates"
_RIGHT_TO_LEFT: Final = frozenset({"ar", "fa", "he", "ur", "ps", "sd", "ug", "yi", "dv", "ckb"})
# The letters of yes/no and right/wrong, on every keyboard.
_LETTERS: Final = {"keeps": {"y": "yes", "n": "no"}, "verdict": {"r": "right", "w": "wrong"}}


@lru_cache(maxsize=1)
def _environment() -> Environment:
    """The templates, compiled once; what a study says comes in when a page is made."""
    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )


@dataclass(frozen=True)
class Visit:
    """Who is looking: the CSRF token for forms, and the name under which this device keeps what is not saved."""

    csrf: str
    box: str


class Pages:
    """All pages of one study.

    Args:
        config: the study's settings.
        emoji: those of its font, to mark them in the study's own texts.
        root: what every link begins with: the path under which the study is served, or nothing.
    """

    def __init__(self, config: StudyConfig, emoji: Iterable[str], root: str = "") -> None:
        self.config = config
        self._emoji = pattern_of(emoji)
        self.words = words_of(config.words)
        self._common: dict[str, Any] = {
            "w": self.words,
            "root": root,
            "say": self.say,
            "show": self._show,
            "prose": self._prose,
            "title": config.title,
            "contact": config.contact,
            "question": config.question,
            "form": config.form,
            "language": config.language,
            "direction": "rtl" if config.language.partition("-")[0].lower() in _RIGHT_TO_LEFT else "ltr",
            "script_words": json.dumps({name: self.words[name] for name in SCRIPT_WORDS}, ensure_ascii=False),
            "check_emoji": CHECK_EMOJI,
            "keyboard": config.keyboard,
            "keys": self._keys(),
            "key_map": json.dumps(self._key_map()) if config.keyboard else "",
            "longest": LONGEST_ANSWER,
        }

    def say(self, word: str, **values: object) -> Markup:
        """A string of the pages with its places filled; everything is escaped but what is HTML already."""
        return escape(self.words[word]).format(**values)

    def start(self, action: str, external_id: str) -> str:
        """The page behind a link: checks the emoji, changes nothing."""
        return self._render("start.html", action=action, external_id=external_id)

    def consent(self, csrf: str, *, consented: bool) -> str:
        return self._render(
            "consent.html",
            csrf=csrf,
            consented=consented,
            consent=self.config.consent,
            external_id_parameter=self.config.external_id_parameter,
        )

    def instructions(self, state: RaterState) -> str:
        return self._render(
            "instructions.html",
            instructions=self.config.instructions,
            state=state,
            training_items=state.training,
            main_items=state.total - state.training,
        )

    def rate(self, visit: Visit, state: RaterState, cell: CellPage, key: str, message: str = "") -> str:
        """The page of one item, whole."""
        return self._render(
            "rate.html", state=state, box=visit.box, **self._cell(visit, state, cell, key), message=message
        )

    def cell(self, visit: Visit, state: RaterState, cell: CellPage, key: str) -> str:
        """The same item alone, for the script to put into the page."""
        return self._render("cell.html", **self._cell(visit, state, cell, key), message="")

    def done(self, visit: Visit, state: RaterState) -> str:
        """The last page, which also sends corrections that still wait on the device."""
        return self._render(
            "done.html",
            csrf=visit.csrf,
            box=visit.box,
            completion_code=self.config.completion_code,
            first_main=state.training + 1,
        )

    def withdraw(self, csrf: str) -> str:
        return self._render("withdraw.html", csrf=csrf)

    def notice(self, name: str) -> str:
        """A page of a heading and a sentence: paused, declined or withdrawn."""
        return self._render("notice.html", heading=self.words[f"{name}_title"], text=self.words[name])

    def error(self, text: str, *, signed_in: bool) -> str:
        return self._render("error.html", text=text, signed_in=signed_in)

    def admin(self, csrf: str, status: Overview | None, message: str = "") -> str:
        """The administrator's page; without a status, the form that asks for the token."""
        return self._render("admin.html", csrf=csrf, status=status, message=message)

    def _render(self, template: str, **values: Any) -> str:
        return _environment().get_template(template).render(self._common | values)

    def _cell(self, visit: Visit, state: RaterState, cell: CellPage, key: str) -> dict[str, Any]:
        number = cell.position - (state.training if cell.part == "main" else 0)
        of = state.training if cell.part == "training" else cell.total - state.training
        heading = self.say("practice_of" if cell.part == "training" else "item_of", n=number, total=of)
        told = cell.feedback or cell.expected
        return {
            "csrf": visit.csrf,
            "total": cell.total,
            "heading": heading,
            "choices": self._choices(),
            "low": self.config.scale.low if self._has_ends() else "",
            "high": self.config.scale.high if self._has_ends() else "",
            "next_page": f"/rate/{cell.position + 1}" if cell.position < cell.total else "/",
            "cell": {
                "position": cell.position,
                "id": cell.cell_id,
                "part": cell.part,
                "number": number,
                "of": of,
                "value": cell.value,
                "feedback": self._feedback(cell) if told else "",
                "texts": self._texts(cell.payload),
                "names": cell.payload.get("names") or [],
                "lang": cell.payload.get("lang") or "",
                "key": key,
                "shown_at": f"{time.time():.3f}",
            },
        }

    def _texts(self, payload: Mapping[str, Any]) -> list[tuple[str, Any, bool]]:
        """Label, segments, and whether it is what is rated."""
        labels = {"text": {"scale": "label_output", "keeps": "label_changed"}.get(self.config.form, "label_text")}
        return [
            (self.words[labels.get(name, f"label_{name}")], segments, name == RATED[self.config.form])
            for name, segments in payload["fields"].items()
            if segments
        ]

    def _feedback(self, cell: CellPage) -> str:
        if cell.feedback:
            return cell.feedback
        return self.say("expected", value=self._label(cell.expected or ""))

    def _has_ends(self) -> bool:
        return self.config.form == "scale" and not self.config.scale.labels

    def _label(self, value: str) -> str:
        """A value as the page names it."""
        if self.config.form == "scale":
            labels = self.config.scale.labels
            return f"{value} ({labels[int(value) - 1]})" if labels else value
        return self.words.get(value, value)

    def _choices(self) -> list[tuple[str, str, str]]:
        """Value, label and hint of each; none for free answers. The ends of a scale say what they mean."""
        values = self.config.values()
        if self.config.form != "scale":
            return [(v, self.words[v], "") for v in values]
        scale = self.config.scale
        hints = scale.labels or (scale.low, *[""] * (scale.points - 2), scale.high)
        return [(v, v, hint) for v, hint in zip(values, hints, strict=True)]

    def _key_map(self) -> dict[str, str]:
        if self.config.form == "scale":  # 0 is the tenth; an eleventh has no key
            return {v[-1]: v for v in self.config.values() if int(v) <= 10}
        return dict(_LETTERS.get(self.config.form, {}))

    def _keys(self) -> Sequence[tuple[str, str]]:
        """Keys and what they do, for the help."""
        w = self.words
        first: list[tuple[str, str]]
        if self.config.form == "scale":
            points = self.config.scale.points
            first = [(f"1 … {points if points < 10 else 0}", w["key_scale"])]
        else:
            first = [(key, w[f"key_{value}"]) for key, value in self._key_map().items()]
        new_line = [("Shift+Enter", w["key_new_line"])] if self.config.form == "answer" else []
        back = [] if self.config.form == "answer" else [("Backspace", w["key_back"]), ("?", w["key_help"])]
        return [*first, ("Enter", w["key_enter"]), *new_line, *back]

    def _show(self, text: str | Sequence[Any]) -> Markup:
        """A text of the study, or segments of what is rated, as HTML."""
        return show(segments(text, self._emoji) if isinstance(text, str) else text)

    def _prose(self, text: str) -> Markup:
        """Paragraphs and lists of a plain text as HTML."""
        out = Markup("")
        for kind, parts in blocks(text):
            shown = [self._show(part) for part in parts]
            if kind == "p":
                out += Markup("<p>{}</p>\n").format(shown[0])
            else:
                out += Markup("<ul>{}</ul>\n").format(Markup("").join(Markup("<li>{}</li>").format(s) for s in shown))
        return out
