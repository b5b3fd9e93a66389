"""Any Hugging Face text-classification model as a judge, such as the second paper's BERTweet: ``hf-classifier/NAME``.

The model says one label; which task that is of, and what its labels are in ours, is read from the names of its labels
where they say it (``POSITIVE``, ``joy``), or told: ``hf-classifier/NAME?task=gender&LABEL_0=male&LABEL_1=female``. The
other tasks get no label. Needs ``transformers`` and ``torch``, which are no part of any extra of this project. Knows
nothing of votes, prompts or scores.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl

from mojimeter.errors import InputError, MojimeterError
from mojimeter.judges.labels import LABELS, parse_label

PREFIX: Final = "hf-classifier/"
BATCH: Final = 16
MAX_TOKENS: Final = 512
_INSTALL: Final = "pip install transformers torch"


class ClassifierJudge:
    """A judge of one task.

    Attributes:
        name: as given on the command line.
        digest: 12 hexadecimal digits of the model's files (of its revision, where it comes from the hub).
        task: the one that it labels.
        labels: the model's label -> ours; a label of the model that is none of ours is missing here.
    """

    def __init__(
        self, name: str, digest: str, task: str, labels: Mapping[str, str], model: Any, tokenizer: Any
    ) -> None:
        self.name, self.digest, self.task, self.labels = name, digest, task, dict(labels)
        self._model, self._tokenizer = model, tokenizer

    def label(self, texts: Sequence[str]) -> dict[str, list[str | None]]:
        """One column a task: the model's most likely label of each text for its task, None for the others.

        A text longer than the model reads is cut off at its end.
        """
        torch = import_module("torch")
        names = self._model.config.id2label
        found: list[str | None] = []
        for start in range(0, len(texts), BATCH):
            batch = self._tokenizer(
                list(texts[start : start + BATCH]),
                padding=True,
                truncation=True,
                max_length=_room(self._model, self._tokenizer),
                return_tensors="pt",
            )
            with torch.no_grad():
                best = self._model(**batch).logits.argmax(dim=-1).tolist()
            found += [self.labels.get(str(names[number])) for number in best]
        return {task: found if task == self.task else [None] * len(texts) for task in LABELS}


def load_classifier(name: str) -> ClassifierJudge:
    """``hf-classifier/`` and a folder or a name on the hub, optionally ``?task=...&THEIR_LABEL=OURS&...``.

    Raises:
        InputError: there is no such model, it does not classify, or its labels do not say which task they are of.
        MojimeterError: transformers or torch is not installed.
    """
    where, _, query = name.removeprefix(PREFIX).partition("?")
    if not where:
        raise InputError(f"no judge {name!r}; expected {PREFIX} and a folder or a name on the Hugging Face hub")
    told = dict(parse_qsl(query, keep_blank_values=True))
    task = told.pop("task", None)
    if task is not None and task not in LABELS:
        raise InputError(f"{name}: no task {task!r}; expected {', '.join(LABELS)}")
    model, tokenizer = _load(name, where)
    names = [str(label) for label in model.config.id2label.values()]
    task, labels = match_labels(name, names, task, told)
    return ClassifierJudge(name, _digest(where, model, query), task, labels, model, tokenizer)


def match_labels(
    name: str, theirs: Sequence[str], task: str | None = None, told: Mapping[str, str] | None = None
) -> tuple[str, dict[str, str]]:
    """Which task a model's labels are of, and its label -> ours.

    A task fits where two or more of its labels are said by the model's; the one with the most fits.

    Raises:
        InputError: none fits, two fit alike, or what was told is not so.
    """
    told = dict(told or {})
    for label, ours in told.items():
        if label not in theirs:
            raise InputError(f"{name}: the model has no label {label!r}; it has {', '.join(theirs)}")
        if not any(ours in LABELS[t] for t in ([task] if task else LABELS)):
            raise InputError(f"{name}: {label}={ours}: expected a label of {task or 'a task'}")
    fits: dict[str, dict[str, str]] = {}
    for candidate in [task] if task else LABELS:
        read = {label: told.get(label) or parse_label(candidate, label) for label in theirs}
        fits[candidate] = {label: ours for label, ours in read.items() if ours in LABELS[candidate]}
    sizes = {candidate: len(set(found.values())) for candidate, found in fits.items()}
    most = max(sizes.values())
    best = [candidate for candidate, size in sizes.items() if size == most]
    if most < 2 or len(best) > 1:
        raise InputError(
            f"{name}: the model's labels ({', '.join(theirs)}) do not say which task they are of; "
            f"write {PREFIX}NAME?task=TASK&{theirs[0] if theirs else 'LABEL_0'}=OUR_LABEL&..."
        )
    return best[0], fits[best[0]]


def _load(name: str, where: str) -> tuple[Any, Any]:
    try:
        import_module("torch")  # transformers imports without it, and fails only when it computes
        hub = import_module("transformers")
    except ImportError as error:
        raise MojimeterError(f"{name} needs {error.name}, which is not installed: {_INSTALL}") from None
    try:
        config = hub.AutoConfig.from_pretrained(where)
        kinds = config.architectures or []
        if kinds and not any("SequenceClassification" in kind for kind in kinds):
            raise InputError(f"{name}: not a text-classification model, but {', '.join(kinds)}")
        # weights as safetensors only: the older form is pickle, which can run anything
        model = hub.AutoModelForSequenceClassification.from_pretrained(where, use_safetensors=True)
        tokenizer = hub.AutoTokenizer.from_pretrained(where)
    except InputError:
        raise
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise InputError(f"{name}: the model cannot be loaded: {_first_line(error)}") from None
    model.eval()
    return model, tokenizer


def _room(model: Any, tokenizer: Any) -> int:
    """Tokens that the model can read, two less than its positions (RoBERTa counts from two)."""
    positions = getattr(model.config, "max_position_embeddings", None)
    return min(int(tokenizer.model_max_length), MAX_TOKENS, int(positions) - 2 if positions else MAX_TOKENS)


def _digest(where: str, model: Any, query: str) -> str:
    found = hashlib.sha256(query.encode())
    folder = Path(where)
    if folder.is_dir():
        for path in sorted(folder.iterdir()):
            if path.suffix in (".json", ".safetensors", ".txt"):
                found.update(path.name.encode())
                found.update(path.read_bytes())
    else:
        found.update(f"{where}@{getattr(model.config, '_commit_hash', '')}".encode())
    return found.hexdigest()[:12]


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
