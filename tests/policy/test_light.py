"""Reading a policy brings in nothing heavy."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

HEAVY = {
    "numpy",
    "pandas",
    "pyarrow",
    "scipy",
    "networkx",
    "duckdb",
    "sklearn",
    "numba",
    "jinja2",
    "rich",
    "typer",
    "packaging",
}

PROGRAM = """
import json, sys
from pathlib import Path
from ppdm_flow.policy import gates_of, load, requirements_of
from ppdm_flow.report.diagnostics import render
loaded = load(Path(sys.argv[1]))
requirements_of(loaded.policy, loaded.places), gates_of(loaded.policy, loaded.places)
render(loaded.diagnostics, loaded.sources)
print(json.dumps({"modules": sorted(sys.modules), "found": len(loaded.diagnostics)}))
"""


def large() -> str:
    """A policy of 300 lines."""
    lines = ["version: 1", "name: large", "attributes:"]
    lines += [f"  a{i}: {{role: quasi_identifier, domain: [v1, v2, v3]}}" for i in range(150)]
    lines += [f"  s{i}: {{role: sensitive}}" for i in range(20)]
    lines += ["privacy:", "  k_anonymity: {k: 5}", "  templates:"]
    for i in range(30):
        lines += [f"    t{i}:", f"      channel: [a{i}, a{i + 1}]", f"      sensitive: {{s{i % 20}: [x]}}"]
        lines += ["      confidence: 0.5"]
    lines += ["releases:", "  r: {path: x.csv}"]
    return "\n".join(lines) + "\n"


def test_light(tmp_path: Path) -> None:
    file = tmp_path / "large.yaml"
    file.write_text(large())
    assert large().count("\n") >= 290
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(file)], capture_output=True, text=True, check=True)
    run = json.loads(done.stdout)
    assert run["found"] == 0
    assert not HEAVY & {m.partition(".")[0] for m in run["modules"]}
