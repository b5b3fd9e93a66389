"""Markdown of tables, as a reader of CommonMark with GitHub's tables (markdown-it) shows it."""

from __future__ import annotations

import re
from html import unescape

from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from mojimeter.report.markdown import markdown_of
from mojimeter.report.plain import plain
from mojimeter.report.text_table import Row, TextTable

READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
HEAD = ("place", "system", "score")


def _shown(name: str) -> str:
    """HTML of a table whose run, system and caption have this name; its title is another."""
    rows = (Row(("1", name, "2.0 [1.0, 3.0]")), Row(("2", "random", "-1.0"), aside=True))
    return READER.render(markdown_of([TextTable(name, HEAD, rows, (f"{name}: what it is.",), None)], "title"))


def _text(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", "", html)).split())


@given(st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=40))
@example("a|b\\|c\\")
@example("line\nbreak")
@example("<script>alert(1)</script> &amp; &lt;")
@example("**bold** _it_ ~~gone~~ `code` [a](b) ![c](d) <https://e.example>")
@example("- item")
@example("1. item")
@example("    four spaces")
@example("# head #")
@example("===")
@example("[1](2)")
@example("---")
@example("> quote")
def test_a_name_is_shown_as_it_is_in_heading_cell_and_caption_and_no_cell_is_lost(name: str) -> None:
    html, said = _shown(name), " ".join(plain(name).split())
    rows = re.findall(r"<tr>(.*?)</tr>", html, re.DOTALL)
    assert [len(re.findall("<t[dh]", row)) for row in rows] == [3, 3, 3, 3]  # the third is the empty row of a rule
    cells = re.findall(r"<td[^>]*>(.*?)</td>", rows[1], re.DOTALL)
    assert [_text(cell) for cell in cells] == ["1", said, "2.0 [1.0, 3.0]"]
    assert _text(re.findall(r"<h2>(.*?)</h2>", html, re.DOTALL)[0]) == said
    (caption,) = re.findall(r"<p>(.*?)</p>", html, re.DOTALL)
    assert _text(caption) == " ".join(f"{plain(name)}: what it is.".split())
    assert set(re.findall(r"<([a-z]\w*)", html)) == {"h1", "h2", "table", "thead", "tbody", "tr", "th", "td", "p"}
