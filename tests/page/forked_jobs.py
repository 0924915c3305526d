"""Jobs of the page whose processes are forks of one with warm imports: a new Python takes a second to become a verb.

``ForkedJobs`` is what tests use. Run by itself, this file is the process that is forked: a line on its standard input
begins the keeper of a job, and its answer is the keeper's number. The verb is a fork of the keeper. What the keeper
does (locks, limits, confinement) is the product's own.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import runpy
import select
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

sys.path.append(str(Path(__file__).parents[1]))

from warm import of_program
from warm_server import become, end

from ppdm_flow.evidence import key_files
from ppdm_flow.page.services.jobs import keeper
from ppdm_flow.page.services.jobs.jobs import KeeperOrder


class ForkedJobs:
    """Begins jobs as ``processes.begin`` does: as forks of a process that is started when it is first needed."""

    def __init__(self) -> None:
        self._environment = dict(os.environ)
        self._server: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()

    def begin(self, folder: Path, order: KeeperOrder, environment: Mapping[str, str], at: Path) -> Keeper:
        """Begin the verb in the working directory ``at``."""
        job = {
            "folder": str(folder),
            "order": asdict(order),
            "cwd": str(at.absolute()),
            "env": {**os.environ, **environment},
        }
        with self._lock:
            if self._server is None:
                words = [sys.executable, "-P", __file__, *of_program()]
                self._server = subprocess.Popen(
                    words, env=self._environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
                )
            self._server.stdin.write(json.dumps(job, default=str) + "\n")
            self._server.stdin.flush()
            return Keeper(int(self._server.stdout.readline()))

    def close(self) -> None:
        """End the process whose forks there were."""
        if self._server is not None:
            with self._server as server:
                server.stdin.close()


class Keeper:
    """The process that carries a job out: as much of ``Popen`` as the queue needs of it."""

    def __init__(self, pid: int) -> None:
        self._descriptor = os.pidfd_open(pid)
        self._is_over = False

    def poll(self) -> int | None:
        """Return None as long as it runs."""
        if not self._is_over and _is_over(self._descriptor, 0):
            os.close(self._descriptor)
            self._is_over = True
        return 0 if self._is_over else None


class Verb:
    """A verb that is a fork of its keeper: as much of ``Popen`` as the keeper needs of it."""

    def __init__(
        self, words: Sequence[str], env: Mapping[str, str], preexec_fn: Callable[[], None] | None, **_options: Any
    ) -> None:
        (out, out_end), (err, err_end) = os.pipe(), os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            outputs = {"out": f"/dev/fd/{out_end}", "err": f"/dev/fd/{err_end}"}
            become_verb(words, {"cwd": str(Path.cwd()), "env": env, **outputs}, preexec_fn)
        os.close(out_end)
        os.close(err_end)
        self.stdout, self.stderr = os.fdopen(out, "rb", buffering=0), os.fdopen(err, "rb", buffering=0)
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return how it ended; None as long as it runs."""
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait for its end. Raises TimeoutExpired."""
        descriptor = os.pidfd_open(self.pid)
        is_over = _is_over(descriptor, timeout)
        os.close(descriptor)
        if not is_over:
            raise subprocess.TimeoutExpired("verb", timeout or 0)
        return self.poll()


def _is_over(descriptor: int, timeout: float | None) -> bool:
    waiting = select.poll()  # unlike `select.select`, it takes descriptors above 1,023, as many servers need
    waiting.register(descriptor, select.POLLIN)
    return bool(waiting.poll(None if timeout is None else timeout * 1000))


def become_verb(words: Sequence[str], order: dict[str, Any], preexec_fn: Callable[[], None] | None) -> NoReturn:
    """Carry out ``python -P -m MODULE …`` in this process, which is the fork of a keeper."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    become(order)
    os.closerange(3, 256)  # above all the lock that its keeper holds
    if preexec_fn is not None:
        preexec_fn()
    status: object = 0
    try:
        _, _, _, module, *sys.argv[1:] = words
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as left:
        status = left.code
    except BaseException:  # noqa: BLE001  # as a process ends of itself
        traceback.print_exc()
        status = 1
    end(status)


def keep(job: dict[str, Any]) -> NoReturn:
    """Carry a job out in this process, which is the fork of one with warm imports."""
    os.setsid()
    os.chdir(job["cwd"])
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
    os.environ.clear()
    os.environ.update(job["env"])
    keeper.subprocess = SimpleNamespace(
        Popen=Verb, PIPE=subprocess.PIPE, DEVNULL=subprocess.DEVNULL, TimeoutExpired=subprocess.TimeoutExpired
    )
    keeper._step_back = lambda: None  # the tests wait for it
    keeper.main(Path(job["folder"]), job["order"])
    os._exit(0)


def main() -> None:
    """Import the modules, and begin jobs until the standard input ends."""
    for name in sys.argv[1:]:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    key_files._ROUNDS = 1  # a third of a second for each key and signature
    os.fsync = lambda _: None  # as in the process of the tests
    gc.collect()
    gc.freeze()
    while line := sys.stdin.readline():
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        child = os.fork()
        if child == 0:
            keep(json.loads(line))
        print(child, flush=True)
    os._exit(0)  # there is nothing to tidy up, and libraries would complain of it


if __name__ == "__main__":
    main()
