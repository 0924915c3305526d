"""The queue of jobs: so many at once, so many waiting, so many for one person."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ppdm_flow.core.digests import EXPECTED, is_as_marked
from ppdm_flow.engine.buckets.store import BUCKETS
from ppdm_flow.engine.candidates.unpublished import LENT, clear_stale_runs
from ppdm_flow.page.services.accounts.roles import User
from ppdm_flow.page.services.jobs import keeper
from ppdm_flow.page.services.jobs.confined import own_files, private_files
from ppdm_flow.page.services.jobs.job import ANSWERS, JobState, VerbJob
from ppdm_flow.page.services.jobs.records import JobRecords, NewJob
from ppdm_flow.page.services.policies.given import GivenFiles
from ppdm_flow.page.services.refusal import RefusalError
from ppdm_flow.page.settings import Settings
from ppdm_flow.policy.params import ALLOWED as PARAMS_FROM_ENV
from ppdm_flow.sdk.databases.faults import DATABASES

_REPORT = re.compile(r"^report: (.+)/report\.html$", re.MULTILINE)
SHORT = frozenset({"key", "sign"})
"""Kinds that take a second or two: one of them at a time waits for no place, since a passphrase waits with it."""
_LOOK = 0.1
_ACTIVE = "state IN ('waiting', 'running')"
_BEGINNING = timedelta(seconds=10)
"""How long a process may take until it holds the lock of its folder."""
OWN_FOLDER = "{job}"
"""What a word begins with that is to be below the job's own folder: it is kept and deleted with what the job prints."""
_NO_FILES = GivenFiles()
_LONGEST = 30_000
"""Characters of the words of a job, which are kept for good: a sweep over two places has 20,000 of values."""
_MOST_IN_TIME, _TIME = 500, timedelta(hours=1)
"""Jobs that one person asks for in a time, be they cancelled or not: each is written down for good."""
_log = logging.getLogger("ppdm_flow.page")


class Jobs:
    """All jobs of a server. ``at`` is the working directory of the verbs, ``runs`` where they make runs.

    A job can open the installation, what its words name, and what is in ``at`` and in the folders of ``data``, but for
    what is ``private``. Of the server's environment it knows the variables that are ``lent``.
    """

    def __init__(
        self,
        records: JobRecords,
        folder: Path,
        at: Path,
        runs: Path,
        limits: JobLimits,
        private: Sequence[Path] = (),
        lent: Sequence[str] = (),
        data: Sequence[Path] = (),
    ) -> None:
        self._records, self._folder, self._at, self._runs, self._limits = records, folder, at, runs, limits
        self._state, self._lent = folder.absolute().parent, tuple(lent)
        self._hidden, self._shared = (self._state, runs, *private), (at, *data)
        self._environments: dict[str, Mapping[str, str]] = {}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._lock = threading.RLock()
        self._thread: threading.Thread | None = None
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for job in records.where("state = 'waiting' AND secret = 1"):
            self._end(job, JobState.LOST)
        self._watch()

    @classmethod
    def opened(cls, settings: Settings, records: JobRecords) -> Jobs:
        """Return the jobs of a server."""
        lent = (*settings.job_variables, *settings.param_variables)
        limits, private = JobLimits.of(settings), private_files(settings)
        return cls(records, settings.jobs, settings.policies, settings.runs, limits, private, lent, settings.data)

    def add(
        self,
        user: User,
        words: Sequence[str],
        *,
        kind: str,
        about: str,
        environment: Mapping[str, str] | None = None,
        remove: Iterable[Path] = (),
        leads_to: str = "",
        given: GivenFiles = _NO_FILES,
    ) -> VerbJob:
        """Put ``ppdm-flow WORDS`` into the queue. Raises RefusalError where a limit is reached.

        ``environment`` is where passwords belong: it is kept in memory until the process has it, and nowhere else. A
        path among the words should be absolute, so that no name can be taken for an option; one that begins with
        ``OWN_FOLDER`` is below the job's own folder. ``remove``: files and folders to delete once the job is over,
        however it ends. ``leads_to``: the page to go on with, where ``{job}`` is replaced by the job's id.
        ``given``: where one of these files is another by the time the job would begin, it does not, and where the verb
        reads other bytes, it fails; a run is made in the folder of their policy.
        """
        if any("\0" in word for word in words):  # no process can have it, and it parts the words that are written down
            raise RefusalError("jobs.unusable_word", 400)
        if sum(map(len, words)) > _LONGEST:
            raise RefusalError("jobs.long_words", 400)
        key = secrets.token_hex(8)
        own = str(self._folder.absolute() / key)
        said = [own + word[len(OWN_FOLDER) :] if word.startswith(OWN_FOLDER) else word for word in words]
        with self._lock:
            if self._records.many("state = 'waiting'") >= self._limits.waiting:
                raise RefusalError("jobs.full", 429, limit=self._limits.waiting)
            if self._records.many(f"{_ACTIVE} AND account = ?", user.id) >= self._limits.own:
                raise RefusalError("jobs.own_full", 429, limit=self._limits.own)
            if self._records.since(_TIME, user) >= _MOST_IN_TIME:
                raise RefusalError("jobs.many", 429, limit=_MOST_IN_TIME)
            if self._records.free_bytes < self._limits.free_bytes:
                raise RefusalError("policies.no_room", 429)
            if environment:
                self._environments[key] = dict(environment)
            page = leads_to.replace(OWN_FOLDER, key)
            new = NewJob(key, user, kind, about, said, page, tuple(remove), bool(environment), given)
            self._records.insert(new)
            self._watch()
        return self.get(key)

    def get(self, key: str) -> VerbJob:
        """Return one job. Raises LookupError."""
        job = self._records.get(key)
        if job is None:
            raise LookupError("no such job")
        return job

    def of(self, user: User, most: int = 100) -> list[VerbJob]:
        """Return somebody's jobs, newest first."""
        return self._records.where("account = ?", user.id, most=most)[::-1]

    def active(self) -> list[VerbJob]:
        """Return everybody's jobs that run or wait, those that run first, then in the order of the queue."""
        jobs = self._records.where(_ACTIVE)
        return sorted(jobs, key=lambda job: job.state is JobState.WAITING)

    def maker(self, run: str) -> VerbJob | None:
        """Return the job that made a run; its name is ``policy/time-digest``, as below the folder of runs."""
        return next(iter(self._records.where("made = ? AND made <> ''", run)), None)

    def files_run_as(self, policy: str) -> frozenset[str]:
        """Return the policy files whose runs lie in the folder of a policy."""
        first, after = f"{policy}/", f"{policy}0"  # the character after the slash
        return self._records.policies_of_runs(first, after)

    def cancel(self, key: str) -> None:
        """End a job that waits or runs. Raises LookupError."""
        with self._lock:
            job = self.get(key)
            if job.state is JobState.WAITING:
                self._end(job, JobState.CANCELLED)
            elif job.state is JobState.RUNNING:
                self._records.want_end(key)
                ask_to_end(job.folder)

    def finished(self, job: VerbJob, timeout: float) -> VerbJob:
        """Wait until a job is over, and return it as it is then. Raises TimeoutError."""
        until = time.monotonic() + timeout
        while not (job := self.get(job.id)).state.is_over:
            if time.monotonic() > until:
                raise TimeoutError(f"job is still {job.state} after {timeout} s")
            time.sleep(_LOOK / 2)
        return job

    def _watch(self) -> None:
        """Have a thread look after the jobs for as long as there are any."""
        with self._lock:
            if self._thread is None and self._records.many(_ACTIVE):
                self._thread = threading.Thread(target=self._look_after, name="jobs", daemon=True)
                self._thread.start()

    def _look_after(self) -> None:
        while True:
            try:
                with self._lock:
                    running = [job for job in self._records.where("state = 'running'") if not self._settled(job)]
                    self._begin_waiting(running)
                    if not self._records.many(_ACTIVE):
                        self.tidy()
                        self._thread = None
                        return
            except Exception as error:  # noqa: BLE001  # a full disk must not end the thread
                _log.error("the queue of jobs failed with %s", type(error).__name__)
                time.sleep(1)
            time.sleep(_LOOK)

    def _begin_waiting(self, running: Sequence[VerbJob]) -> None:
        """Begin as many as may run; whose other jobs run already comes later."""
        waiting = self._records.where("state = 'waiting'")
        busy = Counter(job.account for job in running)
        free = self._limits.running - len(running)
        if free <= 0 and len(busy) == 1 and any(job.account not in busy for job in waiting):
            free = 1  # one person has all places, so there is one more for somebody else
        begun: list[VerbJob] = []
        for _ in range(min(free, len(waiting))):
            job = min(waiting, key=lambda job: (busy[job.account], job.number))
            waiting.remove(job)
            busy[job.account] += 1
            begun.append(job)
            self._begin(job)
        if not any(job.kind in SHORT for job in (*running, *begun)):
            for job in [job for job in waiting if job.kind in SHORT][:1]:
                self._begin(job)

    def _begin(self, job: VerbJob) -> None:
        environment = {**environment_of(self._lent), **self._environments.pop(job.id, {})}
        if not self._records.is_wanted(job.id):
            self._end(job, JobState.CANCELLED)
            return
        given = self._records.given(job.id)
        if not all(is_as_marked(path, mark) for path, mark in given.files.items()):
            self._end(job, JobState.FAILED, reason="changed")
            return
        job.folder.mkdir(mode=0o700, exist_ok=True)
        if not self._records.begin(job.id):
            return
        try:
            if given.files:
                environment[EXPECTED] = str((job.folder / "expected.json").absolute())
                Path(environment[EXPECTED]).write_text(
                    json.dumps({str(path): mark for path, mark in given.files.items()})
                )
            order = KeeperOrder(
                job.words,
                self._limits.seconds,
                self._limits.output,
                self._runs.absolute(),
                self._limits.memory,
                self._limits.file_bytes,
                self._limits.free_bytes,
                hidden=self._hidden,
                reads=given.reads,
                writes=self._shared,
                makes=self._made_in(job),
                **own_files(self._state, self._runs, job.words),
            )
            self._processes[job.id] = begin(job.folder, order, environment, self._at)
        except OSError as error:
            _log.error("a job could not begin: %s", type(error).__name__)
            self._end(job, JobState.FAILED)

    def _settled(self, job: VerbJob) -> bool:
        """Whether a running job is over; it is marked then."""
        if cancelled := self._records.is_cancelling(job.id) or not self._records.is_wanted(job.id):
            ask_to_end(job.folder)
        process = self._processes.get(job.id)
        if process is not None and process.poll() is None:
            return False
        if is_kept(job.folder):
            return False
        end = ended(job.folder)
        if end is None and process is None and _may_still_begin(job):
            return False
        end_orphan(job.folder)
        self._processes.pop(job.id, None)
        if end is None:
            state = JobState.CANCELLED if cancelled else JobState.LOST if process is None else JobState.FAILED
            self._end(job, state, reason="killed" if state is JobState.FAILED else "")
        elif cancelled and end.exit_code not in ANSWERS:
            self._end(job, JobState.CANCELLED, end)
        else:
            self._end(
                job, JobState.DONE if end.exit_code in ANSWERS else JobState.FAILED, end
            )  # what stops it may come late
        return True

    def _end(self, job: VerbJob, state: JobState, end: End | None = None, reason: str = "") -> None:
        """Mark a job as over. Its files are deleted before that: a server that stops in between does it again."""
        self._environments.pop(job.id, None)
        for path in (*self._records.files(job.id), *(runs / f"{LENT}{job.id}" for runs in self._made_in(job))):
            _delete(path)
        for runs in self._made_in(job) if state is not JobState.DONE else ():
            threading.Thread(target=clear_stale_runs, args=(runs,), kwargs={"wait": False}, daemon=True).start()
        if end is None:
            self._records.end(job.id, state, None, reason, self._printed(job), cut=False)
        else:
            why = end.reason or ("killed" if end.exit_code < 0 else "")
            made = next((f"{runs.name}/{end.made}" for runs in self._made_in(job) if end.made), "")
            self._records.end(job.id, state, end.exit_code, why, made or self._printed(job), cut=end.cut)

    def _made_in(self, job: VerbJob) -> tuple[Path, ...]:
        """Return the folder in which a job makes a run; nothing where it makes none."""
        policy = self._records.given(job.id).policy if job.kind == "run" else ""
        return (self._runs.absolute() / policy,) if policy else ()

    def _printed(self, job: VerbJob) -> str:
        """Return the run that a job says to have made, relative to the folder of runs."""
        matches = _REPORT.findall(job.talk) if job.kind == "run" else []
        place = Path(matches[-1]) if matches else None
        inside = place is not None and (self._at / place).resolve().is_relative_to(self._runs.resolve())
        return (self._at / place).resolve().relative_to(self._runs.resolve()).as_posix() if place and inside else ""

    def tidy(self) -> None:
        """Delete old output of jobs, and output beyond each person's limit: it may reveal something about a table."""
        before = datetime.now(UTC) - self._limits.kept
        folders = [each for each in self._folder.iterdir() if each.is_dir() and not each.is_symlink()]
        ended = [(job.ended, job) for each in folders if (job := self._records.get(each.name)) and job.ended]
        newer = Counter[int]()
        for at, job in sorted(ended, key=lambda each: each[0], reverse=True):
            if at < before or newer[job.account] >= self._limits.folders:
                _delete(job.folder)
            newer[job.account] += 1


def _may_still_begin(job: VerbJob) -> bool:
    if job.started is None or (job.folder / "keeper.json").exists():
        return False
    return datetime.now(UTC) - job.started < _BEGINNING


def _delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class JobLimits:
    """What jobs may take: at once, in the queue, of one person; seconds, bytes of output.

    What they printed is ``kept`` so long, and of so many jobs of one person (``folders``). ``memory`` and
    ``file_bytes`` are those of one job and of each file that it writes; a job is stopped where less than ``free_bytes``
    are left on the disk.
    """

    running: int = 2
    waiting: int = 20
    own: int = 5
    seconds: float = 6 * 3600
    output: int = 16 * 2**20
    kept: timedelta = timedelta(days=3)
    folders: int = 100
    memory: int = 0
    file_bytes: int = 0
    free_bytes: int = 0

    @classmethod
    def of(cls, settings: Settings) -> JobLimits:
        """Return the limits of a server."""
        return cls(
            settings.running_jobs,
            settings.waiting_jobs,
            settings.own_jobs,
            settings.job_minutes * 60.0,
            settings.job_output_bytes,
            timedelta(days=settings.job_days),
            memory=settings.job_memory_bytes or _most_memory(),
            file_bytes=settings.job_file_bytes,
            free_bytes=settings.free_bytes,
        )


def _most_memory() -> int:
    """Return three quarters of the machine's memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 3 // 4


# The processes of jobs: begun, found again after the server has stopped, asked to end.


@dataclass(frozen=True, slots=True)
class End:
    """How a process ended; ``exit_code`` is the negative number of a signal that killed it.

    ``made`` is the name of the run that it left in its place, independent of its output.
    """

    exit_code: int
    reason: str
    cut: bool
    made: str = ""


@dataclass(frozen=True, slots=True)
class KeeperOrder:
    """What a keeper is to carry out: the verb's words, its limits, and which files it may open.

    ``room`` is the folder that it fills, on whose disk ``free_bytes`` stay free; ``memory`` and ``file_bytes`` are the
    most that it may hold and that one file of it may have.

    It ``reads`` and ``writes`` files and folders, but for what is ``hidden``, and makes runs in the folders ``makes``.
    Of the runs in the folders ``beside`` it reads the manifests. What it was given by the server, hidden from others,
    are ``own_reads`` and ``own_writes``.
    """

    words: Sequence[str]
    seconds: float
    bytes: int
    room: Path
    memory: int = 0
    file_bytes: int = 0
    free_bytes: int = 0
    hidden: Sequence[Path] = ()
    reads: Sequence[Path] = ()
    writes: Sequence[Path] = ()
    makes: Sequence[Path] = ()
    beside: Sequence[Path] = ()
    own_reads: Sequence[Path] = ()
    own_writes: Sequence[Path] = ()


_KNOWN = frozenset(
    {"PATH", "HOME", "TZ", "LD_LIBRARY_PATH", "PYTHONPATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "XDG_CACHE_HOME"}
)
"""Variables without secrets, by which programs, modules and authorities are found; those of the language beside."""
_RULES = frozenset({PARAMS_FROM_ENV, DATABASES, BUCKETS})
"""Variables in which the server says what policies may read and where they may sign in."""
_NO_IDENTITY = {
    "AWS_EC2_METADATA_DISABLED": "true",
    "GCE_METADATA_ROOT": "localhost:9",
    "AZURE_TOKEN_CREDENTIALS": "EnvironmentCredential",
}
"""Variables that keep clients of object stores from signing in as the machine, for which its cloud vouches."""


def environment_of(lent: Iterable[str]) -> dict[str, str]:
    """Return what a job knows of the server's environment: what the system needs, and what is ``lent``.

    The identity that the machine has in a cloud is the server's own, unless the variable that forbids it is lent.
    """
    names = {*_KNOWN, *_RULES, *lent}
    variables = {name: value for name, value in os.environ.items() if name in names or name.startswith(("LC_", "LANG"))}
    return {name: value for name, value in _NO_IDENTITY.items() if name not in names} | variables


def begin(folder: Path, order: KeeperOrder, environment: Mapping[str, str], at: Path) -> subprocess.Popen[bytes]:
    """Begin the verb in the working directory ``at``: its own session, and nothing of the server's open files.

    ``environment`` is all that it knows of variables.
    """
    low = [idle, "-c", "3"] if (idle := shutil.which("ionice")) else []
    process = subprocess.Popen(  # noqa: S603  # our own program; see the keeper
        [*low, sys.executable, "-I", keeper.__file__, str(folder)],
        cwd=at,
        env=dict(environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    if process.stdin is not None:
        with suppress(BrokenPipeError), process.stdin as pipe:
            pipe.write(json.dumps(asdict(order), default=str).encode())
    threading.Thread(target=process.wait, name="job", daemon=True).start()
    return process


def is_kept(folder: Path) -> bool:
    """Whether a keeper is alive: it holds the lock of the folder."""
    try:
        with (folder / "lock").open("r") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def ended(folder: Path) -> End | None:
    """Return how it ended; None where the keeper has not written that."""
    document = _read(folder / "ended.json")
    if document is None:
        return None
    return End(
        int(str(document["exit_code"])), str(document["reason"]), bool(document["cut"]), str(document.get("made", ""))
    )


def ask_to_end(folder: Path) -> None:
    """Ask the keeper to stop the verb as Ctrl-C would."""
    document = _read(folder / "keeper.json")
    if document is not None and is_kept(folder):
        _signal(os.kill, int(str(document["pid"])), signal.SIGTERM)


def end_orphan(folder: Path) -> None:
    """Kill a verb whose keeper was killed; a process that only has got the same number is left alone."""
    document = _read(folder / "child.json")
    if document is None or is_kept(folder):
        return
    pid = int(str(document["pid"]))
    if document["began"] and keeper.began(pid) == document["began"]:
        _signal(os.killpg, pid, signal.SIGKILL)


def _signal(send: Callable[[int, int], None], pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        send(pid, number)


def _read(file: Path) -> dict[str, object] | None:
    try:
        value: dict[str, object] = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return value
