"""What a person sees of a build: one screen. Every number is the report's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mojimeter.build.card import REASONS


def print_report(document: Mapping[str, Any]) -> None:
    """Print what was read, dropped, labelled, kept and found wrong."""
    from rich.console import Console

    console = Console(soft_wrap=True, highlight=False)
    posts, before, after, audit = document["posts"], document["before"], document["after"], document["audit"]
    console.print(f"{posts['read']:,} raw posts -> {posts['kept']:,} kept: {document['files']['posts']}")
    for reason, count in posts["dropped"].items():
        if count:
            console.print(f"  {count:>10,}  {REASONS[reason]}")
    if document["unlabelled"] and any(document["unlabelled"].values()):
        missing = ", ".join(f"{task} {count:,}" for task, count in document["unlabelled"].items() if count)
        console.print(f"  without a usable label: {missing}")
    for reason, count in document["failed"].items():
        console.print(f"  {count:,} calls failed: {reason}", markup=False)
    console.print(
        f"emoji a post {_two(after['emoji_per_post'])} (before {_two(before['emoji_per_post'])}), different emoji "
        f"{after['distinct_emoji']:,}; tokens a post {_two(after['tokens_per_post'])} (before "
        f"{_two(before['tokens_per_post'])}); authors {_count(after['authors'])}"
    )
    if "labels" in after:
        console.print(f"labels by {document['judge']}, share before -> after (posts kept):")
        for task, labels in after["labels"].items():
            cells = ", ".join(_cell(before["labels"][task], labels, label) for label in labels)
            console.print(f"  {task:<10} {cells}")
        console.print("Ages and genders are what a reader perceives in a text, not facts about people.")
        for step in document["balance"]:
            console.print(f"  {step['rule']}: {step['taken']:,} of {step['available']:,}, {step['new']:,} new")
    near = audit["near_duplicates"]
    console.print(
        f"leaks: emoji left in text {audit['emoji_left_in_text']['posts']:,}, spelled out "
        f"{audit['emoji_named_in_text']['posts']:,}; near duplicates {near['posts']:,}, across splits "
        f"{_across(near['across_splits'])}; authors across splits {_across(audit['authors_across_splits'])}",
        markup=False,
    )
    masked = ", ".join(f"{name} {count:,}" for name, count in audit["masked"].items())
    console.print(f"masked: {masked}")
    same = {True: "the same bytes as recorded", False: "OTHER bytes than recorded", None: "nothing to compare with"}
    console.print(
        f"recipe {document['recipe']['digest']}, seed {document['recipe']['seed']}, sha256 "
        f"{document['sha256'][:16]}...: {same[document['reproduced']]}"
    )
    console.print("beside it: " + ", ".join(path for name, path in document["files"].items() if name != "posts"))


def _cell(before: Mapping[str, int], after: Mapping[str, int], label: str) -> str:
    return f"{label} {_percent(before, label)} -> {_percent(after, label)} ({after[label]:,})"


def _percent(counts: Mapping[str, int], label: str) -> str:
    total = sum(counts.values())
    return f"{100 * counts[label] / total:.1f}%" if total else "-"


def _across(found: Mapping[str, Any]) -> str:
    return f"not known ({found['reason']})" if "reason" in found else f"{found['groups']:,} in {found['posts']:,} posts"


def _two(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _count(value: int | None) -> str:
    return "not known" if value is None else f"{value:,}"
