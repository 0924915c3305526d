"""The scripts and workflows of CI, and the lock file that it installs from, stay in step with the project."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib

import pytest
import yaml


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
    install = "python3 -m venv .venv && .venv/bin/pip install -c .ci/requirements.lock"
    assert lines == [
        f"{install} . && .venv/bin/ppdm-flow run pipelines/hospital.yaml",
        f"{install} '.[test]' && .venv/bin/pytest",
    ]


def test_workflows_are_valid(root):
    workflows = sorted((root / ".github/workflows").glob("*.yml"))
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    done = subprocess.run([*command, *map(str, workflows)], capture_output=True, text=True, check=False, timeout=1200)
    assert done.returncode == 0, done.stdout + done.stderr


def test_weekly_workflow_runs_both_ends_of_the_ranges(root):
    (job,) = yaml.safe_load((root / ".github/workflows/versions.yml").read_text())["jobs"].values()
    (step,) = [step for step in job["steps"] if ".ci/versions" in step.get("run", "")]
    assert shlex.split(step["run"])[:2] == [".ci/versions", "${{"]
    assert step["continue-on-error"] is True
    assert [entry["versions"] for entry in job["strategy"]["matrix"]["include"]] == ["newest", "lowest"]


@pytest.mark.parametrize("words", [[], ["oldest", "folder"], ["newest"]])
def test_script_of_versions_refuses_other_words(root, words):
    done = subprocess.run([root / ".ci/versions", *words], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode != 0
    assert "usage: .ci/versions newest|lowest FOLDER" in done.stderr
