"""What can be wrong with entries."""

from __future__ import annotations

from ppdm_flow.plugins import Role

KIND = "acme_rare_words"


def judge(scene, entries):
    for name, entry in entries.items():
        path = ("privacy", KIND, name)
        attribute, faults = scene.attribute(name, path, at_key=True)
        yield from faults
        if attribute is not None and attribute.role in (Role.WEIGHT, Role.ITEMS):
            yield scene.unfit(name, attribute.role, path, "searched for rare words", at_key=True)
        if entry.max >= 1.0:
            yield scene.fault("ACME20", "no share exceeds 1, so this bound holds of any data", (*path, "max"))
