"""The hooks for pre-commit: of the shape that pre-commit asks for, and their commands run as written."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

import pytest
import yaml

POLICY = """version: 1
name: visits
source: {path: visits.csv}
attributes: {age: {role: quasi_identifier}}
privacy: {k_anonymity: {k: 3}}
releases: {study: {path: study.csv}}
"""
TEST = """policy: ../policies/visits.yaml
tests:
  alike:
    data: {rows: [{age: 1}, {age: 1}, {age: 1}]}
    expect: {verdict: released}
"""
KEYS = {"id", "name", "description", "entry", "args", "language", "files", "pass_filenames"}


@pytest.fixture
def hooks(root):
    return {hook["id"]: hook for hook in yaml.safe_load((root / ".pre-commit-hooks.yaml").read_text())}


@pytest.fixture
def folder(tmp_path):
    for name in ("policies", "tests"):
        (tmp_path / name).mkdir()
    (tmp_path / "policies" / "visits.yaml").write_text(POLICY)
    return tmp_path


@pytest.fixture
def run(hooks, folder):
    def run(name):
        """Do what pre-commit does: entry and args, from the repository's root."""
        hook = hooks[name]
        words = [*shlex.split(hook["entry"]), *hook["args"]]
        assert words[0] == "ppdm-flow"
        return subprocess.run(
            [sys.executable, "-m", "ppdm_flow", *words[1:]], cwd=folder, capture_output=True, text=True, check=False
        )

    return run


def test_they_have_the_shape_that_pre_commit_asks_for(hooks):
    assert set(hooks) == {"ppdm-flow-check", "ppdm-flow-test", "ppdm-flow-lock"}
    for hook in hooks.values():
        assert set(hook) == KEYS
        assert hook["language"] == "python"
        assert hook["pass_filenames"] is False
        assert all(isinstance(word, str) for word in hook["args"])
        re.compile(hook["files"])


@pytest.mark.parametrize(
    ("name", "file", "starts"),
    [
        ("ppdm-flow-check", "templates/house.yaml", True),
        ("ppdm-flow-check", "src/x.py", False),
        ("ppdm-flow-test", "tests/visits.test.yaml", True),
        ("ppdm-flow-test", "tests/rows.csv", True),
        ("ppdm-flow-lock", "ppdm-flow.lock", True),
        ("ppdm-flow-lock", "policies/visits.yml", True),
        ("ppdm-flow-lock", "README.md", False),
    ],
)
def test_what_starts_them(hooks, name, file, starts):
    assert (re.search(hooks[name]["files"], file) is not None) is starts


@pytest.mark.slow
def test_test(run, folder):
    (folder / "tests" / "visits.test.yaml").write_text(TEST)
    done = run("ppdm-flow-test")
    assert done.returncode == 0, done.stdout + done.stderr
    (folder / "tests" / "visits.test.yaml").write_text(TEST.replace("released", "withheld"))
    assert run("ppdm-flow-test").returncode == 1


@pytest.mark.slow
def test_check(run, folder):
    assert run("ppdm-flow-check").returncode == 0
    (folder / "policies" / "visits.yaml").write_text(POLICY.replace("privacy: {k_anonymity: {k: 3}}\n", ""))
    assert run("ppdm-flow-check").returncode == 1


@pytest.mark.slow
def test_lock(run, folder):
    words = [sys.executable, "-m", "ppdm_flow", "lock"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    done = run("ppdm-flow-lock")
    assert done.returncode == 0, done.stdout + done.stderr
    (folder / "policies" / "new.yaml").write_text(POLICY)
    assert run("ppdm-flow-lock").returncode == 1
