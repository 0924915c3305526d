"""Line coverage of a tier of the tests, by room, and the plugins and verbs of which it covers little.

    python tests/campaigns/tier_coverage.py
    python tests/campaigns/tier_coverage.py --full --json full.json
    python tests/campaigns/tier_coverage.py tests/tables tests/sinks

Processes that tests start are measured too; bodies of compiled kernels are left out, since nothing traces them.
Tracing makes a tier take about twice as long, and tests of what a process imports or how it ends fail under it. Ends
with 1 where a test failed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LITTLE = 0.6
"""Share of a plugin's or a verb's lines below which it is printed."""

Lines = dict[str, tuple[int, int]]
"""Covered and all lines of each module, by its path below the checkout."""


def measure_tier(words: list[str]) -> tuple[int, Lines]:
    """Run pytest with these words; return its exit status and what it covered."""
    with TemporaryDirectory() as name:
        data, report = Path(name, "coverage"), Path(name, "coverage.json")
        environment = {**os.environ, "COVERAGE_FILE": str(data)}
        coverage = [sys.executable, "-m", "coverage"]
        done = subprocess.run([*coverage, "run", "-m", "pytest", *words], cwd=ROOT, env=environment, check=False)
        subprocess.run([*coverage, "combine", "-q"], cwd=ROOT, env=environment, check=True)
        subprocess.run([*coverage, "json", "-q", "-o", str(report)], cwd=ROOT, env=environment, check=True)
        files: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))["files"]
    totals = {path: file["summary"] for path, file in files.items()}
    return done.returncode, {path: (each["covered_lines"], each["num_statements"]) for path, each in totals.items()}


def share_below(lines: Lines, place: str) -> float:
    """Return the share of covered lines of a module, or of all modules of a folder; 1 where there are none."""
    here = [count for path, count in lines.items() if path == place or path.startswith(f"{place.rstrip('/')}/")]
    return sum(covered for covered, _ in here) / (sum(every for _, every in here) or 1)


def places() -> Iterator[tuple[str, str]]:
    """Yield each built-in plugin and each verb with the path of its code."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for group, plugins in project["entry-points"].items():
        for name, target in plugins.items():
            yield f"{group.rpartition('.')[2]} {name}", target.partition(":")[0].rpartition(".")[0].replace(".", "/")
    for path in sorted((ROOT / "ppdm_flow/cli").glob("*.py")):
        yield f"cli {path.stem}", path.relative_to(ROOT).as_posix()


def main() -> int:
    """Run a tier and print what it covers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="the full tier")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write a list of rows, one for each room")
    parser.add_argument("paths", nargs="*", help="tests to run; all, where none is named")
    chosen = parser.parse_args()
    status, lines = measure_tier([*(["--full"] if chosen.full else []), *chosen.paths])
    rooms = sorted({"/".join(path.split("/")[:2]) for path in lines})
    rows = [{"id": place, "measured": round(share_below(lines, place), 4)} for place in ["ppdm_flow", *rooms]]
    print("\n".join(f"{row['measured']:7.1%}  {row['id']}" for row in rows))
    little = [(share_below(lines, place), name) for name, place in places()]
    print("\n".join(f"{share:7.1%}  {name}" for share, name in sorted(little) if share < LITTLE) or "no plugin or verb")
    print(f"of {len(little)} plugins and verbs, those with less than {LITTLE:.0%} are listed above")
    if chosen.json:
        chosen.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main())
