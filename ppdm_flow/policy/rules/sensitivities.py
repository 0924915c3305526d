"""(r1, r2) requirements: bounds that can hold, on values that can occur."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.policy.models import DefaultBound, Sensitivity
from ppdm_flow.policy.rules.attributes import suppressed
from ppdm_flow.policy.rules.scene import SUPPRESSED, Scene
from ppdm_flow.policy.rules.templates import protected
from ppdm_flow.policy.words import number, short

Path = tuple[str, ...]


def judge(scene: Scene) -> Iterator[Diagnostic]:
    """Judge ``sensitivities``."""
    for name, sensitivity in scene.policy.privacy.sensitivities.items():
        path = ("privacy", "sensitivities", name)
        attribute, faults = scene.attribute(name, path, at_key=True)
        yield from faults
        yield from _bounds(scene, name, sensitivity, path)
        if attribute is not None:
            yield from protected(scene, name, attribute.role, path)
            values = [(v, (*path, "values", v)) for v in sensitivity.values]
            yield from scene.values(attribute, name, values, at_key=True)


def _bounds(scene: Scene, name: str, sensitivity: Sensitivity, path: Path) -> Iterator[Diagnostic]:
    if sensitivity.default is None and not sensitivity.values and not scene.lacks(*path):
        message = f"the sensitivities of `{short(name)}` bound nothing"
        yield scene.fault("PPF505", message, path, at_key=True, hint="give `values`, or a `default`")
    if sensitivity.default is not None:
        yield from _default(scene, sensitivity.default, (*path, "default"))
    for value, bound in sensitivity.values.items():
        here = (*path, "values", value)
        if value == SUPPRESSED:
            yield suppressed(scene, here, at_key=True)
        yield from _order(scene, bound.r1, bound.r2, here)


def _default(scene: Scene, default: DefaultBound, path: Path) -> Iterator[Diagnostic]:
    pair = [n for n in ("r1", "r2") if getattr(default, n) is not None]
    if default.tolerance is not None and pair:
        yield scene.fault(
            "PPF505",
            f"`tolerance` and `{pair[0]}` exclude each other",
            (*path, pair[0]),
            at_key=True,
            hint="give `tolerance`, or `r1` and `r2`",
            related=scene.related((*path, "tolerance"), "and here"),
        )
    elif default.tolerance is None and len(pair) != 2 and not scene.lacks(*path):
        lacking = "`tolerance`, or `r1` and `r2`" if not pair else f"`{'r2' if pair == ['r1'] else 'r1'}` as well"
        yield scene.fault("PPF505", "the default bound is not complete", path, at_key=True, hint=f"give {lacking}")
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
