"""Carries out one job beside the server, and outlives it: ``python -I keeper.py FOLDER < ORDER``.

This file is run by itself and imports nothing of the package; the order is JSON (see ``processes``). It holds the lock
of the job's folder for as long as it lives, keeps what the verb prints up to a limit, stops it when its time is over or
somebody cancels it, and writes last of all how it ended. The verb is stopped as by Ctrl-C, so that it can take back
what is half made.

A policy may name any file, so the verb is confined where the system can do it (Landlock, Linux 5.19 and later): it
can open the installation, what the order names, and no file of anybody else; nor can it read the environment of any
process.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import resource
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from ppdm_flow.page.services.storage.disk import room

_NICE = 10
_PIECE = 65_536
_GRACE = 15.0
"""Seconds from being asked to stop until being killed."""
_POLL = 0.05


def main(folder: Path, order: dict[str, Any]) -> None:
    """Carry the verb out."""
    lock = (folder / "lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)  # the server may look for a moment whether it is held
    cancelled = threading.Event()
    signal.signal(signal.SIGTERM, lambda _number, _frame: cancelled.set())
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a server in the background may have handed down that it is ignored
    _write(folder / "keeper.json", {"pid": os.getpid()})
    _step_back()
    (folder / "tmp").mkdir(exist_ok=True)
    confined = can_confine()
    given = {name: [Path(path) for path in order[name]] for name in GIVEN}
    given["own_writes"].append(folder)
    home = _home(given["makes"][0], folder.name) if given["makes"] else None
    home_handle = os.open(home, os.O_RDONLY) if home is not None else -1  # no other folder gets its number meanwhile

    def restrict() -> None:
        _die_first()
        limit(order)
        if confined:
            confine(given, home)

    child = subprocess.Popen(  # noqa: S603  # our own program; the words were made by the server
        [sys.executable, "-P", "-m", "ppdm_flow", *order["words"]],
        env={**os.environ, "TMPDIR": str(folder / "tmp"), **({RUN_HOME: str(home)} if home else {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        process_group=0,
        preexec_fn=restrict,  # noqa: PLW1509  # no thread yet
    )
    _write(folder / "child.json", {"pid": child.pid, "began": began(child.pid)})
    copies = [
        _Copy(pipe, folder / name, order["bytes"])
        for pipe, name in ((child.stdout, "stdout"), (child.stderr, "stderr"))
        if pipe
    ]
    reason = _waited(child, order, (folder, Path(order["room"])), cancelled)
    _kill(child.pid, signal.SIGKILL)
    made = "" if home is None else _place_of(home_handle, home.parent)
    if home is not None:
        shutil.rmtree(home, ignore_errors=True)  # a run that came to its end has its place
        with suppress(OSError):  # there are runs
            home.parent.rmdir()
    for copy in copies:
        copy.join(_GRACE)
    shutil.rmtree(folder / "tmp", ignore_errors=True)
    _write(
        folder / "ended.json",
        {
            "exit_code": child.returncode,
            "reason": reason,
            "cut": any(copy.cut for copy in copies),
            "confined": confined,
            "made": made,
            "at": time.time(),
        },
    )


def _die_first() -> None:
    """Have the system end this process, and no other, where its memory is used up: each job may have most of it."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", "ascii")


def limit(order: Mapping[str, Any]) -> None:
    """Bound the memory of this process and of those that it begins, and the size of each file; 0 is no bound.

    Bounds that the server was started under stay where they are lower.
    """
    for kind, most in ((resource.RLIMIT_DATA, order["memory"]), (resource.RLIMIT_FSIZE, order["file_bytes"])):
        _, known = resource.getrlimit(kind)
        if most and (known == resource.RLIM_INFINITY or most < known):
            resource.setrlimit(kind, (most, most))


def began(pid: int) -> str:
    """Return when a process began, in the system's own counting; empty where that cannot be found."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


_CREATE, _ADD, _RESTRICT = 444, 445, 446
"""Numbers of Landlock's system calls, the same on all architectures."""
_EXECUTE, _READ_FILE, _WRITE_FILE, _READ_DIR, _REFER, _TRUNCATE = 1 << 0, 1 << 2, 1 << 1, 1 << 3, 1 << 13, 1 << 14
ALL = (1 << 15) - 1
READ = _READ_FILE | _READ_DIR | _EXECUTE
_MAKE = ALL & ~_READ_FILE & ~_EXECUTE
_OF_FILES = _EXECUTE | _READ_FILE | _WRITE_FILE | _TRUNCATE
_LEAST_VERSION = 2
"""The first in which files can be moved between folders."""
_NO_NEW_PRIVILEGES = 38
_PROCESSES = Path("/proc")
_SECRET = frozenset({"environ", "mem", "task"})
"""Entries of a process with its environment: in memory, and of each thread again."""
_SYSTEM = (
    *("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/sys/devices/system", "/sys/fs/cgroup"),
    *(f"/proc/{name}" for name in ("meminfo", "cpuinfo", "stat", "loadavg", "uptime", "version", "filesystems", "sys")),
    *(f"/etc/{name}" for name in ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "timezone", "os-release")),
    *(f"/etc/{name}" for name in ("hosts", "host.conf", "resolv.conf", "nsswitch.conf", "gai.conf", "services")),
    *(f"/etc/{name}" for name in ("protocols", "passwd", "group", "mime.types", "alternatives", "freetds")),
    *(f"/etc/{name}" for name in ("odbc.ini", "odbcinst.ini", "ca-certificates", "pki/tls/certs", "pki/ca-trust")),
    *(f"/etc/{name}" for name in ("ssl/certs", "ssl/openssl.cnf", "crypto-policies")),
)
"""What programs, names of hosts and authorities need; no file among them is secret."""
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
_WITNESSES = ("manifest.json", "publication.json")
"""What a run reads of the earlier runs of its policy: what they saw of the ledger."""
GIVEN = ("hidden", "reads", "writes", "makes", "beside", "own_reads", "own_writes")
"""What an order says of files, see `confine`."""
RUN_HOME = "PPDM_RUN_HOME"
"""The variable that names the hidden folder which a run is to take."""


def landlock_version() -> int:
    """Return the version of Landlock that the system has; 0 where it has none."""
    if sys.platform != "linux":
        return 0
    version = ctypes.CDLL(None, use_errno=True).syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    return max(0, int(version))


def can_confine() -> bool:
    """Whether the system can keep jobs from what is hidden: Linux 5.19 or later, with Landlock."""
    return landlock_version() >= _LEAST_VERSION


def confine(given: Mapping[str, Sequence[Path]], home: Path | None = None) -> None:
    """Keep this process and those that it begins from opening anything but the installation and what is ``given``.

    It ``reads`` and ``writes`` what these folders and files hold, but for what is ``hidden``, and ``makes`` a run in
    ``home`` beside other runs. Of these, and of the runs in folders ``beside``, it reads what they saw of a ledger.
    What the server lends it, hidden from others, are ``own_reads`` and ``own_writes``. Nor can the environment of any
    process be read, which may hold passwords. Raises OSError where the system does not do it.
    """
    system = ctypes.CDLL(None, use_errno=True)
    every = ALL if landlock_version() > _LEAST_VERSION else ALL & ~_TRUNCATE
    rules = system.syscall(_CREATE, ctypes.byref(ctypes.c_uint64(every)), ctypes.c_size_t(8), ctypes.c_uint32(0))
    if rules < 0:
        raise OSError(ctypes.get_errno(), "the process cannot be confined")
    for path, rights in _rights(given, home):
        _allow(system, rules, path, rights & every)
    if system.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) or system.syscall(_RESTRICT, rules, ctypes.c_uint32(0)):
        raise OSError(ctypes.get_errno(), "the process cannot be confined")
    os.close(rules)


def _rights(given: Mapping[str, Sequence[Path]], home: Path | None) -> Iterator[tuple[Path, int]]:
    """Yield what may be opened, and how."""
    hidden = [path.resolve() for path in given["hidden"]]
    for path in (*map(Path, _SYSTEM), *_installation(), *given["reads"]):
        yield from ((place, READ) for place in _outside(path.resolve(), hidden))
    for path in given["writes"]:
        yield from ((place, ALL) for place in _outside(path.resolve(), hidden))
    yield from ((path, READ) for path in given["own_reads"])
    own = (*given["own_writes"], *map(Path, _DEVICES), *_about_itself(), *_compiled_code())
    yield from ((path, ALL) for path in own)
    yield from ((path, _READ_DIR) for path in _module_folders() if any(each.is_relative_to(path) for each in hidden))
    if home is not None:
        yield from ((home, ALL), (home.parent, _MAKE), (home.parent.parent, _READ_DIR))
    for folder in (*given["makes"], *given["beside"]):
        yield folder, _READ_DIR
        yield from ((witness, _READ_FILE) for name in _WITNESSES for witness in folder.glob(f"*/{name}"))


def _home(runs: Path, job: str) -> Path:
    """Make the hidden folder of a run, which it leaves by a rename once it is complete."""
    home = runs / f".job-{job}"
    while True:
        with suppress(FileNotFoundError):  # another job has failed meanwhile, and took the empty folder of runs away
            home.mkdir(parents=True, mode=0o700)
            return home


def _place_of(handle: int, runs: Path) -> str:
    """Return the name under which a run's folder stands now, which is open; nothing where it is hidden, or gone.

    What the verb printed does not tell: it may have been stopped once the run was in its place.
    """
    own = os.fstat(handle)
    with suppress(OSError), os.scandir(runs) as entries:
        for entry in entries:
            if not entry.name.startswith(".") and entry.inode() == own.st_ino and entry.is_dir(follow_symlinks=False):
                return entry.name
    return ""


def _installation() -> Iterator[Path]:
    """Yield where Python and its modules are."""
    yield from (Path(sys.prefix), Path(sys.base_prefix), Path(sys.exec_prefix), Path(__file__).parents[3])
    yield from _module_folders()


def _compiled_code() -> Iterator[Path]:
    """Yield where numba keeps the machine code of kernels: beside their modules, or in the account's own cache."""
    yield from Path(__file__).parents[3].rglob("__pycache__")
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "numba"
    with suppress(OSError):
        caches.mkdir(parents=True, exist_ok=True)
        yield caches


def _module_folders() -> set[Path]:
    words = [*sys.path, *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    return {Path(word).resolve() for word in words if word}


def _outside(folder: Path, hidden: Sequence[Path]) -> Iterator[Path]:
    """Yield the fewest places that hold everything in a folder but what is hidden, and but other processes.

    Links are left out: they lead to one of these places, or to what is hidden.
    """
    if folder in hidden or any(folder.is_relative_to(path) for path in hidden):
        return
    if folder.parent == _PROCESSES and folder.name.isdecimal():
        return
    if folder not in (_PROCESSES, Path("/")) and not any(path.is_relative_to(folder) for path in hidden):
        yield folder
        return
    with suppress(OSError):
        for child in sorted(folder.iterdir()):
            if not child.is_symlink():
                yield from _outside(child, hidden)


def _about_itself() -> Iterator[Path]:
    """Yield what the system tells this process about itself, but for its environment: a policy may name that file.

    The environment has the passphrase of who signs, and what is in it could come out in a release.
    """
    with suppress(OSError):
        for each in (_PROCESSES / str(os.getpid())).iterdir():
            if each.name not in _SECRET and not each.is_symlink():
                yield each


def _allow(system: ctypes.CDLL, rules: int, path: Path, rights: int) -> None:
    """Let what is beneath a path be opened; what cannot be found is left out."""
    with suppress(OSError):
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            applying = rights if path.is_dir() else rights & _OF_FILES
            rule = struct.pack("=Qi", applying, place)
            system.syscall(_ADD, rules, ctypes.c_int(1), rule, ctypes.c_uint32(0))
        finally:
            os.close(place)


class _Copy(threading.Thread):
    """Writes down what comes out of a pipe, up to a limit; the rest is read and forgotten."""

    def __init__(self, pipe: IO[bytes], file: Path, most: int) -> None:
        super().__init__(daemon=True)
        self._pipe, self._file, self._left = pipe, file, most
        self.cut = False
        self.start()

    def run(self) -> None:
        """Read until the pipe is closed."""
        with self._file.open("wb", buffering=0) as file:
            while piece := os.read(self._pipe.fileno(), _PIECE):
                self.cut = self.cut or len(piece) > self._left
                file.write(piece[: self._left])
                self._left -= min(self._left, len(piece))


def _waited(
    child: subprocess.Popen[bytes], order: Mapping[str, Any], filled: Sequence[Path], cancelled: threading.Event
) -> str:
    """Wait for the end; return why it was stopped, or nothing. ``filled`` are folders on whose disks it writes."""
    until = time.monotonic() + order["seconds"]
    while child.poll() is None:
        full = any(room(place) < order["free_bytes"] for place in filled)
        if cancelled.is_set() or full or time.monotonic() > until:
            reason = "cancelled" if cancelled.is_set() else "disk" if full else "time"
            _kill(child.pid, signal.SIGINT)
            try:
                child.wait(_GRACE)
            except subprocess.TimeoutExpired:
                _kill(child.pid, signal.SIGKILL)
                child.wait()
            return reason
        time.sleep(_POLL)
    return ""


def _step_back() -> None:
    """Let the server go first: a low priority, and all jobs on one and the same core where there are several."""
    os.nice(_NICE)
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        if len(cores) > 1:
            os.sched_setaffinity(0, {cores[-1]})


def _kill(group: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, number)


def _write(file: Path, value: object) -> None:
    """Write a file that is whole, or not there."""
    beside = file.with_suffix(".part")
    beside.write_text(json.dumps(value), encoding="utf-8")
    beside.replace(file)


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.load(sys.stdin))
