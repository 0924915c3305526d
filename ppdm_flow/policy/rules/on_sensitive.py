"""Rules on sensitive values of classes: an attribute that fits, and classes that it does not form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace
from ppdm_flow.core.roles import Role
from ppdm_flow.policy.language.models import Attribute
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.rules.grouping import grouped, protected
from ppdm_flow.policy.rules.scene import Scene

Path = tuple[str, ...]
OfClause = Callable[[Scene, str, Attribute, Any, Path], Iterator[Diagnostic]]
"""Judges what is said of an attribute that is declared."""


def nothing_more(_scene: Scene, _name: str, _attribute: Attribute, _clause: Any, _path: Path) -> Iterator[Diagnostic]:
    """Find nothing wrong with a clause by itself."""
    yield from ()


def judge(scene: Scene, kind: str, entries: Mapping[str, Any], own: OfClause = nothing_more) -> Iterator[Diagnostic]:
    """Judge the clauses of a kind, by attribute (PPF500 to PPF503); ``own`` judges what only that kind says."""
    for name, clause in entries.items():
        path = ("privacy", kind, name)
        attribute, faults = scene.attribute(name, path, at_key=True)
        yield from faults
        if attribute is not None:
            yield from protected(scene, name, attribute.role, path)
            yield from own(scene, name, attribute, clause, path)
        yield from grouped(scene, clause.attributes, path)
        yield from _inside(scene, name, attribute, clause.attributes, path)


def domain(scene: Scene, name: str) -> tuple[RelatedPlace, ...]:
    """Return the declared domain of an attribute as a second place."""
    return scene.related(("attributes", scene.declared.key(name) or name, "domain"), "the domain")


def _inside(
    scene: Scene, name: str, attribute: Attribute | None, attributes: tuple[str, ...], path: Path
) -> Iterator[Diagnostic]:
    text = f"`{short(name)}` forms the classes in which its own values are to vary"
    if name in attributes:
        where = (*path, "attributes", str(attributes.index(name)))
        yield scene.fault("PPF501", text, where, hint="take it out")
    elif not attributes and attribute is not None and attribute.role is Role.QUASI_IDENTIFIER:
        hint = "give it `role: sensitive`, or name in `attributes` what else groups"
        declared = ("attributes", scene.declared.key(name) or name)
        yield scene.fault(
            "PPF501", text, path, at_key=True, hint=hint, related=scene.related(declared, "a quasi-identifier")
        )
