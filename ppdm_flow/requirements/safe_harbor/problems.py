"""What can be wrong with a clause on the identifiers of Safe Harbor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.policy.rules.repeats import repeats
from ppdm_flow.policy.rules.scene import Scene, entry_path
from ppdm_flow.requirements.safe_harbor.requirement import SafeHarbor


def judge(scene: Scene, entries: Mapping[str, SafeHarbor]) -> Iterator[Diagnostic]:
    """Judge the attributes that it names (PPF500, PPF501)."""
    for name, clause in entries.items():
        for key in ("zip_codes", "ages", "birth_years"):
            path = (*entry_path("safe_harbor", name), key)
            attributes = getattr(clause, key)
            yield from repeats(scene, attributes, path, f"`{key}`")
            for i, attribute in enumerate(attributes):
                yield from scene.attribute(attribute, (*path, str(i)))[1]
