"""A bound that nothing could break."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.policy.rules.scene import Scene, entry_path
from ppdm_flow.requirements.anonymity_score.requirement import AnonymityScore


def judge(scene: Scene, entries: Mapping[str, AnonymityScore]) -> Iterator[Diagnostic]:
    """Judge it (PPF582)."""
    for name, clause in entries.items():
        path = entry_path("anonymity_score", name)
        if clause.max >= 1.0:
            text = "`anonymity_score` with `max: 1` holds of any data"
            yield scene.fault("PPF582", text, (*path, "max"), hint="give a bound below 1")
