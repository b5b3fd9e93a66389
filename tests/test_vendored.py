"""What was copied into the package is what its notes say, and works under the page's strict security policy."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from importlib.resources import files

import pytest
from scripts.vendor_vega import classic_script

from tests.browser import seen

ASSETS = files("mojimeter.report") / "assets"
SCRIPTS = ("vega.min.js", "vega-lite.min.js", "vega-interpreter.js")

#: A bar, a point with its interval as a rule, and a computed field: what the report's charts are made of.
CHART = {
    "data": {"values": [{"system": "a", "score": 1, "low": 0.5, "high": 1.4}, {"system": "b", "score": 2}]},
    "transform": [{"calculate": "datum.score * 2", "as": "double"}],
    "layer": [
        {"mark": "bar", "encoding": {"x": {"field": "double", "type": "quantitative"}}},
        {"mark": "rule", "encoding": {"x": {"field": "low", "type": "quantitative"}, "x2": {"field": "high"}}},
        {"mark": {"type": "text", "dx": 8}, "encoding": {"text": {"field": "score", "format": ".1f"}}},
        {"mark": "rule", "encoding": {"x": {"datum": 1.7}, "y": None}},
    ],
    "encoding": {"y": {"field": "system", "type": "nominal"}},
}
DRAW = """
const { spec } = vegaLite.compile(%s);
const view = new vega.View(vega.parse(spec, null, { ast: true }), {
  expr: vegaInterpreter.expressionInterpreter, renderer: "svg", container: document.querySelector("main") });
view.runAsync().then(() => { document.title = "drawn"; });
"""


def _page(*scripts: str) -> str:
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in scripts)
    policy = f"default-src 'none'; script-src {hashes}; style-src 'none'"
    tags = "".join(f"<script>{script}</script>" for script in scripts)
    return (
        f'<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
        f"<title>t</title><main></main>{tags}"
    )


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_vendored_script_is_the_one_its_note_names(name: str):
    note = (ASSETS / "SOURCE.txt").read_text(encoding="utf-8")
    (stated,) = re.findall(rf"^{re.escape(name)}: .*\n.*\n  sha256 of the file here (\w+)$", note, re.MULTILINE)
    assert hashlib.sha256((ASSETS / name).read_bytes()).hexdigest() == stated


@pytest.mark.parametrize("package", ["vega", "vega-lite", "vega-interpreter", "d3-array", "topojson-client"])
def test_the_licence_of_every_library_goes_with_it(package: str):
    text = (ASSETS / "LICENSES.txt").read_text(encoding="utf-8")
    assert re.search(rf"^(.*, )?{package} \d+\.\d+\.\d+", text, re.MULTILINE)


MODULE = """import { ascending, isString } from 'vega-util';

const expression = { parameter() {} };

export { expression as expressionInterpreter };
//# sourceMappingURL=x.map
"""


def test_the_interpreters_module_becomes_a_script_of_the_same_code():
    assert classic_script(MODULE) == (
        '(function () {\n"use strict";\nconst { ascending, isString } = vega;\n\n'
        "const expression = { parameter() {} };\n\n"
        "globalThis.vegaInterpreter = { expressionInterpreter: expression };\n})();\n"
    )


@pytest.mark.parametrize("line", ["import { ascending, isString } from 'vega-util';", "export { expression as"])
def test_a_module_of_another_form_is_refused(line: str):
    with pytest.raises(ValueError):
        classic_script(MODULE.replace(line, f"// {line}"))


def test_charts_are_drawn_without_eval_and_without_inline_styles(page, tmp_path):
    libraries = [(ASSETS / name).read_text(encoding="utf-8") for name in SCRIPTS]
    file = tmp_path / "chart.html"
    file.write_text(_page(*libraries, DRAW % json.dumps(CHART)), encoding="utf-8")
    page.goto(file.as_uri())
    page.wait_for_function("document.title === 'drawn'")
    assert seen(page).complaints == []
    assert page.locator("svg .mark-rect.role-mark path").count() == 2
    assert page.locator("svg .mark-text.role-mark text").all_text_contents() == ["1.0", "2.0"]
    assert page.evaluate("[...document.querySelectorAll('svg .mark-rule.role-mark')].length") == 2
