"""Carrying out tests, in this process or in several at once; results come in the order of the tests."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.policy.test import LoadedTests, load
from ppdm_flow.report.test import PolicyTestOutcome, PolicyTestResult

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


def carried_out(file: str, name: str) -> PolicyTestResult:
    """Return what came of one test."""
    files = _HELD["files"]
    if file not in files:
        files[file] = load(Path(file))
    result: PolicyTestResult = _HELD["bench"].result(files[file], name)
    return result


WORTH = 4
"""Tests for which one more process pays: it takes some seconds to import what they need."""

Tell = Callable[[PolicyTestResult, int, int], None]
"""Is told each result, in the order of the tests, how many that makes, and how many there will be."""


@dataclass(frozen=True, slots=True)
class PolicyTestJob:
    """One test of a file."""

    file: LoadedTests
    name: str


def workers_for(jobs: int, cores: int) -> int:
    """Return how many processes serve so many tests best."""
    return max(1, min(cores, jobs // WORTH))


@dataclass(frozen=True, slots=True)
class RecordingOptions:
    """What to record of each test beside its outcome: what it exercises, and figures that it does not mention."""

    trace: bool = False
    everything: bool = False


def results(
    jobs: Sequence[PolicyTestJob], workers: int, tell: Tell, wanted: RecordingOptions
) -> tuple[PolicyTestResult, ...]:
    """Carry out every job. A test that ends its process is an error; so are those that cannot be started then."""
    result_of: dict[int, PolicyTestResult] = {}
    reported = 0
    for number, result in _here(jobs, wanted) if workers == 1 else _apart(jobs, workers, wanted):
        result_of[number] = result
        while reported in result_of:
            tell(result_of[reported], reported + 1, len(jobs))
            reported += 1
    return tuple(result_of[number] for number in sorted(result_of))


def _here(jobs: Sequence[PolicyTestJob], wanted: RecordingOptions) -> Iterator[tuple[int, PolicyTestResult]]:
    from ppdm_flow.api.test.cases import PolicyTestRunner  # noqa: PLC0415  # the engine takes seconds to import: workers do

    bench = PolicyTestRunner(wanted.trace, wanted.everything)
    for number, job in enumerate(jobs):
        yield number, bench.result(job.file, job.name)


def _apart(
    jobs: Sequence[PolicyTestJob], workers: int, wanted: RecordingOptions
) -> Iterator[tuple[int, PolicyTestResult]]:
    pool = ProcessPoolExecutor(workers, get_context("spawn"), start, (wanted.trace, wanted.everything))
    try:
        waiting: dict[Future[PolicyTestResult], int] = {}
        for number, job in enumerate(jobs):
            waiting[pool.submit(carried_out, job.file.file, job.name)] = number
        for future in as_completed(waiting):
            number = waiting[future]
            yield number, _outcome(future, jobs[number])
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _outcome(future: Future[PolicyTestResult], job: PolicyTestJob) -> PolicyTestResult:
    try:
        return future.result()
    except BrokenProcessPool:
        span = job.file.places.key("tests", job.name)
        fault = Diagnostic("PPF654", f"the process that carried out test `{job.name}`, or one beside it, ended", span)
        return PolicyTestResult(
            file=job.file.file,
            name=job.name,
            line=span.line if span else 1,
            policy=str(job.file.policy),
            outcome=PolicyTestOutcome.ERROR,
            seconds=0.0,
            failures=(fault,),
            sources=job.file.sources,
            exit_status=3,
        )
