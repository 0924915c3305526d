"""Processes of Python that are forks of one with warm imports: most of the time of a short one goes into these.

A fork is a process of its own, with its own environment and folder; it may exit, crash and be killed as others.
"""

from __future__ import annotations

import json
import os
import pkgutil
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ppdm_flow

_SERVER = Path(__file__).with_name("warm_server.py")
_FREE = re.compile("(PPDM|PYTEST|KMP)_|(NO_COLOR|COLUMNS|LINES)$|.*_KEY$")
"""Variables at which nobody looks while modules are imported."""
_ENVIRONMENT = dict(os.environ)
"""That of the beginning, which tests may change for a while."""
_COLD = ("ppdm_flow.__main__", "ppdm_flow.page", "ppdm_flow.cli.serve")
_CRASHES = (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS)
_LIBRARIES = ("duckdb", "numba", "pandas", "pyarrow.csv", "pyarrow.parquet", "pyarrow.compute", "rich.table")


def of_program() -> list[str]:
    """Return the modules that the command line imports for one of its verbs or another."""
    found = (module.name for module in pkgutil.walk_packages(ppdm_flow.__path__, "ppdm_flow."))
    return [*_LIBRARIES, *(name for name in found if not name.startswith(_COLD))]


class Warm:
    """Starts forks of a process that has imported these modules, once it is needed."""

    def __init__(self, modules: Sequence[str], *flags: str) -> None:
        self._words = [sys.executable, *flags, str(_SERVER), *modules]
        self._server: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()

    @staticmethod
    def fits(environment: Mapping[str, str]) -> bool:
        """Whether a fork is what a new process in this environment would be."""
        changed = environment.items() ^ _ENVIRONMENT.items()
        return all(_FREE.match(name) for name, _ in changed)

    def run(
        self, words: Sequence[str], cwd: Path | None = None, env: Mapping[str, str] | None = None, timeout: float = 300
    ) -> subprocess.CompletedProcess[str]:
        """Run ``-c CODE …`` or ``-m MODULE …``; returns the finished process. Threads that ask at once take turns."""
        with self._lock:
            return self._run(words, cwd, env, timeout)

    def _run(
        self, words: Sequence[str], cwd: Path | None, env: Mapping[str, str] | None, timeout: float
    ) -> subprocess.CompletedProcess[str]:
        server = self._start()
        with tempfile.TemporaryDirectory() as folder:
            out, err = Path(folder, "out"), Path(folder, "err")
            out.touch()
            err.touch()
            place = str(Path.cwd() if cwd is None else Path(cwd).absolute())
            order = {"words": [*words], "cwd": place, "env": dict(env or os.environ), "out": str(out), "err": str(err)}
            server.stdin.write(json.dumps(order) + "\n")
            server.stdin.flush()
            child = int(server.stdout.readline())
            alarm = threading.Timer(timeout, os.kill, (child, signal.SIGKILL))
            alarm.start()
            status = int(server.stdout.readline())
            alarm.cancel()
            return subprocess.CompletedProcess([sys.executable, *words], status, out.read_text(), err.read_text())

    def close(self) -> None:
        """End the process whose forks there were."""
        if self._server is not None:
            with self._server as server:
                server.stdin.close()

    def _start(self) -> subprocess.Popen[str]:
        if self._server is None:
            self._server = subprocess.Popen(
                self._words, env=_ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        return self._server


class Programs:
    """Runs ``python -m ppdm_flow``; the hashes of texts differ from one process to the next, as usual."""

    def __init__(self) -> None:
        modules = of_program()
        self._warm = [Warm(modules), Warm(modules)]
        self._turn = 0

    def run(
        self, words: Sequence[str], cwd: Path, env: Mapping[str, str], timeout: float
    ) -> subprocess.CompletedProcess[str] | None:
        """Return the finished process; None where a new one is needed: after a crash it says whose fault that was."""
        if not Warm.fits(env):
            return None
        self._turn += 1
        done = self._warm[self._turn % 2].run(["-m", "ppdm_flow", *words], cwd, env, timeout)
        return None if -done.returncode in _CRASHES else done

    def close(self) -> None:
        """End the processes whose forks there were."""
        for warm in self._warm:
            warm.close()


class Probes:
    """Stands in the place of the module ``subprocess`` where readers of statistical files look at one."""

    DEVNULL = subprocess.DEVNULL

    def __init__(self) -> None:
        self._warm = Warm(["pyreadstat", "pandas"], "-I")  # the one imports the other at the first file

    def run(self, words: list[str], **_options: Any) -> SimpleNamespace:
        """Carry the code out in a fork; return how it ended."""
        assert words[:3] == [sys.executable, "-I", "-c"]
        return SimpleNamespace(returncode=self._warm.run(words[2:]).returncode)

    def close(self) -> None:
        """End the process whose forks there were."""
        self._warm.close()
