"""Runs a plan again and again in forked children, and kills each of them at another moment.

    zygote.py POLICY OUT KILLS.json

``KILLS`` is a list of ``["event", n]`` (kill at the n-th event) and ``["time", share]`` (of the time that a whole run
takes). Prints one JSON line for each kill.
"""

from __future__ import annotations

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
from ppdm_flow.engine.run.run import execute
from ppdm_flow.plan.compile import compile_policy
from ppdm_flow.policy import load


def plan_of(policy: Path):
    loaded = load(policy)
    return compile_policy(loaded, columns(compile_policy(loaded).plan, None)).plan


def child(policy: Path, out: Path, pipe: int) -> None:
    """Run once; every event is a byte in the pipe."""
    status = 1
    try:
        plan = plan_of(policy)
        os.write(pipe, b".")
        options = RunOptions(key=RunKey(bytes(32)), partition_rows=100)
        execute(plan, None, out, options, lambda event: os.write(pipe, b".") and None)
        status = 0
    finally:
        os._exit(status)


def started(policy: Path, out: Path) -> tuple[int, int]:
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        child(policy, out, write)
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


def killed(policy: Path, out: Path, how: str, when: float, seconds: float) -> int:
    """Kill one run; returns its wait status (0: it was faster)."""
    pid, pipe = started(policy, out)
    os.read(pipe, 1)
    if how == "time":
        time.sleep(when * seconds)
    else:
        for _ in range(int(when)):
            if not os.read(pipe, 1):
                break
    os.kill(pid, signal.SIGKILL)
    os.close(pipe)
    return os.waitpid(pid, 0)[1]


def main() -> None:
    policy, out, kills = Path(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3])
    status, seconds, events = whole(policy, out / "whole")
    print(json.dumps({"status": status, "seconds": seconds, "events": events}), flush=True)
    for number, (how, when) in enumerate(kills):
        share = when if how == "time" else max(1, round(when * events))
        print(json.dumps({"how": how, "status": killed(policy, out / f"k{number}", how, share, seconds)}), flush=True)


if __name__ == "__main__":
    assert ppdm_flow.engine.local.sql
    main()
