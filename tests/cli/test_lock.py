"""``lock``, ``lock --check`` and ``--locked``, end to end: what drifts is named, and what drifted does not run."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import threading
from pathlib import Path

import jsonschema
import pytest
import yaml
from signers import signers_text

from ppdm_flow import api
from ppdm_flow.api.loading.locked import Locks
from ppdm_flow.core import digests
from ppdm_flow.core.errors import PolicyError, PpdmError
from ppdm_flow.core.version import VERSION
from ppdm_flow.plan.compile import compile_policy
from ppdm_flow.policy import load

VISITS = """\
version: 1
name: visits
extends:
  - ../templates/house.yaml
source: {path: ../data/visits.csv}
attributes:
  age: {role: quasi_identifier, hierarchy: {csv: ../hierarchies/age.csv}}
  job: {role: quasi_identifier}
steps:
  coarse: {use: generalize, with: {attributes: {age: {level: 1}}}}
releases: {study: {path: study.csv}}
"""
ALIKE = """\
version: 1
name: alike
source: {path: ../data/visits.csv}
attributes: {age: {role: quasi_identifier}, job: {role: quasi_identifier}}
privacy: {k_anonymity: {k: 2}}
releases: {study: {path: alike.csv, from: source}}
"""


@pytest.fixture
def folder(tmp_path):
    """A repository: two policies, one of them over a template of the house and with a hierarchy in a file."""
    files = {
        ".git/HEAD": "",
        "policies/visits.yaml": VISITS,
        "policies/alike.yaml": ALIKE,
        "templates/house.yaml": "version: 1\nprivacy: {k_anonymity: {k: 2}}\n",
        "hierarchies/age.csv": "30;3*;*\n31;3*;*\n",
        "data/visits.csv": "age,job\n30,nurse\n31,nurse\n31,nurse\n30,nurse\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


@pytest.fixture
def house(folder, here):
    """The repository, locked."""
    done = here("lock", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


def content(folder: Path) -> dict:
    return yaml.safe_load((folder / "ppdm-flow.lock").read_text())


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def append(path: Path, text: str = "# x\n") -> None:
    path.write_text(path.read_text() + text)


# ---- what is in it ----


def test_it_says_what_stands_behind_each_policy(house, root):
    found = content(house)
    jsonschema.validate(found, json.loads((root / "schemas/lock.v1.json").read_text()))
    assert found["templates"] == {"templates/house.yaml": {"sha256": sha256(house / "templates/house.yaml")}}
    assert found["files"] == {"hierarchies/age.csv": {"sha256": sha256(house / "hierarchies/age.csv")}}
    assert found["policies"]["policies/visits.yaml"]["templates"] == ["templates/house.yaml"]
    assert found["policies"]["policies/alike.yaml"]["files"] == []
    plugins = set(found["plugins"])
    assert {"anonymizers/generalize", "audits/k_anonymity", "audits/class_sizes", "sources/csv", "sinks/csv"} <= plugins
    assert all(each == {"distribution": "ppdm_flow", "version": VERSION} for each in found["plugins"].values())
    assert "anonymizers/generalize" not in found["policies"]["policies/alike.yaml"]["plugins"]


def test_who_may_approve_is_locked(folder, here):
    signers = folder / "policies/signers.yaml"
    signers.write_text(signers_text({"alice": "author", "bob": "data-owner", "carol": "press"}))
    append(folder / "policies/alike.yaml", "approvals: {roles: [data-owner], signers: signers.yaml}\n")
    assert here("lock", cwd=folder).returncode == 0
    assert content(folder)["files"]["policies/signers.yaml"] == {"sha256": sha256(signers)}
    assert content(folder)["policies"]["policies/alike.yaml"]["files"] == ["policies/signers.yaml"]
    assert here("lock", "--check", cwd=folder).returncode == 0
    signers.write_text(signers_text({"alice": "author, data-owner", "bob": "author, data-owner"}))
    done = here("lock", "--check", cwd=folder)
    assert done.returncode == 1
    assert "PPF339" in done.stdout + done.stderr
    assert "the file `policies/signers.yaml` is not the locked one" in done.stdout + done.stderr
    assert here("run", "policies/alike.yaml", "--locked", cwd=folder).returncode == 2


def test_it_is_sorted_and_the_same_again(house, here):
    text = (house / "ppdm-flow.lock").read_text()
    assert text.startswith("# written by ppdm-flow lock")
    found = content(house)
    for part in ("templates", "files", "plugins", "policies"):
        assert list(found[part]) == sorted(found[part])
    before = (house / "ppdm-flow.lock").stat()
    done = here("lock", cwd=house)
    assert (done.returncode, done.stdout) == (0, "")
    assert "2 policies, no changes" in done.stderr
    after = (house / "ppdm-flow.lock").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    shutil.rmtree(house / "data")
    assert here("lock", "--check", cwd=house).returncode == 0, "data is not in it"


def test_it_prints_what_changed(house, here):
    append(house / "templates/house.yaml")
    (house / "policies/alike.yaml").unlink()
    done = here("lock", cwd=house)
    lines = done.stdout.splitlines()
    assert any(line.startswith("~ template templates/house.yaml: sha256 ") and " -> " in line for line in lines)
    assert "- policy policies/alike.yaml" in lines
    assert here("lock", "--check", cwd=house).returncode == 0


def test_only_lock_writes_it(folder, here):
    for words in (("check", "policies", "--locked"), ("run", "policies/alike.yaml", "--locked"), ("lock", "--check")):
        done = here(*words, cwd=folder)
        assert done.returncode == 2
        assert "PPF681" in done.stderr
    assert not (folder / "ppdm-flow.lock").exists()


def test_a_key_is_not_in_it(folder, here):
    (folder / "key").write_text("short secret")
    text = ALIKE.replace(
        "privacy", "steps: {p: {use: pseudonymize, with: {attributes: [job], key_file: ../key}}}\nprivacy"
    )
    (folder / "policies/alike.yaml").write_text(text.replace(", from: source", ""))
    done = here("lock", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "key" not in content(folder)["files"]
    assert sha256(folder / "key") not in (folder / "ppdm-flow.lock").read_text()


def test_the_nearest_lock_up_to_the_root(house, here, monkeypatch):
    assert here("lock", "--check", "visits.yaml", cwd=house / "policies").returncode == 0
    inner = house / "inner"
    (inner / ".git").mkdir(parents=True)
    shutil.copy(house / "policies/alike.yaml", inner)
    assert here("check", "alike.yaml", "--locked", cwd=inner).returncode == 1  # an empty `.git` is no repository
    (inner / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    done = here("check", "alike.yaml", "--locked", cwd=inner)
    assert done.returncode == 2
    assert "PPF681" in done.stderr
    shutil.rmtree(inner / ".git")
    done = here("check", "alike.yaml", "--locked", cwd=inner)
    assert done.returncode == 1
    assert "the lock does not have the policy `inner/alike.yaml`" in done.stdout


def test_a_lock_is_of_one_part(house, here):
    (house / "part").mkdir()
    shutil.copy(house / "policies/alike.yaml", house / "part/alike.yaml")
    shutil.copy(house / "ppdm-flow.lock", house / "part/ppdm-flow.lock")
    done = here("lock", ".", cwd=house)
    assert done.returncode == 2
    assert "PPF684" in done.stderr


def test_what_it_has_already_stays(house, here):
    append(house / "policies/alike.yaml")
    done = here("lock", "policies/visits.yaml", cwd=house)
    assert done.returncode == 0
    assert set(content(house)["policies"]) == {"policies/visits.yaml", "policies/alike.yaml"}


# ---- drift ----


def drift_template(folder):
    append(folder / "templates/house.yaml")
    return "PPF339", "policies/visits.yaml:4", "templates/house.yaml"


def drift_file(folder):
    append(folder / "hierarchies/age.csv", "32;3*;*\n")
    return "PPF339", "policies/visits.yaml:7", "hierarchies/age.csv"


def drift_line_ends(folder):
    path = folder / "templates/house.yaml"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    return "PPF339", "policies/visits.yaml:4", "templates/house.yaml"


def drift_new(folder):
    text = (folder / "policies/visits.yaml").read_text()
    (folder / "templates/other.yaml").write_text("version: 1\ngates: {}\n")
    (folder / "policies/visits.yaml").write_text(
        text.replace("house.yaml\n", "house.yaml\n  - ../templates/other.yaml\n")
    )
    return "PPF320", "policies/visits.yaml:5", "templates/other.yaml"


def drift_missing(folder):
    (folder / "hierarchies/age.csv").unlink()
    return "PPF319", "policies/visits.yaml:7", "hierarchies/age.csv"


def drift_plugin(folder):
    path = folder / "ppdm-flow.lock"
    line = "anonymizers/generalize: "
    text = path.read_text()
    assert line in text
    path.write_text(
        text.replace(
            f'{line}{{distribution: "ppdm_flow", version: "{VERSION}"',
            f'{line}{{distribution: "ppdm_flow", version: "0.0.9"',
        )
    )
    return "PPF339", "policies/visits.yaml:10", "anonymizers/generalize"


DRIFTS = (drift_template, drift_file, drift_line_ends, drift_new, drift_missing, drift_plugin)
VERBS = (
    ("run", "policies/visits.yaml"),
    ("plan", "policies/visits.yaml"),
    ("sweep", "policies/visits.yaml", "--over", "privacy.k_anonymity.k=2,3"),
    ("audit", "policies/visits.yaml", "--original", "data/visits.csv", "--released", "data/visits.csv"),
)


@pytest.mark.parametrize("drift", DRIFTS)
def test_drift_is_named_at_its_place(house, here, drift):
    code, place, name = drift(house)
    done = here("lock", "--check", cwd=house)
    assert done.returncode == (2 if code == "PPF319" else 1), done.stderr
    assert code in done.stderr
    assert f"--> {place}" in done.stderr
    assert f"`{name}`" in done.stderr
    done = here("check", "policies", "--locked", "--format", "concise", cwd=house)
    assert done.returncode == 1
    assert f"{place}:" in done.stdout
    assert code in done.stdout
    assert here("check", "policies", cwd=house).returncode == 0


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("verb", VERBS, ids=lambda words: words[0])
def test_what_drifted_does_not_run(house, here, verb):
    assert here("run", "policies/visits.yaml", "--locked", cwd=house).returncode == 0
    before = sorted(house.rglob("*"))
    code, place, _ = drift_template(house)
    done = here(*verb, "--locked", cwd=house)
    assert done.returncode == 2
    assert code in done.stderr
    assert f"--> {place}" in done.stderr
    assert sorted(house.rglob("*")) == before
    assert here("run", "policies/alike.yaml", "--locked", cwd=house).returncode == 0, "the other one is as it was"


def test_tests_of_what_drifted_do_not_run(house, here):
    (house / "tests").mkdir()
    (house / "tests/visits.test.yaml").write_text(
        "policy: ../policies/alike.yaml\ntests:\n  one:\n    data: {rows: [{age: 1, job: a}, {age: 1, job: a}]}\n"
        "    expect: {verdict: released}\n"
    )
    assert here("test", "--locked", cwd=house).returncode == 0
    (house / "ppdm-flow.lock").write_text((house / "ppdm-flow.lock").read_text().replace(f'"{VERSION}"', '"0.0.9"'))
    done = here("test", "--locked", cwd=house)
    assert done.returncode == 2
    assert "PPF339" in done.stderr
    assert here("test", cwd=house).returncode == 0


def test_both_digests_are_said(house, here):
    before = sha256(house / "templates/house.yaml")
    append(house / "templates/house.yaml")
    done = here("lock", "--check", cwd=house)
    assert f"locked is sha256 {before[:12]}…" in done.stderr
    assert f"this is sha256 {sha256(house / 'templates/house.yaml')[:12]}…" in done.stderr


def test_what_nothing_uses_is_told_in_the_lock(house, here):
    path = house / "policies/visits.yaml"
    path.write_text(path.read_text().replace("  - ../templates/house.yaml\n", "  - builtin:microdata-k\n"))
    (house / "policies/alike.yaml").unlink()
    done = here("lock", "--check", cwd=house)
    assert done.returncode == 1
    lines = (house / "ppdm-flow.lock").read_text().splitlines()
    for text in ("  templates/house.yaml: ", "  policies/alike.yaml:"):
        number = next(n for n, line in enumerate(lines, 1) if line.startswith(text))
        assert f"ppdm-flow.lock:{number}:3" in done.stderr
    assert "PPF321" in done.stderr
    assert "builtin:microdata-k" in done.stderr


def test_a_policy_that_is_not_in_it(house, here):
    shutil.copy(house / "policies/alike.yaml", house / "policies/alike2.yaml")
    for words, status in ((("run", "policies/alike2.yaml", "--locked"), 2), (("lock", "--check"), 1)):
        done = here(*words, cwd=house)
        assert done.returncode == status
        assert "PPF320" in done.stderr
        assert "it has `policies/alike.yaml`" in done.stderr


def test_what_the_command_line_changes_is_held_too(house, here):
    (house / "hierarchies/other.csv").write_text("30;x;*\n31;x;*\n")
    text = VISITS.replace("extends:", "params: {ages: {default: ../hierarchies/age.csv}}\nextends:")
    (house / "policies/visits.yaml").write_text(
        text.replace("{csv: ../hierarchies/age.csv}", "{csv: '${params.ages}'}")
    )
    assert here("run", "policies/visits.yaml", "--locked", cwd=house).returncode == 0
    done = here("run", "policies/visits.yaml", "--locked", "--set", "ages=../hierarchies/other.csv", cwd=house)
    assert done.returncode == 2
    assert "the lock does not have the file `hierarchies/other.csv`" in done.stderr
    assert "PPF648" in done.stderr


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("verb", ["run", "plan", "check"])
def test_what_is_locked_takes_no_other_value_of_a_param(house, here, verb):
    text = ALIKE.replace("{k: 2}", "{k: '${params.k}'}") + "params: {k: {type: integer, default: 2}}\n"
    (house / "policies/alike.yaml").write_text(text)
    words = (verb, "policies/alike.yaml")
    assert here(*words, "--locked", cwd=house).returncode == 0
    done = here(*words, "--locked", "--set", "k=3", cwd=house)
    told = done.stderr + done.stdout
    assert done.returncode == (1 if verb == "check" else 2)
    assert "PPF648" in told
    assert "param `k`" in told
    assert "write the value here" in told
    assert here(*words, "--locked", "--set", "k=2", cwd=house).returncode == 0
    assert "PPF648" not in here(*words, "--set", "k=3", cwd=house).stderr


def test_params_of_templates_are_locked_and_those_without_a_value_are_not(house, here, monkeypatch):
    (house / "policies/alike.yaml").unlink()
    (house / "templates/house.yaml").write_text(
        "version: 1\nparams: {k: {type: integer}, l: {type: integer, default: 2}, e: {default: a, from_env: E}}\n"
        "description: '${params.l} ${params.e}'\nprivacy: {k_anonymity: {k: '${params.k}'}}\n"
    )
    (house / "policies/visits.yaml").write_text(
        VISITS.replace("../templates/house.yaml", "{template: ../templates/house.yaml}")
    )
    assert here("lock", "--set", "k=2", cwd=house).returncode == 0
    words = ("check", "policies/visits.yaml", "--locked", "--set", "k=2")
    assert here(*words, cwd=house).returncode == 0
    assert "PPF648" in here(*words, "--set", "l=3", cwd=house).stdout
    assert "PPF648" in here(*words, "--set", "e=b", cwd=house).stdout
    monkeypatch.setenv("E", "c")
    assert here(*words, "--set", "e=b", cwd=house).returncode == 0
    (house / "policies/visits.yaml").write_text(
        VISITS.replace("../templates/house.yaml", "{template: ../templates/house.yaml, with: {k: 2}}")
    )
    assert "PPF648" in here("check", "policies/visits.yaml", "--locked", "--set", "k=3", cwd=house).stdout


def test_data_in_another_format_needs_no_lock_of_its_own(house, here):
    (house / "data/visits.jsonl").write_text('{"age": "30", "job": "nurse"}\n' * 3)
    assert "sources/jsonl" not in content(house)["plugins"]
    done = here("run", "policies/visits.yaml", "--locked", "--data", "data/visits.jsonl", cwd=house)
    assert done.returncode == 0, done.stderr
    path = house / "ppdm-flow.lock"
    path.write_text(path.read_text().replace(f'"{VERSION}"', '"0.0.9"'))
    done = here("run", "policies/visits.yaml", "--locked", "--data", "data/visits.jsonl", cwd=house)
    assert done.returncode == 2
    assert "`sources/jsonl`" in done.stderr


@pytest.mark.slow
def test_the_manifest_says_by_which(house, here, root):
    schema = json.loads((root / "schemas/manifest.v1.json").read_text())
    for words, said in ((("--locked",), {"locked": True, "sha256": sha256(house / "ppdm-flow.lock")}), ((), None)):
        done = here("run", "policies/visits.yaml", *words, "--out", f"out{len(words)}", cwd=house)
        assert done.returncode == 0, done.stderr
        (path,) = (house / f"out{len(words)}").rglob("manifest.json")
        manifest = json.loads(path.read_text())
        jsonschema.validate(manifest, schema)
        assert manifest.get("lock") == said
        assert here("verify", path.parent, cwd=house).returncode == 0


def test_a_definition_that_changes_while_it_runs_ends_the_run(house, monkeypatch):
    monkeypatch.chdir(house)
    path = house / "hierarchies/age.csv"

    def change(_event):
        path.write_text("30;*;*\n31;*;*\n")

    with pytest.raises(PpdmError) as caught:
        api.run(Path("policies/visits.yaml"), listener=change, locked=True)
    assert caught.value.diagnostics[0].code == "PPF339"
    assert not list(house.glob("runs/*/*/manifest.json"))


@pytest.mark.parametrize("new", [b"version: 1\n", b"\xff"])
def test_a_template_is_locked_as_it_was_read(house, monkeypatch, new):
    """The text that was understood is hashed, even if the file changes later."""
    monkeypatch.chdir(house)
    loaded = load(Path("policies/visits.yaml"))
    plan = compile_policy(loaded).plan
    assert plan is not None
    (house / "templates/house.yaml").write_bytes(new)
    assert Locks().hold(loaded, plan).definitions


def replace_at_first(monkeypatch, path, content):
    """Let the first reader of a file get another text than the file holds; the list is empty once that happened."""
    opened, left = digests.open_ordinary, [content]

    def open_(asked):
        return io.BytesIO(left.pop().encode()) if left and asked.absolute() == path else opened(asked)

    monkeypatch.setattr(digests, "open_ordinary", open_)
    return left


WEAKER = "version: 1\nprivacy: {k_anonymity: {k: 2, releases: [study]}}\n"


@pytest.mark.parametrize("verb", ["run", "check"])
def test_a_template_that_is_another_one_when_it_is_read(house, monkeypatch, verb):
    monkeypatch.chdir(house)
    left = replace_at_first(monkeypatch, house / "templates/house.yaml", WEAKER)
    if verb == "check":
        assert [d.code for d in api.check(["policies/visits.yaml"], locked=True).diagnostics] == ["PPF339"]
        assert not left
        assert api.check(["policies/visits.yaml"], locked=True).passes()
        return
    with pytest.raises(PolicyError) as caught:
        api.run(Path("policies/visits.yaml"), locked=True)
    assert [d.code for d in caught.value.diagnostics] == ["PPF339"]
    assert not left
    assert not list(house.glob("runs/*/*/manifest.json"))
    assert api.run(Path("policies/visits.yaml"), locked=True).released


def test_a_hierarchy_that_is_another_one_when_it_is_read(house, monkeypatch):
    """The lock's own reading finds the locked file, the run's reading another one, and later nothing shows."""
    monkeypatch.chdir(house)
    path, opened = house / "hierarchies/age.csv", digests.open_definition
    left = [b"30;any;*\n31;any;*\n"]

    def open_definition(asked, **words):
        return io.BytesIO(left.pop()) if left and asked.resolve() == path.resolve() else opened(asked, **words)

    monkeypatch.setattr(digests, "open_definition", open_definition)
    with pytest.raises(PpdmError) as caught:
        api.run(Path("policies/visits.yaml"), locked=True)
    assert caught.value.diagnostics[0].code == "PPF339"
    assert not left
    assert not list(house.glob("runs/*/*/manifest.json"))
    assert api.run(Path("policies/visits.yaml"), locked=True).released


def test_a_list_of_signers_that_is_another_one_when_it_is_read(folder, here, monkeypatch):
    monkeypatch.chdir(folder)
    signers = folder / "policies/signers.yaml"
    signers.write_text(signers_text({"alice": "author", "bob": "data-owner"}))
    append(folder / "policies/alike.yaml", "approvals: {roles: [data-owner], signers: signers.yaml}\n")
    assert here("lock", cwd=folder).returncode == 0
    other = signers_text({"alice": "author", "mallory": "data-owner"})
    left = replace_at_first(monkeypatch, signers, other)
    with pytest.raises(PpdmError) as caught:
        api.run(Path("policies/alike.yaml"), locked=True)
    assert {d.code for d in caught.value.diagnostics} == {"PPF339"}
    assert not left
    assert api.run(Path("policies/alike.yaml"), locked=True).held


def test_the_value_of_a_param_is_that_which_was_read(house, here, monkeypatch):
    """A second reading could find the value that the command line gives."""
    monkeypatch.chdir(house)
    policy = house / "policies/alike.yaml"
    text = ALIKE.replace("k: 2", "k: '${params.k}'") + "params: {k: {type: integer, default: 3}}\n"
    policy.write_text(text)
    assert here("lock", cwd=house).returncode == 0
    policy.write_text(text.replace("default: 3", "default: 2"))
    left = replace_at_first(monkeypatch, policy, text)
    with pytest.raises(PolicyError) as caught:
        api.run(Path("policies/alike.yaml"), {"k": "2"}, locked=True)
    assert [d.code for d in caught.value.diagnostics] == ["PPF648"]
    assert not left


# ---- upgrade ----


def test_upgrade_lets_only_that_change(house, here):
    append(house / "templates/house.yaml")
    append(house / "hierarchies/age.csv", "32;3*;*\n")
    before = (house / "ppdm-flow.lock").read_bytes()
    done = here("lock", "--upgrade", "templates/house.yaml", cwd=house)
    assert done.returncode == 2
    assert "PPF683" in done.stderr
    assert "`hierarchies/age.csv` differs as well" in done.stderr
    assert (house / "ppdm-flow.lock").read_bytes() == before
    done = here("lock", "--upgrade", "templates/house.yaml", "--upgrade", "hierarchies/age.csv", cwd=house)
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 2
    assert here("lock", "--check", cwd=house).returncode == 0


def test_upgrade_of_nothing(house, here, tmp_path):
    done = here("lock", "--upgrade", "templates/hous.yaml", cwd=house)
    assert done.returncode == 2
    assert "did you mean `templates/house.yaml`?" in done.stderr
    assert here("lock", "--check", "--upgrade", "templates/house.yaml", cwd=house).returncode == 2
    (house / "ppdm-flow.lock").unlink()
    done = here("lock", "--upgrade", "templates/house.yaml", cwd=house)
    assert done.returncode == 2
    assert "PPF681" in done.stderr


def test_upgrade_of_a_distribution(house, here):
    path = house / "ppdm-flow.lock"
    path.write_text(path.read_text().replace(f'"{VERSION}"', '"0.0.9"'))
    done = here("lock", "--check", cwd=house)
    assert "ppdm-flow lock --upgrade ppdm_flow" in done.stderr
    assert here("lock", "--upgrade", "audits/k_anonymity", cwd=house).returncode == 2
    done = here("lock", "--upgrade", "ppdm_flow", cwd=house)
    assert done.returncode == 0
    assert f"~ plugin audits/k_anonymity: ppdm_flow 0.0.9 -> ppdm_flow {VERSION}" in done.stdout.splitlines()


# ---- packages ----


def install(site: Path, version: str, k: int = 2) -> dict[str, str]:
    """Put the distribution ``acme-house`` into ``site``, with a template over a second file, and a plugin."""
    shutil.rmtree(site, ignore_errors=True)
    package = site / "acme_house"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "hospital.yaml").write_text("version: 1\nextends: base.yaml\n")
    (package / "base.yaml").write_text(
        f"version: 1\nprivacy: {{k_anonymity: {{k: {k}}}}}\nattributes: {{age: {{hierarchy: {{csv: ages.csv}}}}}}\n"
    )
    (package / "ages.csv").write_text(f"30;3*;*\n31;3*;*\n{k};{k};*\n")
    (package / "plugin.py").write_text(
        "from dataclasses import replace\nfrom ppdm_flow.anonymizers.shuffle_rows.spec import SPEC as OTHER\n"
        "SPEC = replace(OTHER, info=replace(OTHER.info, name='acme_shuffle'))\n"
    )
    info = site / f"acme_house-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: acme-house\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(
        "[ppdm_flow.templates]\nhospital = acme_house\n[ppdm_flow.anonymizers]\nacme_shuffle = acme_house.plugin:SPEC\n"
    )
    return {
        "PYTHONPATH": os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


@pytest.mark.slow
def test_packages(folder, cli, tmp_path_factory):
    """Templates and plugins of a distribution are fixed by its version, wherever it is installed."""
    text = VISITS.replace("../templates/house.yaml", "pkg:acme-house/hospital@>=1")
    text = text.replace("steps:\n", "steps:\n  mixed: {use: acme_shuffle}\n")
    text = text.replace(", hierarchy: {csv: ../hierarchies/age.csv}", "")
    (folder / "policies/visits.yaml").write_text(text)
    env = install(tmp_path_factory.mktemp("one") / "site", "1.4.0")
    done = cli("lock", cwd=folder, env=env)
    assert done.returncode == 0, done.stderr
    found = content(folder)
    release = {"distribution": "acme-house", "version": "1.4.0"}
    assert found["plugins"]["anonymizers/acme_shuffle"] == release
    assert set(found["files"]) == {"pkg:acme-house/ages.csv"}
    assert set(found["templates"]) == {"pkg:acme-house/hospital", "pkg:acme-house/base.yaml"}
    assert all(release.items() <= each.items() for each in found["templates"].values())

    env = install(tmp_path_factory.mktemp("elsewhere") / "site", "1.4.0")
    assert cli("lock", "--check", cwd=folder, env=env).returncode == 0, "installed elsewhere it is the same"

    env = install(tmp_path_factory.mktemp("upgraded") / "site", "1.5.0", k=3)
    done = cli("run", "policies/visits.yaml", "--locked", cwd=folder, env=env)
    assert done.returncode == 2
    assert "the plugin `anonymizers/acme_shuffle` is not the locked one" in done.stderr
    assert "locked is acme-house 1.4.0, and this is acme-house 1.5.0" in done.stderr
    assert "--> policies/visits.yaml:10" in done.stderr
    assert "policies/visits.yaml:4" in done.stderr
    assert not (folder / "runs").exists()
    assert cli("lock", "--check", cwd=folder, env=env).returncode == 1
    assert cli("lock", "--upgrade", "templates/house.yaml", cwd=folder, env=env).returncode == 2
    done = cli("lock", "--upgrade", "acme-house", cwd=folder, env=env)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 4
    assert cli("run", "policies/visits.yaml", "--locked", cwd=folder, env=env).returncode == 0


# ---- a lock that is none ----


@pytest.mark.slow(quick=5)
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "this is not a lock file"),
        ("lock", "this is not a lock file"),
        ("{}", "does not say its version"),
        ("lock: 2\n", "is of another version than 1"),
        ("lock: 1\n", "lacks `files`"),
        ("lock: 1\n\t", "damaged"),
        ("lock: 1\x00\n", "damaged"),
        ("\xff\xfe", "damaged"),
        ("<<<<<<< HEAD\nlock: 1\n=======\nlock: 1\n>>>>>>> theirs\n", "markers of an unresolved merge"),
    ],
)
def test_a_damaged_lock_is_refused(house, here, text, said):
    path = house / "ppdm-flow.lock"
    path.write_bytes(text.encode("latin-1"))
    for words in (
        ("lock",),
        ("lock", "--check"),
        ("check", "policies", "--locked"),
        ("run", "policies/alike.yaml", "--locked"),
    ):
        done = here(*words, cwd=house)
        assert done.returncode == 2, words
        assert "PPF682" in done.stderr
        assert said in done.stderr
    assert path.read_bytes() == text.encode("latin-1")
    assert here("check", "policies", cwd=house).returncode == 0


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("language: 1", "language: []", "a text is missing"),
        ("language: 1", "language: 2", "version 2 of the policy language"),
        ("files:\n", "filez: {}\nfiles:\n", "unknown key `filez`"),
        ('{sha256: "', '{sha256: "x', "is not a SHA-256"),
        ("{sha256: ", "{sha512: ", "does not say what is fixed"),
        ("      - templates/house.yaml\n", "      - templates/mouse.yaml\n", "not among the templates above"),
        ("      - templates/house.yaml\n", "      templates/house.yaml\n", "must be a list"),
        ("    files: []\n", "", "lacks `files`"),
    ],
)
def test_an_edited_lock_is_refused(house, here, old, new, said):
    path = house / "ppdm-flow.lock"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    done = here("run", "policies/visits.yaml", "--locked", cwd=house)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_folder_in_its_place(folder, here):
    (folder / "ppdm-flow.lock").mkdir()
    for words in (("lock",), ("lock", "--check"), ("run", "policies/alike.yaml", "--locked")):
        done = here(*words, cwd=folder)
        assert done.returncode == 2
        assert "PPF682" in done.stderr
        assert "directory" in done.stderr


def test_a_place_that_cannot_be_written(folder, here, monkeypatch):
    def refuse(*_args, **_kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "replace", refuse)
    done = here("lock", cwd=folder)
    assert done.returncode == 2
    assert "PPF693" in done.stderr
    assert [p.name for p in folder.iterdir() if "lock" in p.name] == []


def test_an_invalid_policy_is_not_locked(folder, here):
    (folder / "policies/alike.yaml").write_text(ALIKE.replace("k: 2", "k: many"))
    done = here("lock", cwd=folder)
    assert done.returncode == 2
    assert "policies/alike.yaml:5" in done.stderr
    assert not (folder / "ppdm-flow.lock").exists()


def test_writers_at_once_do_no_harm(folder, monkeypatch):
    monkeypatch.chdir(folder)
    writers = [threading.Thread(target=api.lock) for _ in range(6)]
    for each in writers:
        each.start()
    for each in writers:
        each.join()
    assert api.lock_check().holds
    assert [p.name for p in folder.iterdir() if "lock" in p.name] == ["ppdm-flow.lock"]


def test_odd_names(folder, here):
    """For any name of a file, the lock has the file, or says that it cannot."""
    for name in ("é 𝕅 #1: [x].yaml", "null.yaml", "-.yaml", 'a"b\\c.yaml', "t\tab.yaml", "builtin:x.yaml", "1.yaml"):
        (folder / "policies" / name).write_text(ALIKE)
    assert here("lock", cwd=folder).returncode == 0
    assert here("lock", "--check", cwd=folder).returncode == 0
    assert len(content(folder)["policies"]) == 9
    (folder / "policies" / os.fsdecode(b"\xff.yaml")).write_text(ALIKE)
    done = here("lock", cwd=folder)
    assert done.returncode == 2
    assert "PPF319" in done.stderr


@pytest.mark.slow
def test_the_environment_gives_no_locked_param_another_value(cli, tmp_path):
    (tmp_path / "t.csv").write_text("age,ill\n" + "1,x\n1,y\n" * 5)
    (tmp_path / "p.yaml").write_text(
        "version: 1\nname: p\nsource: {path: t.csv}\n"
        "params: {k: {type: integer, default: 5, from_env: RELEASE_K}}\n"
        "attributes: {age: {role: quasi_identifier}, ill: {role: insensitive}}\n"
        "privacy: {k_anonymity: {k: '${params.k}'}}\nreleases: {r: {path: r.csv}}\n"
    )
    assert cli("lock", "p.yaml", cwd=tmp_path).returncode == 0
    run = ("run", "p.yaml", "--locked", "-q")
    assert cli(*run, cwd=tmp_path).returncode == 0
    assert cli(*run, cwd=tmp_path, env={"RELEASE_K": "5"}).returncode == 0
    weaker = cli(*run, cwd=tmp_path, env={"RELEASE_K": "2"})
    assert weaker.returncode == 2
    assert "PPF648" in weaker.stderr
    assert cli("run", "p.yaml", "-q", cwd=tmp_path, env={"RELEASE_K": "2"}).returncode == 0
