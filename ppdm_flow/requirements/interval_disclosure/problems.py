"""What can be wrong with a clause on interval disclosure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.rules.scene import Scene, entry_path
from ppdm_flow.requirements.interval_disclosure.requirement import IntervalDisclosure

_NO_NUMBERS = (Role.IDENTIFIER, Role.SUBJECT, Role.WEIGHT, Role.ITEMS)


def judge(scene: Scene, entries: Mapping[str, IntervalDisclosure]) -> Iterator[Diagnostic]:
    """Judge them (PPF500, PPF502, PPF582, PPF599)."""
    for name, clause in entries.items():
        path = entry_path("interval_disclosure", name)
        attribute, faults = scene.attribute(name, path, at_key=True)
        yield from faults
        kind = AttributeType.FLOAT
        if attribute is not None:
            kind = attribute.type
            if attribute.role in _NO_NUMBERS:
                yield scene.unfit(name, attribute.role, path, "protected as a number", at_key=True)
            elif not kind.is_numeric:
                text = f"`{short(name)}` holds texts, and nothing says how far one is from another"
                hint = "give the attribute `type: integer`, `float`, `date` or `timestamp`"
                declared = ("attributes", scene.declared.key(name) or name)
                yield scene.fault(
                    "PPF599", text, path, at_key=True, hint=hint, related=scene.related(declared, "declared here")
                )
        text = clause.width.fault(kind)
        if text:
            yield scene.fault("PPF599", text, (*path, "width"), at_key=True)
        if clause.max >= 1.0:
            yield scene.fault("PPF582", "no share exceeds 1, so this bound holds of any data", (*path, "max"))
