"""Carries out one job beside the server, and outlives it: ``python -I keeper.py FOLDER SECONDS BYTES WORD…``.

This file is run by itself and imports nothing of the package. It holds the lock of the job's folder for as long as it
lives, keeps what the verb prints up to a limit, stops it when its time is over or somebody cancels it, and writes last
of all how it ended. The verb is stopped as by Ctrl-C, so that it can take back what is half made.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

_NICE = 10
_PIECE = 65_536
_GRACE = 15.0
"""Seconds from being asked to stop until being killed."""
_POLL = 0.05


def main(folder: Path, seconds: float, most: int, words: list[str]) -> None:
    """Carry the verb out."""
    lock = (folder / "lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)  # the server may look for a moment whether it is held
    cancelled = threading.Event()
    signal.signal(signal.SIGTERM, lambda _number, _frame: cancelled.set())
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a server in the background may have handed down that it is ignored
    _write(folder / "keeper.json", {"pid": os.getpid()})
    _step_back()
    child = subprocess.Popen(  # noqa: S603  # our own program; the words were made by the server
        [sys.executable, "-P", "-m", "ppdm_flow", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        process_group=0,
    )
    _write(folder / "child.json", {"pid": child.pid, "began": began(child.pid)})
    copies = [
        _Copy(pipe, folder / name, most) for pipe, name in ((child.stdout, "stdout"), (child.stderr, "stderr")) if pipe
    ]
    reason = _waited(child, seconds, cancelled)
    _kill(child.pid, signal.SIGKILL)
    for copy in copies:
        copy.join(_GRACE)
    _write(
        folder / "ended.json",
        {"exit_code": child.returncode, "reason": reason, "cut": any(copy.cut for copy in copies), "at": time.time()},
    )


def began(pid: int) -> str:
    """Return when a process began, in the system's own counting; empty where that cannot be found."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


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


def _waited(child: subprocess.Popen[bytes], seconds: float, cancelled: threading.Event) -> str:
    """Wait for the end; return why it was stopped, or nothing."""
    until = time.monotonic() + seconds
    while child.poll() is None:
        if cancelled.is_set() or time.monotonic() > until:
            reason = "cancelled" if cancelled.is_set() else "time"
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
    main(Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
