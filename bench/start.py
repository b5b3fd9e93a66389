"""Starting up: ``mojimeter --help`` and ``import mojimeter`` beside a bare Python and ``import polars``.

Each round starts every one of them once, one after the other, so that a busy machine slows all alike; what is
compared is wall time of whole processes, at the median of the rounds. The bars of 0.5 and 0.2 seconds are printed as
shares that were used up; the import's share is what it adds to a bare Python.
Run: ``python -m bench start``.
"""

from __future__ import annotations

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


def seconds(command: tuple[str, ...]) -> float:
    """Wall time of a process from start to end."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def run() -> list[tuple[str, str]]:
    """(what, figure) of both."""
    for command in COMMANDS.values():
        seconds(command)  # files into the cache, byte code written
    rounds = [{name: seconds(command) for name, command in COMMANDS.items()} for _ in range(ROUNDS)]

    def ratio(of: str, to: str) -> float:
        return statistics.median(times[of] / times[to] for times in rounds)

    def rows(name: str, share: list[float], bar: float) -> str:
        used = statistics.median(share)
        return (
            f"{ratio(name, 'bare'):.1f} times a bare Python, {ratio(name, 'polars'):.2f} times `import polars`; "
            f"{used:.0%} of the bar of {bar:g} s (from {min(share):.0%} to {max(share):.0%}): "
            f"{'met' if used < 1 else 'MISSED'}"
        )

    helped = [times["help"] / HELP_BAR for times in rounds]
    imported = [max(0.0, times["import"] - times["bare"]) / IMPORT_BAR for times in rounds]
    return [
        ("mojimeter --help", rows("help", helped, HELP_BAR)),
        ("import mojimeter", rows("import", imported, IMPORT_BAR)),
    ]


def main() -> None:
    """Print the table."""
    for name, figure in run():
        print(f"{name}  {figure}")


if __name__ == "__main__":
    main()
