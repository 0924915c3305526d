"""The points of a sweep, each with its own valid plan; or everything that is wrong with any of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import partial
from pathlib import Path
from typing import Any

from ppdm_flow.api.loading.bindings import plan_for_data
from ppdm_flow.api.loading.policies import ReadyPlan
from ppdm_flow.api.sweep.grid import Axis, AxisPlaces, Point, places
from ppdm_flow.core.diagnostics import Diagnostic, has_errors
from ppdm_flow.core.errors import PolicyError, PpdmError
from ppdm_flow.engine.faults import wrap_plugin_errors
from ppdm_flow.engine.judging.results import JudgedResults
from ppdm_flow.engine.machine import cores
from ppdm_flow.engine.options import RunContext, RunOptions
from ppdm_flow.engine.run.carry_out import Opened, open_original
from ppdm_flow.engine.run.scratch_run import measure, reading_of
from ppdm_flow.engine.streams.stream import Stop
from ppdm_flow.plan.definition import Plan
from ppdm_flow.plan.document import document as plan_document
from ppdm_flow.policy import PolicyReading, load
from ppdm_flow.policy.loaded import PolicyPath

SEED: PolicyPath = ("randomness", "seed")
DEFAULT = "default"
"""Shown for a value that the policy does not write."""
Result = JudgedResults | PpdmError
"""What one run gave: figures, or the reason that it failed for."""


@dataclass(frozen=True, slots=True)
class PlannedPoint:
    """One point: the texts that it puts in, and a plan for each repetition."""

    values: Point
    plans: tuple[Plan, ...]

    @property
    def name(self) -> str:
        """The point in a line: ``min_support=5, laplace=0.1``."""
        return point_name(self.values)


@dataclass(frozen=True, slots=True)
class SweepPoints:
    """All points, what the policy is warned about at any of them, and the texts of its files.

    ``own`` is the place of the point whose values are the policy's own, if there is one; if there is none,
    ``left_out`` are the axes at which the policy writes no value.
    """

    planned: tuple[PlannedPoint, ...]
    warnings: tuple[Diagnostic, ...]
    sources: Mapping[str, str]
    own: int | None = None
    left_out: tuple[str, ...] = ()


def point_name(values: Point) -> str:
    """Return the values of a point in a line, each with the last part of its place."""
    return ", ".join(f"{path.rpartition('.')[2]}={value}" for path, value in values.items())


def plan_points(
    policy: Path,
    every: Sequence[Axis],
    combinations: Sequence[Point],
    sets: Mapping[str, str],
    data: Path | None,
    repeat: int,
    *,
    strict: bool,
    locked: bool = False,
    with_own: bool = False,
) -> SweepPoints:
    """Compile each point for the data; ``with_own`` adds the policy's own values, where no point has them.

    Raises UsageError for places that the policy does not have, PolicyError with the faults of all points together,
    DataError where the data cannot be opened.
    """
    where = _places(policy, every, combinations[0], sets)
    own = _own_values(policy, where, sets)
    by_default = own is not None and len(own) < len(every)
    place = None
    if own is not None and not by_default:
        place = next((i for i, point in enumerate(combinations) if _equal(point, own)), None)
        if with_own and place is None:
            place, combinations = len(combinations), (*combinations, {axis.path: own[axis.path] for axis in every})
    points_of: dict[Diagnostic, list[Point]] = {}
    points = []
    sources: Mapping[str, str] = {}
    for point in combinations:
        try:
            many = _repetitions(policy, point, where, sets, data, repeat, strict=strict, locked=locked)
        except PolicyError as error:
            _gather(points_of, error.diagnostics, point)
            sources = {**sources, **error.sources}
            continue
        _gather(points_of, many[0].warnings, point)
        sources = {**sources, **many[0].sources}
        points.append(PlannedPoint(point, tuple(each.plan for each in many)))
    diagnostics = tuple(_note_points(each, at, len(combinations)) for each, at in points_of.items())
    if has_errors(diagnostics):
        raise PolicyError(diagnostics, sources)
    if own is not None and by_default:
        as_written = partial(_repetitions, policy, {}, AxisPlaces({}, {}), sets, data, repeat, strict=strict)
        plans = tuple(each.plan for each in as_written(locked=locked))
        place = next((i for i, point in enumerate(points) if _steps_of(point.plans[0]) == _steps_of(plans[0])), None)
        if with_own and place is None:
            place = len(points)
            points.append(PlannedPoint({axis.path: own.get(axis.path, DEFAULT) for axis in every}, plans))
    left_out = () if own is None or place is not None else tuple(axis.path for axis in every if axis.path not in own)
    return SweepPoints(tuple(points), diagnostics, sources, place, left_out)


def _steps_of(plan: Plan) -> Mapping[str, Any]:
    """Return what a plan does and asks: two policies with the same differ at most in how they are written."""
    return {key: value for key, value in plan_document(plan).items() if key not in ("digest", "policy_digest")}


def _own_values(policy: Path, where: AxisPlaces, sets: Mapping[str, str]) -> Point | None:
    """Return the values that the policy itself has at the axes, without those that it leaves at their defaults.

    None where a value comes from elsewhere, and where the policy as it stands has none.
    """
    loaded = load(policy, sets)
    if has_errors(loaded.diagnostics):
        return None
    used = {param.name: param for param in loaded.params}
    own: dict[str, str] = {}
    for axis, name in where.params.items():
        if name not in used or len(used[name].texts) != 1:
            return None
        own[axis] = used[name].texts[0]
    for axis, path in where.paths.items():
        here: Any = loaded.tree
        for part in path:
            here = here.get(part) if isinstance(here, Mapping) else None
        if path in loaded.hidden or not (here is None or isinstance(here, str)):
            return None
        if here is not None:
            own[axis] = here
    return own


def _equal(one: Point, other: Point) -> bool:
    return all(one[axis] == text or _number(one[axis]) == _number(text) for axis, text in other.items())


def _number(text: str) -> Decimal:
    """Return a text as a number; NaN, which equals nothing, where it is none."""
    try:
        return Decimal(text)
    except InvalidOperation:
        return Decimal("NaN")


def _places(policy: Path, every: Sequence[Axis], first: Point, sets: Mapping[str, str]) -> AxisPlaces:
    """Find each axis in the policy as it stands, with the first values of the params."""
    params = {path.partition(".")[2]: value for path, value in first.items() if path.startswith("params.")}
    loaded: PolicyReading = load(policy, {**sets, **params})
    try:
        return places(every, loaded, sets)
    except PpdmError as error:
        if has_errors(loaded.diagnostics):
            raise PolicyError((*loaded.diagnostics, *error.diagnostics), loaded.sources) from None
        raise


def _repetitions(
    policy: Path,
    point: Point,
    where: AxisPlaces,
    sets: Mapping[str, str],
    data: Path | None,
    repeat: int,
    *,
    strict: bool,
    locked: bool = False,
) -> list[ReadyPlan]:
    """Compile one point as often as it runs: a reproducible policy gets another seed each time."""
    params, over = {**sets, **where.sets(point)}, where.over(point)
    bound = partial(plan_for_data, policy, params, data, strict=strict, locked=locked, any_params=True)
    first = bound(over=over)
    seed = first.plan.seed
    if seed is None:
        return [first] * repeat
    return [first, *(bound(over={**over, SEED: f"{seed} {number}"}) for number in range(2, repeat + 1))]


def _gather(points_of: dict[Diagnostic, list[Point]], diagnostics: Iterable[Diagnostic], point: Point) -> None:
    for each in diagnostics:
        points_of.setdefault(each, []).append(point)


def _note_points(diagnostic: Diagnostic, at: Sequence[Point], points: int) -> Diagnostic:
    """Say at which points it occurs, where it does not at all of them."""
    if len(at) == points:
        return diagnostic
    more = f" and {len(at) - 1} more of {points} points" if len(at) > 1 else ""
    words = " ".join(f"--over {path}={value}" for path, value in at[0].items())
    return replace(diagnostic, notes=(*diagnostic.notes, f"with {words}{more}"))


# Carrying out the points of a sweep, several at once; the data is read once for all points that read it alike.


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
    """The original of all plans that read alike. The first user opens it, the last one closes it."""

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
