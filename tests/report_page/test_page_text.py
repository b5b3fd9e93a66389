"""Texts of posts, models and people are shown as they are and do nothing; emoji are in colour, scripts shaped."""

from __future__ import annotations

import json
import struct
import zlib
from io import BytesIO

import pytest

from mojimeter.report.page.html import render
from tests.browser import seen
from tests.report_page import sample
from tests.report_page.conftest import show, wait_for_charts

FOREIGN = (
    "script:not([type]), link[rel=stylesheet], iframe, object, embed, form:not(.vega-bindings), base, img, video, audio"
)


def test_hostile_posts_are_shown_literally_and_make_no_element(page, report_file):
    show(page, report_file, "#tab=items")
    posts = {"p2": sample.SCRIPT + " 😂", "p3": sample.IMAGE, "p4": sample.CLOSING, "p7": sample.BROKEN}
    for item, text in posts.items():
        page.evaluate("item => { location.hash = `#tab=items&item=${item}` }", item)
        page.wait_for_selector(f".item h3 >> text={item}")
        assert page.locator(".original").evaluate("node => node.textContent") == text
        assert page.locator(".original > :not(.e):not(.control)").count() == 0
        assert page.locator(FOREIGN).count() == 2  # early.js and boot.js
    assert seen(page).complaints == []


def test_no_text_anywhere_in_a_document_becomes_an_element(page, report_file):
    show(page, report_file)
    own = page.locator(FOREIGN).count()
    for choices in ("#", "#tab=emoji", "#tab=study", "#tab=trust", "#run=r2", "#tab=items&run=r2&item=q0"):
        page.evaluate("choices => { location.hash = choices }", choices)
        page.wait_for_selector("[role=tabpanel]:visible > *")
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        wait_for_charts(page)
        assert page.locator(FOREIGN).count() == own
        assert page.evaluate(
            "[...document.querySelectorAll('*')].every(n => ![...n.attributes].some(a => a.name.startsWith('on')))"
        )
        assert page.evaluate("[...document.querySelectorAll('a')].every(a => !a.href.startsWith('javascript'))")
    assert seen(page).complaints == []
    assert page.locator("#panel-leaderboard").get_by_text(sample.TEMPLATE).count() == 1  # the pairs' note
    assert page.title() == f"A sample {sample.SCRIPT}"
    assert page.locator("h1").inner_text() == f"A sample {sample.SCRIPT}"


def test_a_direction_override_is_shown_as_a_mark_and_turns_nothing_round(page, report_file):
    show(page, report_file, "#tab=items&item=p5")
    original = page.locator(".original")
    assert original.inner_text() == "abc U+202EdefghiU+202C end"
    assert original.locator(".control").first.get_attribute("title") == "right-to-left override"
    boxes = page.evaluate(
        """() => {
          const text = [...document.querySelector('.original').childNodes].filter(n => n.nodeType === 3);
          const x = (node, at) => {
            const range = document.createRange();
            range.setStart(node, at);
            range.setEnd(node, at + 1);
            return range.getBoundingClientRect().x;
          };
          return [x(text[0], 0), x(text[1], 0), x(text[1], 5), x(text[2], 1)];
        }"""
    )
    assert boxes == sorted(boxes)  # a ... d ... i ... e run from left to right


def test_half_a_surrogate_pair_is_shown_as_the_replacement_character(page, report_file):
    show(page, report_file, "#tab=items&item=p6")
    assert page.locator(".original").inner_text() == "half \ufffd pair"
    assert report_file.read_bytes().decode("utf-8")  # the file itself is sound


def test_emoji_are_wrapped_alone_and_named_and_digits_keep_the_text_font(page, report_file):
    show(page, report_file, "#tab=items&item=p0")
    glyphs = page.locator(".item .glyphs").first.locator(".e")
    assert glyphs.first.get_attribute("aria-label") == "slightly smiling face"
    family = glyphs.first.evaluate("node => getComputedStyle(node).fontFamily")
    assert family.startswith('"mojimeter emoji"')
    ratings = page.locator(".item td .value").first
    assert "mojimeter emoji" not in ratings.evaluate("node => getComputedStyle(node).fontFamily")
    assert page.evaluate("[...document.fonts].filter(f => f.family.includes('mojimeter')).map(f => f.status)") == [
        "loaded"
    ]


def test_emoji_are_in_colour_and_each_is_one_picture(page, report_file):
    show(page, report_file)
    strings = sample.EMOJI["strings"][:7]
    page.evaluate(
        """strings => {
          for (const string of strings) {
            const span = document.createElement('span');
            span.className = 'e test';
            span.textContent = string;
            span.style.fontSize = '64px';
            span.style.display = 'inline-block';
            document.body.prepend(span);
          }
          return document.fonts.load('64px "mojimeter emoji"', strings.join(''));
        }""",
        strings[::-1],
    )
    for place, string in enumerate(strings):
        one = page.locator(".test").nth(place)
        coloured = {pixel for pixel in colours(one.screenshot()) if max(pixel) - min(pixel) > 40}
        assert len(coloured) > 5, f"no colour: a text font drew {string}"
        assert one.bounding_box()["width"] < 100, f"{string} is drawn as its parts"


def test_a_browser_that_draws_nothing_with_the_font_takes_its_own_and_says_so(page, font, tmp_path):
    from fontTools.ttLib import TTFont

    empty = TTFont(BytesIO(font))
    del empty["COLR"], empty["CPAL"]  # what WebKit 2.50 on Debian 12 makes of the font: room for emoji, and no ink
    empty.save(file := BytesIO())
    report = tmp_path / "report.html"
    report.write_text(render(sample.document(), font=file.getvalue()), encoding="utf-8")
    show(page, report, "#tab=emoji")
    said = page.locator("#app > .alert")
    said.wait_for()
    assert said.inner_text() == (
        "This browser cannot draw the report's emoji font; emoji are drawn by this computer's own, if it has one."
    )
    wait_for_charts(page)
    for drawn in page.locator(".e, .chart text").all():
        assert "mojimeter emoji" not in drawn.evaluate("node => getComputedStyle(node).fontFamily")
    assert seen(page).complaints == []


def test_of_a_browser_that_draws_with_the_font_nothing_is_said(page, report_file):
    show(page, report_file, "#tab=emoji")
    # the page asked for it before: what it does then is done when this is
    page.evaluate(
        "document.fonts.load('32px \"mojimeter emoji\"', '😂').then(() => new Promise((done) => setTimeout(done)))"
    )
    assert page.evaluate("document.documentElement.dataset.emoji") is None
    assert page.locator("#app > .alert").count() == 0


def colours(png: bytes) -> list[tuple[int, int, int]]:
    """The pixels of a PNG as Chromium writes it: 8 bits a channel, not interlaced."""
    at, data, width, channels = 8, b"", 0, 3
    while at < len(png):
        (size,), kind = struct.unpack(">I", png[at : at + 4]), png[at + 4 : at + 8]
        body = png[at + 8 : at + 8 + size]
        if kind == b"IHDR":
            width, _, depth, colour = struct.unpack(">IIBB", body[:10])
            assert depth == 8
            channels = {2: 3, 6: 4}[colour]
        elif kind == b"IDAT":
            data += body
        at += 12 + size
    raw, stride, before, out = zlib.decompress(data), width * channels, bytes(width * channels), []
    for start in range(0, len(raw), stride + 1):
        line = bytearray(raw[start + 1 : start + 1 + stride])
        unfilter(raw[start], line, before, channels)
        out += [tuple(line[k : k + 3]) for k in range(0, stride, channels)]
        before = bytes(line)
    return out


def unfilter(kind: int, line: bytearray, before: bytes, step: int) -> None:
    """Undo a PNG filter in place (PNG specification, section 9)."""
    for k in range(len(line)):
        left, up, corner = (line[k - step] if k >= step else 0), before[k], (before[k - step] if k >= step else 0)
        guess = left + up - corner
        distances = (abs(guess - left), abs(guess - up), abs(guess - corner))
        paeth = (left, up, corner)[distances.index(min(distances))]
        line[k] = (line[k] + (0, left, up, (left + up) // 2, paeth)[kind]) % 256


@pytest.mark.parametrize(("joined", "first", "second"), [("क्ष", "क्", "ष"), ("ক্ষ", "ক্", "ষ")], ids=["Hindi", "Bangla"])
def test_conjuncts_of_hindi_and_bangla_are_shaped(page, report_file, joined, first, second):
    show(page, report_file, "#tab=items&item=p0")
    widths = page.evaluate(
        """strings => strings.map(string => {
          const span = document.createElement('span');
          span.textContent = string;
          document.querySelector('.original').append(span);
          const width = span.getBoundingClientRect().width;
          span.remove();
          return width;
        })""",
        [joined, first, second, "\U0010fffe"],
    )
    if widths[1] == widths[3] or widths[0] == 0:
        pytest.skip("no font on this machine has the script")
    assert widths[0] < widths[1] + widths[2]


@pytest.mark.parametrize("name", ["constructor", "toString", "__proto__", "people"])
def test_a_system_called_like_something_of_the_page_is_a_system_like_others(page, write_report, name):
    text = json.dumps(sample.document()).replace(json.dumps(sample.ALPHA), json.dumps(name))
    show(page, write_report(f"called-{name}", json.loads(text)))
    wait_for_charts(page)
    assert page.locator("#panel-leaderboard .chart svg").count() == 1
    assert page.locator("[data-scroll='leaderboard'] tbody th", has_text=name).count() == 1
    page.get_by_role("tab", name="Emoji").click()
    wait_for_charts(page)
    assert page.locator("#panel-emoji .chart svg").count() == 2
    users = page.locator("[data-scroll='strips'] tbody th").all_inner_texts()
    assert users.count("the posts' writers") == 1
    assert name in users
    assert page.get_by_label("System").locator("option:checked").inner_text() == name
    assert seen(page).complaints == []
