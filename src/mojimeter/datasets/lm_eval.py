"""Sample files of the LM Evaluation Harness (``samples_<task>_<time>.jsonl``, from ``--log_samples``) as outputs.

A document's generated text is a reply. The model is not in the file: it is the folder's name, where the
harness puts it. Only generation tasks have text; a file of log-likelihoods is refused.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from mojimeter.datasets.records import as_outputs
from mojimeter.errors import InputError

_NOT_UTF8 = str.maketrans(dict.fromkeys(range(0xD800, 0xE000), "\ufffd"))


def read_samples(path: str | Path, system: str | None = None) -> pl.DataFrame:
    """The outputs in a sample file: one row a document and repeat.

    Args:
        path: the file.
        system: the model's name; else the folder's, with the ``__`` that the harness writes for a slash.

    Returns:
        The canonical table of outputs. The id is the document's own ``id`` where it has one, else ``doc_id``.
        Where several filters were run, the first one in the file counts.

    Raises:
        InputError: not such a file, or one of log-likelihoods.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    name = system or path.resolve().parent.name.replace("__", "/")
    rows: list[dict[str, Any]] = []
    first_filter: Any = None
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            sample = _sample(line, path, number)
            if not rows:
                first_filter = sample.get("filter")
            if sample.get("filter") != first_filter:
                continue
            rows.extend(_rows(sample, name, path, number))
    if not rows:
        raise InputError(f"{path}: no samples in it")
    frame = pl.DataFrame(rows, schema={"id": pl.String, "system": pl.String, "epoch": pl.Int64, "reply": pl.String})
    return as_outputs(frame, str(path))


def _sample(line: str, path: Path, number: int) -> dict[str, Any]:
    try:
        sample = json.loads(line)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}, line {number}: not JSON ({error.msg})") from None
    except RecursionError:
        raise InputError(f"{path}, line {number}: nested too deeply for a sample of lm-eval") from None
    if not isinstance(sample, dict) or "doc_id" not in sample or "resps" not in sample:
        raise InputError(f"{path}, line {number}: not a sample of lm-eval; expected doc_id and resps")
    return sample


def _rows(sample: dict[str, Any], system: str, path: Path, number: int) -> list[dict[str, Any]]:
    texts = _texts(sample)
    if texts is None:
        raise InputError(f"{path}, line {number}: no generated text in resps; only generation tasks can be read")
    doc = sample.get("doc")
    known = doc.get("id") if isinstance(doc, dict) else None
    post = str(sample["doc_id"] if known is None else known)
    return [
        {"id": post, "system": system, "epoch": epoch, "reply": text.translate(_NOT_UTF8)}
        for epoch, text in enumerate(texts, start=1)
    ]


def _texts(sample: dict[str, Any]) -> list[str] | None:
    """The replies of one document: filtered where the filter left one a repeat, else as generated."""
    raw = sample["resps"]
    if isinstance(raw, list) and len(raw) == 1 and isinstance(raw[0], list):
        raw = raw[0]  # one request a document; its repeats are inside
    filtered = sample.get("filtered_resps")
    for candidate in (filtered, raw):
        texts = [candidate] if isinstance(candidate, str) else candidate
        if (
            isinstance(texts, list)
            and texts
            and isinstance(raw, list)
            and len(texts) == len(raw)
            and all(isinstance(text, str) for text in texts)
        ):
            return texts
    return None
