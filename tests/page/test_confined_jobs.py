"""What a job must not open: a policy may name any file, and runs as the server's own user."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from sites import PATIENCE, Server
from small_policies import write_policy

from ppdm_flow.page.services.accounts.roles import PageRole, User
from ppdm_flow.page.services.jobs import keeper
from ppdm_flow.page.services.jobs.confined import own_files, private_files
from ppdm_flow.page.services.jobs.job import JobState, VerbJob
from ppdm_flow.page.services.jobs.jobs import environment_of
from ppdm_flow.page.services.policies.given import GivenFiles

pytestmark = pytest.mark.usefixtures("new_pythons")
confined = pytest.mark.skipif(not keeper.can_confine(), reason="the kernel has no Landlock of version 2 or later")
TABLE = b"age,zip,disease\n" + b"".join(b"%d,%d,flu\n" % (20 + i % 3, 100 + i % 2) for i in range(120))


def _upload(server: Server, user: User) -> Path:
    with server.site.uploads.arriving(user, len(TABLE)) as arriving:
        arriving.write(TABLE)
        return server.site.uploads.keep(user, arriving, "people.csv").path


def _run(server: Server, *words: str) -> VerbJob:
    """Run the policy as it is once the page has looked at it: somebody may write another one meanwhile."""
    policy = str(server.folder / "policies" / "ward.yaml")
    said = ["run", policy, "--out", str(server.folder / "runs"), *words]
    given = GivenFiles(policy="ward")
    job = server.site.jobs.add(server.users[PageRole.STEWARD], said, kind="run", about="ward.yaml", given=given)
    return server.site.jobs.finished(job, PATIENCE)


@pytest.mark.slow
@confined
def test_a_policy_cannot_read_what_somebody_else_uploaded_and_its_own_data_it_can(server: Server):
    policy = write_policy(server.folder / "policies")
    other = server.site.accounts.add("other", [PageRole.STEWARD], "another good passphrase")
    secret = _upload(server, other)
    text = policy.read_text()
    for path in (secret, secret.parent.parent / "*" / secret.name):
        policy.write_text(text.replace("people.csv", str(path)))
        job = _run(server)
        assert job.state is JobState.FAILED, path
        assert "flu" not in job.output + job.talk
    policy.write_text(text)
    own = _upload(server, server.users[PageRole.STEWARD])
    job = _run(server, "--data", str(own))
    assert (job.state, job.exit_code) == (JobState.DONE, 0)
    assert json.loads((job.folder / "ended.json").read_text())["confined"] is True
    assert server.site.runs.list()[0].state == "released"


@pytest.mark.slow
@confined
def test_a_policy_cannot_read_accounts_out_of_the_servers_file(server: Server):
    policy = write_policy(server.folder / "policies")
    database = server.site.settings.database
    query = "SELECT id AS age, name AS zip, password AS disease FROM accounts"
    source = f"{{format: sql, url: 'sqlite:///{database}', query: '{query}'}}"
    policy.write_text(policy.read_text().replace("{path: people.csv}", source))
    job = _run(server)
    assert job.state is JobState.FAILED
    assert "argon2" not in job.output + job.talk
    assert server.site.runs.list() == []


@confined
def test_what_is_hidden_is_hidden_and_what_is_beside_it_is_not(tmp_path: Path):
    hidden, beside, own = tmp_path / "state", tmp_path / "runs", tmp_path / "state" / "jobs" / "a"
    for folder in (hidden / "keys" / "b", beside, own):
        folder.mkdir(parents=True)
    (hidden / "page").write_text("1")
    (hidden / "keys" / "b" / "key").write_text("1")
    (tmp_path / "link").symlink_to(hidden)
    text = f"""
import sys; sys.path[:0] = [{str(Path(keeper.__file__).parent)!r}]
import keeper, os, subprocess
from pathlib import Path
given = dict.fromkeys(keeper.GIVEN, ()) | dict(
    hidden=[Path({str(hidden)!r})], writes=[Path({str(beside)!r})], own_writes=[Path({str(own)!r})])
keeper.confine(given)
def tried(act):
    try:
        act()
    except (OSError, subprocess.CalledProcessError):
        return 0
    return 1
there = Path({str(tmp_path)!r})
print(
    *(tried((there / name).read_text) for name in ("state/page", "state/keys/b/key", "link/page")),
    tried((there / "runs/../state/page").read_text),
    tried(lambda: os.listdir(there / "state")),
    tried(lambda: (there / "state/new").write_text("")),
    tried(lambda: subprocess.run(["cat", there / "state/page"], check=True, stderr=subprocess.DEVNULL)),
    *(tried(Path(f"/proc/{{name}}").read_bytes) for name in (f"{{os.getppid()}}/environ", "self/environ", "self/mem")),
    tried(lambda: Path(f"/proc/self/task/{{os.getpid()}}/environ").read_bytes()),
)
print(
    tried(lambda: (there / "state/jobs/a/new").write_text("")),
    tried(lambda: (there / "runs/new").write_text("")),
    tried(lambda: (there / "runs/new").rename(there / "runs/newer")),
    tried(lambda: os.link(there / "runs/newer", there / "state/jobs/a/linked")),
    tried(lambda: os.truncate(there / "runs/newer", 0)),
    tried(lambda: subprocess.run(["true"], check=True)),
    tried(lambda: Path(f"/proc/{{os.getpid()}}/status").read_bytes()),
)
"""
    done = subprocess.run([sys.executable, "-I", "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["0 0 0 0 0 0 0 0 0 0 0", "1 1 1 1 1 1 1"]


def test_words_open_folders_of_their_own_and_no_room_as_a_whole(tmp_path: Path):
    state = tmp_path / "state"
    words = ["run", str(state), str(state / "uploads"), str(state / "page.sqlite3"), f"--x={state}/keys/a"]
    assert own_files(state, tmp_path / "runs", words) == {"own_reads": [], "own_writes": [], "beside": []}
    words = [f"{state}/uploads/a/data.csv", f"{state}/keys/b/key", f"{state}/keys/../uploads/c/x", "/etc/passwd"]
    assert own_files(state, tmp_path / "runs", words) == {
        "own_reads": [state / "uploads/a"],
        "own_writes": [state / "keys/b"],
        "beside": [],
    }
    assert os.sep == "/"


@pytest.mark.slow
@confined
def test_a_policy_cannot_read_what_is_private_to_the_server_wherever_it_lies(server: Server, monkeypatch):
    policies = server.folder / "policies"
    policy = write_policy(policies)
    (server.folder / "elsewhere").mkdir()
    (policies / "web.key").write_bytes(TABLE)
    (policies / "client.secret").write_bytes(TABLE)
    (policies / "provider.toml").write_text('client_secret_file = "client.secret"\n')
    (server.folder / "elsewhere" / "other.csv").write_bytes(TABLE)
    monkeypatch.chdir(policies)
    private = private_files(replace(server.site.settings, tls_key=Path("web.key"), oidc=Path("provider.toml")))
    monkeypatch.setattr(server.site.jobs, "_hidden", (*server.site.jobs._hidden, *private))
    text = policy.read_text()
    (server.folder / "elsewhere" / "hosts.yml").write_bytes(TABLE)
    for path in (
        "../elsewhere/hosts.yml",
        "/dev/shm/other.csv",
        "web.key",
        str(policies / "web.key"),
        "client.secret",
        "../elsewhere/other.csv",
        "/etc/shadow",
    ):
        policy.write_text(text.replace("{path: people.csv}", f"{{path: {path}, format: csv}}"))
        policy.write_text(f"{policy.read_text()}description: {server.folder / 'elsewhere' / 'hosts.yml'}\n")
        assert server.browser(PageRole.STEWARD).send("/policies/ward.yaml/run").status_code in (303, 403)
        asked = server.site.jobs.of(server.users[PageRole.STEWARD])
        assert all(server.site.jobs.finished(job, PATIENCE).state is JobState.FAILED for job in asked), path
    policy.write_text(text)
    assert _run(server).state is JobState.DONE
    monkeypatch.setattr(server.site.jobs, "_shared", (*server.site.jobs._shared, server.folder / "elsewhere"))
    policy.write_text(text.replace("{path: people.csv}", "{path: ../elsewhere/other.csv}"))
    job = _run(server)
    assert job.state is JobState.DONE, job.talk


@pytest.mark.slow
@confined
def test_a_policy_cannot_read_other_runs(server: Server):
    policies, runs = server.folder / "policies", server.folder / "runs"
    policy = write_policy(policies)
    assert _run(server).state is JobState.DONE
    (run,) = (runs / "ward").iterdir()
    released = run / "released" / "public" / "ward.csv"
    held = run / "held" / "public" / "ward.csv"
    held.parent.mkdir(parents=True)
    held.write_bytes(TABLE)
    text = policy.read_text()
    for path in (held, released):
        for spelled in (path, f"../{path.relative_to(server.folder)}"):
            policy.write_text(text.replace("people.csv", str(spelled)))
            job = _run(server)
            assert job.state is JobState.FAILED, spelled
            assert "flu" not in job.output + job.talk
    assert [each.name for each in (runs / "ward").iterdir()] == [run.name]
    policy.write_text(text)
    assert _run(server).state is JobState.DONE


@pytest.mark.slow
@confined
def test_a_job_reads_the_policy_that_was_looked_at_or_none(server: Server):
    policy = write_policy(server.folder / "policies")
    looked_at = policy.read_text()
    policy.write_text(looked_at.replace("{k: 5}", "{k: 2}"))
    digest = sha256(looked_at.encode()).hexdigest()
    said = ["run", str(policy), "--out", str(server.folder / "runs")]
    given, makes = GivenFiles({policy: digest}, policy="ward"), server.folder / "runs" / "ward"
    with pytest.MonkeyPatch.context() as held:
        held.setattr("ppdm_flow.page.services.jobs.jobs.is_as_marked", lambda *_: True)  # it changes after that look
        job = server.site.jobs.add(server.users[PageRole.STEWARD], said, kind="run", about="ward.yaml", given=given)
        job = server.site.jobs.finished(job, PATIENCE)
    assert (job.state, job.exit_code) == (JobState.FAILED, 2)
    assert "not as it was looked at" in job.talk
    assert not makes.exists(), "a run that fails leaves no folder of its policy"
    policy.write_text(looked_at)
    job = server.site.jobs.add(server.users[PageRole.STEWARD], said, kind="run", about="ward.yaml", given=given)
    assert server.site.jobs.finished(job, PATIENCE).state is JobState.DONE


def test_of_the_environment_a_job_knows_what_is_lent(monkeypatch):
    for name in ("PGPASSWORD", "MYSQL_PWD", "STUDY_KEY", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "secret")
    assert "secret" not in environment_of(()).values()
    lent = environment_of(("PGPASSWORD",))
    assert lent["PGPASSWORD"] == "secret"
    assert "STUDY_KEY" not in lent
    assert lent["PATH"] == os.environ["PATH"]


def test_limits_that_the_server_was_started_under_stay():
    order = {"memory": 1 << 40, "file_bytes": 1 << 30}
    text = f"""
import resource, sys; sys.path[:0] = [{str(Path(keeper.__file__).parent)!r}]
import keeper
resource.setrlimit(resource.RLIMIT_DATA, (1 << 33, 1 << 33))
keeper.limit({order})
print(resource.getrlimit(resource.RLIMIT_DATA)[1], resource.getrlimit(resource.RLIMIT_FSIZE)[1])
"""
    done = subprocess.run([sys.executable, "-I", "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(1 << 33), str(1 << 30)]
