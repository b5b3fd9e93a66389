"""The run folder: its settings, its tables, its ledger of calls, and who may write to it.

    settings.toml   what was asked for; enough to repeat the run
    posts.jsonl     the posts, with their emoji where their authors put them
    calls.jsonl     every finished call to a model (see ``models.calls``)
    outputs.jsonl   raw replies          labels.jsonl   labels by judge
    ratings.jsonl   item x system x judge, mean over attempts, where there are several judges
    scores.json     what the command prints with --json
    signature.txt   the signature of the scores
    logs/           Inspect's logs: one whole log a system; logs/failed/ holds attempts that did not end well

Keys never reach it: they are read from the environment by the providers. Knows no model and no metric.
"""

from __future__ import annotations

import json
import math
import os
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

from mojimeter.errors import InputError

if TYPE_CHECKING:
    import polars as pl

SETTINGS = "settings.toml"
CALLS = "calls.jsonl"
# Settings that change no call, only what is made of the replies: any run may go on with other ones.
_SCORING = {"equality", "draws", "bootstrap_seed"}


class RunFolder:
    """A folder that one process at a time writes a run to; a context manager.

    Raises:
        InputError: (on entering) the path is a file, cannot be made, or another process is writing to it.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock: IO[str] | None = None

    def __enter__(self) -> RunFolder:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = (self.path / ".lock").open("w")
        except OSError as error:
            raise InputError(f"{self.path}: cannot be a run folder: {error.strerror}") from None
        if not _lock(self._lock):
            self._lock.close()
            raise InputError(f"{self.path}: another run is writing to this folder")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._lock is not None:
            self._lock.close()
            # on leaving, not on a kill: a lock that nobody holds is no lock
            with suppress(OSError):
                (self.path / ".lock").unlink()

    @property
    def calls(self) -> Path:
        """The ledger's file."""
        return self.path / CALLS

    @property
    def logs(self) -> Path:
        """The folder of Inspect's logs."""
        return self.path / "logs"

    def table(self, name: str) -> Path:
        """The path of a table: posts, outputs, labels or ratings."""
        return self.path / f"{name}.jsonl"

    def settings(self) -> dict[str, Any] | None:
        """The settings of an earlier run here, or None.

        Raises:
            InputError: the file is not TOML.
        """
        return read_settings(self.path)

    def require_same_run(self, settings: Mapping[str, Any], may_grow: Sequence[str]) -> None:
        """Refuse a folder that holds a run whose calls were other ones.

        Args:
            settings: of the run that is to go on.
            may_grow: settings that may differ, as they only add to the run; those of the scoring may in any run.

        Raises:
            InputError: another setting differs; names it, with both values.
        """
        before = self.settings()
        if before is None:
            return
        for name in sorted({*before, *settings} - _SCORING - set(may_grow)):
            old, new = before.get(name), settings.get(name)
            if isinstance(new, tuple):
                new = list(new)
            if old != new:
                raise InputError(
                    f"{self.path}: holds a run with {name} = {old!r}, not {new!r}; give another --out for another run"
                )

    def write_settings(self, settings: Mapping[str, Any]) -> None:
        """Write the settings: flat, or one level of tables."""
        _replace(self.path / SETTINGS, to_toml(settings))

    def write_table(self, name: str, frame: pl.DataFrame) -> Path:
        """Write a table as JSON lines, whole or not at all."""
        lines = (json.dumps(_plain(row), ensure_ascii=False) for row in frame.iter_rows(named=True))
        _replace(self.table(name), "".join(line + "\n" for line in lines))
        return self.table(name)

    def write_scores(self, document: Mapping[str, Any]) -> None:
        """Write the document of scores and its signature."""
        text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1)
        _replace(self.path / "scores.json", text + "\n")
        if "signature" in document:
            _replace(self.path / "signature.txt", f"{document['signature']}\n")


def _plain(value: Any) -> Any:
    """What JSON can hold: posts may bring columns of dates, bytes and numbers that are none."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def read_settings(path: str | Path) -> dict[str, Any] | None:
    """The settings in a run folder; None where there are none.

    Raises:
        InputError: the file is not TOML.
    """
    file = Path(path) / SETTINGS
    if not file.is_file():
        return None
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: not the settings of a run: {error}") from None


def to_toml(settings: Mapping[str, Any]) -> str:
    """TOML of strings, numbers, booleans, lists of these and one level of tables; None is left out."""
    plain = {k: v for k, v in settings.items() if not isinstance(v, Mapping) and v is not None}
    tables = {k: v for k, v in settings.items() if isinstance(v, Mapping)}
    text = "".join(f"{_key(k)} = {_value(v)}\n" for k, v in plain.items())
    for name, table in tables.items():
        rows = "".join(f"{_key(k)} = {_value(v)}\n" for k, v in table.items() if v is not None)
        text += f"\n[{_key(name)}]\n{rows}"
    return text


def _key(name: str) -> str:
    return name if name.replace("_", "").replace("-", "").isalnum() and name.isascii() else _value(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        # a JSON string is a TOML basic string, but for the control character DEL
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    raise TypeError(f"no TOML for {type(value).__name__}")


def _replace(path: Path, text: str) -> None:
    """Write a file so that a reader, or a kill, never meets half of it."""
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


def _lock(file: IO[str]) -> bool:
    try:
        import fcntl
    except ImportError:  # not on Windows; there the folder is simply not guarded
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
