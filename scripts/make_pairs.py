"""Makes the set of pairs from what its writers wrote and its blind readers read.

    python scripts/make_pairs.py WRITER.jsonl ... --reading KEY.tsv READER.tsv ... --verdicts FILE.tsv ... [--out DIR]

A writer's line is a pair (see ``datasets.pairs``). A key file says which shuffled id stands for which pair, which
context was shown (``-``: none) and in which order the answers stood: ``id, pair, context, order``, such as ``c0007,
en1-051, 2, 2,1``. A reader's file has one line an id: ``id, a|b|?, sureness 1 to 5``, and a fourth cell where the
item is broken. Readers saw neither the other context nor the key.

A pair stays where the automatic checks find nothing, a reader without context is not sure (sureness below 4) and
a reader of each context chose its answer and was sure (4 or 5). Every reject is kept with its reason.

A line of a verdicts file is ``pair, condition, kind, verdict, answer``: an answer, and whether it means the answer
expected under that condition (``wrong*``: it means the other one). They are split by pair into what the embedded
verifier is fitted on and what it is measured on. A pair that is out only because a blind reader leant to one side is
as good as any to verify answers with, so those to it are kept. The same files give the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mojimeter import emoji
from mojimeter.datasets.pair_checks import problems_of
from mojimeter.datasets.pairs import CATEGORIES, LANGUAGES, PAIR_COLUMNS

OUT = Path(__file__).resolve().parents[1] / "src" / "mojimeter" / "datasets" / "pairs"
CARD = Path(__file__).with_name("pairs_card.md")
SURE = 4  # of 5, from which a reader counts as able to tell
NO_CONTEXT = "-"
LEANT = "a reader without context was sure"
SMALL_MODEL = "small_model"  # the part that holds every answer of one model, not a chosen mixture
TEST_SHARE = 0.4  # of the pairs with verdicts
READINGS_OF = {"right": "own", "wrong": "neither", "wrong*": "other"}


@dataclass(frozen=True)
class Bet:
    """What a reader chose.

    Attributes:
        choice: ``1`` or ``2``, or None for "cannot tell".
        sureness: 1 to 5.
        broken: what is wrong with the item, or "".
    """

    choice: str | None
    sureness: int
    broken: str


@dataclass
class Candidate:
    """A pair with what was read of it: context (``-``, ``1``, ``2``) -> bets."""

    pair: dict[str, str]
    bets: dict[str, list[Bet]] = field(default_factory=lambda: defaultdict(list))


def main() -> None:
    """Read, decide, write, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("writers", type=Path, nargs="+")
    parser.add_argument("--reading", type=Path, nargs=2, action="append", required=True, metavar=("KEY", "READER"))
    parser.add_argument("--verdicts", type=Path, nargs="+", required=True)
    parser.add_argument("--small-model", type=Path, nargs="*", default=[], help="verdicts on all answers of one model")
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    candidates = read_candidates(given.writers)
    for key, reader in given.reading:
        add_bets(candidates, key, reader)
    kept, rejected = decide(list(candidates.values()))
    rows = [{column: one.pair[column] for column in PAIR_COLUMNS} for one in kept]
    given.out.mkdir(parents=True, exist_ok=True)
    write_lines(given.out / "pairs.jsonl", rows)
    write_lines(given.out / "rejects.jsonl", [as_reject(one, reason) for one, reason in rejected])
    sound = kept + [one for one, reason in rejected if reason.startswith(LEANT)]
    by_id = {one.pair["id"]: one.pair for one in sound}
    verdicts = read_verdicts(given.verdicts, by_id)
    verdicts += [{**row, "part": SMALL_MODEL} for row in read_verdicts(given.small_model, by_id)]
    write_lines(given.out / "verdicts.jsonl", verdicts)
    facts = describe(rows, list(candidates.values()), rejected, verdicts)
    facts["sha256"] = hashlib.sha256((given.out / "pairs.jsonl").read_bytes()).hexdigest()
    (given.out / "metadata.json").write_text(json.dumps(facts, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    (given.out / "card.md").write_text(card(facts), encoding="utf-8")
    print(json.dumps(facts, ensure_ascii=False, indent=1))
    for pair_id, problem in problems_of(rows):
        print(f"still wrong: {pair_id or 'the set'}: {problem}")


def read_candidates(writers: Sequence[Path]) -> dict[str, Candidate]:
    """All pairs by id, in the order of the writers' files."""
    found: dict[str, Candidate] = {}
    for path in writers:
        for line in path.read_text(encoding="utf-8").split("\n"):
            if line.strip():
                pair = json.loads(line)
                if pair["id"] in found:
                    raise SystemExit(f"{path}: {pair['id']} again")
                found[pair["id"]] = Candidate(pair)
    return found


def add_bets(candidates: Mapping[str, Candidate], key: Path, reader: Path) -> None:
    """Put a reader's bets to the pairs they are about; a line that the key does not know stops everything."""
    meaning = {cells[0]: cells[1:] for cells in _cells(key)}
    for cells in _cells(reader):
        if cells[0] not in meaning or len(cells) < 3 or cells[1] not in ("a", "b", "?"):
            raise SystemExit(f"{reader}: cannot read the line {cells}")
        pair_id, context, order = meaning[cells[0]]
        if pair_id in candidates:
            shown = order.split(",")
            choice = None if cells[1] == "?" else shown["ab".index(cells[1])]
            broken = cells[3].strip() if len(cells) > 3 else ""
            candidates[pair_id].bets[context].append(Bet(choice, int(cells[2]), broken))


def decide(candidates: Sequence[Candidate]) -> tuple[list[Candidate], list[tuple[Candidate, str]]]:
    """The pairs that stay, and the others with the reason."""
    problems: dict[str, list[str]] = defaultdict(list)
    for pair_id, problem in problems_of([one.pair for one in candidates]):
        problems[pair_id].append(problem)
    kept: list[Candidate] = []
    rejected: list[tuple[Candidate, str]] = []
    for one in candidates:
        found = problems[one.pair["id"]]
        reason = f"automatic check: {found[0]}" if found else reason_to_reject(one)
        if reason is None:
            kept.append(one)
        else:
            rejected.append((one, reason))
    return kept, rejected


def reason_to_reject(one: Candidate) -> str | None:
    """Why the readings speak against a pair; None where they do not."""
    for bets in one.bets.values():
        for bet in bets:
            if bet.broken:
                return f"a reader found it broken: {bet.broken}"
    if not one.bets[NO_CONTEXT]:
        return "not read without context"
    for bet in one.bets[NO_CONTEXT]:
        if bet.sureness >= SURE:
            return f"{LEANT} of answer {bet.choice} ({bet.sureness} of 5)"
    for context in "12":
        if not one.bets[context]:
            return f"context {context} was not read"
        for bet in one.bets[context]:
            if bet.choice != context:
                return f"a reader of context {context} chose {f'answer {bet.choice}' if bet.choice else 'neither'}"
            if bet.sureness < SURE:
                return f"a reader of context {context} was not sure ({bet.sureness} of 5)"
    return None


def as_reject(one: Candidate, reason: str) -> dict[str, Any]:
    """A pair that is not in the set, why, and what readers said."""
    bets = {context: [[bet.choice, bet.sureness] for bet in found] for context, found in sorted(one.bets.items())}
    return {
        "reason": reason,
        **{c: one.pair.get(c) for c in PAIR_COLUMNS},
        "bets": {k: v for k, v in bets.items() if v},
    }


def read_verdicts(paths: Sequence[Path], pairs: Mapping[str, Mapping[str, str]]) -> list[dict[str, str]]:
    """The labelled answers to these pairs, with all a verifier sees and the part each belongs to."""
    lines = [cells for path in paths for cells in _cells(path) if cells[0] in pairs]
    part = split_by_pair({cells[0]: pairs[cells[0]]["lang"] for cells in lines})
    rows = []
    for pair_id, condition, kind, verdict, answer in lines:
        pair, other = pairs[pair_id], "2" if condition == "1" else "1"
        reading = READINGS_OF["wrong*" if kind == "opposite" else verdict]
        rows.append(
            {
                "pair": pair_id,
                "lang": pair["lang"],
                "condition": condition,
                "context": pair[f"context_{condition}"],
                "text": pair["text"],
                "question": pair["question"],
                "expected": pair[f"answer_{condition}"],
                "other": pair[f"answer_{other}"],
                "answer": answer,
                "kind": kind,
                "verdict": verdict.rstrip("*"),
                "reading": {"own": condition, "other": other}.get(reading, reading),
                "part": part[pair_id],
            }
        )
    return rows


def split_by_pair(langs: Mapping[str, str]) -> dict[str, str]:
    """Pair -> train or test: by a hash of the id, the same share of each language."""
    part = {}
    for lang in LANGUAGES:
        own = sorted((p for p in langs if langs[p] == lang), key=lambda p: hashlib.sha256(p.encode()).hexdigest())
        for place, pair_id in enumerate(own):
            part[pair_id] = "test" if place < TEST_SHARE * len(own) else "train"
    return part


def describe(
    rows: Sequence[Mapping[str, str]],
    candidates: Sequence[Candidate],
    rejected: Sequence[tuple[Candidate, str]],
    verdicts: Sequence[Mapping[str, str]],
) -> dict[str, Any]:
    """Facts about the set; what readers said is over all pairs that were read, rejects included."""
    blind = [bet for one in candidates for bet in one.bets[NO_CONTEXT]]
    informed = [(context, bet) for one in candidates for context in "12" for bet in one.bets[context]]
    kinds = Counter(LEANT if reason.startswith(LEANT) else reason.split(":")[0] for _, reason in rejected)
    readings = Counter((row["reading_1"], row["reading_2"]) for row in rows)
    return {
        "name": "mojimeter pairs",
        "version": "1",
        "licence": "MIT",
        "languages": _counts(row["lang"] for row in rows),
        "source": "written for this project by language-model agents; see card.md",
        "pairs": len(rows),
        "written": len(candidates),
        "categories": {c: sum(row["category"] == c for row in rows) for c in CATEGORIES},
        "categories_by_language": {
            lang: _counts(row["category"] for row in rows if row["lang"] == lang) for lang in LANGUAGES
        },
        "readings": _counts(row[f"reading_{k}"] for row in rows for k in "12"),
        "literal_first": readings["literal", "figurative"],
        "figurative_first": readings["figurative", "literal"],
        "same_kind": readings["literal", "literal"] + readings["figurative", "figurative"],
        "distinct_emoji": len({emoji.key(row["emoji"], "presentation") for row in rows}),
        "distinct_openings": len({" ".join(row["question"].casefold().split()[:2]) for row in rows}),
        "without_context": {
            "read": len(blind),
            "sure": sum(bet.sureness >= SURE for bet in blind),
            "sureness": _counts(bet.sureness for bet in blind),
        },
        "with_context": {
            "read": len(informed),
            "right": sum(bet.choice == context for context, bet in informed),
            "right_and_sure": sum(bet.choice == context and bet.sureness >= SURE for context, bet in informed),
            "kappa": _kappa([(context, bet.choice or "?") for context, bet in informed]),
        },
        "rejected": len(rejected),
        "reject_reasons": dict(kinds.most_common()),
        "verdicts": {
            "answers": len(verdicts),
            "pairs": len({v["pair"] for v in verdicts}),
            "right": sum(v["verdict"] == "right" for v in verdicts),
            "languages": _counts(v["lang"] for v in verdicts),
            "kinds": _counts(v["kind"] for v in verdicts),
            "parts": _counts(v["part"] for v in verdicts),
        },
    }


def card(facts: Mapping[str, Any]) -> str:
    """The data card: ``pairs_card.md`` with the facts filled in."""
    fields = {**facts, "reasons": "\n".join(f"* {count}: {kind}" for kind, count in facts["reject_reasons"].items())}
    fields["sureness"] = _listed(facts["without_context"]["sureness"])
    for name in ("languages", "categories", "readings"):
        fields[name] = _listed(facts[name])
    fields["by_language"] = "\n".join(
        f"| {lang} | {facts['languages'].get(lang, 0)} | "
        + " | ".join(str(counts.get(c, 0)) for c in CATEGORIES)
        + " |"
        for lang, counts in facts["categories_by_language"].items()
    )
    for name in ("languages", "kinds", "parts"):
        fields[f"verdict_{name}"] = _listed(facts["verdicts"][name])
    return CARD.read_text(encoding="utf-8").format_map(fields)


def _kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Cohen's kappa (1960) of the key and the readers."""
    if not pairs:
        return None
    left, right = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    observed = sum(a == b for a, b in pairs) / len(pairs)
    expected = sum(left[label] * right[label] for label in left) / len(pairs) ** 2
    return round((observed - expected) / (1 - expected), 3)


def _counts(values: Iterable[Any]) -> dict[str, int]:
    return {str(value): count for value, count in sorted(Counter(values).items())}


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _cells(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text(encoding="utf-8").split("\n") if line]


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """One JSON object a line."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
