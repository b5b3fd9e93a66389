"""Runs the benchmarks: all of them, or those named.

    python -m bench                  every module of this folder that has main()
    python -m bench emoji            one of them
    python -m bench score --posts N  one of them with its own options

A module with ``ON_REQUEST = True`` runs only when it is named.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pkgutil import iter_modules

import bench


def names() -> list[str]:
    """The modules of the folder."""
    return sorted(info.name for info in iter_modules(bench.__path__) if not info.name.startswith("_"))


def main(arguments: list[str]) -> int:
    """Run benchmarks one after the other; 2 if a name is unknown."""
    wanted, options = arguments[:1], arguments[1:]
    if wanted and wanted[0] not in names():
        sys.stderr.write(f"no benchmark {wanted[0]!r}: expected {', '.join(names())}\n")
        return 2
    for name in wanted or names():
        module = import_module(f"bench.{name}")
        if not hasattr(module, "main") or (not wanted and getattr(module, "ON_REQUEST", False)):
            continue
        print(f"== {name}", flush=True)
        sys.argv = [f"python -m bench {name}", *options]  # what a module's own parser reads
        module.main()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
