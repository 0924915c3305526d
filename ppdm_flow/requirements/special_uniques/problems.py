"""What can be wrong with a clause on special uniques."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.policy.rules.grouping import grouped
from ppdm_flow.policy.rules.scene import Scene, entry_path
from ppdm_flow.requirements.special_uniques.requirement import FewUniques


def judge(scene: Scene, entries: Mapping[str, FewUniques]) -> Iterator[Diagnostic]:
    """Judge what it groups by (PPF500 to PPF502, PPF525)."""
    for name, clause in entries.items():
        yield from grouped(scene, clause.attributes, entry_path("special_uniques", name))
