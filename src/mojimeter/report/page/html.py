"""The page document as one HTML file that opens offline and asks no host for anything.

Puts the template, the style, the scripts, the font, the charts' libraries and the document into one text, and states
in a content security policy that nothing else may run or load. Knows nothing of runs: whatever the document holds is
untrusted text to it, escaped by the template or carried as compressed data.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from functools import cache
from importlib.resources import files
from typing import Any

from mojimeter.errors import MissingExtraError
from mojimeter.fonts.marking import mark_emoji
from mojimeter.report.page.plain_tables import plain_sections

# One idea a file; the order is that of use, page.js starts everything.
_SCRIPTS = (
    "dom",
    "text",
    "numbers",
    "state",
    "unpack",
    "download",
    "table",
    "controls",
    "charts",
    "emoji_font",
    "leaderboard_chart",
    "recommendation",
    "disambiguation",
    "leaderboard",
    "virtual_list",
    "labels",
    "post",
    "pair",
    "rated",
    "items",
    "emoji",
    "study",
    "findings",
    "trust",
    "page",
)
_LIBRARIES = ("vega.min.js", "vega-lite.min.js", "vega-interpreter.js")


def render(document: dict[str, Any], *, font: bytes) -> str:
    """The page, ready to be written as UTF-8.

    Args:
        document: the page document, as docs/report.md describes it; numbers finite.
        font: WOFF2 with the emoji of the document.

    Returns:
        HTML that loads nothing from anywhere; lone surrogates of texts are escaped, so that it can be encoded.

    Raises:
        MissingExtraError: jinja2 is not installed.
        ValueError: a number of the document is not finite.
    """
    style, font_style = _asset("page.css"), _font_face(font)
    early, boot, script, libraries = _asset("early.js"), _asset("boot.js"), _script(), _libraries()
    policy = _policy(scripts=[early, boot, script, libraries], styles=[style, font_style])
    return str(
        _template().render(
            title=str(document.get("title") or "mojimeter report"),
            version=document.get("version"),
            sections=plain_sections(document),
            policy=policy,
            early=_markup(early),
            style=_markup(style),
            font_style=_markup(font_style),
            boot=_markup(boot),
            script=_packed(script.encode()),
            libraries=_packed(libraries.encode()),
            document=_packed(_json(document)),
        )
    )


def _policy(scripts: list[str], styles: list[str]) -> str:
    """Scripts and styles by their hash; fonts and images from within the file; nothing else."""
    parts = {
        "default-src": "'none'",
        "script-src": " ".join(map(_hash, scripts)),
        "style-src": " ".join(map(_hash, styles)),
        "font-src": "data:",
        "img-src": "data: blob:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in parts.items())


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _json(document: dict[str, Any]) -> bytes:
    """Half a surrogate pair, which UTF-8 has no bytes for, is written as the escape that JSON has for it."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(
        "utf-8", "backslashreplace"
    )


def _packed(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 9)).decode("ascii")


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _font_face(font: bytes) -> str:
    """A browser without COLRv1 skips the source and takes its own font; emoji_font.js sees to those that do not."""
    source = f"url(data:font/woff2;base64,{base64.b64encode(font).decode('ascii')})"
    return f'@font-face{{font-family:"mojimeter emoji";src:{source} format("woff2") tech(color-COLRv1)}}'


@cache
def _script() -> str:
    return '(() => {\n"use strict";\n' + "\n".join(_asset(f"{name}.js") for name in _SCRIPTS) + "\n})();"


@cache
def _libraries() -> str:
    folder = files("mojimeter.report").joinpath("assets")
    return ";\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in _LIBRARIES)


@cache
def _asset(name: str) -> str:
    return files("mojimeter.report.page").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def _template() -> Any:
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError:
        raise MissingExtraError("jinja2", "report", "the report page") from None
    text = files("mojimeter.report.page").joinpath("templates", "page.html.j2").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"mark": mark_emoji, "encodable": _encodable}
    return environment.from_string(text)


def _markup(text: str) -> Any:
    """Our own script or style, to be put in as it is."""
    from markupsafe import Markup

    return Markup(text)
