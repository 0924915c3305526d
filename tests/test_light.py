"""The light distribution: verbs that read no data run without the libraries that data needs."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
import zipfile
from email.parser import Parser
from functools import cache
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from ppdm_flow import api
from ppdm_flow.cli.terminal.defects import NOT_LIGHT

ROOT = Path(__file__).parents[1]
NEEDED = runpy.run_path(str(ROOT / ".ci" / "light" / "build"))["NEEDED"]


@cache
def needed_by(name: str) -> frozenset[str]:
    """Return the distributions that `pip` installs with one, itself too."""
    needs = (Requirement(each) for each in distribution(name).requires or ())
    below = (need.name for need in needs if need.marker is None or need.marker.evaluate({"extra": ""}))
    return frozenset({canonicalize_name(name)}).union(*(needed_by(canonicalize_name(each)) for each in below))


LIGHT = frozenset[str]().union(*map(needed_by, NEEDED))
"""All that `pip` installs with the light distribution."""
OTHERS = sorted(
    module
    for module, names in packages_distributions().items()
    if not {canonicalize_name(name) for name in names} & {*LIGHT, "ppdm-flow"}
)
"""Modules that are installed here, and not with the light distribution."""
BLOCKED = f"""
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {OTHERS!r}:
            raise ModuleNotFoundError("blocked", name=name)

sys.meta_path.insert(0, Blocker())
from ppdm_flow.cli.main import main
main()
"""
MOST_MEGABYTES = 80


def without(*words: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run a verb where nothing can be imported but what comes with the light distribution."""
    command = [sys.executable, "-c", BLOCKED, *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=1200, check=False)


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize(
    "words",
    [
        ("check", "pipelines"),
        ("check", "pipelines/hospital.yaml", "--format", "sarif"),
        ("show", "pipelines/hospital.yaml"),
        ("diff", "pipelines/hospital.yaml", "pipelines/hospital.yaml"),
        ("list", "audits"),
        ("list", "templates"),
        ("explain", "lkc"),
        ("explain", "PPF697"),
        ("schema", "--check"),
        ("plan", "pipelines/hospital.yaml"),
        ("plan", "pipelines/clinic_visits.yaml"),
        ("--help",),
        ("run", "--help"),
        ("--version",),
    ],
    ids=" ".join,
)
def test_verbs_that_read_no_data_need_no_library_for_it(words):
    done = without(*words)
    assert done.returncode == 0, done.stderr
    assert "PPF6" not in done.stderr


@pytest.mark.slow
def test_a_repository_is_made_checked_and_locked(tmp_path):
    assert without("init", "home", folder=tmp_path).returncode == 0
    home = tmp_path / "home"
    for words in (("check", "policies/", "--strict"), ("lock",), ("lock", "--check")):
        assert without(*words, folder=home).returncode == 0


@pytest.mark.slow
def test_a_policy_is_drafted_from_a_contract(tmp_path):
    (tmp_path / "c.yaml").write_text(
        "kind: DataContract\napiVersion: v3.1.0\nid: c\nversion: 1.0.0\nstatus: draft\n"
        "schema: [{name: t, properties: [{name: age, logicalType: integer}]}]\n"
    )
    assert without("init", "--from-contract", "c.yaml", "--out", "p.yaml", folder=tmp_path).returncode == 0
    assert without("check", "p.yaml", "--strict", folder=tmp_path).returncode == 0


@pytest.mark.slow
def test_a_run_is_shown_and_its_files_are_verified(tmp_path):
    policy = tmp_path / "policy.yaml"
    policy.write_text(
        "version: 1\nname: p\nsource: {path: t.csv}\nattributes: {age: {role: quasi_identifier}}\n"
        "privacy: {k_anonymity: {k: 2}}\nreleases: {study: {path: out.csv}}\n"
    )
    (tmp_path / "t.csv").write_text("age\n" + "30\n" * 5)
    run = api.run(policy, out=tmp_path / "runs").run_dir
    for form in ("md", "html", "json", "junit"):
        done = without("report", str(run), "--format", form)
        assert (done.returncode, bool(done.stdout)) == (0, True)
    for form in ("croissant", "odcs", "ro-crate", "openlineage"):
        done = without("report", str(run), "--format", form)
        assert (done.returncode, bool(done.stdout)) == (0, True)
    assert without("verify", str(run)).returncode == 0
    (run / "released" / "study" / "out.csv").write_text("age\n31\n")
    assert without("verify", str(run)).returncode == 1


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize(
    "words", [("run", "pipelines/hospital.yaml"), ("test", "pipelines"), ("doctor",)], ids=" ".join
)
def test_verbs_that_read_data_say_what_is_missing(words):
    done = without(*words)
    assert done.returncode == 3
    assert "PPF697" in done.stderr
    assert "install `ppdm_flow`" in done.stderr


@pytest.mark.slow
def test_the_distribution_asks_for_no_library_for_data(tmp_path):
    command = [sys.executable, str(ROOT / ".ci" / "light" / "build"), "--dir", str(tmp_path), "--no-build-isolation"]
    subprocess.run(command, check=True, capture_output=True, timeout=1200)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as files:
        names = files.namelist()
        (path,) = [n for n in names if n.endswith(".dist-info/METADATA")]
        metadata = Parser().parsestr(files.read(path).decode())
        (points,) = [files.read(n).decode() for n in names if n.endswith(".dist-info/entry_points.txt")]
    assert metadata["Name"].replace("-", "_") == "ppdm_flow_light"
    needed = {re.split("[<>=,;]", needs)[0].lower() for needs in metadata.get_all("Requires-Dist", [])}
    assert {canonicalize_name(each) for each in needed} == {canonicalize_name(each) for each in NEEDED}
    assert not {n.lower() for n in NOT_LIGHT} & needed
    here = {f.relative_to(ROOT).as_posix() for f in (ROOT / "ppdm_flow").rglob("*.py")}
    assert {n for n in names if n.endswith(".py") and n.startswith("ppdm_flow/")} == here
    assert "[ppdm_flow.requirements]" in points


def test_the_light_environment_is_small():
    sizes = [_installed(name) for name in LIGHT]
    files = (f for f in (ROOT / "ppdm_flow").rglob("*") if f.is_file() and f.parent.name != "__pycache__")
    own = sum(f.stat().st_size for f in files)
    assert sum(sizes) + own < MOST_MEGABYTES * 1e6


def _installed(name: str) -> int:
    """Return the bytes of an installed distribution, with what Python compiled of it."""
    files = distribution(name).files or []
    return sum(place.stat().st_size for file in files if (place := Path(str(file.locate()))).is_file())
