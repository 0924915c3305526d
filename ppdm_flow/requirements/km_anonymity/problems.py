"""What can be wrong with a clause on k^m-anonymity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.policy.rules.item_sets import item_sets
from ppdm_flow.policy.rules.scene import Scene, entry_path
from ppdm_flow.requirements.km_anonymity.requirement import KmAnonymity


def judge(scene: Scene, entries: Mapping[str, KmAnonymity]) -> Iterator[Diagnostic]:
    """Judge it (PPF575)."""
    for name, clause in entries.items():
        yield from item_sets(scene, entry_path("km_anonymity", name), clause.attribute, made=True)
