"""A project file binds what every verb does, and shows in what a run leaves."""

from __future__ import annotations

import hashlib
import json
import shutil

import pytest

POLICY = """version: 1
name: visits
extends: ../templates/house.yaml
source: {path: ../visits.csv}
attributes:
  patient: {role: identifier}
  age: {role: quasi_identifier, type: integer, hierarchy: {intervals: [0, 50, 100]}}
  illness: {role: sensitive}
privacy: {l_diversity: {illness: {l: 2}}}
steps: {recoded: {use: full_domain_recoding}}
releases: {study: {path: study.csv}}
"""
PROJECT = """version: 1
policies: [policies/]
require: [templates/house.yaml]
runs: made
"""


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "house"
    for name, text in (
        ("policies/visits.yaml", POLICY),
        ("templates/house.yaml", "version: 1\nprivacy: {k_anonymity: {k: 5}}\n"),
        ("ppdm-flow.yaml", PROJECT),
        (
            "visits.csv",
            "patient,age,illness\n" + "".join(f"p{i},{i % 90},{('flu', 'cold')[i % 2]}\n" for i in range(60)),
        ),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / ".git").mkdir()
    return folder


@pytest.mark.slow
def test_a_run_goes_where_the_project_wants_it_and_says_what_bound_it(cli, home):
    done = cli("run", "policies/visits.yaml", "-q", cwd=home)
    assert done.returncode == 0, done.stderr
    (run,) = (home / "made" / "visits").iterdir()
    manifest = json.loads((run / "manifest.json").read_text())
    assert manifest["project"] == {"sha256": hashlib.sha256(PROJECT.encode()).hexdigest()}
    verified = cli("verify", run, cwd=home)
    assert verified.returncode == 0
    assert "project file: `ppdm-flow.yaml` bound the policy, as it is now" in verified.stdout
    assert cli("key", "ana.key", cwd=home).returncode == 0
    assert cli("sign", run, "--key", "ana.key", "--role", "author", cwd=home).returncode == 0
    (home / "ppdm-flow.yaml").write_text(PROJECT + "locked: true\n")
    changed = cli("verify", run, cwd=home)
    assert changed.returncode == 0
    assert "another content than that of `ppdm-flow.yaml` bound the policy" in changed.stdout
    points = json.loads(cli("verify", run, "--format", "json", cwd=home).stdout)["points"]
    assert [each["holds"] for each in points if each["name"] == "project file"] == [None]


@pytest.mark.slow
def test_a_copy_elsewhere_is_not_bound_and_shows(cli, home, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(home, copy)
    (copy / "ppdm-flow.yaml").unlink()
    (copy / "policies" / "visits.yaml").write_text(POLICY.replace("extends: ../templates/house.yaml\n", ""))
    done = cli("run", "policies/visits.yaml", "-q", cwd=copy)
    assert done.returncode == 0, done.stderr
    shutil.move(str(copy / "runs"), home / "made")
    (run,) = (home / "made" / "visits").iterdir()
    verified = cli("verify", run, cwd=home)
    assert "project file: none bound the policy, and here `ppdm-flow.yaml` binds all" in verified.stdout


@pytest.mark.slow
def test_what_releases_data_does_not_do_without_it(cli, home):
    (home / "policies" / "visits.yaml").write_text(POLICY.replace("extends: ../templates/house.yaml\n", ""))
    for words in (
        ("check",),
        ("check", "policies/visits.yaml"),
        ("plan", "policies/visits.yaml"),
        ("show", "policies/visits.yaml"),
    ):
        bound = cli(*words, cwd=home)
        assert bound.returncode in (1, 2)
        assert "PPF356" in bound.stdout + bound.stderr
        assert cli(*words, "--no-project", cwd=home).returncode == (2 if words == ("check",) else 0)
    refused = cli("run", "policies/visits.yaml", "--no-project", cwd=home)
    assert refused.returncode == 2
    assert "PPF357" in refused.stderr
    assert "PPF356" in cli("run", "policies/visits.yaml", cwd=home).stderr
    assert not (home / "made").exists()


@pytest.mark.slow
def test_warnings_are_errors_and_locks_are_asked_for_where_it_says_so(cli, home):
    (home / "ppdm-flow.yaml").write_text(PROJECT + "lint: {strict: true}\n")
    assert cli("check", cwd=home).returncode == 0
    warned = POLICY + "randomness: {mode: reproducible, seed: 1}\n"
    (home / "policies" / "visits.yaml").write_text(warned)
    assert "error[PPF513]" in cli("check", cwd=home).stdout
    assert "error[PPF513]" in cli("run", "policies/visits.yaml", cwd=home).stderr
    (home / "policies" / "visits.yaml").write_text(POLICY)
    (home / "ppdm-flow.yaml").write_text(PROJECT + "locked: true\n")
    assert "PPF681" in cli("run", "policies/visits.yaml", cwd=home).stderr
    assert cli("lock", cwd=home).returncode == 0
    assert cli("check", cwd=home).returncode == 0
    assert cli("run", "policies/visits.yaml", cwd=home).returncode == 0
    (home / "templates" / "house.yaml").write_text("version: 1\nprivacy: {k_anonymity: {k: 6}}\n")
    assert "PPF33" in cli("run", "policies/visits.yaml", cwd=home).stderr


@pytest.mark.slow
def test_signers_are_those_of_the_project(cli, home):
    assert cli("run", "policies/visits.yaml", "-q", cwd=home).returncode == 0
    (run,) = (home / "made" / "visits").iterdir()
    assert cli("key", "ana.key", cwd=home).returncode == 0
    key = (home / "ana.key.pub").read_text().strip()
    (home / "signers.yaml").write_text(f"version: 1\nsigners: {{ana: {{roles: [author], key: {key}}}}}\n")
    (home / "ppdm-flow.yaml").write_text(PROJECT + "signers: signers.yaml\n")
    assert cli("verify", run, cwd=home).returncode == 1
    assert cli("sign", run, "--key", "ana.key", "--role", "author", cwd=home).returncode == 0
    assert cli("verify", run, cwd=home).returncode == 0


def test_the_project_of_a_new_repository_is_kept(cli, tmp_path):
    assert cli("init", "house", cwd=tmp_path).returncode == 0
    house = tmp_path / "house"
    assert cli("check", cwd=house).returncode == 0
    policy = house / "policies" / "visits.yaml"
    policy.write_text(policy.read_text().replace("../templates/organization.yaml", "builtin:microdata-kl"))
    assert "PPF356" in cli("check", cwd=house).stdout


def test_an_added_policy_that_extends_what_is_required_is_no_weakening(cli, home):
    shutil.copytree(home / "policies", home / "before")
    (home / "policies" / "other.yaml").write_text(POLICY.replace("name: visits", "name: other"))
    words = ("diff", "before", "policies", "--forbid-weaker")
    assert cli(*words, cwd=home).returncode == 0
    (home / "ppdm-flow.yaml").write_text("version: 1\n")
    assert cli(*words, cwd=home).returncode == 1
    assert cli(*words, "--allow-added", cwd=home).returncode == 0
