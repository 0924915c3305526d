"""A run is of the policy that its author has read, even if it waits for its turn."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from sites import PATIENCE, Server
from small_policies import write_policy

from ppdm_flow.core.digests import is_as_marked, marks_of
from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.services.jobs.job import JobState
from ppdm_flow.page.services.jobs.jobs import Jobs
from ppdm_flow.page.services.policies.given import files_of
from ppdm_flow.page.services.refusal import RefusalError

TEMPLATE = "version: 1\nprivacy: {k_anonymity: {k: 5}}\n"
PRIVATE = [Ed25519PrivateKey.from_private_bytes(bytes([number] * 32)) for number in (1, 2)]
KEYS = [key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH) for key in PRIVATE]
SIGNERS = "version: 1\nsigners:\n" + "".join(
    f"  {name}: {{roles: [{role}], key: {key.decode()}}}\n"
    for name, role, key in zip(("alice", "bob"), ("author", "data-owner"), KEYS, strict=True)
)


@pytest.fixture
def waiting(server: Server, monkeypatch):
    """Return a function that asks for a run which waits, and one that lets it begin."""
    policy = write_policy(server.folder / "policies")
    (server.folder / "policies" / "base.yaml").write_text(TEMPLATE)
    policy.write_text(policy.read_text().replace("name: ward\n", "name: ward\nextends: [base.yaml]\n"))
    browser = server.browser(PageRole.STEWARD)
    with monkeypatch.context() as held:
        held.setattr(Jobs, "_watch", lambda _self: None)
        assert browser.send("/policies/ward.yaml/run").status_code == 303
    job = server.site.jobs.of(server.users[PageRole.STEWARD])[0]

    def begun():
        server.site.jobs._watch()
        return server.site.jobs.finished(job, PATIENCE)

    return begun


@pytest.mark.slow
def test_a_run_of_a_policy_that_nobody_changed_begins(waiting):
    job = waiting()
    assert (job.state, job.exit_code) == (JobState.DONE, 0), job.talk


@pytest.mark.parametrize("file", ["ward.yaml", "base.yaml"])
def test_a_run_does_not_begin_with_a_policy_that_somebody_made_weaker_meanwhile(server: Server, waiting, file):
    path = server.folder / "policies" / file
    path.write_text(path.read_text().replace("{k: 5}", "{k: 2}"))
    job = waiting()
    assert (job.state, job.reason, job.started) == (JobState.FAILED, "changed", None)
    assert server.site.runs.list() == []
    page = server.browser(PageRole.STEWARD).get(f"/jobs/{job.id}").text
    assert "was changed while the job waited" in page


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("verb", ["run", "sweep"])
@pytest.mark.parametrize("file", ["ward.yaml", "base.yaml", "signers.yaml"])
def test_the_form_is_about_the_files_that_were_shown(server: Server, verb: str, file: str):
    policies = server.folder / "policies"
    path = write_policy(policies)
    (policies / "base.yaml").write_text(TEMPLATE)
    (policies / "signers.yaml").write_text(SIGNERS)
    approvals = "approvals: {signers: signers.yaml, roles: [data-owner]}\n"
    path.write_text(path.read_text().replace("name: ward\n", f"name: ward\nextends: [base.yaml]\n{approvals}"))
    browser, address = server.browser(PageRole.STEWARD), f"/policies/ward.yaml/{verb}"
    (digest,) = re.findall(r'name="digest" value="([0-9a-f]{64})"', browser.get(address).text)
    fields = {"path_1": "privacy.k_anonymity.k", "values_1": "2,3", "digest": digest}
    changed = policies / file
    before = changed.read_text()
    changed.write_text(before + "# another text\n")
    assert browser.send(address, **fields).status_code == 409
    assert server.site.jobs.of(server.users[PageRole.STEWARD]) == []
    changed.write_text(before)
    assert browser.send(address, **fields).status_code == 303


def test_a_job_begins_without_reading_much(server: Server, tmp_path, monkeypatch):
    """The queue's lock is held meanwhile: large files are known by size and time, and one file has one name."""
    monkeypatch.setattr("ppdm_flow.core.digests._HASHED", 100)
    (tmp_path / "small.csv").write_bytes(b"x" * 90)
    (tmp_path / "other.csv").write_bytes(b"x" * 95)
    found = marks_of([tmp_path / "small.csv", tmp_path / "other.csv"])
    assert [len(mark) == 64 for mark in found.values()] == [True, False]
    assert all(is_as_marked(file, mark) for file, mark in found.items())
    (tmp_path / "small.csv").write_bytes(b"x" * 101)
    (tmp_path / "other.csv").write_bytes(b"y" * 96)
    assert not any(is_as_marked(file, mark) for file, mark in found.items())
    assert not is_as_marked(tmp_path / "nowhere.csv", found[tmp_path / "small.csv"])


def test_spellings_of_a_file_are_one_and_files_are_bounded(server: Server, monkeypatch):
    policies = server.folder / "policies"
    path = write_policy(policies)
    (policies / "people.csv").write_text("a\n1\n")
    names = ", ".join(f"p{n}: {'x/../' * n}people.csv" for n in range(9))
    (policies / "x").mkdir()
    path.write_text(path.read_text() + f"audits: {{z: {{use: class_sizes, with: {{{names}}}}}}}\n")
    checks = server.site.checks
    read = checks.policies.read("ward.yaml")
    given = files_of(checks, read)
    assert [file.name for file in given.files if file.name == "people.csv"] == ["people.csv"]
    monkeypatch.setattr("ppdm_flow.page.services.policies.given._MOST_FILES", 1)
    with pytest.raises(RefusalError, match="many_files"):
        files_of(checks, read)


def test_what_is_looked_at_tells_nothing_of_files_that_no_job_may_open(server: Server, tmp_path):
    policies, checks = server.folder / "policies", server.site.checks
    path, outside = write_policy(policies), tmp_path / "secret.txt"
    inside = policies / "people.csv"
    (policies / "linked.csv").symlink_to(outside)

    def digest_with(file: str, text: str) -> str:
        (outside if file != inside.name else inside).write_text(text)
        return files_of(checks, checks.policies.read("ward.yaml")).digest

    before = path.read_text()
    for file, is_told in (
        (str(outside), False),
        ("../../secret.txt", False),
        ("linked.csv", False),
        (inside.name, True),
    ):
        path.write_text(before + f"audits: {{z: {{use: linkage, with: {{external: {file}}}}}}}\n")
        assert (digest_with(file, "a\n1\n") != digest_with(file, "a\n2\n")) is is_told, file


@pytest.mark.slow
def test_tests_of_a_policy_read_it(server: Server):
    policies = server.folder / "policies"
    write_policy(policies)
    (policies / "people.csv").write_text("zip,illness\n" + "a,flu\n" * 10)
    tests = policies / "ward.test.yaml"
    tests.write_text("policy: ward.yaml\ntests: {x: {data: {csv: people.csv}, expect: {verdict: released}}}\n")
    assert server.browser(PageRole.STEWARD).send("/policies/ward.test.yaml/test").status_code == 303
    job = server.site.jobs.of(server.users[PageRole.STEWARD])[0]
    job = server.site.jobs.finished(job, PATIENCE)
    assert "cannot read" not in job.talk
    assert "not as it was" not in job.talk


def test_tests_of_tests_are_looked_at_once(server: Server):
    policies, checks = server.folder / "policies", server.site.checks
    for name, tested in (("a", "b"), ("b", "a")):
        text = f"policy: {tested}.test.yaml\ntests: {{x: {{data: {{csv: p.csv}}, expect: {{verdict: released}}}}}}\n"
        (policies / f"{name}.test.yaml").write_text(text)
    files = files_of(checks, checks.policies.read("a.test.yaml")).files
    assert {file.name for file in files} == {"a.test.yaml", "b.test.yaml"}


def test_nor_of_runs_below_a_folder_of_data(server: Server):
    site = server.site
    checks = replace(site.checks, data=(server.folder,))
    run = site.settings.runs / "ward" / "1" / "held" / "ward.csv"
    assert not checks.is_open_to_jobs(str(run))
    assert not checks.is_open_to_jobs(str(site.settings.state / "page.sqlite3"))
    assert checks.is_open_to_jobs(str(server.folder / "people.csv"))


def test_files_that_the_system_makes_up_are_never_as_they_were_marked():
    for made_up in ("/proc/self/environ", "/proc/kmsg", "/dev/zero"):
        assert not is_as_marked(Path(made_up), "0" * 64)
