"""A kind of requirement is one folder and one entry point: without them, every other kind works."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tomllib

import pytest

KIND = "beta_likeness"
POLICY = """version: 1
name: others
source: {path: data.csv}
attributes:
  age: {role: quasi_identifier, type: integer, hierarchy: {intervals: [0, 20, 40, 60, 80], then: [2]}}
  town: {role: quasi_identifier}
  illness: {role: sensitive}
  basket: {role: insensitive}
privacy:
  k_anonymity: {k: 5}
  templates: {flu: {channel: [age, town], sensitive: {illness: [flu]}, confidence: 0.9}}
  l_diversity: {illness: {l: 2}}
  t_closeness: {illness: {t: 0.9}}
  alpha_k: {illness: {alpha: 0.9}}
  delta_disclosure: {illness: {delta: 9}}
  lkc: {l: 1, k: 5, c: 0.9, sensitive: {illness: [flu]}}
  special_uniques: {size: 2, max_share: 0.1}
steps:
  classes: {use: STEP}
releases:
  study: {path: study.csv}
"""


@pytest.fixture(scope="module")
def without(root, tmp_path_factory):
    """Return a way to run the program in a copy without the kind."""
    place = tmp_path_factory.mktemp("without")
    skipped = shutil.ignore_patterns(KIND)  # machine code of kernels comes along
    shutil.copytree(root / "ppdm_flow", place / "ppdm_flow", ignore=skipped)
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    about = place / "ppdm_flow-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 0.1.0\n")
    lines = []
    for group, entries in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {path}" for name, path in entries.items() if name != KIND)]
    (about / "entry_points.txt").write_text("\n".join(lines) + "\n")

    def run(*words):
        command = [sys.executable, "-m", "ppdm_flow", *words]
        environment = {**os.environ, "PYTHONPATH": str(place)}
        return subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)

    draw = random.Random(5)
    rows = [f"{draw.randrange(5, 75)},{draw.choice('ab')},{draw.choice(['flu', 'cold', 'ok'])},x" for _ in range(200)]
    (place / "data.csv").write_text("age,town,illness,basket\n" + "\n".join(rows) + "\n")
    run.place = place
    return run


@pytest.mark.slow
@pytest.mark.parametrize("step", ["mondrian", "full_domain_recoding"])
def test_every_other_kind_is_enforced_and_measured(without, step):
    (without.place / "policy.yaml").write_text(POLICY.replace("STEP", step))
    done = without("run", "policy.yaml", "--format", "json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    kinds = {result["id"].split(".")[1] for result in report["requirements"]}
    assert kinds == {
        "k_anonymity", "templates", "l_diversity", "t_closeness", "alpha_k", "delta_disclosure", "lkc",
        "special_uniques",
    }  # fmt: skip
    assert report["verdict"] == "released"


@pytest.mark.slow
def test_the_kind_is_an_unknown_key(without):
    text = POLICY.replace("STEP", "mondrian").replace("privacy:\n", "privacy:\n  beta_likeness: {illness: {beta: 2}}\n")
    (without.place / "with.yaml").write_text(text)
    done = without("check", "with.yaml")
    assert done.returncode != 0
    assert "unknown key `beta_likeness` in `privacy`" in done.stdout


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("words", [("list", "audits"), ("schema", "policy"), ("schema", "plan"), ("doctor",)])
def test_the_program_knows_nothing_of_it(without, words):
    done = without(*words)
    assert done.returncode == 0, done.stderr
    assert KIND not in done.stdout


@pytest.mark.slow
def test_policies_compare(without):
    (without.place / "old.yaml").write_text(POLICY.replace("STEP", "mondrian"))
    (without.place / "new.yaml").write_text(POLICY.replace("STEP", "mondrian").replace("t: 0.9", "t: 0.8"))
    done = without("diff", "old.yaml", "new.yaml", "--forbid-weaker")
    assert done.returncode == 0, done.stderr
    assert "t_closeness" in done.stdout
