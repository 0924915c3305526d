"""What a worker process does: it keeps one bench, with everything imported and compiled, for all of its tests."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from ppdm_flow.policy.test.loading import load
from ppdm_flow.report.test.results import Result

_THREADS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_HELD: dict[str, Any] = {}


def start(trace: bool, everything: bool) -> None:
    """Prepare the process: one thread each, and interrupts are the parent's business."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in _THREADS:
        os.environ.setdefault(name, "1")
    from ppdm_flow.api.test.cases import PolicyTestRunner  # noqa: PLC0415  # numpy reads the variables when it is imported

    _HELD["bench"] = PolicyTestRunner(trace, everything)
    _HELD["files"] = {}


def carried_out(file: str, name: str) -> Result:
    """Return what came of one test."""
    files = _HELD["files"]
    if file not in files:
        files[file] = load(Path(file))
    result: Result = _HELD["bench"].result(files[file], name)
    return result
