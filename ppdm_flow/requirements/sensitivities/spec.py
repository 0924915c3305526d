"""The kind of requirement `sensitivities`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace
from ppdm_flow.core.roles import Directions
from ppdm_flow.core.spans import Span
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import Failure, Wording
from ppdm_flow.policy.language.words import number, short
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame
from ppdm_flow.policy.order.marks import Order
from ppdm_flow.policy.rules.attributes import suppressed
from ppdm_flow.policy.rules.grouping import protected
from ppdm_flow.policy.rules.repeats import repeats
from ppdm_flow.policy.rules.scene import SUPPRESSED, Scene
from ppdm_flow.policy.text.quoting import plain_or_quoted
from ppdm_flow.requirements.sensitivities.requirement import DefaultBound, Sensitivity, ValueBound, slack_of
from ppdm_flow.sdk.spec import Params, requirement_audit

Path = tuple[str, ...]


# (r1, r2) requirements: bounds that can hold, on values that can occur.


def judge(scene: Scene, entries: Mapping[str, Sensitivity]) -> Iterator[Diagnostic]:
    """Judge them (PPF503 to PPF507, PPF527)."""
    for name, sensitivity in entries.items():
        path = ("privacy", "sensitivities", name)
        attribute, faults = scene.attribute(name, path, at_key=True)
        yield from faults
        yield from _bounds(scene, name, sensitivity, path)
        if attribute is not None:
            yield from protected(scene, name, attribute.role, path)
            values = [(v, (*path, "values", v)) for v in sensitivity.values]
            yield from scene.values(attribute, name, values, at_key=True)
            grouped = [(v, place) for v, place, _ in _grouped(sensitivity, path)]
            yield from scene.values(attribute, name, grouped)


def _bounds(scene: Scene, name: str, sensitivity: Sensitivity, path: Path) -> Iterator[Diagnostic]:
    if not (sensitivity.default or sensitivity.values or sensitivity.groups or scene.lacks(*path)):
        message = f"the sensitivities of `{short(name)}` bound nothing"
        yield scene.fault("PPF583", message, path, at_key=True, hint="give `values`, `groups`, or a `default`")
    if sensitivity.default is not None:
        yield from _default(scene, sensitivity.default, (*path, "default"))
    for value, several in sensitivity.values.items():
        here = (*path, "values", value)
        if value == SUPPRESSED:
            yield suppressed(scene, here, at_key=True)
        for bound, place in zip(several, _places(scene, here, len(several)), strict=True):
            yield from _order(scene, bound.r1, bound.r2, place)
        yield from _repeated(scene, value, several, here)
    yield from _groups(scene, sensitivity, path)


def _places(scene: Scene, path: Path, count: int) -> list[Path]:
    """Return where each bound of a value stands: a single map has no position."""
    listed = count > 1 or (*path, "0") in scene.places.values
    return [(*path, str(i)) for i in range(count)] if listed else [path]


def _repeated(scene: Scene, value: str, several: tuple[ValueBound, ...], path: Path) -> Iterator[Diagnostic]:
    first: dict[ValueBound, int] = {}
    for i, bound in enumerate(several):
        begin = first.setdefault(bound, i)
        if begin != i:
            span = scene.places.value(*path, str(begin))
            yield scene.fault(
                "PPF507",
                f"`{short(value)}` has the same bound twice",
                (*path, str(i)),
                warning=True,
                hint="remove one of the two",
                related=(RelatedPlace(span, "first here"),) if span else (),
            )


def _groups(scene: Scene, sensitivity: Sensitivity, path: Path) -> Iterator[Diagnostic]:
    for group_name, group in sensitivity.groups.items():
        here = (*path, "groups", group_name)
        yield from repeats(scene, group.values, (*here, "values"), f"group `{group_name}`")
        yield from _order(scene, group.r1, group.r2, here)
        for i, value in enumerate(group.values):
            if value == SUPPRESSED:
                yield suppressed(scene, (*here, "values", str(i)))
    yield from _bound_twice(scene, sensitivity, path)


def _bound_twice(scene: Scene, sensitivity: Sensitivity, path: Path) -> Iterator[Diagnostic]:
    """A value may be in a group and have a bound elsewhere only where the two are about different people."""
    first: dict[tuple[str, str], tuple[str, Span | None]] = {}
    for value, several in sensitivity.values.items():
        for bound in several:
            first[value, bound.given] = ("a bound of its own", scene.places.key(*path, "values", value))
    for value, place, group in _grouped(sensitivity, path):
        about = sensitivity.groups[group].given
        words, span = first.setdefault((value, about), (f"a bound from group `{group}`", scene.places.value(*place)))
        if words != f"a bound from group `{group}`":
            yield scene.fault(
                "PPF527",
                f"`{short(value)}` is in group `{group}` and already has {words}",
                place,
                hint="leave it in one of them, or say with `given` whom each is about",
                related=(RelatedPlace(span, "bounded here"),) if span else (),
            )


def _grouped(sensitivity: Sensitivity, path: Path) -> Iterator[tuple[str, Path, str]]:
    """Yield every value of every group, its place, and the group's name."""
    for name, group in sensitivity.groups.items():
        for i, value in enumerate(group.values):
            yield value, (*path, "groups", name, "values", str(i)), name


def _default(scene: Scene, default: DefaultBound, path: Path) -> Iterator[Diagnostic]:
    pair = [n for n in ("r1", "r2") if getattr(default, n) is not None]
    if default.tolerance is not None and pair:
        yield scene.fault(
            "PPF583",
            f"`tolerance` and `{pair[0]}` exclude each other",
            (*path, pair[0]),
            at_key=True,
            hint="give `tolerance`, or `r1` and `r2`",
            related=scene.related((*path, "tolerance"), "and here"),
        )
    elif default.tolerance is None and len(pair) != 2 and not scene.lacks(*path):
        lacking = "`tolerance`, or `r1` and `r2`" if not pair else f"`{'r2' if pair == ['r1'] else 'r1'}` as well"
        yield scene.fault("PPF583", "the default bound is not complete", path, at_key=True, hint=f"give {lacking}")
    elif default.r1 is not None and default.r2 is not None:
        yield from _order(scene, default.r1, default.r2, path)


def _order(scene: Scene, r1: float, r2: float, path: Path) -> Iterator[Diagnostic]:
    """r1 must lie below r2: otherwise gamma = r2 (1 - r1) / (r1 (1 - r2)) is at most 1 and nothing satisfies it."""
    if r1 >= r2:
        yield scene.fault(
            "PPF504",
            f"`r1` must lie below `r2`; here r1 = {number(r1)} and r2 = {number(r2)}",
            (*path, "r2"),
            hint="r1 bounds what is known before, r2 what may be known after",
            related=scene.related((*path, "r1"), "r1"),
        )


# (r1, r2) bounds: which pair implies which.
#
# An operator keeps (r1, r2) upward if and only if the amplification of the value is at most gamma = r2 (1 - r1) / (r1
# (1 - r2)), and downward if and only if the reverse ratio is (Chaytor and Wang, Theorem 1; Evfimievski, Gehrke,
# Srikant, PODS 2003). So of two bounds on one value the one with the smaller gamma implies the other, for all values of
# r1 and r2. A tolerance theta has gamma = theta (1 - f) / (1 - theta f) for the frequency f: it grows with theta and
# with f, and is never below theta.


ROUNDING = 1e-12
"""Relative rounding of a gamma that is computed from two written numbers."""


@dataclass(frozen=True, slots=True)
class OperatorClaim:
    """If the attribute is released, the operator that it went through is known, and fits the bytes."""

    requirement: Sensitivity


@dataclass(frozen=True, slots=True)
class ValueKept:
    """One value keeps all its bounds in one direction; ``slack`` is the smallest gamma, less 1."""

    requirement: Sensitivity
    value: str
    upward: bool
    slack: float


@dataclass(frozen=True, slots=True)
class OthersKept:
    """Values without bounds of their own keep the default in one direction."""

    requirement: Sensitivity
    upward: bool


def says(requirement: Sensitivity, _frame: PolicyFrame) -> Iterator[OperatorClaim | ValueKept | OthersKept]:
    """Yield that the operator is known, and what each value, and all others, keep in each direction."""
    yield OperatorClaim(requirement)
    both = (True, False) if requirement.directions is Directions.BOTH else (True,)
    for upward in both:
        for value, slack in _slacks(requirement).items():
            yield ValueKept(requirement, value, upward, slack)
        if requirement.tolerance is not None or requirement.fixed is not None:
            yield OthersKept(requirement, upward)


def operated(given: OperatorClaim, required: OperatorClaim, between: ComparedPolicies) -> str | None:
    """Any bound on the attribute asks for its operator."""
    return "both ask for a known operator" if _alike(given.requirement, required.requirement, between) else None


def values(given: ValueKept, required: ValueKept, between: ComparedPolicies) -> str | None:
    """The smaller gamma implies the larger."""
    same = given.value == required.value and given.upward == required.upward and _refuses(given, required)
    if (
        not same
        or not _alike(given.requirement, required.requirement, between)
        or not _at_most(given.slack, required.slack)
    ):
        return None
    return f"gamma of {1 + given.slack:.6g} is at most {1 + required.slack:.6g}"


def values_of_default(given: OthersKept, required: ValueKept, between: ComparedPolicies) -> str | None:
    """Return why a fixed default implies a bound: it bounds every value that has no bound of its own."""
    if given.upward != required.upward or not _alike(given.requirement, required.requirement, between):
        return None
    default = _fixed(given.requirement)
    free = required.value not in _slacks(given.requirement)
    if default is None or not free or not _at_most(default, required.slack):
        return None
    return f"the default has a gamma of {1 + default:.6g}, which is at most {1 + required.slack:.6g}"


def others(given: OthersKept, required: OthersKept, between: ComparedPolicies) -> str | None:
    """A default implies another if it does so for every value that has no bound of its own there."""
    one, other = given.requirement, required.requirement
    if given.upward != required.upward or not _alike(one, other, between):
        return None
    own, theirs = _slacks(one), _slacks(other)
    least = _least(other)
    if any(not _at_most(slack, least) for value, slack in own.items() if value not in theirs):
        return None
    if one.tolerance is not None and other.tolerance is not None and between.same_original:
        return f"a tolerance of {one.tolerance:g} is at most {other.tolerance:g}" if _tighter(one, other) else None
    default = _fixed(one)
    if default is None or not _at_most(default, least):
        return None
    return f"the default has a gamma of {1 + default:.6g}, which is at most {1 + least:.6g}"


def _refuses(given: ValueKept, required: ValueKept) -> bool:
    """Whether data that lacks the value is refused wherever the required clause refuses it."""
    return given.requirement.values_absent.covers(required.requirement.values_absent)


def _tighter(one: Sensitivity, other: Sensitivity) -> bool:
    return one.tolerance is not None and other.tolerance is not None and one.tolerance <= other.tolerance


def _alike(one: Sensitivity, other: Sensitivity, between: ComparedPolicies) -> bool:
    """Whether both are about the same columns."""
    return one.attribute == other.attribute and between.same_counting and between.about(one.attribute)


def _slacks(requirement: Sensitivity) -> dict[str, float]:
    """Return the smallest gamma - 1 of each value with bounds of its own."""
    slacks: dict[str, float] = {}
    for bound in requirement.bounds:
        slack = slack_of(bound.r1, bound.r2)
        slacks[bound.value] = min(slack, slacks.get(bound.value, slack))
    return slacks


def _fixed(requirement: Sensitivity) -> float | None:
    if requirement.tolerance is not None or requirement.fixed is None:
        return None
    return slack_of(*requirement.fixed)


def _least(requirement: Sensitivity) -> float:
    """Return the smallest gamma - 1 that the default comes to at any frequency."""
    fixed = _fixed(requirement)
    return (requirement.tolerance or 1.0) - 1.0 if fixed is None else fixed


def _at_most(one: float, other: float) -> bool:
    return one <= other * (1.0 + ROUNDING)


ORDER = Order(
    says=says,
    rules=(
        (OperatorClaim, OperatorClaim, operated),
        (ValueKept, ValueKept, values),
        (OthersKept, ValueKept, values_of_default),
        (OthersKept, OthersKept, others),
    ),
    fields=("attribute", "directions", "values", "groups", "default", "domain", "values_absent"),
)


class SensitivitiesParams(Params):
    """It has none: the requirements say it all."""


AUDIT = requirement_audit(
    "sensitivities",
    "ppdm_flow.requirements.sensitivities.algorithm:SensitivitiesAudit",
    params=SensitivitiesParams,
    asks=AccessRequirements(DataAccess.ROWS, {"people": DataAccess.TABLE}, passes=2),
)


def advice(failure: Failure) -> str:
    """Say what to do where it does not hold."""
    if failure.serving:
        return f"{failure.who} perturbs it, so look at what later steps do to it, and at the findings below."
    name = plain_or_quoted(failure.requirement.get("attribute", "ATTRIBUTE"))
    step = f"`perturb: {{use: fine_grain_perturbation, with: {{attribute: {name}}}}}`"
    return f"Add {step} before the release, or `drop` the attribute."


def place_name(rest: tuple[str, ...]) -> str:
    """Name a place below `sensitivities` as a reader would; the first part is the attribute."""
    if len(rest) == 1:
        return f"the sensitivities of `{short(rest[0])}`"
    if len(rest) == 3 and rest[1] == "groups":
        return f"group `{short(rest[2])}`"
    if len(rest) == 3:
        return f"the bound of `{short(rest[2])}`"
    if len(rest) == 4 and rest[1] == "values" and rest[3].isdecimal():
        return f"bound {int(rest[3]) + 1} of `{short(rest[2])}`"
    return f"`{rest[1]}` of the sensitivities of `{short(rest[0])}`"


WORDING = Wording(
    label="Sensitivity",
    clause=lambda requirement: f"(r1, r2) of {requirement['attribute']}",
    advice=advice,
    section="What can be learned",
)


SPEC = RequirementSpec(
    name="sensitivities",
    requirement=Sensitivity,
    entries=Entries.BY_ATTRIBUTE,
    order="ppdm_flow.requirements.sensitivities.spec:ORDER",
    audit=AUDIT,
    wording=WORDING,
    judge=judge,
    rank=30,
    foresees="ppdm_flow.requirements.sensitivities.algorithm:foresee",
    value_keys=(("values", "*"),),
    place_name=place_name,
)
