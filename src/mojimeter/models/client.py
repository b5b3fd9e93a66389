"""Asks a model through Inspect AI: once for each question, whoever else asks it at the same time.

Answers come from the ledger where they are known. What is set on purpose here, because the defaults hurt:
the SDK retries first (it honours Retry-After, at most a minute), then Inspect does with its slower
backoff, both a limited number of times, and each attempt has a time limit. What Inspect does not retry,
a body that is not UTF-8 or not JSON, is asked again here. Must not know what is asked or why.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import anyio
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    get_model,
)

from mojimeter.errors import InputError, MojimeterError
from mojimeter.models.calls import Call, CallLedger, Request, well_formed
from mojimeter.models.patience import Patience
from mojimeter.models.prices import Budget
from mojimeter.models.secrets import without_secrets

LOCAL = "local/"  # one call at a time: a second would only wait for the first
# Providers whose client takes `max_retries` (it is handed on to the OpenAI or Anthropic SDK).
_SDK_WITH_RETRIES = ("openai/", "openai-api/", "anthropic/", "openrouter/", "fireworks/", "deepseek/")


class CallError(MojimeterError):
    """A call failed after all its attempts; the message holds the reason in one line and no key."""


class Client:
    """Asks questions; see the module's first paragraph.

    A model whose key is refused, or whose calls failed ``patience.give_up_after`` times in a row, is not asked
    again by this client: its calls fail at once, with that reason, so that a dead server ends a run soon.
    """

    def __init__(self, ledger: CallLedger, budget: Budget | None = None, patience: Patience | None = None) -> None:
        self.ledger = ledger
        self.budget = budget or Budget(None, {})
        self.patience = patience or Patience()
        self._asking: dict[str, anyio.Lock] = {}
        self._failures: Counter[str] = Counter()  # in a row, by model
        self._given_up: dict[str, str] = {}

    async def ask(self, request: Request, model: Model | None = None) -> Call:
        """The answer to a request, from the ledger or from the model.

        Args:
            request: what to ask; ``request.model`` names the model unless one is given.
            model: an Inspect model, where the caller has one (a role, the model of a task).

        Raises:
            BudgetError: the call could go over the budget.
            CallError: the attempts are used up, or this model has been given up.
        """
        known = self.ledger.recall(request)
        if known is not None:
            return known
        lock = self._asking.setdefault(request.key, anyio.Lock())
        async with lock:
            known = self.ledger.recall(request)
            if known is not None:
                return known
            call = await self._generate(request, model or load_model(request.model, self.patience))
            self.ledger.add(call)
        self._asking.pop(request.key, None)
        return call

    async def _generate(self, request: Request, model: Model) -> Call:
        reserved = self.budget.reserve(request)
        try:
            output = await self._attempt(request, model)
        except BaseException:
            self.budget.release(reserved)
            raise
        usage = output.usage
        tokens_in = usage.input_tokens if usage else None
        tokens_out = usage.output_tokens if usage else None
        return Call(
            key=request.key,
            model=request.model,
            purpose=request.purpose,
            reply=output.completion,
            stop=str(output.stop_reason),
            input_tokens=tokens_in,
            output_tokens=tokens_out,
            seconds=round(output.time, 4) if output.time is not None else None,
            usd=self.budget.settle(request, reserved, tokens_in, tokens_out),
        )

    async def _attempt(self, request: Request, model: Model) -> ModelOutput:
        name = request.model
        if name in self._given_up:
            raise CallError(f"{name}: not asked any more: {self._given_up[name]}")
        for left in range(self.patience.garbled_retries, -1, -1):
            try:
                output = await model.generate(_messages(request), config=self._config(request))
            except Exception as error:
                if left and isinstance(error, UnicodeDecodeError | json.JSONDecodeError):
                    continue
                reason = _reason(error)
                self._failures[name] += 1
                if _is_refused(error) or self._failures[name] >= self.patience.give_up_after:
                    self._given_up[name] = reason
                raise CallError(f"{name}: {reason}") from error
            self._failures[name] = 0
            return output
        raise AssertionError("the loop returns or raises")

    def _config(self, request: Request) -> GenerateConfig:
        return GenerateConfig(
            temperature=request.temperature,
            max_tokens=request.max_tokens,
            seed=request.seed,
            extra_body={"grammar": request.grammar} if request.grammar else None,
            max_retries=self.patience.retries,
            attempt_timeout=self.patience.attempt_timeout,
            max_connections=1 if request.model.startswith(LOCAL) else self.patience.max_connections,
        )


def load_model(name: str, patience: Patience | None = None) -> Model:
    """The Inspect model behind a name.

    Raises:
        InputError: no provider of that name, or its key is not in the environment (named, never shown).
    """
    arguments: dict[str, Any] = {}
    if name.startswith(_SDK_WITH_RETRIES):
        arguments["max_retries"] = (patience or Patience()).sdk_retries
    try:
        return get_model(name, **arguments)
    except MojimeterError:
        raise
    except Exception as error:
        raise InputError(f"{name}: the model cannot be loaded: {_one_line(error)}") from error


def _reason(error: Exception) -> str:
    """Why a call failed, in one line, without the request and without any key."""
    last = getattr(error, "last_attempt", None)  # tenacity's RetryError holds the true one
    cause = last.exception() if last is not None else None
    true = cause if isinstance(cause, Exception) else error
    return f"{type(true).__name__}: {_one_line(true)}"


def _one_line(error: Exception) -> str:
    text = str(getattr(error, "provider_message", None) or getattr(error, "message", None) or error)
    return " ".join(re.sub(r"\[/?[a-z_ ]+\]", "", without_secrets(text)).split()).removeprefix("ERROR: ")[:300]


def _is_refused(error: Exception) -> bool:
    return getattr(error, "status_code", None) in (401, 403)


def _messages(request: Request) -> list[ChatMessage]:
    return [_KINDS[role](content=well_formed(content)) for role, content in request.messages]


_KINDS: dict[str, Callable[..., ChatMessage]] = {
    "system": ChatMessageSystem,
    "user": ChatMessageUser,
    "assistant": ChatMessageAssistant,
}
