"""Rules on generalization hierarchies: one form each, edges that ascend, levels that fit the domain."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.policy.language.models import Attribute, Hierarchy
from ppdm_flow.policy.language.words import number, short
from ppdm_flow.policy.rules.attributes import suppressed
from ppdm_flow.policy.rules.scene import SUPPRESSED, Scene

_FORMS = ("csv", "intervals", "levels", "prefix", "date", "order")
_BELONGS = {"delimiter": ("csv",), "then": ("intervals", "order"), "open_ends": ("intervals",)}
_BELONGS |= {"mask": ("prefix",), "format": ("date",)}
_UNITS = ("month", "quarter", "year", "decade")


def judge(scene: Scene) -> Iterator[Diagnostic]:
    """Judge the hierarchy of every attribute that has one."""
    for name, attribute in scene.policy.attributes.items():
        if attribute.hierarchy is not None:
            yield from _forms(scene, name, attribute.hierarchy)
            yield from _intervals(scene, name, attribute, attribute.hierarchy.intervals or ())
            yield from _levels(scene, name, attribute, attribute.hierarchy)
            yield from _coarser(scene, name, attribute.hierarchy)
            yield from _order(scene, name, attribute, attribute.hierarchy)


def _forms(scene: Scene, name: str, hierarchy: Hierarchy) -> Iterator[Diagnostic]:
    path = ("attributes", name, "hierarchy")
    given = [form for form in _FORMS if getattr(hierarchy, form) is not None]
    listed = ", ".join(f"`{form}`" for form in _FORMS)
    if not given and not scene.lacks(*path):
        message = f"the hierarchy of `{short(name)}` says nothing"
        yield scene.fault("PPF583", message, path, at_key=True, hint=f"give one of {listed}")
    for form in given[1:]:
        yield scene.fault(
            "PPF583",
            f"the hierarchy of `{short(name)}` is given twice, as `{given[0]}` and as `{form}`",
            (*path, form),
            at_key=True,
            hint="keep one of them",
            related=scene.related((*path, given[0]), "and here"),
        )
    for key in sorted(hierarchy.model_fields_set & set(_BELONGS)):
        if given and not set(_BELONGS[key]) & set(given):
            message = f"`{key}` says nothing about a hierarchy that is given as `{given[0]}`"
            hint = f"it goes with {' and '.join(f'`{form}`' for form in _BELONGS[key])}"
            yield scene.fault("PPF583", message, (*path, key), at_key=True, hint=hint)
    if len(hierarchy.delimiter) != 1:
        message = f"`delimiter` must be one character, not {len(hierarchy.delimiter)}"
        yield scene.fault("PPF522", message, (*path, "delimiter"), hint='write ";" or ","')


def _intervals(scene: Scene, name: str, attribute: Attribute, edges: tuple[float, ...]) -> Iterator[Diagnostic]:
    path = ("attributes", name, "hierarchy", "intervals")
    for i in range(1, len(edges)):
        if not edges[i - 1] < edges[i]:
            message = f"the edge {number(edges[i])} does not lie above the one before it, {number(edges[i - 1])}"
            yield scene.fault("PPF515", message, (*path, str(i)), hint="edges ascend: [0, 18, 65, 120]")
    if edges and not attribute.type.is_amount:
        yield scene.fault(
            "PPF520",
            f"intervals need numbers, and `{short(name)}` is of type `{attribute.type}`",
            path,
            at_key=True,
            warning=True,
            hint="add `type: integer` or `type: float`",
        )


def _levels(scene: Scene, name: str, attribute: Attribute, hierarchy: Hierarchy) -> Iterator[Diagnostic]:
    levels = hierarchy.levels
    if levels is None:
        return
    path = ("attributes", name, "hierarchy", "levels")
    depth = max((len(a) for a in levels.values()), default=0)
    for value, ancestors in levels.items():
        if value == SUPPRESSED:
            yield suppressed(scene, (*path, value), at_key=True)
        if len(ancestors) != depth:
            message = f"the levels of `{short(value)}` are {len(ancestors)}, others have {depth}"
            yield scene.fault("PPF518", message, (*path, value), at_key=True, hint="each value has one for each level")
    yield from scene.values(attribute, name, [(v, (*path, v)) for v in levels], at_key=True)
    lacking = [v for v in attribute.domain or () if v not in levels]
    if lacking:
        more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
        message = f"the hierarchy of `{short(name)}` lacks `{short(lacking[0])}`{more} of its domain"
        yield scene.fault("PPF518", message, path, at_key=True, hint="every value of the domain needs its ancestors")


def _coarser(scene: Scene, name: str, hierarchy: Hierarchy) -> Iterator[Diagnostic]:
    """Each level keeps less than the one before."""
    path = ("attributes", name, "hierarchy")
    kept, units = hierarchy.prefix or (), [_UNITS.index(unit) for unit in hierarchy.date or ()]
    for i in range(1, len(kept)):
        if kept[i - 1] <= kept[i]:
            message = f"level {i + 1} keeps {kept[i]} characters, the one before it {kept[i - 1]}"
            yield scene.fault("PPF518", message, (*path, "prefix", str(i)), hint="keep fewer and fewer: [4, 3, 0]")
    for i in range(1, len(units)):
        if units[i - 1] >= units[i]:
            message = f"`{_UNITS[units[i]]}` is not coarser than `{_UNITS[units[i - 1]]}`"
            yield scene.fault("PPF518", message, (*path, "date", str(i)), hint="for example [month, year, decade]")


def _order(scene: Scene, name: str, attribute: Attribute, hierarchy: Hierarchy) -> Iterator[Diagnostic]:
    order = hierarchy.order
    if order is None:
        return
    path = ("attributes", name, "hierarchy", "order")
    for i, value in enumerate(order):
        if value == SUPPRESSED:
            yield suppressed(scene, (*path, str(i)))
        if value in order[:i]:
            message = f"`{short(value)}` is listed twice in the order of `{short(name)}`"
            yield scene.fault("PPF518", message, (*path, str(i)), hint="each value has one place")
    if hierarchy.then is None and not scene.lacks(*path[:-1], "then"):
        message = f"the order of `{short(name)}` says nothing about which values are put together"
        yield scene.fault("PPF518", message, path, at_key=True, hint="`then: [2, 2]` joins two neighbours a level")
    yield from scene.values(attribute, name, [(v, (*path, str(i))) for i, v in enumerate(order)])
    lacking = [v for v in attribute.domain or () if v not in order]
    if lacking:
        more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
        message = f"the order of `{short(name)}` lacks `{short(lacking[0])}`{more} of its domain"
        yield scene.fault("PPF518", message, path, at_key=True, hint="every value of the domain needs its place")
