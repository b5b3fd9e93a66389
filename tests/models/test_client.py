"""The client: one call for a question however many ask, and errors in one line without keys."""

from __future__ import annotations

import anyio
import pytest
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from mojimeter.errors import InputError
from mojimeter.models.calls import CallLedger, Request
from mojimeter.models.client import CallError, Client, load_model
from mojimeter.models.patience import Patience
from mojimeter.models.secrets import without_secrets


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def request(text: str = "hello", turn: int = 0) -> Request:
    return Request("mockllm/model", (("user", text),), "judge", turn=turn)


class Mock:
    """A model that counts how often it is asked, and fails as told."""

    def __init__(self, failures: int = 0) -> None:
        self.asked = 0
        self.failures = failures
        self.model = get_model("mockllm/model", custom_outputs=self.answer)

    async def answer(self, *_: object) -> ModelOutput:
        self.asked += 1
        await anyio.sleep(0.01)
        if self.asked <= self.failures:
            raise RuntimeError(f"failure {self.asked}")
        output = ModelOutput.from_content("mock", f"answer {self.asked}")
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output


@pytest.mark.anyio
async def test_one_question_is_asked_once_though_many_ask_it_at_the_same_time() -> None:
    mock, client = Mock(), Client(CallLedger())
    replies: dict[int, set[str]] = {0: set(), 1: set()}

    async def ask(turn: int) -> None:
        replies[turn].add((await client.ask(request(turn=turn), mock.model)).reply)

    async with anyio.create_task_group() as group:
        for turn in (0, 0, 0, 1, 0):
            group.start_soon(ask, turn)
    assert mock.asked == 2
    assert [len(said) for said in replies.values()] == [1, 1]


@pytest.mark.anyio
async def test_a_failed_call_is_not_kept_and_can_be_asked_again() -> None:
    mock, client = Mock(failures=1), Client(CallLedger())
    with pytest.raises(CallError, match="mockllm/model: RuntimeError: failure 1"):
        await client.ask(request(), mock.model)
    assert (await client.ask(request(), mock.model)).reply == "answer 2"


@pytest.mark.anyio
async def test_a_model_that_only_fails_is_given_up() -> None:
    mock, client = Mock(failures=100), Client(CallLedger(), patience=Patience(retries=0, give_up_after=3))
    for turn in range(8):
        with pytest.raises(CallError):
            await client.ask(request(turn=turn), mock.model)
    assert mock.asked == 3
    with pytest.raises(CallError, match="not asked any more: RuntimeError: failure 3"):
        await client.ask(request(), mock.model)


def test_an_unknown_provider_and_a_missing_key_are_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="nowhere/x: the model cannot be loaded"):
        load_model("nowhere/x")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InputError, match="OPENAI_API_KEY"):
        load_model("openai/gpt-4o-mini")


def test_keys_are_taken_out_of_any_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-abcdefgh")
    monkeypatch.setenv("SHORT_KEY", "no")
    assert without_secrets("key sk-abcdefgh, no other") == "key <SOME_API_KEY>, no other"
