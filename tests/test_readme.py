"""Every code block of the README is carried out, in order, in one empty folder."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

BLOCK = re.compile(r"^(?P<fence>```+)(\w+)(?: file=(\S+))?\n(.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL)


def blocks(root: Path) -> list[tuple[str, str, str]]:
    return [(m[2], m[3] or "", m[4]) for m in BLOCK.finditer((root / "README.md").read_text())]


def written(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_every_block_is_of_a_kind_that_is_carried_out(root):
    kinds = {kind for kind, _, _ in blocks(root)}
    assert kinds <= {"sh", "yaml", "csv", "text", "toml", "python", "markdown"}
    assert all(name for kind, name, _ in blocks(root) if kind not in ("sh", "text"))


@pytest.mark.slow
def test_blocks_run_in_order(root, cli, tmp_path):
    # the two set-up commands are run by CI, word by word: here the program is installed already
    ran = 0
    for kind, name, text in blocks(root):
        if name:
            written(tmp_path, name, text)
        if kind != "sh":
            continue
        for line in text.splitlines():
            if line.startswith("python3 -m venv"):
                continue
            words = shlex.split(line, comments=True)
            done = cli(*words[1:], cwd=tmp_path) if words[0] == "ppdm-flow" else in_shell(line, tmp_path)
            assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
            assert done.stdout.strip() or done.stderr.strip(), line
            ran += 1
    assert ran >= 8


def in_shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = re.sub(r"^python\b", lambda _: shlex.quote(sys.executable), line)
    return subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )


@pytest.mark.slow
def test_the_plugins_are_installed_used_and_conform(root, tmp_path):
    if importlib.util.find_spec("pip") is None or importlib.util.find_spec("hatchling") is None:
        pytest.skip("pip and hatchling are needed to build plugins; the extra `test` brings hatchling")
    for _, name, text in blocks(root):
        if name:
            written(tmp_path, name, text)
    words = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--target", "site", "./acme"]
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "site"), "PIP_ROOT_USER_ACTION": "ignore"}
    policy = (tmp_path / "clinic.yaml").read_text()
    policy = policy.replace("steps:\n", "steps:\n  cut: {use: acme_initials, with: {attribute: job}}\n", 1)
    policy = policy.replace("privacy:\n", "privacy:\n  acme_common_values: {job: {rows: 2}}\n", 1)
    policy += "audits: {values: {use: acme_distinct}}\ngates: {few: {metric: values.job.distinct, max: 4}}\n"
    (tmp_path / "clinic.yaml").write_text(policy)
    for command in (
        ["pip", "install", *words],
        ["pytest", "-q", "-p", "no:cacheprovider", "acme"],
        ["ppdm_flow", "run", "clinic.yaml"],
        ["ppdm_flow", "explain", "acme_initials"],
        ["ppdm_flow", "explain", "values.job.distinct"],
        ["ppdm_flow", "explain", "acme_common_values"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", *command], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


def test_the_picture_is_the_plan(root, cli):
    done = cli("plan", root / "pipelines/hospital.yaml", "--format", "svg")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == (root / "pipelines/hospital.svg").read_text().strip()


def test_without_suppression_it_is_withheld(root, cli, tmp_path):
    """What the README says of the first policy without its last step."""
    for _, name, text in blocks(root):
        if name:
            written(tmp_path, name, text)
    policy = tmp_path / "clinic.yaml"
    text = policy.read_text()
    start = text.index("  suppress:")
    policy.write_text(text[:start] + text[text.index("releases:") :])
    assert cli("run", policy, "--out", tmp_path / "runs").returncode == 1
    assert not list((tmp_path / "runs").rglob("released"))


@pytest.mark.parametrize(("least", "certain"), [(2, True), (3, False)])
def test_what_one_ruled_out_illness_tells(root, cli, tmp_path, least, certain):
    """What the README says of the policy of classes: released, with a warning that `l: 3` ends."""
    for _, name, text in blocks(root):
        if name:
            written(tmp_path, name, text)
    policy = tmp_path / "classes.yaml"
    policy.write_text(policy.read_text().replace("l: 2", f"l: {least}"))
    done = cli("run", policy, "--out", tmp_path / "runs")
    assert done.returncode == 0, done.stderr
    (report,) = (tmp_path / "runs").rglob("report.md")
    assert ("to someone who can rule out 1 value" in report.read_text()) is certain


@pytest.mark.parametrize(
    "link",
    [
        ".github/ARCHITECTURE.md",
        ".github/CONTRIBUTING.md",
        ".pre-commit-hooks.yaml",
        "LICENSE",
        "pipelines/README.md",
        "pipelines/from_python.ipynb",
        "pipelines/recipes/README.md",
        "pipelines/hospital.svg",
        "pipelines/hospital_generated.yaml",
        "pipelines/hospital_partition.yaml",
        "tests/plugins/acme_plugin",
    ],
)
def test_links_lead_somewhere(root, link):
    assert link in (root / "README.md").read_text()
    assert (root / link).exists()
