"""Policy tests: small tables through policies, with expected results. Nothing is ever released."""

from __future__ import annotations

import importlib.util
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from ppdm_flow.api.loading.locked import Locks
from ppdm_flow.api.loading.policies import find_policies
from ppdm_flow.api.test.files import CompiledPolicies, find, matching, read, sets_of
from ppdm_flow.core.diagnostics import Diagnostic, has_errors
from ppdm_flow.core.errors import PolicyError, UsageError
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.spans import Span
from ppdm_flow.engine.machine import cores
from ppdm_flow.plan.compile import compile_policy
from ppdm_flow.plan.definition import Plan
from ppdm_flow.policy import load as policy_load
from ppdm_flow.policy.test import LoadedTests, load
from ppdm_flow.report.test import Item, PolicyCoverage, PolicyTestOutcome, PolicyTestResult, PolicyTestResults, Trace


def run_tests(
    paths: Sequence[str | Path] = (".",),
    patterns: Sequence[str] = (),
    tell: Tell = lambda _result, _done, _total: None,
    *,
    workers: int | None = 1,
    measure_coverage: bool = False,
    fail_under: float | None = None,
    every_figure: bool = False,
    locked: bool = False,
) -> PolicyTestResults:
    """Carry out the policy tests in ``paths`` (files, folders, glob patterns); those that ``patterns`` mean.

    Several ``workers`` are processes of their own: a script that asks for them needs the usual
    ``if __name__ == "__main__":``. None asks for as many as pay. Without ``every_figure``, audits that the policies do
    not write down and whose figures no requirement, gate or test looks at are left out. Raises UsageError where nothing
    is found, PolicyError with everything that is wrong with the test files, or, with ``locked``, where a policy that
    they test is not as its lock file has it.
    """
    started = time.perf_counter()
    jobs, unselected = chosen(paths, patterns)
    _hold(jobs, locked=locked)
    number = workers_for(len(jobs), cores()) if workers is None else max(1, min(workers, len(jobs)))
    trace = measure_coverage or fail_under is not None
    _need_libraries()
    tested = results(jobs, number, tell, RecordingOptions(trace, every_figure))
    outcome = PolicyTestResults(tested, 0.0, number, unselected, fail_under=fail_under)
    if trace:
        covered = coverage(tested, _sets(jobs), [str(path) for path in paths])
        outcome = replace(outcome, coverage=covered)
    return replace(outcome, seconds=time.perf_counter() - started)


def list_tests(paths: Sequence[str | Path] = (".",), patterns: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the names of the tests (``FILE::NAME``) that :func:`run_tests` would carry out. Raises as it does."""
    return tuple(f"{job.file.file}::{job.name}" for job in chosen(paths, patterns)[0])


def chosen(paths: Sequence[str | Path], patterns: Sequence[str]) -> tuple[list[PolicyTestJob], int]:
    """Return the tests to carry out, and how many are left out. Raises UsageError, PolicyError."""
    files, case_files, sources = read(find(paths))
    if has_errors(case_files):
        raise PolicyError(case_files, sources)
    every = [PolicyTestJob(file, name) for file in files for name in (file.cases.tests if file.cases else ())]
    jobs = [job for job in every if matching(patterns, f"{job.file.file}::{job.name}")]
    if not jobs:
        names = ", ".join(f"`{p}`" for p in patterns)
        text = f"none of {len(every)} tests is meant by {names}"
        raise UsageError(Diagnostic("PPF651", text, help="`ppdm-flow test --list` shows them all"))
    return jobs, len(every) - len(jobs)


def _need_libraries() -> None:
    """Raise ModuleNotFoundError here where a library is missing: a process that lacks it could only end."""
    for name in ("numpy", "pyarrow", "duckdb"):
        if importlib.util.find_spec(name) is None:
            raise ModuleNotFoundError(f"no module named {name}", name=name)


def _hold(jobs: Sequence[PolicyTestJob], *, locked: bool) -> None:
    """Hold each policy that is tested against its lock, where that is asked for.

    What a test is about may be a policy with faults.
    """
    locks, policies = Locks(), CompiledPolicies()
    for path, sets in _sets(jobs).items():
        loaded, outcome = policies.compiled(Path(path), sets)
        if outcome.plan is not None and (locked or loaded.locked):
            locks.hold(loaded, outcome.plan)


def _sets(jobs: Sequence[PolicyTestJob]) -> dict[str, Mapping[str, str]]:
    """Return params of one test of each policy."""
    params_of: dict[str, Mapping[str, str]] = {}
    for job in jobs:
        file: LoadedTests = job.file
        params_of.setdefault(str(file.policy), sets_of(file, job.name))
    return params_of


# Carrying out tests, in this process or in several at once; results come in the order of the tests.


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


# Which requirements, gates, steps and named values of the policies no test exercises.


def coverage(
    results: Sequence[PolicyTestResult], sets: Mapping[str, Mapping[str, str]], words: Sequence[str]
) -> tuple[PolicyCoverage, ...]:
    """Return what the tests exercise of each policy that they name, or that stands in a folder of ``words``.

    ``sets`` are params that make a policy complete, by its file. A policy that cannot be compiled is left out.
    """
    tests: dict[Path, list[PolicyTestResult]] = {path: [] for path in _policies(words)}
    shown: dict[Path, str] = {path: str(path) for path in _policies(words)}
    for each in results:
        path = Path(each.policy).resolve()
        shown.setdefault(path, each.policy)
        tests.setdefault(path, []).append(each)
    coverages = []
    for path, own in tests.items():
        plan = compile_policy(policy_load(Path(shown[path]), dict(sets.get(shown[path], {})))).plan
        if plan is not None:
            coverages.append(PolicyCoverage(_short(shown[path]), len(own), tuple(_items(plan, _together(own)))))
    return tuple(sorted(coverages, key=lambda each: each.policy))


def _policies(words: Sequence[str]) -> dict[Path, str]:
    folders = [word for word in words if Path(word).is_dir()]
    if not folders:
        return {}
    try:
        return {path.resolve(): str(path) for path in find_policies(folders).policies}
    except UsageError:
        return {}


def _together(results: Iterable[PolicyTestResult]) -> Trace:
    traces = [each.trace for each in results]
    none: frozenset[str] = frozenset()
    return Trace(
        none.union(*(t.passed for t in traces)),
        none.union(*(t.failed for t in traces)),
        none.union(*(t.changed for t in traces)),
        frozenset[tuple[str, str]]().union(*(t.values for t in traces)),
    )


def _items(plan: Plan, trace: Trace) -> Iterator[Item]:
    for requirement in plan.requirements:
        yield _judged("requirement", requirement.id, requirement.span, trace)
        yield from _values(requirement, trace)
    for gate in plan.gates:
        yield _judged("gate", gate.id, gate.span, trace)
    for step in plan.steps:
        if not step.implicit:
            span = step.spans[0] if step.spans else None
            yield Item("step", f"steps.{step.name}", *_place(span), exercised=step.name in trace.changed)


def _judged(kind: str, id_: str, span: Span | None, trace: Trace) -> Item:
    return Item(kind, id_, *_place(span), exercised=id_ in trace.passed, challenged=id_ in trace.failed)


def _values(requirement: Requirement, trace: Trace) -> Iterator[Item]:
    for attribute, value, span in dict.fromkeys(requirement.named_values()):
        id_ = f"{requirement.id}: {attribute} = {value}"
        yield Item("value", id_, *_place(span), exercised=(attribute, value) in trace.values)


def _place(span: Span | None) -> tuple[str, int]:
    return (_short(span.file), span.line) if span is not None else ("", 0)


def _short(file: str) -> str:
    """Return the name of a file from here, without detours."""
    if file.startswith(("builtin:", "pkg:")):
        return file
    path = Path(file).resolve()
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file
