"""Text of strangers becomes HTML in which only the marks are markup. Expected strings are written by hand."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mojimeter import emoji
from mojimeter.fonts import mark_emoji

OVERRIDE = "\u202e"


class _Reader(HTMLParser):
    """The tags of a piece of HTML, the text in them, and the text of each marked emoji."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.emoji: list[str] = []
        self._in_emoji = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._in_emoji = ("class", "e") in attrs

    def handle_endtag(self, tag: str) -> None:
        self._in_emoji = False

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._in_emoji:
            self.emoji.append(data)


def _read(html: str) -> _Reader:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader


def test_emoji_are_marked_and_the_rest_is_not():
    assert mark_emoji("hi 👍🏽!") == '<bdi dir="auto">hi <span class="e">👍🏽</span>!</bdi>'


def test_each_emoji_of_a_row_has_its_own_mark():
    assert mark_emoji("😂😂") == '<bdi dir="auto"><span class="e">😂</span><span class="e">😂</span></bdi>'


def test_digits_are_marked_in_keycaps_only():
    assert mark_emoji("1 1️⃣") == '<bdi dir="auto">1 <span class="e">1️⃣</span></bdi>'


def test_the_element_and_its_language_can_be_named():
    assert mark_emoji("हाँ", "p", lang="hi") == '<p dir="auto" lang="hi">हाँ</p>'
    assert mark_emoji("x", lang='"><script>') == '<bdi dir="auto" lang="&quot;&gt;&lt;script&gt;">x</bdi>'


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "</bdi></p><img src=x onerror=alert(1)>",
        "<style>*{display:none}</style>",
        "\" onmouseover='alert(1)'",
        "&lt;b&gt; &amp; &#128514;",
        "<!-- --><![CDATA[x]]>",
    ],
)
def test_markup_in_a_text_is_text(text: str):
    reader = _read(mark_emoji(text))
    assert reader.tags == [("bdi", {"dir": "auto"})]
    assert reader.text == text


def test_an_override_of_direction_is_shown_instead_of_obeyed():
    assert mark_emoji(f"abc{OVERRIDE}def") == (
        '<bdi dir="auto">abc<span class="control" title="RIGHT-TO-LEFT OVERRIDE">U+202E</span>def</bdi>'
    )


@pytest.mark.parametrize("control", [*"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069", "\x00", "\x1b", "\x85"])
def test_no_control_reaches_the_page(control: str):
    html = mark_emoji(f"a{control}b")
    assert control not in html
    assert f">U+{ord(control):04X}</span>" in html


@pytest.mark.parametrize("text", ["\ud83d", "x\udc00y", "\ud83d\ude02"])
def test_a_lone_surrogate_is_shown_and_the_page_can_be_written(text: str):
    html = mark_emoji(text)
    html.encode("utf-8")
    assert html.count("half of a surrogate pair") == sum("\ud800" <= c <= "\udfff" for c in text)


@pytest.mark.parametrize(
    "text",
    [
        "\u200d👩",  # a joiner with nothing before it
        "👩\u200d",  # and with nothing after
        "👩\u200d\u200d👧",
        "a\ufe0f",  # a variation selector after a letter
        "\ufe0f\ufe0e",
        "🏽",  # a skin tone alone
        "🇮🇳🇮",  # a flag and a half
        "क्ष ক্ষ ‌न्‍",  # conjuncts, with joiner and non-joiner
        "line one\nline two\ttab",
        "עברית و عربي",
    ],
)
def test_broken_sequences_and_other_scripts_are_kept_as_they_are(text: str):
    reader = _read(mark_emoji(text))
    assert reader.text == text
    assert reader.emoji == emoji.find(text)


_REORDERING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_NO_CHARACTERS = [*range(0xFDD0, 0xFDF0), *(plane << 16 | end for plane in range(17) for end in (0xFFFE, 0xFFFF))]
_SHOWN_AS_NUMBERS = _REORDERING + "".join(map(chr, _NO_CHARACTERS))


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters=_SHOWN_AS_NUMBERS)))
def test_any_other_text_comes_back_whole_with_the_emoji_of_the_scanner(text: str):
    reader = _read(mark_emoji(text))
    assert reader.text == text
    assert reader.emoji == emoji.find(text)


@given(
    st.lists(st.sampled_from(["👍", "<b>", "</bdi>", '"', "&", OVERRIDE, "\x00", "\ud800", "😂\ufe0f", "1", "\u200d"]))
)
def test_only_marks_are_markup(parts: list[str]):
    reader = _read(mark_emoji("".join(parts)))
    assert {tag for tag, _ in reader.tags} <= {"bdi", "span"}
    assert all(set(attributes) <= {"class", "title", "dir"} for _, attributes in reader.tags)


def test_a_template_engine_does_not_escape_it_again():
    jinja2 = pytest.importorskip("jinja2")
    template = jinja2.Environment(autoescape=True).from_string("{{ text }}")
    assert template.render(text=mark_emoji("<😂")) == '<bdi dir="auto">&lt;<span class="e">😂</span></bdi>'
