"""LaTeX of tables, as text: no TeX runs here. Each rule mends what pdfLaTeX, XeLaTeX or LuaLaTeX did with it."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mojimeter.report.latex import escape_latex, latex_of
from mojimeter.report.text_table import Row, TextTable

FIVE = ("place", "system", "preserved", "pair accuracy", "overlap F1")


def _table(*rows: Row, columns: tuple[str, ...] = FIVE, name: str = "run", texts: int = 2) -> TextTable:
    return TextTable(name, columns, rows, ("What it is.",), None, texts)


def _row(name: str, place: str = "1", aside: bool = False) -> Row:
    return Row((place, name, "44.2 [30.8, 58.3]", "-0.5 [-1.0, 0.1]", "-"), aside)


def _lines(text: str, start: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(start)]


@given(st.text(max_size=80))
@example("\\")
@example("a\nb")
@example("--''``")
@example("\u202eevil")
@example("👨‍👩‍👧 ok")
@example("x" * 80)
@example("{}" * 40)
def test_no_text_leaves_a_special_character_of_latex_unescaped(text: str) -> None:
    escaped = escape_latex(text)
    assert "\n" not in escaped
    known = r"\\(?:textbackslash|textasciitilde|textasciicircum|textless|textgreater|textbar|textasciigrave|allowbreak)"
    rest = re.sub(rf"{known}\{{\}}|\{{\\char34\}}|-\{{\}}|[',]\{{\}}|\\[{{}}$&#_%]", "", escaped)
    assert not set(rest) & set('\\{}$&#_%~^<>|"`\u202e')


@given(st.text(alphabet="ab-/,' ", max_size=80))
def test_breaks_and_ligatures_change_no_letter(text: str) -> None:
    escaped = escape_latex(text)
    assert escaped.replace(r"\allowbreak{}", "").replace("{}", "") == text
    assert not re.search("--|,,|''", escaped)  # three hyphens once kept a dash between the second and the third


def test_a_letter_and_its_accent_are_one_letter_as_pdflatex_knows_it() -> None:
    assert escape_latex("e\u0301te\u0301") == "été"


def test_a_long_word_may_break_behind_its_parts_and_a_short_one_may_not() -> None:
    assert escape_latex("organisation/model-7b-instruct") == (
        r"organisation/\allowbreak{}model-\allowbreak{}7b-\allowbreak{}instruct"
    )
    assert (
        escape_latex("openai/gpt-4o-mini and others that are short") == "openai/gpt-4o-mini and others that are short"
    )
    assert max(map(len, escape_latex("A" * 150).split(r"\allowbreak{}"))) <= 24


def test_a_table_is_made_smaller_only_where_it_is_wider_than_the_line_and_says_when_it_gets_tiny() -> None:
    text = latex_of([_table(_row("a")), _table(_row("b"))], "t", "0")
    assert text.count(r"\providecommand{\mojimeterfit}") == 1
    assert r"\ifdim\wd0>\linewidth" in text
    assert r"\GenericWarning" in text
    assert len(_lines(text, r"\mojimeterfit{\begin{tabular}{llrrr}")) == 2
    assert r"\usepackage{booktabs,graphicx}" in text


def test_a_wide_table_spans_the_columns_of_a_page_and_a_narrow_one_stays_in_its_own() -> None:
    wide = latex_of([_table(_row("a"))], "t", "0")
    assert (wide.count(r"\begin{table*}"), wide.count(r"\end{table*}")) == (1, 1)
    narrow = latex_of([_table(Row(("1", "a", "2.0 [1.0, 3.0]")), columns=("place", "system", "mean"))], "t", "0")
    assert (narrow.count(r"\begin{table}"), narrow.count(r"\end{table}")) == (1, 1)


def test_a_long_name_wraps_in_its_column_and_the_numbers_beside_it_do_not() -> None:
    text = latex_of([_table(_row("several words " * 4), _row("b", "2"))], "t", "0")
    assert r"\begin{tabular}{lp{18em}rrr}" in text
    assert r"1 & \raggedright several words" in text


def test_heads_of_numbers_stand_a_word_a_line_and_minus_signs_are_minus_signs() -> None:
    text = latex_of([_table(_row("a"))], "t", "0")
    assert r"place & system & preserved & \shortstack[r]{pair\\accuracy} & \shortstack[r]{overlap\\F1} \\" in text
    assert r"1 & a & 44.2 {\footnotesize [30.8, 58.3]} & $-$0.5 {\footnotesize [$-$1.0, 0.1]} & - \\" in text


@pytest.mark.parametrize("name", ["[draft] model", "*starred"])
def test_what_a_line_break_would_take_for_its_own_is_kept_from_it(name: str) -> None:
    text = latex_of([_table(Row((name, "0.5 [0.4, 0.6]")), columns=("measure", "value"), texts=1)], "t", "0")
    assert f"\n{{}}{name} & 0.5" in text


def test_only_places_have_an_en_dash() -> None:
    text = latex_of([_table(_row("gpt-4", "2-7="))], "t", "0")
    assert "2--7= & gpt-4 &" in text


def test_a_long_table_goes_on_in_floats_of_about_equal_length_under_one_number() -> None:
    text = latex_of(
        [_table(*(_row(f"m{n}", str(n + 1)) for n in range(61)), _row("random", "62", aside=True))], "t", "0"
    )
    assert text.count(r"\begin{table*}") == text.count(r"\toprule") == text.count(r"\bottomrule") == 3
    assert text.count(r"\caption") == 1
    assert text.count(r"\tablename~\thetable{} (continued)") == 2
    floats = text.split(r"\begin{table*}")[1:]
    assert [len(re.findall(r"^\d+ & ", one, re.MULTILINE)) for one in floats] == [21, 21, 20]
    assert [one.count(r"\midrule") for one in floats] == [1, 1, 2]  # below each head, and above those that stand aside


def test_rows_that_wrap_count_as_the_lines_that_they_take() -> None:
    text = latex_of([_table(*(_row(f"{n:03} " + "long name " * 14, str(n)) for n in range(20)))], "t", "0")
    assert text.count(r"\begin{table*}") == 4  # 144 letters, 36 a line: five lines a row with its rest, thirty a float


def test_a_table_without_rows_has_a_caption_and_no_empty_tabular() -> None:
    text = latex_of([_table(columns=("place", "system"))], "t", "0")
    assert r"\begin{tabular}" not in text
    assert r"\caption[{run}]{What it is.}" in text


def test_the_list_of_tables_has_the_name_and_not_the_whole_caption_whatever_brackets_it_has() -> None:
    assert r"\caption[{a]b}]{What it is.}" in latex_of([_table(_row("a"), name="a]b")], "t", "0")


def test_scripts_that_pdflatex_cannot_set_are_told_in_a_comment_of_ascii() -> None:
    head = latex_of([_table(_row("मॉडल"), _row("মডেল"), _row("≥ x"), _row("Ünï"))], "t", "0").splitlines()[2]
    assert head.startswith("% beyond Latin: DEVANAGARI, BENGALI, U+2265; needs lualatex or xelatex")
    assert head.isascii()
    assert "beyond Latin" not in latex_of([_table(_row("Ünï – “łódź”…"))], "t", "0")
