"""CPU that the engine takes for a call: a run of ours against a plain Inspect task with the same calls.

Both ask the same server (in a process of its own, so that its work is not counted) the same questions of the same
posts: one to recommend, then two votes on each of two texts, one sample a post. The peer is what an
Inspect user would write: ``generate()`` and a scorer that asks the judge role, with Inspect's own cache off.
CPU is this process's; each is run after a warm-up and the median of several runs is compared.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import statistics
import tempfile
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

POSTS = 60
CALLS_A_POST = 5
REPEATS = 3
SYSTEM, JUDGE = "openai-api/bench/writer", "openai-api/bench/labeller"
LABELS = "sentiment: positive\nemotion: fear\nstance: none\nage: teen\ngender: male"


def serve(port: Any) -> None:
    """Answer every question at once; tell the port through the pipe."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            text = LABELS if asked["model"] == "labeller" else "🎉🎂🥳"
            message = {"role": "assistant", "content": text}
            body = {
                "id": "x",
                "object": "chat.completion",
                "created": 1,
                "model": asked["model"],
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            }
            data = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    port.send(server.server_port)
    server.serve_forever()


def ours(posts: Path, folder: Path) -> float:
    """CPU seconds a call of ``mojimeter recommend``, scoring left out: the peer does none."""
    from mojimeter.models.calls import CallLedger
    from mojimeter.models.client import Client
    from mojimeter.models.patience import Patience
    from mojimeter.runs.settings import RecommendSettings, Run
    from mojimeter.tasks.evaluate import evaluate

    run = Run(RecommendSettings(str(posts), (SYSTEM,), (JUDGE,), baselines=False))
    ledger = CallLedger(folder / "calls.jsonl")
    start = time.process_time()
    client = Client(ledger, patience=Patience(max_connections=10))
    failures = evaluate(
        run.recommenders, run.asked_judges, run.posts, client, epochs=1, append="emoji", logs=folder / "logs"
    )
    spent = time.process_time() - start
    if failures or len(ledger) != POSTS * CALLS_A_POST:
        raise RuntimeError(f"{len(ledger)} calls and {len(failures)} failures; the bench is wrong")
    return spent / len(ledger)


def plain(posts: Path, folder: Path) -> float:
    """CPU seconds a call of a plain Inspect task that makes the same calls."""
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser, GenerateConfig, get_model
    from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
    from inspect_ai.solver import TaskState, generate

    from mojimeter.judges.llm import TASKS, LlmJudge
    from mojimeter.runs.settings import RecommendSettings, Run

    run = Run(RecommendSettings(str(posts), (SYSTEM,), (JUDGE,), baselines=False))
    kinds = {"system": ChatMessageSystem, "user": ChatMessageUser}

    def messages(pairs: Any) -> list[Any]:
        return [kinds[role](content=content) for role, content in pairs]

    @scorer(metrics=[mean()])
    def kept() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            judge = get_model(role="judge")
            texts = (state.metadata["original"], f"{state.metadata['text'].strip()} {state.output.completion}")
            votes = []
            for text in texts:
                for vote in range(2):
                    asked = LlmJudge(JUDGE).request(TASKS, text, vote)
                    output = await judge.generate(
                        messages(asked.messages), config=GenerateConfig(temperature=0.0, max_tokens=asked.max_tokens)
                    )
                    votes.append(output.completion)
            return Score(value=float(votes[0] == votes[2]))

        return score

    who = run.recommenders[0].system
    samples = [
        Sample(id=post["id"], input=messages(who.request(post).messages), target="", metadata=post)  # type: ignore[union-attr]
        for post in run.posts
    ]
    start = time.process_time()
    (log,) = eval(
        Task(MemoryDataset(samples), solver=generate(), scorer=kept()),
        model=SYSTEM,
        model_roles={"judge": JUDGE},
        log_dir=str(folder / "logs"),
        display="none",
        max_connections=10,
        max_samples=20,
    )
    spent = time.process_time() - start
    if log.status != "success":
        raise RuntimeError("the peer failed; the bench is wrong")
    return spent / (POSTS * CALLS_A_POST)


def main() -> None:
    """Print the ratio."""
    here, there = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(there,), daemon=True)
    server.start()
    os.environ |= {"BENCH_BASE_URL": f"http://127.0.0.1:{here.recv()}/v1", "BENCH_API_KEY": "none-needed"}
    try:
        with tempfile.TemporaryDirectory() as folder:
            posts = Path(folder) / "posts.csv"
            rows = "".join(f"{i},post {i} about the bus 🚌,a{i // 2}\n" for i in range(POSTS))
            posts.write_text(f"id,text,author\n{rows}", encoding="utf-8")
            spent: dict[str, list[float]] = {"mojimeter": [], "plain Inspect": []}
            for repeat in range(REPEATS + 1):
                for name, measure in (("mojimeter", ours), ("plain Inspect", plain)):
                    place = Path(folder) / f"{name}-{repeat}"
                    place.mkdir()
                    cost = measure(posts, place)
                    if repeat:  # the first warms imports and connections
                        spent[name].append(cost)
    finally:
        server.terminate()
    middle = {name: statistics.median(costs) for name, costs in spent.items()}
    ratio = middle["mojimeter"] / middle["plain Inspect"]
    print(f"engine CPU a call, {POSTS * CALLS_A_POST} calls: {ratio:.2f} of plain Inspect's (asked for: 1.00 or less)")
    for name, seconds in middle.items():
        print(f"  {name:14} {1000 * seconds:.1f} ms")


if __name__ == "__main__":
    main()
