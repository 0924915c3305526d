"""What a statement says of templates, a lock, waivers, a ledger and partitions."""

from __future__ import annotations

import hashlib
import json
import os
from datetime import UTC, datetime, timedelta

import pytest
from signed_runs import POLICY, key, signer, signers, small_run

from ppdm_flow import api
from ppdm_flow.engine.evidence.signatures import read_attestation
from ppdm_flow.engine.evidence.signing import sign_run
from ppdm_flow.engine.machine import utc_now
from ppdm_flow.engine.verify.verify import verify

PEOPLE = signers(signer("alice", "author"))


def no_plan(_policy, _data):
    raise AssertionError


def said(run, release="study"):
    """Sign a run, hold it against the signers, and return the predicate of a release."""
    sign_run(run, key("alice"), "author", utc_now())
    assert verify(run, None, no_plan, signers=PEOPLE).holds
    name = f"author-{key('alice').public.key_id[:16]}-{release}.json"
    return read_attestation(run / "attestations" / name).statement["predicate"]


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("absolute", [False, True])
def test_templates_by_reference_and_none_by_a_folder_of_this_machine(tmp_path, absolute):
    template = tmp_path / "templates" / "organization.yaml"
    template.parent.mkdir()
    template.write_text("floors: {privacy.k_anonymity.k: '>= 2'}\n")
    reference = template if absolute else "templates/organization.yaml"
    run = small_run(tmp_path, f"{POLICY}extends: '{reference}'\n")
    digest = hashlib.sha256(template.read_bytes()).hexdigest()
    templates = said(run)["digests"]["templates"]
    assert list(templates.values()) == [digest]
    assert str(tmp_path) not in json.dumps(templates)
    assert all(name.endswith("organization.yaml") for name in templates)


def test_without_templates_the_manifest_has_no_such_key(whole_run):
    assert "templates" not in json.loads((whole_run / "manifest.json").read_text())


@pytest.mark.slow
def test_the_lock_that_a_run_was_held_against(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    small_run(tmp_path)
    api.lock([tmp_path / "policy.yaml"])
    run = api.run(tmp_path / "policy.yaml", out=tmp_path / "locked", locked=True).run_dir
    assert said(run)["digests"]["lock"] == hashlib.sha256((tmp_path / "ppdm-flow.lock").read_bytes()).hexdigest()


def test_the_waivers_that_a_release_rests_on(tmp_path):
    until = datetime.now(UTC).date() + timedelta(days=30)
    policy = f"""{POLICY}
gates:
  large: {{metric: classes.smallest, min: 1000, releases: [study]}}
audits: {{classes: {{use: class_sizes}}}}
waivers:
  small-town: {{of: gates.large, reason: the study is small, owner: data-governance, until: {until}}}
  other: {{of: PPF513, reason: a test, owner: nobody, until: {until}}}
"""
    run = small_run(tmp_path, policy)
    predicate = said(run)
    assert predicate["waivers"] == [
        {
            "name": "small-town",
            "of": "gates.large",
            "reason": "the study is small",
            "owner": "data-governance",
            "until": until.isoformat(),
        }
    ]
    assert [(r["id"], r["holds"]) for r in predicate["requirements"]] == [
        ("privacy.k_anonymity", True),
        ("gates.large", False),
    ]
    assert said(run, "office")["waivers"] == []


def test_what_the_run_saw_of_the_ledger(tmp_path):
    api.create_ledger(tmp_path / "releases.ledger")
    run = small_run(tmp_path, POLICY + "ledger: {path: releases.ledger}\n")
    testimony = json.loads((run / "manifest.json").read_text())["ledger"]
    assert said(run)["ledger"] == {name: testimony[name] for name in ("key", "position", "chain")}


def test_partitions_are_files_of_the_release(tmp_path):
    policy = POLICY.replace(
        "{path: study.csv, from: recoded}", "{path: study, format: csv, partition_by: [town], from: recoded}"
    )
    run = small_run(tmp_path, policy)
    said(run)
    (path,) = (run / "released/study/attestations").iterdir()
    names = [subject["name"] for subject in read_attestation(path).statement["subject"]]
    inside = {
        p.relative_to(run / "released/study").as_posix() for p in (run / "released/study").rglob("*") if p.is_file()
    }
    assert set(names) == {name for name in inside if not name.startswith("attestations/")}
    assert any("town=" in name for name in names)


def test_a_fault_tells_no_value_in_the_name_of_a_folder(tmp_path):
    policy = POLICY.replace(
        "{path: study.csv, from: recoded}", "{path: study, format: csv, partition_by: [town], from: recoded}"
    )
    run = small_run(tmp_path, policy)
    said(run)
    (part, *_) = sorted((run / "released/study").rglob("*.csv"))
    os.truncate(part, 3)
    assert "north" not in verify(run, None, no_plan, signers=PEOPLE).text
