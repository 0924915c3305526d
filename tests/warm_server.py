"""A process that has imported what others need, and becomes each of them in a fork. Started by ``warm.py``.

Its words are the modules to import. A line on its standard input is what to do in a fork: the words of a Python
program (``-c CODE …`` or ``-m MODULE …``), a folder, an environment, and files for both outputs. A line on its standard
output is the number of that process, the next one how it ended.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import sys
import threading
import time
import traceback
from typing import NoReturn


def become(order: dict) -> None:
    """Take on the folder, the environment, the words and the files of a process."""
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    nothing = os.open(os.devnull, os.O_RDONLY)
    out = os.open(order["out"], os.O_WRONLY)
    err = os.open(order["err"], os.O_WRONLY)
    for number, stream in enumerate((nothing, out, err)):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(n, "w" if n else "r") for n in range(3))
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    clock = sys.modules.get("ppdm_flow.cli.terminal.clock")
    if clock is not None:
        clock.BEGUN = time.perf_counter()
    gc.enable()


def main() -> None:
    """Import, and serve until the standard input ends."""
    for name in sys.argv[1:]:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    os.fsync = lambda _: None  # as in the process of the tests
    gc.collect()
    gc.freeze()
    while line := sys.stdin.readline():
        child = os.fork()
        if child == 0:
            break
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    else:
        os._exit(0)  # there is nothing to tidy up, and libraries would complain of it
    order = json.loads(line)
    become(order)
    try:
        carry_out(order)
        status = 0
    except SystemExit as left:
        status = left.code
    except BaseException:  # noqa: BLE001  # as a process ends of itself
        traceback.print_exc()
        status = 1
    end(status)


def carry_out(order: dict) -> None:
    """Run the program that the words ask for."""
    kind, what, *words = order["words"]
    sys.argv = [kind, *words]
    if kind == "-c":
        sys.path[0] = ""
        exec(what, {"__name__": "__main__"})
    else:
        sys.path[0] = order["cwd"]
        runpy.run_module(what, run_name="__main__", alter_sys=True)


def end(status: object) -> NoReturn:
    """End as Python does, but leave the memory of all that was imported to the system."""
    if not isinstance(status, int):
        if status is not None:
            print(status, file=sys.stderr)
        status = 0 if status is None else 1
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status & 0xFF)


if __name__ == "__main__":
    main()
