"""The queue of jobs: processes of their own, limits, cancelling, servers that stop in the middle."""

from __future__ import annotations

import dataclasses
import fcntl
import json
import os
import signal
import sqlite3
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from sites import PATIENCE, Server

from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.services.jobs import jobs, keeper
from ppdm_flow.page.services.jobs.job import JobState, VerbJob
from ppdm_flow.page.services.jobs.jobs import OWN_FOLDER, JobLimits, Jobs
from ppdm_flow.page.services.jobs.records import JobRecords
from ppdm_flow.page.services.policies.given import GivenFiles
from ppdm_flow.page.services.refusal import RefusalError
from ppdm_flow.page.services.storage import disk
from ppdm_flow.page.services.storage.database import PageDatabase
from ppdm_flow.page.settings import Settings
from ppdm_flow.page.site import opened_site

pytestmark = pytest.mark.usefixtures("new_pythons")
SLOW = "import time, sys; print('begun', file=sys.stderr, flush=True); time.sleep(600)"


@pytest.fixture
def program(server: Server, new_pythons: None, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], VerbJob]:
    """Return a way to run a Python program as a job: a sleeping verb takes any time that a test needs."""
    folder = server.folder / "programs" / "ppdm_flow"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "__main__.py").write_text("import sys; exec(sys.argv[1])")
    real = jobs.begin

    def begin(place, order, environment, at):
        return real(place, order, {**environment, "PYTHONPATH": str(folder.parent)}, at)

    monkeypatch.setattr(jobs, "begin", begin)
    user = server.users[PageRole.STEWARD]
    return lambda text, **rest: server.site.jobs.add(user, [text], kind="run", about="p", **rest)


def _until(true: Callable[[], bool], seconds: float = PATIENCE) -> None:
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until
        time.sleep(0.02)


def _runs(server: Server, job: VerbJob) -> bool:
    return server.site.jobs.get(job.id).progress == "begun"


def _pid(job: VerbJob, file: str) -> int:
    return int(json.loads((job.folder / file).read_text())["pid"])


def _is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


MAKES = (
    "import os, pathlib, sys, time; home = pathlib.Path(os.environ['PPDM_RUN_HOME']);"
    " PLACE; print('begun', file=sys.stderr, flush=True); time.sleep(600)"
)


@pytest.mark.parametrize(
    ("place", "made"),
    [
        ("home.rename(home.with_name('20260101T000000Z-000000000000'))", "p/20260101T000000Z-000000000000"),
        ("home.rename(home.with_name('.tmp-1-a'))", ""),
        ("home.with_name('20260101T000000Z-000000000000').mkdir()", ""),
    ],
)
def test_a_run_has_its_maker_though_its_job_is_cancelled_before_it_says_so(server: Server, program, place, made):
    """Else nobody would be its author, and who had it made could sign it in another role."""
    job = program(MAKES.replace("PLACE", place), given=GivenFiles(policy="p"))
    _until(lambda: _runs(server, job))
    server.site.jobs.cancel(job.id)
    job = server.site.jobs.finished(job, PATIENCE)
    assert (job.state, job.made) == (JobState.CANCELLED, made)
    if made:
        assert server.site.jobs.maker(made) == job


def test_a_verb_that_comes_to_its_end_all_the_same_is_done(server: Server, program):
    job = program(f"import signal; signal.signal(signal.SIGINT, lambda *_: sys.exit(0)); {SLOW}")
    _until(lambda: _runs(server, job))
    server.site.jobs.cancel(job.id)
    job = server.site.jobs.finished(job, PATIENCE)
    assert (job.state, job.exit_code, job.reason) == (JobState.DONE, 0, "cancelled")
    assert server.browser(PageRole.STEWARD).get(f"/jobs/{job.id}").status_code == 200


@pytest.mark.slow
def test_a_job_is_the_verb_of_the_command_line_and_keeps_what_it_prints(server: Server):
    jobs = server.site.jobs
    job = jobs.add(server.users[PageRole.STEWARD], ["explain", "k_anonymity"], kind="explain", about="k_anonymity")
    assert job.command == "ppdm-flow explain k_anonymity"
    job = jobs.finished(job, PATIENCE)
    assert (job.state, job.exit_code, job.reason, job.cut) == (JobState.DONE, 0, "", False)
    assert "k_anonymity" in job.output
    assert job.author == "steward"
    assert [each.id for each in jobs.of(server.users[PageRole.STEWARD])] == [job.id]
    assert jobs.of(server.users[PageRole.APPROVER]) == []
    assert jobs.active() == []


@pytest.mark.slow
def test_a_job_may_write_into_its_own_folder(server: Server):
    words = ["explain", "k_anonymity", "--output-file", f"{OWN_FOLDER}/page.md"]
    job = server.site.jobs.add(server.users[PageRole.STEWARD], words, kind="explain", about="k_anonymity")
    assert job.words[3] == str(job.folder / "page.md")
    assert server.site.jobs.finished(job, PATIENCE).state.is_over


@pytest.mark.slow
def test_the_input_is_at_fault_so_the_job_failed_and_says_why(server: Server):
    job = server.site.jobs.add(server.users[PageRole.STEWARD], ["run", "nowhere.yaml"], kind="run", about="nowhere")
    job = server.site.jobs.finished(job, PATIENCE)
    assert (job.state, job.exit_code) == (JobState.FAILED, 2)
    assert "PPF" in job.talk


def test_a_job_gives_way_to_the_server(server: Server, program):
    job = program("import os; print(os.nice(0), len(os.sched_getaffinity(0)), os.getsid(0), os.getcwd())")
    job = server.site.jobs.finished(job, PATIENCE)
    nice, cores, session, where = job.output.split()
    assert int(nice) >= min(19, os.nice(0) + 10)
    assert cores == "1"
    assert int(session) != os.getsid(0)
    assert where == str(server.folder / "policies")


def test_secrets_reach_the_process_alone(server: Server, program):
    job = program("import os; print(len(os.environ['SECRET']))", environment={"SECRET": "hunter-two-hunter"})
    job = server.site.jobs.finished(job, PATIENCE)
    assert job.output.strip() == "17"
    for path in server.folder.joinpath("state").rglob("*"):
        assert not path.is_file() or b"hunter-two" not in path.read_bytes(), path


@pytest.mark.slow
def test_so_many_run_and_the_others_wait_in_order_but_nobody_keeps_others_from_a_place(server: Server, program):
    first, second, third = program(SLOW), program(SLOW), program(SLOW)
    _until(lambda: _runs(server, first) and _runs(server, second))
    other = server.site.jobs.add(server.users[PageRole.APPROVER], [SLOW], kind="run", about="p")
    assert server.site.jobs.get(third.id).state is JobState.WAITING
    server.site.jobs.cancel(first.id)
    _until(lambda: _runs(server, other))
    assert server.site.jobs.get(third.id).state is JobState.WAITING
    for job in (third, second, other):
        server.site.jobs.cancel(job.id)
        assert server.site.jobs.finished(job, PATIENCE).state is JobState.CANCELLED
    assert server.site.jobs.get(third.id).started is None


@pytest.mark.slow
def test_limits_of_a_person_and_of_all_are_refused_and_give_way_again(server: Server, program):
    jobs = server.site.jobs
    mine = [program(SLOW) for _ in range(5)]
    with pytest.raises(RefusalError) as caught:
        program(SLOW)
    assert (caught.value.key, caught.value.words) == ("jobs.own_full", {"limit": 5})
    jobs.cancel(mine.pop().id)
    mine.append(program(SLOW))
    for job in mine:
        jobs.cancel(job.id)
        jobs.finished(job, PATIENCE)


def test_what_is_written_down_of_the_jobs_of_one_person_is_bounded(server: Server, monkeypatch):
    monkeypatch.setattr("ppdm_flow.page.services.jobs.jobs._MOST_IN_TIME", 2)
    jobs, user = _jobs(server, JobLimits(running=0)), server.users[PageRole.STEWARD]
    files = GivenFiles({Path(f"/policies/{number}.yaml"): "0" * 64 for number in range(3)}, policy="p")
    with pytest.raises(RefusalError, match=r"jobs\.long_words"):
        jobs.add(user, ["sweep", "--metrics=" + "x" * 30_000], kind="sweep", about="p")
    kept = jobs.add(user, ["sweep", "--metrics=" + "x" * 20_000], kind="sweep", about="p", given=files)
    assert jobs._records.given(kept.id).files == files.files
    jobs.cancel(kept.id)
    assert jobs._records.given(kept.id).files == {}
    jobs.cancel(jobs.add(user, ["run"], kind="run", about="p").id)
    with pytest.raises(RefusalError, match=r"jobs\.many"):
        jobs.add(user, ["run"], kind="run", about="p")
    jobs.cancel(jobs.add(server.users[PageRole.APPROVER], ["run"], kind="run", about="p").id)
    monkeypatch.setattr("ppdm_flow.page.services.jobs.jobs._TIME", timedelta(0))  # the hour is over
    jobs.cancel(jobs.add(user, ["run"], kind="run", about="p").id)


def test_no_job_takes_the_last_room_of_the_disk(server: Server, monkeypatch):
    jobs, user = _jobs(server, JobLimits(running=0, free_bytes=100)), server.users[PageRole.STEWARD]
    monkeypatch.setattr(PageDatabase, "free_bytes", 99)
    with pytest.raises(RefusalError, match="no_room"):
        jobs.add(user, ["run"], kind="run", about="p")
    monkeypatch.setattr(PageDatabase, "free_bytes", 100)
    jobs.cancel(jobs.add(user, ["run"], kind="run", about="p").id)


def test_a_full_queue_takes_no_more_from_anybody(server: Server, program):
    jobs = _jobs(server, JobLimits(running=1, waiting=2, own=10))
    user, added = server.users[PageRole.STEWARD], []
    added.append(jobs.add(user, [SLOW], kind="run", about="p"))
    _until(lambda: jobs.get(added[0].id).state is JobState.RUNNING)
    added += [jobs.add(user, [SLOW], kind="run", about="p") for _ in range(2)]
    with pytest.raises(RefusalError, match=r"jobs\.full"):
        jobs.add(server.users[PageRole.APPROVER], [SLOW], kind="run", about="p")
    for job in reversed(added):
        jobs.cancel(job.id)
        jobs.finished(job, PATIENCE)


def _jobs(server: Server, limits: JobLimits) -> Jobs:
    settings = server.site.settings
    records = JobRecords(server.site.database, settings.jobs)
    return Jobs(records, settings.jobs, settings.policies, settings.runs, limits)


@pytest.mark.slow
def test_a_job_that_takes_too_long_is_stopped(server: Server, program):
    jobs = _jobs(server, JobLimits(seconds=1))
    job = jobs.finished(jobs.add(server.users[PageRole.STEWARD], [SLOW], kind="run", about="p"), PATIENCE)
    assert (job.state, job.reason) == (JobState.FAILED, "time")


@pytest.mark.slow
def test_a_job_is_bounded_in_memory_and_in_what_it_writes(server: Server, program):
    jobs = _jobs(server, JobLimits(memory=2**28, file_bytes=2**20))
    texts = ["len(bytearray(2**30))", "open('large', 'wb').write(bytes(2**22))", "open('small', 'wb').write(bytes(9))"]
    texts += ["print('first to go:', open('/proc/self/oom_score_adj').read())"]
    states = [
        jobs.finished(jobs.add(server.users[PageRole.STEWARD], [text], kind="key", about="p"), PATIENCE)
        for text in texts
    ]
    assert [job.exit_code for job in states] == [1, 1, 0, 0]
    assert "MemoryError" in states[0].talk
    assert "File too large" in states[1].talk
    assert "first to go: 1000" in "".join(path.read_text() for path in states[3].folder.glob("stdout"))


@pytest.mark.slow
def test_a_job_that_fills_the_disk_is_stopped(server: Server, program, monkeypatch):
    monkeypatch.setattr(PageDatabase, "free_bytes", 2**62)  # as it was when the job was asked for
    jobs = _jobs(server, JobLimits(free_bytes=2**62))
    job = jobs.finished(jobs.add(server.users[PageRole.STEWARD], [SLOW], kind="run", about="p"), PATIENCE)
    assert (job.state, job.reason) == (JobState.FAILED, "disk")
    assert "too little space" in server.browser(PageRole.STEWARD).get(f"/jobs/{job.id}").text


@pytest.mark.parametrize(
    ("room", "files", "left", "full"),
    [
        (101, 1_000, 20, False),
        (100, 1_000, 1_000, False),
        (99, 1_000, 1_000, True),
        (101, 1_000, 19, True),
        (101, 0, 0, False),
    ],
)
def test_a_disk_is_full_by_bytes_and_by_files(room, files, left, full, monkeypatch):
    about = os.statvfs_result((4096, 4096, 10**6, 10**6, room, files, left, left, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda _folder: about)
    assert (disk.room(Path("/")) < 100 * 4096) is full


def test_who_has_run_a_policy_is_known_without_reading_its_jobs(server, monkeypatch):
    made = {"w/1": "ward.yaml", "w/2": "ward.yaml", "w/3": "other.yaml", "ward/1": "third.yaml"}
    for run, policy in made.items():
        with server.site.database.changing() as connection:
            connection.execute(
                "INSERT INTO jobs (id, account, author, kind, about, words, leads_to, roles, given, state, secret,"
                " remove, queued, made) VALUES (?, 1, 'a', 'run', ?, '', '', '', '{}', 'done', 0, '', '', ?)",
                (run, policy, run),
            )
    monkeypatch.setattr(JobRecords, "where", None)
    assert server.site.jobs.files_run_as("w") == {"ward.yaml", "other.yaml"}


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["kill", "cancel"])
def test_what_a_stopped_run_left_is_removed_at_once(server: Server, program, ending):
    runs = server.site.settings.runs
    left, live = runs / "p" / ".tmp-12-ab", runs / "p" / ".tmp-34-cd"
    for folder in (left, live, runs / "p" / "other"):
        folder.mkdir(parents=True)
    (left / "candidate.csv").write_text("half of it")
    holder = os.open(live, os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_EX)
    job = program(SLOW, given=GivenFiles(policy="p"))
    _until(lambda: _runs(server, job))
    if ending == "kill":
        os.kill(_pid(job, "child.json"), signal.SIGKILL)
    else:
        server.site.jobs.cancel(job.id)
    assert server.site.jobs.finished(job, PATIENCE).state.is_over
    _until(lambda: not left.exists())
    assert sorted(each.name for each in (runs / "p").iterdir()) == [".tmp-34-cd", "other"]
    os.close(holder)


@pytest.mark.slow
def test_one_person_has_not_all_places_while_another_waits(server: Server, program):
    mine = [program(SLOW) for _ in range(3)]
    _until(lambda: _runs(server, mine[0]) and _runs(server, mine[1]))
    others = [server.site.jobs.add(server.users[PageRole.APPROVER], [SLOW], kind="run", about="p") for _ in range(2)]
    _until(lambda: _runs(server, others[0]))
    assert server.site.jobs.get(mine[2].id).state is JobState.WAITING
    assert server.site.jobs.get(others[1].id).state is JobState.WAITING  # there is one place more, and no third
    for job in (*others[::-1], *mine[::-1]):
        server.site.jobs.cancel(job.id)
        server.site.jobs.finished(job, PATIENCE)


def test_output_is_kept_to_a_limit_and_the_verb_is_not_stopped_by_that(server: Server, program):
    jobs = _jobs(server, JobLimits(output=100_000))
    text = "import sys; [print('x' * 999) for _ in range(1000)]; print('end', file=sys.stderr)"
    job = jobs.finished(jobs.add(server.users[PageRole.STEWARD], [text], kind="run", about="p"), PATIENCE)
    assert (job.state, job.cut, len(job.output), job.progress) == (JobState.DONE, True, 100_000, "end")


def test_cancelling_is_ctrl_c_for_the_verb(server: Server, program):
    text = (
        "import sys, time\ntry:\n print('begun', file=sys.stderr, flush=True); time.sleep(600)\n"
        "except KeyboardInterrupt:\n print('taken back'); sys.exit(130)"
    )
    job = program(text)
    _until(lambda: _runs(server, job))
    server.site.jobs.cancel(job.id)
    job = server.site.jobs.finished(job, PATIENCE)
    assert (job.state, job.exit_code, job.output.strip()) == (JobState.CANCELLED, 130, "taken back")


@pytest.mark.parametrize("killed", ["keeper.json", "child.json"])
def test_a_job_that_is_killed_is_marked_and_nothing_of_it_goes_on(server: Server, program, killed):
    job = program(SLOW)
    _until(lambda: _runs(server, job))
    child = _pid(job, "child.json")
    os.kill(_pid(job, killed), signal.SIGKILL)
    job = server.site.jobs.finished(job, PATIENCE)
    assert (job.state, job.reason) == (JobState.FAILED, "killed")
    _until(lambda: _is_gone(child))


def test_whose_run_it_is_stays_known_where_the_job_is_killed_behind_it(server: Server, program):
    place = server.site.settings.runs / "p" / "one"
    job = program(f"import sys; print('report: {place}/report.html', file=sys.stderr, flush=True); {SLOW}")
    _until(lambda: _runs(server, job))
    os.kill(_pid(job, "keeper.json"), signal.SIGKILL)
    assert server.site.jobs.finished(job, PATIENCE).made == "p/one"
    assert server.site.jobs.maker("p/one").author == "steward"


def test_files_of_a_job_are_deleted_however_it_ends(server: Server, program):
    state = server.folder / "state"
    (state / "folder").mkdir()
    for name in ("a", "b", "folder/c"):
        (state / name).touch()
    done = program("1", remove=[state / "a"])
    failed = program("raise SystemExit(3)", remove=[state / "b", state / "folder"])
    assert server.site.jobs.finished(done, PATIENCE).state is JobState.DONE
    assert server.site.jobs.finished(failed, PATIENCE).state is JobState.FAILED
    _until(lambda: not any((state / name).exists() for name in ("a", "b", "folder")))


@pytest.mark.slow
def test_a_server_that_comes_back_finds_what_runs_and_what_ended_meanwhile(server: Server, program):
    job = program(SLOW)
    _until(lambda: _runs(server, job))
    ended = program("print('ended', flush=True)")
    _until(lambda: jobs.ended(ended.folder) is not None)
    again = opened_site(server.site.settings).jobs
    assert again.finished(ended, PATIENCE).state is JobState.DONE
    assert again.get(job.id).state is JobState.RUNNING
    again.cancel(job.id)
    assert again.finished(job, PATIENCE).state is JobState.CANCELLED


def test_what_only_a_stopped_server_knew_is_lost(server: Server, program, monkeypatch):
    monkeypatch.setattr(Jobs, "_watch", lambda _self: None)
    plain, secret = program("print(1)"), program("print(1)", environment={"SECRET": "x"})
    begun = program(SLOW)
    with sqlite3.connect(server.site.settings.database) as connection:
        connection.execute(
            "UPDATE jobs SET state = 'running', started = '2026-01-01T00:00:00+00:00' WHERE id = ?", (begun.id,)
        )
    connection.close()
    monkeypatch.undo()
    again = opened_site(dataclasses.replace(server.site.settings)).jobs
    assert again.get(secret.id).state is JobState.LOST
    assert again.finished(begun, PATIENCE).state is JobState.LOST
    assert again.finished(plain, PATIENCE).state.is_over


def test_another_process_with_the_number_of_an_old_one_is_left_alone(tmp_path: Path):
    (tmp_path / "child.json").write_text(json.dumps({"pid": os.getpid(), "began": "1"}))
    jobs.end_orphan(tmp_path)
    assert keeper.began(os.getpid()) != "1"


@pytest.mark.slow
def test_what_jobs_printed_is_deleted_after_days(server: Server, program, tmp_path):
    job = server.site.jobs.finished(program("print('kept')"), PATIENCE)
    assert job.output == "kept\n"
    with sqlite3.connect(server.site.settings.database) as connection:
        connection.execute("UPDATE jobs SET ended = '2026-01-01T00:00:00+00:00'")
    connection.close()
    server.site.jobs.finished(program("1"), PATIENCE)
    _until(lambda: not job.folder.exists())
    assert server.site.jobs.get(job.id).output == ""


@pytest.mark.slow
def test_what_jobs_printed_is_kept_of_so_many(server: Server, program):
    jobs = _jobs(server, JobLimits(folders=2))
    user = server.users[PageRole.STEWARD]
    done = [jobs.finished(jobs.add(user, [f"print({i})"], kind="run", about="p"), PATIENCE) for i in range(3)]
    _until(lambda: not done[0].folder.exists())
    assert [jobs.get(job.id).output for job in done] == ["", "1\n", "2\n"]


@pytest.mark.slow
def test_what_jobs_printed_for_one_person_does_not_go_for_the_jobs_of_another(server: Server, program):
    jobs = _jobs(server, JobLimits(folders=2))
    other = server.users[PageRole.APPROVER]
    done = [
        jobs.finished(jobs.add(user, [f"print({i})"], kind="run", about="p"), PATIENCE)
        for i, user in enumerate([other, *[server.users[PageRole.STEWARD]] * 3])
    ]
    _until(lambda: not done[1].folder.exists())
    assert [jobs.get(job.id).output for job in done] == ["0\n", "", "2\n", "3\n"]


def test_what_a_locked_account_asked_for_does_not_begin(server: Server, program, monkeypatch):
    monkeypatch.setattr(Jobs, "_watch", lambda _self: None)
    job = program("print(1)")
    with sqlite3.connect(server.site.settings.database) as connection:
        connection.execute("UPDATE accounts SET locked = 1 WHERE id = ?", (server.users[PageRole.STEWARD].id,))
    connection.close()
    monkeypatch.undo()
    again = _jobs(server, JobLimits())
    assert again.finished(job, PATIENCE).state is JobState.CANCELLED
    assert again.get(job.id).started is None


def test_there_is_no_such_job(server: Server):
    with pytest.raises(LookupError):
        server.site.jobs.get("../" * 9)
    assert isinstance(server.site.settings, Settings)


@pytest.mark.slow
def test_a_signature_does_not_wait_for_runs_and_one_of_them_at_a_time_goes_ahead(server: Server, program):
    jobs, user = server.site.jobs, server.users[PageRole.APPROVER]
    slow = [program(SLOW) for _ in range(2)]
    _until(lambda: all(_runs(server, job) for job in slow))
    waiting = program("print(1)")
    first, second = (jobs.add(user, [SLOW], kind="sign", about="p") for _ in range(2))
    _until(lambda: _runs(server, first))
    assert [jobs.get(job.id).state for job in (waiting, second)] == [JobState.WAITING, JobState.WAITING]
    jobs.cancel(first.id)
    _until(lambda: _runs(server, second))
    assert jobs.get(waiting.id).state is JobState.WAITING
    for job in (*slow, waiting, second):
        jobs.cancel(job.id)
        jobs.finished(job, PATIENCE)


def test_a_word_cannot_be_made_into_several(server: Server, program):
    jobs, user = server.site.jobs, server.users[PageRole.STEWARD]
    with pytest.raises(RefusalError) as refused:
        jobs.add(user, ["sweep", "--metrics=a\0--out\0/elsewhere"], kind="sweep", about="p")
    assert refused.value.status == 400
    assert jobs.of(user) == []
    assert jobs.finished(program("print(1, '--out')"), PATIENCE).words == ("print(1, '--out')",)


@pytest.mark.slow
def test_a_job_ends_with_the_role_of_who_asked_for_it_and_not_with_another_role_more(server: Server, program):
    jobs, user = server.site.jobs, server.users[PageRole.STEWARD]
    running = program(SLOW)
    _until(lambda: _runs(server, running))
    waiting = [program(SLOW), program(SLOW)]
    server.site.accounts.set_roles(user.id, [PageRole.STEWARD, PageRole.APPROVER])
    time.sleep(0.3)
    assert not any(jobs.get(job.id).state.is_over for job in (running, *waiting))
    server.site.accounts.set_roles(user.id, [PageRole.APPROVER, PageRole.GUEST])
    assert {jobs.finished(job, PATIENCE).state for job in (running, *waiting)} == {JobState.CANCELLED}


def test_a_job_of_somebody_who_is_locked_is_stopped(server: Server, program):
    running = program(SLOW)
    _until(lambda: _runs(server, running))
    server.site.accounts.lock(server.users[PageRole.STEWARD].id)
    assert server.site.jobs.finished(running, PATIENCE).state is JobState.CANCELLED
