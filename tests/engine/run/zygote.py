"""Runs a plan again and again in forked children, and kills each of them at another moment.

    zygote.py POLICY OUT KILLS.json

``KILLS`` is a list of ``["event", share]`` (of the events that a whole run has: it kills itself at that one) and
``["time", share]`` (of the time that a whole run takes). Prints one JSON line for each kill.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import sys
import time
from pathlib import Path

import ppdm_flow.engine.local.sql
from ppdm_flow.core.draws import RunKey
from ppdm_flow.engine.options import RunOptions
from ppdm_flow.engine.reading.binding import columns
from ppdm_flow.engine.run.finishing import execute
from ppdm_flow.plan.compile import compile_policy
from ppdm_flow.policy import load


def plan_of(policy: Path):
    loaded = load(policy)
    return compile_policy(loaded, columns(compile_policy(loaded).plan, None)).plan


def child(policy: Path, out: Path, pipe: int, last: int | None) -> None:
    """Run once, up to the event ``last``; every event is a byte in the pipe."""
    status, events = 1, itertools.count(1)

    def tell(_event: object) -> None:
        os.write(pipe, b".")
        if next(events) == last:
            os.kill(os.getpid(), signal.SIGKILL)

    try:
        plan = plan_of(policy)
        os.write(pipe, b".")
        options = RunOptions(key=RunKey(bytes(32)), partition_rows=100)
        execute(plan, None, out, options, tell)
        status = 0
    finally:
        os._exit(status)


def started(policy: Path, out: Path, last: int | None = None) -> tuple[int, int]:
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        child(policy, out, write, last)
    os.close(write)
    return pid, read


def whole(policy: Path, out: Path) -> tuple[int, float, int]:
    """Let one run finish: its exit status, how long it took, how many events it had."""
    pid, pipe = started(policy, out)
    os.read(pipe, 1)
    begin = time.perf_counter()
    events = 0
    while chunk := os.read(pipe, 1 << 16):
        events += len(chunk)
    seconds = time.perf_counter() - begin
    os.close(pipe)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), seconds, events


def killed_at(event: int, policy: Path, out: Path) -> int:
    """Let one run end at an event; returns its wait status (0: it had fewer)."""
    pid, pipe = started(policy, out, event)
    status = os.waitpid(pid, 0)[1]
    os.close(pipe)
    return status


def killed_after(seconds: float, policy: Path, out: Path) -> int:
    """Kill one run; returns its wait status (0: it was faster)."""
    pid, pipe = started(policy, out)
    os.read(pipe, 1)
    time.sleep(seconds)
    os.kill(pid, signal.SIGKILL)
    os.close(pipe)
    return os.waitpid(pid, 0)[1]


def main() -> None:
    policy, out, kills = Path(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3])
    status, seconds, events = whole(policy, out / "whole")
    print(json.dumps({"status": status, "seconds": seconds, "events": events}), flush=True)
    for number, (how, when) in enumerate(kills):
        place = policy, out / f"k{number}"
        status = killed_after(when * seconds, *place) if how == "time" else killed_at(round(when * events), *place)
        print(json.dumps({"how": how, "status": status}), flush=True)


if __name__ == "__main__":
    assert ppdm_flow.engine.local.sql
    main()
