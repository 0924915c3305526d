"""The process that becomes another one for each bounded call: ``python -P -m ppdm_flow.page.services.bounded_process``.

Its standard input is a socket: each byte comes with the socket of one call, and it ends when that is closed. On the
socket of a call come two pickles: the limits with environment and folder, then the function with its arguments. The
answer is one pickle, a word and a value. Nothing but the server can reach these sockets.
"""

from __future__ import annotations

import gc
import os
import pickle
import resource
import signal
import socket
import tempfile
from contextlib import suppress
from datetime import date
from io import BufferedRWPair
from pathlib import Path
from typing import NoReturn

from ppdm_flow.core.digests import leave_pipes
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.page.services.policies.checks import check_text

_NICE = 10
_WARM = """version: 1
name: warm
source: {path: warm.csv}
attributes: {age: {role: quasi_identifier}, ill: {role: sensitive}}
privacy: {k_anonymity: {k: 5}}
steps: {classes: {use: mondrian}}
releases: {warm: {path: out.csv}}
"""
"""Checked at the beginning, so that what checks import is there in each fork."""


def main() -> None:
    """Become a process for each call, until the server has gone."""
    with suppress(Exception):  # it only saves time
        check_text(Path("/"), "warm.yaml", _WARM, date(2000, 1, 1), Path("/nowhere"))
    leave_pipes()
    control = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    gc.collect()
    gc.freeze()
    while True:
        word, handles, _, _ = socket.recv_fds(control, 1, 1)
        if not word or not handles:
            os._exit(0)
        with suppress(OSError):  # no process, no answer
            if os.fork() == 0:
                control.close()
                _carry_out(handles[0])
        os.close(handles[0])


def _carry_out(handle: int) -> NoReturn:
    """Be the process of one call."""
    try:
        with socket.socket(fileno=handle) as connection, connection.makefile("rwb") as stream:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            limits, environment, folder = pickle.load(stream)  # noqa: S301  # from the server
            _limit(limits)
            os.environ.clear()
            os.environ.update(environment)
            tempfile.tempdir = environment.get("TMPDIR")
            os.chdir(folder)
            answer = _answer(stream)
            stream.write(answer if len(answer) <= limits["output"] else pickle.dumps(("exceeded", None)))
    finally:
        os._exit(0)  # libraries read ahead in threads, which must not meet an interpreter that is going


def _limit(limits: dict[str, int]) -> None:
    """Have the system end this process where it takes too much: no code of it can prevent that."""
    os.nice(_NICE)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(limits["waiting"])
    of_files = resource.RLIMIT_FSIZE  # an earlier version of Git's
    bounds = {resource.RLIMIT_CPU: "seconds", resource.RLIMIT_DATA: "memory", of_files: "output"}
    for kind, name in bounds.items():
        _, known = resource.getrlimit(kind)
        most = limits[name] if known == resource.RLIM_INFINITY else min(limits[name], known)
        resource.setrlimit(kind, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _answer(stream: BufferedRWPair) -> bytes:
    """Call the function, and return what came of it."""
    try:
        function, arguments, named = pickle.load(stream)  # noqa: S301  # from the server
        return pickle.dumps(("value", function(*arguments, **named)))
    except MemoryError:
        return pickle.dumps(("exceeded", None))
    except Exception as error:  # noqa: BLE001  # its text may quote what was sent
        is_own = isinstance(error, PpdmError) or type(error).__module__.startswith("ppdm_flow.")
        return pickle.dumps(("error", error) if is_own else ("failed", type(error).__name__))


if __name__ == "__main__":
    main()
