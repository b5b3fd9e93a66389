"""The process that serves raters: ``mojimeter collect serve`` becomes it, so that it holds no more than it needs.

Its arguments are one JSON object made by the command; it is not a command for people.
"""

from __future__ import annotations

import json
import sys
from types import ModuleType
from typing import Any


def main(argument: str) -> int:
    """Serve as told; a foreseen error is one sentence on stderr and its exit code."""
    _leave_out_what_is_not_needed()
    from mojimeter.collect.web.app import Settings
    from mojimeter.collect.web.serving import is_loopback, serve
    from mojimeter.errors import MojimeterError

    told: dict[str, Any] = json.loads(argument)
    settings = Settings(
        behind_proxy=told["behind_proxy"],
        hosts=tuple(told["hosts"]),
        root=told["root"],
        log=_log if told["log"] else None,
    )

    def ready(url: str) -> None:
        if told["json"]:
            sys.stdout.write(
                json.dumps({"schema": 1, "url": url, "admin": f"{url}admin", "study": told["study"]}) + "\n"
            )
        else:
            sys.stdout.write(
                f"The study is at {url} - raters need their own links (mojimeter collect invite).\n"
                f"Who did how much: {url}admin with the administrator's token. Ctrl+C stops.\n"
            )
        sys.stdout.flush()
        if not is_loopback(told["host"]) and not told["behind_proxy"]:
            sys.stderr.write(
                "warning: others can reach this address, and without https they can read along; put a proxy with https "
                "in front and use --behind-proxy\n"
            )

    try:
        code = serve(told["study"], told["host"], told["port"], settings, ready)
    except MojimeterError as error:
        sys.stderr.write(f"mojimeter: {error}\n")
        return error.exit_code
    if not told["json"]:
        sys.stdout.write("Stopped. Every rating that was acknowledged is stored.\n")
    return code


def _leave_out_what_is_not_needed() -> None:
    """Two megabytes less: parts of libraries that load with them and that nothing here calls."""
    # Starlette loads this where it is installed; our forms are read without it.
    sys.modules.setdefault("python_multipart", None)  # type: ignore[arg-type]
    # uvicorn's own command line, with click and multiprocessing; the package takes three names from it.
    command_line = ModuleType("uvicorn.main")
    command_line.__getattr__ = lambda name: None  # type: ignore[method-assign]
    sys.modules.setdefault("uvicorn.main", command_line)


def _log(line: str) -> None:
    sys.stderr.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
