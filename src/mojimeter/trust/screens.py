"""What ``mojimeter judge`` prints for people: one screen a command, from its JSON document alone. Fits 80 columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from rich.console import Console
from rich.table import Table

Document = Mapping[str, Any]
_CURVE = {
    "labels": "d",
    "width_labels_only": ".2f",
    "width_corrected": ".2f",
    "effective_labels": ".0f",
    "tuning": ".2f",
}
PERCEIVED = "Age and gender are labels perceived in a text, not facts about people."


class Screen:
    """Lines and tables for one document.

    Args:
        file: where to; standard output by default.
        width: columns; the terminal's by default.
    """

    def __init__(self, file: IO[str] | None = None, width: int | None = None) -> None:
        self._console = Console(file=file, width=width, highlight=False, emoji=False, markup=False)

    def say(self, *lines: str) -> None:
        for line in lines:
            self._console.print(line)

    def title(self, line: str) -> None:
        self._console.print(line, style="bold")

    def table(self, words: list[str], numbers: list[str], rows: list[list[str]]) -> None:
        """Columns of words, then columns of numbers set flush right."""
        table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
        for name in words:
            table.add_column(name, overflow="fold")
        for name in numbers:
            table.add_column(name, justify="right", no_wrap=True)
        for row in rows:
            table.add_row(*row)
        self._console.print(table)


def print_accuracy(document: Document, screen: Screen) -> None:
    """Judges side by side, then what each takes for what."""
    right = "the posts' own" if document["truth"] == "posts" else f"those of {document['truth']}"
    authors = f" by {document['authors']:,} authors" if document["authors"] else ", authors not known"
    screen.say(f"{document['posts']:,} posts{authors}; known labels: {right}")
    for name, why in document["unusable"].items():
        screen.say(f"{name}: {why}")
    screen.say("")
    screen.title("Judges against known labels (macro averages; 95% intervals resample authors)")
    rows = []
    for judge, tasks in document["judges"].items():
        for task, t in tasks.items():
            rows.append(
                [_short(judge), task, str(t["posts"]), _n(t["accuracy"]), f"{t['commonest']:.2f}"]
                + [_n(t[name]) for name in ("precision", "recall", "f1_macro", "kappa")]
                + [_ci(t["kappa"])]
            )
    numbers = ["posts", "acc.", "common", "prec.", "rec.", "F1", "kappa", "95%"]
    screen.table(["judge", "task"], numbers, rows)
    screen.say("common: the accuracy of always saying the commonest label.")
    screen.say("")
    screen.title("Per class: accuracy on its posts, and what they are taken for instead")
    rows = []
    for judge, tasks in document["judges"].items():
        for task, t in tasks.items():
            for label, c in t["per_class"].items():
                taken = c["taken_for"]
                instead = f"{taken['label']} {taken['posts']}" if taken else "-"
                cells = [str(c["posts"]), _n(c["recall"]), _ci(c["recall"]), _n(c["precision"]), instead]
                rows.append([_short(judge), f"{task} {label}", *cells])
    screen.table(["judge", "label"], ["posts", "recall", "95%", "prec.", "taken for"], rows)
    unparsed = {j: sum(t["unparsed"] for t in tasks.values()) for j, tasks in document["judges"].items()}
    if any(unparsed.values()):
        counts = ", ".join(f"{judge} {count}" for judge, count in unparsed.items() if count)
        screen.say(f"Labels that could not be read, counted as wrong: {counts}.")
    for d in document["differences"]:
        if d["p"] is not None and d["p"] < 0.05:
            screen.say(
                f"{d['task']}: {d['judge']} minus {d['against']} {d['difference']['value']:+.3f} "
                f"{_ci(d['difference'])}, p {d['p']:.3f}"
            )
    _kin(document, screen)
    screen.say(PERCEIVED)


def print_sensitivity(document: Document, screen: Screen) -> None:
    """One line a judge, variant and task."""
    screen.say(f"{document['posts']:,} posts, labelled as written and with other emoji")
    for judge, variants in document["judges"].items():
        screen.say("")
        screen.title(judge)
        rows = []
        for variant, tasks in variants.items():
            for task, t in tasks.items():
                cells = [_n(t["kappa"]), _ci(t["kappa"]), _n(t["correlation"]), _n(t["changed"], 1)]
                rows.append([_short(variant), task, *cells, str(t["posts"]), str(t["unparsed"])])
        screen.table(["emoji", "task"], ["kappa", "95%", "corr.", "changed", "posts", "unread"], rows)
    screen.say(
        "Lower kappa and correlation: the judge depends more on the emoji.",
        "corr.: R_K, with two labels Pearson's; changed: percent of labels;",
        "unread: posts without two readable labels, left out of the numbers;",
        "none: the text alone; original: moved to the end (position and noise).",
    )
    screen.say(PERCEIVED)


def print_validity(document: Document, screen: Screen) -> None:
    """The paper's Table IV, then what it is worth."""
    people = f"{document['items']} items, {document['raters']} people"
    missing = f", {document['missing']} judgements missing" if document["missing"] else ""
    screen.title(f"People's judgement by number of labels that stayed ({people}{missing})")
    rows = [
        [k, str(g["n"]), f"{g['task_score']:.1f}", f"{g['human_score']['value']:.3f}", _ci(g["human_score"])]
        for k, g in document["by_matching_pairs"].items()
    ]
    screen.table([], ["stayed", "items", "score", "people", "95%"], rows)
    yes = [v for v in document["raters_yes"].values() if v is not None]
    own = [e["value"] for e in document["raters_spearman"].values() if e["value"] is not None]
    lines = [
        f"rank correlation of the score and the people's mean: {_with_ci(document['spearman'])}",
        f"people among themselves, alpha: {_with_ci(document['alpha_nominal'], 3)}",
        f"reliability of the mean of these people: {_with_ci(document['reliability'])}",
        f"so no score can correlate with it by more than {_with_ci(document['ceiling'])}",
        f"correlation with people without noise would be {_with_ci(document['corrected'])}",
        f"score (3 or more stayed) and most people agree on {_with_ci(document['majority'], 1)}%",
    ]
    if yes:
        lines.append(f"each person says 'means the same' to {min(yes):.0%} to {max(yes):.0%} of the items")
    if own:
        lines.append(f"and correlates with the score by {min(own):.2f} to {max(own):.2f}")
    if document["of_groups"]["value"] is not None:
        lines.append(f"the {len(rows)} group means, the trend alone: {document['of_groups']['value']:.2f}")
    screen.say(*lines)


def print_noise(document: Document, screen: Screen) -> None:
    """How often labels change, the ceiling, and scores corrected for both."""
    for judge, found in document["judges"].items():
        screen.title(
            f"{judge}: {found['texts']:,} texts labelled {found['labellings']:,} times ({document['repeats']})"
        )
        rows = [
            [task, _n(found["changes"][task], 2), _n(found["ceiling"][task], 2), _ci(found["ceiling"][task], 1)]
            for task in found["ceiling"]
        ]
        screen.table(["task"], ["changes", "ceiling", "95%"], rows)
        if found["moved_ceiling"]["value"] is not None:
            screen.say(f"baseline/original (noise and position) scores {_with_ci(found['moved_ceiling'])}")
        if found["systems"]:
            screen.say("")
            rows = []
            for system, s in found["systems"].items():
                raw, fixed = s["raw"]["average"], s["corrected"]["average"]
                rows.append([_flagged(document, judge, system), _n(raw, 2), _n(fixed), _ci(fixed)])
            screen.table(["system"], ["raw", "corrected", "95%"], rows)
            if found["random"] is None:
                screen.say("No random emoji were labelled, so no corrected score.")
        screen.say("")
    screen.say(
        "changes: percent of pairs of labellings of one text that differ;",
        "ceiling: 100 less that, what the original emoji themselves would score;",
        "corrected: (score - random) / (ceiling - random): 0 random, 1 the original.",
    )
    _kin(document, screen)


def print_correct(document: Document, screen: Screen) -> None:
    """Cheap, good and corrected means side by side; what cheap labels save."""
    screen.title(f"Good labels: {document['good']}; cheap labels: {document['cheap']}")
    screen.say(f"what corrects: {document['predictor']}; percent, intervals by author")
    rows = []
    for name, c in document["estimates"].items():
        cells = [str(c["labels"]), f"{c['cheap_only']['value']:.2f}", _n(c["labels_only"], 2), _ci(c["labels_only"], 1)]
        cells += [_n(c["corrected"], 2), _ci(c["corrected"], 1), f"{c['effective_labels']:.0f}"]
        rows.append([_flagged(document, document["good"], name), *cells])
    screen.table(["percent of"], ["labels", "cheap", "good", "95%", "corrected", "95%", "worth"], rows)
    screen.say("cheap: its labels alone, biased; worth: good labels for the same interval.")
    for name, curve in document["savings"].items():
        screen.say("")
        screen.title(f"{name}: had fewer good labels been bought (mean of {curve['choices']} random choices)")
        rows = [[f"{a[key]:{shape}}" for key, shape in _CURVE.items()] for a in curve["at"]]
        screen.table([], ["labels", "width", "corrected", "worth", "lambda"], rows)
        screen.say(
            f"From all {curve['posts']:,} good labels the width is {curve['full']['width']:.2f}.",
            f"For {curve['times_full']:g} times that: {curve['needed_corrected']:,} good labels with the cheap ones, "
            f"{curve['needed_labels_only']:,} without,",
            f"{curve['saved_percent']:.1f}% saved.",
        )
    for warning in document["warnings"]:
        screen.say(f"warning: {warning}")
    _kin(document, screen)


def print_bias(document: Document, screen: Screen) -> None:
    """Self-preference, order and length, whichever the files allow."""
    if "self_preference" in document:
        screen.title("Judges and systems of the same kin")
        rows = [
            [
                _short(p["judge"]),
                _short(p["system"]),
                p["kinship"],
                _n(p["effect"], 2),
                _ci(p["effect"], 2),
                p["effect"].get("reason", ""),
            ]
            for p in document["self_preference"]
        ]
        if rows:
            screen.table(["judge", "system", "kinship"], ["favour", "95%", ""], rows)
            screen.say("favour: points of preservation beyond what other judges give this system,")
            screen.say("and beyond this judge's own leniency to the other systems.")
        else:
            screen.say("No judge has a system of its own maker among the ranked, as far as names tell.")
    if "order" in document:
        o = document["order"]
        screen.title(f"Order: {o['pairs']:,} pairs judged in both orders")
        screen.say(
            f"called different: ab {_with_ci(o['ab'], 1)}%, ba {_with_ci(o['ba'], 1)}%",
            f"ab minus ba: {_with_ci(o['difference'], 1)} points" + ("" if o["p"] is None else f", p {o['p']:.3f}"),
            f"verdict changes with the order: {_with_ci(o['inconsistent'], 1)}%",
        )
    if "length" in document:
        found = document["length"]
        screen.title(f"Length: {found['answers']:,} verdicts ({found['unread']} without a verdict or an answer)")
        screen.say(
            f"called right, shorter half: {_with_ci(found['shorter'], 1)}%",
            f"called right, longer half:  {_with_ci(found['longer'], 1)}%",
            f"an answer twice as long: {_with_ci(found['per_doubling'], 1)} points",
            f"beyond what people say: {_with_ci(found['beyond_people'], 1)} points",
        )


def _kin(document: Document, screen: Screen) -> None:
    if document.get("kin"):
        screen.say("(kin): the judge is this system or of the same maker; see judge bias.")


def _flagged(document: Document, judge: str, system: str) -> str:
    kin = any(k["judge"] == judge and k["system"] == system for k in document.get("kin", ()))
    return f"{system} (kin)" if kin else system


def _short(name: str) -> str:
    """A name of at most 20 characters: the end of a long one, where names of models differ."""
    return name if len(name) <= 20 else "…" + name[-19:]


def _n(estimate: Mapping[str, Any], digits: int = 2) -> str:
    return "-" if estimate["value"] is None else f"{estimate['value']:.{digits}f}"


def _ci(estimate: Mapping[str, Any], digits: int = 2) -> str:
    ci = estimate.get("ci")
    if ci is None:
        return "-"
    low, high = ("?" if bound is None else f"{bound:.{digits}f}" for bound in ci)
    return f"[{low}, {high}]"


def _with_ci(estimate: Mapping[str, Any], digits: int = 2) -> str:
    if estimate["value"] is None:
        return f"not known ({estimate['reason']})"
    return f"{_n(estimate, digits)} {_ci(estimate, digits)}"
