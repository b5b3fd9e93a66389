"""Makes the starter set from what its writers wrote and its readers read.

    python scripts/make_starter_posts.py WRITER.jsonl ... --key KEY.tsv --readers READER.tsv ... [--out FOLDER]

A writer's line is ``author, lang, topic, text`` and five labels. The key file says which shuffled id stands for
which line (``id, writer's stem, line``); a reader's file has one line an id: ``id, sentiment, emotion, stance, age,
gender, verdict`` in one-letter codes, verdict ``k`` or ``r:reason``. Readers saw neither labels nor writers.

The label of a task is what two of the three (writer, two readers) say. Where all three differ, sentiment, emotion and
stance have no honest label and the post is rejected; age, which is ordered, takes the middle one. A post is also
rejected where both readers reject it; where one does because it is not true to life (a reader who finds a short post
merely unclear is outvoted by the writer and the reader who understood it); where it is nearly another post; and
where it brings a row of four words to more than 0.5% of the posts. Every reject is kept with its reason.

The parts are split by author. The same files give the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mojimeter import emoji
from mojimeter.judges.labels import LABELS

OUT = Path(__file__).resolve().parents[1] / "src" / "mojimeter" / "datasets" / "starter"
CARD = Path(__file__).with_name("starter_card.md")
CODES = {
    "sentiment": {"p": "positive", "n": "negative", "u": "neutral"},
    "emotion": {"a": "anger", "d": "disgust", "f": "fear", "h": "happiness", "s": "sadness", "x": "surprise"},
    "stance": {"v": "favor", "o": "none", "g": "against"},
    "age": {"c": "child", "t": "teen", "a": "adult", "s": "senior"},
    "gender": {"m": "male", "f": "female"},
}
TASKS = tuple(LABELS)
# Reasons of a single reader that are about truth to life; the rest are about missing context.
UNTRUE = re.compile(
    r"advert|language.model|forced|craft|poetic|not.true|implausible|composed|fiction|stock|templated|LM\b"
)

WORDS = 4  # in a row
SHARE = 0.005  # of the posts that may hold the same row
LETTERS = 5  # in a row, for near duplicates
NEAR = 0.6  # Jaccard similarity of the sets of letter rows from which two posts are nearly the same
TEST, DEV = 240, 200
AT_LEAST = {"hi": 40, "bn": 40}  # posts of a language in the test part
SEED = 20261129
RESTARTS, STEPS = 12, 6000


@dataclass
class Candidate:
    """A post with what its writer and its readers say of it."""

    row: dict[str, Any]
    writer: str
    votes: dict[str, list[str]]  # task -> writer's, reader's, reader's
    reasons: list[str] = field(default_factory=list)  # of the readers who reject it

    @property
    def text(self) -> str:
        return str(self.row["text"])


def main() -> None:
    """Read, decide, split, write, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("writers", type=Path, nargs="+")
    parser.add_argument("--key", type=Path, required=True)
    parser.add_argument("--readers", type=Path, nargs="+", required=True)
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    candidates = read_candidates(given.writers, given.key, given.readers)
    kept, rejected = decide(candidates)
    random.Random(SEED).shuffle(kept)  # so that the first so many posts of the set are a mixture of it
    rows = [as_row(number, one) for number, one in enumerate(kept, start=1)]
    for row, part in zip(rows, split(rows), strict=True):
        row["part"] = part
    given.out.mkdir(parents=True, exist_ok=True)
    write_lines(given.out / "posts.jsonl", rows)
    write_lines(given.out / "rejects.jsonl", [as_reject(one, reason) for one, reason in rejected])
    facts = describe(rows, rejected, candidates, hashlib.sha256((given.out / "posts.jsonl").read_bytes()).hexdigest())
    (given.out / "metadata.json").write_text(json.dumps(facts, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    (given.out / "card.md").write_text(card(facts), encoding="utf-8")
    print(json.dumps({k: v for k, v in facts.items() if k != "reject_reasons"}, ensure_ascii=False, indent=1))


def read_candidates(writers: Sequence[Path], key: Path, readers: Sequence[Path]) -> list[Candidate]:
    """All posts in the order of the writers' files, each with its three votes a task."""
    ids = {(stem, int(line)): name for name, stem, line in _cells(key)}
    votes: dict[str, list[list[str]]] = defaultdict(list)
    for reader in readers:
        for cells in _cells(reader):
            votes[cells[0]].append(cells[1:])
    found = []
    for path in writers:
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
            if not line.strip():
                continue
            row = json.loads(line)
            read = votes[ids[path.stem, number]]
            if len(read) != 2:
                raise SystemExit(f"{path}, line {number}: read by {len(read)}, expected two readers")
            its_votes = {
                task: [row[task], *[CODES[task][cells[place]] for cells in read]] for place, task in enumerate(TASKS)
            }
            reasons = [cells[len(TASKS)].removeprefix("r:") for cells in read if cells[len(TASKS)] != "k"]
            found.append(Candidate(row, path.stem, its_votes, reasons))
    return found


def decide(candidates: Sequence[Candidate]) -> tuple[list[Candidate], list[tuple[Candidate, str]]]:
    """The posts that stay, and the others with the reason."""
    kept: list[Candidate] = []
    rejected: list[tuple[Candidate, str]] = []
    near = NearDuplicates()
    rows: Counter[str] = Counter()
    most = int(SHARE * len(candidates) * 0.9)  # a tenth of room, since rejects make the set smaller
    for one in candidates:
        reason = reason_to_reject(one)
        if reason is None and (other := near.find(one.text)) is not None:
            reason = f"nearly the same as: {other}"
        its_rows = word_rows(one.text)
        if reason is None and (full := sorted(row for row in its_rows if rows[row] >= most)):
            reason = f"four words in a row that too many posts have: {full[0]}"
        if reason is not None:
            rejected.append((one, reason))
            continue
        kept.append(one)
        near.add(one.text)
        rows.update(its_rows)
    return kept, rejected


def reason_to_reject(one: Candidate) -> str | None:
    """Why a post's votes or verdicts speak against it; None where they do not."""
    if len(one.reasons) == 2:
        return f"both readers: {'; '.join(one.reasons)}"
    if one.reasons and UNTRUE.search(one.reasons[0]):
        return f"one reader, not true to life: {one.reasons[0]}"
    for task in ("sentiment", "emotion", "stance"):
        if len(set(one.votes[task])) == 3:
            return f"writer and readers differ on {task}: {', '.join(one.votes[task])}"
    return None


def final_label(task: str, votes: Sequence[str]) -> str:
    """What most say; of three different ages the middle one."""
    label, count = Counter(votes).most_common(1)[0]
    return label if count > 1 else sorted(votes, key=LABELS[task].index)[1]


class NearDuplicates:
    """Finds a text that shares most of its letter rows with an earlier one."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._rows: list[frozenset[str]] = []
        self._holders: dict[str, list[int]] = defaultdict(list)

    def add(self, text: str) -> None:
        rows = letter_rows(text)
        for row in rows:
            self._holders[row].append(len(self._texts))
        self._texts.append(text)
        self._rows.append(rows)

    def find(self, text: str) -> str | None:
        rows = letter_rows(text)
        shared = Counter(holder for row in rows for holder in self._holders.get(row, ()))
        for holder, count in shared.most_common(3):
            if count / len(rows | self._rows[holder]) >= NEAR:
                return self._texts[holder]
        return None


def letter_rows(text: str) -> frozenset[str]:
    """Every five letters in a row of the plain text; a text too short for one is a row itself."""
    plain = " ".join(emoji.strip(text).casefold().split()) or text
    return frozenset(plain[i : i + LETTERS] for i in range(max(1, len(plain) - LETTERS + 1)))


def word_rows(text: str) -> set[str]:
    """Every four words in a row of the plain text."""
    words = [word.strip(".,!?…।'\"()#*") for word in emoji.strip(text).casefold().split()]
    words = [word for word in words if word]
    return {" ".join(words[i : i + WORDS]) for i in range(len(words) - WORDS + 1)}


def split(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The part of each row, by whole authors: test and dev as balanced as the material allows, then the rest."""
    authors = sorted({row["author"] for row in rows})
    test = balanced(authors, rows, TEST, random.Random(SEED))
    rest = [author for author in authors if author not in test]
    dev = balanced(rest, rows, DEV, random.Random(SEED + 1))
    return ["test" if row["author"] in test else "dev" if row["author"] in dev else "train" for row in rows]


def balanced(
    authors: Sequence[str], rows: Sequence[dict[str, Any]], size: int, source: random.Random
) -> frozenset[str]:
    """Authors with exactly ``size`` posts between them: languages in proportion, labels as even as may be.

    Local search from several starts: an author in, out, or for another, where that lowers the loss.
    """
    features, counts = _counts(authors, rows)
    languages = Counter(row["lang"] for row in rows)
    total = sum(languages.values())
    wanted: list[tuple[float, float, float]] = []  # number wanted, weight of being off, least
    for kind, value in features:
        if kind == "size":
            wanted.append((size, 1.0, 0.0))  # weight, beside which nothing else counts
        elif kind == "lang":
            least = AT_LEAST.get(value, 0) * size / TEST
            wanted.append((max(size * languages[value] / total, least), 0.1, least))
        else:
            # half-way between even and what the material has: rare labels get enough, common ones stay common
            have = size * sum(row[kind] == value for row in rows) / total
            wanted.append(((have + size / len(LABELS[kind])) / 2, 0.005, 0.0))
    best, best_loss = frozenset[str](), float("inf")
    for _ in range(RESTARTS):
        chosen, loss = _search(authors, counts, wanted, source)
        if loss < best_loss:
            best, best_loss = frozenset(chosen), loss
    if sum(counts[author][0] for author in best) != size:
        raise SystemExit(f"no set of whole authors has {size} posts")
    return best


def _counts(
    authors: Sequence[str], rows: Sequence[dict[str, Any]]
) -> tuple[list[tuple[str, str]], dict[str, list[int]]]:
    features = [("size", ""), *(("lang", lang) for lang in sorted({row["lang"] for row in rows}))]
    features += [(task, label) for task in TASKS for label in LABELS[task]]
    counts = {author: [0] * len(features) for author in authors}
    for row in rows:
        if row["author"] in counts:
            for place, (kind, value) in enumerate(features):
                counts[row["author"]][place] += kind == "size" or row[kind] == value
    return features, counts


def _search(
    authors: Sequence[str],
    counts: dict[str, list[int]],
    wanted: Sequence[tuple[float, float, float]],
    source: random.Random,
) -> tuple[set[str], float]:
    def loss_of(sums: Sequence[int]) -> float:
        return sum(
            weight * (have - want) ** 2 + max(0.0, least - have)
            for have, (want, weight, least) in zip(sums, wanted, strict=True)
        )

    chosen: set[str] = set()
    sums = [0] * len(wanted)
    loss = loss_of(sums)
    for _ in range(STEPS):
        move = [source.choice(authors)]
        if chosen and source.random() < 0.5:
            move.append(source.choice(sorted(chosen)))
        after = list(sums)
        for author in set(move):
            sign = -1 if author in chosen else 1
            after = [have + sign * own for have, own in zip(after, counts[author], strict=True)]
        if (new := loss_of(after)) < loss:
            chosen ^= set(move)
            sums, loss = after, new
    return chosen, loss


def as_row(number: int, one: Candidate) -> dict[str, Any]:
    """A post of the set; ``votes_*`` hold what writer, reader and reader say, in that order."""
    return {
        "id": f"starter-{number:04d}",
        "author": one.row["author"],
        "lang": one.row["lang"],
        "topic": one.row["topic"],
        "text": one.text,
        **{task: final_label(task, one.votes[task]) for task in TASKS},
        **{f"votes_{task}": " ".join(one.votes[task]) for task in TASKS},
    }


def as_reject(one: Candidate, reason: str) -> dict[str, Any]:
    """A post that is not in the set, and why."""
    return {
        "reason": reason,
        "author": one.row["author"],
        "lang": one.row["lang"],
        "text": one.text,
        **{f"votes_{task}": " ".join(one.votes[task]) for task in TASKS},
    }


def describe(
    rows: Sequence[dict[str, Any]],
    rejected: Sequence[tuple[Candidate, str]],
    candidates: Sequence[Candidate],
    digest: str,
) -> dict[str, Any]:
    """Facts about the set; agreement is over all posts that were read, rejects included."""
    agreement = {}
    for task in TASKS:
        votes = [one.votes[task] for one in candidates]
        agreement[task] = {
            "writer_readers": round(kappa([(v[0], r) for v in votes for r in v[1:]]), 3),
            "reader_reader": round(kappa([(v[1], v[2]) for v in votes]), 3),
            "all_agree": round(sum(len(set(v)) == 1 for v in votes) / len(votes), 3),
        }
    kinds = Counter(reason.split(":")[0] for _, reason in rejected)
    return {
        "name": "mojimeter starter posts",
        "version": "1",
        "licence": "MIT",
        "languages": dict(sorted(Counter(row["lang"] for row in rows).items())),
        "source": "written for this project by language-model agents; see card.md",
        "posts": len(rows),
        "authors": len({row["author"] for row in rows}),
        "topics": len({row["topic"] for row in rows}),
        "parts": dict(sorted(Counter(row["part"] for row in rows).items())),
        "distinct_emoji": len({emoji.key(e) for row in rows for e in emoji.find(row["text"])}),
        "without_emoji": sum(not emoji.find(row["text"]) for row in rows),
        "labels": {task: dict(Counter(row[task] for row in rows).most_common()) for task in TASKS},
        "test_labels": {
            task: dict(Counter(row[task] for row in rows if row["part"] == "test").most_common()) for task in TASKS
        },
        "test_languages": dict(sorted(Counter(row["lang"] for row in rows if row["part"] == "test").items())),
        "agreement": agreement,
        "rejected": len(rejected),
        "reject_reasons": dict(kinds.most_common()),
        "sha256": digest,
    }


def kappa(pairs: Sequence[tuple[str, str]]) -> float:
    """Cohen's kappa of two labellings (Cohen 1960): agreement beyond that of the two margins."""
    left, right = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    observed = sum(a == b for a, b in pairs) / len(pairs)
    expected = sum(left[label] * right[label] for label in left) / len(pairs) ** 2
    return (observed - expected) / (1 - expected)


def card(facts: dict[str, Any]) -> str:
    """The data card: ``starter_card.md`` with the facts filled in."""
    agreement = "\n".join(
        f"| {task} | {a['writer_readers']:.3f} | {a['reader_reader']:.3f} | {a['all_agree']:.3f} |"
        for task, a in facts["agreement"].items()
    )
    labels = "\n".join(
        f"| {task} | {_listed(counts)} | {_listed(facts['test_labels'][task])} |"
        for task, counts in facts["labels"].items()
    )
    reasons = "\n".join(f"* {count}: {kind}" for kind, count in facts["reject_reasons"].items())
    fields = {**facts, "agreement": agreement, "labels": labels, "reasons": reasons}
    for name in ("languages", "parts", "test_languages"):
        fields[name] = _listed(facts[name])
    return CARD.read_text(encoding="utf-8").format_map(fields)


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _cells(path: Path) -> Iterable[list[str]]:
    return [line.split("\t") for line in path.read_text(encoding="utf-8").split("\n") if line]


def write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """One JSON object a line."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
