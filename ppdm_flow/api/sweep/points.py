"""The points of a sweep, each with its own valid plan; or everything that is wrong with any of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import partial
from pathlib import Path
from typing import Any

from ppdm_flow.api.loading.bindings import plan_for_data
from ppdm_flow.api.loading.policies import ReadyPlan
from ppdm_flow.api.sweep.grid import Axis, Point
from ppdm_flow.api.sweep.places import AxisPlaces, places
from ppdm_flow.core.diagnostics import Diagnostic, has_errors
from ppdm_flow.core.errors import PolicyError, PpdmError
from ppdm_flow.plan.definition import Plan
from ppdm_flow.policy import PolicyReading, load
from ppdm_flow.policy.loaded import PolicyPath

SEED: PolicyPath = ("randomness", "seed")


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

    ``own`` is the place of the point whose values are the policy's own, if there is one.
    """

    planned: tuple[PlannedPoint, ...]
    warnings: tuple[Diagnostic, ...]
    sources: Mapping[str, str]
    own: int | None = None


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
    place = None if own is None else next((i for i, point in enumerate(combinations) if _equal(point, own)), None)
    if with_own and own is not None and place is None:
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
    diagnostics = tuple(_told(each, at, len(combinations)) for each, at in points_of.items())
    if has_errors(diagnostics):
        raise PolicyError(diagnostics, sources)
    return SweepPoints(tuple(points), diagnostics, sources, place)


def _own_values(policy: Path, where: AxisPlaces, sets: Mapping[str, str]) -> Point | None:
    """Return the values that the policy itself has at the axes; None where one has none, or comes from elsewhere."""
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
        if not isinstance(here, str) or path in loaded.hidden:
            return None
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


def _told(diagnostic: Diagnostic, at: Sequence[Point], points: int) -> Diagnostic:
    """Say at which points it occurs, where it does not at all of them."""
    if len(at) == points:
        return diagnostic
    more = f" and {len(at) - 1} more of {points} points" if len(at) > 1 else ""
    words = " ".join(f"--over {path}={value}" for path, value in at[0].items())
    return replace(diagnostic, notes=(*diagnostic.notes, f"with {words}{more}"))
