"""Systems that are kin of the judge are flagged in the document of scores and on the screen."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from mojimeter.datasets.pairs import ANSWER_COLUMNS
from mojimeter.errors import InputError
from mojimeter.report.terminal import print_scores
from mojimeter.runs.disambiguate import DisambiguateSettings, PairsRun, score_run
from mojimeter.runs.kin import with_kin
from mojimeter.runs.scoring import ScoringOptions, score_document

SYSTEMS = ("gpt-4o", "llama3.1-70b", "baseline/none")
LEGEND = "(kin): the judge is this system or of the same maker; see judge bias."


def _document(folder: Path, judges: tuple[str, ...], **options: Any) -> dict[str, Any]:
    ids = [str(i) for i in range(12)]
    pl.DataFrame({"id": ids, "text": ["fine 🎉"] * 12}).write_csv(folder / "posts.csv")
    rows = [(i, s, "🎉") for s in SYSTEMS[:2] for i in ids]
    pl.DataFrame(rows, schema=["id", "system", "reply"], orient="row").write_csv(folder / "replies.csv")
    rows = [
        (i, s, j, "positive" if s == "gold" or int(i) % (2 + len(s) % 3) else "negative")
        for j in judges
        for s in ("gold", *SYSTEMS)
        for i in ids
    ]
    pl.DataFrame(rows, schema=["id", "system", "judge", "sentiment"], orient="row").write_csv(folder / "labels.csv")
    return score_document(
        folder / "posts.csv",
        [folder / "replies.csv"],
        [folder / "labels.csv"],
        options=ScoringOptions(draws=20, judge=judges[0], **options),
    )


def _printed(document: dict[str, Any]) -> str:
    stream = io.StringIO()
    print_scores(document, file=stream, width=80)
    assert max(len(line) for line in stream.getvalue().splitlines()[:-1]) <= 80
    return stream.getvalue()


def _flags(rows: dict[str, Any]) -> dict[str, bool]:
    return {name: row["kin"] for name, row in rows.items()}


def test_a_system_of_the_judges_maker_is_flagged_and_warned_about(tmp_path: Path) -> None:
    document = _document(tmp_path, ("openai/gpt-4o-mini",))
    assert _flags(document["systems"]) == {"gpt-4o": True, "llama3.1-70b": False, "baseline/none": False}
    warnings = [w for w in document["warnings"] if "kin" in w]
    assert len(warnings) == 1
    assert "gpt-4o (same maker)" in warnings[0]
    assert "llama" not in warnings[0]


def test_the_screen_marks_kin_in_every_table_of_systems_and_says_what_it_means(tmp_path: Path) -> None:
    text = _printed(_document(tmp_path, ("openai/gpt-4o-mini",)))
    rows = [line for line in text.splitlines()[:-1] if "gpt-4o" in line and " minus " not in line]  # no signature
    assert len(rows) >= 3
    assert all("gpt-4o (kin)" in row for row in rows)
    assert "llama3.1-70b (kin)" not in text
    assert LEGEND in text


def test_a_judge_without_kin_flags_nothing(tmp_path: Path) -> None:
    document = _document(tmp_path, ("anthropic/claude-sonnet",))
    assert not any(_flags(document["systems"]).values())
    assert not any("kin" in warning for warning in document["warnings"])
    assert "(kin)" not in _printed(document)


def test_a_judge_known_by_another_name_is_flagged_by_the_model_it_stands_for(tmp_path: Path) -> None:
    assert not any(_flags(_document(tmp_path, ("released",))["systems"]).values())
    document = _document(tmp_path, ("released",), known_as={"released": "openai/gpt-4o"})
    assert document["systems"]["gpt-4o"]["kin"] is True
    assert any("released (openai/gpt-4o)" in w and "gpt-4o (itself)" in w for w in document["warnings"])


def test_a_name_for_a_judge_that_labelled_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--is other: no labels are by this judge; there are released"):
        _document(tmp_path, ("released",), known_as={"other": "openai/gpt-4o"})


def test_each_judge_of_a_panel_flags_its_own_kin(tmp_path: Path) -> None:
    judges = ("anthropic/claude-sonnet", "openai/gpt-4o-mini", "together/meta-llama/llama3.1-8b")
    document = _document(tmp_path, judges)
    assert not any(_flags(document["systems"]).values()), "the judge that ranks has no kin"
    by_judge = {judge: [s for s, kin in _flags(rows).items() if kin] for judge, rows in document["by_judge"].items()}
    assert by_judge == dict(zip(judges, ([], ["gpt-4o"], ["llama3.1-70b"]), strict=True))
    assert sum("kin" in warning for warning in document["warnings"]) == 2


def test_the_panels_table_marks_kin_of_any_of_its_judges(tmp_path: Path) -> None:
    document = _document(tmp_path, ("anthropic/claude-sonnet", "openai/gpt-4o-mini"))
    assert document["panel"].get("ranking"), document["panel"]["sentence"]
    text = _printed(document)
    assert "gpt-4o (kin)" in text
    assert "(kin): gpt-4o or its maker judges as openai/gpt-4o-mini." in text
    assert LEGEND not in text


def test_without_judges_there_is_no_kin(tmp_path: Path) -> None:
    _document(tmp_path, ("j",))
    document = score_document(tmp_path / "posts.csv", [tmp_path / "replies.csv"], options=ScoringOptions(draws=20))
    assert set(_flags(document["systems"]).values()) == {False}


def _pairs_document(verifier: str | None) -> dict[str, Any]:
    systems = ("openai/gpt-4o", "x/llama3.1", "baseline/no-context:openai/gpt-4o", "baseline/commoner")
    document = {"systems": {name: {} for name in systems}, "warnings": []}
    return with_kin(document, [verifier] if verifier else [], role="verifier")


def test_a_verifier_flags_its_own_kin_shown_contexts_or_not() -> None:
    document = _pairs_document("openai/gpt-4o-mini")
    assert [name for name, kin in _flags(document["systems"]).items() if kin] == [
        "openai/gpt-4o",
        "baseline/no-context:openai/gpt-4o",
    ]
    (warning,) = document["warnings"]
    assert warning.startswith("the verifier openai/gpt-4o-mini may favour its own kin")
    assert "judge bias" not in warning, "that command reads labels, not verdicts"


@pytest.mark.parametrize("verifier", ["embedded", "anthropic/claude-sonnet", None])
def test_a_verifier_that_made_none_of_the_systems_flags_nothing(verifier: str | None) -> None:
    document = _pairs_document(verifier)
    assert set(_flags(document["systems"]).values()) == {False}
    assert document["warnings"] == []


def test_the_document_of_a_run_of_pairs_says_who_is_kin_of_its_verifier(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.csv"
    pairs.write_text(
        "id,category,text,emoji,question,context_1,answer_1,context_2,answer_2,reading_1,reading_2,lang\n"
        "a,situation,the hall is 🔥,🔥,What about it?,Engines came.,A blaze.,A band came.,Great music.,"
        "literal,figurative,en\n",
        encoding="utf-8",
    )
    settings = DisambiguateSettings(str(pairs), ("openai/gpt-4o",), "openai/gpt-4o-mini", draws=20)
    rows = [("a", "openai/gpt-4o", c, "A blaze.", "right", "1") for c in ("1", "2", "none")]
    answers = pl.DataFrame(rows, schema=dict.fromkeys(ANSWER_COLUMNS, pl.String), orient="row")
    document = score_run(PairsRun(settings), answers, pl.DataFrame())
    assert _flags(document["systems"]) == {"openai/gpt-4o": True}
    assert any(w.startswith("the verifier openai/gpt-4o-mini may favour") for w in document["warnings"])
