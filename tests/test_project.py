"""The files around the code: licence, forms for issues, and the repository's own hooks."""

from __future__ import annotations

import hashlib
import re
import shlex
import subprocess
import sys
import zipfile
from importlib import metadata

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from pre_commit import clientlib as pre_commit_clientlib

APACHE_2 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
"""SHA-256 of the text that the Apache Software Foundation publishes."""


def test_the_licence_is_unmodified(root):
    assert hashlib.sha256((root / "LICENSE").read_bytes()).hexdigest() == APACHE_2


@pytest.mark.slow
def test_wheel_and_sdist_hold_the_licence(root, tmp_path):
    wheel = pytest.importorskip("hatchling.builders.wheel", reason="the extra `test` brings hatchling")
    sdist = pytest.importorskip("hatchling.builders.sdist", reason="the extra `test` brings hatchling")
    (built,) = wheel.WheelBuilder(str(root)).build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(built) as file:
        (info,) = {name.partition("/")[0] for name in file.namelist() if ".dist-info/" in name}
        assert file.read(f"{info}/licenses/LICENSE") == (root / "LICENSE").read_bytes()
        told = file.read(f"{info}/METADATA").decode().splitlines()
    assert {"License-Expression: Apache-2.0", "License-File: LICENSE"} <= set(told)
    packed = {f.relative_path for f in sdist.SdistBuilder(str(root)).recurse_included_files()}
    assert "LICENSE" in packed


def installed_with_the_product() -> dict[str, str]:
    """Return the licence of each package that the product or one of its extras for users brings, where it is there."""
    extras = sorted(set(metadata.metadata("ppdm_flow").get_all("Provides-Extra")) - {"test", "dev"})
    waiting = [Requirement(f"ppdm_flow[{','.join(extras)}]")]
    licences, seen = {}, set()
    while waiting:
        asked = waiting.pop()
        name = canonicalize_name(asked.name)
        new = {extra for extra in ("", *asked.extras) if (name, extra) not in seen}
        seen |= {(name, extra) for extra in new}
        try:
            about = metadata.metadata(name)
        except metadata.PackageNotFoundError:  # an extra that is not installed
            continue
        named = [c.removeprefix("License :: ") for c in about.get_all("Classifier", []) if c.startswith("License :: ")]
        licences[name] = about["License-Expression"] or " / ".join(named) or (about["License"] or "").partition("\n")[0]
        needs = map(Requirement, about.get_all("Requires-Dist", []))
        waiting += [n for n in needs if any(n.marker is None or n.marker.evaluate({"extra": e}) for e in new)]
    return licences


def test_licences_of_dependencies_let_everybody_use_the_product():
    licences = installed_with_the_product()
    assert {"duckdb", "numba", "pandas", "scipy", "starlette"} <= licences.keys()
    usual = re.compile("MIT|BSD|Apache|PSF|Python Software Foundation|ISC|MPL|Mozilla|Zlib|Unlicense|HPND|CC0")
    unclear = {name: text for name, text in licences.items() if not usual.search(text) or re.search("GPL|SSPL", text)}
    assert not unclear, f"not known to be permissive: {unclear}; all of them: {licences}"


def test_forms_for_issues_are_valid(root):
    forms = sorted((root / ".github/ISSUE_TEMPLATE").glob("*.yml"))
    assert [form.stem for form in forms] == ["bug", "guarantee", "wish"]
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-issue-forms"]
    done = subprocess.run([*command, *map(str, forms)], capture_output=True, text=True, check=False, timeout=1200)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def hooks(root):
    (local,) = yaml.safe_load((root / ".pre-commit-config.yaml").read_text())["repos"]
    assert local["repo"] == "local"
    return {hook["id"]: hook for hook in local["hooks"]}


def test_the_hooks_need_no_network(root, hooks):
    assert pre_commit_clientlib.load_config(root / ".pre-commit-config.yaml")
    assert {hook["language"] for hook in hooks.values()} == {"system"}
    ours = {hook["id"] for hook in yaml.safe_load((root / ".pre-commit-hooks.yaml").read_text())}
    assert ours - set(hooks) == {"ppdm-flow-lock"}


@pytest.mark.parametrize(
    ("name", "file", "starts"),
    [
        ("ppdm-flow-check", "pipelines/hospital.yaml", True),
        ("ppdm-flow-check", "tests/examples/bad/PPF105-tab.yaml", False),
        ("ppdm-flow-test", "pipelines/tests/patients.csv", True),
        ("ppdm-flow-schema", "ppdm_flow/pages/keys/policy.md", True),
        ("ppdm-flow-schema", "README.md", False),
    ],
)
def test_what_starts_a_hook(hooks, name, file, starts):
    assert (re.search(hooks[name]["files"], file) is not None) is starts


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("name", ["ppdm-flow-check", "ppdm-flow-schema", "ppdm-flow-test"])
def test_a_hook_passes_here(cli, hooks, name):
    program, *words = shlex.split(hooks[name]["entry"])
    assert program == "ppdm-flow"
    done = cli(*words)
    assert done.returncode == 0, done.stdout + done.stderr
