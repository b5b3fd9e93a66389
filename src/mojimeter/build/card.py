"""The data card: what a benchmark is, where it comes from, how it was made and what is known to be wrong with it.

Every number is the report's. Knows the report only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mojimeter.build.recipe import Recipe

REASONS = {
    "no_text": "no text",
    "other_language": "another language",
    "no_emoji": "no emoji",
    "no_top_emoji": "none of the most used emoji",
    "retweet": "retweets",
    "emoji_only": "nothing but emoji, handles and links",
    "duplicate": "duplicates",
    "not_drawn_to_label": "not drawn to be labelled",
    "label_failed": "the call to the judge failed",
    "unlabelled": "no usable label on some task",
    "not_kept": "not kept by the balance",
}


def write_card(document: Mapping[str, Any], recipe: Recipe) -> str:
    """The card as Markdown."""
    posts, after, audit = document["posts"], document["after"], document["audit"]
    lines = [
        f"# Data card: {recipe.name}",
        "",
        f"{posts['kept']:,} posts out of {posts['read']:,} raw ones. Made by `mojimeter build` from the recipe beside "
        f"this card (digest `{document['recipe']['digest']}`, seed {recipe.seed}); SHA-256 of the posts: "
        f"`{document['sha256']}`.",
        "",
        "## Source and licence",
        f"* Source: {recipe.source or '**not stated**: find out before you share these posts'}",
        f"* Licence: {recipe.licence or '**not stated**: find out before you share these posts'}",
        *(f"* `{source['name']}`, SHA-256 `{source['sha256']}`" for source in document["sources"]),
        "",
        "## What was left out",
        "| reason | posts |",
        "|---|---|",
        *(f"| {REASONS[reason]} | {count:,} |" for reason, count in posts["dropped"].items()),
        "",
        "## How it looks",
        "| | labelled | kept |" if document["judge"] != "none" else "| | cleaned | kept |",
        "|---|---|---|",
        *_rows(document["before"], after),
        "",
        *_labels(document),
        "## Leaks",
        f"* emoji left in the plain text: {audit['emoji_left_in_text']['posts']} posts; spelled out (:joy:): "
        f"{audit['emoji_named_in_text']['posts']}",
        f"* near duplicates within the set: {audit['near_duplicates']['posts']} posts",
        f"* near duplicates across splits: {_across(audit['near_duplicates']['across_splits'])}",
        f"* authors in more than one split: {_across(audit['authors_across_splits'])}",
        "",
        "## Privacy",
        "Masked: "
        + ", ".join(f"{name} {count:,}" for name, count in audit["masked"].items())
        + " (tokens that stood in "
        "the raw posts already are counted too). Names and places that people wrote are still there.",
        "",
    ]
    return "\n".join(lines)


def _rows(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    names = {
        "posts": "posts",
        "authors": "authors",
        "emoji_per_post": "emoji a post",
        "distinct_emoji": "different emoji",
        "tokens_per_post": "tokens a post, by spaces, without emoji",
    }
    rows = [f"| {text} | {_shown(before[name])} | {_shown(after[name])} |" for name, text in names.items()]
    for language in before["languages"]:
        count = after["languages"].get(language, 0)
        rows.append(f"| language {language} | {before['languages'][language]:,} | {count:,} |")
    return rows


def _labels(document: Mapping[str, Any]) -> list[str]:
    if "labels" not in document["after"]:
        return ["Not labelled, hence not balanced.", ""]
    before, after = document["before"]["labels"], document["after"]["labels"]
    lines = [
        "## Labels",
        f"By `{document['judge']}`. Ages and genders are what a reader perceives in a few words, not facts about "
        "people.",
        "",
        "| task | label | labelled | kept |",
        "|---|---|---|---|",
    ]
    for task, labels in after.items():
        for label, count in labels.items():
            lines.append(f"| {task} | {label} | {_share(before[task], label)} | {_share(labels, label, count)} |")
    lines += ["", "| rule of the balance | could take | took | of these new |", "|---|---|---|---|"]
    lines += [f"| {s['rule']} | {s['available']:,} | {s['taken']:,} | {s['new']:,} |" for s in document["balance"]]
    return [*lines, ""]


def _share(counts: Mapping[str, int], label: str, count: int | None = None) -> str:
    count = counts[label] if count is None else count
    total = sum(counts.values())
    return f"{count:,} ({100 * count / total:.1f}%)" if total else "0"


def _across(found: Mapping[str, Any]) -> str:
    if "reason" in found:
        return f"not known ({found['reason']})"
    examples = f" (such as {', '.join(found['examples'])})" if found["examples"] else ""
    return f"{found['groups']} in {found['posts']} posts{examples}"


def _shown(value: Any) -> str:
    if value is None:
        return "not known"
    return f"{value:,}" if isinstance(value, int) else f"{value:.2f}"
