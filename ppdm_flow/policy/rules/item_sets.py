"""Rules on sets of items: requirements on sets need an attribute that holds them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.roles import Role
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.loaded import PolicyPath
from ppdm_flow.policy.rules.scene import Scene


def item_sets(scene: Scene, path: PolicyPath, named: str, *, made: bool = False) -> Iterator[Diagnostic]:
    """Judge which sets the clause at ``path`` is about: the attribute ``named``, else the only one with that role.

    ``made``: it may be an attribute whose values a step makes sets of, by its parameter `sets`.
    """
    if named:
        place = (*path, "attribute")
        attribute, faults = scene.attribute(named, place)
        yield from faults
        if attribute is not None and attribute.role is not Role.ITEMS and not (made and _made_of(named, scene)):
            text = f"`{short(named)}` is not a set of items{', and no step makes sets of it' if made else ''}"
            yield scene.fault("PPF575", text, place)
        return
    sets = [name for name, attribute in scene.policy.attributes.items() if attribute.role is Role.ITEMS]
    if len(sets) != 1 and not scene.lacks("attributes"):
        what = "and no attribute has `role: items`" if not sets else f"and {len(sets)} attributes have `role: items`"
        hint = "declare the sets with `role: items`" if not sets else "say which one with `attribute:`"
        yield scene.fault("PPF575", f"`{path[1]}` is about a set of items, {what}", path, at_key=True, hint=hint)


def _made_of(attribute: str, scene: Scene) -> bool:
    """Whether a step makes sets of the attribute's values; among linked tables the step says it without the table."""
    given = [step.with_.get("sets") for step in scene.policy.steps.values()]
    values = {of for sets in given if isinstance(sets, Mapping) for of in sets.values()}
    return attribute in values or (bool(scene.policy.tables) and attribute.partition(".")[2] in values)
