"""Tables for papers: what stands in them, and that no name can break out of one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from mojimeter.report.export import tables_of, to_latex, to_markdown
from mojimeter.report.page.document import read_report
from mojimeter.report.page.options import ReportOptions
from tests.report_page.small_runs import same_labels, write_pairs, write_recommendation

HOSTILE = "a&b_50%{x}\\input{/etc/passwd}|<script>$^~#"
POSTS = [{"id": f"p{i}", "text": f"hello {'🎉' if i % 2 else '😢'}", "author": f"a{i}"} for i in range(24)]
GOLD = ["positive" if i % 2 else "negative" for i in range(24)]


def _flipped(every: int) -> list[str | None]:
    """The gold labels with each so-many-th turned neutral."""
    return ["neutral" if i % every == 0 else label for i, label in enumerate(GOLD)]


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    labels = {
        "openai/gpt-4o-mini": {
            "gold": same_labels(*GOLD),
            "baseline/none": same_labels(*["neutral"] * 24),
            "best": same_labels(*GOLD),
            "gpt-4o": same_labels(*_flipped(4)),
            HOSTILE: same_labels(*_flipped(3)),
        }
    }
    replies = {name: ["🎉"] * 24 for name in ("best", "gpt-4o", HOSTILE)} | {"baseline/none": [""] * 24}
    run = write_recommendation(tmp_path_factory.mktemp("runs") / "run_1", POSTS, replies, labels)
    return read_report([run], options=ReportOptions(title="50% of\nit 😂"))


def test_a_table_ranks_systems_and_sets_baselines_aside(document: dict[str, Any]) -> None:
    (table,) = tables_of(document)
    assert table.columns[:3] == ("place", "system", "preserved")
    assert [row.cells[1] for row in table.rows] == ["best", "gpt-4o (kin)", HOSTILE, "baseline/none"]
    assert [row.aside for row in table.rows] == [False, False, False, True]
    # best keeps all; a quarter and a third of the 24 labels turned in the two others, whose places overlap
    assert [row.cells[0] for row in table.rows] == ["1", "2-3=", "2-3=", "4"]
    assert table.rows[0].cells[2] == "100.0 [100.0, 100.0]"
    assert table.rows[1].cells[2].startswith("75.0 [")


def test_a_caption_says_what_the_numbers_are_and_what_failed(document: dict[str, Any]) -> None:
    (table,) = tables_of(document)
    caption = " ".join(table.caption)
    assert "labels preserved, percent, mean of the tasks, with 95% intervals over 24 authors; 24 posts." in caption
    assert "kin: the judge or verifier is this system or of the same maker." in caption
    assert table.signature == document["runs"][0]["signature"]


def test_a_name_at_the_start_of_a_sentence_is_never_given_a_capital(document: dict[str, Any]) -> None:
    run = document["runs"][0]
    changed = run | {"notes": ["best: 3 of 24 posts"], "document": run["document"] | {"warnings": ["only two posts"]}}
    (table,) = tables_of(document | {"runs": [changed]})
    assert "best: 3 of 24 posts." in table.caption
    assert "Only two posts." in table.caption


def test_a_signature_in_markdown_is_code_and_a_lone_run_has_one_heading(document: dict[str, Any]) -> None:
    text = to_markdown(document)
    assert f"\nSignature: `{document['runs'][0]['signature']}`\n" in text
    assert [line for line in text.splitlines() if line.startswith("#")] == [r"# 50% of\\nit 😂", r"## run\_1"]
    alone = to_markdown(document | {"title": "run_1"})
    assert [line for line in alone.splitlines() if line.startswith("#")] == [r"# run\_1"]
    odd = document["runs"][0] | {"signature": "a``b`"}
    assert "Signature: ``` a``b` ```" in to_markdown(document | {"runs": [odd]})


def test_age_and_gender_are_called_labels_where_they_are_shown(tmp_path: Path) -> None:
    labels = {"j": {name: {"age": ["teen"] * 24} for name in ("gold", "m")}}
    run = write_recommendation(tmp_path / "r", POSTS, {"m": ["🎉"] * 24}, labels)
    assert "Perceived age and gender are labels, not facts about people." in to_markdown(read_report([run]))
    without = {"j": {name: {"stance": ["none"] * 24} for name in ("gold", "m")}}
    run = write_recommendation(tmp_path / "s", POSTS, {"m": ["🎉"] * 24}, without)
    assert "not facts about people" not in to_markdown(read_report([run]))


def test_latex_has_rules_ranges_and_the_signature_and_every_brace_closes(document: dict[str, Any]) -> None:
    text = to_latex(document)
    body = text[text.index(r"\begin{tabular}") : text.index(r"\end{tabular}")]
    assert body.count(r"\midrule") == 2  # below the head, and above the baselines
    assert r"2--3= & \raggedright gpt-4o (kin) & 75.0 {\footnotesize [" in body
    assert r"\textbar{}\allowbreak judge:openai/gpt-4o-mini" in text
    bare = re.sub(r"\\.", "", text)
    assert bare.count("{") == bare.count("}")
    assert text.splitlines()[0] == r"% 50% of\nit ?"  # one line of comment


def test_every_row_of_latex_has_as_many_cells_as_the_head(document: dict[str, Any]) -> None:
    rows = [line for line in to_latex(document).splitlines() if line.endswith(r"\\")]
    counts = {len(re.findall(r"(?<!\\)&", line)) for line in rows}
    assert len(rows) == 5
    assert counts == {len(tables_of(document)[0].columns) - 1}


def test_a_hostile_name_is_text_in_latex_and_in_markdown(document: dict[str, Any]) -> None:
    latex, markdown = to_latex(document).replace(r"\allowbreak{}", ""), to_markdown(document)
    assert r"\input{" not in latex
    assert r"a\&b\_50\%\{x\}\textbackslash{}input\{/etc/passwd\}\textbar{}\textless{}script\textgreater{}" in latex
    assert "<script>" not in re.sub(r"\\.", "", markdown)
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in rows}) == 1


def test_pairs_are_shown_in_percent_with_intervals(tmp_path: Path) -> None:
    pairs = [
        {
            "id": f"q{n}",
            "category": "tone",
            "text": f"ok {n} 💀",
            "emoji": "💀",
            "question": "Why?",
            "context_1": "A.",
            "answer_1": "One.",
            "context_2": "B.",
            "answer_2": "Two.",
        }
        for n in range(20)
    ]
    answers = [
        {"id": f"q{n}", "system": "m", "condition": k, "answer": "x", "verdict": verdict}
        for n in range(20)
        for k, verdict in (("1", "right"), ("2", "right" if n % 4 else "wrong"))
    ]
    (table,) = tables_of(read_report([write_pairs(tmp_path / "r", pairs, answers)]))
    # 15 of 20 pairs have both right, 35 of 40 answers are
    assert table.rows[0].cells[:2] == ("1", "m")
    assert table.rows[0].cells[2].startswith("75.0 [")
    assert table.rows[0].cells[3].startswith("87.5 [")
    assert table.rows[0].cells[7] == "-"  # no reading was given


def test_a_study_has_its_verdict_in_the_caption(tmp_path: Path) -> None:
    rows = "".join(f"i{i},s{s},r{r},{(i + s + r) % 5 + s}\n" for i in range(6) for s in range(3) for r in range(2))
    (tmp_path / "r.csv").write_text("item,system,rater,score\n" + rows, encoding="utf-8")
    document = read_report([tmp_path / "r.csv"])
    (table,) = tables_of(document)
    sentence = document["runs"][0]["document"]["sentence"]
    assert f"{sentence[:1].upper()}{sentence[1:]}." in table.caption
    assert len(table.rows) == 3
    assert to_latex(document).count(r"\begin{table}") == 1


def test_a_study_without_systems_has_no_rows_and_says_why(tmp_path: Path) -> None:
    rows = "".join(f"i{i},r{r},{(i + r) % 5}\n" for i in range(6) for r in range(3))
    (tmp_path / "r.csv").write_text("item,rater,score\n" + rows, encoding="utf-8")
    markdown = to_markdown(read_report([tmp_path / "r.csv"]))
    assert "nothing is ranked" in markdown
    assert "there are no systems in this table" in markdown


def test_results_of_a_judge_are_a_row_for_each_number(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(
        '{"schema": 1, "first": "a", "second": "b", "tasks": {"age": {"kappa": {"value": 0.5, "ci": [0.4, 0.6]}, '
        '"alpha": {"value": null, "reason": "too few"}}}}',
        encoding="utf-8",
    )
    (table,) = tables_of(read_report([tmp_path / "a.json"]))
    assert [row.cells for row in table.rows] == [
        ("tasks / age / kappa", "0.500 [0.400, 0.600]"),
        ("tasks / age / alpha", "-"),
    ]
    assert "Perceived age and gender are labels, not facts about people." in table.caption


def test_what_a_judge_did_not_read_and_what_could_not_be_used_stands_in_the_caption(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(
        '{"schema": 1, "truth": "posts", "posts": 1240, "authors": 29, "unusable": {"c": "labels nothing"}, "judges": '
        '{"m/j": {"stance": {"posts": 240, "unparsed": 3, "kappa": {"value": 0.5, "ci": [0.4, 0.6]}}, '
        '"emotion": {"posts": 240, "unparsed": 0}}}, "differences": [], '
        '"warnings": ["few posts", "m/j: few words"], "left_out": ["x", "y"]}',
        encoding="utf-8",
    )
    (table,) = tables_of(read_report([tmp_path / "a.json"]))
    assert table.caption == (
        "a: judge accuracy, with 95% intervals; 1,240 posts, 29 authors.",
        "Few posts.",
        "m/j: few words.",  # a name is never given a capital
        "c: labels nothing.",
        "Not in these numbers: judges / m/j / stance / unparsed: 3, left_out: x, left_out: y.",
    )
