"""What people see: the cut font in a real Chromium, judged by the pixels."""

from __future__ import annotations

import base64
import colorsys
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uharfbuzz")
pytest.importorskip("PIL")

from PIL import Image

from mojimeter.fonts import cut_emoji_font, mark_emoji
from tests.browser import screenshot, seen

pytestmark = pytest.mark.whole_browser

SAMPLE = {
    "face": "😂",
    "couple": "👩‍❤️‍👨",
    "family": "👨‍👩‍👧",  # a grey sign in this font, as Unicode's charts have it
    "flag": "🇮🇳",
    "keycap": "1️⃣",
    "tone": "👍🏽",
    "heart": "❤",  # the bare character, which text fonts draw in black
    "rainbow": "🏳️‍🌈",
    "lamp": "🪔",
    "scotland": "🏴󠁧󠁢󠁳󠁣󠁴󠁿",
}
#: No fallback to other emoji fonts, so that what is in colour is from the cut font.
STYLE = """
@font-face { font-family: "cut"; src: url(data:font/woff2;base64,%s) format("woff2") tech(color-COLRv1); }
body { font: 40px/1.5 sans-serif; color: #000; background: #fff; }
p { margin: 0; padding: 4px; }
.e { font-family: "cut"; }
"""


def _page(font: bytes, paragraphs: str) -> str:
    style = STYLE % base64.b64encode(font).decode()
    return f"<!doctype html><html lang=en><meta charset=utf-8><title>t</title><style>{style}</style>{paragraphs}"


def _hues(picture: bytes) -> set[int]:
    """Which twelfths of the colour circle a picture has, of its clearly coloured pixels."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    hues = set()
    for _, (red, green, blue) in image.getcolors(image.width * image.height):
        hue, saturation, value = colorsys.rgb_to_hsv(red / 255, green / 255, blue / 255)
        if saturation > 0.3 and value > 0.3:
            hues.add(int(hue * 12))
    return hues


def _shades(picture: bytes) -> set[int]:
    return {shade for _, shade in Image.open(io.BytesIO(picture)).convert("L").getcolors(256)}


@pytest.fixture
def shown(page: Any, tmp_path: Path) -> Iterator[Any]:
    """A page with the sample, each emoji in a paragraph of its own, and with what must stay text."""
    paragraphs = "".join(f"<p><span id={name}>{mark_emoji(string)}</span></p>" for name, string in SAMPLE.items())
    paragraphs += f"<p id=digits>{mark_emoji('1234567890 #*')}</p>"
    file = tmp_path / "emoji.html"
    file.write_text(_page(cut_emoji_font(SAMPLE.values()), paragraphs), encoding="utf-8")
    page.goto(file.as_uri())
    page.evaluate("document.fonts.ready")
    yield page
    assert seen(page).complaints == []
    assert seen(page).sent == []


def test_each_emoji_is_drawn_in_colour_as_one_picture(shown: Any):
    screenshot(shown, "fonts-sample", full_page=True)
    assert shown.evaluate("document.fonts.check('40px cut', '😂')")
    box = shown.evaluate("document.getElementById('face').getBoundingClientRect().width")
    pictures = {name: shown.locator(f"#{name}").screenshot() for name in SAMPLE}
    for name, picture in pictures.items():
        assert _hues(picture) or name == "family", f"{name} has no colour"
        width = shown.evaluate(f"document.getElementById('{name}').getBoundingClientRect().width")
        assert width == pytest.approx(box), f"{name} is not one picture"
    assert len(_shades(pictures["family"])) > 20  # a box or a black glyph has few
    assert len(set(pictures.values())) == len(pictures)
    assert len(_hues(pictures["flag"])) > 1
    assert len(_hues(pictures["rainbow"])) > 2


def test_text_around_emoji_comes_from_the_text_font(shown: Any):
    client = shown.context.new_cdp_session(shown)
    assert _fonts(client, "#digits bdi") == {"other"}
    for name in SAMPLE:
        assert _fonts(client, f"#{name} .e") == {"cut"}, name


def _fonts(client: Any, selector: str) -> set[str]:
    """Where Chromium took the glyphs of an element from: the page's font ("cut") or the system's ("other")."""
    client.send("DOM.enable")
    client.send("CSS.enable")
    root = client.send("DOM.getDocument")["root"]["nodeId"]
    node = client.send("DOM.querySelector", {"nodeId": root, "selector": selector})["nodeId"]
    fonts = client.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]
    return {"cut" if font["isCustomFont"] else "other" for font in fonts}
