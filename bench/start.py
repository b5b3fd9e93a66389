"""Starting up: ``mojimeter --help`` and ``import mojimeter`` beside a bare Python and ``import polars``.

Each round starts every one of them once, one after the other, so that a busy machine slows all alike; what is
compared is wall time of whole processes, at the median of the rounds. The bars of 0.5 and 0.2 seconds are printed as
shares that were used up; the import's share is what it adds to a bare Python. The share of CPU time stands beside it:
on a quiet machine the two are alike, on a busy one only the wall time grows.
Run: ``python -m bench start``.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time

ROUNDS = 9
PYTHON = (sys.executable, "-c")
COMMANDS: dict[str, tuple[str, ...]] = {
    "bare": (*PYTHON, "pass"),
    "polars": (*PYTHON, "import polars"),
    "import": (*PYTHON, "import mojimeter"),
    "help": (*PYTHON, "import sys; sys.argv = ['mojimeter', '--help']; from mojimeter.cli import main; main()"),
}
HELP_BAR, IMPORT_BAR = 0.5, 0.2


Times = tuple[float, float]  # wall, CPU


def seconds(command: tuple[str, ...]) -> Times:
    """Wall and CPU time of a process from start to end."""
    start, spent = time.perf_counter(), _cpu_of_children()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start, _cpu_of_children() - spent


def _cpu_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run() -> list[tuple[str, str]]:
    """(what, figure) of both."""
    for command in COMMANDS.values():
        seconds(command)  # files into the cache, byte code written
    rounds = [{name: seconds(command) for name, command in COMMANDS.items()} for _ in range(ROUNDS)]

    def ratio(of: str, to: str) -> float:
        return statistics.median(times[of][0] / times[to][0] for times in rounds)

    def figure(name: str, share: list[Times]) -> str:
        wall, cpu = (statistics.median(times[clock] for times in share) for clock in (0, 1))
        return (
            f"{ratio(name, 'bare'):.1f} times a bare Python, {ratio(name, 'polars'):.2f} times `import polars`; "
            f"{wall:.0%} of the bar (from {min(share)[0]:.0%} to {max(share)[0]:.0%}; of CPU time {cpu:.0%}): "
            f"{'met' if wall < 1 else 'MISSED'}"
        )

    helped = [(wall / HELP_BAR, cpu / HELP_BAR) for wall, cpu in (times["help"] for times in rounds)]
    imported = [
        (
            max(0.0, times["import"][0] - times["bare"][0]) / IMPORT_BAR,
            max(0.0, times["import"][1] - times["bare"][1]) / IMPORT_BAR,
        )
        for times in rounds
    ]
    return [
        (f"mojimeter --help (bar {HELP_BAR:g} s)", figure("help", helped)),
        (f"import mojimeter (bar {IMPORT_BAR:g} s)", figure("import", imported)),
    ]


def main() -> None:
    """Print the table."""
    for name, figure in run():
        print(f"{name}  {figure}")


if __name__ == "__main__":
    main()
