"""``mojimeter demo``: the main job on what ships, without a key or a network."""

from __future__ import annotations

from typing import Any

import typer

from mojimeter.cli.output import JSON_OPTION, write_json, write_warnings


def command(
    out: str = typer.Option("runs/demo", "--out", metavar="DIR", help="The run folder; the same one goes on."),
    limit: int | None = typer.Option(None, "--limit", min=1, help="Only the first so many of the 240 posts."),
    report: bool = typer.Option(True, "--report/--no-report", help="Write DIR/report.html too: the page to look at."),
    json: bool = JSON_OPTION,
) -> None:
    """Rank baselines and a small language model on the starter posts, judged by the judge that ships.

    Needs no key and no network. It runs what `mojimeter recommend` runs, and writes the same run folder.
    """
    from mojimeter.cli.recommend import Progress
    from mojimeter.judges.student import quality
    from mojimeter.runs.demo import JUDGE, plan_demo
    from mojimeter.runs.recommend import run_recommend

    demo = plan_demo(limit)
    for left in demo.left:
        typer.echo(f"left out: {left.system}; to have it: {left.install}", err=True)
    embed_posts(demo.settings.posts, limit)
    with Progress() as progress:
        outcome = run_recommend(demo.settings, out, started=progress.started, done=progress.done)
    document = {
        **outcome.document,
        "judge_quality": quality(JUDGE),
        "left_out": [{"system": left.system, "install": left.install} for left in demo.left],
        "command": demo.command(),
    }
    if report and outcome.unfinished is None:
        document["report"] = write_page(out)
    if json:
        write_json(document)
    if outcome.unfinished is not None:
        raise outcome.unfinished
    write_warnings(document.get("warnings", ()))
    if not json:
        from mojimeter.report.judge_quality import print_quality
        from mojimeter.report.terminal import print_scores

        print_quality(document["judge_quality"])
        typer.echo()
        print_scores(document)
        for system, asked in demo.settings.limits.items():
            typer.echo(
                f"\n{system} is slow: it was asked for the first {asked} posts only, and compared with others on those."
            )
        if page := document.get("report"):
            told = f"\nTo look at, in any browser: {page['file']}" if page["file"] else f"\nNo page: {page['reason']}"
            typer.echo(told)
        typer.echo(f"\nThe same: {demo.command()} --out {out}")
        files = " ".join(f"--{name} {out}/{name}.jsonl" for name in ("outputs", "labels"))
        typer.echo(f"Again from its files, without a model: mojimeter score {out}/posts.jsonl {files}")


def write_page(out: str) -> dict[str, Any]:
    """The run as a page in its folder; where that fails, why: the numbers are there all the same."""
    from mojimeter.cli.report import Progress
    from mojimeter.errors import MojimeterError
    from mojimeter.report.page.write import write_report

    try:
        with Progress() as progress:
            return {"file": write_report([out], f"{out}/report.html", say=progress.say)["out"]}
    except MojimeterError as failure:
        return {"file": None, "reason": str(failure)}


def embed_posts(posts: str, limit: int | None) -> None:
    """Embed the posts ahead of everything, with a bar on stderr: the one thing here that takes seconds."""
    from rich.console import Console
    from rich.progress import Progress

    from mojimeter.datasets.readers import read_posts
    from mojimeter.judges.student import plain_text
    from mojimeter.models.encoder import shared_encoder

    frame = read_posts(posts)
    texts = [plain_text(text) for text in (frame.head(limit) if limit else frame)["original"]]
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("embedding posts", total=len(texts))
        shared_encoder().embed(texts, lambda done, of: bar.update(task, completed=done, total=of))
