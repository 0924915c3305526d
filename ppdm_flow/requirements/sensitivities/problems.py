"""(r1, r2) requirements: bounds that can hold, on values that can occur."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace
from ppdm_flow.core.spans import Span
from ppdm_flow.policy.language.words import number, short
from ppdm_flow.policy.rules.attributes import suppressed
from ppdm_flow.policy.rules.grouping import protected
from ppdm_flow.policy.rules.repeats import repeats
from ppdm_flow.policy.rules.scene import SUPPRESSED, Scene
from ppdm_flow.requirements.sensitivities.requirement import DefaultBound, Sensitivity, ValueBound

Path = tuple[str, ...]


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
