"""What a job must not open: a policy may name any file, and runs as the server's own user."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from sites import PATIENCE, Server
from small_policies import write_policy

from ppdm_flow.page.services.accounts.roles import Role, User
from ppdm_flow.page.services.jobs import keeper
from ppdm_flow.page.services.jobs.confined import own_files
from ppdm_flow.page.services.jobs.job import Job, State

pytestmark = pytest.mark.usefixtures("new_pythons")
confined = pytest.mark.skipif(not keeper.can_confine(), reason="the kernel has no Landlock of version 2 or later")
TABLE = b"age,zip,disease\n" + b"".join(b"%d,%d,flu\n" % (20 + i % 3, 100 + i % 2) for i in range(120))


def _upload(server: Server, user: User) -> Path:
    with server.site.uploads.arriving(user, len(TABLE)) as arriving:
        arriving.write(TABLE)
        return server.site.uploads.keep(user, arriving, "people.csv").path


def _run(server: Server, *words: str) -> Job:
    """Run the policy as it is once the page has looked at it: somebody may write another one meanwhile."""
    policy = str(server.folder / "policies" / "ward.yaml")
    said = ["run", policy, "--out", str(server.folder / "runs"), *words]
    job = server.site.jobs.add(server.users[Role.STEWARD], said, kind="run", about="ward.yaml")
    return server.site.jobs.finished(job, PATIENCE)


@pytest.mark.slow
@confined
def test_a_policy_cannot_read_what_somebody_else_uploaded_and_its_own_data_it_can(server: Server):
    policy = write_policy(server.folder / "policies")
    other = server.site.accounts.add("other", [Role.STEWARD], "another good passphrase")
    secret = _upload(server, other)
    text = policy.read_text()
    for path in (secret, secret.parent.parent / "*" / secret.name):
        policy.write_text(text.replace("people.csv", str(path)))
        job = _run(server)
        assert job.state is State.FAILED, path
        assert "flu" not in job.output + job.talk
    policy.write_text(text)
    own = _upload(server, server.users[Role.STEWARD])
    job = _run(server, "--data", str(own))
    assert (job.state, job.exit_code) == (State.DONE, 0)
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
    assert job.state is State.FAILED
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
keeper.confine([Path({str(hidden)!r})], {{Path({str(own)!r}): keeper.ALL}})
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
    assert own_files(state, words) == {"reads": [], "writes": []}
    words = [f"{state}/uploads/a/data.csv", f"{state}/keys/b/key", f"{state}/keys/../uploads/c/x", "/etc/passwd"]
    assert own_files(state, words) == {"reads": [state / "uploads/a"], "writes": [state / "keys/b"]}
    assert os.sep == "/"
