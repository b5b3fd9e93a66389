"""Copies the chart libraries of the report page out of an npm folder: Vega, Vega-Lite and Vega's interpreter.

    python scripts/vendor_vega.py NODE_MODULES [OUT]

NODE_MODULES holds vega, vega-lite and vega-interpreter as npm installs them, with what they depend on. OUT is the
package's own folder of assets unless given. The first two files are copied as they are; the interpreter is published
as a module only, so its import and export lines become a classic script's, which a page can carry inline with a hash.
Vega's build without its libraries (vega-core) does not do: it asks for seventeen more scripts. The same folder gives
the same bytes; SOURCE.txt says which versions they are, LICENSES.txt whose work they hold.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from pathlib import Path

ASSETS = Path(__file__).resolve().parents[1] / "src" / "mojimeter" / "report" / "assets"

#: The file made, its package, and the file of that package it is made of.
FILES = (
    ("vega.min.js", "vega", "build/vega.min.js"),
    ("vega-lite.min.js", "vega-lite", "build/vega-lite.min.js"),
    ("vega-interpreter.js", "vega-interpreter", "build/vega-interpreter.js"),
)
#: What vega.min.js holds of others: the packages that vega-core.min.js asks for, and what those stand on.
BUNDLED = [
    "d3-array",
    "d3-color",
    "d3-delaunay",
    "d3-dispatch",
    "d3-dsv",
    "d3-ease",
    "d3-force",
    "d3-format",
    "d3-geo",
    "d3-geo-projection",
    "d3-hierarchy",
    "d3-interpolate",
    "d3-path",
    "d3-quadtree",
    "d3-scale",
    "d3-scale-chromatic",
    "d3-shape",
    "d3-time",
    "d3-time-format",
    "d3-timer",
    "delaunator",
    "internmap",
    "robust-predicates",
    "topojson-client",
]

IMPORT = re.compile(r"^import \{ (.+) \} from 'vega-util';$", re.MULTILINE)
EXPORT = re.compile(r"^export \{ (\w+) as expressionInterpreter \};$", re.MULTILINE)
MAP = re.compile(r"^//# sourceMappingURL=.*\n?", re.MULTILINE)


def main(modules: Path, out: Path = ASSETS) -> None:
    out.mkdir(parents=True, exist_ok=True)
    source = ["Chart libraries of the report page, made by scripts/vendor_vega.py from packages of npm.", ""]
    for name, package, path in FILES:
        original = (modules / package / path).read_bytes()
        made = original if name.endswith(".min.js") else classic_script(original.decode()).encode()
        (out / name).write_bytes(made)
        source.append(f"{name}: {package} {version(modules, package)}, {path}")
        source.append(f"  sha256 of the original  {hashlib.sha256(original).hexdigest()}")
        source.append(f"  sha256 of the file here {hashlib.sha256(made).hexdigest()}")
    (out / "SOURCE.txt").write_text("\n".join(source) + "\n", encoding="utf-8")
    (out / "LICENSES.txt").write_text(licences(modules), encoding="utf-8")


def classic_script(module: str) -> str:
    """The interpreter's module as a script that takes its helpers from ``vega`` and makes ``vegaInterpreter``."""
    (imported,), (exported,) = IMPORT.findall(module), EXPORT.findall(module)
    body = MAP.sub("", EXPORT.sub("", IMPORT.sub("", module))).strip()
    return (
        f'(function () {{\n"use strict";\nconst {{ {imported} }} = vega;\n\n{body}\n\n'
        f"globalThis.vegaInterpreter = {{ expressionInterpreter: {exported} }};\n}})();\n"
    )


def version(modules: Path, package: str) -> str:
    return str(json.loads((modules / package / "package.json").read_text(encoding="utf-8"))["version"])


def licences(modules: Path) -> str:
    """The licence of each package, the same text once for all packages that have it."""
    holders: dict[str, list[str]] = {}
    for package in [*(package for _, package, _ in FILES), *BUNDLED]:
        text = (modules / package / "LICENSE").read_text(encoding="utf-8").strip()
        holders.setdefault(text, []).append(f"{package} {version(modules, package)}")
    return "\n".join(f"{'=' * 80}\n{', '.join(names)}\n{'=' * 80}\n{text}\n" for text, names in holders.items())


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*map(Path, sys.argv[1:]))
