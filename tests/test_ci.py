"""The script that CI runs, and the lock file that it installs from, stay in step with the project."""

from __future__ import annotations

import re
import tomllib


def test_lock_covers_every_requirement(root):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *(r for group in project["optional-dependencies"].values() for r in group)]
    names = {re.split(r"[\[<>=~! ]", r)[0].lower().replace("_", "-") for r in wanted} - {"ppdm-flow"}
    locked = {
        line.split("==")[0].strip().lower().replace("_", "-")
        for line in (root / ".ci/requirements.lock").read_text().splitlines()
        if "==" in line
    }
    assert names - locked == set()


def test_readme_holds_the_two_commands_that_ci_runs(root):
    lines = [line for line in (root / "README.md").read_text().splitlines() if line.startswith("python3 -m venv")]
    assert lines == [
        "python3 -m venv .venv && .venv/bin/pip install . && .venv/bin/ppdm-flow run pipelines/hospital.yaml",
        "python3 -m venv .venv && .venv/bin/pip install '.[test]' && .venv/bin/pytest",
    ]
