"""Inspect AI ``.eval`` logs as outputs: each sample's answer is a reply, whatever task it came from.

Only a log that Inspect calls a success is read, because half a run would be scored as a whole one; a
sample that failed in it stays as a row without a reply. Reads through Inspect's own reader (extra ``run``).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from mojimeter.datasets.records import as_outputs
from mojimeter.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample

_TYPES = {"epoch": pl.Int64, "tokens": pl.Int64, "seconds": pl.Float64}
_COLUMNS = ("id", "system", "strategy", "epoch", "reply", "tokens", "seconds", "error")
_NOT_UTF8 = str.maketrans(dict.fromkeys(range(0xD800, 0xE000), "\ufffd"))


def read_eval_log(path: str | Path) -> pl.DataFrame:
    """The outputs in a log: one row a sample and epoch.

    Args:
        path: a ``.eval`` (or Inspect ``.json``) file.

    Returns:
        The canonical table of outputs. The system is the model evaluated (for our own task, the system it
        names); the strategy is the task argument of that name; ``tokens`` are output tokens, ``seconds`` the
        model's time, where the log has them.

    Raises:
        InputError: not a log, a log of a run that did not finish, or one without samples.
        MissingExtraError: Inspect is not installed.
    """
    try:
        from inspect_ai.log import read_eval_log as read
    except ImportError:
        raise MissingExtraError("inspect-ai", "run", f"reading {path}") from None
    if not Path(path).is_file():
        raise InputError(f"{path}: no such file")
    try:
        log = read(str(path))
    except Exception as error:
        raise InputError(f"{path}: not readable as an Inspect log: {' '.join(str(error).split())[:200]}") from error
    if log.status != "success":
        raise InputError(f"{path}: the log of a run that did not finish (status {log.status!r})")
    if not log.samples:
        raise InputError(f"{path}: the log holds no samples")
    said = {**log.eval.task_args, **(log.eval.metadata or {})}
    system, strategy = str(said.get("system") or log.eval.model), said.get("strategy")
    rows = [_row(sample, system, None if strategy is None else str(strategy)) for sample in log.samples]
    frame = pl.DataFrame(rows, schema={column: _TYPES.get(column, pl.String) for column in _COLUMNS})
    return as_outputs(frame, str(path))


def _row(sample: EvalSample, system: str, strategy: str | None) -> dict[str, Any]:
    output = sample.output
    answered = sample.error is None and bool(output.choices)
    return {
        "id": str(sample.id),
        "system": system,
        "strategy": strategy,
        "epoch": sample.epoch,
        "reply": output.completion.translate(_NOT_UTF8) if answered else None,
        "tokens": output.usage.output_tokens if answered and output.usage else None,
        "seconds": output.time if answered else None,
        "error": " ".join(sample.error.message.split())[:300] if sample.error else None,
    }
