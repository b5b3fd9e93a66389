"""A question to a model, its answer, and the ledger that keeps every answer that was paid for.

The ledger is what makes a run resume exactly: one JSON line a finished call, written before the answer is
used, so that a killed process loses at most the calls in flight. A question is known by what decides
the answer (model, messages, temperature, limits, seed, grammar and its turn among repeats), not by where the
model is served. JSON and not the engine's own cache, because that one is pickled, keyed by address and
expires. Must not know Inspect, and never sees a key.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from mojimeter.errors import InputError

LONE_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), 0xFFFD)


def well_formed(text: str) -> str:
    """The text with lone surrogates as U+FFFD: they can be neither sent nor stored as UTF-8."""
    return text.translate(LONE_SURROGATES) if not text.isascii() else text


@dataclass(frozen=True)
class Request:
    """One question to a model.

    Attributes:
        model: the model's full name.
        messages: (role, content) pairs.
        purpose: ``recommend`` or ``judge``; for the count of calls, not part of the key.
        temperature, max_tokens, seed: as the provider takes them; None leaves its default.
        grammar: LLGuidance text that holds a local model to a format.
        turn: which repeat of the same question this is (an epoch, a vote), from 0.
    """

    model: str
    messages: tuple[tuple[str, str], ...]
    purpose: str
    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    grammar: str | None = None
    turn: int = 0

    @cached_property
    def key(self) -> str:
        """32 hexadecimal digits that decide whether two questions are the same."""
        sampling = (self.temperature, self.max_tokens, self.seed, self.grammar, self.turn)
        return hashlib.sha256(json.dumps((self.model, self.messages, sampling)).encode()).hexdigest()[:32]

    @property
    def size(self) -> int:
        """Bytes of UTF-8 sent; about four make a token of English."""
        return sum(len(content.encode(errors="replace")) for _, content in self.messages)


@dataclass(frozen=True, slots=True)
class Call:
    """A finished call: the answer and what it took.

    Attributes:
        key: the request's key.
        model, purpose: the request's.
        reply: the text that came back, as it came; "" where nothing did.
        stop: why the model stopped (``stop``, ``max_tokens``, ``content_filter``, ...).
        input_tokens, output_tokens: as the provider counted them; None where it did not.
        seconds: time of the call that succeeded.
        usd: what it cost, where the price is known.
    """

    key: str
    model: str
    purpose: str
    reply: str
    stop: str = "stop"
    input_tokens: int | None = None
    output_tokens: int | None = None
    seconds: float | None = None
    usd: float | None = None


@dataclass
class Tally:
    """How many calls were made now, and how many answers were already known."""

    made: dict[str, int] = field(default_factory=dict)
    known: dict[str, int] = field(default_factory=dict)


class CallLedger:
    """Every finished call by key; with a path, kept in a file that survives a kill.

    Raises:
        InputError: a line of the file, other than a last one cut short, is not a call.
    """

    def __init__(self, path: Path | None = None, *, read_only: bool = False) -> None:
        self._calls: dict[str, Call] = {}
        self._path = path
        self._file: IO[str] | None = None
        self.tally = Tally()
        if path is not None and path.exists():
            self._read(path, mend=not read_only)

    def get(self, key: str) -> Call | None:
        """The finished call, or None."""
        return self._calls.get(key)

    def recall(self, request: Request) -> Call | None:
        """As ``get``, and counted as an answer that did not have to be asked for."""
        call = self._calls.get(request.key)
        if call is not None:
            self.tally.known[request.purpose] = self.tally.known.get(request.purpose, 0) + 1
        return call

    def add(self, call: Call) -> None:
        """Keep a finished call; it is in the file when this returns."""
        if self._path is not None:
            if self._file is None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._file = self._path.open("a", encoding="ascii")
            values = {name: value for name, value in asdict(call).items() if value is not None}
            # ascii, because a reply may hold lone surrogates, which UTF-8 cannot write
            self._file.write(json.dumps(values, ensure_ascii=True) + "\n")
            self._file.flush()
        self._calls[call.key] = call
        self.tally.made[call.purpose] = self.tally.made.get(call.purpose, 0) + 1

    def close(self) -> None:
        """Close the file; a later ``add`` opens it again."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __len__(self) -> int:
        return len(self._calls)

    def __iter__(self) -> Iterator[Call]:
        return iter(self._calls.values())

    def _read(self, path: Path, mend: bool) -> None:
        data = path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if mend and whole < len(data):  # the process was killed while it wrote this line: the call is asked again
            with path.open("r+b") as file:
                file.truncate(whole)
        for number, line in enumerate(data[:whole].splitlines(), start=1):
            call = _parse(line)
            if call is None:
                raise InputError(f"{path}, line {number}: not a call; expected the JSON that this program wrote")
            self._calls[call.key] = call


def _parse(line: bytes) -> Call | None:
    try:
        values: Any = json.loads(line)
        call = Call(**values)
    except (ValueError, TypeError):
        return None
    return call if isinstance(call.key, str) and isinstance(call.reply, str) else None
