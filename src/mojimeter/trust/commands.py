"""The JSON documents of ``mojimeter judge``: from files and judges (``sources``) through the statistics to one object.

Each function here is one command without its options; a notebook can call it too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from mojimeter.datasets.records import GOLD, TASKS
from mojimeter.errors import InputError
from mojimeter.judges.labels import LABELS
from mojimeter.trust import sources
from mojimeter.trust.accuracy import judge_accuracy
from mojimeter.trust.bias import kin_of, length_bias, order_bias, self_preference
from mojimeter.trust.clusters import clusters_of
from mojimeter.trust.correct import Floats, in_percent, prediction_powered_mean, saving_curve
from mojimeter.trust.noise import AVERAGE, judge_noise
from mojimeter.trust.sensitivity import VARIANTS, judge_sensitivity
from mojimeter.trust.sources import Asking, Material

Document = dict[str, Any]


def parse_aliases(texts: Sequence[str]) -> dict[str, str]:
    """``["released=openai/gpt-4o-mini"]`` -> judge's name in the files -> model it stands for.

    Raises:
        InputError: a text is not NAME=MODEL.
    """
    aliases = {}
    for text in texts:
        name, equals, model = text.partition("=")
        if not (name and equals and model):
            raise InputError(f"--is {text!r}: expected JUDGE=MODEL, such as released=openai/gpt-4o-mini")
        aliases[name] = model
    return aliases


def accuracy_document(
    material: Material,
    where: str,
    judges: Sequence[str],
    truth: str | None,
    asking: Asking,
    *,
    draws: int = 2000,
    seed: int = 0,
) -> Document:
    """What ``judge accuracy --json`` prints."""
    right, labels, whose = sources.known_labels(material, truth, where)
    right = right.with_columns(pl.col(t).cast(pl.String) for t in TASKS if t in right.columns)
    asked = right.filter(pl.any_horizontal([pl.col(t).is_not_null() for t in TASKS if t in right.columns]))
    if judges:
        wanted = material.posts.join(asked.select("id"), on="id", how="semi", maintain_order="left")
        fresh = sources.label_rows(judges, sources.original_rows(wanted), asking)
        sources.save_labels(fresh, asking)
        labels = pl.concat([labels.filter(~pl.col("judge").is_in(list(judges))), fresh], how="diagonal_relaxed")
    labels = labels.filter(pl.col("epoch") == 1)
    if not labels.height:
        raise InputError("no judge to hold against the known labels: give --judge, or --labels with another judge's")
    report = judge_accuracy(right, labels, draws=draws, seed=seed)
    silent = [name for name in labels["judge"].unique(maintain_order=True) if name not in report.judges]
    unusable = dict.fromkeys(silent, "no readable label of a post whose label is known")
    return {"schema": 1, "truth": whose, **report.to_dict(), "unusable": unusable}


def sensitivity_document(
    material: Material,
    judges: Sequence[str],
    variants: Sequence[str],
    asking: Asking,
    *,
    draws: int = 2000,
    seed: int = 0,
) -> Document:
    """What ``judge sensitivity --json`` prints."""
    labels = material.labels
    if judges:
        chosen = [v for v in variants or VARIANTS if v not in material.outputs["system"]]
        for name in chosen:
            if name not in VARIANTS:
                raise InputError(f"--variant {name}: expected {', '.join(VARIANTS)}, or a system of --outputs")
        rows = sources.original_rows(material.posts) + sources.variant_rows(material.posts, chosen, seed)
        rows += [row for row in sources.output_rows(material) if row[1] in variants]
        fresh = sources.label_rows(judges, rows, asking)
        sources.save_labels(fresh, asking)
        labels = pl.concat([labels, fresh], how="diagonal_relaxed")
    report = judge_sensitivity(labels, material.posts, variants=variants, draws=draws, seed=seed)
    return {"schema": 1, "posts": material.posts.height, "seed": seed, **report.to_dict()}


def noise_document(
    material: Material,
    judges: Sequence[str],
    asking: Asking,
    *,
    repeats: int = 3,
    same_text: bool = False,
    random: str | None = None,
    aliases: Mapping[str, str] | None = None,
    draws: int = 2000,
    seed: int = 0,
) -> Document:
    """What ``judge noise --json`` prints."""
    labels = sources.with_texts(material) if same_text else sources.epochs_as_texts(material.labels)
    how = "equal texts, labelled separately" if same_text else "epochs of the posts themselves"
    if judges:
        rows = sources.original_rows(material.posts)
        fresh = sources.epochs_as_texts(sources.label_rows(judges, rows, asking, repeats=repeats))
        scored = sources.variant_rows(material.posts, ("baseline/random",), seed) + sources.output_rows(material)
        once = sources.label_rows(judges, list(dict.fromkeys(scored)), asking)
        fresh = pl.concat([fresh, once.with_columns(text=pl.lit(None, dtype=pl.String))])
        sources.save_labels(fresh, asking)
        labels = pl.concat([labels, fresh], how="diagonal_relaxed") if labels.height else fresh
    found = judge_noise(labels, material.posts, random=random, draws=draws, seed=seed)
    return {
        "schema": 1,
        "repeats": how,
        "judges": {judge: noise.to_dict() for judge, noise in found.items()},
        "kin": _kin(labels, aliases or {}),
    }


def bias_document(
    material: Material | None,
    judges: Sequence[str],
    asking: Asking,
    aliases: Mapping[str, str],
    differences: str | None,
    verdicts: str | None,
    mapping: Mapping[str, str],
    *,
    draws: int = 2000,
    seed: int = 0,
) -> Document:
    """What ``judge bias --json`` prints: the parts that the files allow."""
    from mojimeter.datasets.tables import read_table

    document: Document = {"schema": 1}
    if material is not None:
        labels = material.labels
        if judges:
            rows = sources.original_rows(material.posts) + sources.output_rows(material)
            fresh = sources.label_rows(judges, rows, asking)
            sources.save_labels(fresh, asking)
            labels = pl.concat([labels, fresh], how="diagonal_relaxed")
        if not labels.height:
            raise InputError("self-preference needs labels: give --labels, or --outputs with --judge")
        found = self_preference(labels, material.posts, known_as=aliases, draws=draws, seed=seed)
        document["self_preference"] = [one.to_dict() for one in found]
    if differences is not None:
        frame = read_table(differences, required=("id", "system", "pair", "order", "differs"), mapping=mapping)
        document["order"] = order_bias(frame, draws=draws, seed=seed).to_dict()
    if verdicts is not None:
        frame = read_table(verdicts, required=("id", "verdict"), mapping=mapping)
        document["length"] = length_bias(frame, draws=draws, seed=seed).to_dict()
    if len(document) == 1:
        raise InputError("nothing to look at: give POSTS with --labels, --differences FILE or --verdicts FILE")
    return document


def correct_document(
    material: Material,
    asking: Asking,
    *,
    good: str | None = None,
    cheap: str | None = None,
    judge: str | None = None,
    task: str = AVERAGE,
    hard: bool = False,
    at: Sequence[int] = (250, 500, 1000, 2000),
    times_full: float = 1.25,
    choices: int = 100,
    aliases: Mapping[str, str] | None = None,
    seed: int = 0,
) -> Document:
    """What ``judge correct --json`` prints; means and widths in percent."""
    if task != AVERAGE and task not in LABELS:
        raise InputError(f"--task {task}: expected {AVERAGE} or one of {', '.join(LABELS)}")
    labels = material.labels.filter(pl.col("epoch") == 1)
    good, cheap = _roles(labels, good, cheap, judge)
    good_labels = labels.filter(pl.col("judge") == good)
    systems = [s for s in good_labels["system"].unique(maintain_order=True) if s != GOLD]
    predictor = "labels"
    if judge is not None:
        there = set(material.outputs["system"])
        left_out = [s for s in systems if s not in there]
        systems = [s for s in systems if s in there]
        rows = sources.original_rows(material.posts) + [r for r in sources.output_rows(material) if r[1] in systems]
        cheap_labels = sources.label_rows([judge], rows, asking)
        sources.save_labels(cheap_labels, asking)
    else:
        left_out = []
        cheap_labels = labels.filter(pl.col("judge") == cheap)
    soft = None if judge is None or hard or not systems else sources.probabilities_kept(judge, material, systems)
    likely = None if judge is None or hard or systems else sources.probabilities_of(judge, material.posts)
    if soft is not None or likely is not None:
        predictor = "the probability that a label stays" if systems else "the probability of each label"
    cases = (
        [(system, _stayed(good_labels, system, task), _cheap(cheap_labels, soft, system, task)) for system in systems]
        if systems
        else _shares(good_labels, cheap_labels, likely, task)
    )
    if not cases:
        raise InputError(f"{good} and {cheap} labelled nothing in common: no system and no task")
    estimates, savings, warnings = {}, {}, []
    for name, of_good, of_cheap in cases:
        joined = of_cheap.join(of_good, on="id", how="left", suffix="_good", maintain_order="left")
        joined = joined.join(material.posts.select("id", "author"), on="id", how="left", maintain_order="left")
        y, f, cluster = _numbers(joined["value_good"]), _numbers(joined["value"]), clusters_of(joined)
        found = in_percent(prediction_powered_mean(y, f, cluster))
        estimates[name] = found.to_dict()
        warnings += [f"{name}: {warning}" for warning in found.warnings]
        lost = of_good.join(of_cheap, on="id", how="anti").height
        if lost:
            warnings.append(f"{name}: {lost} posts with a good label have no cheap one and are left out")
        if np.isfinite(y).all() and len(y) > min(at):
            curve = saving_curve(
                100.0 * y, 100.0 * f, cluster, at=at, times_full=times_full, choices=choices, seed=seed
            )
            savings[name] = curve.to_dict()
    return {
        "schema": 1,
        "good": good,
        "cheap": cheap,
        "task": task,
        "predictor": predictor,
        "estimates": estimates,
        "savings": savings,
        "left_out": left_out,
        "warnings": warnings,
        "kin": _kin(good_labels, aliases or {}),
    }


def _roles(labels: pl.DataFrame, good: str | None, cheap: str | None, judge: str | None) -> tuple[str, str]:
    """Whose labels are good and whose are cheap, where options and files leave no choice."""
    there = labels["judge"].unique(maintain_order=True).to_list()
    if judge is not None and cheap is not None:
        raise InputError("--cheap names a judge in the files and --judge one to ask: give one of the two")
    rest = [name for name in there if name not in (good, cheap)]
    if good is None and len(rest) == 1:
        good = rest[0]
    if cheap is None and judge is None:
        rest = [name for name in there if name != good]
        cheap = rest[0] if len(rest) == 1 else None
    cheap = judge or cheap
    for name, option in ((good, "--good"), (cheap, "--cheap or --judge")):
        if name is None:
            raise InputError(
                f"which labels are which? give {option}; the files hold labels of {', '.join(there) or 'nobody'}"
            )
    assert good is not None
    assert cheap is not None
    for name in (good, *(() if judge else (cheap,))):
        if name not in there:
            raise InputError(f"no labels of judge {name!r}; the files hold labels of {', '.join(there) or 'nobody'}")
    return good, cheap


def _stayed(labels: pl.DataFrame, system: str, task: str) -> pl.DataFrame:
    """``id``, ``value``: the share of the tasks' labels that stayed, for posts labelled both ways."""
    tasks = [task] if task != AVERAGE else [t for t in TASKS if labels[t].null_count() < labels.height]
    gold = labels.filter(pl.col("system") == GOLD).select("id", *(pl.col(t).alias(f"{t}_gold") for t in tasks))
    both = labels.filter(pl.col("system") == system).join(gold, on="id", how="inner", maintain_order="left")
    stays = [(pl.col(t) == pl.col(f"{t}_gold")).fill_null(False).cast(pl.Float64) for t in tasks]
    return both.select("id", value=pl.mean_horizontal(stays))


def _cheap(labels: pl.DataFrame, soft: pl.DataFrame | None, system: str, task: str) -> pl.DataFrame:
    if soft is None:
        return _stayed(labels, system, task)
    tasks = [task] if task != AVERAGE else list(TASKS)
    return soft.filter(pl.col("system") == system).select("id", value=pl.mean_horizontal([pl.col(t) for t in tasks]))


def _shares(
    good: pl.DataFrame, cheap: pl.DataFrame, likely: pl.DataFrame | None, task: str
) -> list[tuple[str, pl.DataFrame, pl.DataFrame]]:
    """Without systems: the share of posts with each label; a label that could not be read is none of them."""
    out = []
    for name in [task] if task != AVERAGE else TASKS:
        # a row without any label is a post that was not labelled, not one whose label could not be read
        is_labelled = pl.any_horizontal([pl.col(t).is_not_null() for t in TASKS])
        sides = [frame.filter((pl.col("system") == GOLD) & is_labelled) for frame in (good, cheap)]
        if any(side[name].null_count() == side.height for side in sides):
            continue
        for label in LABELS[name]:
            of_good, of_cheap = (
                side.select("id", value=(pl.col(name) == label).fill_null(False).cast(pl.Float64)) for side in sides
            )
            what = f"{name} {label}"
            if likely is not None and what in likely.columns:
                of_cheap = likely.select("id", value=what)
            out.append((what, of_good, of_cheap))
    return out


def _numbers(column: pl.Series) -> Floats:
    return column.cast(pl.Float64).fill_null(float("nan")).to_numpy().astype(np.float64)


def _kin(labels: pl.DataFrame, aliases: Mapping[str, str]) -> list[dict[str, str]]:
    """Judges with a system of their own kin among those labelled, by the names in the table."""
    judges, systems = (labels[c].unique(maintain_order=True).to_list() for c in ("judge", "system"))
    named = {aliases.get(judge, judge): judge for judge in judges}
    return [
        {"judge": named[judge], "system": system, "kinship": kin}
        for (judge, system), kin in kin_of(list(named), systems).items()
    ]
