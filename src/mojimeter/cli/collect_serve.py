"""``mojimeter collect serve``: the web app in which raters work."""

from __future__ import annotations

import typer

from mojimeter.cli.output import JSON_OPTION


def command(
    study: str = typer.Argument(..., metavar="STUDY", help="A study folder made by collect init."),
    host: str = typer.Option("127.0.0.1", "--host", help="Address to listen on; 0.0.0.0 for all of this machine's."),
    port: int = typer.Option(8000, "--port", min=0, max=65535, help="Port to listen on; 0 for a free one."),
    behind_proxy: bool = typer.Option(
        False, "--behind-proxy", help="A proxy of yours is in front: believe its X-Forwarded-Proto and -For."
    ),
    allowed_host: list[str] = typer.Option(
        [], "--allowed-host", metavar="NAME", help="Answer only when called by this name; may be repeated."
    ),
    root_path: str = typer.Option(
        "", "--root-path", metavar="PATH", help="Serve under this path, such as /study1; links need it in --base-url."
    ),
    log: bool = typer.Option(False, "--log", help="A line a request on stderr, without tokens or addresses."),
    json: bool = JSON_OPTION,
) -> None:
    """Serve a study to its raters until stopped.

    A rating is acknowledged only when it is on disk: the process may be killed at any time, and started again.

    mojimeter collect serve study

    mojimeter collect serve study --port 8080 --behind-proxy --allowed-host rate.example.org

    mojimeter collect serve study --behind-proxy --root-path /study1
    """
    import json as json_module
    import os
    import sys
    from importlib.util import find_spec

    from mojimeter.errors import MissingExtraError

    for library in ("starlette", "sqlalchemy", "jinja2", "uvicorn"):
        if find_spec(library) is None:
            raise MissingExtraError(library, "web", "The rating app")
    from mojimeter.collect.font import refresh_font
    from mojimeter.collect.web.security import as_root

    root = as_root(root_path)
    if added := refresh_font(study):
        typer.echo(f"New in the texts of study.toml, and now in the study's font: {' '.join(added)}", err=True)
    told = {
        "study": study,
        "host": host,
        "port": port,
        "behind_proxy": behind_proxy,
        "root": root,
        "hosts": [name.lower() for name in allowed_host],
        "log": log,
        "json": json,
    }
    # This process becomes the server: what the command line has loaded would stay in memory all the time. -P: no
    # module is taken from the folder that the command was called in.
    arguments = [sys.executable, "-P", "-X", "no_debug_ranges", "-m", "mojimeter.collect.web", json_module.dumps(told)]
    # glibc gives each thread a heap of its own and keeps what was freed; 2 MB less without
    environment = {"MALLOC_ARENA_MAX": "1", "MALLOC_TRIM_THRESHOLD_": "131072"} | os.environ
    sys.stdout.flush()
    if os.name == "posix":
        os.execve(sys.executable, arguments, environment)
    import subprocess

    raise typer.Exit(subprocess.call(arguments, env=environment))
