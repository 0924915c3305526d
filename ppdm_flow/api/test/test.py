"""Policy tests: small tables through policies, and what has to come of them. Nothing is ever released."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ppdm_flow.api.loading.locked import Locks
from ppdm_flow.api.test.coverage import coverage
from ppdm_flow.api.test.files import CompiledPolicies, find, matching, read, sets_of
from ppdm_flow.api.test.pool import PolicyTestJob, RecordingOptions, Tell, results, workers_for
from ppdm_flow.core.diagnostics import Diagnostic, has_errors
from ppdm_flow.core.errors import PolicyError, UsageError
from ppdm_flow.engine.machine import cores
from ppdm_flow.policy.test import LoadedTests
from ppdm_flow.report.test import PolicyTestResults


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
