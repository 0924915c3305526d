"""Carrying out the points of a sweep, several at once; the data is read once for all points that read it alike."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path

from ppdm_flow.api.sweep.points import PlannedPoint
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.engine.faults import wrap_plugin_errors
from ppdm_flow.engine.judging.results import JudgedResults
from ppdm_flow.engine.machine import cores
from ppdm_flow.engine.options import RunContext, RunOptions
from ppdm_flow.engine.run.carry_out import Opened, open_original
from ppdm_flow.engine.run.scratch_run import measure, reading_of
from ppdm_flow.engine.streams.stream import Stop
from ppdm_flow.plan.definition import Plan

Result = JudgedResults | PpdmError
"""What one run gave: figures, or the reason that it failed for."""


@dataclass(frozen=True, slots=True)
class RunDone:
    """One run is over: how many of ``total`` are, at which point it was, and what came of it."""

    number: int
    total: int
    name: str
    result: Result
    seconds: float


Tell = Callable[[RunDone], None]


class _SharedOriginal:
    """The original of all plans that read alike; it is opened by whoever needs it first, and let go by the last."""

    def __init__(self, users: int) -> None:
        self._lock = threading.Lock()
        self._users = users
        self._found: Opened | PpdmError | None = None

    def take(self, make: Callable[[], Opened]) -> Opened:
        with self._lock:
            if self._found is None:
                try:
                    self._found = make()
                except PpdmError as error:
                    self._found = error
        if isinstance(self._found, PpdmError):
            raise self._found
        return self._found

    def give(self) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                self._found = None


@dataclass(frozen=True, slots=True)
class _Job:
    point: int
    name: str
    plan: Plan
    shared: _SharedOriginal


class SweepRuns:
    """All runs of a sweep. ``scratch`` is the folder below which candidates live while they are measured."""

    def __init__(
        self,
        points: Sequence[PlannedPoint],
        data: Path | None,
        scratch: Path,
        options: RunOptions,
        workers: int,
        tell: Tell,
    ) -> None:
        self.points = points
        self.data = data
        self.scratch = scratch
        self.workers = max(1, min(workers, sum(len(p.plans) for p in points)))
        inner = max(1, cores() // self.workers)
        self.options = replace(options, workers=inner, memory_limit=options.memory_limit // self.workers)
        self.reading = replace(options, workers=max(2, inner))
        self.tell = tell
        self.stops: list[Stop] = []
        self.done = 0

    def carry_out(self) -> tuple[tuple[Result, ...], ...]:
        """Return the results of each point in order. A run that fails stops no other."""
        jobs = self._jobs()
        results_of: dict[int, list[Result]] = {i: [] for i in range(len(self.points))}
        with ThreadPoolExecutor(self.workers, thread_name_prefix="sweep") as pool:
            waiting = list(reversed(jobs))
            running: dict[Future[Result], tuple[_Job, float]] = {}
            try:
                while waiting or running:
                    while waiting and len(running) < self.workers:
                        job = waiting.pop()
                        running[pool.submit(self._run, job)] = (job, time.perf_counter())
                    self._collect(running, results_of, len(jobs))
            except BaseException:
                for stop in tuple(self.stops):
                    stop.set()
                raise
        return tuple(tuple(results) for results in results_of.values())

    def _jobs(self) -> list[_Job]:
        """Return every run, those that read alike one after another."""
        readings = [[reading_of(plan) for plan in point.plans] for point in self.points]
        every = [reading for some in readings for reading in some]
        shared = {reading: _SharedOriginal(every.count(reading)) for reading in dict.fromkeys(every)}
        jobs = [
            (readings[i][j], _Job(i, point.name, plan, shared[readings[i][j]]))
            for i, point in enumerate(self.points)
            for j, plan in enumerate(point.plans)
        ]
        order = list(shared)
        return [job for _, job in sorted(jobs, key=lambda each: order.index(each[0]))]

    def _collect(
        self, running: dict[Future[Result], tuple[_Job, float]], results: dict[int, list[Result]], total: int
    ) -> None:
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            job, started = running.pop(future)
            result = future.result()
            results[job.point].append(result)
            self.done += 1
            self.tell(RunDone(self.done, total, job.name, result, time.perf_counter() - started))

    def _run(self, job: _Job) -> Result:
        context = RunContext(job.plan, self.options)
        self.stops.append(context.stop)
        try:
            with wrap_plugin_errors("this point"):
                original = job.shared.take(lambda: self._opened(job.plan))
                return measure(context, original, self.scratch)
        except PpdmError as error:
            return error
        finally:
            job.shared.give()
            self.stops.remove(context.stop)

    def _opened(self, plan: Plan) -> Opened:
        context = RunContext(plan, self.reading)  # lives as long as the original, which outlives single runs
        self.stops.append(context.stop)
        return open_original(context, self.data)
