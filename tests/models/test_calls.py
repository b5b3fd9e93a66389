"""The ledger of calls: what makes two questions the same, and that nothing finished is lost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mojimeter.errors import InputError
from mojimeter.models.calls import Call, CallLedger, Request, well_formed

REQUEST = Request("openai/x", (("system", "s"), ("user", "u")), "judge", 0.0, 10, None, None, 0)


@pytest.mark.parametrize(
    "change",
    [
        {"model": "openai/y"},
        {"messages": (("user", "u"),)},
        {"temperature": 1.0},
        {"max_tokens": 11},
        {"seed": 1},
        {"grammar": "g"},
        {"turn": 1},
    ],
)
def test_whatever_may_change_an_answer_makes_another_question(change: dict[str, object]) -> None:
    assert replace(REQUEST, **change).key != REQUEST.key  # type: ignore[arg-type]


def test_who_asks_does_not_make_another_question() -> None:
    assert replace(REQUEST, purpose="recommend").key == REQUEST.key


@given(st.lists(st.text(st.characters(codec=None)), max_size=5))
def test_what_is_kept_is_read_back_whatever_the_replies_hold(
    tmp_path_factory: pytest.TempPathFactory, replies: list[str]
) -> None:
    path = tmp_path_factory.mktemp("ledger") / "calls.jsonl"
    ledger = CallLedger(path)
    calls = [Call(f"k{i}", "openai/x", "judge", reply, usd=0.5) for i, reply in enumerate([*replies, "\ud83d"])]
    for call in calls:
        ledger.add(call)
    ledger.close()
    assert list(CallLedger(path)) == calls


def test_a_line_cut_short_by_a_kill_is_dropped_and_the_file_goes_on_clean(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    ledger = CallLedger(path)
    ledger.add(Call("a", "openai/x", "judge", "positive"))
    ledger.add(Call("b", "openai/x", "judge", "negative"))
    ledger.close()
    path.write_bytes(path.read_bytes()[:-9])
    resumed = CallLedger(path)
    assert [call.key for call in resumed] == ["a"]
    resumed.add(Call("c", "openai/x", "judge", "neutral"))
    resumed.close()
    assert [call.key for call in CallLedger(path)] == ["a", "c"]


def test_a_plan_reads_a_ledger_without_touching_it(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_bytes(b'{"key": "a", "model": "m", "purpose": "judge", "reply": "x"}\n{"key": "b", "mo')
    before = path.read_bytes()
    assert len(CallLedger(path, read_only=True)) == 1
    assert path.read_bytes() == before


@pytest.mark.parametrize("line", ["nonsense", "[]", '{"key": 1}', '{"key": "a", "x": 2}', "null", "\xff"])
def test_a_broken_line_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_text(f'{{"key": "a", "model": "m", "purpose": "judge", "reply": "x"}}\n{line}\n', encoding="latin-1")
    with pytest.raises(InputError, match=r"calls\.jsonl, line 2: not a call"):
        CallLedger(path)


def test_answers_that_were_known_are_counted_beside_those_that_were_asked_for() -> None:
    ledger = CallLedger()
    assert ledger.recall(REQUEST) is None
    ledger.add(Call(REQUEST.key, REQUEST.model, REQUEST.purpose, "x"))
    assert ledger.recall(REQUEST) is not None
    assert ledger.tally.made == {"judge": 1}
    assert ledger.tally.known == {"judge": 1}


@given(st.text(st.characters(codec=None)))
def test_well_formed_text_can_be_sent_and_is_else_unchanged(text: str) -> None:
    made = well_formed(text)
    made.encode("utf-8")
    assert len(made) == len(text)
    assert all(a == b or "\ud800" <= a <= "\udfff" for a, b in zip(text, made, strict=True))
