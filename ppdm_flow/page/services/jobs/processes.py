"""The processes of jobs: begun, found again after the server has stopped, asked to end."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from ppdm_flow.engine.buckets.store import BUCKETS
from ppdm_flow.page.services.jobs import keeper
from ppdm_flow.policy.params import ALLOWED as PARAMS_FROM_ENV
from ppdm_flow.sdk.databases.faults import DATABASES


@dataclass(frozen=True, slots=True)
class End:
    """How a process ended; ``exit_code`` is the negative number of a signal that killed it.

    ``made`` is the name of the run that it left in its place, whatever it printed.
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
    found = {name: value for name, value in os.environ.items() if name in names or name.startswith(("LC_", "LANG"))}
    return {name: value for name, value in _NO_IDENTITY.items() if name not in names} | found


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
    found = _read(folder / "ended.json")
    if found is None:
        return None
    return End(int(str(found["exit_code"])), str(found["reason"]), bool(found["cut"]), str(found.get("made", "")))


def ask_to_end(folder: Path) -> None:
    """Ask the keeper to stop the verb as Ctrl-C would."""
    found = _read(folder / "keeper.json")
    if found is not None and is_kept(folder):
        _signal(os.kill, int(str(found["pid"])), signal.SIGTERM)


def end_orphan(folder: Path) -> None:
    """Kill a verb whose keeper was killed; a process that only has got the same number is left alone."""
    found = _read(folder / "child.json")
    if found is None or is_kept(folder):
        return
    pid = int(str(found["pid"]))
    if found["began"] and keeper.began(pid) == found["began"]:
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
