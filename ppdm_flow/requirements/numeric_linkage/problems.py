"""What can be wrong with a clause on numeric linkage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.policy.rules.repeats import repeats
from ppdm_flow.policy.rules.scene import Scene, entry_path
from ppdm_flow.requirements.numeric_linkage.requirement import NumericLinkage

_NO_NUMBERS = (Role.IDENTIFIER, Role.SUBJECT, Role.WEIGHT, Role.ITEMS)

_NO_KEYS = (Role.WEIGHT, Role.ITEMS)


def judge(scene: Scene, entries: Mapping[str, NumericLinkage]) -> Iterator[Diagnostic]:
    """Judge them (PPF500, PPF502, PPF582, PPF583, PPF599)."""
    for name, clause in entries.items():
        path = entry_path("numeric_linkage", name)
        yield from repeats(scene, clause.attributes, (*path, "attributes"), "`attributes`")
        types: list[AttributeType] = []
        for i, each in enumerate(clause.attributes):
            here = (*path, "attributes", str(i))
            attribute, faults = scene.attribute(each, here)
            yield from faults
            if attribute is not None and attribute.role in _NO_NUMBERS:
                yield scene.unfit(each, attribute.role, here, "a number that people are found by")
            elif attribute is not None:
                types.append(attribute.type)
        if types and len(types) == len(clause.attributes) and not any(kind.is_numeric for kind in types):
            text = "no attribute holds numbers, so groups of equal values say as much: nothing here is near"
            hint = "give one the `type: integer`, `float`, `date` or `timestamp`, or ask for `k_anonymity`"
            yield scene.fault("PPF599", text, (*path, "attributes"), at_key=True, hint=hint)
        yield from _known(scene, clause, path)
        bounds = {"max": clause.max if clause.max_excess is None else 0.0, "max_excess": clause.max_excess or 0.0}
        for key in (key for key, bound in bounds.items() if bound >= 1.0):
            yield scene.fault("PPF582", "no share exceeds 1, so this bound holds of any data", (*path, key))


def _known(scene: Scene, clause: NumericLinkage, path: tuple[str, ...]) -> Iterator[Diagnostic]:
    """Judge the key of a file of people whom the intruder knows."""
    if (clause.against is None) != (clause.key is None):
        hint = "`key` is an attribute of the source and a column of the file, by which both are of one person"
        said = (*path, "key" if clause.against is None else "against")
        yield scene.fault("PPF583", "`against` and `key` go together", said, at_key=True, hint=hint)
    if clause.key is None:
        return
    attribute, faults = scene.attribute(clause.key, (*path, "key"))
    yield from faults
    if attribute is not None and attribute.role in _NO_KEYS:
        yield scene.unfit(clause.key, attribute.role, (*path, "key"), "what people are told by")
