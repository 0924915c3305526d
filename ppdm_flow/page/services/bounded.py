"""Work on what people typed or sent, in a process with limits of time, memory and output.

The server's own process never parses such things: an algorithm that takes long, or a library that holds the
interpreter's lock, would keep everybody waiting. Each call is a fork of a process that has imported what checks need
(``bounded_process``), and is killed by the system where it exceeds a limit.
"""

from __future__ import annotations

import atexit
import io
import math
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from copy import copy
from tempfile import TemporaryDirectory
from typing import Any, ParamSpec, TypeVar

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.page.services.places import WorkPlaces

P = ParamSpec("P")
T = TypeVar("T")
MEGABYTE = 2**20
TOO_LONG = "PPF997"
LARGE = 1 << 18
"""Bytes of JSON from which a process of its own reads it: parsing lets no other thread work meanwhile."""
_PROCESS = "ppdm_flow.page.services.bounded_process"
_PATIENCE = 3
"""How many times as long as its processor time a call may take: others may need the processor as well."""
_PIECE = 1 << 16
_HARMLESS = frozenset(
    {
        ("builtins", "set"),
        ("builtins", "frozenset"),
        ("datetime", "date"),
        ("datetime", "datetime"),
        ("datetime", "timedelta"),
        ("datetime", "timezone"),
        ("markupsafe", "Markup"),
        ("pathlib", "PosixPath"),
    }
)
"""Classes beside our own that an answer may hold."""


class LimitExceededError(UsageError):
    """A call took more than its limits (PPF997)."""


class BoundedCalls:
    """A kind of calls: their limits, and the places that they share.

    ``seconds`` are processor time, ``memory`` and ``output`` megabytes; ``places`` calls are carried out at once, of
    which at most ``each`` are for one person. The others wait.
    """

    def __init__(self, *, seconds: int, memory: int, output: int, places: int, each: int) -> None:
        self.seconds, self.memory, self.output = seconds, memory, output
        self._places = WorkPlaces(places, each)

    def within(self, seconds: float) -> BoundedCalls:
        """Return calls that may take no more than so many seconds, a whole one at least, in the same places."""
        calls = copy(self)
        calls.seconds = max(1, math.ceil(min(self.seconds, seconds)))
        return calls

    def run(self, function: Callable[P, T], /, *arguments: P.args, **named: P.kwargs) -> T:
        """Call a function of a module in a process of its own; arguments and result are copied.

        Raises what the function raises where that is an error of ours, LimitExceededError where it takes too much.
        """
        limits = {
            "seconds": self.seconds,
            "waiting": self.seconds * _PATIENCE,
            "memory": self.memory * MEGABYTE,
            "output": self.output * MEGABYTE,
        }
        with self._places.taken(), TemporaryDirectory(prefix="ppdm-flow-", ignore_cleanup_errors=True) as folder:
            environment = {**os.environ, "TMPDIR": folder}  # who is killed removes nothing
            order = pickle.dumps((limits, environment, os.getcwd()))  # noqa: PTH109  # what it says is handed on
            answer = _answer(order + pickle.dumps((function, arguments, named)), limits)
        kind: str
        value: Any
        kind, value = _Answer(io.BytesIO(answer)).load() if answer else ("exceeded", None)
        if kind == "value":
            result: T = value
            return result
        if kind == "error":
            raise value
        if kind == "failed":
            raise RuntimeError(f"a bounded call failed with {value}")
        raise LimitExceededError(
            Diagnostic(
                TOO_LONG,
                f"this takes more than the server allows: {self.seconds} s of processor time, {self.memory:,} MB of"
                f" memory, {self.output:,} MB of results",
                help="make the text or the file smaller, or use the command line, which has no such limits",
            )
        )


def in_part(seconds: float, size: int, function: Callable[P, T], /, *arguments: P.args, **named: P.kwargs) -> T | None:
    """Call a function as one part of a bounded call; None where it fails, takes longer or has a larger answer.

    ``seconds`` are processor time, ``size`` bytes of the answer.

    It has a process of its own: what is stopped anywhere inside a library may leave that in no state to be used again.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            signal.setitimer(signal.ITIMER_PROF, seconds)
            signal.setitimer(signal.ITIMER_REAL, seconds * _PATIENCE)
            with os.fdopen(writing, "wb") as stream:
                stream.write(pickle.dumps(function(*arguments, **named)))
            os._exit(0)
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        answer = stream.read()
    _, status = os.waitpid(child, 0)
    result: T | None = None if status or len(answer) > size else _Answer(io.BytesIO(answer)).load()
    return result


def time_of_parts() -> float:
    """Return the processor time that this process and the ended parts of its call have had, in seconds."""
    return sum(os.times()[:4])


class _Answer(pickle.Unpickler):
    """Reads values of our own classes and plain ones: the process that sends them has read what others made."""

    def find_class(self, module: str, name: str) -> Any:
        """Return a class that an answer may hold. Raises UnpicklingError for all others."""
        named_class = super().find_class(module, name)
        is_own = (
            isinstance(named_class, type)
            and named_class.__module__.startswith("ppdm_flow.")
            and named_class.__module__ == module
        )
        if not is_own and (module, name) not in _HARMLESS:
            raise pickle.UnpicklingError(f"an answer must not hold {module}.{name}")
        return named_class


def _answer(call: bytes, limits: dict[str, int]) -> bytes:
    """Send a call to a new process, and return what it answers; nothing where it was killed."""
    answer = bytearray()
    with _FORKS.connected() as connection:
        connection.settimeout(limits["waiting"] + 5)  # the process is killed before
        try:
            connection.sendall(call)
            connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(_PIECE):
                answer += piece
                if len(answer) > limits["output"] + _PIECE:
                    return b""
        except OSError:
            return b""
    return bytes(answer)


class _Forks:
    """The process that becomes all others; it is begun when it is needed, and ends with this one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    def connected(self) -> socket.socket:
        """Return the connection to a new process."""
        own, other = socket.socketpair()
        with other, self._lock:
            control = self._begun()
            try:
                socket.send_fds(control, [b"."], [other.fileno()])
            except OSError:  # somebody has killed it
                self._stop()
                socket.send_fds(self._begun(), [b"."], [other.fileno()])
        return own

    def begin(self) -> None:
        """Begin the process before it is needed."""
        with self._lock:
            self._begun()

    def stop(self) -> None:
        """End the process."""
        with self._lock:
            self._stop()

    def _begun(self) -> socket.socket:
        if self._control is None or self._process is None or self._process.poll() is not None:
            self._stop()
            self._control, other = socket.socketpair()
            with other:
                self._process = subprocess.Popen(  # noqa: S603  # our own module
                    [sys.executable, "-P", "-m", _PROCESS],
                    stdin=other.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
        return self._control

    def _stop(self) -> None:
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._control = self._process = None


_FORKS = _Forks()
begin, stop = _FORKS.begin, _FORKS.stop
atexit.register(stop)
CHECKS = BoundedCalls(seconds=10, memory=1_024, output=8, places=4, each=2)
"""Texts of policies: checks, comparisons, forms, sweeps."""
